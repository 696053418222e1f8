"""What a stored run shows: its number, and in a sentence what can and cannot be concluded from it.

All of it follows from the intervals and tests that the run has (`cimento.report.findings`).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.app.parts import ends
from cimento.app.words import Words, said
from cimento.errors import CimentoError, InputError
from cimento.io.values import grouped
from cimento.kinds.run import open_runs
from cimento.records.blanks import FORCED_CHOICE, n_findable
from cimento.records.effects import DesignEffect, effects_among
from cimento.records.outcomes import best_constant
from cimento.records.store import MANIFEST
from cimento.report.findings import ACCURACY_KIND, Headline, kind_of
from cimento.suites import BAD, GOOD
from cimento.suites.design import squares

if TYPE_CHECKING:
    from cimento.kinds.run import Run
    from cimento.records.outcomes import Estimate

_RHO = "spearman"
_MOST_EFFECTS = 6
"""Most DDs that are shown one by one; of more it is said how many show the effect."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a run.

    Attributes:
        effects: of a factorial design, the DD of each phenomenon.
        headline: of any other run, the number that sums it up; None where there is none. Of blanks
            with answers that cannot be found, the forced choice among given words, where one was
            asked.
        hits: of blanks, the hits, where some answers cannot be found; else None.
        n_findable: answers that the model can find, where there are `hits`.
        form: the form of its kind, ``pairs`` or ``factorial``; empty where it has no form.
    """

    effects: tuple[DesignEffect, ...] = ()
    headline: Headline | None = None
    hits: Estimate | None = None
    n_findable: int = 0
    form: str = ""

    def number(self, say: Words) -> str:
        """The number with its interval, and its kind unless it is an accuracy; or a dash."""
        if len(self.effects) > _MOST_EFFECTS:
            above = sum(effect.side == "above" for effect in self.effects)
            return say("read.effects", above=above, count=len(self.effects))
        if self.effects:
            several = len(self.effects) > 1
            shown = (
                f"{effect.estimate.level} {_value(effect.estimate, say)}"
                if several
                else _value(effect.estimate, say)
                for effect in self.effects
            )
            unit = say.named("unit", self.effects[0].estimate.unit)
            return f"DD{f' ({unit})' if unit else ''}: {'; '.join(shown)}"
        if self.headline is None or self.headline.estimate.value is None:
            return "–"
        estimate = self.headline.estimate
        number = f"{_kind(estimate, say)}{_value(estimate, say)}"
        if self.hits in (None, estimate):
            return number
        return f"{number}; {_kind(self.hits, say)}{_value(self.hits, say)}"

    def sentence(self, say: Words) -> str:
        """What can and cannot be concluded; empty where nothing was judged."""
        if self.effects:
            return " ".join(self._of_effects(say))
        if self.headline is None or self.headline.estimate.value is None:
            return ""
        return " ".join(filter(None, (self._of_headline(self.headline, say), self._of_hits(say))))

    def _of_hits(self, say: Words) -> str:
        """How many answers the model can find; empty where it can find all."""
        if self.hits is None:
            return ""
        count = say.number(self.hits.n)
        return say(
            "read.findable",
            kind=kind_of(self.hits),
            found=say.number(self.n_findable),
            count=count,
        )

    def _of_headline(self, one: Headline, say: Words) -> str:
        """What follows from the number."""
        estimate = one.estimate
        kind = "rho" if estimate.statistic == _RHO else "share" if estimate.is_share else "other"
        if one.standing == "undefined":
            return say("read.means_undefined", reason=_reason(estimate.reason, say))
        if one.standing == "no baseline" or kind == "other":
            return say("read.means_alone")
        baseline = say.number(one.baseline or 0.0, ".3f")
        count = say.number(estimate.n)
        return say(f"read.means_{kind}_{one.standing}", baseline=baseline, count=count)

    def _of_effects(self, say: Words) -> Iterator[str]:
        """A sentence for each side of 0 that effects are on."""
        sides = grouped((effect.side, effect.estimate) for effect in self.effects)
        for side, estimates in sides.items():
            names = ", ".join(estimate.level for estimate in estimates)
            if side == "undefined":
                reasons = dict.fromkeys(_reason(one.reason, say) for one in estimates)
                yield say("read.means_dd_undefined", names=names, reason="; ".join(reasons))
            else:
                yield say(f"read.means_dd_{side}", names=names)
        yield say("read.means_dd_is")


def _value(estimate: Estimate, say: Words) -> str:
    """A value with its interval, as the language of the page writes numbers."""
    if estimate.value is None:
        return "–"
    form = ".2f" if estimate.unit else ".3f"
    shown = say.number(estimate.value, form)
    return f"{shown} {ends(estimate.low, estimate.high, say, form)}".strip()


def _kind(estimate: Estimate, say: Words) -> str:
    """The kind of a number and a space; empty for an accuracy."""
    if estimate.statistic == _RHO:
        return f"{say('people.of-rho')} "
    if estimate.question == FORCED_CHOICE:
        return f"{say('read.forced_choice', rule=estimate.method)} "
    kind = kind_of(estimate)
    return "" if kind == ACCURACY_KIND else f"{kind} "


def _reason(reason: str, say: Words) -> str:
    return said(reason, say.language) or reason


def result_of(path: Path) -> RunResult:
    """The result of a stored run; an empty one where the run cannot be read.

    Args:
        path: folder of the run.
    """
    manifest = path / MANIFEST
    return _result_of(path, manifest.stat().st_mtime_ns if manifest.is_file() else 0)


@functools.lru_cache(maxsize=1024)
def _result_of(path: Path, _time: int) -> RunResult:
    try:
        (run,) = open_runs([path])
        estimates = run.estimates()
    except CimentoError:  # the list is shown all the same; to open the run says what is wrong
        return RunResult()
    form = _form_of(run)
    if effects := effects_among(estimates):
        return RunResult(effects, form=form)
    headline = next((one for one in estimates if one.role == "headline"), None)
    if headline is None:
        return RunResult(form=form)
    n_found = n_findable(headline, estimates)
    shown = headline if n_found is None else _forced_choice(estimates) or headline
    return RunResult(
        headline=Headline(run.model, shown, best_constant(shown, estimates)),
        hits=None if n_found is None else headline,
        n_findable=n_found or 0,
        form=form,
    )


def _form_of(run: Run) -> str:
    """What the sentences of a run are compared as: ``pairs``, ``factorial``, or neither."""
    suite = run.sentences
    if suite is None or run.paradigm.name != "regions":
        return ""
    try:
        if squares(suite):
            return "factorial"
    except InputError:
        return ""  # a warning of the suite says what is wrong with its design
    is_whole = len(suite.region_names) <= 1
    return "pairs" if is_whole and {*suite.condition_names} == {GOOD, BAD} else ""


def _forced_choice(estimates: Iterable[Estimate]) -> Estimate | None:
    """The choice among given words by the rule that has a score for most items."""
    choices = (
        one
        for one in estimates
        if one.question == FORCED_CHOICE and one.role == "main" and one.value is not None
    )
    return max(choices, key=lambda one: one.n, default=None)

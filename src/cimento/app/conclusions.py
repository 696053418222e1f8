"""What a stored run shows: its number, and in a sentence what can and cannot be concluded from it.

All of it follows from the intervals and tests that the run has (`cimento.report.findings`).
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from cimento.app.breakdowns import measure_named
from cimento.app.judged_factors import quoted_levels
from cimento.app.parts import ends
from cimento.app.words import Words, said
from cimento.errors import CimentoError, InputError
from cimento.io.values import grouped
from cimento.kinds.alike import headline_of
from cimento.kinds.identity import content_of
from cimento.kinds.run import open_runs
from cimento.records.blanks import (
    FORCED_CHOICE,
    MEAN_CHANCE,
    Reach,
    first_hits,
    reach_of,
    summed_up_alike,
)
from cimento.records.effects import DesignEffect
from cimento.records.outcomes import best_constant, design_of
from cimento.records.standing import exact_p
from cimento.records.store import MANIFEST, manifest_part
from cimento.report.findings import ACCURACY_KIND, Headline, kind_of
from cimento.suites import BAD, GOOD
from cimento.suites.design import Differing, squares

if TYPE_CHECKING:
    import polars as pl

    from cimento.kinds.run import Run
    from cimento.records.outcomes import Estimate

Levels: TypeAlias = "tuple[tuple[str, str], ...]"
"""The factors of a cell of a design, each with its level."""

_RHO = "spearman"
_FIRST = "hit@1"
_MOST_REASONS = 3
_MOST_EFFECTS = 6
"""Most DDs that are shown one by one; of more it is said how many show the effect."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a run.

    Attributes:
        effects: of a factorial design, the DD of each phenomenon.
        people: of a design that people have rated, their DD of each phenomenon.
        headline: of any other run, the number that sums it up; None where there is none.
        hits: of blanks, the hits that another number sums up, or that some answers cannot be
            found for; else None.
        reach: answers that the model can find; None where it can find all.
        form: the form of its kind, ``pairs`` or ``factorial``; empty where it has no form.
        clusters: of any other run, the clusters that the items of the number are in; None where
            each is by itself.
        n_unscored: number of items that could not be judged, which the number leaves out.
        n_items: number of items with those.
        reasons: why they could not.
        is_masked: whether sentences have the scores of a masked model.
        pll: the rule of its pseudo-log-likelihoods, as of the option ``pll``.
        levels: of a design, the conditions, each with its levels and the factors they are of.
        differing: of designs with the judgment as a factor, of what each DD is the difference.
    """

    effects: tuple[DesignEffect, ...] = ()
    people: tuple[DesignEffect, ...] = ()
    headline: Headline | None = None
    hits: Estimate | None = None
    reach: Reach | None = None
    form: str = ""
    clusters: int | str | None = None
    n_unscored: int = 0
    n_items: int = 0
    reasons: tuple[str, ...] = ()
    is_masked: bool = False
    pll: str = ""
    levels: Mapping[str, Levels] = field(default_factory=dict)
    differing: tuple[Differing, ...] = ()

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
        if self.headline is None:
            return "–"
        estimate = self.headline.estimate
        if estimate.value is None:
            return f"{_kind(estimate, say)}–" if self._has_no_hits else "–"
        number = f"{_kind(estimate, say)}{_value(estimate, say)}"
        if self.hits is None or self.hits.question == estimate.question:
            return number
        return f"{number}; {_kind(self.hits, say)}{_value(self.hits, say)}"

    def size(self, say: Words) -> str:
        """What the number is of: items, unit, interval, clusters; empty where there is none."""
        if self.effects:
            counts = {effect.estimate.n for effect in self.effects}
            ends_of_n = dict.fromkeys(say.number(end) for end in (min(counts), max(counts)))
            known = [effect.clusters for effect in self.effects if effect.clusters]
            spans = _spans([effect.estimate for effect in self.effects], say)
            facts = [say("read.items", n="–".join(ends_of_n)), *spans, *self._tests(say)]
            return "; ".join([*facts, _clusters(", ".join(map(str, known)), say)])
        if self.headline is None or self.headline.estimate.value is None:
            return ""
        one = self.headline.estimate
        n = say.number(one.n)
        known_right = one.right is not None
        count = (
            say("read.right", right=say.number(one.right or 0), n=n)
            if known_right
            else say("read.items", n=n)
        )
        span = _spans([one], say)
        if one.statistic == _RHO:
            of = measure_named(one.question, say, masked=self.is_masked)
            span.insert(0, say("read.of_rho", measure=of))
            span += [] if one.p is None else [say("read.p_of_rho", p=_p(one.p, say))]
        return "; ".join([count, *span, _clusters(self.clusters, say)])

    def _tests(self, say: Words) -> Iterator[str]:
        """By what the DDs of a design were tested; nothing where none was."""
        made = [one.estimate for one in self.effects if one.estimate.p_corrected is not None]
        if methods := dict.fromkeys(_reason(one.interval_method or "", say) for one in made):
            yield say("read.test_of_dd", methods=", ".join(methods))

    def cells(self, say: Words) -> Iterator[str]:
        """The means of the cells of a design by phenomenon, and of which cell what is expected."""
        for effect in self.effects:
            if effect.means:
                measure = effect.estimate.method
                # Scores are higher where better: surprisal is shown as it is, in the unit of DD.
                is_cost = say.named("turned", measure) != measure
                means = "; ".join(
                    f"{self.cell(name)} {say.number(-mean if is_cost else mean, '.2f')}"
                    for name, mean in effect.means
                )
                named = measure_named(measure, say, masked=self.is_masked)
                key = "read.cells_cost" if is_cost else "read.cells"
                yield say(key, name=effect.estimate.level, measure=named, means=means)
        expected = dict.fromkeys(effect.expected for effect in self.effects)
        cells = [self.levels[cell] for cell in expected if cell in self.levels]
        if cells:
            levels = dict.fromkeys(
                " + ".join(f"{factor}: {level}" for factor, level in cell) for cell in cells
            )
            yield say("read.means_dd_expected", levels="; ".join(levels))

    def cell(self, condition: str) -> str:
        """A cell of a design by its levels, as whoever wrote the sentences calls them.

        Args:
            condition: name of the condition; it stands for itself where it is of no design.
        """
        known = self.levels.get(condition)
        return condition if known is None else " + ".join(level for _, level in known)

    def masked(self, say: Words) -> str:
        """What stands for the probability of a sentence; empty unless the model is a masked one."""
        if not self.is_masked:
            return ""
        return say("read.masked_is", hidden=say.texts.get(f"read.hidden-{self.pll}", ""))

    def unjudged(self, say: Words) -> str:
        """How many items the number leaves out, and why; empty where it leaves out none."""
        if not self.n_unscored or self._has_no_hits:  # why, the sentence says
            return ""
        why = "; ".join(_reason(reason, say) for reason in self.reasons)
        count, all_items = say.number(self.n_unscored), say.number(self.n_items)
        return say("read.unjudged", count=count, all=all_items, why=f"{why}." if why else "")

    def sentence(self, say: Words) -> str:
        """What can and cannot be concluded; empty where nothing was judged."""
        if self.effects:
            return " ".join((*self._of_people(say), *self._of_effects(say)))
        if self.headline is None:
            return ""
        if self.headline.estimate.value is None:
            return self._of_hits(say)
        return " ".join(filter(None, (self._of_headline(self.headline, say), self._of_hits(say))))

    @property
    def _has_no_hits(self) -> bool:
        """Whether hits would sum the run up, and the model can find no answer at all."""
        is_shown = self.headline is not None and self.headline.estimate == self.hits
        return is_shown and self.reach is not None and not self.reach.found

    def _of_hits(self, say: Words) -> str:
        """How many answers the model can find; empty where it can find all."""
        if self.hits is None or self.reach is None:
            return ""
        return say(
            "read.findable" if self.reach.found else "read.findable_none",
            kind=kind_of(self.hits),
            found=say.number(self.reach.found),
            count=say.number(self.reach.n),
        )

    def _of_headline(self, one: Headline, say: Words) -> str:
        """What follows from the number."""
        estimate = one.estimate
        kind = "rho" if estimate.statistic == _RHO else "share" if estimate.is_share else "other"
        if one.standing == "undefined":
            return say("read.means_undefined", reason=_reason(estimate.reason, say))
        if one.standing == "no baseline" or kind == "other":
            return say("read.means_alone")
        p = exact_p(estimate, one.baseline)
        is_mean = estimate.chance_method == MEAN_CHANCE and one.baseline == estimate.chance
        test = "read.exact_by_item" if is_mean else "read.exact"
        exact = "" if p is None else f"; {say(test, p=_p(p, say))}"
        baseline = f"{say.number(one.baseline or 0.0, '.3f')}{exact}"
        count = say.number(estimate.n)
        concluded = say(f"read.means_{kind}_{one.standing}", baseline=baseline, count=count)
        notes = [say("read.exact_decides")] if one.doubt is not None else []
        notes += [say("read.mean_chance")] if is_mean else []
        return " ".join([concluded, *notes])

    def _of_people(self, say: Words) -> Iterator[str]:
        """What people's ratings show, a sentence for each side of 0 that their effects are on."""
        for side, effects in grouped((effect.side, effect) for effect in self.people).items():
            names = "; ".join(
                f"{effect.estimate.level} DD {_value(effect.estimate, say)}"
                f" {say.named('unit', effect.estimate.unit)}".rstrip()
                for effect in effects
            )
            reasons = dict.fromkeys(_reason(one.estimate.reason, say) for one in effects)
            yield say(f"read.people_dd_{side}", names=names, reason="; ".join(reasons))

    def _of_effects(self, say: Words) -> Iterator[str]:
        """A sentence for each side of 0 that effects are on."""
        sides = grouped((effect.side, effect.estimate) for effect in self.effects)
        for side, estimates in sides.items():
            names = ", ".join(_with_p(estimate, say) for estimate in estimates)
            if side == "undefined":
                reasons = dict.fromkeys(_reason(one.reason, say) for one in estimates)
                yield say("read.means_dd_undefined", names=names, reason="; ".join(reasons))
            else:
                yield say(f"read.means_dd_{side}", names=names)
            if side == "above":
                yield from self._of_worst(say)
        for one in self.differing:
            yield say("read.means_dd_differ", **quoted_levels(one, say))
        if not self.differing:
            yield say("read.means_dd_is")

    def _of_worst(self, say: Words) -> Iterator[str]:
        """A sentence for each DD above 0 in which other sentences are the worst than expected."""
        for one in self.effects:
            if one.side == "above" and one.worst:
                name = one.estimate.level
                expected, worst = map(self.cell, (one.expected, one.worst))
                yield say("read.means_dd_worst", name=name, expected=expected, worst=worst)


def _spans(estimates: Sequence[Estimate], say: Words) -> list[str]:
    """That intervals are in brackets, if there are any, and why others have none."""
    lost = dict.fromkeys(
        _reason(one.reason, say)
        for one in estimates
        if one.low is None and one.value is not None and one.reason
    )
    shown = [say("read.span")] if any(one.low is not None for one in estimates) else []
    return [*shown, *(say("read.no_span", reason=reason) for reason in lost)]


def _clusters(clusters: int | str | None, say: Words) -> str:
    """The groups that items are in, in words."""
    return say("read.clusters", clusters=clusters) if clusters else say("read.alone_each")


def _p(p: float, say: Words) -> str:
    """A p-value, with its sign."""
    least = 0.001
    return f"< {say.number(least, '.3f')}" if p < least else f"= {say.number(p, '.3f')}"


def _with_p(estimate: Estimate, say: Words) -> str:
    """The phenomenon of a DD, with p if there is a test."""
    p = estimate.p_corrected
    return estimate.level if p is None else f"{estimate.level} (p {_p(p, say)})"


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
        return f"{say('read.forced_choice', rule=say.named('rule', estimate.method))} "
    kind = kind_of(estimate)
    if kind == _FIRST:
        return f"{say('read.first')} "
    return "" if kind == ACCURACY_KIND else f"{kind} "


def _reason(reason: str, say: Words) -> str:
    return said(reason, say.language) or reason


def results_beside(paths: Sequence[Path]) -> list[RunResult]:
    """The results of stored runs that are shown together, as their report sums them up.

    Args:
        paths: folders of the runs; the result of one that cannot be read is empty.
    """
    manifests = [path / MANIFEST for path in paths]
    times = [file.stat().st_mtime_ns if file.is_file() else 0 for file in manifests]
    known = [_known(*both) for both in zip(paths, times, strict=True)]
    places = grouped((one.suite, n) for n, one in enumerate(known) if one is not None)
    results = [RunResult()] * len(paths)
    for several in places.values():
        alike = summed_up_alike(one.estimates for n in several if (one := known[n]) is not None)
        for n, estimates in zip(several, alike, strict=True):
            results[n] = _result_of(paths[n], times[n], headline_of(estimates))
    return results


@dataclass(frozen=True, slots=True)
class _Known:
    """What decides by which number a run is summed up: the suite with its content, estimates."""

    suite: tuple[str, str]
    estimates: tuple[Estimate, ...]


@functools.lru_cache(maxsize=1024)
def _known(path: Path, _time: int) -> _Known | None:
    try:
        (run,) = open_runs([path])
        return _Known((run.suite.name, content_of(run)), run.estimates())
    except CimentoError:  # the list is shown all the same; to open the run says what is wrong
        return None


@functools.lru_cache(maxsize=1024)
def _result_of(path: Path, _time: int, headline: Estimate | None) -> RunResult:
    try:
        (run,) = open_runs([path])
        estimates, outcomes = run.estimates(), run.outcomes()
        effects = tuple(run.paradigm.presenter.design_effects(run))
        people = (
            tuple(run.paradigm.presenter.design_effects(run, of_people=True)) if effects else ()
        )
    except CimentoError:
        return RunResult()
    about = RunResult(
        effects,
        people,
        form=_form_of(run),
        is_masked=run.sentences is not None and run.model_kind == "masked",
        pll=str(manifest_part(run.manifest, "asking", "policy").get("pll", "")),
        levels=_levels_of(run) if effects else {},
        differing=_differing_in(run) if effects else (),
    )
    if headline is None:
        return about
    asked = outcomes.filter(
        (outcomes["question"] == headline.question) & (outcomes["method"] == headline.method)
    )
    lost = _left_out(about, asked, headline)
    if effects:
        return lost
    hits = first_hits(estimates)
    reach = reach_of(estimates)
    is_choice = headline.question == FORCED_CHOICE
    return replace(
        lost,
        headline=Headline(run.model, headline, best_constant(headline, estimates)),
        hits=hits if is_choice or reach is not None else None,
        reach=reach,
    )


def _levels_of(run: Run) -> dict[str, Levels]:
    """The conditions of a design, each with the factors and its levels of them."""
    known = squares(run.sentences) if run.sentences is not None else ()
    return {
        cell.condition: tuple(zip(square.factors, cell.levels, strict=True))
        for square in known
        for cell in square.cells
        if cell.condition
    }


def _differing_in(run: Run) -> tuple[Differing, ...]:
    """Of what the DDs of a design are the differences, if one of its factors is the judgment."""
    known = squares(run.sentences) if run.sentences is not None else ()
    return tuple(filter(None, (square.differing for square in known)))


def _left_out(about: RunResult, asked: pl.DataFrame, shown: Estimate) -> RunResult:
    """The result of a run with the clusters of the items of a number, and those it leaves out.

    Args:
        about: what else is known of the run.
        asked: outcomes of its question.
        shown: the number.
    """
    known = "right" if shown.is_share else "value"
    kept = asked.filter(asked[known].is_not_null())
    lost = asked.filter(asked[known].is_null())
    reasons = tuple(dict.fromkeys(lost["reason"].drop_nulls().to_list()))
    design = design_of(kept["item"].to_list(), kept["cluster"].to_list())
    return replace(
        about,
        clusters=design.clusters_said,
        n_unscored=len(lost),
        n_items=len(asked),
        reasons=reasons[:_MOST_REASONS],
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

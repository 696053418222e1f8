"""Which of the options of a run the suites of each paradigm honour."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cimento.errors import UsageError, did_you_mean
from cimento.models.registry import Asking
from cimento.options import JudgingOptions, RunOptions
from cimento.paradigms.base import AnyParadigm, ParadigmOptions
from cimento.paradigms.registry import parse_options

if TYPE_CHECKING:
    from cimento.api import LoadedSuite
    from cimento.runs.run import Run

SCORING_OPTIONS = ("context", "all_tokens", "columns", "spec", "recorded_unit")
"""The scoring options that only some paradigms honour, see `Paradigm.scoring`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Honoured:
    """What the options of a run come to for suites of one paradigm.

    Attributes:
        options: of the paradigm.
        scoring: how texts are scored.
    """

    options: ParadigmOptions
    scoring: Asking

    @property
    def policy(self) -> str:
        """The digest of how a suite is asked, for the name of a run's folder."""
        return " ".join(filter(None, (self.scoring.digest(), self.options.digest())))


def honoured(paradigm: AnyParadigm, run_options: RunOptions) -> Honoured:
    """The options of a run that a paradigm honours, as if no others had been given.

    What none of the suites of a run honours is refused by `refuse_unused`.

    Raises:
        UsageError: an option has none of the values that the paradigm knows.
    """
    known = paradigm.options.model_fields
    given = {name: value for name, value in run_options.given.items() if name in known}
    plain = Asking()
    not_asked = [name for name in SCORING_OPTIONS if name not in paradigm.scoring]
    without = {name: getattr(plain, name) for name in not_asked}
    return Honoured(
        options=parse_options(paradigm, given),
        scoring=dataclasses.replace(run_options.scoring, **without),
    )


def refuse_unused(paradigms: Iterable[AnyParadigm], options: JudgingOptions) -> None:
    """See that every option that was given is honoured by suites of the run.

    Args:
        paradigms: of the suites.
        options: how they are run, or judged again.

    Raises:
        UsageError: there is one that none of them honours.
    """
    several = list(dict.fromkeys(paradigms))
    asks = isinstance(options, RunOptions)
    scoring = {name for paradigm in several for name in paradigm.scoring if asks}
    own = {name for paradigm in several for name in paradigm.options.model_fields}
    for name in _given(options):
        if several and not any(_has(paradigm, name) for paradigm in several):
            named = " and ".join(repr(paradigm.name) for paradigm in several)
            lack = "are not asked with it" if name in SCORING_OPTIONS else "have no such option"
            others = {*JudgingOptions.model_fields, *SCORING_OPTIONS} - scoring
            known = own | scoring | (type(options).model_fields.keys() - others)
            raise UsageError(
                where=f"option {name}",
                seen=f"suites of the paradigm{'s' if len(several) > 1 else ''} {named} {lack}",
                todo=did_you_mean(name, known, listed=own | scoring),
            )


def unused_options(suites: Iterable[LoadedSuite | Run], options: JudgingOptions) -> Iterator[str]:
    """Which suites do not use an option that others of the run do, as sentences.

    Args:
        suites: of the run, or their runs.
        options: how they are run, or judged again.
    """
    several = list(suites)
    for name in _given(options):
        without = [each for each in several if not _has(each.paradigm, name)]
        if 0 < len(without) < len(several):
            names = ", ".join(dict.fromkeys(each.suite.name for each in without))
            yield f"option {name} is not used by {names}."


def is_used_by_all(paradigms: Iterable[AnyParadigm], run_options: RunOptions) -> bool:
    """Whether there is nothing to say of an option that was given: each paradigm honours it.

    Args:
        paradigms: of the suites.
        run_options: how they are run.
    """
    return all(_has(paradigm, name) for paradigm in paradigms for name in _given(run_options))


def _given(options: JudgingOptions) -> list[str]:
    """Names of the options that were given and that not all paradigms honour."""
    if not isinstance(options, RunOptions):
        return list(options.given)
    scoring = {
        "context": options.context or options.context_column,
        "all_tokens": options.all_tokens,
        "columns": options.columns or options.layers,
        "spec": options.spec,
        "recorded_unit": options.recorded_unit != Asking().recorded_unit,
    }
    return [*options.given, *(name for name in SCORING_OPTIONS if scoring[name])]


def _has(paradigm: AnyParadigm, name: str) -> bool:
    return name in paradigm.options.model_fields or name in paradigm.scoring

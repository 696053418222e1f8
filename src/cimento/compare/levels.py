"""Analyses by level of chance: of pairs, say, apart from blanks that no guess fills.

The logit of a correct answer is that of the item and of the model only where nobody is right by
guessing, or all are so equally often. Models that guess everywhere would seem to find blanks with
thousands of answers hard, and pairs easy: that is the form of the test and not the language. So
each level of chance has a scale of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cimento.compare.analysis import Analysis, ModelChoice, analyze_table
from cimento.compare.answer_table import (
    AnswerTable,
    Respondent,
    TieRule,
    answer_table,
    are_judged,
    has_column,
)
from cimento.io.values import grouped
from cimento.paired.item_outcomes import judged_on_measure

if TYPE_CHECKING:
    from cimento.kinds.run import Run

_DIGITS = 2
"""Chance of one in thousands depends on the model's tokens, and is none."""


@dataclass(frozen=True, slots=True)
class ChanceLevel:
    """A level of chance.

    Attributes:
        chance: to two digits; None where it is not known.
        unknown: why it is not known; suites without a level for different reasons share no scale.
    """

    chance: float | None
    unknown: str = ""


def levels_of(runs: Sequence[Run]) -> list[tuple[ChanceLevel, list[Run]]]:
    """The runs by the level of chance of their suites, the level with the most items first.

    Args:
        runs: of any kinds; a suite is at the level of its headline question, which is the
            highest one among its models.
    """
    levels_by_suite: dict[str, ChanceLevel] = {}
    for run in runs:
        level = levels_by_suite.get(run.suite_name)
        headline = next((one for one in run.estimates() if one.role == "headline"), None)
        if headline is None:
            levels_by_suite.setdefault(run.suite_name, ChanceLevel(None))
        elif headline.chance is not None:
            highest = max(headline.chance, (level.chance if level else None) or 0.0)
            levels_by_suite[run.suite_name] = ChanceLevel(round(highest, _DIGITS))
        elif level is None or level == ChanceLevel(None):
            unknown = headline.chance_method or ""
            levels_by_suite[run.suite_name] = ChanceLevel(None, unknown)
    levels = grouped((levels_by_suite[run.suite_name], run) for run in runs)
    items = {
        level: sum({run.suite_name: run.outcomes()["item"].n_unique() for run in some}.values())
        for level, some in levels.items()
    }
    return sorted(levels.items(), key=lambda level: -items[level[0]])


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisSettings:
    """The settings of an analysis.

    Attributes:
        kind: of the model of items.
        phenomenon: column that names the phenomenon of an item; empty for that of the suite.
        covariates: as for `answer_table`.
        ties: whether a tie counts as it was judged, or half.
        measure: to judge on, where there is a choice; empty for that of each run.
        precision: of the shortest lists of items; None for no such list.
        seed: of draws.
        families: of models, each as ``NAME=MODEL,MODEL``; empty for those that names propose.
    """

    kind: ModelChoice = "auto"
    phenomenon: str = ""
    covariates: Sequence[str] = ()
    ties: TieRule = "judged"
    measure: str = ""
    precision: float | None = None
    seed: int = 0
    families: Sequence[str] = ()


def analyze_runs(
    runs: Sequence[Run], settings: AnalysisSettings, *, people: Sequence[Respondent] = ()
) -> Analysis:
    """The analysis of the level of chance with the most items, with those of the others.

    Args:
        runs: of two models or more, on any suites.
        settings: of the analysis.
        people: further respondents.

    Raises:
        UsageError: as for `answer_table` and `analyze_table`.
    """

    def table_of(some: Sequence[Run], column: str) -> AnswerTable:
        return answer_table(
            some, people=_on(people, some), measure=settings.measure, phenomenon=column,
            covariates=settings.covariates, ties=settings.ties, families=settings.families,
        )  # fmt: skip

    judged, phenomenon = judged_on_measure(runs, settings.measure), settings.phenomenon
    levels = levels_of(judged)
    # Suites of which nothing is right or wrong have no level; alone, they are refused below.
    levels = [level for level in levels if are_judged(level[1])] or levels
    if len(levels) > 1 and phenomenon:
        table_of(runs, phenomenon)  # refuses a column that no suite has
    analyses = []
    for level, some in levels:
        column = phenomenon if len(levels) == 1 or has_column(some, phenomenon) else ""
        table = table_of(some, column)
        analysis = analyze_table(
            table,
            kind=settings.kind,
            ties=settings.ties,
            precision=settings.precision,
            seed=settings.seed,
        )
        analyses.append(at_level(analysis, level))
    return with_others(analyses)


def at_level(analysis: Analysis, level: ChanceLevel) -> Analysis:
    """An analysis with the level of chance of its suites."""
    return replace(analysis, chance=level.chance, no_chance=level.unknown)


def with_others(analyses: Sequence[Analysis]) -> Analysis:
    """The first of some analyses, with the others."""
    first, *others = analyses
    return replace(first, others=tuple(others))


def _on(people: Sequence[Respondent], runs: Sequence[Run]) -> list[Respondent]:
    """The people who answered items of some suites, with these answers."""
    suites = {run.suite_name for run in runs}
    some = (
        replace(one, answers={key: one.answers[key] for key in one.answers if key[0] in suites})
        for one in people
    )
    return [one for one in some if one.answers]

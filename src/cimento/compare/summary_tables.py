"""Many suites compared in one table: a row for each suite, by the question that sums it up."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from cimento.compare.comparison_tables import notes_of
from cimento.errors import counted
from cimento.io.values import grouped
from cimento.report import formatting
from cimento.report.formatting import ends_of, places, signed, some
from cimento.report.grid import BLANK, Grid
from cimento.report.sides import UNNAMED
from cimento.report.suite_differences import OTHER_PHENOMENA, TWINS
from cimento.suites.naming import ALL_PREDICTIONS

if TYPE_CHECKING:
    from cimento.compare.before_after import BeforeAfter
    from cimento.compare.ranking_records import RankedModel, Ranking
    from cimento.paired.pairwise import PairedCorrelations, PairwiseComparison
    from cimento.report.protocols import HasReason
    from cimento.report.sides import Sides
    from cimento.report.suite_differences import SuiteDifference

_share = partial(formatting.rate_as_text, absent=BLANK)
_r = partial(formatting.signed, digits=3, absent=BLANK)
_p = partial(formatting.p_number, absent=BLANK)
_RANKS = (
    "rank interval: the ranks that tests of all pairs leave possible, corrected by Holm's method"
    " over all suites."
)
_SHORT = ("first", "second")
"""The columns of two models, whose names are long for a table that is read in a terminal."""
_PER_SUITE = "One row per suite, by its main question"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A row of the summary: both sides on one suite, or their mean difference over suites."""

    label: str
    n: int
    first: str = BLANK
    second: str = BLANK
    change: HasReason
    estimate: float | None
    p: float | None
    corrected: float | None
    reason: str = BLANK


def summary_of_two(
    rates: Sequence[PairwiseComparison],
    correlations: Sequence[PairedCorrelations],
    means: Sequence[SuiteDifference],
    *,
    correction: str,
    sides: Sides,
    designs: Collection[str] = (),
    others: Collection[str] = (),
) -> Grid:
    """A table of two models, or of before and after, with a row for each suite, then the means.

    Args:
        rates: by the question that sums up each suite.
        correlations: of the suites that are summed up by one.
        means: mean differences over suites; those of single phenomena are left out.
        correction: name of the correction of p-values.
        sides: the two sides.
        designs: factorial suites, whose DD are in another table.
        others: suites that nothing sums up.
    """
    overall = [one for one in means if not one.phenomenon]
    rows = [*_suite_rows(rates, correlations), *map(_mean_row, overall)]
    first, second = _SHORT if sides.models else UNNAMED
    grid = Grid.of(
        rows,
        {
            "suite": lambda row: row.label,
            "n": lambda row: row.n,
            first: lambda row: row.first,
            second: lambda row: row.second,
            "change": lambda row: signed(row.estimate, digits=3, absent=BLANK),
            "95%": lambda row: ends_of(row.change),
            "p": lambda row: _p(row.p),
            f"p ({correction})": lambda row: _p(row.corrected),
            "reason": lambda row: row.reason,
        },
        title=f"{_PER_SUITE}: proportion of correct items.",
        remarks=1,
        notes=(
            *_about(sides),
            *_questions([(one.suite, one.question) for one in rates]),
            *_designs_said(designs),
            *(f"Nothing sums up {name}: see its own tables." for name in others),
            *_families(rates, correlations, correction),
            *((OTHER_PHENOMENA, TWINS) if overall else ()),
            *notes_of(rates),
        ),
    )
    return replace(grid, rules=frozenset({len(rows) - len(overall)} if overall else ()))


def _about(sides: Sides) -> tuple[str, ...]:
    """Notes on the columns of both sides."""
    first, second = _SHORT
    named = f"{first}: {sides.one}; {second}: {sides.other}; change: {second} minus {first}."
    direction = named if sides.models else f"{sides.direction}."
    return (direction, "n: items scored in both; of means: suites.")


def summary_grids(comparison: BeforeAfter, *, correction: str, sides: Sides) -> dict[str, Grid]:
    """The summary of several pairs of runs, by its name; none for a single pair.

    Args:
        comparison: of the runs.
        correction: name of the correction of p-values.
        sides: the two sides.
    """
    rates, correlations = comparison.summed_up, comparison.correlated
    summed = {one.suite for one in rates} | {one.suite for one in correlations}
    if len(comparison.runs) == 1 or not summed:
        return {}
    summary = summary_of_two(
        rates, correlations, comparison.differences, correction=correction, sides=sides,
        designs=dict.fromkeys(one.suite for one in comparison.designs),
        others=dict.fromkeys(one.suite for one in comparison.values if one.suite not in summed),
    )  # fmt: skip
    return {"summary": summary}


def _suite_rows(
    rates: Sequence[PairwiseComparison], correlations: Sequence[PairedCorrelations]
) -> Iterator[_Row]:
    by_model = len({one.first for one in rates} | {one.first for one in correlations}) > 1
    for rate in rates:
        yield _Row(
            label=_labeled(rate.suite, rate.first if by_model else ""),
            n=rate.n,
            first=_share(rate.first_share),
            second=_share(rate.second_share),
            change=rate.change,
            estimate=rate.change.estimate,
            p=rate.test.p,
            corrected=rate.corrected,
            reason=rate.change.reason or rate.test.reason or BLANK,
        )
    for one in correlations:
        yield _Row(
            label=f"{_labeled(one.suite, one.first if by_model else '')} ({one.coefficient} of"
            f" {one.question})",
            n=one.change.n,
            first=_r(one.change.first),
            second=_r(one.change.second),
            change=one.change,
            estimate=one.change.estimate,
            p=one.change.p,
            corrected=one.corrected,
            reason=one.change.reason or BLANK,
        )


def _labeled(suite: str, model: str) -> str:
    return f"{suite}, {model}" if model else suite


def _mean_row(mean: SuiteDifference) -> _Row:
    level = "" if mean.chance is None else f", chance {mean.chance:g}"
    return _Row(
        label=f"mean of {counted(mean.n_suites, f'{mean.part} suite'.strip())}{level}",
        n=mean.n_suites,
        change=mean,
        estimate=mean.value,
        p=mean.p,
        corrected=mean.p_corrected,
        reason=mean.reason,
    )


def _questions(asked: Collection[tuple[str, str]]) -> list[str]:
    """A note on what counts as right in some suites; none where that is all their predictions."""
    by_question = grouped(dict.fromkeys((question, suite) for suite, question in asked))
    parts = [
        f"{question} ({some(suites)})"
        for question, suites in by_question.items()
        if question != ALL_PREDICTIONS
    ]
    said = "What counts as correct, where it is not all predictions"
    return [f"{said}: {'; '.join(parts)}."] * bool(parts)


def _designs_said(designs: Collection[str]) -> list[str]:
    return [f"Factorial designs are compared by DD too: {some([*designs])}."] * bool(designs)


def _families(
    rates: Sequence[PairwiseComparison],
    correlations: Sequence[PairedCorrelations],
    correction: str,
) -> list[str]:
    """What p-values are corrected over, for rates and for correlations."""
    sizes = {
        "tests of rates": max((one.family for one in rates), default=0),
        "of correlations": max((one.family for one in correlations), default=0),
    }
    said = [f"{size} {name}" for name, size in sizes.items() if size > 1]
    family = f"p ({correction}): over the {' and the '.join(said)} that were made together."
    return [f"95% and p: of each row alone; {family}"] if said else []


def summary_of_models(rankings: Sequence[Ranking]) -> Grid:
    """A table of three models or more, with a row for each suite and a column for each model.

    Args:
        rankings: by the question that sums up each suite.
    """
    models = _by_step(rankings)
    cells = {
        (number, one.model): one for number, each in enumerate(rankings) for one in each.models
    }

    def cell(row: int, model: str) -> str:
        one = cells.get((row, model))
        if one is None:
            return BLANK
        rank = f" ({places(one.rank.best, one.rank.worst)})" if one.rank else ""
        return f"{_share(one.accuracy)}{rank}"

    return Grid(
        title=f"{_PER_SUITE}: proportion of correct items (and rank interval) of each model.",
        header=("suite", "n", *models, "p"),
        rows=tuple(
            (
                each.suite,
                str(each.n),
                *(cell(row, model) for model in models),
                _p(each.together.p) if each.together else BLANK,
            )
            for row, each in enumerate(rankings)
        ),
        notes=(
            *_questions([(one.suite, one.question) for one in rankings]),
            *_tests(rankings),
            _RANKS,
            *notes_of(rankings),
        ),
    )


def _by_step(rankings: Sequence[Ranking]) -> list[str]:
    """All models as they are ranked first, with those of one family together, by training step."""
    by_name = {one.model: one for one in chain(*(each.models for each in rankings))}
    families = list(dict.fromkeys(one.family or one.model for one in by_name.values()))

    def place(one: RankedModel) -> tuple[int, bool, int]:
        return families.index(one.family or one.model), one.step is None, one.step or 0

    return [one.model for one in sorted(by_name.values(), key=place)]


def _tests(rankings: Sequence[Ranking]) -> list[str]:
    tests = [one.together for one in rankings if one.together]
    methods = dict.fromkeys(test.method for test in tests if test.p is not None)
    return [
        f"p: of no difference among the models of a suite, not corrected; {'; '.join(methods)}."
    ] * bool(methods)

"""Tables of overviews: perplexities, worst sentences, several suites together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cimento.report.grid import BLANK, Cell, Estimate, Grid, sizes
from cimento.report.wording import rate

if TYPE_CHECKING:
    from cimento.overviews import JointCell, Lowest, Perplexity


def perplexity_grid(values: Sequence[Perplexity]) -> Grid:
    """Perplexity of acceptable and unacceptable sentences, their ratio, and each condition's."""
    names = list(dict.fromkeys(name for each in values for name, _ in each.by_condition))
    rows = tuple(
        (
            each.suite,
            each.model,
            each.phenomenon,
            each.kind,
            *(str(n) for n in each.n),
            _number(each.acceptable),
            _number(each.unacceptable),
            _number(each.ratio),
            *(_number(dict(each.by_condition).get(name)) for name in names),
            each.reason or BLANK,
        )
        for each in values
    )
    return Grid(
        title="Perplexity of a token over all sentences of a condition.",
        header=(
            "suite", "model", "phenomenon", "kind", "n acceptable", "n unacceptable", "acceptable",
            "unacceptable", "ratio", *names, "remark",
        ),
        rows=rows,
        labels=4,
        remarks=1,
        notes=(
            "PPPL: of pseudo-log-likelihoods; not comparable with PPL.",
            "n: sentences. One number over the tokens of them all: there is no interval.",
        ),
    )  # fmt: skip


def lowest_grid(values: Sequence[Lowest], *, measure: str) -> Grid:
    """The sentences with the worst scores."""
    rows = tuple(
        (
            each.suite,
            each.model,
            each.item,
            each.condition,
            _number(each.value),
            each.token,
            _number(each.token_bits),
            each.text,
        )
        for each in values
    )
    return Grid(
        title=f"Sentences with the worst {measure}: look for typos and odd words among them.",
        header=(
            "suite", "model", "item", "condition", measure, "worst token", "its bits", "sentence",
        ),
        rows=rows,
        labels=4,
        remarks=1,
    )  # fmt: skip


def joint_grid(cells: Sequence[JointCell]) -> Grid:
    """Suites and phenomena in rows, models and measures in columns; accuracies in percent.

    The last rows are means over suites of the mean over a suite's phenomena, one for each level of
    chance: what is .5 by chance and what is .333 have no mean.
    """
    columns = list(dict.fromkeys((each.model, each.measure) for each in cells))
    found = {(*_row_of(each), each.model, each.measure): each for each in cells}
    rows: list[tuple[Cell, ...]] = []
    rules = set()
    before = None
    for place in dict.fromkeys(map(_row_of, cells)):
        suite, language, phenomenon, what = place
        if suite != before and rows:
            rules.add(len(rows))
        labels = (BLANK, BLANK) if suite == before else (suite, language)
        before = suite
        own = [found.get((*place, *column)) for column in columns]
        values = [None if each is None else of_cell(each) for each in own]
        level = next((each.chance for each in own if each is not None), None)
        shown = (*labels, phenomenon, what, rate(level), sizes(values))
        rows.append((*shown, *(each or BLANK for each in values)))
    rules.add(len(rows))
    for level in sorted({each.chance for each in cells if each.chance is not None}):
        means = [_mean_over_suites(cells, level, *column) for column in columns]
        shown = ("Mean over suites", BLANK, BLANK, "suites", rate(level), sizes(means))
        rows.append((*shown, *means))
    return Grid(
        title="Accuracy in % of the same models on several suites.",
        header=(
            *("suite", "language", "phenomenon", "of", "chance", "n"),
            *(measure or "regions" for _, measure in columns),
        ),
        groups=(*(BLANK,) * 6, *(model for model, _ in columns)),
        rows=tuple(rows),
        rules=frozenset(rules),
        labels=4,
        notes=("n: items; of means: suites. Each level of chance has a mean of its own.",),
    )


def _row_of(cell: JointCell) -> tuple[str, str, str, str]:
    return cell.suite, cell.language, cell.phenomenon, cell.what


def of_cell(cell: JointCell) -> Estimate:
    """The accuracy of a cell in percent."""
    return Estimate.percent((cell.accuracy, cell.low, cell.high), cell.n, cell.reason)


def _mean_over_suites(
    cells: Sequence[JointCell], chance: float, model: str, measure: str
) -> Estimate:
    """The mean over suites of what a model has on those with one level of chance."""
    suites: dict[str, list[float]] = {}
    for each in cells:
        own = (each.model, each.measure, each.chance) == (model, measure, chance)
        if own and each.accuracy is not None:
            suites.setdefault(each.suite, []).append(each.accuracy)
    return mean_of_accuracies([math.fsum(own) / len(own) for own in suites.values()])


def mean_of_accuracies(accuracies: Sequence[float]) -> Estimate:
    """The mean of some accuracies in percent, as if what they are of had been drawn.

    Args:
        accuracies: of suites or paradigms, as shares, which count alike.
    """
    from cimento.statistics.design import Design
    from cimento.statistics.means import mean_of

    found = mean_of(accuracies, Design.independent(len(accuracies)), seed=0)
    if found.low is None or found.high is None:
        reason = (found.reason or "").replace("value", "suite")
        return Estimate.percent((found.value, None, None), found.n, reason)
    ends = (found.value, max(0.0, found.low), min(1.0, found.high))
    return Estimate.percent(ends, found.n, None)


def _number(value: float | None) -> str:
    return BLANK if value is None else f"{value:.4g}"

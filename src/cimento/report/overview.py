"""Tables of overviews: perplexities, worst sentences, several suites together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from cimento.report.grid import BLANK, Grid
from cimento.report.wording import percent

if TYPE_CHECKING:
    from cimento.overviews import JointCell, Lowest, Perplexity


_percent = partial(percent, absent=BLANK)


def perplexity_grid(values: Sequence[Perplexity]) -> Grid:
    """Perplexity of acceptable and unacceptable sentences, their ratio, and each condition's."""
    names = list(dict.fromkeys(name for each in values for name, _ in each.by_condition))
    rows = tuple(
        (
            each.suite,
            each.model,
            each.phenomenon,
            each.kind,
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
            "suite", "model", "phenomenon", "kind", "acceptable", "unacceptable", "ratio", *names,
            "remark",
        ),
        rows=rows,
        labels=4,
        remarks=1,
        notes=("PPPL: of pseudo-log-likelihoods; not comparable with PPL.",),
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

    The last row is the mean over suites of the mean over a suite's phenomena; where each suite is
    judged on all predictions, that is the SyntaxGym score.
    """
    columns = list(dict.fromkeys((each.model, each.measure) for each in cells))
    places = list(
        dict.fromkeys((each.suite, each.language, each.phenomenon, each.what) for each in cells)
    )
    found = {
        (each.suite, each.phenomenon, each.what, each.model, each.measure): each.accuracy
        for each in cells
    }
    rows: list[tuple[str, ...]] = []
    rules = set()
    before = None
    for suite, language, phenomenon, what in places:
        if suite != before and rows:
            rules.add(len(rows))
        name = suite if suite != before else BLANK
        before = suite
        values = [found.get((suite, phenomenon, what, *column)) for column in columns]
        rows.append((name, language if name else BLANK, phenomenon, what, *map(_percent, values)))
    rules.add(len(rows))
    means = [_mean_over_suites(cells, *column) for column in columns]
    rows.append(("Mean over suites", BLANK, BLANK, BLANK, *map(_percent, means)))
    return Grid(
        title="Accuracy in % of the same models on several suites.",
        header=(
            "suite",
            "language",
            "phenomenon",
            "of",
            *(measure or "regions" for _, measure in columns),
        ),
        groups=(BLANK, BLANK, BLANK, BLANK, *(model for model, _ in columns)),
        rows=tuple(rows),
        rules=frozenset(rules),
        labels=4,
        notes=(
            "Accuracies of different designs have different chance levels; compare within a row.",
        ),
    )


def _mean_over_suites(cells: Sequence[JointCell], model: str, measure: str) -> float | None:
    suites: dict[str, list[float]] = {}
    for each in cells:
        if (each.model, each.measure) == (model, measure) and each.accuracy is not None:
            suites.setdefault(each.suite, []).append(each.accuracy)
    means = [math.fsum(values) / len(values) for values in suites.values()]
    return math.fsum(means) / len(means) if means else None


def _number(value: float | None) -> str:
    return BLANK if value is None else f"{value:.4g}"

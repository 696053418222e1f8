"""Tables of margins beside cheap explanations: covariates, baselines, counts in a corpus."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from cimento.report import formatting
from cimento.report.formatting import ends_of
from cimento.report.grid import BLANK, EstimateCell, Grid
from cimento.statistics.regression import CONSTANT_TERM

if TYPE_CHECKING:
    from cimento.paradigms.regions.covariates import MarginCovariates, PartRate
    from cimento.paradigms.regions.exposure import Exposure
    from cimento.statistics.regression import Coefficient

_bits = partial(formatting.number, digits=3, absent=BLANK)
_p = partial(formatting.p_number, absent=BLANK)


def covariates_grid(results: Sequence[MarginCovariates]) -> Grid:
    """A table of margins at equal length and frequency, and of the effects of the covariates."""
    rows = []
    for result in results:
        place = (
            result.suite,
            result.model,
            result.prediction,
            str(result.n),
            _bits(result.mean_bits),
        )
        remarks = [f"left out: {', '.join(result.left_out)}"] if result.left_out else []
        remark = "; ".join([result.reason, *remarks] if result.reason else remarks)
        for k, one in enumerate(result.coefficients or (None,)):
            rows.append(
                (
                    *(place if k == 0 else (BLANK,) * len(place)),
                    *(_coefficient(one, result) if one else (BLANK,) * 5),
                    remark if k == 0 else BLANK,
                )
            )
    return Grid(
        title="Margins in bits, and what length and word frequency have to do with them.",
        header=(
            "suite", "model", "prediction", "items", "mean", "margin, and bits for each", "value",
            "95 %", "p", "p (Holm)", "remark",
        ),
        rows=tuple(rows),
        labels=3,
        remarks=1,
        notes=(
            "Least squares over items, with CR2 standard errors over clusters.",
            "First line: the margin of an item whose two sides are alike in what stands below it.",
            "Left out is what is the same in all items, or follows from the other covariates.",
            "Holm's correction is over all the other lines; p of the first lines is not corrected.",
            "Frequencies are summed over words.",
        ),
    )  # fmt: skip


def baselines_grid(rates: Sequence[PartRate]) -> Grid:
    """A table of accuracies on the items that cheap baselines solve, and on the others."""
    return parts_grid(
        rates,
        title="Accuracy on the items that a cheap baseline solves, and on the others.",
        notes=(
            "An item is right if it passes all predictions.",
            "A baseline solves an item if they hold over tokens, words or frequencies of words.",
            "N-gram models among the runs are baselines too: cimento suites baseline makes one.",
        ),
    )


def parts_grid(rates: Sequence[PartRate], *, title: str, notes: tuple[str, ...]) -> Grid:
    """A table of accuracies on parts of suites."""
    return Grid.of(
        rates,
        {
            "suite": lambda rate: rate.suite,
            "model": lambda rate: rate.model,
            "items": lambda rate: rate.items,
            "n": lambda rate: rate.n,
            "accuracy, %": lambda rate: EstimateCell.of(
                rate.accuracy, rate.interval, rate.n, percent=True
            ),
        },
        title=title,
        labels=3,
        grouped=2,
        notes=notes,
    )


def exposure_grid(exposures: Sequence[Exposure], *, words: int) -> Grid:
    """A table of accuracies on items whose critical words a corpus has, or lacks.

    Args:
        exposures: one for each run.
        words: number of words in the corpus.
    """
    correlations = tuple(
        f"{exposure.suite}, {exposure.model}: Spearman's rho of margins and log ratios of counts"
        f" {formatting.number(exposure.margins.r, digits=2)} (n = {exposure.margins.n}"
        + (f"; {exposure.margins.reason})" if exposure.margins.reason else ")")
        + "."
        for exposure in exposures
    )
    return parts_grid(
        [rate for exposure in exposures for rate in exposure.parts],
        title=f"Accuracy on items whose words are, or are not, in a corpus of {words:,} words.",
        notes=(
            *correlations,
            "Critical are the words that differ between the two sides, with those before them.",
            "Words are compared in lower case. Of log ratios, one is added to each count.",
        ),
    )


def _coefficient(one: Coefficient, row: MarginCovariates) -> tuple[str, ...]:
    first = one.name == CONSTANT_TERM
    return (
        "both sides alike" if first else one.name,
        _bits(one.value),
        ends_of(one),
        _p(one.p),
        BLANK if first else _p(row.p_holm.get(one.name)),
    )

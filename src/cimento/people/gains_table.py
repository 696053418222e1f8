"""Tables of what surprisals add to reading times, and what was done in one line each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cimento.people.reading_gains import ITEMS, SUBJECTS
from cimento.report.formatting import p_number, p_value
from cimento.report.grid import BLANK, EstimateCell, Grid

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cimento.people.reading_gains import ReadingGain, ReadingGains

_DIGITS = 5
_LEVEL = 0.05
"""The corrected p below which one of two models is said to predict better."""


def gains_grid(made: ReadingGains) -> Grid:
    """The gains of single models, then the differences of every pair.

    Args:
        made: the gains.
    """
    rows = (*made.gains, *made.pairs)
    return Grid.of(
        rows,
        {
            "new": lambda row: row.new,
            "model": lambda row: row.model,
            "minus": lambda row: row.other or None,
            "nats": _nats,
            "p": lambda row: p_number(row.p, absent=BLANK),
            "p (Holm)": lambda row: p_number(row.p_holm, absent=BLANK),
            "reason": lambda row: row.reason,
        },
        title="Gain in log-likelihood per observation, in nats, of surprisals over the baseline.",
        labels=3,
        remarks=1,
        notes=(*_compared(made.pairs), *_said(made)),
    )


def _compared(pairs: Sequence[ReadingGain]) -> Iterator[str]:
    """Which of two models predicts better, where there are two, each in one line."""
    for one in pairs if len({(pair.model, pair.other) for pair in pairs}) == 1 else ():
        if one.nats is None or one.p_holm is None:
            continue
        better, worse = (one.model, one.other) if one.nats > 0 else (one.other, one.model)
        said = (
            f"{better} predicts better than {worse}"
            if one.p_holm < _LEVEL
            else f"not shown whether {one.model} or {one.other} predicts better"
        )
        yield f"New {one.new}: {said} ({p_value(one.p_holm)})."


def _nats(row: ReadingGain) -> EstimateCell:
    return EstimateCell(value=row.nats, low=row.low, high=row.high, n=row.n, digits=_DIGITS)


def _said(made: ReadingGains) -> tuple[str, ...]:
    """The rows, the model, the folds and the test, as a paper has to say them."""
    rules, one = made.rules, made.gains[0]
    response = "ln time" if rules.transform == "log" else "time"
    factors = [name for name, n in ((SUBJECTS, one.subjects), (ITEMS, one.items)) if n]
    left = "; ".join(f"{count:,}: {reason}" for reason, count in made.left_out.items())
    cluster = " and, crossed with them, ".join(factors)
    about = " and ".join(f"other {name}" for name in factors)
    baseline = " + ".join(made.baseline) or "nothing"
    lines = [
        (f"{made.n:,} observations, {_sizes(one)}. Left out: {left or 'none'}."),
        (
            f"Baseline: {response} ~ 1 + {baseline}, with random intercepts for"
            f" {' and '.join(factors)}, by restricted likelihood. The full model adds"
            f" {' + '.join(made.surprisals)}."
        ),
        (
            f"Up to {rules.folds} folds (seed {rules.seed}); of new {' or '.join(factors)}, none is"
            " in the data that their model is fitted to. Less than 0: surprisals predict worse."
        ),
        (
            f"Intervals and tests are about {about}: {one.method or 'none'}, over {cluster}; the"
            " folds are taken as given."
        ),
    ]
    if made.constant:
        without = ", ".join(made.constant)
        lines.insert(2, f"Not in the baseline, since others determine them: {without}.")
    return tuple(lines)


def _sizes(one: ReadingGain) -> str:
    sizes: Sequence[tuple[str, int]] = ((SUBJECTS, one.subjects), (ITEMS, one.items))
    return ", ".join(f"{n:,} {name}" for name, n in sizes if n)

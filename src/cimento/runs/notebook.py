"""A run as notebooks show it: its headline and main estimates in a short table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cimento.markup import apart
from cimento.notebook import table

if TYPE_CHECKING:
    from cimento.runs.estimates import Estimate
    from cimento.runs.run import Run

HEADER = ("question", "statistic", "value", "95 % interval", "chance", "n", "ties", "unscored")
LABELS = 2
_DIGITS = 3
ROWS = 12
"""Estimates that are shown; the table ``estimates`` of the run has all."""


def run_html(run: Run) -> str:
    """The headline of a run first, then its main estimates, with what a reader must know of them.

    Args:
        run: of any paradigm.
    """
    known = run.estimates()
    shown = [each for role in ("headline", "main") for each in known if each.role == role]
    left = len(known) - len(shown[:ROWS])
    more = [f"... and {left} more in table('estimates')"] if left else []
    items = run.outcomes()["item"].n_unique()
    count = f"{items} item" if items == 1 else f"{items} items"
    return table(
        HEADER,
        [_row(estimate) for estimate in shown[:ROWS]],
        title=f"{run.suite.name}, {run.model}: {count}",
        notes=[*more, *_reasons(shown[:ROWS]), *run.warnings],
        labels=LABELS,
    )


def _row(estimate: Estimate) -> tuple[str, ...]:
    group = f"{estimate.group}={estimate.level}" if estimate.group else ""
    low, high = estimate.low, estimate.high
    return (
        " ".join(filter(None, (estimate.question, estimate.method, group))),
        estimate.statistic,
        _number(estimate.value),
        "-" if low is None or high is None else _interval(low, high),
        _number(estimate.chance),
        str(estimate.n),
        "-" if estimate.tied is None else str(estimate.tied),
        str(estimate.unscored),
    )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:z.{_DIGITS}f}"


def _interval(low: float, high: float) -> str:
    digits = apart(low, high, _DIGITS)
    return f"[{low:z.{digits}f}, {high:z.{digits}f}]"


def _reasons(estimates: list[Estimate]) -> list[str]:
    """Why a value or an interval is not there, each reason once."""
    lacking = (each.reason for each in estimates if each.value is None or each.low is None)
    return [f"Without value or interval: {reason}." for reason in dict.fromkeys(lacking) if reason]

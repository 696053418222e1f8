"""A run in HTML, for notebooks: its headline and its main estimates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cimento.errors import counted
from cimento.io.inline_markup import apart, notebook_table
from cimento.records.outcomes import Estimate

if TYPE_CHECKING:
    from cimento.records.summary import RunSummary

_HEADER = ("question", "statistic", "value", "95% interval", "chance", "n", "ties", "unscored")


_LABELS = 2


_DIGITS = 3


_ROWS = 12
"""Number of estimates shown; the table ``estimates`` of the run has all."""


def run_html(run: RunSummary) -> str:
    """A run in HTML: its headline, then its main estimates, with the remarks a reader needs.

    Args:
        run: summary of a run of any kind.
    """
    known = run.estimates
    shown = [
        estimate for role in ("headline", "main") for estimate in known if estimate.role == role
    ]
    left = len(known) - len(shown[:_ROWS])
    more = [f"... and {left} more in table('estimates')"] if left else []
    lacking = (e.reason for e in shown[:_ROWS] if e.value is None or e.low is None)
    more += [f"Without value or interval: {reason}." for reason in dict.fromkeys(lacking) if reason]
    count = counted(run.n_items, "item")
    return notebook_table(
        _HEADER,
        [_row(estimate) for estimate in shown[:_ROWS]],
        title=f"{run.suite}, {run.model}: {count}",
        notes=[*more, *run.warnings],
        labels=_LABELS,
    )


def _row(estimate: Estimate) -> tuple[str, ...]:
    group = f"{estimate.group}={estimate.level}" if estimate.group else ""
    low, high = estimate.low, estimate.high
    interval = "-"
    if low is not None and high is not None:
        digits = apart(low, high, _DIGITS)
        interval = f"[{low:z.{digits}f}, {high:z.{digits}f}]"
    return (
        " ".join(filter(None, (estimate.question, estimate.method, group))),
        estimate.statistic,
        _number(estimate.value),
        interval,
        _number(estimate.chance),
        str(estimate.n),
        "-" if estimate.tied is None else str(estimate.tied),
        str(estimate.unscored),
    )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:z.{_DIGITS}f}"

"""The table of a gate: each change with the interval by which it decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cimento.errors import counted
from cimento.report.formatting import ends_of, rate_as_text, signed
from cimento.report.grid import BLANK, Grid
from cimento.report.sides import UNNAMED
from cimento.report.suite_differences import TWINS

if TYPE_CHECKING:
    from cimento.compare.gate import Gate, GatedChange
    from cimento.paired.pairwise import PairedCorrelations

TOGETHER = "95% together"
"""The column of the intervals that a gate decides by."""

_LEAST_DROP = (
    "least drop: the smallest that can fail, if items are only lost; items gained raise it. none:"
    " losing every correct item would pass."
)
_OVER_STEPS = (
    "Nothing is corrected over checkpoints: without any change, one gate in 20 fails at most."
)


def gate_grid(
    gate: Gate, *, sides: tuple[str, str] = UNNAMED, rated: Sequence[PairedCorrelations] = ()
) -> Grid:
    """A table with a row for each change that a gate looks at: suites, phenomena, means.

    Args:
        gate: over the runs.
        sides: what is before and after, such as two models.
        rated: correlations of the same runs, which the gate leaves aside.
    """
    suites = [one.suite for one in gate.changes]
    models = {one.model for one in gate.changes}
    is_plain = len(set(suites)) == len(suites)

    def label(one: GatedChange) -> str:
        of_model = f", {one.model}" if len(models) > 1 and one.model else ""
        if one.suite:
            return one.name + of_model
        mean = f"mean of {counted(one.n_suites, f'{one.part} suite'.strip())}"
        return f"{one.phenomenon}, {mean}{of_model}" if one.phenomenon else mean

    grid = Grid.of(
        gate.every,
        {
            "suite": label,
            "question": lambda one: one.question,
            "verdict": _verdict,
            "change": lambda one: signed(one.change.estimate, digits=3, absent=BLANK),
            TOGETHER: lambda one: ends_of(one.change),
            "n": lambda one: one.n,
            "before": lambda one: rate_as_text(one.first, absent=BLANK),
            "after": lambda one: rate_as_text(one.second, absent=BLANK),
            "least drop": lambda one: rate_as_text(one.detectable, absent="none"),
            "reason": lambda one: one.change.reason,
        },
        title=f"The gate: worse where the whole interval is below {0 - gate.margin:g}.",
        labels=2 if is_plain else 3,
        without=("question",) if is_plain else (),
        remarks=1,
        notes=(
            *([f"before: {sides[0]}; after: {sides[1]}."] if sides != UNNAMED else ()),
            _together(gate),
            _LEAST_DROP,
            _OVER_STEPS,
            *[TWINS] * bool(gate.means),
            *map(_rated, rated),
        ),
    )
    ends = len(gate.changes), len(gate.changes) + len(gate.phenomena)
    return replace(grid, rules=frozenset(end for end in ends if end < len(gate.every)))


def _verdict(one: GatedChange) -> str:
    if one.change.high is None:
        return "none"
    return "worse" if one.worse else "not worse"


def _together(gate: Gate) -> str:
    """What the intervals are about, and over what they are corrected."""
    if len(gate.every) == 1:
        return f"{TOGETHER}: for other items of this suite."
    return (
        f"{TOGETHER}: all {len(gate.every)} intervals are widened (Bonferroni), so that they hold"
        " simultaneously in 95% of comparisons. They generalize to other items of these suites."
    )


def _rated(one: PairedCorrelations) -> str:
    change = one.change
    first, second = (signed(r, digits=3, absent="none") for r in (change.first, change.second))
    moved = signed(change.estimate, digits=3, absent="none")
    return (
        f"Not in the gate, since it is rated: {one.suite}, {one.coefficient} of {one.question},"
        f" {first} before, {second} after, change {moved} {ends_of(change)}".rstrip()
        + "."
    )

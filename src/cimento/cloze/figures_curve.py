"""acc@k of cloze runs as a curve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cimento.cloze.judging.outcomes import HIT
from cimento.report.figures import Figure, figure_of, require_rows
from cimento.runs.run import Run

if TYPE_CHECKING:
    import polars as pl

    from cimento.runs.estimates import Estimate

_WIDTH, _HEIGHT = 320, 220


def curve_figure(runs: Sequence[Run]) -> Figure:
    """acc@1 to acc@k, a line for each model, by its first way to find candidates.

    Args:
        runs: of cloze suites whose items have targets; k is that of each run.

    Raises:
        UsageError: none of the runs has targets.
    """
    frame = curve_frame(runs)
    require_rows(
        frame,
        where="figure curve",
        seen="none of the runs has items with targets",
        todo="Give runs of a suite whose items say what belongs in the blank.",
    )
    import altair as alt

    chart = (
        alt.Chart(frame)
        .mark_line(point=True)
        .encode(
            x=alt.X("k:O", title="candidates that count", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("accuracy:Q", title="acc@k").scale(domain=[0, 1]),
            color=alt.Color("model:N", title=None, sort=list(dict.fromkeys(frame["model"]))),
            strokeDash=alt.StrokeDash("suite:N", title=None),
        )
        .properties(width=_WIDTH, height=_HEIGHT)
    )
    return figure_of(
        chart, name="curve", title=f"acc@1 to acc@{max(frame['k'].to_list())}", frame=frame
    )


def curve_frame(runs: Sequence[Run]) -> pl.DataFrame:
    """The numbers of the curve: suite, model, k, correct, n, accuracy."""
    import polars as pl

    rows = [
        (
            run.suite.name,
            run.model,
            int(hit.question.removeprefix(HIT)),
            hit.right,
            hit.n,
            hit.value,
        )
        for run in runs
        for hit in _hits(run)
    ]
    columns = {
        "suite": pl.String(),
        "model": pl.String(),
        "k": pl.Int64(),
        "correct": pl.Int64(),
        "n": pl.Int64(),
        "accuracy": pl.Float64(),
    }
    return pl.DataFrame(rows, schema=columns, orient="row")


def _hits(run: Run) -> list[Estimate]:
    """acc@1 to acc@k over all items, by the first method."""
    hits = [e for e in run.estimates() if e.question.startswith(HIT) and not e.group]
    return [hit for hit in hits if hit.method == hits[0].method]

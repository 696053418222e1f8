"""acc@k of cloze runs as a curve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cimento.cloze.judging.hits import curve, hit_ranks
from cimento.cloze.running import ClozeRun
from cimento.report.figures import Figure, figure_of, require_rows

if TYPE_CHECKING:
    import polars as pl

    from cimento.cloze.judging.hits import Ranks
    from cimento.cloze.records import ClozeItem

_WIDTH, _HEIGHT = 320, 220


def curve_figure(runs: Sequence[ClozeRun], *, k: int = 10) -> Figure:
    """acc@1 to acc@k, a line for each model.

    Args:
        runs: of suites whose items have targets.
        k: ranks that count.

    Raises:
        UsageError: none of the runs has targets.
    """
    frame = curve_frame(runs, k=k)
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
    return figure_of(chart, name="curve", title=f"acc@1 to acc@{k}", frame=frame)


def curve_frame(runs: Sequence[ClozeRun], *, k: int = 10) -> pl.DataFrame:
    """The numbers of the curve: suite, model, k, correct, n, accuracy."""
    import polars as pl

    rows = []
    for run in runs:
        items, ranks = _judged(run)
        if items:
            shares = enumerate(curve(ranks, k), start=1)
            own = (run.suite.name, run.model)
            rows += [(*own, rank, share.correct, share.n, share.value) for rank, share in shares]
    columns = {
        "suite": pl.String(),
        "model": pl.String(),
        "k": pl.Int64(),
        "correct": pl.Int64(),
        "n": pl.Int64(),
        "accuracy": pl.Float64(),
    }
    return pl.DataFrame(rows, schema=columns, orient="row")


def _judged(run: ClozeRun) -> tuple[list[ClozeItem], Ranks]:
    """The items with targets, and the ranks of their hits by the first way of asking."""
    items = [item for item in run.items if item.targets]
    candidates = run.candidates(run.methods[0]) if run.methods else []
    return items, hit_ranks(items, candidates)

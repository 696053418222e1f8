"""The sections and figures of a report on stories: tiers, flow, confusions, calibration, items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from cimento.errors import few_of_each_code
from cimento.kinds.clusters import designs_said
from cimento.kinds.sections import run_report, runs_by_suite
from cimento.paradigms.stories.classification import choices
from cimento.paradigms.stories.conditions import names_of
from cimento.paradigms.stories.estimates import TITLES
from cimento.paradigms.stories.judging import CHAINED, JudgedAnswers, asked_of, judged_run
from cimento.paradigms.stories.metrics import confusions
from cimento.paradigms.stories.outcomes import Step, TierOutcome, flow, probabilities
from cimento.paradigms.stories.text import (
    constant_flow,
    constants_in_words,
    flow_rows,
    metric_rows,
)
from cimento.records.outcomes import Estimate, VerdictName
from cimento.records.outcomes import Outcome as ItemOutcome
from cimento.report import (
    AnswerList,
    GivenAnswer,
    ItemRecord,
    NamedGrid,
    Rates,
    RunReport,
    SuiteReport,
    provenance_of,
)
from cimento.report.figures import BLUE, GRAY, Figure, drawable, figure_of, frame_of, require_rows
from cimento.report.figures_rates import above
from cimento.report.figures_scores import calibration_figure
from cimento.report.formatting import rate_remarks
from cimento.report.grid import Grid
from cimento.report.items import worst_first
from cimento.report.strips import Piece, RegionStrip, Strip
from cimento.suites.stories import STATES, STORY, TIERS, Story, Task, Tier

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from cimento.kinds.run import Run
    from cimento.paradigms.stories.text import Rows


CONSTANT = "one answer for all"
"""The most frequent correct answer at every tier: what needs no knowledge."""


def flow_figure(flows: Mapping[str, Sequence[Step]], *, suite: str) -> Figure:
    """The implausible stories that reach each tier (gray) and pass it (blue), model by model.

    Args:
        flows: label of a model, or `CONSTANT`, to its steps.
        suite: name of the stories.

    Raises:
        UsageError: no run has the three tiers.
    """
    frame = flow_frame(flows)
    require_rows(frame, where="figure flow", seen="none of the runs asked the three tiers")
    import altair as alt

    title = f"Implausible stories of {suite} on their way through the tiers"
    models = list(dict.fromkeys(frame["model"]))
    base = alt.Chart().encode(
        y=alt.Y("tier:N", title=None, sort=list(dict.fromkeys(frame["tier"])))
    )
    reached = base.mark_bar(color=GRAY, opacity=0.35).encode(
        x=alt.X("reached:Q", title="stories that reach (gray) and pass (blue) the tier")
    )
    passed = base.mark_bar(color=BLUE, height={"band": 0.5}).encode(x="passed:Q")
    shown = base.mark_text(align="left", dx=4).encode(x="reached:Q", text="told:N")
    chart = (
        alt.layer(reached, passed, shown, data=frame)
        .properties(width=300, height=alt.Step(24))
        .facet(row=alt.Row("model:N", title=None, sort=models, header=above()), title=title)
    )
    return figure_of(chart, name="flow", title=title, frame=frame)


def flow_frame(flows: Mapping[str, Sequence[Step]]) -> pl.DataFrame:
    """Model and tier to the stories that reached it, passed it and could not be scored."""
    import polars as pl

    rows = (
        (model, step.tier, step.reached, step.passed, step.unscored)
        for model, steps in flows.items()
        for step in steps
    )
    frame = frame_of(rows, model=str, tier=str, reached=int, passed=int, unscored=int)
    return frame.with_columns(
        pl.concat_str("passed", pl.lit(" of "), "reached").alias("told"),
    )


def states_figure(confused: Mapping[str, Mapping[str, int]], *, model: str, suite: str) -> Figure:
    """The right state from top to bottom, the chosen one from left to right.

    Args:
        confused: right state to the states chosen, as `confusions` counts them.
        model: label of the model.
        suite: name of the stories.

    Raises:
        UsageError: no story has an answer at the third tier.
    """
    frame = states_frame(confused)
    require_rows(frame, where="figure states", seen="no story has an answer at the third tier")
    import altair as alt

    title = f"States of {suite} as {model} chose them"
    order = [state for state in STATES if state in set(frame["right"]) | set(frame["chosen"])]
    base = alt.Chart(frame).encode(
        x=alt.X("chosen:N", title="chosen", sort=order, axis=alt.Axis(labelAngle=-45)),
        y=alt.Y("right:N", title="right", sort=order),
    )
    squares = base.mark_rect(stroke="white").encode(
        color=alt.Color("share:Q", title="proportion of the state").scale(
            scheme="blues", domain=[0, 1]
        )
    )
    counts = base.mark_text().encode(
        text="n:Q", color=alt.condition("datum.share > 0.55", alt.value("white"), alt.value("#222"))
    )
    chart = alt.layer(squares, counts).properties(
        width=alt.Step(26), height=alt.Step(20), title=title
    )
    return figure_of(chart, name="states", title=title, frame=frame)


def states_frame(confused: Mapping[str, Mapping[str, int]]) -> pl.DataFrame:
    """Right and chosen state to the number of stories and their proportion of the right state."""
    rows = (
        (right, chosen, n, n / sum(counts.values()))
        for right, counts in confused.items()
        for chosen, n in counts.items()
    )
    return frame_of(rows, right=str, chosen=str, n=int, share=float)


SHOWN = 4
"""Options of a tier that are in a page."""


def story_sections(runs: Sequence[Run]) -> list[SuiteReport]:
    """The sections of some runs of stories, one a suite."""
    return [_section(several) for several in runs_by_suite(runs)]


def _section(runs: Sequence[Run]) -> SuiteReport:
    named = list(zip(names_of(runs), runs, strict=True))
    tiers = {model: run for model, run in named if asked_of(run)[1].task == "tiers"}
    judged = {model: judged_run(run) for model, run in tiers.items()}
    return SuiteReport(
        runs=tuple(_report(run, model, judged.get(model)) for model, run in named),
        figures=story_figures(runs[0].suite.name, judged),
        tables=tuple(_tables(tiers, judged)),
    )


def _report(run: Run, model: str, judged: JudgedAnswers | None) -> RunReport:
    rates = _rates(run.estimates())
    main = [estimate for rate in rates for _, estimate in rate.lines if estimate.role != "detail"]
    return replace(
        run_report(run, items=_items(judged) if judged is not None else ()),
        model=model,
        n_items=len(asked_of(run)[0].asked),
        claims=(),
        provenance=provenance_of(run.manifest),
        rates=rates,
        notes=(*rate_remarks(main), *few_of_each_code(run.warnings), *designs_said([run])),
    )


def _rates(estimates: Sequence[Estimate]) -> tuple[Rates, ...]:
    """Each tier by itself, then right at a tier and all before; questions where they were asked."""
    main = [estimate for estimate in estimates if estimate.role != "detail"]
    alone = [estimate for estimate in main if estimate.question in TIERS]
    chained = [estimate for estimate in main if estimate.question in CHAINED.values()]
    kinds = [
        estimate
        for estimate in estimates
        if estimate.role == "detail" and estimate.group == "type" and not estimate.method
    ]
    blocks = (
        ("Each tier by itself", [(estimate.description, estimate) for estimate in alone]),
        (
            "Right at this tier and at all before",
            [(estimate.question.capitalize(), estimate) for estimate in chained]
            + [(estimate.description, estimate) for estimate in kinds],
        ),
        (
            "Questions beside the tiers",
            [
                (estimate.question, estimate)
                for estimate in main
                if estimate not in (*alone, *chained)
            ],
        ),
    )
    return tuple(Rates(title, tuple(lines)) for title, lines in blocks if lines)


def _tables(runs: Mapping[str, Run], judged: Mapping[str, JudgedAnswers]) -> Iterator[NamedGrid]:
    if not runs:
        return
    steps = [(model, flow_rows(result)) for model, result in judged.items()]
    title = "Flow of implausible stories, beside one answer: who reaches and passes each tier."
    note = (
        "Proportions of those who reach a tier have no interval; the table metrics has intervals."
    )
    yield NamedGrid("flow", _grid(steps, title, note))
    metrics = [
        (model, metric_rows(run.estimates(), judged[model].groupings))
        for model, run in runs.items()
    ]
    title = "Right at a tier and at all before, by kind of story, beside constant answers."
    [first, *_] = runs
    said = constants_in_words(runs[first].estimates(), judged[first].groupings)
    note = " ".join(["n: stories. Intervals: 95%.", *said])
    yield NamedGrid("metrics", _grid(metrics, title, note))


def _grid(tables: Sequence[tuple[str, Rows]], title: str, note: str) -> Grid:
    """Tables of the same columns under each other, the model before each row."""
    header = tables[0][1][0]
    rows = [(model, *row) for model, rows in tables for row in rows[1:] if len(row) == len(header)]
    return Grid(title=title, header=("model", *header), rows=tuple(rows), labels=2, notes=(note,))


def story_figures(name: str, judged: Mapping[str, JudgedAnswers]) -> Sequence[Figure]:
    """Flow, confusions and calibration of some models on the same stories."""
    if not judged:
        return ()
    flows = {model: flow(result.stories, result.chained) for model, result in judged.items()}
    flows[CONSTANT] = constant_flow(next(iter(judged.values())))
    makers: list[Callable[[], Figure]] = [partial(flow_figure, flows, suite=name)]
    makers += [
        partial(states_figure, confusions(result.outcomes), model=model, suite=name)
        for model, result in judged.items()
    ]
    for tier in TIERS:
        curves = {
            model: confidence.calibration
            for model, result in judged.items()
            if (confidence := choices(result.outcomes, tier).confidence) is not None
        }
        if curves:
            title = f"Whether probabilities mean what they say on {name}, {tier}"
            makers.append(
                partial(calibration_figure, curves, title=title, share="share that is right")
            )
    return drawable(*makers)


def _items(judged: JudgedAnswers) -> tuple[ItemRecord, ...]:
    """The stories with what was chosen at each tier, those that went worst first."""
    by_row: dict[int, dict[Task, TierOutcome]] = {}
    for outcome in judged.outcomes:
        by_row.setdefault(outcome.row, {})[outcome.tier] = outcome
    return worst_first(_item(story, by_row.get(story.row, {})) for story in judged.stories)


def _item(story: Story, outcomes: Mapping[Task, TierOutcome]) -> ItemRecord:
    item = f"{story.row}: {story.example_id}" if story.example_id else str(story.row)
    asked = {
        tier: outcomes[tier]
        for tier in TIERS
        if tier in outcomes and (tier == STORY or not story.plausible)
    }
    first = next(iter(asked.values()), None)
    verdicts = [outcome.verdict for outcome in asked.values()]
    worst: tuple[VerdictName, ...] = ("unscored", "fail", "tie", "pass")
    whole = ItemOutcome(
        item=item,
        question="story",
        verdict=next((verdict for verdict in worst if verdict in verdicts), None),
        value=first.margin_bits if first is not None else None,
        unit="bits",
        reason=next((outcome.reason for outcome in asked.values() if outcome.reason), ""),
    )
    return ItemRecord(
        id=item,
        phenomenon=story.type or "plausible",
        outcome=whole if asked else None,
        strips=(story_strip(story),),
        answers=tuple(_answers(tier, outcome) for tier, outcome in asked.items()),
        remarks=tuple(
            (tier, f"{one.verdict}; right: {one.gold}; chosen: {one.chosen or 'nothing'}")
            for tier, one in asked.items()
        ),
    )


def story_strip(story: Story) -> Strip:
    """A story sentence by sentence, numbered from 0; the two that conflict are marked."""
    return Strip(
        "story",
        tuple(
            RegionStrip(number, number - 1 in (story.pair or ()), (Piece(f"{number - 1} {text} "),))
            for number, text in enumerate((sentence.strip() for sentence in story.sentences), 1)
        ),
    )


def _answers(tier: Tier, outcome: TierOutcome) -> AnswerList:
    """The most probable options of a tier, or the reply."""
    shares = probabilities(outcome.answer)
    if shares is None:
        reply = outcome.answer.reply
        mark = "right" if outcome.correct else ""
        return AnswerList(
            TITLES[tier], (GivenAnswer(reply, None, mark),) if reply is not None else ()
        )
    order = sorted(zip(shares, outcome.answer.options, strict=True), key=lambda pair: -pair[0])
    return AnswerList(
        TITLES[tier],
        tuple(
            GivenAnswer(option, share, "right" if option == outcome.gold else "")
            for share, option in order[:SHOWN]
        ),
    )

"""What a report shows of runs of stories: tiers, flow, confusions, calibration, the stories."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from cimento.report.build import provenance_of
from cimento.report.figures import drawable
from cimento.report.figures_calibration import calibration_figure
from cimento.report.grid import Grid
from cimento.report.items import AnswerList, Given, ItemRecord, worst_first
from cimento.report.records import NamedGrid, Rates, RunReport, SuiteReport
from cimento.report.strips import Piece, RegionStrip, Strip
from cimento.runs import outcomes as runs_outcomes
from cimento.runs.estimates import Estimate
from cimento.stories.figures import flow_figure, states_figure
from cimento.stories.outcomes import Outcome, judge_all, probabilities
from cimento.stories.readers import read_stories
from cimento.stories.records import OPTIONS, STORY, TIERS, Story, Tier
from cimento.stories.responses import read_responses
from cimento.stories.stored import ANSWERS, STORIES
from cimento.stories.tables import margin_bits
from cimento.stories.text import Rows, at, flow_rows, grouping_rows, mapping, number

if TYPE_CHECKING:
    from pathlib import Path

    from cimento.report.figures import Figure
    from cimento.report.records import Stored
    from cimento.runs.store import Manifest, RunFolder
    from cimento.statistics.calibration import Calibration
    from cimento.suites.model import JsonValue
    from cimento.verdicts.formula import Kind

SUMMARY = "summary.json"
KIND = "stories"
SHOWN = 4
"""Options of a tier that stand in a page."""

_TITLES: Mapping[Tier, str] = {
    "story_class": "Is the story plausible?",
    "conflict_detec": "Which sentences conflict?",
    "physical_state": "Which state explains it?",
}


@dataclass(frozen=True, slots=True)
class _Read:
    """One stored run."""

    name: str
    model: str
    folder: RunFolder
    manifest: Manifest
    summary: Mapping[str, JsonValue]
    stories: tuple[Story, ...]
    outcomes: tuple[Outcome, ...]


def stories_suites(folders: Sequence[Stored], told: Mapping[Path, str]) -> list[SuiteReport]:
    """The sections of some runs of stories, as a `Reporter` makes them."""
    by_suite: dict[str, list[_Read]] = {}
    for folder, manifest in folders:
        read = _read(folder, manifest)
        by_suite.setdefault(read.name, []).append(read)
    return [
        SuiteReport(
            runs=tuple(_report(each, told.get(each.folder.path, "")) for each in runs),
            figures=_figures(runs),
            tables=tuple(_tables(runs)),
        )
        for runs in by_suite.values()
    ]


def _read(folder: RunFolder, manifest: Manifest) -> _Read:
    folder.verify(manifest)
    summary = folder.read_json(SUMMARY)
    stories = read_stories(folder.path / STORIES).stories
    answers = folder.path / ANSWERS
    outcomes = judge_all(read_responses(answers, stories=stories).answers, stories) if (
        answers.exists()
    ) else ()  # fmt: skip
    suite = manifest.get("suite")
    return _Read(
        name=str(suite.get("name", "")) if isinstance(suite, dict) else folder.path.parent.name,
        model=str(manifest.get("label", folder.path.name)),
        folder=folder,
        manifest=manifest,
        summary=mapping(summary),
        stories=stories,
        outcomes=outcomes,
    )


def _report(read: _Read, told: str) -> RunReport:
    suite = read.manifest.get("suite")
    meta = mapping(suite.get("meta")) if isinstance(suite, dict) else {}
    rates = _rates(read)
    first = next((line for each in rates for line in each.lines), None)
    warnings = read.summary.get("warnings")
    notes = [str(each) for each in warnings] if isinstance(warnings, list) else []
    return RunReport(
        suite=read.name,
        paradigm=KIND,
        model=read.model,
        n_items=len(read.stories),
        language=str(meta.get("language") or ""),
        folder=str(read.folder.path),
        about=tuple((name, str(text)) for name, text in meta.items() if isinstance(text, str)),
        items=_items(read),
        provenance=provenance_of(read.manifest),
        headline=first[1] if first else None,
        rates=rates,
        notes=(*_remarks(first[1] if first else None), *notes),
        told=told,
    )


def _remarks(first: Estimate | None) -> Iterator[str]:
    if first is None or not first.n:
        yield "Nothing was scored."
    elif first.n == 1:
        yield "Only one story was judged: its outcome says nothing about others."


def _rates(read: _Read) -> tuple[Rates, ...]:
    """Each tier by itself, then right at a tier and all before; questions where they were asked."""
    summary = read.summary
    like = Estimate(suite=read.name, model=read.model, question="")
    asked = summary.get("questions")
    if isinstance(asked, list):
        lines = (
            (
                str(at(each, "name")),
                _rate(like, str(at(each, "name")), each, number(each, "chance")),
            )
            for each in asked
        )
        return (Rates("Questions beside the tiers", tuple(lines)),)
    alone = tuple(
        (
            _TITLES[tier],
            _rate(
                like,
                tier,
                at(summary, "untiered", tier),
                1 / len(OPTIONS[tier]),
                tied=number(summary, "per_task", tier, "n_ties_at_max"),
            ),
        )
        for tier in TIERS
        if tier in mapping(at(summary, "untiered"))
    )
    grouping = str(summary.get("grouping", ""))
    chained = tuple(
        (name, _rate(like, name, rate, None))
        for name, rate in mapping(at(summary, "rates", grouping)).items()
    )
    found = (
        Rates("Each tier by itself", alone),
        Rates("Right at this tier and at all before", chained),
    )
    return tuple(each for each in found if each.lines)


def _rate(
    like: Estimate,
    question: str,
    rate: JsonValue,
    chance: float | None,
    *,
    tied: float | None = None,
) -> Estimate:
    """A rate as it was stored; a tie is one of its failures, as the chain of tiers has it."""
    value, count = number(rate, "value"), at(rate, "count")
    right, n = number(rate, "right") or 0, number(rate, "n") or 0
    if isinstance(count, list):
        right, n = (number({"of": each}, "of") or 0 for each in count)
    low, high = number(rate, "interval", "low"), number(rate, "interval", "high")
    ties = min(int(tied or 0), int(n - right))
    reason = "" if value is not None else str(at(rate, "reason") or "not asked")
    if value is not None and low is None:
        reason = str(at(rate, "interval", "reason"))
    return replace(
        like,
        question=question,
        value=value,
        low=low if value is not None else None,
        high=high if value is not None else None,
        interval_method=str(at(rate, "interval", "method")) if low is not None else None,
        reason=reason,
        n=int(n),
        right=int(right),
        passed=int(right),
        failed=int(n - right) - ties,
        tied=ties,
        unscored=int(number(rate, "unscored") or 0),
        chance=chance,
        chance_method="it depends on the tiers before" if chance is None else "by lot",
    )


def _tables(runs: Sequence[_Read]) -> Iterator[NamedGrid]:
    tiers = [each for each in runs if not isinstance(each.summary.get("questions"), list)]
    if not tiers:
        return
    flow = [(each.model, flow_rows(each.summary)) for each in tiers]
    title = "Flow of implausible stories, beside one answer: who reaches and passes each tier."
    note = "Shares of those who reach a tier have no interval; the table metrics has intervals."
    yield NamedGrid("flow", _grid(flow, title, note))
    metrics = [(each.model, grouping_rows(each.summary)) for each in tiers]
    title = "Right at a tier and at all before, by kind of story, beside constant answers."
    note = "n: stories. Intervals: 95 %."
    yield NamedGrid("metrics", _grid(metrics, title, note))


def _grid(found: Sequence[tuple[str, Rows]], title: str, note: str) -> Grid:
    """Tables of the same columns under each other, the model before each row."""
    header = found[0][1][0]
    rows = [(model, *row) for model, rows in found for row in rows[1:] if len(row) == len(header)]
    return Grid(title=title, header=("model", *header), rows=tuple(rows), labels=2, notes=(note,))


def _figures(runs: Sequence[_Read]) -> tuple[Figure, ...]:
    name = runs[0].name
    summaries = {each.model: each.summary for each in runs}
    makers: list[Callable[[], Figure]] = [partial(flow_figure, summaries, suite=name)]
    makers += [partial(states_figure, each.summary, model=each.model, suite=name) for each in runs]
    for tier in TIERS:
        curves = {
            each.model: found
            for each in runs
            if (found := _calibration(at(each.summary, "per_task", tier, "confidence"))) is not None
        }
        if curves:
            title = f"Whether probabilities mean what they say on {name}, {tier}"
            makers.append(
                partial(calibration_figure, curves, title=title, share="share that is right")
            )
    return drawable(*makers)


def _calibration(confidence: JsonValue) -> Calibration | None:
    from cimento.statistics.calibration import Calibration, Reliability

    bins = at(confidence, "calibration", "bins")
    if not isinstance(bins, list):
        return None
    return Calibration(
        ece=number(confidence, "calibration", "ece"),
        bins=tuple(
            Reliability(
                low=number(each, "low") or 0.0,
                high=number(each, "high") or 0.0,
                n=int(number(each, "n") or 0),
                confidence=number(each, "confidence"),
                accuracy=number(each, "accuracy"),
            )
            for each in bins
        ),
    )


def _items(read: _Read) -> tuple[ItemRecord, ...]:
    """The stories with what was chosen at each tier, those that went worst first."""
    by_row: dict[int, dict[Tier, Outcome]] = {}
    for each in read.outcomes:
        by_row.setdefault(each.row, {})[each.tier] = each
    return worst_first(_item(story, by_row.get(story.row, {})) for story in read.stories)


def _item(story: Story, outcomes: Mapping[Tier, Outcome]) -> ItemRecord:
    item = f"{story.row}: {story.example_id}" if story.example_id else str(story.row)
    asked = [
        (tier, outcomes[tier])
        for tier in TIERS
        if tier in outcomes and (tier == STORY or not story.plausible)
    ]
    first = next((each for _, each in asked), None)
    verdicts = [_verdict(each) for _, each in asked]
    margin = margin_bits(first) if first is not None else None
    whole = next((each for each in ("unscored", "fail", "tie") if each in verdicts), "pass")
    reason = next((each.reason for _, each in asked if each.reason), None)
    outcome = (
        runs_outcomes.Outcome(
            item=item,
            question="story",
            verdict=_kind(whole),
            value=margin,
            unit="bits",
            reason=reason or "",
        )
        if asked
        else None
    )
    return ItemRecord(
        id=item,
        phenomenon=story.type or "plausible",
        outcome=outcome,
        strips=(story_strip(story),),
        answers=tuple(_answers(tier, each) for tier, each in asked),
        remarks=tuple(
            (tier, f"{verdict}; right: {each.gold}; chosen: {each.chosen or 'nothing'}")
            for (tier, each), verdict in zip(asked, verdicts, strict=True)
        ),
    )


def _kind(verdict: str) -> Kind:
    kinds: tuple[Kind, ...] = ("pass", "fail", "tie", "unscored")
    return next(kind for kind in kinds if kind == verdict)


def _verdict(outcome: Outcome) -> str:
    if outcome.correct is None:
        return "unscored"
    return "tie" if outcome.tied else "pass" if outcome.correct else "fail"


def story_strip(story: Story) -> Strip:
    """A story sentence by sentence, numbered from 0; the two that conflict are marked."""
    return Strip(
        "story",
        tuple(
            RegionStrip(number, number - 1 in (story.pair or ()), (Piece(f"{number - 1} {text} "),))
            for number, text in enumerate((each.strip() for each in story.sentences), 1)
        ),
    )


def _answers(tier: Tier, outcome: Outcome) -> AnswerList:
    """The most probable options of a tier, or the reply."""
    shares = probabilities(outcome.answer)
    if shares is None:
        reply = outcome.answer.reply
        mark = "right" if outcome.correct else ""
        return AnswerList(_TITLES[tier], (Given(reply, None, mark),) if reply is not None else ())
    order = sorted(zip(shares, outcome.answer.options, strict=True), key=lambda pair: -pair[0])
    return AnswerList(
        _TITLES[tier],
        tuple(
            Given(option, share, "right" if option == outcome.gold else "")
            for share, option in order[:SHOWN]
        ),
    )

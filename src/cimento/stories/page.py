"""A page to read what a model got wrong: each story with what was right, chosen and said."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.files import write_text
from cimento.markup import templates_of
from cimento.stories.outcomes import Outcome, judge_all
from cimento.stories.records import CONFLICT, TIERS, Story, Tier
from cimento.stories.tables import margin_bits

if TYPE_CHECKING:
    from cimento.stories.running import StoryRun


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One sentence of a story as the page shows it.

    Attributes:
        number: from 0, as in the data.
        text: as written.
        is_gold: one of the two that conflict.
        is_chosen: one of the two that the model named.
    """

    number: int
    text: str
    is_gold: bool
    is_chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One tier of one story as the page shows it.

    Attributes:
        tier: which question.
        verdict: ``right``, ``wrong``, ``tied`` or ``unscored``.
        gold: the right label.
        chosen: the label chosen; empty where there is none.
        margin_bits: by how much the right option is ahead of the best other one.
        reply: what the model wrote; None where options were scored.
        reason: why there is no label or no score.
    """

    tier: Tier
    verdict: str
    gold: str
    chosen: str
    margin_bits: float | None
    reply: str | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One story with an answer that is not right."""

    story: Story
    sentences: tuple[Sentence, ...]
    answers: tuple[Answer, ...]


def failures(run: StoryRun) -> list[Failure]:
    """The stories of a run with an answer that is wrong, tied or without score."""
    by_row: dict[int, list[Outcome]] = {}
    for outcome in judge_all(run.answers, run.stories):
        by_row.setdefault(outcome.row, []).append(outcome)
    found = []
    for story in run.stories:
        outcomes = sorted(by_row.get(story.row, []), key=lambda each: TIERS.index(each.tier))
        answers = tuple(_answer(each) for each in outcomes)
        if any(each.verdict != "right" for each in answers):
            sentences = _sentences(story, outcomes)
            found.append(Failure(story=story, sentences=sentences, answers=answers))
    return found


def write_page(run: StoryRun, path: Path) -> Path:
    """Write the page: one file, no script, nothing loaded from anywhere, text escaped.

    Raises:
        StorageError: the file cannot be written.
    """
    found = failures(run)
    page = (
        templates_of("cimento.stories")
        .get_template("failures.html")
        .render(run=run, failures=found)
    )
    return write_text(page, path)


def _answer(outcome: Outcome) -> Answer:
    verdict = "unscored"
    if outcome.correct is not None:
        right = "right" if outcome.correct else "wrong"
        verdict = "tied" if outcome.tied else right
    return Answer(
        tier=outcome.tier,
        verdict=verdict,
        gold=outcome.gold or "",
        chosen=outcome.chosen or "",
        margin_bits=margin_bits(outcome),
        reply=outcome.answer.reply,
        reason=outcome.reason or outcome.answer.reason,
    )


def _sentences(story: Story, outcomes: list[Outcome]) -> tuple[Sentence, ...]:
    labels = [each.chosen for each in outcomes if each.tier == CONFLICT and each.chosen]
    chosen = {int(part) for label in labels for part in label.split(" and ")}
    return tuple(
        Sentence(
            number=number,
            text=text,
            is_gold=number in (story.pair or ()),
            is_chosen=number in chosen,
        )
        for number, text in enumerate(story.sentences)
    )

"""The rounds of requests about a suite of stories: one tier a round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cimento.engine.replay import Recording
from cimento.engine.requests import Answers, Requests
from cimento.errors import UsageError
from cimento.paradigms.stories.answers import asked_suite, raw_answers, tier_answers
from cimento.paradigms.stories.options import StoryOptions, prompt_for, refuse_norm
from cimento.paradigms.stories.outcomes import judge
from cimento.paradigms.stories.questions import question_prompts, questions_of
from cimento.paradigms.stories.recordings import recorded_requests
from cimento.paradigms.stories.requests import (
    WITHOUT_STORY,
    StoryPrompt,
    find_format,
    numbered_requests,
    tier_prompts,
)
from cimento.paradigms.stories.suite import STORY, TIERS, Story, StorySuite, Tier

if TYPE_CHECKING:
    from cimento.paradigms.base import AskedModel


def next_round(
    suite: StorySuite, options: StoryOptions, *, model: AskedModel, answers: Answers
) -> Requests | None:
    """The next round of requests; None where all has been asked.

    A round is a tier. After ``protocol=paper`` later tiers are asked of the stories that were
    right so far, and of a recording all that it holds is asked at once.

    Args:
        suite: of stories, not corrected yet.
        options: how they are asked.
        model: who is asked.
        answers: to the rounds so far.

    Raises:
        UsageError: the model cannot be asked so, there are too few stories for the examples, or
            no story has what is asked about.
        ModelError: its chat template cannot render a prompt.
    """
    suite = asked_suite(suite, options)
    if isinstance(model, Recording):
        return None if answers.n else recorded_requests(suite, options, model)
    if options.task != "tiers":
        return None if answers.n else _questions(suite, options, model)
    voice = find_format(model, options)
    items: Sequence[Story] = suite.asked
    first = 0
    for tier in TIERS:
        if tier != STORY:
            items = [story for story in items if story.gold(tier) and not story.plausible]
        of_survivors = options.protocol == "paper" and tier != STORY
        asks = tier_prompts(
            tier,
            items,
            items if of_survivors else suite.stories,
            prompt=prompt_for(options, suite),
            options=options,
            voice=voice,
        )
        if asks and first == answers.n:
            places = [(_item(ask), tier, ask.shown) for ask in asks]
            return numbered_requests(
                suite, [ask.request(options) for ask in asks], places, first=first
            )
        if options.protocol == "paper":
            right = _right(tier, asks, suite, options, answers=answers, first=first)
            items = [story for story in items if story.row in right]
        first += len(asks)
    return None


def _item(ask: StoryPrompt) -> str | None:
    """The item that is asked about; None for the prompt without a story."""
    return None if ask.row == WITHOUT_STORY else str(ask.row)


def _right(
    tier: Tier,
    asks: Sequence[StoryPrompt],
    suite: StorySuite,
    options: StoryOptions,
    *,
    answers: Answers,
    first: int,
) -> set[int]:
    """The rows of the stories that were right at a tier that was asked."""
    asked = ((number, ask.row) for number, ask in enumerate(asks, start=first))
    raw = raw_answers(answers.tables)
    found = tier_answers(tier, asked, raw, suite=suite, options=options)
    return {answer.row for answer in found if judge(answer, suite.stories[answer.row]).correct}


def _questions(suite: StorySuite, options: StoryOptions, model: AskedModel) -> Requests:
    """The questions beside the tiers, all in one round."""
    refuse_norm(options)
    questions = questions_of(suite.asked, suite, options)
    if not questions:
        raise UsageError(
            where=f"--set task={options.task}",
            seen="no story has what is asked about",
            todo="Pairs need plausible stories with variants; attributes need the states of each"
            " sentence.",
        )
    asks = question_prompts(
        questions,
        questions_of(suite.stories, suite, options),
        language=prompt_for(options, suite).language,
        options=options,
        voice=find_format(model, options),
    )
    places: list[tuple[str | None, str, str]] = [
        (str(question.story.row), question.about, ask.shown)
        for question, ask in zip(questions, asks, strict=True)
    ]
    return numbered_requests(suite, [ask.request(options) for ask in asks], places, first=0)

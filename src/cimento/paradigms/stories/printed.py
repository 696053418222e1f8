"""What ``cimento stories`` prints: the wordings, and the prompts of one story."""

from __future__ import annotations

from dataclasses import dataclass

from cimento.errors import UsageError
from cimento.kinds.prompting import PromptFormat
from cimento.paradigms.stories.answers import asked_suite
from cimento.paradigms.stories.checks import refuse_unknown_states
from cimento.paradigms.stories.options import StoryOptions, prompt_for
from cimento.paradigms.stories.prompts import PromptStyle, TierPrompt, prompts
from cimento.paradigms.stories.requests import tier_prompts
from cimento.suites.stories import STORY, TIERS, StorySuite


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedPrompt:
    """The prompt of one tier of a story.

    Attributes:
        tier: name of the tier.
        examples: rows of the worked examples.
        prompt_sha256: sha256 of the prompt.
        prompt: the prompt as the model reads it.
        options: the answers to choose among.
        right: the correct one.
    """

    tier: str
    examples: list[int]
    prompt_sha256: str
    prompt: str
    options: list[str]
    right: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedStory:
    """One story as it is asked about.

    Attributes:
        suite: name of its suite.
        id: id of the story.
        prompts: the prompts of the tiers that it has.
    """

    suite: str
    id: str
    prompts: list[PrintedPrompt]


def listed_prompts() -> list[tuple[str, str, str, str]]:
    """The wordings of the story tasks: id, version, language, and how the first tier is asked."""
    return [
        (
            one.id,
            one.version,
            one.language,
            TierPrompt(STORY, one, PromptStyle()).instruction.replace("\n", " "),
        )
        for one in prompts().values()
    ]


def printed_story(
    suite: StorySuite, row: int, options: StoryOptions, prompt_format: PromptFormat
) -> PrintedStory:
    """The prompts of a story for each of its tiers, with the options and the correct answer.

    Args:
        suite: the suite of the story.
        row: row of the story, from 0.
        options: how it is asked about.
        prompt_format: how the model is prompted.

    Raises:
        UsageError: there is no such row, or there are too few stories for the examples.
        InputError: the corrections were made for other stories.
        SuiteError: a story has a state that no answer can be.
        ModelError: the chat template cannot render a prompt.
    """
    asked = asked_suite(suite, options)
    refuse_unknown_states(asked)
    if row >= len(asked.stories):
        raise UsageError(
            where=f"--row {row}", seen=f"{asked.name} has {len(asked.stories)} stories, from 0"
        )
    story, printed = asked.stories[row], []
    for tier in TIERS:
        if story.gold(tier) is None or (story.plausible and tier != TIERS[0]):
            continue
        [ask, *_] = tier_prompts(
            tier,
            [story],
            asked.stories,
            prompt=prompt_for(options, asked),
            options=options,
            prompt_format=prompt_format,
        )
        choice = ask.choose()
        printed.append(
            PrintedPrompt(
                tier=ask.tier,
                examples=list(ask.shots),
                prompt_sha256=ask.prompt_sha256,
                prompt=choice.prompt,
                options=list(choice.options),
                right=choice.options[ask.labels.index(str(story.gold(tier)))],
            )
        )
    return PrintedStory(suite=asked.name, id=story.example_id, prompts=printed)

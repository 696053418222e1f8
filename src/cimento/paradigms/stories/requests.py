"""The requests of the three tiers: the prompt of each story, with its worked examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cimento.engine.requests import Request, Requests, requests_table
from cimento.errors import ModelError
from cimento.kinds.prompting import Dialogue, PromptFormat, WrittenPrompt, rendered
from cimento.paradigms.stories.options import StoryOptions, prompt_for
from cimento.paradigms.stories.prompts import (
    PromptWording,
    TierPrompt,
    choose_shots,
    dialogue,
)
from cimento.suites import JsonValue
from cimento.suites.formats.lm_eval import ChoiceTask
from cimento.suites.stories import STORY, TIERS, Story, StorySuite, Task, Tier

WITHOUT_STORY = -1
"""The row of the prompt without a story, whose answers correct the others (``norm=pmi``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryPrompt(WrittenPrompt):
    """The prompt of one story at one tier, or of another question about it.

    Attributes:
        row: row of the story; -1 for a prompt without one.
        tier: tier whose question is asked.
        labels: the options, in order; what is answered for each is in `words`.
        shots: rows of the worked examples.
    """

    row: int
    tier: Task
    labels: tuple[str, ...]
    shots: tuple[int, ...] = ()


def story_prompt(
    tier: Tier,
    story: Story,
    shots: Sequence[Story],
    *,
    prompt: PromptWording,
    options: StoryOptions,
    prompt_format: PromptFormat,
) -> StoryPrompt:
    """The prompt of one story at one tier.

    Args:
        tier: tier whose question is asked.
        story: the story that is asked about.
        shots: the worked examples, in order.
        prompt: the wording.
        options: how it is asked.
        prompt_format: how the model is prompted.

    Raises:
        UsageError: an example has no answer at this tier.
        ModelError: the chat template cannot render it.
    """
    asked = TierPrompt(tier, prompt, options.style)
    text = rendered(dialogue(asked, story, shots), options.prompting, prompt_format)
    words = tuple(map(asked.answer, asked.labels))
    rows = tuple(shot.row for shot in shots)
    return StoryPrompt(
        rendered=text, words=words, row=story.row, tier=tier, labels=asked.labels, shots=rows
    )


def tier_prompts(
    tier: Tier,
    items: Sequence[Story],
    pool: Sequence[Story],
    *,
    prompt: PromptWording,
    options: StoryOptions,
    prompt_format: PromptFormat,
) -> list[StoryPrompt]:
    """The prompts of a tier, one for each story; where options are scored, one without story last.

    That one lets answers be compared by `norm=pmi` afterwards.

    Args:
        tier: which question.
        items: the stories that are asked about.
        pool: the stories that worked examples are drawn from.
        prompt: the wording.
        options: how it is asked.
        prompt_format: how the model is prompted.

    Raises:
        UsageError: there are too few stories for the examples.
        ModelError: the chat template cannot render a prompt.
    """
    chosen = choose_shots(tier, items, pool, options.examples)
    prompts = [
        story_prompt(
            tier, story, shots, prompt=prompt, options=options, prompt_format=prompt_format
        )
        for story, shots in zip(items, chosen, strict=True)
    ]
    if prompts and options.answer == "loglik":
        after = prompt.tiers[tier].after.strip("\n")
        try:
            text = rendered(Dialogue("", "", (), after), options.prompting, prompt_format)
            prompts.append(replace(prompts[0], rendered=text, row=WITHOUT_STORY, shots=()))
        except ModelError:
            # A template may refuse a prompt without instruction; only one norm needs it.
            if options.norm == "pmi":
                raise
    return prompts


def numbered_requests(
    suite: StorySuite,
    asked: Sequence[Request],
    places: Sequence[tuple[str | None, str, str]],
    *,
    first: int = 0,
) -> Requests:
    """Requests with what each is for: item, condition and the prompt, which is one region."""
    numbered = ((number, *place) for number, place in enumerate(places, start=first))
    return Requests(asked=asked, places=requests_table(suite.name, numbered))


def choice_tasks(suite: StorySuite) -> list[ChoiceTask]:
    """The three tiers as tasks of lm-evaluation-harness, with their worked examples.

    The later tiers have all implausible stories.
    """
    options = StoryOptions()
    tasks = []
    for tier in TIERS:
        items = [
            story
            for story in suite.asked
            if tier == STORY or (story.gold(tier) and not story.plausible)
        ]
        asked = tier_prompts(
            tier,
            items,
            suite.stories,
            prompt=prompt_for(options, suite),
            options=options,
            prompt_format=PromptFormat(),
        )
        by_row = {story.row: story for story in items}
        rows: list[dict[str, JsonValue]] = []
        for prompt in asked:
            if prompt.row != WITHOUT_STORY:
                story, request = by_row[prompt.row], prompt.choose()
                rows.append(
                    {
                        "item": str(prompt.row),
                        "story": story.example_id,
                        "prompt": request.prompt,
                        "choices": [*request.options],
                        "gold": prompt.labels.index(str(story.gold(tier))),
                    }
                )
        tasks.append(ChoiceTask(f"{suite.name}_{tier}", tuple(rows)))
    return tasks

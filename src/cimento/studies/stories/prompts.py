"""Are the recorded prompts and draws what the study's protocol gives? All of them, by hash."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cimento.paradigms import PromptFormat
from cimento.paradigms.stories import (
    CONFLICT,
    STORY,
    TIERS,
    Chain,
    RecordedAnswers,
    Story,
    StoryOptions,
    Tier,
    choose_shots,
    find_prompt,
    story_prompt,
)

OPTIONS = StoryOptions(protocol="paper")
"""The study's wording, and its three examples drawn with the seed 1234."""
_DATES = "Cutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\n"


def llama(turns: Sequence[tuple[str, str]]) -> str:
    """Turns as the template of Llama 3.1 writes them, on the day of the study's default date.

    The system turn is always there, with its two dates.
    """
    system = "".join(text for role, text in turns if role == "system")
    messages = [("system", _DATES + system.strip())]
    messages += [(role, text.strip()) for role, text in turns if role != "system"]
    body = "".join(
        f"<|start_header_id|>{role}<|end_header_id|>\n\n{content}<|eot_id|>"
        for role, content in messages
    )
    return f"<|begin_of_text|>{body}<|start_header_id|>assistant<|end_header_id|>\n\n"


def gemma(turns: Sequence[tuple[str, str]]) -> str:
    """Turns as the template of Gemma 2 writes them; it has no system turn."""
    names = {"user": "user", "assistant": "model"}
    body = "".join(
        f"<start_of_turn>{names[role]}\n{text.strip()}<end_of_turn>\n" for role, text in turns
    )
    return f"<bos>{body}<start_of_turn>model\n"


TEMPLATES: Mapping[str, PromptFormat] = {
    "llama": PromptFormat(render=llama, system="system"),
    "gemma": PromptFormat(render=gemma, system="folded"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuilt:
    """How much of what was recorded at one tier the protocol gives again.

    Attributes:
        prompts: recorded prompts with a hash.
        equal_prompts: those whose hash is that of the prompt rebuilt from its examples.
        draws: recorded draws of examples.
        equal_draws: those drawn again; None where the pool is not known.
        reason: why not.
    """

    prompts: int
    equal_prompts: int | None
    draws: int
    equal_draws: int | None
    reason: str = ""


def rebuild(
    stories: Sequence[Story], responses: RecordedAnswers, chained: Chain, template: str | None
) -> dict[Tier, Rebuilt]:
    """Rebuild every prompt and every draw of a model.

    Args:
        stories: as they were asked about, uncorrected.
        responses: with the rows of the examples and the hash of each prompt.
        chained: the tiers of the model, whose survivors are the pool of the next tier.
        template: what chat prompts were rendered by; None for flat text.
    """
    return {tier: _rebuild(stories, responses, chained, template, tier) for tier in TIERS}


def _rebuild(
    stories: Sequence[Story],
    responses: RecordedAnswers,
    chained: Chain,
    template: str | None,
    tier: Tier,
) -> Rebuilt:
    answers = responses.at(tier)
    hashed = [answer for answer in answers.values() if answer.prompt_sha256 and answer.shots]
    drawn = {row: answer.shots for row, answer in answers.items() if answer.shots}
    pool = _pool(stories, chained, tier)
    again: Mapping[int, tuple[int, ...]] = {}
    if pool is not None and len(pool) > OPTIONS.shots:
        shots = choose_shots(tier, pool, pool, OPTIONS.examples)
        again = {
            item.row: tuple(shot.row for shot in chosen)
            for item, chosen in zip(pool, shots, strict=True)
        }
    prompt_format = _format(template)
    equal = None
    if prompt_format is not None:
        rebuilt = (
            story_prompt(
                tier,
                stories[answer.row],
                [stories[row] for row in answer.shots],
                prompt=find_prompt(OPTIONS.prompt),
                options=OPTIONS,
                prompt_format=prompt_format,
            )
            for answer in hashed
        )
        equal = sum(
            prompt.prompt_sha256 == answer.prompt_sha256
            for prompt, answer in zip(rebuilt, hashed, strict=True)
        )
    return Rebuilt(
        prompts=len(hashed),
        equal_prompts=equal,
        draws=len(drawn),
        equal_draws=None
        if pool is None
        else sum(again.get(row) == shots for row, shots in drawn.items()),
        reason="" if prompt_format is not None else f"the chat template {template!r} is not known",
    )


def _pool(stories: Sequence[Story], chained: Chain, tier: Tier) -> list[Story] | None:
    """What the study drew from and asked about: all stories, then the survivors so far."""
    if tier == STORY:
        return list(stories)
    before: Tier = STORY if tier == CONFLICT else CONFLICT
    if not chained.known(before):
        return None
    passed = chained.passed[before]
    return [story for story in stories if not story.plausible and passed.get(story.row)]


def _format(template: str | None) -> PromptFormat | None:
    """The format of prompts that a template renders; None for an unknown template."""
    if template is None:
        return PromptFormat()
    known = (entry for name, entry in TEMPLATES.items() if template.startswith(name))
    return next(known, None)

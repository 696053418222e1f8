"""Are the recorded prompts and draws what the study's protocol gives? All of them, by hash."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from cimento.paradigms.stories.outcomes import Chain
from cimento.paradigms.stories.prompts import PAPER as PAPER_PROMPT
from cimento.paradigms.stories.prompts import (
    PAPER_DRAWS,
    PromptStyle,
    Shots,
    TierPrompt,
    choose_shots,
    dialogue,
    find_prompt,
)
from cimento.paradigms.stories.recordings import RecordedAnswers
from cimento.paradigms.stories.requests import Message, RenderedPrompt, SystemRule, chat, flat
from cimento.paradigms.stories.suite import CONFLICT, STORY, TIERS, Story, Tier
from cimento.suites.reading import sha256_of

SEED = 1234
N_SHOTS = 3
_DATES = "Cutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\n"


def llama(turns: Sequence[Message]) -> str:
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


def gemma(turns: Sequence[Message]) -> str:
    """Turns as the template of Gemma 2 writes them; it has no system turn."""
    names = {"user": "user", "assistant": "model"}
    body = "".join(
        f"<start_of_turn>{names[role]}\n{text.strip()}<end_of_turn>\n" for role, text in turns
    )
    return f"<bos>{body}<start_of_turn>model\n"


TEMPLATES: Mapping[str, tuple[Callable[[Sequence[Message]], str], SystemRule]] = {
    "llama": (llama, "system"),
    "gemma": (gemma, "folded"),
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
    if pool is not None and len(pool) > N_SHOTS:
        options = Shots(n=N_SHOTS, mode=PAPER_DRAWS, seed=SEED)
        shots = choose_shots(tier, pool, pool, options)
        again = {
            item.row: tuple(shot.row for shot in chosen)
            for item, chosen in zip(pool, shots, strict=True)
        }
    render = _render(template)
    equal = None
    if render is not None:
        equal = sum(
            sha256_of(
                render(tier, stories[answer.row], [stories[row] for row in answer.shots]).encode()
            )
            == answer.prompt_sha256
            for answer in hashed
        )
    return Rebuilt(
        prompts=len(hashed),
        equal_prompts=equal,
        draws=len(drawn),
        equal_draws=None
        if pool is None
        else sum(again.get(row) == shots for row, shots in drawn.items()),
        reason="" if render is not None else f"the chat template {template!r} is not known",
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


def _render(template: str | None) -> Callable[[Tier, Story, Sequence[Story]], str] | None:
    """What makes the text of a prompt; None for an unknown template."""
    known = next(
        (entry for name, entry in TEMPLATES.items() if template and template.startswith(name)), None
    )
    if template is not None and known is None:
        return None
    wording, style = find_prompt(PAPER_PROMPT), PromptStyle()

    def render(tier: Tier, story: Story, shots: Sequence[Story]) -> str:
        parts = dialogue(TierPrompt(tier, wording, style), story, shots)
        rendered: RenderedPrompt
        if known is None:
            rendered = flat(parts)
        else:
            function, system = known
            rendered = chat(parts, function, system=system)
        return rendered.text

    return render

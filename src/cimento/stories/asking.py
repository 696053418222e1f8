"""From stories to requests: how a model is spoken to, and every prompt of a tier."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from cimento.engine.requests import Choose, Reply
from cimento.errors import ModelError, UsageError
from cimento.paradigms.base import AskedModel
from cimento.stories.chat import (
    Message,
    Render,
    Rendered,
    SystemRule,
    chat,
    continuation,
    flat,
    messages,
    system_rule,
)
from cimento.stories.prompts import Dialogue, Prompt, TierPrompt, dialogue
from cimento.stories.records import Story, Tier
from cimento.stories.settings import StoryOptions
from cimento.stories.shots import choose_shots

Task: TypeAlias = Tier | Literal["story_pair", "attributes"]
"""A tier, or one of the questions beside them."""

WITHOUT_STORY = -1
"""The row of the prompt without a story, whose answers correct the others (``norm=pmi``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """How a model is spoken to.

    Attributes:
        render: its chat template; None for flat text.
        remote: the turns go to a server, which renders them itself.
        system: where the instruction goes.
    """

    render: Render | None = None
    remote: bool = False
    system: SystemRule = "system"


def find_voice(model: AskedModel, options: StoryOptions) -> Voice:
    """How a model is spoken to, by what it has and what is wanted.

    Args:
        model: who is asked; a recording was asked already, and is not spoken to.
        options: what is wanted.

    Raises:
        UsageError: a chat is wanted and there is no template.
        ModelError: the template drops system turns.
    """
    folded: SystemRule = "folded"
    if options.chat == "no" or model.card.kind == "replay":
        return Voice()
    if model.takes_messages and options.answer == "loglik":
        if options.chat == "yes":
            raise UsageError(
                where="--set chat=yes",
                seen="a server says nothing of the probability of given answers in a chat",
                todo="Say --set answer=generate, or leave chat=yes out.",
            )
        return Voice()
    if model.takes_messages:
        return Voice(remote=True, system=folded if options.system == "folded" else "system")
    render = _render_of(model)
    if render is None:
        if options.chat == "yes":
            raise UsageError(
                where="--set chat=yes",
                seen=f"the model {model.card.name!r} has no chat template",
                todo="Leave it out, to ask with flat text.",
            )
        return Voice()
    rule = folded if options.system == "folded" else system_rule(render, name=model.card.name)
    return Voice(render=render, system=rule)


def _render_of(model: AskedModel) -> Render | None:
    """A model's chat template; None where it has none."""

    def render(turns: Sequence[Message]) -> str:
        text = model.chat([(turn["role"], turn["content"]) for turn in turns])
        if text is None:
            raise ModelError(where=f"model {model.card.name!r}", seen="it has no chat template")
        return text

    try:
        return None if model.chat([("user", "?")]) is None else render
    # A template that refuses this one says so when it is given a whole prompt.
    except Exception:  # noqa: BLE001
        return render


@dataclass(frozen=True, slots=True, kw_only=True)
class TierAsk:
    """One story at one tier, or another question about it, ready to be asked.

    Attributes:
        row: of the story; -1 for a prompt without one.
        tier: which question.
        labels: the options, in order.
        words: what is answered for each.
        rendered: the prompt.
        shots: rows of the worked examples.
        prompt_sha256: of the prompt.
    """

    row: int
    tier: Task
    labels: tuple[str, ...]
    words: tuple[str, ...]
    rendered: Rendered
    shots: tuple[int, ...] = ()
    prompt_sha256: str = field(default="", init=False)

    def __post_init__(self) -> None:
        digest = hashlib.sha256(self.shown.encode()).hexdigest()
        object.__setattr__(self, "prompt_sha256", digest)

    def choose(self) -> Choose:
        """The options as texts after the prompt."""
        pairs = [continuation(self.rendered, word) for word in self.words]
        return Choose(
            prompt=pairs[0][0],
            options=tuple(option for _, option in pairs),
            templated=bool(self.rendered.messages),
        )

    def request(self, options: StoryOptions) -> Choose | Reply:
        """The prompt as a model is asked it."""
        spoken = bool(self.rendered.messages)
        is_constrained = options.answer == "constrained"
        if options.answer == "loglik":
            return self.choose()
        if is_constrained and self.rendered.text:
            only = self.choose()
            return Reply(prompt=only.prompt, options=only.options, templated=only.templated)
        return Reply(
            # Flat text ends where the answer's blank begins.
            prompt=self.rendered.text if spoken else self.rendered.text.rstrip(),
            messages=tuple((turn["role"], turn["content"]) for turn in self.rendered.messages),
            templated=spoken,
            max_tokens=options.max_tokens,
            # Text without turns runs on into the next example; the answer is one line.
            stop=() if spoken else ("\n",),
            options=self.words if is_constrained else (),
        )

    @property
    def shown(self) -> str:
        """The prompt as text; the turns as JSON where a server renders them itself."""
        return self.rendered.text or json.dumps(self.rendered.messages, ensure_ascii=False)


def tier_asks(
    tier: Tier,
    items: Sequence[Story],
    pool: Sequence[Story],
    *,
    prompt: Prompt,
    options: StoryOptions,
    voice: Voice,
) -> list[TierAsk]:
    """The prompts of a tier, one for each story; where options are scored, one without story last.

    That one lets answers be compared by `norm=pmi` afterwards.

    Args:
        tier: which question.
        items: the stories that are asked about.
        pool: the stories that worked examples are drawn from.
        prompt: the wording.
        options: how it is asked.
        voice: how the model is spoken to.

    Raises:
        UsageError: there are too few stories for the examples.
        ModelError: the chat template cannot render a prompt.
    """
    asked = TierPrompt(tier, prompt, options.style)
    chosen = choose_shots(tier, items, pool, options.examples)
    asks = [
        _ask(
            asked,
            dialogue(asked, story, shots),
            row=story.row,
            shots=tuple(shot.row for shot in shots),
            options=options,
            voice=voice,
        )
        for story, shots in zip(items, chosen, strict=True)
    ]
    if asks and options.answer == "loglik":
        question = Dialogue("", "", (), asked.wording.after.strip("\n"))
        try:
            asks.append(_ask(asked, question, row=WITHOUT_STORY, options=options, voice=voice))
        except ModelError:
            # A template may refuse a prompt without instruction; only one norm needs it.
            if options.norm == "pmi":
                raise
    return asks


def _ask(
    asked: TierPrompt,
    parts: Dialogue,
    *,
    row: int,
    options: StoryOptions,
    voice: Voice,
    shots: tuple[int, ...] = (),
) -> TierAsk:
    return TierAsk(
        row=row,
        tier=asked.tier,
        labels=asked.labels,
        words=tuple(asked.answer(label) for label in asked.labels),
        rendered=rendered(parts, options, voice),
        shots=shots,
    )


def rendered(parts: Dialogue, options: StoryOptions, voice: Voice) -> Rendered:
    """A prompt as a model reads it.

    Raises:
        ModelError: the chat template cannot render it.
    """
    as_ = options.shots_as
    # The study put a blank before answers even after a chat template.
    blank = " " if options.protocol == "paper" else ""
    if voice.remote:
        return Rendered("", messages(parts, system=voice.system, shots=as_), blank)
    if voice.render is None:
        return flat(parts)
    return chat(parts, voice.render, system=voice.system, shots=as_, before_answer=blank)

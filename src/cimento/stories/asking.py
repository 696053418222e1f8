"""From a tier and its stories to prompts, and from what a model says of them to records."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from cimento.errors import ModelError, UsageError
from cimento.models.answering import (
    OptionAsk,
    OptionScorer,
    OptionScores,
    Replier,
    Reply,
    ReplyAsk,
)
from cimento.models.constrained import descend
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
from cimento.stories.parsing import parse, parse_words
from cimento.stories.prompts import Dialogue, Prompt, TierPrompt, dialogue
from cimento.stories.records import TIERS, Story, Tier
from cimento.stories.settings import StorySettings
from cimento.stories.shots import choose_shots
from cimento.suites.model import JsonValue

Record: TypeAlias = "dict[str, JsonValue]"

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


def find_voice(
    template: Render | None, settings: StorySettings, *, name: str, remote: bool = False
) -> Voice:
    """How a model is spoken to, by what it has and what is wanted.

    Args:
        template: its chat template, where it has one.
        settings: what is wanted.
        name: of the model, for messages.
        remote: whether it is a server that takes turns.

    Raises:
        UsageError: a chat is wanted and there is no template.
        ModelError: the template drops system turns.
    """
    folded: SystemRule = "folded"
    if settings.chat == "no":
        return Voice()
    if remote and settings.answer == "loglik":
        if settings.chat == "yes":
            raise UsageError(
                where="--set chat=yes",
                seen="a server says nothing of the probability of given answers in a chat",
                todo="Say --set answer=generate, or leave chat=yes out.",
            )
        return Voice()
    if remote:
        return Voice(remote=True, system=folded if settings.system == "folded" else "system")
    if template is None:
        if settings.chat == "yes":
            raise UsageError(
                where="--set chat=yes",
                seen=f"the model {name!r} has no chat template",
                todo="Leave it out, to ask with flat text.",
            )
        return Voice()
    rule = folded if settings.system == "folded" else system_rule(template, name=name)
    return Voice(render=template, system=rule)


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
        text = self.rendered.text or json.dumps(self.rendered.messages, ensure_ascii=False)
        digest = hashlib.sha256(text.encode()).hexdigest()
        object.__setattr__(self, "prompt_sha256", digest)

    @property
    def key(self) -> tuple[str, int, str]:
        """What makes it the same question as one that was asked before."""
        return self.tier, self.row, self.prompt_sha256

    def option_ask(self) -> OptionAsk:
        """The options as texts after the prompt."""
        pairs = [continuation(self.rendered, word) for word in self.words]
        return OptionAsk(
            prompt=pairs[0][0],
            options=tuple(option for _, option in pairs),
            templated=bool(self.rendered.messages),
        )

    def reply_ask(self, settings: StorySettings) -> ReplyAsk:
        """The prompt as something to be answered in words."""
        spoken = bool(self.rendered.messages)
        return ReplyAsk(
            # Flat text ends where the answer's blank begins.
            prompt=self.rendered.text if spoken else self.rendered.text.rstrip(),
            messages=tuple(_plain(turn) for turn in self.rendered.messages),
            templated=spoken,
            max_tokens=settings.max_tokens,
            # Text without turns runs on into the next example; the answer is one line.
            stop=() if spoken else ("\n",),
            options=self.words if settings.answer == "constrained" else (),
        )


def tier_asks(
    tier: Tier,
    items: Sequence[Story],
    pool: Sequence[Story],
    *,
    prompt: Prompt,
    settings: StorySettings,
    voice: Voice,
) -> list[TierAsk]:
    """The prompts of a tier, one for each story; a prompt without story last, if it is needed.

    Args:
        tier: which question.
        items: the stories that are asked about.
        pool: the stories that worked examples are drawn from.
        prompt: the wording.
        settings: how it is asked.
        voice: how the model is spoken to.

    Raises:
        UsageError: there are too few stories for the examples.
        ModelError: the chat template cannot render a prompt.
    """
    asked = TierPrompt(tier, prompt, settings.style)
    chosen = choose_shots(tier, items, pool, settings.shots)
    asks = [
        _ask(
            asked,
            dialogue(asked, story, shots),
            row=story.row,
            shots=tuple(shot.row for shot in shots),
            settings=settings,
            voice=voice,
        )
        for story, shots in zip(items, chosen, strict=True)
    ]
    if asks and settings.norm == "pmi" and settings.answer == "loglik":
        question = Dialogue("", "", (), asked.wording.after.strip("\n"))
        asks.append(_ask(asked, question, row=WITHOUT_STORY, settings=settings, voice=voice))
    return asks


def scored(asks: Sequence[TierAsk], scorer: OptionScorer) -> Iterator[Record]:
    """Records of the options' log-probabilities, each as soon as it is there."""
    for number, scores in scorer.score_options([ask.option_ask() for ask in asks]):
        yield {
            **_record(asks[number]),
            "nats": [list(nats) for nats in scores.nats],
            "tokens": [list(tokens) for tokens in scores.tokens],
            "greedy": [int(each) for each in scores.greedy] or None,
        }


def constrained(asks: Sequence[TierAsk], scorer: OptionScorer) -> Iterator[Record]:
    """Records of what constrained decoding writes, from the options' log-probabilities."""
    for number, scores in scorer.score_options([ask.option_ask() for ask in asks]):
        chosen = descend(scores)
        ask = asks[number]
        yield {
            **_record(ask),
            "label": ask.labels[chosen],
            "reply": ask.words[chosen],
            "stop_reason": "end",
        }


def replied(
    asks: Sequence[TierAsk], replier: Replier, *, settings: StorySettings
) -> Iterator[Record]:
    """Records of what a model wrote and what was read from it, each as soon as it is there."""
    for number, reply in replier.reply([ask.reply_ask(settings) for ask in asks]):
        yield {**_record(asks[number]), **_read(asks[number], reply, settings)}


def scores_of(record: Mapping[str, JsonValue]) -> OptionScores:
    """The log-probabilities in a record.

    Raises:
        ModelError: the record holds none.
    """
    nats, tokens, greedy = record.get("nats"), record.get("tokens"), record.get("greedy")
    if not isinstance(nats, list) or not isinstance(tokens, list):
        raise ModelError(
            where="answers kept from an earlier run",
            seen="a record holds no log-probabilities",
            todo="Run again with --force.",
        )
    return OptionScores(
        nats=tuple(tuple(map(float, row)) for row in nats),  # type: ignore[arg-type]  # as written
        tokens=tuple(tuple(map(str, row)) for row in tokens),  # type: ignore[arg-type]
        greedy=tuple(map(bool, greedy)) if isinstance(greedy, list) else (),
    )


def _ask(
    asked: TierPrompt,
    parts: Dialogue,
    *,
    row: int,
    settings: StorySettings,
    voice: Voice,
    shots: tuple[int, ...] = (),
) -> TierAsk:
    return TierAsk(
        row=row,
        tier=asked.tier,
        labels=asked.labels,
        words=tuple(asked.answer(label) for label in asked.labels),
        rendered=rendered(parts, settings, voice),
        shots=shots,
    )


def rendered(parts: Dialogue, settings: StorySettings, voice: Voice) -> Rendered:
    """A prompt as a model reads it.

    Raises:
        ModelError: the chat template cannot render it.
    """
    as_ = settings.shots_as
    # The study put a blank before answers even after a chat template.
    blank = " " if settings.protocol == "paper" else ""
    if voice.remote:
        return Rendered("", messages(parts, system=voice.system, shots=as_), blank)
    if voice.render is None:
        return flat(parts)
    return chat(parts, voice.render, system=voice.system, shots=as_, before_answer=blank)


def _record(ask: TierAsk) -> Record:
    return {
        "doc": ask.row,
        "task": ask.tier,
        "options": list(ask.labels),
        "words": list(ask.words),
        "shots": list(ask.shots),
        "prompt_sha256": ask.prompt_sha256,
    }


def _read(ask: TierAsk, reply: Reply, settings: StorySettings) -> Record:
    # A reply may be one of the words to the letter, in a language that the parser does not know.
    exact = {word.lower(): label for word, label in zip(ask.words, ask.labels, strict=True)}
    label = exact.get(reply.text.strip().strip(".").lower())
    if label is not None:
        return {"label": label, "reply": reply.text, "stop_reason": reply.stop_reason}
    if ask.tier in TIERS:
        parsed = parse(ask.tier, reply.text, numbering=settings.style.numbering)
    else:
        parsed = parse_words(reply.text, exact)
    return {
        "label": parsed.label,
        "reply": reply.text,
        "reason": parsed.reason,
        "stop_reason": reply.stop_reason,
    }


def _plain(turn: Message) -> dict[str, str]:
    return {"role": turn["role"], "content": turn["content"]}

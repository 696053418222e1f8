"""Two more questions to a model: how probable is each of some answers, and what does it say?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, runtime_checkable

from cimento.models.base import ModelCard

StopReason: TypeAlias = Literal["end", "stop", "length"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choose:
    """A prompt, and the answers that are compared after it.

    Attributes:
        prompt: the text before each answer.
        options: the answers, each with the blank before it where there is one.
        templated: the prompt comes from a chat template and holds its special tokens, so that
            nothing is put before it.
    """

    prompt: str
    options: tuple[str, ...]
    templated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionScores:
    """What a model says of some answers after a prompt; one entry for each answer.

    Attributes:
        nats: log-probability of each of its tokens, in nats.
        tokens: its tokens, as the tokenizer writes them or numbers them.
        greedy: whether greedy decoding would write it; empty where that is not known.
    """

    nats: tuple[tuple[float, ...], ...]
    tokens: tuple[tuple[str, ...], ...]
    greedy: tuple[bool, ...] = ()


@runtime_checkable
class OptionScorer(Protocol):
    """A model that says how probable answers are."""

    @property
    def card(self) -> ModelCard:
        """What is known about the model."""

    def score_options(self, asks: Sequence[Choose]) -> Iterator[tuple[int, OptionScores]]:
        """Score answers; each prompt is yielded with its number as soon as it is done.

        Raises:
            TextTooLongError: a prompt does not fit the model's window.
            ModelError: a prompt cannot be answered; all that was answered has been yielded.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A prompt that a model answers in its own words, greedily.

    Attributes:
        prompt: the whole prompt as text; empty where there are only turns.
        messages: the turns as (role, content), for servers that render them themselves.
        templated: see `Choose`.
        max_tokens: at most so many are generated.
        stop: the reply ends before the first of these.
        options: the only texts that may be generated; empty for any.
    """

    prompt: str = ""
    messages: tuple[tuple[str, str], ...] = ()
    templated: bool = False
    max_tokens: int = 16
    stop: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Written:
    """What a model wrote.

    Attributes:
        text: without the stop text.
        stop_reason: the model ended it (``end``), a stop text came (``stop``), or it was as long
            as allowed (``length``).
    """

    text: str
    stop_reason: StopReason


@runtime_checkable
class Replier(Protocol):
    """A model that answers in its own words."""

    @property
    def card(self) -> ModelCard:
        """What is known about the model."""

    def reply(self, asks: Sequence[Reply]) -> Iterator[tuple[int, Written]]:
        """Answer prompts, greedily; each reply is yielded with its number as soon as it is there.

        Raises:
            TextTooLongError: a prompt does not fit the model's window.
            ModelError: a prompt cannot be answered; all that was answered has been yielded.
        """

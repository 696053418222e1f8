"""The question `fill`: what belongs in the blank? Requests, answers and policy as plain data."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Literal, Protocol, TypeAlias

from cimento.errors import UsageError
from cimento.models.base import ModelCard

OpenRule: TypeAlias = Literal["auto", "mask", "words", "complete", "beam", "left", "sentinel"]
ChoiceRule: TypeAlias = Literal[
    "mask", "left-to-right", "joint", "sentence", "left", "continuation", "sentinel"
]
FillKind: TypeAlias = Literal["word", "piece", "unknown", "punctuation", "words"]


CHOICE = "choice:"
"""Begins the method of a fill that was scored because it is an option."""

MOST_MASKS = 8
MOST_CANDIDATES = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class FillPolicy:
    """How blanks are asked for: plain data, part of the manifest and of the run folder's name.

    Attributes:
        k: how many candidates.
        protocol: how candidates are found where none are given. ``mask``: the most probable
            tokens at one mask, whatever they are (the protocol of Wilkens et al. 2022 and of
            Albertin et al. 2021); ``words``: the same, without pieces, unknowns and punctuation;
            ``complete``: whole words of one to `masks` tokens; ``beam``: any sequences of one to
            `masks` tokens, those of each length apart; ``left``: the most probable next tokens
            of a causal model; ``sentinel``: what an encoder-decoder writes for the blank;
            ``auto``: ``mask``, ``left`` or ``sentinel``, by the kind of model.
        masks: the longest candidate, in tokens.
        choice: how options are scored; none for what suits the kind of model. ``mask``: one
            mask, options of several tokens not scored; ``left-to-right``: each token with the
            earlier ones of the option shown and the later ones masked (Kauf and Ivanova 2023,
            doi:10.18653/v1/2023.acl-short.80); ``joint``: all tokens of the option masked;
            ``sentence``: the whole text with the option in it, by pseudo-likelihood where the
            model is masked; ``left``: the option after what stands before it; ``continuation``:
            what follows it; ``sentinel``: the option written by an encoder-decoder.

    Raises:
        UsageError: a number is out of range.
    """

    k: int = 10
    protocol: OpenRule = "auto"
    masks: int = 3
    choice: tuple[ChoiceRule, ...] = ()

    def __post_init__(self) -> None:
        for name, value, most in (
            ("k", self.k, MOST_CANDIDATES),
            ("masks", self.masks, MOST_MASKS),
        ):
            if not 1 <= value <= most:
                raise UsageError(
                    where=f"{name}={value}", seen="is out of range", todo=f"Give 1 to {most}."
                )

    def digest(self) -> str:
        """A short name for this policy: eight hexadecimal digits."""
        text = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:8]


@dataclass(frozen=True, slots=True)
class FillRequest:
    """A text with a blank.

    Attributes:
        id: position in the plan, from 0.
        before: what stands before the blank.
        after: what stands after it.
        options: what is to be scored there.
    """

    id: int
    before: str
    after: str
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fill:
    """A candidate for a blank.

    Attributes:
        candidate: as the tokenizer prints it, or as an option is written.
        logprob_nats: None where it was not scored.
        n_pieces: tokens it takes; None where that is not known.
        kind: a whole word, a piece of one, the tokenizer's unknown or another special token,
            punctuation, or several words.
        method: how it was asked for: a protocol, or `CHOICE` and a rule.
    """

    candidate: str
    logprob_nats: float | None
    n_pieces: int | None
    kind: FillKind
    method: str


class Filler(Protocol):
    """A language model that says what belongs in a blank."""

    @property
    def card(self) -> ModelCard:
        """What is known about the model."""

    @property
    def protocols(self) -> tuple[OpenRule, ...]:
        """How it finds candidates itself; the first is what ``auto`` means."""

    @property
    def choices(self) -> tuple[ChoiceRule, ...]:
        """How it scores options in ways that a `Scorer` does not."""

    def fill(
        self,
        requests: Sequence[FillRequest],
        policy: FillPolicy,
        *,
        choice: Sequence[ChoiceRule] = (),
    ) -> list[list[Fill]]:
        """Candidates for each blank, the most probable first, then its options in their order.

        Args:
            requests: distinct texts.
            policy: its protocol is one of `protocols`, or ``auto``.
            choice: how the options are scored, some of `choices`.

        Raises:
            ModelError: a text cannot be asked.
            UsageError: the protocol is not for this kind of model.
        """


def chosen_protocol(policy: FillPolicy, filler: Filler) -> OpenRule:
    """The protocol of a policy for a model.

    Raises:
        UsageError: the model does not know it.
    """
    if policy.protocol == "auto":
        return filler.protocols[0]
    if policy.protocol not in filler.protocols:
        raise UsageError(
            where=f"protocol={policy.protocol}",
            seen=f"{filler.card.name!r} is a {filler.card.kind} model",
            todo=f"Give one of: {', '.join(filler.protocols)}.",
        )
    return policy.protocol


def ranked(fills: Iterable[Fill], k: int) -> list[Fill]:
    """The k most probable of some scored candidates, each once with its best score."""
    found: dict[str, Fill] = {}
    for fill in sorted(fills, key=lambda fill: (-(fill.logprob_nats or 0.0), fill.candidate)):
        found.setdefault(fill.candidate, fill)
    return list(found.values())[:k]

"""The questions to a model besides scores: choices among options, replies and fills of blanks.

Requests, answers and the protocols of models that answer them, as plain data.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Literal, Protocol, TypeAlias, runtime_checkable

from cimento.errors import NonFiniteScoreError, UsageError
from cimento.models.base import ModelCard, Score

StopReason: TypeAlias = Literal["end", "stop", "length"]

OpenRule: TypeAlias = Literal["auto", "mask", "words", "complete", "beam", "left", "sentinel"]
"""How words for a blank are found if none are listed; see docs/cloze.md."""
ChoiceRule: TypeAlias = Literal[
    "mask", "left-to-right", "joint", "sentence", "left", "continuation", "sentinel"
]
"""How the words that a suite lists for a blank are scored; see docs/cloze.md."""
FillKind: TypeAlias = Literal["word", "piece", "unknown", "punctuation", "words"]

Part: TypeAlias = Literal["residual", "attention", "mlp", "heads"]
"""A part of a layer: its output, what its attention or its MLP adds, or its single heads."""

AlignmentRule: TypeAlias = Literal["auto", "exact", "last"]
"""The rule by which the tokens of two sentences are matched whose states are exchanged."""

CHOICE = "choice:"
"""The prefix of the method of a fill that was scored as an option."""

MOST_MASKS = 8
MOST_CANDIDATES = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Choose:
    """A prompt, and the answers that are compared after it.

    Attributes:
        prompt: the text before each answer.
        options: the answers, each with its leading blank if there is one.
        templated: whether the prompt comes from a chat template and contains its special tokens, so
            that nothing is put before it.
        messages: the turns as (role, content), for servers that render them themselves; the
            answers are then compared by their first tokens, as far as the server lists them.
    """

    prompt: str
    options: tuple[str, ...]
    templated: bool = False
    messages: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionScores:
    """The scores of some answers after a prompt, with one entry for each answer.

    Attributes:
        nats: log-probability of each token of an answer, in nats; empty if not known.
        tokens: the tokens of an answer, as texts or ids of the tokenizer.
        greedy: whether greedy decoding would write an answer; empty if not known.
    """

    nats: tuple[tuple[float, ...], ...]
    tokens: tuple[tuple[str, ...], ...]
    greedy: tuple[bool, ...] = ()


class HasCard(Protocol):
    """The common part of the protocols of answerers: the card of their model."""

    @property
    def card(self) -> ModelCard:
        """The card of the model."""


@runtime_checkable
class OptionScorer(HasCard, Protocol):
    """The protocol of a model that scores answers."""

    def score_options(self, asks: Sequence[Choose]) -> Iterator[tuple[int, OptionScores]]:
        """Score answers; each prompt is yielded with its number as soon as it is done.

        Raises:
            TextTooLongError: a prompt does not fit the model's window.
            ModelError: a prompt cannot be answered; all that was answered has been yielded.
        """


def descend(scores: OptionScores) -> int:
    """The number of the answer that greedy decoding writes when only the answers are allowed.

    Each step takes the most probable of the tokens that still lead to an answer; ties go to the
    first. If an answer is the beginning of others, sums decide among these, because no token marks
    the end of an answer.

    Args:
        scores: the scores of the answers.

    Returns:
        The number of the answer.
    """
    alive = list(range(len(scores.tokens)))
    depth = 0
    while len(alive) > 1:
        if any(len(scores.tokens[number]) <= depth for number in alive):
            return max(alive, key=lambda number: sum(scores.nats[number]))
        best = max(alive, key=lambda number: scores.nats[number][depth])
        token = scores.tokens[best][depth]
        alive = [number for number in alive if scores.tokens[number][depth] == token]
        depth += 1
    return alive[0]


def refuse_not_finite(nats: Iterable[Sequence[float]], card: ModelCard, prompt: str) -> None:
    """Refuse scores in which a token has no valid log-probability.

    Raises:
        NonFiniteScoreError: a token has none.
    """
    for value in chain.from_iterable(nats):
        # The test is not value <= 0, because half precision can give slightly more.
        if not math.isfinite(value):
            raise NonFiniteScoreError(
                where=f"model {card.name!r}, prompt that ends in {prompt[-60:]!r}",
                seen=f"the model gave {value} for a token of an answer",
                todo="Its weights may be damaged, or the dtype too narrow: try --dtype=float32.",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A prompt that a model answers with generated text, greedily.

    Attributes:
        prompt: the whole prompt as text; empty where there are only turns.
        messages: the turns as (role, content), for servers that render them themselves.
        templated: whether the texts are rendered by a chat template already, as in `Choose`.
        max_tokens: largest number of generated tokens.
        stop: texts before the first of which the reply ends.
        options: the only texts that may be generated; empty for any.
    """

    prompt: str = ""
    messages: tuple[tuple[str, str], ...] = ()
    templated: bool = False
    max_tokens: int = 16
    stop: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GeneratedReply:
    """A reply that a model generated.

    Attributes:
        text: the reply without the stop text.
        stop_reason: ``end`` if the model ended it, ``stop`` if a stop text came, ``length`` if it
            reached the limit.
    """

    text: str
    stop_reason: StopReason


@runtime_checkable
class Replier(HasCard, Protocol):
    """The protocol of a model that generates replies."""

    def reply(self, asks: Sequence[Reply]) -> Iterator[tuple[int, GeneratedReply]]:
        """Answer prompts greedily; each reply is yielded with its number as soon as it is complete.

        Raises:
            TextTooLongError: a prompt does not fit the model's window.
            ModelError: a prompt cannot be answered; all that was answered has been yielded.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """A text that is scored while hidden states of another text are at one of its places.

    It is answered for every layer (and for every head, if single heads are exchanged).

    Attributes:
        base: the text that is scored, with the spans of the tokens that are measured.
        source: the text that the states come from, with the spans of the same tokens there.
        place: character span of `base` whose tokens get other states.
        source_place: character span of `source` whose tokens the states come from.
        part: the part of a layer whose states are exchanged.
        last: whether only the last tokens of the two places are exchanged, even where the places
            have the same number of tokens.
    """

    base: Score
    source: Score
    place: tuple[int, int]
    source_place: tuple[int, int]
    part: Part = "residual"
    last: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PatchedScores:
    """The scores of the measured tokens of a text under the interchanges at one of its places.

    Attributes:
        alignment: how the tokens of the two places were paired: ``exact`` (as many tokens, at the
            same positions), ``shifted`` (as many, at other positions), ``last token`` (only the
            last ones); empty where nothing could be exchanged.
        tokens: position, first character and end of each measured token.
        cells: layer, head (None unless single heads are exchanged) and the log-probabilities of the
            measured tokens in nats, None for a token without a score. Layer 0 is the input of the
            first layer, n the n-th layer.
    """

    alignment: str
    tokens: tuple[tuple[int, int, int], ...]
    cells: tuple[tuple[int, int | None, tuple[float | None, ...]], ...]


@runtime_checkable
class Patcher(Protocol):
    """The protocol of a language model whose hidden states can be exchanged."""

    def patch(self, asks: Sequence[Patch]) -> Iterator[tuple[int, PatchedScores]]:
        """The scores under interchanges; each request is yielded with its number.

        Raises:
            TextTooLongError: a text does not fit the model's window.
            UsageError: the model has no such part.
        """


AttributionRule: TypeAlias = Literal["gradient", "integrated"]
"""Gradient times input, or integrated gradients."""

BaselineRule: TypeAlias = Literal["mean", "zero"]
"""The embedding from which contributions count: the mean of the vocabulary's, or zero."""

ERROR_NATS, ERROR_SHARE = 0.007, 0.002
"""Largest difference between the sum of integrated contributions and that of the two scores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    """A text whose tokens are given contributions to the score of some of them.

    Attributes:
        text: the text, with the spans of the tokens that are measured.
        rule: the way in which contributions are found.
        baseline: the embedding from which contributions count.
    """

    text: Score
    rule: AttributionRule = "integrated"
    baseline: BaselineRule = "mean"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attributions:
    """The contributions of the tokens of a text to the log-probability of its measured tokens.

    Attributes:
        tokens: position, first character, end and text of each token that the score depends on.
        nats: contribution of each of these tokens, in nats.
        logprob_nats: log-probability of all measured tokens; None if none has a score.
        baseline_nats: the same with baselines in place of all tokens; None for gradients alone.
        unscored: number of measured tokens without a score.
        steps: number of points at which gradients were taken.
    """

    tokens: tuple[tuple[int, int, int, str], ...]
    nats: tuple[float, ...]
    logprob_nats: float | None
    baseline_nats: float | None
    unscored: int
    steps: int


@runtime_checkable
class Attributer(Protocol):
    """The protocol of a language model that gives tokens contributions."""

    def attribute(self, asks: Sequence[Attribute]) -> Iterator[tuple[int, Attributions]]:
        """The contributions of tokens; each request is yielded with its number.

        Raises:
            TextTooLongError: a text does not fit the model's window.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class FillPolicy:
    """The policy of filling blanks: plain data, part of the manifest and of the run folder's name.

    Attributes:
        k: number of candidates.
        protocol: the method of finding candidates. ``mask``: the most probable tokens at one mask,
            whatever they are (the protocol of Wilkens et al. 2022 and of Albertin et al. 2021);
            ``words``: the same, without pieces, unknowns and punctuation, and of causal models the
            words of one token that end after it; ``complete``: whole words of one to `masks`
            tokens; ``beam``: any sequences of one to `masks` tokens, ranked separately by length;
            ``left``: the most probable next tokens of a causal model; ``sentinel``: what an
            encoder-decoder writes for the blank; ``auto``: ``mask``, ``left`` or ``sentinel``, by
            the kind of model.
        masks: the longest candidate, in tokens.
        choice: the rules of scoring options; empty for the default of the kind of model. ``mask``:
            one mask, options of several tokens not scored; ``left-to-right``: each token with the
            earlier ones of the option shown and the later ones masked (Kauf and Ivanova 2023,
            doi:10.18653/v1/2023.acl-short.80); ``joint``: all tokens of the option masked;
            ``sentence``: the whole text with the option in it, by pseudo-likelihood in masked
            models; ``left``: the option after the text before it; ``continuation``: the text after
            it; ``sentinel``: the option written by an encoder-decoder.

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


class Blank(Protocol):
    """A text with a blank, as those who fill it see it."""

    @property
    def before(self) -> str:
        """The text before the blank."""

    @property
    def after(self) -> str:
        """The text after the blank."""

    @property
    def options(self) -> tuple[str, ...]:
        """The options to score in the blank."""


@dataclass(frozen=True, slots=True)
class FillCandidate:
    """A candidate for a blank.

    Attributes:
        candidate: the candidate as printed by the tokenizer, or the option as written.
        logprob_nats: its log-probability in nats; None if it was not scored.
        n_pieces: number of its tokens; None if not known.
        kind: a whole word, a piece of one, the tokenizer's unknown or another special token,
            punctuation, or several words.
        method: the method of asking: a protocol, or `CHOICE` and a rule.
    """

    candidate: str
    logprob_nats: float | None
    n_pieces: int | None
    kind: FillKind
    method: str


class Filler(HasCard, Protocol):
    """The protocol of a language model that fills blanks."""

    @property
    def protocols(self) -> tuple[OpenRule, ...]:
        """The protocols by which it finds candidates; the first is the meaning of ``auto``."""

    @property
    def choices(self) -> tuple[ChoiceRule, ...]:
        """The rules by which it scores options beyond those of any `Scorer`."""

    def fill(
        self,
        requests: Sequence[Blank],
        policy: FillPolicy,
        *,
        choice: Sequence[ChoiceRule] = (),
    ) -> list[list[FillCandidate]]:
        """The candidates for each blank, the most probable first, then its options in order.

        Args:
            requests: distinct texts.
            policy: its protocol is one of `protocols`, or ``auto``.
            choice: the rules of scoring options, from `choices`.

        Raises:
            ModelError: a text cannot be asked.
            UsageError: the protocol does not apply to this kind of model.
        """


def chosen_protocol(policy: FillPolicy, filler: Filler) -> OpenRule:
    """The protocol of a policy for a model.

    Raises:
        UsageError: the model does not have the protocol.
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


def ranked(fills: Iterable[FillCandidate], k: int) -> list[FillCandidate]:
    """The k most probable of some scored candidates, without repeats, each with its best score."""
    by_word: dict[str, FillCandidate] = {}
    for fill in sorted(fills, key=lambda fill: (-(fill.logprob_nats or 0.0), fill.candidate)):
        by_word.setdefault(fill.candidate, fill)
    return list(by_word.values())[:k]

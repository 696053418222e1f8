"""What engine and models agree on: policies, limits, encoded texts, and protocols of scorers."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import (
    TYPE_CHECKING,
    Literal,
    NamedTuple,
    Protocol,
    TypeAlias,
    overload,
    runtime_checkable,
)

from cimento.errors import UsageError
from cimento.models.dtypes import DtypeName, DtypeRule, dtype_rule
from cimento.suites.model import JsonValue

if TYPE_CHECKING:
    import numpy as np

    from cimento.io.arrays import Flags, Integers
    from cimento.io.tables import Column
    from cimento.runs.usage import Tokens

FloatArray: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.float64]]"

KindRule: TypeAlias = Literal["auto", "causal", "masked", "seq2seq"]
BosRule: TypeAlias = Literal["auto", "none", "tokenizer", "bos-or-eos"]
PllRule: TypeAlias = Literal["within-word-l2r", "original", "whole-word", "region"]
PunctuationRule: TypeAlias = Literal["split", "keep"]
WindowRule: TypeAlias = Literal["refuse", "sliding"]
BoundaryRule: TypeAlias = Literal["none", "word-start", "word-end", "auto"]
FirstWordRule: TypeAlias = Literal["initial", "none"]
Limit: TypeAlias = int | Literal["auto"]


@dataclass(frozen=True, slots=True)
class Policy:
    """How texts are scored: plain data, part of the manifest and of the run folder's name.

    Attributes:
        bos: what stands before the first token of a causal model. ``auto``: what the tokenizer
            puts there itself, else its BOS token, else its EOS token (GPT-2 was trained with it
            as a separator); ``none``: nothing, and the first token is not scored; ``tokenizer``:
            what the tokenizer puts there itself, else nothing; ``bos-or-eos``: its BOS token,
            else its EOS token, whatever it does itself.
        pll: pseudo-log-likelihood of a masked model. ``within-word-l2r``: a token is predicted
            with the later tokens of its word masked too (Kauf and Ivanova 2023,
            doi:10.18653/v1/2023.acl-short.80); ``original``: only the token itself is masked
            (Salazar et al. 2020, doi:10.18653/v1/2020.acl-main.240); ``whole-word``: all tokens
            of its word are; ``region``: all tokens of its region are.
        punctuation: whether a punctuation mark is a word of its own (``split``) or belongs to
            the word it touches (``keep``).
        leading_blank: whether a blank stands before a text that has no context.
        dtype: of the weights while scoring; log-probabilities are taken in float32 at least.
            ``auto`` is replaced by one of the others when a model is opened (see `settled`); until
            then the policy has no digest.
        window: what is done with a text that is longer than the model's window. ``refuse``: it is
            an error; ``sliding``: its tokens are scored in parts of it that fit, see `windows`.
        stride: by how many tokens a causal model's window is moved along such a text; None for
            half the window.
        boundary: whether words (not those of masked models) are corrected for what the tokenizer
            does not say of where they end (Pimentel and Meister 2024,
            doi:10.18653/v1/2024.emnlp-main.1020). ``none``: they are not; ``word-start`` or
            ``word-end``: for marks there; ``auto``: for the tokenizer's marks, if there are any.
            `punctuation` says whether marks end a word.
        boundary_eos: whether EOS ends a word too, in that correction.
        boundary_first: what becomes of a text's first word there. ``initial``: it is divided by
            the probability of what can begin a text; ``none``: it is divided by nothing.
        model_args: options that transformers' ``from_pretrained`` is given as they are.

    Raises:
        UsageError: there is a stride and nothing to move, or it is not a number of tokens; there
            is no such number format; or an option for transformers is no plain value.
    """

    bos: BosRule = "auto"
    pll: PllRule = "within-word-l2r"
    punctuation: PunctuationRule = "split"
    leading_blank: bool = False
    dtype: DtypeRule = "float32"
    window: WindowRule = "refuse"
    stride: int | None = None
    boundary: BoundaryRule = "none"
    boundary_eos: bool = True
    boundary_first: FirstWordRule = "initial"
    model_args: Mapping[str, JsonValue] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.stride is not None and (self.window == "refuse" or self.stride < 1):
            raise UsageError(
                where="--stride",
                seen=f"{self.stride} tokens are given with --window {self.window}",
                todo="Give one token or more, and --window sliding.",
            )
        try:
            object.__setattr__(self, "dtype", dtype_rule(self.dtype))
        except ValueError as error:
            raise UsageError(
                where="--dtype", seen=f"got {self.dtype!r}", todo=f"{error}."
            ) from error
        try:
            json.dumps(dict(self.model_args))
        except (TypeError, ValueError) as error:
            raise UsageError(
                where="model_args",
                seen=f"a value cannot be written as JSON ({error})",
                todo="Give plain values; a quantization_config is a dictionary.",
            ) from error

    def settled(self, dtype: DtypeName) -> Policy:
        """The policy with a number format in the place of ``auto``."""
        return replace(self, dtype=dtype) if self.dtype == "auto" else self

    def plain(self) -> dict[str, JsonValue]:
        """What answers are addressed by.

        Raises:
            ValueError: the number format is still ``auto``, under which there are several numbers.
        """
        if self.dtype == "auto":
            raise ValueError("the number format of a policy is chosen before answers are named")
        return asdict(self)

    def digest(self) -> str:
        """A short name for this policy: eight hexadecimal digits."""
        text = json.dumps(self.plain(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:8]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLimits:
    """How much may go through a model at once; what is None sets no limit.

    Attributes:
        sequences: texts in one batch; copies of a text where a masked model reads several.
        tokens: padded tokens in one batch: rows times the longest row.
    """

    sequences: int | None = None
    tokens: int | None = None

    @classmethod
    def chosen(cls, sequences: Limit, tokens: Limit) -> BatchLimits:
        """The limits that a user chose.

        Raises:
            UsageError: one is no number from 1, nor ``auto``.
        """
        for name, value in (("batch_size", sequences), ("batch_tokens", tokens)):
            # A value from Python may be of any type.
            if value != "auto" and not (type(value) is int and value >= 1):
                raise UsageError(
                    where=name, seen=f"got {value!r}", todo="Give a number from 1, or auto."
                )
        return cls(
            sequences=None if sequences == "auto" else sequences,
            tokens=None if tokens == "auto" else tokens,
        )

    def or_tokens(self, tokens: int) -> BatchLimits:
        """These limits, or a number of padded tokens where nothing was chosen."""
        return BatchLimits(tokens=tokens) if self == AUTO else self

    def positions(self, longest: int) -> int:
        """Padded tokens of the largest batch that keeps to the limits.

        Args:
            longest: tokens of the longest sequence.
        """
        by_sequences = None if self.sequences is None else self.sequences * longest
        return min(limit for limit in (by_sequences, self.tokens, sys.maxsize) if limit is not None)

    def allow(self, *, rows: int, width: int, sequences: int) -> bool:
        """Whether a batch of some rows keeps to the limits.

        Args:
            rows: in the batch.
            width: tokens of its longest row.
            sequences: in these rows; more than rows where they share beginnings.
        """
        return (self.tokens is None or rows * width <= self.tokens) and (
            self.sequences is None or sequences <= self.sequences
        )


AUTO = BatchLimits()
"""Nothing is chosen: the number of padded tokens goes by the device."""


@dataclass(frozen=True, slots=True)
class ModelCard:
    """What is known about a loaded model; goes into the manifest as it is.

    Attributes:
        name: as the user wrote it, without the revision.
        kind: ``causal``, ``masked``, ``seq2seq`` or ``replay``.
        revision: commit or content hash of the weights, hexadecimal.
        tokenizer: content hash of the tokenizer, hexadecimal.
        dtype: of the weights, such as ``float32``.
        device: such as ``cpu`` or ``cuda:0``.
        bos: the token put before a text, as text; empty where none is.
        window: longest sequence in tokens, special ones included; None where there is no limit.
        boundary: the marks that words are corrected for, ``word-start`` or ``word-end``; empty
            where they are not.
        details: architecture, number of parameters and the like.
    """

    name: str
    kind: str
    revision: str
    tokenizer: str
    dtype: str = ""
    device: str = ""
    bos: str = ""
    window: int | None = None
    boundary: str = ""
    details: dict[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The name with the first seven digits of the revision."""
        return f"{self.name}@{self.revision[:7]}" if self.revision else self.name


class Score(NamedTuple):
    """A request: a text whose tokens are scored.

    A tuple rather than a dataclass: there are as many of them as sentences, and they are made,
    hashed and compared more often than anything else.

    Attributes:
        text: what is scored.
        context: what stands before it and is not scored; joined to it by a blank.
        wanted: character spans of `text` whose tokens are needed; None for all of them.
        regions: character spans that a masked model masks whole under ``pll="region"``; a text
            that has none is one region.
        blank: whether a blank stands before a text without context; None leaves it to the policy.
    """

    text: str
    context: str = ""
    wanted: tuple[tuple[int, int], ...] | None = None
    regions: tuple[tuple[int, int], ...] = ()
    blank: bool | None = None


@dataclass(frozen=True, slots=True)
class Encoded:
    """A request as a model's tokenizer sees it.

    Attributes:
        ids: token ids of the whole sequence, special tokens included. A negative one identifies
            a token of a model that numbers none; it is null in the tokens table.
        tokens: the tokens as text, one for each id.
        spans: characters of the request's text that each token covers, without blanks before
            them; (-1, -1) for special tokens and for the context.
        words: number of the word each token belongs to (of its region, where a policy masks
            whole regions); -1 for special tokens.
        first: index of the first token of the request's text.
        wanted: indices into `ids` of the tokens to score, ascending.
        undefined: index to reason, for tokens that the model gives no probability at all (a
            word that an n-gram model does not know); their score is NaN.
    """

    ids: tuple[int, ...]
    tokens: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    words: tuple[int, ...]
    first: int
    wanted: tuple[int, ...]
    undefined: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedTexts(Sequence[Encoded]):
    """Encoded requests as columns: the tokens of one text after those of the other.

    Attributes:
        offsets: where the tokens of each text begin; one more at the end.
        firsts: index of the first token of each request's own text among its tokens.
        ids: token ids.
        tokens: the tokens as text.
        start: first character of each token in its request's text; -1 outside it.
        end: one past its last character; -1 outside.
        words: number of the word that each belongs to; -1 for special tokens.
        wanted: whether it is to be scored.
        undefined: number of a token, over all texts, to the reason why it has no probability.
    """

    offsets: Integers
    firsts: Sequence[int]
    ids: Integers
    tokens: Sequence[str]
    start: Integers
    end: Integers
    words: Integers
    wanted: Flags
    undefined: Mapping[int, str] = field(default_factory=dict)

    @classmethod
    def of(cls, encoded: Sequence[Encoded]) -> EncodedTexts:
        """Columns of requests that were encoded one by one; columns stay as they are."""
        import numpy as np

        if isinstance(encoded, EncodedTexts):
            return encoded
        offsets = np.cumsum([0, *(len(text.ids) for text in encoded)], dtype=np.int64)
        wanted = np.zeros(offsets[-1], dtype=np.bool_)
        for text, begin in zip(encoded, offsets.tolist(), strict=False):
            wanted[[begin + index for index in text.wanted]] = True
        spans = [span for text in encoded for span in text.spans]
        return cls(
            offsets=offsets,
            firsts=[text.first for text in encoded],
            ids=np.array([number for text in encoded for number in text.ids], dtype=np.int64),
            tokens=[token for text in encoded for token in text.tokens],
            start=np.array([start for start, _ in spans], dtype=np.int64),
            end=np.array([end for _, end in spans], dtype=np.int64),
            words=np.array([number for text in encoded for number in text.words], dtype=np.int64),
            wanted=wanted,
            undefined={
                begin + index: reason
                for text, begin in zip(encoded, offsets.tolist(), strict=False)
                for index, reason in text.undefined.items()
            },
        )

    def __len__(self) -> int:
        return len(self.firsts)

    @overload
    def __getitem__(self, index: int) -> Encoded: ...
    @overload
    def __getitem__(self, index: slice) -> list[Encoded]: ...
    def __getitem__(self, index: int | slice) -> Encoded | list[Encoded]:
        numbers = range(len(self))[index]
        if isinstance(numbers, range):
            return [self.text(number) for number in numbers]
        return self.text(numbers)

    def text(self, number: int, wanted: Flags | None = None) -> Encoded:
        """One of the texts as a record.

        Args:
            number: which.
            wanted: the tokens of this text that are to be scored; None for those that were asked.
        """
        import numpy as np

        begin, end = int(self.offsets[number]), int(self.offsets[number + 1])
        own = slice(begin, end)
        chosen = np.flatnonzero(self.wanted[own] if wanted is None else wanted)
        return Encoded(
            ids=tuple(self.ids[own].tolist()),
            tokens=tuple(self.tokens[own]),
            spans=tuple(zip(self.start[own].tolist(), self.end[own].tolist(), strict=True)),
            words=tuple(self.words[own].tolist()),
            first=self.firsts[number],
            wanted=tuple(chosen.tolist()),
            undefined={
                place - begin: self.undefined[place]
                for place in range(begin, end)
                if place in self.undefined
            }
            if self.undefined
            else {},
        )


class Scorer(Protocol):
    """A language model that can say how probable the tokens of a text are."""

    @property
    def card(self) -> ModelCard:
        """What is known about the model."""

    def encode(self, requests: Sequence[Score]) -> Sequence[Encoded]:
        """Tokenize the requests, in order: as a list of records, or as columns.

        Raises:
            TextTooLongError: a text does not fit the model's window.
        """

    def score(self, encoded: Sequence[Encoded]) -> list[FloatArray]:
        """The log-probability of each wanted token, in nats, one array for each encoded request.

        NaN stands only where the probability is undefined: the first token of a text that has
        no left context, and what ``undefined`` names. The arrays have the length and the order
        of ``wanted``.
        """


@runtime_checkable
class ColumnScorer(Protocol):
    """A `Scorer` that can say more of a token than its log-probability."""

    def score_columns(
        self, encoded: Sequence[Encoded], columns: tuple[Column, ...]
    ) -> list[FloatArray]:
        """For each encoded request a table with a row for each wanted token.

        The log-probability stands first in a row, as `Scorer.score` gives it, then the columns in
        the order asked for; where the first is NaN, so are they.
        """


@runtime_checkable
class LayerScorer(ColumnScorer, Protocol):
    """A `ColumnScorer` that has columns of its inner layers."""

    def count_layers(self) -> int:
        """How many layers the model has.

        Raises:
            ModelError: its layers cannot be read one by one.
        """


@runtime_checkable
class TextScorer(Protocol):
    """A model that keeps its tokens to itself until it answers: text in, scored tokens out."""

    @property
    def card(self) -> ModelCard:
        """What is known about the model."""

    def read(self, texts: Sequence[str]) -> Iterator[tuple[str, dict[int, float]]]:
        """Score texts whole; each is yielded as soon as it is answered, in any order.

        Args:
            texts: distinct, none of them blank.

        Yields:
            The text, and its tokens: the offset of a token's first byte in the UTF-8 text to its
            log-probability in nats, ascending from 0. A token ends where the next one begins.
            NaN stands only at 0, where nothing precedes the text.

        Raises:
            ModelError: a text cannot be answered; all that was answered has been yielded.
        """


@runtime_checkable
class Remarking(Protocol):
    """A model that has something to say about texts, beside their scores."""

    def remarks(self, requests: Sequence[Score]) -> tuple[str, ...]:
        """What the user should know about these texts under this model, as sentences."""


Meter: TypeAlias = "dict[Hashable, Tokens]"
"""From a text, or a prompt, to what the requests about it came to."""


@runtime_checkable
class Metered(Protocol):
    """A model whose answers are counted in tokens, and perhaps paid for.

    Attributes:
        meter: what was sent since it was emptied.
    """

    meter: Meter


def card_of(model: Scorer | TextScorer) -> ModelCard:
    """Who a model is.

    Raises:
        UsageError: it is no scorer.
    """
    if not hasattr(model, "card"):
        raise UsageError(
            where="model",
            seen=f"{type(model).__name__} is neither the name of a model nor a scorer",
            todo="Give a name as for cimento run -m, a path, or a model of transformers with"
            " tokenizer=; docs/plugins.md has scorers.",
        )
    return model.card

"""The contract of engine and models: policies, limits, encoded texts, and protocols of scorers."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import (
    TYPE_CHECKING,
    NamedTuple,
    Protocol,
    Self,
    TypeAlias,
    overload,
    runtime_checkable,
)

from cimento.errors import UsageError
from cimento.io.values import stretches

if TYPE_CHECKING:
    import numpy as np

    from cimento.io.tables import Column
    from cimento.io.values import Flags, Integers
    from cimento.records.usage import Tokens

TWO_SIDED = ("masked", "diffusion")
"""The kinds of models that predict a token from the text on both sides of it."""

FloatArray: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.float64]]"
"""An array of numbers with double precision, of any shape."""


@dataclass(frozen=True, slots=True)
class ModelCard:
    """The card of a loaded model, which goes into the manifest unchanged.

    Attributes:
        name: name as the user wrote it, without the revision.
        kind: ``causal``, ``masked``, ``seq2seq``, ``diffusion`` or ``replay``.
        revision: commit or content hash of the weights, in hexadecimal.
        tokenizer: content hash of the tokenizer, in hexadecimal.
        dtype: number format of the weights, such as ``float32``.
        device: device, such as ``cpu`` or ``cuda:0``.
        rounding_bits: the largest margin, in bits, that half precision may decide, as measured on a
            sample; None where it was not measured.
        bos: token put before a text, as text; empty for none.
        window: longest sequence in tokens, including special ones; None without a limit.
        boundary: marks for which words are corrected, ``word-start`` or ``word-end``; empty without
            the correction.
        details: architecture, number of parameters and the like.
    """

    name: str
    kind: str
    revision: str
    tokenizer: str
    dtype: str = ""
    device: str = ""
    rounding_bits: float | None = None
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

    It is a tuple rather than a dataclass because there are as many as sentences, and they are made,
    hashed and compared more often than anything else.

    Attributes:
        text: the text that is scored.
        context: the context before it, which is not scored; joined to it by a blank.
        wanted: character spans of `text` whose tokens are needed; None for all of them.
        regions: character spans that a masked model masks as a whole under ``pll="region"``; a text
            without spans is one region.
        blank: whether a text without context has a blank before it; None leaves it to the policy.
    """

    text: str
    context: str = ""
    wanted: tuple[tuple[int, int], ...] | None = None
    regions: tuple[tuple[int, int], ...] = ()
    blank: bool | None = None


@dataclass(frozen=True, slots=True)
class Encoding:
    """A request as a model's tokenizer sees it.

    Attributes:
        ids: token ids of the whole sequence, including special tokens. A negative id stands for a
            token of a model without token ids; it is null in the tokens table.
        tokens: the tokens as text, one for each id.
        spans: span of characters of the request's text that each token covers, without leading
            blanks; (-1, -1) for special tokens and for the context.
        words: number of the word of each token (of its region, if the policy masks whole regions);
            -1 for special tokens.
        first: index of the first token of the request's text.
        wanted: indices into `ids` of the tokens to score, ascending.
        undefined: reasons by index for tokens to which the model gives no probability at all (words
            that an n-gram model does not know); their score is NaN.
    """

    ids: tuple[int, ...]
    tokens: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    words: tuple[int, ...]
    first: int
    wanted: tuple[int, ...]
    undefined: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class EncodedTexts(Sequence[Encoding]):
    """Encoded requests as columns, in which the tokens of the texts follow one another.

    The columns are a sequence of `Encoding` too; these records are made when the first is needed.

    Attributes:
        offsets: index of each text's first token, and the number of tokens at the end.
        firsts: index of the first token of each request's own text among its tokens.
        ids: token ids of the text.
        tokens: the tokens as text.
        start: offset of each token's first character in its request's text; -1 outside it.
        end: offset one past its last character; -1 outside.
        words: number of the word of each token; -1 for special tokens.
        wanted: whether each token is to be scored.
        undefined: the reasons why tokens have no probability, by number of the token over all
            texts.
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
    def of(cls, encoded: Sequence[Encoding]) -> EncodedTexts:
        """The columns of requests that were encoded one by one; existing columns are unchanged."""
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
    def __getitem__(self, index: int) -> Encoding: ...
    @overload
    def __getitem__(self, index: slice) -> list[Encoding]: ...
    def __getitem__(self, index: int | slice) -> Encoding | list[Encoding]:
        return self._records[index]

    def __iter__(self) -> Iterator[Encoding]:
        return iter(self._records)

    def some(self, numbers: Integers, wanted: Flags) -> EncodedTexts:
        """Some of the texts, with other tokens to be scored.

        Args:
            numbers: the numbers of the texts, ascending.
            wanted: whether each token of all texts is to be scored.
        """
        import numpy as np

        if len(numbers) == len(self):
            return replace(self, wanted=wanted)
        counts = np.diff(self.offsets)[numbers]
        places = stretches(self.offsets[numbers], counts)
        number_of = {place: number for number, place in enumerate(places.tolist())}
        return EncodedTexts(
            offsets=np.concatenate(([0], np.cumsum(counts))),
            firsts=[self.firsts[number] for number in numbers.tolist()],
            ids=self.ids[places],
            tokens=[self.tokens[place] for place in places.tolist()],
            start=self.start[places],
            end=self.end[places],
            words=self.words[places],
            wanted=wanted[places],
            undefined={
                number_of[place]: reason
                for place, reason in self.undefined.items()
                if place in number_of
            },
        )

    @cached_property
    def _records(self) -> list[Encoding]:
        return [self._record(number) for number in range(len(self))]

    def _record(self, number: int) -> Encoding:
        import numpy as np

        begin, end = int(self.offsets[number]), int(self.offsets[number + 1])
        span = slice(begin, end)
        return Encoding(
            ids=tuple(self.ids[span].tolist()),
            tokens=tuple(self.tokens[span]),
            spans=tuple(zip(self.start[span].tolist(), self.end[span].tolist(), strict=True)),
            words=tuple(self.words[span].tolist()),
            first=self.firsts[number],
            wanted=tuple(np.flatnonzero(self.wanted[span]).tolist()),
            undefined={
                place - begin: self.undefined[place]
                for place in range(begin, end)
                if place in self.undefined
            }
            if self.undefined
            else {},
        )


class Scorer(Protocol):
    """The protocol of a language model that gives the probabilities of the tokens of a text."""

    @property
    def card(self) -> ModelCard:
        """The card of the model."""

    def encode(self, requests: Sequence[Score]) -> Sequence[Encoding]:
        """Tokenize the requests in order, as a list of records or as columns.

        Raises:
            TextTooLongError: a text does not fit the model's window.
        """

    def score(self, encoded: Sequence[Encoding]) -> list[FloatArray]:
        """The log-probability of each wanted token, in nats, one array for each encoded request.

        NaN stands only for undefined probabilities: those of a first token without left context,
        and those in ``undefined``. The arrays have the length and the order of ``wanted``.
        """


@runtime_checkable
class ColumnScorer(Protocol):
    """The protocol of a `Scorer` that gives further columns besides log-probabilities."""

    def score_columns(
        self, encoded: Sequence[Encoding], columns: tuple[Column, ...]
    ) -> list[FloatArray]:
        """For each encoded request, an array with a row for each wanted token.

        A row has the log-probability, as from `Scorer.score`, and then the columns in the order
        requested, which are NaN where the log-probability is.
        """


@runtime_checkable
class LayerScorer(ColumnScorer, Protocol):
    """The protocol of a `ColumnScorer` that has columns of its inner layers."""

    def count_layers(self) -> int:
        """The number of layers of the model.

        Raises:
            ModelError: the layers cannot be read one by one.
        """


@runtime_checkable
class Widening(Scorer, Protocol):
    """The protocol of a `Scorer` that can be loaded in a wider number format, to compare the two.

    Attributes:
        card: the card of the model, to which the result of the comparison is added.
    """

    card: ModelCard

    @property
    def device_name(self) -> str:
        """The name of the kind of device that it computes on."""

    def in_float32(self) -> Self | None:
        """The same model in float32 on the same device; None where that is not possible."""


class Plan(Protocol):
    """The protocol of the scores that a unit wants of a model, made before the model is asked."""

    @property
    def values(self) -> FloatArray:
        """The scores of all wanted tokens in their order, with the columns as for `ColumnScorer`.

        They are NaN until the model has read the texts.
        """

    @property
    def done(self) -> bool:
        """Whether all scores are read."""


@runtime_checkable
class Planner(Protocol):
    """The protocol of a `Scorer` that reads texts of several units in one pass.

    How a text goes through the model depends on the texts of its own plan alone, so that its scores
    are the same whichever other plans are added.
    """

    def plan(self, texts: EncodedTexts, columns: tuple[Column, ...]) -> Plan | None:
        """The plan of scoring some texts, made in any thread; None where texts are not planned."""

    def add(self, plan: Plan, columns: tuple[Column, ...]) -> None:
        """Put a plan's texts into batches, and have the model read those that are full."""

    def flush(self) -> None:
        """Have the model read the fullest of the batches that wait; there is at least one."""

    def forget(self) -> None:
        """Drop what waits in batches, after an error."""


@runtime_checkable
class TextScorer(Protocol):
    """The protocol of a model without an accessible tokenizer: text in, scored tokens out."""

    @property
    def card(self) -> ModelCard:
        """The card of the model."""

    def read(self, texts: Sequence[str]) -> Iterator[tuple[str, dict[int, float]]]:
        """Score texts whole; each is yielded as soon as it is answered, in any order.

        Args:
            texts: distinct texts, none of them blank.

        Yields:
            The text, and the log-probability of each token in nats by the offset of its first byte
            in the UTF-8 text, ascending from 0. A token ends where the next one begins. NaN is
            allowed only at 0, where nothing precedes the text.

        Raises:
            ModelError: a text cannot be answered; all answers so far have been yielded.
        """


@runtime_checkable
class Remarking(Protocol):
    """The protocol of a model that makes remarks on texts besides scoring them."""

    def remarks(self, requests: Sequence[Score]) -> tuple[str, ...]:
        """The remarks on these texts under this model, as sentences for the user."""


@runtime_checkable
class HasRemarks(Protocol):
    """The protocol of a model of which the user should know something, whatever it is asked.

    Attributes:
        notes: sentences for the user.
    """

    notes: tuple[str, ...]


@runtime_checkable
class TakingTurns(Protocol):
    """The protocol of a model that may be read by one thread at a time."""

    @property
    def turn(self) -> AbstractContextManager[object]:
        """The context in which a thread has the model for itself; it may be entered again."""


Meter: TypeAlias = "dict[Hashable, Tokens]"
"""The tokens used by the requests about each text or prompt."""


@runtime_checkable
class HasMeter(Protocol):
    """The protocol of a model whose use is counted in tokens, and perhaps paid for.

    Attributes:
        meter: the tokens used since it was last cleared.
    """

    meter: Meter


def card_of(model: Scorer | TextScorer) -> ModelCard:
    """The card of a model.

    Raises:
        UsageError: the object is not a scorer.
    """
    if isinstance(model, type) or not hasattr(model, "card"):
        raise UsageError(
            where="model",
            seen=f"{type(model).__name__} is neither the name of a model nor a scorer",
            todo="Give a name as for cimento run -m, a path, or a model of transformers with"
            ' tokenizer=; the page "Extending cimento" has scorers.',
        )
    if not isinstance(model.card, ModelCard):
        raise UsageError(
            where="model",
            seen=f"the card of {type(model).__name__} is of type {type(model.card).__name__}",
            todo="Give it a cimento.ModelCard(name=, kind=, revision=, tokenizer=).",
        )
    return model.card

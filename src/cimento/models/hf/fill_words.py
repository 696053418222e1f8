"""Candidates for blanks: distributions at chosen positions, and tokens as parts of words."""

from __future__ import annotations

import functools
import math
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import torch

from cimento.models.hf.batches import Asks, batches, memory_of
from cimento.models.hf.boundaries import PART_OF_CHARACTER, surfaces_of, tokenizer_state
from cimento.models.hf.heads import RowHead, widened
from cimento.models.hf.layout import ModelLayout, find_layout, padded
from cimento.models.questions import FillCandidate, FillKind
from cimento.models.settings import BatchLimits
from cimento.models.tokenizing import Frame, probes, vocabulary_size

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from cimento.models.base import ModelCard
    from cimento.models.hf.batches import IntArray
    from cimento.models.hf.inside import Inside

BoolArray: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.bool_]]"

Row: TypeAlias = tuple[tuple[int, ...], int]
"""A row: the token ids of a sequence, and a position in it."""

Take: TypeAlias = Callable[[torch.Tensor, list[Row]], None]
"""A callback with log-probabilities in nats, of shape (some rows, vocabulary), and these rows."""


class Beam(NamedTuple):
    """A beam: the beginning of a candidate of several tokens, or the whole candidate."""

    ids: tuple[int, ...] = ()
    logprob_nats: float = 0.0


class FillTokens:
    """The tokens of one tokenizer as candidates for a blank.

    A tokenizer marks beginnings of words (a blank before the token), ends (after it) or
    continuations (a prefix, ``##``); without marks, every token counts as a word.

    Attributes:
        marks: ``word-start``, ``word-end`` or ``none``, from `surfaces_of`.
        whole_words: flags of the tokens that are whole words after a blank (or not after one).
        beginnings: flags of the tokens with which a word of several tokens can start.

    Args:
        tokenizer: tokenizer of the model.
        size: number of tokens that the model knows.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, *, size: int) -> None:
        self._tokenizer = tokenizer
        self._size = size
        self.marks, self._surfaces = surfaces_of(tokenizer)
        model = tokenizer_state(tokenizer)["model"]
        prefix = model.get("continuing_subword_prefix")
        self._prefix: str = prefix if isinstance(prefix, str) and self.marks == "none" else ""
        self.whole_words = functools.cache(self._whole_words)
        self.beginnings = functools.cache(self._beginnings)

    def after_blank(self, before: str) -> bool:
        """Whether a word after a text begins with the mark of a blank.

        At the beginning of a text this depends on the tokenizer.
        """
        return before[-1].isspace() if before else self._marks_first

    @functools.cached_property
    def _marks_first(self) -> bool:
        ids = self._tokenizer("a", add_special_tokens=False)["input_ids"]
        return self.marks != "word-start" or self._surfaces.get(ids[0], " ").startswith(" ")

    def candidate(self, token: int) -> str:
        """The printed form of a token as a candidate, without the blanks that mark words."""
        surface = self._surfaces.get(token)
        if surface is None:
            # A model may have more tokens than its tokenizer names.
            return str(self._tokenizer.convert_ids_to_tokens(token) or f"[{token}]")
        return surface.strip()

    def joined(self, tokens: Sequence[int]) -> str:
        """Several tokens as one candidate."""
        if len(tokens) == 1:
            return self.candidate(tokens[0])
        surfaces = [self._surfaces.get(token, self.candidate(token)) for token in tokens]
        if not self._prefix:
            return "".join(surfaces).strip()
        words = surfaces[0]
        for surface in surfaces[1:]:
            whole = not surface.startswith(self._prefix)
            words += f" {surface}" if whole else surface.removeprefix(self._prefix)
        return words

    def kind(self, tokens: Sequence[int], *, after_blank: bool) -> FillKind:
        """The kind of a candidate made of some tokens.

        Args:
            tokens: one or more token ids.
            after_blank: whether a blank, or nothing, precedes the gap.
        """
        if len(tokens) > 1:
            first, *others = tokens
            whole = self.starts(first, after_blank=after_blank) and not any(
                self.begins(token) for token in others
            )
            known = all(token in self._surfaces for token in tokens)
            wordlike = _has_letter_or_digit(self.joined(tokens))
            return "word" if whole and known and wordlike else "words"
        [token] = tokens
        if token not in self._surfaces:
            return "unknown"
        if self.is_piece(token, after_blank=after_blank):
            return "piece"
        return "word" if _has_letter_or_digit(self.candidate(token)) else "punctuation"

    def is_piece(self, token: int, *, after_blank: bool) -> bool:
        """Whether a token in the gap would be only a part of a word."""
        surface = self._surfaces.get(token, "")
        if self._prefix:
            return surface.startswith(self._prefix)
        if not surface.strip() or PART_OF_CHARACTER in surface:
            return True
        if not _has_letter_or_digit(surface):
            return False
        if self.marks == "word-start":
            return after_blank and not surface.startswith(" ")
        return self.marks == "word-end" and not surface.endswith(" ")

    def starts(self, token: int, *, after_blank: bool) -> bool:
        """Whether a word of several tokens in the gap can start with a token."""
        surface = self._surfaces.get(token, "")
        if not surface or PART_OF_CHARACTER in surface:
            return False
        if self._prefix:
            return _has_letter_or_digit(surface) and not surface.startswith(self._prefix)
        # A blank may be a separate token before a word.
        marked = self.marks == "word-start" and surface.startswith(" ")
        open_start = self.marks != "word-start" or not after_blank
        return marked or (open_start and _has_letter_or_digit(surface))

    def begins(self, token: int) -> bool:
        """Whether a token after another begins a word, or is a mark or special."""
        surface = self._surfaces.get(token, "")
        if not _has_letter_or_digit(surface):
            return True
        if self._prefix:
            return not surface.startswith(self._prefix)
        return self.marks != "word-start" or surface.startswith(" ")

    def fill(self, beam: Beam, method: str, *, after_blank: bool) -> FillCandidate:
        """A candidate made of a beam that a method found."""
        return FillCandidate(
            candidate=self.joined(beam.ids),
            logprob_nats=beam.logprob_nats,
            n_pieces=len(beam.ids),
            kind=self.kind(beam.ids, after_blank=after_blank),
            method=method,
        )

    def single(
        self, best: Iterable[Sequence[tuple[int, float]]], method: str, fits: Iterable[bool]
    ) -> list[list[FillCandidate]]:
        """Candidates of one token each.

        Args:
            best: for each blank, tokens and their log-probabilities.
            method: how they were found.
            fits: for each blank, whether a blank, or nothing, precedes the gap.
        """
        return [
            [self.fill(Beam((token,), value), method, after_blank=fit) for token, value in top]
            for top, fit in zip(best, fits, strict=True)
        ]

    @functools.cached_property
    def continuing(self) -> BoolArray:
        """Flags of the tokens that continue the word of the preceding token."""
        return self._table(lambda token: token in self._surfaces and not self.begins(token))

    def _whole_words(self, *, after_blank: bool) -> BoolArray:
        return self._table(lambda token: self.kind([token], after_blank=after_blank) == "word")

    def _beginnings(self, *, after_blank: bool) -> BoolArray:
        return self._table(lambda token: self.starts(token, after_blank=after_blank))

    def _table(self, holds: Callable[[int], bool]) -> BoolArray:
        return np.fromiter((holds(token) for token in range(self._size)), bool, self._size)


def _has_letter_or_digit(text: str) -> bool:
    return any(unicodedata.category(char)[0] in "LN" for char in text)


class Distributions:
    """A reader of the distributions of one model.

    Args:
        model: the model in evaluation mode, on its device.
        layout: the layout that the model allows.
        padding: token id for padding.
        limits: the limits of a batch.
    """

    def __init__(
        self, model: PreTrainedModel, *, layout: ModelLayout, padding: int, limits: BatchLimits
    ) -> None:
        self._model = model
        self._layout = layout
        self._padding = padding
        self._limits = limits
        self._head = _WholeRows(model, thin=layout.thin)

    def read(self, rows: Sequence[Row], take: Take) -> None:
        """Pass on the distribution at every row; a row may come twice, with the same values.

        Args:
            rows: distinct rows.
            take: called with a few rows at a time, in any order.
        """
        positions: dict[tuple[int, ...], list[int]] = {}
        for ids, position in rows:
            positions.setdefault(ids, []).append(position)
        sequences = list(positions)
        lengths = [len(ids) for ids in sequences]
        for batch in batches(lengths, limits=self._limits, mixed=self._layout.pad):
            self._read_batch({sequences[i]: positions[sequences[i]] for i in batch}, take)

    def _read_batch(self, positions: Mapping[tuple[int, ...], list[int]], take: Take) -> None:
        sequences = list(positions)
        width = max(map(len, sequences))
        slots = [(ids, position) for ids in sequences for position in positions[ids]]
        line = {ids: number for number, ids in enumerate(sequences)}
        at = np.array([line[ids] * width + position for ids, position in slots], dtype=np.int64)
        asks = Asks(rows=at, targets=np.zeros_like(at), places=np.arange(len(slots)))
        inputs = padded(
            sequences, layout=self._layout, padding=self._padding, device=self._model.device
        )
        self._head.hand_out(
            inputs, asks, lambda logprobs, places: take(logprobs, [slots[i] for i in places])
        )


class RowFiller:
    """A filler of blanks from the distributions of a model at chosen positions.

    Args:
        inside: the model and its tokenizer.
        card: the card of the model.
        frame: the special tokens around a text.
        limits: the limits of a batch.
        padding: token id for padding.
        sliding: whether a text that is too long is cut to a part that fits, instead of being an
            error.

    Raises:
        ModelError: the model cannot be asked exactly.
    """

    def __init__(
        self,
        inside: Inside,
        *,
        card: ModelCard,
        frame: Frame,
        limits: BatchLimits,
        padding: int = 0,
        sliding: bool = False,
    ) -> None:
        model, tokenizer = inside.model, inside.tokenizer
        self.card = card
        self._tokenizer = tokenizer
        self._frame = frame
        self._sliding = sliding
        size = vocabulary_size(model)
        self._tokens = FillTokens(tokenizer, size=size)
        short, long = probes(tokenizer, frame, window=card.window, vocabulary=size)
        layout = find_layout(model, short, long, padding=padding)
        self._distributions = Distributions(model, layout=layout, padding=padding, limits=limits)


def best_at(
    distributions: Distributions,
    rows: Sequence[Row],
    k: int,
    allowed: Sequence[BoolArray | None],
    *,
    also: Take | None = None,
) -> list[list[tuple[int, float]]]:
    """The most probable tokens at each row, each row read once.

    Args:
        distributions: the distributions of the model.
        rows: rows, which may repeat with other tokens allowed.
        k: largest number of tokens.
        allowed: flags of the tokens that count at each row; None for all.
        also: a second callback for the same distributions.
    """
    wanted: dict[Row, dict[int, BoolArray | None]] = {}
    for row, some in zip(rows, allowed, strict=True):
        wanted.setdefault(row, {})[id(some)] = some
    continuations: dict[tuple[Row, int], list[tuple[int, float]]] = {}

    def take(logprobs: torch.Tensor, lines: list[Row]) -> None:
        if also is not None:
            also(logprobs, lines)
        jobs = [(line, row, key) for line, row in enumerate(lines) for key in wanted[row]]
        best = best_tokens(
            logprobs[[line for line, _, _ in jobs]], k, [wanted[row][key] for _, row, key in jobs]
        )
        continuations.update(zip([(row, key) for _, row, key in jobs], best, strict=True))

    distributions.read(list(wanted), take)
    return [continuations[row, id(some)] for row, some in zip(rows, allowed, strict=True)]


def best_tokens(
    logprobs: torch.Tensor, k: int, allowed: Sequence[BoolArray | None]
) -> list[list[tuple[int, float]]]:
    """The k most probable tokens of each row; ties go to the lower id.

    Args:
        logprobs: log-probabilities of shape (rows, vocabulary), overwritten where tokens are not
            allowed.
        k: largest number of tokens.
        allowed: flags of the tokens that count at each row; None for all.
    """
    width = logprobs.shape[1]
    for line, some in enumerate(allowed):
        if some is not None:
            kept = torch.zeros(width, dtype=torch.bool)
            kept[: len(some)] = torch.from_numpy(some)[:width]
            logprobs[line, ~kept.to(logprobs.device)] = -math.inf
    values, tokens = logprobs.topk(min(k, width), dim=1)
    return [
        sorted(
            ((token, value) for token, value in zip(*pairs, strict=True) if value > -math.inf),
            key=lambda pair: (-pair[1], pair[0]),
        )
        for pairs in zip(tokens.tolist(), values.tolist(), strict=True)
    ]


def grow(
    beams: Sequence[Sequence[Beam]], best: Iterable[Sequence[tuple[int, float]]], width: int
) -> list[list[Beam]]:
    """The most probable beams of each blank, grown by a token.

    Args:
        beams: the beams of each blank.
        best: for each beam of each blank, tokens that may follow and their log-probabilities.
        width: number of beams kept for each blank.
    """
    tops = iter(best)
    grown = [
        [
            Beam((*beam.ids, token), beam.logprob_nats + value)
            for beam in group
            for token, value in next(tops)
        ]
        for group in beams
    ]
    return [
        sorted(group, key=lambda beam: (-beam.logprob_nats, beam.ids))[:width] for group in grown
    ]


class _WholeRows(RowHead):
    """The head of a model, giving whole distributions."""

    def hand_out(
        self,
        inputs: Mapping[str, torch.Tensor],
        asks: Asks,
        take: Callable[[torch.Tensor, list[int]], None],
    ) -> None:
        """Run the model on a batch, or on parts of it if memory is short; pass on distributions."""
        memory_of(self.model).spend(
            inputs, asks, lambda some, wanted: self._hand_out(some, wanted, take)
        )

    def _hand_out(
        self,
        inputs: Mapping[str, torch.Tensor],
        asks: Asks,
        take: Callable[[torch.Tensor, list[int]], None],
    ) -> None:
        order = np.argsort(asks.rows, kind="stable")
        rows: IntArray = asks.rows[order]
        places: list[int] = asks.places[order].tolist()
        done = 0
        with torch.inference_mode():
            for piece in self.pieces(inputs, rows):
                for logits in self.few(piece):
                    take(widened(logits).log_softmax(dim=1), places[done : done + len(logits)])
                    done += len(logits)

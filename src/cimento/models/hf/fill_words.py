"""Candidates for blanks: distributions at chosen positions, and what tokens make as words."""

from __future__ import annotations

import functools
import json
import math
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import torch

from cimento.models.base import BatchLimits
from cimento.models.hf.batches import Asks, batches, memory_of
from cimento.models.hf.heads import RowHead, widened
from cimento.models.hf.layout import Layout, padded
from cimento.models.questions import Fill, FillKind
from cimento.models.tokens.facts import PART_OF_CHARACTER, surfaces_of

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from cimento.models.hf.batches import IntArray

BoolArray: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.bool_]]"

Row: TypeAlias = tuple[tuple[int, ...], int]
"""Token ids of a sequence, and a position in it."""

Take: TypeAlias = Callable[[torch.Tensor, list[Row]], None]
"""Given log-probabilities in nats, shape (some rows, vocabulary), and which rows these are."""


class Beam(NamedTuple):
    """The beginning of a candidate of several tokens, or all of it."""

    ids: tuple[int, ...] = ()
    logprob_nats: float = 0.0


class FillTokens:
    """The tokens of one tokenizer as candidates for a blank.

    A tokenizer marks beginnings of words (a blank before the token), ends (after it) or what
    continues a word (a prefix, ``##``); where it marks none, every token counts as a word.

    Attributes:
        marks: ``word-start``, ``word-end`` or ``none``, as `surfaces_of` has it.
        whole_words: gives, for each token of the model, whether it is a whole word by itself
            after a blank (or not after one).
        beginnings: the same for whether a word of several can start with it.

    Args:
        tokenizer: of the model.
        size: how many tokens the model knows.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, *, size: int) -> None:
        self._tokenizer = tokenizer
        self._size = size
        self.marks, self._surfaces = surfaces_of(tokenizer)
        model = json.loads(tokenizer.backend_tokenizer.to_str())["model"]
        prefix = model.get("continuing_subword_prefix")
        self._prefix: str = prefix if isinstance(prefix, str) and self.marks == "none" else ""
        self.whole_words = functools.cache(self._whole_words)
        self.beginnings = functools.cache(self._beginnings)

    def after_blank(self, before: str) -> bool:
        """Whether a word that comes after a text begins with the mark of a blank.

        At the beginning of a text that is as the tokenizer has it.
        """
        return before[-1].isspace() if before else self._marks_first

    @functools.cached_property
    def _marks_first(self) -> bool:
        ids = self._tokenizer("a", add_special_tokens=False)["input_ids"]
        return self.marks != "word-start" or self._surfaces.get(ids[0], " ").startswith(" ")

    def candidate(self, token: int) -> str:
        """A token as a candidate: as it is printed, without the blanks that mark words."""
        surface = self._surfaces.get(token)
        if surface is None:
            # A model may have more tokens than its tokenizer has names for.
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
        """What some tokens are as a candidate.

        Args:
            tokens: one or more.
            after_blank: whether a blank, or nothing, stands before the gap.
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
        """Whether a token is only a part of a word where the gap is."""
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
        """Whether a word of several tokens can start with a token where the gap is."""
        surface = self._surfaces.get(token, "")
        if not surface or PART_OF_CHARACTER in surface:
            return False
        if self._prefix:
            return _has_letter_or_digit(surface) and not surface.startswith(self._prefix)
        # A blank alone may stand before a word as a token of its own.
        marked = self.marks == "word-start" and surface.startswith(" ")
        open_start = self.marks != "word-start" or not after_blank
        return marked or (open_start and _has_letter_or_digit(surface))

    def begins(self, token: int) -> bool:
        """Whether a token after another one begins a word (or is a mark, or special)."""
        surface = self._surfaces.get(token, "")
        if not _has_letter_or_digit(surface):
            return True
        if self._prefix:
            return not surface.startswith(self._prefix)
        return self.marks != "word-start" or surface.startswith(" ")

    def fill(self, beam: Beam, method: str, *, after_blank: bool) -> Fill:
        """Some tokens as a candidate that was found by a method."""
        return Fill(
            candidate=self.joined(beam.ids),
            logprob_nats=beam.logprob_nats,
            n_pieces=len(beam.ids),
            kind=self.kind(beam.ids, after_blank=after_blank),
            method=method,
        )

    @functools.cached_property
    def continuing(self) -> BoolArray:
        """For each token of the model whether it goes on with the word of the token before."""
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
    """Reads distributions off one model.

    Args:
        model: in evaluation mode, on its device.
        layout: what may share a batch.
        padding: token id to pad with.
        limits: of a batch.
    """

    def __init__(
        self, model: PreTrainedModel, *, layout: Layout, padding: int, limits: BatchLimits
    ) -> None:
        self._model = model
        self._layout = layout
        self._padding = padding
        self._limits = limits
        self._head = _WholeRows(model, thin=layout.thin)

    def read(self, rows: Sequence[Row], take: Take) -> None:
        """Hand out the distribution at every row; a row may come twice and is then the same.

        Args:
            rows: distinct.
            take: called for a few rows at a time, in any order.
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
        own = [(ids, position) for ids in sequences for position in positions[ids]]
        line = {ids: number for number, ids in enumerate(sequences)}
        at = np.array([line[ids] * width + position for ids, position in own], dtype=np.int64)
        asks = Asks(rows=at, targets=np.zeros_like(at), places=np.arange(len(own)))
        inputs = padded(
            sequences, layout=self._layout, padding=self._padding, device=self._model.device
        )
        self._head.hand_out(
            inputs, asks, lambda found, places: take(found, [own[i] for i in places])
        )


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
        distributions: of the model.
        rows: may come several times, with other tokens allowed.
        k: how many at most.
        allowed: for each row which tokens count; None for all.
        also: given the same distributions.
    """
    wanted: dict[Row, dict[int, BoolArray | None]] = {}
    for row, some in zip(rows, allowed, strict=True):
        wanted.setdefault(row, {})[id(some)] = some
    found: dict[tuple[Row, int], list[tuple[int, float]]] = {}

    def take(logprobs: torch.Tensor, own: list[Row]) -> None:
        if also is not None:
            also(logprobs, own)
        jobs = [(line, row, key) for line, row in enumerate(own) for key in wanted[row]]
        best = best_tokens(
            logprobs[[line for line, _, _ in jobs]], k, [wanted[row][key] for _, row, key in jobs]
        )
        found.update(zip([(row, key) for _, row, key in jobs], best, strict=True))

    distributions.read(list(wanted), take)
    return [found[row, id(some)] for row, some in zip(rows, allowed, strict=True)]


def best_tokens(
    logprobs: torch.Tensor, k: int, allowed: Sequence[BoolArray | None]
) -> list[list[tuple[int, float]]]:
    """The k most probable tokens of each row; of equally probable ones the lower number first.

    Args:
        logprobs: shape (rows, vocabulary); written over where tokens are not allowed.
        k: how many at most.
        allowed: for each row which tokens count; None for all.
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
        beams: of each blank.
        best: for each beam of each blank, tokens that may follow and their log-probabilities.
        width: how many beams each blank keeps.
    """
    tops = iter(best)
    grown = [
        [
            Beam((*beam.ids, token), beam.logprob_nats + value)
            for beam in own
            for token, value in next(tops)
        ]
        for own in beams
    ]
    return [sorted(own, key=lambda beam: (-beam.logprob_nats, beam.ids))[:width] for own in grown]


class _WholeRows(RowHead):
    """The head of a model that hands out whole distributions."""

    def hand_out(
        self,
        inputs: Mapping[str, torch.Tensor],
        asks: Asks,
        take: Callable[[torch.Tensor, list[int]], None],
    ) -> None:
        """Run the model, on parts of the batch where memory does not hold the whole."""
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

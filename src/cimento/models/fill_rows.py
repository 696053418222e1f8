"""Whole distributions at chosen positions of chosen sequences, each sequence once."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import torch

from cimento.models.asks import Asks
from cimento.models.heads import RowHead
from cimento.models.layout import Layout, padded
from cimento.models.limits import BatchLimits
from cimento.models.memory import memory_of
from cimento.models.packing import batches

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from cimento.models.asks import IntArray
    from cimento.models.fill_tokens import BoolArray

Row: TypeAlias = tuple[tuple[int, ...], int]
"""Token ids of a sequence, and a position in it."""

Take: TypeAlias = Callable[[torch.Tensor, list[Row]], None]
"""Given log-probabilities in nats, shape (some rows, vocabulary), and which rows these are."""


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
                    half = logits.dtype in (torch.float16, torch.bfloat16)
                    logprobs = (logits.float() if half else logits).log_softmax(dim=1)
                    take(logprobs, places[done : done + len(logits)])
                    done += len(logits)

"""Causal scores the plain way, which every model allows: each text in a row of its own."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from cimento.models.base import Encoded
from cimento.models.heads import Asks, RowHead
from cimento.models.layout import Layout, padded
from cimento.models.packing import batches

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from cimento.models.base import FloatArray
    from cimento.models.columns import Read


class PlainScoring:
    """Scores encoded texts with a causal model, each in a row of its own.

    Args:
        model: in evaluation mode, on its device.
        layout: what may share a batch.
        token_budget: padded positions in one batch.
        columns: what is read besides log-probabilities.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        *,
        layout: Layout,
        token_budget: int,
        columns: Sequence[Read] = (),
    ) -> None:
        self._model = model
        self._columns = columns
        self._layout = layout
        self._token_budget = token_budget
        self._head = RowHead(model, thin=layout.thin, columns=columns)
        self.whole_above = _length_that_matters(model)

    def score(self, encoded: Sequence[Encoded]) -> list[FloatArray]:
        """Log-probabilities of the wanted tokens, in nats; one array for each text."""
        results = unscored(encoded, self._columns)
        long = [i for i, each in enumerate(encoded) if len(each.tokens) > self.whole_above]
        short = sorted(set(range(len(encoded))) - set(long))
        texts = [fed(encoded[i]) for i in short]
        lengths = [len(ids) for ids in texts]
        for batch in batches(lengths, token_budget=self._token_budget, mixed=self._layout.pad):
            members = [(short[i], encoded[short[i]]) for i in batch]
            self._run([texts[i] for i in batch], members, results)
        for number in long:
            each = encoded[number]
            self._run([each.ids[: len(each.tokens)]], [(number, each)], results)
        return results

    def _run(
        self,
        texts: Sequence[Sequence[int]],
        members: Sequence[tuple[int, Encoded]],
        results: Sequence[FloatArray],
    ) -> None:
        width = max(len(ids) for ids in texts)
        asks: Asks = {}
        for line, (number, each) in enumerate(members):
            for slot, index in enumerate(each.wanted):
                if index > 0:
                    ask = (line * width + index - 1, each.ids[index])
                    asks.setdefault(ask, []).append((number, slot))
        if asks:
            device = self._model.device
            inputs = padded(texts, layout=self._layout, padding=0, device=device)
            self._head.fill(inputs, asks, results)


def unscored(encoded: Sequence[Encoded], columns: Sequence[Read] = ()) -> list[FloatArray]:
    """Arrays to write scores into, one for each text; tables where there are columns."""
    width = (1 + len(columns),) if columns else ()
    return [np.full((len(each.wanted), *width), np.nan) for each in encoded]


def fed(each: Encoded) -> tuple[int, ...]:
    """The tokens that must be fed: those from the last wanted one on change nothing before it."""
    return each.ids[: max(each.wanted, default=0)]


def _length_that_matters(model: PreTrainedModel) -> int:
    """The length above which a text's scores depend on how much of it is fed, and with what.

    Rotary positions of the type ``longrope`` are other ones once the longest row of a batch is
    longer than the texts of the model's first training. (Those of the type ``dynamic`` change
    only beyond the model's window, where no text comes.)
    """
    config = model.config.get_text_config()
    rope = getattr(config, "rope_parameters", None) or {}
    layers = [value for value in rope.values() if isinstance(value, dict)] or [rope]
    limits = [
        each["original_max_position_embeddings"]
        for each in layers
        if each.get("rope_type") == "longrope"
    ]
    return min(limits, default=sys.maxsize)

"""Causal scores the plain way, which every model allows: each text in a row of its own."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cimento.models.asks import AskList, Sheet
from cimento.models.base import Encoded
from cimento.models.layers import row_head
from cimento.models.layout import Layout, padded
from cimento.models.limits import BatchLimits
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
        limits: of a batch.
        columns: what is read besides log-probabilities.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        *,
        layout: Layout,
        limits: BatchLimits,
        columns: Sequence[Read] = (),
    ) -> None:
        self._model = model
        self._columns = columns
        self._layout = layout
        self._limits = limits
        self._head = row_head(model, thin=layout.thin, columns=columns)
        self.whole_above = length_that_matters(model)

    def score(self, encoded: Sequence[Encoded]) -> list[FloatArray]:
        """Log-probabilities of the wanted tokens, in nats; one array for each text."""
        sheet = Sheet(encoded, columns=len(self._columns))
        long = [i for i, each in enumerate(encoded) if len(each.tokens) > self.whole_above]
        short = sorted(set(range(len(encoded))) - set(long))
        texts = [fed(encoded[i]) for i in short]
        lengths = [len(ids) for ids in texts]
        for batch in batches(lengths, limits=self._limits, mixed=self._layout.pad):
            self._run([texts[i] for i in batch], [short[i] for i in batch], encoded, sheet)
        for number in long:
            whole = encoded[number].ids[: len(encoded[number].tokens)]
            self._run([whole], [number], encoded, sheet)
        return sheet.by_text()

    def _run(
        self,
        texts: Sequence[Sequence[int]],
        numbers: Sequence[int],
        encoded: Sequence[Encoded],
        sheet: Sheet,
    ) -> None:
        """Score one batch: the texts of these numbers, as far as they are fed."""
        width = max(len(ids) for ids in texts)
        asks = AskList()
        for line, number in enumerate(numbers):
            rows = range(line * width, (line + 1) * width)
            asks.add_following(encoded[number], rows, first_slot=sheet.starts[number])
        if asks.rows:
            device = self._model.device
            inputs = padded(texts, layout=self._layout, padding=0, device=device)
            self._head.fill(inputs, asks.done(), sheet.values)


def fed(each: Encoded) -> tuple[int, ...]:
    """The tokens that must be fed: those from the last wanted one on change nothing before it."""
    return each.ids[: each.wanted[-1]] if each.wanted else ()


def length_that_matters(model: PreTrainedModel) -> int:
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

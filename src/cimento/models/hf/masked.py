"""Masked language models: the pseudo-log-likelihood of a token given the rest of the text."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from cimento.errors import ModelError
from cimento.models.base import Encoded, ModelCard
from cimento.models.hf.batches import AskList, ScoreBuffer, batches
from cimento.models.hf.layout import centred, find_layout, masked_positions, padded
from cimento.models.hf.scorer import TransformersScorer, row_head
from cimento.models.settings import BatchLimits, Policy
from cimento.models.tokens.tokenizing import TextEncoder, own_frame, vocabulary_size

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from cimento.models.base import FloatArray
    from cimento.models.hf.heads import Read

Copy: TypeAlias = tuple[int, ...]
"""A sequence with some of its tokens masked."""


class _Job(NamedTuple):
    """A token to predict in a masked copy: its position, its id, and the slot of its score."""

    position: int
    target: int
    slot: int


class MaskedScorer(TransformersScorer):
    """A scorer with a masked language model of transformers.

    Args:
        model: in evaluation mode, on its device.
        tokenizer: a fast tokenizer with a mask token.
        card: the card of the model.
        policy: the policy of scoring.
        limits: the limits of a batch.

    Raises:
        ModelError: the tokenizer has no mask token, or the model cannot be scored exactly.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        *,
        card: ModelCard,
        policy: Policy,
        limits: BatchLimits,
    ) -> None:
        if tokenizer.mask_token_id is None:
            raise ModelError(
                where=f"tokenizer of {card.name!r}",
                seen="it has no mask token",
                todo="If the model is a causal one, say --kind causal.",
            )
        texts = TextEncoder(
            tokenizer=tokenizer,
            policy=policy,
            frame=own_frame(tokenizer),
            vocabulary=vocabulary_size(model),
            window=card.window,
            by_region=policy.pll == "region",
        )
        self._limits = limits
        self._padding = int(tokenizer.pad_token_id or 0)
        self._mask = int(tokenizer.mask_token_id)
        short, long = texts.probes()
        layout = find_layout(model, short, long, padding=self._padding)
        super().__init__(model, texts, card=card, layout=layout)
        self._head_of = functools.cache(
            lambda columns: row_head(model, thin=layout.thin, columns=columns)
        )

    def _score(self, encoded: Sequence[Encoded], columns: tuple[Read, ...]) -> list[FloatArray]:
        buffer = ScoreBuffer(encoded, columns=len(columns))
        gathered = self._head_of(columns).gather(buffer.values)
        # Two conditions that differ only in a masked token give the same masked text, which is
        # scored once.
        jobs: dict[Copy, list[_Job]] = {}
        for text, first_slot in zip(encoded, buffer.starts, strict=True):
            for slot, index in enumerate(text.wanted, start=first_slot):
                copy, position = self._masked_copy(text, index)
                jobs.setdefault(copy, []).append(_Job(position, text.ids[index], slot))
        copies = list(jobs)
        lengths = [len(copy) for copy in copies]
        for batch in batches(lengths, limits=self._limits, mixed=self._layout.pad):
            some = [copies[i] for i in batch]
            width = max(len(copy) for copy in some)
            asks = AskList()
            for line, copy in enumerate(some):
                for job in jobs[copy]:
                    asks.add(line * width + job.position, job.target, job.slot)
            device = self._model.device
            inputs = padded(some, layout=self._layout, padding=self._padding, device=device)
            gathered.add(inputs, asks.done())
        gathered.finish()
        return buffer.by_text()

    def _masked_copy(self, text: Encoded, index: int) -> tuple[Copy, int]:
        """A copy of the text with masks, and the place of the token at `index` in it."""
        ids = list(text.ids)
        for position in masked_positions(text.words, index, rule=self._texts.policy.pll):
            ids[position] = self._mask
        window, frame = self.card.window, self._texts.frame
        if window is None or len(ids) <= window:
            return tuple(ids), index
        start, end = centred(ids, index, window=window, frame=frame)
        copy = (*frame.before, *ids[start:end], *frame.after)
        return copy, len(frame.before) + index - start

"""Masked language models: pseudo-log-likelihood of a token given the rest of the text."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from cimento.errors import ModelError
from cimento.models.base import BatchLimits, Encoded, EncodedTexts, ModelCard, Policy
from cimento.models.hf.batches import AskList, ScoreBuffer, batches, memory_of
from cimento.models.hf.heads import Gathering
from cimento.models.hf.inspection import Inside, way_of
from cimento.models.hf.layers import Layers, row_head
from cimento.models.hf.layout import centred, find_layout, long_texts, masked_positions, padded
from cimento.models.tokens.tokenizing import TextEncoder, own_frame, vocabulary_size

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from cimento.io.tables import Column
    from cimento.models.base import FloatArray, Score

Copy: TypeAlias = tuple[int, ...]
"""A sequence with some of its tokens masked."""


class _Job(NamedTuple):
    """A token that is predicted in a masked copy: where it is, what it is, where its score goes."""

    position: int
    target: int
    place: int


class MaskedScorer:
    """Scores texts with a masked language model of transformers.

    Args:
        model: in evaluation mode, on its device.
        tokenizer: a fast tokenizer with a mask token.
        card: what is known about the model.
        policy: how texts are scored.
        limits: of a batch.

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
        self._model = model
        self._texts = TextEncoder(
            tokenizer=tokenizer,
            policy=policy,
            frame=own_frame(tokenizer),
            vocabulary=vocabulary_size(model),
            window=card.window,
            by_region=policy.pll == "region",
        )
        self._limits = limits
        self._card = card
        self._padding = int(tokenizer.pad_token_id or 0)
        self._mask = int(tokenizer.mask_token_id)
        short, long = self._texts.probes()
        self._layout = find_layout(model, short, long, padding=self._padding)
        thin = self._layout.thin
        self._head_of = functools.cache(lambda columns: row_head(model, thin=thin, columns=columns))

    @property
    def card(self) -> ModelCard:
        """What is known about the model."""
        return self._card

    def encode(self, requests: Sequence[Score]) -> EncodedTexts:
        """Tokenize the requests, in order; see the Protocol."""
        return self._texts.encode(requests)

    def score(self, encoded: Sequence[Encoded]) -> list[FloatArray]:
        """Log-probabilities of the wanted tokens, each in the text with it masked; see `Scorer`."""
        return self.score_columns(encoded, ())

    def score_columns(
        self, encoded: Sequence[Encoded], columns: tuple[Column, ...]
    ) -> list[FloatArray]:
        """The same with other columns beside; see `ColumnScorer`."""
        sheet = ScoreBuffer(encoded, columns=len(columns))
        gathered = self._head_of(columns).gather(sheet.values)
        # Two conditions that differ in one masked token are the same masked text: asked once.
        jobs: dict[Copy, list[_Job]] = {}
        for each, first_slot in zip(encoded, sheet.starts, strict=True):
            for place, index in enumerate(each.wanted, start=first_slot):
                copy, position = self._masked_copy(each, index)
                jobs.setdefault(copy, []).append(_Job(position, each.ids[index], place))
        copies = list(jobs)
        lengths = [len(copy) for copy in copies]
        for batch in batches(lengths, limits=self._limits, mixed=self._layout.pad):
            self._add_batch([copies[i] for i in batch], jobs, gathered)
        gathered.finish()
        return sheet.by_text()

    def count_layers(self) -> int:
        """How many layers the model has; see `LayerScorer`."""
        return Layers(self._model).count

    def inside(self) -> Inside:
        """What it is made of, and how texts go through it; see `inspection`."""
        way = way_of(self._layout)
        return Inside(model=self._model, tokenizer=self._texts.tokenizer, way=way)

    def remarks(self, requests: Sequence[Score]) -> tuple[str, ...]:
        """Whether memory ran out, and how many texts are long; see `Remarking`."""
        encoded = [] if self._texts.policy.window == "refuse" else self.encode(requests)
        return (*memory_of(self._model).remarks, *long_texts(encoded, self._card.window))

    def _masked_copy(self, each: Encoded, index: int) -> tuple[Copy, int]:
        """The text with what must not be seen masked, and where the token at `index` is in it."""
        ids = list(each.ids)
        for position in masked_positions(each.words, index, rule=self._texts.policy.pll):
            ids[position] = self._mask
        window, frame = self._card.window, self._texts.frame
        if window is None or len(ids) <= window:
            return tuple(ids), index
        start, end = centred(ids, index, window=window, frame=frame)
        copy = (*frame.before, *ids[start:end], *frame.after)
        return copy, len(frame.before) + index - start

    def _add_batch(
        self, copies: Sequence[Copy], jobs: Mapping[Copy, Sequence[_Job]], gathered: Gathering
    ) -> None:
        """Have one batch of masked copies go through the model."""
        width = max(len(copy) for copy in copies)
        asks = AskList()
        for line, copy in enumerate(copies):
            for job in jobs[copy]:
                asks.add(line * width + job.position, job.target, job.place)
        inputs = padded(
            copies, layout=self._layout, padding=self._padding, device=self._model.device
        )
        gathered.add(inputs, asks.done())

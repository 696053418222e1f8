"""Encoder-decoders: log P of a token given a source and the tokens before it.

The encoder reads what stands before a text (the request's context), the decoder the text itself,
after the token that the model's decoder starts with. The end of the text is not scored, as it is
not with causal models.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import torch
from transformers.modeling_outputs import MoEModelOutput

from cimento.errors import ModelError, TextTooLongError, UsageError
from cimento.io.tables import BOUNDARY
from cimento.models.base import BatchLimits, Encoded, ModelCard, Policy
from cimento.models.hf.batches import AskList, ScoreBuffer, batches, memory_of
from cimento.models.hf.causal import fed
from cimento.models.hf.inspection import Inside, way_of
from cimento.models.hf.layers import Layers, row_head
from cimento.models.hf.layout import find_layout, padded, refuse_foresight
from cimento.models.tokens.boundaries import (
    NOTHING_MARKED,
    described,
    find_boundaries,
    with_boundaries,
)
from cimento.models.tokens.tokenizing import (
    Frame,
    TextEncoder,
    own_frame,
    shortened,
    vocabulary_size,
)

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from cimento.io.tables import Column
    from cimento.models.base import FloatArray, Score
    from cimento.models.hf.heads import Read

SourceIds: TypeAlias = tuple[int, ...]
"""Token ids that the encoder reads, with what the tokenizer puts around them."""


class Seq2SeqScorer:
    """Scores texts with an encoder-decoder of transformers.

    Args:
        model: in evaluation mode, on its device.
        tokenizer: a fast tokenizer.
        card: what is known about the model; what its decoder starts with is added to it here.
        policy: how texts are scored.
        limits: of a batch; source and text count.

    Raises:
        ModelError: the model does not say what its decoder starts with, or cannot be scored
            exactly.
        UsageError: a window is to slide over long texts.
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
        _refuse_sliding(policy)
        own = own_frame(tokenizer)
        self._model = model
        self._limits = limits
        self._around = own
        self._texts = texts = TextEncoder(
            tokenizer=tokenizer,
            policy=policy,
            frame=Frame(before=(decoder_start(model, card.name), *own.before), after=()),
            vocabulary=vocabulary_size(model),
            window=card.window,
        )
        decoder = Decoder(model, source=(*own.before, *own.after))
        self._read = decoder.read
        # It has all that is asked of a model here.
        self._decoder = cast("PreTrainedModel", decoder)
        short, long = texts.probes()
        # The decoder is a causal model of its own, whatever the source is.
        refuse_foresight(self._decoder, long, name=card.name)
        self._layout = layout = find_layout(self._decoder, short, long, padding=0)
        self._head_of = functools.cache(
            lambda columns: row_head(self._decoder, thin=layout.thin, columns=columns)
        )
        self._boundaries = find_boundaries(
            tokenizer, policy, vocabulary=texts.vocabulary, device=model.device
        )
        self._card = described(card, bos=texts.names(texts.frame.before), found=self._boundaries)

    @property
    def card(self) -> ModelCard:
        """What is known about the model."""
        return self._card

    def encode(self, requests: Sequence[Score]) -> list[Encoded]:
        """Tokenize the requests, in order, each with its source before it; see the Protocol."""
        texts = self._texts.encode([request._replace(context="") for request in requests])
        return [
            self._after_source(each, self._source(request))
            for each, request in zip(texts, requests, strict=True)
        ]

    def score(self, encoded: Sequence[Encoded]) -> list[FloatArray]:
        """Log-probabilities of the wanted tokens given source and tokens before; see `Scorer`."""
        return self.score_columns(encoded, ())

    def score_columns(
        self, encoded: Sequence[Encoded], columns: tuple[Column, ...]
    ) -> list[FloatArray]:
        """The same with other columns beside; see `ColumnScorer`."""
        if self._boundaries is None or BOUNDARY not in columns:
            return self._score(encoded, columns)
        # After the source the decoder begins a text of its own.
        starts = [each.first for each in encoded]
        return with_boundaries(
            encoded,
            columns,
            boundaries=self._boundaries,
            text_starts=starts,
            score=self._score,
        )

    def _score(self, encoded: Sequence[Encoded], columns: tuple[Read, ...]) -> list[FloatArray]:
        sheet = ScoreBuffer(encoded, columns=len(columns))
        parted = [self._parted(each) for each in encoded]
        # Sources of different length are never padded to one another: what the decoder attends
        # to is then exactly the source.
        lengths = sorted({len(source) for source, _ in parted})
        for length in lengths:
            numbers = [i for i, (source, _) in enumerate(parted) if len(source) == length]
            fitting = batches(
                [length + len(fed(parted[i][1])) for i in numbers],
                limits=self._limits,
                mixed=self._layout.pad,
            )
            for batch in fitting:
                chosen = [numbers[i] for i in batch]
                self._score_batch(chosen, [parted[i] for i in chosen], sheet, columns)
        return sheet.by_text()

    def count_layers(self) -> int:
        """How many layers the model has; see `LayerScorer`."""
        return Layers(self._decoder).count

    def inside(self) -> Inside:
        """What it is made of, and how texts go through it; see `inspection`."""
        way = way_of(self._layout)
        return Inside(model=self._model, tokenizer=self._texts.tokenizer, way=way)

    def remarks(self, requests: Sequence[Score]) -> tuple[str, ...]:  # noqa: ARG002  # as the Protocol has it
        """Whether memory ran out, and what is not corrected; see `Remarking`."""
        unmarked = self._texts.policy.boundary == "auto" and self._boundaries is None
        return (*memory_of(self._decoder).remarks, *((NOTHING_MARKED,) if unmarked else ()))

    def _source(self, request: Score) -> SourceIds:
        """What the encoder reads."""
        ids = self._texts.tokenizer(request.context, add_special_tokens=False)["input_ids"]
        source = (*self._around.before, *ids, *self._around.after)
        window = self._card.window
        if window is not None and len(source) > window:
            raise TextTooLongError(
                where=f"context {shortened(request.context)!r}",
                seen=f"it makes {len(source)} tokens, and the model's window holds {window}",
                todo="Shorten it, or use a model with a longer window.",
            )
        return source

    def _after_source(self, each: Encoded, source: SourceIds) -> Encoded:
        size = len(source)
        return dataclasses.replace(
            each,
            ids=(*source, *each.ids),
            tokens=(*self._texts.tokenizer.convert_ids_to_tokens(list(source)), *each.tokens),
            spans=((-1, -1),) * size + each.spans,
            words=(-1,) * size + each.words,
            first=size + each.first,
            wanted=tuple(size + index for index in each.wanted),
        )

    def _parted(self, each: Encoded) -> tuple[SourceIds, Encoded]:
        """The source, and what the decoder reads as a sequence of its own."""
        size = each.first - len(self._texts.frame.before)
        wanted = tuple(index - size for index in each.wanted)
        return each.ids[:size], dataclasses.replace(each, ids=each.ids[size:], wanted=wanted)

    def _score_batch(
        self,
        numbers: Sequence[int],
        members: Sequence[tuple[SourceIds, Encoded]],
        sheet: ScoreBuffer,
        columns: tuple[Read, ...],
    ) -> None:
        """Write down the scores of some texts whose sources are of one length."""
        texts = [fed(each) for _, each in members]
        width = max(len(ids) for ids in texts)
        asks = AskList()
        for line, (number, (_, each)) in enumerate(zip(numbers, members, strict=True)):
            rows = range(line * width, (line + 1) * width)
            asks.add_following(each, rows, first_slot=sheet.starts[number])
        if not asks.rows:
            return
        inputs = padded(texts, layout=self._layout, padding=0, device=self._model.device)
        sources = list(dict.fromkeys(source for source, _ in members))
        lines = torch.tensor([sources.index(source) for source, _ in members])
        states = self._read(sources)
        inputs["source_states"] = states[lines.to(states.device)]
        self._head_of(columns).fill(inputs, asks.done(), sheet.values)


class Decoder(torch.nn.Module):
    """The decoder of a model as a causal model, over the encoder's reading of a source.

    Args:
        model: the encoder-decoder.
        source: what the encoder reads where nothing else is said.
    """

    model: PreTrainedModel
    states: torch.Tensor

    def __init__(self, model: PreTrainedModel, *, source: SourceIds) -> None:
        super().__init__()
        self.model = model
        self.config = model.config
        self.base_model: torch.nn.Module = model.get_decoder()  # type: ignore[no-untyped-call]
        self.register_buffer("states", self.read([source]), persistent=False)

    @property
    def device(self) -> torch.device:
        """Where the model is."""
        device: torch.device = self.model.device
        return device

    @property
    def dtype(self) -> torch.dtype:
        """Of the weights."""
        dtype: torch.dtype = self.model.dtype
        return dtype

    def read(self, sources: Sequence[SourceIds]) -> torch.Tensor:
        """What the encoder makes of sources of one length; shape (sources, length, hidden)."""
        with torch.inference_mode():
            ids = torch.tensor(sources, device=self.device)
            encoder: Any = self.model.get_encoder()
            made = encoder(input_ids=ids, attention_mask=torch.ones_like(ids))
        states: torch.Tensor = made[0]
        return states

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor | None = None,
        source_states: torch.Tensor | None = None,
    ) -> object:
        """The model's own forward pass, from the decoder on."""
        if source_states is None:
            source_states = self.states.expand(len(input_ids), -1, -1)
        return self.model(
            # The kind that mixtures of experts look for more in; others take what comes first.
            encoder_outputs=MoEModelOutput(last_hidden_state=source_states),
            decoder_input_ids=input_ids,
            decoder_attention_mask=attention_mask,
        )


def decoder_start(model: PreTrainedModel, name: str) -> int:
    """The token that a model's decoder starts with.

    Raises:
        ModelError: neither config says it.
    """
    configs = (model.config, model.generation_config)
    found = [getattr(config, "decoder_start_token_id", None) for config in configs]
    known = next((number for number in found if isinstance(number, int)), None)
    if known is None:
        raise ModelError(
            where=f"model {name!r}",
            seen="it does not say which token its decoder starts with",
            todo="Add decoder_start_token_id to its config.json; for T5 it is pad_token_id.",
        )
    return known


def _refuse_sliding(policy: Policy) -> None:
    if policy.window == "sliding":
        raise UsageError(
            where="--window sliding",
            seen="an encoder-decoder reads source and text whole",
            todo="Leave the option out.",
        )

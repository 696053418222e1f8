"""Encoder-decoders: log P of a token given a source and the tokens before it.

The encoder reads the request's context, and the decoder reads the text itself, after its start
token. As with causal models, the end of the text is not scored.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import torch
from transformers.modeling_outputs import MoEModelOutput

from cimento.errors import ModelError, TextTooLongError
from cimento.models.base import Encoding
from cimento.models.hf.batches import AskList, ScoreBuffer, Trial, batches
from cimento.models.hf.causal import fed, following_trial
from cimento.models.hf.inside import Inside
from cimento.models.hf.layout import padded, refuse_windows
from cimento.models.hf.scorer import TransformersScorer
from cimento.models.settings import Policy
from cimento.models.tokenizing import Frame, own_frame, shortened

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from cimento.models.base import FloatArray, Score
    from cimento.models.hf.heads import Read

SourceIds: TypeAlias = tuple[int, ...]
"""The token ids that the encoder reads, including those that the tokenizer puts around a text."""


class Seq2SeqScorer(TransformersScorer):
    """A scorer with an encoder-decoder of transformers; see `TransformersScorer`.

    Source and text count in the limits of a batch.
    """

    def _prepared(
        self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, policy: Policy
    ) -> tuple[PreTrainedModel, Frame]:
        refuse_windows(policy, seen="an encoder-decoder reads source and text whole")
        self._whole = model
        self._around = frame = own_frame(tokenizer)
        start = decoder_start(model, self.card.name)
        decoder = Decoder(model, source=(*frame.before, *frame.after))
        self._read = decoder.read
        # For any source, the decoder has the interface of a causal model that is used here.
        return cast("PreTrainedModel", decoder), Frame(before=(start, *frame.before), after=())

    def encode(self, requests: Sequence[Score]) -> list[Encoding]:
        """Tokenize the requests, in order, each with its source before it; see `Scorer`."""
        texts = self._texts.encode([request._replace(context="") for request in requests])
        return [
            self._after_source(text, self._source(request))
            for text, request in zip(texts, requests, strict=True)
        ]

    def inside(self) -> Inside:
        """What it is made of, and how texts go through it."""
        return dataclasses.replace(super().inside(), model=self._whole)

    def trials(
        self, base: Encoding, source: Encoding, moved: Sequence[tuple[int, int]]
    ) -> list[Trial]:
        """A single pass of the decoder, after what the encoder reads before the scored text."""
        (around, of_base), (_, other) = self._parted(base), self._parted(source)
        first, second = (len(text.ids) - len(part.ids) for text, part in
                         ((base, of_base), (source, other)))  # fmt: skip
        pairs = [(index - first, from_index - second) for index, from_index in moved]
        return [following_trial(of_base, other, pairs, around=around)]

    def batch(
        self, texts: Sequence[Sequence[int]], around: tuple[int, ...]
    ) -> dict[str, torch.Tensor]:
        """The inputs of the decoder, with the encoder's states of what it reads."""
        inputs = super().batch(texts, around)
        if around:
            inputs["source_states"] = self._read([around]).expand(len(texts), -1, -1)
        return inputs

    def _text_start(self, text: Encoding) -> int:
        """The first token after the source, where the decoder's text begins."""
        return text.first

    def _score(self, encoded: Sequence[Encoding], columns: tuple[Read, ...]) -> list[FloatArray]:
        buffer = ScoreBuffer(encoded, columns=len(columns))
        parted = [self._parted(text) for text in encoded]
        # Sources of different lengths never share a batch, so that the decoder attends to exactly
        # the source, without padding.
        for length in sorted({len(source) for source, _ in parted}):
            numbers = [i for i, (source, _) in enumerate(parted) if len(source) == length]
            lengths = [length + len(fed(parted[i][1])) for i in numbers]
            for batch in batches(lengths, limits=self._limits, mixed=self._layout.pad):
                chosen = [numbers[i] for i in batch]
                self._score_batch(chosen, [parted[i] for i in chosen], buffer, columns)
        return buffer.by_text()

    def _source(self, request: Score) -> SourceIds:
        """The token ids that the encoder reads for a request."""
        ids = self._texts.tokenizer(request.context, add_special_tokens=False)["input_ids"]
        source = (*self._around.before, *ids, *self._around.after)
        window = self.card.window
        if window is not None and len(source) > window:
            raise TextTooLongError(
                where=f"context {shortened(request.context)!r}",
                seen=f"it makes {len(source)} tokens, and the model's window holds {window}",
                todo="Shorten it, or use a model with a longer window.",
            )
        return source

    def _after_source(self, text: Encoding, source: SourceIds) -> Encoding:
        size = len(source)
        return dataclasses.replace(
            text,
            ids=(*source, *text.ids),
            tokens=(*self._texts.tokenizer.convert_ids_to_tokens(list(source)), *text.tokens),
            spans=((-1, -1),) * size + text.spans,
            words=(-1,) * size + text.words,
            first=size + text.first,
            wanted=tuple(size + index for index in text.wanted),
        )

    def _parted(self, text: Encoding) -> tuple[SourceIds, Encoding]:
        """The source, and the decoder's part as a separate sequence."""
        size = text.first - len(self._texts.frame.before)
        wanted = tuple(index - size for index in text.wanted)
        return text.ids[:size], dataclasses.replace(text, ids=text.ids[size:], wanted=wanted)

    def _score_batch(
        self,
        numbers: Sequence[int],
        members: Sequence[tuple[SourceIds, Encoding]],
        buffer: ScoreBuffer,
        columns: tuple[Read, ...],
    ) -> None:
        """Write the scores of some texts whose sources have the same length."""
        targets = [fed(text) for _, text in members]
        width = max(len(ids) for ids in targets)
        asks = AskList()
        for line, (number, (_, text)) in enumerate(zip(numbers, members, strict=True)):
            rows = range(line * width, (line + 1) * width)
            asks.add_following(text, rows, first_slot=buffer.starts[number])
        if not asks.rows:
            return
        inputs = padded(targets, layout=self._layout, padding=0, device=self._model.device)
        sources = list(dict.fromkeys(source for source, _ in members))
        lines = torch.tensor([sources.index(source) for source, _ in members])
        states = self._read(sources)
        inputs["source_states"] = states[lines.to(states.device)]
        self._reader_of(columns).fill(inputs, asks.done(), buffer.values)


class Decoder(torch.nn.Module):
    """The decoder of a model as a causal model, given the encoder's states of a source.

    Args:
        model: the encoder-decoder.
        source: the default source for the encoder.
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
        """The device of the model."""
        device: torch.device = self.model.device
        return device

    @property
    def dtype(self) -> torch.dtype:
        """The number format of the weights."""
        dtype: torch.dtype = self.model.dtype
        return dtype

    def read(self, sources: Sequence[SourceIds]) -> torch.Tensor:
        """The encoder's states of sources of the same length; shape (sources, length, hidden)."""
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
            # Mixture-of-experts models require this class, because they look for more fields in it.
            encoder_outputs=MoEModelOutput(last_hidden_state=source_states),
            decoder_input_ids=input_ids,
            decoder_attention_mask=attention_mask,
        )


def decoder_start(model: PreTrainedModel, name: str) -> int:
    """The token that a model's decoder starts with.

    Raises:
        ModelError: neither config names it.
    """
    configs = (model.config, model.generation_config)
    token_ids = [getattr(config, "decoder_start_token_id", None) for config in configs]
    known = next((number for number in token_ids if isinstance(number, int)), None)
    if known is None:
        raise ModelError(
            where=f"model {name!r}",
            seen="it does not say which token its decoder starts with",
            todo="Add decoder_start_token_id to its config.json; for T5 it is pad_token_id.",
        )
    return known

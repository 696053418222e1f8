"""Scorers of transformers: the common base of all kinds, their parts, and scores from inner layers.

For inner layers, the model's head is applied to the hidden state after each layer. Nothing is
rebuilt: the remaining layers pass a hidden state on unchanged, and the model's own forward pass
does the rest, including its last normalization if it has one (nostalgebraist 2020, "interpreting
GPT: the logit lens"; Belrose et al. 2023, section 2, doi:10.48550/arXiv.2303.08112).
"""

from __future__ import annotations

import functools
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import torch

from cimento.io.tables import BOUNDARY, UNIGRAM
from cimento.models.base import TWO_SIDED, Encoding, ModelCard
from cimento.models.failing import forward_errors
from cimento.models.hf.batches import memory_of
from cimento.models.hf.boundaries import (
    NOTHING_MARKED,
    card_with_boundaries,
    find_boundaries,
    with_boundaries,
)
from cimento.models.hf.heads import (
    Gathering,
    RowHead,
    Thinning,
    column_layer,
    read_scores,
    widened,
)
from cimento.models.hf.inside import Inside
from cimento.models.hf.layout import (
    ModelLayout,
    Proof,
    find_layout,
    long_texts,
    padded,
    plain_logprobs,
    refuse_foresight,
    unpadded,
)
from cimento.models.hf.shapes import Passes
from cimento.models.hf.sharing import lock_of, shell_of
from cimento.models.hf.sites import Layers
from cimento.models.hf.widening import device_name, in_float32
from cimento.models.tokenizing import TextEncoder, vocabulary_size

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from cimento.io.tables import Column
    from cimento.models.base import FloatArray, Score
    from cimento.models.hf.batches import Asks, IntArray, Trial
    from cimento.models.hf.heads import Read
    from cimento.models.settings import BatchLimits, Policy
    from cimento.models.tokenizing import Frame


_THINNED: Mapping[Thinning, str] = {
    "last attention": "only where needed after the last attention",
    "head": "head where needed",
    "nowhere": "head everywhere",
}


class TransformersScorer(ABC):
    """A scorer around a model of transformers.

    Args:
        model: in evaluation mode, on its device.
        tokenizer: a fast tokenizer.
        card: the card of the model, to which what comes before its texts is added here.
        policy: the policy of scoring.
        limits: the limits of a batch.

    Attributes:
        card: what is known about the model.
        opened: what was opened inside it, such as its gradients, by class.
        notes: what the user should know of how it was loaded, as sentences.

    Raises:
        ModelError: the model cannot be scored exactly.
        UsageError: the policy requires what the model or its tokenizer does not have.
    """

    _padding = 0

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        *,
        card: ModelCard,
        policy: Policy,
        limits: BatchLimits,
    ) -> None:
        self.card = card
        self._given = model, tokenizer, card, policy, limits
        self.opened: dict[object, Any] = {}
        self.notes: tuple[str, ...] = ()
        self._lock = lock_of(model)
        with self._lock, forward_errors(card.name, tokenizer):
            self._open(shell_of(model), tokenizer, policy, limits)

    def _open(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        policy: Policy,
        limits: BatchLimits,
    ) -> None:
        """Find out in which way texts may go through the model."""
        card = self.card
        self._limits = limits
        # For an encoder-decoder, what scores is its decoder.
        scoring, frame = self._prepared(model, tokenizer, policy)
        is_two_sided = card.kind in TWO_SIDED
        self._model = scoring
        self._texts = TextEncoder(
            name=card.name,
            tokenizer=tokenizer,
            policy=policy,
            frame=frame,
            vocabulary=vocabulary_size(model),
            window=card.window,
            by_region=is_two_sided and policy.pll == "region",
        )
        short, long = self._texts.probes()
        if not is_two_sided:
            refuse_foresight(scoring, plain_logprobs(scoring, long), long, name=card.name)
        self._layout = layout = find_layout(scoring, short, long, padding=self._padding)
        passes = Passes(
            model=scoring, layout=layout, limits=limits, window=card.window, padding=self._padding
        )
        self._passes = passes
        self._readers: dict[tuple[Read, ...], Any] = {}
        self._boundaries = None
        if not is_two_sided:
            self._boundaries = find_boundaries(
                tokenizer, policy, vocabulary=self._texts.vocabulary, device=scoring.device
            )
            bos = self._texts.names(frame.before)
            self.card = card_with_boundaries(self.card, bos=bos, boundaries=self._boundaries)

    @abstractmethod
    def _prepared(
        self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, policy: Policy
    ) -> tuple[PreTrainedModel, Frame]:
        """The model that scores texts, and the special tokens around them."""

    @staticmethod
    def _reader(passes: Passes, columns: tuple[Read, ...]) -> Any:  # noqa: ANN401  # one of each kind of scorer, which alone uses it
        """The reader of some columns of the model: its head, unless a kind needs more."""
        return row_head(passes.model, thin=passes.layout.thin, columns=columns)

    def _reader_of(self, columns: tuple[Read, ...]) -> Any:  # noqa: ANN401
        if columns not in self._readers:
            self._readers[columns] = self._reader(self._passes, columns)
        return self._readers[columns]

    def encode(self, requests: Sequence[Score]) -> Sequence[Encoding]:
        """Tokenize the requests, in order; see `Scorer`."""
        return self._texts.encode(requests)

    def score(self, encoded: Sequence[Encoding]) -> list[FloatArray]:
        """The log-probabilities of the wanted tokens; see `Scorer`."""
        return self.score_columns(encoded, ())

    def score_columns(
        self, encoded: Sequence[Encoding], columns: tuple[Column, ...]
    ) -> list[FloatArray]:
        """The log-probabilities and further columns; see `ColumnScorer`."""
        with self._lock:
            return self._score_columns(encoded, columns)

    def _score_columns(
        self, encoded: Sequence[Encoding], columns: tuple[Column, ...]
    ) -> list[FloatArray]:
        others = tuple(column for column in columns if column != UNIGRAM)
        if self._boundaries is None or BOUNDARY not in others:
            tables = self._score(encoded, others)
        else:
            tables = with_boundaries(
                encoded,
                others,
                boundaries=self._boundaries,
                text_starts=[self._text_start(text) for text in encoded],
                score=self._score,
            )
        return tables if others == columns else self._with_unigrams(encoded, tables, columns)

    def _with_unigrams(
        self, encoded: Sequence[Encoding], tables: Sequence[FloatArray], columns: tuple[Column, ...]
    ) -> list[FloatArray]:
        """The tables with the log-probability of each token without context as a column."""
        place = 1 + columns.index(UNIGRAM)
        results: list[FloatArray] = []
        for text, table in zip(encoded, tables, strict=True):
            alone = self._unigrams[[text.ids[index] for index in text.wanted]]
            results.append(np.insert(table.reshape(len(alone), -1), place, alone, axis=1))
        return results

    @functools.cached_property
    def _unigrams(self) -> FloatArray:
        """The log-probability of each token of the vocabulary without context, in nats.

        It is NaN throughout where nothing comes before a text.
        """
        ids, place = self._without_text()
        if place < 0:
            return np.full(self._texts.vocabulary, np.nan)
        with torch.inference_mode():
            inputs = torch.tensor([ids], device=self._model.device)
            logits = widened(self._model(**unpadded(self._model, inputs)).logits[0, place])
            alone: FloatArray = logits.log_softmax(dim=0).double().cpu().numpy()
        return alone

    def _without_text(self) -> tuple[tuple[int, ...], int]:
        """A sequence without text, and the position that predicts a token there; -1 for none."""
        before = self._texts.frame.before
        return before, len(before) - 1

    @property
    def turn(self) -> threading.RLock:
        """The lock of the model, which all that reads its weights holds meanwhile."""
        return self._lock

    @property
    def policy(self) -> Policy:
        """The policy of scoring with which the scorer was made."""
        return self._texts.policy

    @property
    def proof(self) -> Proof | None:
        """The result of verifying prefix trees; None for models that cannot use them."""
        return None

    @abstractmethod
    def trials(
        self, base: Encoding, source: Encoding, moved: Sequence[tuple[int, int]]
    ) -> list[Trial]:
        """The passes in which the wanted tokens of a text are predicted, for interchanges.

        Args:
            base: the text that is scored.
            source: the text that states come from.
            moved: pairs of tokens, by their indices in `base` and in `source`.
        """

    def batch(
        self, texts: Sequence[Sequence[int]], around: tuple[int, ...]
    ) -> dict[str, torch.Tensor]:
        """The inputs of a pass over the sequences of some trials; see `Trial`.

        Args:
            texts: the sequences; of one length unless texts may be padded.
            around: what an encoder reads before all of them; empty for what it reads by default.
        """
        del around
        padding = int(self._texts.tokenizer.pad_token_id or 0)
        return padded(texts, layout=self._layout, padding=padding, device=self._model.device)

    def bench(self) -> tuple[PreTrainedModel, ModelLayout]:
        """The model through which trials go, and the layout that it allows."""
        return self._model, self._layout

    def probes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """A short and a long sequence, to try something on before its first use."""
        return self._texts.probes()

    @abstractmethod
    def _score(self, encoded: Sequence[Encoding], columns: tuple[Read, ...]) -> list[FloatArray]:
        """The scores of texts, with columns other than that of word boundaries."""

    def _text_start(self, text: Encoding) -> int:  # noqa: ARG002  # elsewhere it is the text's
        """The index of the first token that the model reads as text, including a context."""
        return len(self._texts.frame.before)

    @property
    def device_name(self) -> str:
        """The name of the kind of device; see `Widening`."""
        return device_name(self._model.device)

    def in_float32(self) -> Self | None:
        """The same model in float32; see `Widening`."""
        model, tokenizer, card, policy, limits = self._given
        with self._lock:
            wide = in_float32(model)
        if wide is None:
            return None
        card, policy = replace(card, dtype="float32"), replace(policy, dtype="float32")
        return type(self)(wide, tokenizer, card=card, policy=policy, limits=limits)

    def count_layers(self) -> int:
        """The number of layers of the model; see `LayerScorer`."""
        return Layers(self._model).count

    def inside(self) -> Inside:
        """The parts of the scorer, and the way in which texts go through it."""
        way = way_of(self._layout, self.proof)
        return Inside(model=self._model, tokenizer=self._texts.tokenizer, way=way)

    def remarks(self, requests: Sequence[Score]) -> tuple[str, ...]:
        """Remarks on lack of memory, on long texts, and on missing corrections."""
        policy, window = self._texts.policy, self.card.window
        encoded = [] if policy.window == "refuse" or window is None else self.encode(requests)
        unmarked = (
            policy.boundary == "auto"
            and self._boundaries is None
            and self.card.kind not in TWO_SIDED
        )
        return (
            *memory_of(self._model).remarks,
            *long_texts(encoded, window),
            *((NOTHING_MARKED,) if unmarked else ()),
        )


def way_of(layout: ModelLayout, proof: Proof | None = None) -> str:
    """A description of the way in which texts go through a model.

    Args:
        layout: the layout that the model allows.
        proof: for a causal model, the result of verifying prefix trees.
    """
    said = []
    if proof is not None and proof.holds and proof.nodes:
        said.append("shared beginnings once (prefix trees)")
    elif proof is not None:
        said.append(f"no prefix trees: {proof.reason or 'no texts share a beginning'}")
    said.append("lengths mixed in a batch" if layout.pad else "one length in a batch")
    said.append(_THINNED[layout.thin])
    return "; ".join(said)


def row_head(
    model: PreTrainedModel, *, thin: Thinning = "head", columns: Sequence[Read] = ()
) -> RowHead:
    """The head of a model for some columns, which may include those of layers."""
    if any(column_layer(column) is not None for column in columns):
        return LayerHead(model, thin=thin, columns=columns)
    return RowHead(model, thin=thin, columns=columns)


class LayerHead(RowHead):
    """The head of a model, applied to chosen rows of several of its hidden states.

    Args:
        model: in evaluation mode, on its device.
        thin: the point after which only those rows are computed; not before the head, so that every
            layer has all rows.
        columns: values read besides log-probabilities, including columns of layers.

    Raises:
        ModelError: the model's layers cannot be found, or its head cannot read them.
    """

    def __init__(
        self, model: PreTrainedModel, *, thin: Thinning = "head", columns: Sequence[Read] = ()
    ) -> None:
        plain_columns = [column for column in columns if column_layer(column) is None]
        super().__init__(
            model, thin="nowhere" if thin == "nowhere" else "head", columns=plain_columns
        )
        self._layers = Layers(model)
        numbers = enumerate(map(column_layer, columns), start=1)
        self._wanted = {place: number for place, number in numbers if number is not None}
        self._states: Mapping[int, torch.Tensor] = {}

    def gather(self, values: FloatArray) -> Gathering:
        """The requests of several batches; each is answered at once, while it has its states."""
        return _AtOnce(self, values)

    @contextmanager
    def recording(self, asks: Asks) -> Iterator[None]:
        """A context in which a pass of the model stores the states of the wanted layers here."""
        rows = torch.tensor(asks.by_line()[0], device=self.model.device)
        with self._layers.recording(rows, set(self._wanted.values())) as states:
            self._states = states
            yield
        self._states = {}

    def _read(
        self, logits: torch.Tensor, start: int, lines: IntArray, targets: IntArray
    ) -> torch.Tensor:
        plain = super()._read(logits, start, lines, targets)
        columns = list(plain.reshape(len(plain), -1).unbind(dim=1))
        for place, layer in sorted(self._wanted.items()):
            state = self._states[layer][start : start + len(logits)]
            columns.insert(place, read_scores(self._layers.logits(state), lines, targets, ()))
        return torch.stack(columns, dim=1)


class _AtOnce(Gathering):
    """A `Gathering` whose rows do not wait for those of other batches."""

    _head: LayerHead

    def _take(self, inputs: Mapping[str, torch.Tensor], asks: Asks) -> None:
        with self._head.recording(asks):
            super()._take(inputs, asks)
            self.finish()

"""Scorers of transformers: the common base of all kinds, and access to their parts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from cimento.io.tables import BOUNDARY
from cimento.models.base import Encoded, ModelCard, Scorer
from cimento.models.hf.batches import memory_of
from cimento.models.hf.heads import RowHead, Thinning, column_layer
from cimento.models.hf.layers import LayerHead, Layers
from cimento.models.hf.layout import Layout, Proof, long_texts
from cimento.models.tokens.boundaries import NOTHING_MARKED, find_boundaries, with_boundaries

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from cimento.io.tables import Column
    from cimento.models.base import FloatArray, Score
    from cimento.models.hf.heads import Read
    from cimento.models.settings import Policy
    from cimento.models.tokens.tokenizing import TextEncoder

_THINNED: Mapping[Thinning, str] = {
    "last attention": "only where needed after the last attention",
    "head": "head where needed",
    "nowhere": "head everywhere",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inside:
    """The parts of a scorer.

    Attributes:
        model: the model of transformers, on its device.
        tokenizer: its tokenizer.
        way: description of the way in which texts go through the model.
    """

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    way: str


@runtime_checkable
class Inspectable(Scorer, Protocol):
    """The protocol of a scorer that gives access to its parts."""

    def inside(self) -> Inside:
        """The parts of the scorer."""


class TransformersScorer(ABC):
    """A scorer around a model of transformers.

    Args:
        model: the model in evaluation mode, on its device; for an encoder-decoder, the decoder.
        texts: the encoder of requests.
        card: the card of the model.
        layout: the layout that the model allows.

    Attributes:
        card: what is known about the model.

    Raises:
        UsageError: the tokenizer does not mark words as the policy requires.
    """

    def __init__(
        self, model: PreTrainedModel, texts: TextEncoder, *, card: ModelCard, layout: Layout
    ) -> None:
        self._model = model
        self._texts = texts
        self._layout = layout
        self._boundaries = (
            None
            if card.kind == "masked"
            else find_boundaries(
                texts.tokenizer, texts.policy, vocabulary=texts.vocabulary, device=model.device
            )
        )
        self.card = card

    def encode(self, requests: Sequence[Score]) -> Sequence[Encoded]:
        """Tokenize the requests, in order; see `Scorer`."""
        return self._texts.encode(requests)

    def score(self, encoded: Sequence[Encoded]) -> list[FloatArray]:
        """The log-probabilities of the wanted tokens; see `Scorer`."""
        return self.score_columns(encoded, ())

    def score_columns(
        self, encoded: Sequence[Encoded], columns: tuple[Column, ...]
    ) -> list[FloatArray]:
        """The log-probabilities and further columns; see `ColumnScorer`."""
        if self._boundaries is None or BOUNDARY not in columns:
            return self._score(encoded, columns)
        return with_boundaries(
            encoded,
            columns,
            boundaries=self._boundaries,
            text_starts=[self._text_start(text) for text in encoded],
            score=self._score,
        )

    @property
    def policy(self) -> Policy:
        """The policy of scoring with which the scorer was made."""
        return self._texts.policy

    @property
    def proof(self) -> Proof | None:
        """The result of verifying prefix trees; None for models that cannot use them."""
        return None

    @abstractmethod
    def _score(self, encoded: Sequence[Encoded], columns: tuple[Read, ...]) -> list[FloatArray]:
        """The scores of texts, with columns other than that of word boundaries."""

    def _text_start(self, text: Encoded) -> int:  # noqa: ARG002  # elsewhere it is the text's
        """The index of the first token that the model reads as text, including a context."""
        return len(self._texts.frame.before)

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
            policy.boundary == "auto" and self._boundaries is None and self.card.kind != "masked"
        )
        return (
            *memory_of(self._model).remarks,
            *long_texts(encoded, window),
            *((NOTHING_MARKED,) if unmarked else ()),
        )


def way_of(layout: Layout, proof: Proof | None = None) -> str:
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

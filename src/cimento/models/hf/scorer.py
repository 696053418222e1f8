"""Scorers of transformers: what all kinds of them have in common, and what they are made of."""

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
    from cimento.models.base import FloatArray, Policy, Score
    from cimento.models.hf.heads import Read
    from cimento.models.tokens.tokenizing import TextEncoder

_THINNED: Mapping[Thinning, str] = {
    "last attention": "only where needed after the last attention",
    "head": "head where needed",
    "nowhere": "head everywhere",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inside:
    """What a scorer is made of.

    Attributes:
        model: of transformers, on its device.
        tokenizer: its tokenizer.
        way: how texts go through the model, in words.
    """

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    way: str


@runtime_checkable
class Inspectable(Scorer, Protocol):
    """A scorer that lets itself be looked into."""

    def inside(self) -> Inside:
        """What it is made of."""


class TransformersScorer(ABC):
    """A scorer around a model of transformers.

    Args:
        model: in evaluation mode, on its device; of an encoder-decoder, the decoder.
        texts: how requests become tokens.
        card: what is known about the model.
        layout: what may share a batch.

    Attributes:
        card: what is known about the model.

    Raises:
        UsageError: the tokenizer does not mark words as the policy says.
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
        """Log-probabilities of the wanted tokens; see `Scorer`."""
        return self.score_columns(encoded, ())

    def score_columns(
        self, encoded: Sequence[Encoded], columns: tuple[Column, ...]
    ) -> list[FloatArray]:
        """The same with other columns beside; see `ColumnScorer`."""
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
        """How it scores texts: what was said when it was made."""
        return self._texts.policy

    @property
    def proof(self) -> Proof | None:
        """Whether prefix trees are used; None where they could not be."""
        return None

    @abstractmethod
    def _score(self, encoded: Sequence[Encoded], columns: tuple[Read, ...]) -> list[FloatArray]:
        """Scores of texts, with columns other than that of word boundaries."""

    def _text_start(self, text: Encoded) -> int:  # noqa: ARG002  # elsewhere it is the text's
        """Where the tokens begin that the model reads as one text, those of a context included."""
        return len(self._texts.frame.before)

    def count_layers(self) -> int:
        """How many layers the model has; see `LayerScorer`."""
        return Layers(self._model).count

    def inside(self) -> Inside:
        """What it is made of, and how texts go through it."""
        way = way_of(self._layout, self.proof)
        return Inside(model=self._model, tokenizer=self._texts.tokenizer, way=way)

    def remarks(self, requests: Sequence[Score]) -> tuple[str, ...]:
        """Whether memory ran out, how many texts are long, and what is not corrected."""
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
    """How texts go through a model, in words.

    Args:
        layout: what may share a batch.
        proof: of a causal model: whether prefix trees are used.
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
    """The head of a model for some columns, those of layers among them."""
    if any(column_layer(column) is not None for column in columns):
        return LayerHead(model, thin=thin, columns=columns)
    return RowHead(model, thin=thin, columns=columns)

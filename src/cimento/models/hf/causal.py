"""Causal language models: log P of a token given the tokens before it, computed in two ways.

The plain way gives each text its own row; the fast way lays texts out in prefix trees. The fast way
must be verified for each model. The first branching trees are scored both ways and compared, and
wider ones are compared again, because errors can depend on the width of a row (an attention window
that counts places in the row instead of positions in the text). If the two differ (position biases
that follow the layout, recurrent models, anything new), or if the model does not accept the mask,
every text is scored the plain way.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING

import torch

from cimento.models.base import Encoded
from cimento.models.hf.batches import AskList, DoesNotFitError, ScoreBuffer, Trial, batches
from cimento.models.hf.layout import (
    ModelLayout,
    PrefixTree,
    Proof,
    in_windows,
    largest_difference,
    padded,
    plant,
    stride_of,
    tolerance_nats,
)
from cimento.models.hf.scorer import TransformersScorer, row_head
from cimento.models.settings import BatchLimits, Policy
from cimento.models.tokenizing import Frame, causal_frame

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from cimento.models.base import FloatArray
    from cimento.models.hf.heads import Read

TREE_NODES = {"cpu": 256}
TREE_NODES_ELSEWHERE = 512
"""Size of a prefix tree: 256 was fastest on two CPU cores, among 192 to 512."""

PROOF_TEXTS = 6


def fed(text: Encoded) -> tuple[int, ...]:
    """The tokens that must be fed; those from the last wanted one on do not influence it."""
    return text.ids[: text.wanted[-1]] if text.wanted else ()


def length_that_matters(model: PreTrainedModel) -> int:
    """The length above which a text's scores depend on the length of what is fed with it.

    Rotary positions of the type ``longrope`` change once the longest row of a batch is longer than
    the texts of the model's original training. (Those of the type ``dynamic`` change only beyond
    the model's window, which no text exceeds.)
    """
    config = model.config.get_text_config()
    rope = getattr(config, "rope_parameters", None) or {}
    layers = [value for value in rope.values() if isinstance(value, dict)] or [rope]
    limits = [
        layer["original_max_position_embeddings"]
        for layer in layers
        if layer.get("rope_type") == "longrope"
    ]
    return min(limits, default=sys.maxsize)


class CausalScoring:
    """The scoring of encoded texts with a causal model, in prefix trees where these are verified.

    Args:
        model: the model in evaluation mode, on its device.
        layout: the layout that the model allows.
        limits: the limits of a batch.
        packing: whether prefix trees may be used.
        columns: values read besides log-probabilities.

    Attributes:
        proof: result of the last comparison of the two ways.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        *,
        layout: ModelLayout,
        limits: BatchLimits,
        packing: bool = True,
        columns: Sequence[Read] = (),
    ) -> None:
        self._model = model
        self._layout = layout
        self._limits = limits
        self._columns = columns
        self._head = row_head(model, thin=layout.thin, columns=columns)
        self._whole_above = length_that_matters(model)
        nodes = TREE_NODES.get(model.device.type, TREE_NODES_ELSEWHERE)
        self._tree_nodes = min(nodes, limits.tokens or nodes)
        self._window = getattr(model.config.get_text_config(), "sliding_window", None)
        self.proof = Proof(holds=packing, reason="" if packing else "off")

    def score(self, encoded: Sequence[Encoded]) -> list[FloatArray]:
        """Log-probabilities of the wanted tokens, in nats; one array for each text."""
        buffer = ScoreBuffer(encoded, columns=len(self._columns))
        plain = set(range(len(encoded)))
        for trees in self._tree_batches(encoded):
            if self._fit_trees(trees, encoded, buffer):
                plain.difference_update(_numbers(trees))
        rest = sorted(plain)
        results = buffer.by_text()
        for number, values in zip(rest, self._plain([encoded[i] for i in rest]), strict=True):
            results[number] = values
        return results

    def _plain(self, encoded: Sequence[Encoded]) -> list[FloatArray]:
        """The same with a row for each text, which every model allows."""
        buffer = ScoreBuffer(encoded, columns=len(self._columns))
        long = [i for i, text in enumerate(encoded) if len(text.tokens) > self._whole_above]
        short = sorted(set(range(len(encoded))) - set(long))
        fed_of = {i: fed(encoded[i]) for i in short}
        fed_of |= {i: encoded[i].ids[: len(encoded[i].tokens)] for i in long}
        lengths = [len(fed_of[i]) for i in short]
        grouped = batches(lengths, limits=self._limits, mixed=self._layout.pad)
        for numbers in (*([short[i] for i in batch] for batch in grouped), *([i] for i in long)):
            width = max(len(fed_of[number]) for number in numbers)
            asks = AskList()
            for line, number in enumerate(numbers):
                rows = range(line * width, (line + 1) * width)
                asks.add_following(encoded[number], rows, first_slot=buffer.starts[number])
            if asks.rows:
                texts, device = [fed_of[number] for number in numbers], self._model.device
                inputs = padded(texts, layout=self._layout, padding=0, device=device)
                self._head.fill(inputs, asks.done(), buffer.values)
        return buffer.by_text()

    def _tree_batches(self, encoded: Sequence[Encoded]) -> Iterator[list[PrefixTree]]:
        """The texts that may be laid out in trees, as batches of trees."""
        # The mask of a tree cannot express a sliding attention window.
        limit = min(self._tree_nodes, self._window or self._tree_nodes)
        sequences = [
            fed(text) if len(fed(text)) <= limit and len(text.tokens) <= self._whole_above else ()
            for text in encoded
        ]
        # The widest trees come first: once they agree with the plain way, all others may follow.
        planted = plant(sequences, max_nodes=self._tree_nodes, max_members=self._limits.sequences)
        trees = sorted(planted, key=len, reverse=True)
        # Batches have similar sizes, because a small one is slower per node.
        count = ceil(len(trees) / _largest(trees, self._limits))
        cuts = [len(trees) * number // max(count, 1) for number in range(count + 1)]
        for start, end in pairwise(cuts):
            yield trees[start:end]

    def _fit_trees(
        self, trees: Sequence[PrefixTree], encoded: Sequence[Encoded], buffer: ScoreBuffer
    ) -> bool:
        """Score a batch of trees; False where its texts must be scored the plain way.

        If memory runs out, trees are smaller from then on.
        """
        nodes = max(len(tree) for tree in trees)
        # A row without branches is a plain row, which proves nothing and gains nothing. It is
        # always scored the plain way, so that its scores do not depend on what was proven before.
        branching = any(tree.branches for tree in trees)
        if nodes > self._tree_nodes or not self.proof.holds or not branching:
            return False
        try:
            if nodes <= self.proof.nodes:
                self._pack(trees, encoded, buffer)
            else:
                self.proof = self._prove(trees, nodes, encoded, buffer)
        except DoesNotFitError:
            self._tree_nodes //= 2
            return False
        return self.proof.holds

    def _prove(
        self,
        trees: Sequence[PrefixTree],
        nodes: int,
        encoded: Sequence[Encoded],
        buffer: ScoreBuffer,
    ) -> Proof:
        """Score a batch of trees, and some of its texts the plain way too."""
        try:
            self._pack(trees, encoded, buffer)
        except DoesNotFitError:
            raise
        # Models that do not accept such a mask or positions raise errors of various classes.
        except Exception as error:  # noqa: BLE001
            reason = f"the model does not take it ({type(error).__name__})"
            return Proof(holds=False, nodes=nodes, reason=reason)
        numbers = _numbers(trees)
        packed = buffer.by_text()
        # The last text is furthest in the row from the beginning that it shares with others.
        sample = [*numbers[:: max(1, len(numbers) // PROOF_TEXTS)], numbers[-1]]
        plain = self._plain([encoded[number] for number in sample])
        worst = max(
            largest_difference(logprobs(packed[number]), logprobs(values))
            for number, values in zip(sample, plain, strict=True)
        )
        holds = worst <= tolerance_nats(self._model)
        reason = "" if holds else f"scores differ by up to {worst:.2g} nats"
        return Proof(holds=holds, nodes=nodes, max_difference_nats=worst, reason=reason)

    def _pack(
        self, trees: Sequence[PrefixTree], encoded: Sequence[Encoded], buffer: ScoreBuffer
    ) -> None:
        """Run the model over a batch of trees, one in a row."""
        asks = AskList()
        width = max(len(tree) for tree in trees)
        for line, tree in enumerate(trees):
            for number, path in tree.members:
                rows = [line * width + node for node in path]
                asks.add_following(encoded[number], rows, first_slot=buffer.starts[number])
        self._head.fill(self._tree_inputs(trees, width), asks.done(), buffer.values)

    def _tree_inputs(self, trees: Sequence[PrefixTree], width: int) -> dict[str, torch.Tensor]:
        ids = torch.zeros((len(trees), width), dtype=torch.long)
        positions = torch.zeros_like(ids)
        # A padding node sees itself, because a softmax over nothing is NaN.
        visible = torch.eye(width, dtype=torch.bool).repeat(len(trees), 1, 1, 1)
        for line, tree in enumerate(trees):
            size = len(tree)
            ids[line, :size] = torch.tensor(tree.tokens)
            positions[line, :size] = torch.tensor(tree.depths)
            visible[line, 0, :size, :size] = torch.from_numpy(tree.visible())
        dtype, device = self._model.dtype, self._model.device
        bias = torch.zeros(visible.shape, dtype=dtype, device=device)
        bias.masked_fill_(~visible.to(device), torch.finfo(dtype).min)
        return {
            "input_ids": ids.to(device),
            "position_ids": positions.to(device),
            "attention_mask": bias,
        }


def logprobs(scores: FloatArray) -> FloatArray:
    """The log-probabilities among scores; they come first if there are other columns."""
    return scores if scores.ndim == 1 else scores[:, 0]


def _largest(trees: Sequence[PrefixTree], limits: BatchLimits) -> int:
    """The number of trees, at least one, that may share a batch, whichever trees they are."""
    if not trees:
        return 1
    width, members = len(trees[0]), max(len(tree.members) for tree in trees)
    fitting = (
        rows
        for rows in range(len(trees), 0, -1)
        if limits.allow(rows=rows, width=width, sequences=rows * members)
    )
    return next(fitting, 1)


def _numbers(trees: Sequence[PrefixTree]) -> list[int]:
    """The numbers of the texts in some trees."""
    return [number for tree in trees for number, _ in tree.members]


def following_trial(
    base: Encoded,
    source: Encoded,
    moved: Sequence[tuple[int, int]],
    *,
    around: tuple[int, ...] = (),
) -> Trial:
    """The pass in which the wanted tokens of a text are predicted, each at the position before it.

    Args:
        base: the text that is scored.
        source: the text that states come from.
        moved: pairs of tokens, by their indices in `base` and in `source`.
        around: what an encoder reads before both.
    """
    return Trial(
        ids=fed(base),
        # What follows the last state that is taken does not matter to it.
        source=source.ids[: max((place for _, place in moved), default=len(source.ids)) + 1],
        moved=tuple(moved),
        asks=tuple(
            (index - 1, base.ids[index], slot)
            for slot, index in enumerate(base.wanted)
            if index > 0
        ),
        around=around,
    )


class CausalScorer(TransformersScorer):
    """A scorer with a causal language model of transformers; see `TransformersScorer`."""

    def _prepared(
        self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, policy: Policy
    ) -> tuple[PreTrainedModel, Frame]:
        self._stride = stride_of(policy, self.card)
        if self._stride is not None:
            details = self.card.details | {"stride": str(self._stride)}
            self.card = dataclasses.replace(self.card, details=details)
        return model, causal_frame(tokenizer, policy.bos)

    @staticmethod
    def _reader(
        model: PreTrainedModel, layout: ModelLayout, limits: BatchLimits, columns: tuple[Read, ...]
    ) -> CausalScoring:
        return CausalScoring(model, layout=layout, limits=limits, columns=columns)

    @property
    def proof(self) -> Proof:
        """Whether prefix trees are used."""
        proof: Proof = self._reader_of(()).proof
        return proof

    def trials(
        self, base: Encoded, source: Encoded, moved: Sequence[tuple[int, int]]
    ) -> list[Trial]:
        """A single pass, in which every token is predicted at the position before it."""
        return [following_trial(base, source, moved)]

    def _score(self, encoded: Sequence[Encoded], columns: tuple[Read, ...]) -> list[FloatArray]:
        scoring: CausalScoring = self._reader_of(columns)
        if self._stride is None or self.card.window is None:
            return scoring.score(encoded)
        return in_windows(encoded, scoring.score, window=self.card.window, stride=self._stride)

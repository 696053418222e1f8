"""Causal language models: log P of a token given the tokens before it, taken in two ways.

The plain way gives each text a row of its own; the fast way lays texts out in prefix trees. The
fast way is not trusted. The first trees that branch are scored both ways and compared, and
wider ones again when they come, because what goes wrong can depend on the width of a row (an
attention window that counts places in the row instead of positions in the text). Where the two
differ (position biases that follow the layout, recurrent models, anything new), or where the
model does not take the mask, every text goes the plain way.
"""

from __future__ import annotations

import dataclasses
import functools
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING

import torch

from cimento.io.tables import BOUNDARY
from cimento.models.base import BatchLimits, Encoded, EncodedTexts, ModelCard, Policy
from cimento.models.hf.batches import AskList, DoesNotFitError, ScoreBuffer, batches, memory_of
from cimento.models.hf.inspection import Inside, way_of
from cimento.models.hf.layers import Layers, row_head
from cimento.models.hf.layout import (
    Layout,
    PrefixTree,
    Proof,
    find_layout,
    in_windows,
    largest_difference,
    long_texts,
    padded,
    plant,
    refuse_foresight,
    stride_of,
    tolerance_nats,
)
from cimento.models.tokens.boundaries import (
    NOTHING_MARKED,
    described,
    find_boundaries,
    with_boundaries,
)
from cimento.models.tokens.tokenizing import TextEncoder, causal_frame, vocabulary_size

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from cimento.io.tables import Column
    from cimento.models.base import FloatArray, Score
    from cimento.models.hf.heads import Read

TREE_NODES = {"cpu": 256}
TREE_NODES_ELSEWHERE = 512
"""Size of a prefix tree: 256 was fastest on two CPU cores, among 192 to 512."""

PROOF_TEXTS = 6


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
        sheet = ScoreBuffer(encoded, columns=len(self._columns))
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
        sheet: ScoreBuffer,
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


class CausalScoring:
    """Scores encoded texts with a causal model, the fast way where it is proven.

    Args:
        model: in evaluation mode, on its device.
        layout: what may share a batch.
        limits: of a batch.
        packing: whether prefix trees may be used.
        columns: what is read besides log-probabilities.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        *,
        layout: Layout,
        limits: BatchLimits,
        packing: bool = True,
        columns: Sequence[Read] = (),
    ) -> None:
        self._model = model
        self._columns = columns
        self._plain = PlainScoring(model, layout=layout, limits=limits, columns=columns)
        self._head = row_head(model, thin=layout.thin, columns=columns)
        nodes = TREE_NODES.get(model.device.type, TREE_NODES_ELSEWHERE)
        self._tree_nodes = min(nodes, limits.tokens or nodes)
        self._limits = limits
        self._window = getattr(model.config.get_text_config(), "sliding_window", None)
        self.proof = Proof(holds=packing, reason="" if packing else "off")

    def score(self, encoded: Sequence[Encoded]) -> list[FloatArray]:
        """Log-probabilities of the wanted tokens, in nats; one array for each text."""
        sheet = ScoreBuffer(encoded, columns=len(self._columns))
        plain = set(range(len(encoded)))
        for trees in self._tree_batches(encoded):
            if self._fit_trees(trees, encoded, sheet):
                plain.difference_update(_numbers(trees))
        rest = sorted(plain)
        results = sheet.by_text()
        for number, values in zip(rest, self._plain.score([encoded[i] for i in rest]), strict=True):
            results[number] = values
        return results

    def _tree_batches(self, encoded: Sequence[Encoded]) -> Iterator[list[PrefixTree]]:
        sequences = [fed(each) if self._fits(each) else () for each in encoded]
        # The widest first: they are compared with the plain way, and then all others may follow.
        planted = plant(sequences, max_nodes=self._tree_nodes, max_members=self._limits.sequences)
        trees = sorted(planted, key=len, reverse=True)
        yield from _even(trees, _largest(trees, self._limits))

    def _fits(self, each: Encoded) -> bool:
        """Whether a text may stand in a tree: its mask has no window that slides."""
        limit = min(self._tree_nodes, self._window or self._tree_nodes)
        return len(fed(each)) <= limit and len(each.tokens) <= self._plain.whole_above

    def _fit_trees(
        self,
        trees: Sequence[PrefixTree],
        encoded: Sequence[Encoded],
        sheet: ScoreBuffer,
    ) -> bool:
        """The same as `_try_trees`, with smaller trees from then on where memory runs out."""
        if max(len(tree) for tree in trees) > self._tree_nodes:
            return False
        try:
            return self._try_trees(trees, encoded, sheet)
        except DoesNotFitError:
            self._tree_nodes //= 2
            return False

    def _try_trees(
        self,
        trees: Sequence[PrefixTree],
        encoded: Sequence[Encoded],
        sheet: ScoreBuffer,
    ) -> bool:
        """Score a batch of trees; False where its texts must be scored the plain way."""
        if not self.proof.holds:
            return False
        # A row that does not branch is a plain row: it proves nothing, and gains nothing. It goes
        # the plain way whatever was proven before, so that its scores do not depend on that.
        if not any(tree.branches for tree in trees):
            return False
        nodes = max(len(tree) for tree in trees)
        if nodes <= self.proof.nodes:
            self._pack(trees, encoded, sheet)
            return True
        self.proof = self._prove(trees, nodes, encoded, sheet)
        return self.proof.holds

    def _prove(
        self,
        trees: Sequence[PrefixTree],
        nodes: int,
        encoded: Sequence[Encoded],
        sheet: ScoreBuffer,
    ) -> Proof:
        """Score a batch of trees, and some of its texts the plain way too."""
        try:
            self._pack(trees, encoded, sheet)
        except DoesNotFitError:
            raise
        # A model that knows no such mask or no positions says so in its own way.
        except Exception as error:  # noqa: BLE001
            reason = f"the model does not take it ({type(error).__name__})"
            return Proof(holds=False, nodes=nodes, reason=reason)
        numbers = _numbers(trees)
        packed = sheet.by_text()
        # The last text lies furthest from the beginning that it shares with others.
        sample = [*numbers[:: max(1, len(numbers) // PROOF_TEXTS)], numbers[-1]]
        plain = self._plain.score([encoded[number] for number in sample])
        worst = max(
            largest_difference(logprobs(packed[number]), logprobs(values))
            for number, values in zip(sample, plain, strict=True)
        )
        holds = worst <= tolerance_nats(self._model)
        reason = "" if holds else f"scores differ by up to {worst:.2g} nats"
        return Proof(holds=holds, nodes=nodes, max_difference_nats=worst, reason=reason)

    def _pack(
        self,
        trees: Sequence[PrefixTree],
        encoded: Sequence[Encoded],
        sheet: ScoreBuffer,
    ) -> None:
        """Run the model over a batch of trees, one in a row."""
        asks = AskList()
        width = max(len(tree) for tree in trees)
        for line, tree in enumerate(trees):
            for number, path in tree.members:
                rows = [line * width + node for node in path]
                asks.add_following(encoded[number], rows, first_slot=sheet.starts[number])
        self._head.fill(self._tree_inputs(trees, width), asks.done(), sheet.values)

    def _tree_inputs(self, trees: Sequence[PrefixTree], width: int) -> dict[str, torch.Tensor]:
        ids = torch.zeros((len(trees), width), dtype=torch.long)
        positions = torch.zeros_like(ids)
        # A padding node sees itself, for a softmax over nothing is not a number.
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
    """The log-probabilities among scores, which stand first where there are other columns."""
    return scores if scores.ndim == 1 else scores[:, 0]


def _largest(trees: Sequence[PrefixTree], limits: BatchLimits) -> int:
    """How many trees may share a batch, wherever they are taken from; one at least."""
    if not trees:
        return 1
    width, members = len(trees[0]), max(len(tree.members) for tree in trees)
    fitting = (
        rows
        for rows in range(len(trees), 0, -1)
        if limits.allow(rows=rows, width=width, sequences=rows * members)
    )
    return next(fitting, 1)


def _even(trees: Sequence[PrefixTree], most: int) -> Iterator[list[PrefixTree]]:
    """Batches of like size: a small one is slower for each of its nodes."""
    count = ceil(len(trees) / most)
    for start, end in pairwise(len(trees) * number // max(count, 1) for number in range(count + 1)):
        yield list(trees[start:end])


def _numbers(trees: Sequence[PrefixTree]) -> list[int]:
    """The numbers of the texts in some trees."""
    return [number for tree in trees for number, _ in tree.members]


class CausalScorer:
    """Scores texts with a causal language model of transformers.

    Args:
        model: in evaluation mode, on its device.
        tokenizer: a fast tokenizer.
        card: what is known about the model; the BOS token is added to it here.
        policy: how texts are scored.
        limits: of a batch.

    Raises:
        ModelError: the model is not causal, or cannot be scored exactly.
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
        self._model = model
        self._texts = texts = TextEncoder(
            tokenizer=tokenizer,
            policy=policy,
            frame=causal_frame(tokenizer, policy.bos),
            vocabulary=vocabulary_size(model),
            window=card.window,
        )
        short, long = texts.probes()
        refuse_foresight(model, long, name=card.name)
        self._layout = layout = find_layout(model, short, long, padding=0)
        self._scoring_of = functools.cache(
            lambda columns: CausalScoring(model, layout=layout, limits=limits, columns=columns)
        )
        self._stride = stride_of(policy, card)
        self._boundaries = find_boundaries(
            tokenizer, policy, vocabulary=texts.vocabulary, device=model.device
        )
        self._card = self._described(card)

    @property
    def card(self) -> ModelCard:
        """What is known about the model."""
        return self._card

    def encode(self, requests: Sequence[Score]) -> EncodedTexts:
        """Tokenize the requests, in order; see the Protocol."""
        return self._texts.encode(requests)

    def score(self, encoded: Sequence[Encoded]) -> list[FloatArray]:
        """Log-probabilities of the wanted tokens given the tokens before them; see `Scorer`."""
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
            text_starts=[len(self._texts.frame.before)] * len(encoded),
            score=self._score,
        )

    def count_layers(self) -> int:
        """How many layers the model has; see `LayerScorer`."""
        return Layers(self._model).count

    def inside(self) -> Inside:
        """What it is made of, and how texts go through it; see `inspection`."""
        way = way_of(self._layout, self._scoring_of(()).proof)
        return Inside(model=self._model, tokenizer=self._texts.tokenizer, way=way)

    def remarks(self, requests: Sequence[Score]) -> tuple[str, ...]:
        """Whether memory ran out, how many texts are long, and what is not corrected."""
        encoded = [] if self._stride is None else self.encode(requests)
        found = [*memory_of(self._model).remarks, *long_texts(encoded, self._card.window)]
        if self._texts.policy.boundary == "auto" and self._boundaries is None:
            found.append(NOTHING_MARKED)
        return tuple(found)

    def _score(self, encoded: Sequence[Encoded], columns: tuple[Read, ...]) -> list[FloatArray]:
        """Scores of texts of any length."""
        scoring = self._scoring_of(columns)
        if self._stride is None or self._card.window is None:
            return scoring.score(encoded)
        return in_windows(encoded, scoring.score, window=self._card.window, stride=self._stride)

    def _described(self, card: ModelCard) -> ModelCard:
        """The card, with what the policy came to with this tokenizer and window."""
        details = {} if self._stride is None else {"stride": str(self._stride)}
        known = dataclasses.replace(card, details=card.details | details)
        bos = self._texts.names(self._texts.frame.before)
        return described(known, bos=bos, found=self._boundaries)

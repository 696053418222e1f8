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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from cimento.models.base import EncodedTexts, Encoding
from cimento.models.hf.batches import Asks, Trial, batches
from cimento.models.hf.layout import (
    Proof,
    in_windows,
    largest_difference,
    stride_of,
    tolerance_nats,
)
from cimento.models.hf.lines import Following, Forest, Lines, branching, grow, text_lines
from cimento.models.hf.planning import PlanningScorer
from cimento.models.hf.room import DoesNotFitError, is_out_of_memory
from cimento.models.hf.scorer import row_head
from cimento.models.hf.shapes import (
    Batch,
    Filling,
    Passes,
    Piece,
    Plan,
    Shape,
    by_text,
    carry_out,
    even_batches,
    give_out,
    on_device,
    stepped,
)
from cimento.models.settings import Policy
from cimento.models.tokenizing import Frame, causal_frame

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from cimento.io.values import Integers
    from cimento.models.base import FloatArray
    from cimento.models.hf.heads import Read

TREE_NODES = {"cpu": 256}
TREE_NODES_ELSEWHERE = 512
"""Size of a prefix tree: 256 was fastest on two CPU cores, among 192 to 512."""

PROOF_TEXTS = 6


def fed(text: Encoding) -> tuple[int, ...]:
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


@dataclass(slots=True, eq=False, kw_only=True)
class CausalPlan(Plan):
    """The scores that some texts want of a causal model.

    Attributes:
        texts: the texts.
        following: their wanted tokens.
        trees: the texts that are laid out in trees.
        plain: the texts of which each is a line of its own.
        whole: the texts that are fed as a whole, each alone.
    """

    texts: EncodedTexts
    following: Following
    trees: Forest
    plain: Integers
    whole: Integers


class CausalScoring:
    """The scoring of encoded texts with a causal model, in prefix trees where these are verified.

    Args:
        passes: the way in which texts go through the model.
        packing: whether prefix trees may be used.
        columns: values read besides log-probabilities.

    Attributes:
        proof: result of the last comparison of the two ways.
    """

    def __init__(
        self, passes: Passes, *, packing: bool = True, columns: Sequence[Read] = ()
    ) -> None:
        model, limits = passes.model, passes.limits
        self._passes = passes
        self._model = model
        self._columns = columns
        self._head = row_head(model, thin=passes.layout.thin, columns=columns)
        self._whole_above = length_that_matters(model)
        nodes = TREE_NODES.get(model.device.type, TREE_NODES_ELSEWHERE)
        self._tree_nodes = self._widest = min(nodes, limits.tokens or nodes)
        self._sliding = getattr(model.config.get_text_config(), "sliding_window", None)
        self._shapes = passes.shapes(tree_nodes=self._tree_nodes)
        if self._shapes is not None:
            self._widest = stepped(self._tree_nodes, is_tree=True)
        self._trees = Filling[CausalPlan](self._read_trees)
        self._texts = Filling[CausalPlan](self._read_texts)
        self.proof = Proof(holds=packing, reason="" if packing else "off")

    def score(self, encoded: Sequence[Encoding]) -> list[FloatArray]:
        """Log-probabilities of the wanted tokens, in nats; one array for each text."""
        texts = EncodedTexts.of(encoded)
        plan = self.plan(texts, longest=[len(text.tokens) for text in encoded])
        carry_out(self, plan)
        return by_text(texts, plan.values)

    def plan(self, texts: EncodedTexts, *, longest: Sequence[int] | None = None) -> CausalPlan:
        """The lines of some texts; made in any thread, without the model.

        Args:
            texts: the texts.
            longest: number of tokens of each text if it has fewer than ids.
        """
        following = Following.of(texts)
        lengths = np.diff(texts.offsets) if longest is None else np.array(longest, dtype=np.int64)
        asked = np.zeros(len(texts), dtype=np.bool_)
        asked[following.texts] = True
        is_whole = lengths > self._whole_above
        # The mask of a tree cannot express a sliding attention window.
        limit = min(self._tree_nodes, self._sliding or self._tree_nodes)
        fits = asked & ~is_whole & (following.fed <= limit) & self.proof.holds
        forest = grow(
            texts,
            following,
            np.flatnonzero(fits),
            max_nodes=self._tree_nodes,
            max_members=self._passes.limits.sequences,
            even=self._shapes is None,
        )
        # A row without branches is a plain row, which proves nothing and gains nothing. It is
        # always scored the plain way, so that its scores do not depend on what was proven before.
        trees = forest.some(branching(forest))
        fits[:] = False
        fits[trees.members] = True
        columns = (1 + len(self._columns),) if self._columns else ()
        return CausalPlan(
            values=np.full((int(texts.wanted.sum()), *columns), np.nan),
            texts=texts,
            following=following,
            trees=trees,
            plain=np.flatnonzero(asked & ~is_whole & ~fits),
            whole=np.flatnonzero(asked & is_whole),
        )

    def add(self, plan: CausalPlan) -> None:
        """Put the lines of a plan into batches, and score those that are full."""
        plan.waiting = len(plan.trees.lines) + len(plan.plain) + len(plan.whole)
        whole = text_lines(plan.texts, plan.following, plan.whole, whole=True)
        for number, length in enumerate(whole.lengths.tolist()):
            self._read_texts([Piece(plan, whole, np.array([number]))], Shape(1, length))
        lines = plan.trees.lines
        if self._shapes is not None:
            members = int(np.diff(plan.trees.member_offsets).max(initial=1))
            self._trees.add(plan, lines, self._shapes.of_trees(lines.lengths, members=members))
        else:
            for numbers in self._tree_batches(plan.trees):
                rows, width = len(numbers), int(lines.lengths[numbers].max())
                self._read_trees([Piece(plan, lines, numbers)], Shape(rows, width))
        self._add_texts(plan, plan.plain)

    @property
    def fillings(self) -> Sequence[Filling[CausalPlan]]:
        """The batches that wait until they are full."""
        return self._trees, self._texts

    def _add_texts(self, plan: CausalPlan, numbers: Integers) -> None:
        """Have texts scored the plain way, which every model allows."""
        if not len(numbers):
            return
        lines = text_lines(plan.texts, plan.following, numbers)
        if self._shapes is not None:
            shapes = self._shapes.of_texts(lines.lengths, pads=self._passes.layout.pad)
            self._texts.add(plan, lines, shapes)
            return
        for piece, shape in self._text_batches(plan, lines):
            self._read_texts([piece], shape)

    def _text_batches(
        self, plan: CausalPlan, lines: Lines
    ) -> Iterator[tuple[Piece[CausalPlan], Shape]]:
        lengths = lines.lengths.tolist()
        for batch in batches(lengths, limits=self._passes.limits, mixed=self._passes.layout.pad):
            yield Piece(plan, lines, np.array(batch)), Shape(len(batch), lengths[batch[0]])

    def _read_texts(self, pieces: Sequence[Piece[CausalPlan]], shape: Shape) -> None:
        """Run the model over a batch of texts, one in a row."""
        batch = Batch.of(pieces, shape, padding=0)
        inputs = self._passes.inputs(batch)
        self._fill(pieces, inputs, batch.asks)

    def _fill(
        self,
        pieces: Sequence[Piece[CausalPlan]],
        inputs: Mapping[str, torch.Tensor],
        asks: Asks,
    ) -> None:
        values = np.full((len(asks), *pieces[0].plan.values.shape[1:]), np.nan)
        self._head.fill(inputs, asks, values)
        give_out(pieces, values)

    def _tree_batches(self, trees: Forest) -> Iterator[Integers]:
        """The trees of a plan in batches as wide as their widest tree."""
        # The widest trees come first: once they agree with the plain way, all others may follow.
        order = np.argsort(-trees.lines.lengths, kind="stable")
        if not len(order):
            return
        width = int(trees.lines.lengths[order[0]])
        members = int(np.diff(trees.member_offsets).max())
        fitting = (
            rows
            for rows in range(len(order), 0, -1)
            if self._passes.limits.allow(rows=rows, width=width, sequences=rows * members)
        )
        for start, end in even_batches(len(order), fitting=next(fitting, 1)):
            yield order[start:end]

    def _read_trees(self, pieces: Sequence[Piece[CausalPlan]], shape: Shape) -> None:
        """Score a batch of trees; their texts are scored the plain way where trees do not hold.

        If memory runs out, trees are smaller from then on.
        """
        if shape.width <= self._widest:
            try:
                if self.proof.holds and shape.width <= self.proof.nodes:
                    self._pack(pieces, shape)
                    return
                if self.proof.holds:
                    self.proof = self._prove(pieces, shape)
            except DoesNotFitError:
                self._widest = shape.width // 2
                self._tree_nodes = min(self._tree_nodes, self._widest)
            else:
                if self.proof.holds:
                    return
        for piece in pieces:
            texts = piece.plan.trees.texts_of(piece.numbers)
            piece.plan.waiting += len(texts) - len(piece.numbers)
            self._add_texts(piece.plan, texts)

    def _prove(self, pieces: Sequence[Piece[CausalPlan]], shape: Shape) -> Proof:
        """Score a batch of trees, and some of its texts the plain way too."""
        waiting = [piece.plan.waiting for piece in pieces]
        try:
            self._pack(pieces, shape)
        except DoesNotFitError:
            raise
        # Models that do not accept such a mask or positions raise errors of various classes.
        except Exception as error:
            if is_out_of_memory(error):
                what = f"a tree of {shape.width} tokens"
                raise DoesNotFitError(self._model.device, what) from error
            reason = f"the model does not take it ({type(error).__name__})"
            return Proof(holds=False, nodes=shape.width, reason=reason)
        texts = [
            (piece.plan, n) for piece in pieces for n in piece.plan.trees.texts_of(piece.numbers)
        ]
        # The last text is furthest in the row from the beginning that it shares with others.
        sample = [*texts[:: max(1, len(texts) // PROOF_TEXTS)], texts[-1]]
        worst = max(
            self._difference(plan, np.unique([n for other, n in sample if other is plan]))
            for plan in dict.fromkeys(plan for plan, _ in sample)
        )
        holds = worst <= tolerance_nats(self._model)
        reason = "" if holds else f"scores differ by up to {worst:.2g} nats"
        if not holds:
            for piece, before in zip(pieces, waiting, strict=True):
                piece.plan.waiting = before
        return Proof(holds=holds, nodes=shape.width, max_difference_nats=worst, reason=reason)

    def _difference(self, plan: CausalPlan, numbers: Integers) -> float:
        """The largest difference between scores of a plan and those of the plain way, in nats."""
        lines = text_lines(plan.texts, plan.following, numbers)
        alone = dataclasses.replace(plan, values=np.full_like(plan.values, np.nan))
        for piece, shape in self._text_batches(alone, lines):
            self._read_texts([piece], shape)
        return largest_difference(
            logprobs(plan.values[lines.slots]), logprobs(alone.values[lines.slots])
        )

    def _pack(self, pieces: Sequence[Piece[CausalPlan]], shape: Shape) -> None:
        """Run the model over a batch of trees, one in a row."""
        batch = Batch.of(pieces, shape, padding=0)
        self._fill(pieces, tree_inputs(batch, self._model), batch.asks)


def tree_inputs(batch: Batch, model: PreTrainedModel) -> dict[str, torch.Tensor]:
    """The inputs of a pass over trees: ids, positions, and what each node sees.

    A node sees itself and the nodes before it whose descendants it is among.
    """
    dtype, device = model.dtype, model.device
    ids, depths, ends = on_device(batch.fields, device)
    nodes = torch.arange(ids.shape[1], device=device)
    visible = (nodes <= nodes[:, None]) & (nodes[:, None] < ends[:, None, :])
    bias = torch.zeros(visible.shape, dtype=dtype, device=device)
    bias.masked_fill_(~visible, torch.finfo(dtype).min)
    return {"input_ids": ids, "position_ids": depths, "attention_mask": bias.unsqueeze(1)}


def logprobs(scores: FloatArray) -> FloatArray:
    """The log-probabilities among scores; they come first if there are other columns."""
    return scores if scores.ndim == 1 else scores[:, 0]


def following_trial(
    base: Encoding,
    source: Encoding,
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


class CausalScorer(PlanningScorer):
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
    def _reader(passes: Passes, columns: tuple[Read, ...]) -> CausalScoring:
        return CausalScoring(passes, columns=columns)

    @property
    def proof(self) -> Proof:
        """Whether prefix trees are used."""
        proof: Proof = self._reader_of(()).proof
        return proof

    def trials(
        self, base: Encoding, source: Encoding, moved: Sequence[tuple[int, int]]
    ) -> list[Trial]:
        """A single pass, in which every token is predicted at the position before it."""
        return [following_trial(base, source, moved)]

    def _planned(self, texts: EncodedTexts, columns: tuple[Read, ...]) -> CausalPlan:
        scoring: CausalScoring = self._reader_of(columns)
        return scoring.plan(texts)

    @property
    def plans(self) -> bool:
        """Not where texts may be read in several windows."""
        return self._stride is None or self.card.window is None

    def _score(self, encoded: Sequence[Encoding], columns: tuple[Read, ...]) -> list[FloatArray]:
        scoring: CausalScoring = self._reader_of(columns)
        if self._stride is None or self.card.window is None:
            return scoring.score(encoded)
        return in_windows(encoded, scoring.score, window=self.card.window, stride=self._stride)

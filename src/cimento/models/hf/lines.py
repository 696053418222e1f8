"""Lines of a batch as columns: texts and prefix trees, and what is read of them.

The stimuli of a suite share prefixes. The distinct prefixes of sorted texts form a forest, laid out
so that the descendants of a node follow it. Then a node sees just the nodes before it whose
descendants it is among, which two comparisons of positions tell, and one pass of a causal model
over a tree gives the same scores as a pass over every text.

Nothing here needs torch or a device, and no object is made for a text: all of it is done by columns
in the threads that encode, so that the thread of a model on a GPU only gathers columns and launches
the model.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cimento.io.values import stretches
from cimento.models.base import EncodedTexts

if TYPE_CHECKING:
    from cimento.io.values import Flags, Integers


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """Token sequences that each fill a row of a batch, and the scores that are read from them.

    Attributes:
        offsets: index of each line's first token, and the number of tokens at the end.
        tokens: token ids.
        depths: position of each token in its text; None where every line is a text.
        ends: for each node of a tree, the number in its line of the node after its last descendant;
            None where every line is a text.
        asked: index of each line's first request, and the number of requests at the end.
        rows: for each request, the number in its line of the token that predicts.
        targets: id of each predicted token.
        slots: slot of each score.
    """

    offsets: Integers
    tokens: Integers
    depths: Integers | None = None
    ends: Integers | None = None
    asked: Integers
    rows: Integers
    targets: Integers
    slots: Integers

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> Integers:
        """The number of tokens of each line."""
        return np.diff(self.offsets)

    def some(self, numbers: Integers) -> Lines:
        """Some of the lines, by their numbers."""
        counts, wanted = self.lengths[numbers], np.diff(self.asked)[numbers]
        tokens = stretches(self.offsets[numbers], counts)
        asks = stretches(self.asked[numbers], wanted)
        return Lines(
            offsets=np.concatenate(([0], np.cumsum(counts))),
            tokens=self.tokens[tokens],
            depths=None if self.depths is None else self.depths[tokens],
            ends=None if self.ends is None else self.ends[tokens],
            asked=np.concatenate(([0], np.cumsum(wanted))),
            rows=self.rows[asks],
            targets=self.targets[asks],
            slots=self.slots[asks],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Forest:
    """Prefix trees of some texts.

    Attributes:
        lines: a line for each tree.
        members: number of each text, tree by tree.
        member_offsets: index of each tree's first text, and the number of texts at the end.
    """

    lines: Lines
    members: Integers
    member_offsets: Integers

    def texts_of(self, trees: Integers) -> Integers:
        """The numbers of the texts of some trees, ascending."""
        counts = np.diff(self.member_offsets)[trees]
        return np.sort(self.members[stretches(self.member_offsets[trees], counts)])

    def some(self, chosen: Flags) -> Forest:
        """Some of the trees."""
        if chosen.all():
            return self
        trees = np.flatnonzero(chosen)
        counts = np.diff(self.member_offsets)[trees]
        return Forest(
            lines=self.lines.some(trees),
            members=self.members[stretches(self.member_offsets[trees], counts)],
            member_offsets=np.concatenate(([0], np.cumsum(counts))),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Following:
    """The wanted tokens of some texts, each predicted by the token before it.

    A first token has none before it, and is not among them.

    Attributes:
        texts: number of the text of each token.
        rows: number in the text of the token before it.
        targets: id of the token.
        slots: number of the token among all wanted ones.
        fed: for each text, the number of tokens to feed; those from the last wanted one on do not
            influence it.
    """

    texts: Integers
    rows: Integers
    targets: Integers
    slots: Integers
    fed: Integers

    @classmethod
    def of(cls, texts: EncodedTexts) -> Following:
        """The wanted tokens of encoded texts."""
        places = np.flatnonzero(texts.wanted)
        owners = np.searchsorted(texts.offsets, places, side="right") - 1
        index = places - texts.offsets[owners]
        fed = np.zeros(len(texts), dtype=np.int64)
        # Of a text's wanted tokens, the last one stays.
        fed[owners] = index
        preceded = index > 0
        return cls(
            texts=owners[preceded],
            rows=index[preceded] - 1,
            targets=texts.ids[places[preceded]],
            slots=np.flatnonzero(preceded),
            fed=fed,
        )

    def by_line(self, line_of: Integers, count: int) -> tuple[Integers, Integers]:
        """The requests of some lines, in the order of these.

        Args:
            line_of: for each text, its line; -1 for a text in none.
            count: number of lines.

        Returns:
            The numbers of the requests, and the index of each line's first one among them.
        """
        lines = line_of[self.texts]
        order = np.argsort(lines, kind="stable")
        order = order[np.searchsorted(lines[order], 0) :]
        return order, np.searchsorted(lines[order], np.arange(count + 1))


def text_lines(
    texts: EncodedTexts, following: Following, numbers: Integers, *, whole: bool = False
) -> Lines:
    """A line for each of some texts.

    Args:
        texts: the texts.
        following: their wanted tokens.
        numbers: the numbers of the texts, ascending.
        whole: whether all tokens of a text are fed, instead of those before the last wanted one.
    """
    counts = np.diff(texts.offsets)[numbers] if whole else following.fed[numbers]
    line_of = np.full(len(texts), -1, dtype=np.int64)
    line_of[numbers] = np.arange(len(numbers))
    order, asked = following.by_line(line_of, len(numbers))
    return Lines(
        offsets=np.concatenate(([0], np.cumsum(counts))),
        tokens=texts.ids[stretches(texts.offsets[numbers], counts)],
        asked=asked,
        rows=following.rows[order],
        targets=following.targets[order],
        slots=following.slots[order],
    )


def grow(
    texts: EncodedTexts,
    following: Following,
    numbers: Integers,
    *,
    max_nodes: int,
    max_members: int | None = None,
    even: bool = True,
) -> Forest:
    """Prefix trees of at most `max_nodes` nodes of some texts.

    Sorted texts have their longest common prefixes with their neighbors, so that one walk finds all
    sharing except across the border of two trees. The layout depends on the texts alone. A text
    longer than `max_nodes` gets a separate tree.

    Args:
        texts: the texts.
        following: their wanted tokens.
        numbers: the numbers of the texts, each of which feeds at least one token.
        max_nodes: largest number of nodes of a tree.
        max_members: largest number of texts in a tree; None for no limit.
        even: whether trees have like sizes, which means little padding in a batch as wide as its
            widest tree, instead of being filled one after another.
    """
    prefixes = _sorted_prefixes(texts, following.fed, numbers)
    cut = _even_cuts if even else _cuts
    most = len(numbers) if max_members is None else max_members
    cuts = np.array(cut(prefixes.lengths.tolist(), prefixes.shared.tolist(), max_nodes, most))
    return _planted(texts, following, prefixes, cuts)


@dataclass(frozen=True, slots=True)
class _Prefixes:
    """Texts in the order of their tokens.

    Attributes:
        numbers: number of each text.
        ids: what each feeds, in a row of a matrix padded with -1.
        lengths: number of tokens of each.
        shared: number of first tokens that each shares with the text before it.
    """

    numbers: Integers
    ids: Integers
    lengths: Integers
    shared: Integers


def _sorted_prefixes(texts: EncodedTexts, fed: Integers, numbers: Integers) -> _Prefixes:
    lengths = fed[numbers]
    width = int(lengths.max(initial=1))
    matrix = np.full((len(numbers), width), -1, dtype=np.int64)
    filled = np.arange(width) < lengths[:, None]
    matrix[filled] = texts.ids[stretches(texts.offsets[numbers], lengths)]
    # Bytes of numbers from the highest on are in the order of the numbers.
    keys = (matrix + 1).astype(">u4").view(f"V{4 * width}").ravel()
    order = np.argsort(keys, kind="stable")
    matrix, lengths = matrix[order], lengths[order]
    shared = np.zeros(len(numbers), dtype=np.int64)
    differs = matrix[1:] != matrix[:-1]
    shorter = np.minimum(lengths[1:], lengths[:-1])
    shared[1:] = np.where(differs.any(axis=1), differs.argmax(axis=1), shorter)
    return _Prefixes(numbers[order], matrix, lengths, shared)


def _planted(
    texts: EncodedTexts, following: Following, prefixes: _Prefixes, cuts: Integers
) -> Forest:
    """The trees of sorted texts, given the begins of trees among these and the end."""
    shared = prefixes.shared.copy()
    shared[cuts[:-1]] = 0
    count, width = prefixes.ids.shape
    line, depth = np.arange(count)[:, None], np.arange(width)
    # A text brings nodes for what it does not share with the one before it.
    brings = (depth >= shared[:, None]) & (depth < prefixes.lengths[:, None])
    first_node = np.concatenate(([0], np.cumsum(prefixes.lengths - shared)))
    brought_by = np.maximum.accumulate(np.where(brings, line, 0), axis=0)
    path = first_node[brought_by] + depth - shared[brought_by]
    # The descendants of a node end where a later text does not share it.
    leaves = np.where(depth >= shared[:, None], line, count)
    leaves = np.minimum.accumulate(leaves[::-1], axis=0)[::-1]
    after = np.concatenate((leaves[1:], np.full((1, width), count)))
    tree_of = np.repeat(np.arange(len(cuts) - 1), np.diff(cuts))
    offsets = first_node[cuts]
    number_of_line = prefixes.numbers
    line_of = np.full(len(texts), -1, dtype=np.int64)
    tree_of_text = line_of.copy()
    line_of[number_of_line] = np.arange(count)
    tree_of_text[number_of_line] = tree_of
    order, asked = following.by_line(tree_of_text, len(cuts) - 1)
    readers = following.texts[order]
    begins = np.broadcast_to(offsets[tree_of][:, None], path.shape)
    lines = Lines(
        offsets=offsets,
        tokens=prefixes.ids[brings],
        depths=np.broadcast_to(depth, path.shape)[brings],
        ends=first_node[after][brings] - begins[brings],
        asked=asked,
        rows=path[line_of[readers], following.rows[order]] - offsets[tree_of_text[readers]],
        targets=following.targets[order],
        slots=following.slots[order],
    )
    return Forest(lines=lines, members=number_of_line, member_offsets=cuts)


def _even_cuts(
    lengths: Sequence[int], shared: Sequence[int], max_nodes: int, most: int
) -> list[int]:
    """The begins of trees among sorted texts, and the end of the last one.

    The number of trees is minimal, and then the size of the largest one is.
    """
    fewest = len(_cuts(lengths, shared, max_nodes, most))
    sizes = range(1, max_nodes + 1)
    # The number of trees falls with the size allowed, so bisection finds the smallest size.
    least = bisect_left(sizes, -fewest, key=lambda size: -len(_cuts(lengths, shared, size, most)))
    return _cuts(lengths, shared, sizes[least], most)


def _cuts(lengths: Sequence[int], shared: Sequence[int], max_nodes: int, most: int) -> list[int]:
    """The same with trees filled one after another, each with a largest number of texts."""
    cuts, nodes = [0], 0
    for place, (length, same) in enumerate(zip(lengths, shared, strict=True)):
        if nodes and (nodes + length - same > max_nodes or place - cuts[-1] >= most):
            cuts.append(place)
            nodes = length
        else:
            nodes += length - same
    return [*cuts, len(lengths)] if lengths else [0]


def branching(forest: Forest) -> Flags:
    """Whether texts in each tree diverge, so that it is more than a single text."""
    lines = forest.lines
    if not len(lines) or lines.ends is None:
        return np.zeros(0, dtype=np.bool_)
    sizes = np.repeat(lines.lengths, lines.lengths)
    # In a single path, all nodes after a node are its descendants.
    return np.logical_or.reduceat(lines.ends < sizes, lines.offsets[:-1])

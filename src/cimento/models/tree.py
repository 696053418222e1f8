"""Prefix trees: many texts in one row, their common beginnings only once.

The stimuli of a suite share prefixes. Their distinct prefixes form a forest; its nodes are laid
in one row, each with the position it has in its text, and an attention mask lets a node see its
ancestors only. One pass of a causal model then gives what a pass over every text would give.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np


@dataclass(slots=True)
class PrefixTree:
    """The distinct prefixes of some token sequences.

    Attributes:
        tokens: token id of each node; a parent stands before its children.
        parents: index of each node's parent; -1 for first tokens.
        depths: position of each node in its sequence, from 0.
        members: number of each sequence in the tree, with the node of each of its tokens.
    """

    tokens: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)
    members: list[tuple[int, list[int]]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def branches(self) -> bool:
        """Whether two of its sequences part, so that it is more than one text in a row."""
        return any(parent != node - 1 for node, parent in enumerate(self.parents))

    def add(self, number: int, ids: Sequence[int], *, shared: int) -> None:
        """Add a sequence that shares its first `shared` tokens with the one added before it."""
        path = self.members[-1][1][:shared] if shared else []
        for token in ids[shared:]:
            self.parents.append(path[-1] if path else -1)
            self.depths.append(len(path))
            path.append(len(self.tokens))
            self.tokens.append(token)
        self.members.append((number, path))

    def visible(self) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
        """Which node may look at which: itself and its ancestors; shape (nodes, nodes)."""
        size = len(self.tokens)
        seen = np.zeros((size, size), dtype=np.bool_)
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                seen[node] = seen[parent]
            seen[node, node] = True
        return seen


def plant(
    sequences: Sequence[Sequence[int]], *, max_nodes: int, max_members: int | None = None
) -> list[PrefixTree]:
    """Lay sequences out in prefix trees of at most `max_nodes` nodes.

    Sorted sequences have their longest common prefixes with their neighbours, so that one walk
    finds all sharing but for what is cut between two trees. There are as few trees as can be, and
    of these the largest is as small as can be: little padding, where they share a batch. The layout
    depends on nothing but the sequences. A sequence longer than `max_nodes` has a tree of its own.

    Args:
        sequences: token ids; empty ones are left out.
        max_nodes: size of a tree.
        max_members: sequences in a tree; None for as many as there is room for.
    """
    order = sorted(
        (i for i, ids in enumerate(sequences) if len(ids)), key=lambda i: tuple(sequences[i])
    )
    if not order:
        return []
    lengths = [len(sequences[i]) for i in order]
    shared = [0, *(common(sequences[i], sequences[j]) for i, j in pairwise(order))]
    trees: list[PrefixTree] = []
    for start, end in pairwise(_even_cuts(lengths, shared, max_nodes, max_members)):
        trees.append(tree := PrefixTree())
        for place in range(start, end):
            same = shared[place] if place > start else 0
            tree.add(order[place], sequences[order[place]], shared=same)
    return trees


def _even_cuts(
    lengths: Sequence[int], shared: Sequence[int], max_nodes: int, max_members: int | None
) -> list[int]:
    """Where trees begin among sorted sequences, and the end of the last one."""
    most = len(lengths) if max_members is None else max_members
    fewest = len(_cuts(lengths, shared, max_nodes, most))
    sizes = range(1, max_nodes + 1)
    # The fewer nodes a tree may have, the more trees there are.
    least = bisect_left(sizes, -fewest, key=lambda size: -len(_cuts(lengths, shared, size, most)))
    return _cuts(lengths, shared, sizes[least], most)


def _cuts(lengths: Sequence[int], shared: Sequence[int], max_nodes: int, most: int) -> list[int]:
    """The same with trees filled one after another, each with so many sequences at most."""
    cuts, nodes = [0], 0
    for place, (length, same) in enumerate(zip(lengths, shared, strict=True)):
        if nodes and (nodes + length - same > max_nodes or place - cuts[-1] >= most):
            cuts.append(place)
            nodes = length
        else:
            nodes += length - same
    return [*cuts, len(lengths)]


def common(first: Sequence[int], second: Sequence[int]) -> int:
    """The number of tokens that two sequences begin with alike."""
    for index, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return index
    return min(len(first), len(second))

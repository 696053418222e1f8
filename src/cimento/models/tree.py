"""Prefix trees: many texts in one row, their common beginnings only once.

The stimuli of a suite share prefixes. Their distinct prefixes form a forest; its nodes are laid
in one row, each with the position it has in its text, and an attention mask lets a node see its
ancestors only. One pass of a causal model then gives what a pass over every text would give.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

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


def plant(sequences: Sequence[Sequence[int]], *, max_nodes: int) -> Iterator[PrefixTree]:
    """Lay sequences out in prefix trees of at most `max_nodes` nodes.

    Sorted sequences have their longest common prefixes with their neighbours, so that one walk
    finds all sharing but for what is cut between two trees. The layout depends on nothing but
    the sequences. A sequence longer than `max_nodes` has a tree of its own.

    Args:
        sequences: token ids; empty ones are left out.
        max_nodes: size of a tree.
    """
    order = sorted(
        (i for i, ids in enumerate(sequences) if len(ids)), key=lambda i: tuple(sequences[i])
    )
    tree = PrefixTree()
    before: Sequence[int] = ()
    for number in order:
        ids = sequences[number]
        shared = common(before, ids) if len(tree) else 0
        if len(tree) and len(tree) + len(ids) - shared > max_nodes:
            yield tree
            tree, shared = PrefixTree(), 0
        tree.add(number, ids, shared=shared)
        before = ids
    if len(tree):
        yield tree


def common(first: Sequence[int], second: Sequence[int]) -> int:
    """The number of tokens that two sequences begin with alike."""
    for index, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return index
    return min(len(first), len(second))

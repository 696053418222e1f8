"""Prefix trees: nothing is lost, nothing is laid down twice, and trees are of like size."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from cimento.models.hf.layout import plant

TEXTS = st.lists(st.lists(st.integers(0, 3), max_size=9), max_size=40)


def spelled(tree, path):
    """The tokens along a path, and that each node follows the one before it."""
    for depth, node in enumerate(path):
        assert tree.depths[node] == depth
        assert tree.parents[node] == (path[depth - 1] if depth else -1)
    return [tree.tokens[node] for node in path]


@given(texts=TEXTS, size=st.integers(1, 30))
@settings(deadline=None)
def test_every_text_stands_in_one_tree(texts, size):
    sequences = {
        number: spelled(tree, path)
        for tree in plant(texts, max_nodes=size)
        for number, path in tree.members
    }
    assert sequences == {number: ids for number, ids in enumerate(texts) if ids}


@given(texts=TEXTS, size=st.integers(1, 30))
@settings(deadline=None)
def test_a_prefix_has_one_node_in_a_tree(texts, size):
    for tree in plant(texts, max_nodes=size):
        prefixes = {
            tuple(texts[number][:end])
            for number, _ in tree.members
            for end in range(1, len(texts[number]) + 1)
        }
        assert len(tree) == len(prefixes)
        assert len(tree) <= size or len(set(map(tuple, (texts[n] for n, _ in tree.members)))) == 1


def test_trees_are_of_like_size():
    # Ten texts of three tokens that share nothing: filled one after another, trees of 12 nodes
    # would have 12, 12 and 6.
    texts = [[number, 0, 0] for number in range(10)]
    assert [len(tree) for tree in plant(texts, max_nodes=12)] == [12, 12, 6]
    assert [len(tree) for tree in plant(texts, max_nodes=20)] == [15, 15]
    # 18 and 3 would do too.
    assert [len(tree) for tree in plant(texts[:7], max_nodes=18)] == [12, 9]


def test_a_text_that_is_too_long_has_a_tree_of_its_own():
    trees = plant([[1] * 9, [2, 2], [3, 3]], max_nodes=4)
    assert [len(tree) for tree in trees] == [9, 4]

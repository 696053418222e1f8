"""Prefix trees as columns: nothing is lost, nothing is laid down twice, trees are of like size."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento.models.base import EncodedTexts, Encoding
from cimento.models.hf.lines import Following, branching, grow

TEXTS = st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=9), min_size=1, max_size=40)
MEMBERS = st.none() | st.integers(1, 5)


def encoded(texts):
    """Texts of which every token is wanted, so that all but the last one are fed."""
    return EncodedTexts.of(
        [
            Encoding(
                ids=tuple(ids),
                tokens=("x",) * len(ids),
                spans=((0, 0),) * len(ids),
                words=(0,) * len(ids),
                first=0,
                wanted=tuple(range(len(ids))),
            )
            for ids in texts
        ]
    )


def grown(texts, **limits):
    columns = encoded(texts)
    return grow(columns, Following.of(columns), np.arange(len(texts)), **limits)


def sizes(texts, **limits):
    """The number of nodes of each tree over texts that are fed as they are given."""
    return grown([[*ids, 0] for ids in texts], **limits).lines.lengths.tolist()


def trees_of(forest):
    """The tokens, depths and ends of each tree, and the requests of each."""
    lines = forest.lines
    for tree in range(len(lines)):
        nodes = slice(*lines.offsets[tree : tree + 2])
        asks = slice(*lines.asked[tree : tree + 2])
        yield (
            *(some[nodes].tolist() for some in (lines.tokens, lines.depths, lines.ends)),
            *(some[asks].tolist() for some in (lines.rows, lines.targets, lines.slots)),
        )


@given(texts=TEXTS, size=st.integers(1, 30), members=MEMBERS, even=st.booleans())
@settings(deadline=None)
def test_every_token_is_asked_where_its_own_text_ends_before_it(texts, size, members, even):
    wanted = [(number, index) for number, ids in enumerate(texts) for index in range(len(ids))]
    asked = {}
    for tokens, depths, ends, rows, targets, slots in trees_of(
        grown(texts, max_nodes=size, max_members=members, even=even)
    ):
        for node, target, slot in zip(rows, targets, slots, strict=True):
            seen = [other for other in range(node + 1) if node < ends[other]]
            assert [depths[other] for other in seen] == list(range(len(seen)))
            asked[wanted[slot]] = ([tokens[other] for other in seen], target)
    assert asked == {
        (number, index): (texts[number][:index], texts[number][index])
        for number, index in wanted
        if index
    }


@given(texts=TEXTS, size=st.integers(1, 30), members=MEMBERS, even=st.booleans())
@settings(deadline=None)
def test_a_prefix_has_one_node_in_a_tree(texts, size, members, even):
    forest = grown(texts, max_nodes=size, max_members=members, even=even)
    for tree, branches in enumerate(branching(forest).tolist()):
        some = [tuple(texts[n][:-1]) for n in forest.texts_of(np.array([tree])).tolist()]
        prefixes = {ids[:end] for ids in some for end in range(1, len(ids) + 1)}
        assert forest.lines.lengths[tree] == len(prefixes)
        assert len(prefixes) <= size or len(set(some)) == 1
        assert members is None or len(some) <= members
        assert branches == (len(prefixes) > max(map(len, some)))
    assert sorted(forest.members.tolist()) == list(range(len(texts)))


@given(texts=TEXTS, size=st.integers(2, 30), chosen=st.randoms(use_true_random=False))
@settings(deadline=None)
def test_some_of_the_trees_are_as_they_were(texts, size, chosen):
    forest = grown(texts, max_nodes=size)
    kept = np.array([chosen.random() < 0.5 for _ in range(len(forest.lines))])
    before = [tree for tree, is_kept in zip(trees_of(forest), kept, strict=True) if is_kept]
    assert list(trees_of(forest.some(kept))) == before


def test_trees_are_of_like_size():
    # Ten texts of three tokens that share nothing: filled one after another, trees of 12 nodes
    # would have 12, 12 and 6.
    texts = [[number, 0, 0] for number in range(10)]
    assert sizes(texts, max_nodes=12) == [12, 12, 6]
    assert sizes(texts, max_nodes=20) == [15, 15]
    # 18 and 3 would do too.
    assert sizes(texts[:7], max_nodes=18) == [12, 9]
    assert sizes(texts, max_nodes=20, even=False) == [18, 12]


def test_a_text_that_is_too_long_has_a_tree_of_its_own():
    assert sizes([[1] * 9, [2, 2], [3, 3]], max_nodes=4) == [9, 4]


def test_a_tree_holds_no_more_texts_than_it_may():
    texts = [[1, 2, number, 0] for number in range(10)]
    assert np.diff(grown(texts, max_nodes=256).member_offsets).tolist() == [10]
    trees = grown(texts, max_nodes=256, max_members=4)
    assert np.diff(trees.member_offsets).tolist() == [4, 4, 2]

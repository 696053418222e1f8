"""Batches of few shapes, as on a GPU, which lines of several units share."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento.models.base import EncodedTexts
from cimento.models.hf import causal
from cimento.models.hf.lines import Lines
from cimento.models.hf.shapes import (
    Batch,
    Filling,
    FixedShapes,
    Passes,
    Plan,
    Shape,
    give_out,
    stepped,
)
from cimento.models.settings import BatchLimits
from cimento.paradigms import Score
from tests.helpers import zoo
from tests.helpers.whole_path import load_folder

TOLERANCE_NATS = 2e-5


@given(length=st.integers(1, 5000), is_tree=st.booleans())
def test_a_width_holds_its_line_with_little_room_to_spare(length, is_tree):
    width = stepped(length, is_tree=is_tree)
    assert width >= length
    assert width - length < (64 if is_tree else max(1, length / 16))
    assert stepped(width, is_tree=is_tree) == width


def test_texts_have_sixteen_widths_in_an_octave_and_trees_eight_in_all():
    assert len({stepped(n, is_tree=False) for n in range(33, 65)}) == 16
    assert len({stepped(n, is_tree=False) for n in range(513, 1025)}) == 16
    assert {stepped(n, is_tree=True) for n in range(1, 513)} == {64 * n for n in range(1, 9)}


def test_no_batch_is_wider_than_the_window_of_a_model():
    shapes = FixedShapes(BatchLimits(tokens=4096), 512, window=1000)
    widths = [shape.width for shape in shapes.of_texts(np.array([999, 1000, 1002]), pads=True)]
    assert widths == [1000, 1000, 1002]


def test_limits_on_texts_and_tokens_are_kept():
    shapes = FixedShapes(BatchLimits(tokens=4096, sequences=30), 512)
    # Trees of ten texts at most: three of them have thirty.
    assert shapes.of_trees(np.array([500]), members=10) == [Shape(3, 512)]
    assert shapes.of_texts(np.array([10, 512]), pads=True) == [Shape(30, 10), Shape(1, 512)]
    assert FixedShapes(BatchLimits(sequences=4), 512).of_texts(np.array([9]), pads=True) == [
        Shape(4, 9)
    ]


def lines_of(lengths, first):
    """Lines whose tokens count on from a number, of which each token is asked for its own id."""
    tokens = np.arange(first, first + sum(lengths))
    offsets = np.cumsum([0, *lengths])
    places = np.concatenate([np.arange(length) for length in lengths])
    return Lines(
        offsets=offsets, tokens=tokens, asked=offsets, rows=places, targets=tokens,
        slots=np.arange(len(tokens)),
    )  # fmt: skip


@given(
    units=st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=12), min_size=1, max_size=12),
    rows=st.integers(1, 5),
)
@settings(deadline=None)
def test_each_line_goes_through_one_batch_of_its_shape_and_gets_its_own_scores(units, rows):
    launched = []

    def launch(pieces, shape):
        batch = Batch.of(pieces, shape, padding=-7)
        assert batch.fields.shape == (1, *shape)
        read = batch.fields[0].ravel()[batch.asks.rows]
        assert (read == batch.asks.targets).all()
        launched.append(int((batch.fields[0] != -7).sum()))
        give_out(pieces, read.astype(float))

    filling = Filling(launch)
    plans = []
    for number, lengths in enumerate(units):
        lines = lines_of(lengths, 1000 * number)
        plan = Plan(values=np.full(len(lines.tokens), np.nan), waiting=len(lines))
        plans.append((plan, lines))
        filling.add(plan, lines, [Shape(rows, length + length % 2) for length in lengths])
    while not all(plan.done for plan, _ in plans):
        filling.flush()
    assert filling.fullness == 0
    for plan, lines in plans:
        assert plan.values.tolist() == lines.tokens.tolist()
    assert sum(launched) == sum(map(sum, units))


@pytest.fixture
def as_on_a_gpu(monkeypatch):
    """Batches as on a GPU, of 512 tokens at most; yields the shapes that were run."""
    run: list[Shape] = []
    monkeypatch.setattr(
        Passes, "shapes", lambda own, tree_nodes: FixedShapes(LIMITS, tree_nodes, own.window)
    )
    monkeypatch.setitem(causal.TREE_NODES, "cpu", 128)
    of = Batch.of.__func__

    def noted(cls, pieces, shape, *, padding):
        run.append(shape)
        return of(cls, pieces, shape, padding=padding)

    monkeypatch.setattr(Batch, "of", classmethod(noted))
    return run


LIMITS = BatchLimits(tokens=512)
UNITS = [
    zoo.SENTENCES,
    [f"{text} {more}" for text in zoo.SENTENCES[:9] for more in ("Sì.", "Ma no!")],
    ["Sì."],
    [text.replace("a", "e") for text in zoo.SENTENCES],
]


def planned(scorer, texts):
    return scorer.plan(EncodedTexts.of(scorer.encode([Score(text) for text in texts])), ())


OTHERS = [pytest.param(name, marks=pytest.mark.slow) for name in ("mamba", "bert-cased")]


@pytest.mark.parametrize(
    "name", ["gpt2", "llama", *OTHERS, pytest.param("roberta", marks=pytest.mark.slow)]
)
def test_scores_are_those_of_batches_of_any_width(name, zoo_folder, as_on_a_gpu, monkeypatch):
    few = load_folder(zoo_folder(name))
    plans = [planned(few, texts) for texts in UNITS]
    for plan in plans:
        few.add(plan, ())
    while not all(plan.done for plan in plans):
        few.flush()
    # The texts with which trees are compared go through batches of any width.
    assert all(shape.rows * shape.width <= 1024 for shape in as_on_a_gpu)
    monkeypatch.setattr(Passes, "shapes", lambda _own, tree_nodes: None)  # noqa: ARG005
    any_width = load_folder(zoo_folder(name))
    for plan, texts in zip(plans, UNITS, strict=True):
        expected = np.concatenate(
            any_width.score(any_width.encode([Score(text) for text in texts]))
        )
        np.testing.assert_allclose(plan.values, expected, atol=TOLERANCE_NATS, rtol=0)


@pytest.mark.parametrize("name", ["gpt2", *OTHERS])
def test_the_shapes_of_a_units_batches_do_not_depend_on_company(name, zoo_folder, as_on_a_gpu):
    scorer = load_folder(zoo_folder(name))
    alone = planned(scorer, UNITS[0])
    scorer.add(alone, ())
    while not alone.done:
        scorer.flush()
    shapes = set(as_on_a_gpu)
    beside = [planned(scorer, texts) for texts in (UNITS[3], UNITS[0], UNITS[1])]
    for plan in beside:
        scorer.add(plan, ())
    as_on_a_gpu.clear()
    while not beside[1].done:
        scorer.flush()
    assert shapes >= {shape for shape in as_on_a_gpu if shape in shapes} != set()
    np.testing.assert_allclose(beside[1].values, alone.values, atol=TOLERANCE_NATS, rtol=0)


def test_trees_that_do_not_hold_are_read_as_texts(zoo_folder, as_on_a_gpu):
    scorer = load_folder(zoo_folder("bloom"))
    plan = planned(scorer, zoo.SENTENCES)
    assert len(plan.trees.lines)
    scorer.add(plan, ())
    while not plan.done:
        scorer.flush()
    assert not scorer.proof.holds
    assert not len(planned(scorer, zoo.SENTENCES).trees.lines)
    assert np.isnan(plan.values).sum() == 0
    assert {shape.width % 64 for shape in as_on_a_gpu} != {0}

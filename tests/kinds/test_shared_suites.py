"""Runs that are opened together read equal copies of a suite once, and others each for itself."""

from __future__ import annotations

import cimento
from cimento import evaluate, open_runs
from cimento.paradigms.regions.paradigm import RegionReader
from cimento.testing import FakeScorer

PAIRS = [("Il cane dorme.", "Il cane dormono."), ("Le rane saltano.", "Le rane salta.")]
ROWS = [*PAIRS, ("La zia canta.", "La zia cantano."), ("I treni partono.", "I treni parte.")]


def scorer(name, cost=1.0):
    return FakeScorer(lambda tokens, index: -cost * len(tokens[index]), name=name)


def test_equal_copies_are_read_once_and_other_ones_by_themselves(tmp_path, monkeypatch):
    whole, other = cimento.pairs(ROWS, name="verbs"), cimento.pairs(ROWS[::-1], name="verbs")
    folders = {}
    for name, suite, limit in (
        ("a", whole, None), ("b", whole, None), ("c", other, None), ("d", whole, 2),
    ):  # fmt: skip
        run = evaluate(suite, scorer(name), limit=limit, output=tmp_path / name)
        folders[run.folder] = name
    read = []
    copied = RegionReader.read_copy
    monkeypatch.setattr(
        RegionReader,
        "read_copy",
        lambda self, folder: read.append(folder) or copied(self, folder),
    )
    runs = {folders[run.folder]: run for run in open_runs(tmp_path)}
    suites = {name: run.suite for name, run in runs.items()}
    assert suites["a"] is suites["b"]
    assert len(read) == 3
    assert [item.conditions[0].regions[0].text for item in suites["c"].items] == [
        good for good, _ in ROWS[::-1]
    ]
    assert len(suites["d"].items) == 2

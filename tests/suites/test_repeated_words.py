"""Words of a column that recur in many items are offered as clusters (CIM-S086)."""

from __future__ import annotations

from dataclasses import replace

import pytest

import cimento
from cimento.suites.checks import check_suite


def one(suite, code):
    (found,) = [fault for fault in check_suite(suite) if fault.code == code]
    return found


def crossed(*, frames, nouns, cluster="", column="noun"):
    rows = [
        {"id": f"{frame}-{noun}", "good": frame.format(noun), "bad": frame.format(noun) + " no",
         "frame": frame, column: noun}
        for frame in frames
        for noun in nouns
    ]  # fmt: skip
    suite = cimento.pairs(rows, name="frames", language="it")
    return replace(suite, cluster=cluster)


FRAMES = tuple(f"Il {{}} parte {day} ." for day in ("oggi", "ieri", "tardi", "presto", "subito"))
NOUNS = ("cuoco", "medico", "sarto", "notaio", "pittore")


def test_words_that_come_again_are_offered_as_a_second_factor():
    said = one(crossed(frames=FRAMES, nouns=NOUNS, cluster="frame"), "CIM-S086")
    assert said.seen == "The words of the column 'noun' recur: 5 in 25 items."
    assert 'cluster = ["frame", "noun"]' in said.todo


@pytest.mark.parametrize(
    "suite",
    [
        crossed(frames=FRAMES, nouns=NOUNS, cluster=("frame", "noun")),  # declared
        crossed(frames=FRAMES, nouns=NOUNS),  # no cluster is declared
        crossed(
            frames=FRAMES, nouns=NOUNS[:4], cluster="frame"
        ),  # four levels: a factor, not a sample
        crossed(frames=FRAMES[:1], nouns=NOUNS, cluster="frame"),  # each word once
        crossed(
            frames=[f"Chi parte {n} ?" for n in range(5)], nouns=NOUNS, cluster="frame"
        ),  # elsewhere
    ],
)
def test_columns_that_are_no_words_of_the_sentences_are_not_offered(suite):
    found = [fault.seen for fault in check_suite(suite) if fault.code == "CIM-S086"]
    assert not any("'noun'" in seen for seen in found)

"""A limited study has items of every phenomenon."""

from __future__ import annotations

from cimento.studies.limits import of_each_phenomenon
from cimento.suites.builtin import find_suite
from cimento.suites.load import open_suite


def test_a_limit_leaves_the_first_items_of_each_phenomenon_in_turn():
    suite = open_suite(find_suite("it-islands")).suite
    ids = [item.id for item in of_each_phenomenon(suite, 7).items]
    assert ids == [
        "whether-01", "whether-02", "complex_np-01", "complex_np-02", "subject-01", "adjunct-01",
        "relative_clause-01",
    ]  # fmt: skip
    # A higher limit keeps what a lower one left.
    assert {*ids} < {item.id for item in of_each_phenomenon(suite, 8).items}
    assert of_each_phenomenon(suite, 10_000) is suite


def test_a_suite_of_one_phenomenon_keeps_its_first_items():
    suite = open_suite(find_suite("it-subject-verb")).suite
    left = of_each_phenomenon(suite, 3).items
    assert [item.id for item in left] == [item.id for item in suite.items[:3]]

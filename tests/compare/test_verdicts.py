"""What a comparison of models says first; the p-values are counted by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest

from cimento import compare
from cimento.compare.comparison_tables import correlations_grid
from cimento.compare.verdicts import verdicts, verdicts_of_two
from cimento.paired.item_outcomes import ItemOutcomes
from cimento.paired.pairwise import corrected, paired_correlations
from tests.helpers.made_runs import made_run, outcomes_of


def ranked(**right: str):
    return compare([made_run(model, outcomes_of(marks)) for model, marks in right.items()])


def said(of) -> list[str]:
    return verdicts(of, main={(one.suite, one.question) for one in of.rankings})


def test_no_two_of_three_models_differ():
    # Three discordant items at most: p = 2 / 2^3 = .25, .5 and 1; by Holm .75 is the lowest.
    (line,) = said(ranked(a="++++-+", b="+--+--", c="++-+--"))
    assert line.endswith("No two of them differ significantly (lowest: p .750, a and b).")


def test_one_pair_of_three_differs():
    # a and b: p = 2 / 2^12, by Holm times 3: .001465. The others: 2 / 2^6 = .03125, times 2: .0625.
    (line,) = said(ranked(a="+" * 12, b="-" * 12, c="+" * 6 + "-" * 6))
    assert "a is above b (by 1.000, p .001)." in line
    assert line.endswith("The other pairs do not differ significantly (lowest: p .062, a and c).")


def test_of_five_models_those_that_could_be_first_are_named():
    models = {"a": "+" * 12, "b": "+" * 11 + "-", "c": "-" * 12, "d": "-" * 12, "e": "-" * 12}
    (line,) = said(ranked(**models))
    assert line.endswith("2 of 5 models could be first: a and b.")


def test_questions_that_do_not_sum_up_a_suite_are_not_told():
    of = ranked(a="++++-+", b="+--+--")
    assert verdicts(of, main=()) == []


def sides(first: dict[str, str], second: dict[str, str]) -> list[str]:
    """What is said of two folders, each with a run of suite s by some models."""
    folders = [
        [made_run(model, outcomes_of(marks)) for model, marks in side.items()]
        for side in (first, second)
    ]
    return verdicts_of_two(compare(*folders))


def test_of_two_models_it_is_told_which_is_above():
    # Eight items that only b gets right: p = 2 / 2^8 = .0078, and a single test is not corrected.
    assert sides({"a": "-" * 8 + "++"}, {"b": "+" * 10}) == [
        "all, s. b is above a (by 0.800, p .008)."
    ]
    assert sides({"a": "+" * 10}, {"b": "-" * 8 + "++"}) == [
        "all, s. a is above b (by 0.800, p .008)."
    ]


def test_of_two_models_that_a_test_does_not_tell_apart_the_change_is_told():
    # Three items that only b gets right, of ten: p = 2 / 2^3 = .25.
    (line,) = sides({"a": "---+++++--"}, {"b": "++++++++--"})
    assert line == (
        "all, s. a and b do not differ significantly (second minus first: +0.300, p .250)."
    )


def test_items_that_one_of_two_models_lacks_are_not_counted():
    # As above, and an item that only b has: the test is on the ten that both have.
    (line,) = sides({"a": "---+++++--"}, {"b": "++++++++--+"})
    assert "+0.300 on 10 shared items, p .250" in line


def test_of_several_models_before_and_after_each_has_a_line():
    before = {"a": "-" * 8 + "++", "b": "+" * 10}
    # By Holm over both tests, .0078 is doubled.
    of_a, of_b = sides(before, {"a": "+" * 10, "b": "+" * 10})
    assert of_a == "all of a, s. after is above before (by 0.800, p .016)."
    told = "before and after do not differ significantly (second minus first: 0, p 1.000)."
    assert of_b == f"all of b, s. {told}"


def test_questions_of_two_models_that_sum_up_nothing_are_not_told():
    comparison = compare(made_run("a", outcomes_of("-" * 10)), made_run("b", outcomes_of("+" * 10)))
    assert verdicts_of_two(replace(comparison, headlines=frozenset())) == []


def notes_of(**right: str) -> list[str]:
    """The notes under the table of models of one suite."""
    return [*ranked(**right).grids(correction="holm")["models"].notes]


# Six items tell three models apart: a has all, b half, c none.
# Q = 2 (3 (36 + 9) - 81) / (27 - 15) = 9, chi-square with 2 degrees: p = exp(-4.5) = .011.
# a and c: p = 2 / 2^6 = .031, by Holm times 3: .094. The other pairs: 2 / 2^3 = .25.
ALL_BUT_NO_PAIR = {"a": "++++++", "b": "+++---", "c": "------"}
# a and b differ on 7 items: p = 2 / 2^7 = .0156, by Holm .047. c differs both ways.
# Sums 12, 5, 8: Q = 2 (3 (144 + 25 + 64) - 625) / (2 * 17) = 4.35, p = exp(-2.18) = .114.
A_PAIR_BUT_NOT_ALL = {
    "a": "+++++++" + "+++++" + "-----",
    "b": "-------" + "+++++" + "-----",
    "c": "+++----" + "-----" + "+++++",
}


@pytest.mark.parametrize(
    ("right", "said"),
    [
        (
            ALL_BUT_NO_PAIR,
            (
                "All models together differ significantly, but no two do: the common test adds up"
                " all pairs, while each pair stands alone, with p corrected over 3 tests."
            ),
        ),
        (
            A_PAIR_BUT_NOT_ALL,
            (
                "a and b differ significantly, but all models together do not: the common test"
                " averages over all pairs."
            ),
        ),
    ],
)
def test_where_the_test_of_all_models_and_those_of_pairs_disagree_it_is_said_why(right, said):
    notes = notes_of(**right)
    place = next(at for at, note in enumerate(notes) if "Cochran's Q" in note)
    assert notes[place + 1] == said


def test_of_several_suites_the_one_where_the_tests_differ_is_named():
    runs = [
        made_run(model, outcomes_of(marks), suite=suite)
        for suite, right in (("s", ALL_BUT_NO_PAIR), ("t", {"a": "+-", "b": "+-", "c": "-+"}))
        for model, marks in right.items()
    ]
    notes = compare(runs).grids(correction="holm")["reliability"].notes
    (why,) = [note for note in notes if "together differ" in note]
    assert why.startswith("s, all: All models together differ significantly, but no two do")


@pytest.mark.parametrize(
    "right",
    [
        {"a": "++++-+", "b": "+--+--", "c": "++-+--"},
        {"a": "+" * 12, "b": "-" * 12, "c": "+" * 6 + "-" * 6},
    ],
)
def test_where_both_tests_find_something_or_neither_does_nothing_is_said(right):
    assert [note for note in notes_of(**right) if "together d" in note] == []


def rated(model: str, values: list[float]) -> ItemOutcomes:
    """Six items of four sentences each, with ratings."""
    names = [f"{item}{place}" for item in "abcdef" for place in range(4)]
    ratings = [float((7 * place) % 11) for place in range(24)]
    return ItemOutcomes(
        suite="s",
        question="lp",
        model=model,
        values=dict(zip(names, values, strict=True)),
        references=dict(zip(names, ratings, strict=True)),
        coefficients=("spearman",),
        clusters={name: name[0] for name in names},
    )


def test_few_clusters_are_counted_and_come_with_a_caution():
    one = rated("m", [float((5 * place) % 13) for place in range(24)])
    other = rated("n", [float((7 * place) % 12) for place in range(24)])
    changes = [
        change for a, b in combinations((one, other), 2) for change in paired_correlations(a, b)
    ]
    grid = correlations_grid(corrected(changes, "holm"), correction="holm")
    row = dict(zip(grid.header, grid.rows[0], strict=True))
    assert (str(row["items"]), str(row["clusters"])) == ("24", "6")
    assert any("fewer than 10 independent items or clusters" in note for note in grid.notes)

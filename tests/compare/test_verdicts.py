"""What a comparison of models says first; the p-values are counted by hand."""

from __future__ import annotations

from itertools import combinations

from cimento import compare
from cimento.compare.comparison_tables import correlations_grid
from cimento.compare.verdicts import verdicts
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

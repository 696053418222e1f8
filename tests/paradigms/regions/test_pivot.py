"""Perplexities, worst sentences and tables of phenomena, of runs with scores known by hand."""

from __future__ import annotations

import dataclasses
import math

import pytest

from cimento import UsageError, evaluate
from cimento.paradigms.regions.perplexity import perplexities, worst_items
from cimento.paradigms.regions.pivot import PivotCell, pivot, pivot_grid
from cimento.report.grid import as_csv, grid_as_text
from cimento.statistics.design import Design
from cimento.statistics.means import mean_of
from cimento.suites.design import predictions_of, squares
from cimento.suites.load import open_suite
from cimento.testing import FakeScorer
from cimento.testing.models import uniform_scorer
from tests.helpers.command_line import invoke
from tests.helpers.designs import island_suite
from tests.helpers.suites_on_disk import write

SUITE = island_suite({"se": ["1", "2"], "np": ["3"]})
FORMULAS = tuple(prediction.formula for prediction in predictions_of(squares(SUITE)[0]))
LN2 = math.log(2)


def scorer(costs, name="finto"):
    return FakeScorer(lambda tokens, index: -costs.get(tokens[index], 2.0) * LN2, name=name)


def island_run(costs, folder=None, **options):
    return evaluate(SUITE, scorer(costs), predictions=FORMULAS, output=folder, **options)


@pytest.fixture
def pairs(tmp_path):
    table = "item\tgood\tbad\n1\tIl cane dorme.\tIl cane dormono.\n2\tLa casa brucia.\tLa casa.\n"
    return open_suite(write(tmp_path / "coppie.tsv", table)).suite


def test_perplexity_and_its_ratio():
    # four tokens a sentence, two bits each; the last condition's third token costs 6
    first, second = perplexities(island_run({"longisland": 6.0}))
    assert (first.phenomenon, first.kind, first.n) == ("se", "PPL", (6, 2))
    assert first.acceptable == pytest.approx(4.0)
    assert first.unacceptable == pytest.approx(2 ** (12 / 4))
    assert first.ratio == pytest.approx(2.0)
    assert first.by_condition["short_island"] == pytest.approx(4.0)
    assert second.n == (3, 1)


def test_of_pairs_the_bad_one_is_unacceptable(pairs):
    (perplexity,) = perplexities(evaluate(pairs, scorer({"dormono": 10.0})))
    # bad: 2 2 10 2 and 2 2 2 bits
    assert perplexity.acceptable == pytest.approx(4.0)
    assert perplexity.unacceptable == pytest.approx(2 ** (22 / 7))
    assert perplexity.n == (2, 2)


def test_what_has_no_perplexity_says_why():
    run = island_run({}, None)
    bare = evaluate(SUITE, uniform_scorer(4), predictions=(FORMULAS[1],))
    assert perplexities(run)[0].reason is None
    perplexity = perplexities(bare)[0]
    # only two of the four conditions were asked about
    assert perplexity.by_condition["short_island"] is None
    assert "not asked" in (perplexity.reason or "")


def test_the_worst_sentences_come_first_with_their_worst_token():
    rows = worst_items(island_run({"longisland": 6.0, "2": 9.0}), count=3).rows(named=True)
    assert (rows[0]["item"], rows[0]["condition"]) == ("2", "long_island")
    assert rows[0]["value"] == pytest.approx(-19 / 4 * LN2)
    assert (rows[0]["token"], rows[0]["token_bits"]) == ("2", pytest.approx(9.0))
    assert [row["item"] for row in rows] == ["2", "2", "2"]
    by_surprisal = worst_items(island_run({"longisland": 6.0}), measure="surprisal-bits", count=1)
    assert by_surprisal.select("condition", "token").row(0) == ("long_island", "longisland")


def test_one_table_over_suites_of_any_kind(pairs):
    runs = [island_run({"longisland": 6.0}), evaluate(pairs, scorer({"dormono": 10.0}))]
    cells = pivot(runs)
    assert [(cell.suite, cell.phenomenon, cell.what, cell.accuracy) for cell in cells] == [
        ("prova", "se", "mean of pairs", 1.0),
        ("prova", "np", "mean of pairs", 1.0),
        ("coppie", "coppie", "good", 0.5),
    ]
    *_, suites, designs = as_csv(pivot_grid(cells)).splitlines()
    # A pair of conditions is not a prediction: the design has a mean of its own.
    few = "1 suite: an interval needs 5 or more"
    assert suites == f"Mean over suites,,,suites,50.0,1,50.0,,,1,{few}"
    assert designs == f"Mean over designs,,,designs,50.0,1,100.0,,,1,{few}"
    assert "designs, whose main number is DD, have a mean of their own" in " ".join(
        grid_as_text(pivot_grid(cells)).split()
    )
    both = pivot(runs, ["lp,penlp"])
    assert {cell.measure for cell in both} == {"lp", "penlp"}
    with pytest.raises(UsageError, match="no such measure"):
        pivot(runs, ["lpp"])


def test_the_command_prints_them(tmp_path, capsys):
    folder = str(island_run({"longisland": 6.0}, tmp_path / "runs").folder)
    for name, shown in (("perplexity", "ratio"), ("lowest", "longisland"), ("phenomena", "prova")):
        assert invoke(["report", folder, "--table", name]) == 0
        assert shown in capsys.readouterr().out


def cell(suite, accuracy, chance, what="prediction"):
    return PivotCell(
        suite=suite, language="it", phenomenon="x", what=what, model="m", measure="",
        accuracy=accuracy, low=accuracy - 0.1, high=accuracy + 0.1, n=20, chance=chance,
    )  # fmt: skip


def test_no_mean_mixes_pairs_of_designs_with_predictions():
    plain = [cell(f"s{k}", 0.6 + k / 50, 0.5) for k in range(5)]
    designs = [cell(f"d{k}", 0.9, 0.5, "mean of pairs") for k in range(3)]
    suites, pairs = pivot_grid([*plain, *designs]).text[-2:]
    # (.60 + .62 + .64 + .66 + .68) / 5, and three times .9; all eight together would be .7375.
    assert suites[:6] == ("Mean over suites", "", "", "suites", "50.0", "5")
    assert suites[6].startswith("64.0 [")
    assert pairs[:7] == ("Mean over designs", "", "", "designs", "50.0", "3", "90.0")


def test_two_suites_have_no_interval_of_their_mean():
    grid = pivot_grid(
        [cell("a", 0.6, 0.5), dataclasses.replace(cell("b", 0.8, 0.5), phenomenon="y")]
    )
    few = "2 phenomena: an interval needs 5 or more"
    assert as_csv(grid).splitlines()[-1] == f"Mean over suites,,,suites,50.0,2,70.0,,,2,{few}"
    assert "fewer than 5 phenomena." in grid_as_text(grid)


def test_no_mean_mixes_levels_of_chance():
    halves = [cell(f"h{k}", 0.6 + k / 100, 0.5) for k in range(5)]
    thirds = [cell("t", 0.4, 1 / 3, "all predictions"), cell("u", 0.5, None)]
    grid = pivot_grid([*halves, *thirds])
    third, half = grid.text[-2:]
    assert third == ("Mean over suites", "", "", "suites", "33.3", "1", "40.0")
    assert half[:6] == ("Mean over suites", "", "", "suites", "50.0", "5")
    assert half[6].startswith("62.0 [")
    assert grid.text[0][5:] == ("20", "60.0 [50.0, 70.0]")


def test_means_are_for_other_phenomena_and_on_request_for_other_items():
    cells = [
        dataclasses.replace(cell(f"s{k}", 0.6 + k / 50, 0.5), phenomenon=f"p{k // 2}")
        for k in range(10)
    ]
    grid = pivot_grid(cells, these_suites=True)
    over, these = grid.rows[-2:]
    rates = [one.accuracy for one in cells]
    by_two = Design(tuple(range(10)), tuple(k // 2 for k in range(10)))
    expected = mean_of(rates, by_two, seed=0)
    assert (over[6].low, over[6].high) == pytest.approx((100 * expected.low, 100 * expected.high))
    # Ten intervals of ±10 points: 10 / sqrt(10)
    assert these[6].high - these[6].value == pytest.approx(10 / 10**0.5)
    assert these[3] == "these suites"
    assert len(pivot_grid(cells).rows) == len(grid.rows) - 1


def test_suites_without_predictions_are_named_below_and_have_no_row():
    unjudged = dataclasses.replace(
        cell("ratings", 0.0, None),
        accuracy=None,
        low=None,
        high=None,
        reason="the suite has no predictions",
    )
    grid = pivot_grid([unjudged, cell("one", 0.5, 0.5)])
    assert "ratings" not in {row[0] for row in grid.text}
    assert "Without predictions: ratings." in grid.notes
    assert pivot_grid([unjudged]).text[0][0] == "ratings"


def test_one_suite_has_no_mean_over_suites():
    grid = pivot_grid(
        [cell("one", 0.6, 0.5), dataclasses.replace(cell("one", 0.7, 0.5), phenomenon="y")]
    )
    assert [row[2] for row in grid.text] == ["x", "y"]
    assert (grid.title, grid.notes[0]) == ("Accuracy in % by phenomenon.", "n: items.")


def test_a_mean_over_suites_says_that_it_is_of_means_over_phenomena():
    said = "A suite with several phenomena enters a mean with the mean over them."
    two = [cell("one", 0.6, 0.5), cell("two", 0.8, 0.5)]
    more = dataclasses.replace(cell("one", 0.0, 0.5), phenomenon="y")
    grid = pivot_grid([*two, more])
    assert grid.text[-1][-1].startswith("55.0")
    assert said in grid.notes
    assert said not in pivot_grid(two).notes

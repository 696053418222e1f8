"""Effects of factorial designs; oracles: hand calculation and ../shared/golden/islands."""

from __future__ import annotations

import csv
import json
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import Meta, Suite, UsageError
from cimento.io.values import NoValue
from cimento.measures.normalizing import NORMALIZATIONS, equal_bins, normalize
from cimento.measures.sentence import length_penalty
from cimento.paradigms.ratings.probe import labeled_sentences
from cimento.paradigms.regions.factorial import factorial
from cimento.paradigms.regions.two_by_two import (
    NOT_IN_DESIGN,
    ONE_ITEM,
    effects_of,
    effects_of_means,
)
from cimento.statistics.means import without_noise
from cimento.suites import Condition, Item, Prediction, Region
from cimento.suites.design import ISLAND_CONDITIONS, squares, with_design
from tests.helpers.designs import island_suite, scores

TWO_ITEMS = {"1": (-10.0, -11.0, -12.0, -20.0), "2": (-9.0, -12.0, -11.0, -13.0)}


def test_effects_by_hand():
    (phenomenon,) = factorial(island_suite({"se": ["1", "2"]}), scores(TWO_ITEMS))
    raw = phenomenon.effects["raw"]
    # means -9.5 -11.5 -11.5 -16.5
    assert [cell.mean for cell in raw.cells] == [-9.5, -11.5, -11.5, -16.5]
    assert raw.cells[3].sd == pytest.approx(4.949747468305833)  # sqrt(3.5^2 * 2)
    assert raw.cells[3].se == pytest.approx(3.5)
    assert (raw.length_effect, raw.structure_effect, raw.total_effect) == (2.0, 2.0, 7.0)
    assert raw.dd == 3.0
    assert raw.item_dds == (7.0, -1.0)  # (9 - 2), (1 - 2)
    assert [pair.accuracy for pair in phenomenon.pairs] == [1.0, 1.0, 1.0]
    assert phenomenon.super_additive.accuracy == 0.5
    assert phenomenon.average == 1.0


def test_ties_are_no_passes():
    rows = {"1": (-5.0, -6.0, -5.0, -5.0), "2": (-5.0, -5.0, -5.0, -5.0)}
    (phenomenon,) = factorial(island_suite({"se": ["1", "2"]}), scores(rows))
    short, long, island = phenomenon.pairs
    assert (short.passed, short.tied, short.accuracy) == (0, 2, 0.0)
    assert (long.n, long.passed, long.tied) == (2, 0, 1)
    assert island.tied == 2
    assert phenomenon.super_additive.tied == 1


def test_a_missing_cell_is_null_with_its_reason():
    rows = {"1": (-10.0, -11.0, -12.0, None), "2": (-9.0, -12.0, -11.0, None)}
    (phenomenon,) = factorial(island_suite({"se": ["1", "2"]}), scores(rows))
    raw = phenomenon.effects["raw"]
    assert raw.length_effect == 2.0
    assert raw.dd is None
    assert raw.total_effect is None
    assert raw.reason == "long_island: not asked"
    assert raw.items[0].reason == "long_island: not asked"
    assert [pair.accuracy for pair in phenomenon.pairs] == [None] * 3
    assert phenomenon.pairs[0].unscored == 2
    assert phenomenon.pairs[0].interval.reason
    assert phenomenon.average is None


def test_a_design_without_a_condition_has_no_dd():
    suite = island_suite({"se": ["1"]})
    items = tuple(
        type(item)(item.id, tuple(c for c in item.conditions if c.name != "long_island"))
        for item in suite.items
    )
    suite = Suite(suite.meta, suite.region_names, (), items, factors=suite.factors)
    (phenomenon,) = factorial(suite, scores({"1": (1.0, 2.0, 3.0, 4.0)}))
    assert phenomenon.effects["raw"].dd is None
    assert NOT_IN_DESIGN in (phenomenon.effects["raw"].reason or "")


def test_fewer_than_two_items_have_no_standard_error():
    (phenomenon,) = factorial(island_suite({"se": ["1"]}), scores({"1": (4.0, 3.0, 2.0, 0.0)}))
    cell = phenomenon.effects["raw"].cells[0]
    assert (cell.mean, cell.sd, cell.se, cell.reason) == (4.0, None, None, ONE_ITEM)


def test_all_scores_equal_give_no_normalized_effects():
    rows = {"1": (2.0,) * 4, "2": (2.0,) * 4}
    (phenomenon,) = factorial(island_suite({"se": ["1", "2"]}), scores(rows))
    assert phenomenon.effects["raw"].dd == 0.0
    for kind in NORMALIZATIONS[1:]:
        assert phenomenon.effects[kind].dd is None
        assert "all scores are equal" in (phenomenon.effects[kind].reason or "")


def test_the_scope_says_what_is_pooled():
    rows = {"1": (4.0, 3.0, 2.0, 0.0), "2": (40.0, 30.0, 20.0, 0.0)}
    suite = island_suite({"se": ["1"], "np": ["2"]})
    whole = factorial(suite, scores(rows), scope="suite")
    apart = factorial(suite, scores(rows), scope="phenomenon")
    assert apart[0].effects["z"].dd == pytest.approx(apart[1].effects["z"].dd)
    assert whole[0].effects["z"].dd == pytest.approx(whole[1].effects["z"].dd / 10)
    assert whole[0].effects["z"].scope == "suite"


def test_a_suite_without_factors_is_refused():
    with pytest.raises(UsageError, match="two factors"):
        factorial(Suite(Meta("x"), ("sentence",), (), ()), {})


@settings(deadline=None)
@given(st.lists(st.tuples(*[st.integers(-50, 50)] * 4), min_size=1, max_size=8))
def test_dd_is_the_total_less_the_other_two_and_the_mean_of_the_items(rows):
    ids = [str(number) for number in range(len(rows))]
    (square,) = squares(island_suite({"se": ids}))
    effects = effects_of(square, scores(dict(zip(ids, rows, strict=True))), ids)
    assert effects.dd is not None
    assert effects.total_effect is not None
    parts = effects.total_effect - (effects.length_effect + effects.structure_effect)
    assert effects.dd == pytest.approx(parts)
    assert effects.dd == pytest.approx(sum(effects.item_dds) / len(rows))


def test_what_only_rounding_sets_apart_is_equal():
    assert without_noise([0.1 + 0.2, 0.3], scale=1.0) == [0.1 + 0.2] * 2
    assert without_noise([3e-15, -3e-15, 5.0], scale=50.0) == [0.0, 0.0, 5.0]
    assert without_noise([0.3, 0.3001], scale=1.0) == [0.3, 0.3001]
    assert without_noise([], scale=0.0) == []


# --- ../shared/golden/islands/pipeline_expected.json


@pytest.fixture(scope="module")
def golden(shared):
    folder = shared / "golden" / "islands"
    expected = json.loads((folder / "pipeline_expected.json").read_text(encoding="utf-8"))
    return folder, expected


def read(path, column):
    """The rows of an input table as a suite and its scores."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    by_item, items = {}, {}
    for row in rows:
        item = f"{row['island']}-{row['item']}"
        by_item.setdefault(item, {})[row["condition"]] = float(row[column])
        if item not in items.setdefault(row["island"], []):
            items[row["island"]].append(item)
    return island_suite(items), by_item


@pytest.mark.golden
@pytest.mark.parametrize(
    ("name", "file", "column"),
    [
        ("A_human_item_mean_z_english_wh", "pipeline_A_input_and_scores.csv", "mean_z"),
        ("B_madeup_lp", "pipeline_B_input.csv", "lp"),
        ("B_madeup_penlp", "pipeline_B_input.csv", "penlp"),
    ],
)
def test_the_likert_pipeline_is_the_published_one(golden, name, file, column):
    folder, whole = golden
    expected = whole[name]
    suite, values = read(folder / file, column)
    bins = equal_bins([x for item in values.values() for x in item.values()])
    assert not isinstance(bins, NoValue)
    assert bins.edges == pytest.approx(expected["bins"], abs=1e-9)
    for phenomenon in factorial(suite, values):
        want = expected["phenomena"][phenomenon.name]
        assert phenomenon.n_items == want["n_items"]
        for kind, key in (("raw", "raw"), ("z", "z_raw"), ("likert-z", "z_likert")):
            effects = phenomenon.effects[kind]
            for cell, condition in zip(effects.cells, ISLAND_CONDITIONS, strict=True):
                assert cell.mean == pytest.approx(want[f"mean_{key}"][condition], abs=2e-8)
                assert cell.se == pytest.approx(want[f"se_{key}"][condition], abs=2e-8)
            assert effects.dd == pytest.approx(want[f"DD_{key}"], abs=2e-8)
        assert phenomenon.effects["raw"].item_dds == pytest.approx(want["item_DD"], abs=2e-8)
        assert phenomenon.super_additive.accuracy == want["items_DD_positive"]
        accuracies = [want["accuracy_vs_long_island"][name] for name in ISLAND_CONDITIONS[:3]]
        assert [pair.accuracy for pair in phenomenon.pairs] == accuracies


@pytest.mark.golden
def test_dd_of_published_vectors_and_edges_of_bins(golden):
    _, expected = golden
    for vector in expected["D_dd_vectors"]:
        effects = effects_of_means([vector[name] for name in ISLAND_CONDITIONS])
        names = ("length_effect", "structure_effect", "total_effect", "DD")
        assert effects == pytest.approx([vector[name] for name in names])
    for key, values in (("E_likert", "all_scores"), ("E_likert_edges", "scores")):
        bins = equal_bins(expected[key][values])
        assert not isinstance(bins, NoValue)
        assert bins.edges == pytest.approx(expected[key]["bins"], abs=1e-9)
        assert [bins.point(x) for x in expected[key][values]] == expected[key]["likert"]


@pytest.mark.golden
def test_likert_and_z_of_every_sentence(golden):
    folder, _ = golden
    with (folder / "pipeline_A_input_and_scores.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    values = [float(row["mean_z"]) for row in rows]
    for kind, column in (("likert", "likert"), ("z", "z_raw"), ("likert-z", "z_likert")):
        expected = [float(row[column]) for row in rows]
        assert normalize(values, kind) == pytest.approx(expected, abs=1e-12)


@pytest.mark.golden
def test_length_penalties(golden):
    _, expected = golden
    for name, penalties in expected["C_penalty"].items():
        alpha = float(name.removeprefix("alpha="))
        for n, penalty in penalties.items():
            assert length_penalty(int(n), alpha=alpha) == pytest.approx(penalty, abs=1e-9)


JUDGED = {"good": ("grammatical", "ungrammatical"), "plural": ("plural", "singular")}
"""Factors of a design of attraction, in which DD is the difference of two differences."""


def attraction(predictions=()):
    """One item of an attraction design with cells A to D: good and bad, plural and singular."""
    cells = zip("ABCD", product(*JUDGED.values()), strict=True)
    conditions = tuple(
        Condition(name, (Region(name),), {**dict(zip(JUDGED, levels, strict=True))})
        for name, levels in cells
    )
    items = tuple(Item(id_, conditions) for id_ in "12")
    return Suite(Meta("x"), ("sentence",), tuple(predictions), items, factors=JUDGED)


def of_cells(*rows):
    """Scores of the cells A to D of items 1, 2 and so on."""
    names = map(str, range(1, len(rows) + 1))
    return {id_: dict(zip("ABCD", row, strict=True)) for id_, row in zip(names, rows, strict=True)}


def rates(suite, given):
    """The comparisons of a suite, each with its proportion of items."""
    (phenomenon,) = factorial(suite, given)
    return {pair.name: pair.accuracy for pair in phenomenon.pairs}


def test_good_sentences_are_compared_with_bad_ones_as_the_design_predicts():
    # A is good and C bad in the plural, B good and D bad in the singular. Both of D's are worst.
    given = of_cells((-1.0, -5.0, -2.0, -9.0), (-3.0, -5.0, -2.0, -9.0))
    designed = with_design(attraction())
    assert [one.name for one in designed.predictions] == ["DD", "A over C", "B over D"]
    expected = {"A over C": 0.5, "B over D": 1.0}  # A > C in item 1 alone; B > D in both
    assert rates(designed, given) == rates(attraction(), given) == expected


def test_a_suite_s_own_predictions_say_which_cells_are_compared():
    own = [Prediction("(*;%B%) < (*;%A%) & (*;%D%) > (*;%C%)", name="mine")]
    given = of_cells((-1.0, -5.0, -2.0, -9.0), (-6.0, -5.0, -2.0, -9.0))
    assert rates(attraction(own), given) == {"B over A": 0.5, "C over D": 1.0}


def test_a_prediction_of_dd_alone_leaves_the_comparisons_of_the_design():
    dd = with_design(attraction()).predictions[:1]
    assert [*rates(attraction(dd), of_cells((1.0,) * 4, (1.0,) * 4))] == ["A over C", "B over D"]


def test_of_a_design_with_the_judgment_as_a_factor_all_bad_sentences_are_unacceptable():
    (square,) = squares(attraction())
    assert [cell.name for cell in square.bad] == ["C", "D"]
    labeled = labeled_sentences(with_design(attraction()))
    assert [*labeled.acceptable] == [True, True, False, False] * 2  # A to D of two items
    (islands,) = squares(island_suite({"se": ["1"]}))
    assert [cell.name for cell in islands.bad] == ["long_island"]

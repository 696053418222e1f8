"""Wh-licensing; oracles: hand calculation and the published numbers of Wilcox et al. 2023."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from itertools import product

import pytest

from cimento import Condition, InputError, Item, Meta, Region, Suite, evaluate
from cimento.cli.main import invoke
from cimento.io.values import BITS_PER_NAT, NoValue
from cimento.measures.regions import RegionValues
from cimento.paradigms.regions.judging import values_of
from cimento.paradigms.regions.licensing import effects_of_items, licensing_effects
from cimento.paradigms.regions.text import design_grids
from cimento.report.grid import grid_as_text
from cimento.suites.checks import check_suite
from cimento.suites.licensing import Licensing, licensing_of, regions_measured
from cimento.testing.models import uniform_scorer

FACTORS = {"filler": ("what", "that"), "gap": ("gap", "full"), "island": ("none", "whether")}
DECLARED = {
    "filler": "filler",
    "gap": "gap",
    "island": "island",
    "windows": {"after": {"gap": [3], "full": 2}, "rest": {"gap": [2, 3], "full": [2, 3]}},
}


def suite(declared=DECLARED, *, islands=("none", "whether")) -> Suite:
    factors = {**FACTORS, "island": islands}
    conditions = tuple(
        Condition("_".join(cell), tuple(map(Region, "abc")), dict(zip(factors, cell, strict=True)))
        for cell in product(*factors.values())
    )
    return Suite(
        meta=Meta("licenze", language="it"),
        region_names=("one", "two", "three"),
        predictions=(),
        items=(Item("1", conditions), Item("2", conditions)),
        factors=factors,
        extra={"licensing": declared},
    )


# Regions two and three of each cell of item 1.
BITS = {
    "what_gap_none": (0.0, 2.0),
    "that_gap_none": (0.0, 5.0),
    "what_full_none": (7.0, 1.0),
    "that_full_none": (3.0, 1.0),
    "what_gap_whether": (0.0, 4.0),
    "that_gap_whether": (0.0, 4.5),
    "what_full_whether": (4.0, 1.0),
    "that_full_whether": (3.5, 2.0),
}


def values(*, unit="bits", second=BITS) -> RegionValues:
    def item(cells):
        return {
            name: (1.0, *(NoValue("cut") if x is None else x for x in pair))
            for name, pair in cells.items()
        }

    return RegionValues(unit=unit, metric="sum", values={"1": item(BITS), "2": item(second)})


def estimates(suite_, values_, window="after"):
    """The effects of a suite, by name and island."""
    effects = licensing_effects(suite_, values_, model="m", seed=0)
    return {
        (effect.question.removeprefix(f"{window}: "), effect.level): effect
        for effect in effects
        if effect.question.startswith(f"{window}: ")
    }


def by_name(effects):
    return {(effect.name, effect.island): effect for effect in effects}


def test_effects_by_hand():
    second = {**BITS, "what_gap_none": (0.0, 4.0)}
    effects = estimates(suite(), values(second=second))
    # with a gap: 2 - 5 = -3 and 4 - 5 = -1; without: 7 - 3 = 4
    assert effects["filler effect, gap", "none"].value == -2.0
    assert effects["filler effect, full", "none"].value == 4.0
    assert effects["wh-licensing", "none"].value == (7.0 + 5.0) / 2
    # inside the island: 0.5 without a gap, -0.5 with one
    assert effects["wh-licensing", "whether"].value == 1.0
    assert effects["reduction by the island", "whether"].value == (6.0 + 4.0) / 2
    # Two items are too few for an interval or a test.
    assert effects["reduction by the island", "whether"].p is None


def test_effects_of_items_by_hand():
    def cells(bits):
        return {tuple(name.split("_")): pair[1] for name, pair in bits.items() if "gap" in name} | {
            tuple(name.split("_")): pair[0] for name, pair in bits.items() if "full" in name
        }

    second = {**BITS, "what_gap_none": (0.0, 4.0)}
    effects = by_name(
        effects_of_items(licensing_of(suite()), {"1": cells(BITS), "2": cells(second)}, seed=0)
    )
    assert effects["filler effect, gap", "none"].items == {"1": -3.0, "2": -1.0}
    assert effects["filler effect, gap", "none"].se_bits == pytest.approx(1.0)
    assert effects["wh-licensing", "none"].items == {"1": 7.0, "2": 5.0}
    assert effects["reduction by the island", "whether"].items == {"1": 6.0, "2": 4.0}


def test_over_a_region():
    effects = estimates(suite(), values(), window="rest")
    assert effects["wh-licensing", "none"].value == 7.0
    assert effects["wh-licensing", "whether"].value == pytest.approx((5.0 - 5.5) - (4.0 - 4.5))


def test_nats_are_shown_in_bits():
    effects = estimates(suite(), values(unit="nats"))
    assert effects["wh-licensing", "none"].value == pytest.approx(7 * BITS_PER_NAT)


def test_what_has_no_score_is_null_with_its_reason():
    cut = dict.fromkeys(BITS, (None, None))
    one = estimates(suite(), values(second=cut))["wh-licensing", "none"]
    assert (one.n, one.p) == (1, None)
    whole = values(second=cut)
    nothing = RegionValues("bits", "sum", {"1": whole.values["2"], "2": whole.values["2"]})
    none = estimates(suite(), nothing)["wh-licensing", "none"]
    assert (none.n, none.value, none.reason) == (0, None, "cut")


def test_without_an_island_there_is_no_island_term():
    declared = {key: value for key, value in DECLARED.items() if key != "island"}
    plain = replace(suite(declared), factors={k: FACTORS[k] for k in ("filler", "gap")})
    names = {name for name, _ in estimates(plain, values())}
    assert names == {"filler effect, gap", "filler effect, full", "wh-licensing"}


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        (3, "is not a table"),
        ({**DECLARED, "filler": "filer"}, "Did you mean 'filler'"),
        ({**DECLARED, "gap": ""}, "gap is missing"),
        ({**DECLARED, "windows": {}}, "windows are missing"),
        ({**DECLARED, "windows": {"after": {"gap": [1]}}}, "does not give regions for gap and"),
        ({**DECLARED, "windows": {"after": {"gap": [0], "full": [1]}}}, r"has \[0\] for gap"),
    ],
)
def test_declarations_that_cannot_be_used(declared, message):
    made = suite(declared)
    with pytest.raises(InputError, match=message):
        licensing_of(made)
    faults = [fault for fault in check_suite(made) if fault.code == "CIM-S034"]
    assert len(faults) == 1
    assert regions_measured(made) == {}


def test_suites_that_declare_nothing():
    assert estimates(replace(suite(), extra={}), values()) == {}


def test_the_starter_suite_is_measured_and_shown(tmp_path, capsys):
    run = evaluate("en-filler-gap", uniform_scorer(4), output=tmp_path / "runs")
    effects = licensing_effects(run.suite, values_of(run), model="m", seed=0)
    assert {effect.question.partition(": ")[0] for effect in effects} == {
        "at the gap",
        "to the end",
    }
    # Every word costs two bits, so a filler makes no difference.
    at_gap = estimates(run.suite, values_of(run), window="at the gap")
    assert {effect.value for effect in at_gap.values()} == {0.0}
    # A window may name regions that no prediction does; they are asked for too.
    to_end = estimates(run.suite, values_of(run), window="to the end")
    assert {effect.n for effect in to_end.values()} == {len(run.suite.items)}
    assert invoke(["report", str(run.folder), "--table", "licensing"]) == 0
    table = capsys.readouterr().out
    assert "wh-licensing" in table
    [made] = design_grids([run])
    assert grid_as_text(made.grid).split() == table.split()


@pytest.mark.golden
def test_three_way_terms_are_those_of_wilcox_2023(shared):
    path = shared / "data" / "islands" / "wilcox_style" / "wilcox2023_wh_islands_by_item.csv"
    expected = json.loads(
        (shared / "golden" / "islands" / "wh_islands_wilcox2023.json").read_text(encoding="utf-8")
    )
    design = Licensing(
        filler="wh",
        gap="gap",
        island="island",
        levels={"wh": ("what", "that"), "gap": ("gap", "nogap"), "island": ("nocomp", "wh")},
        windows={},
    )
    cells: dict[str, dict[str, dict]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            items = cells.setdefault(row["model"], {}).setdefault(row["item"], {})
            items[row["wh"], row["gap"], row["island"]] = float(row["surprisal"])
    for model, want in expected["models"].items():
        effects = by_name(effects_of_items(design, cells[model], seed=0))
        for key, published in want["filler_effect"].items():
            island, gap = key.split("|")
            mean = effects[f"filler effect, {gap}", island].mean.value
            assert mean == pytest.approx(published["mean"], abs=1e-6)
        for island, published in want["wh_licensing_interaction"].items():
            effect = effects["wh-licensing", island]
            assert effect.mean.value == pytest.approx(published["mean"], abs=1e-6)
            assert effect.se_bits == pytest.approx(published["se"], abs=1e-6)
        term = effects["reduction by the island", "wh"]
        assert term.mean.value == pytest.approx(want["published_estimate"], abs=1e-8)

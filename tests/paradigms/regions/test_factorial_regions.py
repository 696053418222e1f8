"""DD by region, by hand: where in the sentence the difference of differences arises."""

from __future__ import annotations

import dataclasses
import math

import pytest

from cimento import InputError, Region, evaluate
from cimento.cli.main import invoke
from cimento.io.values import NoValue
from cimento.measures.regions import RegionValues
from cimento.paradigms.regions.chance import NearTies
from cimento.paradigms.regions.estimates import region_dds_of
from cimento.paradigms.regions.factorial_tables import regions_grid
from cimento.paradigms.regions.text import region_text
from cimento.paradigms.regions.two_by_two import SAME_READING, region_dds
from cimento.suites.checks import check_suite
from cimento.suites.design import ISLAND_CONDITIONS, windows_of
from cimento.testing import FakeScorer
from tests.helpers.designs import island_suite
from tests.helpers.some_slow import some_slow

NAMES = ("matrix", "joint", "rest")
N_ITEMS = 8


def suite_of(windows=None, names=NAMES):
    plain = island_suite({"subject": [str(k) for k in range(N_ITEMS)]})
    items = tuple(
        dataclasses.replace(
            item,
            conditions=tuple(
                dataclasses.replace(
                    condition, regions=tuple(Region(f"{name}{item.id}") for name in names)
                )
                for condition in item.conditions
            ),
        )
        for item in plain.items
    )
    extra = {} if windows is None else {"design": {"windows": windows}}
    return dataclasses.replace(plain, region_names=names, items=items, extra=extra)


def values_of(cost, unit="bits"):
    """Surprisals of the three regions: `cost` of the matrix clause of long islands alone."""
    return RegionValues(
        unit=unit,
        metric="sum",
        values={
            str(k): {
                name: (
                    5.0 + (cost + k % 2 if name == "long_island" else 0.0),
                    3.0,
                    7.0 - (4.0 if name == "long_island" else 0.0),
                )
                for name in ISLAND_CONDITIONS
            }
            for k in range(N_ITEMS)
        },
    )


def table(dds):
    return {window(dd): (dd.n, dd.value) for dd in dds}


def window(estimate):
    return estimate.question.removeprefix("DD: ")


def test_an_effect_of_the_matrix_clause_is_not_one_of_the_embedded_clause():
    dds = region_dds(suite_of(), values_of(22.0), model="m")
    assert table(dds) == {
        "sentence": (N_ITEMS, 18.5),  # 22.5 - 4
        "matrix": (N_ITEMS, 22.5),
        "joint": (N_ITEMS, 0.0),
        "rest": (N_ITEMS, -4.0),
    }
    matrix = dds[1]
    assert matrix.low is not None
    assert matrix.high is not None
    assert 21.5 < matrix.low < 22.5 < matrix.high < 23.5


def _moved(bits):
    """Values whose DD in the second region is so many bits times 1 to 1.1, by the item."""
    values = values_of(22.0)
    moved = {
        item: {
            name: (
                parts[0],
                parts[1] + (bits * (1 + int(item) / 100) if name == "long_island" else 0.0),
                parts[2],
            )
            for name, parts in conditions.items()
        }
        for item, conditions in values.values.items()
    }
    return dataclasses.replace(values, values=moved)


def test_a_dd_below_the_error_of_a_margin_is_shown_with_a_note():
    near = NearTies(1.3, "the error of bfloat16")
    dds = region_dds(suite_of(), _moved(0.6), model="m", near=near)
    joint = {window(dd): dd for dd in dds}["joint"]
    assert 0.6 < joint.low < joint.value < joint.high < 0.7
    assert joint.reason == ""
    assert (joint.near_tied, joint.n) == (N_ITEMS, N_ITEMS)
    notes = " ".join(regions_grid(dds).notes)
    assert "No item's DD exceeds the error of a single margin, 1.3 bits (the error of bf" in notes
    assert "in: joint." in notes


def test_only_what_is_the_same_by_construction_is_zero():
    def same(_square, _item, regions):
        return tuple(regions) == (2,)

    dds = region_dds(suite_of(), _moved(0.6), model="m", same=same)
    joint = {window(dd): dd for dd in dds}["joint"]
    assert (joint.value, joint.low, joint.reason) == (0.0, None, SAME_READING)
    assert table(dds)["matrix"] == (N_ITEMS, 22.5)


def rounded(tokens, index):
    """Scores of a causal model, with an error that depends on the batch: here, on the sentence."""
    return -1.0 - index + 1e-4 * (sum(map(len, tokens)) % 5)


def test_the_text_decides_what_a_causal_model_cannot_tell_apart():
    suite = island_suite({"subject": [str(k) for k in range(N_ITEMS)]})
    items = tuple(
        dataclasses.replace(
            item,
            conditions=tuple(
                dataclasses.replace(
                    condition,
                    regions=(
                        Region("Who"),
                        Region(f"x{number}" * (number + 1)),
                        Region(f"y{item.id}" * (3 * (number == 3) + 1)),
                    ),
                )
                for number, condition in enumerate(item.conditions)
            ),
        )
        for item in suite.items
    )
    suite = dataclasses.replace(suite, region_names=("start", "middle", "end"), items=items)
    dds = {}
    for kind in ("causal", "masked"):
        scorer = FakeScorer(rounded)
        scorer._card = dataclasses.replace(scorer.card, kind=kind)
        run = evaluate(suite, scorer)
        dds[kind] = {window(dd): dd for dd in region_dds_of(run)}
    assert (dds["causal"]["start"].value, dds["causal"]["start"].reason) == (0.0, SAME_READING)
    # A masked model reads what follows, so that nothing there is the same by construction.
    assert dds["masked"]["start"].value != 0
    assert dds["masked"]["start"].reason != SAME_READING
    assert dds["causal"]["end"].reason != SAME_READING


def test_nats_become_bits():
    (whole, *_) = region_dds(suite_of(), values_of(22.0, unit="nats"), model="m")
    assert whole.value == pytest.approx(18.5 / math.log(2))


def test_a_suite_says_which_regions_belong_together():
    suite = suite_of({"main": [1], "embedded": [2, 3]})
    dds = region_dds(suite, values_of(0.0), model="m")
    assert list(table(dds)) == ["sentence", "main", "embedded"]
    assert table(dds)["embedded"] == (N_ITEMS, -4.0)


def test_sentences_of_one_region_have_no_parts():
    suite = suite_of(names=("sentence",))
    assert region_dds(suite, values_of(0.0), model="m") == ()


def test_what_was_not_scored_is_null_with_its_reason():
    values = values_of(0.0)
    gone = {
        item: {
            name: (scored[0], NoValue("not asked for"), scored[2])
            for name, scored in conditions.items()
        }
        for item, conditions in values.values.items()
    }
    dds = region_dds(suite_of(), dataclasses.replace(values, values=gone), model="m")
    by_window = {window(dd): dd for dd in dds}
    assert by_window["matrix"].n == N_ITEMS
    for name in ("sentence", "joint"):
        assert by_window[name].n == 0
        assert by_window[name].value is None
        assert "not asked for" in by_window[name].reason


@pytest.mark.parametrize(
    "windows", some_slow([[1], {"main": []}, {"main": [4]}, {"main": [1, 1]}, {"m": "a"}], quick=3)
)
def test_a_declaration_that_cannot_be_used_is_refused(windows, tmp_path, capsys):
    suite = suite_of(windows)
    with pytest.raises(InputError, match="counted from 1 to 3"):
        windows_of(suite)
    assert "CIM-S034" in {fault.code for fault in check_suite(suite)}
    run = evaluate(suite, FakeScorer(lambda _t, _i: -1.0), output=tmp_path / "runs")
    assert "DD by region" not in region_text([run])
    assert invoke(["report", str(run.folder), "-o", str(tmp_path / "page.html")]) == 0
    assert invoke(["report", str(run.folder), "--table", "regions"]) == 2
    assert "[design.windows]" in capsys.readouterr().err


def test_show_and_report_show_it_and_run_says_where(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))
    runs = str(tmp_path / "runs")
    command = ["run", "it-islands", "-m", "demo-causal", "--limit", "10", "-o", runs]
    assert invoke(command) == 0
    printed = capsys.readouterr().out
    assert "DD by region" not in printed
    assert len(printed.splitlines()) <= 50
    assert f"More tables: cimento report {runs}/it-islands --table accuracy (or regions)" in printed
    assert f"Everything:  cimento show {runs}/it-islands" in printed
    assert invoke(["show", f"{runs}/it-islands"]) == 0
    shown = capsys.readouterr().out
    start = shown.index("DD by region")
    rows = [line.split() for line in shown[start:].splitlines()]
    cells = {row[0]: row[1:] for row in rows if row and row[0].endswith("_clause")}
    # The matrix clause is the same with and without the island, and nothing comes before it.
    assert cells["main_clause"][:2] == ["2", "0.00"]
    embedded = cells["embedded_clause"]
    assert embedded[0] == "2"
    assert float(embedded[1]) != 0.0
    out = tmp_path / "regions.csv"
    assert invoke(["report", runs, "--table", "regions", "-o", str(out)]) == 0
    assert "embedded_clause,2," in out.read_text(encoding="utf-8")
    page = tmp_path / "page.html"
    assert invoke(["report", runs, "-o", str(page)]) == 0
    assert "DD by region" in page.read_text(encoding="utf-8")

"""Items have the ids of the table that they come from, so that results can be joined with it."""

from __future__ import annotations

import polars as pl
import pytest

from cimento import evaluate, load_suite
from cimento.suites.load import inspect_suite
from cimento.testing import FakeScorer
from tests.helpers.command_line import invoke
from tests.helpers.rated_designs import sentences, write_rows


def named(rows):
    return [{**row, "condition": f"{row['distance']}_{row['structure']}"} for row in rows]


@pytest.mark.parametrize("with_conditions", [True, False])
def test_results_of_a_converted_table_are_joined_with_it_by_its_own_ids(tmp_path, with_conditions):
    rows = [*sentences()]
    table = write_rows(named(rows) if with_conditions else rows, tmp_path / "isole.csv")
    folder = tmp_path / "isole"
    assert invoke(["suites", "convert", str(table), "--language", "it", "-o", str(folder)]) == 0

    run = evaluate(folder, FakeScorer(lambda tokens, index: -float(len(tokens[index]))))
    outcomes = run.judge().outcomes()
    own = pl.read_csv(table).unique(subset="item").select("item", "phenomenon")
    joined = outcomes.join(own, on="item", how="left")
    assert {*outcomes["item"]} == {*own["item"]}
    assert {*joined["phenomenon"]} == {"whether", "adjunct"}


@pytest.mark.parametrize("with_conditions", [True, False])
def test_numbers_that_begin_anew_have_the_phenomenon_before_them_and_it_is_said(
    tmp_path, with_conditions
):
    rows = [*sentences(anew=True)]
    table = write_rows(named(rows) if with_conditions else rows, tmp_path / "isole.csv")
    suite, faults = inspect_suite(table)
    assert [item.id for item in suite.items][5:7] == ["whether-6", "adjunct-1"]
    (said,) = [fault for fault in faults if fault.code == "CIM-S065"]
    assert "item '1' is called 'whether-1'" in said.seen

    # Of one phenomenon, numbers are ids.
    alone = write_rows([*sentences(phenomena=["whether"], anew=True)], tmp_path / "una.csv")
    suite, faults = inspect_suite(alone)
    assert [item.id for item in suite.items] == ["1", "2", "3", "4", "5", "6"]
    assert not [fault for fault in faults if fault.code == "CIM-S065"]


def test_a_wrong_phenomenon_in_a_row_is_found_by_the_item_that_it_leaves(tmp_path):
    rows = [*sentences(anew=True)]
    rows[2]["phenomenon"] = "adjunct"
    table = write_rows(named(rows), tmp_path / "isole.csv")
    _, faults = inspect_suite(table)
    wrong = [fault for fault in faults if fault.severity == "error"]
    assert wrong
    assert any("whether-1" in str(fault) or "adjunct-1" in str(fault) for fault in wrong)


def test_load_suite_keeps_the_ids_of_a_workbook_too(tmp_path):
    table = write_rows([*sentences()], tmp_path / "isole.csv")
    book = tmp_path / "isole.xlsx"
    assert invoke(["suites", "convert", str(table), "--language", "it", "-o", str(book)]) == 0
    suite = load_suite(book).suite
    assert [item.id for item in suite.items][:2] == ["W01", "W02"]


@pytest.mark.parametrize("sides", [("Grammatical", "Ungrammatical"), ("good", "bad")])
@pytest.mark.parametrize(("heading", "columns"), [("item", {}), ("No.", {"item": "No."})])
def test_pairs_under_any_headings_keep_their_item_numbers(tmp_path, sides, heading, columns):
    rows = [
        {heading: 11, sides[0]: "Il cane dorme.", sides[1]: "Il cane dormono."},
        {heading: 13, sides[0]: "Le case sono belle.", sides[1]: "Le case sono bella."},
    ]
    table = write_rows(rows, tmp_path / "coppie.csv")
    suite = load_suite(table, language="it", columns=columns).suite
    assert [item.id for item in suite.items] == ["11", "13"]


def test_a_chosen_phenomenon_counts_in_a_table_of_published_form(tmp_path):
    rows = [{"Grammatical": "Il cane dorme.", "Ungrammatical": "Il cane dormono.", "Tipo": "verbo"}]
    table = write_rows(rows, tmp_path / "coppie.csv")
    suite = load_suite(table, language="it", columns={"phenomenon": "Tipo"}).suite
    assert [*suite.item_cells("phenomenon")] == ["verbo"]

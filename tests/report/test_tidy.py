"""Tables for programs: a label in every row, a name a column, numbers as they were computed."""

from __future__ import annotations

import io
import json
import math
import shutil
import subprocess

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento.documents import grid_file, sections_of, versions_apart
from cimento.kinds.run import open_runs
from cimento.report.cells import (
    PERCENT,
    Shown,
    count,
    ends,
    lower,
    no_ends,
    printed,
    repeated,
    upper,
)
from cimento.report.formatting import interval, number, p_number, percent, rate_as_text
from cimento.report.grid import EstimateCell, Grid, as_csv, as_markdown, grid_as_json
from tests.helpers.tidy_tables import check_table

RATE = EstimateCell(value=250 / 3, low=70.0, high=90.0, n=6, unit=PERCENT)
NONE = EstimateCell(value=None, low=None, high=None, n=0, reason="no items", unit=PERCENT)
GRID = Grid(
    title="t",
    header=("model", "measure", "accuracy, %", "DD", "95%", "p (Holm)", "parameters", "place"),
    rows=(
        ("a", "LP", RATE, number(-0.84704), interval(-1.0, 0.123456), p_number(0.0123), count(
            1279104, thousands=True), Shown("1-3", {"_best": 1, "_worst": 3})),
        (repeated("a"), "PenLP", NONE, number(None), no_ends("too few items"), p_number(None),
         count(None), Shown("2", {"_best": 2, "_worst": 2})),
    ),
    labels=2,
)  # fmt: skip


def columns(grid: Grid) -> dict[str, list[object]]:
    """The values of a table by the names of its columns."""
    return {column.name: list(column.values) for column in grid.tidy.columns}


def test_programs_get_labels_names_numbers_and_reasons():
    assert columns(GRID) == {
        "model": ["a", "a"],
        "measure": ["LP", "PenLP"],
        "accuracy_percent": [250 / 3, None],
        "accuracy_percent_low": [70.0, None],
        "accuracy_percent_high": [90.0, None],
        "accuracy_percent_n": [6, 0],
        "accuracy_percent_reason": [None, "no items"],
        "DD": [-0.84704, None],
        "DD_low": [-1.0, None],
        "DD_high": [0.123456, None],
        "DD_reason": [None, "too few items"],
        "p_Holm": [0.0123, None],
        "parameters": [1279104, None],
        "place_best": [1, 2],
        "place_worst": [3, 2],
    }
    check_table(as_csv(GRID), grid_as_json(GRID), labels=2)


def test_people_still_see_the_printed_layout():
    first, second = as_markdown(GRID).splitlines()[4:6]
    assert first.startswith("| a | LP | 83.3 [70.0, 90.0] | -0.847 | [-1.000, 0.123] |")
    assert second.startswith("|  | PenLP |  | - | too few items |")


def test_headings_of_one_name_become_columns_of_several():
    row = ("x", number(1.5), interval(1.0, 2.0), number(3.5), ends(3.0, 4.0, "3 to 4"),
           lower(number(0.5)), number(7.0), lower(number(6.0)), upper(number(8.0)),
           "", "")  # fmt: skip
    names = ("m", "ratio", "95%", "accuracy", "95%", "low", "DD", "low", "high", "note", "note")
    grid = Grid(title="t", header=names, rows=(row,))
    assert list(columns(grid)) == [
        "m", "ratio", "ratio_low", "ratio_high", "accuracy", "accuracy_low", "accuracy_high",
        "low_low", "DD", "DD_low", "DD_high", "note", "note_2",
    ]  # fmt: skip


def test_rows_that_differ_in_their_unit_say_it_and_texts_among_numbers_stand_apart():
    grid = Grid(
        title="t",
        header=("suite", "value", "printed"),
        rows=(
            ("a", RATE, printed("83.40")),
            ("b", EstimateCell(value=0.5, low=0.1, high=0.7, n=9), printed("< .01")),
            ("c", number(math.inf), printed("-")),
        ),
    )
    known = columns(grid)
    assert known["value"] == [250 / 3, 0.5, None]
    assert known["value_unit"] == ["percent", None, None]
    assert known["value_reason"] == [None, None, "not finite (inf)"]
    assert known["printed"] == [83.4, None, None]
    assert known["printed_text"] == [None, "< .01", None]


@given(
    st.lists(
        st.tuples(st.text(max_size=5), st.one_of(st.none(), st.floats()), st.integers(0, 9)),
        min_size=1,
        max_size=5,
    )
)
@settings(max_examples=25)
def test_any_cells_are_read_back_as_they_were(rows):
    cells = tuple(
        (Shown("", f"m{k}"), text, number(x), count(n)) for k, (text, x, n) in enumerate(rows)
    )
    grid = Grid(title="t", header=("id", "text", "x", "n"), rows=cells)
    table = json.loads(grid_as_json(grid))
    finite = [None if x is None or not math.isfinite(x) else x for _, x, _ in rows]
    assert [row["x"] for row in table["rows"]] == finite
    assert [row["text"] or "" for row in table["rows"]] == [text for text, _, _ in rows]
    frame = pl.read_parquet(io.BytesIO(grid_file(grid, ".parquet")))
    assert frame.to_dicts() == table["rows"]
    assert frame.schema["x"] == pl.Float64


@pytest.mark.slow
def test_every_table_of_every_kind_of_run_can_be_read_by_programs(runs_of_every_kind):
    from cimento.documents.paper import results_grid

    runs = versions_apart(list(open_runs([runs_of_every_kind])))
    grids = [table.grid for section in sections_of(runs) for table in section.tables]
    grids.append(results_grid(runs))
    assert len(grids) > 9
    for grid in grids:
        check_table(as_csv(grid), grid_as_json(grid), labels=grid.labels)


def test_a_table_is_read_by_pandas_with_its_types():
    pandas = pytest.importorskip("pandas", reason="pandas is not a dependency of cimento")
    frame = pandas.read_csv(io.StringIO(as_csv(GRID)))
    assert list(frame["model"]) == ["a", "a"]
    assert frame["accuracy_percent"][0] == 250 / 3
    assert frame["DD_low"].dtype == float
    assert frame["parameters"][0] == 1279104
    assert frame["accuracy_percent_n"].dtype == int
    rows = pandas.DataFrame(json.loads(grid_as_json(GRID))["rows"])
    assert list(rows.columns) == list(frame.columns)


@pytest.mark.slow
def test_a_table_is_read_by_base_r(tmp_path):
    program = shutil.which("Rscript")
    if program is None:
        pytest.skip("Rscript is not installed")
    for form, text in (("csv", as_csv(GRID)), ("json", grid_as_json(GRID))):
        (tmp_path / f"t.{form}").write_text(text, "utf-8")
    script = """
    t <- read.csv("t.csv", check.names = FALSE, na.strings = "")
    stopifnot(all(t$model == "a"), is.numeric(t$accuracy_percent), is.integer(t$parameters))
    stopifnot(t$DD_low[1] <= t$DD[1], t$DD[1] <= t$DD_high[1], is.na(t$DD[2]))
    if (requireNamespace("jsonlite", quietly = TRUE)) {
      rows <- jsonlite::fromJSON("t.json")$rows
      stopifnot(identical(names(rows), names(t)), rows$DD[1] == t$DD[1])
    } else {
      # Base R has no JSON; the text of the number is there without quotation marks.
      stopifnot(any(grepl('"DD": -0.84704,', readLines("t.json"), fixed = TRUE)))
    }
    cat(names(t), sprintf("%.6f", t$DD[1]))
    """
    said = subprocess.run(  # noqa: S603  # the program that was found, and a script of ours
        [program, "-e", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert said.stdout.split() == [*columns(GRID), "-0.847040"]


def test_a_share_in_percent_has_its_unit_in_the_name():
    grid = Grid(title="t", header=("m", "right", "share"),
                rows=(("a", percent(1 / 3), rate_as_text(1 / 3)),))  # fmt: skip
    assert columns(grid) == {"m": ["a"], "right_percent": [100 * (1 / 3)], "share": [1 / 3]}

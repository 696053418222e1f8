"""Tables as workbooks: every table of a run can be saved, with the numbers that programs read."""

import io
import math

import pytest
from openpyxl import load_workbook

from cimento import compare
from cimento.app.shown import results_of
from cimento.app.workspace import Workspace
from cimento.cli.main import invoke
from cimento.documents import grid_file
from cimento.kinds.run import open_run
from cimento.report.cells import ends, lower, no_ends, shown, upper
from cimento.report.grid import Grid

SUITES = {
    "design of few items": ("it-islands", "--limit", "30"),
    "design": ("it-islands", "--limit", "40"),
    "pairs": ("es-subject-verb", "--limit", "12"),
    "blanks": ("it-idioms", "--limit", "12"),
    "ratings": ("it-connectives", "--limit", "12"),
    "templates": ("es-agreement-templates", "--limit", "21"),
    "stories": ("pt-stories", "--set", "shots=0", "--limit", "3"),
}


@pytest.mark.slow
@pytest.mark.parametrize("models", [("demo-causal",), ("demo-causal", "demo-masked")], ids=len)
@pytest.mark.parametrize("suite", SUITES)
def test_every_table_of_a_run_is_saved_as_a_workbook(tmp_path, suite, models):
    asked = [part for model in models for part in ("-m", model)]
    runs = tmp_path / "runs"
    assert invoke(["run", *SUITES[suite], *asked, "-o", str(runs)]) == 0
    folders = sorted(manifest.parent for manifest in runs.rglob("manifest.json"))
    assert len(folders) == len(models)
    results = results_of(Workspace(tmp_path), [str(one.relative_to(tmp_path)) for one in folders])
    tables = {table.name: table.grid for _, table in results.tables}
    if len(folders) > 1:
        tables |= compare(*map(open_run, folders)).grids()
    assert tables
    for grid in tables.values():
        _, *rows = cells(grid)
        assert len(rows) == len(grid.rows)
        for row, record in zip(rows, grid.tidy.frame().rows(), strict=True):
            numbers = {number for number in row if isinstance(number, int | float)}
            ends = [one for one in record if isinstance(one, float) and math.isfinite(one)]
            assert all(any(math.isclose(one, n, abs_tol=1e-9) for n in numbers) for one in ends)


def test_both_ends_of_an_interval_are_numbers_in_columns_of_their_own_or_in_one():
    def number(value):
        return shown(value, f"{value:.1f}", absent="")

    grid = Grid(
        title="DD",
        header=("of", "low", "high", "95%", "reason"),
        rows=(
            ("a", lower(number(1.04)), upper(number(2.96)), ends(1.04, 2.96, "[1.0, 3.0]"), ""),
            ("b", lower(shown(None, "", absent="")), upper(shown(None, "", absent="")),
             no_ends("-"), "few"),
        ),
    )  # fmt: skip
    assert cells(grid) == [
        ("of", "low", "high", "95% low", "95% high", "reason"),
        ("a", 1.04, 2.96, 1.04, 2.96, None),
        ("b", None, None, "-", None, "few"),
    ]


def cells(grid):
    book = load_workbook(io.BytesIO(grid_file(grid, ".xlsx")))
    return list(book.worksheets[0].iter_rows(values_only=True))

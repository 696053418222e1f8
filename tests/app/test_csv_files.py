"""CSV as the window writes it, in each of its languages, and as cimento reads it again."""

import csv
import io

import polars as pl
import pytest

pytest.importorskip("nicegui", reason="the app is not installed: pip install 'cimento[app]'")

from cimento.app.csv_files import frame_csv, grid_csv
from cimento.app.words import LANGUAGES
from cimento.intake.tables import open_table
from cimento.report.cells import shown
from cimento.report.grid import Grid

FRAME = pl.DataFrame(
    {
        "item": ["1.1", "1.2"],
        "frase": ["Ela ___, e ele não; talvez.", 'Disse "sim".'],
        "n": [3, 4],
        "margem": [-1.25, None],
    }
)


def cells_of(data: bytes, delimiter: str) -> list[list[str]]:
    return [*csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), delimiter=delimiter)]


@pytest.mark.parametrize("language", sorted({*LANGUAGES} - {"en"}))
def test_decimals_have_commas_and_cells_semicolons_and_names_keep_their_points(language):
    data = frame_csv(FRAME, language)
    assert data.startswith(b"\xef\xbb\xbf")
    assert cells_of(data, ";") == [
        ["item", "frase", "n", "margem"],
        ["1.1", "Ela ___, e ele não; talvez.", "3", "-1,25"],
        ["1.2", 'Disse "sim".', "4", ""],
    ]


def test_in_english_a_table_is_as_programs_for_statistics_expect_it():
    assert frame_csv(FRAME, "en") == FRAME.write_csv().encode()


def test_a_table_of_results_has_the_digits_of_its_numbers_and_is_read_as_a_table(tmp_path):
    grid = Grid(
        title="t",
        header=("item", "bits"),
        labels=1,
        rows=(("a", shown(0.125, "0.1", absent="")), ("b", shown(2.0, "2.0", absent=""))),
    )
    data = grid_csv(grid, "pt")
    assert cells_of(data, ";")[1:] == [["a", "0,125"], ["b", "2,0"]]
    (tmp_path / "t.csv").write_bytes(data)
    table = open_table(tmp_path / "t.csv")
    assert (table.columns, table.profile("bits").kind) == (("item", "bits"), "numbers")

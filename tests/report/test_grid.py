"""Tables as aligned text."""

from __future__ import annotations

from cimento.report.grid import EstimateCell, Grid, as_text
from cimento.studies.record import as_text as studied


def test_a_long_last_remark_is_folded_under_itself():
    remark = "one word and another, " * 5
    grid = Grid(title="A table", header=("what", "note"), rows=(("x", remark),), remarks=1)
    header, rule, first, second, *_ = as_text(grid).splitlines()[2:]
    assert max(map(len, (header, rule, first, second))) <= 66
    assert first.startswith("x     one word")
    assert second.startswith("      ")
    assert " ".join((first + second).split()).removeprefix("x ") == " ".join(remark.split())


def test_a_note_of_several_tables_stands_once_at_the_end():
    grids = [
        Grid(title=title, header=("what",), rows=(("x",),), notes=("Of all.", f"Of {title} alone."))
        for title in ("one", "two")
    ]
    text = studied(grids)
    assert text.count("Of all.") == 1
    assert (
        text.index("Of two alone.") < text.index("Notes on several tables") < text.index("Of all.")
    )
    assert studied(grids[:1]).count("Notes") == 0


def test_no_number_that_is_rounded_to_zero_has_a_sign():
    cell = EstimateCell(value=-0.0001, low=-0.004, high=0.0049, n=9, digits=2)
    assert cell.numbers == ("0.000", "-0.004", "0.005", "9")

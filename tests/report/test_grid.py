"""Tables as aligned text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cimento.io.inline_markup import beginning_once, layout
from cimento.report.grid import EstimateCell, Grid, as_csv, grid_as_text
from cimento.studies import as_text as studied


def test_a_long_last_remark_is_folded_under_itself():
    remark = "one word and another, " * 5
    grid = Grid(title="A table", header=("what", "note"), rows=(("x", remark),), remarks=1)
    header, rule, first, second, *_ = grid_as_text(grid).splitlines()[2:]
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


WIDE = Grid(
    title="Many intervals",
    header=("model", "question", "rate", "d'", "first chosen", "yes bias"),
    rows=(
        ("a-model@1234567", "is the first of the two better?", "0.50 [0.10, 0.90]",
         "1.00 [0.10, 1.90]", "0.50 [0.40, 0.60]", ""),
        ("a-model@1234567", "is it acceptable?", "0.70 [0.30, 0.95]", "0.20 [0.10, 0.30]", "",
         "-0.44 [-0.60, -0.28]"),
    ),
    labels=2,
    notes=("What the numbers are.",),
)  # fmt: skip


@pytest.mark.parametrize("width", range(50, 180, 10))
def test_a_table_of_many_intervals_fits_into_a_terminal(width):
    text = grid_as_text(WIDE, width=width)
    assert max(map(len, text.splitlines())) <= width
    # No number is folded, and every one is there once.
    for row in WIDE.rows:
        assert all(text.count(cell) == 1 for cell in row[2:] if cell)


def test_columns_that_do_not_fit_stand_below_with_the_rows_that_have_values_there():
    lines = grid_as_text(WIDE, width=80).splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("model ")]
    assert lines[starts[-1]].split() == ["model", "question", "yes", "bias"]
    assert len(starts) > 1
    assert "is the first" not in " ".join(lines[starts[-1] :])
    assert lines.count("What the numbers are.") == 1


RATES = (
    ("harbor", "number", "most people", "6", "0.833 [0.436, 0.970]", ""),
    ("harbor", "number", "a-model", "6", "0.667 [0.300, 0.903]", "5 of 6"),
    ("harbor", "number", "b-model", "6", "1.000 [0.610, 1.000]", "6 of 6"),
    ("harbor", "gender", "most people", "6", "0.500 [0.188, 0.812]", ""),
    ("harbor", "gender", "a-model", "6", "0.333 [0.097, 0.700]", "1 of 6"),
    ("market", "gender", "most people", "4", "0.250 [0.046, 0.699]", ""),
    ("market", "gender", "a-model", "4", "0.750 [0.301, 0.954]", "3 of 4"),
)


@pytest.mark.parametrize("grouped", [0, 1, 2])
@pytest.mark.parametrize("width", [70, 75, 80, 100, None])
def test_each_block_of_a_wide_table_says_of_what_its_rows_are(width, grouped):
    columns = {
        name: lambda row, k=k: row[k]
        for k, name in enumerate(("suite", "prediction", "who", "items", "rate", "same verdict"))
    }
    grid = Grid.of(RATES, columns, title="What people say.", labels=3, grouped=grouped)
    lines = grid_as_text(grid, width=width).splitlines()[1:]
    blocks = [block.splitlines() for block in "\n".join(lines).strip().split("\n\n")]
    found = []
    for block in blocks:
        rule = next(number for number, line in enumerate(block) if line.startswith("---"))
        heads = block[rule - 1]
        second, third = heads.index("prediction"), heads.index("who")
        above = ["", "", ""]
        for line in block[rule + 1 :]:
            if line.startswith("---"):
                continue
            (who,) = re.findall("most people|a-model|b-model", line)
            # A blank label is that of the row above, in this block.
            cells = line[:second].strip(), line[second:third].strip(), who
            above = [cell or above[k] for k, cell in enumerate(cells)]
            found.append((*above, line[third:].removeprefix(who).split()))
    for row in RATES:
        said = [word for *labels, words in found if labels == [*row[:3]] for word in words]
        assert said == " ".join(row[3:]).split()


def test_a_line_divides_groups_also_where_the_first_row_of_one_is_in_another_block():
    header = ("suite", "who", "rate", "interval", "same")
    rows = [
        (suite, who, "0.500", "[0.188, 0.812]", "" if who == "people" else f"{suite} same")
        for suite in ("harbor", "market")
        for who in ("people", "a-model")
    ]
    columns = {name: lambda row, k=k: row[k] for k, name in enumerate(header)}
    grid = Grid.of(rows, columns, title="Two suites.", labels=2, grouped=1)
    block = grid_as_text(grid, width=40).splitlines()[-3:]
    assert block[0].split() == ["harbor", "a-model", "harbor", "same"]
    assert {*block[1]} == {"-"}
    assert block[2].split() == ["market", "a-model", "market", "same"]


def test_a_table_that_is_no_terminals_has_lines_of_any_length():
    lines = grid_as_text(WIDE).splitlines()
    assert [line.split()[0] for line in lines if line] == [
        "Many", "model", lines[3], "a-model@1234567", "a-model@1234567", "What",
    ]  # fmt: skip


@given(
    st.lists(st.integers(1, 60), min_size=1, max_size=12), st.integers(0, 3), st.integers(20, 200)
)
def test_every_column_stands_in_one_block_and_blocks_fit_where_they_can(most, texts, width):
    keys = list(range(min(texts, len(most))))
    least = [min(10, size) if k in keys else (size + 1) // 2 for k, size in enumerate(most)]
    widths, blocks = layout(most, least=least, texts=keys, keys=keys, width=width)
    others = [k for block in blocks for k in block if k not in keys]
    assert others == list(range(len(keys), len(most)))
    assert all(least[k] <= widths[k] <= most[k] for k in range(len(most)))
    for block in blocks:
        total = sum(widths[k] for k in block) + 2 * (len(block) - 1)
        assert total <= width or len(block) <= len(keys) + 1


def test_headings_that_name_models_are_folded_and_stand_just_above_the_numbers():
    grid = Grid(
        title="Two models.",
        header=("suite", "org/a-model-1b@1234567", "only org/a-model-1b@1234567", "p"),
        rows=(("it-suite", "0.875", "3", "0.04"),),
    )
    assert grid_as_text(grid, width=44).splitlines() == [
        "Two models.",
        "",
        "                                only",
        "          org/a-model-  org/a-model-",
        "suite       1b@1234567    1b@1234567     p",
        "------------------------------------------",
        "it-suite         0.875             3  0.04",
    ]


def test_names_are_folded_at_their_signs_and_not_within_their_words():
    grid = Grid(
        title="Two models.",
        header=("suite", "model", "value", "other"),
        rows=(("it-acceptability", "demo-causal@91bca5d", "0.875", "[-0.206, 0.129]"),),
        labels=2,
        notes=("value: of demo-causal@91bca5d.",),
    )
    assert grid_as_text(grid, width=50).splitlines()[2:] == [
        "suite          model        value            other",
        "--------------------------------------------------",
        "it-            demo-causal  0.875  [-0.206, 0.129]",
        "acceptability  @91bca5d",
        "",
        "value: of demo-causal@91bca5d.",
    ]


def test_names_that_begin_alike_say_it_once_where_the_table_is_too_wide():
    names = ("multiblimp-ita-sv-number", "multiblimp-ita-sv-person", "multiblimp-ita-sp-gender")
    grid = Grid(
        title="Three suites.",
        header=("suite", "first", "second"),
        rows=tuple((name, "80.0 [70.0, 90.0]", "85.0 [75.0, 95.0]") for name in names),
    )
    assert grid_as_text(grid, width=61).splitlines()[2:] == [
        "suite multiblimp-ita-…              first             second",
        "------------------------------------------------------------",
        "…sv-number              80.0 [70.0, 90.0]  85.0 [75.0, 95.0]",
        "…sv-person              80.0 [70.0, 90.0]  85.0 [75.0, 95.0]",
        "…sp-gender              80.0 [70.0, 90.0]  85.0 [75.0, 95.0]",
    ]
    for whole in (grid_as_text(grid, width=80), grid_as_text(grid)):
        assert all(f"{name}  80.0" in whole for name in names)


@given(st.lists(st.text("ab-_ é", max_size=12), max_size=6))
def test_a_beginning_that_is_shown_once_loses_nothing(cells):
    heading, *shown = beginning_once(["suite", *cells])
    begin = heading.removeprefix("suite").strip().removesuffix("…")
    assert [cell and begin + cell.removeprefix("…") for cell in shown] == cells
    assert heading == "suite" or begin[-1] in "-_"


def test_a_remark_that_does_not_fit_stands_below_beside_the_rows_that_have_one():
    reason = "only 7 of 48 verdicts differ from the most frequent one"
    grid = Grid(
        title="How large the difference is.",
        header=("suite", "h", "odds", "kappa", "95%", "in words"),
        rows=(
            ("it-a", "-0.1183", "0.5000", "0.500", "[-0.318, 0.212]", ""),
            ("it-b", "+0.0000", "1.0000", "0.250", "", reason),
        ),
        remarks=1,
    )
    lines = grid_as_text(grid, width=60).splitlines()
    assert max(map(len, lines)) <= 60
    below = lines[lines.index("", 2) + 1 :]
    assert [line.split()[0] for line in below] == ["suite", "-" * len(below[1]), "it-b", "one"]
    assert " ".join(" ".join(below[2:]).split()) == f"it-b {reason}"


def test_reasons_become_notes_below_unless_there_are_many():
    few, ties = "fewer than 5 items", "all are ties"
    reasons = (few, "", f"{few}; {ties}")
    rows = tuple((name, "0.5", reason) for name, reason in zip("abc", reasons, strict=True))
    grid = Grid(title="Rates.", header=("suite", "rate", "reason"), rows=rows, remarks=1)
    short = grid.compact()
    assert (short.header, [row[-1] for row in short.rows]) == (
        ("suite", "rate", "note"),
        ["1", "", "1, 2"],
    )
    assert short.notes == (f"1: {few}.", f"2: {ties}.")
    assert as_csv(grid).splitlines()[3] == f"c,0.5,{few}; {ties}"
    alike = Grid(title="Rates.", header=grid.header, rows=(rows[0],) * 2, remarks=1).compact()
    assert alike.header == ("suite", "rate")
    assert alike.notes == (f"Not computed: some numbers ({few}).",)
    many = tuple((str(k), "0.5", f"reason {k}") for k in range(10))
    assert Grid(title="Rates.", header=grid.header, rows=many, remarks=1).compact().rows == many

"""What people bring is read by what is in its cells: properties of every shape of tables."""

from __future__ import annotations

import csv
import io
import itertools
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cimento import CimentoError, load_suite
from cimento.intake.sheets import read_sheet
from cimento.intake.words import HEADERS, NAMES, SETS, SIDES
from cimento.suites import sentence
from cimento.suites.ratings import rated_of

N_ROWS = 8
SUBJECTS = ("cane", "gatto", "papà", "bambino", "pesce", "lupo", "leone", "falò")
GOOD = [f"Il {noun} è già qui." for noun in SUBJECTS]
BAD = [f"Il {noun} sono già qui." for noun in SUBJECTS]
IDS = [str(number) for number in range(1, N_ROWS + 1)]
MEANS = ["6.5", "2.1", "3.4", "1.2", "5.9", "4.4", "6.1", "2.8"]
POINTS = ["7", "2", "3", "1", "6", "4", "6", "3"]
# A column of each role of a shape; the names by which people call it follow in `NAMED`.
SHAPES = {
    "pairs": {"item": IDS, "good": GOOD, "bad": BAD},
    "pairs with a beginning": {
        "prefix": [f"Il {noun} qui" for noun in SUBJECTS],
        "good": ["dorme."] * N_ROWS,
        "bad": ["dormono."] * N_ROWS,
    },
    "labeled sentences": {"sentence": GOOD[:4] + BAD[:4], "label": ["1"] * 4 + ["0"] * 4},
    "ratings": {"item": IDS, "sentence": GOOD, "rating": MEANS},
    "ratings with a row for each answer": {
        "participant": ["anna", "bruno"] * 4,
        "sentence": [text for text in GOOD[:4] for _ in range(2)],
        "rating": POINTS,
    },
    "ratings with a column for each person": {
        "sentence": GOOD,
        "P1": POINTS,
        "P2": POINTS[::-1],
    },
}
_LEVELS = {"1", "0", "*", "✓", "✗", "ok"}
NAMED = {
    "item": sorted({*HEADERS["item"]} - {*SETS}),
    "good": sorted({*SIDES["good"]} - _LEVELS),
    "bad": sorted({*SIDES["bad"]} - _LEVELS),
    "sentence": sorted({"sentence", *HEADERS["sentence"]}),
    "prefix": sorted({"prefix", *NAMES["prefix"], *NAMES["context"]}),
    "label": sorted({"label", *NAMES["label"]}),
    "rating": sorted({"rating", *HEADERS["rating"]}),
    "participant": sorted({*NAMES["participant"]}),
}
OTHERS = {
    "uid": [str(4000 + 7 * row) for row in range(N_ROWS)],
    "list": ["1", "1", "2", "2", "3", "3", "4", "4"],
    "length": ["4", "5", "4", "6", "5", "5", "4", "6"],
    "surprisal": ["11.25", "8.5", "30.125", "17.0", "2.5", "9.75", "21.5", "14.25"],
    "good_score": MEANS,
    "age": ["23", "31", "44", "19", "65", "52", "38", "27"],
    "Data": [f"2026-11-{day:02}" for day in range(1, N_ROWS + 1)],
    "Ora": [f"1{minute}:4{minute}" for minute in range(N_ROWS)],
    "durata": [f"{number} min 3 s" for number in range(1, N_ROWS + 1)],
    "Note": ["da rivedere", "", "", "dubbio di Carla", "", "", "", ""],
    "codice": [f"R_{letter}x4" for letter in "abcdefgh"],
    "risposte": [f'{{"Q{number}": 3}}' for number in range(N_ROWS)],
}
BOTH = ("item", "sentence")


def written(folder, columns, *, separator="\t", encoding="utf-8", above=(), below=()):
    """A file of columns, perhaps with a title above them and further rows below."""
    suffix = ".csv" if separator != "\t" else ".tsv"
    path = Path(folder) / f"table{suffix}"
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, lineterminator="\n")
    quoted = [[*above]] if above else []
    writer.writerows([*quoted, list(columns), *zip(*columns.values(), strict=True), *below])
    if suffix == ".tsv":
        rows = [*quoted, list(columns), *zip(*columns.values(), strict=True), *below]
        text = io.StringIO("".join("\t".join(row) + "\n" for row in rows))
    path.write_bytes(text.getvalue().encode(encoding))
    return path


def contents(path):
    """Everything that decides a run, without the names of columns; and what was said."""
    loaded = load_suite(path, language="it")
    suite = loaded.suite
    texts = [
        (item.id, condition.name, sentence(condition, rule=suite.join))
        for item, condition in suite.stimuli()
    ]
    rated = []
    if suite.extra.get("kind"):
        rated = [
            (one.id, one.mean, sorted((r.value, r.participant) for r in one.ratings))
            for one in rated_of(suite).sentences
        ]
    formulas = [prediction.formula for prediction in suite.predictions]
    return (texts, rated, formulas), loaded.reading.table


def plain(shape):
    return dict(SHAPES[shape])


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@settings(deadline=None)
@given(data=st.data())
def test_a_table_in_any_layout_is_read_as_it_was(shape, data):
    columns = plain(shape)
    order = data.draw(st.permutations(list(columns)))
    names = {role: data.draw(st.sampled_from(NAMED.get(role, [role]))) for role in order}
    assume(len({name.casefold() for name in names.values()}) == len(names))
    case = data.draw(st.sampled_from([str, str.capitalize, str.upper]))
    laid_out = {case(names[role]): columns[role] for role in order}
    separator, encoding = data.draw(
        st.tuples(st.sampled_from("\t,;"), st.sampled_from(["utf-8", "utf-8-sig", "cp1252"]))
    )
    if encoding == "cp1252":
        try:
            "".join(laid_out).encode(encoding)
        except UnicodeEncodeError:
            encoding = "utf-16"
    above = data.draw(st.sampled_from([(), ("Materiali del secondo esperimento",)]))
    totals = tuple("" if role == "item" else "8" for role in order[1:])
    has_totals = data.draw(st.booleans()) and (order[0] != "item" or len(columns) > len(BOTH))
    below = [("Totale", *totals)] if has_totals else []
    with TemporaryDirectory() as folder:
        expected, _ = contents(written(folder, columns))
        layout = {"separator": separator, "encoding": encoding, "above": above, "below": below}
        found, table = contents(written(folder, laid_out, **layout))
    assert found == expected
    assert table.shape == shape
    assert {row for row, _ in table.left_out} == (
        ({1} if above else set()) | ({N_ROWS + 2 + bool(above)} if below else set())
    )


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@settings(deadline=None)
@given(data=st.data())
def test_a_column_of_anything_else_changes_nothing_and_is_named(shape, data):
    columns = plain(shape)
    other = data.draw(st.sampled_from(sorted(OTHERS)))
    place = data.draw(st.integers(0, len(columns)))
    both = list(columns.items())
    more = dict([*both[:place], (other, OTHERS[other]), *both[place:]])
    with TemporaryDirectory() as folder:
        expected, before = contents(written(folder, columns))
        found, table = contents(written(folder, more))
    assert found == expected
    assert table.roles == before.roles
    assert f'"{other}"' in table.said().partition("kept, not scored: ")[2]


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@settings(deadline=None)
@given(data=st.data())
def test_rows_in_another_order_give_the_same_items_in_that_order(shape, data):
    columns = plain(shape)
    order = data.draw(st.permutations(range(N_ROWS)))
    with TemporaryDirectory() as folder:
        (texts, rated, formulas), _ = contents(written(folder, columns))
        mixed = {name: [cells[row] for row in order] for name, cells in columns.items()}
        (mixed_texts, mixed_rated, mixed_formulas), _ = contents(written(folder, mixed))
    assert sorted(text for _, _, text in mixed_texts) == sorted(text for _, _, text in texts)
    assert sorted(one[1:] for one in mixed_rated) == sorted(one[1:] for one in rated)
    assert mixed_formulas == formulas


FILLINGS = {
    "numbers": OTHERS["surprisal"],
    "dates": OTHERS["Data"],
    "objects": OTHERS["risposte"],
    "codes": OTHERS["codice"],
}
DECIDING = [
    (shape, role)
    for shape, columns in SHAPES.items()
    for role in columns
    if role not in ("item", "participant")
]


@pytest.mark.parametrize(("shape", "role"), DECIDING)
def test_no_column_has_a_role_that_its_cells_do_not_fit(shape, role):
    for kind, cells in FILLINGS.items():
        if kind == "numbers" and role in ("rating", "P1", "P2"):
            continue  # these are ratings
        columns = {**plain(shape), role: cells}
        with TemporaryDirectory() as folder:
            try:
                _, table = contents(written(folder, columns))
            except CimentoError:
                continue
        assert table is not None, (kind, role)
        named = {name for names in table.roles.values() for name in names}
        assert role not in named, (kind, table.said())


@pytest.mark.parametrize("shape", SHAPES)
@settings(deadline=None)
@given(names=st.sets(st.sampled_from(sorted(OTHERS)), max_size=4))
def test_every_column_of_the_file_is_in_a_role_or_named(shape, names):
    columns = {**plain(shape), **{name: OTHERS[name] for name in sorted(names)}}
    with TemporaryDirectory() as folder:
        _, table = contents(written(folder, columns))
    in_roles = [name for several in table.roles.values() for name in several]
    assert sorted({*in_roles, *table.unused}) == sorted(columns)


@pytest.mark.parametrize("shape", ["pairs", "ratings"])
@pytest.mark.parametrize("label", ["Totale", "Media:"])
def test_a_sum_with_the_number_of_an_item_is_no_item(tmp_path, shape, label):
    columns = plain(shape)
    expected, _ = contents(written(tmp_path, columns))
    last = (str(N_ROWS + 1), label, "3.9")
    found, table = contents(written(tmp_path, columns, below=[last]))
    assert found == expected
    assert table.left_out == ((N_ROWS + 2, "a sum"),)


def test_a_sentence_that_begins_with_a_word_for_sums_stays_an_item(tmp_path):
    last = ("9", "Total bans fail.", "Total bans fails.")
    _, table = contents(written(tmp_path, plain("pairs"), below=[last]))
    assert (table.n_items, table.left_out) == (N_ROWS + 1, ())


def test_a_chosen_column_that_is_not_there_is_answered_with_those_that_are(tmp_path):
    (tmp_path / "coppie.csv").write_text("good,bad\nIl cane dorme.,Il cane dormono.\n", "utf-8")
    with pytest.raises(CimentoError) as caught:
        load_suite(tmp_path / "coppie.csv", language="it", columns={"item": "Zzz"})
    assert str(caught.value).rstrip().endswith("there are good, bad.")


@pytest.mark.parametrize("names", [("No, cerca", "No, lejos"), ("a, b, c", "d, e"), ("a", "b, c")])
def test_commas_in_names_between_semicolons_separate_nothing(tmp_path, names):
    path = tmp_path / "t.csv"
    rows = (("Ítem", *names), ("1", "Sí, vino.", "No vino."), ("2", "Ana, ven.", "Ven."))
    path.write_text("".join(";".join(row) + "\n" for row in rows), encoding="utf-8")
    table, faults = read_sheet(path.read_bytes(), path)
    assert not faults
    assert table.columns == rows[0]
    assert [*table.cells[names[0]]] == ["Sí, vino.", "Ana, ven."]


def test_semicolons_in_a_name_between_commas_separate_nothing(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("item,a; b,c\n1,x; y,z\n2,w,v\n", encoding="utf-8")
    table, _ = read_sheet(path.read_bytes(), path)
    assert table.columns == ("item", "a; b", "c")


@given(st.lists(st.sampled_from(["", " ", "\u00a0", "  "]), min_size=16, max_size=16))
def test_blanks_around_a_level_make_no_other_level(blanks):
    rows = [
        f"{n}\t{island}{blanks[place]}\t{length}{blanks[-place - 1]}"
        f"\tChi {'chiede se' if island == 'isola' else 'dice che'} {noun} {length}?"
        for n, noun in enumerate(SUBJECTS[:2])
        for place, (island, length) in enumerate(
            itertools.product(("isola", "no"), ("corta", "lunga")), 4 * n)
    ]  # fmt: skip
    with TemporaryDirectory() as folder:
        path = Path(folder) / "livelli.tsv"
        path.write_text("\n".join(["n\tStruttura\tDistanza\tfrase", *rows, ""]), "utf-8")
        suite = load_suite(path, language="it").suite
    assert len(suite.items) == 2
    assert {*suite.factors.values()} == {("no", "isola"), ("corta", "lunga")}

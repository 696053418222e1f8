"""Tables of sentences with blanks: properties as for pairs and ratings."""

from __future__ import annotations

from tempfile import TemporaryDirectory

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cimento import CimentoError, load_suite
from cimento.intake.words import HEADERS
from tests.intake.test_tables import FILLINGS, N_ROWS, NAMED, OTHERS, SUBJECTS, written

COLUMNS = {
    "item": [str(number) for number in range(1, N_ROWS + 1)],
    "text": [f"Il {noun} ___ nel parco." for noun in SUBJECTS],
    "target": ["dorme", "gioca", "corre", "canta", "nuota", "salta", "cade", "siede"],
    "implausible": ["vola | bolle", "piove | legge", *["fiorisce"] * (N_ROWS - 2)],
}
NAMES = {
    "item": NAMED["item"],
    "text": sorted({"text", *HEADERS["text"]}),
    "target": sorted({"target", *HEADERS["target"]}),
    "implausible": sorted({"implausible", *HEADERS["implausible"]}),
}
# Words in a column of their own may be meant as options, which is said; see CIM-C017.
MORE = {name: cells for name, cells in OTHERS.items() if name != "Note"}


def contents(path):
    loaded = load_suite(path, language="it")
    items = [
        (item.id, item.text, [(option.role, option.text) for option in item.options])
        for item in loaded.suite.items
    ]
    return items, loaded.reading.table


@settings(deadline=None)
@given(data=st.data())
def test_a_table_in_any_layout_is_read_as_it_was(data):
    order = data.draw(st.permutations(list(COLUMNS)))
    names = {role: data.draw(st.sampled_from(NAMES[role])) for role in order}
    assume(len({name.casefold() for name in names.values()}) == len(names))
    laid_out = {names[role]: COLUMNS[role] for role in order}
    with TemporaryDirectory() as folder:
        expected, _ = contents(written(folder, COLUMNS))
        found, table = contents(
            written(folder, laid_out, separator=data.draw(st.sampled_from("\t,;")))
        )
    assert found == expected
    assert {role: names[role] for role in COLUMNS} == {
        role: column for role, [column] in table.roles.items()
    }


@settings(deadline=None)
@given(data=st.data())
def test_columns_of_anything_else_change_nothing_and_every_column_is_accounted_for(data):
    both = list(COLUMNS.items())
    for other in data.draw(st.lists(st.sampled_from(sorted(MORE)), max_size=3, unique=True)):
        both.insert(data.draw(st.integers(0, len(both))), (other, MORE[other]))
    with TemporaryDirectory() as folder:
        expected, before = contents(written(folder, COLUMNS))
        found, table = contents(written(folder, dict(both)))
    assert found == expected
    assert table.roles == before.roles
    assert {*table.unused} == {name for name, _ in both} - {*COLUMNS}


@pytest.mark.parametrize("role", ["text", "target", "implausible"])
@pytest.mark.parametrize("kind", FILLINGS)
def test_no_column_has_a_role_that_its_cells_do_not_fit(tmp_path, role, kind):
    path = written(tmp_path, {**COLUMNS, role: FILLINGS[kind]})
    with pytest.raises(CimentoError):
        load_suite(path, language="it")


def test_blanks_and_words_are_chosen_where_nothing_says_which_columns_they_are(tmp_path):
    columns = {"a": COLUMNS["text"], "b": COLUMNS["target"], "c": COLUMNS["implausible"]}
    path = written(tmp_path, columns)
    with pytest.raises(CimentoError):
        load_suite(path, language="it")
    chosen = {"sentence": "a", "target": "b", "implausible": "c"}
    loaded = load_suite(path, language="it", columns=chosen)
    assert [option.text for option in loaded.suite.items[0].options] == ["dorme", "vola", "bolle"]
    assert loaded.reading.table.said().startswith(
        'Read as sentences with blanks: text = "a", target = "b", implausible = "c"; 8 items'
    )

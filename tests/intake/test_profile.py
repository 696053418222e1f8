"""What the cells of a column are."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cimento.intake.delimited import split_quoted
from cimento.intake.profile import profile


@pytest.mark.parametrize(
    ("cell", "kind"),
    [
        ("[MASK]", "words"),
        ("[Il gatto dorme.]", "sentences"),
        ('["a", "b"]', "objects"),
        ("['a', 'b']", "objects"),
        ("[1, 2]", "objects"),
        ('{"a": 1}', "objects"),
    ],
)
def test_brackets_alone_make_no_object_of_json(cell, kind):
    assert profile([cell] * 3).kind == kind


@pytest.mark.parametrize(
    ("cell", "kind"),
    [
        ("March 12, 2020", "moments"),
        ("12 March 2020", "moments"),
        ("The 12 boys sleep.", "sentences"),
        ("Il 3 gatto dorme", "sentences"),
        ("The boy number 12 sleeps.", "sentences"),
    ],
)
def test_words_before_a_number_make_a_date_only_where_it_is_one(cell, kind):
    assert profile([cell] * 3).kind == kind


@given(st.text(st.sampled_from('ab",;\t\r\n é'), max_size=30))
def test_lines_of_csv_end_as_the_standard_library_reads_them(text):
    rows, delimiter = split_quoted(text, (",", ";"))
    expected = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    assert _rows_or_error(rows) == _rows_or_error(expected)


def _rows_or_error(rows):
    read = []
    try:
        read.extend(rows)
    except csv.Error as error:
        read.append(str(error))
    return read

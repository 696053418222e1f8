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


@pytest.mark.parametrize(
    "cell",
    [
        "2026/03/20 10:00:11 da manhã GMT", "2026/03/20 3:05:11 da tarde GMT-3",
        "2026/03/05 9:40:00 p.\u00a0m. GMT-3", "20/3/2026, 10:00:11 a. m.",
        "2026/03/20 10:00:11 de la mañana GMT-5", "2026/08/26 6:03:51 PM GMT-3",
        "2020/05/11 10:04:37 AM CEST", "08/07/2026 13.49.22", "2026/03/20 9:14:47 di sera CET",
        "2021/03/26 9:14:47 ДП GMT+3", "2021/03/26 9:14:47 вечера МСК", "26.03.2021 9:14:47",
    ],
)  # fmt: skip
def test_times_are_known_with_the_part_of_the_day_in_five_languages(cell):
    assert profile([cell] * 3).kind == "moments"


@pytest.mark.parametrize("cell", ["10:00 da manhã ele saiu", "Às 10:00 da manhã", "20 da tarde"])
def test_a_part_of_the_day_in_a_sentence_makes_no_time_of_it(cell):
    assert profile([cell] * 3).kind == "sentences"


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

"""Answers typed from paper: a row each, under headings that people write."""

import pytest

from cimento.app.incoming import asked_about, read_upload

pytest.importorskip("nicegui")

ROWS = [(1, 1, "4,5"), (1, 2, ""), (2, 1, "5"), (2, 2, "1,5"), (3, 1, "4"), (3, 2, "2")]


def read(tmp_path, heads, rows):
    table = "\n".join([";".join(heads), *(";".join(map(str, row)) for row in rows), ""])
    return read_upload(
        "paper.csv", table.encode(), asked=asked_about(None), secret=tmp_path / "s.key"
    )


def test_scores_by_the_number_of_the_sentence_are_an_answer_a_row(tmp_path):
    came = read(tmp_path, ["participant", "sentence number", "score"], ROWS)
    read_as = [(one.annotator, one.item, one.value) for one in came.judgments]
    assert read_as == [
        ("1", "1", "4,5"), ("2", "1", "5"), ("2", "2", "1,5"), ("3", "1", "4"), ("3", "2", "2"),
    ]  # fmt: skip
    assert sum(came.passed.values()) == 1


def test_a_table_with_several_rows_a_person_is_no_form_with_all_answers_in_a_row(tmp_path):
    rows = [(person, number, 1 + (person + number) % 5) for person in (1, 2) for number in range(3)]
    assert read(tmp_path, ["participant", "which", "how much"], rows) is None

"""What is said of a form of one's own: once, and of what may be no sentence a question."""

import pytest

from cimento.app.form_sentences import sentences_of
from cimento.app.incoming import asked_about, read_upload, remarks_on

pytest.importorskip("nicegui")

SENTENCES = ["Il cane dorme.", "Il cane dormono.", "La neve cade."]


def read(tmp_path, rows, *, name="form.csv"):
    table = "\n".join([",".join(map(str, row)) for row in rows] + [""])
    asked = asked_about(None)
    return read_upload(name, table.encode(), asked=asked, secret=tmp_path / "s.key")


def test_a_row_that_was_never_submitted_is_said_once(tmp_path):
    head = ["StartDate", "EndDate", "Status", "Finished", "ResponseId", *SENTENCES]
    rows = [
        [f"2026-11-0{n} 10:00:00", f"2026-11-0{n} 10:05:00", 0, is_done, f"R_{n}aB", 5, 1, 4]
        for n, is_done in ((1, "True"), (2, "False"), (3, "True"))
    ]
    came = read(tmp_path, [head, *rows])
    said = [line for line in remarks_on(came) if "never submitted" in line]
    assert said == ["left out: row 3 (never submitted)"]


def test_two_sentences_around_a_slash_are_chosen_by_a_and_b(tmp_path):
    heads = ["Il cane dorme / Il cane dormono", "Lia parte presto / Lia partono presto"]
    rows = [["Timestamp", *heads]]
    rows += [[f"2026/03/02 10:0{n}:11", *cells] for n, cells in enumerate(("AB", "AA", "BA"))]
    came = read(tmp_path, rows)
    assert [one.value for one in came.judgments] == [
        "Il cane dorme", "Lia partono presto", "Il cane dorme", "Lia parte presto",
        "Il cane dormono", "Lia parte presto",
    ]  # fmt: skip
    assert {one.question for one in came.judgments} == {"which is better"}


def test_a_number_behind_the_sentences_that_is_none_is_asked_about(tmp_path):
    rows = [["Timestamp", *SENTENCES, "Escolaridade"]]
    rows += [[f"2026/03/02 10:0{n}:11", 5, 1, 4, n + 1] for n in range(4)]
    (doubt,) = sentences_of(read(tmp_path, rows)).doubts
    assert "'Escolaridade'" in doubt

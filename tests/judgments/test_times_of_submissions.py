"""The column with the times of submissions, whatever it is called."""

from __future__ import annotations

import io
from datetime import datetime

import pytest
import xlsxwriter

from cimento.intake.profile import are_instants
from cimento.judgments import judgments_of, read_judgments
from tests.helpers.command_line import invoke

SENTENCES = ["La ventana estaba abierta.", "La ventana estaba abierto.", "Ya llegaron todos."]
STAMPS = ["02/03/2026 10:02:11", "02/03/2026 10:05:40", "03/03/2026 9:06:03"]
RATINGS = [["5", "1", "5"], ["4", "2", "5"], ["5", "1", "4"]]
MARKS = ["Marca", "Fecha y hora", "Quando", "T", "Ответ получен"]


def judged(tmp_path, rows, *more):
    path = tmp_path / "respuestas.csv"
    path.write_text("\n".join(",".join(row) for row in rows) + "\n", encoding="utf-8")
    return imported(tmp_path, path, *more)


def imported(tmp_path, path, *more):
    output = tmp_path / "juicios.csv"
    options = more or ("--names", "keep")
    assert invoke(["annotate", "import", str(path), *options, "-o", str(output)]) == 0
    return judgments_of(read_judgments(output))


def answers(judgments):
    return {(one.annotator, one.item, one.value) for one in judgments}


EXPECTED = {
    (stamp, text, rating)
    for stamp, row in zip(STAMPS, RATINGS, strict=True)
    for text, rating in zip(SENTENCES, row, strict=True)
}


@pytest.mark.parametrize("mark", MARKS)
def test_without_names_each_submission_is_one_person(tmp_path, capsys, mark):
    rows = [[mark, *SENTENCES], *([at, *row] for at, row in zip(STAMPS, RATINGS, strict=True))]
    found = judged(tmp_path, rows)
    assert answers(found) == EXPECTED
    assert {one.at for one in found} == {*STAMPS}
    said = capsys.readouterr().err
    assert f"No column names the participants: each row is one, by {mark!r}." in said


def test_a_workbook_of_dates_is_read_alike(tmp_path):
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer) as book:
        sheet = book.add_worksheet("Respuestas")
        style = book.add_format({"num_format": "dd/mm/yyyy hh:mm:ss"})
        sheet.write_row(0, 0, ["Marca", *SENTENCES])
        for number, (at, row) in enumerate(zip(STAMPS, RATINGS, strict=True), start=1):
            moment = datetime.strptime(at, "%d/%m/%Y %H:%M:%S")  # noqa: DTZ007
            sheet.write_datetime(number, 0, moment, style)
            sheet.write_row(number, 1, map(int, row))
    path = tmp_path / "respuestas.xlsx"
    path.write_bytes(buffer.getvalue())
    found = imported(tmp_path, path)
    assert {one.annotator for one in found} == {
        "2026-03-02 10:02:11", "2026-03-02 10:05:40", "2026-03-03 09:06:03",
    }  # fmt: skip
    assert sorted(one.value for one in found) == sorted("".join(map("".join, RATINGS)))


def test_beside_codes_it_is_the_time_of_the_answers(tmp_path):
    rows = [["Marca", "Código", *SENTENCES]]
    rows += [
        [at, who, *row] for at, who, row in zip(STAMPS, ("a1", "b2", "c3"), RATINGS, strict=True)
    ]
    found = judged(tmp_path, rows)
    assert {(one.annotator, one.at) for one in found} == {*zip(("a1", "b2", "c3"), STAMPS,
                                                              strict=True)}  # fmt: skip


def test_beside_pseudonyms_no_time_is_kept(tmp_path):
    rows = [["Marca", *SENTENCES], *([at, *row] for at, row in zip(STAMPS, RATINGS, strict=True))]
    found = judged(tmp_path, rows, "--secret", str(tmp_path / "secret"))
    assert {one.at for one in found} == {None}
    assert len({one.annotator for one in found}) == len(STAMPS)
    assert not {one.annotator for one in found}.intersection(STAMPS)


@pytest.mark.parametrize(
    "cells",
    [
        ["1990-02-03", "1987-11-30", "2001-05-05"],
        # A day in a workbook, whose style shows midnight.
        ["1990-02-03 00:00:00", "1987-11-30 00:00:00", "2001-05-05 00:00:00"],
        ["10:02", "10:05", "10:06"],
        ["3 min", "4 min", "5 min"],
        ["02/03/2026 10:02:11", "ayer", "03/03/2026 9:06:03"],
    ],
)
def test_days_of_birth_hours_and_durations_are_nobody(tmp_path, capsys, cells):
    rows = [["Dato", *SENTENCES], *([cell, *row] for cell, row in zip(cells, RATINGS, strict=True))]
    path = tmp_path / "respuestas.csv"
    path.write_text("\n".join(",".join(row) for row in rows) + "\n", encoding="utf-8")
    output = str(tmp_path / "juicios.csv")
    assert invoke(["annotate", "import", str(path), "--names", "keep", "-o", output]) == 2
    assert "it is not said whose answers a row has" in capsys.readouterr().err


def test_nothing_is_no_time():
    assert not are_instants([])
    assert not are_instants(["", " "])
    assert are_instants(["2026-03-02T10:02:11Z", ""])


@pytest.mark.parametrize("names", [("--names", "keep"), ("--secret", "my.secret")])
def test_submissions_of_several_forms_at_the_same_second_are_a_person_each(
    tmp_path, monkeypatch, names
):
    monkeypatch.chdir(tmp_path)
    paths = [tmp_path / f"lista{number}.csv" for number in (1, 2, 3)]
    for path, sentence, rating in zip(paths, SENTENCES, "147", strict=False):
        rows = [["Marca temporal", sentence, "Llueve."], *([at, rating, "5"] for at in STAMPS)]
        path.write_text("\n".join(map(",".join, rows)) + "\n", encoding="utf-8")
    output = tmp_path / "juicios.csv"
    lists = paths[: len(SENTENCES)]
    assert invoke(["annotate", "import", *map(str, lists), *names, "-o", str(output)]) == 0
    found = judgments_of(read_judgments(output))
    assert len({one.annotator for one in found}) == len(lists) * len(STAMPS)
    assert len(found) == 2 * len(lists) * len(STAMPS)
    by_person = {one.annotator: set() for one in found}
    for one in found:
        by_person[one.annotator].add(one.item)
    assert all(len(items) == 2 for items in by_person.values())

"""What a survey is made from besides a suite: sentences alone, a text of consent, a contact."""

from __future__ import annotations

import pytest

from cimento.people.surveys.building import build_design
from cimento.people.surveys.plan import SurveyPlan
from cimento.suites.builtin import find_suite
from tests.helpers.command_line import invoke
from tests.helpers.rated import load_rated


@pytest.mark.parametrize("header", ["Frase", "n\tFrase"])
def test_sentences_alone_are_rated(tmp_path, header):
    path = tmp_path / "frasi.tsv"
    number = "1\t" if "\t" in header else ""
    path.write_text(f"{header}\n{number}La porta resta chiusa.\n", encoding="utf-8")
    design = build_design(path, SurveyPlan(language="it", checks=0))
    assert [question.lines for question in design.questions] == [("La porta resta chiusa.",)]


def test_sentences_without_ratings_are_asked_from_the_workbook(tmp_path):
    from openpyxl import load_workbook

    path = tmp_path / "frasi.xlsx"
    assert invoke(["suites", "new", "ratings", str(path), "--language", "it"]) == 0
    book = load_workbook(path)
    book["items"].delete_rows(2, book["items"].max_row)
    for number in range(1, 5):
        book["items"].append([number, "sentence", f"La porta numero {number} resta chiusa."])
    book.save(path)
    design = build_design(path, SurveyPlan(checks=0))
    assert {question.lines[0] for question in design.questions} == {
        f"La porta numero {number} resta chiusa." for number in range(1, 5)
    }
    assert design.task == "likert"


def test_who_is_responsible_is_named_below_a_text_of_ones_own(tmp_path):
    file = tmp_path / "consent.txt"
    file.write_text("Primo paragrafo.\n", encoding="utf-8")
    path = find_suite("it-connectives")
    rosa = "Rosa Bini, rosa@example.org"
    first, below = build_design(path, SurveyPlan(checks=0, consent=file, contact=rosa)).consent
    assert first == "Primo paragrafo."
    assert rosa in below
    file.write_text(f"Chiedete a {rosa}.\n", encoding="utf-8")
    named = build_design(path, SurveyPlan(checks=0, consent=file, contact=rosa)).consent
    assert named == (f"Chiedete a {rosa}.",)


def test_a_list_of_sentences_becomes_a_suite_of_ratings(tmp_path, capsys):
    source, answers = tmp_path / "frasi.txt", tmp_path / "answers.csv"
    source.write_text("La gatta dorme al sole.\nLe porte è aperte.\n", encoding="utf-8")
    answers.write_text(
        "participant,sentence,rating\na,La gatta dorme al sole.,5\nb,La gatta dorme al sole.,4"
        "\na,Le porte è aperte.,1\n",
        encoding="utf-8",
    )
    judgments, copy = tmp_path / "j.csv", tmp_path / "copy"
    asked = ["annotate", "import", str(answers), "--suite", str(source), "--names", "keep"]
    assert invoke([*asked, "-o", str(judgments)]) == 0
    apply = ["annotate", "apply", str(source), str(judgments), "-o", str(copy)]
    assert invoke([*apply, "--scale", "1,5", "--language", "it"]) == 0
    assert "3 answers" in capsys.readouterr().err
    rated = load_rated(copy).rated
    assert [one.mean for one in rated.sentences] == [4.5, 1]
    assert (rated.language, rated.scale.low, rated.scale.high) == ("it", 1, 5)


def test_a_column_called_as_ratings_are_is_a_label_where_it_has_words(tmp_path):
    source, answers = tmp_path / "frases.tsv", tmp_path / "answers.csv"
    rows = (
        ("1", "La gata duerme al sol.", "concordancia", "gramatical", "bien"),
        ("2", "Las puertas está abierta.", "concordancia", "agramatical", "mal"),
        ("3", "Quiero que vengas.", "subjuntivo", "gramatical", "bien"),
        ("4", "Quiero que vienes.", "subjuntivo", "agramatical", "mal"),
    )
    header = ("Nº", "Oración", "Fenómeno", "Condición", "Juicio esperado", "Notas")
    table = "".join("\t".join(cells) + "\n" for cells in (header, *((*row, "") for row in rows)))
    source.write_text(table, encoding="utf-8")
    design = build_design(source, SurveyPlan(language="es", checks=0))
    assert [question.labels["Juicio esperado"] for question in design.questions] == [
        "bien", "mal", "bien", "mal",
    ]  # fmt: skip
    given = "".join(f"{who},{row[1]},{1 + int(row[0])}\n" for row in rows for who in "ab")
    answers.write_text(f"participant,sentence,rating\n{given}", encoding="utf-8")
    judgments, copy = tmp_path / "j.csv", tmp_path / "copy"
    asked = ["annotate", "import", str(answers), "--suite", str(source), "--names", "keep"]
    assert invoke([*asked, "-o", str(judgments)]) == 0
    apply = ["annotate", "apply", str(source), str(judgments), "-o", str(copy)]
    assert invoke([*apply, "--scale", "1,5", "--language", "es"]) == 0
    sentences = load_rated(copy).rated.sentences
    assert [one.mean for one in sentences] == [2, 3, 4, 5]
    assert [one.columns["Juicio esperado"] for one in sentences] == ["bien", "mal", "bien", "mal"]

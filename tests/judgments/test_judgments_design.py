"""Answers to surveys of our own, imported with the design that the survey was made from."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from cimento.judgments import judgments_of, read_judgments
from tests.helpers.command_line import invoke

PAIRS = (
    "item,good,bad\n"
    "1,Le finestre erano aperte.,Le finestre era aperte.\n"
    "2,La città è bella.,La città è bello.\n"
    "3,I bambini dormono.,I bambini dorme.\n"
    "4,Le amiche sono arrivate.,Le amiche sono arrivati.\n"
)
WHO = "Sigla"


def built(folder: Path, *options: str) -> Path:
    """The folder of a survey about four pairs."""
    suite, survey = folder / "pairs.csv", folder / "survey"
    suite.write_text(PAIRS, encoding="utf-8")
    command = ["annotate", "survey", "build", str(suite), "--language", "it", "-o", str(survey)]
    assert invoke([*command, "--surveys", "2", *options]) == 0
    return survey


def questions(survey: Path, number: int = 1) -> list[dict[str, str]]:
    """The lines of the table for form programs."""
    with (survey / "forms" / f"survey-{number}.csv").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def filled(path: Path, headings: list[str], people: dict[str, list[str]]) -> Path:
    """The export of a form program: a row per person."""
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["Quando", WHO, *headings])
        writer.writerows(["oggi", name, *answers] for name, answers in people.items())
    return path


def imported(answers: Path, *options: str, form: str = "wide"):
    """The judgments that `annotate import` wrote."""
    output = answers.with_name("judgments.csv")
    command = ["annotate", "import", str(answers), "--form", form, "-o", str(output)]
    who = ["--names", "keep", "--columns", f"participant={WHO}"]
    assert invoke([*command, *who, *options]) == 0
    return judgments_of(read_judgments(output))


def test_checks_scale_and_survey_are_those_of_the_design(tmp_path, capsys):
    survey = built(tmp_path)
    asked = questions(survey)
    right = [line["expected"] or "4" for line in asked]
    # Who stops half-way has answered every second question of the survey, and no check.
    half = ["" if line["expected"] or n % 2 else "4" for n, line in enumerate(asked)]
    wrong = [str(int(line["expected"]) % 5 + 1) if line["expected"] else "2" for line in asked]
    headings = [f"{line['prompt']} [{line['text']}]" for line in asked]
    people = {"anna": right, "bruno": wrong, "carla": half}
    answers = filled(tmp_path / "answers.csv", headings, people)
    judgments = imported(answers, "--design", str(survey))
    said = " ".join(capsys.readouterr().err.split())
    assert "1 person failed attention checks: bruno (0 of 2 right)" in said
    assert "1 person did not answer every question: carla (" in said
    checks = [judgment for judgment in judgments if judgment.is_check]
    assert [(check.item, check.question) for check in checks[:2]] == [
        (line["item"], "attention") for line in asked if line["expected"]
    ]
    assert len(checks) == 4
    assert {(judgment.scale, judgment.survey) for judgment in judgments} == {("1 to 5", "1")}

    table, kept, copy = (str(tmp_path / name) for name in ("judgments.csv", "kept.csv", "rated"))
    assert invoke(["annotate", "filter", table, "-o", kept, "--attention", "1"]) == 0
    assert "bruno" not in {j.annotator for j in judgments_of(read_judgments(Path(kept)))}
    # The scale is not asked again.
    assert invoke(["annotate", "apply", str(tmp_path / "pairs.csv"), kept, "-o", copy]) == 0
    assert "low = 1.0\nhigh = 5.0" in (tmp_path / "rated" / "suite.toml").read_text("utf-8")


@pytest.mark.parametrize(
    ("task", "heading"), [("yesno", "Domanda [{}]"), ("choice", "{}. Quale frase suona meglio?")]
)
def test_answers_are_stored_as_the_design_stores_them(tmp_path, task, heading):
    survey = built(tmp_path, "--task", task)
    asked = questions(survey)
    headings = [heading.format(line["trial"]) for line in asked]
    answers = filled(
        tmp_path / "answers.csv", headings, {"anna": [line["choice_2"] for line in asked]}
    )
    judgments = imported(answers, "--design", str(survey / "design.json"))
    assert [judgment.value for judgment in judgments] == [line["value_2"] for line in asked]
    assert [judgment.question for judgment in judgments] == [line["question"] for line in asked]
    if task == "choice":
        first = next(judgment for judgment in judgments if not judgment.is_check)
        bad = {line.split(",")[2] for line in PAIRS.splitlines()}
        assert first.condition == ("bad" if first.value in bad else "good")


def test_fillers_are_passed_over_and_practice_too(tmp_path, capsys):
    (tmp_path / "more.tsv").write_text("text\nPiove.\n", encoding="utf-8")
    survey = built(tmp_path, "--fillers", str(tmp_path / "more.tsv"), "--checks", "0")
    asked = questions(survey)
    headings = [line["text"] for line in asked]
    answers = filled(tmp_path / "answers.csv", headings, {"anna": ["3"] * len(asked)})
    assert len(imported(answers, "--design", str(survey))) == len(asked) - 1
    assert "1 skipped: it is a filler question" in capsys.readouterr().err


def test_the_design_beside_the_answers_is_used(tmp_path, capsys):
    survey = built(tmp_path)
    asked = questions(survey)
    answers = filled(
        survey / "answers.csv", [line["text"] for line in asked], {"anna": ["3"] * len(asked)}
    )
    assert sum(judgment.is_check for judgment in imported(answers)) == 2
    assert f"The survey is that of {survey / 'design.json'}." in capsys.readouterr().err


def test_an_answer_that_nobody_could_give_is_refused(tmp_path, capsys):
    survey = built(tmp_path)
    text = questions(survey)[0]["text"]
    answers = filled(tmp_path / "a.csv", [text], {"anna": ["6"], "bruno": ["5.0"]})
    command = ["annotate", "import", str(answers), "--form", "wide", "--names", "keep",
               "--columns", f"participant={WHO}", "-o", str(tmp_path / "j.csv")]  # fmt: skip
    assert invoke([*command, "--design", str(survey)]) == 2
    assert "'6' is none of the answers of the survey (1, 2, 3, 4, 5)" in capsys.readouterr().err
    assert invoke([*command, "--design", str(survey), "--suite", "it-islands"]) == 2
    assert "Give one: a design has its items" in capsys.readouterr().err
    (judgment,) = imported(answers, "--design", str(survey), "--unknown", "skip")
    assert judgment.value == "5"


def test_a_story_has_a_column_for_each_of_its_questions(tmp_path):
    survey = tmp_path / "survey"
    command = ["annotate", "survey", "build", "it-stories", "--limit", "3", "--checks", "0"]
    assert invoke([*command, "-o", str(survey)]) == 0
    asked = questions(survey)
    headings = [f"{line['trial']} [{line['question']}]" for line in asked]
    answers = filled(
        tmp_path / "answers.csv", headings, {"anna": [line["choice_2"] for line in asked]}
    )
    judgments = imported(answers, "--design", str(survey))
    assert [(j.item, j.question, j.value) for j in judgments] == [
        (line["item"], line["question"], line["value_2"]) for line in asked
    ]


def test_who_answered_has_to_be_known_once(tmp_path, capsys):
    survey = built(tmp_path)
    answers = filled(tmp_path / "a.csv", [questions(survey)[0]["text"]], {"anna": ["3"]})
    command = ["annotate", "import", str(answers), "--form", "wide", "--names", "keep"]
    assert invoke([*command, "--design", str(survey), "-o", str(tmp_path / "j.csv")]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert said.count("--columns participant=COLUMN") == 1
    assert "Columns that are not items: 'Quando', 'Sigla'." in said


SAID = "as the participant column"


def rated(path: Path, head: list[str], rows: list[list[str]]) -> Path:
    """A table as a spreadsheet program writes it."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=";").writerows([head, *rows])
    return path


def read_as(answers: Path, form: str, *options: str) -> int:
    """What `annotate import` returns for a table with names that are kept."""
    command = ["annotate", "import", str(answers), "--form", form, "--names", "keep", *options]
    return invoke([*command, "-o", str(answers.with_name("j.csv"))])


@pytest.mark.parametrize("who", ["persona", "Nome", "Codice", "Имя", "Email Address", "person"])
def test_people_are_found_in_tables_of_single_answers_that_bear_it_out(tmp_path, capsys, who):
    survey = built(tmp_path)
    good, other = "La città è bella.", "I bambini dormono."
    rows = [["anna", good, "5"], ["anna", other, "4"], ["bruno", good, "3"]]
    answers = rated(tmp_path / "a.csv", [who, "frase", "giudizio"], rows)
    assert read_as(answers, "long", "--design", str(survey)) == 0
    assert f"{who!r} {SAID}" in " ".join(capsys.readouterr().err.split())
    read = judgments_of(read_judgments(tmp_path / "j.csv"))
    assert [(j.annotator, j.value) for j in read] == [(row[0], row[2]) for row in rows]


@pytest.mark.parametrize(
    "rows",
    [
        [["3", "La città è bella.", "5"], ["1", "I bambini dormono.", "4"]],  # of the verb
        [["3", "La città è bella.", "5"], ["3", "La città è bella.", "4"]],
        [["3", "La città è bella.", "5"], ["", "La città è bella.", "4"]],
    ],
)
def test_a_column_that_may_describe_sentences_is_not_read_as_people(tmp_path, capsys, rows):
    survey = built(tmp_path)
    answers = rated(tmp_path / "a.csv", ["persona", "frase", "giudizio"], rows)
    assert read_as(answers, "long", "--design", str(survey)) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert said.count("it is not said whose answers a row has. Call the column") == 1


@pytest.mark.parametrize(
    ("head", "people", "who", "note"),
    [
        (["Informazioni cronologiche", "Nome"], [["10:00", "anna"], ["10:01", "bruno"]],
         ["anna", "bruno"], f"'Nome' {SAID}"),
        (["Timestamp"], [["10:00"], ["10:01"]], ["10:00", "10:01"], "one, by 'Timestamp'"),
        (["Timestamp", "Nome"], [["10:00", "x"], ["10:01", "x"]], ["10:00", "10:01"], "one, by"),
    ],
)  # fmt: skip
def test_people_are_found_in_the_table_of_a_form(tmp_path, capsys, head, people, who, note):
    survey = built(tmp_path)
    text = questions(survey)[0]["text"]
    rows = [[*person, str(n + 2)] for n, person in enumerate(people)]
    answers = rated(tmp_path / "a.csv", [*head, text], rows)
    assert read_as(answers, "wide", "--design", str(survey)) == 0
    assert note in " ".join(capsys.readouterr().err.split())
    read = judgments_of(read_judgments(tmp_path / "j.csv"))
    assert [(j.annotator, j.value) for j in read] == list(zip(who, ["2", "3"], strict=True))


def test_the_form_that_a_table_has_is_known_from_its_contents(tmp_path, capsys):
    survey = built(tmp_path)
    answers = filled(tmp_path / "a.csv", ["q1", "q2"], {"anna": ["3", "4"]})
    output = ["--names", "keep", "-o", str(tmp_path / "j.csv")]
    asked = ["annotate", "import", str(answers), "--design", str(survey)]
    assert invoke([*asked, "--columns", f"participant={WHO}", *output]) == 0
    assert (
        'Read as answers: participant = "Sigla", answers = "q1", "q2"; 2 judgments of 1 person;'
        ' not used: "Quando".' in capsys.readouterr().err
    )
    for command in (asked, asked[:3]):
        assert invoke([*command, "--form", "long", *output]) == 2
        said = capsys.readouterr().err
        assert "each row had all answers of one person" in said
        assert "Give --form wide" in said


def test_a_question_without_a_column_and_a_column_without_a_question_are_named(tmp_path, capsys):
    survey = built(tmp_path)
    asked = questions(survey)
    names = [line["trial"] for line in asked]
    lost = next(line for line in asked if not line["expected"])
    headings = ["q99" if name == lost["trial"] else name for name in names] + ["check-7"]
    answers = filled(tmp_path / "a.csv", headings, {"anna": ["3"] * len(headings)})
    imported(answers, "--design", str(survey))
    said = capsys.readouterr().err
    assert f"1 question has no answers at all: {lost['trial']} ({lost['text']})." in said
    for name in ("q99", "check-7"):
        assert f"column {name!r} is not a question of the design: is this the right design" in said
    assert 'not used: "Quando", "q99", "check-7".' in said


def test_the_export_of_a_form_program_is_sent_to_import(tmp_path, capsys):
    answers = filled(tmp_path / "a.csv", ["q1"], {"anna": ["3"]})
    assert invoke(["annotate", "agreement", str(answers)]) == 2
    assert "`cimento annotate import a.csv -o judgments.csv` first" in capsys.readouterr().err

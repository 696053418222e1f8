"""Exports of experiment programs: the form is told by the contents, and every row is accounted for.

The files are invented, five rows and more in the form of those that `intake/forms.toml` names.
"""

from __future__ import annotations

import csv
import io
import json

import pytest

from cimento import InputError, UsageError
from cimento.judgments import ColumnMap
from cimento.judgments.roles import map_of_options
from cimento.people.annotate.importing import read_answers
from cimento.people.annotate.rows import ImportOptions

GOOD, BAD = "The lamp is new.", "The lamp are new."


def imported(path, text, *, columns="", form=None, fixed=()):
    path.write_text(text, encoding="utf-8")
    return read_answers([path], ImportOptions(form=form, columns=map_of_options(columns, fixed)))


def table(*rows):
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def said(answers):
    return [(j.annotator, j.candidate or j.item, j.value, j.seconds) for j in answers.judgments]


GORILLA = ["Event Index", "UTC Timestamp", "Participant Public ID", "Participant Private ID",
           "Participant Status", "Tree Node Key", "Trial Number", "Zone Name", "Zone Type",
           "Reaction Time", "Response", "sentence", "condition"]  # fmt: skip


def zone(kind, response, text=GOOD, *, person="508753", time="1200", trial="1"):
    return ["2", "1.5E12", "BLIND", person, "complete", "task-a", trial, "z", kind, time, response,
            text, "good"]  # fmt: skip


def test_gorilla_is_read_by_its_zones_and_people_by_their_private_id(tmp_path):
    rows = (
        zone("", "", "", trial="BEGIN TASK"),
        zone("content_text", "", GOOD),
        zone("response_slider_startValue", "50"),
        zone("response_slider_endValue", "6", time="2300"),
        zone("response_rating_scale_likert", "2", BAD),
        zone("response_rating_scale_likert", "7", BAD, person="508754"),
        zone("continue_button", "", ""),
        ["END OF FILE", *[""] * (len(GORILLA) - 1)],
    )
    answers = imported(tmp_path / "data_exp_1.csv", table(GORILLA, *rows))
    assert said(answers) == [("508753", GOOD, "6", 2.3), ("508753", BAD, "2", 1.2),
                             ("508754", BAD, "7", 1.2)]  # fmt: skip
    (reading,) = answers.readings
    assert reading.program == "Gorilla"
    assert {number for number, _ in reading.left_out} == {2, 3, 4, 8, 9}
    assert reading.unused == {}


LABJS = ["sender", "sender_type", "sender_id", "timestamp", "sentence", "item", "duration",
         "ended_on", "response", "time_run", "time_end"]  # fmt: skip


def screen(ended, response, text=GOOD, *, kind="html.Screen", item="1"):
    return ["Rating", kind, "1_0", "2026-01-05T10:00:00.000Z", text, item, "1500.5", ended,
            response, "10", "1510"]  # fmt: skip


@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_labjs_has_answers_where_a_screen_ended_with_a_response(tmp_path, suffix):
    rows = (
        screen("response", "continue", "", item=""),
        screen("response", "5"),
        screen("completion", "5", kind="flow.Sequence"),
        screen("response", "1", BAD, item="2"),
        screen("timeout", "", BAD, item="2"),
    )
    text = table(LABJS, *rows)
    if suffix == ".json":
        text = json.dumps([dict(zip(LABJS, row, strict=True)) for row in rows])
    answers = imported(tmp_path / f"ann{suffix}", text)
    # A file without a column of participants is one person's.
    assert said(answers) == [("ann", "1", "5", 1.5005), ("ann", "2", "1", 1.5005)]
    assert answers.readings[0].program == "lab.js"
    assert len(answers.readings[0].left_out) == 3


PSYCHOPY = ["trials.thisRepN", "trials.thisTrialN", "sentence", "age_group", "go.keys", "go.rt",
            "slider.response", "slider.rt", "participant", "session", "date", "expName",
            "psychopyVersion", "frameRate"]  # fmt: skip


def loop(text, rating, *, key="space", person="17"):
    return ["0", "1", text, "young", key, "0.4", rating, "1.25", person, "001",
            "2026-01-05_10h00", "rating", "2024.2.2", "60.0"]  # fmt: skip


def test_psychopy_has_answers_in_its_one_component_that_asks(tmp_path):
    rows = (loop("", ""), loop(GOOD, "5"), loop(BAD, "1"), loop(BAD, "2", person="18"))
    answers = imported(tmp_path / "17_rating.csv", table(PSYCHOPY, *rows))
    assert said(answers) == [
        ("17", GOOD, "5", 1.25),
        ("17", BAD, "1", 1.25),
        ("18", BAD, "2", 1.25),
    ]
    (reading,) = answers.readings
    assert reading.roles["answer"] == ("slider.response",)
    assert reading.left_out == ((2, "a row without an answer"),)


def test_two_components_with_answers_are_refused_with_an_option_for_each(tmp_path):
    rows = [loop(GOOD, "5", key="f"), loop(BAD, "1", key="j")]
    path, text = tmp_path / "p.csv", table(PSYCHOPY, *rows)
    with pytest.raises(UsageError, match=r"answer=go\.keys' or .*answer=slider\."):
        imported(path, text)
    for column, values in (("go.keys", ["f", "j"]), ("slider.response", ["5", "1"])):
        answers = imported(path, text, columns=f"answer={column}")
        assert [judgment.value for judgment in answers.judgments] == values
        took = 0.4 if column == "go.keys" else 1.25
        assert {judgment.seconds for judgment in answers.judgments} == {took}


LABVANCED = ["Block_Nr", "Task_Nr", "Task_Name", "Trial_Nr", "Trial_Id", "Condition_Id",
             "exp_subject_id", "rec_session_id", "subject_code", "selected_age", "sentence",
             "naturalness", "start_time"]  # fmt: skip


def test_the_variable_of_labvanced_is_named_by_the_user(tmp_path):
    rows = [
        ["1", "2", "rate", str(n), str(n), "1", person, f"9{person}", "x", "31", text, value,
         "2026-01-05T08:00:00.000Z"]
        for n, (person, text, value) in enumerate([("110", GOOD, "6"), ("110", BAD, "2"),
                                                   ("111", GOOD, "7")])
    ]  # fmt: skip
    path, text = tmp_path / "data.csv", table(LABVANCED, *rows)
    with pytest.raises(InputError, match=r"'sentence', 'naturalness'.*answer=COLUMN"):
        imported(path, text)
    answers = imported(path, text, columns="answer=naturalness")
    assert said(answers) == [("110", GOOD, "6", None), ("110", BAD, "2", None),
                             ("111", GOOD, "7", None)]  # fmt: skip
    assert "selected_age" in answers.readings[0].written


def test_limesurveys_codes_are_read_as_their_numbers_and_that_is_said(tmp_path):
    header = ["id", "submitdate", "lastpage", GOOD, BAD]
    rows = [["1", "2026-01-05 10:00:00", "3", "A5", "AO01"],
            ["2", "2026-01-05 10:05:00", "3", "A4", "AO02"]]  # fmt: skip
    answers = imported(tmp_path / "a.csv", table(header, *rows))
    assert [judgment.value for judgment in answers.judgments] == ["5", "1", "4", "2"]
    (note,) = (note for note in answers.notes if "codes" in note)
    assert "are read as numbers: 'A4' as 4, 'A5' as 5, 'AO01' as 1, 'AO02' as 2." in note


ENDS = ("1 (per niente naturale)", "7 = del tutto naturale")


@pytest.mark.parametrize(("low", "high"), [ENDS, ("1 - bad", "7 - good"), ("1: mala", "7: buena")])
def test_numbers_with_words_at_the_ends_of_a_scale_are_numbers(tmp_path, low, high):
    rows = [["p1", high, "2"], ["p2", "6", low], ["p3", high, low]]
    wide = imported(tmp_path / "a.csv", table(["participant", GOOD, BAD], *rows))
    assert [judgment.value for judgment in wide.judgments] == ["7", "2", "6", "1", "7", "1"]
    assert any(f"{high!r} as 7" in note for note in wide.notes)
    single = [[who, GOOD, value] for who, value, _ in rows]
    long = imported(tmp_path / "b.csv", table(["participant", "sentence", "answer"], *single))
    assert [judgment.value for judgment in long.judgments] == ["7", "6", "7"]
    # Who says what they mean is not interpreted.
    own = ColumnMap(values={low: "-3", high: "3"})
    answers = read_answers([tmp_path / "a.csv"], ImportOptions(columns=own))
    assert [judgment.value for judgment in answers.judgments] == ["3", "2", "6", "-3", "3", "-3"]


def test_numbered_sentences_to_choose_from_are_no_numbers(tmp_path):
    rows = [["p1", f"1. {GOOD}"], ["p2", f"2. {BAD}"], ["p3", f"1. {GOOD}"]]
    answers = imported(tmp_path / "a.csv", table(["participant", "Which?"], *rows), form="wide")
    assert [judgment.value for judgment in answers.judgments] == [row[1] for row in rows]


def test_prolifics_list_of_people_is_no_file_of_answers(tmp_path):
    names = ["Submission id", "Participant id", "Status", "Completion code", "Total approvals"]
    text = table(names, ["s1", "5e90", "APPROVED", "C1", "12"])
    with pytest.raises(
        UsageError, match=r"has no answers\. Give the file of the answers, and this"
    ):
        imported(tmp_path / "people.csv", text)


BESIDE = {
    # What each program writes beside answers, in numbers that could be ratings.
    "Qualtrics": ({"StartDate": "2026-01-05 10:00:00", "ResponseId": "R_1", "Finished": "True"},
                  {"Q1_DO_1": "2", "Q1_DO_2": "1", "Q3_Page Submit": "4", "SC0": "6",
                   "Q9 - Sentiment Score": "2"}),
    "Google Forms": ({"Marca temporal": "2026/01/05 10:00:00"},
                     {f"{GOOD} [Puntuación]": "1", f"{BAD} [Puntuación]": "0"}),
    "Microsoft Forms": ({"ID": "1", "Start time": "1/5/26 10:00:00",
                         "Completion time": "1/5/26 10:09:00"},
                        {"Total points": "1", f"Points - {GOOD}": "1", f"Points - {BAD}": "0"}),
    "LimeSurvey": ({"id": "1", "submitdate": "2026-01-05 10:00:00", "lastpage": "3"},
                   {"interviewtime": "9", "groupTime12": "4", f"Question time: {GOOD}": "5"}),
}  # fmt: skip


@pytest.mark.parametrize("program", BESIDE)
def test_what_a_program_writes_beside_answers_is_no_rating(tmp_path, program):
    first, beside = BESIDE[program]
    columns = {"participant": "p1", **first, GOOD: "5", BAD: "2", **beside}
    people = [[*columns.values()], ["p2", *[*columns.values()][1:]]]
    answers = imported(tmp_path / "a.csv", table([*columns], *people))
    assert {(j.item, j.value) for j in answers.judgments} == {(GOOD, "5"), (BAD, "2")}
    (reading,) = answers.readings
    assert reading.program == program
    assert {*beside} <= {*reading.written}


def test_a_questionnaire_of_gorilla_has_each_answer_once(tmp_path):
    header = ["Event Index", "Participant Private ID", "Tree Node Key", "Question Key", "Response"]
    said = {"BEGIN QUESTIONNAIRE": "", "odd": "Rather odd", "odd-quantised": "2",
            "END QUESTIONNAIRE": "2300"}  # fmt: skip
    rows = [["1", "508753", "questionnaire-a", key, response] for key, response in said.items()]
    answers = imported(tmp_path / "q.csv", table(header, *rows))
    assert [(j.item, j.value) for j in answers.judgments] == [("odd-quantised", "2")]
    assert (3, "words beside their number") in answers.readings[0].left_out


def test_the_rows_of_a_grid_are_its_items(tmp_path):
    columns = [f"How natural? [{GOOD}]", f"How natural? [{BAD}]", "And you? [kind]"]
    rows = [["p1", "5", "1", "4"], ["p2", "4", "2", "5"]]
    answers = imported(tmp_path / "a.csv", table(["participant", *columns], *rows))
    assert {judgment.item for judgment in answers.judgments} == {GOOD, BAD, "And you? [kind]"}


def test_workers_who_saw_other_sentences_are_the_people_of_a_long_table(tmp_path):
    texts = [f"The {noun} sleep here." for noun in ("boys", "cats", "kings", "wolves")]
    rows = [f"w{n % 2 + 1},{n + 1},{text}" for n, text in enumerate(texts)]
    answers = imported(tmp_path / "turk.csv", "\n".join(["WorkerId,answer,sentence", *rows]))
    assert [(one.annotator, one.value) for one in answers.judgments] == [
        ("w1", "1"), ("w2", "2"), ("w1", "3"), ("w2", "4"),
    ]  # fmt: skip


def test_workers_of_a_marketplace_are_the_people_of_a_long_table(tmp_path):
    rows = [f"{worker},{n},{answer},{text}" for n, (worker, answer, text) in enumerate(
        [("w1", "9", GOOD), ("w2", "7", GOOD), ("w1", "2", BAD), ("w2", "1", BAD)])]  # fmt: skip
    text = "\n".join(["WorkerId,batch,answer,sentence", *rows]) + "\n"
    answers = imported(tmp_path / "turk.csv", text)
    assert [(one.annotator, one.value) for one in answers.judgments] == [
        ("w1", "9"), ("w2", "7"), ("w1", "2"), ("w2", "1"),
    ]  # fmt: skip

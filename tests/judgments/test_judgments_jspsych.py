"""What the responses of jsPsych's plugins mean: places counted from 0, or the answer itself."""

from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import InputError, UsageError
from cimento.judgments import ColumnMap, read_judgments
from cimento.people.annotate.importing import questions_by_name, read_answers
from cimento.people.annotate.rows import ImportOptions
from tests.helpers.command_line import invoke

FROM_ZERO = (
    "survey-likert",
    *(f"{shown}-button-response" for shown in ("html", "image", "audio", "video", "canvas")),
)
AS_GIVEN = ("html-slider-response", "canvas-slider-response", "html-keyboard-response",
            "survey-multi-choice", "survey-text", "survey")  # fmt: skip


def trial(response, plugin="survey-likert", item="1", **more):
    return {"trial_type": plugin, "rt": 900, "response": response, "item": item,
            "condition": "good", "subject": "s1", **more}  # fmt: skip


def read(tmp_path, *trials, **options):
    path = tmp_path / "data.json"
    path.write_text(json.dumps(trials), encoding="utf-8")
    return read_answers([path], ImportOptions(form="jspsych", **options))


def values(imported):
    return [judgment.value for judgment in imported.judgments]


@pytest.mark.parametrize("plugin", FROM_ZERO)
def test_places_count_from_0_and_the_lowest_answer_is_1(tmp_path, plugin):
    answers = read(tmp_path, trial(0, plugin), trial(4, plugin, item="2"))
    assert values(answers) == ["1", "5"]
    assert f"counts the answers of {plugin} trials from 0 (2 here): 1 is added" in answers.notes[0]


@pytest.mark.parametrize("plugin", AS_GIVEN)
def test_sliders_keys_and_texts_are_the_answer(tmp_path, plugin):
    answers = read(tmp_path, trial("4", plugin))
    assert values(answers) == ["4"]
    assert not any("from 0" in note for note in answers.notes)


def test_columns_of_jspsych_6_mean_the_same(tmp_path):
    likert = {**trial("", "survey-likert"), "responses": '{"Q0":2}'}
    button = {**trial("", "html-button-response", item="2"), "button_pressed": "3"}
    for one in (likert, button):
        del one["response"]
    assert values(read(tmp_path, likert, button)) == ["3", "4"]


@pytest.mark.parametrize("plugin", ["my-own-scale", ""])
def test_a_number_of_an_unknown_plugin_is_refused(tmp_path, plugin):
    with pytest.raises(InputError, match=r"whether it counts from 0 cannot be told\. Say what"):
        read(tmp_path, trial(3, plugin))
    # Words and numbers that the author stored as the value count nothing.
    assert values(read(tmp_path, trial("quite good", plugin))) == ["quite good"]
    assert values(read(tmp_path, trial(3, plugin, value="7"))) == ["7"]


def test_what_the_author_stored_counts_and_not_the_response(tmp_path):
    answers = read(tmp_path, trial(0, "html-button-response", value="1"))
    assert (values(answers), answers.notes) == (["1"], ())


def test_the_users_own_values_come_first_and_have_to_be_all(tmp_path):
    own = ColumnMap(values={"0": "-2", "4": "2"})
    assert values(read(tmp_path, trial(0), trial(4, item="2"), columns=own)) == ["-2", "2"]
    with pytest.raises(InputError, match=r"\[values\] has no '3', the response of a survey-likert"):
        read(tmp_path, trial(0), trial(3, item="2"), columns=own)
    unknown = ColumnMap(values={"3": "3"})
    assert values(read(tmp_path, trial(3, "my-own-scale"), columns=unknown)) == ["3"]


def test_a_choice_of_unknown_options_is_refused(tmp_path):
    with pytest.raises(InputError, match="'which is better' is number 1, counted from 0, of answ"):
        read(tmp_path, trial(1, "html-button-response", question="which is better"))


def test_a_page_of_several_questions_is_refused(tmp_path):
    with pytest.raises(InputError, match="a survey-likert has several answers, and one item"):
        read(tmp_path, trial({"Q0": 4, "Q1": 0}))


PAGE = {"The doors are shut.": 4, "The doors is shut.": 0, "2/good": 3, "age": 2}


@pytest.fixture
def doors(tmp_path):
    suite = tmp_path / "doors.tsv"
    suite.write_text(
        "item\tgood\tbad\n1\tThe doors are shut.\tThe doors is shut.\n"
        "2\tThe lamp is new.\tThe lamp are new.\n",
        encoding="utf-8",
    )
    return suite


@pytest.mark.parametrize("form", ["json", "csv", "text"])
def test_the_questions_of_a_page_are_known_by_the_names_of_a_suite(tmp_path, doors, form):
    pages = [
        {"trial_type": "survey-likert", "rt": 9100, "response": PAGE, "subject": "s1"},
        {"trial_type": "survey-likert", "rt": 900, "response": {"2/bad": 1}, "subject": "s1"},
        {"trial_type": "survey-multi-choice", "rt": 70, "subject": "s1",
         "response": {"region": "Toscana", "age": "31-40"}},
    ]  # fmt: skip
    path = tmp_path / ("data.csv" if form == "csv" else "data.json")
    if form != "json":
        pages = [{**page, "response": json.dumps(page["response"])} for page in pages]
    if form == "csv":
        cells = io.StringIO()
        table = csv.DictWriter(cells, list(pages[0]))
        table.writeheader()
        table.writerows(pages)
        path.write_text(cells.getvalue(), encoding="utf-8")
    else:
        path.write_text(json.dumps(pages), encoding="utf-8")
    places = questions_by_name([doors])
    answers = read_answers([path], ImportOptions(form="jspsych", places=places))

    assert [(one.item, one.condition, one.value) for one in answers.judgments] == [
        ("1", "good", "5"), ("1", "bad", "1"), ("2", "good", "4"), ("2", "bad", "2"),
    ]  # fmt: skip
    assert {one.annotator for one in answers.judgments} == {"s1"}
    assert {one.seconds for one in answers.judgments} == {None}
    assert answers.passed == {"a trial of type survey-multi-choice names no item": 1}
    assert any("Pages with several questions" in note for note in answers.notes)


def test_a_page_is_read_as_the_message_advises(tmp_path, doors, capsys):
    path, output = tmp_path / "page.json", tmp_path / "judgments.csv"
    page = trial({"The lamp is new.": 4, "The lamp are new.": 1}, condition="")
    path.write_text(json.dumps([page]), encoding="utf-8")
    command = ["annotate", "import", str(path), "--names", "keep", "-o", str(output)]
    assert invoke(command) == 2
    assert "--suite SUITE" in capsys.readouterr().err
    assert invoke([*command, "--suite", str(doors)]) == 0
    judgments = read_judgments(output)
    assert judgments["condition"].to_list() == ["good", "bad"]
    assert judgments["value"].to_list() == ["5", "2"]


def test_an_unanswered_question_is_no_answer(tmp_path):
    answers = read(tmp_path, trial({"Q0": ""}), trial(None, item="2"), trial(2, item="3"))
    assert values(answers) == ["3"]
    assert answers.passed == {"there is no answer in the row": 2}


@pytest.fixture
def survey(tmp_path, doors):
    folder = tmp_path / "survey"
    command = ["annotate", "survey", "build", str(doors), "--language", "en"]
    assert invoke([*command, "--contact", "A. Green, a@example.org", "-o", str(folder)]) == 0
    return folder


def test_with_a_design_places_are_its_answers_and_checks_are_judged_on_them(
    tmp_path, survey, capsys
):
    design = json.loads((survey / "design.json").read_text("utf-8"))
    check = next(asked for asked in design["questions"] if asked["expected"])
    trials = [
        trial(int(check["expected"]) - 1, item=check["id"], condition=""),
        trial(4, "html-button-response"),
    ]
    data = tmp_path / "s.json"
    data.write_text(json.dumps(trials), encoding="utf-8")
    out = tmp_path / "out.csv"
    command = ["annotate", "import", str(data), "--form", "jspsych", "--design", str(survey),
               "--names", "keep", "-o", str(out)]  # fmt: skip
    assert invoke(command) == 0
    said = capsys.readouterr().err
    assert "All attention checks of 1 person are right." in said
    assert "each is read as the answer of the survey in that place" in said
    table = read_judgments(out)
    assert table["value"].to_list() == [check["expected"], "5"]
    # The scale of the survey has five points: there is no sixth.
    data.write_text(json.dumps([trial(5)]), encoding="utf-8")
    assert invoke(command) != 0
    assert "'5', counted from 0, is none of the answers" in capsys.readouterr().err


def test_a_long_table_of_jspsych_is_refused(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("trial_type,subject,item,response\nsurvey-likert,s1,1,4\n", encoding="utf-8")
    with pytest.raises(UsageError, match="whose responses may count from 0"):
        read_answers([path], ImportOptions(form="long", places=questions_by_name([])))


def test_files_of_one_name_in_several_folders_are_several_people(tmp_path):
    paths = []
    for folder, response in (("a", 0), ("b", 3)):
        (tmp_path / folder).mkdir()
        paths.append(tmp_path / folder / "data.json")
        unnamed = {k: v for k, v in trial(response).items() if k != "subject"}
        paths[-1].write_text(json.dumps([unnamed]), encoding="utf-8")
    answers = read_answers(paths, ImportOptions(form="jspsych"))
    assert len({judgment.annotator for judgment in answers.judgments}) == 2


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.sampled_from(FROM_ZERO + AS_GIVEN[:3]), st.integers(0, 9)), min_size=1),
    st.booleans(),
)
def test_csv_and_json_are_read_alike_and_each_plugin_keeps_its_meaning(
    tmp_path_factory, given_answers, boxed
):
    folder = tmp_path_factory.mktemp("jspsych")
    trials = [
        trial({"Q0": answer} if boxed and "likert" in plugin else answer, plugin, item=str(place))
        for place, (plugin, answer) in enumerate(given_answers)
    ]
    as_json = read(folder, *trials)
    text = io.StringIO()
    writer = csv.DictWriter(text, trials[0])
    writer.writeheader()
    writer.writerows(
        {k: json.dumps(v) if isinstance(v, dict) else v for k, v in one.items()} for one in trials
    )
    path = folder / "data.csv"
    path.write_text(text.getvalue(), encoding="utf-8")
    as_csv = read_answers([path], ImportOptions(form="jspsych"))
    expected = [str(answer + (plugin in FROM_ZERO)) for plugin, answer in given_answers]
    assert values(as_json) == values(as_csv) == expected

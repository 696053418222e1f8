"""Self-paced reading and mazes: designs, what the server takes, and times by word."""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter
from contextlib import ExitStack
from dataclasses import replace
from html import unescape

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cimento import InputError, UsageError
from cimento.judgments import Judgment, table_of, write_judgments
from cimento.people.surveys import SurveyQuestion, parse_design, storage
from cimento.people.surveys.building import build_design
from cimento.people.surveys.exports import write_survey
from cimento.people.surveys.material import languages, words
from cimento.people.surveys.maze import FIRST_FOIL
from cimento.people.surveys.plan import SurveyPlan
from cimento.people.surveys.server import make_app
from cimento.people.surveys.timed import WordTime, read_times
from cimento.people.surveys.times import TimeRules, word_times
from tests.helpers.command_line import invoke
from tests.helpers.reading_help import (
    maze_design,
    reading_design,
    times_of,
    written,
)
from tests.helpers.survey_help import SECRET, Person, asked_of, hidden

testclient = pytest.importorskip("starlette.testclient")


@pytest.fixture(scope="module")
def maze(tmp_path_factory):
    return maze_design(tmp_path_factory.mktemp("maze"))


def test_each_list_has_one_condition_of_an_item_and_all_lists_have_all(tmp_path):
    design = reading_design(tmp_path)
    assert len(design.surveys) == 2
    seen = Counter()
    for questions in design.by_survey.values():
        assert questions[0].kind == "practice"
        asked = [(q.item, q.condition) for q in questions if not q.kind]
        assert sorted(item for item, _ in asked) == ["1", "2", "3"]
        seen.update(asked)
    assert seen == Counter(itertools.product("123", ("good", "bad")))
    assert not any(question.expected for question in design.questions)


def test_comprehension_questions_are_those_of_the_columns(tmp_path):
    by_item = {q.item: q for q in reading_design(tmp_path).questions}
    assert by_item["1"].comprehension == "Sono finestre?"
    assert [(c.value, c.label) for c in by_item["1"].choices] == [("yes", "sì"), ("no", "no")]
    assert by_item["1"].correct == "yes"
    assert (by_item["2"].comprehension, by_item["2"].choices) == ("", ())
    assert by_item["3"].correct == "no"


def test_a_design_survives_its_file(tmp_path, maze):
    from cimento.people.surveys import design_json

    for design in (reading_design(tmp_path), maze):
        assert parse_design(design_json(design).encode(), where="x") == design


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (",forse", "is empty"),
        ("Chi dorme?,forse", "none of the answers"),
    ],
)
def test_an_answer_without_its_question_is_refused(tmp_path, cells, said):
    suite = tmp_path / "frasi.csv"
    header = "item,good,bad,comprehension,comprehension_answer"
    suite.write_text(f"{header}\n1,Il gatto dorme.,Il gatto dormono.,{cells}\n")
    with pytest.raises(InputError, match=said):
        build_design(suite, SurveyPlan(task="reading", language="it"))


def test_choices_of_comprehension_questions_can_be_ones_own(tmp_path):
    suite = tmp_path / "frasi.csv"
    header = "item,good,bad,comprehension,comprehension_answer,comprehension_choices"
    suite.write_text(f"{header}\n1,Il gatto dorme.,Il gatto dormono.,Chi?,gatto,cane | gatto\n")
    design = build_design(suite, SurveyPlan(task="reading", language="it"))
    assert {q.correct for q in design.questions} == {"gatto"}
    assert [choice.label for choice in design.questions[0].choices] == ["cane", "gatto"]


def test_a_maze_needs_a_sheet_and_no_other_task_takes_one(tmp_path):
    suite = written(tmp_path)
    with pytest.raises(UsageError, match="there are no distractors"):
        build_design(suite, SurveyPlan(task="maze", language="it"))
    sheet = tmp_path / "sheet.tsv"
    sheet.write_text("")
    with pytest.raises(UsageError, match="there are none in the task reading"):
        build_design(suite, SurveyPlan(task="reading", language="it", distractors=sheet))


def test_regions_of_words_are_those_of_the_suite(tmp_path):
    suite = tmp_path / "suite.tsv"
    suite.write_text(
        "item\tcondition\tsubject\tverb\trest\n"
        "1\tsg\tIl gatto\tdorme\tsul divano.\n1\tpl\tI gatti\tdormono\tsul divano.\n"
    )
    design = build_design(suite, SurveyPlan(task="reading", language="it"))
    for question in design.questions:
        assert question.regions == ("subject", "subject", "verb", "rest", "rest")


def test_nothing_is_written_for_paper(tmp_path):
    design = reading_design(tmp_path)
    write_survey(design, tmp_path / "survey")
    folders = {path.name for path in (tmp_path / "survey").iterdir()}
    assert folders == {"design.json", "jspsych", "pcibex"}


@pytest.mark.parametrize("language", languages())
def test_consent_says_that_times_are_stored_in_every_language(tmp_path, language):
    suite = written(tmp_path)
    suite.write_text(suite.read_text().split("\n2,")[0].replace(",sì", ","))
    design = build_design(suite, SurveyPlan(task="reading", language=language))
    assert words(language)["timed"]["consent"] in design.consent
    asks = words(language)["timed"]["comprehension"]
    assert asks in design.guidelines


finite = st.floats(0, 1e6).map(lambda ms: round(ms, 1))


@given(st.lists(finite, min_size=1, max_size=12), st.sampled_from(["key", "touch"]))
def test_times_of_reading_are_read_as_they_are_written(milliseconds, device):
    question = SurveyQuestion(id="q", item="1", lines=(" ".join("w" for _ in milliseconds),))
    read = read_times(" ".join([device, *map("{:.1f}".format, milliseconds)]), question)
    assert read.device == device
    assert [time.ms for time in read.times] == pytest.approx(milliseconds)


def test_times_of_a_maze_have_sides_errors_and_corrections():
    question = SurveyQuestion(id="q", item="1", lines=("a b c",), foils=(FIRST_FOIL, "d", "e"))
    read = read_times("key 812.3l 640.1r!1203.9 500l!", question)
    assert read.times == (
        WordTime(812.3, "left"),
        WordTime(640.1, "right", is_wrong=True, corrected_ms=1203.9),
        WordTime(500.0, "left", is_wrong=True),
    )
    assert len(read_times("key 812.3l 640.1r!", question).times) == 2


@pytest.mark.parametrize(
    "text",
    ["", "key", "key 1 2", "key 1 2 3 4", "pen 1 2 3", "key 1 2 x", "key 1l 2l 3l", "key 1 -2 3",
     "key 1 nan 3", "key 1 2 1e400", f"key 1 2 {'9' * 400}", "key  1 2 3", "key 1 2 3\n"],
)  # fmt: skip
def test_what_no_page_gives_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        read_times(text, SurveyQuestion(id="q", item="1", lines=("a b c",)))


@pytest.mark.parametrize("text", ["key 1 2 3", "key 1l 2l", "key 1l! 2l 3l", "key 1l! 2l"])
def test_times_that_no_maze_gives_are_refused(text):
    question = SurveyQuestion(id="q", item="1", lines=("a b c",), foils=(FIRST_FOIL, "d", "e"))
    with pytest.raises(ValueError, match=r"."):
        read_times(text, question)


@pytest.fixture
def database(tmp_path):
    return tmp_path / "answers.sqlite"


@pytest.fixture
def reader(database):
    """Makes somebody who has agreed to read a design."""
    with ExitStack() as stack:

        def made(design):
            app = make_app(design, database, secret=SECRET, pace=1000)
            client = stack.enter_context(testclient.TestClient(app, base_url="http://localhost"))
            ((_, token),) = storage.invite_participants(database, design, 1)
            person = Person(client, token)
            assert person.agree().status_code == 303
            return person

        yield made


def test_a_sentence_is_sent_to_the_page_as_it_is(reader, tmp_path):
    person = reader(reading_design(tmp_path))
    page = person.get("/1").text
    sent = json.loads(unescape(page.partition('data-sentence="')[2].partition('"')[0]))
    assert sent["words"] == ["Il", "treno", "parte."]
    assert sent["foils"] == []
    assert words("it")["timed"]["script"] in page
    assert '<script src="/static/reading.js"' in page


def test_times_and_answers_are_stored_together_and_the_first_count(reader, tmp_path, database):
    design = reading_design(tmp_path)
    person = reader(design)
    question = asked_of(database, design)[0]
    page = person.get("/1").text
    data = {**hidden(page), "field-0": "key 300.1 200.5 410.0", "field-1": "yes"}
    assert person.send(1, {**data, "field-0": "key 300.1 200.5"}).status_code == 422
    assert person.send(1, {**data, "field-1": "forse"}).status_code == 422
    assert storage.answers(database) == []
    assert person.send(1, data).status_code == 303
    person.send(1, {**data, "field-0": "key 1 1 1"})
    stored = {(a.question, a.field): a.value for a in storage.answers(database)}
    assert stored == {
        (question.id, "practice"): "key 300.1 200.5 410.0",
        (question.id, "practice comprehension"): "yes",
    }
    again = person.get("/1")
    assert (again.status_code, again.headers["location"][-11:]) == (303, "/guidelines")


def test_a_maze_that_ended_at_a_mistake_needs_no_answer_about_it(reader, maze, database):
    person = reader(maze)
    question = asked_of(database, maze)[0]
    data = {**hidden(person.get("/1").text), "field-0": times_of(question, wrong_at=1)}
    assert person.send(1, data).status_code == 303
    assert [answer.value for answer in storage.answers(database)] == ["key 301l 302l!"]


def test_a_survey_that_was_read_comes_back_by_word(reader, tmp_path, database):
    design = reading_design(tmp_path)
    person = reader(design)
    asked = asked_of(database, design)
    for position, question in enumerate(asked, start=1):
        answers = [question.correct] if question.comprehension else []
        assert person.answer(position, times_of(question), *answers).status_code == 303
    write_survey(design, tmp_path / "survey")
    judgments, times = tmp_path / "judgments.csv", tmp_path / "times.csv"
    export = ["annotate", "serve", "export", str(tmp_path / "survey"), "-o", str(judgments)]
    assert invoke([*export, "--database", str(database)]) == 0
    turned = ["annotate", "times", str(judgments), "--design", str(tmp_path / "survey")]
    assert invoke([*turned, "-o", str(times)]) == 0
    table = pl.read_csv(times)
    expected = [
        (f"{q.item}/{q.condition}", n + 1, word, 301.0 + n, place)
        for place, q in enumerate(asked, start=1)
        if not q.kind
        for n, word in enumerate(q.words)
    ]
    assert table.select("text", "position", "word", "rt", "trial").rows() == expected
    joined = tmp_path / "joined.csv"
    command = ["analyze", "reading-times", str(times), "-m", "demo-causal", "-o", str(joined)]
    assert invoke(command) == 0
    after = pl.read_csv(joined)
    assert after["rt"].to_list() == table["rt"].to_list()
    assert after["surprisal_bits"].null_count() == 0
    assert {"surprisal_bits_1", "surprisal_bits_2"} <= set(after.columns)


def judged(design, question, value, *, who="p1", position=2):
    return Judgment(
        suite="frasi", item=question.item, condition=question.condition, annotator=who,
        question=design.fields[0].name, value=value, position=position, survey="1",
    )  # fmt: skip


def answer(question, value, *, who="p1"):
    return Judgment(
        suite="frasi", item=question.item, condition=question.condition, annotator=who,
        question="comprehension", value=value, expected=question.correct,
    )  # fmt: skip


def of_suite(design, item, condition="good"):
    return next(q for q in design.questions if (q.item, q.condition) == (item, condition))


def test_each_time_that_is_left_out_is_named_with_its_reason(tmp_path):
    design = reading_design(tmp_path)
    first, third = of_suite(design, "1"), of_suite(design, "3")
    judgments = [
        judged(design, first, "key 99.9 100 3000 3000.1 250 310"),
        answer(first, "yes"),
        judged(design, third, "touch 400 400 400 400 400"),
        answer(third, "yes"),
    ]
    rules = TimeRules(shortest_ms=100, longest_ms=3000, correct_only=True)
    made = word_times(judgments, design, rules)
    assert [word.rt for word in made.words[:6]] == [None, 100.0, 3000.0, None, 250.0, 310.0]
    assert made.words[0].excluded == "shorter than 100 ms (99.9 ms)"
    assert made.words[3].excluded == "longer than 3000 ms (3000.1 ms)"
    assert [word.rt for word in made.words[6:]] == [None] * 5
    assert {word.device for word in made.words[6:]} == {"touch"}
    assert made.comprehension == {"p1": (1, 2)}
    log = made.log()
    assert "11 words in 2 sentences read by 1 person" in log
    assert "p1, sentence 1/good, word 4 'scuola': longer than 3000 ms (3000.1 ms)" in log
    assert "left out, wrong answer to the comprehension question: 5 words" in log
    everything = word_times(judgments, design)
    assert not any(word.excluded for word in everything.words)


@pytest.mark.parametrize(
    ("errors", "kept"),
    [("rest", [True, False, False]), ("word", [True, False, True]),
     ("sentence", [False, False, False]), ("keep", [True, True, True])],
)  # fmt: skip
def test_a_wrong_choice_leaves_out_what_the_rule_says(maze, errors, kept):
    question = of_suite(maze, "3")
    text = times_of(question, wrong_at=1, after="900")
    made = word_times([judged(maze, question, text)], maze, TimeRules(errors=errors))
    assert [word.rt is not None for word in made.words[:3]] == kept
    assert made.words[1].choice == "incorrect"
    assert made.words[1].corrected_rt == 900
    assert made.words[0].distractor == FIRST_FOIL


def test_words_after_the_end_of_a_maze_are_there_without_a_time(maze):
    question = of_suite(maze, "3")
    text = times_of(question, wrong_at=1)
    for errors in ("rest", "keep"):
        made = word_times([judged(maze, question, text)], maze, TimeRules(errors=errors))
        assert [word.word for word in made.words] == list(question.words)
        assert made.words[-1].excluded == "not read after a wrong choice"
        assert made.words[-1].rt is None


def test_who_read_a_sentence_twice_counts_once(tmp_path):
    design = reading_design(tmp_path)
    second = of_suite(design, "2")
    judgments = [
        judged(design, second, times_of(second)),
        judged(design, second, "key 1 1 1 1 1 1"),
    ]
    made = word_times(judgments, design)
    assert [word.rt for word in made.words] == [301, 302, 303, 304, 305, 306]


def test_judgments_of_another_survey_are_refused(tmp_path):
    design = reading_design(tmp_path)
    second = of_suite(design, "2")
    with pytest.raises(InputError, match="no times of words"):
        word_times([], design)
    with pytest.raises(InputError, match="the survey has no such sentence"):
        word_times([judged(design, replace(second, item="9"), "key 1")], design)
    with pytest.raises(InputError, match="it has 2 times, and the sentence has 6 words"):
        word_times([judged(design, second, "key 1 2")], design)


def test_the_command_refuses_a_survey_without_times(tmp_path, capsys):
    folder = tmp_path / "survey"
    build = ["annotate", "survey", "build", str(written(tmp_path)), "--language", "it"]
    assert invoke([*build, "--contact", "A", "-o", str(folder)]) == 0
    turned = ["annotate", "times", "j.csv", "--design", str(folder), "-o", "t.csv"]
    assert invoke(turned) == 2
    assert "in which no words are timed" in capsys.readouterr().err


def test_sentences_without_blanks_and_rules_without_a_maze_are_refused(tmp_path):
    suite = tmp_path / "frasi.csv"
    suite.write_text("item,good,bad\n1,他们在家,他们在家们\n")
    with pytest.raises(InputError, match="is one word: words are between blanks"):
        build_design(suite, SurveyPlan(task="reading", language="it"))
    plan = SurveyPlan(task="reading", language="it", after_error="correct")
    with pytest.raises(UsageError, match="nothing is chosen wrongly"):
        build_design(written(tmp_path), plan)


@pytest.mark.slow
def test_what_many_have_read_is_analyzed(tmp_path, capsys):
    design = reading_design(tmp_path)
    chance = random.Random(5)  # noqa: S311  # no secret
    read = [q for q in design.questions if not q.kind]
    people = [f"p{number}" for number in range(12)]
    slow = {person: chance.uniform(0, 150) for person in people}
    judgments = [
        judged(
            design, question,
            "key " + " ".join(f"{250 + slow[person] + 9 * len(w) + chance.uniform(0, 60):.1f}"
                              for w in question.words),
            who=person,
        )
        for person in people
        for question in read
    ]  # fmt: skip
    write_survey(design, tmp_path / "survey")
    write_judgments(table_of(judgments), tmp_path / "judgments.parquet")
    times = tmp_path / "times.csv"
    turned = ["annotate", "times", str(tmp_path / "judgments.parquet"), "-o", str(times)]
    assert invoke([*turned, "--design", str(tmp_path / "survey"), "--shortest", "330"]) == 0
    command = ["analyze", "reading-gains", str(times), "-m", "demo-causal", "--item", "item"]
    capsys.readouterr()
    assert invoke([*command, "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    table = pl.read_csv(times)
    assert table["rt"].null_count() > 0
    # The first two words have no two words before them.
    assert made["n"] == table.filter(pl.col("position") > 2).drop_nulls("rt").height
    assert {gain["subjects"] for gain in made["gains"]} == {12}

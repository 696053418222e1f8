"""The stored order of a participant's questions, and of the answers in choices."""

from __future__ import annotations

import contextlib
import html
import random
import re
from collections import Counter

import pytest
import starlette.testclient as starlette
from hypothesis import given
from hypothesis import strategies as st

from cimento.errors import StorageError
from cimento.judgments.summaries import attention, judgments_by_person, same_run, same_share
from cimento.people.surveys import AnswerChoice, SurveyQuestion, administration, storage
from cimento.people.surveys.orders import draw_turns
from cimento.people.surveys.server import make_app
from tests.helpers import survey_help
from tests.helpers.survey_help import SECRET, Person, asked_of, small

SHOWN = re.compile(r'name="field-0" value="([^"]*)"')
DAMAGED = ("", "null", "3", "[1]", '{"q1": 2}', '[["q1", "2"]]', '[["q1", -1]]', '[["q1"]]')

design, database = survey_help.design, survey_help.database


@pytest.mark.parametrize("order", DAMAGED)
def test_a_damaged_order_of_questions_is_told(design, database, order):
    storage.prepare(database, design)
    storage.invite_participants(database, design, 1)
    with contextlib.closing(storage.open_database(database)) as connection:
        connection.execute("UPDATE participants SET questions = ?", (order,))
    with pytest.raises(StorageError, match=r"the questions of participant 'P-.*' are unreadable"):
        storage.participants(database)


def pair(number, *, turned=False, expected="", kind=""):
    """A choice between two sentences, of which the second comes first where it is turned."""
    both = [AnswerChoice(f"{side} {number}", f"{side} {number}", side) for side in ("good", "bad")]
    wanted = f"{expected} {number}" if expected else ""
    choices = tuple(both[::-1] if turned else both)
    return SurveyQuestion(
        id=f"{kind}{expected}{number}", item=str(number), lines=(), choices=choices,
        expected=wanted, kind=kind,
    )  # fmt: skip


def first_of(question, turns):
    """The answer that comes first when a choice is turned."""
    return question.choices[turns[question.id]]


@given(st.lists(st.booleans(), max_size=12), st.integers(0, 5), st.integers())
def test_each_condition_comes_first_equally_often_for_everybody(turned, checks, seed):
    questions = [pair(number, turned=each) for number, each in enumerate(turned)]
    questions += [pair(number, kind="filler") for number in range(3)]
    asked = [pair(number, expected="good") for number in range(checks)]
    turns = draw_turns([*questions, *asked], random.Random(seed))  # noqa: S311  # no secret
    assert turns.keys() == {question.id for question in (*questions, *asked)}
    first = Counter(first_of(one, turns).condition for one in questions if not one.kind)
    assert abs(first["good"] - first["bad"]) <= 1
    # Who always chooses the first answer passes half of the checks, and so does the contrary.
    passed = sum(first_of(one, turns).value == one.expected for one in asked)
    assert abs(2 * passed - checks) <= 1


@pytest.mark.parametrize("place", [0, 1])
def test_who_always_chooses_the_same_place_is_found(tmp_path, place):
    design = small(task="choice", checks=2, limit=6)
    database = tmp_path / "answers.sqlite"
    app = make_app(design, database, secret=SECRET, pace=1000)
    invited = storage.invite_participants(database, design, 4)
    with starlette.TestClient(app, base_url="http://localhost") as client:
        for _, token in invited:
            person = Person(client, token)
            person.agree()
            for position in range(1, 9):
                shown = SHOWN.findall(person.get(f"/{position}").text)
                person.answer(position, html.unescape(shown[place]))
    people = judgments_by_person(administration.judgments_in(database))
    assert len(people) == 4
    for number, answers in enumerate(people.values()):
        questions = asked_of(database, design, number)
        assert len(answers) == len(questions) == 8
        assert {one.answer_place for one in answers} == {place + 1}
        assert attention(answers).value == 0.5
        assert (same_share(answers).value, same_run(answers).value) == (1.0, 6.0)
        of_test = [one for one in answers if one.expected is None]
        assert set(Counter(one.condition for one in of_test).values()) == {3}
    orders = {tuple(sorted(person.turns.items())) for person in storage.participants(database)}
    assert len(orders) > 1


def test_the_answers_of_a_scale_are_never_turned(design, database):
    storage.prepare(database, design)
    storage.invite_participants(database, design, 3)
    assert all(not person.turns for person in storage.participants(database))

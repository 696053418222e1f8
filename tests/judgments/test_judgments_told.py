"""Answers and items that a table tells in other cells than usual."""

from __future__ import annotations

import re

import pytest

from cimento import InputError, UsageError
from cimento.judgments.roles import map_of_options
from cimento.people.annotate.importing import read_answers
from cimento.people.annotate.rows import ImportOptions
from tests.judgments.test_judgments_layouts import PEOPLE, SENTENCES, accounted, written

ASKED = len(SENTENCES)
BY_ROW = {
    "participant": [who for who in PEOPLE for _ in SENTENCES],
    "sentence": SENTENCES * len(PEOPLE),
    "condition": ["grammatical", "ungrammatical", "grammatical"] * len(PEOPLE),
    "accuracy": ["1", "1", "0", "1", "0", "1", "0", "1", "1", "1", "1", "1"],
}
# By hand: a good sentence judged rightly is 1, wrongly 0; a bad one judged rightly 0, wrongly 1.
CALLED_GOOD = ["1", "0", "0", "1", "1", "1", "0", "0", "1", "1", "0", "1"]


def read(folder, columns, chosen=""):
    path = written(folder, columns)
    answers = read_answers([path], ImportOptions(columns=map_of_options(chosen)))
    (reading,) = answers.readings
    return answers, reading


def test_the_option_that_a_table_of_right_answers_is_told_reads_the_judgments(tmp_path):
    with pytest.raises(UsageError) as refused:
        read(tmp_path, BY_ROW)
    option = re.search(r"columns='([^']+)'", str(refused.value))
    assert "If it is about questions, the table has no judgments." in str(refused.value)
    answers, reading = read(tmp_path, BY_ROW, option[1])
    assert [judgment.value for judgment in answers.judgments] == CALLED_GOOD
    assert reading.roles["answer"] == ("accuracy", "condition")
    assert {name for names in reading.roles.values() for name in names} == {*BY_ROW}


def test_lists_of_one_word_are_the_word_and_lists_of_several_are_no_answer(tmp_path):
    columns = {
        "participant_id": ["anna", "anna", "bruno", "bruno"],
        "text": ["Il %bosco% è buio.", "La %casa% brucia."] * 2,
        "response": ['["mare"]', '["torre"]', '[" cielo "]', '["casa"]'],
    }
    answers, reading = read(tmp_path, columns)
    assert [one.value for one in answers.judgments] == ["mare", "torre", "cielo", "casa"]
    assert any("is a list of one text" in note for note in answers.notes)
    assert accounted(columns, reading)
    columns["response"][2] = '["mare", "cielo"]'
    with pytest.raises(Exception, match="lists or objects"):
        read(tmp_path, columns)


def test_the_column_on_which_all_others_of_a_trial_depend_names_the_items(tmp_path):
    stories = ["prom", "dance", "lice", "party"]
    columns = {
        "subject": [who for who in PEOPLE for _ in stories],
        "pool": [pool for pool in ("x", "x", "y", "y") for _ in stories],
        "story": stories * len(PEOPLE),
        "wh": ["where", "who", "where", "who"] * len(PEOPLE),
        "response": list("0110101001010110"),
    }
    answers, reading = read(tmp_path, columns)
    assert (reading.roles["item"], reading.roles["participant"]) == (("story",), ("subject",))
    assert [(one.item, one.annotator) for one in answers.judgments[4:6]] == [
        ("prom", "bruno"), ("dance", "bruno"),
    ]  # fmt: skip
    assert accounted(columns, reading)
    columns["wh"][3] = "where"  # nothing names the trials any more
    with pytest.raises(UsageError):
        read(tmp_path, columns)


def test_the_option_for_a_table_with_names_of_its_own_reads_it_once_its_columns_are_filled_in(
    tmp_path,
):
    columns = {
        "subject": [who for who in PEOPLE for _ in range(3)],
        "Gname": ["UE-1", "DE-2", "NM-3"] * len(PEOPLE),
        "Ireponse": [f"0.{n}57" for n in range(1, 10)] + ["0.31", "0.42", "0.11"],
        "Irt": [f"{n}.125" for n in range(2, 14)],
    }
    with pytest.raises(InputError) as refused:
        read(tmp_path, columns)
    option = re.search(r"columns='([^']+)'", str(refused.value))[1]
    filled = option.replace("answer=COLUMN", "answer=Ireponse").replace("item=COLUMN", "item=Gname")
    answers, reading = read(tmp_path, columns, filled)
    assert [one.value for one in answers.judgments] == columns["Ireponse"]
    assert reading.roles["participant"] == ("subject",)


def test_columns_of_people_are_named_and_no_column_is_asked_for(tmp_path):
    columns = {
        "id": ["1", "2", "3"],
        "sentence_a": SENTENCES,
        "sentence_b": [*SENTENCES[1:], SENTENCES[0]],
        **{f"annotator_{n}": ["0", "1", "0"] for n in range(1, 4)},
    }
    with pytest.raises(InputError) as refused:
        read(tmp_path, columns)
    assert "'annotator_1' to 'annotator_3' seem to be people" in str(refused.value)
    assert "participant=COLUMN" not in str(refused.value)
    as_told = {
        "item": [id_ for id_ in columns["id"] for _ in range(3)],
        "participant": ["1", "2", "3"] * 3,
        "answer": [("sentence_a", "sentence_b")[int(columns["annotator_1"][n])]
                   for n in range(3) for _ in range(3)],
    }  # fmt: skip
    answers, _ = read(tmp_path, as_told)
    assert len(answers.judgments) == 9


def test_a_table_of_answers_alone_is_read_once_it_has_the_column_of_its_message(
    tmp_path,
):
    columns = {text: list("7162") for text in SENTENCES}
    with pytest.raises(InputError, match="add a column participant, with a number in each row"):
        read(tmp_path, columns)
    answers, _ = read(tmp_path, {**columns, "participant": ["1", "2", "3", "4"]})
    assert [one.value for one in answers.judgments] == [cell for cell in "7162" for _ in SENTENCES]

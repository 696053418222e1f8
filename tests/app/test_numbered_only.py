"""Ratings typed from paper by the number of a sentence, in the window: means without a test."""

import pytest

from cimento.judgments import judgments_of, read_judgments
from tests.app.test_people_results import choose, fill
from tests.helpers.app_user import visit

pytest.importorskip("nicegui")

from nicegui import ui

SCORES = {"1": ["4", "1,5", "3"], "2": ["5", "2,5", "2"], "3": ["4,5", "2", ""]}


def paper():
    rows = ["participant;sentence number;score"]
    rows += [
        f"{person};{number};{score}"
        for person, scores in SCORES.items()
        for number, score in enumerate(scores, 1)
    ]
    return "\n".join([*rows, ""])


def test_scores_by_the_number_of_a_sentence_get_to_means_without_a_test(tmp_path):
    async def walk(user):
        await user.open("/en/people")
        fill(user, ui.select, "Language of the sentences", "it")
        await choose(user, "paper.csv", paper())
        await user.should_see("Answers: 8, of people: 3", retries=300)
        await user.should_see('the column "sentence number" has numbers of sentences')
        await user.should_see("4.50")  # sentence 1: (4 + 5 + 4.5) / 3
        await user.should_see("2.00")  # sentence 2: (1.5 + 2.5 + 2) / 3
        await user.should_see("2.50")  # sentence 3: (3 + 2) / 2

    visit(tmp_path, walk)
    judgments = judgments_of(read_judgments(tmp_path / "judgments" / "paper.parquet"))
    assert {(one.item, one.candidate) for one in judgments} == {(n, None) for n in "123"}
    assert not list((tmp_path / "suites").glob("*"))


def test_numbers_of_questions_that_nobody_said_are_sentences_make_no_means(tmp_path):
    async def walk(user):
        await user.open("/en/people")
        fill(user, ui.select, "Language of the sentences", "it")
        await choose(user, "paper.csv", paper().replace("sentence number", "which one"))
        await user.should_see("What is in each column?", retries=300)

    visit(tmp_path, walk)
    assert not list((tmp_path / "judgments").glob("*.parquet"))

"""A model as one more annotator, against the package krippendorff 0.9.0."""

from __future__ import annotations

import json

import pytest

import cimento
from cimento import UsageError
from cimento.judgments import (
    ACCEPTABILITY,
    ACCEPTABLE,
    BETTER,
    Judgment,
    table_of,
    write_judgments,
)
from cimento.paradigms.prompted.judging import model_judgments
from cimento.paradigms.prompted.prompts import prompted_suite
from cimento.people.annotate.second_annotator import judge_agreements
from tests.helpers.command_line import invoke
from tests.helpers.prompting import accepts, ask, first, knows

pytestmark = pytest.mark.usefixtures("fresh_cache")

ROWS = [(f"Il numero {n} è pari.", f"Il numero {n} sono pari.") for n in range(1, 9)]
PEOPLE = {"anna": "yyyynnnn", "bruno": "yyynnnnn", "carla": "yyyyynn-"}
MODEL = "yyyynnny"
RATINGS = {"anna": "123455", "bruno": "113445", "carla": "223555"}


def suite():
    return prompted_suite(cimento.pairs(ROWS, name="it-numbers", language="it"))


def said(marks):
    """A rule that says yes or no of the good sentence of each item, and no of the bad one."""

    def rule(prompt):
        yes = prompt.conditions == ("good",) and marks[int(prompt.item) - 1] == "y"
        return prompt.good if yes else next(a for a in prompt.answers if a != prompt.good)

    return rule


def judged(answers, question, *, condition="good", **more):
    """What people said of each item, one mark an item."""
    return [
        Judgment(
            suite="it-numbers", item=str(n), condition=condition, annotator=name,
            question=question, value={"y": "yes", "n": "no"}.get(mark, mark), **more,
        )
        for name, marks in answers.items()
        for n, mark in enumerate(marks, start=1)
        if mark != "-"
    ]  # fmt: skip


def test_alpha_with_and_without_the_model_and_with_each_person(tmp_path):
    run = ask(suite(), said(MODEL), task="yesno", output=tmp_path)
    [one] = judge_agreements(judged(PEOPLE, ACCEPTABLE), run.folder)
    # krippendorff.alpha of three rows, of four, and of each with the model, nominal
    assert one.without.value == pytest.approx(0.6666666666666667)
    assert one.with_judge.value == pytest.approx(0.6218487394957983)
    assert {pair.person: pair.alpha.value for pair in one.pairs} == pytest.approx(
        {"anna": 0.7619047619047619, "bruno": 0.53125, "carla": 0.7111111111111111}
    )
    assert {pair.person: (pair.n, pair.equal) for pair in one.pairs} == {
        "anna": (8, 7), "bruno": (8, 6), "carla": (7, 6),
    }  # fmt: skip
    assert (one.people, one.places, one.converted) == (3, 8, "")


def test_ratings_are_brought_to_the_scale_of_people(tmp_path):
    """The model gives 1, 2, 4, 5.5, 6 and 7 of 7: 5 by two wordings and 6 by two is 5.5."""
    points = {"1": 1, "2": 2, "3": 4, "5": 6, "6": 7}

    def rule(prompt):
        up = prompt.good == "7"
        wanted = points.get(prompt.item, 4)
        if prompt.item == "4":
            wanted = 5 + (prompt.cell.wording % 2)
        return str(wanted if up else 8 - wanted)

    run = ask(suite(), rule, task="rating", output=tmp_path)
    people = judged(RATINGS, ACCEPTABILITY, scale="1 to 5")
    [one] = judge_agreements(people, run.folder)
    # krippendorff.alpha with interval differences; the model's row is 1, 5/3, 3, 4, 13/3 and 5
    assert one.converted == "1 to 5"
    assert one.without.value == pytest.approx(0.9055555555555556)
    assert one.with_judge.value == pytest.approx(0.929031120514855)
    assert {pair.person: pair.alpha.value for pair in one.pairs} == pytest.approx(
        {"anna": 0.980265518478651, "bruno": 0.9807625043721581, "carla": 0.9042754445705639}
    )
    assert {(pair.equal, pair.kappa) for pair in one.pairs} == {(None, None)}


def test_choices_are_compared_by_condition(tmp_path):
    run = ask(suite(), knows, task="choice", output=tmp_path)
    people = [
        Judgment(
            suite="it-numbers", item=str(n), condition="good" if n < 7 else "bad",
            annotator="anna", question=BETTER, value=ROWS[n - 1][0 if n < 7 else 1],
        )
        for n in range(1, 9)
    ]  # fmt: skip
    [one] = judge_agreements(people, run.folder)
    [pair] = one.pairs
    assert (pair.n, pair.equal) == (8, 6)


def test_a_model_that_is_undecided_gives_no_answer(tmp_path):
    run = ask(suite(), first, task="choice", output=tmp_path)
    assert model_judgments(run) == []
    with pytest.raises(UsageError, match="and the model nothing"):
        judge_agreements(judged(PEOPLE, ACCEPTABLE), run.folder)


def test_answers_of_a_run_are_judgments_about_the_suite_of_its_sentences():
    judgments = model_judgments(ask(suite(), knows, task="all"))
    assert {judgment.suite for judgment in judgments} == {"it-numbers"}
    by_question = {}
    for judgment in judgments:
        by_question.setdefault(judgment.question, []).append(judgment)
    assert {name: len(several) for name, several in by_question.items()} == {
        BETTER: 8, ACCEPTABLE: 16, ACCEPTABILITY: 16,
    }  # fmt: skip
    assert {(j.condition, j.value) for j in by_question[ACCEPTABLE]} == {
        ("good", "yes"), ("bad", "no"),
    }  # fmt: skip
    assert {(j.condition, j.value, j.scale) for j in by_question[ACCEPTABILITY]} == {
        ("good", "7.0", "1 to 7"), ("bad", "1.0", "1 to 7"),
    }  # fmt: skip
    assert {j.value for j in by_question[BETTER]} == {good for good, _ in ROWS}


def test_the_command_prints_the_model_below_the_people(tmp_path, capsys):
    run = ask(suite(), said(MODEL), task="yesno", output=tmp_path / "runs")
    file = write_judgments(table_of(judged(PEOPLE, ACCEPTABLE)), tmp_path / "people.csv")
    command = ["annotate", "agreement", str(file), "--judge", str(run.folder)]
    assert invoke(command) == 0
    printed = capsys.readouterr().out
    assert "as one more annotator, on 8 places" in printed
    assert "alpha of 3 people: 0.667" in printed
    assert "with the model: 0.622" in printed
    assert invoke([*command, "--json"]) == 0
    [one] = json.loads(capsys.readouterr().out)["judges"]
    assert [pair["person"] for pair in one["pairs"]] == list(PEOPLE)


def test_runs_by_probability_and_files_of_stories_are_refused(tmp_path, capsys):
    plain = cimento.pairs(ROWS[:2], name="it-numbers", language="it")
    run = cimento.evaluate(plain, "demo-causal", output=tmp_path / "runs")
    file = write_judgments(table_of(judged(PEOPLE, ACCEPTABLE)), tmp_path / "people.csv")
    assert invoke(["annotate", "agreement", str(file), "--judge", str(run.folder)]) == 2
    assert "suites build prompted" in capsys.readouterr().err
    command = ["annotate", "agreement", str(file), str(file), "--judge", str(run.folder)]
    assert invoke(command) == 2
    assert "judge stories" in capsys.readouterr().err


def test_ratings_on_several_scales_are_refused(tmp_path):
    run = ask(suite(), accepts, task="rating", output=tmp_path)
    people = [
        *judged({"anna": "12345"}, ACCEPTABILITY, scale="1 to 5"),
        *judged({"bruno": "12345"}, ACCEPTABILITY, scale="1 to 7"),
    ]
    with pytest.raises(UsageError, match="'1 to 5' and '1 to 7'"):
        judge_agreements(people, run.folder)

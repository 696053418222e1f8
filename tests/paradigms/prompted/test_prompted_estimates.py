"""Models with a known rule give the numbers that theory gives: d', criterion, biases, people."""

from __future__ import annotations

import dataclasses
import math
from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats

import cimento
from cimento.kinds.registry import load_suite, sentence_suite
from cimento.paradigms.prompted.judging import accepting_share
from cimento.paradigms.prompted.prompts import CHOICE, RATING, YES_NO, prompted_suite
from cimento.suites import Suite
from cimento.suites.ratings import RatedSentence, Rating, Scale, rated_of
from tests.helpers.prompting import accepts, ask, estimates, first, knows, label, pairs

pytestmark = pytest.mark.usefixtures("fresh_cache")

Z = NormalDist().inv_cdf
N = 6


def most(n: int) -> float:
    """The z of a log-linear rate of n of n."""
    return Z((n + 0.5) / (n + 1))


def test_who_knows_chooses_without_bias():
    numbers = estimates(ask(pairs(), knows))
    # 6 pairs, 8 prompts each: the better sentence first in 24 and second in 24.
    assert numbers["accuracy"].value == 1
    assert numbers["d'"].value == pytest.approx(math.sqrt(2) * most(24))
    assert numbers["criterion c"].value == pytest.approx(0)
    assert numbers["first chosen"].value == 0.5
    assert numbers["A or 1 chosen"].value == 0.5
    assert numbers["hits"].value == 1
    assert numbers["false alarms"].value == 0


def test_who_always_takes_the_first_has_all_bias_and_no_sensitivity():
    numbers = estimates(run := ask(pairs(), first))
    assert set(run.outcomes()["verdict"]) == {"tie"}
    assert numbers["accuracy"].value == 0
    assert numbers["d'"].value == 0
    assert numbers["criterion c"].value == pytest.approx(-most(24))
    assert numbers["first chosen"].value == 1
    assert numbers["A or 1 chosen"].value == 0.5


def test_who_always_says_a_or_1_has_a_bias_to_labels_alone():
    numbers = estimates(ask(pairs(), label))
    assert numbers["d'"].value == 0
    assert numbers["criterion c"].value == 0
    assert numbers["first chosen"].value == 0.5
    assert numbers["A or 1 chosen"].value == 1


def test_position_and_knowledge_are_told_apart():
    """A model that knows of every other pair and else takes the first, by R's qnorm.

    R 4.2.2: ``h <- 24.5/25; f <- 12.5/25; (qnorm(h)-qnorm(f))/sqrt(2)`` and
    ``-(qnorm(h)+qnorm(f))/2``.
    """

    def half(prompt):
        return knows(prompt) if int(prompt.item) % 2 else first(prompt)

    numbers = estimates(ask(pairs(), half))
    assert numbers["d'"].value == pytest.approx(1.45221978156, abs=1e-9)
    assert numbers["criterion c"].value == pytest.approx(-1.02687445532, abs=1e-9)
    assert numbers["first chosen"].value == 0.75
    assert numbers["accuracy"].value == 0.5


def test_who_knows_says_yes_and_no_in_the_right_places():
    numbers = estimates(ask(pairs(), knows, task="yesno"))
    assert numbers["accuracy"].value == 1
    assert numbers["d'"].value == pytest.approx(2 * most(48))
    assert numbers["criterion c"].value == pytest.approx(0)
    assert numbers["yes bias"].value == 0


def test_who_accepts_everything_has_no_sensitivity_and_a_low_criterion():
    numbers = estimates(run := ask(pairs(), accepts, task="yesno"))
    assert set(run.outcomes()["verdict"]) == {"tie"}
    assert numbers["d'"].value == 0
    assert numbers["criterion c"].value == pytest.approx(-most(48))
    # By words as by letters.
    assert numbers["yes bias"].value == 0
    assert numbers["first chosen"].value == 0.5


def test_a_preference_for_the_word_yes_shows_beside_letters():
    numbers = estimates(ask(pairs(), label, task="yesno"))
    # Accepts all by words, and half of all by letters: of each item's 16 answers 12.
    assert numbers["yes bias"].value == 0.5
    assert numbers["A or 1 chosen"].value == 1
    assert numbers["criterion c"].value == pytest.approx(-Z((36 + 0.5) / 49))


def test_a_number_that_never_changes_is_the_middle_of_two_scales():
    numbers = estimates(run := ask(pairs(), lambda _: "7", task="rating"))
    assert set(run.outcomes()["verdict"]) == {"tie"}
    assert numbers["high-number bias"].value == 3
    assert numbers["first-end bias"].value == 0


def test_a_preference_for_the_end_that_is_named_first_is_one_too():
    numbers = estimates(ask(pairs(), first, task="rating"))
    assert numbers["high-number bias"].value == 0
    assert numbers["first-end bias"].value == 3


def test_all_forms_in_one_run_have_one_headline():
    run = ask(pairs(), knows, task="all")
    assert set(run.outcomes()["question"]) == {CHOICE, YES_NO, RATING}
    assert [e.question for e in run.estimates() if e.role == "headline"] == [CHOICE]
    assert {e.value for e in run.estimates() if e.statistic == "accuracy"} == {1}


@pytest.mark.parametrize(("balance", "guesses"), [("rotated", 2), ("latin", 8), ("full", 32)])
def test_chance_is_that_of_more_than_half_of_the_guesses(balance, guesses):
    numbers = estimates(ask(pairs(2), knows, balance=balance))
    assert numbers["accuracy"].chance == pytest.approx(stats.binom.sf(guesses // 2, guesses, 0.5))


def test_replies_that_cannot_be_read_are_no_guesses():
    # Half of the prompts offer no A: 16 of 32 replies of each pair can be read.
    numbers = estimates(ask(pairs(2), lambda _: "A", balance="full"))
    assert numbers["accuracy"].chance == pytest.approx(stats.binom.sf(8, 16, 0.5))  # .402


def test_chance_of_yes_or_no_is_that_of_two_equal_rows_of_guesses():
    numbers = estimates(ask(pairs(2), knows, task="yesno"))
    row = stats.binom.pmf(range(9), 8, 0.5)
    above = sum(row[i] * row[j] for i in range(9) for j in range(i))
    assert numbers["accuracy"].chance == pytest.approx(above)


def test_groups_of_the_design_show_where_answers_go_wrong():
    run = ask(pairs(), lambda p: knows(p) if p.cell.wording < 2 else first(p))
    by_level = {
        (e.group, e.level): e.value for e in run.estimates() if e.group in {"wording", "order"}
    }
    assert by_level == {
        ("wording", "1"): 1, ("wording", "2"): 1, ("wording", "3"): 0.5, ("wording", "4"): 0.5,
        ("order", "better first"): 1, ("order", "better second"): 0.5,
    }  # fmt: skip


# --- People


SENTENCES = 12


def rated(*, n: int = SENTENCES) -> Suite:
    suite = sentence_suite(load_suite("it-acceptability"))
    return prompted_suite(dataclasses.replace(suite, items=suite.items[:n]))


def graded(suite: Suite):
    """A rule by which sentence k of n is accepted in k of 8 prompts, and rated by its number."""
    numbers = {item.id: number for number, item in enumerate(suite.items)}

    def rule(prompt):
        grade = numbers[prompt.item] * 8 // len(numbers)
        if prompt.form == "rating":
            return str(1 + grade % 7) if prompt.good == "7" else str(7 - grade % 7)
        place = 2 * prompt.cell.wording + prompt.cell.order
        other = next(answer for answer in prompt.answers if answer != prompt.good)
        return prompt.good if place < grade else other

    return rule


def test_ratings_and_acceptance_are_correlated_with_those_of_people():
    suite = rated()
    run = ask(suite, graded(suite), task="all")
    means = np.array([sentence.mean for sentence in rated_of(suite).sentences])
    ratings = np.array([1 + k * 8 // SENTENCES % 7 for k in range(SENTENCES)])
    shares = np.array([k * 8 // SENTENCES / 8 for k in range(SENTENCES)])
    for question, values in ((RATING, ratings), (YES_NO, shares)):
        numbers = estimates(run, question)
        assert numbers["spearman"].value == pytest.approx(stats.spearmanr(values, means)[0])
        assert numbers["pearson"].value == pytest.approx(stats.pearsonr(values, means)[0])
        scale = rated_of(suite).scale
        low, width = (1, 6) if question == RATING else (0, 1)
        line = stats.linregress(
            (values - low) / width, (means - scale.low) / (scale.high - scale.low)
        )
        assert numbers["slope"].value == pytest.approx(line.slope)


def judged(*shares: int) -> Suite:
    """Sentences that so many of four people accept."""
    suite = sentence_suite(load_suite("it-acceptability"))
    items = []
    for item, yes in zip(suite.items, shares, strict=False):
        votes = "; ".join(["1"] * yes + ["0"] * (4 - yes))
        columns = {"ratings": votes, "label": "acceptable" if yes > 2 else "unacceptable"}
        [condition] = item.conditions
        items.append(
            dataclasses.replace(item, conditions=(dataclasses.replace(condition, columns=columns),))
        )
    extra = {**suite.extra, "ratings": {"low": 0, "high": 1, "by": "people"}}
    return prompted_suite(dataclasses.replace(suite, items=tuple(items), extra=extra))


def test_acceptance_is_calibrated_on_the_share_of_people():
    people = (0, 1, 2, 3, 4, 4, 2, 0)
    suite = judged(*people)
    run = ask(suite, graded(suite), task="yesno")
    numbers = estimates(run, YES_NO)
    said, share = np.arange(8) / 8, np.array(people) / 4
    # Every sentence is alone in its bin of ten, so the error is the mean distance.
    assert numbers["ECE"].value == pytest.approx(np.abs(said - share).mean())
    assert numbers["Brier"].value == pytest.approx(((said - share) ** 2).mean())
    parts = [
        numbers[f"Brier {name}"].value for name in ("reliability", "resolution", "uncertainty")
    ]
    assert parts[2] == pytest.approx(share.var())
    assert numbers["Brier"].value == pytest.approx(parts[0] - parts[1] + parts[2])
    # Labeled sentences are signals and noise: of 3 acceptable ones 3 + 4 + 5 of 24 answers.
    assert numbers["hits"].value == pytest.approx(12 / 24)
    assert numbers["false alarms"].value == pytest.approx((0 + 1 + 2 + 6 + 7) / 40)
    assert numbers["d'"].value == pytest.approx(Z(12.5 / 25) - Z(16.5 / 41))


def test_who_chose_the_middle_accepts_by_half():
    scale = Scale(1, 5)
    sentence = RatedSentence(id="1", text="", ratings=tuple(map(Rating, (1, 3, 4, 5))))
    assert accepting_share(sentence, scale) == (0 + 0.5 + 1 + 1) / 4
    assert accepting_share(RatedSentence(id="1", text="", mean=4.0), scale) is None
    assert accepting_share(RatedSentence(id="1", text="", mean=0.25), Scale(0, 1)) == 0.25


def test_sentences_without_ratings_or_labels_say_what_is_missing():
    suite = rated(n=5)
    bare = dataclasses.replace(
        suite,
        items=tuple(
            dataclasses.replace(
                item,
                conditions=tuple(
                    dataclasses.replace(condition, columns={}) for condition in item.conditions
                ),
            )
            for item in suite.items
        ),
    )
    numbers = estimates(ask(bare, accepts, task="yesno"), YES_NO)
    assert (numbers["spearman"].value, numbers["spearman"].reason) == (
        None, "no sentence has a rating",
    )  # fmt: skip
    assert "d'" not in numbers


def test_the_page_has_a_reliability_diagram_where_people_voted(tmp_path):
    suite = judged(0, 1, 2, 3, 4, 4, 2, 0)
    run = ask(suite, graded(suite), task="yesno")
    [section] = run.paradigm.presenter.sections([run])
    [figure] = [figure for figure in section.figures if figure.name == "calibration"]
    assert figure.frame["n"].sum() == 8
    assert [table.name for table in section.tables] == ["bias", "calibration"]
    page = cimento.report(run, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "proportion of people who accept" in page

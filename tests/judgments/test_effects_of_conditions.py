"""Proportions of choices and effects of conditions, for these people and for others."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest

from cimento.io.clusters import Crossing
from cimento.judgments import ACCEPTABILITY, ACCEPTABLE, BETTER, Judgment
from cimento.judgments.effects import condition_models, condition_shares
from cimento.statistics.raters import UNKNOWN_PEOPLE


def ratings(people=8, items=10, *, named=True):
    source = random.Random(4)  # noqa: S311  # keeps no secret
    bias = [source.gauss(0, 1) for _ in range(people)]
    return [
        Judgment(
            suite="s",
            item=str(item),
            condition=condition,
            annotator=f"p{person}" if named else None,
            value=str(min(5, max(1, round(3 + good + bias[person] + source.gauss(0, 1))))),
        )
        for person in range(people)
        for item in range(items)
        for condition, good in [(("good", 0.8), ("bad!", -0.8))[(person + item) % 2]]
    ]


def test_a_condition_that_is_rated_higher_has_a_positive_effect_with_people_as_a_random_factor():
    one, *_ = condition_models(ratings())
    assert one.formula == "rating ~ condition + (1 | participant) + (1 | item)"
    assert one.conditions == ("good", "bad!")
    effect = one.fit.effect("condition_2")
    assert effect.estimate < 0
    assert {term.group for term in one.fit.random} == {"participant", "item"}


def test_ratings_of_nobody_in_particular_have_no_mixed_model():
    one, *_ = condition_models(ratings(named=False))
    assert one.fit.doubt == UNKNOWN_PEOPLE


def test_a_share_of_choices_has_a_wider_interval_for_other_people_who_differ():
    choices = [
        Judgment(suite="s", item=str(item), condition="good" if person < 6 else "bad",
                 annotator=f"p{person}", question=BETTER, value="x")
        for person in range(8)
        for item in range(12)
    ]  # fmt: skip
    good, bad = condition_shares(choices)
    assert (good.condition, good.share, bad.share, good.n) == ("good", 0.75, 0.25, 96)
    assert good.others.low < good.these.low < 0.75 < good.these.high < good.others.high
    nameless = [Judgment(suite="s", item=j.item, condition=j.condition, question=BETTER, value="x")
                for j in choices]  # fmt: skip
    assert condition_shares(nameless)[0].others.reason == UNKNOWN_PEOPLE


@pytest.mark.slow
def test_the_command_says_what_its_intervals_are_about(tmp_path):
    lines = ["suite,item,condition,candidate,annotator,question,value,remark,at"]
    lines += [
        f"s,{j.item},{j.condition},,{j.annotator},acceptability,{j.value},," for j in ratings()
    ]
    (tmp_path / "j.csv").write_text("\n".join(lines) + "\n")
    command = [sys.executable, "-m", "cimento", "annotate", "agreement", "j.csv", "--effects"]
    said = subprocess.run(  # noqa: S603  # our own program
        command, cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    assert (
        "The interval of alpha above is for other items, same people. For other people too:" in said
    )
    assert "rating ~ condition + (1 | participant) + (1 | item)" in said


def of_frames(seed, question):
    """Ratings, or yes from 3 on, of 24 items in 8 frames, by 12 people, half of each condition."""
    source = random.Random(seed)  # noqa: S311  # keeps no secret
    bias = [source.gauss(0, 0.9) for _ in range(12)]
    answers, clusters = [], {}
    for frame in range(8):
        level, slope = source.gauss(0, 1), source.gauss(0, 1)
        for number in range(3):
            item, own = f"{frame}-{number}", source.gauss(0, 0.7)
            clusters["s", item] = f"f{frame}"
            for person in range(12):
                good = (person + number) % 2
                heard = level + own + bias[person] + (1.2 + slope) * good + source.gauss(0, 1.4)
                rating = min(5, max(1, round(2.4 + heard)))
                answers.append(
                    Judgment(
                        suite="s",
                        item=item,
                        condition="good" if good else "bad",
                        annotator=f"p{person}",
                        question=question,
                        value=str(rating)
                        if question == ACCEPTABILITY
                        else "no"
                        if rating < 3
                        else "yes",
                    )
                )
    return answers, clusters


SLOPES_BY_CLUSTER = (
    "answer ~ condition + (1 | participant) + (1 | item) + (1 + condition | cluster)"
)
APART = (
    "answer ~ condition + (1 | participant) + (1 | item) + (1 | cluster) + (1 | cluster:condition)"
)


# R 4.2.2, ordinal 2022.11.16 and lme4 1.1-31, on a table with the columns of `of_frames` and
# condition <- factor(condition, levels = c("bad", "good")):
#   clmm(factor(rating) ~ condition + (1|participant) + (1|item) + (1+condition|cluster), data = d,
#        control = clmm.control(gradTol = 1e-7))
#   glmer(as.integer(rating >= 3) ~ condition + (1|participant) + (1|item) + (1+condition|cluster),
#         data = d, family = binomial, control = glmerControl(optimizer = "bobyqa",
#         optCtrl = list(maxfun = 1e5, rhoend = 1e-9)))
# and for seed 13 the same with (1|cluster) + (1|cluster:condition), since the first fit is singular
# there. Effect of good, standard error, log-likelihood:
@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "seed", "formula", "effect", "se", "loglik"),
    [
        (ACCEPTABILITY, 12, SLOPES_BY_CLUSTER, 1.4710555, 0.3509031, -393.1361802),
        (ACCEPTABLE, 12, SLOPES_BY_CLUSTER, 1.7151414, 0.4122833, -151.9692745),
        (ACCEPTABLE, 13, APART, 2.5189052, 0.5050629, -134.0782540),
    ],
)
def test_clusters_of_items_are_a_random_factor_as_in_clmm_and_glmer(
    question, seed, formula, effect, se, loglik
):
    answers, clusters = of_frames(seed, question)
    by_formula = {one.formula: one for one in condition_models(answers, clusters=clusters)}
    one = by_formula[formula.replace("answer", "rating" if question == ACCEPTABILITY else "yes")]
    assert (one.conditions, one.clusters, one.n) == (("bad", "good"), (8,), 288)
    assert one.fit.doubt is None
    good = one.fit.effect("condition_2")
    assert good.estimate == pytest.approx(effect, abs=1e-4)
    assert good.se == pytest.approx(se, abs=1e-4)
    assert one.fit.loglik == pytest.approx(loglik, abs=1e-4)
    [alone, *_] = condition_models(answers)
    assert alone.clusters == ()
    assert alone.fit.effect("condition_2").se < good.se, "conditions differ more in some clusters"


def test_crossed_clusters_have_a_term_each_and_one_that_holds_single_items_has_none():
    drawn = random.Random(8)  # noqa: S311  # keeps no secret
    answers, clusters = [], {}
    for frame in range(6):
        for verb in range(4):
            item = f"{frame} {verb}"
            clusters["s", item] = Crossing((f"f{frame}", f"v{verb}", item))
            answers += [
                Judgment(suite="s", item=item, condition=condition, annotator=f"p{person}",
                         question=ACCEPTABLE, value=drawn.choice(("yes", "no")))
                for person, condition in enumerate(("a", "b", "c", "d"))
            ]  # fmt: skip
    # Four conditions: one variance for all of them, and no slopes.
    [one] = condition_models(answers, clusters=clusters)
    assert one.clusters == (6, 4)
    assert one.formula == (
        "yes ~ condition + (1 | participant) + (1 | item) + (1 | cluster) + (1 | cluster:condition)"
        " + (1 | cluster_2) + (1 | cluster_2:condition)"
    )

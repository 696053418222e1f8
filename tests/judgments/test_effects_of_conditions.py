"""Proportions of choices and effects of conditions, for these people and for others."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest

from cimento.judgments import BETTER, Judgment
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

"""The flow of stories through the tiers counts what could not be scored apart."""

from __future__ import annotations

import math
from dataclasses import replace

from cimento import Estimate
from cimento.paradigms.stories.judging import judge_stories
from cimento.paradigms.stories.outcomes import flow
from cimento.paradigms.stories.text import flow_rows, question_rows
from cimento.suites.stories import CONFLICT
from tests.helpers.stories_small import ANSWERS, STORIES


def test_what_is_unscored_is_in_no_share_of_the_flow():
    # Of four implausible stories three pass the first tier; one of them has no score at the second.
    answers = [
        replace(answer, logprobs_nats=(math.nan,) * len(answer.options))
        if (answer.row, answer.tier) == (4, CONFLICT)
        else answer
        for answer in ANSWERS
    ]
    judged = judge_stories(STORIES, answers)
    steps = flow(STORIES, judged.chained)
    assert [(step.reached, step.unscored, step.passed) for step in steps] == [
        (4, 0, 3),
        (3, 1, 1),
        (1, 0, 0),
    ]
    rows = flow_rows(judged)
    assert rows[0] == ("tier", "reached", "unscored", "passed", "share", "constant")
    assert rows[2][1:5] == ("3", "1", "1", "0.500")


def test_rows_of_questions_have_the_share_with_three_decimals_and_its_counts():
    like = Estimate(suite="s", model="m", question="pair", role="other", description="d",
                    chance=0.5, chance_method="drawn", right=2, n=3, value=2 / 3)  # fmt: skip
    assert question_rows([like])[1] == ("pair", "0.667", "-", "2", "3", "0.50")

"""Results that are surely on the wrong side say so, and only those."""

from __future__ import annotations

import dataclasses

import pytest

from cimento import evaluate
from cimento.paradigms.ratings.sections import rated_notes
from cimento.report.formatting import rate_remarks, remarks
from cimento.report.wrong_side import against_ratings, below_chance, below_zero
from cimento.runs.outcomes import Estimate
from cimento.testing import FakeScorer
from tests.helpers.judging import make_suite
from tests.helpers.rated import judged, rated, sentence

RATE = Estimate(suite="s", model="m", question="q", value=0.317, low=0.213, high=0.442, n=60,
                right=19, chance=0.5, near_tied=0)  # fmt: skip


def test_an_accuracy_whose_interval_lies_below_chance_asks_whether_columns_were_exchanged():
    said = "Below chance, surely: are good and bad the right way round?"
    assert below_chance(RATE) == said
    assert rate_remarks([RATE]) == (said,)
    for high, chance in ((0.5, 0.5), (0.6, 0.5), (0.442, None)):
        assert below_chance(dataclasses.replace(RATE, high=high, chance=chance)) == ""
    other = dataclasses.replace(RATE, near_tied=None)
    assert below_chance(other).endswith("right and wrong answers the right way round?")


def test_exchanged_columns_say_so_once_in_the_notes_of_a_run():
    def scored(tokens, _):
        return -1.0 - (tokens[0] == "good")

    rows = [{"a": f"good {n}", "b": f"bad {n}"} for n in range(12)]
    run = evaluate(make_suite(["(*;%a%) < (*;%b%)"], rows), FakeScorer(scored))
    said = [remark for remark in remarks(run.summary()) if "right way round" in remark]
    assert len(said) == 1
    assert "right way round" in " ".join(run.paradigm.text([run]).split())
    turned = [{"a": row["b"], "b": row["a"]} for row in rows]
    run = evaluate(make_suite(["(*;%a%) < (*;%b%)"], turned), FakeScorer(scored))
    assert not any("right way round" in remark for remark in remarks(run.summary()))


@pytest.mark.parametrize(
    ("measure", "low", "high", "wrong"),
    [
        ("lp", -0.96, -0.46, True),
        ("lp", -0.96, 0.01, False),
        ("lp", 0.46, 0.96, False),
        ("ppl", 0.46, 0.96, True),
        ("ppl", -0.96, -0.46, False),
        ("lp", None, None, False),
    ],
)
def test_a_correlation_with_the_other_sign_is_no_success(measure, low, high, wrong):
    spearman = Estimate(
        suite="s", model="m", question=measure, statistic="spearman", low=low, high=high
    )
    assert bool(against_ratings(spearman)) == wrong


def test_a_run_of_ratings_that_were_turned_round_says_so():
    # The score falls with the length of a sentence, and the ratings rise with it.
    some = rated(*(sentence(str(n), "x" * n, 1 + n / 5 + n % 3 / 4) for n in range(1, 16)))
    [said] = [note for note in rated_notes(judged(some)) if "not expected" in note]
    assert said.startswith("Spearman's rho of lp surely has the sign that is not expected")


def test_a_dd_surely_below_0_asks_for_the_order_of_conditions():
    dd = Estimate(suite="s", model="m", question="DD", statistic="DD", group="phenomenon",
                  level="whether", value=-2.0, low=-3.0, high=-1.0, n=20)  # fmt: skip
    assert below_zero(dd).startswith("whether: DD is surely below 0")
    assert below_zero(dataclasses.replace(dd, high=0.1)) == ""
    assert below_zero(dataclasses.replace(dd, question="DD: matrix")) == ""

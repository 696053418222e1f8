"""What Python shows of a run and of an estimate: one line with the result."""

from __future__ import annotations

import dataclasses

import pytest

from cimento import Estimate, UsageError, evaluate, open_run, pairs, write_site
from cimento.testing import FakeScorer


def costing(letter: str) -> FakeScorer:
    """A model for which words that end in a letter are improbable."""
    return FakeScorer(lambda words, index: -1.0 - 9.0 * words[index].endswith(letter), name="fake")


def suite_of(n: int):
    """Pairs whose bad sentences end in a word with an s; the first of them in both."""
    rows = [("The birds sing.", "The birds sings.")] * (n - 1)
    return pairs([(f"{good[:-1]} {k}.", f"{bad[:-1]} {k}.") for k, (good, bad) in enumerate(rows)]
                 + [("He sits.", "He sit.")])  # fmt: skip


def test_a_run_shows_its_suite_model_and_accuracy_with_the_interval(tmp_path):
    # 9 of 10, and Wilson's interval: scipy.stats.binomtest(9, 10).proportion_ci(method="wilson")
    run = evaluate(suite_of(10), costing("s"), output=tmp_path)
    assert repr(run) == (
        f"<Run of 'pairs' (regions) by {run.model!r}: accuracy 0.900 [0.596, 0.982],"
        f" stored in {str(run.folder)!r}>"
    )
    assert repr(open_run(run.folder)) == repr(run)
    in_memory = evaluate(suite_of(10), costing("s"))
    assert repr(in_memory).endswith(": accuracy 0.900 [0.596, 0.982]>")


def test_a_run_judged_otherwise_is_not_said_to_be_stored(tmp_path):
    """Every word costs the same, so that all pairs are ties.

    The intervals are Wilson's of 0 and 10 of 10: scipy.stats.binomtest(0, 10)
    .proportion_ci(method="wilson") is (0, 0.2775).
    """
    same = FakeScorer(lambda _words, _index: -1.0, name="same")
    run = evaluate(suite_of(10), same, output=tmp_path)
    judged = run.judge(ties="pass")
    assert repr(run).endswith(f"accuracy 0.000 [0.000, 0.278], stored in {str(run.folder)!r}>")
    assert repr(judged).endswith(
        f"accuracy 1.000 [0.722, 1.000], judged from the answers in {str(run.folder)!r}>"
    )
    again = evaluate(suite_of(10), same, output=tmp_path, ties="pass")
    assert repr(again) == repr(judged)
    assert repr(open_run(run.folder)) == repr(run)


def test_a_run_of_few_items_says_why_there_is_no_interval():
    run = evaluate(suite_of(4), costing("s"))
    assert "accuracy 0.750 (4 values: an interval needs 5 or more)>" in repr(run)


def test_a_run_that_cannot_be_judged_is_shown_with_the_reason(monkeypatch):
    run = dataclasses.replace(evaluate(suite_of(4), costing("s")))

    def refuse(_judge, _run):
        raise UsageError(where="ties", seen="no such rule")

    monkeypatch.setattr(type(run.paradigm.judge), "estimates", refuse)
    assert ": not judged (ties: no such rule" in repr(run)


def test_messages_name_a_run_without_its_result(tmp_path):
    run = evaluate(suite_of(4), costing("s"))
    with pytest.raises(UsageError, match=r"the run of 'pairs' by 'fake\S*': it is not stored"):
        write_site([run], tmp_path)


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        ({"value": 0.85, "low": 0.6396, "high": 0.9476}, "accuracy 0.850 [0.640, 0.948]"),
        (
            {"value": 1.25, "low": 0.33, "high": 2.18, "statistic": "DD", "unit": "bits"},
            "DD 1.250 [0.330, 2.180] bits",
        ),
        ({"value": 0.5, "statistic": "spearman"}, "Spearman's rho 0.500"),
        ({"reason": "nothing was scored"}, "accuracy undefined (nothing was scored)"),
        (
            {"value": -0.0001, "low": -0.0002, "high": -0.0001},
            "accuracy -0.0001 [-0.0002, -0.0001]",
        ),
    ],
)
def test_an_estimate_is_one_short_line(fields, shown):
    estimate = Estimate(suite="it-islands", model="m@1", question="island", n=24, **fields)
    assert repr(estimate) == f"<Estimate of it-islands, m@1, island: {shown}, n 24>"
    assert estimate == dataclasses.replace(estimate)
    assert estimate != dataclasses.replace(estimate, n=23)

"""Stories on the road of all paradigms: stored runs, outcomes and estimates, recordings.

``tests/data/story-runs`` holds stored runs, and beside each in ``expected.json`` the summary that
another implementation, since removed, computed from them.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import polars as pl
import pytest

from cimento import SuiteError, UsageError, evaluation, open_run
from cimento.paradigms.stories.answers import tier_options
from cimento.paradigms.stories.judging import judge_stories
from cimento.paradigms.stories.metrics import METRICS
from cimento.paradigms.stories.recordings import read_responses
from cimento.studies.stories import summarize_stories
from cimento.suites.formats.stories import read_stories
from cimento.suites.stories import CONFLICT, STATE, STORY, TIERS
from cimento.testing import FakeScorer
from tests.helpers.stories import TRIPLES_FILE, Hashes, ask

STORED = Path(__file__).parents[2] / "data" / "story-runs"
CHAINED = {STORY: STORY, CONFLICT: "consistency", STATE: "verifiability"}
DETECTION = {
    "tpr": "TPR",
    "tnr": "TNR",
    "balanced_accuracy": "balanced accuracy",
    "mcc": "MCC",
    "auc": "AUC",
    "d_prime": "d'",
    "criterion": "criterion",
    "sibling_pair_accuracy": "accuracy of sibling pairs",
    "mean_margin_nats": "mean margin of true over false",
}
CHOICES = {
    "acc": "accuracy of those asked",
    "majority": "majority",
    "any_choice_greedy_rate": "an option is greedy",
}
PARTIAL = {
    "one_right": (CONFLICT, "exactly one sentence right"),
    "breakpoint_right": (CONFLICT, "breakpoint right"),
    "conflicting_right": (CONFLICT, "conflicting sentence right"),
    "family_right": (STATE, "state of the same family"),
}


def by_key(run):
    return {estimate.key: estimate for estimate in run.estimates()}


def numbers(rate):
    """A rate of a summary: value, ends of its interval, right and n."""
    interval, count = rate["interval"] or {}, rate["count"] or (0, 0)
    return (rate["value"], interval.get("low"), interval.get("high"), *count)


def same(estimate):
    known = (estimate.value, estimate.low, estimate.high, estimate.right or 0, estimate.n)
    return tuple(None if one is None else pytest.approx(one, rel=1e-12) for one in known)


def check_summary(run, old):
    """Every number of a summary, beside the estimate that holds it."""
    estimates = by_key(run)
    for tier, rate in old["untiered"].items():
        estimate = estimates[tier, "", "", "", "accuracy"]
        assert same(estimate) == numbers(rate) or (rate["value"] is None and not estimate.n)
        assert estimate.value is not None or estimate.reason == rate["reason"]
    for grouping, rates in old["rates"].items():
        for name, rate in rates.items():
            tier, group = METRICS[name]
            key = CHAINED[tier], "", grouping.replace("_", " "), group or "", "accuracy"
            estimate = estimates.get(key) or estimates[CHAINED[tier], "", "", "", "accuracy"]
            assert same(estimate) == numbers(rate), (grouping, name)
            assert estimate.unscored == rate["unscored"], (grouping, name)
    for step in old["flow"]:
        [estimate] = [
            estimate
            for estimate in run.estimates()
            if estimate.question == step["tier"] and estimate.statistic == "conditional accuracy"
        ]
        if step["passed"] is not None:
            assert (estimate.n + estimate.unscored, estimate.right) == (
                step["reached"],
                step["passed"],
            )
    for answers, metrics in old["baselines"].items():
        if answers != "chance":
            method = "baseline: " + answers.replace("all options tied", "first option")
            for name, value in metrics.items():
                tier, group = METRICS[name]
                key = CHAINED[tier], method, old["grouping"].replace("_", " "), group or ""
                assert estimates[*key, "accuracy"].value == value
    for name, value in old["baselines"]["chance"].items():
        tier, group = METRICS[name]
        estimate = estimates[CHAINED[tier], "", "", "", "accuracy"]
        assert estimate.chance == pytest.approx(value)
    check_details(estimates, old)


def check_details(estimates, old):
    for name, statistic in DETECTION.items():
        assert estimates[STORY, "", "", "", statistic].value == old["detection"][name], name
    for name, interval in old["detection_intervals"].items():
        estimate = estimates[STORY, "", "", "", DETECTION[name]]
        if estimate.value is not None:
            assert (estimate.low, estimate.high) == (interval["low"], interval["high"])
    held_out = estimates[STORY, "", "", "", "MCC at a held-out threshold"]
    assert held_out.value == old["threshold"]["mcc"]
    for tier, choices in old["per_task"].items():
        for name, statistic in CHOICES.items():
            assert estimates[tier, "", "", "", statistic].value == choices[name], (tier, name)
        if choices["confidence"] is not None:
            sure, scaled = choices["confidence"], old["temperature"][tier]
            for statistic, value in {
                "Brier score": sure["brier_sum"],
                "NLL": sure["nll"],
                "ECE": sure["calibration"]["ece"],
                "mean confidence": sure["mean_confidence"],
                "temperature": scaled["temperature"],
                "NLL at that temperature": scaled["nll_scaled"],
                "ECE at that temperature": scaled["ece_scaled"],
            }.items():
                # Fitted and summed numbers differ between processors in their last digits.
                near = pytest.approx(value, rel=1e-6)
                assert estimates[tier, "", "", "", statistic].value == near, (tier, statistic)
    partial = old["partial_credit"]
    for name, (tier, statistic) in PARTIAL.items():
        estimate = estimates[tier, "partial credit", "", "", statistic]
        assert (estimate.right, estimate.n) == (
            partial[name],
            partial["n_states" if tier == STATE else "n_pairs"],
        )
    assert (
        estimates[CONFLICT, "partial credit", "", "", "mean distance"].value
        == partial["mean_distance"]
    )


@pytest.mark.parametrize("name", ["sum", "pmi", "replies"])
def test_stored_runs_have_the_expected_numbers(name):
    run = open_run(STORED / name)
    old = json.loads((STORED / name / "expected.json").read_text("utf-8"))
    check_summary(run, old)
    assert list(run.paradigm.presenter.warnings(run)) == old["warnings"]
    for number, (right, n) in old["by_true_shots"].items():
        estimate = by_key(run)[STORY, "", "plausible examples", number, "accuracy"]
        assert (estimate.right, estimate.n) == (right, n)


@pytest.mark.parametrize("name", ["sum", "pmi"])
def test_accuracy_by_characters_is_that_of_the_stored_words(name):
    run = open_run(STORED / name)
    table = run.table("choices").join(run.table("requests").drop_nulls("item"), on="request")
    asked = pl.col("condition")
    by_length = pl.col("logprob_nats") / pl.col("text").str.len_chars()
    best = table.filter(by_length == by_length.max().over(asked, "item"))
    assert len(best) == best.n_unique(["condition", "item"])
    for (tier,), rows in best.group_by(asked):
        labels = tier_options(tier, run.suite, run.options).labels
        right = [
            run.suite.stories[int(item)].gold(tier) == labels[option]
            for item, option in rows.select("item", "option").iter_rows()
        ]
        estimate = by_key(run)[tier, "", "", "", "accuracy by characters"]
        assert estimate.value == sum(right) / len(right)


def test_stored_questions_have_the_expected_numbers():
    run = open_run(STORED / "pair")
    old = json.loads((STORED / "pair" / "expected.json").read_text("utf-8"))["questions"]
    assert [same(estimate) for estimate in run.estimates()] == [
        numbers({**row, "count": (row["right"], row["n"])}) for row in old
    ]
    assert [estimate.chance for estimate in run.estimates()] == [row["chance"] for row in old]
    names = ("questions", "right in both orders", "first story chosen")
    assert tuple(estimate.question for estimate in run.estimates()) == names


def test_ties_of_a_stored_run_are_ties():
    """The expected summary counts the first of tied options; outcomes do not."""
    run = open_run(STORED / "ties")
    old = json.loads((STORED / "ties" / "expected.json").read_text("utf-8"))
    assert old["untiered"][STORY]["value"] == pytest.approx(2 / 3)
    assert set(run.outcomes().filter(question=STORY)["verdict"]) == {"tie"}
    headline = run.estimates()[0]
    assert (headline.role, headline.value, headline.tied, headline.n) == ("headline", 0.0, 6, 6)
    chained = run.outcomes().filter(question="consistency")
    assert set(chained["verdict"]) == {"tie"}


@pytest.mark.slow
def test_a_run_is_judged_again_by_every_norm_without_being_asked_again(tmp_path):
    run = ask(Hashes(), tmp_path, norm="token")
    again = open_run(run.folder)
    before = sorted((p, p.read_bytes()) for p in run.folder.rglob("*") if p.is_file())
    for norm in ("sum", "token", "char", "pmi", "prior"):
        judged = again.judge(norm=norm)
        fresh = ask(Hashes(), norm=norm)
        assert judged.outcomes().equals(fresh.outcomes())
        assert judged.estimates() == fresh.estimates()
    assert before == sorted((p, p.read_bytes()) for p in run.folder.rglob("*") if p.is_file())
    with pytest.raises(UsageError, match="changes what the model is asked"):
        again.judge(shots=1)


def test_outcomes_are_of_every_story_at_every_tier_and_chained():
    run = ask(Hashes())
    table = run.outcomes()
    counts = dict(table.group_by("question").len().iter_rows())
    assert counts == {STORY: 15, CONFLICT: 10, STATE: 10, "consistency": 10, "verifiability": 10}
    assert set(table.filter(question=STORY)["unit"]) == {"bits"}
    groups = {name for name in table.columns if name.startswith("group:")}
    assert {"group:type", "group:state", "group:distance", "group:pair"} <= groups
    right = {
        question: dict(table.filter(question=question).select("item", "right").iter_rows())
        for question in counts
    }
    for item, passed in right["verifiability"].items():
        assert passed == (right[STORY][item] and right[CONFLICT][item] and right[STATE][item])
    assert table["cluster"].n_unique() == 5


def test_stories_that_were_not_asked_are_unscored_with_the_reason():
    run = ask(Hashes(), protocol="paper", shots=0, limit=9)
    table = run.outcomes().filter(question=CONFLICT)
    asked = run.table("requests").filter(pl.col("condition") == CONFLICT)["item"]
    left = table.filter(~pl.col("item").is_in(asked.to_list()))
    assert left.height
    assert set(left["verdict"]) == {"unscored"}
    assert all(reason.startswith("it was not asked") for reason in left["reason"])
    estimate = by_key(run)[CONFLICT, "", "", "", "accuracy"]
    assert estimate.value is None
    assert estimate.reason.endswith("stories were asked")


def recorded(tmp_path, *lines):
    path = tmp_path / "somebody.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return f"replay:{path}"


def test_a_recording_makes_an_ordinary_stored_run(tmp_path):
    name = recorded(
        tmp_path,
        {"doc": 0, "task": STORY, "ll": [-2.0, -1.0]},
        {"doc": 1, "task": STORY, "label": "false"},
        {"doc": 2, "task": STORY, "reply": "It is plausible.", "label": "true"},
        {"doc": 3, "task": STORY, "reply": "Hm", "label": None, "reason": "no answer"},
        {"doc": 4, "task": STORY, "correct": True},
        {"doc": 5, "task": STORY, "correct": False},
        {"doc": 6, "task": STORY, "ll": [-1.0, -1.0]},
        {"doc": 7, "task": STORY, "ll": [None, -1.0]},
        {"doc": 4, "task": CONFLICT, "correct": False},
    )
    run = ask(name, tmp_path / "runs")
    assert run.model_kind == "replay"
    assert run.model.startswith("somebody@")
    table = open_run(run.folder).outcomes()
    story = dict(table.filter(question=STORY).select("item", "verdict").iter_rows())
    assert [story[str(row)] for row in range(9)] == [
        "pass", "pass", "fail", "fail", "pass", "fail", "tie", "unscored", "unscored"
    ]  # fmt: skip
    conflict = table.filter((pl.col("question") == CONFLICT) & (pl.col("item") == "4"))
    assert conflict["verdict"].to_list() == ["fail"]
    assert table.filter(item="7", question=STORY)["reason"].item().startswith("a log-probability")
    with pytest.raises(UsageError, match="numbers of tokens"):
        run.judge(norm="token").outcomes()
    with pytest.raises(UsageError, match="not asked without a story"):
        run.judge(norm="pmi").outcomes()


def test_a_recording_of_other_stories_or_of_nothing_is_refused(tmp_path):
    other = recorded(tmp_path, {"doc": 80, "task": STORY, "label": "true"})
    with pytest.raises(SuiteError, match="doc is 80, and there are 15 stories"):
        ask(other, limit=3)
    name = recorded(tmp_path, {"doc": 8, "task": STORY, "label": "true"})
    # A limit is of the items that a recording has.
    assert set(ask(name, limit=3).table("requests")["item"]) == {"8"}
    with pytest.raises(UsageError, match="task='pair'"):
        ask(name, task="pair")
    with pytest.raises(SuiteError, match="empty"):
        ask(recorded(tmp_path))


@pytest.mark.slow
@pytest.mark.golden
@pytest.mark.parametrize("model", ["gemma-2-27b", "Meta-Llama-3.1-70B-Instruct"])
def test_recorded_runs_of_the_study_have_the_numbers_of_its_summary(shared, model):
    folder = shared / "golden" / "stories"
    path = folder / "dataset" / "gita4calamita.jsonl"
    answers = folder / "responses" / f"{model}.jsonl"
    stories = read_stories(path).stories
    run = evaluation.evaluate(path, f"replay:{answers}")
    recorded_answers = read_responses(answers, stories=stories).answers
    check_summary(run, summarize_stories(judge_stories(stories, recorded_answers), seed=0))


def test_all_that_is_shared_by_options_is_unscored_or_wrong_never_right():
    run = ask(FakeScorer(lambda _tokens, _index: -1.0))
    table = run.outcomes()
    assert set(table["verdict"]) == {"tie"}
    assert not any(table["right"])
    assert {estimate.value for estimate in run.estimates() if estimate.role != "detail"} == {0.0}
    assert all(
        estimate.low is None or estimate.low < estimate.high for estimate in run.estimates()
    ), "no interval has a width of zero"
    assert not any(
        math.isnan(estimate.value) for estimate in run.estimates() if estimate.value is not None
    )
    assert {estimate.question for estimate in run.estimates() if estimate.role == "main"} == {
        *TIERS[1:], "consistency", "verifiability"
    }  # fmt: skip


def test_the_suite_is_written_and_read_as_it_is(tmp_path):
    from cimento.paradigms.stories import STORIES

    suite = STORIES.reader.read(TRIPLES_FILE).suite
    STORIES.reader.write(suite, tmp_path)
    again = STORIES.reader.read(tmp_path).suite
    assert again.stories == suite.stories
    assert (again.name, again.meta) == (suite.name, suite.meta)
    assert [fault.code for fault in STORIES.reader.check(again)] == ["CIM-T015", "CIM-T018"]
    assert STORIES.reader.owns(again)
    assert not STORIES.reader.owns("stories")

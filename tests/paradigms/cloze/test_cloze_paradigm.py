"""Cloze suites on the road of all paradigms: stored runs opened, judged and counted.

``tests/data/cloze-runs`` holds stored runs, and beside each in ``expected.json`` the shares
that another implementation, since removed, computed from them.
"""

from __future__ import annotations

import json
import math
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from cimento import Meta, TableError, UsageError, open_run, open_runs
from cimento.paradigms.cloze.judging import CHOSEN, DIVIDED, FITS, HIT, NOT_JUDGED
from cimento.records.blanks import FORCED_CHOICE, REACHABLE, summed_up_alike
from cimento.records.outcomes import GROUP, Estimate

STORED = Path(__file__).parents[2] / "data" / "cloze-runs"
NAMES = ("demo-masked", "demo-causal", "recorded")


def expected(rate):
    return (*(rate[name] for name in ("correct", "n", "share", "low", "high", "interval_method")),
            rate["reason"] or "")  # fmt: skip


def numbers(estimate):
    return (estimate.right, estimate.n, estimate.value, estimate.low, estimate.high,
            estimate.interval_method, estimate.reason)  # fmt: skip


def by_key(run):
    return {estimate.key: estimate for estimate in run.estimates()}


def shares(summary):
    """Every share that is expected, by what it is."""
    k = summary["k"]
    for method in summary["methods"]:
        asked = method["method"]
        for question, statistic, name, group in (
            (HIT, "accuracy", "hits", ("", "")),
            (HIT, "accuracy", "hits_reachable", (REACHABLE, "yes")),
            (FITS, "precision", "fitting_micro", ("", "")),
        ):
            ranks = (1, k) if question == FITS else range(1, k + 1)
            for rank, rate in zip(ranks, method[name], strict=False):
                yield (f"{question}{rank}", asked, *group, statistic), rate
        for question, statistic, name in (
            (HIT, "accuracy", "hits_by"),
            (FITS, "precision", "fitting_by"),
        ):
            for column, values in method[name].items():
                for value, rates in values.items():
                    for rank, rate in zip((1, k), rates, strict=True):
                        yield (f"{question}{rank}", asked, column, value, statistic), rate
    for choice in summary["choices"]:
        yield (FORCED_CHOICE, choice["rule"], "", "", "accuracy"), choice
        if choice["per_token"]:
            divided = choice["rule"] + DIVIDED
            yield (FORCED_CHOICE, divided, "", "", "accuracy"), choice["per_token"]


def stored(name):
    return json.loads((STORED / name / "expected.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", NAMES)
def test_a_stored_run_has_the_expected_numbers(name):
    run, summary = open_run(STORED / name), stored(name)
    estimates = by_key(run)
    assert (run.options.k, run.n_items) == (summary["k"], summary["n_items"])
    for key, rate in shares(summary):
        assert numbers(estimates.pop(key)) == expected(rate), key
    for method in summary["methods"]:
        for rank, mean in zip((1, summary["k"]), method["fitting_macro"], strict=False):
            key = (f"{FITS}{rank}", method["method"], "", "", "macro precision")
            assert estimates.pop(key).value == mean
    for column in run.options.by:
        for choice in summary["choices"]:
            parts = [
                estimates.pop(key)
                for key in [*estimates]
                if key[:3] == (FORCED_CHOICE, choice["rule"], column)
            ]
            whole = next(one for one in run.estimates() if one.question == FORCED_CHOICE
                         and one.method == choice["rule"] and not one.group)  # fmt: skip
            assert sum(one.n for one in parts) == whole.n
            assert sum(one.right for one in parts) == whole.right
            # The chance of a whole is the mean of those of its items, so of its parts by size.
            chances = math.fsum(one.n * one.chance for one in parts if one.n)
            assert chances == pytest.approx(whole.n * whole.chance)
    assert not estimates


@pytest.mark.parametrize("name", NAMES)
def test_a_stored_run_has_the_expected_ties_and_choices(name):
    run = open_run(STORED / name)
    outcomes = run.outcomes().filter(run.outcomes()["question"] == FORCED_CHOICE)
    for choice in stored(name)["choices"]:
        estimate = by_key(run)[FORCED_CHOICE, choice["rule"], "", "", "accuracy"]
        assert (estimate.tied, estimate.unscored) == (choice["tied"], choice["unscored"])
        rows = outcomes.filter(outcomes["method"] == choice["rule"])
        roles = rows[GROUP + CHOSEN].drop_nulls().value_counts().iter_rows()
        assert dict(roles) == choice["roles"]


@pytest.mark.parametrize("name", NAMES)
def test_the_one_headline_is_the_choice_where_an_answer_cannot_be_found(name):
    run = open_run(STORED / name)
    [headline] = [one for one in run.estimates() if one.role == "headline"]
    hits = run.outcomes().filter(run.outcomes()["question"] == "hit@1")
    is_lost = hits["reason"].str.starts_with("the answer is several tokens").any()
    assert headline.question == (FORCED_CHOICE if is_lost else "hit@1")


def test_runs_of_a_suite_are_summed_up_by_one_question():
    """One that can find every answer is so too, where another cannot; not where one has no choice.

    The numbers are made up: only questions and groups decide.
    """
    like = Estimate(suite="s", model="m", question="hit@1", method="left", value=0.5, n=4, right=2)
    choice = replace(like, question=FORCED_CHOICE, method="left")
    finds_all = [replace(like, role="headline"), choice]
    lost = replace(like, group=REACHABLE, level="yes", n=3, role="detail")
    finds_some = [replace(like, role="headline"), lost, choice]

    def heads(*several):
        return [
            [one.question for one in estimates if one.role == "headline"]
            for estimates in summed_up_alike(several)
        ]

    assert heads(finds_all) == [["hit@1"]]
    assert heads(finds_some) == [[FORCED_CHOICE]]
    assert heads(finds_all, finds_some) == [[FORCED_CHOICE], [FORCED_CHOICE]]
    (alone,) = summed_up_alike([finds_some])
    assert heads(alone, finds_all[:1]) == [["hit@1"], ["hit@1"]]
    others = [replace(like, question="all predictions", role="headline")]
    assert summed_up_alike([others]) == [others]


def test_each_item_has_one_outcome_for_a_question():
    for run in open_runs(STORED):
        assert not run.outcomes().select("item", "question", "method").is_duplicated().any()
        judged = run.outcomes().filter(run.outcomes()["verdict"] == "unscored")
        assert judged["right"].is_null().all()
        assert judged["reason"].is_not_null().all()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("demo-masked", "the answer is several tokens, and one mask was asked"),
        ("demo-causal", "the answer is several tokens, and candidates are the next token"),
    ],
)
def test_what_cannot_be_found_is_a_failure_with_its_reason(name, reason):
    run = open_run(STORED / name)
    cannot = run.outcomes().filter(run.outcomes()[GROUP + REACHABLE] == "no")
    assert set(cannot["verdict"]) == {"fail"}
    assert set(cannot["reason"]) == {reason}
    assert cannot["value"].is_null().all()
    [method] = stored(name)["methods"]
    assert cannot["item"].unique(maintain_order=True).to_list() == method["unreachable_items"]
    assert any("several tokens and cannot be found" in text for text in run.warnings)


def test_candidates_that_nobody_judged_are_unscored_and_the_reader_is_told():
    run = open_run(STORED / "recorded")
    outcomes = run.outcomes().filter(run.outcomes()["question"] == "fits@3")
    assert outcomes.filter(outcomes["verdict"] == "unscored")["reason"].unique().to_list() == [
        NOT_JUDGED
    ]
    assert by_key(run)["fits@3", "recorded", "", "", "precision"].unscored == 18
    assert any("18 candidates of 28 not judged" in text for text in run.warnings)


def test_a_run_is_judged_again_in_another_way_and_nothing_is_written(tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(STORED / "recorded", folder)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    run = open_run(folder).judge(by="relation")
    assert run.options.by == ("relation",)
    assert {estimate.group for estimate in run.estimates()} == {"", "relation"}
    assert before == {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with pytest.raises(UsageError, match="Did you mean 'relation'"):
        run.judge(by="relations").outcomes()
    with pytest.raises(UsageError, match="option k"):
        run.judge(k=5)


def test_a_run_of_another_paradigm_is_not_read_as_one_of_blanks():
    from dataclasses import replace

    from cimento.paradigms.cloze.requests import ClozeAnswers
    from cimento.suites import Suite

    other = replace(open_run(STORED / "recorded"), suite=Suite(Meta("it-other"), (), (), ()))
    with pytest.raises(TableError, match="not the run of a cloze suite"):
        ClozeAnswers(other)

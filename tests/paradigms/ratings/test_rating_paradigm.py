"""Suites of ratings on the road of all paradigms: asked, judged, correlated, stored, opened.

``tests/data/rating-runs`` holds stored runs, and beside each in ``expected*.json`` the numbers
that another implementation, since removed, computed from them.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import polars as pl
import pytest

from cimento import UsageError, evaluate, load_suite, open_run
from cimento.testing import FakeScorer

STORED = Path(__file__).parents[2] / "data" / "rating-runs"
NAMES = ("it-acceptability", "connectives-rated")
RATING = "rating"
BY_HALVES, BY_ERRORS = "split halves of the ratings", "the standard errors of the mean ratings"


@pytest.fixture(params=NAMES, name="rated")
def _rated(request):
    """A stored run, and its expected numbers."""
    folder = STORED / request.param
    return open_run(folder), json.loads((folder / "expected.json").read_text("utf-8"))


def by_key(run):
    return {
        (
            estimate.question,
            estimate.statistic,
            estimate.method,
            estimate.group,
            estimate.level,
        ): estimate
        for estimate in run.estimates()
    }


def of(known, question, statistic, method="", group="", level=""):
    return known[question, statistic, method, group, level]


def stored(*values):
    """The expected values: vectorized sums differ between processors in the last digit."""
    return [
        pytest.approx(value, rel=1e-12, abs=1e-15) if isinstance(value, float) else value
        for value in values
    ]


def ends(estimate):
    return [estimate.value, estimate.low, estimate.high, estimate.interval_method, estimate.n]


def test_coefficients_tests_and_corrections_are_the_expected_ones(rated):
    run, said = rated
    known = by_key(run)
    for measure in said["beside"]:
        name = measure["measure"]
        for correlation in (*measure["correlations"], measure["partial"]):
            partial = "partial " if correlation is measure["partial"] else ""
            one = of(known, name, partial + correlation["kind"])
            assert ends(one) == stored(
                *(correlation[key] for key in ("r", "low", "high", "method", "n"))
            )
            assert one.reason == (correlation["reason"] or "")
        spearman = of(known, name, "spearman")
        # That version permuted; p is that of its interval now.
        assert (spearman.p <= 0.05) == (spearman.low > 0 or spearman.high < 0)
        assert spearman.p_method.startswith(f"t of the {spearman.interval_method}; Holm over")
        assert spearman.unscored == sum(measure["without"].values())
    assert len(said["beside"]) == sum(key[1] == "spearman" for key in known)


def test_ceilings_and_agreement_are_the_expected_ones(rated):
    run, said = rated
    known = by_key(run)
    # Version 0.1 gave the ceiling of raw ratings also where z-scores were correlated.
    if run.options.ratings != "z":
        halves = of(known, RATING, "noise ceiling", BY_HALVES)
        assert [halves.value] == stored(said["ceiling"]["ceiling"])
        reliability = of(known, RATING, "split-half reliability", BY_HALVES)
        assert [reliability.value] == stored(said["ceiling"]["reliability"])
        errors = of(known, RATING, "noise ceiling", BY_ERRORS)
        assert [errors.value] == stored(said["ceiling_from_errors"]["value"])
    people = said["agreement"]
    for alpha in (*people["alphas"], people["fleiss"]):
        name, _, level = alpha["coefficient"].partition(", ")
        one = of(known, RATING, name, level)
        keys = ("value", "low", "high", "method", "items")
        assert ends(one) == stored(*(alpha[key] for key in keys))
    kappa = of(known, RATING, "mean Cohen's kappa", "quadratic weights")
    rest = of(known, RATING, "mean correlation with the rest")
    assert [kappa.value, rest.value] == stored(people["kappa"], people["with_rest"])


def test_groups_and_divisions_are_the_expected_ones(rated):
    run, said = rated
    known = by_key(run)
    fields = {"mean": "mean", "sd": "sd", "low": "min", "high": "max"}
    for name, groups in ((RATING, said["ratings"]), (said["perplexity"], said["perplexities"])):
        for group in groups:
            for key, statistic in fields.items():
                one = of(known, name, statistic, "", "label", group["name"])
                assert [one.value, one.n] == stored(group[key], group["n"])
    for row in said["binary"]:
        if row["n"]:
            one = of(known, row["measure"], "AUC")
            area = row["auc_interval"]
            assert ends(one) == stored(
                row["auc"], area["low"], area["high"], area["method"], row["n"],
            )  # fmt: skip
            for statistic in ("mcc", "mcc_in_sample"):
                name = statistic.replace("mcc", "MCC").replace("_", " ")
                one = of(known, row["measure"], name)
                assert [one.value] == stored(row[statistic])
    assert any(row["n"] for row in said["binary"]) == any(key[1] == "AUC" for key in known)


def test_accuracies_of_pairs_are_the_expected_ones(rated):
    run, said = rated
    known = {
        (estimate.group, estimate.level): estimate
        for estimate in run.estimates()
        if estimate.statistic == "accuracy" and estimate.method == run.options.measure
    }
    for column, groups in said["accuracies"].items():
        for level, group in groups.items():
            one, stored = known.pop((column, level)), group["conjunction"]
            assert (one.value, one.low, one.high) == (
                stored["accuracy"], stored["low"], stored["high"],
            )  # fmt: skip
            counts = ("passed", "failed", "tied", "unscored")
            assert [getattr(one, name) for name in counts] == [stored[name] for name in counts]
    summary = json.loads((run.folder / "expected-pairs.json").read_text("utf-8"))["runs"][0]
    for stored in summary["predictions"]:
        one = known.pop(("", ""))
        assert (one.value, one.low, one.high) == (
            stored["accuracy"], stored["low"], stored["high"],
        )  # fmt: skip
    assert not known


def test_the_headline_is_of_pairs_where_there_are_some_and_else_a_correlation():
    single, pairs = (open_run(STORED / name) for name in NAMES)
    headlines = [
        [
            (estimate.question, estimate.statistic)
            for estimate in run.estimates()
            if estimate.role == "headline"
        ]
        for run in (single, pairs)
    ]
    assert headlines == [[("lp", "spearman")], [("prediction 0", "accuracy")]]


def test_outcomes_hold_a_row_for_each_sentence_and_measure_beside_its_rating(rated):
    run, said = rated
    table = run.outcomes()
    (first, *_) = said["beside"]
    rows = table.filter(pl.col("question") == first["measure"])
    assert rows["item"].to_list() == [sentence["id"] for sentence in said["sentences"]]
    assert rows["verdict"].null_count() == rows.height
    assert set(rows["unit"]) == {first["unit"]}
    if said["ratings_as"] == "raw":
        assert rows["reference"].to_list() == [sentence["rating"] for sentence in said["sentences"]]
    perplexity = table.filter(pl.col("question") == said["perplexity"])
    assert perplexity["value"].to_list() == [
        sentence["perplexity"] for sentence in said["sentences"]
    ]


def test_the_sentences_of_a_pair_share_a_cluster_and_pairs_have_the_columns_of_the_bad_one():
    table = open_run(STORED / "connectives-rated").outcomes()
    rows = table.filter(pl.col("question") == "penlp")
    assert rows["cluster"].to_list()[:4] == ["pair e-1", "pair e-1", "pair e-2", "pair e-2"]
    pairs = table.filter(pl.col("verdict").is_not_null())
    assert pairs["group:replacement"].to_list()[:3] == ["se", "prima", "infatti"]
    assert pairs["item"].to_list()[:2] == ["e-1", "e-2"]


def test_other_options_judge_the_stored_answers_and_change_no_file():
    run = open_run(STORED / "connectives-rated")
    before = {path: path.read_bytes() for path in run.folder.rglob("*") if path.is_file()}
    raw = run.judge(ratings="raw", by="connective", draws="20")
    assert raw.options.by == ("connective",)
    assert raw.options.draws == 20
    assert raw.outcomes().filter(pl.col("question") == "penlp")["reference"].max() > 3
    assert {estimate.group for estimate in raw.estimates()} == {"", "label", "connective"}
    assert before == {path: path.read_bytes() for path in run.folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("given", "seen"),
    [
        ({"draw": "3"}, "draws"),
        ({"draws": "many"}, "draws"),
        ({"draws": -1}, "draws"),
        ({"ratings": "t"}, "raw"),
    ],
)
def test_options_that_cannot_be_honored_are_refused(given, seen):
    with pytest.raises(UsageError, match=seen):
        open_run(STORED / "connectives-rated").judge(**given)


def test_lists_are_read_from_texts():
    run = open_run(STORED / "connectives-rated")
    options = run.judged({"by": "verb, tense", "also": "ppl,slor"}).options
    assert (options.by, options.also) == (("verb", "tense"), ("ppl", "slor"))


def test_a_run_made_in_python_is_stored_and_opened_as_it_was(tmp_path):
    run = evaluate("it-acceptability", "demo-causal", limit=8, output=tmp_path, draws=10)
    assert run.paradigm.name == "ratings"
    again = open_run(run.folder)
    assert again.estimates() == run.estimates()
    assert again.outcomes().equals(run.outcomes())
    assert again.options == run.options
    assert run.n_items == 8


@pytest.mark.parametrize("kind", ["acceptability", "ratings"])
def test_a_suite_says_its_kind_by_either_name(tmp_path, kind):
    toml = (STORED / "it-acceptability/suite/suite.toml").read_text("utf-8")
    named = toml.replace('kind = "acceptability"', f'kind = "{kind}"')
    assert f'kind = "{kind}"' in named
    (tmp_path / "suite.toml").write_text(named, encoding="utf-8")
    items = (STORED / "it-acceptability/suite/items.tsv").read_bytes()
    (tmp_path / "items.tsv").write_bytes(items)
    loaded = load_suite(tmp_path)
    assert loaded.paradigm.name == "ratings"
    assert loaded.paradigm.reader.owns(loaded.suite)
    assert not loaded.reading.faults


def test_scores_are_of_sentences_and_more_is_better():
    run = open_run(STORED / "connectives-rated").judge(measures="pppl")
    scores = run.paradigm.judge.scores(run)
    values = run.outcomes().filter(pl.col("question") == "pppl")["value"]
    assert scores["value"].to_list() == values.to_list()
    assert scores["oriented"].to_list() == [-value for value in values]


def test_z_scores_that_nobody_has_are_refused_before_a_model_is_asked():
    asked = []
    model = FakeScorer(lambda _tokens, index: asked.append(index) or -1.0)
    with pytest.raises(UsageError, match="no rating has a z-score"):
        evaluate("it-acceptability", model, limit=8, ratings="z")
    assert not asked


def test_no_interval_has_no_width(rated):
    run, _ = rated
    for estimate in run.estimates():
        if estimate.low is not None:
            assert estimate.low < estimate.high
        if estimate.value is None or estimate.low is None:
            assert estimate.reason
        assert estimate.value is None or math.isfinite(estimate.value)

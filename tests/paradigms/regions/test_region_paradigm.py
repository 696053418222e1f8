"""Region suites on the one road: asked, judged and estimated through the public interface."""

from __future__ import annotations

import polars as pl
import pytest

from cimento import Asking, CimentoError, Run, TableError, UsageError, evaluate, open_run, pairs
from cimento.kinds.registry import parse_options
from cimento.measures.regions import count_first_tokens
from cimento.paradigms.regions import REGIONS
from cimento.paradigms.regions.judging import scores_of, tokens_of, values_of
from cimento.suites.naming import ALL_PREDICTIONS as ALL
from cimento.testing import check_paradigm

SUITE = "it-subject-verb"
MODEL = "demo-causal"


@pytest.fixture(scope="module")
def run() -> Run:
    return evaluate(SUITE, MODEL)


def accuracies(run: Run) -> dict[str, tuple[int | None, int]]:
    """Question to the items that are right, of all that were judged."""
    return {
        estimate.question: (estimate.right, estimate.n)
        for estimate in run.estimates()
        if estimate.statistic == "accuracy" and not estimate.group
    }


def test_region_suites_conform_to_the_protocol():
    findings = check_paradigm(SUITE, MODEL)
    assert len(findings) > 10
    assert [finding for finding in findings if not finding.passed] == []


def test_each_prediction_and_all_of_them_have_an_outcome_and_an_accuracy(run):
    outcomes = run.outcomes()
    assert outcomes["question"].to_list()[:3] == ["number", "person", ALL]
    assert (outcomes["unit"] == "bits").all()
    wide = outcomes.pivot("question", index="item", values="right")
    assert (wide[ALL] == (wide["number"] & wide["person"])).all()
    lower = outcomes.pivot("question", index="item", values="value")
    assert (lower[ALL] == lower.select(pl.min_horizontal("number", "person")).to_series()).all()
    assert accuracies(run) == {"number": (21, 24), "person": (23, 24), ALL: (21, 24)}
    [headline] = [estimate for estimate in run.estimates() if estimate.role == "headline"]
    assert (headline.question, headline.chance) == (ALL, 1 / 3)
    assert (headline.low, headline.high) == pytest.approx((0.689961, 0.956557), abs=1e-5)


def test_one_prediction_is_all_of_them():
    run = evaluate(pairs([("Le chiavi sono qui.", "Le chiavi è qui.")]), MODEL)
    assert run.outcomes()["question"].to_list() == ["good"]
    [estimate] = run.estimates()
    assert (estimate.question, estimate.role, estimate.n) == ("good", "headline", 1)
    assert estimate.description == "(*;%good%) < (*;%bad%)"


def test_predictions_that_are_chosen_keep_their_names(run):
    assert set(run.judge(predictions=("1", "0")).outcomes()["question"]) == {
        "number", "person", ALL
    }  # fmt: skip
    formula = "(2;%match%) < (2;%mismatch_number%)"
    assert accuracies(run.judge(predictions=formula)) == {"number": (21, 24)}
    rejudged = run.judge(predictions=("1", f"{formula} & {formula}"))
    assert set(rejudged.outcomes()["question"]) == {"person", "prediction 2", ALL}
    assert accuracies(rejudged)["prediction 2"] == (21, 24)
    for text in ("1", "prediction 1", "person"):
        assert accuracies(run.judge(predictions=text)) == {"person": (23, 24)}


def test_ties_count_as_the_options_say_and_stay_ties():
    tie = pairs([("Le chiavi sono qui.", "Le chiavi sono qui.")])
    run = evaluate(tie, MODEL)
    assert run.outcomes().select("verdict", "right", "value").row(0) == ("tie", False, 0.0)
    passing = run.judge(ties="pass")
    assert passing.outcomes().select("verdict", "right", "value").row(0) == ("tie", True, 0.0)
    [estimate] = passing.estimates()
    assert (estimate.value, estimate.passed, estimate.tied, estimate.right) == (1.0, 0, 1, 1)
    assert any("Ties count as passes" in warning for warning in passing.warnings)


def test_near_ties_are_counted_by_the_threshold_of_the_run(run):
    bits = run.outcomes()["value"].abs()
    wide = run.judge(near_ties=1.5)
    near = sum(estimate.near_tied or 0 for estimate in wide.estimates())
    assert near == (bits < 1.5).sum() > 0


def test_measures_beside_the_first_have_accuracies_of_their_own():
    both = evaluate("it-islands", MODEL, measures=["penlp", "meanlp"], limit=4)
    methods = {estimate.method for estimate in both.estimates() if estimate.statistic == "accuracy"}
    assert methods == {"penlp", "meanlp"}
    assert set(both.outcomes()["method"]) == {"penlp"}
    alone = evaluate("it-islands", MODEL, measures="meanlp", limit=4)
    assert [estimate.value for estimate in alone.estimates() if not estimate.group] == [
        estimate.value
        for estimate in both.estimates()
        if estimate.method == "meanlp" and not estimate.group
    ]


def test_columns_that_a_measure_needs_are_asked_for():
    run = evaluate(pairs([("Il cane dorme.", "Il cane dormono.")]), "demo-masked", measures="lp-nl")
    assert {"logit", "log_sigmoid_sum"} <= set(run.table("tokens").columns)
    assert accuracies(run)["good"][1] == 1


def test_a_suite_without_predictions_is_asked_for_all_tokens_and_has_no_outcome():
    from dataclasses import replace

    suite = replace(pairs([("Il cane dorme.", "Il cane dormono.")]), predictions=())
    run = evaluate(suite, MODEL)
    assert (run.outcomes().height, run.estimates()) == (0, ())
    assert scores_of(run, ["lp"])["value"].null_count() == 0


def test_a_suite_without_items_asks_nothing():
    from dataclasses import replace

    empty = replace(pairs([("a", "b")]), items=())
    asked = REGIONS.asker.requests(
        empty,
        REGIONS.options(),
        scoring=Asking(),
        model=None,
        answers=object(),  # type: ignore[arg-type]
    )
    assert asked is None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"ties": "win"}, ("ties", "win")),
        ({"seed": -1}, ("seed", "-1")),
        ({"near_tie_bits": "nan"}, ("near_tie_bits", "nan")),
        ({"metric": "product"}, ("metric", "product")),
        ({"tie": "pass"}, ("option tie", "ties")),
    ],
)
def test_options_that_cannot_be_used_are_refused(options, words):
    with pytest.raises(UsageError) as raised:
        parse_options(REGIONS, options)
    assert all(word in str(raised.value) for word in words)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"measures": "penlpp"}, ("penlpp", "penlp")),
        ({"measures": "penlp"}, ("names the region", "(*;%match%)")),
        ({"predictions": "7"}, ("no prediction 7", "It has 2")),
        ({"predictions": "(2;%mach%) < 1"}, ("no condition 'mach'", "match")),
        ({"unigrams": "no-such-file"}, ("no-such-file",)),
    ],
)
def test_a_mistake_is_found_before_or_at_judging(options, words):
    with pytest.raises(CimentoError) as raised:
        evaluate(SUITE, MODEL, limit=1, **options).outcomes()
    assert all(word in str(raised.value) for word in words)


def test_a_manifest_that_was_edited_is_a_table_error(tmp_path):
    stored = evaluate(SUITE, MODEL, limit=1, output=tmp_path)
    path = stored.folder / "manifest.json"
    path.write_text(path.read_text().replace('"ties": "tie"', '"ties": "win"'))
    with pytest.raises(TableError, match="ties"):
        open_run(stored.folder)


def test_a_stored_run_is_shown_with_the_options_of_now(tmp_path):
    evaluate(SUITE, MODEL, limit=2, output=tmp_path, ties="pass")
    again = evaluate(SUITE, MODEL, limit=2, output=tmp_path)
    assert again.options.ties == "tie"


def test_other_predictions_are_asked_anew_and_stored_apart(tmp_path):
    first = evaluate(SUITE, MODEL, limit=2, output=tmp_path)
    other = evaluate(SUITE, MODEL, limit=2, output=tmp_path, predictions="(3;%match%) < 99")
    unstored = evaluate(SUITE, MODEL, limit=2).table("tokens")
    assert other.table("tokens").height != unstored.height
    assert accuracies(other)["prediction 2"][1] == 2
    assert first.folder != other.folder
    assert len(list((tmp_path / "it-subject-verb").iterdir())) == 2


def test_factorial_designs_have_their_effects_among_the_estimates():
    run = evaluate("it-islands", MODEL, all_tokens=True, limit=30)
    dds = [estimate for estimate in run.estimates() if estimate.statistic == "DD"]
    tested = [dd for dd in dds if dd.question == "DD"]
    assert tested
    assert all(dd.p is not None and dd.p_corrected >= dd.p for dd in tested)
    scores = run.paradigm.judge.scores(run)
    codes = 4 * pl.col("first") * pl.col("second") * pl.col("oriented")
    by_item = scores.group_by("phenomenon", "item").agg(dd=codes.sum())
    means = dict(by_item.group_by("phenomenon").agg(pl.col("dd").mean()).iter_rows())
    assert {dd.level: dd.value for dd in tested} == pytest.approx(means)


def test_values_of_regions_are_those_that_predictions_compare(run):
    values = values_of(run)
    row = run.outcomes().filter(question="number").row(0, named=True)
    item = values.values[row["item"]]
    margin = item["mismatch_number"][1] - item["match"][1]
    assert margin / 0.6931471805599453 == pytest.approx(row["value"])


def test_first_tokens_without_left_context_are_told():
    run = evaluate("it-subject-verb", MODEL, limit=2, unscored_first="zero")
    assert count_first_tokens(tokens_of(run)) == 0
    assert not any("First tokens" in warning for warning in run.warnings)

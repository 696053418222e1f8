"""Contributions of tokens to the margins of runs: sums, table, averages, report and command."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import polars as pl
import pytest

import cimento
from cimento import UsageError
from cimento.engine.requests import Answers
from cimento.explain import ExplainSettings, attribute
from cimento.io.explained import ATTRIBUTIONS, GRADIENTS
from cimento.paradigms.prompted.prompts import prompted_suite
from cimento.paradigms.regions.attributions import (
    attributed,
    attributions_table,
    contribution_means,
    contributions_of,
)
from cimento.paradigms.regions.contribution_tables import contribution_grids
from cimento.paradigms.regions.swaps import margins_of
from cimento.suites import Condition, Item, Meta, Prediction, Region, Suite
from tests.helpers import copying
from tests.helpers.command_line import invoke
from tests.helpers.prompting import PAIRS

GRADIENT = ExplainSettings(rule="gradient")


@pytest.fixture(scope="module")
def agreeing(tmp_path_factory):
    output = tmp_path_factory.mktemp("runs")
    return cimento.evaluate("it-subject-verb", "demo-causal", limit=3, output=output, device="cpu")


@pytest.fixture(scope="module")
def integrated(agreeing):
    return attribute(agreeing, ExplainSettings(predictions=("number",)))


def test_all_contributions_add_up_to_the_margin_less_that_of_the_baseline(agreeing, integrated):
    items = integrated.table.group_by("item", maintain_order=True).agg(
        pl.col("contribution_bits").sum(), pl.col("margin_bits", "baseline_bits").first()
    )
    gaps = items["margin_bits"] - items["baseline_bits"] - items["contribution_bits"]
    assert len(items) == 3
    assert gaps.abs().max() < 0.2
    missed = integrated.table.group_by("item", "condition").agg(pl.col("gap_bits").unique())
    assert missed["gap_bits"].list.len().to_list() == [1] * len(missed)
    sums = missed.group_by("item").agg(pl.col("gap_bits").list.first().sum()).join(items, on="item")
    gap = (sums["margin_bits"] - sums["baseline_bits"] - sums["contribution_bits"]).abs()
    assert (gap <= sums["gap_bits"] + 1e-9).all()
    outcomes = agreeing.outcomes().filter(question=integrated.table["question"][0])
    margins = items.join(outcomes, on="item")
    assert (margins["margin_bits"] - margins["value"]).abs().max() < 1e-4
    [whole] = [mean for mean in integrated.means if not mean.region]
    assert whole.error_bits == integrated.table["gap_bits"].max()
    assert whole.n == 3


def test_every_row_says_of_which_word_of_which_sentence_it_is(agreeing, integrated):
    assert integrated.table.schema == ATTRIBUTIONS.polars()
    texts = {
        (item.id, condition.name): " ".join(region.text for region in condition.regions)
        for item in agreeing.suite.items
        for condition in item.conditions
    }
    for row in integrated.table.iter_rows(named=True):
        word = texts[row["item"], row["condition"]][row["start"] : row["end"]]
        assert word
        assert word in row["token"] or not row["token"].isascii()
        assert row["region_name"] in ("subject", "verb")
    assert set(integrated.table["condition"]) == {"match", "mismatch_number"}


def test_what_is_there_is_not_asked_again_and_rules_are_kept_together(agreeing, monkeypatch):
    from cimento.models.hf.gradients import Gradients

    first = attribute(agreeing, replace(GRADIENT, predictions=("number",)))
    monkeypatch.setattr(Gradients, "attribute", None)
    again = attribute(agreeing, replace(GRADIENT, predictions=("number",)))
    assert again.table.equals(first.table)
    assert set(agreeing.table("attributions")["rule"]) >= {"gradient"}
    assert first.baseline == "zero"
    reopened = cimento.open_run(agreeing.folder)
    assert reopened.summary().estimates == agreeing.summary().estimates


def test_the_word_that_the_copying_head_reads_contributes(tmp_path):
    verbs = {copying.SINGULAR: ("runs", "run"), copying.PLURAL: ("run", "runs")}
    items = [
        Item(str(number), tuple(
            Condition(name, tuple(map(Region, ("the", noun, "here often", verb))))
            for name, verb in zip(("match", "mismatch_number"), verbs[noun], strict=True)
        ))
        for number, noun in enumerate((copying.SINGULAR, copying.PLURAL), start=1)
    ]  # fmt: skip
    suite = Suite(
        Meta(name="pairs", language="en"), ("article", "subject", "adverb", "verb"),
        (Prediction("(4;%match%) < (4;%mismatch_number%)"),), items,
    )  # fmt: skip
    run = cimento.evaluate(suite, str(copying.save(tmp_path / "model")), device="cpu")
    means = {mean.region_name: mean.contribution_bits for mean in attribute(run).means}
    others = [abs(bits) for name, bits in means.items() if name not in ("subject", "all words")]
    assert means["subject"] > 5
    assert max(others) < 0.2 * means["subject"]


def of_two_regions(*words):
    """A suite of six items, and the contributions of words: item, region, bits."""
    suite = Suite(
        Meta(name="s", phenomenon="p"), ("a", "b"), (),
        [Item(str(n), (Condition("x", (Region("u"), Region("v"))),)) for n in range(6)],
    )  # fmt: skip
    rows = [
        ("s", str(item), "prediction 0", "integrated", "mean", "x", region, "ab"[region - 1],
         0, 0, 1, "t", bits, 6.0 * item, 0.0, 0.0, 16, "")
        for item, region, bits in words
    ]  # fmt: skip
    return suite, pl.DataFrame(rows, schema=ATTRIBUTIONS.polars(), orient="row")


def test_means_are_of_sums_over_the_words_of_an_item():
    suite, table = of_two_regions(*(
        (item, region, bits * item)
        for item in range(6)
        for region, bits in ((1, 1.0), (1, 2.0), (2, 3.0))
    ))  # fmt: skip
    means = {mean.region_name: mean for mean in contribution_means(suite, table)}
    assert means["a"].contribution_bits == pytest.approx(7.5)
    assert means["b"].contribution_bits == pytest.approx(7.5)
    assert means["all words"].contribution_bits == pytest.approx(15.0)
    assert means["all words"].error_bits == pytest.approx(0.0)
    assert means["a"].p_holm == pytest.approx(min(1.0, 2 * means["a"].p))


def test_means_of_regions_add_up_where_some_items_lack_a_region():
    suite, table = of_two_regions(*(
        (item, region, 1.0 + item)
        for item in range(6)
        for region in (1, 2)
        if region == 1 or item > 2
    ))  # fmt: skip
    whole, *regions = contribution_means(suite, table)
    assert {mean.n for mean in (whole, *regions)} == {6}
    added = sum(mean.contribution_bits for mean in regions)
    assert added == pytest.approx(whole.contribution_bits)
    assert {mean.margin_bits for mean in (whole, *regions)} == {15.0}


@pytest.mark.parametrize(("bits", "warned"), [(0.0005, True), (0.5, False)])
def test_contributions_that_cover_nothing_of_the_margin_are_warned_of(bits, warned):
    suite = Suite(Meta(name="s"), ("a",), (), [Item("1", ()), Item("2", ())])
    rows = [
        ("s", item, "prediction 0", "gradient", "zero", "x", 1, "a", 0, 0, 1, "t", bits,
         -1.0, None, None, 1, "")
        for item in "12"
    ]  # fmt: skip
    means = contribution_means(suite, pl.DataFrame(rows, ATTRIBUTIONS.polars(), orient="row"))
    assert means[0].moved == pytest.approx(bits)
    notes = " ".join(contribution_grids(means)[0].notes)
    assert ("all contributions together are less than 0.1% of the margins" in notes) == warned


@pytest.mark.parametrize(("gap", "warned"), [(0.009, False), (2.0, True)])
def test_items_whose_integral_has_not_converged_are_named(gap, warned):
    suite = Suite(Meta(name="s"), ("a",), (), [Item("1", ()), Item("2", ())])
    rows = [
        ("s", item, "prediction 0", "integrated", "zero", condition, 1, "a", 0, 0, 1, "t", bits,
         1.0, 0.0, gap if item == "2" else 0.0, 512, "")
        for item in "12"
        for condition, bits in (("x", 3.0), ("y", -2.0))
    ]  # fmt: skip
    means = contribution_means(suite, pl.DataFrame(rows, ATTRIBUTIONS.polars(), orient="row"))
    assert means[0].unsettled == (("2",) if warned else ())
    notes = " ".join(contribution_grids(means)[0].notes)
    assert ("not converged in 1 of 2 items (2)" in notes) == warned
    assert ("--baseline mean" in notes) == warned


def test_errors_that_cancel_between_two_sentences_are_noticed(agreeing):
    """Each sentence misses its sum by the same amount, so that the margin is exactly right."""
    settings = ExplainSettings(predictions=("number",))
    compared = margins_of(agreeing, settings)
    asked = attributed(agreeing, compared, settings)
    rows = [
        # Of both sentences: score -1, baseline -4, and contributions of 3 + 2 where 3 are due.
        (number, place, 0, 1, "t", 5.0 if place == 0 else 0.0, -1.0, -4.0, 0, 512)
        for number in asked.places()
        for place in range(2)
    ]
    table = pl.DataFrame(rows, schema=GRADIENTS.polars(), orient="row")
    answers = Answers(tables={"gradients": table.lazy()}, n=len(asked.places()))
    made = attributions_table(agreeing, compared, asked, answers, settings)
    [whole] = [mean for mean in contributions_of(agreeing, made) if not mean.region]
    assert whole.contribution_bits == pytest.approx(0.0)
    assert whole.error_bits == pytest.approx(2.0 / math.log(2))
    assert len(whole.unsettled) == whole.n == 3


def test_a_suite_whose_regions_are_not_summed_is_refused():
    suite = replace(cimento.load_suite("it-subject-verb").suite, metric="mean")
    run = cimento.evaluate(suite, "demo-causal", limit=2, device="cpu")
    with pytest.raises(UsageError, match="contributions are to sums"):
        attribute(run)


@pytest.mark.usefixtures("fresh_cache")
def test_a_run_by_prompt_is_refused(tmp_path, capsys):
    suite = prompted_suite(cimento.pairs(PAIRS[:2], name="it-few", language="it"))
    run = cimento.evaluate(suite, "demo-causal", output=tmp_path, answer="loglik", device="cpu")
    for by in ("interchange", "integrated"):
        assert invoke(["analyze", "attribution", str(run.folder), "--by", by]) == 2
        assert "was asked by prompt" in capsys.readouterr().err


def test_a_masked_model_has_contributions_from_both_sides():
    run = cimento.evaluate("it-subject-verb", "demo-masked", limit=2, device="cpu")
    attribution = attribute(run, replace(GRADIENT, predictions=("number",)))
    assert {"subject", "rest"} <= set(attribution.table["region_name"])


@pytest.mark.slow
@pytest.mark.usefixtures("integrated")
def test_the_report_shows_strips_and_a_figure(agreeing, tmp_path):
    page = cimento.report(agreeing, tmp_path / "page.html").read_text("utf-8")
    assert "contribution to the margin in bits, integrated gradients" in page
    assert "number, integrated gradients from the mean embedding" in page
    assert "What the words contribute to the predictions of it-subject-verb" in page


@pytest.mark.slow
def test_the_command_prints_contributions_and_writes_figures(agreeing, tmp_path, capsys):
    asked = [
        "analyze",
        "attribution",
        str(agreeing.folder),
        "--by",
        "integrated",
        "--prediction",
        "number",
    ]
    assert invoke([*asked, "-o", str(tmp_path)]) == 0
    assert "All contributions add up to the margin" in capsys.readouterr().out
    assert {"integrated-1.csv", "contributions.svg"} <= {path.name for path in tmp_path.iterdir()}
    assert invoke([*asked, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["by"], printed["baseline"]) == ("integrated", "mean")
    assert [mean["region_name"] for mean in printed["contributions"]] == [
        "all words", "subject", "verb",
    ]  # fmt: skip
    drawn = tmp_path / "drawn.svg"
    assert (
        invoke(["report", str(agreeing.folder), "--figure", "contributions", "-o", str(drawn)]) == 0
    )
    assert drawn.stat().st_size > 1000


@pytest.mark.parametrize(
    "arguments",
    [
        ["--by", "gradient", "--part", "mlp"],
        ["--by", "gradient", "--baseline", "zero"],
        ["--by", "integrated", "--align", "exact"],
        ["--baseline", "zero"],
    ],
)
def test_options_that_say_nothing_are_refused(agreeing, capsys, arguments):
    assert invoke(["analyze", "attribution", str(agreeing.folder), *arguments]) == 2
    assert "has no effect with --by" in capsys.readouterr().err

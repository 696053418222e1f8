"""Results under all choices of scoring, beside scores added up by hand from tokens."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import polars as pl
import pytest
from scipy import stats

import cimento
from cimento import UsageError
from cimento.paradigms.regions.lexicon import ALONE, SHARED, critical_words, lexicon_rates
from cimento.paradigms.regions.specification_tables import (
    curves_figure,
    curves_grid,
    summed_up,
)
from cimento.paradigms.regions.specifications import (
    CORRELATION,
    Specification,
    SpecificationCurve,
    asked_choices,
    curves_of,
    defaults_first,
)
from cimento.suites.ratings import suite_from_ratings
from cimento.testing import FakeScorer
from tests.helpers.command_line import invoke
from tests.helpers.rated import rated, sentence

PAIRS = [
    ("Il gatto nero dorme molto.", "Il gatto nero dormono!"),
    ("La luna splende.", "La luna splendono forte?"),
    ("I cani abbaiano piano.", "I cani abbaia!"),
    ("Le case sono alte.", "Le case è davvero alte!"),
    ("Un fiume scorre.", "Un fiume scorrono qui."),
    ("Due amici parlano poco.", "Due amici parla!"),
]


def cost(tokens, index):
    """Log-probabilities that depend on the letters of a word; of marks, on the mark."""
    return -{".": 3.0, "!": 0.25, "?": 1.0}.get(
        tokens[index], 0.5 + sum(map(ord, tokens[index])) % 7
    )


def pieces(text):
    return re.findall(r"\w+|[.!?]", text)


def scored(text, measure, *, mark):
    tokens = pieces(text)
    costs = [cost(tokens, index) for index in range(len(tokens))]
    kept = costs if mark == "keep" else costs[:-1]
    n = len(kept)
    words = len(text.split())
    return (
        sum(kept)
        / {"lp": 1, "meanlp": n, "penlp": ((5 + n) / 6) ** 0.8, "mean-word": words}[measure]
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    suite = cimento.pairs(PAIRS, name="it-few", language="it")
    return cimento.evaluate(suite, FakeScorer(cost), output=folder)


@pytest.fixture(scope="module")
def curve(run):
    [made] = curves_of([run])
    return made


def test_each_specification_is_the_accuracy_of_scores_added_up_by_hand(run, curve):
    assert (curve.statistic, curve.model) == ("accuracy", "fake")
    assert len(curve.specifications) == 8
    found = set()
    for one in curve.specifications:
        chosen = dict(one.choices)
        both = [
            [scored(text, chosen["measure"], mark=chosen["final mark"]) for text in pair]
            for pair in PAIRS
        ]
        assert one.value == pytest.approx(np.mean([good > bad for good, bad in both]))
        found.add(one.value)
    assert len(found) > 1, "the choices make no difference, so that the test says nothing"
    own = curve.specifications[0]
    assert own.value == run.estimates()[0].value
    assert (own.low, own.high) == (run.estimates()[0].low, run.estimates()[0].high)


def test_a_run_with_the_same_scores_is_counted_once_and_another_asking_apart(run, curve):
    assert curves_of([run, dataclasses.replace(run)]) == [curve]
    other = cimento.evaluate(
        cimento.pairs(PAIRS, name="it-few", language="it"),
        FakeScorer(lambda tokens, index: 0.5 * cost(tokens, index) - index),
        boundary="auto",
    )
    [both] = curves_of([run, other])
    assert len(both.specifications) == 2 * len(curve.specifications)
    assert defaults_first([other, run]) == [run, other]
    assert {dict(one.choices)["boundary"] for one in both.specifications} == {"none", "auto"}
    policy = {**run.manifest["asking"]["policy"], "dtype": "bfloat16"}
    asking = {**run.manifest["asking"], "policy": policy}
    narrow = dataclasses.replace(other, manifest={**run.manifest, "asking": asking})
    # A number format is not a choice of scoring, so its run has a curve of its own.
    assert len(curves_of([run, narrow])) == 2
    assert asked_choices("masked") == [
        {"pll": "within-word-l2r"}, {"pll": "original"}, {"pll": "whole-word"},
    ]  # fmt: skip
    assert asked_choices("replay") == [{}]


def test_correlations_with_ratings_are_those_of_scores_added_up_by_hand():
    texts = [text for pair in PAIRS for text in pair]
    ratings = np.random.default_rng(5).uniform(1, 5, len(texts)).round(2).tolist()
    sentences = [
        sentence(str(place), text, rating)
        for place, (text, rating) in enumerate(zip(texts, ratings, strict=True))
    ]
    made = cimento.evaluate(suite_from_ratings(rated(*sentences)), FakeScorer(cost), draws=0)
    [curve] = curves_of([made])
    assert (curve.statistic, len(curve.specifications)) == (CORRELATION, 8)
    for one in curve.specifications:
        chosen = dict(one.choices)
        values = [scored(text, chosen["measure"], mark=chosen["final mark"]) for text in texts]
        assert one.value == pytest.approx(stats.spearmanr(values, ratings)[0])
    # More surprisal is worse, so its correlation is turned; it stands for that of lp.
    [turned] = curves_of([made.judge(measures="surprisal-bits")])
    assert len(turned.specifications) == 8
    bits, nats = turned.specifications[0], curve.specifications[0]
    assert (bits.value, bits.low, bits.high) == pytest.approx((nats.value, nats.low, nats.high))


def test_dd_is_in_z_scores_so_that_measures_have_one_unit():
    made = cimento.evaluate("it-islands", FakeScorer(cost), limit=10)
    curve = next(curve for curve in curves_of([made]) if curve.statistic.startswith("DD (z)"))
    sums = (
        made.table("requests").join(made.table("tokens"), on="request")
        .group_by("item", "condition").agg(lp=pl.col("logprob_nats").sum())
    )  # fmt: skip
    lps = {(item, condition): lp for item, condition, lp in sums.iter_rows()}
    values = np.array(list(lps.values()))
    items = {item for item, _ in lps}
    dds = [
        lps[item, "long_nonisland"] - lps[item, "long_island"]
        - lps[item, "short_nonisland"] + lps[item, "short_island"]
        for item in items
    ]  # fmt: skip
    assert curve.specifications[0].choices[-2:] == (("measure", "lp"), ("final mark", "keep"))
    assert curve.specifications[0].value == pytest.approx(np.mean(dds) / values.std())


def made(*results, reference=0.5):
    return SpecificationCurve(
        suite="s", model="m", statistic="accuracy",
        specifications=tuple(
            Specification(
                choices=(("measure", str(place)),), value=value, low=low, high=high,
                reference=reference, n=9,
            )
            for place, (value, low, high) in enumerate(results)
        ),
    )  # fmt: skip


def test_a_sentence_counts_what_is_on_the_side_of_the_run():
    curve = made(
        (0.7, 0.6, 0.8), (0.6, 0.4, 0.7), (0.3, 0.1, 0.45), (0.4, 0.3, 0.6), (0.5, 0.3, 0.7),
        (None, None, None),
    )  # fmt: skip
    assert (curve.agreeing(), curve.agreeing(sure=True), curve.opposed) == (2, 1, 1)
    assert summed_up(curve) == (
        "s, m, accuracy: 2 of 5 specifications are above chance (0.5) like the run's own, 1"
        " surely; 1 surely are not. Values from 0.300 to 0.700. Without a value: 1."
    )
    nothing = made((None, None, None), (0.7, 0.6, 0.8))
    assert "says nothing" in summed_up(nothing)


def test_the_figure_has_every_specification_in_order_with_its_choices(curve):
    figure = curves_figure([curve])
    values = figure.frame.unique("specification", maintain_order=True).sort("specification")
    assert values["value"].is_sorted()
    assert len(figure.frame) == 2 * len(values) == 16
    assert set(figure.frame["says"]) <= {"own", "surely", "open"}
    other = dataclasses.replace(curve, model="other")
    with pytest.raises(UsageError, match="2 suites and models"):
        curves_figure([curve, other])
    with pytest.raises(UsageError, match="no accuracy"):
        curves_grid([])


def test_the_table_names_the_choices_and_what_was_chosen_in_one_way(run, capsys):
    assert invoke(["report", str(run.folder), "--table", "sensitivity"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "Chosen in one way: BOS auto, boundary none." in printed
    assert "of 8 specifications are" in printed


def test_words_that_recur_in_other_items_are_told_from_those_that_do_not():
    pairs = [
        ("Il gatto dorme.", "Il gatto dormono."),
        ("La luna splende.", "La luna splendono."),
        ("Il cane DORME qui.", "Il cane abbaia qui."),
        ("Qui splendono molte luci.", "Qui accese molte luci."),
        ("Oggi piove forte.", "Oggi forte piove."),
    ]
    suite = cimento.pairs(pairs, name="it-words", language="it")
    assert list(critical_words(suite).values()) == [
        {"dorme", "dormono"}, {"splende", "splendono"}, {"dorme", "abbaia"},
        {"splendono", "accese"}, set(),
    ]  # fmt: skip
    made = cimento.evaluate(suite, FakeScorer(cost))
    parts = {rate.items: rate for rate in lexicon_rates(made)}
    assert (parts[SHARED].n, parts[ALONE].n, parts["no critical words"].n) == (4, 0, 1)
    assert (parts[ALONE].accuracy, parts[ALONE].interval.reason) == (None, "nothing was scored")
    fewer = cimento.pairs([pairs[0], pairs[1], *PAIRS[2:]], name="it-words", language="it")
    made = cimento.evaluate(fewer, FakeScorer(cost))
    parts = {rate.items: rate for rate in lexicon_rates(made)}
    right = [scored(good, "lp", mark="keep") > scored(bad, "lp", mark="keep") for good, bad in
             [pairs[0], pairs[1], *PAIRS[2:]]]  # fmt: skip
    assert parts[ALONE].n + parts[SHARED].n == len(right)
    whole = (parts[ALONE].accuracy or 0) * parts[ALONE].n
    whole += (parts[SHARED].accuracy or 0) * parts[SHARED].n
    assert whole == pytest.approx(sum(right))

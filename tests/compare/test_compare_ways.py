"""One suite asked by probability and in words: agreement item by item."""

from __future__ import annotations

import dataclasses
import json
import math
from statistics import NormalDist

import pytest
from scipy import stats

import cimento
from cimento import UsageError, compare
from cimento.compare.ways import CELLS, compare_ways
from cimento.kinds.registry import load_suite, sentence_suite
from cimento.kinds.run import Run
from cimento.paired.item_outcomes import ItemOutcomes, without_restated
from cimento.paradigms.prompted.prompts import CHOICE, RATING, YES_NO, prompted_suite
from tests.helpers.command_line import invoke
from tests.helpers.made_runs import made_run
from tests.helpers.prompting import PAIRS, accepts, ask, first, knows, pairs

pytestmark = pytest.mark.usefixtures("fresh_cache")

BY_PROBABILITY = "++++++++----"
IN_WORDS = "+++++---+---"


@pytest.fixture(scope="module")
def probable(tmp_path_factory) -> Run:
    suite = cimento.pairs(PAIRS, name="it-few", language="it")
    return cimento.evaluate(suite, "demo-causal", output=tmp_path_factory.mktemp("probable"))


def marked(question, marks, values=(), **more):
    items = [str(number) for number in range(1, len(marks) + 1)]
    right = dict(zip(items, (mark == "+" for mark in marks), strict=True))
    return ItemOutcomes(
        suite="it-few", question=question, model="m", right=right,
        values=dict(zip(items, values, strict=False)), **more,
    )  # fmt: skip


def twelve():
    """Twelve pairs, whose sentences are of no matter here."""
    rows = [(f"Il numero {n} è pari.", f"Il numero {n} sono pari.") for n in range(1, 13)]
    return cimento.pairs(rows, name="it-few", language="it")


@pytest.fixture(scope="module")
def both_of_twelve():
    suite = twelve()
    made = made_run("m@1", [], suite="it-few")
    by_probability = dataclasses.replace(made, suite=suite)
    in_words = ask(prompted_suite(suite), knows, balance="rotated")
    return in_words, by_probability


def compared(both, words, probability):
    return compare_ways(*both, ({words.question: words}, {probability.question: probability}))


def test_kappa_agreement_and_cells_are_those_of_the_table(both_of_twelve):
    words, probability = marked(CHOICE, IN_WORDS), marked("prediction 0", BY_PROBABILITY)
    [one] = compared(both_of_twelve, words, probability)
    # scikit-learn 1.9.1: cohen_kappa_score of the two rows
    assert one.kappa.value == pytest.approx(0.33333333333333337)
    assert (one.n, one.equal, one.undecided) == (12, 8, 0)
    assert dict(zip(CELLS, one.cells, strict=True)) == {
        (True, True): ("1", "2", "3", "4", "5"),
        (True, False): ("6", "7", "8"),
        (False, True): ("9",),
        (False, False): ("10", "11", "12"),
    }
    # Wilson's interval of 8 of 12.
    assert (one.agreement.low, one.agreement.high) == pytest.approx(
        stats.binomtest(8, 12).proportion_ci(method="wilson")
    )
    # scipy 1.17: sqrt(2) norm.ppf(8.5 / 13)
    assert one.sensitivity_by_probability.value == pytest.approx(0.5596400803149529)


def test_clusters_make_the_interval_of_agreement_wider(both_of_twelve):
    clusters = {str(n): str((n - 1) // 2) for n in range(1, 13)}
    probability = marked("prediction 0", BY_PROBABILITY)
    widths = []
    for given in ({}, clusters):
        words = marked(CHOICE, "++++++----++", clusters=given)
        [one] = compared(both_of_twelve, words, probability)
        widths.append(one.agreement.high - one.agreement.low)
    assert widths[1] > widths[0]


def test_margins_are_correlated_where_both_have_them(both_of_twelve):
    bits = [3.0, 2.5, 1.0, 0.5, 4.0, 0.2, 1.5, 2.0, -1.0, -0.5, -2.0, -0.1]
    shares = [1.0, 0.75, 1.0, 0.625, 0.875, 0.5, 0.25, 0.375, 0.625, 0.125, 0.0, 0.25]
    [one] = compared(
        both_of_twelve, marked(CHOICE, IN_WORDS, shares), marked("p", BY_PROBABILITY, bits)
    )
    for kind, by in (("spearman", stats.spearmanr), ("pearson", stats.pearsonr)):
        assert one.correlations[kind].r == pytest.approx(by(bits, shares)[0])
        assert one.correlations[kind].low < one.correlations[kind].r < one.correlations[kind].high


def test_items_judged_one_way_only_are_counted(both_of_twelve):
    words = marked(CHOICE, IN_WORDS[:10])
    [one] = compared(both_of_twelve, words, marked("prediction 0", BY_PROBABILITY))
    assert (one.n, one.undecided) == (10, 2)
    [one] = compared(both_of_twelve, marked(CHOICE, IN_WORDS), marked("p", BY_PROBABILITY[:9]))
    assert (one.n, one.undecided) == (9, 3)


def test_items_whose_sentences_have_changed_are_left_out(both_of_twelve):
    in_words, by_probability = both_of_twelve
    items = by_probability.suite.items
    swapped = (dataclasses.replace(items[0], conditions=items[1].conditions), *items[1:])
    changed = dataclasses.replace(by_probability.suite, items=swapped)
    both = in_words, dataclasses.replace(by_probability, suite=changed)
    [one] = compared(both, marked(CHOICE, IN_WORDS), marked("p", BY_PROBABILITY))
    # Without the first of twelve, which both judge right.
    assert (one.n, one.equal, one.undecided) == (11, 7, 0)
    assert one.cells[CELLS.index((True, True))] == ("2", "3", "4", "5")


def test_runs_in_words_are_set_apart_unless_there_are_no_others(both_of_twelve, probable):
    in_words, _ = both_of_twelve
    assert without_restated([in_words, probable]) == ([probable], [in_words])
    assert without_restated([in_words, in_words]) == ([in_words, in_words], [])


def test_runs_are_put_side_by_side_in_either_order(probable):
    def half(prompt):
        return knows(prompt) if int(prompt.item) <= 3 else first(prompt)

    in_words = ask(pairs(), half)
    right = dict(probable.outcomes().select("item", "right").iter_rows())
    ways = [compare(*both).ways for both in ((in_words, probable), (probable, in_words))]
    assert ways[0] == ways[1]
    [one] = ways[0]
    assert (one.words, one.model_by_probability) == (CHOICE, probable.model)
    assert one.equal == sum(right[str(n)] == (n <= 3) for n in range(1, 7))
    number = NormalDist().inv_cdf((24 + 0.5) / 25) - NormalDist().inv_cdf((12 + 0.5) / 25)
    assert one.sensitivity_by_words.value == pytest.approx(number / math.sqrt(2))
    assert compare(in_words, probable).rates == ()


def test_every_form_is_beside_the_prediction_that_it_asks_again():
    """Two predictions, each of a pair of its own: the names go by conditions, not by order."""
    suite = sentence_suite(load_suite("it-subject-verb"))
    suite = dataclasses.replace(suite, items=suite.items[:6])
    by_probability = cimento.evaluate(suite, "demo-causal")

    def rule(prompt):
        return prompt.good if prompt.form == "choice" else accepts(prompt)

    in_words = ask(prompted_suite(suite), rule, task="all", balance="rotated")
    made = compare(in_words, by_probability).ways
    assert {(one.words, one.probability) for one in made} == {
        (f"{form}: match, not mismatch_{name}", name)
        for form in (CHOICE, YES_NO, RATING)
        for name in ("number", "person")
    }
    assert {len(one.cells) for one in made} == {4}


def test_values_of_single_sentences_are_compared_without_a_table():
    suite = sentence_suite(load_suite("it-acceptability"))
    suite = dataclasses.replace(suite, items=suite.items[:8])
    by_probability = cimento.evaluate(suite, "demo-causal")
    in_words = ask(prompted_suite(suite), lambda p: str(1 + len(p.body) % 7), balance="rotated")
    [one] = compare(in_words, by_probability).ways
    assert (one.words, one.n, one.cells) == (RATING, 0, ())
    assert one.correlations["spearman"].n == 8
    assert "only values" in one.reason


def test_items_with_other_sentences_are_not_compared(probable):
    other = prompted_suite(
        cimento.pairs([("Piove molto.", "Piovono molto.")] * 2, name="it-few", language="it")
    )
    with pytest.raises(UsageError, match="no item has the same sentences"):
        compare(ask(other, knows), probable)


def test_the_command_prints_the_table_its_items_and_json(probable, tmp_path, capsys):
    in_words = ask(pairs(), knows, output=tmp_path / "runs")
    folders = [str(in_words.folder), str(probable.folder)]
    assert invoke(["compare", *folders]) == 0
    printed = capsys.readouterr().out
    assert "asked in two ways: by probability, and in words" in printed
    assert "by probability only" in printed
    assert f"By probability {probable.model}, in words {in_words.model}." in printed
    assert invoke(["compare", *folders, "--items"]) == 0
    assert "Change of every item" not in capsys.readouterr().out
    assert invoke(["compare", *folders, "--json"]) == 0
    [one] = json.loads(capsys.readouterr().out)["ways"]
    assert one["words"] == CHOICE
    assert sum(map(len, one["cells"])) == one["n"] == 6


def test_neither_way_is_worse_than_the_other(probable, tmp_path, capsys):
    in_words = ask(pairs(), knows, output=tmp_path / "runs")
    folders = [str(probable.folder), str(in_words.folder)]
    assert invoke(["compare", *folders, "--fail-if-worse", "0"]) == 2
    assert "neither is before the other" in capsys.readouterr().err


def test_folders_of_runs_are_paired_by_what_they_are_about(probable, tmp_path):
    in_words = ask(pairs(), knows, output=tmp_path / "words")
    other = ask(prompted_suite(twelve()), knows, balance="rotated")
    renamed = dataclasses.replace(
        other.suite, meta=dataclasses.replace(other.suite.meta, name="x"), extra={
            **other.suite.extra, "asked_about": "it-many",
        }
    )  # fmt: skip
    made = compare([in_words, dataclasses.replace(other, suite=renamed)], [probable])
    assert [pair.first for pair in made.runs] == [f"it-few-prompted, {in_words.model}"]
    assert len(made.ways) == 1

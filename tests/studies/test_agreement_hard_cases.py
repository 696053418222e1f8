"""Targets that begin or end a sentence, have several words or uneven tokens: ratios by hand."""

from __future__ import annotations

import math

import pytest

from cimento import Condition, Item, Meta, Prediction, Region, Run, Suite, UsageError, evaluate
from cimento.studies.agreement.twins import agreement_run

FORMULA = "(2;%match%) < (2;%mismatch%)"

# Before the target, the target, after it; the target appears twice: right and wrong.
CASES = {
    "first word": ("", "Dorme", "Dormono", "il gatto della vicina."),
    "last word with its period": ("Le strade di montagna sono", "lunghe.", "lunga.", ""),
    "several words": ("I ragazzi", "si sono alzati", "si è alzato", "presto."),
    "more tokens in one condition": ("La maestra", "taglia", "tagliano", "la carta."),
    "elided": ("Cerco", "l'amica", "l'amico", "di Paola."),
}


def suite(*formulas: str) -> Suite:
    """Every second item has its conditions in the other order."""
    items = []
    for number, (name, (before, right, wrong, after)) in enumerate(CASES.items()):
        conditions = [
            Condition(condition, (Region(before), Region(target), Region(after)))
            for condition, target in (("match", right), ("mismatch", wrong))
        ]
        items.append(Item(name, tuple(conditions[:: -1 if number % 2 else 1])))
    return Suite(
        meta=Meta(name="hard", language="it"),
        region_names=("before", "target", "after"),
        predictions=tuple(map(Prediction, formulas)),
        items=tuple(items),
    )


@pytest.fixture(scope="module")
def run() -> Run:
    return evaluate(suite(FORMULA), "demo-causal")


def logprobs_nats(run: Run, name: str) -> dict[str, float]:
    """The sums over the target of both conditions, found by its place in the sentence."""
    before, right, wrong, after = CASES[name]
    tokens: dict[int, list[tuple[int, float]]] = {}
    for row in run.table("tokens").iter_rows(named=True):
        tokens.setdefault(row["request"], []).append((row["start"], row["logprob_nats"]))
    nats = {}
    for row in run.table("requests").filter(item=name, region=2).iter_rows(named=True):
        target = right if row["condition"] == "match" else wrong
        assert row["text"] == " ".join(filter(None, (before, target, after)))
        start = len(before) + 1 if before else 0
        end = start + len(target)
        inside = [value for at, value in tokens[row["request"]] if start <= at < end]
        nats[row["condition"]] = math.fsum(inside)
    return nats


@pytest.mark.parametrize("name", CASES)
def test_the_ratio_of_a_target_wherever_it_stands(run: Run, name: str) -> None:
    by_item = {ratio.item: ratio for ratio in agreement_run(run).ratios}
    sums = logprobs_nats(run, name)
    # The share that the target has of both probabilities.
    by_hand = 1 / (1 + math.exp(sums["mismatch"] - sums["match"]))

    assert by_item[name].mean == pytest.approx(by_hand, rel=1e-9)
    assert by_item[name].margins_bits[0] == pytest.approx(
        (sums["match"] - sums["mismatch"]) / math.log(2), rel=1e-9
    )


def test_tokens_of_the_target_are_counted_in_each_condition(run: Run) -> None:
    tokens = agreement_run(run).n_tokens
    assert set(tokens) == set(CASES)
    assert tokens["more tokens in one condition"] == {"match": 2, "mismatch": 3}


def test_the_period_of_the_last_word_can_be_left_out(run: Run) -> None:
    kept = {ratio.item: ratio.mean for ratio in agreement_run(run).ratios}
    dropped = {ratio.item: ratio.mean for ratio in agreement_run(run, final_marks="drop").ratios}

    assert kept["last word with its period"] != dropped["last word with its period"]
    assert kept["several words"] == dropped["several words"]


@pytest.mark.parametrize(
    ("formulas", "seen"),
    [
        (["(2;%match%) = (2;%mismatch%)"], None),
        (["(2;%match%) < (2;%mismatch%)", "(2;%mismatch%) < (2;%match%)"], "several conditions"),
    ],
)
def test_what_no_ratio_can_be_taken_of_is_refused(formulas: list[str], seen: str | None) -> None:
    judged = evaluate(suite(*formulas), "demo-causal")
    with pytest.raises(UsageError, match=seen):
        agreement_run(judged)


def test_a_conjunction_with_an_equality_is_judged_and_compares_one_alternative() -> None:
    """An equality of contexts beside the inequality: the contexts are equal, so it decides."""
    both = evaluate(suite(f"({FORMULA}) & ((1;%match%) = (1;%mismatch%))"), "demo-causal")
    alone = evaluate(suite(FORMULA), "demo-causal")

    verdicts = [run.outcomes()["verdict"].to_list() for run in (both, alone)]
    assert verdicts[0] == verdicts[1]


def test_predictions_that_contradict_each_other_are_said() -> None:
    run = evaluate(suite(FORMULA, "(2;%mismatch%) < (2;%match%)"), "demo-causal")
    assert any("no item can pass both" in warning for warning in run.summary().warnings)

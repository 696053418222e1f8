"""The mean probability ratio: golden vectors, hand calculation, and what it is undefined for."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import Condition, Item, Meta, Prediction, Region, Suite, UsageError
from cimento.io.values import NoValue, Unit
from cimento.measures.regions import RegionValues
from cimento.paradigms.regions.contrast import (
    Contrast,
    ItemRatio,
    find_contrast,
    items_with_other_contexts,
    probability_ratios,
)

surprisals = st.floats(0, 1e4)


def ratio_of(target: float, *others: float, unit: Unit = "bits") -> ItemRatio:
    """The ratio of one item whose regions cost so much."""
    names = [f"other {number}" for number in range(len(others))]
    costs = {
        name: (cost,) for name, cost in zip(["target", *names], (target, *others), strict=True)
    }
    values = RegionValues(unit=unit, metric="sum", values={"1": costs})
    [item] = probability_ratios(values, Contrast("target", tuple(names), (1,)))
    return item


def suite_of(*formulas: str, words: tuple[str, ...] = ("alta", "alte", "alto")) -> Suite:
    names = ("match", "number", "gender")
    conditions = tuple(
        Condition(name, (Region("La torre"), Region("era"), Region(word)))
        for name, word in zip(names, words, strict=True)
    )
    return Suite(
        meta=Meta(name="predicative"),
        region_names=("Subject", "Copula", "Predicative"),
        predictions=tuple(Prediction(formula) for formula in formulas),
        items=(Item("1", conditions),),
    )


@pytest.mark.golden
def test_the_published_vectors(shared: Path) -> None:
    folder = shared / "golden" / "syntaxgym" / "recipe"
    vectors = json.loads((folder / "ratio_vectors.json").read_text())["vectors"]
    assert vectors
    for vector in vectors:
        target = vector["target_region_surprisal"]
        others = vector["alternative_region_surprisals"]
        item = ratio_of(target, *others, unit=vector["base"])
        assert item.ratios == pytest.approx(vector["per_alternative"], abs=1e-15)
        assert item.mean == pytest.approx(vector["score_item"], abs=1e-15)


@pytest.mark.golden
def test_the_worked_suite(shared: Path) -> None:
    folder = shared / "golden" / "syntaxgym" / "recipe"
    worked = json.loads((folder / "ratio_vectors.json").read_text())["worked_suite"]
    names = ("match", "mismatch_num", "mismatch_gend", "mismatch_num_gend")
    values = {
        str(item["item_number"]): {
            name: (0.0, 0.0, item["region3_sum_bits"][name]) for name in names
        }
        for item in worked["items"]
    }
    suite = dataclasses.replace(
        suite_of(),
        items=(Item("1", tuple(Condition(name, (Region("x"),) * 3) for name in names)),),
        predictions=tuple(Prediction(formula) for formula in worked["formulas"]),
    )
    contrast = find_contrast(suite)
    items = probability_ratios(RegionValues(unit="bits", metric="sum", values=values), contrast)
    for computed, expected in zip(items, worked["items"], strict=True):
        assert computed.ratios == pytest.approx(expected["per_alternative"], abs=1e-15)
        assert computed.mean == pytest.approx(expected["score_item"], abs=1e-15)
    expected_mean = worked["suite_mean_probability_ratio"]
    means = [item.mean for item in items]
    assert sum(means) / len(means) == pytest.approx(expected_mean, abs=1e-15)


@given(target=surprisals, other=surprisals)
@settings(deadline=None)
def test_a_ratio_is_a_share_and_follows_the_sign(target: float, other: float) -> None:
    [ratio], [turned] = ratio_of(target, other).ratios, ratio_of(other, target).ratios
    assert 0 <= ratio <= 1
    assert ratio + turned == pytest.approx(1, abs=1e-15)
    if other - target > 1e-9:
        assert ratio > 0.5
    if other == target:
        assert ratio == 0.5


def test_bits_and_nats_are_the_same_probabilities() -> None:
    # 1/4 beside 1/12: three quarters. Both surprisals by hand.
    assert ratio_of(2, math.log2(12)).mean == pytest.approx(0.75, abs=1e-15)
    assert ratio_of(math.log(4), math.log(12), unit="nats").mean == pytest.approx(0.75)


def test_the_contrast_is_read_from_the_formulas() -> None:
    suite = suite_of("(3;%match%) < (3;%number%)", "(3;%gender%) > (3;%match%)")
    assert find_contrast(suite) == Contrast("match", ("number", "gender"), (3,))


def test_a_conjunction_names_several_alternatives() -> None:
    suite = suite_of("((3;%match%) < (3;%number%)) & ((3;%match%) < (3;%gender%))")
    assert find_contrast(suite).alternatives == ("number", "gender")


@pytest.mark.parametrize(
    ("formulas", "seen"),
    [
        (("(3;%match%) = (3;%number%)",), "is not '<' or '>'"),
        (("((3;%match%) < (3;%number%)) | ((3;%match%) < (3;%gender%))",), "is not '<' or '>'"),
        (("(3;%match%) + (2;%match%) < (3;%number%)",), "is not '<' or '>'"),
        (("(3;%match%) < (3;%number%)", "(3;%number%) < (3;%match%)"), "favor several"),
        (("(2;%match%) < (2;%number%)", "(3;%match%) < (3;%gender%)"), "name the regions 2, 3"),
        (("(*;%match%) < (*;%number%)",), r"name '\*'"),
        ((), "has no predictions"),
    ],
)
def test_what_is_ambiguous_is_asked_for(formulas: tuple[str, ...], seen: str) -> None:
    with pytest.raises(UsageError, match=seen):
        find_contrast(suite_of(*formulas))


def test_the_region_can_be_said() -> None:
    suite = suite_of("(*;%match%) < (*;%number%)")
    assert find_contrast(suite, regions=[3, 2]).regions == (2, 3)
    with pytest.raises(UsageError, match="has 3 regions"):
        find_contrast(suite, regions=[4])


def test_contexts_are_compared() -> None:
    suite = suite_of("(3;%match%) < (3;%number%)")
    contrast = find_contrast(suite)
    assert items_with_other_contexts(suite, contrast) == []
    item = suite.items[0]
    changed = dataclasses.replace(
        item.condition("number"), regions=(Region("Le torri"), Region("era"), Region("alte"))
    )
    other = dataclasses.replace(item, conditions=(item.condition("match"), changed))
    altered = dataclasses.replace(suite, items=(other,))
    assert items_with_other_contexts(altered, contrast) == ["1"]


def test_a_missing_value_is_no_ratio() -> None:
    values = RegionValues(
        unit="bits",
        metric="sum",
        values={
            "1": {"match": (1.0,), "number": (NoValue("not finite"),), "gender": (2.0,)},
            "2": {"match": (1.0,), "number": (2.0,), "gender": (1.0,)},
            "3": {"match": (1.0,), "number": (2.0,)},
        },
    )
    first, second, third = probability_ratios(values, Contrast("match", ("number", "gender"), (1,)))
    assert first.ratios == (None, pytest.approx(2 / 3))
    assert (first.mean, first.reason) == (None, "not finite")
    assert second.mean == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert (third.mean, third.reason) == (None, "the item has no condition 'gender'")


def test_only_sums_make_probabilities() -> None:
    values = RegionValues(unit="bits", metric="mean", values={})
    with pytest.raises(UsageError, match="only a sum"):
        probability_ratios(values, Contrast("match", ("number",), (1,)))

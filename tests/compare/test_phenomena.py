"""Phenomena over sets: means over paradigms, what intervals are for, and paired differences."""

from __future__ import annotations

import math
from collections.abc import Sequence

import polars as pl
import pytest

from cimento import Estimate
from cimento.compare.phenomena import (
    Paradigm,
    disagreements,
    leading_model,
    phenomenon_changes,
    phenomenon_rates,
)
from cimento.records.outcomes import OUTCOMES, rate
from cimento.statistics.design import Design
from cimento.statistics.differences import share_difference
from cimento.statistics.means import mean_of

MODELS = ("one", "two")


def rows_of(marks: str) -> pl.DataFrame:
    """Outcomes of items: ``+`` right, ``-`` wrong, ``?`` not scored."""
    verdicts = {"+": "pass", "-": "fail", "?": "unscored"}
    columns: dict[str, Sequence[object]] = {
        "suite": ["s"] * len(marks),
        "item": [str(k) for k in range(len(marks))],
        "question": ["good"] * len(marks),
        "method": [""] * len(marks),
        "verdict": [verdicts[mark] for mark in marks],
        "right": [{"+": True, "-": False, "?": None}[mark] for mark in marks],
        "value": [1.0 if mark == "+" else -1.0 for mark in marks],
        "unit": ["bits"] * len(marks),
        "reference": [None] * len(marks),
        "reason": [None] * len(marks),
        "cluster": [None] * len(marks),
    }
    return pl.DataFrame(columns, schema=OUTCOMES.polars())


def paradigm(name: str, *marks: str, phenomenon: str = "agreement", of: str = "set") -> Paradigm:
    """A paradigm on which one or two models answered."""
    rows = dict(zip(MODELS, map(rows_of, marks), strict=False))
    like = Estimate(suite=name, model="", question="good", chance=0.5)
    return Paradigm(
        set=of, suite=name, label=name, phenomenon=phenomenon, is_mapped=True, unit=name,
        rates={model: rate(table, like) for model, table in rows.items()}, rows=rows,
    )  # fmt: skip


def wilson(right: int, n: int) -> tuple[float, float]:
    """Wilson 1927, written out."""
    z = 1.959963984540054
    middle = (right + z * z / 2) / (n + z * z)
    half = z / (n + z * z) * math.sqrt(right * (n - right) / n + z * z / 4)
    return middle - half, middle + half


def test_a_single_paradigm_has_its_own_interval_for_other_items() -> None:
    [one] = phenomenon_rates([paradigm("a", "+" * 17 + "-" * 3 + "??")])
    assert (one.value, one.n_items, one.n_paradigms, one.about) == (0.85, 20, 1, "items")
    assert (one.low, one.high) == pytest.approx(wilson(17, 20))
    assert one.chance == 0.5
    assert one.certainty == pytest.approx(wilson(17, 20)[0] - 0.5)


def test_two_paradigms_have_the_interval_recovered_from_theirs() -> None:
    """Zou and Donner 2008: distances of a sum are the roots of sums of squares."""
    [one] = phenomenon_rates([paradigm("a", "+" * 8 + "-" * 2), paradigm("b", "+" * 30 + "-" * 30)])
    assert one.value == pytest.approx((0.8 + 0.5) / 2)
    (low, high), (bottom, top) = wilson(8, 10), wilson(30, 60)
    assert one.low == pytest.approx(0.65 - math.hypot(0.8 - low, 0.5 - bottom) / 2)
    assert one.high == pytest.approx(0.65 + math.hypot(high - 0.8, top - 0.5) / 2)
    assert one.about == "items"


def test_five_paradigms_have_an_interval_for_other_paradigms() -> None:
    right = [20, 18, 15, 19, 12]
    several = [paradigm(f"p{k}", "+" * n + "-" * (20 - n)) for k, n in enumerate(right)]
    [one] = phenomenon_rates(several, seed=3)
    mean = mean_of([n / 20 for n in right], Design.independent(5), seed=3)
    assert one.about == "paradigms"
    assert one.value == pytest.approx(sum(right) / 100)
    assert (one.low, one.high) == (mean.low, min(1.0, mean.high or 0))


def test_suites_of_the_same_items_count_once() -> None:
    first = paradigm("a", "+" * 20)
    twin = Paradigm(**{**{k: getattr(first, k) for k in Paradigm.__slots__}, "suite": "a-twin"})
    [one] = phenomenon_rates([first, twin, paradigm("b", "-" * 20)])
    assert (one.value, one.n_paradigms) == (0.5, 2)


def test_the_farther_above_chance_the_lower_end_is_the_earlier() -> None:
    rates = phenomenon_rates(
        [
            paradigm("open", "+-" * 20, phenomenon="open"),
            paradigm("few", "+" * 6 + "-", phenomenon="few"),
            paradigm("sure", "+" * 90 + "-" * 10, phenomenon="sure"),
            paradigm("against", "-" * 30, phenomenon="against"),
        ]
    )
    assert [one.phenomenon for one in rates] == ["sure", "few", "open", "against"]
    lower_ends = [wilson(90, 100), wilson(6, 7), wilson(20, 40), wilson(0, 30)]
    assert [one.above for one in rates] == pytest.approx([low - 0.5 for low, _ in lower_ends])
    assert rates[2].certainty is None


@pytest.mark.parametrize("best_is_last", [True, False])
def test_the_model_with_the_highest_mean_decides_the_order(*, best_is_last: bool) -> None:
    """The other one is above chance nowhere, and better where the best is worst."""
    marks = {"hard": ("+" * 25 + "-" * 15, "+-" * 20), "easy": ("+-" * 20, "+" * 39 + "-")}
    rates = phenomenon_rates(
        [
            paradigm(name, *(both if best_is_last else reversed(both)), phenomenon=name)
            for name, both in marks.items()
        ]
    )
    assert leading_model(rates) == MODELS[best_is_last]
    assert [one.phenomenon for one in rates] == ["easy", "easy", "hard", "hard"]


def test_what_is_sure_of_other_paradigms_is_before_what_is_sure_of_these() -> None:
    of_items = paradigm("alone", "+" * 100, phenomenon="these only")
    others = [
        paradigm(f"p{k}", "+" * (70 + k) + "-" * (30 - k), phenomenon="others too")
        for k in range(6)
    ]
    first, second = phenomenon_rates([of_items, *others])
    assert (first.phenomenon, first.about) == ("others too", "paradigms")
    assert (second.phenomenon, second.about) == ("these only", "items")
    assert (second.certainty or 0) > (first.certainty or 0) > 0


def test_models_are_compared_item_by_item() -> None:
    first, second = "+" * 20 + "-" * 10 + "?", "+" * 26 + "-" * 4 + "+"
    [change] = phenomenon_changes([paradigm("a", first, second)])
    gap = share_difference(
        [mark == "+" for mark in second[:30]],
        [mark == "+" for mark in first[:30]],
        Design.independent(30),
    )
    assert (change.value, change.low, change.high) == (gap.estimate, gap.low, gap.high)
    assert (change.about, change.p, change.p_corrected) == ("items", None, None)


def test_p_is_over_paradigms_and_corrected_over_phenomena() -> None:
    several = [
        paradigm(f"{name}{k}", "+" * (10 + k) + "-" * (10 - k), "+" * (n + k) + "-" * (20 - n - k),
                 phenomenon=name)
        for name, n in (("a", 14), ("b", 10))
        for k in (0, 1, 2, 3, 5, 6)
        if n + k <= 20
    ]  # fmt: skip
    for k, one in enumerate(several[:6]):  # not all gaps are alike
        rows = rows_of("+" * (15 + k % 3) + "-" * (5 - k % 3))
        like = one.rates["two"]
        several[k] = Paradigm(
            **{n: getattr(one, n) for n in Paradigm.__slots__ if n not in ("rates", "rows")},
            rates={**one.rates, "two": rate(rows, like)},
            rows={**one.rows, "two": rows},
        )
    first, second = phenomenon_changes(several, seed=1)
    gaps = [(one.rates["two"].value or 0) - (one.rates["one"].value or 0) for one in several[:6]]
    mean = mean_of(gaps, Design.independent(6), seed=1)
    assert first.p == pytest.approx(mean.p)
    assert first.value == pytest.approx(sum(gaps) / 6)
    # The second phenomenon has no differences at all, and so no test to correct for.
    assert (second.value, second.p) == (0.0, None)
    assert first.p_corrected == first.p


def test_sets_disagree_where_their_difference_is_no_matter_of_items() -> None:
    pairs = [
        paradigm("a", "+" * 95 + "-" * 5, of="first"),
        paradigm("b", "+" * 60 + "-" * 40, of="second"),
        paradigm("c", "+" * 94 + "-" * 6, of="third"),
    ]
    found = disagreements(pairs)
    assert [(one.first, one.second) for one in found] == [("first", "second"), ("third", "second")]
    (low, _), (_, top) = wilson(95, 100), wilson(60, 100)
    assert found[0].low == pytest.approx(0.35 - math.hypot(0.95 - low, top - 0.60))
    assert found[0].high == pytest.approx(
        0.35 + math.hypot(wilson(95, 100)[1] - 0.95, 0.60 - wilson(60, 100)[0])
    )

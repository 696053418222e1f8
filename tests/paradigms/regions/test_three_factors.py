"""Designs of three factors: a square, and a DD, for each level of the third."""

from itertools import product

import pytest

from cimento import Condition, Item, Meta, Region, Suite
from cimento.errors import InputError
from cimento.paradigms.regions.factorial import factorial
from cimento.suites.design import expected_of, squares, with_design
from cimento.suites.level_words import island_factors

FACTORS = {"clause": ("plain", "adjunct"), "filler": ("wh", "that"), "gap": ("full", "gap")}
BAD = ["plain_that_gap", "adjunct_that_gap"]


def suite(unacceptable=BAD):
    conditions = tuple(
        Condition(
            "_".join(levels),
            (Region(f"Words for {' '.join(levels)}."),),
            dict(zip(FACTORS, levels, strict=True)),
        )
        for levels in product(*FACTORS.values())
    )
    return Suite(
        meta=Meta("gaps", language="en"),
        region_names=("sentence",),
        predictions=(),
        items=(Item("1", conditions), Item("2", conditions)),
        factors=FACTORS,
        extra={"design": {"unacceptable": unacceptable}} if unacceptable else {},
    )


# Log-probabilities of wh_full, that_full, wh_gap and that_gap, in each clause of each item.
SCORES = {
    "1": {"plain": (-20.0, -18.0, -19.0, -25.0), "adjunct": (-22.0, -21.0, -23.0, -24.0)},
    "2": {"plain": (-30.0, -31.0, -28.0, -36.0), "adjunct": (-33.0, -30.0, -35.0, -32.0)},
}
ORDER = ("wh_full", "that_full", "wh_gap", "that_gap")


def test_dd_is_taken_in_each_level_of_the_third_factor():
    scores = {
        item: {
            f"{clause}_{cell}": value
            for clause, values in clauses.items()
            for cell, value in zip(ORDER, values, strict=True)
        }
        for item, clauses in SCORES.items()
    }
    plain, adjunct = factorial(suite(), scores)
    assert [one.name.split()[-1] for one in (plain, adjunct)] == ["plain", "adjunct"]
    # By hand: (wh_gap - that_gap) - (wh_full - that_full), the cost of both beyond each alone.
    by_hand = {"plain": (6.0 - -2.0, 8.0 - 1.0), "adjunct": (1.0 - -1.0, -3.0 - -3.0)}
    for effects in (plain, adjunct):
        dds = tuple(one.dd for one in effects.effects["raw"].items)
        assert dds == pytest.approx(by_hand[effects.square.within])
    assert plain.square.unacceptable.condition == "plain_that_gap"
    assert plain.square.cells[0].condition == "plain_wh_full"


def test_the_design_predicts_a_dd_for_each_level_and_says_its_bad_cells():
    designed = with_design(suite())
    names = [prediction.name for prediction in designed.predictions]
    assert [name for name in names if name.startswith("DD")] == [
        "DD of plain_that_gap", "DD of adjunct_that_gap",
    ]  # fmt: skip
    assert expected_of(designed) == (
        "expected to be the least acceptable: plain_that_gap and adjunct_that_gap"
    )


def test_three_factors_are_no_design_before_their_bad_conditions_are_named():
    assert squares(suite(unacceptable=None)) == ()


@pytest.mark.parametrize(
    "bad", [BAD[:1], ["plain_that_gap", "adjunct_wh_gap"], [*BAD, "plain_wh_gap"]]
)
def test_bad_conditions_must_differ_in_one_factor(bad):
    with pytest.raises(InputError, match="are not one for each level of one of three factors"):
        squares(suite(bad))


def test_names_of_three_parts_are_those_of_three_factors():
    names = ["_".join(levels) for levels in product(*FACTORS.values())]
    assert [*island_factors(names).values()] == [*FACTORS.values()]
    assert [len(levels) for levels in island_factors(["a_x", "a_y", "b_x", "b_y"]).values()] == [
        2,
        2,
    ]

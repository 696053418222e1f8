"""The units of figures of designs: surprisal as it is, in the unit of DD, and lines with names."""

import json

import pytest

from cimento.paradigms.regions.factorial import Factorial, factorial
from cimento.paradigms.regions.figures_conditions import interaction_figure
from tests.helpers.designs import island_suite, scores

ROWS = {"1": (-10.0, -11.0, -12.0, -20.0), "2": (-9.0, -14.0, -11.0, -13.0)}


def test_surprisal_is_drawn_in_the_unit_of_dd_with_its_own_sign():
    phenomena = factorial(island_suite({"se": [*ROWS]}), scores(ROWS))
    bits = Factorial(
        suite="s", model="m", measure="surprisal-bits", unit="bits", phenomena=phenomena
    )
    figure = interaction_figure(bits, "raw", bars="se")
    last = figure.frame.to_dicts()[3]
    # By hand: the mean of 20 and 13 bits; DD (20 - 12 - 1 + 13 - 11 - 5) / 2.
    assert (last["condition"], last["mean"], last["dd"]) == ("long_island", 16.5, 2.0)
    assert (last["low"], last["high"]) == pytest.approx((13.0, 20.0))
    text = json.dumps(figure.spec)
    assert "DD 2.00 bits, n 2, pairs 83%" in text
    assert "pairs: the bad cell is the higher one" in text
    assert "DD: how much further the dashed line rises than the solid one" in text
    means = [row["mean"] for row in figure.frame.to_dicts()[:4]]
    assert (means[3] - means[2]) - (means[1] - means[0]) == last["dd"]
    assert "structure: nonisland" in text

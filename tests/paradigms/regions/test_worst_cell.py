"""A DD above 0 whose bad cell is not the worst: every form of the verdict says which cell is."""

import pytest

from cimento.paradigms.regions.factorial import Factorial, dd_tests, factorial
from cimento.paradigms.regions.factorial_tables import headline_grid
from cimento.records.effects import DesignEffect, not_the_worst
from cimento.records.outcomes import Estimate
from cimento.report.findings import findings
from cimento.report.findings_designs import DesignResult, Designs
from cimento.report.terminal import on_terminal
from tests.helpers.designs import island_suite, scores

# Log-probabilities in the order plain, long, island, both. DD = (long - both) - (plain - island).
AS_EXPECTED = (-10.0, -12.0, -13.0, -30.0)  # 18 - -(-3) = 15; both changes are the worst
PLAIN_WORST = (-30.0, -12.0, -13.0, -20.0)  # 8 - (-17) = 25
ISLAND_WORST = (-11.0, -9.0, -40.0, -38.0)  # 29 - 29 = 0, and so none of the three below


def test_of(*rows):
    items = {str(number): row for number, row in enumerate(rows, 1)}
    suite = island_suite({"island": [*items]})
    phenomena = factorial(suite, scores(items), normalizations=("raw",))
    result = Factorial(suite="prova", model="m", measure="lp", unit="nats", phenomena=phenomena)
    [test] = dd_tests([result])
    return test


def varied(row):
    """Eight items around a row, so that DD varies between them."""
    return [(*row[:3], row[3] + (k % 4) / 10) for k in range(8)]


test_of.__test__ = False


def test_the_worst_cell_is_named_only_where_it_is_another_one():
    assert test_of(*varied(AS_EXPECTED)).worst == ""
    assert test_of(*varied(AS_EXPECTED)).expected == "long_island"
    assert test_of(*varied(PLAIN_WORST)).worst == "short_nonisland"
    assert test_of(*varied(ISLAND_WORST)).worst == "short_island"


def test_items_without_a_dd_do_not_count_for_the_worst_cell():
    without = (-900.0, -1.0, None, -2.0)
    assert test_of(*varied(AS_EXPECTED), without).worst == ""


def test_cells_that_are_alike_are_not_worse():
    assert test_of(*[(-20.0, -5.0 - k, -12.0, -20.0) for k in range(6)]).worst == ""


@pytest.mark.parametrize(("row", "is_said"), [(AS_EXPECTED, False), (PLAIN_WORST, True)])
def test_the_first_table_of_a_run_says_so(row, is_said):
    text = " ".join(on_terminal(headline_grid([test_of(*varied(row))])).split())
    assert "the effect" in text
    assert ("but the worst is short_nonisland" in text) == is_said
    assert ("(long_island) are not the least probable: those of short_nonisland" in text) == is_said


def effect(level, p, worst):
    estimate = Estimate(
        suite="s", model="m", question="DD", statistic="DD", unit="bits", level=level, value=5.0,
        low=2.0, high=8.0, p_corrected=p, n=8,
    )  # fmt: skip
    return DesignEffect(estimate, None, "long_island", worst)


def said(*effects):
    return findings([], designs=Designs((DesignResult("m", effects),))).parts[0].sentences[0]


def test_the_report_says_so_of_the_effects_that_are_there():
    why = not_the_worst("long_island", "short_island")
    assert said(effect("wh", 0.001, "short_island")).endswith(f"n 8); but {why}.")
    assert said(effect("wh", 0.001, "")).endswith("n 8).")
    assert "but" not in said(effect("wh", 0.4, "short_island"))
    both = said(effect("wh", 0.001, "short_island"), effect("np", 0.001, ""))
    assert both.endswith(f"; but in wh {why}.")

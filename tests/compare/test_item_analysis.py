"""Item analysis of a suite over models; oracles: hand calculation and numpy's correlation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import compare
from cimento.statistics.reliability import ALIKE, FEW_MODELS, item_analysis
from tests.helpers.made_runs import made_run, outcomes_of

ROWS = [
    # six models, the better ones to the right
    [False, False, True, True, True, True],
    [False, True, False, True, True, True],
    [True, True, True, True, True, True],
    [True, True, False, False, False, False],
    [False, False, False, False, False, False],
]


def test_by_hand():
    analysis = item_analysis(ROWS, seed=1)

    assert (analysis.models, analysis.items) == (6, 5)
    assert (analysis.all_pass, analysis.none_pass) == ((2,), (4,))
    # Totals 2, 3, 2, 3, 3, 3: variance 8/36. Shares 4/6, 4/6, 1, 2/6, 0: sum of p(1 - p) 24/36.
    assert analysis.kr20.value == pytest.approx(5 / 4 * (1 - 24 / 8))
    assert analysis.item_total[2] is None
    assert analysis.item_total[3] == pytest.approx(
        np.corrcoef(ROWS[3], np.sum([ROWS[k] for k in (0, 1, 2, 4)], axis=0))[0, 1]
    )
    # the fourth item is passed by the first two models, and the others by all but these
    assert analysis.against == (0, 3)


def test_few_models_have_counts_alone():
    analysis = item_analysis([row[:4] for row in ROWS], seed=1)

    assert (analysis.all_pass, analysis.none_pass) == ((2,), (4,))
    assert (analysis.kr20.value, analysis.halves.reliability, analysis.item_total) == (
        None,
        None,
        (),
    )
    assert analysis.reason == FEW_MODELS


def test_models_with_one_total_have_no_consistency():
    analysis = item_analysis([[True, False] * 3, [False, True] * 3], seed=1)

    assert (analysis.kr20.value, analysis.kr20.reason) == (None, ALIKE)


@given(st.integers(5, 9), st.integers(2, 12), st.integers(0, 1000))
@settings(deadline=None, max_examples=20)
def test_consistency_of_items_that_all_agree_is_one(models, items, seed):
    rows = [[model >= models // 2 for model in range(models)]] * items
    analysis = item_analysis(rows, seed=seed)

    assert analysis.kr20.value == pytest.approx(1.0)
    assert analysis.item_total == pytest.approx([1.0] * items)
    assert (analysis.all_pass, analysis.none_pass, analysis.against) == ((), (), ())


def test_a_ranking_has_the_analysis_of_its_items():
    columns = ["".join("+" if row[k] else "-" for row in ROWS) for k in range(6)]
    runs = [made_run(f"m{k}@1", outcomes_of(column)) for k, column in enumerate(columns)]
    (ranking,) = compare(runs).rankings

    assert ranking.items == ("0", "1", "2", "3", "4")
    assert ranking.analysis == item_analysis(ROWS, seed=0)

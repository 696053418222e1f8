"""Least squares with clusters, beside statsmodels."""

from __future__ import annotations

import pytest

from cimento.errors import UsageError
from cimento.statistics.regression import COLLINEAR, FEW_CLUSTERS, INTERCEPT, regress

OUTCOME = [1.2, 0.4, 2.5, 3.1, -0.3, 0.8, 1.9, 2.2, 0.1, 1.4, 2.8, 0.6]
TOKENS = [0, 1, 0, -1, 1, 1, 0, 0, 2, 0, -1, 1]
ZIPF = [0.5, -0.2, 0.1, 0.9, -1.1, 0.0, 0.7, 0.3, -0.6, 0.2, 1.0, -0.4]
ITEMS = [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]


def test_it_equals_statsmodels() -> None:
    # statsmodels 0.15.0: sm.OLS(OUTCOME, sm.add_constant(np.column_stack([TOKENS, ZIPF]))).fit(
    #     cov_type="cluster", cov_kwds={"groups": ITEMS}, use_t=True), then .params, .bse,
    # .conf_int(), .pvalues
    found = regress(OUTCOME, {"tokens": TOKENS, "zipf": ZIPF}, clusters=ITEMS)
    assert [each.name for each in found.coefficients] == [INTERCEPT, "tokens", "zipf"]
    assert [each.value for each in found.coefficients] == pytest.approx(
        [1.541157894736843, -0.6964210526315788, 0.7084210526315798]
    )
    assert [each.error for each in found.coefficients] == pytest.approx(
        [0.2694518856019991, 0.3510449949172523, 0.4542712329008742]
    )
    assert [(each.low, each.high) for each in found.coefficients] == [
        pytest.approx((0.8485097720303898, 2.233806017443296)),
        pytest.approx((-1.59881094005691, 0.20596883479375228)),
        pytest.approx((-0.4593203271155212, 1.8761624323786807)),
    ]
    assert [each.p for each in found.coefficients] == pytest.approx(
        [0.00228460050888122, 0.10406452169926775, 0.17963024024397964]
    )
    assert (found.n, found.n_clusters, found.reason) == (12, 6, None)


def test_a_constant_predictor_is_undefined() -> None:
    found = regress(OUTCOME, {"tokens": [2] * 12}, clusters=ITEMS)
    assert (found.coefficients, found.reason) == ((), COLLINEAR)


def test_few_clusters_are_undefined() -> None:
    found = regress(OUTCOME, {"tokens": TOKENS}, clusters=[1] * 6 + [2] * 6)
    assert (found.coefficients, found.reason) == ((), FEW_CLUSTERS)


def test_lengths_must_be_equal() -> None:
    with pytest.raises(UsageError, match="tokens has 2"):
        regress(OUTCOME, {"tokens": [1, 2]}, clusters=ITEMS)

"""Fewer than five independent units never give an interval or a p-value."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento.statistics.agreement import cohen_kappa, fleiss_kappa, krippendorff_alpha
from cimento.statistics.correlation import correlate, partial_correlation
from cimento.statistics.design import FEWEST_CLUSTERS, Design
from cimento.statistics.differences import (
    cochran_q,
    share_difference,
    share_test,
    unpaired_share_difference,
)
from cimento.statistics.intervals import counted_interval, share_interval
from cimento.statistics.means import bounded_mean, mean_of, t_test
from cimento.statistics.power import tost, tost_shares
from cimento.statistics.regression import regress
from cimento.statistics.resampling import bootstrap


def truths(x):
    return (np.asarray(x) > 0).tolist()


def counted(x, design):
    members = {name: [] for name in design.clusters}
    for name, value in zip(design.clusters, truths(x), strict=True):
        members[name].append(value)
    kinds = {}
    for values in members.values():
        kind = (sum(values), len(values))
        kinds[kind] = kinds.get(kind, 0) + 1
    return counted_interval(kinds)


CALLS = {
    "mean_of": lambda x, _, d: mean_of(x, d, seed=1),
    "t_test": lambda x, _, d: t_test(x, d),
    "bounded_mean": lambda x, _, d: bounded_mean(np.exp(-abs(x)), d, seed=1, draws=99),
    "tost": lambda x, _, d: tost(x, d, margin=0.5),
    "tost_shares": lambda x, y, d: tost_shares(truths(x), truths(y), d, margin=0.5),
    "share_interval": lambda x, _, d: share_interval(truths(x), d),
    "counted_interval": lambda x, _, d: counted(x, d),
    "share_difference": lambda x, y, d: share_difference(truths(x), truths(y), d),
    "unpaired_share_difference": lambda _x, _y, d: unpaired_share_difference(0.5, d.m, 0.8, 40),
    "share_test": lambda x, y, d: share_test(truths(x), truths(y), d),
    "cochran_q": lambda x, y, d: cochran_q(
        list(zip(truths(x), truths(y), truths(x * y), strict=True)), d, seed=1
    ),
    "cohen_kappa": lambda x, y, d: cohen_kappa(truths(x), truths(y), design=d),
    "fleiss_kappa": lambda x, y, d: fleiss_kappa(
        list(zip(truths(x), truths(y), strict=True)), design=d
    ),
    "krippendorff_alpha": lambda x, y, d: krippendorff_alpha(
        list(zip(x.round(), y.round(), strict=True)), scale="interval", design=d
    ),
    "pearson": lambda x, y, d: correlate(x, y, kind="pearson", design=d),
    "spearman": lambda x, y, d: correlate(x, y, kind="spearman", design=d),
    "kendall": lambda x, y, d: correlate(x, y, kind="kendall", design=d),
    "partial": lambda x, y, d: partial_correlation(x, y, x * y, design=d),
    "regress": lambda x, y, d: regress(x, {"y": y}, d),
    "bootstrap": lambda x, _, d: bootstrap(x, np.median, d, seed=1, draws=99),
}
FIELDS = ("low", "high", "p", "p_asymptotic", "coefficients")


def claims(answer):
    """Ends and p-values that were given."""
    return [name for name in FIELDS if getattr(answer, name, None) not in (None, ())]


@pytest.mark.parametrize("size", [1, 6])
@pytest.mark.parametrize("name", CALLS)
def test_fewer_than_five_say_why_there_is_none(name, size):
    generator = np.random.default_rng(8)
    for m in range(FEWEST_CLUSTERS):
        x, y = generator.normal(size=(2, m * size))
        design = Design(tuple(range(m * size)), tuple(np.repeat(range(m), size).tolist()))
        answer = CALLS[name](x, y, design)
        assert claims(answer) == []
        assert answer.reason


@pytest.mark.parametrize("name", CALLS)
def test_a_dozen_clusters_are_enough(name):
    x, y = np.random.default_rng(5).normal(size=(2, 48))
    design = Design(tuple(range(48)), tuple(np.repeat(range(12), 4).tolist()))
    answer = CALLS[name](x, y, design)
    assert claims(answer)
    assert answer.reason is None


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(CALLS) - {"unpaired_share_difference"}))
@given(
    rows=st.lists(
        st.tuples(st.sampled_from([-1e9, -2.0, 0.0, 1.0, 3.5]), st.integers(-1, 2)), max_size=20
    ),
    groups=st.integers(1, 20),
)
@settings(deadline=None)
def test_degenerate_columns_give_a_number_or_a_reason(name, rows, groups):
    x, y = (np.array([row[place] for row in rows], dtype=float) for place in (0, 1))
    design = Design(tuple(range(x.size)), tuple(place % groups for place in range(x.size)))
    answer = CALLS[name](x, y, design)
    numbers = [getattr(answer, field, None) for field in ("low", "high", "p", "statistic", "value")]
    assert all(number is None or np.isfinite(number) for number in numbers)
    if getattr(answer, "low", None) is not None:
        assert answer.low <= answer.high
    if not claims(answer):
        assert answer.reason

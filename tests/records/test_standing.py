"""No proportion is said to be above or below chance that its exact test does not bear out."""

import pytest
from scipy.stats import binomtest

from cimento.records.outcomes import Estimate
from cimento.records.standing import doubt_of, exact_p, standing_of
from cimento.records.wrong_side import wrong_sides
from cimento.report.findings import Headline, findings
from cimento.statistics.design import Design
from cimento.statistics.intervals import share_interval

CHANCES = (0.25, 1 / 3, 0.5)


def counted(right, n, chance):
    """A proportion of independent items with its own interval."""
    interval = share_interval([True] * right + [False] * (n - right), Design.independent(n))
    return Estimate(
        suite="s", model="m", question="number", role="headline", value=right / n, right=right,
        n=n, low=interval.low, high=interval.high, reason=interval.reason or "", chance=chance,
        near_tied=0,
    )  # fmt: skip


@pytest.mark.parametrize("chance", CHANCES)
@pytest.mark.parametrize("n", range(1, 13))
def test_nothing_is_said_of_few_items_that_the_exact_test_does_not_bear(n, chance):
    for right in range(n + 1):
        share = counted(right, n, chance)
        p = binomtest(right, n, chance).pvalue
        side = standing_of(share, chance)
        assert exact_p(share, chance) == pytest.approx(p)
        if side in {"above", "below"}:
            assert p <= 0.05
            assert (right / n > chance) == (side == "above")
            assert not share.low <= chance <= share.high
        said = " ".join(findings([Headline("m", share)]).parts[0].sentences)
        assert (", above chance" in said) == (side == "above")
        assert (", below chance" in said) == (side == "below")
        assert ("by the exact test" in said) == (doubt_of(share, chance) is not None)
        assert any("Below chance, surely" in one for one in wrong_sides([share])) == (
            side == "below"
        )


@pytest.mark.parametrize(
    ("right", "n", "side"),
    [
        (5, 5, "open"),  # binom.test(5, 5)$p.value in R: 0.0625
        (6, 6, "above"),  # binom.test(6, 6)$p.value: 0.03125
        (7, 8, "open"),  # binom.test(7, 8)$p.value: 0.0703125
        (1, 8, "open"),  # binom.test(1, 8)$p.value: 0.0703125
        (8, 8, "above"),  # binom.test(8, 8)$p.value: 0.0078125
        (0, 6, "below"),  # binom.test(0, 6)$p.value: 0.03125
        (4, 8, "open"),  # binom.test(4, 8)$p.value: 1
    ],
)
def test_sides_of_a_half(right, n, side):
    assert standing_of(counted(right, n, 0.5), 0.5) == side


def test_items_that_belong_together_have_no_exact_test():
    share = counted(7, 8, 0.5)
    together = Estimate(
        suite="s", model="m", question="q", value=0.875, low=0.6, high=0.97, right=7, n=8,
        clustered=True,
    )  # fmt: skip
    assert doubt_of(share, 0.5) == pytest.approx(0.0703125)
    assert exact_p(together, 0.5) is None
    assert standing_of(together, 0.5) == "above"
    assert standing_of(together, None) == "no baseline"
    assert exact_p(counted(3, 4, None), None) is None

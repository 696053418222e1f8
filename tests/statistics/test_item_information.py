"""What items tell: fit, standing from known items, and the shortest suite."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import optimize

from cimento.errors import UsageError
from cimento.statistics.item_information import ItemBank, item_fit, shortest_suite


def bank(items=60, *, interaction=0.0):
    generator = np.random.default_rng(4)
    return ItemBank(
        phenomenon=np.arange(items) % 3,
        difficulty=generator.normal(0, 1.5, items),
        discrimination=1 + 0.3 * generator.normal(size=items),
        model_sd=1.0,
        interaction_sd=interaction,
    )


def answers(known, abilities, seed=1):
    generator = np.random.default_rng(seed)
    shares = np.stack([known.expected(np.full(3, a)) for a in abilities], axis=1)
    return (generator.random(shares.shape) < shares).astype(float)


def test_infit_is_the_weighted_mean_square_by_hand():
    right = np.array([[1.0, 0.0, 1.0], [math.nan] * 3])
    probability = np.array([[0.5, 0.2, 0.9], [0.5] * 3])
    fit = item_fit(right, probability)
    assert fit.infit[0] == pytest.approx((0.25 + 0.04 + 0.01) / (0.25 + 0.16 + 0.09))
    assert math.isnan(fit.infit[1])
    assert fit.p[0] > 0.5


def test_answers_against_the_odds_have_a_large_infit():
    probability = np.tile(np.linspace(0.05, 0.95, 20), (2, 1))
    orderly = (probability[0] > 0.5).astype(float)
    fit = item_fit(np.stack([orderly, 1 - orderly]), probability)
    assert fit.infit[0] < 1 < fit.infit[1]
    assert fit.p[1] < 1e-4
    assert fit.p[0] > 0.9


def test_models_that_all_do_what_is_expected_are_orderly_however_few_they_are():
    fit = item_fit(np.zeros((1, 2)), np.full((1, 2), 0.01))
    assert fit.infit[0] < 0.02
    assert fit.p[0] == pytest.approx(1)


def test_the_chance_of_an_infit_is_that_of_all_answers_by_hand():
    probability = np.array([[0.1, 0.3, 0.8]])
    fit = item_fit(np.array([[0.0, 1.0, 1.0]]), probability)
    more = 0.0
    for cells in itertools.product((0.0, 1.0), repeat=3):
        chance = np.prod(np.where(np.array(cells) == 1, probability[0], 1 - probability[0]))
        as_far = item_fit(np.array([cells]), probability).infit[0] >= fit.infit[0] - 1e-9
        more += float(chance) if as_far else 0.0
    assert fit.p[0] == pytest.approx(more, abs=1e-6)


def test_a_standing_is_the_mode_that_a_general_optimizer_finds():
    known = bank()
    right = answers(known, [0.7])[:, 0]
    right[::4] = math.nan

    def lost(m):
        p = known.expected(np.full(3, m))
        terms = np.where(right == 1, np.log(p), np.log(1 - p))
        return m**2 / 2 - terms[np.isfinite(right)].sum()

    best = optimize.minimize_scalar(lost, bounds=(-4, 4), method="bounded").x
    standing = known.standing(right)
    assert standing.abilities == pytest.approx(np.full(3, best), abs=1e-3)
    assert standing.share == pytest.approx(known.expected(np.full(3, best)).mean(), abs=1e-4)


def test_intervals_of_shares_cover_what_models_would_get_right():
    known = bank(interaction=0.3)
    generator = np.random.default_rng(7)
    inside = 0
    for _ in range(200):
        abilities = generator.normal() + 0.3 * generator.normal(size=3)
        shares = known.expected(abilities)
        right = (generator.random(60) < shares).astype(float)
        right[30:] = math.nan
        standing = known.standing(right)
        inside += abs(standing.share - shares.mean()) <= standing.half
    assert 0.90 <= inside / 200 <= 0.99


def test_the_most_telling_items_leave_less_open_than_the_first_ones():
    known = bank()
    nothing = np.zeros(60, dtype=bool)
    chosen = known.most_telling([known.unknown()], nothing, most=12)
    assert len(set(chosen)) == 12
    right = answers(known, [0.0])[:, 0]

    def half(items):
        kept = np.full(60, math.nan)
        kept[list(items)] = right[list(items)]
        return known.standing(kept).half

    assert half(chosen) < half(range(12))


def test_a_short_suite_reaches_its_precision_and_keeps_the_order():
    known = bank()
    right = answers(known, [-1.5, -0.5, 0.5, 1.5])
    short = shortest_suite(known, right, precision=0.12)
    assert 3 < len(short.items) < 60
    assert short.reached < 0.14
    assert short.rank_correlation > 0.7
    closer = shortest_suite(known, right, precision=0.09)
    assert set(short.items) <= set(closer.items)
    assert len(closer.items) > len(short.items)


@pytest.mark.parametrize("precision", [0.0, 1.0, -0.1])
def test_a_precision_that_is_no_share_is_refused(precision):
    known = bank()
    with pytest.raises(UsageError, match="half the width"):
        shortest_suite(known, answers(known, [0.0, 1.0]), precision=precision)

"""Item-response models: full Bayes and lme4 as oracles, and recovery of what was simulated."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import integrate, stats

from cimento.errors import UsageError
from cimento.statistics.item_response import item_response
from cimento.statistics.response_effects import Responses
from cimento.statistics.response_estimates import RESIDUAL_VARIANCE
from cimento.statistics.response_likelihood import Likelihood, item_posterior
from cimento.statistics.response_testlets import Families

DATA = Path(__file__).parents[1] / "data" / "item_response.json"
ORACLE = json.loads(DATA.read_text("utf-8"))
RIGHT = np.array([[math.nan if c == "?" else float(c) for c in row] for row in ORACLE["right"]])
PHENOMENON = np.array(ORACLE["phenomenon"])


@pytest.fixture(scope="module", params=["rasch", "2pl"])
def fitted(request):
    fit = item_response(RIGHT, phenomenon=PHENOMENON, kind=request.param)
    return fit, ORACLE[request.param]


def simulate(seed, *, models=20, items=200, phenomena=10, slopes=0.0):
    """Answers, and what they were made from: difficulty for the average model, and ability."""
    generator = np.random.default_rng(seed)
    ability = generator.normal(0, 1, models)
    phenomenon = np.repeat(np.arange(phenomena), items // phenomena)
    hard = generator.normal(0, 1.5, phenomena)[phenomenon] + generator.normal(0, 2, items)
    a = 1 + slopes * generator.normal(size=items)
    shares = 1 / (1 + np.exp(hard[:, None] - a[:, None] * ability))
    right = (generator.random((items, models)) < shares).astype(float)
    return right, phenomenon, hard - a * ability.mean(), ability - ability.mean()


@pytest.mark.slow
def test_the_posterior_is_that_of_full_bayes(fitted):
    fit, oracle = fitted
    for name, located in (
        ("difficulty", fit.difficulty),
        ("ability", fit.ability),
        ("phenomenon", fit.phenomenon),
    ):
        mean, sd = (np.array(oracle[name][part]) for part in ("mean", "sd"))
        assert abs((located.value - mean) / sd).max() < 0.15, name
        assert abs(located.se / sd - 1).max() < 0.15, name


@pytest.mark.slow
def test_discriminations_are_those_of_full_bayes(fitted):
    fit, oracle = fitted
    if fit.kind == "rasch":
        assert fit.discrimination is None
        return
    mean, sd = (np.array(oracle["a"][part]) for part in ("mean", "sd"))
    assert np.corrcoef(fit.discrimination.value, mean)[0, 1] > 0.99
    assert abs((fit.discrimination.value - mean) / sd).max() < 0.35
    # Item 7 was made with a discrimination of -1.5.
    assert fit.backwards.argsort()[-2:].tolist().count(7) == 1


def test_spreads_are_those_of_full_bayes(fitted):
    fit, oracle = fitted
    for name, spread in fit.spreads.items():
        if name == "answer":
            continue
        mean, sd = oracle[f"s_{name}"]["mean"], oracle[f"s_{name}"]["sd"]
        assert abs(spread.sd - mean) < 0.5 * sd, name
        assert spread.low < spread.sd < spread.high


def test_abilities_are_ordered_as_by_lme4():
    fit = item_response(RIGHT, phenomenon=PHENOMENON)
    glmer = np.array(ORACLE["glmer"]["model"])
    assert np.corrcoef(fit.ability.value, glmer)[0, 1] > 0.999
    assert fit.spreads["item"].low < ORACLE["glmer"]["item_sd"] < fit.spreads["item"].high
    assert fit.spreads["model"].low < ORACLE["glmer"]["model_sd"] < fit.spreads["model"].high


def test_the_likelihood_of_an_item_is_the_integral_over_its_effects():
    right = np.array([[1.0, 0.0, 1.0, math.nan, 1.0]])
    ability = np.array([[-0.5, 0.2, 0.9, 3.0, 1.4]])
    sds = {"item": 1.3, "discrimination": 0.6}

    def normal(x):  # scipy's takes a hundred times as long for a single number
        return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)

    def density(z, v, *, slope=sds["discrimination"]):
        value = normal(v) * (normal(z) if slope else 1)
        for y, t in zip(right[0], ability[0], strict=True):
            if not math.isnan(y):
                p = 1 / (1 + math.exp(-((1 + slope * z) * t - 0.4 + sds["item"] * v)))
                value *= p if y else 1 - p
        return value

    both = integrate.dblquad(density, -9, 9, -9, 9, epsabs=1e-10)[0]
    alone = integrate.quad(lambda v: density(0.0, v, slope=0.0), -9, 9)[0]
    easiness = np.array([-0.4])
    two = item_posterior(right, ability, easiness, sds, np.zeros((1, 2)))
    one = item_posterior(right, ability, easiness, {"item": 1.3}, np.zeros((1, 1)))
    assert two.loglik[0] == pytest.approx(math.log(both), abs=1e-4)
    assert one.loglik[0] == pytest.approx(math.log(alone), abs=1e-8)


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("dimensions", [1, 2])
def test_gradient_and_curvature_are_the_differences_of_the_likelihood(dimensions, clustered):
    responses = Responses(
        right=RIGHT,
        phenomenon=PHENOMENON,
        family=np.arange(12) // 3,
        covariates=stats.zscore(np.arange(60.0))[:, None],
        # Clusters across phenomena, and items that stand alone.
        cluster=np.arange(60) % 9 - 1 if clustered else None,
    )
    groups = ("phenomenon", "model", "family", "interaction", *(("cluster",) if clustered else ()))
    likelihood = Likelihood(responses, groups, dimensions)
    sds = dict.fromkeys((*groups, "item", "discrimination"), 0.5)
    scales = likelihood.layout.scales(sds)
    z = np.random.default_rng(1).normal(0, 0.3, likelihood.layout.size)
    _, gradient, precision = likelihood._at(z, scales, sds)
    step = 1e-4
    for k in range(0, z.size, 7):
        move = np.zeros(z.size)
        move[k] = step
        up, down = (likelihood._at(z + sign * move, scales, sds) for sign in (1, -1))
        assert (up[0] - down[0]) / (2 * step) == pytest.approx(gradient[k], abs=0.02)
        assert (down[1] - up[1]) / (2 * step) == pytest.approx(precision[k], abs=0.15)


IN_FAMILIES = np.array([0, 0, 0, 1, 1])
"""Three respondents of one family, and two of another."""


def test_the_likelihood_of_an_item_is_the_integral_over_what_families_share():
    right = np.array([[1.0, 0.0, 1.0, math.nan, 1.0]])
    ability, easiness = np.array([[-0.5, 0.2, 0.9, 3.0, 1.4]]), np.array([-0.4])
    sds = {"item": 1.3, "testlet": 1.5}

    def of_family(family, v):
        def density(t):
            value = math.exp(-t * t / 2) / math.sqrt(2 * math.pi)
            for y, able, one in zip(right[0], ability[0], IN_FAMILIES, strict=True):
                if one == family and not math.isnan(y):
                    logit = able - 0.4 + sds["item"] * v + sds["testlet"] * t
                    value *= 1 / (1 + math.exp(-logit if y else logit))
            return value

        return integrate.quad(density, -8, 8)[0]

    def density(v):
        return stats.norm.pdf(v) * of_family(0, v) * of_family(1, v)

    nodes, weights = np.polynomial.legendre.leggauss(40)
    whole = sum(8 * w * density(8 * x) for x, w in zip(nodes, weights, strict=True))
    families = Families(IN_FAMILIES, np.eye(2)[IN_FAMILIES], sds["testlet"], 11)
    start = np.zeros((1, 3))
    made = item_posterior(right, ability, easiness, sds, start, nodes=15, families=families)
    assert made.loglik[0] == pytest.approx(math.log(whole), abs=1e-5)


@pytest.mark.parametrize("dimensions", [1, 2])
def test_with_families_gradient_and_curvature_are_the_differences_too(dimensions):
    responses = Responses(
        right=RIGHT[::3],
        phenomenon=PHENOMENON[::3],
        family=np.array([0] * 6 + [1] * 3 + [2, 3, 4]),
        covariates=np.zeros((20, 0)),
    )
    groups = ("phenomenon", "model", "family")
    likelihood = Likelihood(responses, groups, dimensions, nodes=9, testlet_nodes=9)
    sds = {**dict.fromkeys((*groups, "item", "discrimination"), 0.5), "testlet": 1.2}
    scales = likelihood.layout.scales(sds)
    z = np.random.default_rng(1).normal(0, 0.3, likelihood.layout.size)
    _, gradient, precision = likelihood._at(z, scales, sds)
    for k in range(0, z.size, 5):
        move = np.zeros(z.size)
        move[k] = step = 1e-4
        up, down = (likelihood._at(z + sign * move, scales, sds) for sign in (1, -1))
        assert (up[0] - down[0]) / (2 * step) == pytest.approx(gradient[k], abs=1e-3)
        assert (down[1] - up[1]) / (2 * step) == pytest.approx(precision[k], abs=0.05)


@pytest.mark.slow
def test_what_a_family_shares_on_items_is_found_and_widens_difficulties():
    generator = np.random.default_rng(5)
    family = np.array([0] * 8 + [1, 2])
    hard, ability = generator.normal(0, 1.2, 96), generator.normal(0, 1, 10)
    shared = generator.normal(0, 2, (96, 3))
    chances = 1 / (1 + np.exp(hard[:, None] - ability - shared[:, family]))
    right = (generator.random(chances.shape) < chances).astype(float)
    alone, fit = (item_response(right, family=one) for one in (None, family))
    truth = hard - ability.mean()
    inside = [
        ((f.difficulty.low <= truth) & (truth <= f.difficulty.high)).mean() for f in (alone, fit)
    ]
    assert 1.3 < fit.spreads["testlet"].sd < 3
    assert inside[0] < 0.85
    assert inside[1] > 0.9
    assert np.corrcoef(fit.shared.value[:, 0], shared[:, 0])[0, 1] > 0.6


@pytest.mark.slow
def test_a_small_simulation_is_recovered():
    right, phenomenon, hard, ability = simulate(3, models=20, items=60, phenomena=3)
    fit = item_response(right, phenomenon=phenomenon)
    inside = (fit.difficulty.low <= hard) & (hard <= fit.difficulty.high)
    assert np.corrcoef(fit.difficulty.value, hard)[0, 1] > 0.9
    assert inside.mean() > 0.88
    assert np.corrcoef(fit.ability.value, ability)[0, 1] > 0.9
    assert abs(fit.ability.value.mean()) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "slopes", "seeds"), [("rasch", 0.0, 20), ("2pl", 0.4, 6)])
def test_twenty_models_and_two_hundred_items_are_recovered(kind, slopes, seeds):
    inside, correlations = [], []
    for seed in range(seeds):
        right, phenomenon, hard, _ = simulate(seed, slopes=slopes)
        fit = item_response(right, phenomenon=phenomenon, kind=kind)
        inside.append(((fit.difficulty.low <= hard) & (hard <= fit.difficulty.high)).mean())
        correlations.append(np.corrcoef(fit.difficulty.value, hard)[0, 1])
    assert 0.93 <= np.mean(inside) <= 0.97
    # What twenty answers an item allow, which is less where items discriminate unequally.
    assert np.mean(correlations) >= (0.95 if kind == "rasch" else 0.94)


def clustered(seed):
    """Answers of 12 models to 40 clusters of three items, and what they were made from."""
    generator = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(40), 3)
    hard = generator.normal(0, 1.2, 40)[cluster] + generator.normal(0, 0.8, 120)
    ability = generator.normal(0, 1, 12)
    shares = 1 / (1 + np.exp(hard[:, None] - ability))
    right = (generator.random((120, 12)) < shares).astype(float)
    return right, cluster, hard - ability.mean()


def test_items_of_one_source_share_what_lme4_finds():
    """lme4 1.1-31, `glmer(y ~ 1 + (1|item) + (1|model) + (1|cluster), family = binomial)`.

    Its spreads are 0.686, 1.273 and 1.288: maximum likelihood, which has no prior.
    """
    right, cluster, hard = clustered(4)
    fit = item_response(right, cluster=cluster)
    for name, sd in {"item": 0.68558, "model": 1.27332, "cluster": 1.28786}.items():
        spread = fit.spreads[name]
        assert spread.low < sd < spread.high
        assert abs(math.log(spread.sd / sd)) < 0.1
    without = item_response(right)
    assert "cluster" not in without.spreads
    assert without.spreads["item"].sd > fit.spreads["item"].sd + 0.5
    errors = [((one.difficulty.value - hard) ** 2).mean() for one in (fit, without)]
    assert errors[0] < errors[1]
    inside = (fit.difficulty.low <= hard) & (hard <= fit.difficulty.high)
    assert inside.mean() > 0.88


@pytest.mark.parametrize("cluster", [np.arange(60), np.full(60, -1), np.arange(60) // 30])
def test_clusters_of_one_item_none_at_all_and_two_of_them_have_no_effect(cluster):
    assert "cluster" not in item_response(RIGHT, cluster=cluster).spreads


def test_a_covariate_that_makes_items_harder_is_found():
    generator = np.random.default_rng(5)
    length = generator.integers(4, 20, 80).astype(float)
    hard = 0.8 * stats.zscore(length) + generator.normal(0, 0.5, 80)
    shares = 1 / (1 + np.exp(hard[:, None] - generator.normal(0, 1, 15)))
    right = (generator.random((80, 15)) < shares).astype(float)
    fit = item_response(right, covariates=length[:, None])
    assert fit.slopes.low[0] < 0.8 < fit.slopes.high[0]
    assert fit.slopes.low[0] > 0.3
    assert fit.spreads["covariates"].share > 0.05


def test_shares_of_variance_sum_to_one_with_the_variance_of_one_answer(fitted):
    fit, _ = fitted
    assert sum(spread.share for spread in fit.spreads.values()) == pytest.approx(1)
    assert fit.spreads["answer"].sd == pytest.approx(math.sqrt(RESIDUAL_VARIANCE))


def test_ties_lie_between_right_and_wrong():
    right = RIGHT.copy()
    values = []
    for answer in (0.0, 0.5, 1.0):
        right[0, 0] = answer
        values.append(item_response(right).difficulty.value[0])
    assert values[0] > values[1] > values[2]


@pytest.mark.slow
def test_the_same_answers_in_another_order_give_the_same_fit():
    order = np.random.default_rng(2).permutation(60)
    one = item_response(RIGHT, phenomenon=PHENOMENON)
    other = item_response(RIGHT[order], phenomenon=PHENOMENON[order])
    assert other.difficulty.value == pytest.approx(one.difficulty.value[order], abs=2e-3)


@pytest.mark.parametrize(
    ("right", "reason"),
    [
        (np.ones((6, 3)), "all values are equal"),
        (np.array([[1.0], [0.0], [1.0], [0.0], [1.0]]), "answers of 1 model:"),
        (np.array([[1.0, 0.0], [0.0, 1.0]]), "2 items"),
        (np.full((6, 3), math.nan), "answers of 0 models"),
    ],
)
def test_what_cannot_be_fitted_has_a_reason(right, reason):
    fit = item_response(right)
    assert fit.difficulty is None
    assert reason in fit.reason


def test_discrimination_needs_four_models():
    fit = item_response(RIGHT[:, :3], kind="2pl")
    assert fit.reason == "answers of 3 models: discrimination needs 4 or more"
    assert item_response(RIGHT[:, :3]).reason is None


@pytest.mark.slow
def test_recovery_is_what_twenty_answers_an_item_allow():
    """Nobody can do better who knows abilities, phenomena, spreads: the posterior mean of one item.

    On these tables it correlates with the truth as our estimates do, which know none of these.
    """
    known, estimated = [], []
    for seed in range(6):
        right, phenomenon, hard, _ = simulate(seed, slopes=0.4)
        generator = np.random.default_rng(seed)
        ability = generator.normal(0, 1, 20)
        easiness = -generator.normal(0, 1.5, 10)[phenomenon]
        sds = {"item": 2.0, "discrimination": 0.4}
        spread = np.tile(ability, (200, 1))
        best = item_posterior(right, spread, easiness, sds, np.zeros((200, 2)), nodes=21)
        means = (best.weights * (-easiness[:, None] - best.easiness
                                 - best.discrimination * ability.mean())).sum(axis=1)  # fmt: skip
        known.append(np.corrcoef(means, hard)[0, 1])
        fit = item_response(right, phenomenon=phenomenon, kind="2pl")
        estimated.append(np.corrcoef(fit.difficulty.value, hard)[0, 1])
    assert np.mean(known) < 0.95
    assert np.mean(estimated) > np.mean(known) - 0.003


def test_values_beyond_right_and_wrong_are_refused():
    with pytest.raises(UsageError, match="one row per item"):
        item_response(np.full((6, 3), 2.0))

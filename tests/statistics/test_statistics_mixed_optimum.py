"""The optimum of mixed models at zero variances, and models that leave little or no residual."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, stats

from cimento.statistics.mixed import MixedFit, mixed_model


def small_variance(seed: int) -> tuple[np.ndarray, np.ndarray, int]:
    """A response in 6 to 24 groups of 2 to 5, of a variance between groups that is 0 or small."""
    generator = np.random.default_rng(seed)
    groups, size = int(generator.integers(6, 25)), int(generator.integers(2, 6))
    x = np.tile(np.linspace(-0.5, 0.5, size), groups)
    sd = generator.choice([0, 0.1, 0.3, 0.6])
    group = np.repeat(np.arange(groups), size)
    y = sd * generator.normal(size=groups)[group] + 0.3 * x + generator.normal(size=group.size)
    return y, x, size


def best_loglik(y: np.ndarray, x: np.ndarray, size: int) -> float:
    """The largest restricted log-likelihood of ``y ~ x + (1 | group)``, from a grid of variances.

    In balanced groups the covariance has two eigenvalues, 1 and 1 + size theta², and least squares
    estimate the fixed effects; x is the same in all groups.
    """
    table = y.reshape(-1, size)
    groups = len(table)
    design = np.column_stack([np.ones(size), x[:size]])
    between = size * ((table.mean(axis=1) - table.mean()) ** 2).sum()
    rest = table - table.mean(axis=1, keepdims=True)
    slope = np.linalg.lstsq(design, rest.mean(axis=0))[0][1]
    within = ((rest - slope * design[:, 1]) ** 2).sum()
    freedom = y.size - 2
    determinant = np.log(np.linalg.det(groups * design.T @ design))

    def deviance(theta: float) -> float:
        root = 1 + size * theta**2
        square = within + between / root
        # log|V| + log|X'V⁻¹X|, of which the intercept's part is divided by the root.
        logs = (groups - 1) * np.log(root) + determinant
        return logs + freedom * (1 + np.log(2 * np.pi * square / freedom))

    grid = [0.0, *np.geomspace(1e-3, 10, 400)]
    lowest = min(range(len(grid)), key=lambda place: deviance(grid[place]))
    around = grid[max(lowest - 1, 0)], grid[min(lowest + 1, len(grid) - 1)]
    optimum = optimize.minimize_scalar(
        deviance, bounds=around, method="bounded", options={"xatol": 1e-10}
    )
    return -min(optimum.fun, deviance(grid[lowest])) / 2


def fitted(y: np.ndarray, x: np.ndarray, size: int) -> MixedFit:
    groups = np.repeat(np.arange(y.size // size), size)
    columns = {"y": y.tolist(), "x": x.tolist(), "group": groups.tolist()}
    return mixed_model("y ~ x + (1 | group)", columns, satterthwaite=False)


def shortfall(seed: int) -> float:
    data = small_variance(seed)
    return best_loglik(*data) - fitted(*data).loglik


def test_a_small_variance_is_found_where_a_descent_stops_at_zero():
    # Seeds of the simulation below for which L-BFGS-B from 1, 0.2, 4 and 0.1 ends at zero.
    for seed in (10, 40, 71, 119, 234):
        assert abs(shortfall(seed)) < 1e-7
        assert not fitted(*small_variance(seed)).singular


@pytest.mark.slow
def test_no_fit_of_400_stops_at_a_zero_that_a_small_variance_beats():
    assert [seed for seed in range(400) if shortfall(seed) > 1e-7] == []


def rows(items: int, residual: float, seed: int = 1) -> dict[str, list[float]]:
    """Items in a 2 x 2 design, with intercepts and slopes of variance 1."""
    generator = np.random.default_rng(seed)
    item = np.repeat(np.arange(items), 4)
    a, b = np.tile([-0.5, -0.5, 0.5, 0.5], items), np.tile([-0.5, 0.5], 2 * items)
    y = generator.normal(size=items)[item] + generator.normal(size=items)[item] * a - 30
    y += residual * generator.normal(size=item.size)
    return {"y": y.tolist(), "a": a.tolist(), "b": b.tolist(), "item": item.tolist()}


@pytest.mark.parametrize("residual", [1, 1e-2, 1e-3, 1e-4, 1e-5])
def test_degrees_of_freedom_keep_their_digits_where_the_residual_is_small(residual):
    data = rows(20, residual)
    fit = mixed_model("y ~ a*b + (1 + a || item)", data)
    # Balanced: a and the intercept are tested by what they do in 20 items, b within them.
    differences = np.array(data["y"]).reshape(20, 4) @ [-0.5, -0.5, 0.5, 0.5]
    oracle = stats.ttest_1samp(differences, 0)
    assert fit.effect("a").freedom == pytest.approx(19, rel=0.01)
    assert fit.effect("a").p == pytest.approx(oracle.pvalue, rel=0.01)
    assert fit.effect("(Intercept)").freedom == pytest.approx(19, rel=0.01)
    assert fit.effect("a:b").freedom == pytest.approx(38, rel=0.01)


@pytest.mark.parametrize("formula", ["y ~ a*b + (1 + a || item)", "y ~ a*b + (1 + a | item)"])
@pytest.mark.parametrize("reml", [True, False])
def test_exact_sums_of_effects_have_no_p(formula, reml):
    fit = mixed_model(formula, rows(20, 0), reml=reml)
    assert fit.reason == "the model fits without any residual"
    assert (fit.fixed, fit.loglik, fit.converged) == ((), None, False)


def test_an_offset_changes_the_intercept_alone():
    near, far = rows(12, 0.5), rows(12, 0.5)
    far["y"] = [value + 1e6 for value in far["y"]]
    one, other = (mixed_model("y ~ a*b + (1 + a || item)", data) for data in (near, far))
    assert one.loglik == pytest.approx(other.loglik, abs=1e-6)
    for effect, same in zip(one.fixed[1:], other.fixed[1:], strict=True):
        assert effect.estimate == pytest.approx(same.estimate, abs=1e-8)
        assert effect.freedom == pytest.approx(same.freedom, rel=1e-6)

"""Linear mixed models beside those of ``lme-python``, another program for the same likelihood.

What lme4 itself says is in test_statistics_mixed.py for five formulas and one table. Here more
designs are compared on data of their own: with gaps, with few levels, with groups that do not
differ.
"""

from __future__ import annotations

import functools

import lme_python
import numpy as np
import polars as pl
import pytest

from cimento.statistics.mixed import mixed_model

CROSSED = "score ~ structure*distance + (1 | item) + (1 | person)"
SLOPES = "score ~ structure*distance + (1 + structure | item) + (1 | person)"
UNCORRELATED = "score ~ structure*distance + (1 + structure || item) + (1 | person)"
TWO_SLOPES = "score ~ structure*distance + (1 + structure | item) + (1 + distance | person)"


@functools.cache
def sample(seed: int, *, items: int = 24, people: int = 15, spread: float = 1.0, kept: float = 1.0):
    """A two by two design over items and people, of which some rows are missing."""
    generator = np.random.default_rng(seed)
    item, person, s, d = (
        axis.ravel()
        for axis in np.meshgrid(
            np.arange(items), np.arange(people), [-0.5, 0.5], [-0.5, 0.5], indexing="ij"
        )
    )
    score = 0.4 + 0.5 * s - 0.8 * d + 1.1 * s * d + generator.normal(size=item.size)
    score += spread * (
        generator.normal(size=items)[item] + 0.7 * generator.normal(size=people)[person]
    )
    score += spread * (0.9 * generator.normal(size=items)[item] * s)
    score += spread * (0.6 * generator.normal(size=people)[person] * d)
    keep = generator.random(item.size) < kept
    columns = {"score": score, "structure": s, "distance": d, "item": item, "person": person}
    rows = {name: column[keep].tolist() for name, column in columns.items()}
    return rows | {name: [f"{name}{level}" for level in rows[name]] for name in ("item", "person")}


DESIGNS = {
    "one group": ("score ~ structure*distance + (1 | item)", {"people": 1}),
    "no fixed effect": ("score ~ 1 + (1 | item) + (1 | person)", {}),
    "crossed": (CROSSED, {}),
    "crossed, with gaps": (CROSSED, {"kept": 0.4}),
    "few levels": (CROSSED, {"items": 4, "people": 3}),
    "slopes": (SLOPES, {}),
    "slopes, with gaps": (SLOPES, {"kept": 0.6}),
    "uncorrelated slopes": (UNCORRELATED, {}),
    "uncorrelated slopes, with gaps": (UNCORRELATED, {"kept": 0.6}),
    "slopes of both groups, with gaps": (TWO_SLOPES, {"kept": 0.8}),
}
# Observed at most: 5e-10 of a log-likelihood, 6e-8 of an estimate, 6e-6 of the others.
LIKELIHOOD, ESTIMATE, SPREAD, FREEDOM = 1e-8, 1e-6, 2e-5, 1e-4


@pytest.fixture(scope="module", autouse=True)
def _kernels_for_any_processor():
    """Have lme-python's own MKL use kernels that every processor has.

    Under ``AUTO,STRICT``, which cimento sets for torch, it takes kernels for AMD's FMA4 on AMD
    processors that have none, and the process ends.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MKL_CBWR", "COMPATIBLE")
        yield


def fit_by_lme(formula: str, rows, *, reml: bool):
    # By itself it stops some 1e-6 of a log-likelihood before the optimum.
    control = lme_python.FitControl(tolerance=1e-10, max_iterations=5_000)
    frame = pl.DataFrame(rows)
    fit = lme_python.lmer(formula, frame, reml=reml, control=control)
    fit.with_satterthwaite(frame)
    return fit


def covariances(fit) -> dict[tuple[str, str, str], float]:
    """The variances and covariances of our random effects, named as lme-python names them."""
    values = {("Residual", "", ""): fit.residual_sd**2}
    for term in fit.random:
        for i, name in enumerate(term.names):
            values[term.group, name, name] = term.sds[i] ** 2
            for j in range(i):
                value = term.correlations[i][j] * term.sds[i] * term.sds[j]
                values[term.group, name, term.names[j]] = value
    return values


def covariances_by_lme(fit) -> dict[tuple[str, str, str], float]:
    return {tuple(names): value for *names, value, _ in fit.var_corr}


@pytest.mark.parametrize("reml", [True, False])
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("design", DESIGNS)
def test_fits_are_those_of_lme_python(design, seed, reml):
    formula, shape = DESIGNS[design]
    rows = sample(seed, **shape)
    ours = mixed_model(formula, rows, reml=reml)
    theirs = fit_by_lme(formula, rows, reml=reml)

    assert ours.converged
    assert theirs.converged
    assert ours.loglik == pytest.approx(theirs.log_likelihood, rel=0, abs=LIKELIHOOD)
    # It names a product with a colon too many.
    assert [effect.name for effect in ours.fixed] == [n.rstrip(":") for n in theirs.fixed_names]
    effects = [(effect.estimate, effect.se, effect.freedom) for effect in ours.fixed]
    estimates, errors, freedoms = zip(*effects, strict=True)
    assert estimates == pytest.approx(theirs.coefficients, rel=0, abs=ESTIMATE)
    assert errors == pytest.approx(theirs.beta_se, rel=SPREAD)
    assert freedoms == pytest.approx(theirs.satterthwaite_dfs, rel=FREEDOM)
    assert covariances(ours) == pytest.approx(covariances_by_lme(theirs), rel=SPREAD, abs=SPREAD)


ITEM = ("item", "(Intercept)", "(Intercept)")


def test_a_spread_that_is_small_is_found_where_lme_python_stays_at_zero():
    rows = sample(1, spread=0.0)
    ours, theirs = mixed_model(CROSSED, rows), fit_by_lme(CROSSED, rows, reml=True)
    assert covariances(ours)[ITEM] == pytest.approx(0.0233**2, rel=0.01)
    assert covariances_by_lme(theirs)[ITEM] == pytest.approx(0, abs=1e-9)
    assert ours.loglik > theirs.log_likelihood + 0.005


@pytest.mark.parametrize("reml", [True, False])
def test_a_group_that_does_not_differ_has_no_spread_in_both(reml):
    rows = sample(2, spread=0.0)
    ours = mixed_model(CROSSED, rows, reml=reml)
    theirs = fit_by_lme(CROSSED, rows, reml=reml)
    assert ours.singular
    assert covariances(ours) == pytest.approx(covariances_by_lme(theirs), rel=SPREAD, abs=SPREAD)
    assert ours.loglik == pytest.approx(theirs.log_likelihood, rel=0, abs=LIKELIHOOD)

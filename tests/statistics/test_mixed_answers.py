"""Mixed models of right and wrong and of ratings: R's values, and data without a fit.

R's values are in tests/data/mixed_answers.json, made by scripts/oracles/mixed_answers.py.
"""

from __future__ import annotations

import importlib.util
import json
import math
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from scipy import optimize, special

from cimento import UsageError
from cimento.statistics import cumulative_mixed_model, logistic_mixed_model
from cimento.statistics.mixed import likelihood_ratio
from cimento.statistics.mixed_answers import SEPARATED

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "oracles" / "mixed_answers.py"
VALUES = ROOT / "tests" / "data" / "mixed_answers.json"


def oracle():
    spec = importlib.util.spec_from_file_location("mixed_answers_oracle", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


ORACLE = oracle()


def fitted(case):
    fit = logistic_mixed_model if case.categories == 2 else cumulative_mixed_model
    return fit(case.formula, case.columns())


def compare(case, expected, tolerance):
    fit = fitted(case)
    effects = [*fit.thresholds, *fit.fixed]
    assert fit.converged
    assert fit.loglik == pytest.approx(expected["loglik"][0], abs=tolerance)
    assert [one.estimate for one in effects] == pytest.approx(expected["estimates"], abs=tolerance)
    assert [one.se for one in effects] == pytest.approx(expected["errors"], abs=tolerance)
    sds = sorted(sd for term in fit.random for sd in term.sds)
    assert sds == pytest.approx(expected["sds"], abs=tolerance)
    assert fit.singular == (min(expected["sds"]) < 1e-3)


QUICK = {1, 3, 9, 12, 14, 40}


@pytest.mark.parametrize(
    "case",
    [
        case if case.seed in QUICK else pytest.param(case, marks=pytest.mark.slow)
        for case in ORACLE.CASES
    ],
    ids=lambda case: case.name,
)
def test_fits_are_those_of_glmer_and_of_clmm(case):
    compare(case, json.loads(VALUES.read_text())["cases"][case.name], 1e-4)


@pytest.mark.slow
def test_r_still_says_what_its_file_says(tmp_path):
    if shutil.which("Rscript") is None:
        pytest.skip("R is not installed")
    command = ["Rscript", "-e", ORACLE.NEEDED]
    if subprocess.run(command, capture_output=True, check=False).returncode:  # noqa: S603  # above
        pytest.skip("lme4, ordinal or numDeriv is not installed in R")
    said = ORACLE.of_r(tmp_path)
    for case in ORACLE.CASES:
        compare(case, said[case.name], 1e-4)


def test_the_likelihood_of_one_group_is_laplaces_of_the_integral():
    columns = {"right": [1, 1, 0, 1, 0, 0, 0, 1], "group": list("aaaabbbb"), "x": [0, 1] * 4}
    fit = logistic_mixed_model("right ~ x + (1 | group)", columns)
    intercept, slope = (effect.estimate for effect in fit.fixed)
    sd = fit.random[0].sds[0]
    total = 0.0
    for start in (0, 4):
        y, x = columns["right"][start : start + 4], columns["x"][start : start + 4]

        def joint(u, y=y, x=x):
            odds = [intercept + slope * one + sd * u for one in x]
            return sum(
                math.log(special.expit(o if a else -o)) for o, a in zip(odds, y, strict=True)
            )

        mode = float(optimize.minimize_scalar(lambda u, f=joint: u * u / 2 - f(u), tol=1e-10).x)
        odds = [intercept + slope * one + sd * mode for one in x]
        curve = 1 + sd**2 * sum(special.expit(o) * special.expit(-o) for o in odds)
        total += joint(mode) - mode**2 / 2 - math.log(curve) / 2
    assert fit.loglik == pytest.approx(total, abs=1e-6)


def test_two_categories_are_right_and_wrong():
    columns = ORACLE.CASES[0].columns()
    one = logistic_mixed_model("y ~ x + (1 | item)", columns)
    other = cumulative_mixed_model("y ~ x + (1 | item)", columns)
    assert one.loglik == pytest.approx(other.loglik, abs=1e-7)
    assert one.effect("x").se == pytest.approx(other.effect("x").se, rel=1e-5)
    assert one.effect("(Intercept)").estimate == pytest.approx(
        -other.thresholds[0].estimate, abs=1e-4
    )


def test_units_of_a_column_do_not_matter():
    columns = ORACLE.CASES[2].columns()
    fit = logistic_mixed_model("y ~ x + (0 + x | person)", columns)
    thousand = {**columns, "x": [1000 * one for one in columns["x"]]}
    same = logistic_mixed_model("y ~ x + (0 + x | person)", thousand)
    assert same.loglik == pytest.approx(fit.loglik, abs=1e-7)
    assert 1000 * same.effect("x").estimate == pytest.approx(fit.effect("x").estimate, rel=1e-4)
    assert 1000 * same.random[0].sds[0] == pytest.approx(fit.random[0].sds[0], rel=1e-3)


def test_a_likelihood_ratio_test_takes_fits_of_answers():
    columns = ORACLE.CASES[0].columns()
    large = logistic_mixed_model("y ~ x + (1 | item)", columns)
    small = logistic_mixed_model("y ~ 1 + (1 | item)", columns)
    test = likelihood_ratio(small, large)
    assert test.freedom == 1
    assert test.statistic == pytest.approx(large.effect("x").statistic ** 2, rel=0.1)


def test_an_effect_that_decides_every_answer_has_no_fit():
    x = [0, 1] * 10
    items = [place // 2 for place in range(20)]
    for fit in (logistic_mixed_model, cumulative_mixed_model):
        none = fit("y ~ x + (1 | item)", {"y": x, "x": x, "item": items})
        assert none.reason == none.doubt == SEPARATED
        assert not none.fixed
    # One level is always right, the other is not: its estimate has no limit either.
    always = [1 if one else place % 4 // 2 for place, one in enumerate(x)]
    assert logistic_mixed_model("y ~ x + (1 | item)", {"y": always, "x": x, "item": items}).reason


def test_items_that_are_always_right_or_always_wrong_have_no_estimates():
    right = [1] * 60 + [0] * 60 + [1, 0, 0, 1]
    columns = {"y": right, "x": [0.5, -0.5] * 62, "item": [place // 6 for place in range(124)]}
    fit = logistic_mixed_model("y ~ x + (1 | item)", columns)
    assert "log-odds: nearly all answers are certain" in fit.doubt
    assert fit.fixed == ()


def test_a_fit_at_a_variance_of_zero_is_called_singular():
    case = next(case for case in ORACLE.CASES if case.seed == 40)
    assert fitted(case).doubt == "singular fit"


def test_answers_that_cannot_be_fitted_say_why():
    columns = {"y": [1, 2, 3, 1], "g": list("aabb"), "x": [1, 0, 1, 0]}
    with pytest.raises(UsageError, match="values other than 0 and 1"):
        logistic_mixed_model("y ~ x + (1 | g)", columns)
    many = {"y": list(range(60)), "g": [n % 5 for n in range(60)], "x": [n % 2 for n in range(60)]}
    assert "60 different ratings" in cumulative_mixed_model("y ~ x + (1 | g)", many).reason
    assert logistic_mixed_model("y ~ 1 + (1 | g)", {**columns, "y": [1] * 4}).reason

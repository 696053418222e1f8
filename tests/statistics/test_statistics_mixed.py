"""Linear mixed models: lme4's optimum, lmerTest's degrees of freedom, and what cannot be fitted."""

from __future__ import annotations

import csv
import functools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from cimento import UsageError
from cimento.statistics.design import codes
from cimento.statistics.mixed import (
    SATTERTHWAITE,
    WALD,
    likelihood_ratio,
    mixed_model,
    sum_coded,
)
from cimento.statistics.mixed_deviance import GroupBlock, cross_products, profiled_deviance
from cimento.statistics.mixed_formula import parse_formula

FITS = Path(__file__).parents[1] / "data/lme4/fits.tsv"
FORMULAS = {
    "items": "score ~ structure*distance + (1 | item)",
    "crossed": "score ~ structure*distance + (1 | item) + (1 | person)",
    "slopes": "score ~ structure*distance + (1 + structure | item) + (1 | person)",
    "maximal": "score ~ structure*distance + (1 + structure*distance | item)"
    " + (1 + structure*distance | person)",
    "uncorrelated": "score ~ structure*distance + (1 + structure || item) + (1 | person)",
}


def noise(k, a):
    x = math.sin(k * a) * 43758.5453
    return x - math.floor(x) - 0.5


@functools.cache
def columns():
    """The data of tests/data/lme4/fits.R."""
    rows = []
    for person in range(1, 11):
        for item in range(1, 13):
            for s in (-0.5, 0.5):
                for d in (-0.5, 0.5):
                    score = 0.3 + 0.5 * s - 0.8 * d + 1.1 * s * d
                    score += noise(item, 78.233) + 1.2 * noise(person, 37.719)
                    score += 0.9 * noise(item, 11.135) * s + 0.8 * noise(person, 91.77) * s * d
                    score += 1.5 * noise(1000 * item + 10 * person + 4 * s + 2 * d, 12.9898)
                    rows.append((score, s, d, f"i{item}", f"p{person}"))
    names = ("score", "structure", "distance", "item", "person")
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def of_person(person):
    keep = [name == person for name in columns()["person"]]
    return {
        name: [value for value, wanted in zip(column, keep, strict=True) if wanted]
        for name, column in columns().items()
    }


def recorded(name):
    rows = [line.split("\t") for line in FITS.read_text("utf-8").splitlines()]
    return {what: float(value) for fit, what, value in rows if fit == name}


def flat(fit):
    """A fit with the names that fits.R gives."""
    values = {"loglik": fit.loglik, "singular": float(fit.singular), "sd Residual": fit.residual_sd}
    for effect in fit.fixed:
        values[f"estimate {effect.name}"] = effect.estimate
        values[f"se {effect.name}"] = effect.se
        values[f"df {effect.name}"] = effect.freedom
        values[f"p {effect.name}"] = effect.p
    for term in fit.random:
        for i, name in enumerate(term.names):
            values[f"sd {term.group} {name}"] = term.sds[i]
            for j in range(i):
                values[f"r {term.group} {term.names[j]} {name}"] = term.correlations[i][j]
    return values


@pytest.mark.parametrize(
    "name", ["items", "items-ml", "crossed", "crossed-ml", "slopes", "uncorrelated"]
)
def test_fits_are_lme4s_and_tests_lmertests(name):
    expected = recorded(name)
    data = of_person("p3") if name.startswith("items") else columns()
    fit = mixed_model(FORMULAS[name.removesuffix("-ml")], data, reml=not name.endswith("-ml"))
    values = flat(fit)
    assert values.keys() == expected.keys()
    assert fit.converged
    for what, value in expected.items():
        kind = what.split()[0]
        # Degrees of freedom rest on numerical second derivatives in both programs.
        tolerance = {"se": 2e-5, "df": 2e-3, "p": 5e-3, "sd": 2e-4, "r": 5e-3}.get(kind, 2e-6)
        assert values[what] == pytest.approx(value, rel=tolerance), what


def test_a_maximal_model_reaches_lme4s_optimum_and_says_that_it_is_singular():
    expected = recorded("maximal")
    fit = mixed_model(FORMULAS["maximal"], columns())
    values = flat(fit)
    assert fit.singular
    assert expected["singular"] == 1
    assert fit.loglik > expected["loglik"] - 1e-5
    for effect in fit.fixed:
        assert effect.estimate == pytest.approx(expected[f"estimate {effect.name}"], abs=1e-4)
        assert effect.se == pytest.approx(expected[f"se {effect.name}"], rel=1e-3)
        assert effect.freedom == pytest.approx(expected[f"df {effect.name}"], rel=0.05)
    for what, value in expected.items():
        if what.startswith("sd"):
            assert values[what] == pytest.approx(value, abs=2e-3), what


def test_in_a_balanced_design_the_interaction_is_the_mean_difference_of_differences():
    data = of_person("p5")
    scores = np.array(data["score"]).reshape(12, 4)
    gaps = scores[:, 3] - scores[:, 2] - scores[:, 1] + scores[:, 0]
    fit = mixed_model(FORMULAS["items"], data)
    effect = fit.effect("distance:structure")
    assert effect.name == "structure:distance"
    assert effect.estimate == pytest.approx(gaps.mean())
    # With an intercept per item the error is that of items by conditions: 3 (12 - 1) degrees.
    assert effect.freedom == pytest.approx(33, rel=1e-3)
    assert effect.method == SATTERTHWAITE
    assert effect.p == pytest.approx(2 * stats.t.sf(abs(effect.statistic), effect.freedom))


def test_one_value_a_group_and_condition_is_the_paired_t_test():
    generator = np.random.default_rng(2)
    base = generator.normal(size=15)
    first, second = base + generator.normal(size=15), base + 0.7 + generator.normal(size=15)
    fit = mixed_model(
        "y ~ c + (1 | item)",
        {
            "y": [*first, *second],
            "c": [-0.5] * 15 + [0.5] * 15,
            "item": [*range(15), *range(15)],
        },
    )
    oracle = stats.ttest_rel(second, first)
    effect = fit.effect("c")
    assert effect.statistic == pytest.approx(oracle.statistic, rel=1e-6)
    assert effect.freedom == pytest.approx(14, rel=1e-4)
    assert effect.p == pytest.approx(oracle.pvalue, rel=1e-4)


def test_without_satterthwaite_p_is_named_as_normal():
    fit = mixed_model(FORMULAS["items"], of_person("p3"), satterthwaite=False)
    effect = fit.effect("structure")
    assert effect.freedom is None
    assert effect.method == WALD
    assert effect.p == pytest.approx(2 * stats.norm.sf(abs(effect.statistic)))


@pytest.mark.parametrize("reml", [True, False])
def test_the_gradient_is_that_of_the_deviance(reml):
    data = columns()
    design = np.column_stack([np.ones(480), data["structure"], data["distance"]])
    blocks = [
        GroupBlock(design, *codes(data["item"])),
        GroupBlock(design[:, :2], *codes(data["person"])),
        GroupBlock(design[:, 2:], *codes(data["person"])),
    ]
    made = cross_products(blocks, design, np.array(data["score"]))
    theta = np.random.default_rng(1).normal(0.5, 0.3, 10)
    profiled = profiled_deviance(theta, made, reml=reml)
    for place in range(theta.size):
        step = np.zeros(theta.size)
        step[place] = 1e-5
        ahead, behind = (profiled_deviance(theta + way * step, made, reml=reml) for way in (1, -1))
        slope = (ahead.deviance - behind.deviance) / 2e-5
        assert profiled.gradient[place] == pytest.approx(slope, abs=1e-5)


def test_the_deviance_is_that_of_the_normal_distribution():
    data = of_person("p4")
    x = np.column_stack([np.ones(48), data["structure"]])
    y = np.array(data["score"])
    level, levels = codes(data["item"])
    made = cross_products([GroupBlock(np.ones((48, 1)), level, levels)], x, y)
    profiled = profiled_deviance(np.array([0.7]), made, reml=False)
    z = np.eye(levels)[level]
    covariance = (profiled.residual / 48) * (0.49 * z @ z.T + np.eye(48))
    oracle = stats.multivariate_normal(x @ profiled.beta, covariance).logpdf(y)
    assert -profiled.deviance / 2 == pytest.approx(oracle)


def test_nested_models_are_compared_by_likelihood():
    small = mixed_model("score ~ structure+distance + (1 | item)", of_person("p3"), reml=False)
    large = mixed_model(FORMULAS["items"], of_person("p3"), reml=False)
    test = likelihood_ratio(small, large)
    assert test.freedom == 1
    assert test.p == pytest.approx(stats.chi2.sf(2 * (large.loglik - small.loglik), 1))
    with pytest.raises(UsageError, match="reml=False, the smaller one first"):
        likelihood_ratio(large, small)


def test_what_cannot_be_fitted_has_a_reason():
    data = of_person("p3")
    reason = mixed_model("score ~ structure + (1+structure*distance | item)", data).reason
    assert reason == "48 observations for 48 random effects of 'item': leave some of them out"
    flat_scores = {**data, "score": [1.0] * 48}
    assert mixed_model(FORMULAS["items"], flat_scores).reason == "all values are equal"
    twice = {**data, "same": [2 * value for value in data["structure"]]}
    reason = mixed_model("score ~ structure + same + (1 | item)", twice).reason
    assert reason == "a fixed effect is constant, or a sum of others"
    reason = mixed_model("score ~ structure + (1 | person)", data).reason
    assert reason == "there are fewer than two levels of 'person'"
    assert mixed_model(FORMULAS["items"], {**data, "score": list(data["structure"])}).fixed == ()


def test_a_random_effect_that_is_not_there_is_singular():
    generator = np.random.default_rng(12)
    fits = [
        mixed_model(
            "y ~ x + (1 | item)",
            {
                "y": generator.normal(size=40).tolist(),
                "x": [-0.5, 0.5] * 20,
                "item": [number // 4 for number in range(40)],
            },
        )
        for _ in range(8)
    ]
    singular = [fit for fit in fits if fit.singular]
    assert 0 < len(singular) < 8
    for fit in singular:
        assert fit.random[0].sds[0] == pytest.approx(0, abs=1e-4)
        assert fit.converged


def test_formulas_are_read_as_lme4_reads_them():
    parsed = parse_formula("y ~ a*b + a:c + (0 + a | g) + (1 + a || h)")
    assert parsed.fixed == ((), ("a",), ("b",), ("a", "b"), ("a", "c"))
    assert [(term.terms, term.group) for term in parsed.random] == [
        ((("a",),), "g"),
        (((),), "h"),
        ((("a",),), "h"),
    ]
    three = parse_formula("y ~ 0 + a*b*c + (1|g)").fixed
    assert three == (("a",), ("b",), ("c",), ("a", "b"), ("a", "c"), ("b", "c"), ("a", "b", "c"))
    assert parse_formula("y ~ (1 | g)").fixed == ((),)


@pytest.mark.parametrize(
    ("formula", "seen"),
    [
        ("y = a + (1|g)", "no 'response ~'"),
        ("y ~ a + b", "no random effect"),
        ("y ~ a^2 + (1|g)", r"'a\^2' is not an effect"),
        ("y ~ a + (1|g h)", "'g h' is not a column name"),
        ("y ~ 0 + (1|g)", "no fixed effect"),
    ],
)
def test_other_formulas_are_refused(formula, seen):
    with pytest.raises(UsageError, match=seen):
        parse_formula(formula)


def test_missing_columns_and_effects_are_named():
    with pytest.raises(UsageError, match="Did you mean 'distance'"):
        mixed_model("score ~ distanc + (1|item)", columns())
    with pytest.raises(UsageError, match="not all values are numbers"):
        mixed_model("score ~ person + (1|item)", columns())
    with pytest.raises(UsageError, match="Did you mean 'structure'"):
        mixed_model(FORMULAS["items"], of_person("p3")).effect("structures")


def test_sum_coding():
    assert sum_coded(["long", "short", "long"], high="long") == [0.5, -0.5, 0.5]
    with pytest.raises(UsageError, match="two levels"):
        sum_coded(["a", "b", "c"], high="a")


def human(shared):
    path = shared / "data/islands/english/sprouse2016_en_ratings.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["structure"] != "filler"]
    return [row for row in rows if row["judgment"] not in {"", "NA"}]


def judged(rows):
    return {
        "z": [float(row["zscore_published"]) for row in rows],
        "structure": sum_coded([row["structure"] for row in rows], high="nonisland"),
        "distance": sum_coded([row["distance"] for row in rows], high="long"),
        "participant": [row["participant"] for row in rows],
        "item": [(row["dependency"], row["island"], row["item_number"]) for row in rows],
    }


@pytest.mark.golden
def test_crossed_models_of_human_judgments(shared):
    expected = json.loads(
        (shared / "golden/islands/human_english_sprouse2016.json").read_text("utf-8")
    )["phenomena"]
    rows = human(shared)
    names = {"intercept": "(Intercept)", "interaction": "structure:distance"}
    for phenomenon, values in expected.items():
        dependency, island = phenomenon.split("_", 1)
        here = [row for row in rows if (row["dependency"], row["island"]) == (dependency, island)]
        fit = mixed_model("z ~ structure*distance + (1|participant) + (1|item)", judged(here))
        lme = values["lme_crossed"]
        assert fit.converged
        assert fit.loglik == pytest.approx(lme["reml_loglik"], abs=1e-4)
        for key, value in lme["estimates"].items():
            effect = fit.effect(names.get(key, key))
            assert effect.estimate == pytest.approx(value, abs=2e-5)
            assert effect.se == pytest.approx(lme["se"][key], abs=2e-5)
        assert fit.random[0].sds[0] == pytest.approx(lme["sd_participant"], abs=2e-5)
        assert fit.random[1].sds[0] == pytest.approx(lme["sd_item"], abs=2e-5)


@pytest.mark.golden
@pytest.mark.slow
def test_a_maximal_model_of_all_human_judgments(shared):
    # R 4.2.2, lme4 1.1-31: logLik(lmer(z ~ structure*distance + (1+structure*distance|participant)
    # + (1+structure*distance|item))) of the 3,515 target judgments is -3270.22694646, interaction
    # 0.6126035 (0.0781184), singular.
    fit = mixed_model(
        "z ~ structure*distance + (1+structure*distance|participant) + (1+structure*distance|item)",
        judged(human(shared)),
    )
    assert fit.loglik >= -3270.226947
    effect = fit.effect("structure:distance")
    assert (effect.estimate, effect.se) == pytest.approx((0.6126035, 0.0781184), rel=1e-4)
    assert effect.freedom == pytest.approx(69.43, rel=0.01)
    assert fit.singular


@pytest.mark.golden
def test_the_three_way_term_of_a_published_study(shared):
    golden = json.loads((shared / "golden/islands/wh_islands_wilcox2023.json").read_text("utf-8"))
    path = shared / "data/islands/wilcox_style/wilcox2023_wh_islands_by_item.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    checked = 0
    for model, values in golden["models"].items():
        if not values.get("reml_estimate"):
            continue
        here = [row for row in rows if row["model"] == model]
        fit = mixed_model(
            "surprisal ~ wh*gap*island + (1+gap||item)",
            {
                "surprisal": [float(row["surprisal"]) for row in here],
                "wh": [float(row["wh"] != "that") for row in here],
                "gap": [float(row["gap"] == "gap") for row in here],
                "island": [float(row["island"] != "nocomp") for row in here],
                "item": [row["item"] for row in here],
            },
        )
        effect = fit.effect("wh:gap:island")
        assert effect.estimate == pytest.approx(values["published_estimate"], abs=1e-6)
        assert effect.se == pytest.approx(values["reml_se"], rel=1e-4)
        # Published by lmerTest.
        assert effect.p == pytest.approx(values["published_p"], rel=0.01)
        assert fit.residual_sd == pytest.approx(values["sd_residual"], rel=1e-4)
        assert fit.random[1].sds[0] == pytest.approx(values["sd_gap_slope"], rel=1e-4)
        checked += 1
    assert checked >= 4

"""Mixed models of designs; oracles: lme4, and the t test that balanced data must give."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from scipy import stats

from cimento.paradigms.regions.factorial import (
    BY_CLUSTER,
    INTERCEPTS,
    SLOPES,
    Factorial,
    design_models,
    factorial,
)
from cimento.statistics.design import Design
from cimento.statistics.means import t_test
from tests.helpers.designs import island_suite, scores

ROWS = {
    "1": (-10.0, -11.5, -12.0, -20.0),
    "2": (-9.0, -14.0, -11.0, -17.0),
    "3": (-1.0, -2.0, -2.5, -9.0),
    "4": (-7.0, -6.0, -9.0, -12.5),
    "5": (-4.5, -8.0, -4.0, -11.0),
}


def result(rows, *, suite=None) -> Factorial:
    made = suite or island_suite({"se": list(rows)})
    return Factorial(
        suite="s", model="m", measure="lp", unit="nats", phenomena=factorial(made, rows)
    )


def test_with_slopes_the_interaction_is_the_t_test_of_dd_over_items():
    one = result(scores(ROWS))
    plain, slopes = design_models([one])
    assert (plain.fit.formula, slopes.fit.formula) == (INTERCEPTS, SLOPES)
    dds = one.phenomena[0].effects["raw"].item_dds
    test = t_test(dds, Design.independent(len(dds)))
    assert slopes.interaction is not None
    assert slopes.interaction.estimate == pytest.approx(sum(dds) / len(dds))
    assert slopes.interaction.statistic == pytest.approx(test.statistic, rel=1e-4)
    assert slopes.interaction.freedom == pytest.approx(4.0, rel=1e-3)
    assert plain.interaction is not None
    assert plain.interaction.estimate == pytest.approx(slopes.interaction.estimate)


def clustered(sizes, *, sd, seed):
    """A null design in clusters: DD varies by item with variance 4 and by cluster with this sd."""
    generator = np.random.default_rng(seed)
    clusters = {
        f"{cluster}-{number}": f"v{cluster}"
        for cluster, size in enumerate(sizes)
        for number in range(size)
    }
    common = {name: sd * generator.normal() for name in dict.fromkeys(clusters.values())}
    rows = {
        item: tuple(
            (generator.normal(size=4) + common[verb] * np.array([1, -1, -1, 1]) / 4).tolist()
        )
        for item, verb in clusters.items()
    }
    return result(scores(rows), suite=island_suite({"se": list(rows)}, clusters=clusters))


def test_a_dd_that_differs_between_clusters_is_tested_over_clusters():
    one = clustered([5] * 8, sd=3, seed=4)
    plain, slopes = design_models([one])
    by_cluster = "(1 + structure * distance || cluster)"
    assert plain.formula == f"score ~ structure * distance + (1 | item) + {by_cluster}"
    assert slopes.fit.formula == f"{SLOPES} + {BY_CLUSTER}"
    dds = np.reshape(one.phenomena[0].effects["raw"].item_dds, (8, 5)).mean(axis=1)
    oracle = stats.ttest_1samp(dds, 0)
    # In clusters of one size the model's test is that of the clusters' means.
    assert slopes.interaction.estimate == pytest.approx(dds.mean())
    assert slopes.interaction.statistic == pytest.approx(oracle.statistic, rel=1e-4)
    assert slopes.interaction.freedom == pytest.approx(7, rel=1e-3)
    assert slopes.interaction.p == pytest.approx(oracle.pvalue, rel=1e-3)


# In clusters of one size the test is that of the clusters' means, as above.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "sd"),
    [([1, 2, 3, 5, 7, 8], 2.0), ([1, 1, 1, 2, 2, 3, 4, 5, 6, 8] * 2, 1.3)],
)
def test_a_dd_that_differs_between_clusters_is_not_found_in_null_data(sizes, sd):
    trials = 200
    rejected = [0, 0]
    for seed in range(trials):
        for place, model in enumerate(design_models([clustered(sizes, sd=sd, seed=seed)])):
            rejected[place] += model.interaction.p <= 0.05
    # 3 to 7%, and two standard errors of 200 trials.
    slack = 2 * (0.05 * 0.95 / trials) ** 0.5
    for count in rejected:
        assert 0.03 - slack <= count / trials <= 0.07 + slack


def test_few_clusters_have_no_model():
    one = clustered([5] * 4, sd=1, seed=1)
    reasons = {model.fit.reason for model in design_models([one])}
    assert reasons == {"4 clusters: an interval needs 5 or more"}


def test_what_cannot_be_fitted_says_why():
    gap = {**ROWS, **{key: (*ROWS[key][:3], None) for key in ROWS}}
    plain, _ = design_models([result(scores(gap))])
    assert (plain.interaction, plain.fit.reason) == (None, "long_island: not asked")
    same = dict.fromkeys(ROWS, (1.0, 1.0, 1.0, 1.0))
    assert all(model.fit.reason for model in design_models([result(scores(same))]))


@pytest.mark.golden
def test_random_intercepts_are_those_of_lme4(shared):
    # R 4, lme4 1.1-31: lmer(lp ~ second*first + (1|item), d[d$island==i,]) with first = .5 for
    # long, -.5 for short, and second = .5 for nonisland, -.5 for island; estimate, se, logLik
    expected = {
        "adjunct": (4.375, 1.8135003, -70.2604708),
        "complex_np": (4.5, 1.8269895, -70.4679694),
        "subject": (4.5, 1.8272949, -70.4726497),
        "whether": (4.5, 1.7755627, -69.6685088),
    }
    path = shared / "golden" / "islands" / "pipeline_B_input.csv"
    by_item: dict[str, dict[str, float]] = {}
    items: dict[str, list[str]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            item = f"{row['island']}-{row['item']}"
            by_item.setdefault(item, {})[row["condition"]] = float(row["lp"])
            if item not in items.setdefault(row["island"], []):
                items[row["island"]].append(item)
    models = design_models([result(by_item, suite=island_suite(items))], formulas=[INTERCEPTS])
    for model in models:
        estimate, se, loglik = expected[model.phenomenon.name]
        assert model.interaction is not None
        assert model.interaction.estimate == pytest.approx(estimate)
        assert model.interaction.se == pytest.approx(se, abs=1e-5)
        assert model.fit.loglik == pytest.approx(loglik, abs=1e-6)

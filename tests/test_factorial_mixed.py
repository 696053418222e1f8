"""Mixed models of designs; oracles: lme4, and the t test that balanced data must give."""

from __future__ import annotations

import csv

import pytest

from cimento.statistics.design import Design
from cimento.statistics.means import t_test
from cimento.verdicts.factorial import Factorial, factorial
from cimento.verdicts.factorial_mixed import INTERCEPTS, SLOPES, design_models
from tests.designs import island_suite, scores

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


def test_what_cannot_be_fitted_says_why():
    gap = {**ROWS, **{key: (*ROWS[key][:3], None) for key in ROWS}}
    plain, _ = design_models([result(scores(gap))])
    assert (plain.interaction, plain.fit.reason) == (None, "long_island: not asked")
    same = dict.fromkeys(ROWS, (1.0, 1.0, 1.0, 1.0))
    assert all(each.fit.reason for each in design_models([result(scores(same))]))


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
    found: dict[str, dict[str, float]] = {}
    items: dict[str, list[str]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            item = f"{row['island']}-{row['item']}"
            found.setdefault(item, {})[row["condition"]] = float(row["lp"])
            if item not in items.setdefault(row["island"], []):
                items[row["island"]].append(item)
    models = design_models([result(found, suite=island_suite(items))], formulas=[INTERCEPTS])
    for model in models:
        estimate, se, loglik = expected[model.phenomenon]
        assert model.interaction is not None
        assert model.interaction.estimate == pytest.approx(estimate)
        assert model.interaction.se == pytest.approx(se, abs=1e-5)
        assert model.fit.loglik == pytest.approx(loglik, abs=1e-6)

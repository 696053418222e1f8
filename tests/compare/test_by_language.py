"""Analyses of suites in several languages: models that know one of them, and items by language."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cimento import Meta, analyze
from cimento.compare.analysis_tables import analysis_grids
from cimento.statistics.item_response import item_response
from tests.helpers.made_runs import MadeSuite, made_run, outcomes_of

N = 30
BAD = range(6)
"""Items of the Russian suite that better models fail."""
KNOWS = {"it": range(8), "ru": range(8, 14)}
"""Models, by the language that they were trained on; others know both."""


@pytest.fixture(scope="module")
def runs():
    """Runs of 18 models on a suite in each of two languages, of one phenomenon."""
    generator = np.random.default_rng(7)
    able = generator.normal(0, 1, 18)
    made = []
    for language in KNOWS:
        others = next(models for other, models in KNOWS.items() if other != language)
        on = able + np.array([-2.5 if m in others else 1.5 for m in range(18)])
        on -= on.mean()
        sign = np.array([-1 if language == "ru" and k in BAD else 1 for k in range(N)])
        logits = sign[:, None] * on - generator.normal(0, 0.7, N)[:, None]
        right = generator.random((N, 18)) < 1 / (1 + np.exp(-logits))
        suite = MadeSuite(Meta(name=f"{language}-s", language=language, phenomenon="agreement"))
        for model, column in enumerate(right.T):
            marks = "".join("+" if one else "-" for one in column)
            made.append(replace(made_run(f"m{model}", outcomes_of(marks)), suite=suite))
    return made


@pytest.fixture(scope="module")
def found(runs):
    return analyze(runs)


def test_a_phenomenon_in_two_languages_counts_as_one_in_each(runs, found):
    assert {one.phenomenon for one in found.phenomena} == {"agreement (it)", "agreement (ru)"}
    alone = analyze([run for run in runs if run.suite_name == "it-s"], kind="rasch")
    assert [one.phenomenon for one in alone.phenomena] == ["agreement"]
    assert (alone.languages, alone.in_languages) == ((), ())


def test_models_are_better_in_the_language_that_they_were_trained_on(found):
    assert len(found.in_languages) == 36
    for one in found.in_languages:
        model = int(one.model.removeprefix("m"))
        trained = next((name for name, models in KNOWS.items() if model in models), None)
        if trained is not None:
            assert (one.beyond.value > 0) == (trained == one.language)
    sure = [one for one in found.in_languages if one.beyond.low > 0 or one.beyond.high < 0]
    assert len(sure) >= 24
    assert sure == list(found.in_languages[: len(sure)])


def test_backwards_items_are_counted_in_their_language(runs, found):
    backwards = [(one.suite, int(one.item)) for one in found.backwards]
    assert backwards
    assert all(suite == "ru-s" and item in BAD for suite, item in backwards)
    counts = {one.language: one.backwards for one in found.languages}
    assert counts == {"it": 0, "ru": len(backwards)}
    for one in found.languages:
        shares = [
            run.outcomes()["right"].mean()
            for run in runs
            if run.suite.meta.language == one.language
        ]
        assert (one.suites, one.items) == (1, N)
        assert one.right == pytest.approx(np.mean(shares))
    shown = analysis_grids(found)
    assert [row[0] for row in shown["languages"].text] == ["it", "ru"]
    assert "of 36 abilities differ surely from the model's own" in shown["in-languages"].notes[0]


def test_the_ability_in_an_area_is_the_mean_over_its_phenomena():
    generator = np.random.default_rng(1)
    right = generator.integers(0, 2, (40, 5)).astype(float)
    area = np.array([0, 0, 1])
    fit = item_response(right, phenomenon=np.repeat([0, 1, 2], [10, 10, 20]), area=area)
    on = fit.by_phenomenon.value.reshape(5, 3)
    means = np.stack([on[:, :2].mean(axis=1), on[:, 2]], axis=1)
    assert fit.by_area.value.reshape(5, 2) == pytest.approx(means)
    beyond = fit.beyond.value.reshape(5, 2)
    assert beyond == pytest.approx(means - fit.ability.value[:, None])

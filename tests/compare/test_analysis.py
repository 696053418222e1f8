"""Items x models x phenomena: from runs to the table that is analyzed, and to what is shown."""

from __future__ import annotations

import math
from dataclasses import replace

import altair as alt
import numpy as np
import polars as pl
import pytest

from cimento import Estimate, Item, Meta, Suite, analyze, evaluate
from cimento.compare.analysis import analyze_table
from cimento.compare.analysis_tables import FIGURES, analysis_grids, analysis_section, notable_items
from cimento.compare.answer_table import Respondent, answer_table, respondents_of
from cimento.compare.figures_analysis import information_figure, wright_map
from cimento.errors import InputError, UsageError
from cimento.judgments import BETTER, Judgment
from cimento.report.grid import grid_as_text
from cimento.suites import (
    BAD,
    GOOD,
    PAIR_PREDICTION,
    Condition,
    Prediction,
    Region,
    pair_conditions,
)
from cimento.testing.models import uniform_scorer
from tests.helpers.made_runs import made_run, outcomes_of


def runs_of(table, *, suite="s", **more):
    """Runs of models named m0, m1 ... from one row of marks each."""
    return [made_run(f"m{j}", outcomes_of(row, **more), suite=suite) for j, row in enumerate(table)]


ROWS = ("+++++++-+=", "++++++---?", "+++-+-----", "++--------", "+-+++-+---")


def test_the_table_has_items_in_rows_and_models_in_columns():
    table = answer_table(runs_of(ROWS))
    assert table.right.shape == (10, 5)
    assert table.right[:, 3].tolist() == [1, 1] + [0] * 8
    assert math.isnan(table.right[9, 1])
    assert [one.ties for one in table.respondents] == [1, 0, 0, 0, 0]
    assert [one.undefined for one in table.respondents] == [0, 1, 0, 0, 0]


def test_a_tie_is_wrong_as_it_was_judged_or_half_right():
    assert answer_table(runs_of(ROWS), ties="judged").right[9, 0] == 0.0
    assert answer_table(runs_of(ROWS), ties="half").right[9, 0] == 0.5


def test_phenomena_are_groups_of_items_or_else_suites():
    names = ["agreement"] * 5 + ["gaps"] * 5
    groups = {str(k): {"phenomenon": name} for k, name in enumerate(names)}
    assert set(answer_table(runs_of(ROWS, groups=groups)).phenomena) == {"agreement", "gaps"}
    both = [*runs_of(ROWS), *runs_of(ROWS, suite="t")]
    assert set(answer_table(both).phenomena) == {"s", "t"}


def test_models_are_ranked_and_items_ordered_as_their_shares():
    analysis = analyze(runs_of(ROWS), kind="rasch")
    shares = [one.right for one in analysis.models]
    assert shares == sorted(shares, reverse=True)
    assert [one.rank for one in analysis.models] == [1, 2, 3, 4, 5]
    assert all(one.rank_low <= one.rank <= one.rank_high for one in analysis.models)
    assert sum(one.best for one in analysis.models) == pytest.approx(1)
    hardest = max(analysis.items, key=lambda item: item.difficulty.value)
    easiest = min(analysis.items, key=lambda item: item.difficulty.value)
    assert (easiest.right, hardest.right) == (1.0, 0.0)
    assert (analysis.answers, analysis.undefined, analysis.ties) == (49, 1, 1)


def test_an_item_that_better_models_fail_is_found_backwards_and_shown():
    generator = np.random.default_rng(3)
    ability = np.linspace(-2, 2, 30)
    hard = generator.normal(0, 1, 40)
    right = generator.random((30, 40)) < 1 / (1 + np.exp(hard - ability[:, None]))
    right[:, 11] = ability < 0
    rows = ["".join("+" if cell else "-" for cell in row) for row in right]
    analysis = analyze(runs_of(rows))
    assert analysis.kind == "2pl"
    assert [item.item for item in analysis.backwards] == ["11"]
    assert ("backwards", analysis.backwards[0]) in notable_items(analysis)
    assert "11" in {item.item for item in analysis.misfits} or analysis.backwards
    shown = grid_as_text(analysis_grids(analysis)["items"])
    assert "look for a slip" in shown


def test_items_that_all_models_fail_are_not_disorderly():
    rows = ("+" * 23 + "-" + "-" * 100, "+" * 20 + "-" * 104)
    groups = {str(k): {"phenomenon": "easy" if k < 24 else "hard"} for k in range(124)}
    analysis = analyze(runs_of(rows, groups=groups))
    failed = [item for item in analysis.items if item.phenomenon == "hard"]
    assert all(item.infit < 1 and item.infit_p > 0.05 for item in failed)
    assert not any(name == "disorderly" for name, _ in notable_items(analysis))
    assert "disorderly" not in grid_as_text(analysis_grids(analysis)["items"])


def test_people_are_further_columns_on_the_same_scale():
    people = [
        Respondent(
            name=f"p{k}",
            kind="person",
            family="people",
            answers={("s", str(i)): float(i < 7 + k) for i in range(10)},
        )
        for k in range(3)
    ]
    table = answer_table(runs_of(ROWS), people=people)
    analysis = analyze_table(table, kind="rasch")
    assert table.right.shape == (10, 8)
    assert {one.kind for one in analysis.models if one.model.startswith("p")} == {"person"}
    assert "models and people" in grid_as_text(analysis_grids(analysis)["models"])


def test_too_little_data_has_shares_and_the_reason():
    analysis = analyze(runs_of(("++--", "+---")))
    assert analysis.reason == "4 items: a model of items needs 5 or more"
    assert [one.right for one in analysis.models] == [0.5, 0.25]
    assert "No model of items: 4 items" in grid_as_text(analysis_grids(analysis)["models"])


def test_a_covariate_that_no_suite_has_is_refused_with_a_hint():
    with pytest.raises(UsageError, match="no such column"):
        answer_table(runs_of(ROWS), covariates=["lenght"])


def test_clusters_are_those_of_a_suite_and_have_a_part_of_the_variance():
    outcomes = [
        replace(outcome, cluster=f"source {int(outcome.item) // 2}" if outcome.item != "9" else "")
        for outcome in outcomes_of(ROWS[0])
    ]
    runs = [
        made_run(f"m{j}", [replace(new, cluster=old.cluster) for new, old in
                           zip(outcomes_of(row), outcomes, strict=True)], suite="s")
        for j, row in enumerate(ROWS)
    ]  # fmt: skip
    table = answer_table(runs)
    assert table.clusters[:3] == (("s", "source 0"), ("s", "source 0"), ("s", "source 1"))
    assert table.clusters[9] is None
    assert table.cluster_codes.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, -1]
    parts = [part.part for part in analyze_table(table, kind="rasch").variance]
    assert "cluster" in parts
    shown = grid_as_text(analysis_grids(analyze_table(table, kind="rasch"))["variance"])
    assert "clusters of items from one source" in shown


def test_tokens_are_those_of_the_regions_that_predictions_need_over_conditions_and_models():
    """By hand: of ``Lei ama | dorme bene`` two words are needed, of ``dormono`` one; a mean of 1.5.

    The other model has a token for each half of a word, so 4 and 2, and 3 on average.
    """
    conditions = pair_conditions("x", "y")
    good, bad = (
        Condition(one.name, (Region("Lei ama"), Region(verb)))
        for one, verb in zip(conditions, ("dorme bene", "dormono"), strict=True)
    )
    prediction = Prediction("(2;%good%) < (2;%bad%)")
    suite = Suite(
        meta=Meta(name="two", language="it"),
        region_names=("subject", "verb"),
        predictions=(prediction,),
        items=(Item("1", (good, bad)),),
    )
    whole = evaluate(suite, uniform_scorer(10))
    assert answer_table([whole], covariates=["tokens"]).covariates["tokens"].tolist() == [1.5]
    halves = whole.table("tokens").with_columns(end=pl.col("end") - 1)
    twice = pl.concat([halves, whole.table("tokens").with_columns(start=pl.col("end") - 1)])
    other = replace(whole, tables={**whole.tables, "tokens": twice},
                    manifest={**whole.manifest, "label": "halves"})  # fmt: skip
    both = answer_table([whole, other], covariates=["tokens"]).covariates["tokens"]
    assert both.tolist() == [(1.5 + 3) / 2]


def test_runs_without_tokens_have_no_number_of_them():
    with pytest.raises(UsageError, match="no model's tokens are known of item"):
        answer_table(runs_of(ROWS), covariates=["tokens"])


def test_nothing_judged_is_refused():
    with pytest.raises(UsageError, match="nothing was judged"):
        answer_table([])


def test_figures_show_what_the_analysis_says():
    analysis = analyze(runs_of(ROWS), kind="rasch")
    for make in FIGURES:
        figure = make(analysis)
        alt.Chart.from_dict(dict(figure.spec))
        assert "<svg" in figure.svg()
    frame = wright_map(analysis).frame
    assert set(frame["what"]) == {"item", "model"}
    assert frame.height == len(analysis.items) + len(analysis.models)


def test_the_curve_of_information_is_that_of_its_items_by_hand():
    analysis = analyze(runs_of(ROWS), kind="rasch")
    rows = information_figure(analysis).frame.filter(pl.col("ability") == 0.0)
    shares = [1 / (1 + math.exp(item.difficulty.value)) for item in analysis.items]
    assert rows["information"].sum() == pytest.approx(sum(p * (1 - p) for p in shares))


def test_without_a_model_there_is_nothing_to_draw():
    analysis = analyze(runs_of(("++--", "+---")))
    with pytest.raises(UsageError, match="No model of items"):
        wright_map(analysis)
    assert len(analysis_section(analysis).figures) == 0


def pairs_run(tmp_path):
    items = [
        Item(str(k), pair_conditions(f"The dog {k} sleeps.", f"The dog {k} sleep."))
        for k in range(6)
    ]
    suite = Suite(Meta(name="dogs", language="en"), ("sentence",), (PAIR_PREDICTION,), items)
    return evaluate(suite, "demo-causal", output=tmp_path)


def test_people_stand_on_one_scale_with_models(tmp_path):
    run = pairs_run(tmp_path)
    choices = [
        Judgment(suite="dogs", item=str(k), condition=chosen, annotator=name, question=BETTER,
                 value="1")
        for name, good in (("ada", 6), ("bo", 2))
        for k in range(6)
        for chosen in [GOOD if k < good else BAD]
    ]  # fmt: skip
    ratings = [
        Judgment(suite="dogs", item=str(k), condition=condition, annotator="cy", value=value,
                 scale=scale)
        for k, scale, good, bad in ((0, "1 to 7", 6, 2), (1, "7 to 1", 6, 2), (2, "1 to 7", 3, 3))
        for condition, value in ((GOOD, str(good)), (BAD, str(bad)))
    ]  # fmt: skip
    people = {one.name: one for one in respondents_of([*choices, *ratings], [run], ties="half")}
    assert sum(people["ada"].answers.values()) == 6
    assert sum(people["bo"].answers.values()) == 2
    assert people["cy"].answers == {("dogs", "0"): 1, ("dogs", "1"): 0, ("dogs", "2"): 0.5}
    table = answer_table([run], people=list(people.values()))
    analysis = analyze_table(table, kind="rasch")
    order = [one.model for one in analysis.models if one.kind == "person"]
    assert order.index("ada") < order.index("bo")


def test_judgments_that_decide_nothing_are_refused_with_the_reason(tmp_path):
    run = pairs_run(tmp_path)
    with pytest.raises(InputError, match="no answer can be used"):
        respondents_of([Judgment(suite="cats", item="1", annotator="a", value="3")], [run])


def test_levels_of_chance_are_scales_of_their_own():
    """Models that guess everywhere find blanks hard and pairs easy: the form, not the language."""
    generator = np.random.default_rng(4)
    runs = []
    for model in range(4):
        for suite, chance, n in (("pairs", 0.5, 60), ("blanks", 0.0002, 30)):
            right = generator.random(n) < chance
            row = "".join("+" if one else "-" for one in right)
            runs.append(made_run(f"m{model}", outcomes_of(row), suite=suite, chance=chance))
    found = analyze(runs, kind="rasch")
    assert (found.chance, {item.suite for item in found.items}) == (0.5, {"pairs"})
    [other] = found.others
    assert (other.chance, {item.suite for item in other.items}) == (0.0, {"blanks"})
    # On one scale, phenomena that are two forms of test would explain most of the variance.
    assert "phenomenon" not in {part.part for part in found.variance if part.share.value > 0.3}
    grids = analysis_grids(found)
    assert any("analyzed apart (chance 0.5, chance 0)" in note for note in grids["models"].notes)
    assert "models-chance-0" in grids
    alone = analyze([run for run in runs if run.suite_name == "pairs"], kind="rasch")
    assert not alone.others
    assert not any("apart" in note for note in analysis_grids(alone)["models"].notes)


def test_levels_that_are_unknown_for_different_reasons_share_no_scale():
    runs = []
    for model, marks in enumerate(("++++-+--", "+++-----", "++-+-+-+")):
        for suite, why in (("a", "any word"), ("b", "any word"), ("c", "the formula has =")):
            stated = Estimate(suite=suite, model=f"m{model}", question="all", chance_method=why,
                              role="headline")  # fmt: skip
            made = made_run(f"m{model}", outcomes_of(marks), suite=suite)
            made.paradigm.judge.estimates = lambda _, one=stated: [one]
            runs.append(made)
    found = analyze(runs, kind="rasch")
    assert {item.suite for item in found.items} == {"a", "b"}
    assert (found.chance, found.no_chance) == (None, "any word")
    [other] = found.others
    assert {item.suite for item in other.items} == {"c"}
    grids = analysis_grids(found)
    assert {"models", "models-chance-unknown-2"} <= grids.keys()
    assert grids["models-chance-unknown-2"].title.startswith("Chance unknown: the formula has =.")

"""Parts of comparisons: outcomes of runs, steps in names, checkpoints."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from cimento import UsageError, evaluate, open_runs
from cimento.compare.before_after import matched
from cimento.compare.figures_checkpoints import checkpoints_figure, mean_rows, suite_rows
from cimento.compare.over_suites import SuiteFacts, facts_of, suite_differences
from cimento.compare.ranking import rank_models
from cimento.compare.training_courses import courses_of
from cimento.compare.training_means import means_over_training
from cimento.compare.training_tables import training_grids
from cimento.evaluation.own_suites import generated_suites
from cimento.kinds.registry import load_suite
from cimento.paired.item_outcomes import ItemOutcomes, item_outcomes, step_of
from cimento.report.figures_rates import steps_frame
from cimento.report.suite_differences import differences_grid
from cimento.testing import FakeScorer
from tests.helpers.made_runs import made_run, outcomes_of


def marks(model: str, right: str, **more) -> ItemOutcomes:
    """Items 0, 1, 2 ...: + is right, - is wrong, ? is unscored."""
    known = {str(k): mark == "+" for k, mark in enumerate(right) if mark != "?"}
    return ItemOutcomes(
        **{"suite": "s", "question": "all", "model": model, "right": known} | more  # type: ignore[arg-type]
    )


def test_what_belongs_together():
    assert matched([1, 2], [3], [lambda _: "same"]) is None
    assert matched([1], [2], [lambda number: number]) == []


@pytest.mark.parametrize(
    ("name", "family", "step"),
    [
        ("EleutherAI/pythia-70m@step1000", "EleutherAI/pythia-70m", 1000),
        ("/out/run/checkpoint-500", "/out/run", 500),
        ("m/epoch_3", "m", 3),
        ("gpt2", "gpt2", None),
        ("org/llama-3-8b@main", "org/llama-3-8b@main", None),
    ],
)
def test_steps_of_training_in_names(name, family, step):
    assert step_of(name) == (family, step)


def test_checkpoints_are_in_the_order_of_training():
    steps = {1000: "++++", 100: "+---", 500: "++--"}
    runs = [marks(f"m@{k}", right, family="m", step=k) for k, right in steps.items()]
    (ranking,) = rank_models(runs).rankings

    assert [checkpoint.step for checkpoint in ranking.checkpoints] == [100, 500, 1000]
    frame = steps_frame(suite_rows([ranking], {("s", "all"): 0.5, ("other", "all"): 0.3}))
    assert frame["accuracy"].to_list() == [0.25, 0.5, 1.0]
    assert frame["chance"].to_list() == [0.5, 0.5, 0.5]
    drawn = checkpoints_figure([ranking], chances={("s", "all"): 0.5}).svg()
    ticks = re.findall(r">([\d,]+)</text>", drawn)
    assert ticks == ["100", "500", "1,000"]
    assert drawn.count('stroke-dasharray="4,3"') == 1
    assert 'stroke-dasharray="4,3"' not in checkpoints_figure([ranking], chances={}).svg()
    (others,) = rank_models([*runs[:2], marks("other", "++++", family="o", step=3)]).rankings
    assert others.checkpoints == ()
    with pytest.raises(UsageError, match="not revisions of one model"):
        checkpoints_figure([others], chances={})


def test_the_first_curve_is_the_mean_over_suites_of_one_level_of_chance():
    steps = {100: ("+---", "+---", "++--"), 500: ("++--", "++++", "++++")}
    runs = [
        marks(f"m@{step}", 2 * right, family="m", step=step, suite=suite)
        for step, answers in steps.items()
        for suite, right in zip(("s", "t", "u"), answers, strict=True)
    ]
    facts = {
        name: SuiteFacts(
            unit=name, phenomena=frozenset({name}), chance=chance, is_design=False
        )
        for name, chance in (("s", 0.5), ("t", 0.5), ("u", 0.25))
    }  # fmt: skip
    rankings = rank_models(runs).rankings
    rows = list(mean_rows(means_over_training(rankings, facts)))
    # s and t have one level of chance: (1/4 + 1/4) / 2, then (2/4 + 4/4) / 2.
    assert [(row[1], row[3], row[6], row[7]) for row in rows] == [
        (100, 0.25, 2, 0.5),
        (500, 0.75, 2, 0.5),
    ]
    assert {row[0] for row in rows} == {"mean of 2 suites, chance 0.5 (95% over items): s, t"}
    assert all(0 <= row[4] <= row[3] <= row[5] <= 1 for row in rows)
    headlines = [(ranking.suite, ranking.question) for ranking in rankings]

    def panels(*, each: bool) -> list[str]:
        figure = checkpoints_figure(
            rankings, chances={}, facts=facts, headlines=headlines, each=each
        )
        return list(dict.fromkeys(figure.frame["panel"]))

    # Suites that are left out of all means have curves of their own, others only on request.
    assert panels(each=False) == [rows[0][0], "u, all"]
    assert panels(each=True) == [rows[0][0], "s, all", "t, all", "u, all"]
    designs = {name: replace(one, is_design=True) for name, one in facts.items()}
    assert list(means_over_training(rankings, designs)) == []
    courses = courses_of(rankings, runs, designs, headlines=headlines)
    assert [one.label for one in courses] == ["s", "t", "u"]


def test_drafts_and_starter_suites_are_in_no_mean_with_others():
    answers = {100: ("+---", "+---", "++--", "++--", "----"), 500: ("++--", *["++++"] * 4)}
    parts = dict(zip("stuvw", ("", "", "generated", "generated", "starter"), strict=True))
    runs = [
        marks(f"m@{step}", 2 * right, family="m", step=step, suite=suite)
        for step, of in answers.items()
        for suite, right in zip(parts, of, strict=True)
    ]
    facts = {
        name: SuiteFacts(
            unit=name, phenomena=frozenset({name}), chance=0.5, is_design=False, part=part
        )
        for name, part in parts.items()
    }
    rankings = rank_models(runs).rankings
    headlines = [(ranking.suite, ranking.question) for ranking in rankings]
    rows = list(mean_rows(means_over_training(rankings, facts)))
    others, drafts = (
        f"mean of 2 {kind}, chance 0.5 (95% over items): {names}"
        for kind, names in (("suites", "s, t"), ("generated suites", "u, v"))
    )
    # By hand; the only starter suite has no mean.
    assert [(row[0], row[1], row[3]) for row in rows] == [
        (others, 100, 0.25), (others, 500, 0.75), (drafts, 100, 0.5), (drafts, 500, 1.0),
    ]  # fmt: skip
    courses = courses_of(rankings, runs, facts, headlines=headlines)
    table = training_grids(courses)["curve"]
    assert table.header == (
        "step", "mean of 2 suites, chance 0.50", "mean of 2 generated suites, chance 0.50",
        "w, chance 0.50",
    )  # fmt: skip
    assert "mean of 2 generated suites, chance 0.50: u, v." in table.notes
    pairs = [one for ranking in rankings for one in ranking.pairs]
    differences = suite_differences(pairs, facts, correction="holm")
    overall = [one for one in differences if not one.phenomenon]
    assert [(one.part, one.n_suites, abs(one.value)) for one in overall] == [
        ("", 2, 0.5), ("generated", 2, 0.5),
    ]  # fmt: skip
    shown = differences_grid(overall)
    column = list(shown.header).index("suites")
    assert [str(row[column]) for row in shown.rows] == ["2", "2 generated"]


def test_drafts_are_told_by_their_status_and_starter_suites_by_more_than_their_name(tmp_path):
    scorer = FakeScorer(lambda tokens, *_: -1.0 - len(tokens) % 3, name="m")
    own = load_suite("it-subject-verb").suite
    draft = generated_suites("it", seed=0).suites[0].suite
    reviewed = replace(draft, meta=replace(draft.meta, status="read by two people"))
    other = replace(own, meta=replace(own.meta, status="mine"))
    parts = []
    for number, suite in enumerate((draft, reviewed, own, other)):
        evaluate(suite, scorer, output=tmp_path / str(number), limit=4)
        parts += [one.part for one in facts_of(open_runs(tmp_path / str(number))).values()]
    assert parts == ["generated", "", "starter", ""]


def test_the_table_over_training_counts_twins_once_as_the_figure_does():
    steps = {100: ("+---", "++--", "++--"), 500: ("++--", "++++", "++++")}
    runs = [
        marks(f"m@{step}", 2 * right, family="m", step=step, suite=suite)
        for step, answers in steps.items()
        for suite, right in zip(("s", "s-twin", "t"), answers, strict=True)
    ]
    facts = {
        name: SuiteFacts(unit=unit, phenomena=frozenset({unit}), chance=0.5, is_design=False)
        for name, unit in (("s", "s"), ("s-twin", "s"), ("t", "t"))
    }
    rankings = rank_models(runs).rankings
    headlines = [(ranking.suite, ranking.question) for ranking in rankings]
    rows = list(mean_rows(means_over_training(rankings, facts)))
    # A suite and its twin have one mean of their own: ((1/4 + 2/4) / 2 + 2/4) / 2, and so on.
    assert [(row[3], row[6]) for row in rows] == [(0.4375, 2), (0.875, 2)]
    assert {row[0] for row in rows} == {
        "mean of 2 suites and twins, chance 0.5 (95% over items): s, t"
    }
    courses = courses_of(rankings, runs, facts, headlines=headlines)
    table = training_grids(courses)["curve"]
    assert "mean of 2 suites, chance 0.50: s, t." in table.notes
    assert [tuple(map(str, row)) for row in table.rows] == [
        (str(step), f"{value:.3f} [{low:.3f}, {high:.3f}]")
        for _, step, _, value, low, high, *_ in rows
    ]
    assert [row[1] for row in rows] == [100, 500]
    # A suite and its twin alone are one suite too, with their mean: (1/4 + 2/4) / 2, and so on.
    twins = [one for one in rankings if one.suite != "t"]
    pair = list(mean_rows(means_over_training(twins, facts)))
    assert [(row[3], row[6]) for row in pair] == [(0.375, 1), (0.75, 1)]
    assert {row[0] for row in pair} == {"s and its twin, chance 0.5 (95% over items)"}
    alone = [one for one in rankings if one.suite == "s"]
    assert list(means_over_training(alone, facts)) == []


def test_two_trainings_of_one_name_are_told_from_models_that_are_no_revisions():
    names = {"tiny-step2@aaa": 2, "tiny-step4@bbb": 4, "tiny-step2@ccc": 2}
    (ranking,) = rank_models(
        [marks(name, "+-+-", family="tiny", step=step) for name, step in names.items()]
    ).rankings
    with pytest.raises(UsageError) as caught:
        checkpoints_figure([ranking], chances={})
    assert "several models are of step 2 (tiny-step2@aaa, tiny-step2@ccc)" in str(caught.value)
    assert "Give the runs of one training" in str(caught.value)
    assert "not revisions" not in str(caught.value)


def test_runs_give_what_is_right_what_belongs_together_and_the_first_method():
    clusters = {"0": "x", "1": "x"}
    run = made_run(
        "m@1",
        [
            *outcomes_of("+=?", "hit@1", method="mask", cluster=clusters, value=2.0, unit="rank"),
            *outcomes_of("---", "hit@1", method="beam"),
            *outcomes_of("+++", "choice"),
        ],
        kind="masked",
        manifest={"named": "org/m@step100"},
    )
    (group,) = item_outcomes([run])

    assert (group.suite, group.question, group.model) == ("s", "hit@1", "m@1")
    assert group.right == {"0": True, "1": False}
    assert group.clusters == clusters
    assert group.values == {"0": 2.0, "1": 2.0, "2": 2.0}
    assert (group.unit, group.kind, group.family, group.step) == ("rank", "masked", "org/m", 100)
    questions = [outcome.question for outcome in item_outcomes([run], every_question=True)]
    assert questions == ["hit@1", "choice"]
    with pytest.raises(UsageError, match="none of the runs"):
        item_outcomes([run], measure="lp")


def test_every_kind_of_run_can_be_compared(runs_of_every_kind):
    outcomes = item_outcomes(open_runs(runs_of_every_kind), every_question=True)
    by_suite = {
        name: [e for e in outcomes if e.suite == name] for name in {e.suite for e in outcomes}
    }
    questions = {name: {e.question for e in those} for name, those in by_suite.items()}

    assert questions["it-islands"] >= {"all predictions", "DD"}
    assert questions["it-connectives-cloze"] >= {"hit@1", "hit@10", "choice"}
    assert questions["es-stories"] >= {"story_class"}
    assert not any(e.right for e in by_suite["it-acceptability"])  # it predicts nothing
    assert all(e.references and e.values for e in by_suite["it-acceptability"] if e.coefficients)
    assert set(by_suite["es-agreement-templates"][0].clusters.values()) != set()


def test_only_predictions_have_formulas_by_which_they_are_named_alike(runs_of_every_kind):
    for run in open_runs(runs_of_every_kind):
        written = {prediction.formula for prediction in getattr(run.suite, "predictions", ())}
        formulas = {outcome.formula for outcome in item_outcomes([run], every_question=True)}
        assert formulas - {""} == written

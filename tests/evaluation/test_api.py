"""From a suite and a model to outcomes: the whole way, with models whose scores are known."""

from __future__ import annotations

import dataclasses
import math
import re

import pytest

import cimento
from cimento import Estimate, Failure, Run, UsageError
from cimento.testing import FakeScorer
from cimento.testing.models import uniform_scorer
from tests.engine.test_requests import make_suite

TEXTS = (
    {"good": "Le lampade | erano | accese.", "bad": "Le lampade | era | accese."},
    {"good": "I fiumi del nord | scorrono | lenti.", "bad": "I fiumi del nord | scorre | lenti."},
)
FORMULA = "(2;%good%) < (2;%bad%)"


def prefers_plural(tokens, index):
    """A model for which words that end in -no are likely and all others are not."""
    return -1.0 if tokens[index].endswith("no") else -2.0


def only_estimate(run: Run) -> Estimate:
    """What a run of a suite with one prediction says of it."""
    [estimate] = run.estimates()
    assert estimate.role == "headline"
    return estimate


def counts(run: Run) -> tuple[int | None, ...]:
    estimate = only_estimate(run)
    return (estimate.passed, estimate.failed, estimate.tied, estimate.unscored)


def test_a_uniform_model_pays_log_v_for_every_token():
    run = cimento.evaluate(make_suite(FORMULA, *TEXTS), uniform_scorer(50))

    assert set(run.table("tokens")["logprob_nats"]) == {-math.log(50)}
    assert run.table("tokens").height == 4


def test_a_model_for_which_all_is_equal_wins_nothing_and_ties_everywhere():
    run = cimento.evaluate(make_suite(FORMULA, *TEXTS), uniform_scorer(50))

    assert counts(run) == (0, 0, 2, 0)
    assert only_estimate(run).value == 0.0
    assert set(run.outcomes()["verdict"]) == {"tie"}


def test_margins_are_in_bits_and_favor_the_prediction():
    run = cimento.evaluate(make_suite(FORMULA, *TEXTS), FakeScorer(prefers_plural))

    outcomes = run.outcomes()
    assert outcomes["verdict"].to_list() == ["pass", "pass"]
    assert set(outcomes["unit"]) == {"bits"}
    assert outcomes["value"].to_list() == pytest.approx([1 / math.log(2)] * 2, abs=1e-12)


def test_regions_sum_to_the_sentence():
    suite = make_suite("((1;%good%)+(2;%good%)+(3;%good%)) = (*;%good%)", *TEXTS)

    run = cimento.evaluate(suite, FakeScorer(prefers_plural))

    assert set(run.outcomes()["verdict"]) == {"pass"}


def test_only_what_predictions_need_is_asked_for():
    asked = []

    def score(tokens, index):
        asked.append(tokens[index])
        return -1.0

    cimento.evaluate(make_suite(FORMULA, *TEXTS), FakeScorer(score))

    assert sorted(asked) == ["era", "erano", "scorre", "scorrono"]


def test_all_tokens_asks_for_the_rest_too():
    run = cimento.evaluate(make_suite(FORMULA, *TEXTS), uniform_scorer(50), all_tokens=True)

    # Five words and marks in the first item's sentences, seven in the second's.
    assert run.table("tokens").height == 2 * 5 + 2 * 7


def test_another_prediction_is_judged_on_stored_answers_or_says_what_is_missing():
    run = cimento.evaluate(make_suite(FORMULA, *TEXTS), FakeScorer(prefers_plural))

    reversed_run = run.judge(predictions=("(2;%good%) > (2;%bad%)",))
    elsewhere = run.judge(predictions=("(1;%good%) > (1;%bad%)",))

    assert counts(reversed_run) == (0, 2, 0, 0)
    assert counts(elsewhere) == (0, 0, 0, 2)
    assert "--all-tokens" in elsewhere.outcomes()["reason"][0]


def test_a_prediction_chosen_by_number_keeps_its_number():
    suite = make_suite(FORMULA, *TEXTS)
    reverse, equal = "(2;%good%) > (2;%bad%)", "(3;%good%) = (3;%bad%)"
    three = dataclasses.replace(
        suite,
        predictions=tuple(map(cimento.Prediction, (reverse, FORMULA, equal))),
    )
    run = cimento.evaluate(three, FakeScorer(prefers_plural))

    chosen = run.judge(predictions=("1", "2")).estimates()
    [alone] = run.judge(predictions=("1",)).estimates()

    assert [(estimate.question, estimate.description, estimate.passed) for estimate in chosen] == [
        ("prediction 1", FORMULA, 2),
        ("prediction 2", equal, 2),
        ("all predictions", "", 2),
    ]
    assert (alone.question, alone.description, alone.passed) == ("prediction 1", FORMULA, 2)
    assert alone.role == "headline"
    with pytest.raises(cimento.CimentoError, match="no prediction 7"):
        run.judge(predictions=("7",)).summary()


@pytest.mark.parametrize(
    ("formula", "seen"),
    [
        (
            "(2;%god%) > (2;%bad%)",
            "no condition 'god'. Did you mean 'good'? Its conditions: bad, good.",
        ),
        ("(2;%x%) > (2;%bad%)", "no condition 'x'. Its conditions: bad, good."),
        ("(9;%good%) > (9;%bad%)", "no region 9. Its regions are numbered"),
        ("(2;%good%) >", "the formula ends"),
    ],
)
def test_a_prediction_that_the_suite_cannot_have_is_refused_at_the_call(formula, seen):
    suite = make_suite(FORMULA, *TEXTS)
    run = cimento.evaluate(suite, FakeScorer(prefers_plural))

    with pytest.raises(cimento.CimentoError, match=re.escape(seen)):
        run.judge(predictions=[formula])
    # No model is asked in vain either.
    with pytest.raises(cimento.CimentoError, match=re.escape(seen)):
        cimento.evaluate(suite, FakeScorer(prefers_plural), predictions=[formula])


def test_a_model_that_gives_nan_is_stopped_with_the_items_name_and_others_go_on():
    broken = FakeScorer(lambda _tokens, _index: math.nan, name="broken")
    fine = FakeScorer(prefers_plural, name="fine")

    failure, run = cimento.evaluate_all([make_suite(FORMULA, *TEXTS)], [broken, fine])

    assert isinstance(failure, Failure)
    assert "item '1'" in str(failure.error)
    assert isinstance(run, Run)


def test_a_stored_run_is_opened_and_not_done_again(tmp_path):
    calls = []

    def score(tokens, index):
        calls.append(index)
        return prefers_plural(tokens, index)

    suite = make_suite(FORMULA, *TEXTS)
    first = cimento.evaluate(suite, FakeScorer(score), output=tmp_path)
    n_calls = len(calls)
    second = cimento.evaluate(suite, FakeScorer(score), output=tmp_path)

    assert len(calls) == n_calls
    assert second.folder == first.folder
    assert second.summary() == first.summary()
    assert second.outcomes().equals(first.outcomes())


def test_a_run_folder_is_named_by_content_and_its_tables_are_the_same_bytes(tmp_path):
    suite = make_suite(FORMULA, *TEXTS)
    runs = [
        cimento.evaluate(suite, FakeScorer(prefers_plural), output=tmp_path / name)
        for name in ("a", "b")
    ]

    one, other = (run.folder for run in runs)
    assert one.relative_to(tmp_path / "a") == other.relative_to(tmp_path / "b")
    for table in ("tokens", "requests", "outcomes", "estimates"):
        name = f"{table}.parquet"
        assert (one / name).read_bytes() == (other / name).read_bytes()


def test_a_changed_suite_has_a_folder_of_its_own(tmp_path):
    first = cimento.evaluate(
        make_suite(FORMULA, *TEXTS), FakeScorer(prefers_plural), output=tmp_path
    )
    second = cimento.evaluate(
        make_suite(FORMULA, TEXTS[0]), FakeScorer(prefers_plural), output=tmp_path
    )

    assert second.folder != first.folder
    assert second.folder.parent == first.folder.parent
    assert second.summary().n_items == 1
    assert {run.summary().n_items for run in cimento.open_runs([tmp_path])} == {1, len(TEXTS)}


def test_two_suites_of_one_name_are_refused():
    suites = [make_suite(FORMULA, *TEXTS), make_suite(FORMULA, TEXTS[0])]

    with pytest.raises(cimento.CimentoError, match="two of the suites have this name"):
        list(cimento.evaluate_all(suites, [uniform_scorer(5)]))


def test_the_public_names_exist():
    for name in cimento.__all__:
        assert getattr(cimento, name) is not None


def test_texts_suites_and_models_of_another_type_are_named():
    model = uniform_scorer(5)
    for texts, seen in (([1, 2], "1 is of type int"), (None, "None is of type NoneType")):
        with pytest.raises(UsageError, match=seen):
            cimento.score(texts, model)
    for suite, kind in ((["it-subject-verb"], "list"), (None, "NoneType"), (3, "int")):
        with pytest.raises(UsageError, match=f"{kind} is neither a name, a path nor a suite"):
            cimento.evaluate(suite, model)
    with pytest.raises(UsageError, match="NoneType is neither a name, a path nor a suite"):
        list(cimento.evaluate_all(None, model))
    with pytest.raises(UsageError, match="NoneType is neither the name of a model nor a scorer"):
        cimento.evaluate("it-subject-verb", None)


def test_what_is_no_model_is_a_failure_among_models():
    failure, run = cimento.evaluate_all(make_suite(FORMULA, *TEXTS), [None, uniform_scorer(5)])

    assert isinstance(failure, Failure)
    assert (failure.suite, failure.model) == ("test", "NoneType")
    assert isinstance(run, Run)

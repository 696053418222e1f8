"""Near ties: a threshold that follows the number format, and what a run says of it."""

from __future__ import annotations

import json
import math

import pytest

from cimento import UsageError, evaluate
from cimento.cli.main import invoke
from cimento.kinds.registry import find_paradigm, parse_options
from cimento.measures.errors import ROUNDING_BITS
from cimento.paradigms.regions.chance import near_tie_threshold
from cimento.records.outcomes import each_outcome
from cimento.report.formatting import near_ties as said_near_ties
from cimento.testing import FakeScorer
from tests.helpers.judging import make_suite


@pytest.fixture(scope="module")
def in_formats():
    """The same items scored in two number formats, as runs."""

    def run(dtype):
        return evaluate("it-islands", "demo-causal", dtype=dtype, device="cpu", limit=30)

    return {dtype: run(dtype) for dtype in ("float32", "bfloat16")}


def outcomes(run):
    return {(outcome.item, outcome.question): outcome for outcome in each_outcome(run.outcomes())}


@pytest.mark.slow
def test_only_near_ties_differ_between_number_formats(in_formats):
    exact, half = (outcomes(in_formats[dtype]) for dtype in ("float32", "bfloat16"))
    bits = in_formats["bfloat16"].summary().headline.near_tie_bits
    moved = [abs(exact[place].value - half[place].value) for place in exact]
    assert 1e-2 < max(moved) < bits
    assert bits == in_formats["bfloat16"].manifest["model"]["rounding_bits"]
    turned = [place for place in exact if exact[place].verdict != half[place].verdict]
    assert all(abs(half[place].value) < bits for place in turned)


@pytest.mark.slow
def test_a_run_says_how_many_verdicts_are_near_ties_and_why(in_formats):
    summary = in_formats["bfloat16"].summary()
    single, bits = summary.results[:-1], summary.headline.near_tie_bits
    near = sum(rate.near_tied for rate in single)
    assert sum(rate.n for rate in single) == 30 * 4
    assert near == sum(
        abs(outcome.value) < bits
        for outcome in outcomes(in_formats["bfloat16"]).values()
        if outcome.question != "all predictions"
    )
    assert near > 0
    exact = in_formats["float32"].summary()
    assert exact.headline.near_tie_bits == ROUNDING_BITS["float32"]
    assert said_near_ties([exact, summary]) == (
        f"Near ties: 0 of 120 verdicts within 0.00011 bits (the error of float32); {near} of 120"
        f" verdicts within {bits:g} bits (the error of bfloat16, measured with this model), which"
        " another machine or batch size may turn."
    )


@pytest.mark.slow
def test_a_threshold_of_ones_own_goes_before_that_of_the_format(in_formats):
    run = in_formats["bfloat16"]
    summary = run.judge(near_ties=0.0).summary()
    rate = summary.headline
    assert (rate.near_tie_bits, rate.near_tie_method) == (0.0, "given for this run")
    assert sum(rate.near_tied for rate in summary.results) == 0


def test_what_is_not_known_of_the_format_is_said():
    run = evaluate(make_suite(["(1;%a%) < (1;%b%)"], [{"a": "x", "b": "y"}]), FakeScorer(score))
    summary = run.summary()
    assert summary.headline.near_tie_bits == ROUNDING_BITS["float32"]
    assert summary.headline.near_tie_method == "number format unknown, as for float32"
    assert summary.headline.near_tied == 1  # 1e-6 nats


def score(tokens, index):
    return -1.0 - 1e-6 * (tokens[index] == "y")


@pytest.mark.slow
def test_measures_that_order_alike_have_the_same_near_ties(in_formats):
    counts = {}
    for name in ("meanlp", "bits-per-token", "ppl"):
        summary = in_formats["bfloat16"].judge(measures=name).summary()
        counts[name] = {rate.question: rate.near_tied for rate in summary.results}
    by_lp = in_formats["bfloat16"].judge(measures="lp").summary()
    lp = {rate.question: rate for rate in by_lp.results}
    assert counts["meanlp"] == counts["bits-per-token"]
    # DD is a difference of perplexities: what is near there is not defined, and not 0.
    assert counts["ppl"] == {**counts["meanlp"], "DD": None, "all predictions": None}
    for question, rate in lp.items():
        assert rate.near_tied <= counts["meanlp"][question] + 5 < 30
    said = in_formats["bfloat16"].judge(measures="meanlp").summary().headline.near_tie_method
    assert said == "the error of bfloat16, measured with this model; of sums, divided as in meanlp"


def test_the_threshold_is_divided_as_the_measure_divides():
    """Sentences of 2 and 8 words: an error of 1 bit in a difference of sums of one size."""
    scale = math.sqrt((1 / 2**2 + 1 / 8**2) / 2)
    for margin, near in ((0.99 * scale, 1), (1.01 * scale, 0)):
        # In bits a word: 3 in the good sentence, and so much more in the bad one.
        costs = {"a": 3.0, "b": 3.0 + margin}

        def scored(tokens, _, costs=costs):
            return -costs[tokens[-1].strip()[-1]] * math.log(2)

        suite = make_suite(["(*;%a%) < (*;%b%)"], [{"a": "x a", "b": "x y y y y y y b"}])
        run = evaluate(suite, FakeScorer(scored), near_ties=1.0)
        for name in ("meanlp", "ppl"):
            [rate] = run.judge(measures=name).estimates()
            assert (rate.passed, rate.near_tied) == (1, near), (name, margin)
        [plain] = run.judge(measures="lp").estimates()
        assert plain.near_tied == 0


@pytest.mark.parametrize("name", ["lp-l", "lp-nl"])
@pytest.mark.slow
def test_what_is_made_of_raw_outputs_has_no_near_ties_rather_than_none(in_formats, name):
    rates = in_formats["float32"].judge(measures=name).estimates()
    rates = [rate for rate in rates if rate.is_share and rate.method == name]
    assert rates
    assert {rate.near_tied for rate in rates if not rate.group and rate.role != "detail"} == {None}
    assert "raw outputs" in rates[0].near_tie_method


def test_quantized_weights_are_not_taken_for_what_they_are_computed_in():
    quantized = {"quantization_config": {"load_in_8bit": True}}
    manifest = {
        "model": {"dtype": "float32"},
        "asking": {"policy": json.loads(json.dumps({"model_args": quantized}))},
    }
    near_ties = near_tie_threshold(manifest, None)
    assert (near_ties.bits, near_ties.reason) == (
        ROUNDING_BITS["bfloat16"],
        "weights quantized, as for bfloat16",
    )


@pytest.mark.slow
def test_models_check_measures_the_precision_of_the_model_at_hand(capsys):
    command = ["models", "check", "demo-causal", "es-subject-verb", "--texts", "2", "--device"]
    assert invoke([*command, "cpu", "--dtype", "bfloat16", "--precision", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)["precision"]
    assert (printed["dtype"], printed["wider"]) == ("bfloat16", "float32")
    assert (printed["n_items"], printed["n_texts"]) == (24, 48)
    # two other batch shapes against one text alone; three shapes against float32
    assert (printed["by_batch"]["margin"]["n"], printed["by_format"]["margin"]["n"]) == (48, 72)
    largest = max(printed[way]["margin"]["largest"] for way in ("by_batch", "by_format"))
    assert 0.01 < largest <= printed["near_tie_bits"] < 1.2 * largest


@pytest.mark.slow
def test_models_check_tells_of_near_ties_in_words(capsys):
    command = ["models", "check", "demo-causal", "es-subject-verb", "--texts", "2", "--device"]
    assert invoke([*command, "cpu", "--dtype", "float64", "--precision"]) == 0
    assert "near ties" in capsys.readouterr().out


def test_the_figure_of_models_check_can_be_used(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))
    command = ["run", "es-subject-verb", "-m", "demo-causal", "--dtype", "bfloat16"]
    assert invoke([*command, "--near-ties", "9.5", "-o", str(tmp_path), "--json"]) == 0
    [run] = json.loads(capsys.readouterr().out)["runs"]
    [rate] = run["estimates"]
    assert (rate["near_tie_bits"], rate["near_tie_method"]) == (9.5, "given for this run")
    margins = [outcome["value"] for outcome in run["outcomes"]]
    assert rate["near_tied"] == sum(abs(margin) < 9.5 for margin in margins) > 0
    manifest = json.loads(next(tmp_path.rglob("manifest.json")).read_text(encoding="utf-8"))
    assert manifest["options"]["near_tie_bits"] == 9.5
    assert invoke(["judge", str(tmp_path), "--near-ties", "-1"]) == 2
    assert invoke(["judge", str(tmp_path), "--json"]) == 0
    [judged] = json.loads(capsys.readouterr().out)["runs"]
    assert judged["estimates"][0]["near_tie_bits"] == 9.5
    assert invoke([*command, "-o", str(tmp_path / "usual"), "--json"]) == 0
    [usual] = json.loads(capsys.readouterr().out)["runs"]
    [stored] = (tmp_path / "usual").rglob("manifest.json")
    measured = json.loads(stored.read_text(encoding="utf-8"))["model"]["rounding_bits"]
    assert usual["estimates"][0]["near_tie_bits"] == measured != 9.5


def test_a_threshold_that_is_no_finite_number_is_refused(capsys):
    assert invoke(["run", "it-subject-verb", "-m", "demo-causal", "--near-ties", "inf"]) == 2
    assert "got inf. Give a finite number." in capsys.readouterr().err
    for bits in (math.nan, -1.0):
        with pytest.raises(UsageError, match="near_tie_bits"):
            parse_options(find_paradigm("regions"), {"near_tie_bits": bits})

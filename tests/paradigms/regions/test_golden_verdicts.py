"""Verdicts held to published results and to those of the reference implementation."""

from __future__ import annotations

import json

import polars as pl
import pytest

from cimento.io.tables import TOKENS
from cimento.measures import BITS_PER_NAT, NoValue, region_values
from cimento.paradigms.regions.predictions import evaluate_item
from cimento.suites import METRICS
from cimento.suites.formula import parse
from tests.helpers.judging import joined, judged, make_suite, requests_of

pytestmark = pytest.mark.golden


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def holds(formula, values):
    """What the reference says: a tie is not a success, and a missing value is none."""
    return evaluate_item(parse(formula), values).verdict == "pass"


def test_golden_vectors_have_the_value_of_the_reference(shared):
    golden = read(shared / "golden/syntaxgym/formula/vectors.json")
    values = {}
    for entry in golden["surprisals"]:
        regions = values.setdefault(entry["condition"], [])
        regions += [NoValue("not given")] * (entry["region"] - len(regions))
        regions[entry["region"] - 1] = entry["value"]
    tried = 0
    for vector in golden["vectors"] + golden["bracket_vectors"]:
        if vector["expected"]["status"] == "eval_error":
            # By design: unscored with a reason where the reference stops with a KeyError.
            outcome = evaluate_item(parse(vector["formula"]), values)
            assert outcome.verdict == "unscored"
            assert "there is no such" in str(outcome.reason)
        elif vector["expected"]["status"] == "ok" and "mismatched" not in vector.get("note", ""):
            assert holds(vector["formula"], values) == vector["expected"]["value"], vector
            tried += 1
    assert tried > 40
    # By design: the reference takes the sum over an unknown condition for 0.
    assert evaluate_item(parse("(*;%zz%) = 0"), values).verdict == "unscored"


@pytest.mark.parametrize("name", ["npz_ambig", "number_orc", "subordination_src-src"])
def test_golden_region_totals_of_distilgpt2(shared, name):
    golden = read(shared / f"golden/syntaxgym/distilgpt2/{name}.region_totals_and_expected.json")
    for item in golden["items"]:
        outcomes = [
            evaluate_item(parse(formula), item["region_totals"]) for formula in golden["formulas"]
        ]
        assert [outcome.verdict == "pass" for outcome in outcomes] == item["predictions"]
        assert (joined(outcomes, "&").verdict == "pass") == item["all_predictions"]
    if golden["complete"]:
        wins = [holds(golden["formulas"][0], item["region_totals"]) for item in golden["items"]]
        assert sum(wins) / len(wins) == pytest.approx(golden["published_suite_accuracy"], abs=1e-6)


def test_golden_evaluated_suite(shared):
    folder = shared / "golden/syntaxgym/core_data"
    suite = read(folder / "dummy_evaluated_suite.json")
    values = {
        condition["condition_name"]: [
            region["metric_value"]["sum"] for region in condition["regions"]
        ]
        for condition in suite["items"][0]["conditions"]
    }
    cases = read(folder / "dummy_evaluated_suite.expected_predictions.json")
    assert len(cases) == 4
    for case in cases:
        changed = {name: list(regions) for name, regions in values.items()}
        if case["modification"] != "as_is":
            assert case["modification"] == "sub_no-matrix region 5 += 5000"
            changed["sub_no-matrix"][4] += 5000
        assert holds(case["formula"], changed) == case["expected"]


def test_golden_legacy_relations(shared):
    results = read(shared / "golden/syntaxgym/core_data/legacy_relation_expected.json")["results"]
    for items in results.values():
        for item in items:
            values = {"that": [item["that"]], "what": [item["what"]]}
            assert holds("(1;%that%) > (1;%what%)", values) == item["greaterthan_that_what"]


def test_golden_real_surprisals_of_fgd_hierarchy(shared):
    golden = read(shared / "golden/syntaxgym/sg_eval_fgd_hierarchy/expected.json")
    held = []
    for item in golden["items"]:
        values = {
            name: [regions[str(number)] for number in range(1, len(regions) + 1)]
            for name, regions in item["region_sum"].items()
        }
        held.append([holds(formula, values) for formula in golden["formulas"]])
        assert held[-1] == item["predictions"]
        assert all(held[-1]) == item["all_predictions"]
    shares = [sum(column) / len(held) for column in zip(*held, strict=True)]
    assert shares == golden["accuracy_per_prediction"]


def recorded(shared, style, name):
    """Suite, tokens table and expectations of a recorded file; regions as the reference says."""
    folder = shared / "golden/syntaxgym"
    source = read(folder / f"suites/paren/{name}.json")
    expected = read(folder / f"synthetic/{style}/{name}.expected.json")
    suite = make_suite(
        [prediction["formula"] for prediction in source["predictions"]],
        [
            {
                condition["condition_name"]: "|".join(
                    region["content"] for region in condition["regions"]
                )
                for condition in item["conditions"]
            }
            for item in source["items"]
        ],
    )
    sentences = {}
    tsv = (folder / f"synthetic/{style}/{name}.surprisals.tsv").read_text(encoding="utf-8")
    for line in tsv.splitlines()[1:]:
        sentence, _, token, surprisal = line.split("\t")
        sentences.setdefault(int(sentence), []).append((token, float(surprisal)))
    rows, places = [], requests_of(suite)
    # Every sentence is a request of its own, as recorded texts are not scored once for all.
    stimuli = places.select("item", "condition")
    order = {key: k for k, key in enumerate(stimuli.unique(maintain_order=True).iter_rows())}
    places = places.with_columns(
        request=pl.Series([order[key] for key in stimuli.iter_rows()], dtype=pl.Int32)
    )
    for item in expected["items"]:
        for condition, answer in item["conditions"].items():
            request = order[str(item["item_number"]), condition]
            region_of = [k for k, n in enumerate(answer["n_tokens"], start=1) for _ in range(n)]
            tokens = sentences[answer["sentence_id"]]
            for position, ((token, bits), region) in enumerate(zip(tokens, region_of, strict=True)):
                nats = -bits / BITS_PER_NAT
                rows.append((request, position, token, 0, -1, -1, nats, None, region, bits))
    schema = {**TOKENS.polars(), "region": pl.Int32, "surprisal_bits": pl.Float64}
    return suite, pl.DataFrame(rows, schema=schema, orient="row"), places, expected


def held_of(run):
    """Item to whether it passes each question."""
    held = {}
    for item, verdict in run.outcomes().select("item", "verdict").iter_rows():
        held.setdefault(item, []).append(verdict == "pass")
    return held


STYLES = {"word_eos": 22, "bpe_initial": 7, "wordpiece_uncased": 5}


@pytest.mark.parametrize("style", STYLES)
def test_golden_recorded_surprisals_of_every_suite(shared, style):
    files = sorted((shared / f"golden/syntaxgym/synthetic/{style}").glob("*.expected.json"))
    assert len(files) >= STYLES[style]
    for file in files:
        suite, tokens, places, expected = recorded(shared, style, file.name.split(".")[0])
        regions = region_values(tokens, places, metric="sum")
        assert regions.unit == "bits"
        held = held_of(judged(suite, tokens, places))
        for item in expected["items"]:
            number = str(item["item_number"])
            for condition, answer in item["conditions"].items():
                ours = regions.values[number][condition]
                assert ours == pytest.approx(answer["sum"], abs=1e-6)
            # One prediction and all of them are one question.
            alone = [item["all_predictions"]] == item["predictions"]
            every = [] if alone else [item["all_predictions"]]
            assert held[number] == [*item["predictions"], *every]


@pytest.mark.parametrize("name", ["center_embed", "number_prep", "reflexive_orc_masc"])
@pytest.mark.parametrize("metric", METRICS)
def test_golden_metrics_over_recorded_surprisals(shared, name, metric):
    golden = read(shared / f"golden/syntaxgym/metrics/{name}.json")["metrics"][metric]
    suite, tokens, places, _ = recorded(shared, "word_eos", name)
    values = region_values(tokens, places, metric=metric).values["1"]
    for condition, regions in golden["first_item_region_values"].items():
        assert values[condition] == pytest.approx(regions, abs=1e-6)
    held = held_of(judged(suite, tokens, places, metric=metric))
    for number, expected in enumerate(golden["predictions"], start=1):
        # The last one is whether all of them hold, and the only one where one is predicted.
        assert held[str(number)][: len(expected)] == expected

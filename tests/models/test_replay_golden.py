"""Recorded surprisals judged as SyntaxGym and sg-eval judge them, for every suite at hand."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import cimento
from cimento import Run, Suite
from cimento.measures import region_values
from cimento.models.recorded import Replay, replay
from cimento.models.recorded.aligning import align_tokens
from cimento.models.recorded.reading import parse_spec, read_recording
from cimento.paradigms.regions.requests import region_requests
from cimento.suites import METRICS
from cimento.suites.load import open_suite
from cimento.suites.stimuli import join_regions

if TYPE_CHECKING:
    import polars as pl

pytestmark = pytest.mark.golden


@pytest.fixture(scope="module")
def golden(shared: Path) -> Path:
    return shared / "golden" / "syntaxgym"


def read(path: Path):
    return json.loads(path.read_text(encoding="utf-8"))


def evaluated(suite: Suite, recording: Path, spec: Path, **options: object) -> Run:
    return cimento.evaluate(suite, f"replay:{recording}", spec=spec, **options)


def held(run: Run) -> list[list[bool]]:
    """Whether each item passes each prediction, and all of them, item after item."""
    table = run.outcomes()
    assert set(table["verdict"]) <= {"pass", "fail", "tie"}
    verdicts = [
        [verdict == "pass" for verdict in table.filter(table["item"] == item.id)["verdict"]]
        for item in run.suite.items
    ]
    # One prediction and all of them are one question.
    return [
        [*item_verdicts, *item_verdicts] if len(item_verdicts) == 1 else item_verdicts
        for item_verdicts in verdicts
    ]


def rates(run: Run) -> list[float | None]:
    """The accuracy of each prediction, and of all of them together."""
    values = [estimate.value for estimate in run.estimates() if not estimate.group]
    return [*values, *values] if len(values) == 1 else values


@dataclass(frozen=True)
class Case:
    """A synthetic recording, what is expected of it, and what cimento makes of it."""

    wanted: dict[str, Any]
    suite: Suite
    recording: Path
    spec: Path
    replayed: Replay


def places_of(suite: Suite) -> pl.DataFrame:
    """What a recording is asked for: each region of each stimulus by itself."""
    return region_requests(suite, all_tokens=True, merged=False).places


@pytest.fixture(scope="module")
def cases(golden: Path) -> list[Case]:
    made = []
    for path in sorted(golden.glob("synthetic/*/*.expected.json")):
        wanted = read(path)
        suite = open_suite(path.parent / wanted["suite_file"]).suite
        recording = path.with_name(path.name.replace(".expected.json", ".surprisals.tsv"))
        spec = path.parent / wanted["spec"]
        made.append(Case(wanted, suite, recording, spec, replay(suite, recording, spec=spec)))
    assert made
    return made


@pytest.mark.slow
@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_synthetic_recordings_of_every_suite(cases, step):
    for case in cases[::step]:
        items = case.wanted["items"]
        requests = places_of(case.suite)
        regions = region_values(case.replayed.tokens, requests, metric=case.wanted["metric"])
        assert [item.id for item in case.suite.items] == [str(i["item_number"]) for i in items]
        for item in items:
            for name, condition in item["conditions"].items():
                got = regions.values[str(item["item_number"])][name]
                assert list(got) == pytest.approx(condition["sum"], abs=1e-6), case.recording
        run = evaluated(case.suite, case.recording, case.spec, metric=case.wanted["metric"])
        expected = [[*item["predictions"], item["all_predictions"]] for item in items]
        assert held(run) == expected, case.recording
        *each_rate, conjunction = rates(run)
        assert each_rate == pytest.approx(case.wanted["accuracy_per_prediction"], abs=1e-12)
        assert conjunction == pytest.approx(case.wanted["accuracy_conjunction"], abs=1e-12)


@pytest.mark.slow
def test_synthetic_tokens_and_unknown_words_of_every_region(cases):
    for case in cases:
        conditions = {str(i["item_number"]): i["conditions"] for i in case.wanted["items"]}
        spec = parse_spec(case.spec.read_text(encoding="utf-8"), where=str(case.spec))
        sentences = read_recording(case.recording).sentences
        oovs = 0
        for (item, condition), sentence in zip(case.suite.stimuli(), sentences, strict=True):
            expected = conditions[item.id][condition.name]
            assert sentence.id == expected["sentence_id"]
            text, spans = join_regions(condition.regions, rule=case.suite.join)
            alignment = align_tokens(text, spans, sentence.tokens, spec)
            counts = [alignment.regions.count(number) for number in range(1, len(spans) + 1)]
            assert counts == expected["n_tokens"], (case.recording, item.id, condition.name)
            words = {str(k): list(v) for k, v in enumerate(alignment.oovs, start=1) if v}
            assert words == expected.get("oovs", {}), (case.recording, item.id, condition.name)
            oovs += sum(len(oov) for oov in alignment.oovs)
        warned = [f": {oovs} in all" in text for text in case.replayed.warnings]
        assert warned == ([True] if oovs else [])


@pytest.mark.slow
def test_suites_as_first_published_give_the_same_verdicts(golden, cases):
    # Those have square brackets in formulas, and stray blanks in regions.
    for case in cases:
        suite = open_suite(golden / f"suites/bracket/{case.wanted['suite']}.json").suite
        run = evaluated(suite, case.recording, case.spec)
        expected = [item["all_predictions"] for item in case.wanted["items"]]
        assert [every for *_, every in held(run)] == expected, case.recording


def test_real_recording_of_fgd_hierarchy(golden):
    folder = golden / "sg_eval_fgd_hierarchy"
    wanted = read(folder / "expected.json")
    suite = open_suite(folder / "fgd_hierarchy.json").suite
    recording, spec = folder / "surprisals_fgd_hierarchy.txt", folder / "spec.template.json"
    replayed = replay(suite, recording, spec=spec)
    regions = region_values(replayed.tokens, places_of(suite), metric="sum")
    for expected in wanted["items"]:
        for name, sums in expected["region_sum"].items():
            got = regions.values[str(expected["item_number"])][name]
            assert list(got) == pytest.approx(list(sums.values()), abs=1e-9)
    run = evaluated(suite, recording, spec)
    assert held(run) == [
        [*item["predictions"], item["all_predictions"]] for item in wanted["items"]
    ]
    first, second, every = run.estimates()
    assert first.value == pytest.approx(0.7083333333333334)
    assert (first.passed, second.passed) == (17, 0)
    assert every.value == 0.0


WORD_EOS = "synthetic/specs/word_eos.json"


@pytest.mark.parametrize(
    ("suite", "recording", "stored"),
    [
        ("test/test_in.json", "test/test_surp_grnn.txt", "test/test_out_grnn.json"),
        (
            "test/test_in.json",
            "test/test_surp_transformer-xl.txt",
            "test/test_out_transformer-xl.json",
        ),
        ("test-unk/in.json", "test-unk/surp_grnn.txt", "test-unk/out_grnn.json"),
    ],
)
def test_recordings_in_the_legacy_dialect(golden, suite, recording, stored):
    folder = golden / "core_data"
    loaded = open_suite(folder / suite).suite
    replayed = replay(loaded, folder / recording, spec=golden / WORD_EOS)
    for metric in METRICS:
        regions = region_values(replayed.tokens, places_of(loaded), metric=metric)
        for item in read(folder / stored)["items"]:
            for condition in item["conditions"]:
                got = regions.values[str(item["item_number"])][condition["condition_name"]]
                expected = [region["metric_value"][metric] for region in condition["regions"]]
                assert list(got) == pytest.approx(expected, abs=1e-6), metric
    results = read(folder / "legacy_relation_expected.json")["results"]
    model = recording.removesuffix(".txt").rpartition("_")[2]
    expected = results[f"{suite.partition('/')[0]}/{model}"]
    run = evaluated(loaded, folder / recording, golden / WORD_EOS)
    assert [first for first, *_ in held(run)] == [
        item["greaterthan_that_what"] for item in expected
    ]


def test_every_metric_of_the_synthetic_recordings(golden):
    files = [path for path in sorted(golden.glob("metrics/*.json")) if "suite" in read(path)]
    assert files
    for path in files:
        wanted = read(path)
        suite = open_suite(golden / f"suites/paren/{wanted['suite']}.json").suite
        name = f"synthetic/{wanted['style']}/{wanted['suite']}.surprisals.tsv"
        spec = golden / f"synthetic/specs/{wanted['style']}.json"
        replayed = replay(suite, golden / name, spec=spec)
        judged = evaluated(suite, golden / name, spec)
        for metric, expected in wanted["metrics"].items():
            regions = region_values(replayed.tokens, places_of(suite), metric=metric)
            first = regions.values[suite.items[0].id]
            for condition, values in expected["first_item_region_values"].items():
                assert list(first[condition]) == pytest.approx(values, abs=1e-6)
            run = judged.judge(metric=metric)
            assert [item_verdicts[:-1] for item_verdicts in held(run)] == expected["predictions"]
            assert rates(run)[:-1] == pytest.approx(expected["accuracy"], abs=1e-12)

"""The published suites, in every form they are found in, and the files around them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from cimento import Condition, Region, Suite, load_suite, load_suites
from cimento.suites.formats.writing import convert
from cimento.suites.formula import canonical, parse
from cimento.suites.load import open_suite
from cimento.suites.stimuli import join_regions, stimulus_text
from tests.helpers.some_slow import some_slow
from tests.helpers.suites_on_disk import faults_of, syntaxgym, write

pytestmark = pytest.mark.golden
PARTS = 8
SOME_SLOW = some_slow(range(PARTS), quick=PARTS)
"""Of many files of one form; all parts but one are read with the slow tests."""


@pytest.fixture(scope="module")
def golden(shared) -> Path:
    return shared / "golden" / "syntaxgym"


@pytest.fixture(scope="module")
def paren(golden) -> dict[str, Suite]:
    return {suite.suite.name: suite.suite for suite in load_suites(golden / "suites" / "paren")}


@pytest.fixture(scope="module")
def bracket(golden) -> dict[str, Suite]:
    return {
        suite.suite.name: suite.suite for suite in list(load_suites(golden / "suites" / "bracket"))
    }


def sentences(suite: Suite) -> list[str]:
    return [stimulus_text(condition, rule=suite.join) for _, condition in suite.stimuli()]


def left_edges(condition: Condition) -> list[int]:
    """Where regions begin for the reference, for which the blank before a region is part of it."""
    text, spans = join_regions(condition.regions)
    return [start - text[:start].endswith(" ") for start, _ in spans]


def test_every_published_suite_is_read(golden, paren):
    index = json.loads((golden / "suites" / "INDEX.json").read_text(encoding="utf-8"))
    expected = {entry["suite"]: entry["n_items"] for entry in index}
    assert expected
    assert {name: len(paren[name].items) for name in expected} == expected
    # counted over the 34 files: spec/agreement-and-syntaxgym.md, section 1
    assert sum(len(suite.items) for suite in paren.values()) == 842
    stimuli = [condition for suite in paren.values() for _, condition in suite.stimuli()]
    assert len(stimuli) == 3304
    assert sum(len(condition.regions) for condition in stimuli) == 24040
    assert sum(len(suite.predictions) for suite in paren.values()) == 36


def test_both_dialects_are_the_same_suites(paren, bracket):
    assert bracket.keys() == paren.keys()
    for name, suite in paren.items():
        other = bracket[name]
        assert other.items == suite.items
        assert other.region_names == suite.region_names
        assert [canonical(parse(prediction.formula)) for prediction in other.predictions] == [
            canonical(parse(prediction.formula)) for prediction in suite.predictions
        ]


def test_stray_blanks_are_counted_as_they_are_published(golden):
    # regions with blanks at their ends: spec/agreement-and-syntaxgym.md, section 1
    expected = {
        "npz_ambig": 256, "npz_ambig_mod": 352, "npz_obj": 347, "npz_obj_mod": 447,
        "fgd-embed3": 2, "fgd-embed4": 4, "subordination_pp-pp": 8,
    }  # fmt: skip
    counts = {
        path.stem: sum(fault.code == "CIM-S040" for fault in faults_of(path))
        for path in (golden / "suites" / "bracket").glob("*.json")
    }
    assert {name: count for name, count in counts.items() if count} == expected


@pytest.mark.slow
def test_the_flat_csv_holds_the_same_items(golden, paren):
    for loaded_suite in load_suites(golden / "suites" / "csv"):
        suite = paren[loaded_suite.suite.name]
        assert loaded_suite.suite.region_names == suite.region_names
        assert loaded_suite.suite.items == suite.items
        assert loaded_suite.suite.predictions == ()


def test_sentences_are_those_of_the_text_files(golden, paren):
    for name, suite in paren.items():
        lines = (golden / "suites" / "txt" / f"{name}.txt").read_text("utf-8").splitlines()
        if name == "nn-nv-rpl":
            # one line of the text file is tokenized already
            lines = [line.replace("company 's", "company's") for line in lines]
        assert sentences(suite) == lines


def test_detok_removes_the_blanks_before_marks_and_nothing_else(paren):
    changed = 0
    for suite in paren.values():
        for _, condition in suite.stimuli():
            plain = stimulus_text(condition)
            text, spans = join_regions(condition.regions, rule="detok")
            assert text == re.sub(r" +([.,!?;:])", r"\1", plain)
            for (start, end), region in zip(spans, condition.regions, strict=True):
                assert text[start:end] == re.sub(r" +([.,!?;:])", r"\1", region.text)
            changed += text != plain
    assert changed > 0


@pytest.mark.parametrize("name", ["cleft", "fgd_object", "mvrr", "npz_ambig", "subordination"])
def test_sentences_and_edges(golden, paren, bracket, name):
    path = golden / "alignment" / "sentences_and_edges" / f"{name}.json"
    expected = json.loads(path.read_text(encoding="utf-8"))["paren"]
    for suite in (paren[name], bracket[name]):
        assert sentences(suite) == expected["sentences"]
        edges = [left_edges(condition) for _, condition in suite.stimuli()]
        assert edges == expected["region_edges"]


def test_what_the_reference_rejects_is_warned_about(golden, tmp_path):
    """The reference refuses such regions; here the ends are stripped and both are warned about."""
    cases = json.loads((golden / "alignment" / "region_validation.json").read_text("utf-8"))
    for case in cases["cases"]:
        content = case["content"]
        path = write(tmp_path / "s.json", syntaxgym(contents=["Le lampade", "sono", content]))
        warned = {fault.code for fault in faults_of(path)} & {"CIM-S040", "CIM-S041"}
        assert bool(warned) is not case["accepted"]
        regions = open_suite(path).suite.items[0].condition("match").regions
        assert regions[2] == Region(content.strip())


def test_the_oldest_dialect_is_read(golden):
    suite = open_suite(golden / "core_data" / "test" / "test_in.json").suite
    assert [prediction.formula for prediction in suite.predictions] == ["(3;%that%) > (3;%what%)"]
    assert suite.meta.extra["metric"] == "all"
    lines = (golden / "core_data" / "test" / "test_sentences.txt").read_text("utf-8").splitlines()
    assert sentences(suite) == lines


def test_the_two_predictions_that_contradict_each_other_are_found(golden):
    names = [
        path.stem
        for path in sorted((golden / "suites" / "paren").glob("*.json"))
        if any(fault.code == "CIM-S025" for fault in faults_of(path))
    ]
    assert names == ["fgd_hierarchy"]


@pytest.mark.parametrize("name", ["test_out_grnn", "test_out_transformer-xl"])
def test_evaluated_suites_keep_their_values(golden, name):
    path = golden / "core_data" / "test" / f"{name}.json"
    suite = open_suite(path).suite
    raw = json.loads(path.read_text(encoding="utf-8"))
    for item, raw_item in zip(suite.items, raw["items"], strict=True):
        for raw_condition in raw_item["conditions"]:
            regions = item.condition(raw_condition["condition_name"]).regions
            for region, raw_region in zip(regions, raw_condition["regions"], strict=True):
                assert region.extra["metric_value"] == raw_region["metric_value"]


def json_files(golden: Path) -> list[Path]:
    files = [path for kind in ("paren", "bracket") for path in (golden / "suites" / kind).iterdir()]
    files += [golden / "suites" / "sample_suite.json"]
    files += [golden / "suites" / "seed_attribute_agreement_it.json"]
    files += [golden / "core_data" / "dummy_evaluated_suite.json"]
    files += [
        path
        for kind in ("test", "test-unk")
        for path in (golden / "core_data" / kind).glob("*.json")
    ]
    return [*files, golden / "sg_eval_fgd_hierarchy" / "fgd_hierarchy.json"]


@pytest.mark.slow
@pytest.mark.parametrize("part", SOME_SLOW)
def test_every_file_survives_the_way_there_and_back(golden, tmp_path, part):
    files = json_files(golden)
    assert len(files) > 70
    for number, path in enumerate(files[part::PARTS]):
        suite = open_suite(path).suite
        native = convert(suite, "native", tmp_path / str(number))
        assert open_suite(native).suite == suite
        written = convert(suite, "syntaxgym", tmp_path / f"{number}.json")
        assert open_suite(written).suite == suite


@pytest.mark.slow
def test_clean_files_are_written_as_they_were(golden, tmp_path):
    for path in [*(golden / "suites" / "paren").iterdir(), *(golden / "suites").glob("seed*")]:
        written = convert(open_suite(path).suite, "syntaxgym", tmp_path / path.name)
        again, raw = (json.loads(file.read_text(encoding="utf-8")) for file in (written, path))
        assert again == raw


@pytest.mark.slow
@pytest.mark.parametrize("part", SOME_SLOW)
def test_blimp_is_read_and_written_as_it_was(shared, tmp_path, part):
    files = sorted((shared / "data" / "blimp").glob("*.jsonl"))[part::PARTS]
    loaded = [load_suite(path) for path in files]
    assert [loaded_suite.suite.name for loaded_suite in loaded] == [path.stem for path in files]
    for loaded_suite, path in zip(loaded, files, strict=True):
        assert len(loaded_suite.suite.items) == 1000
        expected = {"CIM-S033", "CIM-S051", "CIM-S052", "CIM-S055"}
        assert {fault.code for fault in loaded_suite.reading.faults} <= expected
        written = convert(loaded_suite.suite, "blimp", tmp_path / path.name)
        lines, raw = (
            [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
            for file in (written, path)
        )
        assert lines == raw


def test_faults_of_real_italian_suites_are_found(shared, tmp_path):
    """The faults that data/islands/README.md names: both apostrophes, in one item too."""
    import csv

    table = shared / "data" / "islands" / "italian" / "madeddu_all_long.csv"
    with table.open(encoding="utf-8", newline="") as file:
        rows = [
            row
            for row in csv.DictReader(file)
            if row["suite"] == "madeddu_2022-07" and row["island"] == "adjunct"
        ]
    lines = ["item\tcondition\ttext"]
    lines += [f"{row['item']}\t{row['condition']}\t{row['sentence']}" for row in rows]
    write(tmp_path / "items.tsv", "\n".join(lines))
    write(tmp_path / "suite.toml", '[meta]\nname = "adjunct"\nlanguage = "it"\n')
    codes = {fault.code for fault in faults_of(tmp_path)}
    assert codes == {"CIM-S023", "CIM-S044", "CIM-S073"}

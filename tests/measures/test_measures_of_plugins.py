"""Measures of other packages: what they must be, what is said of them, and where they are noted."""

from __future__ import annotations

import importlib
import json
import re
import sys
from pathlib import Path

import polars as pl
import pytest

import cimento
from cimento import UsageError
from cimento.cite import methods_paragraph
from cimento.cli.main import invoke
from cimento.errors import PluginError
from cimento.measures import NoValue, Sentence, find_measure

MODULE = """
import math
from cimento import Measure, UndefinedValueError

def first_of_three(sentence):
    if sentence.n_tokens < 3:
        raise UndefinedValueError("it has fewer than three tokens")
    return sentence.logprobs_nats[0]

def median(sentence):
    ordered = sorted(sentence.logprobs_nats)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2

def made(name, unit="nats", function=median, needs=()):
    return Measure(name=name, formula="median of ln P(token)", unit=unit, higher_is_better=True,
                   source="-", function=function, needs=needs)

def per_character(sentence):
    return math.fsum(sentence.logprobs_nats) / sentence.n_chars

def evenness(sentence):
    return max(sentence.logprobs_nats) / min(sentence.logprobs_nats)

MEDIAN = made("median-token")
PER_CHARACTER = made("per-character", unit="nats per character", function=per_character)
EVENNESS = made("evenness", unit="", function=evenness)
FURLONGS = made("furlong-token", unit="furlongs")
RANKED = made("ranked", needs=("rank",))
OTHERWISE = made("something-else")
LONG = made("long", function=first_of_three)
NO_NUMBER = made("no-number", function=lambda sentence: math.nan)
"""
ENTRIES = """[cimento.measures]
median-token = cimento_median:MEDIAN
per-character = cimento_median:PER_CHARACTER
evenness = cimento_median:EVENNESS
furlong-token = cimento_median:FURLONGS
ranked = cimento_median:RANKED
misnamed = cimento_median:OTHERWISE
long = cimento_median:LONG
no-number = cimento_median:NO_NUMBER
"""


def install(folder: Path, version: str, monkeypatch) -> None:
    """Put a package with these measures on the path, before an earlier version of it."""
    information = folder / f"cimento_median-{version}.dist-info"
    information.mkdir(parents=True)
    metadata = f"Metadata-Version: 2.1\nName: cimento-median\nVersion: {version}\n"
    (information / "METADATA").write_text(metadata, encoding="utf-8")
    (information / "entry_points.txt").write_text(ENTRIES, encoding="utf-8")
    (folder / "cimento_median.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "cimento_median", raising=False)
    importlib.invalidate_caches()


@pytest.fixture(autouse=True)
def installed(tmp_path, monkeypatch):
    """Version 1.0 of the package."""
    install(tmp_path / "installed", "1.0", monkeypatch)


@pytest.fixture
def pairs(tmp_path) -> Path:
    """Two pairs; a letter costs the same everywhere, so that lengths of words decide.

    The median word of both sentences of the first pair has five letters, and its bad sentence has
    two words more. Of the second pair, both sums and medians differ.
    """
    path = tmp_path / "verbs.tsv"
    rows = "Luisa canta.\tLuisa canta molto forte.\nI cani corrono.\tI bassotti attraversano.\n"
    path.write_text(f"good\tbad\n{rows}", encoding="utf-8")
    return path


SAMPLE = Path(__file__).parents[1] / "sample_plugin"


@pytest.mark.parametrize(
    ("measures", "ties"), [(("median-token", "lp"), 1), (("lp", "median-token"), 0)]
)
def test_a_methods_paragraph_counts_the_ties_of_the_measure_that_it_names(
    pairs, measures, ties, monkeypatch
):
    monkeypatch.syspath_prepend(str(SAMPLE))
    run = cimento.evaluate(pairs, "length:1", language="it").judge(measures=measures)

    first = measures[0]
    assert [row for row in run.outcomes()["verdict"] if row == "tie"] == ["tie"] * ties
    paragraph = methods_paragraph([run])
    assert f"by {'log-probability (lp)' if first == 'lp' else first}" in paragraph
    counted = "1 is a tie" if ties else "0 are ties"
    assert f"Of 2 verdicts, {counted} (counted as failures)" in paragraph
    told = "1 was a tie" if ties else "none was a tie"
    assert f"Of 2 verdicts, {told}. Accuracy (good, {first}) was" in methods_paragraph(
        [run], appendix=True
    )


# A letter, and the period, costs one bit: of "Luisa canta." that is 5 + 5 + 1 in 12 characters.
IN_UNITS = {
    # The sum for the bad sentence less that for the good one, each divided by its characters.
    "per-character": ("bits per character", [21 / 24 - 11 / 12, 22 / 24 - 13 / 15]),
    # The cheapest token by the dearest, in the good sentence less in the bad one.
    "evenness": ("", [1 / 5 - 1 / 5, 1 / 7 - 1 / 12]),
}


@pytest.mark.parametrize("name", IN_UNITS)
def test_margins_on_a_measure_have_its_unit_in_outcomes_figures_and_files(
    pairs, name, monkeypatch, tmp_path
):
    monkeypatch.syspath_prepend(str(SAMPLE))
    unit, margins = IN_UNITS[name]
    run = cimento.evaluate(pairs, "length:1", language="it", measures=name)
    outcomes = run.outcomes()
    assert outcomes["unit"].to_list() == [unit] * 2
    assert outcomes["value"].to_list() == pytest.approx(margins, abs=1e-12)
    assert outcomes["reason"].null_count() == 2
    signs = ["pass" if one > 1e-12 else "tie" if abs(one) < 1e-12 else "fail" for one in margins]
    assert outcomes["verdict"].to_list() == signs

    paths = [tmp_path / f"margins{ending}" for ending in (".csv", ".json")]
    for path in paths:
        cimento.figure(run, "margins", path)
    frame = pl.read_csv(paths[0])
    assert sorted(frame["margin"].to_list()) == pytest.approx(sorted(margins), abs=1e-12)
    assert set(frame["unit"].fill_null("")) == {unit}
    axis = f"margin, {unit}".rstrip(", ")
    assert f'"title": "{axis}"' in paths[1].read_text(encoding="utf-8")


def test_a_registered_measure_is_given_as_an_object_and_stored_by_its_name(pairs, tmp_path):
    measure = importlib.import_module("cimento_median").MEDIAN
    run = cimento.evaluate(pairs, "demo-causal", language="it", measures=measure, output=tmp_path)
    assert run.options.measure == "median-token"
    assert run.manifest["plugins"]["measures"]["median-token"]["version"] == "1.0"
    opened = cimento.open_run(run.folder)
    assert opened.judge().outcomes().equals(run.outcomes())
    for given in ({"measures": measure}, {"measures": ["lp", measure]}):
        asked = cimento.evaluate(pairs, "demo-causal", language="it", **given)
        assert "median-token" in asked.options.measure_names
    assert run.judge(measures="lp").judge(measures=measure).outcomes().equals(run.outcomes())


@pytest.mark.parametrize("others", [(), ("lp",)])
def test_a_measure_that_no_package_registers_is_refused_with_the_lines_that_do(pairs, others):
    measure = importlib.import_module("cimento_median").made("made-here")
    with pytest.raises(UsageError) as caught:
        cimento.evaluate(pairs, "demo-causal", language="it", measures=[*others, measure])
    assert "measure 'made-here': no package registers it" in str(caught.value)
    lines = '\n[project.entry-points."cimento.measures"]\nmade-here = "MODULE:VARIABLE"\n'
    assert lines in str(caught.value)


@pytest.mark.parametrize("name", ["lp", "median-token"])
def test_a_measure_under_the_name_of_another_is_refused(pairs, name):
    module = importlib.import_module("cimento_median")
    measure = module.made(name, function=module.evenness)
    with pytest.raises(UsageError, match=f"measure '{name}': another measure has this name"):
        cimento.evaluate(pairs, "demo-causal", language="it", measures=measure)


def test_runs_with_one_prediction_are_counted_beside_runs_with_several():
    one, several = (
        cimento.evaluate(name, "demo-causal", limit=4)
        for name in ("it-subject-verb", "en-subject-verb")
    )
    counts = [
        int(re.search(r"Of (\d+) verdicts", methods_paragraph(runs))[1])
        for runs in ([one], [several], [one, several])
    ]
    assert counts[2] == counts[0] + counts[1]


def test_the_paragraph_and_the_appendix_count_the_same_verdicts():
    """Those on single predictions: that all of them hold is no further verdict."""
    for name, verdicts in (("it-subject-verb", 2 * 4), ("it-filler-gap", 3 * 4)):
        run = cimento.evaluate(name, "demo-causal", limit=4)
        for appendix in (False, True):
            assert f"Of {verdicts} verdicts, " in methods_paragraph([run], appendix=appendix)


def test_the_first_hit_and_the_choice_of_a_blank_are_its_verdicts():
    """Not hit@10, nor the choice by rules that the headline is not about."""
    run = cimento.evaluate("it-connectives-cloze", "demo-causal", limit=6)
    for appendix in (False, True):
        said = methods_paragraph([run], appendix=appendix)
        assert f"Of {2 * 6} verdicts (6 on hit@1, 6 on the choice), " in said


def test_one_near_tie_is_one():
    run = cimento.evaluate("it-relative-clause-verb", "demo-causal")
    least, second, *_ = run.outcomes()["value"].abs().sort().to_list()
    assert 0 < least < second
    nearer = run.judge(near_ties=(least + second) / 2)
    assert "1 near tie (below" in methods_paragraph([nearer])


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("furlong-token", "its unit is 'furlongs'"),
        ("misnamed", "its name is 'something-else'"),
        ("ranked", "it needs 'rank'; only 'logit', 'log_sigmoid_sum', 'unigrams' can be read"),
    ],
)
def test_a_measure_with_a_wrong_unit_name_or_need_is_refused(name, seen):
    with pytest.raises(PluginError, match=rf"'{name}' of cimento-median 1\.0: {seen}") as caught:
        find_measure(name)
    assert "nats or bits" in str(caught.value)


def test_no_number_is_no_value_and_has_a_reason():
    sentence = Sentence(logprobs_nats=(-1.0, -2.0), n_words=2, n_chars=9)
    assert find_measure("no-number").of(sentence) == NoValue(
        "the measure no-number returned no number (NaN)"
    )


def test_a_function_says_with_a_public_name_that_there_is_no_value():
    sentence = Sentence(logprobs_nats=(-1.0, -2.0), n_words=2, n_chars=9)
    assert find_measure("long").of(sentence) == NoValue("it has fewer than three tokens")


def test_no_number_leaves_an_item_unscored_with_the_reason(pairs):
    run = cimento.evaluate(pairs, "demo-causal", language="it").judge(measures="no-number")
    assert run.outcomes()["verdict"].to_list() == ["unscored"] * 2
    [reason] = set(run.outcomes()["reason"])
    assert "the measure no-number returned no number (NaN)" in reason


def test_a_measure_of_a_plugin_is_suggested_for_a_name_like_its_own():
    with pytest.raises(UsageError, match="Did you mean 'median-token'"):
        find_measure("median-tokn")


def test_near_ties_of_a_measure_without_divisor_are_not_said_to_come_from_raw_outputs(pairs):
    run = cimento.evaluate(pairs, "demo-causal", language="it").judge(measures="median-token")
    [reason] = {one.near_tie_method for one in run.estimates() if one.is_share}
    assert "raw outputs" not in reason
    assert "how an error of log-probabilities enters it is not stated" in reason


def run_here(pairs: Path, output: Path, *measures: str) -> None:
    measured = ["--measure", ",".join(measures)] if measures else []
    arguments = ["run", str(pairs), "--language", "it", "-m", "demo-causal", *measured]
    assert invoke([*arguments, "-o", str(output)]) == 0


def manifest_in(output: Path) -> dict[str, object]:
    [path] = output.glob("*/*/manifest.json")
    return json.loads(path.read_text(encoding="utf-8"))


def test_a_manifest_names_the_package_of_a_measure_and_another_version_is_said(
    pairs, tmp_path, monkeypatch, capsys
):
    output = tmp_path / "runs"
    run_here(pairs, output, "lp", "median-token")
    assert manifest_in(output)["plugins"] == {
        "measures": {"median-token": {"package": "cimento-median", "version": "1.0"}}
    }
    capsys.readouterr()
    run_here(pairs, output, "lp", "median-token")
    assert "cimento-median" not in capsys.readouterr().err

    install(tmp_path / "later", "1.1", monkeypatch)
    run_here(pairs, output, "lp", "median-token")
    said = " ".join(capsys.readouterr().err.split())
    assert "the measure 'median-token' was that of cimento-median 1.0" in said
    assert "and cimento-median 1.1 is installed; --force repeats it" in said


def test_a_manifest_names_the_package_of_a_kind_of_test(probing, tmp_path):
    assert invoke(["run", str(probing), "-m", "demo-causal", "-o", str(tmp_path / "runs")]) == 0
    assert manifest_in(tmp_path / "runs")["plugins"] == {
        "paradigms": {"probing": {"package": "cimento-sample", "version": "1.0"}}
    }


def test_a_manifest_without_plugins_names_none(pairs, tmp_path):
    run_here(pairs, tmp_path / "runs", "lp")
    assert "plugins" not in manifest_in(tmp_path / "runs")


STARRED = "Il gatto dorme.\n*Il gatto dormono.\nI cani corrono.\n*I cani corre.\n"
SAMPLED = {"package": "cimento-sample", "version": "1.0"}


def test_the_packages_of_a_model_and_of_a_reader_are_in_the_manifest_and_in_the_appendix(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.syspath_prepend(str(SAMPLE))
    path, runs = tmp_path / "verbs.starred", tmp_path / "runs"
    path.write_text(STARRED, encoding="utf-8")
    arguments = ["-m", "length:2", "--measure", "median-token", "-o", str(runs)]
    assert invoke(["run", str(path), *arguments]) == 0
    assert manifest_in(runs)["plugins"] == {
        "models": {"length": SAMPLED},
        "readers": {".starred": SAMPLED},
        "measures": {"median-token": {"package": "cimento-median", "version": "1.0"}},
    }
    capsys.readouterr()
    assert invoke(["cite", str(runs), "--appendix"]) == 0
    said = capsys.readouterr().out
    assert "The measure median-token is from the package cimento-median 1.0." in said
    assert (
        "The model length:2 and the reader of .starred files are from the package"
        " cimento-sample 1.0." in said
    )
    assert "judged again" not in said


def test_the_appendix_has_the_package_and_the_options_of_a_kind_of_test(probing, capsys):
    runs = probing.parent / "runs"
    options = ["--set", "article=La ", "-o", str(runs)]
    assert invoke(["run", str(probing), "-m", "demo-causal", *options]) == 0
    capsys.readouterr()
    assert invoke(["cite", str(runs), "--appendix"]) == 0
    said = capsys.readouterr().out
    assert "The paradigm probing is from the package cimento-sample 1.0." in said
    assert 'The options of probing were article = "La " and seed = 0.' in said


def test_a_run_that_is_judged_again_says_by_what(pairs, tmp_path, monkeypatch, capsys):
    runs, later = tmp_path / "runs", tmp_path / "later"
    run_here(pairs, runs, "per-character")
    install(tmp_path / "newer", "1.1", monkeypatch)
    judging = ["judge", str(runs), "--measure", "median-token", "-o", str(later)]
    assert invoke(judging) == 0
    newer = {"measures": {"median-token": {"package": "cimento-median", "version": "1.1"}}}
    manifest = manifest_in(later)
    assert manifest["plugins"] == newer
    assert manifest["judged"]["plugins"] == newer
    assert manifest["judged"]["cimento"] == cimento.__version__
    # A command that is repeated finds what it would write.
    assert invoke(judging) == 0
    assert manifest_in(later) == manifest
    assert "judged" not in manifest_in(runs)

    # Without plug-ins, there is only the version of cimento.
    assert invoke(["judge", str(later), "--measure", "lp", "-o", str(tmp_path / "third")]) == 0
    manifest = manifest_in(tmp_path / "third")
    assert manifest["judged"] == {"cimento": cimento.__version__}
    assert "plugins" not in manifest

    capsys.readouterr()
    assert invoke(["cite", str(later), "--appendix"]) == 0
    said = capsys.readouterr().out
    by = f"cimento {cimento.__version__} and cimento-median 1.1"
    assert f"The answers were judged again with {by}." in said


def test_a_repetition_says_which_plugin_has_another_version_or_is_gone(
    pairs, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    run_here(pairs, Path("runs"), "median-token")
    [folder] = (path.parent for path in Path("runs").glob("*/*/manifest.json"))
    rerun = ["rerun", "runs", "--json", "-o"]
    capsys.readouterr()
    assert invoke([*rerun, "again"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["plugins"] == {str(folder): []}
    assert "cimento-median" not in said.err

    install(tmp_path / "newer", "1.1", monkeypatch)
    assert invoke([*rerun, "newer-runs"]) == 0
    said = capsys.readouterr()
    remark = (
        "the measure 'median-token' was that of cimento-median 1.0, and cimento-median 1.1 is"
        " installed"
    )
    assert json.loads(said.out)["plugins"] == {str(folder): [remark]}
    assert remark in " ".join(said.err.split())
    assert manifest_in(Path("newer-runs"))["plugins"]["measures"]["median-token"] == {
        "package": "cimento-median",
        "version": "1.1",
    }

    gone = [str(path) for path in (tmp_path / "installed", tmp_path / "newer")]
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path not in gone])
    importlib.invalidate_caches()
    assert invoke([*rerun, "gone"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "was that of cimento-median 1.0, and it is not installed" in said
    assert "there is no such measure" in said

"""Whole sets beside released results: means over files, paired differences, and what is shown."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from cimento import open_runs
from cimento.cli.main import invoke
from cimento.compare import beside_sets as module
from cimento.compare.beside_published import OTHERWISE, BesidePublished
from cimento.compare.beside_sets import (
    beside_sets,
    beside_sets_grid,
    beside_whole_set,
    whole_sets,
)
from cimento.compare.set_results import SetResult
from cimento.report.grid import as_markdown
from cimento.statistics.multiple import holm
from cimento.suites.published_results import PEOPLE, PublishedResult, ResultSource

FILE = BesidePublished(
    set="pairs",
    suite="one",
    label="",
    model="mine",
    value=0.7,
    low=0.6,
    high=0.8,
    reason="",
    n=100,
    published_model="theirs",
    published=0.9,
    published_n=100,
    measure="lp",
    scored="log-probability of the sentence",
    doubt="",
    citation="Nobody 2026",
    address="https://example.org/results",
)
NO_PHENOMENA: dict[str, list[str]] = {}


def test_both_are_unweighted_means_over_the_same_files() -> None:
    files = [FILE, replace(FILE, suite="two", value=0.5, low=0.2, high=0.6, n=20, published=0.6)]
    (one,) = beside_sets(files, NO_PHENOMENA)
    assert (one.n_files, one.n, one.published_n) == (2, 120, 200)
    assert one.value == pytest.approx((0.7 + 0.5) / 2)
    assert one.published == pytest.approx((0.9 + 0.6) / 2)
    # The distances of the ends, as of independent sums: sqrt(.1 ** 2 + .3 ** 2) / 2 below.
    assert one.low == pytest.approx(0.6 - math.sqrt(0.1**2 + 0.3**2) / 2)
    assert one.high == pytest.approx(0.6 + math.sqrt(0.1**2 + 0.1**2) / 2)
    assert one.doubt == "120 items here, 200 published"
    assert (one.change, one.p, one.about) == (None, None, "")


def test_results_on_some_items_of_a_file_are_left_out() -> None:
    (one,) = beside_sets([FILE, replace(FILE, label="verbs", value=0.1)], NO_PHENOMENA)
    assert (one.n_files, one.value) == (1, pytest.approx(0.7))


def test_a_file_without_a_value_leaves_the_mean_without_one() -> None:
    gone = replace(FILE, suite="two", value=None, low=None, high=None, n=0)
    (one,) = beside_sets([FILE, gone], NO_PHENOMENA)
    assert (one.value, one.low) == (None, None)
    assert one.reason


def test_the_test_of_one_file_is_that_of_its_items() -> None:
    paired = replace(FILE, change=-0.2, change_low=-0.3, change_high=-0.1, p=0.004)
    (one,) = beside_sets([paired], NO_PHENOMENA)
    assert (one.change, one.change_low, one.change_high) == pytest.approx((-0.2, -0.3, -0.1))
    assert (one.p, one.corrected, one.about) == (0.004, 0.004, "items")


def test_the_test_of_files_is_for_other_phenomena_where_there_are_five() -> None:
    """As R has it: t.test(c(-.1, -.2, -.3, -.15, -.25)) has p = 0.004813."""
    changes = (-0.1, -0.2, -0.3, -0.15, -0.25)
    files = [
        replace(FILE, suite=f"s{k}", change=c, change_low=c - 0.1, change_high=c + 0.1, p=0.5)
        for k, c in enumerate(changes)
    ]
    (one,) = beside_sets(files, {f"s{k}": [f"phenomenon {k}"] for k in range(5)})
    assert one.about == "phenomena"
    assert one.change == pytest.approx(-0.2)
    assert 0.002 < (one.p or 0.0) < 0.02
    assert (one.change_low or 0.0) < -0.2 < (one.change_high or 0.0) < 0
    (few,) = beside_sets(files[:3], NO_PHENOMENA)
    assert (few.about, few.p) == ("items", None)
    assert few.change_low == pytest.approx(-0.2 - 0.1 / math.sqrt(3))


def test_the_best_come_first_and_p_is_corrected_over_all() -> None:
    paired = replace(FILE, change=-0.2, change_low=-0.3, change_high=-0.1, p=0.004)
    worse = replace(paired, published_model="worse", published=0.2, p=0.03)
    found = beside_sets([worse, paired], NO_PHENOMENA)
    assert [one.published_model for one in found] == ["theirs", "worse"]
    assert [one.corrected for one in found] == holm([0.004, 0.03]) == [0.008, 0.03]


def test_a_whole_set_is_beside_results_of_all_its_files_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = ResultSource(
        set="pairs", citation="Nobody 2027", repository="nobody/results", commit="0" * 40,
        files=("table.md",), scored="mean over tokens", measure="meanlp", copy="of nobody",
    )  # fmt: skip
    released = PublishedResult(source=source, file="", label="", model="large", n=300, stated=0.83)
    monkeypatch.setattr(module, "results_on_all", lambda name, _: [released] * (name == "pairs"))
    ours = SetResult(
        set="pairs", suite="", model="mine", statistic="accuracy", question="", value=0.6, low=0.55,
        high=0.65, reason="", n_items=200, n_paradigms=2, chance=0.5,
    )  # fmt: skip
    (one,) = beside_whole_set(ours, [])
    assert (one.value, one.low, one.published, one.published_n) == (0.6, 0.55, 0.83, 300)
    assert one.doubt == "scored otherwise; on the copy of nobody; 200 items here, 300 published"
    assert list(beside_whole_set(replace(ours, set="others"), [])) == []
    # In one order with results by file, and in no test.
    found = beside_sets([FILE], NO_PHENOMENA, whole=[one])
    assert [(row.published_model, row.p) for row in found] == [("theirs", None), ("large", None)]


def test_runs_of_all_files_of_a_set_are_beside_results_of_the_whole_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two files of four and of two pairs: the mean over files is ours, whatever their sizes."""
    nouns = ("dog", "cat", "girl", "boy")
    digests = {}
    for name, verb, n in (("sings.tsv", "sings", 4), ("runs.tsv", "runs", 2)):
        rows = [f"The {noun} {verb}.\tThe {noun} {verb[:-1]}." for noun in nouns[:n]]
        (tmp_path / name).write_text("good\tbad\n" + "\n".join(rows) + "\n", encoding="utf-8")
        digests[hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()] = "ours"
    source = ResultSource(
        set="ours", citation="Nobody 2027", repository="nobody/results", commit="0" * 40,
        files=("table.md",), scored="summed log-probability", measure="lp",
    )  # fmt: skip
    released = PublishedResult(source=source, file="", label="", model="large", n=6, stated=0.83)
    monkeypatch.setattr(module, "files_of_whole_sets", lambda: digests)
    monkeypatch.setattr(
        module, "results_on_all",
        lambda name, asked: [released] * (name == "ours" and {*digests} <= {*asked}),
    )  # fmt: skip
    out, part = tmp_path / "out", tmp_path / "part"
    asked = ["-m", "demo-causal", "--language", "en", "--no-cache", "-o"]
    both = [str(tmp_path / name) for name in ("sings.tsv", "runs.tsv")]
    assert invoke(["run", *both, *asked, str(out)]) == 0
    rates = [
        next(one.value for one in run.estimates() if one.role == "headline")
        for run in open_runs(out)
    ]
    capsys.readouterr()
    assert invoke(["compare", str(out), "--published", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["published"] == []
    [one] = printed["sets"]
    assert one["value"] == pytest.approx(sum(rates) / 2)
    assert (one["n"], one["n_files"], one["published"], one["doubt"]) == (6, 2, 0.83, "")
    assert invoke(["compare", str(out), "--published"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Sets beside results that authors published" in said
    assert "Published, ours: Nobody 2027" in said
    # A part of the set is not the set.
    assert invoke(["run", both[0], *asked, str(part)]) == 0
    assert whole_sets(open_runs(part)) == ()
    assert invoke(["compare", str(part), "--published"]) == 2


def test_the_table_marks_what_is_published_and_warns() -> None:
    doubted = replace(FILE, doubt=OTHERWISE)
    people = replace(FILE, published_model=PEOPLE, published=0.97, scored="choice of one of two")
    others = [
        replace(FILE, published_model=f"model {k}", published=(k + 0.3) / 10) for k in range(1, 9)
    ]  # fmt: skip
    found = beside_sets([doubted, people, *others], NO_PHENOMENA)
    whole = as_markdown(beside_sets_grid(found))
    assert "results that authors published" in whole
    assert whole.count("scored otherwise") == 1
    assert "scored differently from mine by lp: the models of Nobody 2026" in whole
    assert "people: choice of one of two" in whole
    few = beside_sets_grid(found, most=4)
    # People, the best, and the two nearest to 0.7; the rest is counted.
    assert [row[2] for row in few.rows] == [PEOPLE, "theirs", "model 7", "model 6"]
    assert "Not shown: 6 other results, farther from ours; JSON has all." in few.notes
    # Without a released item there is no column of differences.
    assert "minus published" not in few.header

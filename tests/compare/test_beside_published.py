"""Runs beside results that authors released: which files they are of, and the paired test."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest
from scipy import stats

from cimento import UsageError, open_runs
from cimento.cli.main import invoke
from cimento.compare import beside_published as module
from cimento.compare.beside_published import beside_published, published_grid
from cimento.documents import REPORT_FORMS
from cimento.report.grid import as_csv
from cimento.suites.published import published
from cimento.suites.published_results import (
    PEOPLE,
    PublishedResult,
    ResultSource,
    blimp_datasets,
    blimp_names,
    published_results,
    results_on,
    results_on_all,
)

NOUNS = ("dog", "cat", "girl", "boy", "guest", "nurse", "farmer", "driver", "singer", "judge")
SOURCE = ResultSource(
    set="bl2mp",
    citation="Nobody 2026",
    repository="nobody/results",
    commit="0" * 40,
    files=("results.csv",),
    scored="log-probability of the sentence",
    measure="lp",
    people="choice of one of two sentences",
    models={"small": "A Small Model"},
)
BITS = "c7c0"  # 1100 0111 1100 0000


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run of ten pairs of two types, and the file of the pairs."""
    folder = tmp_path_factory.mktemp("published")
    rows = [
        {
            "sentence_good": f"The {noun} sleeps in the garden.",
            "sentence_bad": f"The {noun} sleep in the garden.",
            "type": "E2: Aditza" if k < 6 else "E1: Deklinabidea",
        }
        for k, noun in enumerate(NOUNS)
    ]
    path = folder / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    asked = ["run", str(path), "-m", "demo-causal", "--language", "en", "--no-cache"]
    assert invoke([*asked, "-o", str(folder / "runs")]) == 0
    return folder


@pytest.fixture
def released(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results on the very file of the run: of items, of all, of a label, and of people."""
    digest = hashlib.sha256((runs / "pairs.jsonl").read_bytes()).hexdigest()

    def result(model: str, n: int, **more: object) -> PublishedResult:
        made = {"source": SOURCE, "file": "pairs.jsonl", "label": "", "model": model, "n": n}
        return PublishedResult(**{**made, **more})

    results = [
        result("small", 10, bits=BITS),
        result("large", 10, stated=0.9),
        result("large", 6, stated=0.5, label="E2: Aditza"),
        result(PEOPLE, 40, stated=0.975),
    ]
    known = {digest: results}
    monkeypatch.setattr(module, "results_on", lambda sha256: known.get(sha256, ()))


def verdicts(runs: Path) -> list[bool]:
    (run,) = open_runs(runs / "runs")
    outcomes = run.outcomes()
    return outcomes.sort(outcomes["item"].cast(int))["right"].to_list()


@pytest.mark.usefixtures("released")
def test_a_run_is_beside_each_result_on_the_same_items(runs: Path) -> None:
    people, large, small, of_verbs = beside_published(open_runs(runs / "runs"))
    right = verdicts(runs)
    assert small.value == large.value == sum(right) / 10
    assert of_verbs.value == sum(right[:6]) / 6
    assert (small.n, large.n, of_verbs.n) == (10, 10, 6)
    assert (small.published, small.published_n) == (0.7, 10)
    assert (large.published, of_verbs.published, people.published) == (0.9, 0.5, 0.975)
    assert (small.published_model, large.published_model) == ("A Small Model", "large")
    assert (large.scored, people.scored) == (SOURCE.scored, SOURCE.people)
    assert people.published_n == 40
    # The interval is that of Wilson, without a correction.
    ends = stats.binomtest(sum(right), 10).proportion_ci(method="wilson")
    assert (small.low, small.high) == pytest.approx((ends.low, ends.high))


@pytest.mark.usefixtures("released")
def test_released_items_are_paired_with_those_of_the_run(runs: Path) -> None:
    _, large, small, _ = beside_published(open_runs(runs / "runs"))
    theirs = [True, True, False, False, False, True, True, True, True, True]
    both = list(zip(verdicts(runs), theirs, strict=True))
    gained, lost = both.count((True, False)), both.count((False, True))
    assert (small.only_run, small.only_published) == (gained, lost)
    assert small.change == pytest.approx((gained - lost) / 10)
    assert small.p == pytest.approx(stats.binomtest(gained, gained + lost).pvalue)
    assert small.corrected == small.p  # the only test
    assert (large.change, large.p, large.only_run) == (None, None, None)


@pytest.mark.usefixtures("released")
def test_another_measure_and_missing_items_are_warned_about(runs: Path, tmp_path: Path) -> None:
    same = beside_published(open_runs(runs / "runs"))
    assert {one.doubt for one in same} == {""}
    assert {one.measure for one in same} == {"lp"}
    by_word = beside_published(open_runs(runs / "runs"), measure="mean-char")
    assert [one.doubt for one in by_word] == [""] + ["scored otherwise"] * 3
    notes = published_grid(by_word).notes
    assert notes[-1].endswith("by mean-char: the models of Nobody 2026.")
    # Bits of surprisal order sentences as their log-probabilities do.
    assert not any(
        one.doubt for one in beside_published(open_runs(runs / "runs"), measure="surprisal-bits")
    )
    asked = ["run", str(runs / "pairs.jsonl"), "-m", "demo-causal", "--limit", "4", "--no-cache"]
    assert invoke([*asked, "-o", str(tmp_path / "few")]) == 0
    _, large, small, _ = beside_published(open_runs(tmp_path / "few"))
    assert (small.n, small.published_n, small.published, small.doubt) == (4, 4, 0.5, "")
    assert large.doubt == "the run has 4 of 10 items"


@pytest.mark.usefixtures("released")
def test_a_run_is_judged_by_the_measure_of_each_release_where_it_can_be(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = open_runs(runs / "runs")

    def result(measure: str, model: str = "large") -> PublishedResult:
        source = replace(SOURCE, measure=measure)
        return PublishedResult(
            source=source, file="pairs.jsonl", label="", model=model, n=10, bits=BITS
        )

    released = [result("meanlp"), result("a rule of their own"), result("meanlp", PEOPLE)]
    monkeypatch.setattr(module, "results_on", lambda _: released)
    by_mean, otherwise, people = beside_published(opened, likewise=True)
    judged = opened[0].judge(measures="meanlp").outcomes()
    assert by_mean.value == judged["right"].mean()
    assert (by_mean.measure, by_mean.doubt) == ("meanlp", "")
    theirs = [True, True, False, False, False, True, True, True, True, True]
    right = judged.sort(judged["item"].cast(int))["right"].to_list()
    assert by_mean.change == pytest.approx((sum(right) - sum(theirs)) / 10)
    assert (otherwise.measure, otherwise.doubt) == ("lp", "scored otherwise")
    assert (people.measure, people.value) == ("lp", otherwise.value)
    # Unless that is asked for, every release is beside the run as it was judged.
    assert {one.measure for one in beside_published(opened)} == {"lp"}


@pytest.mark.usefixtures("released")
def test_results_on_some_of_the_items_are_warned_about(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    half = PublishedResult(
        source=SOURCE, file="pairs.jsonl", label="", model="large", n=5, stated=0.8
    )
    monkeypatch.setattr(module, "results_on", lambda _: [half])
    (one,) = beside_published(open_runs(runs / "runs"))
    assert (one.published_n, one.doubt) == (5, "published of 5 of them")


@pytest.mark.usefixtures("released")
def test_every_output_marks_what_is_published(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(runs / "runs")
    opened = open_runs(folder)
    head, *rows = as_csv(published_grid(beside_published(opened))).splitlines()
    assert "published_percent" in head
    assert len(rows) == 4
    capsys.readouterr()
    assert invoke(["compare", folder, "--published"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "those that authors published" in shown
    assert f"{SOURCE.repository}/tree/{SOURCE.commit}" in shown
    assert "models: log-probability of the sentence; people: choice" in shown
    assert invoke(["compare", folder, "--published", "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)["published"]
    assert [one["published_model"] for one in plain] == [PEOPLE, "large", "A Small Model", "large"]
    assert invoke(["report", folder, "--table", "published", "--format", "csv"]) == 0
    assert capsys.readouterr().out.replace("\r", "").splitlines()[0] == head
    for ending in (".html", ".md"):
        assert "those that authors published" in REPORT_FORMS[ending](opened)


@pytest.mark.usefixtures("released")
def test_a_site_has_the_published_results(runs: Path, tmp_path: Path) -> None:
    assert invoke(["report", str(runs / "runs"), "--site", str(tmp_path / "site")]) == 0
    board = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert "those that authors published" in board


def test_runs_of_other_files_have_nothing_beside_them(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert beside_published(open_runs(runs / "runs")) == ()
    with pytest.raises(UsageError, match="none were released on the very files"):
        published_grid(())
    assert invoke(["compare", str(runs / "runs"), "--published"]) == 2
    assert "none were released" in capsys.readouterr().err
    asked = ["compare", str(runs / "runs"), "--published", "--equivalent", "0.05"]
    assert invoke(asked) == 2
    assert "--equivalent" in capsys.readouterr().err


def test_results_are_found_by_the_sha256_of_a_file() -> None:
    digest = published()["blimp"].sha256["wh_island.jsonl"]
    found = {one.model: one.accuracy for one in results_on(digest)}
    # The released summary of BLiMP has 0.789 for GPT-2 on wh_island.
    assert found["gpt2"] == 0.789
    assert blimp_datasets()["wh_island"].published.items() <= found.items()
    # english/ablation/ablation_blimp_gpt2-xl_1.0%.txt, of the model before ablation.
    assert found["openai-community/gpt2-xl"] == 0.774
    assert results_on("0" * 64) == ()
    assert blimp_names() == blimp_datasets().keys()


def test_results_on_a_whole_set_need_each_of_its_files() -> None:
    digests = {*published()["zhoblimp"].sha256.values()}
    of_whole = {
        one.model.split("/")[1]: one.accuracy for one in results_on_all("zhoblimp", digests)
    }
    # The README of babylm-org/babylm-eval, Multilingual Track, zhoblimp.
    assert of_whole["gpt2-baseline-babylm-zho"] == 0.7879
    assert len(of_whole) == 4
    one = published()["zhoblimp"].sha256["ZhoBLiMP/BA_deletion.jsonl"]
    assert results_on_all("zhoblimp", digests - {one}) == ()
    assert results_on_all("nonesuch", digests) == ()
    # The archive that the files come in is not one of the suites.
    archive = published()["zhoblimp"].sha256["ZhoBLiMP.tar.gz"]
    assert len(results_on_all("zhoblimp", digests - {archive})) == 4


def test_released_results_are_whole() -> None:
    for one in published_results():
        assert not one.file or one.file in published()[one.source.set].sha256
        assert 0 <= one.accuracy <= 1
        assert bool(one.bits) != (one.stated is not None)
        assert not one.bits or len(one.right) == one.n
        assert len(one.source.commit) == 40
        assert one.source.people if one.model == PEOPLE else one.source.scored


def mean(source: str, model: str) -> float:
    """The proportion of correct items over all files of a set."""
    right = [
        bit
        for one in published_results()
        if one.source.set == source and one.model == model
        for bit in one.right.values()
    ]
    return sum(right) / len(right)


def test_items_sum_up_to_what_the_authors_state() -> None:
    # results/result_fr.tsv of QFrBLiMP, in percent.
    assert 100 * mean("qfrblimp", "almanach/camembert-base") == pytest.approx(57.07, abs=0.005)
    assert 100 * mean("qfrblimp", "almanach/camembert-large") == pytest.approx(53.89, abs=0.005)
    # SyntaxGym: mean of the released verdicts on the 842 items of GPT-2 and GPT-2 XL.
    assert mean("syntaxgym-2020", "gpt-2") == pytest.approx(0.799, abs=0.0005)
    assert mean("syntaxgym-2020", "gpt-2-xl") == pytest.approx(0.853, abs=0.0005)

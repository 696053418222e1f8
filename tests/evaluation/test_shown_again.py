"""A stored run that is asked for again is shown: known by the bytes of its suite, nothing read."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cimento import open_run
from cimento.cli import evaluating
from cimento.cli.main import invoke
from cimento.paradigms.cloze.paradigm import ClozeJudge

KINDS = ("it-islands", "it-acceptability", "it-connectives-cloze", "es-agreement-templates",
         "es-stories")  # fmt: skip
PAIRS = "good\tbad\nThe cat is here.\tThe cat are here.\nThe dogs are old.\tThe dogs is old.\n"


@pytest.fixture(scope="module")
def stored(tmp_path_factory) -> Iterator[Path]:
    """A folder with pairs.tsv, and runs/ with its run by a demo model."""
    folder = tmp_path_factory.mktemp("stored")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CIMENTO_CACHE_DIR", str(folder / "cache"))
        (folder / "pairs.tsv").write_text(PAIRS, encoding="utf-8")
        assert invoke(asked(folder)) == 0
        yield folder


def asked(folder: Path, *options: str) -> list[str]:
    """The command that runs the pairs of a folder."""
    runs = str(folder / "runs")
    return ["run", str(folder / "pairs.tsv"), "-m", "demo-causal", "-o", runs, *options]


def copied(stored: Path, folder: Path) -> Path:
    """The pairs and their run in a folder where they may be changed."""
    shutil.copytree(stored / "runs", folder / "runs")
    shutil.copy(stored / "pairs.tsv", folder)
    return folder


def content(folder: Path) -> dict[Path, tuple[bytes, int]]:
    """Every file below a folder, with its bytes and when it was written."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


@pytest.fixture
def readings(monkeypatch) -> list[object]:
    """The suites that are read, as they come."""
    read: list[object] = []
    load = evaluating.suites_to_run

    def noted(suites, **more):
        read.extend(suites)
        return load(suites, **more)

    monkeypatch.setattr(evaluating, "suites_to_run", noted)
    return read


def test_what_is_shown_again_is_what_was_shown_and_no_file_changes(stored, readings, capsys):
    before = content(stored / "runs")
    assert invoke(asked(stored)) == 0
    shown = capsys.readouterr().out
    assert "2 items" in shown
    assert content(stored / "runs") == before
    assert not readings
    assert invoke(asked(stored, "--force")) == 0
    assert readings
    assert capsys.readouterr().out == shown


def test_suites_of_every_kind_are_known_by_their_bytes(runs_of_every_kind, readings, capsys):
    command = ["run", *KINDS, "-m", "demo-causal", "--limit", "3", "-o", str(runs_of_every_kind)]
    assert invoke([*command, "--json"]) == 0
    shown = capsys.readouterr().out
    assert not readings
    runs = [open_run(path.parent) for path in runs_of_every_kind.rglob("manifest.json")]
    assert len(runs) == len(KINDS)
    assert all(f'"suite": "{run.suite.name}"' in shown for run in runs)


def test_a_shown_run_says_what_judging_its_answers_says(runs_of_every_kind):
    for path in runs_of_every_kind.rglob("manifest.json"):
        run = open_run(path.parent)
        judged = run.judge()
        assert run.estimates() == judged.estimates()
        assert run.outcomes().equals(judged.outcomes())
        assert run.warnings == judged.warnings
        assert run.summary(with_outcomes=True) == judged.summary(with_outcomes=True)


def test_an_edited_suite_is_another_one(stored, tmp_path, readings, capsys):
    folder = copied(stored, tmp_path)
    (folder / "pairs.tsv").write_text(PAIRS.replace("cat", "dog"), encoding="utf-8")
    assert invoke(asked(folder)) == 0
    assert readings
    assert len(list((folder / "runs" / "pairs").glob("*/manifest.json"))) == 2
    capsys.readouterr()


def test_the_same_bytes_under_another_name_are_another_suite(stored, tmp_path, capsys):
    folder = copied(stored, tmp_path)
    (folder / "pairs.tsv").rename(folder / "others.tsv")
    command = ["run", str(folder / "others.tsv"), "-m", "demo-causal", "-o", str(folder / "runs")]
    assert invoke(command) == 0
    assert "\nothers, 2 items" in capsys.readouterr().out


def test_other_options_are_judged_and_nothing_is_stored_over(stored, tmp_path, readings, capsys):
    folder = copied(stored, tmp_path)
    before = content(folder / "runs")
    assert invoke(asked(folder, "--prediction", "0", "--near-ties", "100")) == 0
    assert readings
    assert "2 of 2 verdicts" in capsys.readouterr().out
    assert content(folder / "runs") == before


def test_a_damaged_run_is_not_shown(stored, tmp_path, readings, capsys):
    folder = copied(stored, tmp_path)
    [summary] = (folder / "runs").rglob("summary.json")
    good = summary.read_bytes()
    summary.write_bytes(good.replace(b'"n": 2', b'"n": 3'))
    assert invoke(asked(folder)) == 0
    assert readings
    assert summary.read_bytes().replace(str(folder).encode(), str(stored).encode()) == good
    capsys.readouterr()


def test_what_people_said_of_a_run_is_looked_at_again(runs_of_every_kind, tmp_path, monkeypatch):
    [path] = runs_of_every_kind.glob("it-connectives-cloze/*/manifest.json")
    folder = tmp_path / "run"
    shutil.copytree(path.parent, folder)
    judged = []

    def outcomes(judge, run, *, judging=ClozeJudge.outcomes):
        judged.append(run)
        return judging(judge, run)

    monkeypatch.setattr(ClozeJudge, "outcomes", outcomes)
    assert open_run(folder).estimates()
    assert not judged
    (folder / "annotations").mkdir()
    assert open_run(folder).estimates()
    assert judged


def test_a_run_from_another_device_says_so(stored, capsys):
    for device, said in (("cuda", 1), ("cpu", 0), ("auto", 0)):
        assert invoke(asked(stored, "--device", device)) == 0
        note = "computed on cpu; --force computes it again on cuda"
        assert capsys.readouterr().err.count(note) == said


def test_a_file_that_is_given_twice_is_refused_though_it_is_stored(stored, capsys):
    pairs = str(stored / "pairs.tsv")
    assert invoke(["run", pairs, pairs, "-m", "demo-causal", "-o", str(stored / "runs")]) == 2
    assert "it is given twice" in capsys.readouterr().err


@pytest.mark.slow
def test_showing_a_run_again_imports_no_library_of_tables_or_models(stored):
    check = (
        "import sys; from cimento.cli.main import invoke; code = invoke(sys.argv[1:]);"
        "print(code, sorted({'torch', 'transformers', 'polars', 'numpy'} & set(sys.modules)))"
    )
    command = [sys.executable, "-c", check, *asked(stored)]
    done = subprocess.run(  # noqa: S603  # our own program
        command, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "0 []"


def test_numbers_that_are_not_the_stored_ones_are_said_to_be_so(stored, tmp_path, capsys):
    command = asked(copied(stored, tmp_path), "--metric", "mean")
    capsys.readouterr()
    assert invoke(command) == 0
    said = capsys.readouterr().err
    assert "pairs x demo-causal@91bca5d: these numbers are not stored" in said
    assert "metric is mean here and not given there" in said
    assert "Stored in" not in said
    assert invoke([*command, "--json"]) == 0
    assert "not stored" in capsys.readouterr().err
    assert invoke([*command, "--force"]) == invoke(command) == 0
    said = capsys.readouterr().err
    assert "not stored" not in said
    assert said.count("Stored in") == 2
    [run] = (open_run(path.parent) for path in (tmp_path / "runs").rglob("manifest.json"))
    assert run.options.metric == "mean"

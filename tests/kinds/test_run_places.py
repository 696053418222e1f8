"""A run has a place of its own: no other suite, and no edited one, takes it."""

from __future__ import annotations

import json
from pathlib import Path

import openpyxl
import pytest

from cimento import evaluate, open_run, open_runs
from cimento.cli.main import invoke
from cimento.io.unfinished import unfinished
from cimento.records.store import find_runs
from cimento.testing.models import uniform_scorer
from tests.helpers.designs import island_suite

PAIRS = "item\tgood\tbad\n1\tLei dorme.\tLei dormono.\n"
EDITED = PAIRS.replace("Lei", "Lui")
SUITE = """\
regions = ["subject", "verb"]
[meta]
name = "{name}"
language = "it"
[[predictions]]
formula = "(2;%good%) < (2;%bad%)"
"""
ITEMS = "item\tcondition\ttext\n1\tgood\t{who} | dorme.\n1\tbad\t{who} | dormono.\n"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*suites: str, output: str = "runs", model: str = "demo-causal") -> int:
    return invoke(["run", *suites, "-m", model, "--device", "cpu", "-o", output])


def texts(folder: str = "runs") -> list[str]:
    return sorted(r.suite.items[0].conditions[0].regions[0].text for r in open_runs(folder))


@pytest.mark.parametrize(
    "names", [("my suite", "my__suite"), ("a/b", "a:b"), (".", ".."), ("a\\\\b", "a__b")]
)
@pytest.mark.parametrize("who", [("Lei", "Lui"), ("Lei", "Lei")])
def test_names_that_come_to_one_folder_are_two_runs(names, who, capsys):
    for number, (name, subject) in enumerate(zip(names, who, strict=True)):
        suite = Path(f"s{number}")
        suite.mkdir()
        (suite / "suite.toml").write_text(SUITE.format(name=name), "utf-8")
        (suite / "items.tsv").write_text(ITEMS.format(who=subject), "utf-8")
    code = run("s0", "s1")
    assert code == 0, capsys.readouterr().err

    assert len(list(find_runs(Path("runs")))) == 2
    assert sorted(r.suite.name for r in open_runs("runs")) == sorted(
        name.replace("\\\\", "\\") for name in names
    )
    assert all(
        p.is_relative_to(Path("runs").resolve())
        for p in map(Path.resolve, Path().rglob("manifest.json"))
    )


def test_an_edited_suite_leaves_the_earlier_run_as_it_is(capsys):
    Path("pairs.tsv").write_text(PAIRS, "utf-8")
    assert run("pairs.tsv") == 0
    (earlier,) = find_runs(Path("runs"))
    before = {p: p.read_bytes() for p in earlier.path.rglob("*") if p.is_file()}
    Path("pairs.tsv").write_text(EDITED, "utf-8")
    assert run("pairs.tsv") == 0

    assert len(list(find_runs(Path("runs")))) == 2
    assert {p: p.read_bytes() for p in before} == before
    # Back to the first: it is there still, and nothing is done again.
    Path("pairs.tsv").write_text(PAIRS, "utf-8")
    stamp = (earlier.path / "manifest.json").stat().st_mtime_ns
    assert run("pairs.tsv") == 0
    assert (earlier.path / "manifest.json").stat().st_mtime_ns == stamp
    assert len(list(find_runs(Path("runs")))) == 2

    # Reports do not put the two into one table.
    capsys.readouterr()
    assert invoke(["report", "runs"]) == 0
    shown = capsys.readouterr().out
    digits = {r.manifest["suite"]["sha256"][:4] for r in open_runs("runs")}
    assert len(digits) == 2
    assert all(f"pairs ({digit}), 1 item" in shown for digit in digits)


def test_a_suite_that_was_saved_again_is_the_same_suite():
    """Line ends, a byte order mark and the times in a workbook are not content."""
    rows = [line.split("\t") for line in PAIRS.splitlines()]
    Path("a").mkdir()
    a, b = Path("a", "pairs.csv"), Path("pairs.xlsx")
    a.write_text(PAIRS.replace("\t", ","), "utf-8")
    assert run(str(a)) == 0
    (first,) = find_runs(Path("runs"))
    stamp = (first.path / "manifest.json").stat().st_mtime_ns
    a.write_bytes(b"\xef\xbb\xbf" + PAIRS.replace("\t", ";").replace("\n", "\r\n").encode())
    assert run(str(a)) == 0
    for title in ("Coppie", "Coppie, di nuovo"):
        book = openpyxl.Workbook()
        book.properties.title = title
        for row in rows:
            book.active.append(row)
        book.save(b)
        assert run(str(b)) == 0
    assert [folder.path for folder in find_runs(Path("runs"))] == [first.path]
    assert (first.path / "manifest.json").stat().st_mtime_ns == stamp


def test_a_trial_with_a_few_items_does_not_replace_the_run_of_all(here):
    whole, trial, other = (
        evaluate("it-islands", uniform_scorer(16), limit=limit, output=here)
        for limit in (None, 5, 7)
    )
    assert len({run.folder for run in (whole, trial, other)}) == 3
    assert open_run(whole.folder).n_items == whole.n_items > 7
    again = evaluate("it-islands", uniform_scorer(16), limit=5, output=here)
    assert again.folder == trial.folder


def test_what_was_made_in_python_goes_nowhere_else(here):
    """The name of a suite is part of no path as it is."""
    suite = island_suite({"se": ["1"]})
    meta = type(suite.meta)(**{**vars_of(suite.meta), "name": "../../outside"})
    odd = type(suite)(**{**vars_of(suite), "meta": meta})
    made = evaluate(odd, uniform_scorer(16), output=here / "a" / "b")

    assert made.folder.resolve().is_relative_to(here / "a" / "b")
    assert all(path.is_relative_to(made.folder) for path in here.rglob("manifest.json"))


def vars_of(record) -> dict[str, object]:
    return {name: getattr(record, name) for name in record.__dataclass_fields__}


def test_what_a_killed_program_left_is_not_part_of_the_run():
    Path("pairs.tsv").write_text(PAIRS, "utf-8")
    assert run("pairs.tsv") == 0
    (folder,) = find_runs(Path("runs"))
    undisturbed = folder.manifest()["files"]
    left = [
        folder.suite_folder / ".items.tsv.unfinished",
        folder.path / ".tokens.parquet.unfinished.0123abcd",
    ]
    kept = folder.suite_folder / ".DS_Store"
    for path in [*left, kept]:
        path.write_text("half")
    (folder.path / "manifest.json").unlink()
    # Another process may be writing a file.
    with unfinished(folder.suite_folder / "other.tsv") as busy:
        assert run("pairs.tsv") == 0
        assert busy.exists()

    assert folder.manifest()["files"] == undisturbed
    assert not any(path.exists() for path in left)
    assert kept.exists()
    assert invoke(["report", "runs"]) == 0


def test_a_manifest_that_counts_what_was_left_is_read(capsys):
    Path("pairs.tsv").write_text(PAIRS, "utf-8")
    assert run("pairs.tsv") == 0
    path = next(find_runs(Path("runs"))).path / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["files"]["suite/.items.tsv.abcd1234"] = "0" * 64
    path.write_text(json.dumps(manifest))

    assert invoke(["report", "runs"]) == 0, capsys.readouterr().err


def test_a_run_in_memory_and_a_stored_one_have_the_same_tables(here):
    suite = island_suite({"islands": ["1", "2", "3"]})
    held = evaluate(suite, uniform_scorer(9))
    stored = evaluate(suite, uniform_scorer(9), output=here / "runs")
    for name in ("requests", "tokens", "outcomes"):
        assert held.table(name).schema == stored.table(name).schema
        assert held.table(name).equals(stored.table(name))

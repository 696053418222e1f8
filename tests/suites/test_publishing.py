"""Suites written for a host of data sets: each kind, read back, and what is missing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from cimento import load_suite
from cimento.cli.main import invoke

STARTERS = ("it-islands", "it-acceptability", "it-connectives-cloze", "es-stories",
            "pt-grammar-templates")  # fmt: skip


@pytest.mark.parametrize("name", STARTERS)
def test_a_published_suite_is_the_same_suite(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "published"
    assert invoke(["suites", "publish", name, "-o", str(folder)]) == 0
    before, after = load_suite(name).suite, load_suite(folder).suite
    assert after == before
    _, front, page = (folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    fields = yaml.safe_load(front)
    assert fields["language"] == [before.meta.language]
    assert fields["license"] == "cc-by-4.0"
    assert (folder / fields["configs"][0]["data_files"]).is_file()
    assert before.meta.citation in page


def test_the_citation_and_the_record(tmp_path: Path) -> None:
    folder = tmp_path / "published"
    assert invoke(["suites", "publish", "it-islands", "-o", str(folder)]) == 0
    citation = yaml.safe_load((folder / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["cff-version"] == "1.2.0"
    assert citation["type"] == "dataset"
    assert citation["authors"] == [{"name": "The cimento developers"}]
    record = json.loads((folder / ".zenodo.json").read_text(encoding="utf-8"))
    assert record["language"] == "ita"
    assert record["creators"] == citation["authors"]
    assert "CC-BY-4.0" in (folder / "LICENSE").read_text(encoding="utf-8")


def test_several_authors(tmp_path: Path) -> None:
    assert invoke(["suites", "new", "pairs", str(tmp_path / "mine"), "--language", "it"]) == 0
    toml = tmp_path / "mine" / "suite.toml"
    lines = [
        line
        for line in toml.read_text(encoding="utf-8").splitlines()
        if not line.startswith(("author", "license", "version"))
    ]
    at = lines.index("[meta]") + 1
    lines[at:at] = ['author = "Ada Bianchi; Luis Sosa"', 'license = "MIT"', 'version = "1.0"']
    toml.write_text("\n".join(lines), encoding="utf-8")
    assert invoke(["suites", "publish", str(tmp_path / "mine"), "-o", str(tmp_path / "out")]) == 0
    citation = yaml.safe_load((tmp_path / "out" / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["authors"] == [{"name": "Ada Bianchi"}, {"name": "Luis Sosa"}]


def test_what_every_host_asks_for_must_be_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("good\tbad\nIl sole splende.\tIl sole splendono.\n", encoding="utf-8")
    out = tmp_path / "out"
    assert invoke(["suites", "publish", str(pairs), "-o", str(out)]) == 2
    said = capsys.readouterr().err
    assert all(f"no {name}" in said for name in ("author", "license", "version", "language"))
    assert not out.exists()


def test_nothing_is_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    assert invoke(["suites", "publish", "it-islands", "-o", str(tmp_path)]) == 1
    assert "exists already" in capsys.readouterr().err

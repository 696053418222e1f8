"""`suites convert`: names of what it writes, and folders of suites."""

from __future__ import annotations

from pathlib import Path

import pytest

from cimento import load_suites
from cimento.cli.main import invoke

PAIRS = "good\tbad\nLe luci sono qui.\tLe luci è qui.\n"
FORMATS = ("native", "xlsx", "syntaxgym", "blimp", "lm-eval", "minicons")


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    folder = tmp_path / "tables"
    folder.mkdir()
    for name in ("one", "two.more"):
        (folder / f"{name}.tsv").write_text(PAIRS, "utf-8")
    return folder


def convert(*arguments: object) -> int:
    return invoke(["suites", "convert", "--language", "it", *map(str, arguments)])


@pytest.mark.parametrize(
    ("options", "name", "seen"),
    [
        ([], "x.json", "the format native is a folder"),
        ([], "x.TSV", "--to minicons for .tsv"),
        (["--to", "lm-eval"], "x.yaml", "the format lm-eval is a folder"),
        (["--to", "blimp"], "x.tsv", "the format blimp is a file with the suffix .jsonl"),
        (["--to", "minicons"], "x.csv", "the format minicons is a file with the suffix .tsv"),
        (["--to", "minicons"], "x.xlsx", "--to xlsx for .xlsx"),
    ],
)
def test_a_name_that_promises_another_format_is_refused(tables, capsys, options, name, seen):
    assert convert(tables / "one.tsv", *options, "-o", tables.parent / name) == 2
    assert seen in capsys.readouterr().err
    assert not (tables.parent / name).exists()


@pytest.mark.parametrize("format_", FORMATS)
def test_a_folder_of_suites_is_written_to_a_folder(tables: Path, format_: str) -> None:
    out = tables.parent / "out"
    assert convert(tables, "--to", format_, "-o", out) == 0
    suites = [loaded.suite for loaded in load_suites(out)]
    assert len(suites) == 2
    for suite in suites:
        (item,) = suite.items
        texts = ["".join(r.text for r in c.regions) for c in item.conditions]
        assert texts == ["Le luci sono qui.", "Le luci è qui."]


def test_a_folder_of_suites_is_not_written_to_one_file(tables: Path, capsys) -> None:
    assert convert(tables, "-o", tables.parent / "all.xlsx") == 2
    assert "there are 2 suites" in capsys.readouterr().err


def test_of_a_folder_with_a_loss_nothing_is_written(tables: Path, capsys) -> None:
    (tables / "z.tsv").write_text(
        "item\tcondition\tprefix\tstimulus\n1\tgood\tLe luci\tsono\n1\tbad\tLe luci\tè\n", "utf-8"
    )
    out = tables.parent / "out"
    assert convert(tables, "--to", "blimp", "-o", out) == 2
    assert "--allow-loss" in capsys.readouterr().err
    assert not out.exists()

"""The page of coverage holds every stored table, and the programs make those tables."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
TABLES = sorted((ROOT / "docs" / "data" / "coverage").glob("*.tsv"))


def module_at(path: Path) -> ModuleType:
    """A module of the repository's scripts."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_has_each_table_once_with_all_rows():
    page = module_at(ROOT / "scripts" / "site" / "coverage.py").coverage_page()
    assert len(TABLES) == 38
    for path in TABLES:
        title, *rows = path.read_text(encoding="utf-8").splitlines()
        assert page.count(f"**{title.removeprefix('# ')}**") == 1
        assert {row.count("\t") for row in rows} == {rows[0].count("\t")}
        for row in rows:
            assert f"| {row.replace(chr(9), ' | ')} |" in page, path.name
    assert not re.search(r"^\{", page, re.MULTILINE)


@pytest.mark.slow
def test_the_exact_tables_are_what_the_program_makes(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(ROOT / "benchmarks"), *sys.path])
    program = module_at(ROOT / "benchmarks" / "coverage.py")
    for made in (program.independent_shares(), program.mcnemar_levels()):
        stored = ROOT / "docs" / "data" / "coverage" / made.file
        assert made.tsv() == stored.read_text(encoding="utf-8")

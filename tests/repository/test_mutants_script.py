"""The scripts that change the code to see whether tests notice, and that find the tests for it."""

from __future__ import annotations

import ast

import pytest

import mutants
import mutations
import tests_for

MODULE = '''"""A module that says 1 < 2."""
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from here import there

def share(part: "int | None", whole: int = 1) -> float:
    if not whole or part is None:
        raise ValueError(f"of {whole - 1} parts")
    note(part, encoding="utf-8", most=True)
    return part / whole
'''
CHANGES = {
    "1 -> (2)",
    "not whole -> (whole)",
    "part is None -> (part is not None)",
    "not whole or part is None -> (not whole and part is None)",
    "not whole or part is None -> (not (not whole or part is None))",
    "True -> (False)",
    "note(part, encoding='utf-8', most=True) -> (note(part, encoding='utf-8'))",
    "note(part, encoding='utf-8', most=True) -> pass",
    "part / whole -> (part * whole)",
    "return part / whole -> return None",
}


def test_each_usual_change_can_be_drawn_and_no_message_annotation_or_typing(tmp_path):
    package = tmp_path / "src" / "cimento"
    package.mkdir(parents=True)
    (package / "shares.py").write_text(MODULE, encoding="utf-8")
    drawn = {mutant for seed in range(30) for mutant in mutations.drawn(seed, 4, tmp_path)}
    assert {f"{m.old(MODULE)} -> {m.new}".replace('"', "'") for m in drawn} == CHANGES
    for mutant in drawn:
        assert ast.dump(ast.parse(mutant.applied(MODULE))) != ast.dump(ast.parse(MODULE))


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A package of two modules, of which one imports the other, and its tests."""
    files = {
        "src/cimento/cups/tea.py": "def steep(minutes): return 'bitter' * minutes",
        "src/cimento/cups/tray.py": "from cimento.cups.tea import steep",
        "tests/test_a.py": "def test_a(): assert 'nothing of it'",
        "tests/test_words.py": "def test_words(): assert call('brew') == 'bitter'",
        "tests/cups/test_tea.py": "from cimento.cups.tea import steep\ndef test_tea(): steep(3)",
        "tests/cups/test_tray.py": "from cimento.cups import tray\ndef test_tray(): tray.steep(1)",
        "tests/cups/test_slow.py": "pytestmark = pytest.mark.slow\ndef test_b(): tea.steep(1)",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    for name, folder in (("ROOT", ""), ("SOURCE", "src"), ("TESTS", "tests")):
        monkeypatch.setattr(tests_for, name, tmp_path / folder)
    caches = [tests_for.modules_of_tests, tests_for.rarity, tests_for._importers]
    for cache in caches:
        cache.cache_clear()
    yield tmp_path
    for cache in caches:
        cache.cache_clear()


def test_tests_that_import_a_module_or_its_callers_or_say_its_words_are_closest(project):
    closest = tests_for.closest([project / "src/cimento/cups/tea.py"])
    first, *between, last = [test.name for test in closest]
    assert (first, last) == ("test_tea.py", "test_a.py")
    assert sorted(between) == ["test_tray.py", "test_words.py"]
    assert tests_for.closest([project / "src/cimento/cups/tea.py"], most=2) == closest[:2]


def test_a_table_of_mutants_says_what_became_of_each():
    mutant = mutations.Mutant("src/a.py", (1, 7), (1, 12), "comparison", "(a <= b)")
    survived = mutants.Result(mutant, "a < b", "survived", "", 2.0)
    killed = mutants.Result(mutant, "a < b", "killed", "tests/test_a.py::test_a", 1.0)
    shown = mutants.table([survived, killed]).splitlines()
    seen = "survived 2.0 s src/a.py:1 comparison: a < b -> (a <= b)"
    assert " ".join(shown[0].split()) == seen
    assert shown[1].endswith("[tests/test_a.py::test_a]")
    assert shown[2] == "1 survived, 1 killed"

"""What scripts and benchmarks import of cimento is there; no type checker reads them."""

import ast
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted(path for name in ("scripts", "benchmarks") for path in (ROOT / name).glob("*.py"))


def names_of(path):
    """The module and name of everything that a file imports of cimento."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] == "cimento":
            yield from ((node.module, name.name) for name in node.names)


def is_there(module, name):
    try:
        return hasattr(importlib.import_module(module), name) or bool(
            importlib.import_module(f"{module}.{name}")
        )
    except ModuleNotFoundError:
        return False


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_what_a_script_imports_is_there(path):
    assert [found for found in names_of(path) if not is_there(*found)] == []


def test_a_name_that_is_gone_is_noticed():
    assert is_there("cimento.models", "questions")
    assert not is_there("cimento.models.questions", "FillRequest")

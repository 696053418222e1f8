"""The names of cimento.statistics."""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cimento import statistics

ROOT = Path(__file__).parents[2]


def test_dir_lists_the_public_names_each_with_its_docstring():
    assert dir(statistics) == statistics.__all__ == sorted(statistics.__all__)
    assert all(getattr(statistics, name).__doc__ for name in dir(statistics))


def test_the_page_names_public_functions_alone_and_every_one_that_computes():
    page = (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(\w+)`", page))
    for imported in re.findall(r"from cimento\.statistics import (.*)", page):
        named |= set(imported.split(", "))
    defined = {
        node.name
        for path in Path(statistics.__file__).parent.glob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    functions = {name for name in dir(statistics) if name[0].islower()}
    assert functions - {"wilson", "balanced_interval"} <= named & defined <= set(dir(statistics))


@pytest.mark.parametrize("name", statistics.__all__)
def test_a_docstring_points_to_public_names_alone(name):
    folder = Path(statistics.__file__).parent
    modules = {path.stem for path in folder.glob("*.py")}
    internal = modules | {
        node.name
        for path in folder.glob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    pointed = set(re.findall(r"(?<!`)`([A-Za-z_.]+)`(?!`)", getattr(statistics, name).__doc__))
    public = getattr(statistics, name)
    own = {*getattr(public, "__dataclass_fields__", ()), *inspect.signature(public).parameters}
    assert not {n for n in pointed if "." in n}
    assert not (pointed & internal) - set(statistics.__all__) - own


@pytest.mark.slow
def test_the_names_are_loaded_on_first_use():
    code = (
        "import sys, cimento.statistics; sys.exit({'scipy', 'numpy'} & set(sys.modules) != set())"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0  # noqa: S603  # our own line

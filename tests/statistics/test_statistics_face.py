"""The names of cimento.statistics."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cimento import statistics

ROOT = Path(__file__).parents[2]


def test_dir_lists_what_the_page_names_each_with_its_docstring():
    page = (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(?:\w+\.)?(\w+)[`(:]", page))
    for imported in re.findall(r"from cimento\.statistics\.\w+ import (.*)", page):
        named |= set(imported.split(", "))
    defined = {
        node.name
        for path in Path(statistics.__file__).parent.glob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    assert dir(statistics) == statistics.__all__ == sorted(named & defined)
    assert all(getattr(statistics, name).__doc__ for name in dir(statistics))


@pytest.mark.slow
def test_the_names_are_loaded_on_first_use():
    code = (
        "import sys, cimento.statistics; sys.exit({'scipy', 'numpy'} & set(sys.modules) != set())"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0  # noqa: S603  # our own line

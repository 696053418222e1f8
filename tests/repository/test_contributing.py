"""The recipes of CONTRIBUTING.md work as they are written: each is followed in a copy."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.docs_pages import DOCS, Block, blocks

ROOT = DOCS.parent
PAGE = ROOT / "CONTRIBUTING.md"
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "frozen", "benchmarks")


def recipes() -> dict[str, list[Block]]:
    """The heading of each recipe to its blocks; a recipe has something to run."""
    page = PAGE.read_text(encoding="utf-8")
    starts = [(page.count("\n", 0, match.start()), match[1])
              for match in re.finditer(r"^## (Add .*)$", page, re.MULTILINE)]  # fmt: skip
    by_heading: dict[str, list[Block]] = {}
    for block in blocks(PAGE):
        heading = next((name for line, name in reversed(starts) if line < block.line), "")
        by_heading.setdefault(heading, []).append(block)
    return {
        name: parts
        for name, parts in by_heading.items()
        if any(part.language == "sh" for part in parts)
    }


def changed(text: str, diff: str) -> str:
    """A text with the lines of a diff put in where the lines of its context stand, once."""
    lines = diff.splitlines()
    old = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("+"))
    new = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("-"))
    assert text.count(old) == 1, f"these lines are there {text.count(old)} times:\n{old}"
    return text.replace(old, new)


def follow(recipe: list[Block], folder: Path) -> list[str]:
    """Do what a recipe says in a copy of the repository; what its commands print."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(folder / "src"),
        "CIMENTO_CACHE_DIR": str(folder / "cache"),
    }
    printed = []
    for block in recipe:
        path = folder / block.title
        if block.language == "diff":
            text = changed(path.read_text(encoding="utf-8"), block.text)
            path.write_text(text, encoding="utf-8")
        elif block.title:
            assert not path.exists()
            path.write_text(block.text, encoding="utf-8")
        elif block.language == "sh":
            for line in block.text.splitlines():
                program, *words = shlex.split(line)
                module = ["-m", "cimento"] if program == ".venv/bin/cimento" else []
                done = subprocess.run(  # noqa: S603  # the words of our own page
                    [sys.executable, *module, *words],
                    cwd=folder,
                    env=environment,
                    capture_output=True,
                    text=True,
                    check=False,
                )
                assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
                printed.append(done.stdout)
    return printed


@pytest.fixture
def copy(tmp_path) -> Path:
    """A copy of the repository, to be changed."""
    shutil.copytree(ROOT, tmp_path / "cimento", ignore=LEFT_OUT)
    return tmp_path / "cimento"


def test_a_measure_a_check_a_format_and_a_study_have_recipes():
    names = " ".join(recipes())
    assert all(word in names for word in ("measure", "check", "format", "study"))


def test_lines_that_are_not_there_are_noticed():
    assert changed("a\nb\n", " a\n+c\n") == "a\nc\nb\n"
    with pytest.raises(AssertionError, match="0 times"):
        changed("a\nb\n", " d\n+c\n")


@pytest.mark.slow
@pytest.mark.parametrize("name", recipes())
def test_a_recipe_can_be_followed(name, copy):
    printed = follow(recipes()[name], copy)
    assert any(printed)
    written = {block.title for block in recipes()[name] if block.title.endswith(".py")}
    for check in (["check"], ["format", "--check"]):
        done = subprocess.run(  # noqa: S603  # our own words
            [sys.executable, "-m", "ruff", *check, *sorted(written)],
            cwd=copy,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout

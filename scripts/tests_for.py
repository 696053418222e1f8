"""The tests that lie closest to a module, closest first.

Usage: python scripts/tests_for.py src/cimento/io/table.py [...] [--most 200]

A test module is close to a source module if both say the same words (names, texts, columns), of
which rare ones count most: tf-idf without tf. It is closer still if it imports the module or one
that imports it, or lies in the folder of `tests/` that mirrors the module's. The files are printed
until they hold `--most` tests together; those that take long are not counted and not run by
`make test-near`. Nothing is imported, so that a module which cannot be imported has tests too.
"""

from __future__ import annotations

import argparse
import functools
import math
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
TESTS = ROOT / "tests"
MOST = 120
"""Tests, as functions: they take about half a minute."""
IMPORTS, IMPORTS_CALLER, HELPER_IMPORTS, MIRRORS = 3.0, 1.5, 1.5, 1.5
"""How many times as close a test is for each of these reasons."""
_WORD = re.compile(r"[^\W\d][\w-]{2,}")
_IMPORT = re.compile(
    r"^ *(?:from (?P<package>[\w.]+) )?import (?P<names>\([^)]*\)|.*)", re.MULTILINE
)
_TEST = re.compile(r"^(?:async )?def test_", re.MULTILINE)
_LONG = re.compile(r"^@pytest\.mark\.(?:slow|servers|downloads)\b", re.MULTILINE)
_ALL_LONG = re.compile(r"^pytestmark = .*\.(?:slow|servers|downloads)\b", re.MULTILINE)


@functools.cache
def text_of(path: Path) -> str:
    """A file's text."""
    return path.read_text(encoding="utf-8")


@functools.cache
def words(path: Path) -> frozenset[str]:
    """The words of a file, in code and in texts."""
    return frozenset(_WORD.findall(text_of(path)))


@functools.cache
def modules_of_tests() -> tuple[Path, ...]:
    """The modules of tests, without those of which all tests take long."""
    return tuple(p for p in sorted(TESTS.rglob("test_*.py")) if not _ALL_LONG.search(text_of(p)))


@functools.cache
def rarity() -> dict[str, float]:
    """The logarithm of the proportion of the modules of tests that say a word, negated."""
    said = Counter(word for path in modules_of_tests() for word in words(path))
    return {word: math.log(len(modules_of_tests()) / times) for word, times in said.items()}


@functools.cache
def imported(path: Path) -> frozenset[str]:
    """The dotted names that a file imports, anywhere in it; ``from a import b`` has both."""
    names: set[str] = set()
    for match in _IMPORT.finditer(text_of(path)):
        package = match["package"] or ""
        parts = (part.split(" as ")[0].strip(" ()\n") for part in match["names"].split(","))
        names.update(".".join(filter(None, (package, part))) for part in parts if part)
        names.add(package)
    return frozenset(names)


def dotted(path: Path) -> str:
    """The name of a module in imports."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@functools.cache
def _importers() -> dict[str, frozenset[str]]:
    """Each dotted name to the modules of the package that import it."""
    by_name: dict[str, set[str]] = {}
    for path in (SOURCE / "cimento").rglob("*.py"):
        for name in imported(path):
            by_name.setdefault(name, set()).add(dotted(path))
    return {name: frozenset(modules) for name, modules in by_name.items()}


def mirror(path: Path) -> Path:
    """The folder of tests that mirrors a module's: the innermost that exists."""
    folder = TESTS.joinpath(*path.relative_to(SOURCE / "cimento").parent.parts)
    return next(each for each in (folder, *folder.parents) if each.is_dir())


def _likeness(path: Path, test: Path) -> float:
    """The rarity of the words that both say, as a proportion of those of the test."""
    rare = rarity()
    common = sum(rare[word] ** 2 for word in words(path) & words(test))
    return common / math.sqrt(sum(rare[word] ** 2 for word in words(test)) or 1)


def _helpers(test: Path) -> Iterator[Path]:
    """The modules of tests that a test imports."""
    for name in imported(test):
        path = ROOT.joinpath(*name.split(".")).with_suffix(".py")
        if name.startswith("tests.") and path.is_file():
            yield path


def closeness(path: Path, test: Path) -> float:
    """How close a test is to a module."""
    name = dotted(path)
    close = _likeness(path, test)
    if name in imported(test):
        close *= IMPORTS
    elif imported(test) & _importers().get(name, frozenset()):
        close *= IMPORTS_CALLER
    if any(name in imported(helper) for helper in _helpers(test)):
        close *= HELPER_IMPORTS
    return close * (MIRRORS if mirror(path) in test.parents else 1)


def closest(paths: list[Path], most: int = MOST) -> list[Path]:
    """The modules of tests closest to any of the modules, until they have so many tests."""
    by_test = {test: max(closeness(path, test) for path in paths) for test in modules_of_tests()}
    chosen: list[Path] = []
    count = 0
    for test in sorted(by_test, key=lambda test: (-by_test[test], test)):
        if count >= most:
            break
        chosen.append(test)
        count += len(_TEST.findall(text_of(test))) - len(_LONG.findall(text_of(test)))
    return chosen


def main() -> None:
    """Print the paths."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path, help="modules of src/cimento")
    parser.add_argument("--most", type=int, default=MOST, help="tests to reach")
    arguments = parser.parse_args()
    files = [path.resolve() for path in arguments.files]
    for path in files:
        if not path.is_file() or SOURCE / "cimento" not in path.parents:
            parser.error(f"{path} is not a file in {SOURCE.relative_to(ROOT)}/cimento")
    for test in closest(files, arguments.most):
        print(test.relative_to(ROOT))


if __name__ == "__main__":
    main()

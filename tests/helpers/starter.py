"""The starter suites of regions of the source tree, for tests that look at every one of them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from cimento import Suite
from cimento.suites.builtin import DEFAULT_KIND, kind_of
from cimento.suites.formats.native import read_native

FOLDER = Path(__file__).parents[2] / "src" / "cimento" / "data" / "suites"
NAMES = tuple(
    sorted(
        path.name for path in FOLDER.iterdir() if path.is_dir() and kind_of(path) == DEFAULT_KIND
    )
)


@cache
def starter_suite(name: str) -> Suite:
    """The suite of that name, read once a session."""
    return read_native(FOLDER / name).suite

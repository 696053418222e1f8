"""Which kind of test a suite folder holds: regions with formulas unless it says otherwise."""

from __future__ import annotations

import tomllib
from pathlib import Path

from cimento.errors import InputError
from cimento.io.parsing import parse_toml

REGIONS = "regions"
RATED = "acceptability"
"""What ``suite.toml`` says of a suite whose columns hold ratings of people."""


def kind_of(path: Path) -> str:
    """The ``kind`` at the top of a folder's ``suite.toml``; ``regions`` for everything else.

    Args:
        path: a suite folder, its ``suite.toml``, or a file of any other format.

    Raises:
        InputError: the kind is not a text.
    """
    toml = path / "suite.toml" if path.is_dir() else path
    if toml.name != "suite.toml" or not toml.is_file():
        return REGIONS
    try:
        kind = parse_toml(toml.read_text(encoding="utf-8-sig")).get("kind", REGIONS)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        # What is wrong with it is said by whoever reads the whole suite.
        return REGIONS
    if not isinstance(kind, str):
        raise InputError(
            where=str(toml), seen=f"kind is {kind!r}", todo='Write kind = "..." as a text.'
        )
    return kind

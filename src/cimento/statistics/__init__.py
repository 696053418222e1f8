"""Statistics of verdicts, scores and ratings: pure functions, every formula with its source.

The names that docs/statistics.md explains are listed in ``__init__.pyi``, once, for type checkers
and for this module, which loads each on first use.
"""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

_HOME_OF = {
    alias.name: statement.module
    for statement in ast.parse(Path(__file__).with_name("__init__.pyi").read_text("utf-8")).body
    if isinstance(statement, ast.ImportFrom) and statement.module
    for alias in statement.names
}


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'cimento.statistics' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted(_HOME_OF)


__all__ = __dir__()  # noqa: PLE0605, RUF100  # from the one list

"""The suites that come with cimento; listing them needs nothing but the standard library."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from cimento.errors import InputError, did_you_mean

_FOLDER = Path(__file__).parents[1] / "data" / "suites"


@dataclass(frozen=True, slots=True)
class BuiltinSuite:
    """What ``cimento suites list`` says about a suite.

    Attributes:
        name: as ``cimento run`` takes it.
        language: ISO 639-1 code.
        phenomenon: what it is about; empty where a column tells, item by item.
        items: how many.
        status: such as ``draft, not yet reviewed by native speakers``.
        path: its folder.
    """

    name: str
    language: str
    phenomenon: str
    items: int
    status: str
    path: Path


def builtin_names() -> list[str]:
    """The names of all built-in suites, sorted."""
    return sorted(path.parent.name for path in _FOLDER.glob("*/suite.toml"))


def list_builtin() -> list[BuiltinSuite]:
    """All built-in suites, sorted by name."""
    return [_describe(_FOLDER / name) for name in builtin_names()]


def find_suite(name_or_path: str | Path) -> Path:
    """The path of a suite: a built-in one by its name, any other by its path.

    A built-in name means the built-in suite wherever one is; write ``./name`` for a file or
    folder of the same name.

    Raises:
        InputError: it is neither.
    """
    if isinstance(name_or_path, str) and name_or_path in builtin_names():
        return _FOLDER / name_or_path
    path = Path(name_or_path).expanduser()
    if path.exists():
        return path
    raise InputError(
        where=str(name_or_path),
        seen="there is no built-in suite and no file or folder of this name",
        todo=did_you_mean(str(name_or_path), builtin_names()),
    )


def _describe(folder: Path) -> BuiltinSuite:
    meta = tomllib.loads((folder / "suite.toml").read_text(encoding="utf-8"))["meta"]
    header, *lines = (folder / "items.tsv").read_text(encoding="utf-8").split("\n")
    column = header.split("\t").index("item")
    items = {line.split("\t")[column] for line in lines if line.strip()}
    return BuiltinSuite(
        name=folder.name,
        language=meta.get("language", ""),
        phenomenon=meta.get("phenomenon", ""),
        items=len(items),
        status=meta.get("status", ""),
        path=folder,
    )

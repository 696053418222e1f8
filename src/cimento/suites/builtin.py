"""The suites that come with cimento; listing them needs nothing but the standard library."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from cimento.errors import InputError, UsageError, did_you_mean
from cimento.suites.kinds import kind_of

_FOLDER = Path(__file__).parents[1] / "data" / "suites"


@dataclass(frozen=True, slots=True)
class BuiltinSuite:
    """What ``cimento suites list`` says about a suite.

    Attributes:
        name: as ``cimento run`` takes it.
        kind: what kind of test it holds, such as ``regions``.
        language: ISO 639-1 code.
        phenomenon: what it is about; empty where a column tells, item by item.
        items: how many.
        status: such as ``draft, not yet reviewed by native speakers``.
        path: its folder.
    """

    name: str
    kind: str
    language: str
    phenomenon: str
    items: int
    status: str
    path: Path


def builtin_names(*, kind: str = "") -> list[str]:
    """The names of all built-in suites, or of those of one kind, sorted."""
    names = sorted(path.parent.name for path in _FOLDER.glob("*/suite.toml"))
    return [name for name in names if kind in ("", kind_of(_FOLDER / name))]


def list_builtin(*, kind: str = "") -> list[BuiltinSuite]:
    """All built-in suites, or those of one kind, sorted by name."""
    return [_describe(_FOLDER / name) for name in builtin_names(kind=kind)]


def name_or_path(suite: object) -> str:
    """What a suite is called, as text.

    Raises:
        UsageError: it is neither a name nor a path.
    """
    if isinstance(suite, str | Path):
        return str(suite)
    raise UsageError(
        where="suite",
        seen=f"{suite!r} is neither a name, a path nor a suite",
        todo="For several suites use evaluate_all.",
    )


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
    return BuiltinSuite(
        name=folder.name,
        kind=kind_of(folder),
        language=meta.get("language", ""),
        phenomenon=meta.get("phenomenon", ""),
        items=_count_items(folder),
        status=meta.get("status", ""),
        path=folder,
    )


def _count_items(folder: Path) -> int:
    """The items of ``items.tsv``, or the lines of ``items.jsonl``."""
    table = folder / "items.tsv"
    if not table.exists():
        lines = (folder / "items.jsonl").read_text(encoding="utf-8").split("\n")
        return sum(bool(line.strip()) for line in lines)
    header, *lines = table.read_text(encoding="utf-8").split("\n")
    column = header.split("\t").index("item")
    return len({line.split("\t")[column] for line in lines if line.strip()})

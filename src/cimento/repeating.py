"""A stored run made again: how it was asked, from its manifest, and whether its files agree."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.errors import TableError, UsageError
from cimento.models.arguments import as_options
from cimento.models.base import Policy
from cimento.models.naming import needs_saying, without_secrets
from cimento.parquet import read_parquet
from cimento.parsing import parse_json
from cimento.requests import Context
from cimento.runs.store import ADDED, Manifest, RunFolder
from cimento.sources import Asking
from cimento.suites.model import JsonValue

if TYPE_CHECKING:
    import polars as pl

_COMPARED = (".parquet", ".jsonl", ".json", ".tsv", ".toml")
_OF_ONE_RUN = frozenset({
    "manifest.json", "asked-for.json", "parts", *ADDED,
})  # fmt: skip
"""Files and folders that say when and where a run was made, or that people made of it later."""
_WHERE = "folder"
_FAULT = re.compile(r"(CIM-[A-Z]\d+) ")
_ON_HUB = re.compile(r"[\w.-]+/[\w.-]+(@.+)?")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_EARLIER_TOKENS = "token_budget"
"""What manifests of version 0.1 call `batch_tokens`; null where it went by the device."""
_EARLIER = "its manifest is of an earlier version and does not say how the model was named"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRepeat:
    """One file of a run, in the run and in its repetition.

    Attributes:
        name: path in the run's folder.
        same: whether the content agrees: byte for byte, but for the folder that a summary names.
        remark: what differs; empty where nothing does.
    """

    name: str
    same: bool
    remark: str = ""


def model_of(manifest: Manifest, *, where: str) -> str:
    """How the model of a run was named, where that may be taken out of a manifest.

    Raises:
        TableError: the manifest does not say.
        UsageError: it names what is not opened because a file says so; see `needs_saying`.
    """
    named = manifest.get("named")
    if not isinstance(named, str) or not named:
        made_here = "named" in manifest
        raise TableError(
            where=where,
            seen="the model was made in Python and has no name" if made_here else _EARLIER,
            todo="Run again from there." if made_here else "Give it with --model.",
        )
    if trusts := needs_saying(named):
        raise UsageError(
            where=where,
            seen=f"its manifest names {without_secrets(named)}: {trusts}",
            todo=f"If you trust it, name it yourself: -m {shlex.quote(without_secrets(named))}",
        )
    revision = str(_object(manifest.get("model")).get("revision", ""))
    if _ON_HUB.fullmatch(named) and _COMMIT.fullmatch(revision):
        # A branch may have moved on since; the commit has not.
        return f"{named.partition('@')[0]}@{revision}"
    return named


def asking_of(
    manifest: Manifest, *, where: str, model_args: Mapping[str, JsonValue] | None = None
) -> Asking:
    """How the model of a run was asked.

    Args:
        manifest: of the run.
        where: the run, for messages.
        model_args: options for transformers and what the model is trusted with, as they were given
            again: none of them is taken out of a manifest.

    Raises:
        TableError: the manifest does not say, or says it in another way than this version does.
        UsageError: the run was made with other options for transformers, or trusted otherwise.
    """
    own = dict(_object(manifest.get("asking")))
    try:
        policy, context = dict(_object(own.pop("policy"))), _object(own.pop("context"))
        spec, columns = own.pop("spec"), own.pop("columns")
        if _EARLIER_TOKENS in own:
            own["batch_tokens"] = own.pop(_EARLIER_TOKENS) or "auto"
        _same_args(policy.pop("model_args"), model_args or {}, where=where)
        return Asking(
            policy=Policy(**policy, model_args=model_args or {}),  # type: ignore[arg-type]  # written by `asdict`
            context=_context(context),
            spec=Path(spec) if isinstance(spec, str) else None,
            columns=tuple(columns) if isinstance(columns, list) else (),  # type: ignore[arg-type]
            **own,  # type: ignore[arg-type]
        )
    except (KeyError, TypeError) as error:
        raise TableError(
            where=where,
            seen=f"its manifest does not say how the model was asked ({error})",
            todo="It was made by another version of cimento; run again with the same options.",
        ) from error


def _context(plain: Mapping[str, JsonValue]) -> Context:
    """What stood before the texts, as a manifest has it.

    Raises:
        TypeError: a part of it is not known, or is no text.
    """
    if not all(isinstance(value, str) for value in plain.values()):
        raise TypeError("what stood before the texts is no text")
    return Context(**plain)  # type: ignore[arg-type]  # seen to be texts


def _same_args(stored: JsonValue, given: Mapping[str, JsonValue], *, where: str) -> None:
    """See that the options for transformers, and trust, are given again as the run had them.

    Raises:
        UsageError: they are not.
    """
    if stored == dict(given):
        return
    raise UsageError(
        where=where,
        seen=f"the run was made with {as_options(_object(stored))}; given {as_options(given)}",
        todo="These options are not taken from a manifest, which may be a stranger's: give them"
        " as the run had them, if you trust the model.",
    )


def compare_folders(first: Path, second: Path) -> tuple[FileRepeat, ...]:
    """The files of a run beside those of its repetition, by name.

    Args:
        first: folder of the run.
        second: of its repetition.
    """
    names = sorted({*_files(first), *_files(second)})
    return (*_models(first, second), *(_compared(first, second, name) for name in names))


def _models(first: Path, second: Path) -> list[FileRepeat]:
    """A line for what the answers rest on, where it is not the same; else none."""
    found = []
    cards = [_object(RunFolder(path).manifest().get("model")) for path in (first, second)]
    for name in ("revision", "tokenizer", "dtype", "device"):
        values = [card.get(name) for card in cards]
        if values[0] != values[1]:
            remark = f"was {values[0]!r}, is {values[1]!r}"
            found.append(FileRepeat(name=f"model: {name}", same=False, remark=remark))
    return found


def _files(folder: Path) -> list[str]:
    paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return [
        path.as_posix()
        for path in paths
        if path.suffix in _COMPARED
        and path.name not in _OF_ONE_RUN
        and path.parts[0] not in _OF_ONE_RUN
    ]


def _compared(first: Path, second: Path, name: str) -> FileRepeat:
    pair = (first / name, second / name)
    for path, which in zip(pair, ("the run", "the repetition"), strict=True):
        if not path.is_file():
            return FileRepeat(name=name, same=False, remark=f"{which} has none")
    one, other = (path.read_bytes() for path in pair)
    if one == other:
        return FileRepeat(name=name, same=True)
    if name.endswith(".parquet"):
        return FileRepeat(name=name, same=False, remark=_table_remark(*pair))
    if name.endswith(".json") and _without_places(one) == _without_places(other):
        return FileRepeat(name=name, same=True)
    return FileRepeat(name=name, same=False, remark=_lines_remark(one, other))


def _table_remark(first: Path, second: Path) -> str:
    try:
        one, other = read_parquet(first), read_parquet(second)
    except (OSError, TableError) as error:
        return f"a table cannot be read ({error})"
    if one.columns != other.columns:
        return f"other columns: {', '.join(sorted(set(one.columns) ^ set(other.columns)))}"
    if one.height != other.height:
        return f"{one.height} rows, and {other.height} in the repetition"
    changed = [told for name in one.columns if (told := _column_remark(one[name], other[name]))]
    return "; ".join(changed) or "the values agree, the bytes do not (another version of polars?)"


def _column_remark(one: pl.Series, other: pl.Series) -> str:
    if one.dtype != other.dtype:
        return f"{one.name} is {one.dtype}, and {other.dtype} in the repetition"
    differs = one.ne_missing(other)
    count = int(differs.sum())
    if not count:
        return ""
    told = f"{one.name} differs in {count} of {len(one)} rows"
    if not one.dtype.is_float():
        return told
    largest = (one - other).abs().max()
    return f"{told}, by {largest:.2g} at most" if isinstance(largest, float) else told


def _lines_remark(one: bytes, other: bytes) -> str:
    first, second = one.splitlines(), other.splitlines()
    if len(first) != len(second):
        return f"{len(first)} lines, and {len(second)} in the repetition"
    number = next(
        (k for k, pair in enumerate(zip(first, second, strict=True)) if pair[0] != pair[1]), 0
    )
    return f"line {number + 1} is the first that differs"


def _without_places(data: bytes) -> object:
    """What a JSON file says, but for places: folders, and where faults of a suite stand.

    The suite was read from a file of its own, and its copy from another. The bytes of what is none.
    """
    try:
        return _drop(parse_json(data))
    except ValueError:
        return data


def _drop(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {name: _drop(each) for name, each in value.items() if name != _WHERE}
    if isinstance(value, str) and (fault := _FAULT.match(value)):
        return fault[1]
    return [_drop(each) for each in value] if isinstance(value, list) else value


def _object(value: object) -> Mapping[str, JsonValue]:
    return value if isinstance(value, dict) else {}

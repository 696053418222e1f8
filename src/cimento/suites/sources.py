"""What is recorded of fetched files: the dataset they are from, its address and their format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from cimento.errors import InputError
from cimento.io.files import read_bytes
from cimento.io.parsing import parse_json
from cimento.suites import JsonValue
from cimento.suites.published import is_address, published
from cimento.suites.reading import TOML

SOURCE = "source.json"
"""The file next to fetched files that gives their source and their sha256."""
TEXT = ".txt"
"""The suffix of files that are suites only where their set has a format for them."""


def recorded_source(folder: Path) -> dict[str, object]:
    """What the file of sources in a folder says; empty where there is none that can be read."""
    try:
        content = parse_json(read_bytes(folder / SOURCE).decode("utf-8"))
    except (InputError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def source_of(path: Path) -> dict[str, JsonValue]:
    """The dataset, address and revision that a suite was fetched from; empty if it was not.

    Args:
        path: of the suite; the file ``source.json`` of a folder above must list it.
    """
    for folder, recorded, files in _complete(path):
        inside = path.relative_to(folder).parts
        listed = {PurePosixPath(name).parts[: len(inside)] for name in files}
        archives = {inside[:end] for end in range(len(inside))} & {
            PurePosixPath(name).parts for name in files
        }
        if inside in listed or archives:
            return {key: str(recorded[key]) for key in ("name", "address", "revision")}
    return {}


def recorded_format(path: Path) -> str:
    """The name of the format of a text that was fetched with a registered set; else empty."""
    if path.suffix.lower() != TEXT:
        return ""
    for folder, recorded, files in _complete(path):
        if path.relative_to(folder).as_posix() in files:
            return str(recorded.get("read_as") or "")
    return ""


def is_as_pinned(path: Path, sha256: str) -> bool:
    """Whether a file is, by its sha256, one that the registry has of the set it was fetched with.

    Args:
        path: of the file.
        sha256: of its bytes, in hexadecimal.
    """
    for folder, recorded, files in _complete(path):
        if (inside := path.relative_to(folder).as_posix()) in files:
            entry = published().get(str(recorded.get("name")))
            return entry is not None and entry.sha256.get(inside) == sha256
    return False


def fetched_files(path: Path, suffixes: Sequence[str]) -> list[Path]:
    """The files below a folder that were fetched with a registered set and can be suites.

    Args:
        path: the folder.
        suffixes: the suffixes of suites.

    Returns:
        The files, sorted; none where the folder is not part of such a set, or has suite folders.
    """
    for folder, recorded, files in _complete(path):
        if is_address(str(recorded.get("name"))) or any(name.endswith(TOML) for name in files):
            return []
        entry = published().get(str(recorded.get("name")))
        # Single files are named in the registry because they are suites.
        has_texts = recorded.get("read_as") or (entry is not None and entry.files)
        wanted = (*suffixes, TEXT) if has_texts else suffixes
        found = (folder / name for name in files if PurePosixPath(name).suffix.lower() in wanted)
        return sorted(file for file in found if file.is_relative_to(path) and file.is_file())
    return []


def _complete(path: Path) -> Iterator[tuple[Path, Mapping[str, object], Mapping[str, object]]]:
    """The folders at and above a path into which a whole set was fetched, and their records."""
    for folder in path.parents if path.is_file() or not path.exists() else (path, *path.parents):
        recorded = recorded_source(folder)
        files = recorded.get("files")
        if recorded.get("complete") and isinstance(files, dict):
            yield folder, recorded, files

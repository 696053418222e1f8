"""The storage of runs: their folders, and the manifest of inputs and versions in JSON values."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import functools
import hashlib
import importlib.metadata
import json
import os
import platform
import re
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cimento._version import __version__
from cimento.errors import TableError
from cimento.io.explained import EXPLAINED
from cimento.io.files import (
    expanded,
    matches_of,
    open_plain,
    reading,
    write_text,
    writing,
)
from cimento.io.parquet import READ_WHOLE
from cimento.io.parsing import parse_json
from cimento.io.tables import (
    CHOICES,
    FILLS,
    REPLIES,
    REQUESTS,
    SHORT_BYTES,
    TOKENS,
    Rows,
    TableSchema,
    collected,
    scan_table,
    write_table,
)
from cimento.io.unfinished import remove_unfinished
from cimento.io.untrusted import special_files
from cimento.suites import JsonValue
from cimento.suites.load import MAX_FILE_BYTES

if TYPE_CHECKING:
    import polars as pl

BLANK = "leading_blank"
"""Key of the inputs: whether the suite asks for a blank before each text."""

_LIBRARIES = ("icu4py", "numpy", "polars", "tokenizers", "torch", "transformers")


def describe(**parts: Any) -> dict[str, JsonValue]:  # noqa: ANN401  # dataclasses of any kind
    """A manifest of the given parts, with the versions of all software and the time.

    Args:
        parts: dataclasses, paths and plain values, by their names in the manifest.
    """
    return {
        **{name: plain(part) for name, part in parts.items()},
        "cimento": __version__,
        "versions": dict(versions()),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def manifest_part(manifest: Mapping[str, JsonValue], *path: str) -> Mapping[str, JsonValue]:
    """The object at a path of names in a manifest; empty where there is none."""
    part = manifest
    for name in path:
        member = part.get(name)
        part = member if isinstance(member, dict) else {}
    return part


def blank_before(manifest: Mapping[str, JsonValue]) -> bool:
    """Whether every text of a run had a blank before it, as its suite or else its policy says."""
    by_suite = manifest_part(manifest, "inputs").get(BLANK)
    by_policy = manifest_part(manifest, "asking", "policy").get("leading_blank")
    return bool(by_policy if by_suite is None else by_suite)


@functools.cache
def versions() -> Mapping[str, JsonValue]:
    """The versions of Python and of those libraries on which scores depend, if installed."""
    installed: dict[str, JsonValue] = {"python": platform.python_version()}
    for library in _LIBRARIES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            installed[library] = importlib.metadata.version(library)
    return installed


def plain(part: Any) -> JsonValue:  # noqa: ANN401
    """A dataclass, a path or a plain value in its form for a manifest."""
    if dataclasses.is_dataclass(part) and not isinstance(part, type):
        part = dataclasses.asdict(part)
    text = json.dumps(part, default=lambda value: str(value) if isinstance(value, Path) else value)
    value: JsonValue = json.loads(text)
    return value


PARADIGM = "paradigm"
"""Key of the manifest: kind of test."""

MANIFEST = "manifest.json"
SUITE_FOLDER = "suite"
CONTENT = "content"
"""Key of the suite's entry: digest of its content, which `sha256` of the bytes is not."""

FILES = "files"
"""Key of the manifest: the sha256 of each file of the run, by path."""


JUDGED = frozenset({"annotations", "judgments.parquet"})
"""Files and folders with people's judgments of a finished run, which enter its estimates."""

ADDED = JUDGED | {f"{schema.name}.parquet" for schema in EXPLAINED}
"""Files and folders that are added to a finished run and may change."""

_DIGITS = 8

Manifest = Mapping[str, JsonValue]
"""What a run was made with: the content of its ``manifest.json``."""


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The folder of one run.

    Attributes:
        path: the path of the folder, which need not exist yet.
    """

    path: Path

    @classmethod
    def named(
        cls, output: Path, *, suite: str, content: str, model: str, policy: str, part: str
    ) -> RunFolder:
        """The folder of a run under `output`.

        Args:
            output: folder of runs.
            suite: name of the suite.
            content: digest of the suite's content.
            model: label of the model, ``name@revision``.
            policy: digest of scoring and options.
            part: the items and predictions that are asked about; empty for all. It enters the
                name, so that a trial on a few items does not replace the run on all.
        """
        place, stem = output / file_name(suite), file_name(model)
        # The suite's name is hashed too: `file_name` may map two names to one folder, and the two
        # suites may have the same content.
        named = " ".join(filter(None, (policy, content, suite, part)))
        end = hashlib.sha256(named.encode()).hexdigest()[:_DIGITS]
        return cls(place / f"{stem}--{end}")

    @classmethod
    def below(cls, output: Path, *, suite: str, name: str) -> RunFolder:
        """The folder of a run in another folder of runs.

        Args:
            output: folder of runs.
            suite: name of the suite.
            name: name of the run's folder.
        """
        return cls(output / file_name(suite) / file_name(name))

    @property
    def suite_folder(self) -> Path:
        """The folder with the copy of the suite."""
        return self.path / SUITE_FOLDER

    def prepare(self) -> None:
        """Make the folder and check that it can be written, before anything is computed.

        Raises:
            StorageError: the folder cannot be written.
            TableError: it contains a link, a pipe or a device, which no run does.
        """
        self._refuse_special()
        with writing(self.path, todo="Choose another folder with --output."):
            self.path.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.path):
                pass

    def remove_empty(self) -> None:
        """Remove the folder, and that of its suite, where nothing is in it."""
        with contextlib.suppress(OSError):
            self.path.rmdir()
            self.path.parent.rmdir()

    def is_done(self, inputs: Manifest) -> bool:
        """Whether a finished and undamaged run with exactly these inputs is stored here."""
        try:
            manifest = self.manifest()
            self.verify(manifest)
        except TableError:
            return False
        return manifest.get("inputs") == dict(inputs)

    def manifest(self) -> dict[str, JsonValue]:
        """The manifest of the run: its inputs, settings and versions.

        Every reader of a run reads its manifest first, so the whole folder is checked here: it may
        be untrusted, and a link in it would make other files of this machine be read.

        Raises:
            TableError: there is no manifest, or it cannot be read; or the folder contains a link, a
                pipe or a device, which no run does.
        """
        self._refuse_special()
        try:
            content = self.read_json(MANIFEST)
        except TableError as error:
            if self.path.is_file():
                raise TableError(
                    where=str(self.path),
                    seen="this is a file, and a run is a folder",
                    todo="Give the folder of a finished run, which `cimento run` named.",
                ) from error
            if not isinstance(error.__cause__, FileNotFoundError):
                raise
            raise TableError(
                where=str(self.path),
                seen="this is not the folder of a finished run",
                todo="Give the folder of one run, such as runs/SUITE/MODEL.",
            ) from error
        if not isinstance(content, dict):
            raise TableError(where=str(self.path / MANIFEST), seen="is not a JSON object")
        return content

    def read_json(self, name: str) -> JsonValue:
        """The value of a JSON file of the run.

        Raises:
            TableError: the file cannot be read.
        """
        with self._reading(name) as content:
            value: JsonValue = parse_json(content)
        return value

    def read_text(self, name: str) -> str:
        """The content of a text file of the run.

        Raises:
            TableError: the file cannot be read.
        """
        with self._reading(name) as content:
            return content.decode("utf-8")

    @contextlib.contextmanager
    def _reading(self, name: str) -> Iterator[bytes]:
        """A context of reading a file of the run, with its bytes.

        Raises:
            TableError: the file cannot be read, is larger than any file of a run, or its content is
                not what the context takes it for.
        """
        path = self.path / name
        try:
            with open_plain(path) as file:
                content = file.read(MAX_FILE_BYTES + 1)
            if len(content) > MAX_FILE_BYTES:
                too_large = f"is larger than {MAX_FILE_BYTES:,} bytes"
                raise OSError(errno.EFBIG, too_large)  # noqa: TRY301  # as the system's own
            yield content
        except (OSError, ValueError) as error:
            raise TableError(where=str(path), seen=f"cannot be read ({error})") from error

    def _refuse_special(self) -> None:
        """Refuse a folder that contains anything but plain files and folders.

        Raises:
            TableError: it contains something else.
        """
        with reading(self.path, kind=TableError):
            special = next(special_files(self.path), None)
        if special is not None:
            raise TableError(
                where=str(special),
                seen="is a link, a pipe or a device; the folder of a run holds plain files only",
                todo="Links in a run are not followed. If the run is your own, copy it with"
                " `cp -rL`.",
            )

    def verify(self, manifest: Manifest) -> None:
        """Check that the files of the run are those that were stored.

        Args:
            manifest: the manifest of this run.

        Raises:
            TableError: a file was cut short, changed or removed.
        """
        stored = manifest.get(FILES)
        places: dict[Path, Path] = {}
        for name, sha256 in stored.items() if isinstance(stored, dict) else ():
            if _is_stored(name) and self._sha256(name, places) != sha256:
                raise TableError(
                    where=str(self.path / name),
                    seen="is not what the run stored: it was cut short, changed or removed",
                    todo="Run again with the same suite and model; scores are in the cache.",
                )

    def _sha256(self, name: str, places: dict[Path, Path]) -> str:
        """The sha256 of a file of the run, in hexadecimal; empty for a name outside its folder.

        An untrusted manifest must not make other files or devices of this machine be read.
        `places` has the folders that are resolved already; others are added.
        """
        try:
            path = self.path / name
            parent = path.parent
            for folder in (self.path, parent):
                if folder not in places:
                    places[folder] = folder.resolve()
            is_inside = parent == self.path or places[parent].is_relative_to(places[self.path])
            # Neither a link nor a device.
            if not is_inside or path.name == ".." or not stat.S_ISREG(path.lstat().st_mode):
                return ""
            with path.open("rb") as file:
                if os.fstat(file.fileno()).st_size <= READ_WHOLE:
                    return hashlib.sha256(file.read()).hexdigest()
                return hashlib.file_digest(file, "sha256").hexdigest()
        except (OSError, ValueError):
            return ""

    def finish(self, manifest: Manifest) -> Manifest:
        """Write the manifest as the last file, which marks the run as finished.

        Returns:
            The manifest, with the digests of all other files that are stored.
        """
        paths = (path for path in self.path.rglob("*") if path.is_file())
        names = sorted(path.relative_to(self.path).as_posix() for path in paths)
        stored = [name for name in names if name != MANIFEST and _is_stored(name)]
        places: dict[Path, Path] = {}
        digests: dict[str, JsonValue] = {name: self._sha256(name, places) for name in stored}
        whole = {**manifest, FILES: digests}
        text = json.dumps(whole, ensure_ascii=False, indent=2, sort_keys=True)
        write_text(text + "\n", self.path / MANIFEST)
        return whole


ORDER = TableSchema(
    name="order",
    columns={
        # In the order in which the items were drawn.
        "item": "String",
        # From 1; null for an item that was not asked.
        "round": "Int32",
        # Why an item was not asked; null for the others.
        "reason": "String",
    },
)
"""The order in which an adaptive run took its items; other runs have no such table."""

ANSWERS: Mapping[str, TableSchema] = {
    schema.name: schema for schema in (REQUESTS, TOKENS, FILLS, CHOICES, REPLIES, ORDER)
}
"""The tables of requests and answers, from which everything else is made, and of their order."""


class StoredTables(Mapping[str, "pl.LazyFrame"]):
    """The tables of a stored run, each opened on access and read when its rows are needed.

    Args:
        folder: the folder of the run.
        is_new: whether this process has just written them.
    """

    def __init__(self, folder: Path, *, is_new: bool = False) -> None:
        self.folder = folder
        self._is_new = is_new
        self._names = [name for name in ANSWERS if (folder / f"{name}.parquet").is_file()]
        self._opened: dict[str, pl.LazyFrame] = {}

    def __getitem__(self, name: str) -> pl.LazyFrame:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._opened:
            self._opened[name] = scan_table(ANSWERS[name], self.folder, is_new=self._is_new)
        return self._opened[name]

    def held(self) -> Mapping[str, pl.LazyFrame]:
        """The same tables, of which small ones are read into memory at once."""
        tables = dict(self)
        for name, table in tables.items():
            path = self.folder / f"{name}.parquet"
            if path.stat().st_size <= SHORT_BYTES:
                tables[name] = collected(table, where=path, engine="in-memory").lazy()
        return tables

    def __contains__(self, name: object) -> bool:
        return name in self._names  # the default of Mapping would read the table

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def store_answers(tables: Mapping[str, Rows], folder: RunFolder) -> StoredTables:
    """Write the tables of requests and answers of a run, unless they are from its own folder.

    Raises:
        StorageError: the folder cannot be written.
    """
    (folder.path / MANIFEST).unlink(missing_ok=True)  # the run is not finished any more
    remove_unfinished(folder.path)
    if isinstance(tables, StoredTables) and tables.folder == folder.path:
        return tables
    for name, table in tables.items():
        write_table(table, ANSWERS[name], folder.path)
    return StoredTables(folder.path, is_new=True)


def find_runs(path: Path) -> Iterator[RunFolder]:
    """The run in a folder, or all runs below it, sorted by path.

    Raises:
        TableError: there is no run.
    """
    with reading(path, kind=TableError):
        is_folder = path.is_dir()
    folders = sorted(manifest.parent for manifest in path.rglob(MANIFEST)) if is_folder else []
    if not folders:
        raise TableError(
            where=str(path),
            seen="there is no finished run here",
            todo="Give a run folder, or a folder of runs, as `cimento run` names them.",
        )
    for folder in folders:
        yield RunFolder(folder)


def _is_stored(name: str) -> bool:
    """Whether a file belongs to the run, unlike hidden files and those that people added."""
    parts = name.split("/")
    hidden = any(part.startswith(".") and part.strip(".") for part in parts)
    return not hidden and parts[0] not in ADDED


def file_name(name: str) -> str:
    """A name in a form that is valid as a part of a path on every file system."""
    return re.sub(r"[^\w.@+-]+", "__", name).strip(".") or "_"


def folders_among(paths: Iterable[str | Path]) -> list[Path]:
    """The paths that may hold runs, without files that a wildcard matched along with folders.

    Args:
        paths: the paths as they were given.

    Returns:
        The folders; if there are none, all paths, so that the error can name them.
    """
    given = [expanded(match) for path in paths for match in matches_of(str(path))]
    # The file of a run that was named, rather than its folder.
    given = [path.parent if path.name == MANIFEST and path.is_file() else path for path in given]
    return [path for path in given if not path.is_file()] or given

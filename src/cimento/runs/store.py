"""What a run was made of and with, in plain values for manifest.json."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import hashlib
import importlib.metadata
import json
import os
import platform
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cimento._version import __version__
from cimento.errors import StorageError, TableError
from cimento.io.files import open_plain, remove_stale, write_text
from cimento.io.parsing import parse_json
from cimento.suites.archives import MAX_FILE_BYTES
from cimento.suites.model import JsonValue

BLANK = "leading_blank"
"""Key of the inputs: whether the suite says that a blank stands before each text."""

_LIBRARIES = ("numpy", "polars", "tokenizers", "torch", "transformers")


def describe(**parts: Any) -> dict[str, JsonValue]:  # noqa: ANN401  # dataclasses of any kind
    """A manifest: the parts given, with the versions of everything and the time.

    Args:
        parts: dataclasses, paths and plain values, under their names in the manifest.
    """
    return {
        **{name: plain(part) for name, part in parts.items()},
        "cimento": __version__,
        "versions": versions(),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def manifest_part(manifest: Mapping[str, JsonValue], *path: str) -> Mapping[str, JsonValue]:
    """An object inside a manifest, by the names on the way to it; empty where there is none."""
    part = manifest
    for name in path:
        member = part.get(name)
        part = member if isinstance(member, dict) else {}
    return part


def blank_before(manifest: Mapping[str, JsonValue]) -> bool:
    """Whether a blank stood before every text of a run: by its suite, else by its policy."""
    by_suite = manifest_part(manifest, "inputs").get(BLANK)
    by_policy = manifest_part(manifest, "asking", "policy").get("leading_blank")
    return bool(by_policy if by_suite is None else by_suite)


def versions() -> dict[str, JsonValue]:
    """The versions of Python and of the libraries that scores depend on, where installed."""
    found: dict[str, JsonValue] = {"python": platform.python_version()}
    for library in _LIBRARIES:
        try:
            found[library] = importlib.metadata.version(library)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def plain(part: Any) -> JsonValue:  # noqa: ANN401
    """A dataclass, a path or a plain value as it stands in a manifest."""
    if dataclasses.is_dataclass(part) and not isinstance(part, type):
        part = dataclasses.asdict(part)
    text = json.dumps(part, default=lambda value: str(value) if isinstance(value, Path) else value)
    value: JsonValue = json.loads(text)
    return value


MANIFEST = "manifest.json"
SUITE_FOLDER = "suite"
FILES = "files"
"""Key of the manifest: path of a file that answers are read from to its sha256."""

ADDED = frozenset({"annotations", "judgments.parquet"})
"""What people add to a finished run, and go on with."""

_DIGITS = 8
_BEGUN = ("asked-for.json", "parts/inputs.json")
"""Where runs that take long write down what they answer, before they are finished."""

Manifest = Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class RunFolder:
    """Where one run is stored.

    Attributes:
        path: the folder; need not exist yet.
    """

    path: Path

    @classmethod
    def named(
        cls, output: Path, *, suite: str, sha256: str, model: str, policy: str, limit: int | None
    ) -> RunFolder:
        """The folder of a run under `output`.

        Args:
            output: folder of runs.
            suite: name of the suite.
            sha256: of the suite, as it was read.
            model: label of the model, ``name@revision``.
            policy: digest of how the suite is asked.
            limit: items that are asked at most; None for all. A trial with a few must not replace
                the run of all.
        """
        place, stem = output / file_name(suite), file_name(model)
        # The name as well: two may come to one folder, and hold the same.
        part = "" if limit is None else f" {limit}"
        digits = hashlib.sha256(f"{policy} {sha256} {suite}{part}".encode()).hexdigest()[:_DIGITS]
        folder = cls(place / f"{stem}--{digits}")
        earlier = cls(place / f"{stem}--{policy}")
        if limit is None and not folder.path.is_dir() and earlier._is_of(sha256):
            return earlier
        return folder

    @classmethod
    def below(cls, output: Path, *, suite: str, name: str) -> RunFolder:
        """The folder that a run has in another folder of runs.

        Args:
            output: folder of runs.
            suite: name of the suite.
            name: of the run's folder.
        """
        return cls(output / file_name(suite) / file_name(name))

    def _is_of(self, sha256: str) -> bool:
        """Whether a run of version 0.1 is stored here, or was begun, of the very suite.

        Its folder's digits were of how the suite was asked only.
        """
        if not self.path.is_dir():
            return False
        begun = [self._inputs_in(name) for name in _BEGUN]
        with contextlib.suppress(TableError):
            begun.append(self.manifest().get("inputs"))
        return any(isinstance(each, dict) and each.get("suite") == sha256 for each in begun)

    def _inputs_in(self, name: str) -> JsonValue:
        """What a run that is not finished wrote down of its inputs; None where it did not."""
        try:
            return self.read_json(name)
        except TableError:
            return None

    @property
    def suite_folder(self) -> Path:
        """Where the copy of the suite is."""
        return self.path / SUITE_FOLDER

    def prepare(self) -> None:
        """Make the folder and see that it can be written, before anything is computed.

        Raises:
            StorageError: it cannot.
            TableError: it holds what no run does: a link, a pipe, a device.
        """
        self._refuse_special()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.path):
                pass
        except OSError as error:
            raise StorageError(
                where=str(self.path),
                seen=f"cannot be written ({error.strerror or error})",
                todo="Choose another folder with --output.",
            ) from error

    def remove_empty(self) -> None:
        """Remove the folder, and that of its suite, where nothing is in it."""
        with contextlib.suppress(OSError):
            self.path.rmdir()
            self.path.parent.rmdir()

    def is_done(self, inputs: Manifest) -> bool:
        """Whether a finished run with these very inputs is stored here, and is whole."""
        try:
            manifest = self.manifest()
            self.verify(manifest)
        except TableError:
            return False
        return manifest.get("inputs") == dict(inputs)

    def manifest(self) -> dict[str, JsonValue]:
        """What the run was made of and with.

        Every reader of a run asks for its manifest first, and the whole folder is looked at then:
        it may be a stranger's, and a link in it would have other files of this machine read.

        Raises:
            TableError: there is no manifest, or it cannot be read; or the folder holds what no run
                does: a link, a pipe, a device.
        """
        self._refuse_special()
        try:
            content = self.read_json(MANIFEST)
        except TableError as error:
            if not isinstance(error.__cause__, FileNotFoundError):
                raise
            raise TableError(
                where=str(self.path),
                seen="this is not the folder of a finished run",
                todo="Give a folder that `cimento run` named, or run again.",
            ) from error
        if not isinstance(content, dict):
            raise TableError(where=str(self.path / MANIFEST), seen="is not a JSON object")
        return content

    def read_json(self, name: str) -> JsonValue:
        """What a JSON file of the run says.

        Raises:
            TableError: it cannot be read.
        """
        path = self.path / name
        try:
            content: JsonValue = parse_json(self._read(name))
        except (OSError, ValueError) as error:
            raise TableError(where=str(path), seen=f"cannot be read ({error})") from error
        return content

    def read_text(self, name: str) -> str:
        """A text file of the run.

        Raises:
            TableError: it cannot be read.
        """
        try:
            return self._read(name).decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise TableError(
                where=str(self.path / name), seen=f"cannot be read ({error})"
            ) from error

    def _read(self, name: str) -> bytes:
        """A file of the run that is read whole.

        Raises:
            OSError: it cannot be read, or is larger than any that a run has.
        """
        with open_plain(self.path / name) as file:
            content = file.read(MAX_FILE_BYTES + 1)
        if len(content) > MAX_FILE_BYTES:
            raise OSError(errno.EFBIG, f"is larger than {MAX_FILE_BYTES:,} bytes")
        return content

    def _refuse_special(self) -> None:
        """See that the folder holds plain files and folders only.

        Raises:
            TableError: it holds something else.
        """
        for path in _special(self.path):
            raise TableError(
                where=str(path),
                seen="is a link, a pipe or a device; the folder of a run holds plain files only",
                todo="Links in a run are not followed. If the run is your own, copy it with"
                " `cp -rL`.",
            )

    def verify(self, manifest: Manifest) -> None:
        """See that the suite and the answers are those that were stored.

        Args:
            manifest: of this run; those of earlier versions do not say what the files held.

        Raises:
            TableError: one was cut short, changed or removed.
        """
        stored = manifest.get(FILES)
        for name, sha256 in stored.items() if isinstance(stored, dict) else ():
            if _is_stored(name) and self._sha256(name) != sha256:
                raise TableError(
                    where=str(self.path / name),
                    seen="is not what the run stored: it was cut short, changed or removed",
                    todo="Run again with the same suite and model; scores are in the cache.",
                )

    def _sha256(self, name: str) -> str:
        """Of a file of the run, hexadecimal; empty where there is none of this name in its folder.

        The manifest of a stranger must not have other files of this machine read, or its devices.
        """
        try:
            path = (self.path / name).resolve()
            if not path.is_relative_to(self.path.resolve()) or not path.is_file():
                return ""
            with path.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        except (OSError, ValueError):
            return ""

    def _stored(self) -> dict[str, JsonValue]:
        """Every file of the run but its manifest, with its sha256."""
        paths = (path for path in self.path.rglob("*") if path.is_file())
        names = sorted(path.relative_to(self.path).as_posix() for path in paths)
        return {name: self._sha256(name) for name in names if name != MANIFEST and _is_stored(name)}

    def finish(self, manifest: Manifest) -> Manifest:
        """Write the manifest, last of all: a folder with a manifest is a finished run.

        Returns:
            The manifest, with the files of the run.
        """
        whole = {**manifest, FILES: self._stored()}
        text = json.dumps(whole, ensure_ascii=False, indent=2, sort_keys=True)
        write_text(text + "\n", self.path / MANIFEST)
        return whole

    def reopen(self) -> None:
        """Take the manifest away before the tables are rewritten, and remove partial files."""
        (self.path / MANIFEST).unlink(missing_ok=True)
        remove_stale(self.path)


def find_runs(path: Path) -> Iterator[RunFolder]:
    """The run in a folder, or all runs below it, sorted by path.

    Raises:
        TableError: there is none.
    """
    folders = sorted(manifest.parent for manifest in path.rglob(MANIFEST)) if path.is_dir() else []
    if not folders:
        raise TableError(
            where=str(path),
            seen="there is no finished run here",
            todo="Give a run folder, or a folder of runs, as `cimento run` names them.",
        )
    for folder in folders:
        yield RunFolder(folder)


def _is_stored(name: str) -> bool:
    """Whether a file is the run's own: none that a program or a system left, or people added."""
    parts = name.split("/")
    hidden = any(part.startswith(".") and part.strip(".") for part in parts)
    return not hidden and parts[0] not in ADDED


def _special(folder: Path) -> Iterator[Path]:
    """Links and whatever is neither a file nor a folder, below a folder that may not be there."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _special(Path(entry.path))
            elif not entry.is_file(follow_symlinks=False):
                yield Path(entry.path)


def file_name(name: str) -> str:
    """A name as part of a path, on every file system."""
    return re.sub(r"[^\w.@+-]+", "__", name).strip(".") or "_"

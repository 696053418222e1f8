"""The workspace: a folder of plain files, which the command line reads and writes too.

Suites are workbooks, tables and folders at the top or in ``suites/``; runs are in ``runs/``,
surveys in ``surveys/``, and judgments are tables in ``judgments/``.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from cimento.documents import content_digest_of
from cimento.errors import CimentoError, InputError, UsageError
from cimento.intake.tables import SUFFIXES
from cimento.io.files import expanded, need_writable, reading, writing
from cimento.io.untrusted import is_plain_file, is_special, special_files
from cimento.models.hf.names import checkpoints, holds_model
from cimento.people.surveys import FILE
from cimento.records.store import MANIFEST, PARADIGM, RunFolder, manifest_part
from cimento.suites.builtin import WORKBOOK, builtin_names, is_builtin
from cimento.suites.formats import SUITE_SUFFIXES
from cimento.suites.load import ARCHIVE_SUFFIX
from cimento.suites.reading import TOML
from cimento.suites.sources import SOURCE, recorded_source

SUITES, RUNS, SURVEYS, JUDGMENTS = "suites", "runs", "surveys", "judgments"
TEXT_SUFFIX = ".txt"
SECRET = ".secret"  # noqa: S105  # a suffix
"""The suffix of the key of pseudonyms, beside the tables that it was used for."""

MOST_SHOWN = 2000
"""The number of files of one kind that are listed."""
LONGEST_NAME = 100
_LONGEST_SHOWN = 200


@dataclass(frozen=True, slots=True)
class StoredSuite:
    """A suite in the workspace.

    Attributes:
        name: its path from the workspace, with slashes, such as ``suites/verbs.xlsx``.
        path: where it is.
    """

    name: str
    path: Path


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A finished run in the workspace, as its manifest describes it.

    Attributes:
        name: path of its folder from the workspace, with slashes.
        path: where it is.
        suite: name of the suite.
        version: hash of the suite's content; empty if unknown.
        sha256: SHA-256 of the suite's file; empty if unknown.
        model: name of the model.
        paradigm: kind of the suite.
        created: when it was made, in UTC, as the manifest says; empty if it does not.
    """

    name: str
    path: Path
    suite: str
    version: str
    sha256: str
    model: str
    paradigm: str
    created: str


@dataclass(frozen=True, slots=True)
class Workspace:
    """A folder with what somebody works on.

    Attributes:
        folder: the folder.
        models: further folders, from which models may be loaded.
    """

    folder: Path
    models: tuple[Path, ...] = ()

    def prepare(self) -> None:
        """Make the folder where there is none.

        Raises:
            StorageError: nothing can be written there.
        """
        need_writable(self.folder, is_folder=True)
        self.folder.mkdir(parents=True, exist_ok=True)

    def inside(self, name: str | Path) -> Path:
        """The path of a file or folder in the workspace, which need not exist.

        Nothing in the workspace is reached through a link: it may come from somebody else, and a
        link may lead to any file of this machine.

        Args:
            name: its path from the workspace, or an absolute one inside.

        Raises:
            UsageError: the path leads out of the workspace, is that of a link, a pipe or a device,
                or goes through a link.
            InputError: it is not a path that a file can have.
        """
        root, given = self.folder.resolve(), os.path.normpath(str(name))
        # A name with a null byte is not a path to any system.
        relative = None if "\0" in given else _below(given, (root, self.folder.absolute()))
        if relative is None or relative.parts[:1] == ("..",):
            raise self._outside(str(name))
        path = root
        try:
            for part in relative.parts:
                path /= part
                if is_special(path):
                    raise UsageError(
                        where=_short(str(name)),
                        seen="it is a link, a pipe or a device, or lies behind a link",
                        todo="Put the file or folder itself in its place.",
                    )
            leads_out = not path.resolve().is_relative_to(root)
        except OSError as error:
            raise InputError(
                where=_short(str(name)),
                seen=f"cannot be read ({error.strerror or error})",
                todo="Choose another.",
            ) from error
        if leads_out:  # by a junction of Windows
            raise self._outside(str(name))
        return path

    def _outside(self, name: str) -> UsageError:
        return UsageError(
            where=_short(name),
            seen=f"it is outside the folder {self.folder}",
            todo="Put a copy of it in there.",
        )

    def plain(self, name: str | Path) -> Path:
        """The path of a file or folder in the workspace, with no link, pipe or device below it.

        Raises:
            UsageError: the path leads out of the workspace, or there is one.
            InputError: it is not a path that a file can have, or cannot be read.
        """
        path = self.inside(name)
        with reading(path):
            special = next(special_files(path), None)
        if special is not None:
            raise UsageError(
                where=_short(self.name_of(path) + special.as_posix()[len(path.as_posix()) :]),
                seen="it is a link, a pipe or a device, or lies behind a link",
                todo="Put the file or folder itself in its place.",
            )
        return path

    def exists(self, name: str) -> bool:
        """Whether there is something of a name in the workspace itself, and no link."""
        try:
            return self.inside(name).exists()
        except CimentoError:
            return False

    def name_of(self, path: Path) -> str:
        """The path of a file in the workspace, from there and with slashes."""
        return path.resolve().relative_to(self.folder.resolve()).as_posix()

    def suite(self, name: str) -> Path | str:
        """The suite with a name: a built-in one, or the path of one in the workspace.

        Raises:
            UsageError: the path leads out of the workspace.
            InputError: there is no such suite.
        """
        if is_builtin(name):
            return name
        path = self.plain(name)
        if not (path.exists() and _is_suite(path)):
            raise InputError(
                where=_short(name), seen="there is no such suite", todo="Choose another."
            )
        return path

    def model(self, name: str) -> str:
        """The name of a model, if it may be used from here.

        A folder or file must be in the workspace or in one of the folders of models. What only the
        hub or a server can mean is unchanged.

        Args:
            name: as for ``cimento run --model``.

        Raises:
            UsageError: the name is empty, or of a file or folder elsewhere.
        """
        name = name.strip()
        prefix, colon, rest = name.partition(":")
        if not name or name.startswith("-") or (colon and not rest):
            raise UsageError(where="model", seen="no model is named", todo="Name one.")
        if prefix in _FILES_AFTER:
            return f"{prefix}:{self._model_path(rest)}"
        if colon and len(prefix) > 1:  # one letter is a drive of Windows
            return name
        if _leads_away(name) or _is_there(self.folder / name):
            return self._model_path(name)
        return name

    def is_outside(self, name: str) -> bool:
        """Whether a model is in one of the further folders of models, and not in the workspace.

        Args:
            name: as `model` returns it.
        """
        return Path(name.partition(":")[2] if ":" in name else name).is_absolute()

    def _model_path(self, name: str) -> str:
        """The path of a model's folder or file, from the workspace where it is in there."""
        root, given = self.folder.resolve(), os.path.normpath(expanded(name))
        relative = _below(given, (root, self.folder.absolute()))
        if relative is not None and relative.parts[:1] != ("..",):
            return self.plain(relative).relative_to(root).as_posix()
        path = (root / given).resolve()
        if any(path.is_relative_to(folder.resolve()) for folder in self.models):
            return str(path)
        raise UsageError(
            where=_short(name),
            seen=f"it is outside the folder {self.folder}",
            todo="Put the model in there, or start the app with --models and its folder.",
        )

    def model_folders(self) -> list[str]:
        """The folders of models in the workspace and in the folders of models, by path."""
        folders: list[str] = []
        for folder in (self.folder, *self.models):
            if holds_model(folder) and folder in self.models:
                folders.append(str(folder.resolve()))
            for name in checkpoints(folder):
                with contextlib.suppress(CimentoError):  # a link, which is not followed
                    folders.append(self._model_path(str(folder.resolve() / name)))
        return folders[:MOST_SHOWN]

    def entries(self, folder: str) -> Iterator[Path]:
        """What is in a folder of the workspace, sorted; hidden files and links are left out."""
        place = self.inside(folder)
        if not place.is_dir():
            return
        with reading(place):
            paths = sorted(place.iterdir())[:MOST_SHOWN]
        for path in paths:
            if not path.name.startswith(".") and not is_special(path):
                yield path

    def suites(self) -> list[StoredSuite]:
        """The suites at the top and in ``suites/``, by name."""
        paths = [*self.entries(""), *self.entries(SUITES)]
        return [StoredSuite(self.name_of(path), path) for path in paths if _is_suite(path)]

    def suite_names(self) -> list[str]:
        """The suites of the workspace, and those that come with cimento."""
        return [*(suite.name for suite in self.suites()), *builtin_names()]

    def runs(self, folder: str = RUNS) -> list[StoredRun]:
        """The finished runs in a folder, those of a suite together."""
        stored: list[StoredRun] = []
        for suite in self.entries(folder):
            if suite.is_dir():
                runs = (self._run(path) for path in self.entries(f"{folder}/{suite.name}"))
                stored += [run for run in runs if run is not None]
        return stored

    def _run(self, path: Path) -> StoredRun | None:
        """A run; None for a folder that is not one, is not finished or cannot be read."""
        if not is_plain_file(path / MANIFEST):
            return None
        try:
            manifest = RunFolder(path).manifest()
        except InputError:
            return None
        return StoredRun(
            name=self.name_of(path),
            path=path,
            suite=str(manifest_part(manifest, "suite").get("name", "")),
            version=content_digest_of(manifest),
            sha256=str(manifest_part(manifest, "suite").get("sha256") or ""),
            model=str(manifest.get("label", "")),
            paradigm=str(manifest.get(PARADIGM, "")),
            created=str(manifest.get("created", "")),
        )

    def delete_run(self, name: str) -> None:
        """Delete the folder of a run; the answers of its model stay in the cache.

        Raises:
            InputError: there is no run of this name.
            StorageError: the folder cannot be deleted.
        """
        path = {run.name: run.path for run in self.runs()}.get(name)
        if path is None:
            raise InputError(
                where=_short(name), seen="there is no such run", todo="Choose another."
            )
        with writing(path):
            shutil.rmtree(path)
            if not any(path.parent.iterdir()):  # the last run of its suite
                path.parent.rmdir()

    def delete_suite(self, name: str) -> None:
        """Delete the file or the folder of a suite; its runs and surveys stay.

        Raises:
            InputError: there is no suite of this name in the workspace.
            StorageError: it cannot be deleted.
        """
        path = {suite.name: suite.path for suite in self.suites()}.get(name)
        if path is None:
            raise InputError(
                where=_short(name), seen="there is no such suite", todo="Choose another."
            )
        _delete(path)

    def parts_of_survey(self, folder: Path) -> list[Path]:
        """A survey's folder, and what was made of its answers in ``judgments/``."""
        return [folder, *self.judgments_of(folder.name)]

    def forms(self) -> list[str]:
        """The names of forms of one's own whose answers were read, which have a secret each."""
        surveys = {one.name for one in self.surveys()}
        secrets = [path.stem for path in self.entries(JUDGMENTS) if path.suffix == SECRET]
        return [name for name in secrets if name not in surveys]

    def new_form(self, name: str) -> str:
        """A name for a form that no survey and nothing in ``judgments/`` has.

        Raises:
            UsageError: nothing of the wanted name is left.
        """
        stem = self.new(JUDGMENTS, f"{name}{SECRET}", free=False).stem
        taken = {one.name for one in self.surveys()}
        taken |= {path.name.partition(".")[0] for path in self.entries(JUDGMENTS)}
        others = (f"{stem}-{number}" for number in itertools.count(2))
        return next(one for one in itertools.chain([stem], others) if one not in taken)

    def judgments_of(self, name: str) -> list[Path]:
        """What was made of the answers to a survey or a form in ``judgments/``.

        Args:
            name: of the survey or the form; a name that goes on with another one is the other's.
        """
        names = sorted([*(one.name for one in self.surveys()), *self.forms()], key=len)

        def owner(path: Path) -> str:
            of = (one for one in names[::-1] if re.match(rf"{re.escape(one)}(-|\.)", path.name))
            return next(of, "")

        return [path for path in self.entries(JUDGMENTS) if owner(path) == name]

    def delete_judgments(self, name: str) -> None:
        """Delete all tables of answers to a form of one's own, and keep its secret.

        Raises:
            StorageError: they cannot be deleted.
        """
        for path in self.judgments_of(name):
            if path.suffix != SECRET:
                _delete(path)

    def delete_form(self, name: str) -> None:
        """Delete all answers to a form of one's own, with the secret of their pseudonyms.

        Raises:
            StorageError: they cannot be deleted.
        """
        # The secret, by which the rest is found, goes last.
        for path in sorted(self.judgments_of(name), key=lambda path: path.suffix == SECRET):
            _delete(path)

    def delete_survey(self, folder: Path) -> None:
        """Delete a survey with all its answers.

        Raises:
            StorageError: it cannot be deleted.
        """
        for path in reversed(self.parts_of_survey(folder)):
            _delete(path)

    def surveys(self) -> list[Path]:
        """The folders of surveys in ``surveys/``."""
        return [path for path in self.entries(SURVEYS) if is_plain_file(path / FILE)]

    def new(self, folder: str, name: str, *, free: bool = True) -> Path:
        """A path for something new, which no other file has.

        Args:
            folder: such as `SUITES`.
            name: the wanted name, of which what no system takes is left out; numbered if taken.
            free: whether it is to be numbered if taken.

        Raises:
            UsageError: nothing of the name is left.
        """
        plain = "".join(mark for mark in PurePosixPath(name.replace("\\", "/")).name if _fits(mark))
        plain = plain.strip(" .")
        if not plain:
            raise UsageError(
                where=repr(name), seen="it is not a name", todo="Use letters or digits."
            )
        stem, suffix = os.path.splitext(plain)  # noqa: PTH122  # a name, not a path
        stem = stem[:LONGEST_NAME]
        path = self.inside(f"{folder}/{stem}{suffix}")
        number = 2
        while free and path.exists():
            path = self.inside(f"{folder}/{stem}-{number}{suffix}")
            number += 1
        return path


def _delete(path: Path) -> None:
    """Delete a file, a link or a folder.

    Raises:
        StorageError: it cannot be deleted.
    """
    with writing(path):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


_FILES_AFTER = ("kenlm", "gguf", "replay")
"""The prefixes of models after which the path of a file stands."""


def _leads_away(name: str) -> bool:
    """Whether the name of a model can only be a path, or leads out of the folder it is read in."""
    return name.startswith(("/", ".", "~")) or ".." in PurePosixPath(name).parts or "\\" in name


def _below(given: str, folders: Iterable[Path]) -> Path | None:
    """A path from the first folder that it is in; one that is not absolute is from there."""
    path = Path(given)
    if not path.is_absolute():
        return path
    return next((path.relative_to(one) for one in folders if path.is_relative_to(one)), None)


def _is_there(path: Path) -> bool:
    """Whether something has a path; no error for a name that no file can have."""
    try:
        return os.path.lexists(path)
    except ValueError:
        return False


def _short(name: str) -> str:
    """A name in a message, which may come from an address and be as long as one likes."""
    return name if len(name) <= _LONGEST_SHOWN else f"{name[:_LONGEST_SHOWN]}..."


def superseded_by(name: str) -> str:
    """The workbook that an edited table of another form is saved in; empty for other suites.

    >>> superseded_by("suites/isole dell'aggiunto.csv")
    "suites/isole dell'aggiunto.xlsx"
    """
    path = PurePosixPath(name)
    is_table = path.suffix.lower() in SUFFIXES and path.suffix.lower() != WORKBOOK
    return str(path.with_suffix(WORKBOOK)) if is_table else ""


def _fits(mark: str) -> bool:
    """Whether a character may be in the name of a file on every system."""
    return mark.isalnum() or mark in " ._-+()'’"


def _is_suite(path: Path) -> bool:
    if path.is_dir():
        if is_plain_file(path / TOML):
            return True
        return is_plain_file(path / SOURCE) and bool(recorded_source(path).get("complete"))
    suffix = path.suffix.lower()
    # A text file elsewhere may be a note; in the folder of suites it is a list of sentences.
    if suffix == TEXT_SUFFIX:
        return path.parent.name == SUITES
    return suffix in SUITE_SUFFIXES or suffix == ARCHIVE_SUFFIX

"""Suites of any paradigm, given by built-in name, by path or as Python objects, and checked."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias, cast

from cimento.errors import SuiteError, UsageError
from cimento.io.files import folder_atomically, refuse_existing
from cimento.paradigms.base import AnyParadigm, SuiteReading, TestSuite
from cimento.paradigms.registry import (
    in_language,
    own_paradigms,
    plugged_paradigms,
    read_all,
)
from cimento.suites.builtin import WORKBOOK, find_suite, name_or_path
from cimento.suites.reading import errors as errors_among
from cimento.suites.suite_workbook import fold

SuiteLike: TypeAlias = "str | Path | TestSuite | LoadedSuite"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedSuite:
    """A suite that can be run, of any paradigm.

    Attributes:
        paradigm: paradigm of the suite.
        reading: result of reading the suite, without faults that make it unusable.
    """

    paradigm: AnyParadigm
    reading: SuiteReading[Any]

    def __repr__(self) -> str:
        return f"<LoadedSuite {self.suite.name!r} ({self.paradigm.name})>"

    @property
    def suite(self) -> TestSuite:
        """The suite itself.

        Raises:
            SuiteError: the source could not be read as a suite.
        """
        suite = self.reading.suite
        if suite is None:
            raise SuiteError(where=str(self.reading.path), faults=self.reading.faults)
        return cast("TestSuite", suite)


def load_suite(suite: SuiteLike, *, language: str = "") -> LoadedSuite:
    """A suite of any paradigm, checked.

    Args:
        suite: built-in name, path, or suite made in Python.
        language: ISO 639-1 code, if the suite does not state it, as a bare table cannot.

    Raises:
        CimentoError: the suite does not exist, has faults, or is one of several.
    """
    loaded = list(load_suites([suite], language=language))
    if len(loaded) != 1:
        raise UsageError(
            where=str(suite),
            seen=f"there are {len(loaded)} suites: {', '.join(each.suite.name for each in loaded)}",
            todo="Give one of them.",
        )
    return loaded[0]


def load_suites(
    suites: SuiteLike | Iterable[SuiteLike], *, language: str = ""
) -> Iterator[LoadedSuite]:
    """Suites of any paradigm, given by built-in name, by path or as they are, one after the other.

    Args:
        suites: one or several suites; a folder of suites yields all of them.
        language: language of suites that do not state theirs, as for `load_suite`.

    Raises:
        CimentoError: a suite does not exist or has faults.
    """
    # A name is iterable too, and so may be a suite of a plugged-in paradigm.
    several = not (isinstance(suites, str) or hasattr(suites, "meta") or _is_frame(suites))
    for suite in suites if several and isinstance(suites, Iterable) else (suites,):
        if isinstance(suite, str | Path):
            path = find_suite(name_or_path(suite))
            for paradigm, reading in read_all(path, language=language):
                yield LoadedSuite(paradigm=paradigm, reading=reading)
            continue
        made = suite if isinstance(suite, LoadedSuite) else _made_here(cast("TestSuite", suite))
        yield replace(made, reading=in_language(made.reading, language)) if language else made


def usable(paradigm: AnyParadigm, reading: SuiteReading[Any]) -> LoadedSuite:
    """A suite that was read, if it has no fault that makes it unusable.

    Raises:
        SuiteError: the suite has such faults; the error contains all of them.
    """
    if reading.suite is None or errors_among(reading.faults):
        raise SuiteError(where=str(reading.path), faults=reading.faults)
    return LoadedSuite(paradigm=paradigm, reading=reading)


def save_suite(loaded: LoadedSuite, path: Path) -> Path:
    """Write a suite of any paradigm as a folder, or as one workbook if the name ends in .xlsx.

    Raises:
        InputError: a workbook cannot contain the suite.
        StorageError: the path exists already, or cannot be written.
    """
    if path.suffix.lower() != WORKBOOK:
        return folder_atomically(path, lambda folder: loaded.paradigm.write(loaded.suite, folder))
    refuse_existing(path)
    with TemporaryDirectory(prefix="cimento-") as name:
        loaded.paradigm.write(loaded.suite, Path(name))
        return fold(Path(name), path)


def _is_frame(value: object) -> bool:
    """Whether a value is a data frame of polars or pandas."""
    return hasattr(value, "columns") and hasattr(value, "shape")


def _made_here(suite: TestSuite) -> LoadedSuite:
    """A suite made in Python, checked in the same way as one that was read."""
    # Suites of ratings are also suites of regions, so the more general paradigm is asked last.
    paradigms = [*plugged_paradigms(), *reversed(own_paradigms())]
    paradigm = next((paradigm for paradigm in paradigms if paradigm.owns(suite)), None)
    if paradigm is None:
        raise UsageError(
            where="suite",
            seen=f"{type(suite).__name__} is neither a name, a path nor a suite",
            todo="cimento.pairs(rows) makes a suite of good and bad sentences."
            if _is_frame(suite) or isinstance(suite, list | tuple)
            else "Give a built-in name, a path, or a suite made in Python.",
        )
    # The repr of a frozen record contains all of its data, always in the same form.
    digest = hashlib.sha256(repr(suite).encode()).hexdigest()
    reading = SuiteReading(
        suite=suite,
        faults=tuple(paradigm.check(suite)),
        sha256=digest,
        path=Path(suite.name),
        format="python",
    )
    return usable(paradigm, reading)

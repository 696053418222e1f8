"""Suites of any paradigm, by built-in name, path or as they are made in Python, checked."""

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
from cimento.suites import faults
from cimento.suites.builtin import WORKBOOK, find_suite, name_or_path
from cimento.suites.suite_workbook import fold

SuiteLike: TypeAlias = "str | Path | TestSuite | LoadedSuite"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedSuite:
    """A suite that can be run, of any paradigm.

    Attributes:
        paradigm: the kind of test.
        reading: the suite, without faults that would keep it from being used, and its warnings.
    """

    paradigm: AnyParadigm
    reading: SuiteReading[Any]

    def __repr__(self) -> str:
        return f"<LoadedSuite {self.suite.name!r} ({self.paradigm.name})>"

    @property
    def suite(self) -> TestSuite:
        """The suite itself.

        Raises:
            SuiteError: nothing could be made of it.
        """
        suite = self.reading.suite
        if suite is None:
            raise SuiteError(where=str(self.reading.path), faults=self.reading.faults)
        return cast("TestSuite", suite)


def load_suite(suite: SuiteLike, *, language: str = "") -> LoadedSuite:
    """A suite of any paradigm, checked.

    Args:
        suite: a built-in name, a path, or a suite made in Python.
        language: ISO 639-1 code, where the suite does not say it: a bare table cannot.

    Raises:
        CimentoError: there is no such suite, it has faults, or there are several.
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
    """Suites of any paradigm, by built-in name, path or as they are, one after the other.

    Args:
        suites: one or several; a folder of suites gives all of them.
        language: as for `load_suite`, of those that do not say theirs.

    Raises:
        CimentoError: there is no such suite, or it has faults.
    """
    # A name is iterable too, and so may be a suite of a paradigm from elsewhere.
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
    """A suite that was read, where it has no fault that keeps it from being used.

    Raises:
        SuiteError: it has; the error carries all of them.
    """
    if reading.suite is None or faults.errors(reading.faults):
        raise SuiteError(where=str(reading.path), faults=reading.faults)
    return LoadedSuite(paradigm=paradigm, reading=reading)


def save_suite(loaded: LoadedSuite, path: Path) -> Path:
    """Write a suite of any paradigm as a folder, or as one workbook where the name ends in .xlsx.

    Raises:
        InputError: the workbook cannot hold it.
        StorageError: there is something already, or it cannot be written.
    """
    if path.suffix.lower() != WORKBOOK:
        return folder_atomically(path, lambda folder: loaded.paradigm.write(loaded.suite, folder))
    refuse_existing(path)
    with TemporaryDirectory(prefix="cimento-") as name:
        loaded.paradigm.write(loaded.suite, Path(name))
        return fold(Path(name), path)


def _is_frame(value: object) -> bool:
    """Whether something is a data frame of polars or pandas."""
    return hasattr(value, "columns") and hasattr(value, "shape")


def _made_here(suite: TestSuite) -> LoadedSuite:
    """A suite that was made in Python, checked like one that was read."""
    # Suites of ratings are suites of regions too, so the wider kind is asked last.
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
    # A frozen record's repr says all that is in it, in the same words every time.
    digest = hashlib.sha256(repr(suite).encode()).hexdigest()
    reading = SuiteReading(
        suite=suite,
        faults=tuple(paradigm.check(suite)),
        sha256=digest,
        path=Path(suite.name),
        format="python",
    )
    return usable(paradigm, reading)

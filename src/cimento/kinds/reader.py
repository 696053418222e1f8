"""The reader of a kind of suites: from files to a suite, and back."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from cimento.errors import Fault, SuiteError, UsageError
from cimento.kinds.base import SuiteAudit, SuiteReading, SuiteT
from cimento.suites import Suite
from cimento.suites.limits import ItemGroups


class SuiteReader(Protocol[SuiteT]):
    """The reader of a kind of suites, which also writes them, checks them and takes parts of them.

    A reader must have `read`, `write`, `owns` and `groups`; the other methods may be left out.

    Attributes:
        has_regions: whether bars cut the sentences of its suites into regions.
        together: what items have in common that are in one cluster though none is declared.
    """

    has_regions: bool = False
    together: tuple[str, ...] = ()

    def detect(self, path: Path) -> bool:  # noqa: ARG002  # suites say their kind
        """Whether a path without a kind contains a suite of this kind: by default never."""
        return False

    def read(self, path: Path) -> SuiteReading[SuiteT]:
        """A suite, with every fault in it.

        Raises:
            InputError: the path does not exist or is not readable.
        """

    def files(self, path: Path) -> Sequence[Path]:  # noqa: ARG002
        """The files that `read` reads, if their names and bytes alone determine its result.

        Their sha256, one after the other, is then that of the reading. The list is empty if `read`
        may use other sources, and by default.
        """
        return ()

    def owns(self, suite: object) -> bool:
        """Whether an object made in Python is one of its suites."""

    def write(self, suite: SuiteT, folder: Path) -> None:
        """Write a suite in the form that `read` reads.

        Raises:
            StorageError: the folder cannot be written.
        """

    def check(self, suite: SuiteT) -> Sequence[Fault]:  # noqa: ARG002
        """Every fault of a suite made in Python; by default none are looked for."""
        return ()

    def groups(self, suite: SuiteT) -> ItemGroups:
        """The items of a suite by what they are about; ``--limit`` takes some of each group."""

    def selected(self, suite: SuiteT, items: Collection[str]) -> SuiteT:  # noqa: ARG002
        """The suite with only some of its items asked about, in their order; by default refused.

        Args:
            suite: the suite.
            items: ids of the items, as in the requests table.

        Raises:
            UsageError: suites of this kind are only asked as a whole.
        """
        raise UsageError(
            where=f"suite {suite.name!r}, --adaptive or --limit",
            seen="suites of this kind are asked as a whole",
            todo="Leave both out.",
        )

    def audit(self, reading: SuiteReading[SuiteT]) -> SuiteAudit:
        """The content and the faults of a suite that was read."""
        holds = "" if reading.suite is None else self.holds(reading.suite)
        return replace(SuiteAudit.of_faults(reading), holds=holds)

    def holds(self, suite: SuiteT) -> str:  # noqa: ARG002
        """The content of a suite in words; empty if there is nothing to say."""
        return ""

    def sentences(self, suite: SuiteT) -> Suite | None:  # noqa: ARG002
        """The suite as one of sentences in regions; None, by default, if its items are others.

        Commands on sentences, such as figures of surprisal, take suites of any kind that has them.
        """
        return None

    def read_copy(self, folder: Path) -> SuiteT:
        """The suite in the folder of a run, which was checked before the run.

        Raises:
            InputError: the copy cannot be read.
        """
        reading = self.read(folder)
        if reading.suite is None:
            raise SuiteError(where=str(folder), faults=reading.faults)
        return reading.suite


def limited(reader: SuiteReader[SuiteT], suite: SuiteT, limit: int) -> SuiteT:
    """The first items of each group of a suite in turn; the suite itself if it has no more.

    Args:
        reader: of suites of its kind.
        suite: the suite.
        limit: how many items are left, at most.
    """
    groups = reader.groups(suite)
    if limit >= len(groups.ids):
        return suite
    return reader.selected(suite, frozenset(groups.first(limit)))

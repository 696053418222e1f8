"""Suites of any paradigm as the commands on suites need them: their audits, their sentences."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cimento.errors import InputError, SuiteError
from cimento.paradigms.base import SuiteAudit, SuiteReading
from cimento.paradigms.registry import paradigm_of
from cimento.suites.model import Suite

if TYPE_CHECKING:
    from cimento.api import LoadedSuite


def sentence_suite(loaded: LoadedSuite) -> Suite:
    """A suite whose items are sentences in regions, as many commands on suites need it.

    Raises:
        InputError: its items are something else.
    """
    suite = loaded.suite
    if not isinstance(suite, Suite):
        raise InputError(
            where=str(loaded.reading.path),
            seen=f"is a suite of the paradigm {loaded.paradigm.name!r}, and one of sentences in"
            " regions is needed here",
            todo="`cimento run`, `suites check` and `suites show` take suites of every kind.",
        )
    return suite


def audit_suite(path: Path) -> SuiteAudit:
    """What is in a suite of any paradigm, and what is wrong with it.

    Args:
        path: as for `paradigm_of`.

    Raises:
        InputError: it cannot be read, or is of a kind that nothing knows.
    """
    paradigm = paradigm_of(path)
    try:
        reading = paradigm.read(path)
    except SuiteError as error:
        reading = SuiteReading(suite=None, faults=tuple(error.faults), sha256="", path=path)
    return paradigm.audit(reading)

"""All checks of a suite; each fault has a code with a page in docs/checks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from cimento.errors import Fault
from cimento.faults import Faults
from cimento.suites import Suite
from cimento.suites.checks.alike import ALIKE_REMARKS
from cimento.suites.checks.comparisons import COMPARISON_REMARKS
from cimento.suites.checks.designs import DESIGN_CHECKS, DESIGN_REMARKS
from cimento.suites.checks.labels import LABEL_CHECKS
from cimento.suites.checks.language import LANGUAGE_CHECKS
from cimento.suites.checks.notation import marks_of
from cimento.suites.checks.repeated_words import WORD_CHECKS
from cimento.suites.checks.structure import (
    STRUCTURE_CHECKS,
    Check,
    Stimuli,
    check_predictions,
)
from cimento.suites.checks.wording import TEXT_CHECKS, WORDING_REMARKS
from cimento.suites.reading import Reading

__all__ = ["check_reading", "check_suite", "marked_items"]

_ERROR_CHECKS: tuple[Check, ...] = (
    *STRUCTURE_CHECKS, check_predictions, *DESIGN_CHECKS, *TEXT_CHECKS,
)  # fmt: skip
"""The checks that find errors."""
_WARNING_CHECKS: tuple[Check, ...] = (
    *DESIGN_REMARKS, *LANGUAGE_CHECKS, *WORD_CHECKS, *LABEL_CHECKS, *COMPARISON_REMARKS,
    *ALIKE_REMARKS, *WORDING_REMARKS,
)  # fmt: skip
"""The checks that find nothing but warnings."""


def check_suite(suite: Suite, *, places: Sequence[str] = ()) -> tuple[Fault, ...]:
    """Every fault of a suite, errors and warnings, in the order of their codes.

    Args:
        suite: a suite from a reader, or one made in Python.
        places: the place of each stimulus in its file, in the order of ``suite.stimuli()``;
            messages put it before item and condition.
    """
    return _sorted(_found(Stimuli(suite, places), (*_ERROR_CHECKS, *_WARNING_CHECKS)))


def check_reading(reading: Reading) -> Faults:
    """Every fault of a suite that was read; most warnings are looked for when they are needed."""
    early = _sorted(_found(Stimuli(reading.suite, reading.places), _ERROR_CHECKS))
    return Faults((*reading.faults, *early), partial(_all_faults, reading, early))


def marked_items(suite: Suite) -> tuple[str, ...]:
    """The ids of the items that have a sentence with a judgment mark."""
    stimuli = Stimuli(suite)
    return tuple(dict.fromkeys(map(stimuli.item, marks_of(stimuli))))


def _all_faults(reading: Reading, early: Sequence[Fault]) -> Sequence[Fault]:
    """The faults found in reading, and those of all checks; the early ones are known."""
    late = _found(Stimuli(reading.suite, reading.places), _WARNING_CHECKS)
    return (*reading.faults, *_sorted((*early, *late)))


def _found(stimuli: Stimuli, checks: Sequence[Check]) -> list[Fault]:
    return [fault for check in checks for fault in check(stimuli)]


def _sorted(faults: Sequence[Fault]) -> tuple[Fault, ...]:
    return tuple(sorted(faults, key=lambda fault: fault.code))

"""All checks of a suite; each fault has a code with a page in docs/checks."""

from __future__ import annotations

from collections.abc import Sequence

from cimento.errors import Fault
from cimento.suites import Suite
from cimento.suites.checks.comparisons import COMPARISON_CHECKS
from cimento.suites.checks.structure import (
    DESIGN_CHECKS,
    STRUCTURE_CHECKS,
    Stimuli,
    check_predictions,
)
from cimento.suites.checks.wording import TEXT_CHECKS, WORDING_CHECKS

__all__ = ["check_suite"]

_CHECKS = (
    *STRUCTURE_CHECKS, check_predictions, *DESIGN_CHECKS, *TEXT_CHECKS, *COMPARISON_CHECKS,
    *WORDING_CHECKS,
)  # fmt: skip


def check_suite(suite: Suite, *, places: Sequence[str] = ()) -> tuple[Fault, ...]:
    """Every fault of a suite, errors and warnings, in the order of their codes.

    Args:
        suite: a suite from a reader, or one made in Python.
        places: the place of each stimulus in its file, in the order of ``suite.stimuli()``;
            messages put it before item and condition.
    """
    stimuli = Stimuli(suite, places)
    faults = [fault for check in _CHECKS for fault in check(stimuli)]
    return tuple(sorted(faults, key=lambda fault: fault.code))

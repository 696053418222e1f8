"""All checks of a suite; each fault has a code with a page in docs/checks."""

from __future__ import annotations

from collections.abc import Sequence

from cimento.errors import Fault
from cimento.suites.checks.comparisons import comparison_checks
from cimento.suites.checks.design import design_checks
from cimento.suites.checks.predictions import PredictionCheck
from cimento.suites.checks.stimuli import Check, locate
from cimento.suites.checks.structure import structure_checks
from cimento.suites.checks.texts import text_checks
from cimento.suites.checks.wording import wording_checks
from cimento.suites.model import Suite

__all__ = ["check_suite"]


def check_suite(suite: Suite, *, places: Sequence[str] = ()) -> tuple[Fault, ...]:
    """Every fault of a suite, errors and warnings, in the order of their codes.

    Args:
        suite: as a reader gave it, or as made in Python.
        places: where each stimulus stands, in the order of ``suite.stimuli()``; put before item
            and condition in messages.
    """
    checks: list[Check] = [
        *structure_checks(suite),
        PredictionCheck(suite),
        *design_checks(suite),
        *text_checks(),
        *comparison_checks(suite),
        *wording_checks(suite, places),
    ]
    for located in locate(suite, places):
        for check in checks:
            check.see(located)
    found = [fault for check in checks for fault in check.faults()]
    return tuple(sorted(found, key=lambda fault: fault.code))

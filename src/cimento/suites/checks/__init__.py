"""All checks of a suite; each fault has a code with a page in docs/checks."""

from __future__ import annotations

from collections.abc import Sequence

from cimento.errors import Fault
from cimento.suites.checks.comparisons import check_comparisons
from cimento.suites.checks.design import check_design
from cimento.suites.checks.predictions import check_predictions
from cimento.suites.checks.stimuli import locate
from cimento.suites.checks.structure import check_structure
from cimento.suites.checks.texts import check_texts
from cimento.suites.checks.wording import check_wording
from cimento.suites.model import Suite

__all__ = ["check_suite"]


def check_suite(suite: Suite, *, places: Sequence[str] = ()) -> tuple[Fault, ...]:
    """Every fault of a suite, errors and warnings, in the order of their codes.

    Args:
        suite: as a reader gave it, or as made in Python.
        places: where each stimulus stands, in the order of ``suite.stimuli()``; put before item
            and condition in messages.
    """
    stimuli = locate(suite, places)
    found = [
        *check_structure(suite, stimuli),
        *check_predictions(suite),
        *check_design(suite, stimuli),
        *check_texts(stimuli),
        *check_comparisons(suite, stimuli),
        *check_wording(suite, stimuli),
    ]
    return tuple(sorted(found, key=lambda fault: fault.code))

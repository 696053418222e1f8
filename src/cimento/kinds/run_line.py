"""A run in a line, as Python shows it, and what messages call it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cimento.errors import CimentoError
from cimento.kinds.suite_field import SuiteField

if TYPE_CHECKING:
    from cimento.kinds.run import Run


def place_of(run: Run) -> str:
    """The folder of a run, or what it is a run of: for messages, since nothing is judged for it."""
    return str(run.folder or f"the run of {run.suite_name!r} by {run.model!r}")


def run_line(run: Run) -> str:
    """The suite, the model, the headline with its interval and the folder of a run.

    A changed copy of a stored run, as `Run.judge` makes one, is not what is in that folder: only
    its answers are.
    """
    kept = "stored" if SuiteField.is_unchanged(run) else "judged from the answers"
    where = f", {kept} in {str(run.folder)!r}" if run.folder else ""
    of = f"{run.suite_name!r} ({run.paradigm.name}) by {run.model!r}"
    return f"<Run of {of}: {_headline(run)}{where}>"


def _headline(run: Run) -> str:
    """The result of a run in words; the reason where there is none, for this never fails."""
    try:
        estimates = run.estimates()
    except CimentoError as error:
        return f"not judged ({str(error).partition(chr(10))[0]})"
    headline = next((one for one in estimates if one.role == "headline"), None)
    return headline.result if headline else "no headline result"

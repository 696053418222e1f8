"""A survey as its participants see it: served to this computer, with answers that are not kept."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from cimento.people.surveys import DATABASE, SurveyDesign
from cimento.people.surveys.participants import LOCAL
from cimento.people.surveys.server import Serving

_MOST_TRIALS = 20
"""Number of trials of one survey before it is opened anew."""

_previews: dict[Path, tuple[Serving, TemporaryDirectory[str]]] = {}
"""The surveys that are being looked at, by their folders; they end with the program."""


def open_preview(folder: Path, design: SurveyDesign) -> str:
    """The link of a trial of a survey; an earlier one of the same survey ends.

    Args:
        folder: the survey's folder, in which nothing is written.
        design: what is asked.

    Raises:
        UsageError: one cannot listen on this machine.
        StorageError: there is no room for the answers.
    """
    close_preview(folder)
    kept = TemporaryDirectory(prefix="cimento-preview-")
    try:
        served = Serving(
            design,
            Path(kept.name) / DATABASE,
            host=LOCAL,
            port=0,
            shown=LOCAL,
            room=_MOST_TRIALS,
            is_trial=True,
        )
    except BaseException:
        kept.cleanup()
        raise
    _previews[folder] = served, kept
    return served.room


def close_preview(folder: Path) -> None:
    """End the trial of a survey, if there is one, and forget its answers."""
    if folder in _previews:
        served, kept = _previews.pop(folder)
        served.stop()
        kept.cleanup()

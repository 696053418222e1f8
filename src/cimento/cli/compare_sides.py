"""The two sides of ``cimento compare``: two runs or folders, or two models of one folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from cimento.errors import UsageError, did_you_mean
from cimento.kinds.run import open_runs

if TYPE_CHECKING:
    from cimento.kinds.run import Run

_MOST_NAMED = 4
"""Models of an ambiguous name that are listed."""


def two_sides(
    folders: Sequence[Path], *, before: str = "", after: str = ""
) -> tuple[list[Run], list[Run]] | None:
    """The runs before and after; None where neither two paths nor two models are given.

    Args:
        folders: runs or folders of runs.
        before: a model among their runs, by its name or the beginning of it; empty for none.
        after: another one.

    Raises:
        UsageError: only one model is named, or a name fits none or several, or both the same.
    """
    if not (before or after):
        sides = [open_runs(folder) for folder in folders] if len(folders) == len(_SIDES) else None
        return None if sides is None else (sides[0], sides[1])
    if not (before and after):
        given, lacking = ("--before", "--after") if before else ("--after", "--before")
        raise UsageError(
            where=given, seen="it names one of two models", todo=f"Add {lacking} NAME too."
        )
    runs = open_runs(folders)
    named = zip(_SIDES, (before, after), strict=True)
    labels = [_model_named(name, runs, flag=flag) for flag, name in named]
    if labels[0] == labels[1]:
        raise UsageError(
            where="--before and --after", seen=f"both name {labels[0]}", todo="Name two models."
        )
    first, second = ([run for run in runs if run.model == label] for label in labels)
    return first, second


_SIDES = ("--before", "--after")


def _model_named(name: str, runs: Sequence[Run], *, flag: str) -> str:
    """The label of the one model that has a name, or whose name begins with it.

    A whole name is more than a beginning: checkpoint-2000 is not checkpoint-20000.
    """
    names = {(spelled, run.model) for run in runs for spelled in _names_of(run)}
    whole = {label for spelled, label in names if spelled == name}
    begun = {label for spelled, label in names if spelled.startswith(name)}
    found = sorted(whole or begun, key=lambda label: (len(label), label))
    if not found:
        labels = {run.model.partition("@")[0] for run in runs}
        raise UsageError(
            where=f"{flag}={name}", seen="no run here is of it", todo=did_you_mean(name, labels)
        )
    if len(found) > 1:
        more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
        raise UsageError(
            where=f"{flag}={name}",
            seen=f"it may be {', '.join(found[:_MOST_NAMED])}{more}",
            todo="Write more of the name.",
        )
    return found[0]


def _names_of(run: Run) -> Iterator[str]:
    """How a model may be called: by its label, without the revision, and as it was named."""
    named = str(run.manifest.get("named") or run.model)
    yield from (run.model, run.model.partition("@")[0], named, PurePath(named).name)


def refuse_same_runs(sides: tuple[Sequence[Run], Sequence[Run]]) -> None:
    """Refuse a gate over a run and itself, which could not fail.

    Args:
        sides: the runs before and after.

    Raises:
        UsageError: a run is on both sides.
    """
    first, second = ({run.folder.resolve() for run in side if run.folder} for side in sides)
    if first & second:
        raise UsageError(
            where="--fail-if-worse",
            seen="a run is on both sides, and is not worse than itself",
            todo="Give two folders, or of models in one folder --before NAME --after NAME.",
        )

"""Preregistration sheets: what a study fixes of its methods before its runs, and who kept to it."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cimento._version import __version__
from cimento.errors import InputError
from cimento.io.files import read_bytes
from cimento.kinds.identity import content_of
from cimento.kinds.partial import taken_items
from cimento.kinds.stopped import AdaptiveRecord
from cimento.records.store import manifest_part

if TYPE_CHECKING:
    from cimento.kinds.run import Run

_SHEET_VERSION = 1
_SHEET_HEAD = """\
# Preregistration sheet of cimento {version}.
# 1. List the models that you will run, and say what you exclude and how you analyze.
# 2. Deposit this file where its date is attested, such as a registry of studies.
# 3. Run. `cimento rerun RUNS --prereg SHEET` repeats the runs, and says whether they kept to it.
"""
_SHEET_TEXTS = {
    "exclusions": "Which items, models or answers are left out, and by which rule.",
    "analysis": "Which tests decide, at which level, with which correction.",
    "smallest_effect": "The smallest difference that would matter, such as 0.05.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedSuite:
    """A suite as a sheet fixes it.

    Attributes:
        name: its name.
        sha256: digest of its content.
        paradigm: kind of test.
        options: what changes how its answers are asked for and judged.
        contrasts: its predictions, or other inputs that the suite adds to a run.
    """

    name: str
    sha256: str
    paradigm: str
    options: Mapping[str, Any]
    contrasts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Preregistration:
    """A preregistration sheet.

    Attributes:
        created: when it was written, in UTC.
        models: labels or names of the models to run.
        suites: the suites.
    """

    created: datetime
    models: tuple[str, ...]
    suites: tuple[PlannedSuite, ...]


def preregistration_sheet(runs: Sequence[Run]) -> str:
    """A sheet in TOML that fixes the suites, measures and contrasts of pilot runs.

    Args:
        runs: pilots, such as on some items (``--limit``) or with a small model.
    """
    created = datetime.now(UTC).isoformat(timespec="seconds")
    models = [json.dumps(model) for model in dict.fromkeys(run.model for run in runs)]
    lines = [
        _SHEET_HEAD.format(version=__version__),
        f"version = {_SHEET_VERSION}",
        f"created = {created}",
        f"models = [{', '.join(models)}]",
        *(f'# {about}\n{name} = ""' for name, about in _SHEET_TEXTS.items()),
    ]
    for suite in dict.fromkeys(run.suite_name for run in runs):
        planned = _planned(next(run for run in runs if run.suite_name == suite))
        texts = [json.dumps(one, ensure_ascii=False) for one in planned.contrasts]
        contrasts = "".join(f"\n  {text}," for text in texts)
        lines += [
            "\n[[suites]]",
            f"name = {json.dumps(planned.name, ensure_ascii=False)}",
            f'sha256 = "{planned.sha256}"',
            f'paradigm = "{planned.paradigm}"',
            f"contrasts = [{contrasts}\n]" if contrasts else "contrasts = []",
            # Values that TOML lacks, such as null, are kept as JSON.
            f"options = {json.dumps(json.dumps(planned.options, sort_keys=True))}",
        ]
    return "\n".join(lines) + "\n"


def _planned(run: Run) -> PlannedSuite:
    contrasts = manifest_part(run.manifest, "inputs").get("predictions")
    return PlannedSuite(
        name=run.suite_name,
        sha256=content_of(run),
        paradigm=run.paradigm.name,
        options=run.options.model_dump(mode="json"),
        contrasts=tuple(map(str, contrasts)) if isinstance(contrasts, list) else (),
    )


def read_preregistration(path: Path) -> Preregistration:
    """Read a sheet.

    Raises:
        InputError: it is no such sheet.
    """
    try:
        plain = tomllib.loads(read_bytes(path).decode("utf-8"))
        created = plain["created"]
        if plain["version"] != _SHEET_VERSION or not isinstance(created, datetime):
            raise InputError(where=str(path), seen="it is of another version of sheets")
        suites = [
            PlannedSuite(
                name=str(one["name"]),
                sha256=str(one["sha256"]),
                paradigm=str(one["paradigm"]),
                options=dict(json.loads(one["options"])),
                contrasts=tuple(map(str, one["contrasts"])),
            )
            for one in plain["suites"]
        ]
        return Preregistration(
            created=created if created.tzinfo else created.replace(tzinfo=UTC),
            models=tuple(map(str, plain["models"])),
            suites=tuple(suites),
        )
    except (KeyError, TypeError, ValueError) as fault:
        raise InputError(
            where=str(path),
            seen=f"it is not a preregistration sheet ({fault})",
            todo="Write one with: cimento cite RUNS --prereg > sheet.toml",
        ) from fault


def deviations(sheet: Preregistration, runs: Sequence[Run]) -> list[str]:
    """How some runs differ from their sheet, one sentence each.

    Args:
        sheet: read before.
        runs: that were made for it.
    """
    planned = {suite.name: suite for suite in sheet.suites}
    lines = [line for run in runs for line in _of_run(run, planned.get(run.suite_name), sheet)]
    done = {(run.suite_name, name) for run in runs for name in _names(run)}
    lines += [
        f"{suite} was not run on {model}."
        for suite in planned
        for model in sheet.models
        if (suite, model) not in done
    ]
    return lines


def _of_run(run: Run, planned: PlannedSuite | None, sheet: Preregistration) -> list[str]:
    title = f"{run.suite_name} on {run.model}"
    if planned is None:
        return [f"{title}: the suite is not in the sheet."]
    actual, lines = _planned(run), []
    if not _names(run) & set(sheet.models):
        lines.append(f"{title}: the model is not in the sheet.")
    if planned.sha256 != actual.sha256:
        lines.append(f"{title}: the suite has another content.")
    if actual.contrasts != planned.contrasts:
        lines.append(f"{title}: other predictions were judged.")
    for name in sorted({*actual.options, *planned.options}):
        one, other = planned.options.get(name), actual.options.get(name)
        if one != other:
            lines.append(f"{title}: the option {name} is {other!r}, and {one!r} in the sheet.")
    limit = manifest_part(run.manifest, "asking").get("limit")
    if limit is not None:
        taken = taken_items(run.manifest, f"{limit} items")
        lines.append(f"{title}: only {taken} were run.")
    if (went := AdaptiveRecord.of(run.manifest)) is not None:
        lines.append(f"{title}: items were asked adaptively, {went.asked} of {went.of_items}.")
    created = str(run.manifest.get("created") or "")
    if created and datetime.fromisoformat(created) < sheet.created:
        lines.append(f"{title}: the run is older than the sheet.")
    return lines


def _names(run: Run) -> set[str]:
    """The names by which a sheet may list the model of a run."""
    return {run.model, run.model.partition("@")[0], str(run.manifest.get("named") or run.model)}

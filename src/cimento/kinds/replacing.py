"""What keeps stored runs as they are: no command that reads runs writes into the folder of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.errors import TableError, UsageError
from cimento.kinds.packages import with_packages
from cimento.records.outcomes import OUTCOMES
from cimento.records.store import ADDED, FILES, MANIFEST, PARADIGM, RunFolder, manifest_part
from cimento.suites import JsonValue

if TYPE_CHECKING:
    from cimento.kinds.run import Run

_CHOOSE = "Choose another folder with -o."


def new_folders(runs: Sequence[Run], output: Path) -> list[RunFolder]:
    """The folders of what is made of stored runs, none of which is in that of a run.

    Links are followed, so that no other name of the same folder gets around this.

    Args:
        runs: stored runs.
        output: folder of runs.

    Returns:
        A folder for each run, with its name.

    Raises:
        UsageError: a folder is that of one of the runs.
    """
    names = [run.folder.name if run.folder else run.model for run in runs]
    folders = [
        RunFolder.below(output, suite=run.suite.name, name=name)
        for run, name in zip(runs, names, strict=True)
    ]
    places = [folder.path.resolve() for folder in folders]
    own = {run.folder.resolve() for run in runs if run.folder}
    for place in places:
        if place in own:
            seen = f"this is where a run that is read is stored ({place.name})"
            raise UsageError(where=f"--output={output}", seen=seen, todo=_CHOOSE)
    return folders


def refuse_inside_run(output: Path, *, where: str) -> None:
    """Refuse to write into the folder of a run, which is written once; people's judgments may join.

    Args:
        output: file or folder to write; links are followed.
        where: the option that names it.

    Raises:
        UsageError: it is the folder of a run, or inside one.
    """
    place = output.resolve()
    run = next((folder for folder in (place, *place.parents) if _is_run(folder)), None)
    if run is not None and not ADDED.intersection(place.relative_to(run).parts[:1]):
        seen = f"this is in the folder of a stored run ({run}), which is written once"
        raise UsageError(where=f"{where} {output}", seen=seen, todo="Choose another place.")


def refuse_replacing(judged: Sequence[Run], folders: Sequence[RunFolder]) -> None:
    """Refuse to replace a run, unless it is the same one, which a stopped command stored.

    Args:
        judged: runs to store.
        folders: where, one for each.

    Raises:
        UsageError: two runs have one folder; or another run is stored in one, or what cannot be
            read.
    """
    _refuse_one_place(judged, folders)
    for run, folder in zip(judged, folders, strict=True):
        if (folder.path / MANIFEST).exists() and not _is_there(run, folder):
            raise UsageError(
                where=str(folder.path),
                seen="another run is stored here, or the same one judged otherwise",
                todo="Choose another folder with -o, or remove that one.",
            )


def refuse_replacing_others(runs: Sequence[Run], folders: Sequence[RunFolder]) -> None:
    """Refuse to replace a run by the repetition of another; an earlier repetition may be replaced.

    Args:
        runs: runs to repeat.
        folders: where, one for each.

    Raises:
        UsageError: two runs have one folder; or the run in one has another suite, model or options,
            or cannot be read.
    """
    _refuse_one_place(runs, folders)
    for run, folder in zip(runs, folders, strict=True):
        if (folder.path / MANIFEST).exists() and not _is_of(run, folder):
            raise UsageError(
                where=str(folder.path),
                seen="another run is stored here, with another suite, model or options",
                todo="Choose another folder with -o, or remove that one.",
            )


def _is_of(run: Run, folder: RunFolder) -> bool:
    """Whether the run in a folder asked the same model the same, and was judged alike."""
    try:
        stored = folder.manifest()
    except TableError:
        return False
    suites = (manifest_part(manifest, "suite") for manifest in (stored, run.manifest))
    return len({str(suite.get("content")) for suite in suites}) == 1 and all(
        stored.get(name) == run.manifest.get(name) for name in (PARADIGM, "label", "options")
    )


def _refuse_one_place(runs: Sequence[Run], folders: Sequence[RunFolder]) -> None:
    places = [folder.path.resolve() for folder in folders]
    for run, folder, place in zip(runs, folders, places, strict=True):
        if places.count(place) > 1:
            raise UsageError(
                where=str(folder.path),
                seen=f"two runs of {run.suite.name} would be stored here",
                todo="Give them one after the other, each with a folder of its own (-o).",
            )


def _is_there(judged: Run, folder: RunFolder) -> bool:
    options = judged.options.model_dump(mode="json")
    parts = {**judged.manifest, PARADIGM: judged.paradigm.name, "options": options}
    to_store = with_packages(parts, judged.options)
    try:
        return _without_files(folder.manifest()) == _without_files(to_store)
    except TableError:
        return False


def _is_run(folder: Path) -> bool:
    """Whether a run is stored here: other programs have files called manifest.json as well."""
    return (folder / MANIFEST).is_file() and (folder / f"{OUTCOMES.name}.parquet").is_file()


def _without_files(manifest: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    return {name: value for name, value in manifest.items() if name != FILES}

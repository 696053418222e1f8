"""``cimento rerun``: stored runs made again, and whether their bytes agree."""

from __future__ import annotations

import contextlib
import io
import json as json_format
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cimento.cli import options

if TYPE_CHECKING:
    from cimento.cli.kinds import KindRun
    from cimento.repeating import FileRepeat
    from cimento.runs import Manifest, RunFolder

DIFFERS = 1


def rerun(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Run folders, or folders of runs.")
    ],
    output: Annotated[
        Path, options.option("-o", "--output", help="Folder of runs for the repetitions.")
    ] = Path("reruns"),
    *,
    model: Annotated[
        str, options.option("-m", "--model", help="Where the model is now, if it has moved.")
    ] = "",
    device: Annotated[
        str, options.option("--device", help="Another device than the run's own.")
    ] = "",
    json: options.Json = False,
) -> int:
    """Make stored runs again, from their manifests and copies of their suites, and compare.

    Nothing is taken from the cache. Ends with 0 where every file agrees byte for byte, and with 1
    where one does not.
    """
    from cimento.cli.console import show
    from cimento.runs import find_runs
    from cimento.scheduling.engines import steady_arithmetic

    # As `run` does: else the last bits differ.
    steady_arithmetic()
    code = 0
    found: dict[str, tuple[FileRepeat, ...]] = {}
    for folder in [each for path in runs for each in find_runs(path)]:
        code, again = _repeat(folder, output, model=model, device=device)
        if again is None:
            break
        found[str(folder.path)] = again
    if json:
        plain = {name: [asdict(each) for each in files] for name, files in found.items()}
        show(json_format.dumps({"runs": plain}, ensure_ascii=False, indent=2))
    elif found:
        show("\n\n".join(_as_text(name, files) for name, files in found.items()))
    same = all(each.same for files in found.values() for each in files)
    return code or (0 if same else DIFFERS)


def _repeat(
    folder: RunFolder, output: Path, *, model: str, device: str
) -> tuple[int, tuple[FileRepeat, ...] | None]:
    """One run made again: exit code, and its files beside those of the run."""
    from cimento.cli.kinds import run_each_kind
    from cimento.errors import UsageError
    from cimento.repeating import compare_folders, model_of

    manifest = folder.manifest()
    folder.verify(manifest)
    named = model or model_of(manifest, where=str(folder.path))
    target = output / folder.path.parent.name / folder.path.name
    if target.resolve() == folder.path.resolve():
        raise UsageError(
            where=f"--output {output}",
            seen="this is where the run itself is stored",
            todo="Choose another folder.",
        )
    before = _stamps(output)
    _take_judgments(folder.path, target)
    how = _how(folder, manifest, output, device)
    # What the runner prints is not the result here.
    with contextlib.redirect_stdout(io.StringIO()):
        code = run_each_kind([str(folder.suite_folder)], [named], how)
    if code:
        return code, None
    made = next(path for path, stamp in _stamps(output).items() if before.get(path) != stamp)
    return 0, compare_folders(folder.path, made.parent)


def _stamps(output: Path) -> dict[Path, int]:
    """When each manifest below a folder was written."""
    return {path: path.stat().st_mtime_ns for path in output.rglob("manifest.json")}


def _how(folder: RunFolder, manifest: Manifest, output: Path, device: str) -> KindRun:
    """How the run was made."""
    from cimento.api import Evaluation
    from cimento.cli.kinds import KindRun
    from cimento.judging import Judging
    from cimento.repeating import asking_of

    asking = asking_of(manifest, where=str(folder.path))
    judging, told = manifest.get("judging"), manifest.get("options")
    own = told if isinstance(told, dict) else {}
    given, measures = own.get("set"), own.get("measures")
    judged = Judging.from_plain(judging) if isinstance(judging, dict) else Judging()
    seed = own.get("seed")
    evaluation = Evaluation(
        asking=replace(asking, device=device) if device else asking,
        judging=replace(judged, seed=seed) if isinstance(seed, int) else judged,
        output=output,
        force=True,
    )
    settings = given if isinstance(given, dict) else {}
    return KindRun(
        evaluation=evaluation,
        as_json=False,
        keep_answers=False,
        measures=tuple(map(str, measures)) if isinstance(measures, list) else (),
        # The copy of the stories is corrected already.
        options={name: str(value) for name, value in settings.items() if name != "corrections"},
    )


def _take_judgments(run: Path, target: Path) -> None:
    """Let the repetition be judged by what people said of the run."""
    from cimento.answers import JUDGMENTS
    from cimento.files import read_bytes, write_bytes

    name = f"{JUDGMENTS.name}.parquet"
    if (run / name).is_file():
        write_bytes(read_bytes(run / name), target / name)


def _as_text(name: str, files: tuple[FileRepeat, ...]) -> str:
    from cimento.cli.console import columns

    rows = [(each.name, "same" if each.same else "differs", each.remark) for each in files]
    differing = sum(not each.same for each in files)
    told = f"{differing} of {len(files)} differ" if differing else "every byte agrees"
    return f"{name}\n{columns(rows, indent=2)}\n{told}"

"""``cimento rerun``: stored runs made again, and whether their bytes agree."""

from __future__ import annotations

import contextlib
import io
import json as json_format
import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cimento.cli import options

if TYPE_CHECKING:
    from cimento.cli.kinds import KindRun
    from cimento.repeating import FileRepeat
    from cimento.runs.run import Run
    from cimento.runs.store import Manifest, RunFolder
    from cimento.sources import Asking
    from cimento.suites.model import JsonValue

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
    model_args: options.ModelArgs = None,
    allow_pickle: options.AllowPickle = False,
    trust_remote_code: options.TrustRemoteCode = False,
    json: options.Json = False,
) -> int:
    """Make stored runs again, from their manifests and copies of their suites, and compare.

    Servers, options for transformers and trust are not taken from a manifest: name them again.
    Nothing is taken from the cache. Ends with 0 where every file agrees byte for byte, and with 1
    where one does not.
    """
    from cimento.cli.console import show
    from cimento.engine.engines import steady_arithmetic
    from cimento.models.arguments import parse_model_args
    from cimento.runs.store import find_runs

    # As `run` does: else the last bits differ.
    steady_arithmetic()
    code = 0
    args = parse_model_args(
        model_args or (), allow_pickle=allow_pickle, trust_remote_code=trust_remote_code
    )
    named = _Named(model=model, device=device, model_args=args)
    found: dict[str, tuple[FileRepeat, ...]] = {}
    for folder in [each for path in runs for each in find_runs(path)]:
        code, again = _repeat(folder, output, named)
        if again is None:
            break
        found[str(folder.path)] = again
    if json:
        show(_as_json(found))
    elif found:
        show("\n\n".join(_as_text(name, files) for name, files in found.items()))
    same = all(each.same for files in found.values() for each in files)
    return code or (0 if same else DIFFERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Named:
    """What the command line says, and no manifest: where the model is, and what it may do.

    Attributes:
        model: its name; empty for that of the manifest.
        device: empty for that of the manifest.
        model_args: options for transformers, trust among them.
    """

    model: str
    device: str
    model_args: Mapping[str, JsonValue]


def _repeat(
    folder: RunFolder, output: Path, named: _Named
) -> tuple[int, tuple[FileRepeat, ...] | None]:
    """One run made again: exit code, and its files beside those of the run."""
    from cimento.cli.console import note
    from cimento.cli.kinds import run_each_kind
    from cimento.cli.reports import EARLIER_ROAD
    from cimento.errors import UsageError
    from cimento.markup import printable
    from cimento.repeating import compare_folders, model_of
    from cimento.runs.run import open_run, paradigm_name
    from cimento.runs.store import RunFolder

    manifest = folder.manifest()
    folder.verify(manifest)
    model = named.model or model_of(manifest, where=str(folder.path))
    how = _how(folder, manifest, output, named)
    _refuse_trust(model, named)
    target = output / folder.path.parent.name / folder.path.name
    if target.resolve() == folder.path.resolve():
        raise UsageError(
            where=f"--output {output}",
            seen="this is where the run itself is stored",
            todo="Choose another folder.",
        )
    before = _stamps(output)
    if not named.model:
        note(printable(f"{folder.path}: the model is {model}, as its manifest says"))
    if paradigm_name(folder, manifest) not in EARLIER_ROAD:
        _ask_again(open_run(folder.path), model, how.evaluation.asking, RunFolder(target))
        return 0, compare_folders(folder.path, target)
    # What the runner prints is not the result here.
    with contextlib.redirect_stdout(io.StringIO()):
        code = run_each_kind([str(folder.suite_folder)], [model], how)
        if code:
            return code, None
        stamps = _stamps(output).items()
        made = next(path.parent for path, stamp in stamps if before.get(path) != stamp)
        if _take_judgments(folder.path, made):
            stored = replace(how, evaluation=replace(how.evaluation, force=False))
            run_each_kind([str(folder.suite_folder)], [model], stored)
    return 0, compare_folders(folder.path, made)


def _ask_again(run: Run, model: str, scoring: Asking, target: RunFolder) -> None:
    """Ask the copy of a run's suite again, with the very options of the run, and store it."""
    from cimento.api import ask_suite, open_model, usable
    from cimento.engine.cache import MemoryCache
    from cimento.runs.store import SUITE_FOLDER

    reading = run.paradigm.read(Path(run.folder or "") / SUITE_FOLDER)
    loaded = usable(run.paradigm, replace(reading, suite=run.suite))
    target.prepare()
    handle = open_model(model, loaded, scoring)
    ask_suite(loaded, handle, run.options, scoring=scoring, cache=MemoryCache()).save(target)


def _stamps(output: Path) -> dict[Path, int]:
    """When each manifest below a folder was written."""
    return {path: path.stat().st_mtime_ns for path in output.rglob("manifest.json")}


def _refuse_trust(model: str, named: _Named) -> None:
    """See that nothing is trusted but what the command line names.

    Raises:
        UsageError: a model that the manifest names would be trusted with code or pickles.
    """
    from cimento.errors import UsageError
    from cimento.models.arguments import ALLOW_PICKLE, TRUST_CODE, as_options

    trust = {key: True for key in (ALLOW_PICKLE, TRUST_CODE) if key in named.model_args}
    if trust and not named.model:
        raise UsageError(
            where=as_options(trust),
            seen=f"the model that would be trusted is named by a manifest only: {model}",
            todo=f"If you trust it, name it yourself: -m {shlex.quote(model)}",
        )


def _how(folder: RunFolder, manifest: Manifest, output: Path, named: _Named) -> KindRun:
    """How the run was made."""
    from cimento.cli.kinds import KindRun
    from cimento.judging import Judging
    from cimento.regions_api import Evaluation
    from cimento.repeating import asking_of

    asking = asking_of(manifest, where=str(folder.path), model_args=named.model_args)
    judging, told = manifest.get("judging"), manifest.get("options")
    own = told if isinstance(told, dict) else {}
    given, measures = own.get("set"), own.get("measures")
    judged = Judging.from_plain(judging) if isinstance(judging, dict) else Judging()
    seed = own.get("seed")
    evaluation = Evaluation(
        asking=replace(asking, device=named.device) if named.device else asking,
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


def _take_judgments(run: Path, target: Path) -> bool:
    """Let the repetition be judged by what people said of the run; whether they said anything."""
    from cimento.answers import JUDGMENTS
    from cimento.files import read_bytes, write_bytes

    name = f"{JUDGMENTS.name}.parquet"
    if not (run / name).is_file():
        return False
    write_bytes(read_bytes(run / name), target / name)
    return True


def _as_json(found: Mapping[str, tuple[FileRepeat, ...]]) -> str:
    plain = {name: [asdict(each) for each in files] for name, files in found.items()}
    return json_format.dumps({"runs": plain}, ensure_ascii=False, indent=2)


def _as_text(name: str, files: tuple[FileRepeat, ...]) -> str:
    from cimento.markup import columns

    rows = [(each.name, "same" if each.same else "differs", each.remark) for each in files]
    differing = sum(not each.same for each in files)
    told = f"{differing} of {len(files)} differ" if differing else "every byte agrees"
    return f"{name}\n{columns(rows, indent=2)}\n{told}"

"""``cimento rerun``: stored runs made again, and whether their bytes agree."""

from __future__ import annotations

import json as json_format
import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cimento.cli import options

if TYPE_CHECKING:
    from cimento.runs.reproduce import FileRepeat
    from cimento.runs.run import Run
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
    Nothing is taken from the cache. Ends with 0 where every table agrees byte for byte, and with 1
    where one does not.
    """
    from cimento.cli.console import show
    from cimento.models.hf.arguments import parse_model_args
    from cimento.runs.run import open_runs

    args = parse_model_args(
        model_args or (), allow_pickle=allow_pickle, trust_remote_code=trust_remote_code
    )
    named = _Named(model=model, device=device, model_args=args)
    repeated = {str(run.folder): _repeat(run, output, named) for run in open_runs(runs)}
    if json:
        show(_as_json(repeated))
    else:
        show("\n\n".join(_as_text(name, files) for name, files in repeated.items()))
    same = all(file.same for files in repeated.values() for file in files)
    return 0 if same else DIFFERS


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


def _repeat(run: Run, output: Path, named: _Named) -> tuple[FileRepeat, ...]:
    """One run made again: its tables beside those of the run."""
    from cimento.cli.console import note
    from cimento.io.inline_markup import printable
    from cimento.runs.reproduce import asking_of, compare_runs, model_of, repeat_run

    where = str(run.folder)
    model = named.model or model_of(run.manifest, where=where)
    scoring = asking_of(run.manifest, where=where, model_args=named.model_args)
    _refuse_trust(model, named)
    if named.device:
        scoring = replace(scoring, device=named.device)
    if not named.model:
        note(printable(f"{where}: the model is {model}, as its manifest says"))
    return compare_runs(run, repeat_run(run, output, model=model, scoring=scoring))


def _refuse_trust(model: str, named: _Named) -> None:
    """See that nothing is trusted but what the command line names.

    Raises:
        UsageError: a model that the manifest names would be trusted with code or pickles.
    """
    from cimento.errors import UsageError
    from cimento.models.hf.arguments import ALLOW_PICKLE, TRUST_CODE, as_options

    trust = {key: True for key in (ALLOW_PICKLE, TRUST_CODE) if key in named.model_args}
    if trust and not named.model:
        raise UsageError(
            where=as_options(trust),
            seen=f"the model that would be trusted is named by a manifest only: {model}",
            todo=f"If you trust it, name it yourself: -m {shlex.quote(model)}",
        )


def _as_json(found: Mapping[str, tuple[FileRepeat, ...]]) -> str:
    plain = {name: [asdict(each) for each in files] for name, files in found.items()}
    return json_format.dumps({"runs": plain}, ensure_ascii=False, indent=2)


def _as_text(name: str, files: tuple[FileRepeat, ...]) -> str:
    from cimento.io.inline_markup import columns

    rows = [(each.name, "same" if each.same else "differs", each.remark) for each in files]
    differing = sum(not file.same for file in files)
    told = f"{differing} of {len(files)} differ" if differing else "everything agrees"
    return f"{name}\n{columns(rows, indent=2)}\n{told}"

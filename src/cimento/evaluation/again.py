"""Stored runs, found by the bytes of their suites without parsing any suite.

The names and bytes of a suite's files and the version of cimento determine a suite. A stored run is
the requested one if its manifest agrees in these, the model, the options and the scoring.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from cimento._version import __version__
from cimento.engine.handle import ModelHandle
from cimento.errors import CimentoError
from cimento.evaluation.honored import honored, is_used_by_all
from cimento.evaluation.job import SUITE_FILES, inputs_of, with_columns
from cimento.kinds.registry import find_paradigm, suite_digest
from cimento.kinds.run import Run, open_run
from cimento.records.store import MANIFEST, PARADIGM, RunFolder, file_name, plain
from cimento.suites import JsonValue
from cimento.suites.builtin import find_suite, name_or_path
from cimento.suites.load import is_archive, suite_paths

if TYPE_CHECKING:
    from cimento.options import RunOptions


def stored_runs(
    suites: Sequence[object], models: Sequence[str], run_options: RunOptions
) -> list[Run] | None:
    """The runs of some models on some suites, if all of them are stored.

    Args:
        suites: built-in names and paths.
        models: names of models.
        run_options: the options of the runs.

    Returns:
        Model by model, the run of each suite; None if one is not stored, or if the suites must be
        read to decide that.
    """
    output, digest = run_options.output, cache(suite_digest)
    if output is None or run_options.force or any(":" in model for model in models):
        return None
    try:
        places = [place for suite in suites for place in _places(suite)]
        if not any(_stored(output, "*")):
            return None
        runs: list[Run] = []
        for model in dict.fromkeys(models):
            handle = ModelHandle(model, run_options.scoring)
            folders = list(_stored(output, file_name(handle.label)))
            for place in places:
                runs_there = (
                    f for f in folders if _is_asked(f, place, handle, run_options, digest)
                )
                folder = next(runs_there, None)
                if folder is None:
                    return None
                runs.append(open_run(folder.path))
    except CimentoError:
        return None  # reading the suites reports the error
    # Two suites with the same name, and an option that only some use, must still be reported.
    is_plain = len({run.suite_name for run in runs}) == len(places)
    return runs if is_plain and is_used_by_all((r.paradigm for r in runs), run_options) else None


def _places(suite: object) -> list[Path]:
    """The paths of the suites at a path; an archive counts as one and is not opened.

    Raises:
        CimentoError: there is no suite.
    """
    path = find_suite(name_or_path(suite))
    return [path] if is_archive(path) else suite_paths(path)


def _stored(output: Path, model: str) -> Iterator[RunFolder]:
    """The finished runs of a model in a folder of runs."""
    for manifest in output.glob(f"*/{model}--*/{MANIFEST}"):
        yield RunFolder(manifest.parent)


def _is_asked(
    folder: RunFolder,
    place: Path,
    model: ModelHandle,
    run_options: RunOptions,
    digest: Callable[..., tuple[list[JsonValue], str]],
) -> bool:
    """Whether a finished run is that of the suite at a path, a model and options.

    Args:
        folder: the folder of the run.
        place: path of the suite.
        model: the model.
        run_options: the options of the run, with a folder of runs.
        digest: `suite_digest`, which remembers what it has read.

    Raises:
        CimentoError: the run cannot be requested with these options.
    """
    manifest = folder.manifest()
    suite, inputs, name = (manifest.get(key) for key in ("suite", "inputs", PARADIGM))
    if (
        manifest.get("cimento") != __version__
        or manifest.get("label") != model.label
        or not (isinstance(suite, dict) and isinstance(inputs, dict) and isinstance(name, str))
    ):
        return False
    paradigm = find_paradigm(name)
    names, sha256 = digest(paradigm, place)
    if not names or suite.get(SUITE_FILES) != names or suite.get("sha256") != sha256:
        return False
    asked = honored(paradigm, run_options, model)
    options, scoring = asked.options, with_columns(asked.scoring, asked.options)
    content, output = str(inputs.get("suite")), run_options.output or Path()
    named = asked.folder(output, str(suite.get("name")), content, model.label, suite=None)
    roles = run_options.roles
    given = inputs_of(content, model, options, scoring, language=run_options.language, roles=roles)
    return (
        folder == named
        and manifest.get("options") == options.model_dump(mode="json")
        and manifest.get("asking") == plain(scoring)
        and {**inputs, **given} == inputs
    )

"""``cimento prefetch``: models and suites of a run, for nodes without network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cimento.cli.run_options import run_command
from cimento.options import RunOptions, option

if TYPE_CHECKING:
    from cimento.suites.model import JsonValue


class _Options(RunOptions):
    """The options of a run, and where downloads go."""

    into: Path | None = option(
        None, "Folder for downloads; by default the hub's own cache.", where="this run"
    )


def _prefetch(options: _Options) -> int:
    """Download the models and suites of a run at pinned revisions.

    Prints the variables to set where there is no network, and writes a run file that names the
    commits of what was downloaded.
    """
    import shlex

    from cimento.cli.console import note, show
    from cimento.cli.evaluating import PART_MISSING
    from cimento.cli.run_file import said_beside, write_run_file
    from cimento.engine.plan import prefetch as bring

    found = bring(options.models, options.suites, into=options.into)
    for error in dict.fromkeys(map(str, found.failed.values())):
        note(f"cimento: {error}")
    for name in found.online:
        note(f"cimento: {name} is a server, which nodes must be able to reach.")
    if not (found.models and found.suites):
        return 1
    folder = options.into or options.output or Path()
    names: dict[str, JsonValue] = {"models": [*found.models], "suites": [*found.suites]}
    path = write_run_file({**options.stated(), **names}, folder / "run.toml")
    show("\n".join(f"export {name}={value}" for name, value in found.variables.items()))
    args = options.scoring.policy.model_args
    beside = shlex.join([str(path), *said_beside([*found.models], args)])
    note(f"All that is here is named in {path}: cimento run {beside}")
    if not found.failed:
        return 0
    note(f"cimento: missing: {', '.join(found.failed)}")
    return PART_MISSING


prefetch = run_command(_Options, _prefetch)

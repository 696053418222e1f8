"""``cimento prefetch``: models and suites of a run, for nodes without network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cimento.cli import options
from cimento.cli.run_options import RunRequest, as_command

if TYPE_CHECKING:
    from cimento.suites.model import JsonValue

Into = Annotated[
    Path | None,
    options.option("--into", help="Folder for downloads; by default the hub's own cache."),
]


@as_command
def prefetch(request: RunRequest, *, into: Into = None) -> int:
    """Download the models and suites of a run at pinned revisions.

    Prints the variables to set where there is no network, and writes a run file that names the
    commits of what was downloaded.
    """
    import shlex

    from cimento.cli.console import note, show
    from cimento.cli.evaluating import PART_MISSING
    from cimento.cli.run_file import said_beside, write_run_file
    from cimento.scheduling.prefetching import prefetch as bring

    found = bring(request.models, request.suites, into=into)
    for error in dict.fromkeys(map(str, found.failed.values())):
        note(f"cimento: {error}")
    for name in found.online:
        note(f"cimento: {name} is a server, which nodes must be able to reach.")
    if not (found.models and found.suites):
        return 1
    folder = into or request.how.evaluation.output or Path()
    names: dict[str, JsonValue] = {"models": [*found.models], "suites": [*found.suites]}
    path = write_run_file({**request.values, **names}, folder / "run.toml")
    show("\n".join(f"export {name}={value}" for name, value in found.variables.items()))
    args = request.how.evaluation.asking.policy.model_args
    beside = shlex.join([str(path), *said_beside([*found.models], args)])
    note(f"All that is here is named in {path}: cimento run {beside}")
    if not found.failed:
        return 0
    note(f"cimento: missing: {', '.join(found.failed)}")
    return PART_MISSING

"""``cimento report --site``: a static site of many runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cimento.cli.console import note, show_json
from cimento.cli.report import note_trials
from cimento.errors import UsageError, counted
from cimento.kinds.run import open_runs
from cimento.records.store import folders_among
from cimento.site import SiteSettings, write_site

if TYPE_CHECKING:
    from pathlib import Path

    from cimento.cli.report import ReportOptions


def write_pages(options: ReportOptions, folder: Path) -> int:
    """Write the site of the runs, and say where it begins.

    Raises:
        UsageError: the address is not one of a page.
    """
    if options.address and not options.address.startswith(("https://", "http://")):
        raise UsageError(
            where="--address",
            seen=f"{options.address!r} is not the address of a page",
            todo="Write it whole, such as https://lab.example/board/",
        )
    runs = open_runs(folders_among(options.runs))
    built = write_site(runs, folder, options.named_in(SiteSettings, title=options.title or "Board"))
    note_trials(built.trials)
    shown = len(runs) - len(built.trials)
    if options.as_json:
        show_json({"page": str(built.page), "runs": shown, "written": built.written,
                   "kept": built.kept, "removed": built.removed})  # fmt: skip
        return 0
    others = f", {built.kept} as they were" if built.kept else ""
    gone = f", {built.removed} removed" if built.removed else ""
    note(f"{counted(shown, 'run')}: {counted(built.written, 'file')} written{others}{gone}")
    note(f"Open in a browser: {built.page.resolve()}")
    return 0

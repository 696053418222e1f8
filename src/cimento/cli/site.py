"""``cimento site``: a static site of stored runs."""

from __future__ import annotations

from pathlib import Path

from cimento.cli.console import note, show_json
from cimento.cli.flags import SheetOptions, command_of
from cimento.cli.report import StoredOptions
from cimento.errors import UsageError, counted
from cimento.options import option


class SiteOptions(StoredOptions, SheetOptions):
    """The runs of a site, and what it says of itself."""

    output: Path = option(Path("site"), "The folder of the site.", flags=("-o",))
    title: str = option("Board", "The name of the site.")
    address: str = option(
        "", "Where it will stand, for its description as a data set.", metavar="URL"
    )
    licence: str = option("", "The licence of its tables, a name or an address.")
    dataset: str = option(
        "",
        "The benchmark on the Hugging Face hub, for results in the form of its model cards.",
        metavar="OWNER/NAME",
    )
    as_json: bool = option(default=False, help="Print what was written as JSON.", flags=("--json",))


def _site(options: SiteOptions) -> int:
    """Write a static site of stored runs: a board, and pages of models, suites, phenomena, items.

    Every estimate stands with its interval and the places that its model could hold. Build again
    with more folders, and only the pages that change are written. The pages open from a folder,
    load nothing, and can be put on any server of files.
    """
    from cimento.cli.compare import note_trials
    from cimento.runs.run import folders_among, open_runs
    from cimento.site import SiteSettings, write_site

    if options.address and not options.address.startswith(("https://", "http://")):
        raise UsageError(
            where="--address",
            seen=f"{options.address!r} is no address of a page",
            todo="Write it whole, such as https://lab.example/board/",
        )
    runs = open_runs(folders_among(options.runs))
    settings = SiteSettings(
        title=options.title,
        address=options.address,
        licence=options.licence,
        dataset=options.dataset,
        spreadsheet_safe=options.spreadsheet_safe,
    )
    built = write_site(runs, options.output, settings)
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


site = command_of(SiteOptions, _site, positional="runs", metavar="RUN...")

"""``cimento show``: a stored run, or one of its items, in the terminal."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cimento.cli.console import show as print_result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cimento.report.items import ItemRecord
    from cimento.report.records import RunReport


def show(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder, or a folder of runs.")],
    item: Annotated[
        str, typer.Argument(metavar="[ITEM]", help="Its id; without it the summary is shown.")
    ] = "",
) -> None:
    """Show a stored run, or one item: its tokens, fillers, judgments and verdicts.

    Of several runs those that have the item are shown one after the other.
    """
    from cimento.cli.reports import open_reports
    from cimento.report.document import sections_of, text

    opened = open_reports([run])
    if not item:
        print_result(text(opened))
        return
    runs = [report for section in sections_of(opened) for report in section.runs]
    found = _with_item(runs, item, run)
    print_result("\n\n".join(_item(report, record) for report, record in found))


def _with_item(
    runs: Sequence[RunReport], item: str, path: Path
) -> list[tuple[RunReport, ItemRecord]]:
    from cimento.errors import UsageError, did_you_mean

    found = [(run, record) for run in runs for record in run.items if record.id == item]
    if not found:
        known = {record.id for run in runs for record in run.items}
        close = (
            did_you_mean(item, known) if len(known) <= _FEW else f"There are {len(known)} items."
        )
        raise UsageError(where=str(path), seen=f"there is no item {item!r}", todo=close)
    return found


_FEW = 30


def _item(report: RunReport, record: ItemRecord) -> str:
    from cimento.io.inline_markup import printable
    from cimento.report.terminal import terminal_item

    colour = sys.stdout.isatty()
    width = shutil.get_terminal_size((100, 24)).columns if colour else 100
    shown = terminal_item(record, report, width=width, colour=colour)
    return f"{printable(report.model)}\n{shown}"

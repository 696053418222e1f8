"""``cimento show``: a stored run, or one of its items, in the terminal."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cimento.cli.console import show as print_result

if TYPE_CHECKING:
    from cimento.results import Run


def show(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder, or a folder of runs.")],
    item: Annotated[
        str, typer.Argument(metavar="[ITEM]", help="Its id; without it the summary is shown.")
    ] = "",
) -> None:
    """Show a stored run, or one item with the surprisal of its tokens.

    Of several runs those that have the item are shown one after the other.
    """
    from cimento.cli.report import report
    from cimento.results import open_runs

    if not item:
        report([run])
        return
    runs = open_runs([run])
    print_result("\n\n".join(_item(each, item) for each in _with_item(runs, item, run)))


def _with_item(runs: list[Run], item: str, path: Path) -> list[Run]:
    from cimento.errors import UsageError, did_you_mean

    found = [run for run in runs if any(each.id == item for each in run.suite.items)]
    if not found:
        known = {each.id for run in runs for each in run.suite.items}
        close = (
            did_you_mean(item, known) if len(known) <= _FEW else f"There are {len(known)} items."
        )
        raise UsageError(where=str(path), seen=f"there is no item {item!r}", todo=close)
    return found


_FEW = 30


def _item(run: Run, item: str) -> str:
    from cimento.report.terminal_items import terminal_item

    colour = sys.stdout.isatty()
    width = shutil.get_terminal_size((100, 24)).columns if colour else 100
    record = next(each for each in run.report(items=None).items if each.id == item)
    return f"{run.model}\n" + terminal_item(record, run.suite, width=width, colour=colour)

"""``cimento annotate pairs``: what each drawn sentence becomes, decided in a dialogue."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cimento.cli import options
from cimento.cli.console import note, show
from cimento.cli.corpus_options import InventoryName, Licence, Treebanks
from cimento.errors import UsageError


def pairs(
    decisions: Annotated[
        Path, typer.Argument(metavar="DECISIONS", help="Table that cimento corpus pairs wrote.")
    ],
    treebanks: Treebanks,
    *,
    inventory: InventoryName = "it-connectives",
    again: Annotated[
        list[str] | None,
        options.option("--again", metavar="ID", help="Ask a decided row again. May be repeated."),
    ] = None,
    licence: Licence = "",
) -> int:
    """Decide row by row: which connective takes the place, is it grammatical, or why it is dropped.

    Every decision is in the table at once; :quit stops, and the next time it goes on there. :help
    says what else can be typed. At the end the table is checked as `cimento corpus finish` does.
    """
    from cimento.corpus.connectives.inventories import open_inventory
    from cimento.corpus.making.decisions import open_decisions, read_decisions
    from cimento.corpus.treebanks import open_treebanks
    from cimento.people.annotate.pairs import decide, tasks_of

    if decisions.suffix != ".tsv":
        raise UsageError(
            where=str(decisions),
            seen="is no .tsv, and the table is written anew after every decision",
            todo="Save it as .tsv, or go on in a spreadsheet program.",
        )
    files, opened = open_treebanks(treebanks, licence=licence), open_inventory(inventory)
    table = open_decisions(decisions, files, opened)
    done = decide(decisions, table, opened, read=input, tell=show, again=again or ())
    left = sum(task.is_open for task in tasks_of(open_decisions(decisions, files, opened), opened))
    note(f"{done} decided now, {left} of {len(table.rows)} left: {decisions}")
    if not left:
        kept = [each for each in read_decisions(decisions, files, opened) if not each.dropped]
        note(f"{len(kept)} items. cimento corpus finish {decisions} TREEBANK... -o FOLDER")
    return 0

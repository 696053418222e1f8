"""The table for the terminal: one block for each suite, one line for each model and prediction."""

from __future__ import annotations

from io import StringIO
from textwrap import fill
from typing import TYPE_CHECKING

from cimento.io.inline_markup import printable
from cimento.report.wording import cells, items, labels, notes, told_about, without_length
from cimento.runs.summary import by_suite

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console
    from rich.table import Table

    from cimento.runs.summary import RunSummary, Summary

NARROWEST = 76
_WIDTHS = {  # the model's column takes what is left
    "pred.": 5,
    "accuracy": 8,
    "95 % interval": 14,
    "chance": 6,
    "length": 6,
    "n": 5,
    "ties": 5,
    "unscored": 8,
}
_LONGEST_MODEL = 48


def terminal_table(summary: Summary, *, width: int = 80, colour: bool = False) -> str:
    """The summary as a table of fixed-width text, headed and explained.

    Args:
        summary: what to show.
        width: columns of the terminal; below 76 lines are longer than that.
        colour: with ANSI codes, for a terminal; without, for files and pipes.
    """
    from rich.console import Console

    width = max(width, NARROWEST)
    sheet = StringIO()
    console = Console(
        file=sheet,
        width=width,
        force_terminal=colour,
        color_system="standard" if colour else None,
        highlight=False,
        legacy_windows=False,
    )
    if not summary.runs:
        console.print("Nothing was run.")
    widths = _widths(summary, width)
    for number, runs in enumerate(by_suite(summary.runs).values()):
        _print_suite(console, runs, widths, first=number == 0)
    if summary.runs:
        console.print(f"\n{told_about(summary)}", style="dim")
    _print_notes(console, summary)
    return "\n".join(line.rstrip() for line in sheet.getvalue().splitlines()) + "\n"


def _widths(summary: Summary, width: int) -> dict[str, int]:
    """The columns and their widths; that of models as wide as the longest name, if it can be."""
    longest = max((len(run.label) for run in summary.runs), default=0)
    names = without_length(_WIDTHS, summary.runs)
    if sum(_WIDTHS[name] + 1 for name in names) + min(longest, _LONGEST_MODEL) > width:
        names = [name for name in names if name != "length"]  # the notes have its numbers
    others = {name: _WIDTHS[name] for name in names}
    left = width - sum(size + 1 for size in others.values())
    return {"model": max(12, min(left, longest + 1, _LONGEST_MODEL)), **others}


def _print_suite(
    console: Console, runs: Sequence[RunSummary], widths: Mapping[str, int], *, first: bool
) -> None:
    from rich.text import Text

    run = runs[0]
    if first:
        console.print(_table(widths, header=True))
    language = f" ({printable(run.language)})" if run.language else ""
    heading = Text(f"\n{printable(run.suite)}", style="bold")
    console.print(heading.append(f"{language}, {items(run.n_items)}", style="not bold"))
    table = _table(widths, header=False)
    for each in runs:
        _add_run(table, each, widths)
    console.print(table)
    if len(run.results) > 1:
        for label, result in zip(labels(run), run.results, strict=True):
            if not result.description:
                continue
            line = f"{label}: {printable(result.description)}"
            console.print(Text(_hanging(line, console.width), style="dim"))


def _table(widths: Mapping[str, int], *, header: bool) -> Table:
    from rich.table import Table

    table = Table(
        box=None,
        padding=(0, 1, 0, 0),
        pad_edge=False,
        show_header=header,
        header_style="bold underline",
    )
    for name, size in widths.items():
        if name == "model":
            table.add_column(name, width=size, overflow="fold")
            continue
        left = name == "pred."
        table.add_column(name, width=size, justify="left" if left else "right", no_wrap=True)
    return table


def _add_run(table: Table, run: RunSummary, widths: Mapping[str, int]) -> None:
    from rich.text import Text

    name = Text(printable(run.label))
    if not run.results:
        table.add_row(name, *"-" * (len(widths) - 1))
    for label, result in zip(labels(run), run.results, strict=True):
        found = cells(result, label)
        others = (
            Text(found[column], style="bold" if column == "accuracy" else "")
            for column in widths
            if column != "model"
        )
        table.add_row(name, *others)
        name = Text("")


def _print_notes(console: Console, summary: Summary) -> None:
    from rich.text import Text

    said = [f"{about}: {remark}" for about, remark in notes(summary)]
    lost = [f"{each.suite}, {each.model}: {each.message}" for each in summary.missing]
    for heading, lines in (("Notes", said), ("Not run", lost)):
        if lines:
            console.print(Text(f"\n{heading}", style="bold"))
            for line in lines:
                console.print(Text(_hanging(printable(line), console.width)))


def _hanging(line: str, width: int) -> str:
    """A line set in by two blanks, and by four where it goes on."""
    return fill(line, width, initial_indent=" " * 2, subsequent_indent=" " * 4)

"""The table for the terminal: one block for each suite, one line for each model and prediction."""

from __future__ import annotations

from io import StringIO
from textwrap import fill
from typing import TYPE_CHECKING

from cimento.markup import printable
from cimento.report.summary import by_suite
from cimento.report.wording import interval, items, notes, rate, told_about

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.table import Table

    from cimento.report.summary import Result, RunSummary, Summary

NARROWEST = 76
_COLUMNS = (  # header, width; the model's column takes what is left
    ("pred.", 5),
    ("accuracy", 8),
    ("95 % interval", 14),
    ("chance", 6),
    ("n", 5),
    ("ties", 5),
    ("unscored", 8),
)
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
    for number, runs in enumerate(by_suite(summary.runs).values()):
        _print_suite(console, runs, model_width=_model_width(summary, width), first=number == 0)
    if summary.runs:
        console.print(f"\n{told_about(summary)}", style="dim")
    _print_notes(console, summary)
    return "\n".join(line.rstrip() for line in sheet.getvalue().splitlines()) + "\n"


def _model_width(summary: Summary, width: int) -> int:
    """Wide enough for the longest name, as far as the line allows."""
    left = width - sum(size + 1 for _, size in _COLUMNS)
    longest = max(len(run.label) for run in summary.runs)
    return max(12, min(left, longest + 1, _LONGEST_MODEL))


def _print_suite(
    console: Console, runs: Sequence[RunSummary], *, model_width: int, first: bool
) -> None:
    from rich.text import Text

    run = runs[0]
    if first:
        console.print(_table(model_width, header=True))
    language = f" ({printable(run.language)})" if run.language else ""
    heading = Text(f"\n{printable(run.suite)}", style="bold")
    console.print(heading.append(f"{language}, {items(run.n_items)}", style="not bold"))
    table = _table(model_width, header=False)
    for each in runs:
        _add_run(table, each)
    console.print(table)
    if len(run.predictions) > 1:
        for result in run.predictions:
            line = f"{result.label}: {printable(result.formula or '')}"
            console.print(Text(_hanging(line, console.width), style="dim"))


def _table(model_width: int, *, header: bool) -> Table:
    from rich.table import Table

    table = Table(
        box=None,
        padding=(0, 1, 0, 0),
        pad_edge=False,
        show_header=header,
        header_style="bold underline",
    )
    table.add_column("model", width=model_width, overflow="fold")
    for name, size in _COLUMNS:
        left = name == "pred."
        table.add_column(name, width=size, justify="left" if left else "right", no_wrap=True)
    return table


def _add_run(table: Table, run: RunSummary) -> None:
    from rich.text import Text

    name = Text(printable(run.label))
    if not run.results:
        table.add_row(name, "-", *"-----", "-")
    for result in run.results:
        table.add_row(name, result.label, *_cells(result))
        name = Text("")


def _cells(result: Result) -> tuple[str, ...]:
    accuracy = rate(result.accuracy)
    return (
        f"[bold]{accuracy}[/bold]",
        # Escaped: rich reads square brackets as markup.
        interval(result.low, result.high).replace("[", r"\["),
        rate(result.chance),
        str(result.n_judged),
        str(result.tied),
        str(result.unscored),
    )


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

"""Runs in the terminal, a block for each suite, and single items, tokens shaded by surprisal."""

from __future__ import annotations

import re
import shutil
import sys
from io import StringIO
from textwrap import fill
from typing import TYPE_CHECKING

from cimento.io.inline_markup import flush_left, printable, width_of
from cimento.io.values import grouped
from cimento.records.summary import summaries_by_suite
from cimento.report.formatting import (
    cells,
    items,
    remarks,
    shared_remarks,
    table_notes,
    without_length,
)
from cimento.report.grid import grid_as_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from cimento.records.outcomes import Outcome
    from cimento.records.summary import RunSummary, Summary
    from cimento.report import AnswerList, ItemRecord, RunReport
    from cimento.report.grid import Grid
    from cimento.report.strips import Piece, Strip


NARROWEST = 76
_WIDTHS = {  # the model's column takes the remaining width
    "pred.": 5,
    "accuracy": 8,
    "95% interval": 14,
    "chance": 6,
    "length": 6,
    "n": 5,
    "ties": 5,
    "unscored": 8,
}
_LEAST_MODEL, _LONGEST_MODEL = 12, 48
_LONGEST_NAME = 16


def terminal_table(summary: Summary, *, width: int = 80, color: bool = False) -> str:
    """The summary as a fixed-width table, with a header and an explanation.

    Args:
        summary: the summary.
        width: columns of the terminal; with fewer than 76, lines are longer than that.
        color: whether to use ANSI codes, for a terminal; False for files and pipes.
    """
    width = max(width, NARROWEST)
    sheet = StringIO()
    console = _console(sheet, width=width, color=color)
    if not summary.runs:
        console.print("Nothing was run.")
    widths = _widths(summary, width)
    for number, runs in enumerate(summaries_by_suite(summary.runs).values()):
        _print_suite(console, runs, widths, first=number == 0)
    if summary.runs:
        console.print(f"\n{table_notes(summary)}", style="dim")
    _print_notes(console, summary)
    return "\n".join(line.rstrip() for line in sheet.getvalue().splitlines()) + "\n"


def _console(sheet: StringIO, *, width: int, color: bool) -> Console:
    """A console that writes text for a terminal of a given width into a buffer."""
    from rich.console import Console

    return Console(
        file=sheet,
        width=width,
        force_terminal=color,
        color_system="standard" if color else None,
        highlight=False,
        legacy_windows=False,
    )


def _widths(summary: Summary, width: int) -> dict[str, int]:
    """The columns and their widths; that of models fits the longest name if there is room."""
    longest = max((len(run.label) for run in summary.runs), default=0)
    questions = (len(result.question) for run in summary.runs for result in run.results)
    wanted = max(0, min(max(questions, default=0), _LONGEST_NAME) - _WIDTHS["pred."])
    names = without_length(_WIDTHS, summary.runs)
    left = width - sum(_WIDTHS[name] + 1 for name in names)
    if left < max(min(longest, _LONGEST_MODEL), _LEAST_MODEL + wanted):
        names = [name for name in names if name != "length"]  # the notes have these numbers
    others = {name: _WIDTHS[name] for name in names}
    # Numbers are never cut: names of models and predictions share the rest, and are wrapped.
    left = width - sum(size + 1 for size in others.values())
    model = max(_LEAST_MODEL, min(left - wanted, longest + 1, _LONGEST_MODEL))
    others["pred."] += max(0, min(wanted, left - model))
    return {"model": model, **others}


def _print_suite(
    console: Console, runs: Sequence[RunSummary], widths: Mapping[str, int], *, first: bool
) -> None:
    from rich.text import Text

    run = runs[0]
    if first:
        console.print(_table(widths, header=True))
    language = f" ({printable(run.language)})" if run.language else ""
    heading = Text(f"\n{printable(run.suite)}", style="bold")
    console.print(
        heading.append(f"{language}, {items(max(run.n_items for run in runs))}", style="not bold")
    )
    table = _table(widths, header=False)
    for model_run in runs:
        _add_run(table, model_run, widths)
    console.print(table)
    if len(run.results) > 1:
        for result in run.results:
            if not result.description:
                continue
            line = f"{printable(result.question)}: {printable(result.description)}"
            console.print(Text(_hanging(line, console.width, indent=2), style="dim"))


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
        if name in ("model", "pred."):
            table.add_column(name, width=size, overflow="fold")
        else:
            table.add_column(name, width=size, justify="right", no_wrap=True)
    return table


def _add_run(table: Table, run: RunSummary, widths: Mapping[str, int]) -> None:
    from rich.text import Text

    lines = _folded(printable(run.label), widths["model"])
    if not run.results:
        table.add_row(Text("\n".join(lines)), *"-" * (len(widths) - 1))
    last = len(run.results) - 1
    for number, result in enumerate(run.results):
        row = cells(result)
        name = Text("\n".join(lines[number:] if number == last else lines[number : number + 1]))
        others = (
            Text(row[column], style="bold" if column == "accuracy" else "")
            for column in widths
            if column != "model"
        )
        table.add_row(name, *others)


def _folded(label: str, width: int) -> list[str]:
    """A label in lines, which end at signs; its revision is on a line of its own."""
    if len(label) <= width:
        return [label]
    name, at, revision = label.rpartition("@")
    lines = [""]
    for part in re.split(r"(?<=[-/_.:])", name):
        if lines[-1] and len(lines[-1] + part) > width:
            lines.append("")
        lines[-1] += part
    return [*filter(None, lines), at + revision]


def _print_notes(console: Console, summary: Summary) -> None:
    from rich.text import Text

    said = grouped(shared_remarks(summary.runs, remarks))
    lost = grouped((f"{one.suite}, {one.model}", one.message) for one in summary.missing)
    for heading, of_runs in (("Notes", said), ("Not run", lost)):
        if of_runs:
            console.print(Text(f"\n{heading}", style="bold"))
            for about, told in of_runs.items():
                for line in _notes_on(about, told, console.width):
                    console.print(Text(line))


def _notes_on(about: str, told: Sequence[str], width: int) -> Iterator[str]:
    """The notes on some runs, indented: several of them under one line that says on what."""
    if len(told) == 1:
        yield _hanging(printable(f"{about}: {told[0]}"), width, indent=2)
        return
    yield _hanging(printable(f"{about}:"), width, indent=2)
    yield from (_hanging(printable(f"- {one}"), width, indent=4) for one in told)


def _hanging(line: str, width: int, *, indent: int) -> str:
    """An indented line, with two spaces more where it is wrapped."""
    return fill(line, width, initial_indent=" " * indent, subsequent_indent=" " * (indent + 2))


_SHADES = ("", "on gray23", "on dark_red", "on red3")
_LIMITS_BITS = (4.0, 8.0, 14.0)
"""Upper limits of the first shades, in bits; higher surprisals have the last shade."""


def terminal_item(
    record: ItemRecord, run: RunReport, *, width: int = 80, color: bool = False
) -> str:
    """An item as text.

    Below each sentence are the surprisals of its regions, in bits, with a ``*`` at those that a
    prediction needs; in color, tokens are shaded by surprisal.

    Args:
        record: the item.
        run: the run of the item.
        width: columns of the terminal.
        color: whether to use ANSI codes, for a terminal; False for files and pipes.
    """
    sheet = StringIO()
    console = _console(sheet, width=width, color=color)
    about = f" ({printable(record.phenomenon)})" if record.phenomenon else ""
    console.print(f"item {printable(record.id)} of {printable(run.suite)}{about}", markup=False)
    for strip in record.strips:
        console.print()
        console.print(f"{printable(strip.condition)}", markup=False)
        console.print(_sentence(strip))
        for line in _regions(strip, run.regions):
            console.print(line, markup=False)
    console.print()
    formulas = {claim.name: f": {claim.formula}" for claim in run.claims if claim.formula}
    for outcome in record.parts:
        formula = printable(formulas.get(outcome.question, ""))
        console.print(_outcome_line(outcome, formula), markup=False)
    if record.outcome is not None and len(record.parts) != 1:
        console.print(_outcome_line(record.outcome), markup=False)
    for group in record.answers:
        console.print("\n".join(_answers(group)), markup=False)
    for label, text in record.remarks:
        console.print(f"{printable(label)}: {printable(text)}", markup=False)
    return "\n".join(line.rstrip() for line in sheet.getvalue().split("\n")).rstrip()


def _sentence(strip: Strip) -> Text:
    from rich.text import Text

    line = Text("  ")
    for region in strip.regions:
        for piece in region.pieces:
            line.append(printable(piece.text), style=_shade(piece))
    return line


def _shade(piece: Piece) -> str:
    if piece.surprisal_bits is None:
        return "dim" if piece.asked else ""
    place = sum(piece.surprisal_bits > limit for limit in _LIMITS_BITS)
    return _SHADES[place]


def _regions(strip: Strip, names: Sequence[str]) -> list[str]:
    """The name, text and summed surprisal of every region that the model was asked about."""
    rows = []
    for region in strip.regions:
        asked = [piece for piece in region.pieces if piece.asked]
        if not asked:
            continue
        text = "".join(piece.text for piece in region.pieces).strip()
        missing = next((p.reason for p in asked if p.surprisal_bits is None), None)
        bits = sum(piece.surprisal_bits or 0.0 for piece in asked)
        value = f"{bits:.2f} bits" if missing is None else f"no value: {missing}"
        name = names[region.number - 1] if region.number <= len(names) else str(region.number)
        mark = "*" if region.needed else " "
        rows.append((f"{mark} {printable(name)}", printable(text), value))
    if not rows:
        return []
    left, middle = (max(width_of(row[column]) for row in rows) for column in (0, 1))
    return [
        f"    {flush_left(name, left)}  {flush_left(text, middle)}  {value}"
        for name, text, value in rows
    ]


def _answers(group: AnswerList) -> list[str]:
    lines = [f"{printable(group.name)}"]
    for number, answer in enumerate(group.answers, 1):
        share = "" if answer.share is None else f"  {answer.share:.3f}"
        mark = f"  {answer.mark}" if answer.mark else ""
        lines.append(f"  {number}  {printable(answer.text)}{share}{mark}")
    return [*lines, ""]


def _outcome_line(outcome: Outcome, formula: str = "") -> str:
    by = {None: "", "unscored": ", margin "}.get(outcome.verdict, " by ")
    margin = "" if outcome.value is None else f"{by}{outcome.value:.2f} {outcome.unit}".rstrip()
    question = printable(outcome.question)
    reason = f": {printable(outcome.reason)}" if outcome.reason else ""
    return f"{outcome.verdict or ''}{margin}  {question}{formula}{reason}".strip()


WIDEST = 100
"""Columns of a table that is printed, at most; the forms for programs have lines of any length."""


def on_terminal(grid: Grid) -> str:
    """A table as text that fits into a terminal; where there is none, into a wide one."""
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    columns = shutil.get_terminal_size((80, 24)).columns if is_terminal else WIDEST
    return grid_as_text(grid, width=min(columns, WIDEST))

"""One item for the terminal: every condition with the surprisal of its tokens, and the verdicts."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

from cimento.io.inline_markup import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.text import Text

    from cimento.report.items import AnswerList, ItemRecord
    from cimento.report.records import RunReport
    from cimento.report.strips import Piece, Strip
    from cimento.runs.outcomes import Outcome

_SHADES = ("", "on grey23", "on dark_red", "on red3")
_LIMITS_BITS = (4.0, 8.0, 14.0)
"""Surprisals up to each of these have the shade of the same place; higher ones have the last."""


def terminal_item(
    record: ItemRecord, run: RunReport, *, width: int = 80, colour: bool = False
) -> str:
    """An item as text.

    Under each sentence stand the surprisals of its regions, in bits, those that a prediction
    needs marked with ``*``; with colour the tokens are shaded by their own.

    Args:
        record: what to show.
        run: that it is of.
        width: columns of the terminal.
        colour: with ANSI codes, for a terminal; without, for files and pipes.
    """
    from rich.console import Console

    sheet = StringIO()
    console = Console(
        file=sheet,
        width=width,
        force_terminal=colour,
        color_system="standard" if colour else None,
        highlight=False,
        legacy_windows=False,
    )
    about = f" ({printable(record.phenomenon)})" if record.phenomenon else ""
    console.print(f"item {printable(record.id)} of {printable(run.suite)}{about}", markup=False)
    for strip in record.strips:
        console.print()
        console.print(f"{printable(strip.condition)}", markup=False)
        console.print(_sentence(strip))
        for line in _regions(strip, run.regions):
            console.print(line, markup=False)
    console.print()
    formulas = {f"prediction {claim.number}": claim.formula for claim in run.claims}
    for part in record.parts:
        name = formulas.get(part.question, part.question)
        console.print(_outcome_line(part, printable(name)), markup=False)
    if record.outcome is not None and len(record.parts) != 1:
        together = "all of them" if record.parts else ""
        console.print(_outcome_line(record.outcome, together), markup=False)
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
    """Name, text and summed surprisal of every region that was asked for."""
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
    left, middle = (max(len(row[column]) for row in rows) for column in (0, 1))
    return [f"    {name:<{left}}  {text:<{middle}}  {value}" for name, text, value in rows]


def _answers(group: AnswerList) -> list[str]:
    lines = [f"{printable(group.name)}"]
    for number, each in enumerate(group.answers, 1):
        share = "" if each.share is None else f"  {each.share:.3f}"
        mark = f"  {each.mark}" if each.mark else ""
        lines.append(f"  {number}  {printable(each.text)}{share}{mark}")
    return [*lines, ""]


def _outcome_line(outcome: Outcome, name: str) -> str:
    margin = "" if outcome.value is None else f" by {outcome.value:.2f} {outcome.unit}".rstrip()
    reason = f": {printable(outcome.reason)}" if outcome.reason else ""
    return f"{outcome.verdict or 'not judged'}{margin}  {name}{reason}".rstrip()

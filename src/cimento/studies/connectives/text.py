"""The connectives study as text for the terminal: computed, printed, equal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cimento.io.inline_markup import columns

if TYPE_CHECKING:
    from cimento.studies.connectives.checks import Check
    from cimento.studies.connectives.own import Cell, Perplexities
    from cimento.studies.connectives.released import Compared, Released
    from cimento.suites.model import JsonValue

_EQUAL = {True: "yes", False: "NO", None: "-"}


def study_text(
    checks: Sequence[Check],
    found: Released | None,
    compared: Sequence[Compared],
    cells: Sequence[Cell],
    scored: Perplexities | None,
) -> str:
    """All parts that were asked for, one below the other."""
    parts = [_checks(checks)]
    if found is not None:
        parts.append(_statistics(found))
    if compared:
        parts.append(_compared(compared))
    if cells:
        parts.append(_own(cells, scored))
    return "\n\n".join("\n".join(part) for part in parts)


def _checks(checks: Sequence[Check]) -> Iterator[str]:
    right, wrong, unclear = (
        sum(check.verdict == verdict for check in checks) for verdict in ("right", "wrong", "open")
    )
    yield (
        f"The printed tables: {right} of {len(checks)} figures follow from others, {wrong} do not,"
        f" {unclear} can be read in two ways:"
    )
    rows = [("where", "what", "printed", "computed", "")]
    rows += [
        (each.where, each.what, each.printed, each.computed, each.verdict)
        for each in checks
        if each.verdict != "right"
    ]
    lines = columns(rows, indent=2).split("\n")
    yield lines[0]
    notes = [each.note for each in checks if each.verdict != "right"]
    for line, note in zip(lines[1:], notes, strict=True):
        yield line
        if note:
            yield f"      {note}"


def _statistics(found: Released) -> Iterator[str]:
    yield "Released data:"
    for name, values in found.values.items():
        yield f"  {name}"
        rows = list(_flat(values))
        yield columns(rows, indent=4)
    if found.absent:
        yield f"  not here: {', '.join(found.absent)}"


def _flat(value: JsonValue, where: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _flat(each, f"{where} {key}".strip())
    elif isinstance(value, list):
        yield where, ", ".join(_shown(each) for each in value)
    else:
        yield where, _shown(value)


def _shown(value: JsonValue) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return "-" if value is None else str(value)


def _compared(compared: Sequence[Compared]) -> Iterator[str]:
    equal = sum(each.equal is True for each in compared)
    absent = sum(each.equal is None for each in compared)
    yield f"Expected statistics: {equal} equal within 1e-9, {len(compared) - equal - absent} not,"
    yield f"  {absent} without a computed value"
    rows = [
        (each.where, _shown(each.computed), _shown(each.expected), "NO")
        for each in compared
        if each.equal is False
    ]
    if rows:
        yield columns([("where", "computed", "expected", "equal"), *rows], indent=2)


def _own(cells: Sequence[Cell], scored: Perplexities | None) -> Iterator[str]:
    yield "Your copy:"
    rows = [("table", "row", "", "computed", "95 %", "printed", "equal")]
    rows += [
        (
            each.table,
            each.row,
            each.column,
            _number(each),
            _ends(each),
            each.printed or "-",
            _EQUAL[each.equal],
        )
        for each in cells
    ]
    yield columns(rows, indent=2)
    yield "  Rows of a table share nothing, but for 'unacceptable', which is both others together;"
    yield "  sd is of the sentences' means, sd_within the mean of their ratings' own, with n - 1."
    if scored is not None:
        total = sum(scored.tokens.values())
        yield f"  {scored.measure} by {scored.model}: {total} tokens of {len(scored.tokens)} "
        yield f"  sentences; the first token of a sentence is {scored.first_token}."


def _number(cell: Cell) -> str:
    if cell.computed is None:
        return f"- ({cell.reason})" if cell.reason else "-"
    return f"{cell.computed:.{_decimals(cell)}f}"


def _ends(cell: Cell) -> str:
    """The interval of a rate, or why it has none."""
    if cell.low is None or cell.high is None:
        return "" if cell.computed is None else cell.reason or ""
    return f"{cell.low:.{_decimals(cell)}f} to {cell.high:.{_decimals(cell)}f}"


def _decimals(cell: Cell) -> int:
    return {"items": 0, "%": 2}.get(cell.column, 3)

"""A table whose column names say nothing: which column has the good sentences, and which the bad.

A name with a typo is no reason to refuse a beginner's table; the page asks, with its guess chosen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import permutations

from nicegui import ui

from cimento.app.editing import Grid, Sheet, rename_column
from cimento.app.findings import button
from cimento.app.views import letters
from cimento.app.words import Words
from cimento.suites.suite_workbook import ITEMS
from cimento.suites.tables import HEADERS

SIDES = ("good", "bad")
_OTHERS = ("text", "sentence", "condition")
_MOST_LOOKED_AT = 200
_LEAST_LIKE = 0.7


def sentence_columns(sheet: Sheet) -> tuple[int, ...]:
    """The columns in which most cells have several words."""
    columns = []
    for column in range(sheet.width):
        cells = [cell for cell in sheet.values(column)[:_MOST_LOOKED_AT] if cell.strip()]
        if 2 * sum(" " in cell.strip() for cell in cells) > len(cells):
            columns.append(column)
    return tuple(columns)


def guess_pair(grid: Grid) -> tuple[int, int] | None:
    """The columns that may be those of the good and the bad sentences.

    Returns:
        The two, or None where the names say already what the columns are, or there are no two.
    """
    sheet = grid.items
    known = {name for name in (*SIDES, *_OTHERS) if sheet.column(name) is not None}
    if grid.described or known >= set(SIDES) or known.intersection(_OTHERS):
        return None
    columns = sentence_columns(sheet)
    if len(columns) < len(SIDES):
        return None
    # Of equal guesses the first is taken, in which the good sentences stand first.
    return max(
        permutations(columns, 2),
        key=lambda pair: sum(map(_likeness, (sheet.columns[n] for n in pair), SIDES)),
    )


def _likeness(name: str, side: str) -> float:
    """How much a name is like one of the known names of a side, from 0 to 1; 0 if but a little."""
    word = name.strip().casefold()
    ratio = max(SequenceMatcher(None, word, known).ratio() for known in (side, *HEADERS[side]))
    return ratio if ratio > _LEAST_LIKE else 0.0


def named_pair(grid: Grid, good: int, bad: int) -> Grid:
    """The grid with its columns named ``good`` and ``bad``.

    A first row that is a pair itself gets the names above it.
    """
    sheet = grid.items
    if good in (columns := _of_sentences(sheet)) and bad in columns:
        empty = ("",) * sheet.width
        rows = (*sheet.rows[: sheet.head], empty, *sheet.rows[sheet.head :])
        grid = replace(grid, sheets={**grid.sheets, ITEMS: replace(sheet, rows=rows)})
    for column, name in ((good, "good"), (bad, "bad")):
        grid = rename_column(grid, ITEMS, column, name)
    return grid


def _of_sentences(sheet: Sheet) -> set[int]:
    """The columns whose name is a whole sentence."""
    marks = (".", "!", "?")
    return {
        n for n, name in enumerate(sheet.columns) if " " in name and name.strip().endswith(marks)
    }


def ask_pair(
    grid: Grid, guess: tuple[int, int], say: Words, *, done: Callable[[int, int], object]
) -> None:
    """Ask which column is which, in the place where the page is being built.

    Args:
        grid: the suite.
        guess: the columns that are chosen at first.
        say: the words of the page.
        done: called with the columns of the good and the bad sentences.
    """
    columns = grid.items.columns
    names = {n: columns[n].strip() or letters(n) for n in sentence_columns(grid.items)}
    ui.label(say("edit.pair-what"))
    with ui.element("div").classes("tools"):
        good, bad = (
            ui.select(names, label=say(f"edit.pair-{side}"), value=column).classes("short")
            for side, column in zip(SIDES, guess, strict=True)
        )
        button(say("edit.pair-do"), lambda: done(int(good.value), int(bad.value)))

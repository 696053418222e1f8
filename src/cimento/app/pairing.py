"""What a table without telling names holds: the question that the page asks, and its answers.

A name with a typo is not a reason to refuse a beginner's table: the page asks which column has the
good sentences, and which the bad. One is chosen beforehand only where a name or an asterisk says
it. A single column of sentences may have the bad ones below the good ones, or no others at all. Of
two conditions it is asked which should be likelier; names that formulas cannot use are changed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import partial
from itertools import permutations
from typing import Literal

from nicegui import ui

from cimento.app.columns import with_role
from cimento.app.conditions import (
    block_in,
    conditions_named,
    conditions_of,
    renamings,
    sentence_column,
    with_blocks,
    with_least,
    with_names,
    with_prediction,
)
from cimento.app.describing import describe
from cimento.app.editing import Grid, Sheet, insert_column, rename_column, set_cells
from cimento.app.findings import button
from cimento.app.frame import Text
from cimento.app.levels_named import N_CELLS, ask_levels
from cimento.app.marked import (
    SIDES,
    as_read,
    is_starred,
    label_column,
    paired,
    pairs_of,
    sentence_columns,
    texts_of,
    unmarked,
    versions_of,
)
from cimento.app.parts import plain_table
from cimento.app.views import letters
from cimento.app.words import Words
from cimento.faults import NO_PREDICTIONS
from cimento.intake.blanks import are_blanked
from cimento.intake.forms import is_stamp, program_of
from cimento.intake.names import is_negated, side_in, without_noun
from cimento.intake.profile import profile
from cimento.intake.words import HEADERS
from cimento.judgments import finite
from cimento.suites.formats.examples import ExamplePair
from cimento.suites.grades import grades_of
from cimento.suites.workbook_words import ABOUT, ITEMS, heading, setting_meant

Done = Callable[[Callable[[Grid], Grid]], object]
"""What is called with the edit that an answer asks for."""

FIRST_ROWS = 4
"""Rows that the question shows."""
_OTHER_TEXTS = ("text", "sentence", "condition")
_LEAST_LIKE = 0.7
_CLEARLY = 0.5
"""How much better names must fit one way round than the other."""
WITHOUT_SCALE = "CIM-S036"
_ENDS = ("ratings.low", "ratings.high")
"""The settings of a suite of ratings that are the ends of its scale."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is to be asked about a table.

    Attributes:
        kind: ``pair`` if columns are good and bad sentences, ``lines`` if the bad sentences are
            below the good ones, ``graded`` if marks grade sentences that may be versions of those
            above them, ``list`` if nothing tells the sentences apart, and ``answers`` if people
            have answered a form, which only a message can be given about. ``conditions`` if
            nothing is predicted about the two there are; ``names`` if formulas cannot use theirs.
            ``scale`` if ratings do not say the ends of theirs. ``blocks`` if conditions take turns
            and nothing says which rows are one item. ``least`` if there are several conditions
            that are not the cells of a design.
        columns: the columns of sentences; for conditions, that of their names before it.
        guess: the columns of the good and the bad sentences; None where nothing tells them apart.
        conditions: the conditions, that of the good sentences first if their names say it.
    """

    kind: Literal[
        "pair",
        "lines",
        "graded",
        "list",
        "answers",
        "conditions",
        "names",
        "scale",
        "blocks",
        "least",
    ]
    columns: tuple[int, ...]
    guess: tuple[int, int] | None = None
    conditions: tuple[str, ...] = ()


def question_of(grid: Grid, codes: Collection[str] = ()) -> Question | None:
    """What is to be asked about a table; None if it says what its columns are, and predicts.

    Args:
        grid: the table.
        codes: of what the checks have found in it.
    """
    sheet = as_read(grid)
    if (question := _of_items(grid, codes)) is not None:
        return question
    if not grid.described and _are_answers(sheet):
        return Question("answers", ())
    known = {name for name in (*SIDES, *_OTHER_TEXTS) if sheet.column(name) is not None}
    columns = sentence_columns(sheet)
    is_told = grid.described or bool(grid.roles) or known >= set(SIDES)  # roles are from the menus
    if is_told or not 0 < len(columns) < N_CELLS or _have_blanks(sheet, columns):
        return None
    if len(columns) == 1:
        rated = sheet.column("rating")
        others = set(range(sheet.width)) - {*columns, label_column(sheet, columns[0])}
        is_alone = rated is None and not any(
            cell.strip() for column in others for cell in sheet.values(column)
        )
        is_list = is_alone and known <= {"text", "sentence"}
        return _of_list(sheet, columns[0]) if is_list else None
    if known.intersection(_OTHER_TEXTS):
        return None
    return Question("pair", columns, guessed(sheet, columns))


def _are_answers(sheet: Sheet) -> bool:
    """Whether a form or a program for experiments wrote a table, with comments above it or not."""
    comments = [row for row in sheet.rows if row[0].startswith("# ")]
    is_form = any(map(is_stamp, sheet.columns)) or program_of(sheet.table) is not None
    return is_form or len(comments) > len(SIDES)


def _of_list(sheet: Sheet, column: int) -> Question | None:
    """What is to be asked about a list of sentences; None if it is read as it is.

    Args:
        sheet: the sheet, as it is read.
        column: index of the column of sentences.
    """
    if _lines(sheet, column):
        return Question("lines", (column,))
    above = _above(sheet, column)
    if grades_of(texts_of(sheet, column, above)) is None:
        return Question("list", (column,))
    return Question("graded", (column,)) if versions_of(sheet, column, above) else None


def _rated(grid: Grid) -> tuple[int, ...]:
    """The columns of ratings and of what is rated, as far as they are told by their names."""
    sheet = as_read(grid)
    places = (sentence_column(sheet), sheet.column("rating"))
    return tuple(column for column in places if column is not None)


def with_scale(grid: Grid, ends: Sequence[float]) -> Grid:
    """The grid with the ends of the scale of its ratings; a bare table gets a description for them.

    Args:
        grid: the grid.
        ends: the lowest and the highest point.
    """
    if not grid.described:
        grid = describe(grid, language="")
    about = [setting_meant(row[0].strip()) for row in grid.sheets[ABOUT].rows]
    return set_cells(
        grid, ABOUT,
        {(about.index(name), 1): f"{end:g}" for name, end in zip(_ENDS, ends, strict=True)},
    )  # fmt: skip


def _have_blanks(sheet: Sheet, columns: Sequence[int]) -> bool:
    """Whether a column has a blank in nearly all cells, which no sentence of a pair has."""
    return any(are_blanked(sheet.values(column)) for column in columns)


def _of_items(grid: Grid, codes: Collection[str]) -> Question | None:
    """What is to be asked about the ratings or the conditions of a table; None for nothing."""
    if WITHOUT_SCALE in codes and (columns := _rated(grid)):
        return Question("scale", columns)
    sheet = grid.items
    places = (sheet.column("condition"), sentence_column(sheet))
    columns = tuple(column for column in places if column is not None)
    if block_in(grid):
        return Question("blocks", columns)
    if "CIM-S015" in codes and (new := renamings(grid)):
        return Question("names", columns, conditions=tuple(f"{a} → {b}" for a, b in new.items()))
    is_unpredicted = NO_PREDICTIONS in codes
    if (conditions := conditions_of(grid)) is not None:
        return Question("conditions", columns, conditions=_likelier_first(*conditions))
    names = conditions_named(grid) if is_unpredicted else ()
    return Question("least", columns, conditions=names) if len(names) > len(SIDES) else None


def _likelier_first(one: str, other: str) -> tuple[str, ...]:
    """Two conditions, that of the good sentences first if their names say which it is."""
    for is_bad in (_is_named_bad, is_negated):
        if is_bad(one, other) != is_bad(other, one):
            return (other, one) if is_bad(one, other) else (one, other)
    return one, other


def guessed(sheet: Sheet, columns: tuple[int, ...]) -> tuple[int, int] | None:
    """The columns of the good and the bad sentences, if a name or an asterisk says it."""
    names, headless = sheet.columns, _of_sentences(sheet)
    fits = {
        (n, m): 0.0
        if {n, m} & headless
        else _likeness(names[n], "good") + _likeness(names[m], "bad")
        for n, m in permutations(columns, 2)
    }
    best: tuple[int, int] = max(fits, key=fits.__getitem__)
    first, second = sorted(best)
    orders = (first, second), (second, first)
    if len(columns) > len(SIDES) and not any(fits.values()):
        return None
    # What says most comes first; where it says the same of both columns, the next is asked.
    signs: tuple[Callable[[int, int], bool], ...] = (
        lambda n, m: _is_named_bad(names[n], names[m]),
        lambda n, m: is_negated(names[n], names[m]),
        lambda n, _: is_starred(sheet, n),
    )
    for is_bad in signs[-1:] if headless else signs:
        bad_first, bad_second = (is_bad(*order) for order in orders)
        if bad_first != bad_second:
            return orders[bad_first]
    fit, fit_swapped = (fits[order] for order in orders)
    return orders[fit_swapped > fit] if abs(fit - fit_swapped) > _CLEARLY else None


def _is_named_bad(name: str, other: str) -> bool:
    """Whether a name says that its column is the bad one, or the other that it is the good one."""
    return side_in(name) == "bad" or side_in(other) == "good"


def _likeness(name: str, side: str) -> float:
    """How much a name is like one of the known names of a side, from 0 to 1; 0 if but a little."""
    word = without_noun(name)
    ratio = max(SequenceMatcher(None, word, known).ratio() for known in (side, *HEADERS[side]))
    return ratio if ratio > _LEAST_LIKE else 0.0


def named_pair(grid: Grid, good: int, bad: int) -> Grid:
    """The grid whose columns are the good and the bad sentences, without asterisks in them.

    Columns keep their headings. Those without one are called so, and a first row that is a pair
    itself gets the names above it.
    """
    sheet = grid.items
    if {good, bad} <= _of_sentences(sheet):
        grid = _with_names_above(grid)
    names = [name.strip() for name in grid.items.columns]
    for column, side in ((good, "good"), (bad, "bad")):
        if names[column] and names.count(names[column]) == 1:
            grid = with_role(grid, names[column], side)
        else:
            grid = rename_column(grid, ITEMS, column, heading(side, grid.words))
    return unmarked(grid)


def paired_lines(grid: Grid, column: int) -> Grid:
    """The grid with a row for each sentence and the one with an asterisk below it."""
    return paired(grid, _lines(as_read(grid), column))


def paired_versions(grid: Grid, column: int) -> Grid:
    """The grid with a row for each marked sentence and the one above it."""
    return paired(grid, versions_of(s := as_read(grid), column, _above(s, column)))


def with_column(grid: Grid, column: int, name: str, new: str) -> Grid:
    """The grid with a name for its sentences, and an empty column after them.

    Args:
        grid: the grid.
        column: index of the column of sentences.
        name: its name.
        new: name of the new column.
    """
    if column in _of_sentences(grid.items):
        grid = _with_names_above(grid)
    grid = rename_column(grid, ITEMS, column, heading(name, grid.words))
    return insert_column(grid, ITEMS, column + 1, heading(new, grid.words))


def _with_rows(grid: Grid, rows: list[tuple[str, ...]]) -> Grid:
    return grid.with_sheet(ITEMS, replace(grid.items, rows=tuple(rows)))


def _with_names_above(grid: Grid) -> Grid:
    """The grid with an empty row of names above the first sentences."""
    sheet = grid.items
    empty = ("",) * sheet.width
    return _with_rows(grid, [*sheet.rows[: sheet.head], empty, *sheet.rows[sheet.head :]])


def _lines(sheet: Sheet, column: int) -> list[ExamplePair]:
    """Each sentence of a column with the marked one below it; the first may head the column."""
    return pairs_of(sheet, column, _above(sheet, column))


def _above(sheet: Sheet, column: int) -> list[str]:
    """The sentence that heads a column in the place of a name; none under a name."""
    return [sheet.columns[column].strip()] if column in _of_sentences(sheet) else []


def _of_sentences(sheet: Sheet) -> set[int]:
    """The columns of sentences whose name is a whole one too; ``Dev. std.`` heads no sentences."""
    marks = (".", "!", "?", "…")
    return {
        n
        for n, name in enumerate(sheet.columns)
        if " " in name
        and name.strip().endswith(marks)
        and profile(sheet.values(n)).kind in ("sentences", "nothing")
    }


# --- The question on the page


def ask(
    grid: Grid,
    question: Question,
    say: Words,
    *,
    done: Callable[[Callable[[Grid], Grid]], object],
) -> None:
    """Ask in the place where the page is being built, with the first rows in view.

    Args:
        grid: the suite.
        question: what is asked.
        say: the words of the page.
        done: called with the edit that the answer asks for.
    """
    key = "pair-check" if question.guess else f"{question.kind}-what"
    ui.label(say(f"edit.{key}"))
    if question.kind == "answers":
        return
    first_rows(as_read(grid), question.columns, say)
    if question.kind in _ASKED:
        _ASKED[question.kind](grid, question, say, done)
        return
    column = question.columns[0]
    with ui.element("div").classes("tools"):
        if edit := {"lines": paired_lines, "graded": paired_versions}.get(question.kind):
            button(say("edit.lines-do"), partial(done, partial(edit, column=column)))
            return
        for name, new in (("good", "bad"), ("sentence", "rating")):
            button(
                say(f"edit.list-{new}"),
                lambda name=name, new=new: done(  # type: ignore[misc]
                    lambda grid: with_column(grid, column, name, new)
                ),
            )


def _ask_names(_: Grid, question: Question, say: Words, done: Done) -> None:
    """A button that changes the names of conditions."""
    Text(", ".join(question.conditions))
    button(say("edit.names-do"), lambda: done(with_names))


def _ask_blocks(grid: Grid, _: Question, say: Words, done: Done) -> None:
    """A button that numbers the rows by item."""
    size = block_in(grid)
    button(say("edit.blocks-do", size=size), partial(done, partial(with_blocks, size=size)))


def _ask_least(grid: Grid, question: Question, say: Words, done: Done) -> None:
    """A button for each condition that may be the least acceptable one, and fields for levels."""
    names = question.conditions
    if len(names) == N_CELLS:
        Text(say("edit.least-no-dd")).classes("small")
        ask_levels(grid, names, say, done=done)
        ui.label(say("edit.levels-else"))
    with ui.element("div").classes("tools"):
        for name in names:
            edit = partial(with_least, least=name, names=names)
            button(say("edit.worst-do", cell=name), partial(done, edit))


def _ask_scale(grid: Grid, _: Question, say: Words, done: Done) -> None:
    """Two fields for the ends of a scale, which have those that are assumed."""
    assumed = describe(grid, language="").settings()
    with ui.element("div").classes("tools"):
        low, high = (
            ui.number(say(f"edit.scale-{name}"), value=finite(assumed.get(setting, ""))).classes(
                "end"
            )
            for name, setting in zip(("low", "high"), _ENDS, strict=True)
        )
        go = button(
            say("edit.scale-do"),
            lambda: done(lambda grid: with_scale(grid, (float(low.value), float(high.value)))),
        )

    def follow() -> None:
        go.set_enabled(None not in {low.value, high.value} and low.value < high.value)

    for field in (low, high):
        field.on_value_change(follow)
    follow()


def _ask_conditions(_: Grid, question: Question, say: Words, done: Done) -> None:
    """A button for each of two conditions."""
    conditions = question.conditions
    with ui.element("div").classes("tools"):
        for better, worse in (conditions, conditions[::-1]):
            button(
                say("edit.conditions-do", better=better, worse=worse),
                lambda better=better, worse=worse: done(  # type: ignore[misc]
                    lambda grid: with_prediction(grid, better, worse)
                ),
            )


def _ask_pair(grid: Grid, question: Question, say: Words, done: Done) -> None:
    """Two menus, for the columns of the good and the bad sentences."""
    sheet = grid.items
    if unmarked(grid) != grid:
        ui.label(say("edit.pair-marks")).classes("small")
    names = {n: _shown_name(sheet, n) for n in question.columns}
    chosen = question.guess or (None, None)
    with ui.element("div").classes("tools"):
        good, bad = (
            ui.select(names, label=say(f"edit.pair-{side}"), value=column).classes("short")
            for side, column in zip(SIDES, chosen, strict=True)
        )
        go = button(
            say("edit.pair-do"),
            lambda: done(lambda grid: named_pair(grid, int(good.value), int(bad.value))),
        )

    def follow(field: ui.select, other: ui.select) -> None:
        """Of two columns, the other one follows."""
        rest = [column for column in question.columns if column != field.value]
        if field.value is not None and len(rest) == 1:
            other.value = rest[0]
        go.set_enabled(None not in {good.value, bad.value} and good.value != bad.value)

    good.on_value_change(lambda: follow(good, bad))
    bad.on_value_change(lambda: follow(bad, good))
    go.set_enabled(question.guess is not None)


_ASKED: Mapping[str, Callable[[Grid, Question, Words, Done], None]] = {
    "names": _ask_names,
    "blocks": _ask_blocks,
    "conditions": _ask_conditions,
    "least": _ask_least,
    "scale": _ask_scale,
    "pair": _ask_pair,
}


def _shown_name(sheet: Sheet, column: int) -> str:
    """The name of a column, or its letter where it has none."""
    name = sheet.columns[column].strip()
    return letters(column) if column in _of_sentences(sheet) or not name else name


def first_rows(sheet: Sheet, columns: tuple[int, ...], say: Words) -> None:
    """The first sentences of some columns."""
    headless = _of_sentences(sheet)
    rows = [sheet.rows[n] for n in sheet.body if any(sheet.rows[n][k].strip() for k in columns)]
    if headless:
        rows = [sheet.columns, *rows]
    names = (say("edit.column-named", name=_shown_name(sheet, column)) for column in columns)
    with ui.element("div").classes("table-holder"):
        cells = ([row[column] for column in columns] for row in rows[:FIRST_ROWS])
        plain_table(names, cells, "plain-table first-rows")

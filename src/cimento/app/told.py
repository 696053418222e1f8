"""Tables of stories or contexts with a question or endings: what is proposed for them.

What a column is, its cells say: a story has several sentences, a question ends in a question mark,
and answers or endings are the other texts. Of two answers the correct one is compared with
the other after the story; a single one becomes the word that is due in a blank.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, TypeAlias

from nicegui import ui

from cimento.app.columns import with_role
from cimento.app.editing import Grid, Sheet, insert_column, set_cells
from cimento.app.findings import button
from cimento.app.marked import SIDES, as_read
from cimento.app.parts import plain_table
from cimento.app.words import Words
from cimento.intake.profile import profile
from cimento.intake.roles import alone
from cimento.intake.words import NAMES
from cimento.suites.cloze import BLANK
from cimento.suites.workbook_words import ITEMS

Edit: TypeAlias = Callable[[Grid], Grid]
"""What an answer does to a table."""

_SEVERAL = re.compile(r"[.!?…][\"'»”’)]*\s+\S")
"""The end of a sentence with another one behind it."""
_QUESTION = re.compile(r"[?؟？;][\"'»”’)]*$")
_MOST = 0.75
"""Least proportion of cells that decides what a column holds."""
_PAIR = 2
_FIRST_ROWS = 3
_BESIDE = {
    word
    for name in ("phenomenon", "condition", "item", "number", "label", "participant")
    for word in (name, *NAMES[name])
}
"""Names of columns that are not answers, whatever they hold."""


@dataclass(frozen=True, slots=True)
class Told:
    """The columns of a table of stories, by their indices.

    Attributes:
        story: that of the stories or contexts.
        question: that of the questions about them; None without one.
        answers: those of answers or endings, the correct one first if `is_known`.
        is_known: whether the names of two answers say which is right.
        kind: of the question, which is about what the columns are.
    """

    story: int
    question: int | None
    answers: tuple[int, ...]
    is_known: bool = False
    kind: Literal["told"] = "told"


def told_in(
    grid: Grid, guess: Callable[[Sheet, tuple[int, ...]], tuple[int, int] | None]
) -> Told | None:
    """The stories, questions and answers of a table; None for other tables.

    Args:
        grid: the table.
        guess: which of two columns has the good and which the bad ones, where something says it.
    """
    sheet = as_read(grid)
    texts = [n for n in range(sheet.width) if _is_text(sheet, n)]
    stories = [n for n in texts if _share(sheet, n, _SEVERAL.search) >= _MOST]
    rest = [n for n in texts if n not in stories]
    questions = [n for n in rest if _share(sheet, n, _QUESTION.search) >= _MOST]
    answers = tuple(n for n in rest if n not in questions)
    others = {n for n in range(sheet.width) if any(sheet.values(n))} - {*texts}
    numbers = [n for n in others if profile(sheet.values(n)).kind == "numbers"]
    is_measured = any(not profile(sheet.values(n)).numbers_rows for n in numbers)
    if len(stories) != 1 or len(questions) > 1 or not answers or is_measured:
        return None
    if len(answers) > _PAIR and not questions:
        return None
    order = guess(sheet, answers) if len(answers) == _PAIR else None
    question = questions[0] if questions else None
    return Told(stories[0], question, order or answers, is_known=order is not None)


def _is_text(sheet: Sheet, column: int) -> bool:
    """Whether each row has a text of its own in a column, which is named for nothing else."""
    cells, name = [cell.strip() for cell in sheet.values(column)], sheet.columns[column].strip()
    is_named = bool(name) and name.casefold() not in _BESIDE
    is_own = len({*cells}) > len(cells) / 2 and all(cells) and len(cells) >= _PAIR
    return is_named and is_own and profile(cells).kind in ("sentences", "words")


def _share(sheet: Sheet, column: int, fits: Callable[[str], object]) -> float:
    cells = [cell.strip() for cell in sheet.values(column)]
    return sum(fits(cell) is not None for cell in cells) / len(cells)


def _name(sheet: Sheet, column: int) -> str:
    return sheet.columns[column].strip()


def _joined(grid: Grid, told: Told, end: str = "") -> tuple[Grid, str]:
    """The grid with the stories and their questions in one column, and its name.

    Args:
        grid: the table.
        told: its columns.
        end: what is written behind them.
    """
    sheet, parts = grid.items, [told.story, *([] if told.question is None else [told.question])]
    if len(parts) == 1 and not end:
        return grid, _name(sheet, told.story)
    name = " + ".join([*(_name(sheet, n) for n in parts), *filter(None, [end.strip()])])
    made = insert_column(grid, ITEMS, 0, name)
    rows = [n for n in grid.read_rows() if n > sheet.head]
    texts = {n: " ".join(sheet.rows[n][part].strip() for part in parts) + end for n in rows}
    return set_cells(made, ITEMS, {(n, 0): text for n, text in texts.items()}), name


def _chosen(grid: Grid, roles: Mapping[str, str]) -> Grid:
    made = replace(grid, roles={})
    for role, name in roles.items():
        made = with_role(made, name, alone(role))
    return made


def compared(grid: Grid, told: Told, good: int, bad: int) -> Grid:
    """The grid as pairs of answers after their stories.

    Args:
        grid: the table.
        told: its columns.
        good: index of the column of correct answers.
        bad: index of the column of incorrect answers.
    """
    right, wrong = _name(grid.items, good), _name(grid.items, bad)
    made, before = _joined(grid, told)
    return _chosen(made, {"prefix": before, "good": right, "bad": wrong})


def blanked(grid: Grid, told: Told, right: int) -> Grid:
    """The grid as stories that end in a blank, with the answer that is due there.

    Args:
        grid: the table.
        told: its columns.
        right: index of the column of correct answers; the others are wrong ones.
    """
    wrong = [_name(grid.items, n) for n in told.answers if n != right]
    due = _name(grid.items, right)
    made, text = _joined(grid, told, f" {BLANK}")
    made = _chosen(made, {"sentence": text, "target": due})
    for name in wrong:
        made = with_role(made, name, "implausible")
    return made


def with_wrong(grid: Grid, told: Told, name: str) -> Grid:
    """The grid with an empty column for endings that do not fit, as pairs after the stories.

    Args:
        grid: the table.
        told: its columns.
        name: name of the new column.
    """
    (ending,) = told.answers
    story, right = (_name(grid.items, n) for n in (told.story, ending))
    made = insert_column(grid, ITEMS, ending + 1, name)
    return _chosen(made, {"prefix": story, "good": right, "bad": name})


def ask(grid: Grid, told: Told, say: Words, *, done: Callable[[Edit], object]) -> None:
    """Ask in the place where the page is being built, with the first rows in view.

    Args:
        grid: the table.
        told: its columns.
        say: the words of the page.
        done: called with the edit that the answer asks for.
    """
    sheet = as_read(grid)
    before = [told.story, *([] if told.question is None else [told.question])]
    ui.label(say("edit.told-what", before=" + ".join(say.quoted(_name(sheet, n)) for n in before)))
    shown = [*before, *told.answers]
    rows = [sheet.rows[n] for n in sheet.body if any(sheet.rows[n])][:_FIRST_ROWS]
    with ui.element("div").classes("table-holder"):
        cells = ([row[n] for n in shown] for row in rows)
        plain_table([_name(sheet, n) for n in shown], cells, "plain-table first-rows")
    with ui.element("div").classes("tools"):
        for label, edit in answers_to(sheet, told, say):
            button(label, partial(done, edit))


def answers_to(
    sheet: Sheet, told: Told, say: Words
) -> Sequence[tuple[str, Callable[[Grid], Grid]]]:
    """What can be answered: the words of each button, and its edit."""
    names = {n: _name(sheet, n) for n in told.answers}
    if len(told.answers) == _PAIR:
        orders = [told.answers] if told.is_known else [told.answers, told.answers[::-1]]
        pairs: list[tuple[str, Edit]] = [
            (
                say("edit.told-pair", good=names[good], bad=names[bad]),
                partial(compared, told=told, good=good, bad=bad),
            )
            for good, bad in orders
        ]
        if told.is_known:
            sides = {side: names[n] for side, n in zip(SIDES, told.answers, strict=True)}
            pairs.append((say("edit.told-alone"), partial(_chosen, roles=sides)))
        return pairs
    if told.question is None:
        new = say("edit.told-wrong")
        return [(say("edit.told-add", name=new), partial(with_wrong, told=told, name=new))]
    return [
        (say("edit.told-blank", name=name), partial(blanked, told=told, right=n))
        for n, name in names.items()
    ]

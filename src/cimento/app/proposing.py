"""What the page proposes where a table is not read: columns to choose in the menus above them.

The advice of the readers names columns as an option of commands would; here each is a button. A
table of sentences with blanks is asked for the column of the words that are expected there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal, TypeAlias

from nicegui import ui

from cimento.app import designing, pairing, told
from cimento.app.checking import Finding
from cimento.app.columns import role_name, with_role
from cimento.app.editing import Grid, Sheet, set_cells
from cimento.app.findings import button
from cimento.app.frame import Visit
from cimento.app.incoming import answers_file
from cimento.app.marked import as_read, sentence_columns
from cimento.app.pairing import Done
from cimento.app.parts import named_languages, searched
from cimento.app.words import Words, choices_in, named_by_role
from cimento.faults import UNUSABLE_NAME
from cimento.intake.blanks import are_blanked, are_bracketed, of_brackets
from cimento.intake.profile import profile
from cimento.intake.roles import ROLES, alone
from cimento.io.files import read_bytes
from cimento.suites.sentence_list import labeled_columns
from cimento.suites.workbook_words import ITEMS

_FEWEST, _MOST_PEOPLE = 2, 40
"""Columns of people that are proposed together."""


_OPEN = ("", "pair", "list")
"""Questions that are asked of tables of stories too."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """Columns that may be meant.

    Attributes:
        kind: ``roles`` if advice says which columns have which roles; ``blanks`` if sentences have
            blanks and nothing says which column has the words for them; ``brackets`` if the
            words for them may be in brackets in the sentences; ``labeled`` if people can rate the
            sentences, which have labels beside them.
        choices: the columns by their roles, one dictionary for each way to choose.
        column: index of the column of sentences with blanks or brackets.
        labels: the names of the columns of labels.
    """

    kind: Literal["roles", "blanks", "brackets", "labeled"]
    choices: tuple[Mapping[str, str], ...] = ()
    column: int = 0
    labels: tuple[str, ...] = ()


Asked: TypeAlias = pairing.Question | Proposal | designing.DesignQuestion | told.Told
"""What the page asks about a table, or proposes."""


_OF_COLUMNS = ("pair", "lines", "list", "answers", "scale")
"""The questions of `pairing` that are about what the columns are, or about a description."""


def is_beside(question: Asked) -> bool:
    """Whether the language can be set beside a question, as it is not about what columns are.

    A description would settle that sentences are pairs.
    """
    if isinstance(question, pairing.Question):
        return question.kind not in _OF_COLUMNS
    return isinstance(question, designing.DesignQuestion) and question.kind != "pairs"


def suits_people(grid: Grid, findings: Iterable[Finding]) -> bool:
    """Whether people can be asked about a table that has faults for models only.

    Args:
        grid: the table.
        findings: what the checks have found in it.
    """
    found = [*findings]
    codes = {one.code for one in found if one.severity == "error"}
    if not codes or codes == {UNUSABLE_NAME}:
        return bool(codes)
    if grid.described or grid.roles:
        return False
    asked = pairing.question_of(grid, {one.code for one in found})
    return _of_labels(grid) is not None or (asked is not None and asked.kind == "list")


def question_of(grid: Grid, findings: Iterable[Finding]) -> Asked | None:
    """What is to be asked about a table, or proposed; None for nothing.

    Args:
        grid: the table.
        findings: what the checks have found in it.
    """
    found = [*findings]
    is_faulty = any(one.severity == "error" for one in found)
    if (design := designing.question_of(grid, found)) is not None:
        return design
    question = pairing.question_of(grid, {one.code for one in found})
    kind = "" if question is None else question.kind
    if (written := _of_bare(grid, kind, is_faulty=is_faulty)) is not None:
        return written
    # A table that is read as it is holds no pairs that nothing tells apart.
    if question is not None and not (kind == "pair" and question.guess is None and not is_faulty):
        return question
    if grid.described or not is_faulty:
        return None
    if (told_by_cells := _of_blanks(grid) or _of_labels(grid)) is not None:
        return told_by_cells
    there = {name.strip() for name in grid.items.columns}
    choices = [choice for one in found for choice in choices_in(one.todo)]
    offered = [one for n, one in enumerate(choices) if one not in choices[:n]]
    fitting: tuple[Mapping[str, str], ...] = tuple(
        choice for choice in offered if there.issuperset(choice.values())
    )
    fitting = fitting or _of_people(grid)
    return Proposal("roles", fitting) if fitting else None


def _of_bare(grid: Grid, kind: str, *, is_faulty: bool) -> Proposal | told.Told | None:
    """What a table that nobody has described shows in its cells: answers in brackets, or stories.

    Args:
        grid: the table.
        kind: of the question about its pairs; empty without one.
        is_faulty: whether it cannot be read as it is.
    """
    if grid.described or grid.roles:
        return None
    if is_faulty and (bracketed := _of_brackets(grid)) is not None:
        return bracketed
    return told.told_in(grid, pairing.guessed) if kind in _OPEN else None


def _of_people(grid: Grid) -> tuple[Mapping[str, str], ...]:
    """Columns beside the one of sentences that may have the ratings of one person each."""
    sheet = as_read(grid)
    sentences, others = sentence_columns(sheet), {sheet.column("item"), sheet.column("rating")}
    people = [
        _named(sheet, n)
        for n in range(sheet.width)
        if n not in (*sentences, *others) and ROLES["person"].fits(profile(sheet.values(n)))
    ]
    fits = ROLES["sentence"].fits
    sentences = tuple(n for n in sentences if fits(profile(sheet.values(n))))
    if len(sentences) != 1 or not all(people) or not _FEWEST < len(people) + 1 <= _MOST_PEOPLE:
        return ()
    roles = {f"person {k}" if k > 1 else "person": name for k, name in enumerate(people, 1)}
    return ({"sentence": _named(sheet, sentences[0]), **roles},)


def _of_labels(grid: Grid) -> Proposal | None:
    """That people can rate the sentences of a list with labels; None for other tables."""
    listed = labeled_columns(as_read(grid).table)
    return None if listed is None else Proposal("labeled", labels=listed.labels)


def _of_blanks(grid: Grid) -> Proposal | None:
    """What is proposed for a table with one column of sentences with blanks."""
    sheet = as_read(grid)
    blanked = [n for n in range(sheet.width) if are_blanked(sheet.values(n)) and _named(sheet, n)]
    if len(blanked) != 1 or sheet.column("target") is not None or "target" in grid.roles:
        return None
    column = blanked[0]
    names = [_named(sheet, n) for n in range(sheet.width) if n != column and _may_be_due(sheet, n)]
    choices = ({"sentence": _named(sheet, column), "target": name} for name in names if name)
    return Proposal("blanks", tuple(choices), column)


def _of_brackets(grid: Grid) -> Proposal | None:
    """What is proposed for a table with one column of sentences with an answer in brackets."""
    sheet = grid.items
    columns = [n for n in range(sheet.width) if are_bracketed(sheet.values(n))]
    is_answered = sheet.column("target") is not None
    return (
        Proposal("brackets", column=columns[0]) if len(columns) == 1 and not is_answered else None
    )


def with_blanks(grid: Grid, column: int) -> Grid:
    """The grid with blanks in the place of words in brackets, and the words in a column after them.

    Args:
        grid: the table.
        column: index of the column of sentences.
    """
    made = pairing.with_column(grid, column, "sentence", "target")
    sheet = made.items
    cells = {}
    for row in range(sheet.head + 1, len(sheet.rows)):
        if (both := of_brackets(sheet.rows[row][column])) is not None:
            cells[row, column], cells[row, column + 1] = both
    return set_cells(made, ITEMS, cells)


def _named(sheet: Sheet, column: int) -> str:
    return sheet.columns[column].strip()


def _may_be_due(sheet: Sheet, column: int) -> bool:
    """Whether a column may hold the words that are due in blanks."""
    return profile(sheet.values(column)).kind in ("words", "sentences")


def ask(grid: Grid, question: Asked, say: Words, *, done: Done) -> None:
    """Ask in the place where the page is being built.

    Args:
        grid: the suite.
        question: what is asked, or proposed.
        say: the words of the page.
        done: called with the edit that the answer asks for.
    """
    if isinstance(question, pairing.Question):
        pairing.ask(grid, question, say, done=done)
    elif isinstance(question, designing.DesignQuestion):
        designing.ask(grid, question, say, done=done)
    elif isinstance(question, told.Told):
        told.ask(grid, question, say, done=done)
    elif question.kind == "labeled":
        ui.label(say("edit.labeled-what", columns=", ".join(map(say.quoted, question.labels))))
    elif question.kind == "brackets":
        ui.label(say("edit.brackets-what"))
        edit = partial(with_blanks, column=question.column)
        button(say("edit.brackets-do"), partial(done, edit))
    elif question.kind == "roles":
        _ask_roles(question, say, done)
    elif question.choices:
        ui.label(say("edit.blanks-what"))
        _ask_words(grid, question, say, done)
    else:
        ui.label(say("edit.blanks-alone"))
        column = question.column
        button(
            say("edit.list-target"),
            lambda: done(lambda grid: pairing.with_column(grid, column, "sentence", "target")),
        )


async def lead_to_answers(visit: Visit, path: Path, name: str) -> None:
    """Lead to step 5 where a file holds people's answers, in the place that is being built.

    Args:
        visit: what the page is built for.
        path: of the file.
        name: of the file in the workspace.
    """
    if not path.is_file():
        return
    found = await asyncio.to_thread(answers_file, path.name, read_bytes(path))
    if found is not None:
        there = visit.address("people", answers=name)
        with ui.element("div").classes("mend"):
            ui.link(visit.say("edit.answers-to", name=path.name), there).mark("to-answers")


def ask_language(say: Words, proposed: tuple[str, str], *, done: Callable[[str], object]) -> None:
    """Ask for the language of the sentences in the place where the page is being built.

    Args:
        say: the words of the page.
        proposed: the code of a language, and why it is proposed.
        done: called with the code of the language.
    """
    code, why = proposed
    ui.label(say("edit.bare"))
    with ui.element("div").classes("tools"):
        language = searched(named_languages(say), label=say("edit.language"), value=code).classes(
            "short"
        )
        button(say("edit.describe"), lambda: done(str(language.value or "")))
    if why:
        ui.label(why).classes("small").mark("language-why")


def _ask_roles(proposal: Proposal, say: Words, done: Done) -> None:
    """A button for each way to choose columns."""
    ui.label(say("edit.roles-what"))
    with ui.element("div").classes("tools"):
        for choice in proposal.choices:
            roles = named_by_role(choice, say).items()
            shown = ", ".join(f"{names} = {role_name(role, say)}" for role, names in roles)
            button(shown, partial(done, partial(with_roles, choice=choice)))


def _ask_words(grid: Grid, proposal: Proposal, say: Words, done: Done) -> None:
    """The columns that may have the expected words; chosen is the only one of words, if it is one.

    Args:
        grid: the suite.
        proposal: what is proposed.
        say: the words of the page.
        done: called with the edit.
    """
    sheet = as_read(grid)
    by_name = {choice["target"]: choice for choice in proposal.choices}
    words = [name for name in by_name if profile(sheet.values(_index(sheet, name))).kind == "words"]
    with ui.element("div").classes("tools"):
        due = ui.select(
            [*by_name], label=say("edit.blanks-target"), value=words[0] if len(words) == 1 else None
        ).classes("short")
        go = button(
            say("edit.blanks-do"),
            lambda: done(lambda grid: with_roles(grid, by_name[str(due.value)])),
        )
    go.set_enabled(due.value is not None)
    due.on_value_change(lambda: go.set_enabled(due.value is not None))


def _index(sheet: Sheet, name: str) -> int:
    return [column.strip() for column in sheet.columns].index(name)


def with_roles(grid: Grid, choice: Mapping[str, str]) -> Grid:
    """The grid with the roles of some columns, and no others.

    Args:
        grid: the table.
        choice: the columns by their roles.
    """
    made = replace(grid, roles={})
    for role, name in choice.items():
        made = with_role(made, name, alone(role))
    return made

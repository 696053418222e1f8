"""Deletion of the answers of one person, who asks for it by a code, from all that is kept here."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path

from nicegui import ui

from cimento.app.editing import Grid, set_cells
from cimento.app.findings import button
from cimento.app.frame import Text, Visit, guarded
from cimento.app.opening import open_grid, save_grid
from cimento.app.parts import ask_deletion, refused
from cimento.app.workspace import StoredRun
from cimento.errors import CimentoError
from cimento.io.files import read_bytes
from cimento.judgments import how_read, judgments_of, read_judgments, table_of, write_judgments
from cimento.people.surveys import DATABASE, storage
from cimento.people.surveys.retention import delete_participant
from cimento.records.store import SUITE_FOLDER
from cimento.suites.cells import Cells
from cimento.suites.load import suite_files
from cimento.suites.ratings import rating_as_text
from cimento.suites.workbook_words import ITEMS

_OF_PEOPLE = ("participants", "ratings")
"""The columns with the ratings of people, one by one, and who gave them."""


class Withdrawal:
    """The part of a survey's page that deletes one person's answers.

    Args:
        visit: what the page is built for.
        survey: the survey's folder.
        forget: shows what is left.
    """

    def __init__(self, visit: Visit, survey: Path, forget: Callable[[], Awaitable[None]]) -> None:
        self._visit, self._say, self._survey, self._forget = visit, visit.say, survey, forget

    def build(self) -> None:
        """Build the part in the place where it is called."""
        say = self._say
        with ui.element("details").classes("more"):
            Text(say("people.withdraw"), "summary")
            Text(say("people.withdraw-what"))
            with ui.element("div").classes("tools"):
                self._code = ui.input(say("people.withdraw-code"))
                button(say("people.withdraw-do"), guarded(self._visit, self._ask), icon="delete")
            self._shown = ui.element("div").props("aria-live=polite").mark("withdrawn")

    async def _ask(self) -> None:
        """Ask whether the answers of the person with the code are to be deleted.

        Raises:
            InputError: there are no answers of such a person.
        """
        code = str(self._code.value or "").strip()
        workspace = self._visit.workspace
        places = await asyncio.to_thread(self._places, code)
        if not places:
            raise refused(self._code, self._say("people.withdraw-unknown"))
        runs = await asyncio.to_thread(_runs_with, code, workspace.runs())
        remark = self._say("people.withdraw-runs", runs=", ".join(runs)) if runs else ""
        ask_deletion(
            self._visit, self._say("people.withdraw-ask", code=code),
            [*map(workspace.name_of, places)], partial(self._delete, code, places, remark),
            remark=remark,
        )  # fmt: skip

    def _places(self, code: str) -> list[Path]:
        """The database, tables and tests in which there are answers of the person with a code."""
        database = self._survey / DATABASE
        is_stored = database.is_file() and any(
            one.id == code for one in storage.participants(database)
        )
        suites = [one.path for one in self._visit.workspace.suites()]
        return [
            *([database] if is_stored else []),
            *_tables_with(code, self._tables()),
            *(path for path in suites if _without(code, path)),
        ]

    def _tables(self) -> list[Path]:
        parts = self._visit.workspace.judgments_of(self._survey.name)
        return [path for path in parts if path.suffix == ".parquet"]

    async def _delete(self, code: str, places: Sequence[Path], remark: str) -> None:
        """Delete the answers of a person from some places, and say so, with a remark."""
        for place in places:
            if place.name == DATABASE:
                await asyncio.to_thread(delete_participant, place, code)
            elif place in self._tables():
                await asyncio.to_thread(_delete_in_table, place, code)
            elif (grid := await asyncio.to_thread(_without, code, place)) is not None:
                await asyncio.to_thread(save_grid, grid, place)
        self._code.value = ""
        self._shown.clear()
        with self._shown:
            Text(self._say("people.withdrawn", code=code))
            if remark:
                Text(remark).classes("mend")
        await self._forget()


def _tables_with(code: str, tables: Sequence[Path]) -> list[Path]:
    """The judgments tables in which there are answers of a person."""
    return [path for path in tables if code and code in read_judgments(path)["annotator"]]


def _delete_in_table(path: Path, code: str) -> None:
    """Delete the answers of a person in a judgments table; a table of nobody else is removed."""
    left = [one for one in judgments_of(read_judgments(path)) if one.annotator != code]
    if left:
        write_judgments(table_of(left), path, read=how_read(path))
    else:
        path.unlink()


def _without(code: str, path: Path) -> Grid | None:
    """A test without the ratings of a person; None for one that has none of theirs."""
    try:
        grid = open_grid(path).grid
    except CimentoError:
        return None
    sheet = grid.items
    people, ratings = (sheet.column(name) for name in _OF_PEOPLE)
    if not code or people is None or ratings is None:
        return None
    left = dict[tuple[int, int], str]()
    for row in sheet.body:
        of_row = dict(zip(_OF_PEOPLE, (sheet.rows[row][n] for n in (people, ratings)), strict=True))
        if code not in of_row["participants"]:
            continue
        values, given_by = Cells(f"{path.name}, {row + 1}", of_row).answers(*_OF_PEOPLE[::-1])
        kept = [one for one in zip(values, given_by, strict=True) if one[1] != code]
        if len(kept) < len(values):
            left[row, ratings] = "; ".join(rating_as_text(value) for value, _ in kept)
            left[row, people] = "; ".join(who for _, who in kept)
    return set_cells(grid, ITEMS, left) if left else None


def _runs_with(code: str, runs: Sequence[StoredRun]) -> list[str]:
    """The runs whose copy of their test has the code of a person."""
    return [
        run.name
        for run in runs
        if any(code.encode() in read_bytes(file) for file in suite_files(run.path / SUITE_FOLDER))
    ]

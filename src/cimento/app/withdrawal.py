"""Deletion of the answers of one person, who asks for it by a code, from all that is kept here."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path

from nicegui import ui

from cimento.app.findings import button
from cimento.app.frame import Text, Visit, guarded
from cimento.app.parts import ask_deletion, refused
from cimento.judgments import how_read, judgments_of, read_judgments, table_of, write_judgments
from cimento.people.surveys import DATABASE, storage
from cimento.people.surveys.retention import delete_participant


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
        tables = await asyncio.to_thread(_tables_with, code, self._tables())
        database = self._survey / DATABASE
        is_stored = database.is_file() and any(
            one.id == code for one in await asyncio.to_thread(storage.participants, database)
        )
        if not (tables or is_stored):
            raise refused(self._code, self._say("people.withdraw-unknown"))
        name = self._visit.workspace.name_of
        places = [*([database] if is_stored else []), *tables]
        ask_deletion(
            self._visit, self._say("people.withdraw-ask", code=code), [*map(name, places)],
            partial(self._delete, code, places),
        )  # fmt: skip

    def _tables(self) -> list[Path]:
        parts = self._visit.workspace.judgments_of(self._survey.name)
        return [path for path in parts if path.suffix == ".parquet"]

    async def _delete(self, code: str, places: Sequence[Path]) -> None:
        """Delete the answers of a person from some places, and say so."""
        for place in places:
            delete = delete_participant if place.name == DATABASE else _delete_in_table
            await asyncio.to_thread(delete, place, code)
        self._code.value = ""
        self._shown.clear()
        with self._shown:
            Text(self._say("people.withdrawn", code=code))
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

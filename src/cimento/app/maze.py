"""The distractors of a maze in the form for a survey: proposed by a model, checked by a person."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from nicegui import ui

from cimento.app.findings import button
from cimento.app.frame import Text, Visit, file_choice, guarded, heading
from cimento.app.parts import plain_table, save
from cimento.app.sentences import model_choice, opened_model
from cimento.app.words import said
from cimento.documents import grid_file
from cimento.errors import InputError
from cimento.io.files import write_bytes
from cimento.models.settings import Asking
from cimento.people.reading_times import READING_POLICY
from cimento.people.surveys.distractors import (
    HEADER,
    Proposal,
    propose_distractors,
    sentences_of,
    sheet_rows,
)
from cimento.people.surveys.lexicon import Lexicon, lexicon_of, read_lexicon
from cimento.people.surveys.maze import COLUMNS, read_sheet
from cimento.people.surveys.plan import SurveyPlan
from cimento.report.grid import Grid

if TYPE_CHECKING:
    from nicegui.events import UploadEventArguments

T = TypeVar("T")

Material: TypeAlias = Callable[[Path], tuple[Path, SurveyPlan]]
"""Gives the suite and the plan of the survey, and writes what was typed into a folder."""

_SHOWN = (*COLUMNS, "note")
"""The columns of a sheet that the page shows."""

MOST_SHOWN = 400
"""Rows of a sheet that are shown; the file has all of them."""


def propose(material: Material, model: str, lexicon: Lexicon | None) -> list[Proposal]:
    """Have a model propose the distractors of a survey.

    Args:
        material: of the survey.
        model: as `Workspace.model` returns it.
        lexicon: the words to choose from; None for those of the sentences.

    Raises:
        CimentoError: the suite, what was typed, or the model cannot be used.
    """
    with TemporaryDirectory(prefix="cimento-") as temporary:
        questions = sentences_of(*material(Path(temporary)))
    given = lexicon or lexicon_of(line for question in questions for line in question.lines)
    asking = Asking(policy=READING_POLICY)
    return propose_distractors(questions, opened_model(model), given, asking=asking)


def sheet_grid(proposals: Sequence[Proposal]) -> Grid:
    """The sheet of distractors as a table for a spreadsheet program."""
    _, *rows = sheet_rows(proposals)
    return Grid(
        title="distractors", header=HEADER, labels=len(HEADER), rows=tuple(map(tuple, rows))
    )


class Distractors:
    """The part of the form about distractors.

    Args:
        visit: what the page is built for.
        material: of the survey that is being planned.
        changed: called when the sheet is another one.
    """

    def __init__(self, visit: Visit, material: Material, changed: Callable[[], None]) -> None:
        self._visit, self._say, self._material, self._changed = visit, visit.say, material, changed
        self._lexicon: Lexicon | None = None
        self._proposals: list[Proposal] = []
        self._sheet: tuple[str, bytes] | None = None

    def build(self) -> ui.element:
        """Build the part in the place where it is called."""
        say, visit = self._say, self._visit
        with ui.element("div").mark("distractors") as whole:
            heading(say("people.maze"), level=3)
            Text(say("people.maze-what"))
            self._model = model_choice(visit, say("start.model"), "demo-causal").mark("maze-model")
            Text(say("people.maze-words"))
            file_choice(visit, self._take_words)
            self._words = Text().props("role=status").classes("small")
            button(say("people.maze-propose"), guarded(visit, self._propose), icon="lightbulb")
            self._waiting = Text(say("start.waiting")).props("role=status").classes("small")
            self._waiting.set_visibility(False)
            self._proposed = ui.element("div").props("aria-live=polite").mark("proposed")
            Text(say("people.maze-back"))
            file_choice(visit, self._take_sheet)
            self._chosen = Text().props("role=status").classes("small").mark("maze-chosen")
        return whole

    @property
    def sheet(self) -> tuple[str, bytes]:
        """The checked sheet: the ending of its file, and its content.

        Raises:
            InputError: there is none.
        """
        if self._sheet is None:
            raise InputError(where=self._say("people.maze"), seen=self._say("people.maze-none"))
        return self._sheet

    @property
    def ending(self) -> str:
        """The ending of the checked sheet's file; empty while there is none."""
        return self._sheet[0] if self._sheet else ""

    async def _take_words(self, event: UploadEventArguments) -> None:
        """Take the words to choose from out of a file."""
        read = partial(_read, event.file.name, await event.file.read(), read_lexicon)
        self._lexicon = await asyncio.to_thread(read)
        key = "counted" if self._lexicon.has_frequencies else "uncounted"
        count = self._say.number(len(self._lexicon.counts))
        self._words.text = self._say(f"people.maze-{key}", file=event.file.name, count=count)

    async def _propose(self) -> None:
        """Have distractors proposed, and show them."""
        model = self._visit.workspace.model(str(self._model.value or ""))
        self._proposed.clear()
        self._waiting.set_visibility(True)
        try:
            make = partial(propose, self._material, model, self._lexicon)
            self._proposals = await asyncio.to_thread(make)
        finally:
            self._waiting.set_visibility(False)
        with self._proposed:
            self._show()

    def _show(self) -> None:
        """The sheet, with its file and with what a person says of it."""
        say, proposals = self._say, self._proposals
        sentences = len({(one.question.item, one.question.condition) for one in proposals})
        noted = sum(bool(one.note) for one in proposals)
        counts = {"words": len(proposals), "sentences": sentences, "noted": noted}
        Text(say("people.maze-made", **{name: say.number(n) for name, n in counts.items()}))
        if self._lexicon is None or not self._lexicon.has_frequencies:
            Text(say("people.maze-length-only")).classes("small")
        data = grid_file(sheet_grid(proposals), ".xlsx")
        give = partial(save, "maze.xlsx", lambda: data)
        button(say("people.maze-download"), guarded(self._visit, give), icon="download")
        places = [HEADER.index(name) for name in _SHOWN]
        _, *rows = ([cells[place] for place in places] for cells in sheet_rows(proposals))
        names = [say(f"people.maze-{name}") for name in _SHOWN]
        holder = ui.element("div").classes("table-holder").props("tabindex=0")
        with holder.style("max-height: 30rem"):
            plain_table(
                names,
                ([*cells, said(note, say.language) or note] for *cells, note in rows[:MOST_SHOWN]),
            )
        if len(rows) > MOST_SHOWN:
            Text(say("read.more", count=len(rows) - MOST_SHOWN)).classes("small")
        read = ui.checkbox(say("people.maze-read")).mark("maze-read")
        read.on_value_change(guarded(self._visit, lambda: self._accept(read, data)))

    def _accept(self, box: ui.checkbox, data: bytes) -> None:
        """Use the sheet as it was proposed, or no longer."""
        if not box.value:
            self._set("", None)
            return
        try:
            _read("maze.xlsx", data, read_sheet)
        except InputError:
            box.value = False
            raise
        self._set("maze.xlsx", (".xlsx", data))

    async def _take_sheet(self, event: UploadEventArguments) -> None:
        """Take a sheet that a person has checked."""
        name, data = PurePath(event.file.name).name, await event.file.read()
        await asyncio.to_thread(_read, name, data, read_sheet)
        self._set(name, (PurePath(name).suffix, data))

    def _set(self, name: str, sheet: tuple[str, bytes] | None) -> None:
        self._sheet = sheet
        self._chosen.text = self._say("people.maze-chosen", file=name) if sheet else ""
        self._changed()


def _read(name: str, data: bytes, read: Callable[[Path], T]) -> T:
    """What a reader of files makes of an uploaded one.

    Raises:
        CimentoError: it cannot be read.
    """
    with TemporaryDirectory(prefix="cimento-") as temporary:
        return read(write_bytes(data, Path(temporary) / PurePath(name).name))

"""Answers to a form of one's own: read by a test, or made into a test of the form's sentences."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from nicegui import ui

from cimento.app.about_people import SUFFIX as ABOUT
from cimento.app.about_people import About, about_in, write_told
from cimento.app.answer_columns import ask_columns, proposed, roles_in
from cimento.app.answers import Results
from cimento.app.correcting import ReadFile, drop, keep, kept
from cimento.app.findings import button
from cimento.app.form_sentences import (
    FormSentences,
    needs_test,
    numbered_only,
    save_sentences,
    sentences_of,
)
from cimento.app.frame import Text, Visit, file_choice, guarded, heading
from cimento.app.incoming import asked_about, read_upload, remarks_on, table_in, taken
from cimento.app.parts import ask_deletion, delete_button, named_languages, searched
from cimento.app.which_good import WhichGood, open_questions
from cimento.app.workspace import JUDGMENTS, SECRET, SUITES
from cimento.errors import CimentoError, InputError
from cimento.io.files import read_bytes, write_bytes
from cimento.judgments import (
    judgments_of,
    read_judgments,
    table_of,
    write_judgments,
)
from cimento.judgments.forms import NEVER_SUBMITTED
from cimento.people.annotate.rows import Import
from cimento.suites.builtin import find_suite
from cimento.suites.reading import sha256_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nicegui.events import UploadEventArguments


class OwnForms:
    """The answers to forms of one's own: those that were read, and a place for others.

    Args:
        visit: what the page is built for.
    """

    def __init__(self, visit: Visit) -> None:
        self._visit, self._say = visit, visit.say

    def build(self) -> None:
        """Build the part of the page in the place where it is called."""
        say, visit = self._say, self._visit
        heading(say("people.own-forms"))
        Text(say("people.own-forms-what"))
        suites = {"": say("people.form-sentences")}
        suites |= {name: name for name in visit.workspace.suite_names()}
        self._waiting: tuple[str, bytes] | None = None
        self._unplaced: WhichGood | None = None
        with ui.element("div").classes("form-grid"):
            self._suite = searched(suites, label=say("people.form-test"), value="")
            self._language = searched(named_languages(say), label=say("people.form-language"))
        self._suite.on_value_change(guarded(visit, self._choose))
        self._language.on_value_change(guarded(visit, self._go_on))
        file_choice(visit, self._take)
        self._shown_waiting = Text("").mark("waiting")
        self._earlier = ui.element("ul").classes("plain-list")
        self._build_earlier()
        self._results = ui.element("div").mark("form-results")
        if (brought := taken(visit.query.get("answers", ""), visit.workspace)) is not None:
            self._waiting = brought.name, brought.data
            self._shown_waiting.text = say("people.form-waits", file=brought.name)

    def _build_earlier(self) -> None:
        """The forms whose answers were read, to be opened again or deleted."""
        self._earlier.clear()
        with self._earlier:
            for name in self._visit.workspace.forms():
                with ui.element("li"):
                    show = guarded(self._visit, partial(self._show, name))
                    button(name, show).mark(f"open {name}")
                    delete_button(self._visit, name, partial(self._ask, name))

    def _ask(self, name: str) -> None:
        workspace = self._visit.workspace

        def delete() -> None:
            workspace.delete_form(name)
            drop(self._place(name, ".parquet"))
            self._unplaced = None
            self._results.clear()
            self._build_earlier()

        parts = [workspace.name_of(path) for path in workspace.judgments_of(name)]
        ask_deletion(self._visit, self._say("people.form-delete-ask"), parts, delete)

    async def _take(self, event: UploadEventArguments) -> None:
        """Read the answers in a file, and show them."""
        self._waiting = PurePath(event.file.name).name, await event.file.read()
        await self._go_on()

    async def _choose(self) -> None:
        """Read the file by the test that was chosen, or take it for that of the answers shown."""
        suite = str(self._suite.value or "")
        if self._waiting is None and suite and self._unplaced is not None:
            await self._unplaced.take(suite)
            return
        await self._go_on()

    async def _go_on(self) -> None:
        """Read the file that was chosen, once it is known what its sentences are to become."""
        if self._waiting is None:
            return
        file, data = self._waiting
        if self._chosen() is None and not self._language.value:
            self._language.error = self._say("people.form-choose-language")
            self._language.run_method("focus")
            self._shown_waiting.text = self._say("people.form-waits", file=file)
            return
        self._language.error, self._waiting, self._shown_waiting.text = None, None, ""
        if name := self._read_before(file, data):
            await self._show(name)
            self._shown_waiting.text = self._say("people.form-same", file=file, name=name)
            return
        await self._open(file, data, {})

    def _read_before(self, file: str, data: bytes) -> str:
        """The answers that were read from the same file, in the same way; empty without any."""
        suite, language = self._chosen(), str(self._language.value or "")
        for name in self._visit.workspace.forms():
            earlier = kept(self._place(name, ".parquet"))
            if earlier is None or (earlier.name, earlier.data, earlier.suite) != (
                file,
                data,
                suite,
            ):
                continue
            if suite is not None or earlier.language == language:
                return name
        return ""

    async def _open(
        self,
        file: str,
        data: bytes,
        roles: Mapping[str, str],
        *,
        again: str = "",
        unsubmitted: bool = False,
    ) -> None:
        """Read the answers in a file, and show them; where they cannot be read, ask what is what.

        Args:
            file: name of the file.
            data: its content.
            roles: the roles that somebody has chosen for its columns.
            again: the name of its answers, if they are read in place of those read before.
            unsubmitted: whether answers that were never submitted are read.
        """
        name = again or self._visit.workspace.new_form(PurePath(file).stem)
        secret, table = self._place(name, SECRET), self._place(name, ".parquet")
        earlier = kept(table) if again else None
        suite = earlier.suite if earlier else self._chosen()
        made: Path | None = None
        unsubmitted = unsubmitted or bool(earlier and earlier.unsubmitted)
        read = partial(self._read, file, data, secret=secret, roles=roles, unsubmitted=unsubmitted)
        try:
            came = await read(suite)
            remarks = [] if suite else numbered_only(came)
            if suite is None and not remarks and needs_test(came):
                sentences = self._sentences(came, file)
                remarks = [*sentences.remarks, *([] if roles else sentences.doubts)]
                made = await self._made_of(sentences, name, earlier)
                came = await read(made)
            about = about_in(table_in(file, data), came, roles)
            await asyncio.to_thread(self._write, name, about.of(came), about, remarks)
        except CimentoError as error:
            # No answers were read with them.
            for path in filter(None, (None if again else secret, made)):
                path.unlink(missing_ok=True)
            self._ask_columns(file, data, roles, error.todo, again=again)
            raise
        keep(table, ReadFile(
            name=file, data=data, roles=roles or roles_in(came, about.columns), suite=suite,
            language=str(self._language.value or ""), made=made,
            digest=sha256_of(read_bytes(made)) if made else "", unsubmitted=unsubmitted,
            has_unsubmitted=NEVER_SUBMITTED in came.passed,
        ))  # fmt: skip
        self._build_earlier()
        await self._show(name)
        self._tell_new_name(file, name, is_new=not again)

    def _tell_new_name(self, file: str, name: str, *, is_new: bool) -> None:
        """Say what new answers are called whose file is called like others."""
        stem = PurePath(file).stem
        wanted = self._visit.workspace.new(JUDGMENTS, f"{stem}{SECRET}", free=False).stem
        if is_new and name != wanted:
            self._shown_waiting.text = self._say("people.form-again", wanted=wanted, name=name)

    def _write(self, name: str, came: Import, about: About, remarks: Sequence[str]) -> None:
        """Write answers and what people said of themselves, in place of what was read before."""
        self._visit.workspace.delete_judgments(name)
        said = "\n".join([*remarks_on(came), *about.remarks, *remarks])
        write_judgments(table_of(came.judgments), self._place(name, ".parquet"), read=said)
        write_told(about.told, self._place(name, ABOUT))

    def _place(self, name: str, ending: str) -> Path:
        return self._visit.workspace.inside(f"{JUDGMENTS}/{name}{ending}")

    def _ask_columns(
        self, file: str, data: bytes, roles: Mapping[str, str], todo: str, *, again: str = ""
    ) -> None:
        """Show the columns of a table, with a menu above each, in place of the answers.

        Args:
            file: name of the file.
            data: its content.
            roles: that somebody has chosen, or as which its columns were read; none proposes them.
            todo: the advice of the error with which it was refused.
            again: the name of its answers that were read before.
        """
        self._results.clear()
        table = table_in(file, data)
        if table is None:
            return
        with self._results:
            reread = guarded(self._visit, partial(self._open, file, data, again=again))
            ask_columns(table, roles or proposed(table, todo), self._say, done=reread)
            if again:
                back = guarded(self._visit, partial(self._show, again))
                button(self._say("people.columns-back"), back, icon="undo")

    def _correct(self, name: str, file: ReadFile) -> None:
        """Ask what the columns of a table are that was read."""
        self._ask_columns(file.name, file.data, file.roles, "", again=name)

    def _chosen(self) -> Path | None:
        """The test that the form is about; None if its sentences are to become one."""
        name = str(self._suite.value or "")
        return find_suite(self._visit.workspace.suite(name)) if name else None

    async def _read(
        self,
        file: str,
        data: bytes,
        suite: Path | None,
        *,
        secret: Path,
        roles: Mapping[str, str],
        unsubmitted: bool,
    ) -> Import:
        """The answers in a file.

        Raises:
            InputError: it is not clear how they are arranged.
        """
        read = partial(read_upload, file, data, asked=asked_about(suite), secret=secret)
        came = await asyncio.to_thread(read, chosen=roles, unsubmitted=unsubmitted)
        if came is None:
            raise InputError(where=file, seen=self._say("people.import-unclear"))
        return came

    def _sentences(self, came: Import, file: str) -> FormSentences:
        """The sentences of a form.

        Raises:
            InputError: the form does not ask to judge sentences.
        """
        sentences = sentences_of(came)
        if sentences is None:
            raise InputError(where=file, seen=self._say("people.form-no-sentences"))
        return sentences

    async def _made_of(self, sentences: FormSentences, name: str, earlier: ReadFile | None) -> Path:
        """The test that a form's sentences make, in place of the one that they made before.

        One that somebody has changed since stays.

        Args:
            sentences: the sentences.
            name: of the form.
            earlier: the file as it was read before; None where it is new.
        """
        language = str(self._language.value or "") or (earlier.language if earlier else "")
        before = earlier.test_as_made() if earlier else None
        if earlier is not None and earlier.made is not None and before:
            earlier.made.unlink()
        path = self._visit.workspace.new(SUITES, f"{name}.xlsx")
        try:
            save = partial(save_sentences, sentences, path, language=language)
            await asyncio.to_thread(save, words=self._say.language)
        except CimentoError:
            if earlier is not None and earlier.made is not None and before:
                write_bytes(before, earlier.made)
            raise
        return path

    async def _show(self, name: str) -> None:
        """Show the answers to a form."""
        self._results.clear()
        table = self._place(name, ".parquet")
        judgments = await asyncio.to_thread(lambda: judgments_of(read_judgments(table)))
        is_open = bool(open_questions(judgments))
        again = partial(self._show, name)
        self._unplaced = (
            WhichGood(self._visit, name, judgments, again, language=str(self._language.value or ""))
            if is_open
            else None
        )
        with self._results:
            heading(name, level=3)
            if self._unplaced is not None:
                self._unplaced.build()
            if (file := kept(table)) is not None:
                correct = guarded(self._visit, partial(self._correct, name, file))
                button(self._say("people.columns-correct"), correct, icon="table_view")
                if file.has_unsubmitted:
                    these = partial(self._open, file.name, file.data, file.roles, again=name)
                    also = guarded(self._visit, partial(these, unsubmitted=True))
                    button(self._say("people.form-unsubmitted"), also, icon="playlist_add")
            results = Results(self._visit, name, None)
            results.build()
            await results.take(table)

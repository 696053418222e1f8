"""Which sentence of each question is good, where people chose and no test says so."""

from __future__ import annotations

import asyncio
import csv
import io
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from nicegui import ui

from cimento.app.findings import button
from cimento.app.frame import Text, Visit, guarded, heading, in_page
from cimento.app.incoming import asked_about
from cimento.app.parts import named_languages, refused, searched
from cimento.app.workspace import SUITES
from cimento.errors import InputError
from cimento.io.files import write_bytes
from cimento.judgments import (
    BOTH,
    NONE,
    Judgment,
    how_read,
    judgments_of,
    read_judgments,
    table_of,
    write_judgments,
)
from cimento.judgments.chosen import GOOD_UNKNOWN, in_suite, is_of_no_suite
from cimento.kinds.registry import load_suite, save_suite
from cimento.suites.builtin import find_suite

_PAIR = 2


def open_questions(judgments: Sequence[Judgment]) -> dict[str, list[str]]:
    """The questions to which people chose a sentence that no test has, with these sentences.

    Args:
        judgments: the answers.
    """
    found: dict[str, dict[str, None]] = {}
    for one in filter(is_of_no_suite, judgments):
        sentences = found.setdefault(one.item, {})
        if one.value not in (BOTH, NONE):
            sentences[one.value or ""] = None
    return {item: [*sentences] for item, sentences in found.items() if sentences}


def in_test(tables: Sequence[Path], suite: Path) -> bool:
    """Have choices in some tables be those between the sentences of a test.

    Args:
        tables: of judgments, which are written again where the test has sentences of theirs.
        suite: the test.

    Returns:
        Whether it has any.

    Raises:
        CimentoError: the test cannot be read, or has a sentence in several items.
    """
    places, is_any = asked_about(suite)(stored=False), False
    for table in tables:
        judgments, remarks = judgments_of(read_judgments(table)), how_read(table)
        placed = in_suite(judgments, places)
        if placed == judgments:
            continue
        is_any = True
        is_left = any(map(is_of_no_suite, placed))
        lines = [line for line in remarks.splitlines() if is_left or line != GOOD_UNKNOWN]
        write_judgments(table_of(placed), table, read="\n".join(lines))
    return is_any


def save_pairs(
    pairs: Mapping[str, tuple[str, str]], path: Path, *, language: str, words: str
) -> None:
    """Save pairs of sentences as a suite.

    Args:
        pairs: the good and the bad sentence of each item.
        path: workbook that is written.
        language: ISO 639-1 code of the sentences.
        words: the language of what cimento itself writes in it.

    Raises:
        CimentoError: they cannot be a suite, or it cannot be written.
    """
    text = io.StringIO()
    csv.writer(text).writerows([("item", "good", "bad"), *((n, *p) for n, p in pairs.items())])
    with TemporaryDirectory(prefix="cimento-") as temporary:
        listed = write_bytes(text.getvalue().encode(), Path(temporary) / f"{path.stem}.csv")
        save_suite(load_suite(listed, language=language), path, words=words)


@dataclass(frozen=True, slots=True)
class _Row:
    """What is asked of one question.

    Attributes:
        sentences: that people chose.
        good: the field that says which one is good, by its place.
        other: the field for the sentence that nobody chose; None where there are two.
    """

    sentences: Sequence[str]
    good: ui.radio
    other: ui.input | None

    def pair(self) -> tuple[str, str] | None:
        """The good and the bad sentence; None where nothing was chosen.

        Raises:
            ValueError: the sentence that nobody chose is missing, or is the other one.
        """
        if self.good.value is None:
            return None
        both = [*self.sentences]
        if self.other is not None:
            both.append(str(self.other.value or "").strip())
        if len({*both}) < _PAIR or not all(both):
            raise ValueError
        place = int(self.good.value)
        return both[place], both[1 - place]


class WhichGood:
    """The part of a page that asks which sentence of each question is good.

    Args:
        visit: what the page is built for.
        name: of the form.
        judgments: the answers to it.
        done: shows the answers again, once a test has their sentences.
        language: of the sentences, ISO 639-1, where it is known; empty where it is not.
    """

    def __init__(
        self,
        visit: Visit,
        name: str,
        judgments: Sequence[Judgment],
        done: Callable[[], Awaitable[None]],
        *,
        language: str = "",
    ) -> None:
        self._visit, self._say, self._name, self._done = visit, visit.say, name, done
        self._questions, self._known = open_questions(judgments), language

    def build(self) -> None:
        """Build the part in the place where it is called."""
        say, visit = self._say, self._visit
        with ui.element("div").classes("mend").mark("which-good"):
            heading(say("people.good"), level=3)
            Text(say("people.good-what"))
            suites = {name: name for name in visit.workspace.suite_names()}
            with ui.element("div").classes("tools"):
                self._suite = searched(suites, label=say("people.form-test")).classes("short")
                button(say("people.good-take"), guarded(visit, self._take), icon="check")
            with ui.element("details").classes("more"):
                Text(say("people.good-make"), "summary")
                self._build_questions()

    def _build_questions(self) -> None:
        """Each question with its sentences, and the language of the test that is made."""
        say = self._say
        Text(say("people.good-make-what"))
        self._rows: dict[str, _Row] = {}
        for item, sentences in self._questions.items():
            Text(item, "b")
            if len(sentences) > _PAIR:
                Text(say("people.good-many", count=len(sentences))).classes("small")
                continue
            options = dict(enumerate(sentences))
            if len(sentences) < _PAIR:
                options[1] = say("people.good-typed")
            good = ui.radio(options).props(f'aria-label="{say("people.good-one")}"')
            other = None
            if len(sentences) < _PAIR:
                other = ui.input(say("people.good-other")).props("outlined dense")
            self._rows[item] = _Row(sentences, good, other)
        with ui.element("div").classes("tools"):
            self._language = searched(
                named_languages(say), label=say("people.form-language"), value=self._known or None
            )
            self._language.classes("short")
            button(say("people.good-do"), guarded(self._visit, self._make), icon="note_add")

    async def take(self, suite: str) -> None:
        """Take a test for the one that the form is about.

        Args:
            suite: its name in the workspace.

        Raises:
            CimentoError: it cannot be read, or has none of the sentences.
        """
        await self._place(find_suite(self._visit.workspace.suite(suite)), suite)

    async def _take(self) -> None:
        if not self._suite.value:
            raise refused(self._suite, self._say("people.good-choose"))
        await self.take(str(self._suite.value))

    async def _make(self) -> None:
        """Make a test of the questions of which somebody said what is good."""
        say, visit = self._say, self._visit
        pairs: dict[str, tuple[str, str]] = {}
        for row in self._rows.values():
            try:
                pair = row.pair()
            except ValueError:
                field = row.good if row.other is None else row.other
                raise refused(field, say("people.good-missing")) from None  # type: ignore[arg-type]
            if pair is not None:
                pairs[str(len(pairs) + 1)] = pair
        if not pairs:
            raise InputError(where=say("people.good"), seen=say("people.good-none"))
        if not self._language.value:
            raise refused(self._language, say("people.form-choose-language"))
        path = visit.workspace.new(SUITES, f"{self._name}.xlsx")
        chosen = str(self._language.value)
        save = partial(save_pairs, pairs, path, language=chosen, words=say.language)
        await asyncio.to_thread(save)
        name = visit.workspace.name_of(path)
        await self._place(path, name)
        with in_page(visit):
            ui.notify(say("people.good-made", file=name), type="positive")

    async def _place(self, suite: Path, name: str) -> None:
        """Have the answers be about a test, and show them again.

        Raises:
            InputError: it has none of the sentences.
        """
        parts = self._visit.workspace.judgments_of(self._name)
        tables = [path for path in parts if path.suffix == ".parquet"]
        if not await asyncio.to_thread(in_test, tables, suite):
            raise InputError(where=name, seen=self._say("people.good-others"))
        await self._done()

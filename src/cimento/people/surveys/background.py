"""Questions about the participant, as the researcher chooses them: usual ones, and a table's."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from cimento.errors import InputError, UsageError, need_known
from cimento.people.surveys.design import BackgroundQuestion
from cimento.people.surveys.tasks import Words

USUAL = ("first-language", "region", "age", "dialect")
"""Names of the questions that there are words for in all languages."""

_TAKEN = frozenset(
    (
        "participant", "survey", "link_made", "consent_version", "consented", "finished",
        "session_seconds", "answered", "questions", "checks", "checks_passed",
    )
)  # fmt: skip
"""Columns of the table of participants, in which the answers are written."""
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")


def parted(cell: str) -> tuple[str, ...]:
    """The parts of a cell with bars between them."""
    return tuple(part.strip() for part in cell.split("|") if part.strip())


def background_questions(
    usual: Iterable[str], path: Path | None, texts: Words
) -> tuple[BackgroundQuestion, ...]:
    """The usual questions by their names, then those of a table.

    Raises:
        InputError: the table cannot be used.
        UsageError: there is no such usual question, or two questions have one name.
    """
    questions = []
    words = texts["background"]
    for name in usual:
        need_known(name, USUAL, where=f"--background {name}", seen="there is no such question")
        choices = tuple(words.get(f"{name}-choices", "").splitlines())
        questions.append(BackgroundQuestion(name, words[name], _refusable(choices, texts)))
    if path is not None:
        questions += _from_table(path, texts)
    names = [question.name for question in questions]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(
                where=f"--background {name}", seen="is asked twice", todo="Ask it once."
            )
    return tuple(questions)


def _from_table(path: Path, texts: Words) -> Iterable[BackgroundQuestion]:
    """Questions from a table: ``name``, ``text``, and ``choices`` with bars between."""
    from cimento.suites.tables import open_table

    table = open_table(path)
    for row in table.rows:
        name, text = (row.cells.get(column, "").strip() for column in ("name", "text"))
        if not _NAME.fullmatch(name) or name in _TAKEN or not text:
            raise InputError(
                where=table.where(row),
                seen=f"the name is {name!r} and the text is {text!r}",
                todo="Fill the columns name (small letters, digits and -, and no name of a column"
                " of participants.csv) and text.",
            )
        choices = parted(row.cells.get("choices", ""))
        if len({*choices}) != len(choices):
            raise InputError(
                where=table.where(row),
                seen=f"a choice is there twice in {row.cells['choices']!r}",
                todo="Give different answers, with | between them.",
            )
        yield BackgroundQuestion(name, text, _refusable(choices, texts))


def _refusable(choices: tuple[str, ...], texts: Words) -> tuple[str, ...]:
    """The choices, and that one would rather not say; none for a line to write on."""
    no_answer = texts["pages"]["no_answer"]
    return (*choices, *(() if no_answer in choices else (no_answer,))) if choices else ()

"""Files of answers from other programs, to a survey or about a test."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from glob import escape
from pathlib import Path
from tempfile import TemporaryDirectory

from cimento.app.about_people import TOLD
from cimento.app.words import without_commands
from cimento.app.workspace import Workspace
from cimento.errors import CimentoError
from cimento.intake.forms import is_stamp, program_of
from cimento.intake.reading import ANSWERS, AnswersReading
from cimento.intake.table import Table
from cimento.intake.tables import SUFFIXES, open_table
from cimento.io.files import read_bytes, write_bytes
from cimento.judgments import ColumnMap
from cimento.judgments.asked import AskedItems
from cimento.judgments.chosen import choices_in
from cimento.judgments.forms import NEVER_SUBMITTED
from cimento.judgments.participants import times_of
from cimento.people.annotate.importing import (
    DESIGN_FORMS,
    form_of,
    open_secret,
    questions_by_name,
    read_answers,
)
from cimento.people.annotate.remarks import worded
from cimento.people.annotate.rows import Import, ImportOptions
from cimento.people.surveys import SurveyDesign
from cimento.people.surveys.asked import asked_by

Asked = Callable[..., AskedItems]
"""The questions by their names; ``stored`` says whether answers are as the design has them."""


def asked_in(design: SurveyDesign) -> Asked:
    """The questions of a survey."""
    return partial(asked_by, design)


def asked_about(suite: Path | None) -> Asked:
    """The questions about a suite; with None, every question is one of its own."""
    named = cache(lambda: questions_by_name([suite] if suite else []))  # the suite is read once

    def asked(*, stored: bool) -> AskedItems:  # noqa: ARG001  # a suite has one way of answering
        return named()

    return asked


def table_in(name: str, data: bytes) -> Table | None:
    """The table in a file of answers; None where it holds none.

    Args:
        name: name of the file.
        data: its content.
    """
    if Path(name).suffix.lower() not in SUFFIXES:
        return None
    with TemporaryDirectory(prefix="cimento-") as temporary:
        path = write_bytes(data, Path(temporary) / name)
        try:
            return open_table(path, apart=True)
        except CimentoError:
            return None


_SENTENCE_WORDS = 3
"""Words in the name of a column from which it is the sentence that its cells answer."""
_FEWEST_ASKED = 2
_ANSWERED = ("numbers", "words", "codes")


@dataclass(frozen=True, slots=True)
class AnswersFile:
    """A file of people's answers, as it was brought to another step.

    Attributes:
        name: name of the file.
        data: its content.
        program: the program that wrote it; empty if it is not known.
    """

    name: str
    data: bytes
    program: str


def answers_file(name: str, data: bytes) -> AnswersFile | None:
    """A file as one of people's answers, if a program for forms wrote it or its columns ask.

    Columns ask where their names are sentences and their cells none, or where a few sentences that
    are alike follow a question again and again.

    Args:
        name: name of the file.
        data: its content.
    """
    table = table_in(name, data)
    if table is None:
        return None
    if (program := program_of(table)) is not None:
        return AnswersFile(name, data, program.title)
    # A time that no language is known for tells as much by its heading.
    if any(map(is_stamp, table.columns)) or _asks_to_choose(table):
        return AnswersFile(name, data, "")
    kinds = {column: table.profile(column).kind for column in table.columns}
    asked = asked_columns(table)
    are_answers = all(kinds[name] in _ANSWERED for name in asked) and len(asked) >= _FEWEST_ASKED
    return (
        AnswersFile(name, data, "") if are_answers and "sentences" not in kinds.values() else None
    )


def _asks_to_choose(table: Table) -> bool:
    """Whether questions are headings, and their cells a few sentences again and again."""
    asked = [
        name
        for name in asked_columns(table)
        if "?" in name and 0 < table.profile(name).n_distinct < table.profile(name).n
    ]
    cells = {name: table.stripped(name) for name in asked}
    return bool(choices_in(cells, {name: name for name in asked}, AskedItems(()), values={}))


def asked_columns(table: Table) -> list[str]:
    """The columns whose names are sentences, which their cells may answer."""
    return [name for name in table.columns if len(name.split()) >= _SENTENCE_WORDS]


_brought: dict[str, AnswersFile] = {}
"""The files that were brought to another step, until they are taken or the program ends."""
_MOST_BROUGHT = 8


def bring(file: AnswersFile) -> str:
    """Keep a file for the step of answers, which is told the key that this gives."""
    key = secrets.token_hex(8)
    while len(_brought) >= _MOST_BROUGHT:
        del _brought[next(iter(_brought))]
    _brought[key] = file
    return key


def taken(key: str, workspace: Workspace) -> AnswersFile | None:
    """The file with a key, or the one of a name in the workspace; None where it is gone.

    Args:
        key: as `bring` gave it, or the name of a test that holds answers.
        workspace: of the page.
    """
    if key in _brought:
        return _brought[key]
    suite = {one.name: one.path for one in workspace.suites()}.get(key)
    if suite is None or not suite.is_file():
        return None
    return AnswersFile(suite.name, read_bytes(suite), "")


_NO_FIELD = ("", ANSWERS, TOLD)
"""The roles in which a column has no field of every answer."""


def read_upload(
    name: str,
    data: bytes,
    *,
    asked: Asked,
    secret: Path,
    chosen: Mapping[str, str] | None = None,
    unsubmitted: bool = False,
) -> Import | None:
    """The answers in a file of another program.

    Args:
        name: name of the program's file.
        data: its content.
        asked: the questions.
        secret: file with the key of pseudonyms; made if it is not there.
        chosen: the roles that somebody has chosen for columns, by their names; empty for a column
            that has none.
        unsubmitted: whether answers that were never submitted are read.

    Returns:
        The judgments; None if it is not clear how the answers are arranged.

    Raises:
        CimentoError: the answers do not belong to these questions, or cannot be read.
    """
    with TemporaryDirectory(prefix="cimento-") as temporary:
        path = write_bytes(data, Path(temporary) / name)
        roles = dict(chosen or {})
        # Names of columns may have brackets, which would be those of patterns.
        items = tuple(escape(column) for column, role in roles.items() if role == ANSWERS)
        table = table_in(name, data)
        columns = _chosen_columns(roles, table)
        form = "wide" if items else form_of(path, columns, asked(stored=False))
        if not form:
            return None
        key, _ = open_secret(secret)
        options = ImportOptions(
            form=form,  # type: ignore[arg-type]  # one of the forms, since it is not empty
            places=asked(stored=form in DESIGN_FORMS),
            secret=key,
            codes_stay=True,
            columns=columns,
            items=items,
            unsubmitted="keep" if unsubmitted else "skip",
        )
        came = read_answers([path], options)
    return came if table is None else with_times(came, table)


def _chosen_columns(roles: Mapping[str, str], table: Table | None) -> ColumnMap:
    """Where the fields of answers stand, as somebody has chosen.

    A column of times keeps no role: it tells people apart only where nothing else does.
    """
    times = () if table is None else times_of(table)
    return ColumnMap(
        chosen={
            role: column
            for column, role in roles.items()
            if role not in _NO_FIELD and column not in times
        },
        barred=frozenset(column for column, role in roles.items() if role in _NO_FIELD),
    )


def with_times(came: Import, table: Table) -> Import:
    """Answers with the time at which their form was sent, as its program wrote it.

    Args:
        came: the answers.
        table: with a person in each row; of a table with an answer in each row there is nothing.
    """
    roles = came.readings[0].roles if came.readings else {}
    person, program = "".join(roles.get("participant", ())[:1]), program_of(table)
    if program is None or ANSWERS not in roles or person not in table.columns:
        return came
    own = [name for name in table.columns if program.writes(name)]
    sent = [name for name in own if table.profile(name).kind == "moments"]
    if not sent:
        return came
    times: dict[str, set[str]] = {}
    # A program writes when somebody began before it writes when they were done.
    for who, when in zip(table.stripped(person), table.stripped(sent[-1]), strict=True):
        times.setdefault(came.people.get(who, ""), set()).add(when)
    once_sent = {who: next(iter(when)) for who, when in times.items() if len(when) == 1}
    return replace(
        came,
        judgments=tuple(
            one if one.at else replace(one, at=once_sent.get(one.annotator or "") or None)
            for one in came.judgments
        ),
    )


def remarks_on(came: Import) -> list[str]:
    """What there is to say of answers: those not used, notes, and what was read as what.

    Words in the place of ratings have a form of their own on the page, and rows that were never
    submitted are named by number in what was read.
    """
    skipped = [
        f"{number} skipped: {why}" for why, number in came.passed.items() if why != NEVER_SUBMITTED
    ]
    of_words = {*worded(came.judgments)}
    notes = [without_commands(note) for note in came.notes if note not in of_words]
    parts = [part for one in came.readings for part in one.parts]
    return [*skipped, *_blank(came.readings), *filter(None, notes), *parts]


def _blank(readings: Sequence[AnswersReading]) -> Iterator[str]:
    """A remark on empty cells, in tables with a person in each row."""
    for one in readings:
        cells = one.n_people * len(one.roles.get(ANSWERS, ()))
        if one.n_files == 1 and 0 < one.n_judgments < cells:
            empty = cells - one.n_judgments
            are = "is" if empty == 1 else "are"
            yield f"{empty:,} of {cells:,} cells for answers {are} empty."

"""The column of the participants in a table of answers whose name does not say it clearly.

*Persona* or *Nome* may also describe the sentence, so the rows have to bear it out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from cimento.errors import InputError
from cimento.intake.forms import is_stamp
from cimento.intake.profile import are_instants
from cimento.intake.roles import seen_in
from cimento.intake.shapes import as_option
from cimento.intake.table import Table
from cimento.intake.words import PARTICIPANTS, word_list
from cimento.judgments import SHOWN_COLUMNS, TEXT, ColumnMap, RawRow
from cimento.judgments.columns import is_address
from cimento.judgments.roles import ANSWER_ROLES

if TYPE_CHECKING:
    from cimento.judgments.forms import FormTable

ANNOTATOR = "annotator"
_PEOPLE = frozenset({*word_list("people.asked"), *word_list("people.also")})
_AROUND = " .:?*"
_NUMBERED = re.compile(r"(?P<word>[^\W\d_]+)[ _.-]?[0-9]+")


def is_named(table: Table, columns: ColumnMap) -> bool:
    """Whether a column or an option says whose answers the rows of a table are."""
    stated = columns.fixed.get(ANNOTATOR) or columns.columns.get(ANNOTATOR)
    return bool(stated or not table.numbers)


def of_long(table: Table, columns: ColumnMap) -> str:
    """The column of the participants where each row is one answer; empty if it is not clear.

    It has none twice beside a sentence. It has different values beside some sentence, or else codes
    or numbers that are there several times: each sentence was given to one person.
    """
    for name in _of_people(table, filter(called_so, table.columns)):
        asked: dict[tuple[str, ...], list[str]] = {}
        for row in table.rows:
            raw = RawRow("", row.cells)
            key = tuple(columns.cell(raw, field) for field in (TEXT, "item", "condition"))
            asked.setdefault(key, []).append(row.cells.get(name, "").strip())
        said = all(key[0] or (key[1] and key[2]) for key in asked)
        once = all(all(people) and len({*people}) == len(people) for people in asked.values())
        found = table.profile(name)
        repeats = found.kind in ("codes", "numbers") and found.n_distinct < found.n
        if said and once and (repeats or any(len(people) > 1 for people in asked.values())):
            return name
    return ""


def of_wide(table: Table, form: FormTable, *, keep_names: bool) -> str:
    """The column of the participants where each row is one person; empty if there is none.

    It has another value in each row. A form without names has the number or the time of each
    submission, whatever the column of the times is called.

    Args:
        table: of answers.
        form: the table as its program wrote it.
        keep_names: whether names are stored as they are: addresses then are none.
    """
    both = [name for name in table.columns if called_so(name) or called_so(form.heading(name))]
    called = _of_people(table, both)
    for name in filter(None, (*called, form.numbered, *times_of(table))):
        cells = table.stripped(name)
        private = keep_names and any(map(is_address, cells))
        if all(cells) and len({*cells}) == len(cells) and not private:
            return name
    return ""


def times_of(table: Table) -> list[str]:
    """The columns with the times of submissions, those first that are called so."""
    called = [*filter(is_stamp, table.columns)]
    return called + [
        name for name in table.columns if name not in called and are_instants(table.cells[name])
    ]


def by_number(name: str) -> str:
    """What is said of a column that numbers the submissions."""
    return f"No column names the participants: each submission is one, by {name!r}."


def called_so(name: str) -> bool:
    """Whether a column is called as one of participants may be."""
    return name.casefold().strip(_AROUND) in _PEOPLE


def _of_people(table: Table, columns: Iterable[str]) -> list[str]:
    """Of some columns those that may hold names or numbers of people: no times, no means."""
    test = ANSWER_ROLES["participant"].fits
    return [name for name in columns if test(table.profile(name))]


def remark(name: str, *, is_time: bool = False) -> str:
    """What is said of a column that was found.

    Args:
        name: of the column.
        is_time: whether it has the times of submissions.
    """
    if is_time:
        return f"No column names the participants: each row is one, by {name!r}."
    return f"Using {name!r} as the participant column."


def addresses_kept_out(form: FormTable, name: str) -> Iterator[str]:
    """What is said where names are kept, and a column of addresses is therefore not taken.

    Args:
        form: the table as its program wrote it.
        name: the column that was taken instead.
    """
    if name not in (*times_of(form.table), form.numbered):
        return
    for other in form.table.columns:
        called = called_so(other) or called_so(form.heading(other))
        if called and any(map(is_address, form.table.stripped(other))):
            yield (
                f"Addresses are not stored, so {other!r} is not used. If it tells people apart,"
                " give --secret FILE instead of --names keep: pseudonyms then replace the"
                " addresses."
            )
            return


def nobody(table: Table, others: Sequence[str], *, advice: str = "") -> InputError:
    """The error of a table that does not say whose answers its rows are.

    Args:
        table: of answers.
        others: its columns that may be that of the participants.
        advice: what to do, if its rows say what else it may be.
    """
    for name in table.columns:
        if name.casefold() in (ANNOTATOR, *PARTICIPANTS) and not _of_people(table, [name]):
            seen = seen_in(table, name, "participant", ANSWER_ROLES).rstrip(".")
            todo = f"If you mean it nevertheless, give {as_option({'participant': f'{name}!'})}."
            return InputError(where=table.name, seen=seen, todo=todo)
    if advice:
        seen = "it is not said whose answers a row has"
        return InputError(where=table.name, seen=seen, todo=advice)
    if not others:
        seen = "it is not said whose answers a row has, and all columns have answers"
        todo = "If each row is one person, add a column participant, with a number in each row."
        return InputError(where=table.name, seen=seen, todo=todo)
    shown = ", ".join(map(repr, others[:SHOWN_COLUMNS]))
    return InputError(
        where=table.name,
        seen="it is not said whose answers a row has",
        todo="Call the column of the people participant (in a terminal, --columns"
        f" participant=COLUMN names it). Columns that are not items: {shown}.",
    )


def rows_advised(table: Table) -> str:
    """Advice on a table whose rows are not people: single answers, or questions; empty for others.

    Those have several rows for each person, or a column for each, as *annotator_1*.
    """
    return _several(table) or _columns_of_people(table)


def _several(table: Table) -> str:
    for name in _of_people(table, filter(called_so, table.columns)):
        if table.profile(name).n_distinct < len(table.numbers):
            options = {"participant": name, "answer": "COLUMN", "item": "COLUMN"}
            return (
                f"If each row is one answer, by the person in {name!r}, say which columns have the"
                f" answers and the items: {as_option(options)}."
            )
    return ""


def _columns_of_people(table: Table) -> str:
    people = [name for name in table.columns if (match := _NUMBERED.fullmatch(name.casefold()))
              and match["word"] in (ANNOTATOR, *PARTICIPANTS)]  # fmt: skip
    if len(people) <= 1:
        return ""
    first, *_, last = people
    return (
        f"The columns {first!r} to {last!r} seem to be people, with a row for each question. Write"
        " a row for each answer, with the columns item, participant and answer; of two sentences,"
        " the answer is the one that was chosen."
    )

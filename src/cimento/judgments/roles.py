"""Roles of columns in tables of people's answers: which field of a judgment each gives.

As everywhere, the name of a column proposes a role and its cells decide (`cimento.intake.roles`):
dates, durations and objects are nobody's answer and nobody's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from cimento.errors import InputError, UsageError, did_you_mean, need_known
from cimento.intake.chosen import with_chosen
from cimento.intake.forms import Program
from cimento.intake.profile import Profile
from cimento.intake.reading import AnswersReading
from cimento.intake.roles import ROLES, Role, parse_choice, refuse_unknown, seen_in
from cimento.intake.shapes import as_option
from cimento.intake.table import Table
from cimento.intake.words import EXPORTED, HEADERS, NAMES, PARTICIPANTS, marked_of
from cimento.io.parsing import read_toml
from cimento.judgments import KNOWN, MILLISECONDS, TEXT, ColumnMap, RawRow, usual_map

_FEWEST_IDS = 8
"""Number of rows from which numbers in steps of one are ids, and can be no answers."""
_FIELDS = {"participant": "annotator", "sentence": TEXT, "answer": "value", "rating": "value"}
"""The fields of judgments that have another name than their role."""
_BARRED = frozenset({"annotator", "value", "item", "condition", TEXT})
"""The fields for which a column may be barred; what a program measures stays what it is."""
_ROLES = {field: role for role, field in reversed(_FIELDS.items())}


def _is_answer(column: Profile) -> bool:
    """Whether cells may be answers: no dates and times, no objects, no ids."""
    is_id = column.numbers_rows and column.n >= _FEWEST_IDS
    is_code = column.kind == "codes" and not column.values
    return column.kind not in ("moments", "objects") and not (is_id or is_code)


def _is_text(column: Profile) -> bool:
    return column.kind not in ("moments", "objects", "numbers")


def _is_time(column: Profile) -> bool:
    return column.kind in ("numbers", "nothing", "words")


def _is_any(column: Profile) -> bool:
    return column.kind != "objects"


ANSWER_ROLES: Mapping[str, Role] = {
    "participant": ROLES["participant"],
    "answer": Role("answers", _is_answer),
    "rating": ROLES["rating"],
    "item": ROLES["item"],
    "condition": Role("names of conditions", lambda column: column.kind != "moments"),
    "sentence": Role("texts", _is_text),
    "question": Role("names of questions", _is_text),
    "candidate": Role("words or sentences", _is_text),
    "expected": Role("correct answers", _is_answer),
    "right": Role("1 and 0", lambda column: {*column.two} == {"0", "1"}),
    "survey": Role("names of lists", _is_any),
    "position": Role("places in a list", _is_time),
    "answer_place": Role("places of answers", _is_time),
    "seconds": Role("numbers of seconds", _is_time),
    MILLISECONDS: Role("numbers of milliseconds", _is_time),
    "session_seconds": Role("numbers of seconds", _is_time),
    "remark": Role("remarks", _is_any),
    "at": Role("times", _is_any),
    "status": Role("names of states", _is_text),
    "scale": Role("scales", _is_text),
    "suite": Role("names of suites", _is_text),
}
"""The roles in tables of answers, and what their columns hold. A word in a column of times has a
message of its own, with its row."""


def field_of(role: str) -> str:
    """The field of a judgment that a role gives."""
    return _FIELDS.get(role, role)


def role_of(field: str) -> str:
    """The role that gives a field of a judgment."""
    return _ROLES.get(field, field)


def _spelled(*names: str) -> tuple[str, ...]:
    """Names of a column in small letters, with a capital, and in capitals."""
    return tuple(dict.fromkeys(f(name) for name in names for f in (str, str.capitalize, str.upper)))


# A subject, a person or a name may also be those of the sentence.
_IN_TABLES: Mapping[str, tuple[str, ...]] = {
    "annotator": (*_spelled("participant_id", "participant id", *PARTICIPANTS), "PROLIFIC_PID"),
    "value": _spelled(*NAMES["answer"], "score"),
    "item": _spelled(
        *("item", "ítem", "elemento", "item_id", "item id", "itemid", "sentence number"),
        *("sentence no.", "sentence nr.", "numero frase", "numero della frase", "n. frase"),
        *("número de oración", "número de la oración", "número da frase", "nº da frase"),
        "номер предложения",
    ),
    "condition": _spelled("condition", *HEADERS["condition"]),
    TEXT: _spelled("sentence", "stimulus", "text", *HEADERS["text"]),
    MILLISECONDS: ("rt",),
    "survey": ("list",),
}
_USUAL = usual_map(
    **{
        field: tuple(
            dict.fromkeys(
                [*marked_of(field), *_IN_TABLES.get(field, ()), *EXPORTED.get(field, {}).values()]
            )
        )
        for field in KNOWN
    }
)


def usual_columns(program: Program | None, *, alone: bool = False) -> ColumnMap:
    """The columns in which fields usually stand: those of a program, then those of people's tables.

    Args:
        program: that wrote the table; None where it is not known.
        alone: whether its own columns are the only ones.
    """
    usual = usual_map() if alone else _USUAL
    if program is None:
        return usual
    own = {field_of(role): tuple(names) for role, names in program.roles.items()}
    # What the author of an experiment has called so counts before what the program writes.
    return ColumnMap(
        columns={
            name: tuple(dict.fromkeys([name, *own.get(name, ()), *usual.columns[name]]))
            for name in KNOWN
        }
    )


def map_of_options(columns: str | Mapping[str, str], fixed: Iterable[str] = ()) -> ColumnMap:
    """A map as options give it.

    Args:
        columns: the columns of roles: ``participant=Code,answer=Voto``, or a mapping.
        fixed: values that all answers have, such as ``question=acceptability``.

    Raises:
        UsageError: there is no such role, or nothing behind the sign.
    """
    chosen = parse_choice(columns, ANSWER_ROLES) if isinstance(columns, str) else dict(columns)
    refuse_unknown(chosen, ANSWER_ROLES)
    stated = dict[str, str]()
    for entry in fixed:
        role, _, text = (part.strip() for part in entry.partition("="))
        if not (role and text):
            raise UsageError(
                where="--fixed",
                seen=f"got {entry!r}",
                todo="Write --fixed question=acceptability, say.",
            )
        need_known(role, ANSWER_ROLES, where="--fixed", seen=f"there is no role {role!r}")
        stated[field_of(role)] = text
    return ColumnMap(chosen=chosen, fixed=stated)


def read_map(path: Path) -> ColumnMap:
    """A map in a TOML file, with the tables ``[columns]``, ``[fixed]`` and ``[values]``.

    Raises:
        InputError: it cannot be read, or has other tables, roles or values.
    """
    content = read_toml(path)
    tables = ("columns", "fixed", "values")
    for name in content:
        need_known(name, tables, where=str(path), seen=f"there is a key {name!r}", error=InputError)
    chosen, fixed, values = (_texts(content.get(name, {}), f"{path} [{name}]") for name in tables)
    for role in (*chosen, *fixed):
        seen = f"there is no role {role!r}"
        need_known(role, ANSWER_ROLES, where=str(path), seen=seen, error=InputError)
    stated = {field_of(role): text for role, text in fixed.items()}
    return ColumnMap(chosen=chosen, fixed=stated, values=values)


def _texts(table: object, where: str) -> dict[str, str]:
    if not isinstance(table, dict) or not all(isinstance(cell, str) for cell in table.values()):
        raise InputError(where=where, seen="is not a table of texts", todo='Write name = "text".')
    return {str(name): str(text) for name, text in table.items()}


def with_roles(
    table: Table, columns: ColumnMap, *, untested: Sequence[str] = ()
) -> tuple[Table, ColumnMap]:
    """A table whose chosen columns are called by their roles, and where its fields stand.

    These are columns of the table whose cells fit, whatever others are called.

    Args:
        table: of answers.
        columns: where fields may stand, and which columns somebody has chosen.
        untested: fields whose cells are looked at one by one.

    Raises:
        UsageError: a chosen column is not there, or holds something else than its role needs.
    """
    chosen = {
        role: given
        for role, given in columns.chosen.items()
        if given.removesuffix("!") in table.cells or given in table.cells
    }
    lacking = [given for role, given in columns.chosen.items() if role not in chosen]
    if lacking:
        raise UsageError(
            where=f"{table.name}, --columns",
            seen=f"there is no column {lacking[0].removesuffix('!')!r};"
            f" there are {', '.join(table.columns)}",
            todo=did_you_mean(lacking[0], table.columns, listed=()) or "Name one of these.",
        )
    renamed, _, misfits = with_chosen(table, chosen, ANSWER_ROLES) if chosen else (table, [], {})
    for role, seen in misfits.items():
        todo = f"If you mean it nevertheless, give {role}={chosen[role]}!, with the mark."
        raise UsageError(where=f"{table.name}, --columns", seen=seen.rstrip("."), todo=todo)
    fields = {
        field: _fitting(
            renamed,
            field,
            [
                name
                for name in _with_scaled(renamed, field, names)
                if field not in _BARRED or name not in columns.barred
            ],
            tested=field not in untested,
        )
        for field, names in columns.columns.items()
    }
    return renamed, replace(columns, columns={**fields, **{field_of(r): (r,) for r in chosen}})


_SCALE_BEHIND = re.compile(r"\s*[(\[][^()\[\]]*\d[^()\[\]]*[)\]]\s*$")
"""A scale in brackets behind a heading, as in *Nota (1-7)*."""


def _with_scaled(table: Table, field: str, names: Sequence[str]) -> Sequence[str]:
    """The names of a field; of answers, also those that the table has with a scale behind them."""
    if field != "value":
        return names
    known = {*names}
    return [*names, *(one for one in table.columns if _SCALE_BEHIND.sub("", one.strip()) in known)]


def _fitting(table: Table, field: str, names: Sequence[str], *, tested: bool) -> tuple[str, ...]:
    """Of the columns in which a field may stand, those that are there and whose cells fit."""
    test = ANSWER_ROLES[role_of(field)].fits
    return tuple(
        name
        for name in dict.fromkeys(names)
        if name in table.cells
        and name not in table.chosen
        and (not tested or test(table.profile(name)))
    )


def unanswered(table: Table, names: Sequence[str]) -> InputError:
    """The error of a table without answers.

    Args:
        table: the table.
        names: what a column of answers may be called.
    """
    for name in filter(table.cells.__contains__, names):
        seen = seen_in(table, name, "answer", ANSWER_ROLES).rstrip(".")
        todo = f"If you mean it nevertheless, give {as_option({'answer': f'{name}!'})}."
        return InputError(where=table.name, seen=seen, todo=todo)
    seen = f"no column is known as that of the answers; there are {', '.join(table.columns)}"
    return InputError(where=table.name, seen=seen, todo="Name it: --columns=answer=COLUMN.")


def one_each(table: Table, columns: ColumnMap) -> ColumnMap:
    """Where fields stand, each in the first of the columns that it may be in.

    Raises:
        UsageError: several columns may have the answers, and they differ.
    """
    answers = columns.columns.get("value", ())
    if len({tuple(table.stripped(name)) for name in answers}) > 1:
        options = " or ".join(as_option({"answer": table.shown(name)}) for name in answers)
        raise UsageError(
            where=table.name,
            seen=f"{' and '.join(repr(table.shown(name)) for name in answers)} may both be the"
            " answers",
            todo=f"Say which: {options}.",
        )
    return replace(columns, columns={field: names[:1] for field, names in columns.columns.items()})


def table_of(rows: Sequence[RawRow], numbers: Sequence[int], *, name: str, **more: str) -> Table:
    """The table of rows.

    Args:
        rows: with columns that some of them may lack.
        numbers: of the rows in their file.
        name: name of the file.
        more: further columns, in which all cells are the same; those of the file count before them.
    """
    names = dict.fromkeys(column for row in rows for column in row.cells)
    cells = {column: [row.cells.get(column, "") for row in rows] for column in names}
    cells = {column: [text] * len(rows) for column, text in more.items()} | cells
    return Table(name, tuple(cells), numbers, cells)


def with_file(table: Table, columns: ColumnMap, stand_in: str) -> tuple[Table, ColumnMap]:
    """A table and where its fields stand, with the name of a file for people without another.

    Args:
        table: of answers.
        columns: where the fields stand.
        stand_in: the column with the name of the file.
    """
    if "participant" in columns.chosen or columns.fixed.get("annotator"):
        return table, columns
    people = (*columns.columns.get("annotator", ()), stand_in)
    return table, replace(columns, columns={**columns.columns, "annotator": people})


def rows_of(table: Table) -> list[RawRow]:
    """The rows of a table as answers."""
    return [RawRow(table.where(row), row.cells) for row in table.rows]


def resolved(rows: Iterable[RawRow], columns: ColumnMap, *also: str) -> list[RawRow]:
    """Rows whose cells are fields of judgments.

    Args:
        rows: with the columns of a file.
        columns: where the fields stand.
        also: further columns that are kept.
    """
    fields = [name for name in KNOWN if columns.columns.get(name) or name in columns.fixed]
    return [
        replace(
            row,
            cells={
                **{name: row.cells[name] for name in also if name in row.cells},
                **{name: text for name in fields if (text := columns.cell(row, name))},
            },
        )
        for row in rows
    ]


def answers_reading(
    table: Table,
    columns: ColumnMap,
    *,
    program: str = "",
    own: Sequence[str] = (),
    roles: Mapping[str, Sequence[str]] | None = None,
    unused: Mapping[str, str] | None = None,
    written: Sequence[str] = (),
    matched: Mapping[str, str] | None = None,
) -> AnswersReading:
    """The reading of a table of answers, in which every column is accounted for.

    Args:
        table: the table.
        columns: where fields stand.
        program: that wrote it.
        own: columns that are not of the file.
        roles: columns of further roles.
        unused: what columns hold that are not used.
        written: columns that the program writes itself.
        matched: the item of each column of answers that a suite knows.
    """
    fields = {
        role_of(field): tuple(name for name in names if name in table.cells and name not in own)
        for field, names in columns.columns.items()
    }
    named = {role: names for role in ANSWER_ROLES if (names := fields.get(role))}
    named |= {role: tuple(names) for role, names in (roles or {}).items() if names}
    used = {*own}.union(*named.values())
    rest = [name for name in table.columns if name not in used]
    return AnswersReading(
        program=program,
        roles={role: tuple(map(table.shown, names)) for role, names in named.items()},
        unused={
            table.shown(name): (unused or {}).get(name, "") for name in rest if name not in written
        },
        written=tuple(table.shown(name) for name in rest if name in written),
        left_out=table.left_out,
        forced=tuple(map(table.shown, sorted(table.forced))),
        matched={table.shown(name): item for name, item in (matched or {}).items()},
    )

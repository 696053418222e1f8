"""Everything that the study's command prints, by number or by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from cimento.errors import UsageError, did_you_mean
from cimento.studies.portuguese.auto import automatic_evaluation
from cimento.studies.portuguese.claims import claims
from cimento.studies.portuguese.data import State, StudyData
from cimento.studies.portuguese.details import (
    by_person,
    by_tense,
    clusters,
    confidence,
    per_template,
    profiles,
)
from cimento.studies.portuguese.grammar import TABLES, Json, grammar_table
from cimento.studies.portuguese.multiword import (
    hits_at_k,
    hits_per_expression,
    mcnemar_tests,
    table_1,
    table_2,
    table_3,
)
from cimento.suites.model import JsonValue

_MULTIWORD: Mapping[int, Callable[[StudyData], Json]] = {
    1: table_1,
    2: table_2,
    3: table_3,
}

NUMBERS = (*_MULTIWORD, *TABLES)
"""The numbers of the paper's tables of results."""

PARTS: Mapping[str, Callable[[StudyData], JsonValue]] = {
    "mcnemar": mcnemar_tests,
    "claims": claims,
    "profiles": profiles,
    "auto": automatic_evaluation,
    "confidence": confidence,
    "per-template": per_template,
    "hits": hits_at_k,
    "per-mwe": hits_per_expression,
    "person": by_person,
    "tense": by_tense,
    "clusters": clusters,
}
"""What else can be asked for, by name."""


_OF_THE_SHEET: Mapping[str, frozenset[int | str]] = {
    "table": frozenset({4, 9, 11, 13}),
    "what": frozenset({"confidence", "per-template"}),
}
"""What can be computed from the released sheet alone."""

_OF_RECORDED_CANDIDATES = frozenset({"mcnemar", "hits", "per-mwe"})


def numbers_of(data: StudyData) -> tuple[int, ...]:
    """The numbers of the tables that can be computed from some data."""
    known = _OF_THE_SHEET["table"] if data.sheet_only else NUMBERS
    return tuple(number for number in NUMBERS if number in known)


def _refuse_missing(data: StudyData, option: str, asked: int | str) -> None:
    if data.sheet_only and asked not in _OF_THE_SHEET[option]:
        known = ", ".join(map(str, sorted(_OF_THE_SHEET[option], key=str)))
        raise UsageError(
            where=f"--{option} {asked}",
            seen="the sheet of judgments alone does not have what it needs",
            todo=f"Give a folder with all files, see docs/cloze.md; the sheet has {known}.",
        )


def of_judgments(number: int | None, name: str | None) -> bool:
    """Whether a table, or what else is asked for, is made from people's judgments."""
    return number not in _MULTIWORD and name not in _OF_RECORDED_CANDIDATES


def table(data: StudyData, number: int, states: Sequence[State] | None = None) -> Json:
    """One of the paper's tables, computed beside printed.

    Args:
        data: the released files.
        number: of the table.
        states: of the judgments, all that there are by default; Tables 1 to 3 are about recorded
            candidates and have one.

    Raises:
        UsageError: there is no such table, or the data do not have what it needs.
    """
    if number in NUMBERS:
        _refuse_missing(data, "table", number)
    if number in _MULTIWORD:
        return _MULTIWORD[number](data)
    if number not in TABLES:
        raise UsageError(
            where="--table",
            seen=f"there is no table {number}",
            todo=f"The tables are {NUMBERS[0]} to {NUMBERS[-1]}.",
        )
    return grammar_table(data, number, data.states if states is None else states)


def part(data: StudyData, name: str) -> JsonValue:
    """Something behind the tables, by its name in `PARTS`.

    Raises:
        UsageError: there is no such thing, or the data do not have what it needs.
    """
    if name not in PARTS:
        raise UsageError(
            where="--what", seen=f"there is no {name!r}", todo=did_you_mean(name, PARTS)
        )
    _refuse_missing(data, "what", name)
    return PARTS[name](data)

"""Everything that the study's command prints, by number or by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from cimento.errors import UsageError, did_you_mean
from cimento.studies.portuguese import auto, claims, details, grammar, multiword
from cimento.studies.portuguese.data import STATES, State, StudyData
from cimento.suites.model import JsonValue

_MULTIWORD: Mapping[int, Callable[[StudyData], grammar.Json]] = {
    1: multiword.table_1,
    2: multiword.table_2,
    3: multiword.table_3,
}

NUMBERS = (*_MULTIWORD, *grammar.TABLES)
"""The numbers of the paper's tables of results."""

PARTS: Mapping[str, Callable[[StudyData], JsonValue]] = {
    "mcnemar": multiword.mcnemar_tests,
    "claims": claims.claims,
    "profiles": details.profiles,
    "auto": auto.automatic_evaluation,
    "confidence": details.confidence,
    "per-template": details.per_template,
    "hits": multiword.hits_at_k,
    "per-mwe": multiword.hits_per_expression,
    "person": details.by_person,
    "tense": details.by_tense,
    "clusters": details.clusters,
}
"""What else can be asked for, by name."""


_OF_RECORDED_CANDIDATES = frozenset({"mcnemar", "hits", "per-mwe"})


def of_judgments(number: int | None, name: str | None) -> bool:
    """Whether a table, or what else is asked for, is made from people's judgments."""
    return number not in _MULTIWORD and name not in _OF_RECORDED_CANDIDATES


def table(data: StudyData, number: int, states: Sequence[State] = STATES) -> grammar.Json:
    """One of the paper's tables, computed beside printed.

    Args:
        data: the released files.
        number: of the table.
        states: of the judgments; Tables 1 to 3 are about recorded candidates and have one.

    Raises:
        UsageError: there is no such table.
    """
    if number in _MULTIWORD:
        return _MULTIWORD[number](data)
    if number not in grammar.TABLES:
        raise UsageError(
            where="--table",
            seen=f"there is no table {number}",
            todo=f"The tables are {NUMBERS[0]} to {NUMBERS[-1]}.",
        )
    return grammar.grammar_table(data, number, states)


def part(data: StudyData, name: str) -> JsonValue:
    """Something behind the tables, by its name in `PARTS`.

    Raises:
        UsageError: there is no such thing.
    """
    if name not in PARTS:
        raise UsageError(
            where="--what", seen=f"there is no {name!r}", todo=did_you_mean(name, PARTS)
        )
    return PARTS[name](data)

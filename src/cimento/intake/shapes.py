"""Shapes: what a table can be, by the roles that its columns must and may have.

One reading fits: it is taken. Two fit: the table is refused with both, each with the option that
chooses it. None fits: the shape that is nearest says what it lacks.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cimento.intake.known import Known, forms_of
from cimento.intake.roles import find
from cimento.intake.table import Table
from cimento.intake.words import SIDES


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What a table can be.

    Attributes:
        name: what it is called: ``Read as pairs``.
        needs: roles that must have a column.
        may: roles that may have one.
        never: roles that make it another shape if they have one.
    """

    name: str
    needs: tuple[str, ...]
    may: tuple[str, ...] = ()
    never: tuple[str, ...] = ()


PAIRS = Shape(name="pairs", needs=("good", "bad"), may=("item", "phenomenon", "cluster", "level"))
BEGUN = Shape(
    name="pairs with a beginning",
    needs=("prefix", "good", "bad"),
    may=("suffix", "item", "phenomenon"),
)
KEYED = Shape(name="pairs with a key", needs=("sentence A", "sentence B", "key"), may=PAIRS.may)
IN_ROWS = Shape(
    name="pairs in two rows",
    needs=("sentence", "label"),
    may=("item", "phenomenon", "prefix", "target"),
)
LABELED = Shape(
    name="labeled sentences",
    needs=("sentence", "label"),
    may=("item", "phenomenon"),
    never=("good", "bad", "condition"),
)
RATINGS = Shape(
    name="ratings",
    needs=("sentence", "rating"),
    may=("item", "condition", "factors", "phenomenon", "rating_sd", "rating_n"),
    never=("good", "bad"),
)
BY_PEOPLE = Shape(
    name="ratings with a column for each person",
    needs=("sentence", "people"),
    may=("item", "condition", "factors", "phenomenon", "mean"),
    never=("good", "bad"),
)
ANSWERS = Shape(
    name="ratings with a row for each answer",
    needs=("sentence", "participant", "rating"),
    may=("item", "condition", "factors", "phenomenon"),
    never=("good", "bad"),
)
CONDITIONS = Shape(
    name="conditions in rows",
    needs=("item", "condition", "sentence"),
    may=("group", "factors", "phenomenon", "rating"),
)
CELLS = Shape(
    name="conditions in columns", needs=("conditions",), may=("item", "phenomenon", "group")
)
REGIONS = Shape(
    name="regions in columns",
    needs=("item", "condition", "regions"),
    may=("group", "factors", "phenomenon"),
)
REGION_ROWS = Shape(
    name="regions in rows",
    needs=("item", "condition", "region", "content"),
    may=("region name", "phenomenon", "language"),
)
CROSSED = Shape(
    name="contexts crossed with targets",
    needs=("contexts", "targets"),
    may=("item", "phenomenon"),
)
OPTIONS = Shape(name="context and options", needs=("context", "options"), may=("item",))
FORMS = Shape(
    name="two forms and the proportion of people", needs=("sentences", "ratio"), may=("item",)
)
BLANKS = Shape(
    name="sentences with blanks",
    needs=("text", "target"),
    may=(
        "plausible",
        "implausible",
        "none",
        "item",
        "expression",
        "expected",
        "seeds",
        "phenomenon",
    ),
)
MEASURED = Shape(
    name="words with measures",
    needs=("text", "position", "word"),
    may=("rt", "participant"),
)
CHOICE = Shape(
    name="choice with a key",
    needs=("options", "key"),
    may=("context", "item", "phenomenon"),
)
EXPECTED = Shape(
    name="context and targets",
    needs=("context", "expected", "others"),
    may=("item", "phenomenon"),
)
TWO_CONTEXTS = Shape(
    name="one target after two contexts", needs=("item", "context", "target", "cloze")
)
WORD_ROWS = Shape(
    name="words in rows",
    needs=("item", "condition", "region", "word"),
    may=("position", "language"),
)


@dataclass(frozen=True, slots=True)
class Pair:
    """The columns of a pair in each row.

    Attributes:
        good: column of the grammatical sentence.
        bad: column of the ungrammatical sentence.
        form: the published form of the table; None for a table of one's own.
    """

    good: str
    bad: str
    form: Known | None = None

    @property
    def choice(self) -> str:
        """The option that chooses these columns."""
        return as_option({"good": self.good, "bad": self.bad})


def pairs_in(table: Table) -> list[Pair]:
    """The pairs of columns that may be the good and the bad sentences of each row.

    Columns whose roles somebody has chosen are the only ones; words for good and bad count before
    the names of published sets if both name the same columns.
    """
    pairs: dict[tuple[str, str], Pair] = {}
    good, bad = find(table, "good"), find(table, "bad")
    if good and bad:
        pairs[good, bad] = Pair(good, bad)
        if {"good", "bad"} <= table.chosen:
            return [pairs[good, bad]]
    for form in forms_of(table, PAIRS.name, needs=PAIRS.needs):
        columns = form.column(table, "good") or "", form.column(table, "bad") or ""
        pairs.setdefault(columns, Pair(*columns, form))
    if not pairs and table.cells:  # such as grammatical beside agramm.
        good, bad = (find(table, side, side, *SIDES[side]) for side in PAIRS.needs)
        return [Pair(good, bad)] if good and bad and good != bad else []
    return list(pairs.values())


def as_option(roles: Mapping[str, str]) -> str:
    """The option that chooses columns: ``--columns=good=A,bad=B``."""
    listed = ",".join(map("=".join, roles.items()))
    quoted = shlex.quote(listed) if "'" in listed else f"'{listed}'"
    return f"--columns={quoted}"


def both_fit(readings: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """What is seen and what to do where two readings fit.

    Args:
        readings: each in words, and the option that chooses it.
    """
    seen = " or as ".join(words for words, _ in readings)
    options = " or ".join(option for _, option in readings)
    return f"It can be read as {seen}.", f"Say which: {options}."


SHAPES = (PAIRS, BEGUN, LABELED, RATINGS, ANSWERS)
"""The shapes of which every role has one column, those of fewer roles first."""


def nearest(table: Table) -> tuple[Shape, list[str]] | None:
    """The shape that a table of no known shape is nearest to, and the roles that it lacks.

    None where no shape has a column of any role that it needs.
    """
    lacking: list[tuple[Shape, list[str]]] = []
    for shape in SHAPES:
        lacks = [role for role in shape.needs if not _has(table, role)]
        if 0 < len(lacks) < len(shape.needs) and not any(_has(table, role) for role in shape.never):
            lacking.append((shape, lacks))
    return min(lacking, key=lambda entry: len(entry[1]), default=None)


def _has(table: Table, role: str) -> bool:
    """Whether a table has a column of a role, and sentences where these are due."""
    column = find(table, role)
    is_text = role in ("good", "bad", "sentence")
    return column is not None and (not is_text or table.profile(column).kind == "sentences")


def nearest_advised(table: Table) -> str:
    """What the nearest shape of a table lacks, with the option that chooses it; may be empty."""
    if (close := nearest(table)) is None:
        return ""
    shape, lacks = close
    option = as_option(dict.fromkeys(lacks, "COLUMN"))
    return (
        f"It is nearest to {shape.name} and lacks {' and '.join(lacks)}: {option} says which column"
        " that is."
    )

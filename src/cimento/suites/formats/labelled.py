"""Tables with one sentence a row and a label for whether it is grammatical.

BLiMP-NL (Suijkerbuijk et al. 2025, doi:10.1162/coli_a_00559) has two rows for a pair. So do the
tables of Gulordava et al. 2018 (doi:10.18653/v1/N18-1108, "colorless green"), which also have the
words before the target form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cimento.errors import Fault
from cimento.io.files import read_bytes
from cimento.suites.model import (
    BAD,
    GOOD,
    PAIR_PREDICTION,
    Condition,
    Item,
    Meta,
    Prediction,
    Region,
    Suite,
)
from cimento.suites.reading import Reading, fault, sha256_of, strip_blanks, unusable
from cimento.suites.tables import Row, Table, read_table

PHENOMENON = "phenomenon"
LABELS = {
    **dict.fromkeys(("correct", "grammatical", "good", "true", "1", "1.0"), GOOD),
    **dict.fromkeys(("wrong", "ungrammatical", "bad", "false", "0", "0.0"), BAD),
}
FORM_PREDICTION = Prediction(
    "(2;%good%) < (2;%bad%)", comment="The form that agrees is less surprising than the other."
)
_EOS = "<eos>"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledDialect:
    """A dialect: the columns of a table of labelled sentences.

    Attributes:
        sentence: column of the sentence.
        label: column of the label.
        key: columns with the same values in both rows of a pair.
        phenomenon: column that names the phenomenon.
        prefix: column of the words before the target form; empty where there is none.
        form: column of the target form.
        language: language of all such tables.
    """

    sentence: str
    label: str
    key: tuple[str, ...]
    phenomenon: str
    prefix: str = ""
    form: str = ""
    language: str = ""

    def fits(self, table: Table) -> bool:
        """Whether a table has these columns."""
        needed = (self.sentence, self.label, *self.key, self.prefix, self.form)
        return all(table.find(name) for name in needed if name)


DIALECTS = (
    LabelledDialect(
        sentence="sent",
        label="class",
        key=("pattern", "constr_id", "sent_id"),
        phenomenon="pattern",
        prefix="prefix",
        form="form",
    ),
    LabelledDialect(
        sentence="sentence",
        label="grammaticality",
        key=("number (paradigm)", "item"),
        phenomenon="paradigm",
        language="nl",
    ),
)


def is_labelled_table(table: Table) -> bool:
    """Whether a table has a sentence and its label in each row."""
    return any(dialect.fits(table) for dialect in DIALECTS)


def read_labelled(path: Path) -> Reading:
    """Read a table of labelled sentences; the file's name becomes the suite's.

    If the table gives the target form, the regions are the words before it, the form and the rest,
    and the prediction is about the form; ``<eos>`` at the end is left out.

    Raises:
        InputError: the file may not be read.
        SuiteError: the file is not such a table, or a label is unknown.
    """
    data = read_bytes(path)
    table, faults = read_table(data, path)
    if table is None:
        raise unusable(path, faults)
    dialect = next((each for each in DIALECTS if each.fits(table)), None)
    if dialect is None:
        seen = f"The columns are those of no known table: {', '.join(table.columns)}."
        raise unusable(path, [*faults, fault("CIM-S004", where=path.name, seen=seen)])
    pairs = _pairs(table, dialect, faults)
    if any(each.severity == "error" for each in faults):
        raise unusable(path, faults)
    suite = Suite(
        meta=Meta(name=path.stem, language=dialect.language),
        region_names=("prefix", "form", "rest") if dialect.form else ("sentence",),
        predictions=(FORM_PREDICTION if dialect.form else PAIR_PREDICTION,),
        items=tuple(Item(key, tuple(c for _, c in rows)) for key, rows in pairs.items()),
    )
    places = tuple(table.where(row) for rows in pairs.values() for row, _ in rows)
    return Reading(suite, sha256_of(data), places, tuple(faults))


def _pairs(
    table: Table, dialect: LabelledDialect, faults: list[Fault]
) -> dict[str, list[tuple[Row, Condition]]]:
    """The rows of each pair, by its id."""
    names = [table.find(name) or "" for name in dialect.key]
    pairs: dict[str, list[tuple[Row, Condition]]] = {}
    for row in table.rows:
        where = table.where(row)
        cells = {
            column: strip_blanks(cell, what=column, where=where, faults=faults)
            for column, cell in row.cells.items()
        }
        label = LABELS.get(cells[table.find(dialect.label) or ""].casefold())
        if label is None:
            shown = cells[table.find(dialect.label) or ""]
            known = f"Known labels: {', '.join(LABELS)}."
            seen = f"The label {shown!r} is unknown."
            faults.append(fault("CIM-S003", where=where, seen=seen, todo=known))
            continue
        condition = Condition(label, _regions(table, dialect, cells), _free(table, dialect, cells))
        pairs.setdefault("/".join(cells[name] for name in names), []).append((row, condition))
    return pairs


def _regions(
    table: Table, dialect: LabelledDialect, cells: Mapping[str, str]
) -> tuple[Region, ...]:
    words = cells[table.find(dialect.sentence) or ""].split()
    if words[-1:] == [_EOS]:
        words = words[:-1]
    if not dialect.form:
        return (Region(" ".join(words)),)
    before = cells[table.find(dialect.prefix) or ""].split()
    parts: Sequence[Sequence[str]] = (
        before,
        cells[table.find(dialect.form) or ""].split(),
        words[len(before) + 1 :],
    )
    return tuple(Region(" ".join(part)) for part in parts)


def _free(table: Table, dialect: LabelledDialect, cells: Mapping[str, str]) -> dict[str, str]:
    """The free columns: those that do not hold parts of the sentence."""
    used = (dialect.sentence, dialect.label, dialect.prefix, dialect.form)
    taken = {table.find(name) for name in used if name}
    free = {column: cell for column, cell in cells.items() if cell and column not in taken}
    phenomenon = table.find(dialect.phenomenon)
    if phenomenon and cells[phenomenon]:
        free.setdefault(PHENOMENON, cells[phenomenon])
    return free

"""What people said of themselves in a form of one's own, beside their answers: age, region ...

It is kept by pseudonym or code, under the heading that the form has for it. By what is in their
cells, columns are proposed that have one value for each person, and nothing by which somebody is
found.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from cimento.app.answer_tables import Beyond
from cimento.intake.forms import is_stamp
from cimento.intake.reading import ANSWERS
from cimento.intake.table import Table
from cimento.io.files import read_bytes, write_text
from cimento.io.values import grouped
from cimento.judgments import Judgment
from cimento.judgments.columns import Answers
from cimento.judgments.forms import form_table
from cimento.judgments.participants import called_so
from cimento.people.annotate.rows import Import

SUFFIX = ".about.json"
"""The end of the name of the file beside the table of the answers."""
TOLD = "told"
"""What the menu above a column calls data about the person; several columns may be so."""

_LONGEST_CODE = 10_000
"""Numbers from which a cell may be that of a document or of a telephone."""
_MOST_WORDS = 6.0
"""Words of the mean cell up to which a column is not free text."""

Told = Mapping[str, Mapping[str, str]]
"""The heading of each column to what each person said, by pseudonym or code."""


def may_tell(table: Table, name: str) -> bool:
    """Whether a column may have what people said of themselves, and nobody can be found by it.

    Args:
        table: of answers.
        name: of the column.
    """
    answers = Answers(table.cells[name])
    if not answers.cells or answers.never or is_stamp(name) or called_so(name):
        return False
    kind = table.profile(name).kind
    if table.profile(name).numbers_rows or kind == "codes":
        return False
    # Several words may be a level of schooling, which others share.
    if kind == "sentences" and not _are_shared(answers.cells):
        return False
    if max(map(abs, answers.numbers), default=0) >= _LONGEST_CODE:
        return False
    return sum(len(cell.split()) for cell in answers.cells) <= _MOST_WORDS * len(answers.cells)


def _are_shared(values: Collection[str]) -> bool:
    """Whether values are few names, each of two people or rows on average."""
    return 2 * len({*values}) <= len(values)


@dataclass(frozen=True, slots=True)
class About:
    """What people said of themselves in a file.

    Attributes:
        told: what each said.
        columns: of the file that say so.
    """

    told: Told = field(default_factory=dict)
    columns: tuple[str, ...] = ()

    @property
    def remarks(self) -> list[str]:
        """What is said of the columns."""
        named = ", ".join(f'"{name}"' for name in self.told)
        return [f"about the people, in the files of answers: {named}"] if named else []

    def of(self, came: Import) -> Import:
        """Answers whose reading does not say of the columns that they are not used."""
        readings = [
            replace(one, unused={n: why for n, why in one.unused.items() if n not in self.columns})
            for one in came.readings
        ]
        return replace(came, readings=tuple(readings))


def about_in(table: Table | None, came: Import, chosen: Mapping[str, str]) -> About:
    """What people said of themselves in a file.

    Args:
        table: the file of the answers.
        came: the answers that were read from it.
        chosen: the roles that somebody has chosen for columns; none proposes them.
    """
    reading = came.readings[0] if came.readings else None
    person = "" if reading is None else "".join(reading.roles.get("participant", ())[:1])
    if table is None or reading is None or person not in table.columns:
        return About()
    form, people = form_table(table), {one.annotator for one in came.judgments}
    wanted = [name for name, role in chosen.items() if role == TOLD]
    # Of one person alone, every column of a table with an answer in each row may be the same.
    is_proposed = not chosen and (ANSWERS in reading.roles or len(people) > 1)
    if is_proposed:
        wanted = [name for name in reading.unused
                  if name in form.table.columns and may_tell(form.table, name)]  # fmt: skip
    who = [came.people.get(cell, "") for cell in form.table.stripped(person)]
    told: dict[str, Mapping[str, str]] = {}
    columns = []
    for name in filter(form.table.columns.__contains__, wanted):
        said = _one_each(who, form.table.stripped(name), people)
        is_text = is_proposed and form.table.profile(name).kind == "sentences"
        if said and not (is_text and not _are_shared(said.values())):
            told[name if form.heading(name) in told else form.heading(name)] = said
            columns.append(name)
    return About(told, tuple(columns))


def _one_each(
    who: Sequence[str], cells: Sequence[str], people: Collection[str | None]
) -> Mapping[str, str]:
    """What each person said in a column; nothing where somebody said several things."""
    said = grouped((one, cell) for one, cell in zip(who, cells, strict=True) if one in people)
    values = {one: {*filter(None, got)} for one, got in said.items()}
    if any(len(got) > 1 for got in values.values()):
        return {}
    return {one: next(iter(got)) for one, got in values.items() if got}


def write_told(told: Told, path: Path) -> None:
    """Keep what people said of themselves; the file is removed where there is nothing.

    Raises:
        StorageError: it cannot be written.
    """
    if told:
        write_text(json.dumps(told, ensure_ascii=False, indent=1) + "\n", path)
    else:
        path.unlink(missing_ok=True)


def read_told(path: Path, judgments: Sequence[Judgment]) -> Beyond:
    """What the people of some answers said of themselves, under headings for a table of answers.

    Args:
        path: of the file; without one, nothing is known.
        judgments: the answers.

    Raises:
        StorageError: the file cannot be read.
    """
    if not path.is_file():
        return Beyond()
    people = {one.annotator for one in judgments}
    stored: Told = json.loads(read_bytes(path))
    told = {
        title: {who: text for who, text in said.items() if who in people}
        for title, said in stored.items()
    }
    return Beyond((), {title: said for title, said in told.items() if said})

"""The dialogue in which a person decides what each drawn sentence becomes.

One row of the table of decisions after the other: the sentence is shown with its connective marked
and the candidates numbered. What is decided is in the table before the next row is asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cimento.corpus.connectives import DecisionKind
from cimento.corpus.connectives.inventories import (
    Connective,
    ConnectiveReplacement,
    Inventory,
    Passage,
    ranked_candidates,
    replaced,
)
from cimento.corpus.decisions import IMPLAUSIBLE, OpenTable, as_table
from cimento.errors import did_you_mean, need_known
from cimento.io.files import write_text
from cimento.io.parsing import whole_number
from cimento.people.annotate.dialogue import (
    DialogueField,
    DialogueSession,
    FieldReading,
    ReadPrompt,
    RefusedError,
    Values,
    converse,
)

DROP = "-"
"""Typed in the place of a connective to leave the sentence out."""

_YES = ("yes", "y", "s", "sì", "si")
_NO = ("no", "n")


@dataclass(frozen=True, slots=True)
class PairTask:
    """A row of the table of decisions.

    Attributes:
        section: which kind of item it becomes.
        cells: of the row.
        passage: its text.
        connective: that is there.
        candidates: that may take its place, the likeliest first.
        inventory: that all of them are of.
    """

    section: DecisionKind
    cells: Mapping[str, str]
    passage: Passage
    connective: Connective
    candidates: Sequence[ConnectiveReplacement]
    inventory: Inventory

    @property
    def is_open(self) -> bool:
        """Whether a decision is missing; a proposed replacement is not a decision."""
        if self.cells.get("drop"):
            return False
        return not all(self.cells.get(name) for name in self.section.to_fill)

    def proposed(self, place: int) -> str | None:
        """The table's first or second answer, accepted with an empty line."""
        return self.cells.get(self.section.to_fill[place]) or None

    @property
    def shown(self) -> str:
        """The row as a person sees it."""
        numbered = (f"{n} {candidate}" for n, candidate in enumerate(self.candidates, start=1))
        lines = [self.cells["id"], f"  {' '.join(self.passage.marked.split())}"]
        if self.cells["edit"]:
            lines.append(f"  ({self.cells['edit']})")
        return "\n".join([*lines, "  " + "   ".join(numbered)])


def tasks_of(table: OpenTable, inventory: Inventory) -> list[PairTask]:
    """The rows of a table, decided or not."""
    tasks = []
    for cells, passage in zip(table.rows, table.passages, strict=True):
        connective = inventory[re.sub(r" \d+(cl)?$", "", cells["id"])]
        ranked = ranked_candidates(table.section, connective, inventory)
        tasks.append(PairTask(table.section, cells, passage, connective, ranked, inventory))
    return tasks


def fields_of(task: PairTask) -> tuple[DialogueField, DialogueField]:
    """The two fields of a row: a connective or ``-``, then a field that depends on it."""
    rated = task.section is DecisionKind.SENTENCES
    what = "replacement" if rated else "plausible alternative"
    choice = DialogueField(
        name="choice",
        question=f"{what} (number or name; {DROP} drops the sentence)",
        read=lambda text, _values: _choice(task, text),
        default=lambda _values: task.proposed(0),
    )
    if rated:
        question = "grammatical with it (y, n); or why it is dropped"
        return choice, DialogueField(name="more", question=question, read=_grammatical)
    return choice, DialogueField(
        name="more",
        question=f"{IMPLAUSIBLE} implausible ones; or why it is dropped",
        read=lambda text, values: _implausible(task, text, values),
        default=lambda values: None if values["choice"] == DROP else task.proposed(1),
    )


def _decided_cells(task: PairTask, values: Values) -> dict[str, str]:
    """The cells of a row, filled in from the dialogue."""
    empty = dict.fromkeys(
        ("replacement", "grammaticality", "plausible", "implausible", "drop", "reason"), ""
    )
    cells = {name: empty.get(name, cell) for name, cell in task.cells.items()}
    choice, more = values["choice"], values["more"]
    if choice == DROP:
        return {**cells, "drop": "yes", "reason": more}
    if task.section is DecisionKind.SENTENCES:
        return {**cells, "replacement": choice, "grammaticality": more}
    return {**cells, "plausible": choice, "implausible": more}


def decide(
    path: Path,
    table: OpenTable,
    inventory: Inventory,
    *,
    read: ReadPrompt,
    show: Callable[[str], object],
    again: Sequence[str] = (),
) -> int:
    """Ask about every open row, and those to be asked again; the number of rows decided.

    Args:
        path: place of the table, which is rewritten after each row.
        table: as it is now.
        inventory: that connectives are chosen from.
        read: gives the next line.
        show: shows something.
        again: ids of rows that are asked though they are decided.

    Raises:
        UsageError: there is no row of that id.
        StorageError: the table cannot be written.
    """
    tasks = tasks_of(table, inventory)
    known = [task.cells["id"] for task in tasks]
    for name in again:
        need_known(name, known, where=f"--again={name!r}", seen="there is no such id")
    rows = [dict(task.cells) for task in tasks]
    waiting = [n for n, task in enumerate(tasks) if task.is_open or task.cells["id"] in again]
    for count, place in enumerate(waiting):
        task = tasks[place]
        session = DialogueSession(fields_of(task), path=pair_session_file(path, task.cells["id"]))
        show(f"\n{len(tasks) - len(waiting) + count + 1} of {len(tasks)}  {task.shown}")
        if not converse(session, read, show):
            return count
        rows[place] = _decided_cells(task, session.state.values)
        write_text(as_table(rows, table.columns), path)
        session.forget()
    return len(waiting)


def pair_session_file(path: Path, name: str) -> Path:
    """The log of an unfinished dialogue about a row."""
    return path.with_name(f".{path.stem}.{re.sub(r'[^0-9A-Za-z]+', '-', name)}.unfinished.jsonl")


def _choice(task: PairTask, typed: str) -> FieldReading:
    if typed == DROP:
        return FieldReading(DROP, message="Dropped. Say why.")
    name = _name(task, typed)
    if task.section is DecisionKind.BLANKS:
        return FieldReading(name)
    result = replaced(task.passage, task.inventory[name])
    return FieldReading(name, message=f"  -> {' '.join(result.marked.split())}")


def _name(task: PairTask, typed: str) -> str:
    names = [candidate.name for candidate in task.candidates]
    number = whole_number(typed)
    if number is not None:
        if not 1 <= number <= len(names):
            raise RefusedError(f"Numbers go from 1 to {len(names)}.")
        return names[number - 1]
    if typed == task.connective.name:
        raise RefusedError(f"{typed!r} is the connective itself.")
    if typed not in names:
        raise RefusedError(f"There is no connective {typed!r}. {did_you_mean(typed, names)}")
    return typed


def _grammatical(typed: str, values: Values) -> FieldReading:
    if values["choice"] == DROP:
        return FieldReading(_reason(typed))
    if typed.lower() not in (*_YES, *_NO):
        raise RefusedError("Write y or n.")
    return FieldReading("yes" if typed.lower() in _YES else "no")


def _implausible(task: PairTask, typed: str, values: Values) -> FieldReading:
    if values["choice"] == DROP:
        return FieldReading(_reason(typed))
    parts = [part.strip() for part in re.split(r"[|,]" if "|" in typed or "," in typed else r"\s+",
                                               typed)]  # fmt: skip
    names = [_name(task, part) for part in parts if part]
    if len({*names, values["choice"]}) != IMPLAUSIBLE + 1 or len(names) != IMPLAUSIBLE:
        raise RefusedError(f"Give {IMPLAUSIBLE} different ones, and not the plausible one.")
    return FieldReading(" | ".join(names))


def _reason(typed: str) -> str:
    """The reason for dropping a sentence; a tab or a line break would end the cell."""
    return " ".join(typed.split())

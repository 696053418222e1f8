"""What the study released, in the two states that it has.

The **release** is the table as it can be downloaded. The **snapshot** is the spreadsheet that the
paper's tables were made from: a candidate that is a quotation mark was read there as an opening
quote and swallowed 582 rows, so that some rows count as first candidates that are not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from cimento.errors import InputError
from cimento.paradigms.cloze.answers import Candidate, check_candidates
from cimento.paradigms.cloze.portuguese import (
    JUDGMENTS_FILE,
    MWE_PREDICTIONS,
    SHEET,
    Instance,
    JudgedRow,
    read_instances,
    read_judged_rows,
    read_multiword_cells,
    read_predictions,
    read_sheet,
    read_templates,
)
from cimento.paradigms.cloze.reading import INSTANCES, MWE_ITEMS, TEMPLATES
from cimento.paradigms.cloze.suite import ClozeItem, Template

State: TypeAlias = Literal["snapshot", "release"]
CANDIDATES = 10
"""How many candidates each instance was judged on."""

STATES: tuple[State, ...] = get_args(State)


@dataclass(frozen=True, slots=True)
class Row:
    """A judged candidate of one state, beside the instance that it belongs to.

    Attributes:
        instance: with the labels that tables group by.
        candidate: with the judgment of this state.
        first: whether it counts as its instance's first candidate.
    """

    instance: Instance
    candidate: Candidate
    first: bool

    def column(self, name: str) -> str:
        """A column of the instance: `template`, `dimension`, `group` or `seed`."""
        return self.instance.item.columns[name]


@dataclass(frozen=True)
class StudyData:
    """All that the study released.

    Attributes:
        templates: of the six tests of grammar.
        instances: what they were made into, in file order.
        judged: candidates with the judgments of both states, in file order.
        cells: multiword items, one for each masked word.
        predictions: recorded candidates of the multiword items, by model.
        sheet_only: whether only the released sheet was there, without the labels that some tables
            group by, without the snapshot and without multiword expressions.
    """

    templates: Sequence[Template]
    instances: Sequence[Instance]
    judged: Sequence[JudgedRow]
    cells: Sequence[ClozeItem]
    predictions: Mapping[str, Sequence[Candidate]]
    sheet_only: bool = False

    @property
    def states(self) -> tuple[State, ...]:
        """The states that there are."""
        return ("release",) if self.sheet_only else STATES

    @cached_property
    def snapshot(self) -> list[Row]:
        """The rows of the snapshot."""
        return [
            Row(
                self._instance(row),
                replace(row.candidate, fits=row.snapshot_fits),
                row.snapshot_first,
            )
            for row in self.judged
            if row.in_snapshot
        ]

    @cached_property
    def release(self) -> list[Row]:
        """The rows of the release."""
        return [
            Row(self._instance(row), row.candidate, row.candidate.rank == 1) for row in self.judged
        ]

    def rows(self, state: State) -> list[Row]:
        """The rows of a state."""
        return self.snapshot if state == "snapshot" else self.release

    def warnings(self, state: State) -> tuple[str, ...]:
        """What is missing from a state: whole instances, candidates, judgments."""
        return check_candidates(
            [row.candidate for row in self.rows(state)], items=list(self._instances), k=CANDIDATES
        )

    @cached_property
    def _instances(self) -> dict[str, Instance]:
        return {each.item.id: each for each in self.instances}

    def _instance(self, row: JudgedRow) -> Instance:
        found = self._instances.get(row.candidate.item)
        if found is None:
            raise InputError(
                where=JUDGMENTS_FILE,
                seen=f"there is no instance {row.candidate.item!r}",
                todo=f"Do {JUDGMENTS_FILE} and {INSTANCES} belong together?",
            )
        return found


def load(path: Path) -> StudyData:
    """Read the released files.

    Args:
        path: the folder with all files, or the released sheet of judgments alone.

    Raises:
        InputError: a file is missing or cannot be used.
    """
    if path.is_file() or ((path / SHEET).exists() and not (path / INSTANCES).exists()):
        return _load_sheet(path if path.is_file() else path / SHEET)
    return StudyData(
        templates=read_templates(path / TEMPLATES),
        instances=read_instances(path / INSTANCES),
        judged=read_judged_rows(path / JUDGMENTS_FILE),
        cells=read_multiword_cells(path / MWE_ITEMS),
        predictions=read_predictions(path / MWE_PREDICTIONS),
    )


def _load_sheet(path: Path) -> StudyData:
    instances, judged = read_sheet(path)
    return StudyData((), instances, judged, cells=(), predictions={}, sheet_only=True)

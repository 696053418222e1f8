"""What the study released, in the two states that it has.

The **release** is the table as it can be downloaded. The **snapshot** is the spreadsheet that the
paper's tables were made from: a candidate that is a quotation mark was read there as an opening
quote and swallowed 582 rows, so that some rows count as first candidates that are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from cimento.errors import InputError
from cimento.io.below import files_below
from cimento.paradigms.cloze.detecting import MULTIWORD, SHEET, SYNTACTIC
from cimento.paradigms.cloze.portuguese import (
    SNAPSHOT,
    Instance,
    JudgedRow,
    read_multiwords,
    read_predictions,
    read_released_sheet,
    read_snapshot,
    read_templates,
)
from cimento.paradigms.cloze.requests import Candidate, check_candidates
from cimento.suites.cloze import ClozeItem, Template

State: TypeAlias = Literal["snapshot", "release"]
CANDIDATES = 10
"""How many candidates each instance was judged on."""

STATES: tuple[State, ...] = get_args(State)
STATE_FILES: Mapping[State, str] = {"snapshot": SNAPSHOT, "release": SHEET}
"""State to the file that holds it."""

RELEASED: Mapping[str, str] = {
    SHEET: "the judgments: Tables 4, 9, 11 and 13 as released",
    SNAPSHOT: "the judgments and labels that the paper used: Tables 4 to 13",
    MULTIWORD: "the multiword items and their candidates: Tables 1 to 3",
    SYNTACTIC: "the templates: --what profiles, person and tense",
}
"""File to what it gives."""

WHERE = "https://github.com/rswilkens/Assessing-Linguistic-Generalisation-in-Language-Models"


@dataclass(frozen=True, slots=True)
class JudgedCandidate:
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
        files: names of the released files that these come from.
    """

    templates: Sequence[Template]
    instances: Sequence[Instance]
    judged: Sequence[JudgedRow]
    cells: Sequence[ClozeItem]
    predictions: Mapping[str, Sequence[Candidate]]
    files: frozenset[str]

    @property
    def states(self) -> tuple[State, ...]:
        """The states that there are."""
        return tuple(state for state in STATES if STATE_FILES[state] in self.files)

    @cached_property
    def snapshot(self) -> list[JudgedCandidate]:
        """The rows of the snapshot."""
        return [
            JudgedCandidate(
                self._instance(row),
                replace(row.candidate, fits=row.snapshot_fits),
                row.snapshot_first,
            )
            for row in self.judged
            if row.in_snapshot
        ]

    @cached_property
    def release(self) -> list[JudgedCandidate]:
        """The rows of the release."""
        return [
            JudgedCandidate(self._instance(row), row.candidate, row.candidate.rank == 1)
            for row in self.judged
        ]

    def rows(self, state: State) -> list[JudgedCandidate]:
        """The rows of a state."""
        return self.snapshot if state == "snapshot" else self.release

    def warnings(self, state: State) -> tuple[str, ...]:
        """What is missing from a state: whole instances, candidates, judgments."""
        return check_candidates(
            [row.candidate for row in self.rows(state)], items=list(self._instances), k=CANDIDATES
        )

    @cached_property
    def _instances(self) -> dict[str, Instance]:
        return {instance.item.id: instance for instance in self.instances}

    def _instance(self, row: JudgedRow) -> Instance:
        return self._instances[row.candidate.item]


def load_study(path: Path) -> StudyData:
    """Read the released files.

    Args:
        path: a folder with some of them or all, at any depth, or one of them.

    Raises:
        InputError: there is none of them, or one cannot be used.
    """
    files = _released_files(path)
    if not files:
        looked = "; ".join(f"{name}, {what}" for name, what in RELEASED.items())
        raise InputError(
            where=str(path),
            seen="none of the study's files is there or below. Looked for are"
            f" {looked}. Any of them does for what it gives; without any, -m MODEL runs the"
            " starter suites and sets what is printed beside",
            todo=f"Get them from {WHERE}.",
        )
    templates = read_templates(files[SYNTACTIC]) if SYNTACTIC in files else []
    instances: Iterable[Instance] = ()
    judged: Sequence[JudgedRow] = ()
    if SHEET in files:
        instances, judged = read_released_sheet(files[SHEET])
        if SNAPSHOT in files:
            instances, judged = read_snapshot(files[SNAPSHOT], (instances, judged))
    elif SNAPSHOT in files:
        instances, judged = read_snapshot(files[SNAPSHOT])
    return StudyData(
        templates=templates,
        instances=_with_categories(instances, templates) if templates else list(instances),
        judged=judged,
        cells=read_multiwords(files[MULTIWORD]) if MULTIWORD in files else (),
        predictions=read_predictions(files[MULTIWORD]) if MULTIWORD in files else {},
        files=frozenset(files),
    )


def _released_files(path: Path) -> dict[str, Path]:
    """The released files at a path, by name; of several with one name that of the highest folder.

    Args:
        path: a folder or one of the files.
    """
    paths = [path] if path.is_file() else files_below(path)
    lowest_first = sorted(paths, key=lambda file: (len(file.parts), file), reverse=True)
    return {file.name: file for file in lowest_first if file.name in RELEASED}


def _with_categories(
    instances: Iterable[Instance], templates: Iterable[Template]
) -> list[Instance]:
    """Instances with the categories that their seeds have in the templates."""
    categories: dict[tuple[str, str], dict[str, None]] = {}
    for template in templates:
        for seeds in template.seeds:
            for form in seeds.forms:
                categories.setdefault((template.id, form), {})[seeds.category] = None
    return [
        replace(instance, categories=tuple(categories.get(instance.key[:2], ())))
        for instance in instances
    ]

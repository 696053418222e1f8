"""What models of one's own are asked: the study's suites where they are there, else our own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from cimento.paradigms.registry import SuiteLike
from cimento.studies.islands.released import (
    BLIMP_FILES,
    AbsentError,
    find,
    new_items,
    published_items,
)
from cimento.studies.islands.tables import printed_variations
from cimento.suites.derived import merge_suites, pairs
from cimento.suites.load import open_suite
from cimento.suites.model import Suite

STARTER = "it-islands"
NEW, PUBLISHED, VARIATIONS = "islands-madeddu", "islands-sprouse", "islands-variations"
"""Suites of the study: the new items, those of Sprouse et al. 2016, the pairs of Table 4."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The suites of the study that there are.

    Attributes:
        suites: all of them, to be run.
        new: name of the suite whose results go into Table 1; empty where there is none.
        published: the same for Table 2.
        blimp: column of Table 3 to the name of BLiMP's suite; empty where one is missing.
        notes: table to what is to be said below it of what was asked.
    """

    suites: Sequence[SuiteLike]
    new: str = ""
    published: str = ""
    blimp: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def remarks(self) -> list[str]:
        """The notes of all tables, each once."""
        return list(dict.fromkeys(note for notes in self.notes.values() for note in notes))


def asked_of(data: Path | None) -> Asked:
    """The suites to ask.

    Args:
        data: folder with released files; None for cimento's own items.

    Raises:
        AbsentError: it has no Italian items of the study.
        SuiteError: a file cannot be used.
    """
    if data is None:
        ours = (f"Published rows are about the study's items, those of your models about {STARTER},"
                " cimento's own items.")  # fmt: skip
        return Asked(
            suites=(STARTER, variations_suite()),
            new=STARTER,
            notes={"table-1": (ours,), "table-2": (_NO_PUBLISHED,), "table-3": (_NO_BLIMP,)},
        )
    new, published = _merged(NEW, data), _merged(PUBLISHED, data)
    if new is None and published is None:
        new_items(data)  # says what is looked for
    blimp = _blimp(data)
    return Asked(
        suites=[*filter(None, (new, published)), *blimp.values(), variations_suite()],
        new=NEW if new else "",
        published=PUBLISHED if published else "",
        blimp={column: open_suite(path).suite.name for column, path in blimp.items()},
        notes={
            "table-1": () if new else (_NO_NEW,),
            "table-2": () if published else (_NO_PUBLISHED,),
            "table-3": () if blimp else (_NO_BLIMP,),
        },
    )


_FETCH = "`cimento suites get sprouse-it` fetches them for --data"
_NO_NEW = f"Your models were not asked: the study's new items are not there; {_FETCH}."
_NO_PUBLISHED = (
    f"Your models were not asked the items of Sprouse et al. 2016, which are not there; {_FETCH}."
)
_NO_BLIMP = (
    "BLiMP's sentences are not there (`cimento suites get blimp` fetches them for --data): rows of"
    " your models are about Italian items of the same islands. As in BLiMP's pairs, Short-Island"
    " stands against Long-Island for adjunct and complex NP, Long-NonIsland for whether."
)


def variations_suite() -> Suite:
    """The six pairs of Table 4 as printed, the sentence without an island as the good one."""
    return pairs(
        [{"id": id_, "good": row[0], "bad": row[2]} for id_, row in printed_variations().items()],
        name=VARIATIONS,
        language="it",
    )


def _merged(name: str, data: Path) -> Suite | None:
    """The four phenomena of one suite of the study in one; None where the files are not there."""
    try:
        files = (new_items if name == NEW else published_items)(data)
    except AbsentError:
        return None
    parts = {phenomenon: open_suite(path).suite for phenomenon, path in files.items()}
    merged = merge_suites(parts, name=name)
    return replace(merged, meta=replace(merged.meta, language="it"))


def _blimp(data: Path) -> dict[str, Path]:
    """Column of Table 3 to BLiMP's file; empty where one of the three is not there."""
    try:
        return {column: find(data, name) for column, name in BLIMP_FILES.items()}
    except AbsentError:
        return {}

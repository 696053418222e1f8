"""What a page shows, as plain records: of one run, and of one suite with all of its runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from cimento.suites.kinds import REGIONS

if TYPE_CHECKING:
    from cimento.report.figures import Figure
    from cimento.report.grid import Grid
    from cimento.report.items import ItemRecord
    from cimento.report.summary import Result, RunSummary
    from cimento.runs.store import Manifest, RunFolder

Stored: TypeAlias = "tuple[RunFolder, Manifest]"
"""A stored run, its manifest read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """The one number of a run that an overview shows.

    Attributes:
        name: what it is, such as ``all predictions`` or ``acc@1``.
        value: None where it is undefined.
        low: lower end of its 95 % interval; None where there is none.
        high: upper end.
        chance: what it would be by chance; None where that is not defined.
        length: what it would be by length alone, where that leads away from chance; else None.
        n: items that it is taken over.
        tied: of them, how many are ties; None where there can be none.
        unscored: items that it leaves out.
        is_share: whether it lies between 0 and 1, and so can be drawn on that line.
        reason: why it is undefined.
    """

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    chance: float | None = None
    length: float | None = None
    n: int = 0
    tied: int | None = None
    unscored: int = 0
    is_share: bool = True
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Rates:
    """Rates that are charted under one heading.

    Attributes:
        heading: what they are; empty for those that need none.
        lines: the name of each and the rate.
    """

    heading: str
    lines: tuple[tuple[str, Result], ...]


@dataclass(frozen=True, slots=True)
class NamedGrid:
    """A table of a page, and the name by which ``cimento report --table`` writes it."""

    name: str
    grid: Grid


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """All that a page shows of one run, of whatever kind.

    Attributes:
        summary: counts and rates; without results for kinds that formulas do not judge.
        about: what the suite says of itself: label and text.
        regions: names of the suite's regions; empty for kinds that have none.
        items: those that went worst first.
        provenance: what the run was made of and with: label and text.
        headline: what the overview shows; None where there is nothing to judge.
        rates: what is charted.
        notes: what a reader must know before trusting the rates.
        kind: of the suite.
        told: what was printed when it was run; empty where nothing was kept.
    """

    summary: RunSummary
    about: tuple[tuple[str, str], ...]
    regions: tuple[str, ...]
    items: tuple[ItemRecord, ...]
    provenance: tuple[tuple[str, str], ...]
    headline: Headline | None = None
    rates: tuple[Rates, ...] = ()
    notes: tuple[str, ...] = ()
    kind: str = REGIONS
    told: str = ""


@dataclass(frozen=True, slots=True)
class SuiteReport:
    """The section of one suite: its runs, with what shows them together.

    Attributes:
        runs: one for each model and measure.
        figures: of all of them; those of single runs have the model in their title.
        tables: of all of them.
    """

    runs: tuple[RunReport, ...]
    figures: tuple[Figure, ...] = ()
    tables: tuple[NamedGrid, ...] = ()

    @property
    def first(self) -> RunReport:
        """The run that says what the suite is."""
        return self.runs[0]


Reporter: TypeAlias = Callable[[Sequence[Stored], Mapping[Path, str]], list[SuiteReport]]
"""Makes sections of stored runs of one kind, given what was printed of each by its folder.

It raises a CimentoError where a run cannot be read.
"""

"""What an earlier build of a site was made of, so that pages of the same runs are not made again.

The pages of a suite follow from its runs, the settings of the site and the code. Where all are the
same, only what other pages say about the suite is needed, and the record of the site has that.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError

from cimento._version import __version__
from cimento.records.store import MANIFEST
from cimento.report import RunReport
from cimento.report.figures import lacking_figures
from cimento.report.findings_pairs import FEW_MODELS
from cimento.site.board import Side, SideBySide, SuitePart, entry_of, phenomenon_rates, results_of

if TYPE_CHECKING:
    from cimento.kinds.run import Run
    from cimento.records.outcomes import Estimate
    from cimento.site.board import Entry


@dataclass(frozen=True, slots=True)
class KeptReport:
    """What the page of a model says of a run: its cautions and its provenance."""

    notes: tuple[str, ...]
    provenance: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class KeptEntry:
    """A run: its number among those of the suite, its label, what its page is called after."""

    number: int
    label: str
    page_name: str
    reports: tuple[KeptReport, ...]


@dataclass(frozen=True, slots=True)
class KeptPart:
    """A suite, as far as pages other than its own show it."""

    name: str
    folder: str
    entries: tuple[KeptEntry, ...]
    whole: Side
    phenomena: tuple[Side, ...]
    n_items: int


@dataclass(frozen=True, slots=True)
class BuildRecord:
    """What was made of some runs.

    Attributes:
        inputs: digest of the runs, the settings and the code.
        files: paths of the files.
        parts: the suites, for what was made of all runs of a suite.
    """

    inputs: str
    files: tuple[str, ...]
    parts: tuple[KeptPart, ...] = ()


RECORD = TypeAdapter(dict[str, BuildRecord])


@dataclass(slots=True)
class BuildMemory:
    """What was made, by a name, in the build before and in this one.

    Attributes:
        before: of the earlier build.
        is_kept: whether a file of the earlier build is there as it was written.
        now: of this build.
    """

    before: Mapping[str, BuildRecord] = field(default_factory=dict)
    is_kept: Callable[[str], bool] = lambda _: False
    now: dict[str, BuildRecord] = field(default_factory=dict)

    def same(self, name: str, inputs: str) -> BuildRecord | None:
        """What was made before under a name, if it need not be made again.

        Args:
            name: of a suite or a page.
            inputs: digest of what it is made of.
        """
        made = self.before.get(name)
        if made is None or made.inputs != inputs or not all(map(self.is_kept, made.files)):
            return None
        self.now[name] = made
        return made

    def carry(self, name: str) -> None:
        """Keep what was made under a name, if anything was, as part of something that is kept."""
        if name in self.before:
            self.now[name] = self.before[name]


def remembered(record: object) -> Mapping[str, BuildRecord]:
    """What the record of a site says was made; nothing where it is of another version."""
    try:
        return RECORD.validate_python(record)
    except ValidationError:
        return {}


def digest_of(*parts: object) -> str:
    """One digest of several things that have a text."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def run_digest(run: Run) -> str:
    """The digest of a stored run: its manifest, which has those of its tables, and its files."""
    if run.folder is None:
        return ""
    files = sorted(
        (path.relative_to(run.folder).as_posix(), path.stat().st_size)
        for path in run.folder.rglob("*")
        if path.is_file()
    )
    manifest = run.folder / MANIFEST
    text = manifest.read_bytes() if manifest.is_file() else b""
    return digest_of(run.folder.name, run.model, files, text)


@cache
def code_digest() -> str:
    """The digest of the code and templates of cimento, and of whether figures can be drawn."""
    package = Path(__file__).parents[1]
    hashed = hashlib.sha256()
    for path in sorted(package.rglob("*")):
        if path.suffix in {".py", ".html", ".css", ".js"}:
            hashed.update(path.read_bytes())
    return digest_of(__version__, hashed.hexdigest(), bool(lacking_figures()))


def kept_parts(parts: Iterable[SuitePart], runs: Sequence[Run]) -> tuple[KeptPart, ...]:
    """Suites as the record of a site has them.

    Args:
        parts: the suites.
        runs: their runs, as they are stored.
    """
    numbers = {str(run.folder): number for number, run in enumerate(runs)}
    return tuple(
        KeptPart(
            part.name,
            part.folder,
            tuple(
                KeptEntry(
                    numbers[str(entry.run.folder)],
                    entry.label,
                    entry.page_name,
                    tuple(KeptReport(one.notes, one.provenance) for one in entry.reports),
                )
                for entry in part.entries
            ),
            _kept_side(part.whole),
            tuple(map(_kept_side, part.phenomena)),
            part.n_items,
        )
        for part in parts
    )


def _kept_side(side: SideBySide) -> Side:
    """The ground of a comparison, without the results; tests of few models, which pages name."""
    kept = {one.name: getattr(side, one.name) for one in fields(Side)}
    pairs = side.places.pairs if len(side.places.ranks) <= FEW_MODELS else ()
    return Side(**{**kept, "places": replace(side.places, pairs=pairs)})


def restored(kept: KeptPart, runs: Sequence[Run]) -> SuitePart:
    """A suite as other pages show it, without reading its answers.

    Args:
        kept: the suite in the record.
        runs: the runs of the suite, as they are stored.
    """
    entries = tuple(_entry(kept, entry, runs[entry.number]) for entry in kept.entries)
    rates, _ = phenomenon_rates(entries, kept.whole.phenomenon)
    return SuitePart(
        name=kept.name,
        folder=kept.folder,
        entries=entries,
        sections=(),
        whole=_side(kept.whole, [(entry, entry.headline) for entry in entries]),
        phenomena=tuple(_side(side, rates.get(side.phenomenon, [])) for side in kept.phenomena),
        n_items=kept.n_items,
        items=(),
    )


def _entry(kept: KeptPart, entry: KeptEntry, run: Run) -> Entry:
    shown = run
    if entry.label != run.model:
        shown = replace(run, manifest={**run.manifest, "label": entry.label})
    reports = tuple(
        RunReport(suite=kept.name, paradigm=run.paradigm.name, model=entry.label, n_items=0,
                  notes=one.notes, provenance=one.provenance)
        for one in entry.reports
    )  # fmt: skip
    return entry_of(run, shown, kept.name, entry.page_name, kept.folder, reports)


def _side(side: Side, rates: Iterable[tuple[Entry, Estimate | None]]) -> SideBySide:
    kept = {one.name: getattr(side, one.name) for one in fields(Side)}
    return SideBySide(**kept, results=results_of(rates, side.places))

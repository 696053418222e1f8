"""A site written into a folder, where only files that differ are written again."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from cimento._version import __version__
from cimento.errors import UsageError
from cimento.export.data import of_runs
from cimento.export.hub import eval_results, need_hub_name
from cimento.io.files import expanded, inert_csv, read_bytes, write_bytes
from cimento.report.benchmarks import benchmark_means, means_grid
from cimento.report.grid import Grid, as_csv
from cimento.report.items import script_safe
from cimento.report.records import NamedGrid
from cimento.runs.outcomes import estimates_table
from cimento.runs.run import runs_of
from cimento.runs.store import manifest_part
from cimento.site import pages
from cimento.site.board import SuitePart, slug, suite_parts
from cimento.site.items import item_pages
from cimento.site.together import TOGETHER, analysis_of, together_files

if TYPE_CHECKING:
    from cimento.runs.run import Run, RunsLike
    from cimento.site.board import Entry, SideBySide
    from cimento.statistics.multiple import RankedPair
    from cimento.suites.model import JsonValue

INDEX = "site.json"
"""The record of a site: the sha256 of every file that was written, by path."""

File = tuple[str, str]
"""The path of a file from the root of the site, and its text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteSettings:
    """What a site says of itself.

    Attributes:
        title: its name.
        address: where it will stand, such as ``https://lab.example/board/``; empty if unknown.
        licence: address or name of the licence of the tables; empty if none is stated.
        dataset: benchmark on the Hugging Face hub, ``owner/name``, whose tasks are named like the
            suites, for results in the form of its model cards; empty for none.
        spreadsheet_safe: whether cells of CSV files that begin a formula get an apostrophe.
    """

    title: str = "Board"
    address: str = ""
    licence: str = ""
    dataset: str = ""
    spreadsheet_safe: bool = False


@dataclass(frozen=True, slots=True)
class Built:
    """What became of the files of a site.

    Attributes:
        page: the first page.
        written: number of files that were new or differed.
        kept: number of files that were the same already.
        removed: number of files of an earlier build that the site no longer has.
    """

    page: Path
    written: int
    kept: int
    removed: int


def write_site(runs: RunsLike, folder: str | Path, settings: SiteSettings | None = None) -> Built:
    """A static site of runs of any paradigms.

    Args:
        runs: stored runs, or folders of them.
        folder: folder of the site, new or that of an earlier build.
        settings: what the site says of itself.

    Raises:
        UsageError: a run is given twice or is not stored, or a file in the folder is not of a site.
        TableError: a run cannot be read.
        StorageError: the folder cannot be written.
    """
    site = _Folder(expanded(folder), safe=bool(settings and settings.spreadsheet_safe))
    for path, text in site_files(runs_of(runs), settings or SiteSettings()):
        site.put(path, text)
    return site.finish()


class _Folder:
    """The folder of a site, whose index tells which files are its own."""

    def __init__(self, root: Path, *, safe: bool) -> None:
        self.root = root
        self._safe = safe
        self._before = self._index()
        self._after: dict[str, str] = {}
        self._written = 0

    def _index(self) -> dict[str, str]:
        """The digests of the files of an earlier build; none if there was none.

        Raises:
            UsageError: the index is not one.
        """
        if not (self.root / INDEX).is_file():
            return {}
        try:
            content = json.loads(read_bytes(self.root / INDEX))
            files = content["files"]
            digests = {str(path): str(digest) for path, digest in files.items()}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UsageError(
                where=str(self.root / INDEX),
                seen="this is not the record of a site",
                todo="Give another folder with --output, or remove the file.",
            ) from error
        # An index that was edited must not have files outside of the folder removed.
        return {path: digest for path, digest in digests.items() if _is_inside(path)}

    def put(self, path: str, text: str) -> None:
        """Write a file, unless it is there already.

        Raises:
            UsageError: a file is there that no site wrote.
            StorageError: the file cannot be written.
        """
        data = text.encode("utf-8")
        if self._safe and path.endswith(".csv"):
            data = inert_csv(text).encode("utf-8")
        digest = hashlib.sha256(data).hexdigest()
        target = self.root / path
        self._after[path] = digest
        there = target.exists()
        if there and path not in self._before:
            raise UsageError(
                where=str(target),
                seen="a file is here that is not of this site",
                todo="Give an empty folder with --output, or the folder of an earlier build.",
            )
        if there and read_bytes(target) == data:
            return
        write_bytes(data, target)
        self._written += 1

    def finish(self) -> Built:
        """Remove what the site no longer has, and write its index last."""
        gone = [path for path in self._before if path not in self._after]
        for path in gone:
            (self.root / path).unlink(missing_ok=True)
            _remove_empty((self.root / path).parent, self.root)
        index = {"cimento": __version__, "files": dict(sorted(self._after.items()))}
        write_bytes((json.dumps(index, indent=1) + "\n").encode(), self.root / INDEX)
        kept = len(self._after) - self._written
        return Built(self.root / pages.BOARD, self._written, kept, len(gone))


def _is_inside(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return bool(parts) and not PurePosixPath(path).is_absolute() and ".." not in parts


def _remove_empty(folder: Path, root: Path) -> None:
    while folder != root and folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


def site_files(runs: Sequence[Run], settings: SiteSettings) -> Iterator[File]:
    """Every file of a site, one after the other.

    Args:
        runs: stored runs of any paradigms.
        settings: what the site says of itself.
    """
    if settings.dataset:
        need_hub_name(settings.dataset)
    look = pages.SiteLook(settings.title)
    parts: list[SuitePart] = []
    for part in suite_parts(runs):
        yield from _suite_files(look, part)
        # The pages of items and runs are written: what they show need not stay in memory.
        parts.append(_lighter(part))
    for entries in pages.by_model(parts).values():
        estimates = [one for entry in entries for one in entry.run.estimates()]
        path = f"tables/models/{slug(entries[0].model)}.csv"
        yield path, estimates_table(estimates).write_csv()
        files = [(path, "all estimates (CSV)")]
        if settings.dataset and (text := _for_the_hub(entries, settings)):
            files.append((f"eval_results/{slug(entries[0].model)}.yaml", "results for its card"))
            yield files[-1][0], text
        yield entries[0].model_page, pages.model_page(look, entries, parts, files=files)
    yield from pages.phenomenon_pages(look, parts)
    yield from _overall(look, parts, settings)


def _for_the_hub(entries: Sequence[Entry], settings: SiteSettings) -> str:
    runs = of_runs([entry.run for entry in entries])
    return eval_results(runs, dataset=settings.dataset, source=settings.address)


def _lighter(part: SuitePart) -> SuitePart:
    """A suite without what only its own pages show."""
    return dataclasses.replace(part, sections=())


def _suite_files(look: pages.SiteLook, part: SuitePart) -> Iterator[File]:
    place = f"tables/{part.folder}"
    tables = [table for section in part.sections for table in section.tables]
    curves = [
        NamedGrid(f"training {name}", _curve_grid(name, part.whole))
        for name, _ in part.whole.curves
    ]
    for table in (*tables, *curves):
        yield f"{place}/{slug(table.name)}.csv", as_csv(table.grid)
    files = []
    if part.whole.results:
        yield f"{place}/places.csv", as_csv(_places_grid([part.whole, *part.phenomena]))
        files.append((f"{place}/places.csv", "estimates and places (CSV)"))
    if part.whole.places.pairs:
        yield f"{place}/pairs.csv", as_csv(_pairs_grid(part.whole.places.pairs))
        files.append((f"{place}/pairs.csv", "every pair of models (CSV)"))
    yield f"{place}/items.csv", as_csv(_items_grid(part))
    files.append((f"{place}/items.csv", "every item by every model (CSV)"))
    yield part.page, pages.suite_page(look, part, tables=tables, curves=curves, files=files)
    for entry in part.entries:
        yield entry.page, pages.run_page(look, part, entry)
    yield from item_pages(look, part)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"


def _places_grid(sides: Sequence[SideBySide]) -> Grid:
    rows = [(side, one) for side in sides for one in side.results]
    return Grid.of(
        rows,
        {
            "suite": lambda row: row[0].suite,
            "phenomenon": lambda row: row[0].phenomenon,
            "items": lambda row: "of phenomenon" if row[0].page.startswith("phenomena/") else "all",
            "language": lambda row: row[0].language,
            "model": lambda row: row[1].entry.label,
            "statistic": lambda row: row[1].estimate.statistic,
            "value": lambda row: _number(row[1].estimate.value),
            "low": lambda row: _number(row[1].estimate.low),
            "high": lambda row: _number(row[1].estimate.high),
            "n": lambda row: row[1].estimate.n,
            "unscored": lambda row: row[1].estimate.unscored,
            "chance": lambda row: _number(row[1].estimate.chance),
            "best place": lambda row: row[1].rank.best if row[1].rank else None,
            "worst place": lambda row: row[1].rank.worst if row[1].rank else None,
            "models ranked": lambda row: len(row[0].places.ranks),
            "reason": lambda row: row[1].estimate.reason,
        },
        title="Estimates with the places that the models could hold.",
        labels=6,
        remarks=1,
    )


def _pairs_grid(pairs: Sequence[RankedPair]) -> Grid:
    return Grid.of(
        pairs,
        {
            "first": lambda pair: pair.first,
            "second": lambda pair: pair.second,
            "first minus second": lambda pair: _number(pair.difference),
            "p": lambda pair: _number(pair.p),
            "p (holm)": lambda pair: _number(pair.p_holm),
        },
        title="Every pair of models, on the items that all were scored on.",
        labels=2,
    )


def _items_grid(part: SuitePart) -> Grid:
    rows = [(item, *answer) for item in part.items for answer in item.answers]
    return Grid.of(
        rows,
        {
            "item": lambda row: row[0].id,
            "phenomenon": lambda row: row[2].phenomenon,
            "model": lambda row: row[1].label,
            "verdict": lambda row: (row[2].outcome.verdict if row[2].outcome else None) or "",
            "value": lambda row: _number(row[2].outcome.value if row[2].outcome else None),
            "unit": lambda row: row[2].outcome.unit if row[2].outcome else "",
            "reason": lambda row: row[2].outcome.reason if row[2].outcome else "",
        },
        title="Every item by every model.",
        labels=3,
        remarks=1,
    )


def _curve_grid(name: str, side: SideBySide) -> Grid:
    steps = dict(side.curves)[name]
    return Grid.of(
        steps,
        {
            "step": lambda one: str(one.entry.step),
            "value": lambda one: _number(one.estimate.value),
            "low": lambda one: _number(one.estimate.low),
            "high": lambda one: _number(one.estimate.high),
            "n": lambda one: one.estimate.n,
            "model": lambda one: one.entry.label,
        },
        title=f"{name} over training.",
        remarks=1,
    )


def _overall(
    look: pages.SiteLook, parts: Sequence[SuitePart], settings: SiteSettings
) -> Iterator[File]:
    """The board, the list of runs, and their tables."""
    entries = [entry for part in parts for entry in part.entries]
    summaries = [entry.run.summary() for entry in entries]
    means = benchmark_means(summaries)
    estimates = estimates_table([one for entry in entries for one in entry.run.estimates()])
    yield "tables/estimates.csv", estimates.write_csv()
    sides = [side for part in parts for side in (part.whole, *part.phenomena)]
    yield "tables/places.csv", as_csv(_places_grid(sides))
    runs = NamedGrid("runs", _runs_grid(entries))
    yield "tables/runs.csv", as_csv(runs.grid)
    yield pages.RUNS, pages.runs_page(look, parts, runs)
    if (analysis := analysis_of(parts)) is not None:
        yield from together_files(look, analysis)
    yield (
        pages.BOARD,
        pages.board_page(
            look,
            parts,
            files=[(path, text) for path, text, _ in TABLES],
            dataset=script_safe(json.dumps(dataset_of(parts, settings), ensure_ascii=False)),
            means=NamedGrid("blimp", means_grid(means)) if means else None,
            together=TOGETHER if analysis else "",
        ),
    )
    # Pages hosts run Jekyll on what they are given, unless this file is there.
    yield ".nojekyll", ""


TABLES = (
    ("tables/places.csv", "estimates and places (CSV)", "Estimates with intervals and places"),
    ("tables/estimates.csv", "all estimates (CSV)", "All estimates, with intervals and tests"),
    ("tables/runs.csv", "all runs (CSV)", "Runs: models, revisions, versions, dates"),
)


def _runs_grid(entries: Sequence[Entry]) -> Grid:
    def part(entry: Entry, *path: str) -> str:
        *above, last = path
        value = manifest_part(entry.run.manifest, *above).get(last)
        return "" if value is None else str(value)

    return Grid.of(
        entries,
        {
            "suite": lambda entry: entry.run.suite.name,
            "suite version": lambda entry: entry.run.suite.meta.version,
            "suite sha256": lambda entry: part(entry, "suite", "sha256")[:12],
            "model": lambda entry: part(entry, "model", "name"),
            "revision": lambda entry: part(entry, "model", "revision")[:12],
            "kind": lambda entry: entry.run.model_kind,
            "number format": lambda entry: part(entry, "model", "dtype"),
            "items": lambda entry: entry.run.n_items,
            "made": lambda entry: part(entry, "created"),
            "cimento": lambda entry: part(entry, "cimento"),
            "python": lambda entry: part(entry, "versions", "python"),
            "torch": lambda entry: part(entry, "versions", "torch"),
            "transformers": lambda entry: part(entry, "versions", "transformers"),
        },
        title="All runs.",
        labels=6,
    )


def dataset_of(parts: Sequence[SuitePart], settings: SiteSettings) -> dict[str, JsonValue]:
    """The site as a ``Dataset`` of schema.org, for search engines and catalogues.

    Args:
        parts: the suites.
        settings: what the site says of itself.
    """
    models = {entry.model for part in parts for entry in part.entries}
    names = ", ".join(part.name for part in parts)
    made = [str(entry.run.manifest.get("created", "")) for part in parts for entry in part.entries]
    base = settings.address and settings.address.rstrip("/") + "/"
    known: dict[str, JsonValue] = {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": settings.title,
        "description": (
            f"Targeted linguistic evaluation of {len(models)} language models on {len(parts)}"
            f" suites ({names}): estimates with 95 % intervals, the places that each model could"
            " hold, and the verdict on every item."
        ),
        "url": base,
        "license": settings.licence,
        "dateModified": max(made, default=""),
        "inLanguage": [*sorted({part.whole.language for part in parts} - {""})],
        "measurementTechnique": f"cimento {__version__}",
        "variableMeasured": [
            *dict.fromkeys(one.estimate.statistic for part in parts for one in part.whole.results)
        ],
        "isBasedOn": [_suite_work(part) for part in parts],
        "distribution": [
            {
                "@type": "DataDownload",
                "name": name,
                "encodingFormat": "text/csv",
                "contentUrl": f"{base}{path}",
            }
            for path, _, name in TABLES
        ],
    }
    return {key: value for key, value in known.items() if value not in ("", [])}


def _suite_work(part: SuitePart) -> dict[str, JsonValue]:
    meta = part.entries[0].run.suite.meta
    known: dict[str, JsonValue] = {
        "@type": "Dataset",
        "name": part.name,
        "description": f"A test suite of {len(part.items)} items"
        + (f" about {meta.phenomenon}" if meta.phenomenon else ""),
        "version": meta.version,
        "license": meta.licence,
        "citation": meta.citation or meta.reference,
        "inLanguage": meta.language,
    }
    return {key: value for key, value in known.items() if value}

"""A static site of many runs: a board, and a page for each model, suite, phenomenon, run and item.

Every number in it is an estimate or an outcome of a run, shown by the records and renderers of the
report. The pages load nothing and execute nothing but scripts of their own, allowed by hash. Of the
files of a site, only those that differ are written again.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import os
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from cimento._version import __version__
from cimento.compare.over_suites import board_grids
from cimento.errors import UsageError
from cimento.export.data import run_data
from cimento.export.leaderboards import FOLDER, eval_results, need_benchmark, records
from cimento.io.files import expanded, inert_csv, read_bytes, write_bytes, writing
from cimento.io.unfinished import remove_unfinished
from cimento.io.untrusted import open_safely
from cimento.kinds.run import runs_of
from cimento.paired.item_outcomes import without_trials
from cimento.records.outcomes import estimates_table
from cimento.records.store import file_name
from cimento.report import NamedGrid
from cimento.report.grid import as_csv
from cimento.report.items import script_safe
from cimento.site import pages
from cimento.site.board import SuitePart, by_suite, slug, suite_parts
from cimento.site.items import (
    TOGETHER,
    analysis_of,
    curve_grid,
    item_pages,
    items_grid,
    pairs_grid,
    ranks_grid,
    runs_grid,
    together_files,
)
from cimento.site.memory import (
    RECORD,
    BuildMemory,
    BuildRecord,
    code_digest,
    digest_of,
    kept_parts,
    remembered,
    restored,
    run_digest,
)

__all__ = ["SiteChanges", "SiteSettings", "write_site"]

if TYPE_CHECKING:
    from cimento.kinds.run import Run, RunsLike
    from cimento.suites import JsonValue

INDEX = "site.json"
"""The record of a site: the sha256 of every file by path, and what files were made of."""

_BEGUN = ".site.begun"
"""The paths of the files that a build has begun to write, a line each, until its index is written.

By them a build that was killed is known, and finished by the next one.
"""

_SERVER_FILES = frozenset({"CNAME", "robots.txt"})

File = tuple[str, str | bytes | None]
"""The path of a file from the root of the site, and its content; None where it stays as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteSettings:
    """The settings of a site: what it says of itself.

    Attributes:
        title: title of the site.
        address: where it will stand, such as ``https://lab.example/board/``; empty if unknown.
        license: address or name of the license of the tables; empty if none is stated.
        dataset: benchmark on the Hugging Face hub, ``owner/name``, whose tasks are named like the
            suites, for results in the form of its model cards; empty for none.
        spreadsheet_safe: whether cells of CSV files that begin a formula get an apostrophe.
    """

    title: str = "Board"
    address: str = ""
    license: str = ""
    dataset: str = ""
    spreadsheet_safe: bool = False


@dataclass(frozen=True, slots=True)
class SiteChanges:
    """The changes that a build made to the files of a site.

    Attributes:
        page: the first page.
        written: number of files that were new or differed.
        kept: number of files that were the same already.
        removed: number of files of an earlier build that the site no longer has.
        trials: runs on some items that are not on the site, since the run on all items is.
    """

    page: Path
    written: int
    kept: int
    removed: int
    trials: tuple[Run, ...] = ()


def write_site(
    runs: RunsLike, output: str | Path, settings: SiteSettings | None = None
) -> SiteChanges:
    """Write a static site of runs of any kinds.

    Args:
        runs: stored runs, or folders of them; partial runs are left out if the whole one is there.
        output: folder of the site, new or that of an earlier build.
        settings: what the site says of itself.

    Returns:
        The first page, and how many files were written, kept and removed.

    Raises:
        UsageError: a run is given twice or not stored, or the folder has files of something else.
        CimentoError: a run cannot be read, or the folder cannot be written.

    Example:
        >>> write_site(evaluate("it-subject-verb", "demo-causal", output="runs"), "site").page.name
        'index.html'
    """
    site = _Folder(expanded(output), safe=bool(settings and settings.spreadsheet_safe))
    shown, trials = without_trials(runs_of(runs), beside=1)
    for path, content in site_files(shown, settings or SiteSettings(), site.memory):
        site.keep(path) if content is None else site.put(path, content)
    return dataclasses.replace(site.finish(), trials=tuple(trials))


class _Folder:
    """The folder of a site, whose index tells which files are its own."""

    def __init__(self, root: Path, *, safe: bool) -> None:
        self.root = root
        self._safe = safe
        before, made = self._index()
        self._before = {**dict.fromkeys(self._begun(), ""), **before}
        self._after: dict[str, str] = {}
        self._written = 0
        self.memory = BuildMemory(remembered(made), self._is_kept)

    def _index(self) -> tuple[dict[str, str], object]:
        """The digests of the files of an earlier build, none if there was none; what was made.

        Raises:
            UsageError: the index is not one.
        """
        if not (self.root / INDEX).is_file():
            if not (self.root / _BEGUN).is_file():
                self._need_empty()
            return {}, {}
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
        inside = {path: digest for path, digest in digests.items() if _is_inside(path)}
        return inside, content.get("made")

    def _begun(self) -> list[str]:
        """The files that a build which was killed has begun to write."""
        if not (self.root / _BEGUN).is_file():
            return []
        remove_unfinished(self.root)
        lines = read_bytes(self.root / _BEGUN).decode("utf-8", errors="replace").split("\n")
        return [line for line in lines if _is_inside(line)]

    def _begin(self, path: str) -> None:
        """Note that a file is begun, before anything of it is on the disk."""
        with writing(self.root):
            self.root.mkdir(parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
            with os.fdopen(open_safely(self.root / _BEGUN, flags), "wb") as file:
                file.write(f"\n{path}\n".encode())  # a line that was cut off stays apart
                file.flush()
                os.fsync(file.fileno())

    def _need_empty(self) -> None:
        """Refuse a folder with files that are neither hidden nor for a server.

        Raises:
            UsageError: there are some.
        """
        names = sorted(path.name for path in self.root.iterdir()) if self.root.is_dir() else []
        others = [name for name in names if name not in _SERVER_FILES and not name.startswith(".")]
        if others:
            raise UsageError(
                where=str(self.root),
                seen=f"the folder has {others[0]!r}, which is not of this site",
                todo="Give an empty folder with --output, or the folder of an earlier build.",
            )

    def _is_kept(self, path: str) -> bool:
        """Whether a file of the earlier build is there as it was written."""
        target = self.root / path
        if path not in self._before or not target.is_file():
            return False
        return hashlib.sha256(read_bytes(target)).hexdigest() == self._before[path]

    def keep(self, path: str) -> None:
        """Leave a file of the earlier build as it is."""
        self._after[path] = self._before[path]

    def put(self, path: str, content: str | bytes) -> None:
        """Write a file, unless it is there already.

        Raises:
            UsageError: a file is there that no site wrote.
            StorageError: the file cannot be written.
        """
        if self._safe and isinstance(content, str) and path.endswith(".csv"):
            content = inert_csv(content)
        data = content.encode("utf-8") if isinstance(content, str) else content
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
        if path not in self._before:
            self._begin(path)
        write_bytes(data, target)
        self._written += 1

    def finish(self) -> SiteChanges:
        """Remove what the site no longer has, and write its index after all files."""
        gone = [path for path in self._before if path not in self._after]
        for path in gone:
            (self.root / path).unlink(missing_ok=True)
            _remove_empty((self.root / path).parent, self.root)
        made = RECORD.dump_python(dict(sorted(self.memory.now.items())), mode="json")
        files = dict(sorted(self._after.items()))
        index = {"cimento": __version__, "files": files, "made": made}
        text = json.dumps(index, ensure_ascii=False, separators=(",", ":"))
        write_bytes(f"{text}\n".encode(), self.root / INDEX)
        (self.root / _BEGUN).unlink(missing_ok=True)
        kept = len(self._after) - self._written
        return SiteChanges(self.root / pages.BOARD, self._written, kept, len(gone))


def _is_inside(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return bool(parts) and not PurePosixPath(path).is_absolute() and ".." not in parts


def _remove_empty(folder: Path, root: Path) -> None:
    while folder != root and folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


def site_files(
    runs: Sequence[Run], settings: SiteSettings, memory: BuildMemory | None = None
) -> Iterator[File]:
    """Every file of a site, one after the other.

    Args:
        runs: stored runs of any kinds.
        settings: what the site says of itself.
        memory: what an earlier build made; None to make everything.
    """
    if settings.dataset:
        need_benchmark(settings.dataset, run_data(runs))
    look = pages.SiteLook(settings.title)
    memory = memory or BuildMemory()
    parts: list[SuitePart] = []
    for name, suite_runs in by_suite(runs).items():
        base = digest_of(code_digest(), settings.title, settings.spreadsheet_safe)
        inputs = digest_of(base, *map(run_digest, suite_runs))
        if (made := memory.same(f"suite {name}", inputs)) is not None:
            parts += [restored(part, suite_runs) for part in made.parts]
            for path in made.files:
                memory.carry(path)
                yield path, None
            continue
        paths, fresh = [], []
        for part in suite_parts(suite_runs):
            for path, content in _suite_files(look, part, base, memory):
                paths.append(path)
                yield path, content
            # The pages of items and runs are written: what they show need not stay in memory.
            fresh.append(dataclasses.replace(part, sections=(), items=()))
        memory.now[f"suite {name}"] = BuildRecord(inputs, (*paths,), kept_parts(fresh, suite_runs))
        parts += fresh
    cards: dict[str, str] = {}
    for entries in pages.by_model(parts).values():
        estimates = [one for entry in entries for one in entry.run.estimates()]
        path = f"tables/models/{slug(entries[0].model)}.csv"
        yield path, estimates_table(estimates).write_csv()
        files = [(path, "all estimates (CSV)")]
        found = run_data([entry.run for entry in entries]) if settings.dataset else []
        if text := eval_results(found, dataset=settings.dataset, source=settings.address):
            files.append((f"eval_results/{slug(entries[0].model)}.yaml", "results for its card"))
            yield files[-1][0], text
            name = file_name(settings.dataset.partition("/")[2])
            cards[f"{file_name(entries[0].model)}/{FOLDER}/{name}.yaml"] = text
        yield entries[0].model_page, pages.model_page(look, entries, parts, files=files)
    yield from pages.phenomenon_pages(look, parts)
    if cards:
        yield CARDS, _zipped(cards)
    yield from _overall(look, parts, settings, memory, has_cards=bool(cards))


def _suite_files(
    look: pages.SiteLook, part: SuitePart, base: str, memory: BuildMemory
) -> Iterator[File]:
    place = f"tables/{part.folder}"
    tables = [table for section in part.sections for table in section.tables]
    curves = [
        NamedGrid(f"training {name}", curve_grid(name, part.whole)) for name, _ in part.whole.curves
    ]
    for table in (*tables, *curves):
        yield f"{place}/{slug(table.name)}.csv", as_csv(table.grid)
    files = []
    if part.whole.results:
        yield f"{place}/ranks.csv", as_csv(ranks_grid([part.whole, *part.phenomena]))
        files.append((f"{place}/ranks.csv", "estimates, rank intervals (CSV)"))
    if part.whole.places.pairs:
        yield f"{place}/pairs.csv", as_csv(pairs_grid(part.whole.places.pairs))
        files.append((f"{place}/pairs.csv", "every pair of models (CSV)"))
    yield f"{place}/{RECORDS}", _zipped(records(run_data([entry.run for entry in part.entries])))
    files.append((f"{place}/{RECORDS}", "records for Every Eval Ever (zip)"))
    yield f"{place}/items.csv", as_csv(items_grid(part))
    files.append((f"{place}/items.csv", "every item by every model (CSV)"))
    yield part.page, pages.suite_page(look, part, tables=tables, curves=curves, files=files)
    for entry in part.entries:
        inputs = digest_of(base, part.name, part.page, entry.label, run_digest(entry.run))
        if memory.same(entry.page, inputs) is not None:
            yield entry.page, None
            continue
        memory.now[entry.page] = BuildRecord(inputs, (entry.page,))
        yield entry.page, pages.run_page(look, part, entry)
    yield from item_pages(look, part)


RECORDS = "every-eval-ever.zip"
"""The records of a suite's runs for Every Eval Ever, without single verdicts."""
CARDS = "eval_results/all.zip"
"""The results for the model cards of all models, each in its folder."""


def _zipped(texts: Mapping[str, str]) -> bytes:
    """Files in an archive that is the same whenever it is made."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in sorted(texts.items()):
            # An entry made from a name alone has the earliest date that there is in archives.
            archive.writestr(zipfile.ZipInfo(path), text, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def _overall(
    look: pages.SiteLook,
    parts: Sequence[SuitePart],
    settings: SiteSettings,
    memory: BuildMemory,
    *,
    has_cards: bool,
) -> Iterator[File]:
    """The board, the list of runs, and their tables."""
    entries = [entry for part in parts for entry in part.entries]
    over_suites = board_grids([entry.run for entry in entries])
    estimates = estimates_table([one for entry in entries for one in entry.run.estimates()])
    yield "tables/estimates.csv", estimates.write_csv()
    sides = [side for part in parts for side in (part.whole, *part.phenomena)]
    yield "tables/ranks.csv", as_csv(ranks_grid(sides))
    runs = NamedGrid("runs", runs_grid(entries))
    yield "tables/runs.csv", as_csv(runs.grid)
    yield pages.RUNS, look.page("runs.html", pages.RUNS, title="All runs", parts=parts, table=runs)
    analyzed = list(_analyzed(look, parts, settings, memory))
    yield from analyzed
    yield (
        pages.BOARD,
        pages.board_page(
            look,
            parts,
            files=[(path, text) for path, text, _ in TABLES],
            records=[
                *([(CARDS, "results for all model cards (.eval_results)")] if has_cards else []),
                *((f"tables/{part.folder}/{RECORDS}", part.name) for part in parts),
            ],
            dataset=script_safe(json.dumps(dataset_of(parts, settings), ensure_ascii=False)),
            means=[NamedGrid(*named) for named in over_suites.items()],
            together=TOGETHER if analyzed else "",
        ),
    )
    # Pages hosts run Jekyll on what they are given, unless this file is there.
    yield ".nojekyll", ""


def _analyzed(
    look: pages.SiteLook, parts: Sequence[SuitePart], settings: SiteSettings, memory: BuildMemory
) -> Iterator[File]:
    """The page of all runs together and its tables, none where they are too few."""
    runs = [run_digest(entry.run) for part in parts for entry in part.entries]
    inputs = digest_of(code_digest(), settings.title, *runs)
    if (made := memory.same(TOGETHER, inputs)) is not None:
        yield from ((path, None) for path in made.files)
        return
    analysis = analysis_of(parts)
    files = [] if analysis is None else list(together_files(look, analysis))
    memory.now[TOGETHER] = BuildRecord(inputs, tuple(path for path, _ in files))
    yield from files


TABLES = (
    ("tables/ranks.csv", "estimates and rank intervals (CSV)", "Estimates and rank intervals"),
    ("tables/estimates.csv", "all estimates (CSV)", "All estimates, with intervals and tests"),
    ("tables/runs.csv", "all runs (CSV)", "Runs: models, revisions, versions, dates"),
)


def dataset_of(parts: Sequence[SuitePart], settings: SiteSettings) -> dict[str, JsonValue]:
    """The site as a ``Dataset`` of schema.org, for search engines and catalogs.

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
            f" suites ({names}): estimates with 95% intervals, the rank interval of each model,"
            " and the verdict on every item."
        ),
        "url": base,
        "license": settings.license,
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
        "description": f"A test suite of {part.n_items} items"
        + (f" about {meta.phenomenon}" if meta.phenomenon else ""),
        "version": meta.version,
        "license": meta.license,
        "citation": meta.citation or meta.reference,
        "inLanguage": meta.language,
    }
    return {key: value for key, value in known.items() if value}

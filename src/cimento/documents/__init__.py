"""Reports: from runs of any kinds to one document, a page, a table or records."""

from __future__ import annotations

import dataclasses
import io
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cimento._version import __version__
from cimento.documents.findings import findings_of
from cimento.documents.paper import results_grid, revisions
from cimento.documents.paper_figure import RESULTS, results_figure
from cimento.errors import CimentoError, UsageError, counted, did_you_mean, few_of_each_code
from cimento.io.files import expanded, write_bytes, write_text
from cimento.io.parquet import write_parquet
from cimento.io.values import grouped
from cimento.kinds.clusters import designs_said
from cimento.kinds.identity import content_of
from cimento.kinds.run import runs_of
from cimento.kinds.sections import estimates_grid
from cimento.paired.item_outcomes import MEASURE, on_each_measure
from cimento.records.outcomes import estimates_table
from cimento.records.store import CONTENT, manifest_part
from cimento.records.summary import Summary
from cimento.report import NamedGrid
from cimento.report.benchmarks import benchmark_means, means_grid
from cimento.report.excel import xlsx
from cimento.report.figures import load_altair, wrong_ending
from cimento.report.findings import Findings, findings_as_markdown
from cimento.report.formatting import shared_remarks, short_model_names
from cimento.report.grid import BLANK, GRID_FORMS, Grid, as_latex, as_markdown
from cimento.report.language import ENGLISH, PageLanguage
from cimento.report.terminal import on_terminal
from cimento.report.word import docx

_SHOWN_DIGITS = 4

if TYPE_CHECKING:
    import polars as pl

    from cimento.kinds.paradigm import AnyParadigm
    from cimento.kinds.run import Run, RunsLike
    from cimento.records.summary import RunSummary
    from cimento.report import JointReport, SuiteReport
    from cimento.report.figures import Figure


def sections_of(runs: Sequence[Run]) -> list[SuiteReport]:
    """The sections of some runs, grouped by paradigm.

    Args:
        runs: runs of any kinds, in the order of display.

    Raises:
        CimentoError: a run cannot be read or judged.
    """
    return [
        section
        for paradigm, paradigm_runs in _by_paradigm(runs).items()
        for section in paradigm.presenter.sections(paradigm_runs)
    ]


def text(runs: Sequence[Run]) -> str:
    """The text that `cimento show` prints for some runs: the tables of each paradigm."""
    tables = "\n".join(
        paradigm.presenter.text(paradigm_runs)
        for paradigm, paradigm_runs in _by_paradigm(runs).items()
    )
    designs = designs_said(runs)
    return "\n".join([tables.rstrip("\n"), "", *designs]) if designs else tables


def brief(runs: Sequence[Run]) -> str:
    """A row for each suite, with the headline numbers of all models, means, and the first remarks.

    Empty where nothing is judged in any run.
    """
    if not any(one.role == "headline" for run in runs for one in run.estimates()):
        return ""
    judged = _measures_apart([measured for run in runs for measured in on_each_measure(run)])
    summaries = [run.summary() for run in judged]
    means = benchmark_means(summaries)
    grids = [results_grid(judged), *([means_grid(means)] if means else [])]
    warned = shared_remarks(summaries, lambda run: few_of_each_code(run.warnings))
    said = [f"{about}: {remark}" for about, remark in warned]
    left = len(said) - _REMARKS_SHOWN
    more = [f"{counted(left, 'more remark')}."] if left > 0 else []
    return "\n".join([*map(on_terminal, grids), *said[:_REMARKS_SHOWN], *more])


def _measures_apart(runs: Sequence[Run]) -> list[Run]:
    """The runs, with the measure beside the model where one is judged on several."""
    measures = [str(getattr(run.options, MEASURE, "")) for run in runs]
    several = {
        model
        for model, own in grouped(
            (run.model, measure) for run, measure in zip(runs, measures, strict=True)
        ).items()
        if len({*own}) > 1
    }
    return [
        dataclasses.replace(run, manifest={**run.manifest, "label": f"{run.model} [{measure}]"})
        if run.model in several and measure
        else run
        for run, measure in zip(runs, measures, strict=True)
    ]


_REMARKS_SHOWN = 12
"""Remarks below the table of many suites; `cimento show` has all of them."""


def markdown(runs: Sequence[Run]) -> str:
    """What some runs show, and their main estimates as a GitHub Markdown table, with notes."""
    estimates = [
        estimate for run in runs for estimate in run.estimates() if estimate.role != "detail"
    ]
    summaries = [run.summary() for run in runs]
    warned = shared_remarks(summaries, lambda run: few_of_each_code(run.warnings))
    notes = [f"{about}: {remark}" for about, remark in warned]
    # Those about people are the same beside every model.
    notes += dict.fromkeys(
        f"{run.suite.name}: {remark}"
        for run in runs
        for remark in run.paradigm.presenter.remarks(run)
    )
    suites = {estimate.suite for estimate in estimates}
    title = "Shares in percent; 95% intervals."
    if len(suites) == 1:
        title = f"{suites.pop()}: shares in percent; 95% intervals."
    short = short_model_names(dict.fromkeys(estimate.model for estimate in estimates))
    named = [dataclasses.replace(one, model=short[one.model]) for one in estimates]
    grid = estimates_grid(named, title=title, notes=(*notes, *revisions(short)))
    grids = [_exceptions_only(grid)]
    over = over_suites(runs, summaries).values()
    tables = map(as_markdown, [*grids, *over])
    return "\n".join(filter(None, [findings_as_markdown(findings_of(runs, percent=True)), *tables]))


def _exceptions_only(grid: Grid) -> Grid:
    """The table without zeros in the columns of ties and unscored items, and without empty ones."""
    counts = {k for k, name in enumerate(grid.header) if name in {"ties", "unscored"}}
    rows = tuple(
        tuple(BLANK if k in counts and cell == "0" else cell for k, cell in enumerate(row))
        for row in grid.rows
    )
    return dataclasses.replace(grid, rows=rows).filled()


def csv(runs: Sequence[Run]) -> str:
    """All estimates of some runs as CSV (RFC 4180): the table of estimates."""
    return estimates_of(runs).write_csv(line_terminator="\r\n")


def estimates_of(runs: Sequence[Run]) -> pl.DataFrame:
    """All estimates of some runs as one table."""
    return estimates_table(estimate for run in runs for estimate in run.estimates())


def json(runs: Sequence[Run]) -> str:
    """The JSON summary of some runs, see docs/parts/tables.md."""
    summaries = tuple(run.summary() for run in runs)
    return Summary(runs=summaries, means=benchmark_means(summaries)).to_json()


def html(
    runs: Sequence[Run],
    joint: Sequence[JointReport] = (),
    *,
    language: PageLanguage = ENGLISH,
    findings: Findings | None = None,
) -> str:
    """A self-contained page with figures, tables and items.

    Args:
        runs: in the order of display.
        joint: sections about all of them together.
        language: the language of the page.
        findings: what it says first; None for what the runs show, in English.
    """
    from cimento.report.html import Page, html_page

    methods, works = methods_of(runs)
    suites = tuple(sections_of(runs))
    over = over_suites(runs, [run.summary() for run in runs])
    page = Page(
        cimento=__version__,
        findings=findings or findings_of(runs),
        language=language,
        suites=suites,
        over_suites=[NamedGrid(*named) for named in over.items()],
        joint=tuple(joint),
        methods=methods,
        references=works,
    )
    return html_page(page)


def over_suites(runs: Sequence[Run], summaries: Sequence[RunSummary]) -> dict[str, Grid]:
    """The tables over suites by name: means of a benchmark, and published results beside runs.

    Args:
        runs: of any kinds.
        summaries: of the same runs.
    """
    from cimento.compare.beside_published import published_grid, shown_beside

    means = benchmark_means(summaries)
    grids = {"blimp": means_grid(means)} if means else {}
    if beside := shown_beside(runs, means):
        grids["published"] = published_grid(beside)
    return grids


OF_ALL_KINDS = ("results", "mixed-right", "published")
"""The names of the tables that runs of any kind can have."""


def table_of_all_kinds(name: str, runs: Sequence[Run], *, seed: int) -> Grid:
    """A table that runs of any kind can have.

    Args:
        name: one of `OF_ALL_KINDS`.
        runs: the runs.
        seed: of resampling.

    Raises:
        UsageError: the runs have nothing for this table.
    """
    from cimento.compare.beside_published import beside_published, published_grid
    from cimento.compare.mixed_right import right_grid

    if name == "published":
        return published_grid(beside_published(runs, seed=seed))
    return results_grid(runs) if name == "results" else right_grid(runs)


def latex(runs: Sequence[Run]) -> str:
    """The table for a paper, suites by models, in LaTeX."""
    return as_latex(results_grid(runs))


REPORT_FORMS: Mapping[str, Callable[[Sequence[Run]], str]] = {
    ".html": html,
    ".md": markdown,
    ".csv": csv,
    ".json": json,
    ".txt": text,
    ".tex": latex,
}
"""File endings, each mapped to the function that makes the document in this form."""


def parquet(grid: Grid) -> bytes:
    """The table as Parquet for programs, with title, notes and the schema of a row as metadata."""
    tidy = grid.tidy
    about = tidy.plain(title=grid.title, notes=grid.footnotes)
    about.pop("rows")
    buffer = io.BytesIO()
    write_parquet(tidy.frame(), buffer, metadata={"cimento": dumps(about, ensure_ascii=False)})
    return buffer.getvalue()


_FILES: Mapping[str, Callable[[Grid], bytes]] = {
    ".docx": docx, ".xlsx": xlsx, ".parquet": parquet
}  # fmt: skip


def grid_file(grid: Grid, ending: str) -> bytes:
    """The content of a file with a table: a form of `GRID_FORMS`, Word, Excel or Parquet.

    Args:
        grid: the table.
        ending: of the file's name; it determines the form.
    """
    return _FILES[ending](grid) if ending in _FILES else GRID_FORMS[ending](grid).encode()


def write_grid(grid: Grid, path: Path) -> Path:
    """Write a table in the form given by the ending, see `grid_file`.

    Raises:
        UsageError: no form has this ending.
        StorageError: the file cannot be written.
    """
    endings = (*GRID_FORMS, *_FILES)
    if (ending := path.suffix.lower()) in endings:
        return write_bytes(grid_file(grid, ending), path)
    raise wrong_ending("a table", path, endings)


def report(runs: RunsLike, output: str | Path, *, joint: Sequence[JointReport] = ()) -> Path:
    """Write a report of runs of any kinds to one file.

    Args:
        runs: the runs, in the order of display.
        output: the file: ``.html``, ``.md``, ``.txt``, ``.csv`` or ``.json``; ``.tex`` or ``.docx``
            for the table of a paper. The ending determines the form.
        joint: sections about all runs together, for a page.

    Returns:
        The path of the file.

    Raises:
        UsageError: the ending is none of these.
        StorageError: the file cannot be written.

    Example:
        >>> run = evaluate("it-subject-verb", "demo-causal")
        >>> report(run, "report.html").name
        'report.html'
    """
    file = expanded(output)
    if file.suffix.lower() == ".docx":
        return write_grid(results_grid(runs_of(runs)), file)
    form = REPORT_FORMS.get(file.suffix.lower())
    if form is None:
        raise wrong_ending("a report", file, (*REPORT_FORMS, ".docx"))
    if joint and form is not html:
        raise UsageError(
            where=f"--output={file}",
            seen="sections about all runs together are for pages",
            todo="Write a page: .html.",
        )
    opened = runs_of(runs)
    return write_text(html(opened, joint) if joint else form(opened), file)


def figure(runs: RunsLike, name: str, output: str | Path | None = None) -> Figure:
    """Draw a figure of runs: ``results``, or one of those on the page of a report.

    Args:
        runs: the runs to draw.
        name: name of the figure: ``margins``, ``interaction``, ``scatter``, ``curve``, ``rates``
            ...
        output: file to write: ``.svg``, ``.png``, ``.pdf``, ``.csv`` (numbers), ``.json``
            (Vega-Lite).

    Returns:
        The figure: its name, its title, its numbers and its Vega-Lite specification.

    Raises:
        UsageError: these runs have nothing to draw under this name, or several figures have it.
        MissingDependencyError: the drawing libraries are not installed.

    Example:
        >>> run = evaluate("it-subject-verb", "demo-causal")
        >>> figure(run, "margins", "margins.json").name
        'margins'
    """
    load_altair()
    opened = runs_of(runs)
    if name == RESULTS:
        named, known = [results_figure(opened)], [RESULTS]
    else:
        figures = [figure for section in sections_of(opened) for figure in section.figures]
        named = [figure for figure in figures if figure.name == name]
        known = [*(one.name for one in figures), RESULTS]
    if not named:
        raise UsageError(
            where=f"figure {name!r}",
            seen="these runs have nothing to draw in this way",
            todo=did_you_mean(name, dict.fromkeys(known)),
        )
    if len(named) > 1:
        raise UsageError(
            where=f"figure {name!r}",
            seen=f"there are {len(named)} of them: {'; '.join(figure.title for figure in named)}",
            todo="Give one run.",
        )
    if output is not None:
        named[0].write(Path(output))
    return named[0]


def versions_apart(runs: Sequence[Run]) -> list[Run]:
    """The runs, with a few digits of a hash added to the names of suites with several versions.

    Otherwise the runs of a suite before and after an edit would appear in one table as one suite.

    Args:
        runs: runs of any suites.
    """
    contents = [content_of(run) for run in runs]
    parts = [manifest_part(run.manifest, "suite") for run in runs]
    shown = version_digits(
        (content, str(part.get("sha256") or ""))
        for content, part in zip(contents, parts, strict=True)
    )
    versions: dict[str, set[str]] = {}
    for run, content in zip(runs, contents, strict=True):
        versions.setdefault(run.suite.name, set()).add(content)
    return [
        _named(run, shown[content]) if content and len(versions[run.suite.name]) > 1 else run
        for run, content in zip(runs, contents, strict=True)
    ]


def version_digits(suites: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The digits shown for each version of a suite: the first of its SHA-256, as methods give it.

    A workbook that was only saved again has another SHA-256 and the same content: the first counts.
    One file that was read in two ways has two contents, which are shown by digests of their own.

    Args:
        suites: the digest of the content and the SHA-256 of the suite of each run.
    """
    first: dict[str, str] = {}
    for content, sha256 in suites:
        first.setdefault(content, (sha256 or content)[:_SHOWN_DIGITS])
    counts = Counter(first.values())
    return {
        content: digits if counts[digits] == 1 else content[:_SHOWN_DIGITS]
        for content, digits in first.items()
    }


def content_digest_of(manifest: Mapping[str, Any]) -> str:
    """The digest by which versions of a suite are told apart, as its run stored it; else empty.

    Args:
        manifest: of a run.
    """
    suite = manifest_part(manifest, "suite")
    return str(suite.get(CONTENT) or "")


def _named(run: Run, content: str) -> Run:
    suite: Any = run.suite
    if not dataclasses.is_dataclass(type(suite)):
        return run
    meta = dataclasses.replace(run.suite.meta, name=f"{run.suite.name} ({content})")
    return dataclasses.replace(run, suite=dataclasses.replace(suite, meta=meta))


def _by_paradigm(runs: Sequence[Run]) -> dict[AnyParadigm, list[Run]]:
    return grouped((run.paradigm, run) for run in runs)


def methods_of(runs: Sequence[Run]) -> tuple[str, tuple[str, ...]]:
    """The methods paragraph, its appendix and its references, as text and lines."""
    from cimento.cite import cited_works, methods_paragraph

    try:
        paragraphs = [methods_paragraph(runs, appendix=appendix) for appendix in (False, True)]
        return "\n\n".join(paragraphs), tuple(work.line for work in cited_works(runs))
    except CimentoError as error:
        # A manifest may lack details; the rest of the page is still shown.
        return f"The methods cannot be described: {error}", ()

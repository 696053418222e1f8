"""``cimento report`` and ``show``: stored runs as text, tables, figures, pages, or a whole site."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from cimento.cli.console import note, show, show_json
from cimento.cli.flags import SheetOptions, StoredOptions, command_of, parted
from cimento.cli.page import write_document
from cimento.cli.resources import zipf_frequencies_if_any
from cimento.documents import (
    OF_ALL_KINDS,
    sections_of,
    table_of_all_kinds,
    text,
    versions_apart,
    write_grid,
)
from cimento.documents.paper import dressed, grid_texts, names_standing
from cimento.errors import UsageError, did_you_mean
from cimento.io.declared import Options, Texts, option
from cimento.io.files import expanded, write_text
from cimento.io.inline_markup import printable
from cimento.kinds.clusters import with_clusters
from cimento.kinds.named import Bars, TableSettings
from cimento.kinds.registry import own_paradigms
from cimento.kinds.run import Run, open_runs
from cimento.measures.normalizing import Normalization, Scope
from cimento.models.hf.names import is_folder
from cimento.options import run_option
from cimento.paired.item_outcomes import labeled_apart
from cimento.records.store import MANIFEST
from cimento.report.grid import GRID_FORMS, Grid
from cimento.report.terminal import on_terminal, terminal_item

if TYPE_CHECKING:
    from cimento.report import ItemRecord, RunReport


class TableOptions(StoredOptions, SheetOptions):
    """Stored runs, and the output files."""

    seed: int = option(0, "Seed of the simulated chance levels.")


class GridOptions(TableOptions):
    """Stored runs, and the forms in which tables are printed and written."""

    output: Path | None = option(
        None, "A folder for the tables, each as .csv, .md, .tex ...", flags=("-o",)
    )
    as_json: bool = option(default=False, help="Print the summary as JSON.", flags=("--json",))


def show_grids(
    grids: Mapping[str, Grid], options: GridOptions, *, only: Collection[str] | None = None
) -> None:
    """Print tables (some, or all), unless JSON is requested; write all to the folder."""
    for name, grid in grids.items():
        if not options.as_json and (only is None or name in only):
            show(on_terminal(grid) + "\n")
        if options.output is not None:
            paths = {form: options.output / f"{name}{end}" for end, form in GRID_FORMS.items()}
            options.neutralize(*(write_text(form(grid), path) for form, path in paths.items()))


def open_reports(
    paths: Iterable[Path], measures: Sequence[str] = (), cluster: Sequence[str] = ()
) -> list[Run]:
    """The runs in some folders, those of edited suites and of one model with names of their own.

    Args:
        paths: each a run or a folder of runs.
        measures: of whole sentences, by which runs are judged; empty for those of each run.
        cluster: columns by which items belong together; none for those of the suites.

    Raises:
        TableError: a folder contains no finished run, or one that cannot be read.
        UsageError: a measure is unknown, or a suite lacks a column.
    """
    runs = [judged_on(run, measures) for run in with_clusters(open_runs(paths), cluster)]
    return labeled_apart(versions_apart(runs))


def judged_on(run: Run, measures: Sequence[str]) -> Run:
    """The run with the same answers, judged and shown on some measures of whole sentences.

    A run without measures is unchanged; ``regions`` are the values of regions, and none the run's.

    Raises:
        UsageError: a measure is unknown.
    """
    if not measures or not has_sentences(run):
        return run
    return run.judge(measures=measures)


def has_sentences(run: Run) -> bool:
    """Whether the sentences of a run were scored, so that they have measures."""
    return "measure" in type(run.options).model_fields


Form: TypeAlias = Literal["text", "markdown", "csv", "latex", "json"]

ENDINGS: Mapping[Form, str] = {
    "text": ".txt",
    "markdown": ".md",
    "csv": ".csv",
    "latex": ".tex",
    "json": ".json",
}


class ReportOptions(TableOptions):
    """The runs to report, and the form."""

    output: Path | None = option(
        None,
        "A file: .html, .md, .csv, .json, .txt; .tex, .docx; a table also as .xlsx; a figure .svg,"
        " .png, .pdf, .csv (numbers) or .json (Vega-Lite).",
        flags=("-o",),
    )
    table: str = option(
        "",
        "Only this table: results, mixed-right (mixed models of right and wrong), published (what"
        " a set's authors published), or one from the page; an unknown name lists all names.",
        metavar="NAME",
    )
    figure: str = option(
        "",
        "Only this figure, into -o FILE; an unknown name lists those of the runs.",
        metavar="NAME",
    )
    site: Path | None = option(
        None, "A site of many runs, with a board, into this folder.", metavar="FOLDER"
    )
    analyze: bool = option(
        default=False,
        help="In a page: a section on items, models and phenomena, as of analyze items.",
    )
    language: Literal["en", "it", "es", "pt", "ru"] = option(
        "en",
        "Language of a page; needs the extra app. Methods and provenance are in English.",
    )
    measures: Texts = option(
        (),
        "Judge whole sentences by these measures: lp,penlp:0.8,slor ... or regions.",
        flags=("--measure",),
    )
    cluster: Texts = run_option("cluster")
    title: str = option("", "Title of a table, a figure or a site, instead of its own.")
    rename: tuple[str, ...] = option(
        (),
        "In a table or a figure: what to call a suite, model (with or without @revision),"
        " condition, column or axis. Repeatable.",
        metavar="NAME=TEXT",
    )
    scale: Normalization | None = option(
        None,
        "Scale of --table effects (default: raw) and of interactions (default: z): raw, z,"
        " likert-z ...",
    )
    these_suites: bool = option(
        default=False,
        help="With --table blimp or phenomena: means have the interval for other items of these"
        " suites too.",
    )
    label: str = option("", "The label by which LaTeX refers to a table, such as tab:results.")
    form: Form | None = option(
        None, "Format of a printed table; latex needs the package booktabs.", flags=("--format",)
    )
    scope: Scope = option("suite", "What is pooled: the suite or each phenomenon.")
    bars: Bars | None = option(
        None,
        "Error bars: se over items; or 95% bars within items: cousineau-morey (usual for"
        " interactions), means-removed or loftus-masson.",
    )
    people: Path | None = option(
        None,
        "For interaction and rows: judgments, as annotate import writes them, or a CSV of ratings"
        " with phenomenon, item, condition, value (or z) and participant.",
    )
    item: str = option("", "For tokens: the id of the item.", metavar="ID")
    length: int | None = option(None, "For position: only sentences of this many tokens.", ge=1)
    font_size: int | None = option(None, "Size of all texts.", ge=4, le=72)
    gray: bool = option(default=False, help="Draw in gray, for print.")
    address: str = option(
        "", "Where the site will be, for its description as a data set.", metavar="URL"
    )
    license: str = option("", "The license of the site's tables, a name or an address.")
    dataset: str = option(
        "",
        "The benchmark on the Hugging Face hub, for results in the form of its model cards.",
        metavar="OWNER/NAME",
    )
    as_json: bool = option(
        default=False, help="With --site: print as JSON what was written.", flags=("--json",)
    )


_OF_MODES: Mapping[str, frozenset[str]] = {
    "a page": frozenset({"output", "measures", "cluster", "analyze", "language"}),
    "--table NAME": frozenset(
        {"table", "output", "measures", "cluster", "title", "rename", "label", "scale", "form",
         "these_suites"}
    ),
    "--figure NAME": frozenset(
        {"figure", "output", "measures", "title", "rename", "scale", "scope", "bars", "people",
         "item", "length", "font_size", "gray"}
    ),
    "--site FOLDER": frozenset({"site", "title", "address", "license", "dataset", "as_json"}),
}  # fmt: skip
"""What a report is, mapped to the options that concern it; the others concern all."""


def _mode_of(options: ReportOptions) -> str:
    """What the report is: a page, a table, a figure or a site.

    Raises:
        UsageError: an option concerns another.
    """
    mode = "a page"
    ending = options.output.suffix.lower() if options.output else ENDINGS[options.form or "text"]
    if options.figure:
        mode = "--figure NAME"
    elif options.site is not None:
        mode = "--site FOLDER"
    elif options.table or ending in _IN_PAPER:
        mode = "--table NAME"
    fields = ReportOptions.model_fields
    for name in dict.fromkeys(name for names in _OF_MODES.values() for name in sorted(names)):
        if name not in _OF_MODES[mode] and getattr(options, name) != fields[name].default:
            flag = {"form": "format", "measures": "measure", "as_json": "json"}.get(name, name)
            others = [other for other, names in _OF_MODES.items() if name in names]
            here = "in a page" if mode == "a page" else f"with {mode.split()[0]}"
            raise UsageError(
                where=f"--{flag.replace('_', '-')}",
                seen=f"has no effect {here}",
                todo=f"It belongs to {' or '.join(others)}: give that, or leave it out.",
            )
    return mode


@command_of
def report(options: ReportOptions) -> int:
    """Write a report of stored runs: a page, a table, a figure, or a site of many runs.

    -o FILE writes a page, or a document by the ending of its name; without it, tables are printed.
    A .tex or .docx file contains the table for a paper (--table results): suites by models.

    Figures: results (as that table), interaction (the four means of each phenomenon), rows (a row
    for each phenomenon), items (DD of every item), margins (of every item, its condition beside the
    other), phenomena (accuracy of each), tokens (one item, token by token), position (mean
    surprisal by position), length (score against length), regions, and others named on the page.

    A site has pages of models, suites, phenomena and items, and works offline. Write it again with
    more runs, and only the pages that change are written.
    """
    mode = _mode_of(options)
    if options.site is not None:
        from cimento.cli.site import write_pages

        return write_pages(options, options.site)
    if mode == "--figure NAME":
        from cimento.cli.figure import draw

        return draw(options)
    output, measures = options.output, options.measures
    if mode == "--table NAME":
        _report_table(options)
    elif output is None:
        show(text(open_reports(options.runs, measures, options.cluster)))
    else:
        runs = open_reports(options.runs, measures, options.cluster)
        write_document(runs, output, options.language, analyze=options.analyze)
        note(f"{_WRITTEN.get(output.suffix.lower(), 'The report is')} in {output}")
    if output is not None:
        options.neutralize(output)
    return 0


def _report_table(options: ReportOptions) -> None:
    """Print or write one table; without a name, that for a paper."""
    output, table = options.output, options.table or "results"
    ending = output.suffix.lower() if output else ENDINGS[options.form or "text"]
    # The other tables use the runs as they are.
    shown = options.measures if table == "results" else ()
    if options.scale is not None and table != "effects":
        raise UsageError(
            where=f"--scale={options.scale}",
            seen=f"the table {table} has no scale to choose",
            todo="Leave it out, or give --table effects.",
        )
    if options.these_suites and table not in _OF_SUITES:
        raise UsageError(
            where="--these-suites",
            seen=f"the table {table} has no means over suites",
            todo=f"Leave it out, or give --table {' or '.join(sorted(_OF_SUITES))}.",
        )
    settings = options.named_in(
        TableSettings, records=ending in _FOR_PROGRAMS, frequency=zipf_frequencies_if_any
    )
    made = _table(table, open_reports(options.runs, shown, options.cluster), settings)
    names = names_standing(names_given(options.rename), grid_texts(made))
    label = options.label or f"tab:{table}"
    grid = dressed(made, title=options.title, names=names, label=label)
    _write_table(grid, output, options.form or "text")


_WRITTEN = {".csv": "All estimates are", ".json": "The summary is"}
_OF_SUITES = frozenset({"blimp", "phenomena"})
_IN_PAPER = frozenset({".tex", ".docx"})
_FOR_PROGRAMS = frozenset({".csv", ".json"})


def names_given(texts: Iterable[str]) -> dict[str, str]:
    """The names and their replacements, from ``--rename NAME=TEXT``."""
    return parted(texts, flag="--rename", todo="Write NAME=TEXT.", may_be_empty=True)


def _table(name: str, runs: Sequence[Run], settings: TableSettings) -> Grid:
    """The table with a name: one that the kind of the runs makes, or one of the page.

    Raises:
        UsageError: the table does not exist.
    """
    if name in OF_ALL_KINDS:
        return table_of_all_kinds(name, runs, seed=settings.seed)
    kinds = dict.fromkeys(run.paradigm for run in runs)
    makers = [kind for kind in kinds if name in kind.presenter.tables]
    # Otherwise a kind that none of the runs is of says best what its table is about.
    makers = makers or [kind for kind in own_paradigms() if name in kind.presenter.tables]
    if makers:
        by_kind = {kind: kind.presenter.table for kind in makers}
        table = by_kind[makers[0]]
        if apart := [kind.name for kind in kinds if by_kind.get(kind, table) != table]:
            raise UsageError(
                where=f"--table={name}",
                seen=f"runs of {makers[0].name} and of {apart[0]} have tables of this name",
                todo="Give the runs of one kind.",
            )
        return table(name, [run for run in runs if run.paradigm in by_kind], settings)
    tables = [table for section in sections_of(runs) for table in section.tables]
    grids = [table.grid for table in tables if table.name == name]
    if len(grids) == 1:
        return grids[0]
    of_kinds = (known for kind in kinds for known in kind.presenter.tables)
    names = dict.fromkeys([*(table.name for table in tables), *of_kinds, *OF_ALL_KINDS])
    other = _OTHER_WORDS.get(name.casefold()) or did_you_mean(name, names)
    raise UsageError(
        where=f"--table={name}",
        seen=f"{len(grids)} suites have it" if grids else "there is no such table",
        todo="Give the runs of one suite." if grids else other,
    )


_OTHER_WORDS = {
    "dd": "DD is in the tables effects (means by condition), tests (p values) and regions.",
    "interaction": "The interaction of two factors is in the tables effects, tests and mixed.",
    "glmm": "Mixed models of right and wrong are in the table mixed-right.",
    "main": "The table for a paper, suites by models, is called results.",
    "summary": "The table for a paper, suites by models, is called results.",
}
"""Names that people may give to a table, each with where to find what they mean."""


def _write_table(grid: Grid, output: Path | None, form: Form) -> None:
    """Print a table, or write it in the form given by the ending of the file.

    Raises:
        UsageError: no form has this ending.
        StorageError: the file cannot be written.
    """
    if output is None:
        show(on_terminal(grid) if form == "text" else GRID_FORMS[ENDINGS[form]](grid))
        return
    note(f"The table is in {write_grid(grid, output)}")


class ShowOptions(Options):
    """The runs to show, and the item."""

    given: Texts = option(
        ...,
        "Run folders, or folders of runs; last, the id of an item: without it the summary"
        " is shown.",
        argument="RUN... [ITEM]",
    )
    as_json: bool = run_option("as_json")


@command_of
def show_run(options: ShowOptions) -> None:
    """Show stored runs, or one item: its tokens, fillers, judgments and verdicts.

    If there are several runs, those with the item are shown one after the other.
    """
    paths, item = _runs_and_item(options.given)
    if options.as_json and not item:
        from cimento.cli.evaluating import summary_json

        show(summary_json(open_runs(paths), ()))
        return
    opened = open_reports(paths)
    if not item:
        show(text(opened))
        return
    runs = [report for section in sections_of(opened) for report in section.runs]
    pairs = _with_item(runs, item, paths)
    if options.as_json:
        show_json({"item": item, "runs": [_item_json(*pair) for pair in pairs]})
        return
    show("\n\n".join(_item(report, record) for report, record in pairs))


def _runs_and_item(given: Sequence[str]) -> tuple[list[Path], str]:
    """The runs among some arguments, and the item that may come last; empty for none."""
    *before, last = given
    folder = expanded(last)
    is_run = is_folder(folder) and any(folder.rglob(MANIFEST))
    if before and not is_run:
        return [Path(path) for path in before], last
    return [Path(path) for path in given], ""


def _with_item(
    runs: Sequence[RunReport], item: str, paths: Sequence[Path]
) -> list[tuple[RunReport, ItemRecord]]:
    pairs = [(run, record) for run in runs for record in run.items if record.id == item]
    if not pairs:
        known = {record.id for run in runs for record in run.items}
        close = did_you_mean(item, known)
        if len(known) > _FEW and not close.startswith("Did"):
            some = ", ".join(
                [*dict.fromkeys(record.id for run in runs for record in run.items)][:3]
            )
            close = f"There are {len(known):,} items, such as {some}."
        where = " ".join(map(str, paths))
        raise UsageError(where=where, seen=f"there is no item {item!r}", todo=close)
    return pairs


_FEW = 30


def _item_json(report: RunReport, record: ItemRecord) -> dict[str, object]:
    """An item of a run as JSON."""
    strips = [
        {
            "condition": strip.condition,
            "text": strip.text,
            "regions": [
                {
                    "number": region.number,
                    "needed": region.needed,
                    "pieces": [piece._asdict() for piece in region.pieces],
                }
                for region in strip.regions
            ],
        }
        for strip in record.strips
    ]
    of_run = ("suite", "paradigm", "model", "language", "folder")
    return {
        **{name: getattr(report, name) for name in of_run},
        **asdict(record),
        "strips": strips,
        "remarks": [{"label": label, "text": remark} for label, remark in record.remarks],
    }


def _item(report: RunReport, record: ItemRecord) -> str:
    color = sys.stdout.isatty()
    width = shutil.get_terminal_size((100, 24)).columns if color else 100
    shown = terminal_item(record, report, width=width, color=color)
    return f"{printable(report.model)}\n{shown}"


def note_trials(trials: Sequence[Run]) -> None:
    """Name the trials that are left out, in a line for each model."""
    note_left_out(trials, why="the run on all items is there", what="runs on fewer items")


def note_left_out(runs: Sequence[Run], *, why: str, what: str) -> None:
    """Name runs that are left out, in a line for each model."""
    for model in dict.fromkeys(run.model for run in runs):
        suites = dict.fromkeys(run.suite.name for run in runs if run.model == model)
        note(f"cimento: left out, since {why}: {what} of {model} on {', '.join(suites)}")

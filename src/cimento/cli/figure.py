"""``cimento figure``: figures of stored runs, with the numbers behind them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.cli.console import note
from cimento.cli.flags import command_of
from cimento.cli.report import TableOptions, names_given, open_reports
from cimento.errors import UsageError, did_you_mean
from cimento.io.declared import option
from cimento.measures.normalising import Normalisation, Scope
from cimento.paradigms.regions.estimates import DEFAULT_MEASURE, factorial_of
from cimento.paradigms.regions.judging import options_of, scores_of, suite_of, values_of
from cimento.report.figures_conditions import (
    Bars,
    Column,
    interaction_figure,
    regions_figure,
    rows_figure,
)
from cimento.report.figures_scores import (
    items_figure,
    length_figure,
    length_frame,
    position_figure,
    tokens_figure,
)
from cimento.report.paper import names_standing
from cimento.suites.stimuli import count_words

if TYPE_CHECKING:
    from cimento.paradigms.regions.factorial import Factorial
    from cimento.report import RunReport
    from cimento.report.figures import Figure
    from cimento.runs.run import Run

OF_SENTENCES = (
    "interaction", "rows", "items", "position", "tokens", "length", "regions",
)  # fmt: skip
"""Figures that depend on options; all others are identical to those of the page."""


class FigureOptions(TableOptions):
    """The figure to draw, the runs, and the style."""

    # Empty if the only argument is a run, which was then taken for the name.
    runs: tuple[Path, ...] = option((), "Folders of runs.")
    name: str = option(
        ...,
        "interaction, rows, items, tokens, position, length, regions, margins, phenomena,"
        " pairs; of ratings: scatter; of cloze suites: curve, heat, dimensions, calibration;"
        " of stories: flow, states, calibration; of other kinds: rates, margins.",
    )
    output: Path = option(
        ...,
        "A file: .svg, .png, .pdf, numbers .csv, Vega-Lite spec .json.",
        flags=("-o",),
    )
    measure: str = option("", "What is drawn; else what the run is judged on.")
    scale: Normalisation = option("z", "raw, z, likert-z ... of interactions.")
    scope: Scope = option("suite", "What is pooled: the suite or each phenomenon.")
    bars: Bars = option(
        "se",
        "Error bars of interactions: se (over items), or 95 % within items by"
        " means-removed, cousineau-morey or loftus-masson.",
    )
    people: Path | None = option(
        None, "For rows: a CSV of ratings with phenomenon, item, condition and value (or z)."
    )
    title: str = option("", "In the place of the figure's own.")
    rename: tuple[str, ...] = option(
        (),
        "How a suite, model (with or without @revision), condition or axis is called. Repeatable.",
        metavar="NAME=TEXT",
    )
    font_size: int | None = option(None, "Of all texts.", unit="points", ge=4, le=72)
    grey: bool = option(default=False, help="Draw in grey, for print.")
    item: str = option("", "For tokens: the id of the item.")
    length: int | None = option(
        None, "For position: only sentences of so many tokens.", unit="tokens", ge=1
    )


def _figure(options: FigureOptions) -> int:
    """Draw a figure: interaction panels, token surprisals, positions, lengths.

    interaction: the four means of each phenomenon. rows: a row for each phenomenon, a column for
    each run (and people). items: DD of every item. tokens: one item, token by token. position:
    mean surprisal by position. length: score against length. regions: surprisal by region.
    All others are those on the page that `cimento report` writes; a wrong name lists them.
    """
    if not options.runs:
        raise UsageError(
            where="cimento figure",
            seen="a run and the name of a figure are needed",
            todo=f"Such as: cimento figure {_run_meant(options.name)} items -o items.svg. A wrong"
            " name lists the figures of the run.",
        )
    drawn = [_of_sentences(options)] if options.name in OF_SENTENCES else _of_page(options)
    texts = [text for figure in drawn for text in figure.texts]
    names = names_standing(names_given(options.rename), texts)
    written = []
    for figure, path in zip(drawn, _paths(options.output, len(drawn)), strict=True):
        dressed = figure.dressed(
            title=options.title, names=names, font_size=options.font_size, grey=options.grey
        )
        written.append(dressed.write(path))
    options.neutralise(*written)
    for path in written:
        note(f"The figure is in {path}")
    return 0


def _run_meant(argument: str) -> str:
    """The argument if it is a folder, else a placeholder."""
    return argument if Path(argument).is_dir() else "RUN"


figure = command_of(FigureOptions, _figure, positional=("runs", "name"), metavar=("RUN...", "NAME"))


def _paths(output: Path, count: int) -> list[Path]:
    """A file for each figure, numbered if there are several."""
    if count == 1:
        return [output]
    return [output.with_name(f"{output.stem}-{k}{output.suffix}") for k in range(1, count + 1)]


def _of_page(options: FigureOptions) -> list[Figure]:
    """The figures on the page that have this name.

    Raises:
        UsageError: the page has no such figure.
    """
    from cimento.report.document import sections_of
    from cimento.report.figures import load_altair

    load_altair()
    name = options.name
    measures = [options.measure] if options.measure else ()
    sections = sections_of(open_reports(options.runs, measures))
    known = [figure for section in sections for figure in section.figures]
    figures = [figure for figure in known if figure.name == name]
    if not figures:
        names = dict.fromkeys((*(figure.name for figure in known), *OF_SENTENCES))
        raise UsageError(
            where=f"cimento figure {name}",
            seen="there is nothing to draw so in these runs",
            todo=did_you_mean(name, names),
        )
    return figures


def _of_sentences(options: FigureOptions) -> Figure:
    """A figure of runs with scored sentences.

    Raises:
        UsageError: the runs are of another paradigm.
    """
    from cimento.runs.run import open_runs
    from cimento.suites import Suite

    name, runs = options.name, open_runs(options.runs)
    others = dict.fromkeys(run.paradigm.name for run in runs if not isinstance(run.suite, Suite))
    if others:
        raise UsageError(
            where=f"cimento figure {name}",
            seen=f"runs of the kind {', '.join(others)} have no scored sentences",
            todo="Give runs of regions or ratings, or draw a figure of the page:"
            " `cimento report RUN -o report.html` shows which there are.",
        )
    makers: Mapping[str, Callable[[], Figure]] = {
        "tokens": lambda: _tokens(runs, options.item),
        "position": lambda: position_figure(_reports(runs), length=options.length),
        "length": lambda: _length(runs, options.measure),
        "regions": lambda: _regions(runs, options.bars),
    }
    return makers[name]() if name in makers else _factorial(runs, options)


def _columns(runs: Sequence[Run], options: FigureOptions) -> list[Column]:
    """The results of all factorial runs, each with the p-value of DD by phenomenon."""
    from cimento.suites.design import squares

    columns: list[Column] = []
    for run in runs:
        if squares(suite_of(run)):
            result = factorial_of(run, options.measure, scope=options.scope)
            if result.reason:
                raise UsageError(where=f"{run.model}, {result.measure}", seen=result.reason)
            columns.append((f"{run.suite.name}, {run.model}", result, _ps(result, options)))
    if not columns:
        raise UsageError(
            where="cimento figure",
            seen="none of the runs is of a suite with two factors",
            todo="Declare them under [factors] in suite.toml, or draw tokens or positions.",
        )
    return columns


def _ps(result: Factorial, options: FigureOptions) -> dict[str, float | None]:
    from cimento.paradigms.regions.factorial import dd_tests

    tests = dd_tests([result], normalisation=options.scale, seed=options.seed)
    return {test.phenomenon: test.dd.p for test in tests}


def _factorial(runs: Sequence[Run], options: FigureOptions) -> Figure:
    """A figure of factorial suites."""
    columns = _columns(runs, options)
    if options.people is not None:
        columns.insert(0, _people(options.people, options))
    if options.name == "rows":
        return rows_figure(columns, options.scale, bars=options.bars)
    if len(columns) > 1:
        raise UsageError(
            where=f"cimento figure {options.name}",
            seen=f"there are {len(columns)} runs: {', '.join(title for title, _, _ in columns)}",
            todo="Give one run folder, or draw `rows`.",
        )
    _, result, ps = columns[0]
    if options.name == "items":
        return items_figure(result)
    return interaction_figure(result, options.scale, ps, bars=options.bars)


_NAMED = 4


def _tokens(runs: Sequence[Run], item: str) -> Figure:
    if len(runs) != 1:
        named = ", ".join(str(run.folder) for run in runs[:_NAMED])
        raise UsageError(
            where="cimento figure tokens",
            seen=f"there are {len(runs)} runs",
            todo=f"Give one of them, and --item ID: {named}{' ...' if runs[_NAMED:] else ''}",
        )
    if not item:
        ids = runs[0].outcomes()["item"].unique(maintain_order=True).to_list()
        more = " ..." if ids[_NAMED:] else ""
        raise UsageError(
            where="cimento figure tokens",
            seen="no item is named",
            todo=f"Add --item ID, one of: {', '.join(ids[:_NAMED])}{more}",
        )
    return tokens_figure(_reports(runs)[0], item)


def _reports(runs: Sequence[Run]) -> list[RunReport]:
    """Every run with its items, on its first measure only, since all measures share the tokens."""
    from cimento.report.sections import run_report

    return [run_report(run) for run in runs]


def _regions(runs: Sequence[Run], bars: Bars) -> Figure:
    names = dict.fromkeys(run.suite.name for run in runs)
    if len(names) != 1:
        raise UsageError(
            where="cimento figure regions",
            seen=f"there are {len(names)} suites: {', '.join(names)}",
            todo="Give the runs of one suite.",
        )
    values = {run.model: values_of(run) for run in runs}
    if len(values) < len(runs):
        raise UsageError(
            where="cimento figure regions",
            seen="a model has several runs here",
            todo="Give one run of each model.",
        )
    return regions_figure(suite_of(runs[0]), values, bars=bars)


def _length(runs: Sequence[Run], measure: str) -> Figure:
    from cimento.measures import find_measure

    chosen = find_measure(measure or options_of(runs[0]).measure or DEFAULT_MEASURE)
    rows: list[dict[str, object]] = []
    for run in runs:
        texts = {
            (row["item"], row["condition"]): row["text"]
            for row in run.table("requests").iter_rows(named=True)
        }
        rows += [
            {
                "model": run.model,
                "item": row["item"],
                "condition": row["condition"],
                "words": count_words(texts[row["item"], row["condition"]]),
                "value": row["value"],
            }
            for row in scores_of(run, [chosen.name]).iter_rows(named=True)
        ]
    return length_figure(length_frame(rows), measure=chosen.name, unit=chosen.unit)


def _people(path: Path, options: FigureOptions) -> Column:
    """People's ratings, as one more column."""
    from cimento.studies.islands.human import people_result

    result = people_result(path, scope=options.scope)
    return "people", result, _ps(result, options)

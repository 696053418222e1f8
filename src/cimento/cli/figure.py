"""``cimento figure``: pictures of stored runs, with the numbers that they show."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from cimento.cli import options
from cimento.measures.normalising import Normalisation, Scope
from cimento.report.figures_interaction import Bars

if TYPE_CHECKING:
    from cimento.report.figures import Figure
    from cimento.results import Run
    from cimento.verdicts.factorial import Factorial

FigureName: TypeAlias = Literal[
    "interaction", "rows", "items", "tokens", "position", "length", "regions", "scatter", "curve",
    "margins", "phenomena", "pairs", "heat", "dimensions", "calibration", "flow", "states",
]  # fmt: skip
OF_PAGES = ("margins", "phenomena", "pairs", "heat", "dimensions", "calibration", "flow", "states")
"""Figures that are made as a page makes them."""

Column: TypeAlias = "tuple[str, Factorial, Mapping[str, float | None]]"


# size: one argument for each option.
def figure(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Run folders, or folders of runs.")
    ],
    name: Annotated[
        FigureName,
        typer.Argument(
            metavar="NAME",
            help="interaction, rows, items, tokens, position, length, regions, scatter, margins,"
            " phenomena, pairs; of cloze suites: curve, heat, dimensions, calibration; of stories:"
            " flow, states, calibration.",
        ),
    ],
    output: Annotated[
        Path,
        options.option(
            "-o", "--output", help="A file: .svg, .png, .pdf, numbers .csv, Vega-Lite spec .json."
        ),
    ],
    *,
    measure: Annotated[
        str, options.option("--measure", help="What is drawn; else what the run is judged on.")
    ] = "",
    scale: Annotated[
        Normalisation, options.option("--scale", help="raw, z, likert-z ... of interactions.")
    ] = "z",
    scope: Annotated[
        Scope, options.option("--scope", help="What is pooled: the suite or each phenomenon.")
    ] = "suite",
    bars: Annotated[
        Bars,
        options.option(
            "--bars",
            help="Error bars of interactions: se (over items), or 95 % within items by"
            " means-removed, cousineau-morey or loftus-masson.",
        ),
    ] = "se",
    people: Annotated[
        Path | None,
        options.option(
            "--people",
            help="For rows: a CSV of ratings with phenomenon, item, condition and value (or z).",
        ),
    ] = None,
    item: Annotated[str, options.option("--item", help="For tokens: the id of the item.")] = "",
    length: Annotated[
        int | None,
        options.option("--length", min=1, help="For position: only sentences of so many tokens."),
    ] = None,
    seed: options.Seed = 0,
    spreadsheet_safe: options.SpreadsheetSafe = False,
) -> None:
    """Draw a figure: interaction panels, token surprisals, positions, lengths.

    interaction: the four means of each phenomenon. rows: a row for each phenomenon, a column for
    each run (and people). items: DD of every item. tokens: one item, token by token. position:
    mean surprisal by position. length: score against length. regions: surprisal by region.
    scatter: a score against ratings. curve: acc@1 to acc@10 of cloze suites. margins: how far
    items are decided. The others are those of the page that `cimento report` writes.
    """
    from cimento.cli.console import note
    from cimento.cli.spreadsheets import neutralise
    from cimento.results import open_runs

    if name in OF_PAGES:
        written = _of_page(runs, name, output)
    else:
        how = _How(measure, scale, scope, bars, people, item, length, seed)
        drawn = _curve(runs) if name == "curve" else _of_runs(open_runs(runs), name, how)
        written = [drawn.write(output)]
    neutralise(written, asked=spreadsheet_safe)
    for each in written:
        note(f"The figure is in {each}")


@dataclass(frozen=True, slots=True)
class _How:
    """The options of the command that single figures know."""

    measure: str
    scale: Normalisation
    scope: Scope
    bars: Bars
    people: Path | None
    item: str
    length: int | None
    seed: int


def _of_runs(runs: Sequence[Run], name: FigureName, how: _How) -> Figure:
    """A figure of runs that formulas judge."""
    makers: Mapping[str, Callable[[], Figure]] = {
        "tokens": lambda: _tokens(runs, how.item),
        "position": lambda: _position(runs, how.length),
        "length": lambda: _length(runs, how.measure),
        "regions": lambda: _regions(runs, how.bars),
        "scatter": lambda: _scatter(runs, how.measure),
    }
    return makers[name]() if name in makers else _factorial(name, runs, how)


def _of_page(paths: Sequence[Path], name: FigureName, output: Path) -> list[Path]:
    """Write a figure of the page; of several with this name each gets a number.

    Raises:
        UsageError: the page has no such figure.
    """
    from cimento.cli.reports import open_reports
    from cimento.errors import UsageError, did_you_mean
    from cimento.report.figures import load_altair

    load_altair()
    known = [each for suite in open_reports(paths).suites() for each in suite.figures]
    found = [each for each in known if each.name == name]
    if not found:
        raise UsageError(
            where=f"cimento figure {name}",
            seen="there is nothing to draw so in these runs",
            todo=did_you_mean(name, dict.fromkeys(each.name for each in known)),
        )
    if len(found) == 1:
        return [found[0].write(output)]
    return [
        each.write(output.with_name(f"{output.stem}-{number}{output.suffix}"))
        for number, each in enumerate(found, 1)
    ]


def _columns(runs: Sequence[Run], how: _How) -> list[Column]:
    """The results of all factorial runs, each with p of DD by phenomenon."""
    from cimento.designs import factorial_of
    from cimento.errors import UsageError
    from cimento.suites.design import squares

    found: list[Column] = []
    for run in runs:
        if squares(run.suite):
            result = factorial_of(run, how.measure, scope=how.scope)
            if result.reason:
                raise UsageError(where=f"{run.model}, {result.measure}", seen=result.reason)
            found.append((f"{run.suite.name}, {run.model}", result, _ps(result, how)))
    if not found:
        raise UsageError(
            where="cimento figure",
            seen="none of the runs is of a suite with two factors",
            todo="Declare them under [factors] in suite.toml, or draw tokens or positions.",
        )
    return found


def _ps(result: Factorial, how: _How) -> dict[str, float | None]:
    from cimento.verdicts.factorial_tests import dd_tests

    tests = dd_tests([result], normalisation=how.scale, seed=how.seed)
    return {test.phenomenon: test.dd.p for test in tests}


def _factorial(name: FigureName, runs: Sequence[Run], how: _How) -> Figure:
    """A figure of factorial suites."""
    from cimento.errors import UsageError
    from cimento.report.figures_interaction import interaction_figure, rows_figure
    from cimento.report.figures_scores import items_figure

    columns = _columns(runs, how)
    if how.people is not None:
        columns.insert(0, _people(how.people, how))
    if name == "rows":
        return rows_figure(columns, how.scale, bars=how.bars)
    if len(columns) > 1:
        raise UsageError(
            where=f"cimento figure {name}",
            seen=f"there are {len(columns)} runs: {', '.join(title for title, _, _ in columns)}",
            todo="Give one run folder, or draw `rows`.",
        )
    _, result, ps = columns[0]
    if name == "items":
        return items_figure(result)
    return interaction_figure(result, how.scale, ps, bars=how.bars)


def _curve(paths: Sequence[Path]) -> Figure:
    from cimento.cloze.figures_curve import curve_figure
    from cimento.cloze.running import open_runs

    return curve_figure(open_runs(paths))


def _tokens(runs: Sequence[Run], item: str) -> Figure:
    from cimento.errors import UsageError
    from cimento.report.figures_tokens import tokens_figure

    if len(runs) != 1 or not item:
        raise UsageError(
            where="cimento figure tokens",
            seen=f"there are {len(runs)} runs" if item else "no item is named",
            todo="Give one run folder and --item ID.",
        )
    return tokens_figure(runs[0].report(items=None), item)


def _position(runs: Sequence[Run], length: int | None) -> Figure:
    from cimento.report.figures_tokens import position_figure

    return position_figure([run.report(items=None) for run in runs], length=length)


def _regions(runs: Sequence[Run], bars: Bars) -> Figure:
    from cimento.errors import UsageError
    from cimento.report.figures_regions import regions_figure

    names = dict.fromkeys(run.suite.name for run in runs)
    if len(names) != 1:
        raise UsageError(
            where="cimento figure regions",
            seen=f"there are {len(names)} suites: {', '.join(names)}",
            todo="Give the runs of one suite.",
        )
    values = {run.model: run.region_values() for run in runs}
    if len(values) < len(runs):
        raise UsageError(
            where="cimento figure regions",
            seen="a model has several runs here",
            todo="Give one run of each model.",
        )
    return regions_figure(runs[0].suite, values, bars=bars)


def _length(runs: Sequence[Run], measure: str) -> Figure:
    from cimento.designs import DEFAULT_MEASURE
    from cimento.measures import find_measure
    from cimento.report.figures_scores import length_figure, length_frame

    chosen = find_measure(measure or runs[0].judging.measure or DEFAULT_MEASURE)
    rows: list[dict[str, object]] = []
    for run in runs:
        texts = {
            (row["item"], row["condition"]): row["text"]
            for row in run.requests().iter_rows(named=True)
        }
        rows += [
            {
                "model": run.model,
                "item": row["item"],
                "condition": row["condition"],
                "words": len(texts[row["item"], row["condition"]].split()),
                "value": row["value"],
            }
            for row in run.scores([chosen.name]).iter_rows(named=True)
        ]
    return length_figure(length_frame(rows), measure=chosen.name, unit=chosen.unit)


def _scatter(runs: Sequence[Run], measure: str) -> Figure:
    """A measure against the ratings of the suite's sentences."""
    from cimento.acceptability.figures import run_scatter
    from cimento.errors import UsageError

    if len(runs) != 1:
        raise UsageError(
            where="cimento figure scatter",
            seen=f"there are {len(runs)} runs: {', '.join(run.model for run in runs)}",
            todo="Give one run folder.",
        )
    return run_scatter(runs[0], measure)


def _people(path: Path, how: _How) -> Column:
    """The ratings of people as one more column."""
    from cimento.studies.islands.people import people_result

    result = people_result(path, scope=how.scope)
    return "people", result, _ps(result, how)

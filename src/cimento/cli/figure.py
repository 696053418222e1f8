"""``cimento figure``: figures of stored runs, with the numbers behind them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.cli.console import note
from cimento.cli.flags import command_of
from cimento.cli.report import TableOptions, names_given, open_reports
from cimento.documents.paper import names_standing
from cimento.errors import UsageError, did_you_mean
from cimento.io.declared import option
from cimento.kinds.run import Run, open_runs
from cimento.measures.normalizing import Normalization, Scope
from cimento.paradigms.regions.estimates import DEFAULT_MEASURE, factorial_of
from cimento.paradigms.regions.figures_conditions import (
    Bars,
    Column,
    interaction_figure,
    regions_figure,
    rows_figure,
)
from cimento.paradigms.regions.figures_pairs import items_figure
from cimento.paradigms.regions.judging import options_of, scores_of, suite_of, values_of
from cimento.report.figures_scores import (
    length_figure,
    length_frame,
    position_figure,
    tokens_figure,
)
from cimento.suites.design import squares
from cimento.suites.stimuli import count_words

if TYPE_CHECKING:
    from cimento.paradigms.regions.factorial import Factorial
    from cimento.report import RunReport
    from cimento.report.figures import Figure

OF_SENTENCES = (
    "interaction", "rows", "items", "position", "tokens", "length", "regions",
)  # fmt: skip
"""Figures that depend on options; all others are identical to those of the page."""


class FigureOptions(TableOptions):
    """The figure to draw, the runs, and the style."""

    # Empty if the only argument is a run, which was then taken for the name.
    runs: tuple[Path, ...] = option((), "Folders of runs.", argument="RUN...")
    name: str = option(
        ...,
        "interaction, rows, items, tokens, position, length, regions, margins, phenomena,"
        " pairs; of ratings: scatter; of cloze suites: curve, heat, dimensions, calibration;"
        " of stories: flow, states, calibration; of other kinds: rates, margins.",
        argument="NAME",
    )
    output: Path = option(
        ...,
        "A file: .svg, .png, .pdf, numbers .csv, Vega-Lite spec .json.",
        flags=("-o",),
    )
    measure: str = option("", "What is drawn; else what the run is judged on.")
    scale: Normalization = option("z", "raw, z, likert-z ... of interactions.")
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
    font_size: int | None = option(None, "Of all texts.", ge=4, le=72)
    gray: bool = option(default=False, help="Draw in gray, for print.")
    item: str = option("", "For tokens: the id of the item.")
    length: int | None = option(None, "For position: only sentences of so many tokens.", ge=1)


@command_of
def figure(options: FigureOptions) -> int:
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
            todo=_example(Path(options.name)),
        )
    drawn = [_of_sentences(options)] if options.name in OF_SENTENCES else _of_page(options)
    texts = [text for figure in drawn for text in figure.texts]
    names = names_standing(names_given(options.rename), texts)
    written = []
    for figure, path in zip(drawn, _paths(options.output, len(drawn)), strict=True):
        dressed = figure.dressed(
            title=options.title, names=names, font_size=options.font_size, gray=options.gray
        )
        written.append(dressed.write(path))
    options.neutralize(*written)
    for path in written:
        note(f"The figure is in {path}")
    return 0


def _example(argument: Path) -> str:
    """A command to give, with a figure that the runs have if the argument is their folder."""
    if not argument.is_dir():
        return "Such as: cimento figure RUN margins -o margins.svg. A wrong name lists the others."
    names = list(dict.fromkeys((*_names_of_page((argument,)), *_names_of_sentences([argument]))))
    first = names[0] if names else "NAME"
    return (
        f"Such as: cimento figure {argument} {first} -o {first}.svg."
        f" Figures here: {', '.join(names) or 'none'}."
    )


def _names_of_page(folders: Sequence[Path]) -> list[str]:
    """The names of the figures on the page of these runs."""
    return [figure.name for figure in _on_page(folders, ())]


def _names_of_sentences(folders: Sequence[Path]) -> list[str]:
    """The figures in `OF_SENTENCES` that these runs can be drawn as."""
    runs = open_runs(folders)
    if any(run.sentences is None for run in runs):
        return []
    factorial = sum(bool(squares(suite_of(run))) for run in runs)
    of_one_suite = len({run.suite.name for run in runs}) == 1
    apart = len({run.model for run in runs}) == len(runs)
    can = {
        "interaction": factorial == 1,
        "rows": factorial > 0,
        "items": factorial == 1,
        "tokens": len(runs) == 1,
        "regions": of_one_suite and apart,
    }
    return [name for name in OF_SENTENCES if can.get(name, True)]


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
    name = options.name
    known = _on_page(options.runs, [options.measure] if options.measure else ())
    figures = [figure for figure in known if figure.name == name]
    if not figures:
        names = (*(figure.name for figure in known), *_names_of_sentences(options.runs))
        raise UsageError(
            where=f"cimento figure {name}",
            seen="there is nothing to draw so in these runs",
            todo=did_you_mean(name, names),
        )
    return figures


def _on_page(folders: Sequence[Path], measures: Sequence[str]) -> list[Figure]:
    """All figures on the page of these runs."""
    from cimento.documents import sections_of
    from cimento.report.figures import load_altair

    load_altair()
    sections = sections_of(open_reports(folders, measures))
    return [figure for section in sections for figure in section.figures]


def _of_sentences(options: FigureOptions) -> Figure:
    """A figure of runs with scored sentences.

    Raises:
        UsageError: the runs are of another paradigm.
    """
    name, runs = options.name, open_runs(options.runs)
    others = dict.fromkeys(run.paradigm.name for run in runs if run.sentences is None)
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
    columns: list[Column] = []
    for run in runs:
        if squares(suite_of(run)):
            result = factorial_of(run, options.measure, scope=options.scope)
            if result.reason:
                raise UsageError(where=f"{run.model}, {result.measure}", seen=result.reason)
            columns.append((f"{run.suite.name}, {run.model}", result, _ps(result, options)))
    if not columns:
        names = dict.fromkeys((*_names_of_page(options.runs), *_names_of_sentences(options.runs)))
        raise UsageError(
            where=f"cimento figure {options.name}",
            seen="none of the runs is of a suite with two factors",
            todo="Declare them under [factors] in suite.toml, or draw one of these:"
            f" {', '.join(names)}.",
        )
    return columns


def _ps(result: Factorial, options: FigureOptions) -> dict[str, float | None]:
    from cimento.paradigms.regions.factorial import dd_tests

    tests = dd_tests([result], normalization=options.scale, seed=options.seed)
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
    from cimento.kinds.sections import run_report

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

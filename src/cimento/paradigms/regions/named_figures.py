"""The figures of sentences that are drawn by name, for ``cimento report --figure NAME``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from cimento.errors import UsageError
from cimento.kinds.named import FigureSettings
from cimento.kinds.sections import run_report
from cimento.measures import find_measure
from cimento.paradigms.regions.estimates import DEFAULT_MEASURE, factorial_of
from cimento.paradigms.regions.factorial import Factorial, dd_tests
from cimento.paradigms.regions.figures_conditions import (
    WITHIN,
    Column,
    interaction_figure,
    rows_figure,
)
from cimento.paradigms.regions.figures_pairs import items_figure
from cimento.paradigms.regions.figures_regions import REGION_FIGURES
from cimento.paradigms.regions.judging import options_of, scores_of, suite_of, values_of
from cimento.paradigms.regions.people_effects import PEOPLE, people_in_judgments, people_of_suite
from cimento.paradigms.regions.specification_tables import curves_figure
from cimento.paradigms.regions.specifications import curves_of, defaults_first
from cimento.report.figures_scores import (
    length_figure,
    length_frame,
    position_figure,
    tokens_figure,
)
from cimento.suites.design import squares
from cimento.suites.stimuli import count_words

if TYPE_CHECKING:
    from cimento.kinds.run import Run
    from cimento.measures.sentence import Measure
    from cimento.report.figures import Figure


def drawable_as(runs: Sequence[Run]) -> list[str]:
    """The names of the figures that these runs can be drawn as."""
    factorial = sum(bool(squares(suite_of(run))) for run in runs)
    of_one_suite = len({run.suite.name for run in runs}) == 1
    apart = len({run.model for run in runs}) == len(runs)
    can = {
        "interaction": factorial == 1,
        "rows": factorial > 0,
        "items": factorial == 1,
        "position": True,
        "tokens": len(runs) == 1,
        "length": _has_values(runs),
        **dict.fromkeys(REGION_FIGURES, of_one_suite and apart),
        "sensitivity": of_one_suite,
    }
    # Differences are within items, so an item needs the first condition and another.
    can["regions"] &= any(
        len(shape) > 1 for run in runs for shape in set(suite_of(run).columns.shapes)
    )
    return [name for name, fits in can.items() if fits]


def _has_values(runs: Sequence[Run]) -> bool:
    """Whether a sentence has a value of the measure that the figure of lengths shows."""
    measure = _shown_measure(runs)
    return any(scores_of(run, [measure.name])["value"].count() for run in runs)


def _shown_measure(runs: Sequence[Run], measure: str = "") -> Measure:
    return find_measure(measure or options_of(runs[0]).measure or DEFAULT_MEASURE)


def named_figure(name: str, runs: Sequence[Run], settings: FigureSettings) -> Figure:
    """A figure of some runs.

    Args:
        name: one of those of the presenter.
        runs: runs of sentences.
        settings: what was asked of it.

    Raises:
        UsageError: the runs cannot be drawn so.
    """
    makers: Mapping[str, Callable[[], Figure]] = {
        "tokens": lambda: _tokens(runs, settings.item),
        # All measures of a run share its tokens.
        "position": lambda: position_figure([*map(run_report, runs)], length=settings.length),
        "length": lambda: _length(runs, settings.measure),
        "sensitivity": lambda: curves_figure(curves_of(defaults_first(runs))),
        **{name: partial(_regions, name, runs, settings) for name in REGION_FIGURES},
    }
    return makers[name]() if name in makers else _factorial(name, runs, settings)


def _columns(name: str, runs: Sequence[Run], settings: FigureSettings) -> list[Column]:
    """The results of all factorial runs, each with the p-value of DD by phenomenon."""
    columns: list[Column] = []
    designs = [run for run in runs if squares(suite_of(run))]
    several = len({run.suite.name for run in designs}) > 1
    for run in designs:
        result = factorial_of(run, settings.measure, scope=settings.scope)
        if result.reason:
            raise UsageError(where=f"{run.model}, {result.measure}", seen=result.reason)
        title = f"{run.suite.name}, {run.model}" if several else run.model
        columns.append((title, result, _ps(result, settings)))
    if not columns:
        sections = runs[0].paradigm.presenter.sections(runs)
        of_page = [figure.name for section in sections for figure in section.figures]
        others = [figure for figure in of_page if figure not in runs[0].paradigm.presenter.figures]
        raise UsageError(
            where=f"--figure={name}",
            seen="none of the runs is of a suite with two factors",
            todo="Declare them under [factors] in suite.toml, or draw one of these:"
            f" {', '.join(dict.fromkeys((*others, *drawable_as(runs))))}.",
        )
    return columns


def _ps(result: Factorial, settings: FigureSettings) -> dict[str, float | None]:
    tests = dd_tests([result], normalization=settings.scale, seed=settings.seed)
    return {test.phenomenon: test.dd.p for test in tests}


def _factorial(name: str, runs: Sequence[Run], settings: FigureSettings) -> Figure:
    """A figure of factorial suites."""
    columns = _columns(name, runs, settings)
    if len(columns) > 1 and name != "rows":
        raise UsageError(
            where=f"--figure={name}",
            seen=f"there are {len(columns)} runs: {', '.join(title for title, _, _ in columns)}",
            todo="Give one run folder, or draw `rows`.",
        )
    _, result, ps = columns[0]
    if name == "items":
        return items_figure(result)
    people = _people(runs, settings)
    if people is not None:
        columns.insert(0, (PEOPLE, people, _ps(people, settings)))
    if people is not None or name == "rows":
        return rows_figure(columns, settings.scale, bars=settings.bars or WITHIN)
    return interaction_figure(result, settings.scale, ps, bars=settings.bars or WITHIN)


def _people(runs: Sequence[Run], settings: FigureSettings) -> Factorial | None:
    """The effects of the people who were named, or else of those who rated the suite itself.

    Raises:
        InputError: their judgments are about none of these suites.
    """
    if isinstance(settings.beside, Factorial):
        return settings.beside
    first = next(run for run in runs if squares(suite_of(run)))
    suite, seed = suite_of(first), options_of(first).seed
    if settings.beside is not None:
        return people_in_judgments(suite, settings.beside, scope=settings.scope, seed=seed).result
    effects = people_of_suite(suite, scope=settings.scope, seed=seed)
    return effects.result if effects else None


_NAMED = 4


def _tokens(runs: Sequence[Run], item: str) -> Figure:
    if len(runs) != 1:
        named = ", ".join(str(run.folder) for run in runs[:_NAMED])
        raise UsageError(
            where="--figure=tokens",
            seen=f"there are {len(runs)} runs",
            todo=f"Give one of them, and --item ID: {named}{' ...' if runs[_NAMED:] else ''}",
        )
    if not item:
        ids = runs[0].outcomes()["item"].unique(maintain_order=True).to_list()
        more = " ..." if ids[_NAMED:] else ""
        raise UsageError(
            where="--figure=tokens",
            seen="no item is named",
            todo=f"Add --item ID, one of: {', '.join(ids[:_NAMED])}{more}",
        )
    return tokens_figure(run_report(runs[0]), item)


def _regions(name: str, runs: Sequence[Run], settings: FigureSettings) -> Figure:
    names = dict.fromkeys(run.suite.name for run in runs)
    if len(names) != 1:
        raise UsageError(
            where=f"--figure={name}",
            seen=f"there are {len(names)} suites: {', '.join(names)}",
            todo="Give the runs of one suite.",
        )
    values = {run.model: values_of(run) for run in runs}
    if len(values) < len(runs):
        raise UsageError(
            where=f"--figure={name}",
            seen="a model has several runs here",
            todo="Give one run of each model.",
        )
    return REGION_FIGURES[name](suite_of(runs[0]), values, bars=settings.bars or "se")


def _length(runs: Sequence[Run], measure: str) -> Figure:
    chosen = _shown_measure(runs, measure)
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

"""Tables of designs for papers: effects on one scale with models in columns, and tests of DD."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from cimento.measures.normalizing import SCALES
from cimento.paradigms.regions.factorial_tables import HOLM, interval_methods, why_drawn
from cimento.report import formatting
from cimento.report.cells import Shown, count, repeated
from cimento.report.formatting import short_model_names
from cimento.report.grid import BLANK, EstimateCell, Grid, GridCell, sizes

if TYPE_CHECKING:
    from cimento.paradigms.regions.factorial import DDTest

_bits = partial(formatting.number, digits=2, absent=BLANK)

P_HOLM = "p (Holm)"


def effects_in_paper(tests: Sequence[DDTest]) -> Grid:
    """A table of condition means and effects on one scale, with models in columns.

    Each phenomenon has a row for each condition and each effect, so that the table is as narrow as
    that of accuracies; all other numbers are in
    `cimento.paradigms.regions.factorial_tables.effects_grid`.

    Args:
        tests: the tests of DD of all results, on the scale to show.
    """
    columns = list(dict.fromkeys((test.result.model, test.result.measure) for test in tests))
    short = short_model_names(dict.fromkeys(model for model, _ in columns))
    models = [short[model] for model, _ in columns]
    alone = len({measure for _, measure in columns}) == 1
    rows, rules = _rows_in_paper(tests, columns)
    return Grid(
        title=f"Condition means and effects ({_scale_in_words(tests)}); higher is more acceptable.",
        header=(
            "phenomenon",
            "condition or effect",
            "n",
            *(models if alone else (measure for _, measure in columns)),
        ),
        groups=() if alone else (BLANK, BLANK, BLANK, *models),
        rows=tuple(rows),
        rules=frozenset(rules),
        labels=2,
        notes=(
            "n: items. Means are over items, with their standard errors in parentheses.",
            "Effects are differences of these means.",
            "DD is how much worse the last condition is than both effects together predict.",
            _about_tests(tests),
        ),
    )


def _about_tests(tests: Sequence[DDTest]) -> str:
    """The methods behind intervals and p, and over which tests p is corrected."""
    corrected = f" {HOLM}" if any(test.dd.p is not None for test in tests) else ""
    return f"Interval (95%) and p of DD: {interval_methods(test.dd for test in tests)}.{corrected}"


def _places(tests: Sequence[DDTest]) -> dict[str, dict[tuple[str, str], DDTest]]:
    """The tests by phenomenon, with its suite if there are several, then by model and measure."""
    many = len({test.result.suite for test in tests}) > 1
    places: dict[str, dict[tuple[str, str], DDTest]] = {}
    for test in tests:
        name = f"{test.result.suite}: {test.phenomenon}" if many else test.phenomenon
        places.setdefault(name, {})[test.result.model, test.result.measure] = test
    return places


_MOST_TESTED = 2
"""Most models whose tests stand side by side; if there are more, each has its own rows."""


def dd_in_paper(tests: Sequence[DDTest]) -> Grid:
    """A table of DD with its test: phenomena by models, or a row for each if there are many models.

    Suite, measure and scale, which are the same in all rows, are named in the title; all numbers
    are in `cimento.paradigms.regions.factorial_tables.dd_grid`.

    Args:
        tests: the tests of DD of all results, on one scale.
    """
    columns = list(dict.fromkeys((test.result.model, test.result.measure) for test in tests))
    alone = len({measure for _, measure in columns}) == 1
    short = short_model_names(dict.fromkeys(model for model, _ in columns))
    names = {
        (model, measure): short[model] if alone else f"{short[model]}, {measure}"
        for model, measure in columns
    }
    parts = ("DD", "t", P_HOLM)
    wide = len(columns) <= _MOST_TESTED
    rows: list[tuple[GridCell, ...]] = []
    for place, by_model in _places(tests).items():
        cells = {column: _test_cells(by_model.get(column)) for column in columns}
        if wide:
            n = sizes([first for first, *_ in cells.values()])
            rows.append((place, n, *(cell for column in columns for cell in cells[column])))
        else:
            for column, test in by_model.items():
                rows.append((place, names[column], count(test.dd.n), *cells[column]))
    return Grid(
        title=f"Differences of differences (DD) and their tests over items"
        f" ({_scale_in_words(tests)}).",
        header=("phenomenon", "n", *parts * len(columns))
        if wide
        else ("phenomenon", "model", "n", *parts),
        groups=(BLANK, BLANK, *(names[column] for column in columns for _ in parts))
        if wide
        else (),
        rows=tuple(rows),
        labels=1 if wide else 2,
        notes=(
            "n: items. Above 0, the last condition is worse than both effects together predict.",
            _about_tests(tests),
            *why_drawn(tests),
        ),
    )


def _test_cells(test: DDTest | None) -> tuple[GridCell, GridCell, GridCell]:
    """DD with its interval, its statistic, and its corrected p; blank if there is no test."""
    if test is None:
        return BLANK, BLANK, BLANK
    return (
        EstimateCell.of(test.dd.value, test.dd, test.dd.n, digits=2),
        _bits(test.dd.statistic),
        formatting.p_number(test.p_holm, absent=BLANK),
    )


def _rows_in_paper(
    tests: Sequence[DDTest], columns: Sequence[tuple[str, str]]
) -> tuple[list[tuple[GridCell, ...]], list[int]]:
    """The rows of all phenomena, and the indices of those that begin one after the first."""
    tested = any(test.dd.p is not None for test in tests)
    rows: list[tuple[GridCell, ...]] = []
    rules = []
    for name, by_model in _places(tests).items():
        parts = {column: _effect_column(test) for column, test in by_model.items()}
        n = sizes([part["DD"] for part in parts.values()])
        labels = [label for label in next(iter(parts.values())) if tested or label != P_HOLM]
        rules += [len(rows)] if rows else []
        for number, label in enumerate(labels):
            cells = (parts[column][label] if column in parts else BLANK for column in columns)
            first = (repeated(name), label, repeated(n)) if number else (name, label, n)
            rows.append((*first, *cells))
    return rows, rules


def _effect_column(test: DDTest) -> dict[str, GridCell]:
    """The cells of one model and phenomenon, by the label of their rows."""
    phenomenon = next(one for one in test.result.phenomena if one.name == test.phenomenon)
    effects = phenomenon.effects[test.normalization]
    first, second = phenomenon.square.factors
    plain = ("plain", f"{first} changed", f"{second} changed", "both changed")
    conditions = [
        str(name or other) for name, other in zip(phenomenon.square.conditions, plain, strict=True)
    ]
    means: dict[str, GridCell] = {
        name: Shown(
            BLANK
            if cell.mean is None
            else f"{_bits(cell.mean)} ({formatting.number(cell.se, digits=2)})",
            {"": cell.mean, "_se": cell.se},
        )
        for name, cell in zip(conditions, effects.cells, strict=True)
    }
    return {
        **means,
        f"{first} effect": _bits(effects.length_effect),
        f"{second} effect": _bits(effects.structure_effect),
        "DD": EstimateCell.of(test.dd.value, test.dd, test.dd.n, digits=2),
        P_HOLM: formatting.p_number(test.p_holm, absent=BLANK),
    }


def _scale_in_words(tests: Sequence[DDTest]) -> str:
    """The measures and the scale of some tests."""
    units = dict.fromkeys(
        (test.result.measure, test.result.unit if test.normalization == "raw" else "")
        for test in tests
    )
    scales = [
        SCALES[kind] for kind in dict.fromkeys(t.normalization for t in tests) if kind != "raw"
    ]
    measures = "; ".join(
        f"{measure.removesuffix(f'-{unit}')} in {unit}" if unit else measure
        for measure, unit in units
    )
    return ", ".join([measures, *scales])

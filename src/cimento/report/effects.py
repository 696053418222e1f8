"""The effects of factorial designs as a table for a paper: one scale, models in columns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from cimento.errors import counted
from cimento.report import formatting
from cimento.report.factorial import methods_of
from cimento.report.figures_conditions import SCALES
from cimento.report.grid import BLANK, EstimateCell, Grid, GridCell, sizes
from cimento.report.paper import short_names

if TYPE_CHECKING:
    from cimento.paradigms.regions.factorial import DDTest

_bits = partial(formatting.number, digits=2, absent=BLANK)

P_HOLM = "p (Holm)"


def effects_in_paper(tests: Sequence[DDTest]) -> Grid:
    """A table of condition means and effects on one scale, with models in columns.

    Each phenomenon has a row for each condition and each effect, so that the table is as narrow as
    that of accuracies; all other numbers are in
    `cimento.report.factorial.effects_grid`.

    Args:
        tests: the tests of DD of all results, on the scale to show.
    """
    columns = list(dict.fromkeys((test.result.model, test.result.measure) for test in tests))
    short = short_names(dict.fromkeys(model for model, _ in columns))
    models = [short[model] for model, _ in columns]
    alone = len({measure for _, measure in columns}) == 1
    rows, rules = _rows_in_paper(tests, columns)
    number = sum(test.dd.p is not None for test in tests)
    corrected = f" Holm's correction is over {counted(number, 'test')}." if number else ""
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
            f"Interval (95 %) and p of DD: {methods_of(test.dd for test in tests)}.{corrected}",
        ),
    )


def _rows_in_paper(
    tests: Sequence[DDTest], columns: Sequence[tuple[str, str]]
) -> tuple[list[tuple[GridCell, ...]], list[int]]:
    """The rows of all phenomena, and the indices of those that begin one after the first."""
    places: dict[tuple[str, str], dict[tuple[str, str], DDTest]] = {}
    for test in tests:
        found = places.setdefault((test.result.suite, test.phenomenon), {})
        found[test.result.model, test.result.measure] = test
    many = len({suite for suite, _ in places}) > 1
    tested = any(test.dd.p is not None for test in tests)
    rows: list[tuple[GridCell, ...]] = []
    rules = []
    for (suite, phenomenon), found in places.items():
        name = f"{suite}: {phenomenon}" if many else phenomenon
        parts = {column: _effect_column(test) for column, test in found.items()}
        n = sizes([part["DD"] for part in parts.values()])
        labels = [label for label in next(iter(parts.values())) if tested or label != P_HOLM]
        rules += [len(rows)] if rows else []
        for number, label in enumerate(labels):
            cells = (parts[column][label] if column in parts else BLANK for column in columns)
            first = (BLANK, label, BLANK) if number else (name, label, n)
            rows.append((*first, *cells))
    return rows, rules


def _effect_column(test: DDTest) -> dict[str, GridCell]:
    """The cells of one model and phenomenon, by the label of their rows."""
    phenomenon = next(one for one in test.result.phenomena if one.name == test.phenomenon)
    effects = phenomenon.effects[test.normalisation]
    first, second = phenomenon.square.factors
    plain = ("plain", f"{first} changed", f"{second} changed", "both changed")
    conditions = [
        str(name or other) for name, other in zip(phenomenon.square.conditions, plain, strict=True)
    ]
    means: dict[str, GridCell] = {
        name: f"{_bits(cell.mean)} ({formatting.number(cell.se, digits=2)})"
        if cell.mean is not None
        else BLANK
        for name, cell in zip(conditions, effects.cells, strict=True)
    }
    dd = test.dd
    return {
        **means,
        f"{first} effect": _bits(effects.length_effect),
        f"{second} effect": _bits(effects.structure_effect),
        "DD": EstimateCell(
            value=dd.value, low=dd.low, high=dd.high, n=dd.n, reason=dd.reason or "", digits=2
        ),
        P_HOLM: formatting.p_number(test.p_holm, absent=BLANK),
    }


def _scale_in_words(tests: Sequence[DDTest]) -> str:
    """The measures and the scale of some tests."""
    units = dict.fromkeys(
        (test.result.measure, test.result.unit if test.normalisation == "raw" else "")
        for test in tests
    )
    scales = [
        SCALES[kind] for kind in dict.fromkeys(t.normalisation for t in tests) if kind != "raw"
    ]
    measures = "; ".join(
        f"{measure} in {unit}" if unit and unit not in measure else measure
        for measure, unit in units
    )
    return ", ".join([measures, *scales])

"""The summary as CSV (RFC 4180): one row for each suite, model and prediction."""

from __future__ import annotations

import csv
from io import StringIO
from typing import TYPE_CHECKING

from cimento.report.summary import with_conjunction

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cimento.report.summary import Result, RunSummary, Summary

COLUMNS = (
    "suite",
    "model",
    "model_kind",
    "language",
    "metric",
    "measure",
    "phenomenon",
    "prediction",
    "formula",
    "comment",
    "n_items",
    "passed",
    "failed",
    "tied",
    "near_tied",
    "near_tie_bits",
    "unscored",
    "accuracy",
    "low",
    "high",
    "interval_method",
    "chance",
    "chance_method",
    "length",
    "length_passed",
    "length_failed",
    "length_tied",
    "null_reasons",
)


def csv_table(summary: Summary, *, by_phenomenon: bool = False) -> str:
    """The summary as CSV text with a header, comma-separated, lines ended by CR LF.

    ``prediction`` is the number of the prediction from 0, or ``all`` for their conjunction. An
    undefined number is an empty field, and ``null_reasons`` says why.

    Args:
        summary: what to write.
        by_phenomenon: also a row for each phenomenon, named in the column ``phenomenon``, which
            is empty in the rows for the whole suite.
    """
    sheet = StringIO()
    writer = csv.writer(sheet)
    writer.writerow(COLUMNS)
    for run in summary.runs:
        writer.writerows(_rows(run, run.results, phenomenon="", n_items=run.n_items))
        for each in run.phenomena if by_phenomenon else ():
            results = with_conjunction(each.predictions, each.conjunction)
            writer.writerows(_rows(run, results, phenomenon=each.name, n_items=each.n_items))
    return sheet.getvalue()


def _rows(
    run: RunSummary, results: Iterable[Result], *, phenomenon: str, n_items: int
) -> Iterable[tuple[str | int | float | None, ...]]:
    for result in results:
        yield (
            run.suite,
            run.model,
            run.model_kind,
            run.language,
            run.metric,
            run.measure,
            phenomenon,
            result.label,
            result.formula,
            result.comment,
            n_items,
            result.passed,
            result.failed,
            result.tied,
            result.near_tied,
            run.near_tie_bits,
            result.unscored,
            result.accuracy,
            result.low,
            result.high,
            result.interval_method,
            result.chance,
            result.chance_method,
            *_length(result),
            "; ".join(f"{name}: {why}" for name, why in result.null_reasons.items()),
        )


def _length(result: Result) -> tuple[float | int | None, ...]:
    """The rate by length alone, and its counts."""
    found = result.length
    if found is None:
        return (None,) * 4
    return (found.accuracy, found.passed, found.failed, found.tied)

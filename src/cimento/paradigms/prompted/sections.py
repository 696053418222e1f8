"""What is shown of prompted runs: rates, sensitivity and biases, people; and every answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

from cimento.paradigms import (
    Estimate,
    EstimateCell,
    Grid,
    Run,
    Suite,
    SuiteReport,
    calibration_figure,
    cells,
    estimate_cell,
    estimates_grid,
    runs_by_suite,
    suite_section,
)
from cimento.paradigms.prompted.estimates import (
    CRITERION,
    D_PRIME,
    ECE,
    END_BIAS,
    FIRST,
    FIRST_LABEL,
    HIGH_BIAS,
    SLOPE,
    YES_BIAS,
    reliability,
)
from cimento.paradigms.prompted.judging import Answered, PromptedRun, answers_of
from cimento.paradigms.ratings import ratings_by

_BIAS_COLUMNS: Mapping[str, str] = {
    D_PRIME: D_PRIME,
    CRITERION: "criterion c",
    FIRST: "first chosen",
    FIRST_LABEL: "A or 1 chosen",
    YES_BIAS: "yes bias",
    HIGH_BIAS: "high numbers",
    END_BIAS: "first end",
}
_PEOPLE_COLUMNS: Mapping[str, str] = {
    "spearman": "Spearman",
    "pearson": "Pearson",
    SLOPE: "slope",
    "noise ceiling": "ceiling",
    ECE: "ECE",
    "Brier": "Brier",
    "Brier reliability": "reliability",
    "Brier resolution": "resolution",
    "Brier uncertainty": "uncertainty",
}
_ABOUT_BIAS = (
    "d' is 0 where good and bad are not told apart. c is below 0 for a tendency to say acceptable,"
    " or to choose the first of two. Without bias, the proportions of what comes first and of A"
    " or 1 are"
    ' 0.5, and all other biases 0; those of numbers are in points (see the page "Asking in words").'
)
_ABOUT_PEOPLE = (
    "slope: of people's mean ratings on the answers, both from 0 to 1. ceiling: the correlation"
    " that the spread among people allows. ECE and Brier: proportion of acceptable among the"
    " answers"
    " beside that among people; reliability is better low, resolution high."
)
_SHOWN_AS_ZERO = 0.005
CELL = ("wording", "labels", "order")
"""The factors of the design, by which estimates of role detail are grouped."""


def prompted_grids(runs: Sequence[Run], *, notes: Sequence[str] = ()) -> dict[str, Grid]:
    """The tables of some runs, by name: rates, bias, calibration, design.

    Args:
        runs: of prompted suites.
        notes: sentences below the first table.
    """
    estimates = [estimate for run in runs for estimate in run.estimates()]
    suites = ", ".join(dict.fromkeys(run.suite.name for run in runs))
    rates = [e for e in estimates if e.is_share]
    grids = {}
    if rates:
        grids["rates"] = estimates_grid(rates, title=f"{suites}: right, in percent.", notes=notes)
    by_design = [e for e in estimates if e.group in CELL]
    plain = [e for e in estimates if not e.group]
    for name, columns, title, about in (
        ("bias", _BIAS_COLUMNS, "sensitivity and bias", _ABOUT_BIAS),
        ("calibration", _PEOPLE_COLUMNS, "answers beside ratings", _ABOUT_PEOPLE + _expected(runs)),
    ):
        grid = _wide(plain, columns, title=f"{suites}: {title}.", notes=(about,))
        if grid.rows:
            grids[name] = grid
    if not rates and grids:
        first = next(iter(grids))
        grids[first] = replace(grids[first], notes=(*grids[first].notes, *notes))
    if by_design:
        grids["design"] = _design_grid(by_design, suites)
    return grids


def _expected(runs: Sequence[Run]) -> str:
    """The remark that ratings do not come from people, where a suite says so."""
    suites = {run.suite.name: cast("Suite", run.suite) for run in runs}
    names = [name for name, suite in suites.items() if ratings_by(suite) == "author"]
    return f" Ratings of {', '.join(names)} are what its author expects." if names else ""


def _wide(
    estimates: Sequence[Estimate],
    columns: Mapping[str, str],
    *,
    title: str,
    notes: tuple[str, ...],
) -> Grid:
    """Estimates as a table: a row for each model and question, a column for each statistic."""
    rows: dict[tuple[str, str, str], dict[str, Estimate]] = {}
    for estimate in estimates:
        if estimate.statistic in columns:
            key = (estimate.suite, estimate.model, estimate.question)
            # Of two ceilings the first with a value is the one by single ratings.
            known = rows.setdefault(key, {})
            if known.get(estimate.statistic) is None or known[estimate.statistic].value is None:
                known[estimate.statistic] = estimate
    rows = {key: row for key, row in rows.items() if any(e.value is not None for e in row.values())}
    used = [name for name in columns if any(name in row for row in rows.values())]
    models = list(dict.fromkeys(model for _, model, _ in rows))

    def cell(key: tuple[str, str, str], name: str) -> EstimateCell | str:
        estimate = rows[key].get(name)
        return "" if estimate is None else _two_decimals(estimate_cell(estimate))

    made: dict[str, Callable[[tuple[str, str, str]], EstimateCell | str]] = {
        "model": lambda key: key[1],
        "question": lambda key: key[2],
    }
    if len(models) == 1:
        del made["model"]
        title = f"{title.removesuffix('.')} of {models[0]}."
    made |= {columns[name]: partial(cell, name=name) for name in used}
    return Grid.of(rows, made, title=title, labels=len(made) - len(used), notes=notes)


def _two_decimals(cell: EstimateCell) -> EstimateCell:
    """A cell with two decimals, and no minus before a value that they show as 0."""
    value = cell.value
    is_zero = value is not None and abs(value) < _SHOWN_AS_ZERO
    return replace(cell, value=0.0 if is_zero else value, digits=2)


def _design_grid(estimates: Sequence[Estimate], suites: str) -> Grid:
    """The proportion of correct answers with each wording, pair of answers and order."""
    return Grid.of(
        estimates,
        {
            "model": lambda e: e.model,
            "question": lambda e: e.question,
            "factor": lambda e: e.group,
            "level": lambda e: e.level,
            "right": estimate_cell,
        },
        title=f"{suites}: the proportion of correct answers by wording, labels and order.",
        labels=4,
        grouped=2,
    )


def prompted_sections(runs: Sequence[Run]) -> list[SuiteReport]:
    """A section for each suite: rates, tables, and a reliability diagram where people judged."""
    sections = []
    for several in runs_by_suite(runs):
        suite = several[0].suite.name
        curves = {
            run.model: curve
            for run in several
            if (curve := reliability(PromptedRun.of(run))) is not None and curve.ece is not None
        }
        title = f"Proportion of acceptable on {suite}: answers beside people"
        share = "proportion of people who accept"
        figure = partial(calibration_figure, curves, title=title, share=share)
        grids = prompted_grids(several)
        grids.pop("rates", None)  # the page has them above
        sections.append(suite_section(several, grids, [figure] if curves else []))
    return sections


# --- Every answer


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """One prompt with its answer, for programs.

    Attributes:
        suite: the suite.
        model: label of the model.
        answered: the prompt and the answer.
    """

    suite: str
    model: str
    answered: Answered


def answers_grid(runs: Sequence[Run]) -> Grid:
    """Every answer as a row: its place in the design, the answer, and what it says."""
    rows = [
        AnswerRow(run.suite.name, run.model, answered)
        for run in runs
        for answered in answers_of(run)
    ]

    def answer(row: AnswerRow) -> str:
        shares = row.answered.shares
        return max(shares, key=lambda name: shares[name]) if shares else row.answered.reply

    def value(row: AnswerRow) -> str:
        good = None if row.answered.shares is None else row.answered.good
        return cells.Shown("" if good is None else f"{good:.6g}", good)

    return Grid.of(
        rows,
        {
            "suite": lambda row: row.suite,
            "model": lambda row: row.model,
            "item": lambda row: row.answered.prompt.item,
            "task": lambda row: row.answered.prompt.form,
            "condition": lambda row: row.answered.prompt.conditions[0],
            "rival": lambda row: "".join(row.answered.prompt.conditions[1:]),
            "wording": lambda row: row.answered.prompt.cell.wording + 1,
            "labels": lambda row: row.answered.prompt.labels,
            "better_first": lambda row: (
                cells.Shown("no", parts=False)
                if row.answered.prompt.cell.order
                else cells.Shown("yes", parts=True)
            ),
            "answer": answer,
            "value": value,
        },
        title="Every answer: value is the proportion of the answer for what is better, or the"
        " points.",
        labels=6,
    )

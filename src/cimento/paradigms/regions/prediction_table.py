"""The table of predictions for a paper: each in words, with its rate and its margin by model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from cimento.io.values import grouped
from cimento.kinds.sections import estimate_cell
from cimento.paradigms.regions.judging import judged_suite, label_of, options_of
from cimento.records.outcomes import design_of
from cimento.report import formatting
from cimento.report.cells import repeated
from cimento.report.formatting import MOST_COLUMNS, short_model_names
from cimento.report.grid import BLANK, EstimateCell, Grid, GridCell, sizes
from cimento.statistics.means import mean_of
from cimento.suites.formula_words import in_words
from cimento.suites.naming import ALL_PREDICTIONS

if TYPE_CHECKING:
    from cimento.kinds.run import Run
    from cimento.records.outcomes import Estimate
    from cimento.statistics.means import Mean

_Place: TypeAlias = tuple[str, str, str]
"""Suite, name of the prediction, and the prediction in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionRate:
    """How often and how clearly a prediction holds in a run.

    Attributes:
        words: the prediction in words.
        model: label of the model, with the measure if the run is not judged on regions.
        rate: the proportion of items in which it holds.
        margin: mean over items of its margin.
        unit: of the margins; empty for those of a measure without unit.
    """

    words: str
    model: str
    rate: Estimate
    margin: Mean
    unit: str

    @property
    def place(self) -> _Place:
        """The row of the table."""
        return self.rate.suite, self.rate.question, self.words

    def cells(self, *, with_unit: bool) -> tuple[EstimateCell, EstimateCell]:
        """The rate in percent, and the margin, with its unit where the heading has none."""
        margin = EstimateCell.of(self.margin.value, self.margin, self.margin.n, digits=2)
        return estimate_cell(self.rate), replace(margin, unit=self.unit if with_unit else "")


def prediction_rates(run: Run) -> list[PredictionRate]:
    """The rates and margins of each prediction of a run, and of all of them together.

    Args:
        run: run of a suite that formulas judge; others have none.

    Raises:
        FormulaError: a formula cannot be read.
    """
    suite, outcomes = judged_suite(run), run.outcomes()
    words = {
        prediction.name: in_words(prediction.formula, suite.region_names)
        for prediction in suite.predictions
    }
    words[ALL_PREDICTIONS] = "all of them in the same item"
    rates = []
    for rate in run.summary().results:
        if rate.question not in words:
            continue
        asked = outcomes.filter(outcomes["question"] == rate.question)
        known = asked.filter(asked["value"].is_not_null())
        design = design_of(known["item"].to_list(), known["cluster"].to_list())
        margin = mean_of(known["value"].to_list(), design, seed=options_of(run).seed)
        rates.append(
            PredictionRate(words=words[rate.question], model=label_of(run), rate=rate,
                           margin=margin, unit="".join(asked["unit"].unique()))
        )  # fmt: skip
    return rates


def predictions_grid(rates: Sequence[PredictionRate], *, kinds: Iterable[str] = ()) -> Grid:
    """A table of predictions by models, or with a row for each model if there are many.

    Args:
        rates: the rates of all runs.
        kinds: kinds of their models, such as ``causal``.
    """
    short = short_model_names(dict.fromkeys(one.model for one in rates))
    by_place: dict[_Place, dict[str, PredictionRate]] = {}
    for one in rates:
        by_place.setdefault(one.place, {})[short[one.model]] = one
    beside = [*short.values()] if len(short) <= MOST_COLUMNS else []
    several = len({suite for suite, *_ in by_place}) > 1
    columns = [[one for one in rates if short[one.model] == model] for model in beside]
    units = [{one.unit for one in column} for column in columns or [[*rates]]]
    mixed = max(map(len, units)) > 1
    rows: list[tuple[GridCell, ...]] = []
    rules = []
    last = ""
    for (suite, question, words), by_model in by_place.items():
        if last and suite != last:
            rules.append(len(rows))
        label = repeated(suite) if suite == last else suite
        named = ((label,) if several else ()) + (question, words)
        last = suite
        lines = [(named, beside)] if beside else [((*named, model), [model]) for model in by_model]
        rows += [
            (*label, *_row([by_model.get(model) for model in models], with_unit=mixed))
            for label, models in lines
        ]
    labels = ("suite",) * several + ("prediction", "in words") + ("model",) * (not beside)
    margins = [", ".join(filter(None, ("margin", *(() if mixed else one)))) for one in units]
    numbers = [heading for margin in margins for heading in ("accuracy, %", margin)]
    blank = (BLANK,) * (len(labels) + 2)
    return Grid(
        title="Predictions: accuracy and mean margin, with 95% confidence intervals.",
        header=(*labels, "n", "chance, %", *numbers),
        groups=(*blank, *(model for model in beside for _ in range(2))) if beside else (),
        rows=tuple(rows),
        rules=frozenset(rules),
        labels=len(labels),
        notes=_notes(rates, kinds, mixed=mixed),
    )


def _row(by_model: Sequence[PredictionRate | None], *, with_unit: bool) -> tuple[GridCell, ...]:
    """N and chance of one prediction, then its rate and margin by each model."""
    cells = [(BLANK, BLANK) if one is None else one.cells(with_unit=with_unit) for one in by_model]
    levels = dict.fromkeys(
        formatting.percent(one.rate.chance, absent=BLANK) for one in by_model if one is not None
    )
    return (
        sizes(first for first, _ in cells),
        next(iter(levels)) if len(levels) == 1 else "-".join(levels),
        *(x for both in cells for x in both),
    )


def _notes(
    rates: Sequence[PredictionRate], kinds: Iterable[str], *, mixed: bool
) -> tuple[str, ...]:
    methods = formatting.methods([one.rate for one in rates]).replace("95%", "95%")
    of_means = dict.fromkeys(one.margin.method for one in rates if one.margin.low is not None)
    margins = f" Of margins: {'; '.join(of_means)}." if of_means else ""
    together = any(one.rate.question == ALL_PREDICTIONS for one in rates)
    scales = len({*kinds}) > 1
    measured = any(one.rate.method for one in rates)
    units = grouped((one.unit, one.model) for one in rates)
    much = "how many bits" if [*units] == ["bits"] else "how much"
    differing = "; ".join(
        f"{f'in {unit}' if unit else 'without unit'} for {', '.join(dict.fromkeys(models))}"
        for unit, models in units.items()
    )
    return (
        f"n: items judged. Margin: by {much} a prediction holds, the mean over items; below 0"
        " it fails." + " Of all predictions: the smallest of each item." * together,
        *(f"Margins are {differing}.",) * mixed,
        *("Where sentences are judged on a measure, less surprising is better on it.",) * measured,
        *("Margins of causal and masked models are on different scales.",) * scales,
        f"{methods}{margins}",
        *filter(None, (formatting.chances(one.rate for one in rates),)),
    )

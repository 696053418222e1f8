"""Near ties in the unit of a measure: which verdicts the error of the number format may decide.

The threshold is an error of a difference of two sums of log-probabilities, in bits. A measure that
divides sums divides their errors too: if a and b are sums with errors of one size, which are
independent, and the error of their difference is T, that of ``a/m - b/n`` is
``T sqrt((1/m² + 1/n²) / 2)``, which is T/n where both are divided by n. Of more terms it is T times
the root mean square of what their errors are multiplied by. A measure that is a function of another
one, as perplexity is of the mean, orders sentences as that does, and its near ties are those of the
other one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cimento.io.values import NoValue, Value
from cimento.measures import find_measure
from cimento.measures.normalizing import MODEL
from cimento.measures.regions import RegionColumns, with_first_tokens
from cimento.measures.scores import ScoredSentence, each_cost
from cimento.paradigms.regions.chance import near_tie_threshold
from cimento.paradigms.regions.judging import (
    judged_suite,
    measure_of,
    options_of,
    questions,
    region_columns_of,
    sentences_of,
    tokens_of,
)
from cimento.paradigms.regions.predictions import (
    ItemValues,
    evaluate_items,
    parse_predictions,
)
from cimento.suites.formula import Comparison, Formula, Reference, comparisons, signed_values

if TYPE_CHECKING:
    import polars as pl

    from cimento.io.values import Floats
    from cimento.kinds.run import Run
    from cimento.measures import Measure

LOGITS_REASON = "it is made of raw outputs, whose error was not measured"
NO_DIVISOR_REASON = "how an error of log-probabilities enters it is not stated (divisor)"
MODEL_UNIGRAMS_REASON = "the model's own unigrams have an error of their own"
DIFFERENCES_REASON = "it is a function of sums that is added or subtracted"


@dataclass(frozen=True, slots=True)
class Nearness:
    """Which verdicts of a run are near ties.

    Attributes:
        near: of each item and question, in the order of the outcomes, whether the margin is within
            the error; null where that is not defined.
        bits: the error of a difference of sums.
        method: origin of the error, and how it is divided.
        undefined: question to the reason why near ties are not defined for it.
    """

    near: pl.Series
    bits: float
    method: str
    undefined: Mapping[str, str]


def nearness(run: Run, margins: pl.Series) -> Nearness:
    """Which verdicts of a run are near ties.

    Args:
        run: run of a region suite.
        margins: of the outcomes that have a verdict, in their order.

    Raises:
        CimentoError: the answers cannot be judged.
    """
    threshold = near_tie_threshold(run.manifest, options_of(run).near_tie_bits)
    bits, method = threshold.bits, threshold.reason
    measure, trees = measure_of(run), parse_predictions(judged_suite(run))
    if measure is None:
        if judged_suite(run).metric != "mean":
            return Nearness(margins.abs() < bits, bits, method, {})
        regions = region_columns_of(run)
        _, scales = _together(trees, regions, _squares_of_regions(regions), run)
        return Nearness(margins.abs() < bits * scales, bits, f"{method}; {_DIVIDED} mean", {})
    linear = find_measure(measure.function_of) if measure.function_of else measure
    unit = linear.information or "bits"
    costs = RegionColumns.of(each_cost(_sentences(run), linear), unit=unit)
    own, scales = _together(trees, costs, _squares(run, linear), run)
    undefined = _undefined(measure, trees, run)
    if linear.name not in _SUMS:
        method = f"{method}; {_DIVIDED} {linear.name}"
    # Margins of measures without unit are not those of the sums that their errors are known of.
    near = (margins if measure.information else own).abs() < bits * scales
    return Nearness(near, bits, method, undefined)


_SUMS = ("lp", "surprisal-nats", "surprisal-bits")
_DIVIDED = "of sums, divided as in"


def _undefined(measure: Measure, trees: Sequence[Formula], run: Run) -> dict[str, str]:
    """The questions for which near ties of a measure are not defined, with the reasons."""
    asked, why = questions(run), ""
    if "unigrams" in measure.needs and options_of(run).unigrams == MODEL:
        why = MODEL_UNIGRAMS_REASON
    elif measure.divisor is None and not measure.function_of:
        why = (
            LOGITS_REASON if {"logit", "log_sigmoid_sum"} & {*measure.needs} else NO_DIVISOR_REASON
        )
    if why:
        return dict.fromkeys(asked, f"near ties are not defined for {measure.name}: {why}")
    differing = [not measure.function_of or all(map(_is_plain, comparisons(t))) for t in trees]
    plain = [*differing, all(differing)][: len(asked)]
    return {
        question: f"near ties are not defined for {measure.name} here: {DIFFERENCES_REASON}"
        for question, is_plain in zip(asked, plain, strict=True)
        if not is_plain
    }


def _is_plain(comparison: Comparison) -> bool:
    """Whether a comparison is one of two values, without numbers and sums."""
    return all(isinstance(side, Reference) for side in (comparison.left, comparison.right))


def _sentences(run: Run) -> Iterator[ScoredSentence]:
    """The sentences; a first token that has no score has one here, since only lengths matter."""
    rule = options_of(run).unscored_first
    rule = "zero" if rule == "missing" else rule
    return sentences_of(run, tokens=with_first_tokens(tokens_of(run), rule))


def _squares(run: Run, measure: Measure) -> RegionColumns:
    """The square of what the error of each sentence's sum is multiplied by."""
    divisor: Callable[..., float] | None = measure.divisor

    def square(scored: ScoredSentence) -> Value:
        if isinstance(scored.sentence, NoValue):
            return scored.sentence
        if isinstance(value := measure.of(scored.sentence), NoValue) or divisor is None:
            return value
        return 1 / divisor(scored.sentence) ** 2

    stimuli = ((one.item, one.condition, (square(one),)) for one in _sentences(run))
    return RegionColumns.of(stimuli, unit="bits")


def _squares_of_regions(columns: RegionColumns) -> RegionColumns:
    """The same of the means over the tokens of regions."""
    import numpy as np

    counts = np.maximum(columns.counts, 1).astype(np.float64)
    return _with_values(columns, np.where(np.isnan(columns.values), np.nan, 1 / counts**2))


def _with_values(columns: RegionColumns, values: Floats) -> RegionColumns:
    return replace(columns, values=values, unit="bits")


def _together(
    trees: Sequence[Formula], costs: RegionColumns, squares: RegionColumns, run: Run
) -> tuple[pl.Series, pl.Series]:
    """Margins in bits, and what their errors are multiplied by, of each item and question."""
    import numpy as np
    import polars as pl

    ids = list(judged_suite(run).columns.ids)
    ones = _with_values(squares, np.where(np.isnan(squares.values), np.nan, 1.0))
    values, weights, counts = (ItemValues.of(table, ids) for table in (costs, squares, ones))
    parts = [_scaled(tree, values, weights, counts) for tree in trees]
    if len(parts) > 1:
        parts.append(_extreme(parts, smallest=True))
    margins, scales = (
        np.stack([part[number] for part in parts], axis=1).ravel() for number in (0, 1)
    )
    return pl.Series(margins).fill_nan(None), pl.Series(scales).fill_nan(None)


def _scaled(
    tree: Formula, values: ItemValues, weights: ItemValues, counts: ItemValues
) -> tuple[Floats, Floats]:
    """The margins of a formula, and what the errors of the parts that decide are multiplied by."""
    import numpy as np

    if isinstance(tree, Comparison):
        above, below = np.zeros(values.n), np.zeros(values.n)
        for side in (tree.left, tree.right):
            for _, leaf in signed_values(side):
                if isinstance(leaf, Reference):
                    above += weights.look_up(leaf)[0]
                    below += counts.look_up(leaf)[0]
        with np.errstate(invalid="ignore", divide="ignore"):
            return evaluate_items(tree, values).margins_bits, np.sqrt(above / below)
    parts = [_scaled(side, values, weights, counts) for side in (tree.left, tree.right)]
    return _extreme(parts, smallest=tree.operator == "&")


def _extreme(parts: Sequence[tuple[Floats, Floats]], *, smallest: bool) -> tuple[Floats, Floats]:
    """The smallest or largest margin of each item, with what its error is multiplied by."""
    import numpy as np

    margins, scales = (np.stack([part[number] for part in parts]) for number in (0, 1))
    known = np.where(np.isnan(margins), np.inf if smallest else -np.inf, margins)
    place = known.argmin(axis=0) if smallest else known.argmax(axis=0)
    rows = np.arange(margins.shape[1])
    # A part without a value leaves none to the whole.
    whole = np.where(np.isnan(margins).any(axis=0), np.nan, margins[place, rows])
    return whole, scales[place, rows]

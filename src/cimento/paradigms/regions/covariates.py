"""Margins beside cheap explanations: covariates of margins, and accuracy beside baselines.

Covariates say how much of a margin goes with length and word frequency. The formula of each
prediction is evaluated over other values than surprisals: one for each token, one for each word,
and the Zipf frequency of each word. Its margin over these is how many tokens or words the side that
should cost less has less, and how much more frequent its words are; margins in bits are regressed
on them over items. What the intercept says is the margin of an item whose two sides are equal in
all of them.

A model that is right where length, word frequency or a few words of context decide has shown less
than one that is right elsewhere. Accuracy is therefore also that on the items that a baseline
solves, and on the others. Baselines are of two kinds: the same formulas over counts in the place of
surprisals, and n-gram models among the runs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from cimento.errors import UsageError
from cimento.kinds.identity import content_of
from cimento.kinds.run import Run
from cimento.measures import total
from cimento.measures.regions import region_columns
from cimento.paradigms.regions.judging import (
    judged_suite,
    judged_tokens,
    whole_items,
)
from cimento.paradigms.regions.predictions import suite_evaluations
from cimento.records.store import manifest_part
from cimento.report import formatting
from cimento.report.cells import count, repeated
from cimento.report.formatting import ends_of
from cimento.report.grid import BLANK, EstimateCell, Grid
from cimento.statistics.design import Design
from cimento.statistics.intervals import Interval, share_interval
from cimento.statistics.multiple import holm
from cimento.statistics.regression import CONSTANT_TERM, Coefficient, regress
from cimento.suites.derived import Frequency
from cimento.suites.letters import one_spelling

if TYPE_CHECKING:
    import polars as pl

    from cimento.suites import Suite


TOKENS, WORDS, FREQUENCY = "token fewer", "word fewer", "Zipf unit more"
_WORD = re.compile(r"[^\W\d_](?:[^\W\d_]|[\u0300-\u036f])*")  # accents may stand alone


@dataclass(frozen=True, slots=True, kw_only=True)
class MarginCovariates:
    """The regression of the margins of one prediction.

    Attributes:
        suite: its name.
        model: label of the model.
        prediction: its name.
        n: items with a margin.
        mean_bits: of their margins; None without one.
        left_out: covariates that are the same in all items, or follow from those before them.
        coefficients: the intercept, the margin in bits where both sides are alike, and bits for
            each token, word, or unit of the Zipf scale; empty where there is no regression.
        p_holm: p of each coefficient but the intercept, corrected by Holm over a table.
        reason: why there is no regression.
    """

    suite: str
    model: str
    prediction: str
    n: int
    mean_bits: float | None
    left_out: tuple[str, ...] = ()
    coefficients: tuple[Coefficient, ...] = ()
    p_holm: Mapping[str, float | None]
    reason: str | None = None


def margin_covariates(
    runs: Sequence[Run], frequency: Callable[[str], Frequency | None]
) -> list[MarginCovariates]:
    """The regressions of all predictions of some runs, p-values corrected over all of them.

    Args:
        runs: of suites that are judged by formulas.
        frequency: from a language to the Zipf frequencies of its words; None where unknown.

    Raises:
        FormulaError: a formula cannot be read.
    """
    rows = [row for run in runs for row in _of_run(run, frequency(run.suite.meta.language))]
    slopes = [
        (place, coefficient)
        for place, row in enumerate(rows)
        for coefficient in row.coefficients
        if coefficient.name != CONSTANT_TERM
    ]
    corrected = holm([coefficient.p for _, coefficient in slopes])
    for (place, coefficient), p in zip(slopes, corrected, strict=True):
        row = rows[place]
        rows[place] = replace(row, p_holm={**row.p_holm, coefficient.name: p})
    return rows


def _of_run(run: Run, frequency: Frequency | None) -> list[MarginCovariates]:
    suite = judged_suite(run)
    clusters, margins = suite.clusters(), margins_of_costs(run, frequency)
    outcomes = run.outcomes()
    rows = []
    for place, question in enumerate(prediction.name for prediction in suite.predictions):
        known = outcomes.filter(
            (outcomes["question"] == question) & outcomes["value"].is_not_null()
        )
        items = dict(known.select("item", "value").iter_rows())
        columns = {
            name: [by_item[place, item] or 0.0 for item in items]
            for name, by_item in margins.items()
        }
        kept = _independent(columns)
        regression = regress(list(items.values()), kept, Design.of(items, clusters))
        rows.append(
            MarginCovariates(
                suite=run.suite.name,
                model=run.model,
                prediction=question,
                n=len(items),
                mean_bits=math.fsum(items.values()) / len(items) if items else None,
                left_out=tuple(name for name in columns if name not in kept),
                coefficients=regression.coefficients,
                p_holm={},
                reason=regression.reason,
            )
        )
    return rows


def margins_of_costs(
    run: Run, frequency: Frequency | None
) -> dict[str, dict[tuple[int, str], float | None]]:
    """The margins of formulas over counts in the place of surprisals.

    Args:
        run: run of a suite that is judged by formulas.
        frequency: Zipf frequency of a word; None to leave frequencies out.

    Returns:
        For each count, the margin of each prediction, by its place, and item.
    """
    suite = judged_suite(run)
    tokens, requests = judged_tokens(run).collect(), run.table("requests")
    words = _words_begun(tokens, requests)
    costs = {TOKENS: [1.0] * len(tokens), WORDS: [float(len(begun)) for begun in words]}
    if frequency is not None:
        # A frequent word costs less, as it does in bits.
        costs[FREQUENCY] = [0.0 - total(list(map(frequency, begun))) for begun in words]
    return {
        name: _margins(suite, _costing(tokens, values), requests) for name, values in costs.items()
    }


def _margins(
    suite: Suite, tokens: pl.DataFrame, requests: pl.DataFrame
) -> dict[tuple[int, str], float | None]:
    """The margin of each prediction, by its place, and item, in bits."""
    judged = suite_evaluations(suite, region_columns(tokens, requests, metric="sum"))
    return {
        (place, item): None if math.isnan(margin) else margin
        for place, judged_run in enumerate(judged)
        for item, margin in zip(suite.columns.ids, judged_run.margins_bits.tolist(), strict=True)
    }


def _independent(columns: Mapping[str, Sequence[float]]) -> dict[str, Sequence[float]]:
    """The columns that are not a sum of a constant and those before them."""
    import numpy as np

    kept: dict[str, Sequence[float]] = {}
    for name, values in columns.items():
        table = np.column_stack([np.ones(len(values)), *kept.values(), values])
        if len(values) and np.linalg.matrix_rank(table) == table.shape[1]:
            kept[name] = values
    return kept


def _words_begun(tokens: pl.DataFrame, requests: pl.DataFrame) -> list[list[str]]:
    """The words that begin in each token: those whose first letter is in it."""
    texts = dict(requests.select("request", "text").unique().iter_rows())
    begins = {
        request: [(match.start(), one_spelling(match[0]).lower()) for match in _WORD.finditer(text)]
        for request, text in texts.items()
    }
    return [
        [word for begin, word in begins.get(request, []) if start <= begin < end]
        for request, start, end in tokens.select("request", "start", "end").iter_rows()
    ]


def _costing(tokens: pl.DataFrame, bits: Sequence[float]) -> pl.DataFrame:
    """The tokens table with other costs; tokens without one stay without."""
    import polars as pl

    nats = pl.Series("logprob_nats", [0.0 - math.log(2) * value for value in bits])
    known = pl.col("logprob_nats").is_not_null()
    plain = tokens.select(pl.exclude("surprisal_bits", "boundary_nats"))
    return plain.with_columns(
        logprob_nats=pl.when(known).then(nats).otherwise(pl.col("logprob_nats"))
    )


NAMES: Mapping[str, str] = {
    TOKENS: "fewer tokens",
    WORDS: "fewer words",
    FREQUENCY: "more frequent words",
}
"""Baselines that need no model, by the cost that they compare."""
EVERY, ANY, NONE = "all items", "solved by a baseline", "solved by none"


@dataclass(frozen=True, slots=True, kw_only=True)
class PartRate:
    """The accuracy of a model on a part of a suite; right are the items that pass all predictions.

    Attributes:
        suite: name of the suite.
        model: label of the model.
        items: the part, such as `EVERY`, `ANY` or `NONE`.
        n: number of judged items in it.
        accuracy: proportion of them that are right; None if there is none.
        interval: its interval.
    """

    suite: str
    model: str
    items: str
    n: int
    accuracy: float | None
    interval: Interval


def is_baseline(run: Run) -> bool:
    """Whether a run is of an n-gram model."""
    return "order" in manifest_part(run.manifest, "model", "details")


def baseline_rates(
    runs: Sequence[Run], frequency: Callable[[str], Frequency | None]
) -> list[PartRate]:
    """The accuracies of all models that are not baselines, on parts of their suites.

    Args:
        runs: runs of suites that are judged by formulas.
        frequency: from a language to the Zipf frequencies of its words; None where unknown.

    Raises:
        UsageError: all runs are of baselines.
        FormulaError: a formula cannot be read.
    """
    ngrams = list(filter(is_baseline, runs))
    if runs and len(ngrams) == len(runs):
        raise UsageError(
            where="baselines",
            seen="all runs are of n-gram models, which are the baselines",
            todo="Give runs of other models of the same suites too.",
        )
    return [
        rate
        for run in runs
        if not is_baseline(run)
        for rate in _rates(run, [other for other in ngrams if _same_suite(run, other)], frequency)
    ]


def _same_suite(one: Run, other: Run) -> bool:
    return content_of(one) == content_of(other) and one.suite.name == other.suite.name


def _rates(
    run: Run, ngrams: Sequence[Run], frequency: Callable[[str], Frequency | None]
) -> Iterator[PartRate]:
    right = passed_items(run)
    solved = solved_by_costs(run, frequency(run.suite.meta.language))
    for other in ngrams:
        verdicts = passed_items(other)
        solved[other.model] = {item for item, passed in verdicts.items() if passed}
    any_of = set[str]().union(*solved.values())
    parts = {EVERY: set(right)}
    parts |= {f"solved by {name}": items for name, items in solved.items()}
    parts |= {ANY: any_of, NONE: right.keys() - any_of}
    yield from part_rates(run, right, parts)


def part_rates(
    run: Run, right: Mapping[str, bool], parts: Mapping[str, Collection[str]]
) -> Iterator[PartRate]:
    """The accuracy of a run on parts of its suite.

    Args:
        run: the run.
        right: whether each judged item is right.
        parts: ids of the items of each part, by its name.
    """
    clusters = judged_suite(run).clusters()
    for name, items in parts.items():
        judged = [item for item in right if item in items]
        passed = [right[item] for item in judged]
        yield PartRate(
            suite=run.suite.name,
            model=run.model,
            items=name,
            n=len(judged),
            accuracy=sum(passed) / len(passed) if passed else None,
            interval=share_interval(passed, Design.of(judged, clusters)),
        )


def passed_items(run: Run) -> dict[str, bool]:
    """Whether each judged item passes all predictions; ties do not pass."""
    outcomes = whole_items(run).drop_nulls("right")
    return dict(outcomes.select("item", "right").iter_rows())


def solved_by_costs(run: Run, frequency: Frequency | None) -> dict[str, set[str]]:
    """The items that pass all predictions over counts, by the name of the count.

    Args:
        run: run of a suite that is judged by formulas.
        frequency: Zipf frequency of a word; None to leave frequencies out.
    """
    solved = {}
    for cost, margins in margins_of_costs(run, frequency).items():
        items = {item for _, item in margins}
        failed = {item for (_, item), margin in margins.items() if not (margin or 0.0) > 0}
        solved[NAMES[cost]] = items - failed
    return solved


_bits = partial(formatting.number, digits=3, absent=BLANK)
_p = partial(formatting.p_number, absent=BLANK)


def covariates_grid(results: Sequence[MarginCovariates]) -> Grid:
    """A table of margins at equal length and frequency, and of the effects of the covariates."""
    rows = []
    for result in results:
        place = (
            result.suite,
            result.model,
            result.prediction,
            count(result.n),
            _bits(result.mean_bits),
        )
        remarks = [f"left out: {', '.join(result.left_out)}"] if result.left_out else []
        remark = "; ".join([result.reason, *remarks] if result.reason else remarks)
        for k, one in enumerate(result.coefficients or (None,)):
            rows.append(
                (
                    *(place if k == 0 else map(repeated, place)),
                    *(_coefficient(one, result) if one else (BLANK,) * 5),
                    remark if k == 0 else repeated(remark),
                )
            )
    return Grid(
        title="Margins in bits, and what length and word frequency have to do with them.",
        header=(
            "suite", "model", "prediction", "items", "mean", "margin, and bits for each", "value",
            "95%", "p", "p (Holm)", "remark",
        ),
        rows=tuple(rows),
        labels=3,
        remarks=1,
        notes=(
            "Least squares over items, with CR2 standard errors over clusters.",
            "First line: the margin of an item whose two sides are alike in what is below it.",
            "Left out is what is the same in all items, or follows from the other covariates.",
            "Holm's correction is over all the other lines; p of the first lines is not corrected.",
            "Frequencies are summed over words.",
        ),
    )  # fmt: skip


def _coefficient(one: Coefficient, row: MarginCovariates) -> tuple[str, ...]:
    first = one.name == CONSTANT_TERM
    return (
        "both sides alike" if first else one.name,
        _bits(one.value),
        ends_of(one),
        _p(one.p),
        BLANK if first else _p(row.p_holm.get(one.name)),
    )


def baselines_grid(rates: Sequence[PartRate]) -> Grid:
    """A table of accuracies on the items that cheap baselines solve, and on the others."""
    return parts_grid(
        rates,
        title="Accuracy on the items that a cheap baseline solves, and on the others.",
        notes=(
            "An item is right if it passes all predictions.",
            "A baseline solves an item if they hold over tokens, words or frequencies of words.",
            "N-gram models among the runs are baselines too: cimento models ngram makes one.",
        ),
    )


def parts_grid(rates: Sequence[PartRate], *, title: str, notes: tuple[str, ...]) -> Grid:
    """A table of accuracies on parts of suites."""
    return Grid.of(
        rates,
        {
            "suite": lambda rate: rate.suite,
            "model": lambda rate: rate.model,
            "items": lambda rate: rate.items,
            "n": lambda rate: rate.n,
            "accuracy, %": lambda rate: EstimateCell.of(
                rate.accuracy, rate.interval, rate.n, percent=True
            ),
        },
        title=title,
        labels=3,
        grouped=2,
        notes=notes,
    )

"""Judging of region suites: from the answers of a run to its outcomes and their values.

These functions read the suite, the options and the tables of a run, never a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, cast, get_args

from cimento.errors import InputError
from cimento.io.tables import MONTE_CARLO_ERROR, NO_LEFT_CONTEXT, REQUESTS, TOKENS
from cimento.measures import MEASURES, find_measure, find_measures
from cimento.measures.errors import half_widths, replicates_of
from cimento.measures.normalizing import load_unigrams
from cimento.measures.regions import (
    FinalMarkRule,
    RegionColumns,
    RegionValues,
    count_first_tokens,
    items_with_one_first_token,
    region_columns,
    region_values,
    with_equal_costs,
    with_first_tokens,
)
from cimento.measures.scores import ScoredSentence, each_cost, each_sentence, scores_table
from cimento.paradigms.regions.predictions import (
    VERDICTS,
    Evaluations,
    combine,
    judged_items,
    parse_predictions,
    with_undecided,
)
from cimento.records.outcomes import GROUP, OUTCOMES
from cimento.records.store import manifest_part
from cimento.suites.cells import Cells
from cimento.suites.derived import PHENOMENON
from cimento.suites.design import squares, windows_of
from cimento.suites.formula import parse, references
from cimento.suites.licensing import regions_measured
from cimento.suites.naming import ALL_PREDICTIONS
from cimento.suites.stimuli import SegmenterRule

if TYPE_CHECKING:
    import polars as pl

    from cimento.io.tables import Rows
    from cimento.io.values import Floats
    from cimento.kinds.run import Run
    from cimento.measures import Measure
    from cimento.paradigms.regions.options import RegionOptions
    from cimento.suites import Metric, Suite

CHOSEN_BY = "chosen_by"
"""Free column with the number of people who chose this sentence of its item."""


def chosen_column(names: Iterable[str]) -> str:
    """The column `CHOSEN_BY` of a suite, whatever language a workbook has its heading in.

    Args:
        names: of the free columns.
    """
    return Cells("", dict.fromkeys(names, "")).find(CHOSEN_BY)


_FAR_NATS, _SAME_BITS = 1000.0, 1e-6
"""Scores tried for an unknown token, and the largest difference between equal margins."""


def options_of(run: Run) -> RegionOptions:
    """The options of a run that determine how its sentences are judged.

    If a run of another paradigm has a suite with sentences, its options include some of them.
    """
    from cimento.paradigms.regions.options import RegionOptions

    if isinstance(run.options, RegionOptions):
        return run.options
    known = run.options.model_dump(include=set(RegionOptions.model_fields))
    return RegionOptions.model_validate(known)


def measure_of(run: Run) -> Measure | None:
    """The measure of whole sentences that a run is judged on; None for the values of regions."""
    name = options_of(run).measure
    return find_measure(name) if name else None


def label_of(run: Run) -> str:
    """The name of the model, followed by the measure that it was judged on, if any."""
    measure = measure_of(run)
    return f"{run.model} [{measure.name}]" if measure else run.model


def suite_of(run: Run) -> Suite:
    """The suite of a run, as its author wrote it."""
    return cast("Suite", run.suite)


def judged_suite(run: Run) -> Suite:
    """The suite, with the metric and the predictions chosen by the run's options, all named.

    Raises:
        UsageError: the suite has no such prediction.
    """
    return options_of(run).judged(suite_of(run))


def tokens_of(run: Run) -> pl.LazyFrame:
    """The tokens table of a run; an empty table if its suite has nothing to ask.

    Raises:
        TableError: the table cannot be read.
    """
    return run.rows(TOKENS.name) if TOKENS.name in run.tables else TOKENS.empty().lazy()


def judged_tokens(run: Run) -> pl.LazyFrame:
    """The tokens table, with unscored first tokens treated as the run's options say.

    Raises:
        TableError: the table cannot be read.
    """
    return with_first_tokens(tokens_of(run), options_of(run).unscored_first)


def values_of(
    run: Run,
    *,
    tokens: Rows | None = None,
    requests: Rows | None = None,
    metric: Metric | None = None,
    final_marks: FinalMarkRule = "keep",
) -> RegionValues:
    """The value of every region of every stimulus, by the run's rules of judging.

    Args:
        run: run of a region suite.
        tokens: tokens table that replaces the run's own.
        requests: requests table that replaces the run's own.
        metric: function that combines the tokens of a region; None for the run's own.
        final_marks: whether punctuation at the end of a region counts; see
            `cimento.measures.regions.region_values`.
    """
    asked = tokens_of(run) if tokens is None else tokens.lazy()
    return region_values(
        with_first_tokens(asked, options_of(run).unscored_first),
        run.rows(REQUESTS.name) if requests is None else requests,
        metric=metric or judged_suite(run).metric,
        final_marks=final_marks,
    )


def sentences_of(run: Run, *, tokens: pl.LazyFrame | None = None) -> Iterator[ScoredSentence]:
    """The sentences of a run, with everything that measures are computed from.

    Args:
        run: run of a suite of sentences.
        tokens: tokens table that replaces the run's own.

    Raises:
        InputError: the frequencies cannot be read.
    """
    source = options_of(run).unigrams
    return each_sentence(
        judged_tokens(run) if tokens is None else tokens,
        run.rows(REQUESTS.name),
        model_kind=run.model_kind,
        unigrams=load_unigrams(source, language=run.suite.meta.language) if source else None,
        segmenter=segmenter_of(run),
    )


def segmenter_of(run: Run) -> SegmenterRule:
    """What words are in scripts without blanks, as the run was scored."""
    asked = manifest_part(run.manifest, "asking", "policy").get("segmenter")
    rules: tuple[SegmenterRule, ...] = get_args(SegmenterRule)
    return next((rule for rule in rules if rule == asked), "letters")


def scores_of(run: Run, measures: Sequence[str] = ()) -> pl.DataFrame:
    """Measures of every sentence of a run: the scores table, see docs/parts/tables.md.

    Args:
        run: run of a suite of sentences.
        measures: names of measures, see docs/measures.md; empty for all.

    Raises:
        UsageError: a measure is unknown.
        InputError: the frequencies cannot be read.
    """
    import polars as pl

    chosen = find_measures(measures) or tuple(MEASURES.values())
    table = scores_table(sentences_of(run), chosen)
    replicates = [
        scores_table(sentences_of(run, tokens=tokens), chosen)["value"]
        for tokens in replicates_of(judged_tokens(run))
    ]
    if not replicates:
        return table
    errors = half_widths([values.cast(pl.Float64).to_numpy() for values in replicates])
    return table.with_columns(pl.Series(MONTE_CARLO_ERROR, errors).fill_nan(None))


def questions(run: Run) -> tuple[str, ...]:
    """The questions about every item: each prediction by its name, and whether all of them hold.

    The last question is the one about the whole item, by which runs are compared. A single
    prediction is this question itself, so that no item is counted twice.
    """
    names = tuple(prediction.name for prediction in judged_suite(run).predictions)
    return (*names, ALL_PREDICTIONS) if len(names) > 1 else names


def whole_items(run: Run) -> pl.DataFrame:
    """The outcomes that are about whole items: of the last question of `questions`.

    Raises:
        CimentoError: as for `outcomes_of`.
    """
    outcomes = run.outcomes()
    return outcomes.filter(outcomes["question"].is_in(questions(run)[-1:]))


def outcomes_of(run: Run) -> pl.DataFrame:
    """The outcomes table of a run: one row for each item and question, in the order of the suite.

    The value is the margin, positive in favor of the prediction: in bits for regions, and in the
    unit of margins of the measure for whole sentences.

    Args:
        run: run of a region suite.

    Raises:
        UsageError: an option does not fit the suite.
        FormulaError: a prediction cannot be read.
        TableError: a table cannot be read, or belongs to another suite.
    """
    import numpy as np
    import polars as pl

    asked, measure = questions(run), measure_of(run)
    suite = suite_of(run)
    columns: dict[str, Sequence[str | None]] = {
        "item": suite.columns.ids,
        "cluster": suite.cluster_cells(),
    }
    phenomena = suite.item_cells(PHENOMENON)
    if any(phenomena):  # the items of a suite with several phenomena are broken down by them
        columns[GROUP + PHENOMENON] = [phenomenon or None for phenomenon in phenomena]
    groups = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
    named = groups[np.repeat(np.arange(len(groups)), len(asked))]
    table = pl.concat([named, verdicts_of(run)], how="horizontal").with_columns(
        question=pl.Series([*asked] * len(groups), dtype=pl.String),
        suite=pl.lit(suite.name),
        method=pl.lit(measure.name if measure else ""),
        unit=pl.lit(measure.margin_unit if measure else "bits"),
        reference=pl.lit(None, dtype=pl.Float64),
    )
    return table.select(OUTCOMES.polars(present=table.columns).keys())


def verdicts_of(run: Run, *, equal_costs: bool = False) -> pl.DataFrame:
    """Verdict, value, reason, and whether the verdict counts as right: the rows of `outcomes_of`.

    Args:
        run: run of a region suite.
        equal_costs: whether to judge as if every token had the same surprisal, so that numbers of
            tokens alone decide.

    Raises:
        UsageError: as for `outcomes_of`.
        FormulaError: likewise.
        TableError: likewise.
    """
    import polars as pl

    options = options_of(run)
    rows = _of_lengths(run) if equal_costs else _without_first_tokens(run)
    ties = pl.lit(options.ties == "pass")
    # A verdict that does not need a missing value is not a reason to count the item: among the
    # items with the same value missing, only those on which the other parts decide would be
    # counted.
    right = pl.when((pl.col("verdict") != "unscored") & pl.col("whole")).then(
        pl.when(pl.col("verdict") == "tie").then(ties).otherwise(pl.col("verdict") == "pass")
    )
    return rows.with_columns(right=right).drop("whole")


def _of_lengths(run: Run) -> pl.DataFrame:
    """The rows of `judged_rows` if every token had the same surprisal."""
    tokens = judged_tokens(run)
    is_plain = {*tokens.collect_schema()} <= {*TOKENS.columns, "region"}
    if not is_plain or measure_of(run) or count_first_tokens(tokens):
        return _without_first_tokens(run, with_equal_costs(tokens))
    # The tokens of each region were counted when its value was made.
    suite = judged_suite(run)
    columns = region_columns_of(run).with_equal_costs(suite.metric)
    trees = parse_predictions(suite)
    return _rows(judged_items(suite, trees, columns, unit=options_of(run).unit), columns)


def _without_first_tokens(run: Run, tokens: pl.LazyFrame | None = None) -> pl.DataFrame:
    """The rows of `judged_rows`, with verdicts where an unscored first token makes no difference.

    A first token without left context has an unknown surprisal. If all sentences of an item begin
    with the same token, this is a single unknown number, which may cancel out: it does in a
    difference of sums, but not in a difference of means over unequal numbers of tokens. Three
    widely separated values are tried, two of them beyond any real surprisal; an item gets its
    verdict if none of them changes its margin.
    """
    import numpy as np
    import polars as pl

    rows, rule = judged_rows(run, tokens), options_of(run).unscored_first
    tokens = judged_tokens(run) if tokens is None else tokens
    if rows.is_empty() or rule != "missing" or not count_first_tokens(tokens):
        return rows
    shared = items_with_one_first_token(tokens, run.table("requests"))
    if not shared:
        return rows
    first = pl.col("unscored_reason").eq_missing(NO_LEFT_CONTEXT)
    score = pl.when(first)
    tried = [
        judged_rows(
            run,
            tokens.with_columns(
                logprob_nats=score.then(nats).otherwise(pl.col("logprob_nats")),
                unscored_reason=score.then(None).otherwise(pl.col("unscored_reason")),
            ),
        )
        for nats in (0.0, -_FAR_NATS, _FAR_NATS)
    ]
    shape = (-1, len(questions(run)))
    margins = [one["value"].fill_null(np.nan).to_numpy().reshape(shape) for one in tried]
    is_open = ~rows["whole"].to_numpy().reshape(shape)
    is_shared = np.array([item in shared for item in suite_of(run).columns.ids])
    free = is_open & is_shared[:, None] & (np.ptp(margins, axis=0) < _SAME_BITS)
    # The conjunction is independent of the unknown number only if each prediction is.
    free[:, -1] &= (free | ~is_open)[:, :-1].all(axis=1)
    is_free = pl.Series(free.ravel())
    put = {
        name: pl.when(is_free).then(tried[0][name]).otherwise(rows[name]) for name in rows.columns
    }
    return rows.with_columns(**put)


def judged_rows(run: Run, tokens: pl.LazyFrame | None) -> pl.DataFrame:
    """The verdict, value and reason of each item and question, item by item.

    The column ``whole`` says whether every comparison of the formula has its values.

    Args:
        run: run of a region suite.
        tokens: as for `compared`.
    """
    import polars as pl

    if not judged_suite(run).predictions:
        return pl.DataFrame(schema=_schema())
    judged, columns = compared(run, tokens)
    # Where scores are estimates, margins within their error decide nothing.
    if errors := margin_errors(run, judged_tokens(run) if tokens is None else tokens):
        judged = with_undecided(judged, errors, columns.texts.number)
    return _rows(judged, columns)


def _rows(judged: Sequence[Evaluations], columns: RegionColumns) -> pl.DataFrame:
    """The results of predictions and of all together as rows; see `judged_rows`."""
    import numpy as np
    import polars as pl

    judged = judged if len(judged) == 1 else (*judged, combine(judged, "&"))
    verdicts = np.stack([part.verdicts for part in judged], axis=1).ravel()
    values = np.stack([part.margins_bits for part in judged], axis=1).ravel()
    reasons = np.stack([part.reasons for part in judged], axis=1).ravel()
    texts = pl.Series([*columns.texts.texts(), None], dtype=pl.String)
    return pl.DataFrame(
        {
            "verdict": pl.Series(VERDICTS)[verdicts],
            "value": pl.Series(values).fill_nan(None),
            # Rows without a reason have index -1, mapped to the last text, which is None.
            "reason": texts[np.where(reasons < 0, len(texts) - 1, reasons)],
            "whole": reasons < 0,
        },
        schema=_schema(),
    )


def _schema() -> dict[str, pl.DataType]:
    import polars as pl

    known = OUTCOMES.polars()
    return {**{name: known[name] for name in ("verdict", "value", "reason")}, "whole": pl.Boolean()}


def margin_errors(run: Run, tokens: pl.LazyFrame) -> list[Floats]:
    """The error of the margins of each prediction; none where scores are not estimates."""
    margins = [
        [part.margins_bits for part in compared(run, replicate)[0]]
        for replicate in replicates_of(tokens)
    ]
    return [half_widths(values) for values in zip(*margins, strict=True)]


def region_columns_of(run: Run) -> RegionColumns:
    """The values of the regions of a run, made once for its outcomes and its estimates."""
    return run.once(
        "regions",
        lambda: region_columns(
            judged_tokens(run), run.rows(REQUESTS.name), metric=judged_suite(run).metric
        ),
    )


def compared(
    run: Run, tokens: pl.LazyFrame | None = None
) -> tuple[Sequence[Evaluations], RegionColumns]:
    """The result of each prediction on every item, and the values that they compare.

    Args:
        run: run of a region suite.
        tokens: other tokens than the run's own; None for these.
    """
    suite, unit, measure = judged_suite(run), options_of(run).unit, measure_of(run)
    trees = parse_predictions(suite)
    if measure is None:
        columns = (
            region_columns_of(run)
            if tokens is None
            else region_columns(tokens, run.rows(REQUESTS.name), metric=suite.metric)
        )
        return judged_items(suite, trees, columns, unit=unit), columns
    information = measure.information
    costs = each_cost(sentences_of(run, tokens=tokens), measure)
    columns = RegionColumns.of(costs, unit=information or "bits")
    return judged_items(suite, trees, columns, unit=unit if information else "bits"), columns


def crosses_factors(run: Run) -> bool:
    """Whether the suite of a run declares a design of two factors that can be used."""
    try:
        return bool(squares(suite_of(run)))
    except InputError:
        return False  # a warning of the suite says what is wrong with it


def has_parts(run: Run) -> bool:
    """Whether DD of a run is available by region; suites of licensing have windows instead."""
    try:
        parts = windows_of(suite_of(run)) and squares(suite_of(run))
    except InputError:
        return False  # likewise
    return bool(parts) and not regions_measured(suite_of(run))


def compares_sentences(run: Run) -> bool:
    """Whether all predictions of a run's suite are about whole sentences."""
    return all(
        reference.region == "*"
        for prediction in suite_of(run).predictions
        for reference in references(parse(prediction.formula))
    )

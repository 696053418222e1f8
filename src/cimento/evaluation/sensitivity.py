"""Sensitivity of verdicts to choices of method, and of scores to batches and number formats."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cimento.engine.cache import AnswerCache, MemoryCache
from cimento.engine.requests import Requests
from cimento.engine.rounding import rounded_up
from cimento.engine.scores import ask
from cimento.errors import CimentoError
from cimento.evaluation import Failure, run_all
from cimento.io.values import BITS_PER_NAT, group_by
from cimento.kinds.registry import LoadedSuite, SuiteLike, load_suites
from cimento.kinds.run import Run
from cimento.measures.regions import region_columns
from cimento.models.base import Score
from cimento.models.registry import AnyScorer
from cimento.models.settings import DtypeName, Policy
from cimento.options import RunOptions
from cimento.paradigms.regions import (
    asked_choices,
    compares_sentences,
    curves_figure,
    curves_grid,
    curves_of,
    judged_suite,
    passed_items,
    region_requests,
    suite_evaluations,
)
from cimento.records.store import manifest_part
from cimento.statistics.design import Design
from cimento.statistics.intervals import Interval, share_interval
from cimento.suites import Suite

if TYPE_CHECKING:
    from cimento.io.values import Floats, Integers
    from cimento.report.figures import Figure
    from cimento.report.grid import Grid

CAUSAL, MASKED = "causal", "masked"
ANY = "any variant"
"""The name of the last row of a suite and model: items whose verdict some variant changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodVariant:
    """A variant, which changes one choice of method.

    Attributes:
        name: the variant as options of the command line.
        changes: the changed options of a run, by name.
        kinds: kinds of models that have this choice.
        sentences: True for suites whose predictions are all about whole sentences, False for the
            others, None for both.
    """

    name: str
    changes: Mapping[str, str | tuple[str, ...]]
    kinds: tuple[str, ...] = (CAUSAL, MASKED, "seq2seq")
    sentences: bool | None = None


VARIANTS = (
    MethodVariant(
        name="--bos none --unscored-first drop",
        changes={"bos": "none", "unscored_first": "drop"},
        kinds=(CAUSAL,),
    ),
    MethodVariant(name="--boundary auto", changes={"boundary": "auto"}, kinds=(CAUSAL,)),
    MethodVariant(name="--pll original", changes={"pll": "original"}, kinds=(MASKED,)),
    MethodVariant(name="--pll whole-word", changes={"pll": "whole-word"}, kinds=(MASKED,)),
    MethodVariant(name="--dtype bfloat16", changes={"dtype": "bfloat16"}),
    MethodVariant(name="--metric mean", changes={"metric": "mean"}, sentences=False),
    MethodVariant(name="--measure meanlp", changes={"measures": ("meanlp",)}, sentences=True),
    MethodVariant(name="--measure penlp", changes={"measures": ("penlp",)}, sentences=True),
)


NO_INTERVAL = Interval(None, None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity:
    """The effect of one variant on the verdicts of a suite and a model.

    Attributes:
        suite: name of the suite.
        model: label of the model.
        variant: name of the variant; `ANY` for all variants together.
        n: number of items with a verdict in both.
        gained: items that pass only in the variant.
        lost: items that pass only in the original.
        interval: interval of the proportion of items that change.
        accuracy: accuracy of the variant over these items; None for all variants together.
        reason: the reason why the variant has no result.
    """

    suite: str
    model: str
    variant: str
    n: int = 0
    gained: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    interval: Interval = NO_INTERVAL
    accuracy: float | None = None
    reason: str | None = None

    @property
    def changed(self) -> int:
        """The number of items that pass in one and not in the other."""
        return len(self.gained) + len(self.lost)


def sensitivities(
    suites: Sequence[SuiteLike],
    models: Sequence[str],
    options: RunOptions,
    *,
    cache: AnswerCache | None = None,
) -> list[Sensitivity]:
    """The effect of each variant on the verdicts of every suite and model.

    An item passes where all its predictions hold; ties count as the options say. Nothing is
    stored, but answers are kept in the cache.

    Args:
        suites: suites judged by formulas.
        models: names as for ``cimento run -m``.
        options: the options of the original.
        cache: the cache of answers; None forgets them afterwards.

    Raises:
        CimentoError: a suite or a model cannot be used with the original options.
    """
    loaded = list(load_suites(suites, language=options.language, columns=options.roles))
    kept = cache or MemoryCache()
    options = options.model_copy(update={"output": None})
    rows: list[Sensitivity] = []
    for model in models:
        for suite in loaded:

            def made(variant: MethodVariant, suite: LoadedSuite = suite, model: str = model) -> Run:
                return _asked(suite, model, options, variant.changes, kept)

            base = _asked(suite, model, options, {}, kept)
            if judged_suite(base).predictions:
                rows += _rows(base, made)
    return rows


def specification_results(runs: Sequence[Run]) -> tuple[Grid | None, Callable[[], list[Figure]]]:
    """The specification curves of runs as a table, and as a figure for each suite and model.

    Args:
        runs: as `specified_runs` gives them.

    Returns:
        The table, None where there is no curve, and what makes the figures.
    """
    curves = curves_of(runs)
    several = group_by(curves, lambda curve: (curve.suite, curve.model)).values()
    return curves_grid(curves) if curves else None, lambda: [*map(curves_figure, several)]


def specified_runs(
    suites: Sequence[SuiteLike],
    models: Sequence[str],
    options: RunOptions,
    *,
    cache: AnswerCache | None = None,
    remark: Callable[[str], object],
) -> list[Run]:
    """The runs for every combination of what models can be asked by (`ASKED`), none stored.

    Args:
        suites: suites of sentences.
        models: names as for ``cimento run -m``.
        options: the options of the original, which comes first of each suite and model.
        cache: the cache of answers; None forgets them afterwards.
        remark: is told of combinations that a model does not have.

    Raises:
        CimentoError: a suite or a model cannot be used with the original options.
    """
    loaded = list(load_suites(suites, language=options.language, columns=options.roles))
    kept = cache or MemoryCache()
    options = options.model_copy(update={"output": None})
    runs: list[Run] = []
    for model in models:
        for suite in loaded:
            base = _asked(suite, model, options, {}, kept)
            runs.append(base)
            own = manifest_part(base.manifest, "asking", "policy")
            for changes in asked_choices(base.model_kind):
                if all(own.get(name) == value for name, value in changes.items()):
                    continue
                try:
                    runs.append(_asked(suite, model, options, changes, kept))
                except CimentoError as error:
                    chosen = " ".join(f"--{name} {value}" for name, value in changes.items())
                    remark(f"cimento: {model} has no specification with {chosen}: {error}")
    return runs


def _asked(
    suite: LoadedSuite,
    model: str,
    options: RunOptions,
    changes: Mapping[str, str | tuple[str, ...]],
    cache: AnswerCache,
) -> Run:
    """The run of a suite and a model with some options changed.

    Raises:
        CimentoError: it cannot be made.
    """
    [run] = run_all([suite], [model], options.model_copy(update=dict(changes)), cache=cache)
    if isinstance(run, Failure):
        raise run.error
    return run


def _rows(base: Run, made: Callable[[MethodVariant], Run]) -> Iterator[Sensitivity]:
    """The row of each variant that differs from a run, and the row of all together."""
    before = passed_items(base)
    clusters = judged_suite(base).clusters()
    touched: dict[str, None] = {}
    judged = list(before)
    for variant in VARIANTS:
        if not _applies(variant, base):
            continue
        nothing = Sensitivity(suite=base.suite.name, model=base.model, variant=variant.name)
        try:
            after = passed_items(made(variant))
        except CimentoError as error:
            yield dataclasses.replace(nothing, reason=str(error))
            continue
        items = [item for item in before if item in after]
        gained = tuple(item for item in items if after[item] and not before[item])
        lost = tuple(item for item in items if before[item] and not after[item])
        touched |= dict.fromkeys((*gained, *lost))
        if not items:
            yield dataclasses.replace(nothing, reason="no item is scored in both")
            continue
        judged = [item for item in judged if item in after]
        yield dataclasses.replace(
            nothing,
            n=len(items),
            gained=gained,
            lost=lost,
            interval=_interval(items, {*gained, *lost}, clusters),
            accuracy=sum(after[item] for item in items) / len(items),
        )
    yield Sensitivity(
        suite=base.suite.name,
        model=base.model,
        variant=ANY,
        n=len(judged),
        gained=tuple(item for item in touched if item in judged and not before[item]),
        lost=tuple(item for item in touched if item in judged and before[item]),
        interval=_interval(judged, set(touched), clusters),
    )


def _applies(variant: MethodVariant, base: Run) -> bool:
    """Whether a variant exists for the run's model and suite and differs from its options."""
    if base.model_kind not in variant.kinds:
        return False
    if variant.sentences is not None and variant.sentences != compares_sentences(base):
        return False
    judged = base.options.model_dump()
    asked = {
        **manifest_part(base.manifest, "asking", "policy"),
        **judged,
        "metric": judged_suite(base).metric,
        "measures": (judged.get("measure", ""),),
    }
    return any(asked.get(name) != value for name, value in variant.changes.items())


def _interval(
    items: Sequence[str], changed: set[str], clusters: Mapping[str, Hashable]
) -> Interval:
    return share_interval([item in changed for item in items], Design.of(items, clusters))


TOGETHER = (1, 8, 0)
"""Numbers of texts that a model is given at once; 0 for all."""

WIDER: Mapping[DtypeName, DtypeName] = {
    "bfloat16": "float32",
    "float16": "float32",
    "float32": "float64",
}
"""The wider number format with which each format is compared."""


@dataclass(frozen=True, slots=True)
class Movement:
    """The movement of numbers between two ways to compute them, in bits.

    Attributes:
        n: how many numbers are compared.
        median: movement that half of them do not exceed; None without numbers.
        most: movement that 99 of 100 do not exceed.
        largest: the largest movement.
    """

    n: int
    median: float | None
    most: float | None
    largest: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringComparison:
    """The result of comparing two ways of scoring.

    Attributes:
        token: movement of the surprisals of tokens.
        sentence: movement of their sums over sentences.
        margin: movement of the margins of predictions.
        turned: number of verdicts that differ.
    """

    token: Movement
    sentence: Movement
    margin: Movement
    turned: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Precision:
    """The numerical precision of a model's scores.

    Attributes:
        dtype: its number format.
        n_items: number of items scored.
        n_texts: number of texts scored, where each text counts once for every way.
        by_batch: movement with the shape of the batch: the same texts alone, eight at a time and
            together.
        wider: the wider number format; empty where there is none.
        by_format: movement between the two formats, over all batch shapes; None without a wider
            format.
    """

    dtype: str
    n_items: int
    n_texts: int
    by_batch: ScoringComparison
    wider: str = ""
    by_format: ScoringComparison | None = None

    @property
    def near_tie_bits(self) -> float | None:
        """The largest margin that may come from numerical error alone, rounded up to two digits."""
        differences = [self.by_batch.margin.largest]
        differences += [self.by_format.margin.largest] if self.by_format is not None else []
        known = [value for value in differences if value]
        return rounded_up(max(known)) if known else None


def measure_precision(
    suites: Iterable[Suite],
    scorer: AnyScorer,
    *,
    policy: Policy,
    wider: AnyScorer | None = None,
    items: int | None = None,
) -> Precision:
    """Score the items of some suites in several ways.

    Args:
        suites: suites with predictions, whose margins are compared.
        scorer: the loaded model.
        policy: the policy it was loaded with.
        wider: the same model in a wider number format; None where there is none.
        items: number of items of each suite, from the first; None for all.
    """
    by_batch, by_format = _Differences(), _Differences()
    n_items = n_texts = 0
    for suite in suites:
        shortened = replace(suite, items=suite.items[:items])
        requests = region_requests(shortened, all_tokens=True)
        n_items += len(shortened.items)
        n_texts += len(requests.asked)
        alone, *others = [_way(shortened, requests, scorer, policy, size) for size in TOGETHER]
        for other in others:
            by_batch.add(alone, other)
        if wider is not None:
            dtype = next(name for name in WIDER.values() if name == wider.card.dtype)
            exact = _way(shortened, requests, wider, replace(policy, dtype=dtype), 1)
            for one in (alone, *others):
                by_format.add(exact, one)
    return Precision(
        dtype=scorer.card.dtype,
        n_items=n_items,
        n_texts=n_texts,
        by_batch=by_batch.moved(),
        wider=wider.card.dtype if wider is not None else "",
        by_format=by_format.moved() if wider is not None else None,
    )


@dataclass(frozen=True, slots=True)
class _Way:
    """The results of one way of scoring a suite, in bits.

    Every way scores the same tokens and judges the same items, so that the places of arrays agree.
    """

    tokens: Floats
    sentences: Floats
    margins: Floats
    verdicts: Integers


def _way(suite: Suite, requests: Requests, scorer: AnyScorer, policy: Policy, size: int) -> _Way:
    import numpy as np
    import polars as pl

    asked = [request for request in requests.asked if isinstance(request, Score)]
    step = size or max(len(asked), 1)
    tables = []
    for start in range(0, len(asked), step):
        some = asked[start : start + step]
        table = ask(some, scorer, policy=policy, cache=MemoryCache())
        tables.append(table.with_columns(pl.col("request") + start))
    tokens = pl.concat(tables).sort("request", "position")
    bits = (0.0 - pl.col("logprob_nats")) * BITS_PER_NAT
    scored = tokens.drop_nulls("logprob_nats")
    sums = scored.group_by("request", maintain_order=True).agg(pl.col("logprob_nats").sum())
    values = region_columns(tokens, requests.places, metric=suite.metric)
    judged = suite_evaluations(suite, values)
    return _Way(
        tokens=scored.select(bits).to_series().to_numpy(),
        sentences=sums.select(bits).to_series().to_numpy(),
        margins=np.concatenate([part.margins_bits for part in judged] or [np.zeros(0)]),
        verdicts=np.concatenate([part.verdicts for part in judged] or [np.zeros(0, np.int64)]),
    )


@dataclass(slots=True)
class _Differences:
    """The differences between ways of scoring, gathered over suites."""

    tokens: list[Floats] = field(default_factory=list)
    sentences: list[Floats] = field(default_factory=list)
    margins: list[Floats] = field(default_factory=list)
    turned: int = 0

    def add(self, one: _Way, other: _Way) -> None:
        """Add the differences between two ways of scoring one suite."""
        self.tokens.append(abs(one.tokens - other.tokens))
        self.sentences.append(abs(one.sentences - other.sentences))
        self.margins.append(abs(one.margins - other.margins))
        self.turned += int((one.verdicts != other.verdicts).sum())

    def moved(self) -> ScoringComparison:
        """A summary of all differences."""
        return ScoringComparison(
            token=_movement(self.tokens),
            sentence=_movement(self.sentences),
            margin=_movement(self.margins),
            turned=self.turned,
        )


def _movement(differences: Sequence[Floats]) -> Movement:
    """The movement of numbers that have one in both ways."""
    known = sorted(value for part in differences for value in part.tolist() if math.isfinite(value))
    if not known:
        return Movement(0, None, None, None)
    median, most = (known[math.ceil(len(known) * share) - 1] for share in (0.5, 0.99))
    return Movement(len(known), median, most, known[-1])

"""The specification curve: a result under every combination of defensible choices of scoring.

After Simonsohn, Simmons and Nelson 2020 (doi:10.1038/s41562-020-0912-z). What a run's stored tokens
allow is judged again: the measure or the metric, an unscored first token, the final mark. What the
model has to be asked for (BOS, pseudo-log-likelihood, word boundaries) comes from further runs of
the same model and suite.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, TypeAlias

from cimento.errors import UsageError
from cimento.io.tables import LEFT_OUT, TOKENS
from cimento.io.values import group_by
from cimento.kinds.identity import content_of
from cimento.measures import find_measure
from cimento.measures.regions import count_first_tokens
from cimento.paradigms.regions.estimates import accuracies_of, factorial_of
from cimento.paradigms.regions.factorial import dd_tests
from cimento.paradigms.regions.judging import (
    compares_sentences,
    crosses_factors,
    judged_suite,
    options_of,
    tokens_of,
)
from cimento.paradigms.regions.options import RegionOptions
from cimento.records.outcomes import ACCURACY
from cimento.records.store import manifest_part

if TYPE_CHECKING:
    import polars as pl

    from cimento.kinds.run import Run
    from cimento.records.outcomes import Estimate
    from cimento.statistics.means import Mean

MEASURE, METRIC = "measure", "metric"
FIRST, FINAL = "first token", "final mark"
CORRELATION = "correlation with ratings"
DD_Z = "DD (z)"
Choices: TypeAlias = "tuple[tuple[str, str], ...]"
"""What is chosen, and the choice."""

MEASURES = ("lp", "meanlp", "penlp", "mean-word")
"""Measures of sentences that are tried; those by unigrams only where the run has frequencies."""
BY_UNIGRAMS = ("slor", "normlp")
SAME_ORDER: Mapping[str, str] = {
    "surprisal-bits": "lp", "surprisal-nats": "lp",
    "bits-per-token": "meanlp", "ppl": "meanlp", "pppl": "meanlp",
}  # fmt: skip
"""Measures that put sentences in the order of one that is tried, and stand for it."""
METRICS = ("sum", "mean")
ASKED: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "causal": {"bos": ("auto", "none"), "boundary": ("none", "auto")},
    "seq2seq": {"boundary": ("none", "auto")},
    "masked": {"pll": ("within-word-l2r", "original", "whole-word")},
}
"""The choices that a model is asked by, by its kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Specification:
    """One result under one combination of choices.

    Attributes:
        choices: the combination.
        value: the result; None if it is undefined.
        low: lower end of its 95% interval.
        high: upper end.
        reference: the value that says nothing: chance, or 0.
        n: number of items.
        reason: why a number is missing.
    """

    choices: Choices
    value: float | None
    low: float | None
    high: float | None
    reference: float | None
    n: int
    reason: str = ""

    @property
    def side(self) -> int | None:
        """1 above the reference, -1 below, 0 at it; None if either is undefined."""
        if self.value is None or self.reference is None:
            return None
        # Sums of shares differ from chance by rounding alone.
        if math.isclose(self.value, self.reference, abs_tol=1e-12):
            return 0
        return 1 if self.value > self.reference else -1

    @property
    def is_sure(self) -> bool:
        """Whether the interval leaves the reference out."""
        if self.low is None or self.high is None or self.reference is None:
            return False
        return not self.low <= self.reference <= self.high


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecificationCurve:
    """One result of a model and a suite under all combinations of choices.

    Attributes:
        suite: name of the suite.
        model: the model.
        statistic: ``accuracy``, DD with its phenomenon, or the correlation with ratings.
        specifications: all of them, that of the run itself first.
    """

    suite: str
    model: str
    statistic: str
    specifications: tuple[Specification, ...]

    @property
    def known(self) -> tuple[Specification, ...]:
        """The specifications that say anything: those with a value and a reference."""
        return tuple(one for one in self.specifications if one.side is not None)

    def agreeing(self, *, sure: bool = False) -> int:
        """Count the specifications on the side of the run's own.

        Args:
            sure: only those whose interval leaves the reference out.
        """
        own = self.specifications[0].side
        return sum(one.side == own and (one.is_sure or not sure) for one in self.known)

    @property
    def opposed(self) -> int:
        """The number of specifications that are surely on the other side."""
        own = self.specifications[0].side
        return sum(one.is_sure and one.side != own for one in self.known)


def curves_of(runs: Sequence[Run]) -> list[SpecificationCurve]:
    """The curves of some runs; runs of one model and suite that were asked differently are one.

    Args:
        runs: runs of suites of sentences.

    Raises:
        CimentoError: a run cannot be judged.
    """
    return [
        curve for same in group_by(runs, _of_one_model).values() for curve in _curves(_apart(same))
    ]


def defaults_first(runs: Sequence[Run]) -> list[Run]:
    """The runs, those that were asked by the usual choices first; folders have no such order.

    Args:
        runs: of suites of sentences.
    """

    def unusual(run: Run) -> int:
        usual = ASKED.get(run.model_kind, {})
        return sum(choice != usual[name][0] for name, choice in _asked(run))

    return sorted(runs, key=unusual)


def _of_one_model(run: Run) -> tuple[str, ...]:
    """What runs of one curve have in common: suite, items, model, and all that no choice is of."""
    model, asking = (manifest_part(run.manifest, name) for name in ("model", "asking"))
    policy = manifest_part(run.manifest, "asking", "policy")
    chosen = ASKED.get(run.model_kind, {})
    known = (
        *(model.get(name) for name in ("name", "revision", "kind")),
        *(asking.get(name) for name in ("limit", "context")),
        sorted((name, str(value)) for name, value in policy.items() if name not in chosen),
    )
    return (run.suite.name, content_of(run), *map(str, known))


def _apart(runs: Sequence[Run]) -> list[tuple[Run, Choices]]:
    """The runs whose tokens have other scores than those before, with what they were asked by."""
    kept: list[tuple[Run, Choices]] = []
    scores: list[pl.Series] = []
    for run in runs:
        tokens = tokens_of(run).select("logprob_nats").collect()["logprob_nats"]
        if not any(tokens.equals(other) for other in scores):
            scores.append(tokens)
            kept.append((run, _asked(run)))
    return kept


def _asked(run: Run) -> Choices:
    """What a model was asked by that others may choose differently; nothing of a recording."""
    policy = manifest_part(run.manifest, "asking", "policy")
    return tuple(
        (name, str(policy[name])) for name in ASKED.get(run.model_kind, {}) if name in policy
    )


def _curves(runs: Sequence[tuple[Run, Choices]]) -> Iterator[SpecificationCurve]:
    found: dict[str, list[Specification]] = {}
    for run, asked in runs:
        for judged, choices in judgings(run):
            for statistic, made in _results(judged):
                one = dataclasses.replace(made, choices=(*asked, *choices))
                found.setdefault(statistic, []).append(one)
    first = runs[0][0]
    model = str(manifest_part(first.manifest, "model").get("name") or first.model)
    for statistic, specifications in found.items():
        yield SpecificationCurve(
            suite=first.suite.name,
            model=model,
            statistic=statistic,
            specifications=tuple(specifications),
        )


def judgings(run: Run) -> Iterator[tuple[Run, Choices]]:
    """The run judged under each combination of what its stored tokens allow, its own first.

    Args:
        run: of a suite of sentences.

    Raises:
        UsageError: it cannot be judged so.
    """
    axes: dict[str, tuple[str, ...]] = {**_measures(run)}
    own = options_of(run).unscored_first
    if count_first_tokens(tokens_of(run)):
        axes[FIRST] = (own, *(rule for rule in ("missing", "drop") if rule != own))
    without = _without_final_marks(run)
    if without is not None:
        axes[FINAL] = ("keep", "drop")
    for values in product(*axes.values()):
        chosen = dict(zip(axes, values, strict=True))
        source = without if chosen.get(FINAL) == "drop" and without is not None else run
        changes: dict[str, object] = {"also": (), "unscored_first": chosen.get(FIRST, own)}
        changes |= {name: chosen[name] for name in (MEASURE, METRIC) if name in chosen}
        if "draws" in type(run.options).model_fields:
            changes["draws"] = 0  # the noise ceiling is not shown here
        yield source.judged(changes), tuple(chosen.items())


def _measures(run: Run) -> dict[str, tuple[str, ...]]:
    """The measures of sentences to try, or the metrics of regions; the run's own first."""
    options = options_of(run)
    if not compares_sentences(run):
        return {METRIC: tuple(dict.fromkeys((judged_suite(run).metric, *METRICS)))}
    own = find_measure(options.measure or "lp").name
    tried = [name for name in MEASURES if name != SAME_ORDER.get(own)]
    names = [own, *tried, *(BY_UNIGRAMS if options.unigrams else ())]
    return {MEASURE: tuple(dict.fromkeys(names))}


def _without_final_marks(run: Run) -> Run | None:
    """The run without the tokens of punctuation that ends its sentences; None if there are none."""
    import polars as pl

    requests = run.table("requests").select("request", "text").unique()
    ends = requests.with_columns(
        last=pl.col("text").str.replace(r"[\p{P}\s]+$", "").str.len_chars().cast(pl.Int32)
    ).filter(pl.col("last") > 0)
    tokens = tokens_of(run).collect()
    marked = tokens.join(ends, on="request", how="left", maintain_order="left")
    is_mark = (marked["start"] >= marked["last"]).fill_null(value=False)
    if not is_mark.any():
        return None
    left = pl.when(is_mark).then(pl.lit(LEFT_OUT)).otherwise(pl.col("unscored_reason"))
    changed = tokens.with_columns(unscored_reason=left)
    return dataclasses.replace(run, tables={**run.tables, TOKENS.name: changed})


def _results(run: Run) -> Iterator[tuple[str, Specification]]:
    """The results of a run that a paper would claim, by their names, without their choices."""
    for one in accuracies_of(run):
        if one.role == "headline":
            yield ACCURACY, _specified(one, reference=one.chance)
    if crosses_factors(run) and compares_sentences(run):
        # Measures have units of their own, and z-scores none; the test is the same.
        for test in dd_tests([factorial_of(run)], normalization="z", seed=options_of(run).seed):
            name = f"{DD_Z}: {test.phenomenon}" if test.phenomenon else DD_Z
            yield name, _specified(test.dd, reference=0.0)
    if type(run.options) is RegionOptions:
        return
    for one in run.estimates():
        if one.statistic == "spearman" and not one.group and one.role in {"main", "headline"}:
            made = _specified(one, reference=0.0)
            yield CORRELATION, made if _is_good(one.question) else _turned(made)


def _specified(one: Estimate | Mean, *, reference: float | None) -> Specification:
    return Specification(
        choices=(),
        value=one.value,
        low=one.low,
        high=one.high,
        reference=reference,
        n=one.n,
        reason=one.reason or "",
    )


def _is_good(measure: str) -> bool:
    """Whether more of a measure is better; people who rate higher have less surprisal."""
    return find_measure(measure).higher_is_better


def _turned(one: Specification) -> Specification:
    value, low, high = (
        None if end is None else 0.0 - end for end in (one.value, one.high, one.low)
    )
    return dataclasses.replace(one, value=value, low=low, high=high)


def asked_choices(kind: str) -> list[dict[str, str]]:
    """All combinations of what a model of some kind can be asked by, as options of a run."""
    axes = ASKED.get(kind, {})
    return [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]


def need_curves(curves: Sequence[SpecificationCurve]) -> None:
    """Refuse an empty list of curves.

    Raises:
        UsageError: there is none.
    """
    if not curves:
        raise UsageError(
            where="sensitivity",
            seen="the runs have no accuracy, DD or correlation",
            todo="Give runs of suites with predictions, factors or ratings.",
        )


def choices_made(curves: Iterable[SpecificationCurve]) -> dict[str, list[str]]:
    """What is chosen, in the order in which it is first seen, with all its choices.

    Args:
        curves: the curves.
    """
    made: dict[str, dict[str, None]] = {}
    for curve in curves:
        for one in curve.specifications:
            for name, choice in one.choices:
                made.setdefault(name, {})[choice] = None
    return {name: list(choices) for name, choices in made.items()}

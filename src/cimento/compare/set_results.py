"""The results of models on the sets of a language: our number of each, and its authors' number.

Our number is the unweighted mean over the paradigms of a set, as models are judged here. The
authors' is a proportion of pairs, or a mean over paradigms, by the measure that they compare by,
of the same answers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from cimento.compare.phenomena import Paradigm, SuiteOrigin
from cimento.errors import CimentoError
from cimento.io.tables import REQUESTS
from cimento.io.values import grouped
from cimento.paired.item_outcomes import MEASURE
from cimento.records.outcomes import ACCURACY
from cimento.statistics.suite_means import mean_over_suites
from cimento.suites.authors import authors_scoring

if TYPE_CHECKING:
    from cimento.kinds.run import Run
    from cimento.records.outcomes import Estimate
    from cimento.suites.authors import AuthorsScoring

_LP = "lp"
"""The measure by which sentences are compared here where nothing else is asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorsNumber:
    """What the authors of a set would report of the same answers.

    Attributes:
        value: a proportion; None where their measure is not defined for the model.
        measure: by which they compare sentences.
        over: ``pairs`` or ``paradigms``.
        scored: where they say or show this.
        reason: why there is no value; empty where there is one.
    """

    value: float | None
    measure: str
    over: str
    scored: str
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetResult:
    """The result of one model on one set, or on one suite of rated sentences or of a design.

    Attributes:
        set: name of the set.
        suite: name of the suite, where each has its own number; empty for all suites of the set.
        model: label of the model.
        statistic: ``accuracy``, or the name of the statistic, such as ``spearman`` or ``DD``.
        question: what the result is of: a measure, or the phenomenon of a design; empty for pairs.
        value: the number; None where it is undefined.
        low: lower end of its 95% interval, for other items; None where there is none.
        high: upper end of the interval.
        reason: why there is no value or no interval; empty where there is one.
        n_items: number of items judged.
        n_paradigms: paradigms of pairs; 0 for others.
        chance: mean level of chance; None where it is not known.
        authors: number that the authors would report; None where that is not recorded.
    """

    set: str
    suite: str
    model: str
    statistic: str
    question: str
    value: float | None
    low: float | None
    high: float | None
    reason: str
    n_items: int
    n_paradigms: int
    chance: float | None
    authors: AuthorsNumber | None = None


def set_results(
    paradigms: Sequence[Paradigm],
    runs: Sequence[Run],
    origins: Mapping[str, SuiteOrigin],
) -> list[SetResult]:
    """The results of all models on all sets, pairs first, then rated sentences and designs.

    Args:
        paradigms: the paradigms of the runs.
        runs: of all models and suites.
        origins: the names of suites, each mapped to where it is from.
    """
    results = []
    for name, some in grouped((one.set, one) for one in paradigms).items():
        for model in dict.fromkeys(model for one in some for model in one.rates):
            of_model = [
                run for run in runs if run.model == model and origins[run.suite_name].set == name
            ]
            authors = _authors(of_model, some, model, authors_scoring().get(name))
            results.append(_of_pairs(name, some, model, authors))
    return results + [
        _of_estimate(origins[run.suite_name].set, run, one)
        for run in runs
        for one in _no_shares(run)
    ]


def _no_shares(run: Run) -> list[Estimate]:
    """What sums up a run in the place of a proportion: the DDs of a design, or a correlation."""
    if effects := run.paradigm.presenter.design_effects(run):
        return [effect.estimate for effect in effects]
    return [one for one in run.estimates() if one.role == "headline" and not one.is_share]


def _of_pairs(
    name: str, paradigms: Sequence[Paradigm], model: str, authors: AuthorsNumber | None
) -> SetResult:
    known = [(one, value) for one in paradigms if (value := one.value(model)) is not None]
    over = mean_over_suites([value for _, value in known])
    low, high = over.items.low, over.items.high
    chances = [one.rates[model].chance for one, _ in known]
    levels = [level for level in chances if level is not None]
    return SetResult(
        set=name,
        suite="",
        model=model,
        statistic=ACCURACY,
        question="",
        value=over.mean.value,
        low=None if low is None else max(0.0, low),
        high=None if high is None else min(1.0, high),
        reason=over.items.reason or "",
        n_items=sum(one.rates[model].n for one, _ in known),
        n_paradigms=len({value.unit for _, value in known}),
        chance=math.fsum(levels) / len(levels) if levels and len(levels) == len(chances) else None,
        authors=authors,
    )


def _of_estimate(name: str, run: Run, head: Estimate) -> SetResult:
    return SetResult(
        set=name, suite=run.suite_name, model=run.model, statistic=head.statistic,
        question=head.level or head.question, value=head.value, low=head.low, high=head.high,
        reason=head.reason,
        n_items=head.n, n_paradigms=0, chance=head.chance,
    )  # fmt: skip


def _authors(
    runs: Sequence[Run],
    paradigms: Sequence[Paradigm],
    model: str,
    scoring: AuthorsScoring | None,
) -> AuthorsNumber | None:
    """What the authors of a set would report; None where their measure is not recorded."""
    if scoring is None:
        return None
    measure, over = scoring.measure, scoring.over
    said = {"measure": measure, "over": over, "scored": scoring.scored}
    judged = [run for run in runs if MEASURE in type(run.options).model_fields]
    try:
        if measure == _LP:
            rates = [one.rates.get(model) for one in paradigms]
        else:
            rates = [_headline(run.judge(measures=measure)) for run in judged]
    except CimentoError as error:
        return AuthorsNumber(value=None, reason=error.seen, **said)
    known = [one for one in rates if one is not None and one.value is not None]
    if not known:
        return AuthorsNumber(value=None, reason="no pair is judged by it", **said)
    if over == "paradigms":
        value = math.fsum(one.value or 0.0 for one in known) / len(known)
    else:
        value = sum(one.right or 0 for one in known) / sum(one.n for one in known)
    return AuthorsNumber(value=value, **said)


def _headline(run: Run) -> Estimate | None:
    return next((one for one in run.estimates() if one.role == "headline" and one.is_share), None)


Kind = Literal["right", "wrong", "close"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleSentence:
    """A sentence of an example.

    Attributes:
        condition: name of its condition.
        text: its text.
    """

    condition: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """An item as an example of what a model gets right or wrong.

    Attributes:
        phenomenon: phenomenon that the example tests.
        model: label of the model.
        kind: ``right`` and ``wrong`` by the widest margin, or ``close``, by the narrowest.
        set: name of its set.
        suite: name of its suite.
        item: id of the item.
        margin: how much the model prefers the right side; negative where it prefers the wrong one.
        unit: unit of the margin.
        sentences: sentences of the item.
    """

    phenomenon: str
    model: str
    kind: Kind
    set: str
    suite: str
    item: str
    margin: float
    unit: str
    sentences: tuple[ExampleSentence, ...]


def examples_of(paradigms: Sequence[Paradigm], runs: Sequence[Run], model: str) -> list[Example]:
    """Three items of each phenomenon: one that a model gets right, a wrong one, and a close one.

    Args:
        paradigms: of all sets.
        runs: of all models and suites.
        model: label of the model.
    """
    by_suite = {run.suite_name: run for run in runs if run.model == model}
    found = []
    for name, some in grouped((one.phenomenon, one) for one in paradigms).items():
        rows = [
            (value, right, item, unit, one)
            for one in some
            if model in one.rows
            for item, right, value, unit in one.rows[model]
            .select("item", "right", "value", "unit")
            .drop_nulls(["right", "value"])
            .iter_rows()
        ]
        taken: set[tuple[str, str]] = set()
        wanted: list[tuple[Kind, list[tuple[float, bool, str, str, Paradigm]]]] = [
            ("right", sorted((row for row in rows if row[1]), key=lambda row: -row[0])),
            ("wrong", sorted((row for row in rows if not row[1]), key=lambda row: row[0])),
            ("close", sorted(rows, key=lambda row: abs(row[0]))),
        ]
        for kind, candidates in wanted:
            row = next((row for row in candidates if (row[4].suite, row[2]) not in taken), None)
            if row is None:
                continue
            value, _, item, unit, one = row
            taken.add((one.suite, item))
            found.append(
                Example(
                    phenomenon=name, model=model, kind=kind, set=one.set, suite=one.suite,
                    item=item, margin=value, unit=unit,
                    sentences=_sentences(by_suite[one.suite], item),
                )
            )  # fmt: skip
    return found


def _sentences(run: Run, item: str) -> tuple[ExampleSentence, ...]:
    """The sentences of an item."""
    import polars as pl

    rows = run.rows(REQUESTS.name).filter(pl.col("item") == item).collect()
    return tuple(
        ExampleSentence(condition=condition, text=text)
        for condition, text in rows.select("condition", "text").iter_rows()
    )

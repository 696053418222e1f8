"""What models know of a language, phenomenon by phenomenon, over the sets that test it.

A *paradigm* is one kind of pair: a suite, or where a suite names the phenomena of its items, those
of one phenomenon. The rate of a phenomenon is the unweighted mean over its paradigms, of whatever
sets (`cimento.statistics.suite_means`). Its interval is for other paradigms of the phenomenon where
there are five or more; where there are fewer, it is for other items of these very paradigms, and
says so. Two models are compared by their differences on each paradigm, item by item.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Literal, TypeAlias

from cimento.io.values import grouped
from cimento.records.outcomes import design_of, rate
from cimento.statistics.differences import Difference, share_difference
from cimento.statistics.multiple import holm
from cimento.statistics.suite_means import SuitesMean, SuiteValue, mean_over_suites
from cimento.suites.derived import PHENOMENON
from cimento.suites.phenomena import labels_of_sets, phenomenon_of
from cimento.suites.twins import units_of

if TYPE_CHECKING:
    import polars as pl

    from cimento.kinds.run import Run
    from cimento.records.outcomes import Estimate

About: TypeAlias = Literal["paradigms", "items", ""]
"""What an interval is for: other paradigms of the phenomenon, other items of these; or none."""

TOO_FEW = "too few items for an interval"
_MOST_IN_PAIRS = 4
"""Most models of which every pair is compared; if there are more, each is with the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteOrigin:
    """Where a suite is from.

    Attributes:
        set: name of its set; empty for none.
        name: the name that it has there.
    """

    set: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Paradigm:
    """One kind of pair.

    Attributes:
        set: name of its set.
        suite: name of its suite.
        label: what the set calls it.
        phenomenon: what it tests.
        is_mapped: whether the map of phenomena has the label; otherwise the phenomenon is it.
        unit: what counts once: its suite, or that made of the same items, and the label.
        rates: the rate of each model.
        rows: the outcomes of each model on its items.
    """

    set: str
    suite: str
    label: str
    phenomenon: str
    is_mapped: bool
    unit: str
    rates: Mapping[str, Estimate]
    rows: Mapping[str, pl.DataFrame] = field(repr=False)

    def value(self, model: str) -> SuiteValue | None:
        """The rate of a model as one of several; None where there is none."""
        one = self.rates.get(model)
        if one is None or one.value is None:
            return None
        return SuiteValue(
            f"{self.suite}, {self.label}" if self.label != self.suite else self.suite,
            self.unit, frozenset({self.phenomenon}), one.value, one.low, one.high,
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class PhenomenonRate:
    """What a model gets right of a phenomenon.

    Attributes:
        phenomenon: name of the phenomenon.
        is_mapped: whether the map of phenomena has it; otherwise it is a set's own label.
        model: label of the model.
        value: mean over paradigms; None where no item is judged.
        low: lower end of its 95% interval; None where there is none.
        high: upper end of the interval.
        about: what the interval generalizes to.
        reason: why there is no value or no interval; empty where there is one.
        chance: mean of the levels of chance; None where one of them is not known.
        n_items: number of items judged.
        n_paradigms: paradigms; those made of the same items count once.
        sets: names of the sets.
        twins: the names of suites that are made of the same items, and count as one paradigm.
    """

    phenomenon: str
    is_mapped: bool
    model: str
    value: float | None
    low: float | None
    high: float | None
    about: About
    reason: str
    chance: float | None
    n_items: int
    n_paradigms: int
    sets: tuple[str, ...]
    twins: tuple[tuple[str, ...], ...] = ()

    @property
    def above(self) -> float | None:
        """How far the lower end of the interval is above chance; None if one is not known."""
        return None if self.low is None or self.chance is None else self.low - self.chance

    @property
    def certainty(self) -> float | None:
        """How far the near end of the interval is from chance; None if it holds chance."""
        if self.low is None or self.high is None or self.chance is None:
            return None
        if self.low > self.chance:
            return self.low - self.chance
        return self.chance - self.high if self.high < self.chance else None


@dataclass(frozen=True, slots=True, kw_only=True)
class PhenomenonChange:
    """The difference of two models on a phenomenon.

    Attributes:
        phenomenon: name of the phenomenon.
        first: label of the one model.
        second: label of the other.
        value: mean over paradigms of second minus first, over items that both were judged on.
        low: lower end of its 95% interval; None where there is none.
        high: upper end of the interval.
        about: what the interval generalizes to.
        p: two-sided, of no difference for other paradigms; None where there are too few of them.
        p_corrected: p-value, corrected by Holm's method, over all phenomena and pairs of models.
        n_paradigms: paradigms that both have.
        reason: why there is no value or no interval.
    """

    phenomenon: str
    first: str
    second: str
    value: float | None
    low: float | None
    high: float | None
    about: About
    p: float | None
    p_corrected: float | None = None
    n_paradigms: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """Two sets by which a model knows a phenomenon differently well.

    Attributes:
        phenomenon: name of the phenomenon.
        model: label of the model.
        first: the set by which it knows it better.
        second: name of the other set.
        first_value: mean over the paradigms of the first.
        second_value: mean over those of the second.
        low: lower end of the 95% interval of the difference, for other items of these paradigms.
        high: upper end of the interval.
    """

    phenomenon: str
    model: str
    first: str
    second: str
    first_value: float
    second_value: float
    low: float
    high: float


def paradigms_of(runs: Sequence[Run], origins: Mapping[str, SuiteOrigin]) -> list[Paradigm]:
    """The paradigms of the runs of some models, without runs that no proportion sums up.

    Args:
        runs: of any kinds, models and suites.
        origins: the names of suites, each mapped to where it is from.
    """
    units = units_of(list({run.suite_name: run.suite for run in runs}.values()))
    parts: dict[tuple[str, str], dict[str, tuple[Estimate, pl.DataFrame]]] = {}
    for run in runs:
        origin = origins.get(run.suite_name) or SuiteOrigin(set="", name=run.suite_name)
        for label, (estimate, rows) in _parts(run, origin):
            parts.setdefault((run.suite_name, label), {})[run.model] = (estimate, rows)
    found = []
    for (suite, label), by_model in parts.items():
        origin = origins.get(suite) or SuiteOrigin(set="", name=suite)
        mapped = phenomenon_of(suite=origin.set, label=label)
        found.append(
            Paradigm(
                set=origin.set,
                suite=suite,
                label=label,
                phenomenon=(mapped or label).replace("_", " "),
                is_mapped=mapped is not None,
                unit=f"{units.get(suite, suite)} {'' if label in (suite, origin.name) else label}",
                rates={model: estimate for model, (estimate, _) in by_model.items()},
                rows={model: rows for model, (_, rows) in by_model.items()},
            )
        )
    return found


def _parts(run: Run, origin: SuiteOrigin) -> Iterator[tuple[str, tuple[Estimate, pl.DataFrame]]]:
    """The labels of a run, each with the rate and the outcomes of its items."""
    import polars as pl

    head = next((one for one in run.estimates() if one.role == "headline"), None)
    # Nobody counts the items of a factorial design on which all of its predictions hold.
    if head is None or not head.is_share or run.paradigm.presenter.design_effects(run):
        return
    outcomes = run.outcomes()
    rows = outcomes.filter(
        (pl.col("question") == head.question) & (pl.col("method") == head.method)
    )
    labels = _labels(run, origin)
    if len(set(labels.values())) <= 1:
        yield next(iter(labels.values()), origin.name), (head, rows)
        return
    named = pl.DataFrame({"item": [*labels], _LABEL: [*labels.values()]})
    joined = rows.join(named, on="item", how="left", maintain_order="left")
    for label, some in joined.group_by(_LABEL, maintain_order=True):
        yield str(label[0] or origin.name), (rate(some, head), some)


_LABEL = "label"


def _labels(run: Run, origin: SuiteOrigin) -> dict[str, str]:
    """The label of each item: its cell in the column that the map names, or the suite's name."""
    sentences = run.sentences
    known = labels_of_sets().get(origin.set)
    column = known.field if known else PHENOMENON
    if sentences is None or column not in sentences.columns.free:
        plain = origin.name if known else run.suite.meta.phenomenon or origin.name
        return {"": plain}
    ids = sentences.columns.ids
    cells = sentences.item_cells(column)
    return {
        item: (cell or "").strip() or origin.name for item, cell in zip(ids, cells, strict=True)
    }


def phenomenon_rates(paradigms: Sequence[Paradigm], *, seed: int = 0) -> list[PhenomenonRate]:
    """The rate of each model on each phenomenon, what `leading_model` surely knows first.

    Args:
        paradigms: of all sets.
        seed: of the bootstrap.
    """
    models = list(dict.fromkeys(model for one in paradigms for model in one.rates))
    by_phenomenon = grouped((one.phenomenon, one) for one in paradigms)
    rates = [
        [_rate(name, some, model, seed=seed) for model in models]
        for name, some in by_phenomenon.items()
    ]
    leader = leading_model([one for row in rates for one in row])
    rates.sort(key=lambda row: _order(next(one for one in row if one.model == leader)))
    return [one for row in rates for one in row if one.n_paradigms]


def leading_model(rates: Sequence[PhenomenonRate]) -> str:
    """The model with the highest unweighted mean over phenomena; the last where equal.

    Args:
        rates: of any models; empty for none.
    """
    values = grouped((one.model, one.value) for one in rates if one.value is not None)
    means = {model: math.fsum(some) / len(some) for model, some in values.items()}
    none_judged = rates[0].model if rates else ""
    return max(reversed(means), key=lambda model: means[model], default=none_judged)


def _order(one: PhenomenonRate) -> tuple[bool, bool, float, float]:
    """What is above chance for other paradigms too is first, then for these only, then the rest."""
    above = -math.inf if one.above is None else one.above
    is_known = above > 0
    return not is_known, is_known and one.about != "paradigms", -above, -(one.value or 0.0)


def _rate(name: str, paradigms: Sequence[Paradigm], model: str, *, seed: int) -> PhenomenonRate:
    known = [(one, value) for one in paradigms if (value := one.value(model)) is not None]
    over = mean_over_suites([value for _, value in known], seed=seed)
    low, high, about, reason = _interval(over)
    chances = [one.rates[model].chance for one, _ in known]
    levels = [level for level in chances if level is not None]
    is_known = bool(levels) and len(levels) == len(chances)
    return PhenomenonRate(
        phenomenon=name,
        is_mapped=any(one.is_mapped for one in paradigms),
        model=model,
        value=over.mean.value,
        low=None if low is None else max(0.0, low),
        high=None if high is None else min(1.0, high),
        about=about,
        reason=reason,
        chance=math.fsum(levels) / len(levels) if is_known else None,
        n_items=sum(one.rates[model].n for one, _ in known),
        n_paradigms=len({value.unit for _, value in known}),
        sets=tuple(dict.fromkeys(one.set for one, _ in known)),
        twins=tuple(
            tuple(suites)
            for of_unit in grouped((one.unit, one.suite) for one, _ in known).values()
            if len(suites := dict.fromkeys(of_unit)) > 1
        ),
    )


def _interval(over: SuitesMean) -> tuple[float | None, float | None, About, str]:
    """The interval of a mean over paradigms, what it is for, and why there is none."""
    if over.mean.low is not None:
        return over.mean.low, over.mean.high, "paradigms", ""
    if over.items.low is not None:
        return over.items.low, over.items.high, "items", ""
    return None, None, "", TOO_FEW if over.mean.value is not None else over.mean.reason or ""


def phenomenon_changes(
    paradigms: Sequence[Paradigm], *, seed: int = 0
) -> tuple[PhenomenonChange, ...]:
    """The paired differences of models on each phenomenon, with p corrected over all of them.

    Args:
        paradigms: of all sets.
        seed: of the bootstrap.
    """
    models = list(dict.fromkeys(model for one in paradigms for model in one.rates))
    pairs = list(combinations(models, 2))
    if len(models) > _MOST_IN_PAIRS:
        pairs = [(models[0], other) for other in models[1:]]
    changes = [
        _change(name, some, pair, seed=seed)
        for name, some in grouped((one.phenomenon, one) for one in paradigms).items()
        for pair in pairs
    ]
    corrected = holm([one.p for one in changes])
    return tuple(replace(one, p_corrected=p) for one, p in zip(changes, corrected, strict=True))


def _change(
    name: str, paradigms: Sequence[Paradigm], pair: tuple[str, str], *, seed: int
) -> PhenomenonChange:
    values = [
        SuiteValue(one.suite, one.unit, frozenset({name}), gap.estimate, gap.low, gap.high)
        for one in paradigms
        if (gap := _difference(one, *pair)) is not None and gap.estimate is not None
    ]
    over = mean_over_suites(values, seed=seed)
    low, high, about, reason = _interval(over)
    return PhenomenonChange(
        phenomenon=name,
        first=pair[0],
        second=pair[1],
        value=over.mean.value,
        low=low,
        high=high,
        about=about,
        p=over.mean.p if about == "paradigms" else None,
        n_paradigms=len({value.unit for value in values}),
        reason=reason,
    )


def _difference(one: Paradigm, first: str, second: str) -> Difference | None:
    """The second model's rate less the first's, over the items that both were judged on."""
    if first not in one.rows or second not in one.rows:
        return None
    before, after = (
        dict(one.rows[model].select("item", "right").drop_nulls().iter_rows())
        for model in (first, second)
    )
    items = [item for item in before if item in after]
    clusters = dict(one.rows[first].select("item", "cluster").iter_rows())
    design = design_of(items, [clusters[item] for item in items])
    return share_difference([after[i] for i in items], [before[i] for i in items], design)


def disagreements(paradigms: Sequence[Paradigm], *, seed: int = 0) -> tuple[Disagreement, ...]:
    """The pairs of sets by which a model knows a phenomenon differently well, widest apart first.

    The interval of the difference is recovered from those of the sets (Zou and Donner 2008,
    doi:10.1002/sim.3095), for other items of the same paradigms, and leaves out 0.

    Args:
        paradigms: of all sets.
        seed: of the bootstrap.
    """
    found = []
    for name, some in grouped((one.phenomenon, one) for one in paradigms).items():
        by_set = grouped((one.set, one) for one in some)
        for model in dict.fromkeys(model for one in some for model in one.rates):
            means = {
                which: mean_over_suites(
                    [value for one in of_set if (value := one.value(model)) is not None], seed=seed
                )
                for which, of_set in by_set.items()
            }
            found += [
                one
                for pair in combinations(means, 2)
                if (one := _disagreement(name, model, pair, means)) is not None
            ]
    return tuple(sorted(found, key=lambda one: one.second_value - one.first_value))


def _disagreement(
    phenomenon: str, model: str, pair: tuple[str, str], means: Mapping[str, SuitesMean]
) -> Disagreement | None:
    """Two sets, where their difference is not a matter of items."""
    value = {name: means[name].mean.value for name in pair}
    first, second = sorted(pair, key=lambda name: -(value[name] or 0.0))
    a, b = means[first].items, means[second].items
    x, y = value[first], value[second]
    if x is None or y is None or None in (a.low, a.high, b.low, b.high):
        return None
    low = x - y - math.hypot(x - (a.low or 0.0), (b.high or 0.0) - y)
    high = x - y + math.hypot((a.high or 0.0) - x, y - (b.low or 0.0))
    if low <= 0:
        return None
    return Disagreement(
        phenomenon=phenomenon, model=model, first=first, second=second,
        first_value=x, second_value=y, low=low, high=high,
    )  # fmt: skip

"""Outcomes of every item and question of a run, and estimates over many of them.

Whether an item passes, fails, ties or is unscored is decided once, in the `judge` of its paradigm.
Every rate that any command shows is a group-by of this table, so that all commands show the same
number. All commands and reports read accuracies, correlations with ratings, interactions, licensing
effects, rates of tiers and accuracy at k from here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from cimento.io.clusters import CROSSED, cluster_label
from cimento.io.inline_markup import apart
from cimento.io.tables import TableSchema
from cimento.statistics.design import Design
from cimento.statistics.intervals import Interval, counted_interval, share_interval

if TYPE_CHECKING:
    import polars as pl

    from cimento.statistics.means import Mean


VerdictName: TypeAlias = Literal["pass", "fail", "tie", "unscored"]
"""What became of one question about one item."""
TieRule: TypeAlias = Literal["tie", "pass"]
"""The verdict of a tie: a pass, or a tie, which never counts as right."""

GROUP = "group:"
"""The prefix of the columns by which results are broken down."""

OUTCOMES = TableSchema(
    name="outcomes",
    columns={
        "suite": "String",
        "item": "String",
        # The question: a prediction, hit@10, a tier. It is the same for every model.
        "question": "String",
        # The method of asking, where kinds of models are asked in different ways.
        "method": "String",
        # pass, fail, tie or unscored; null for a mere value, which is neither right nor wrong.
        "verdict": "String",
        # Whether the item counts as right; null if it counts neither way.
        "right": "Boolean",
        "value": "Float64",
        "unit": "String",
        # The reference of the value, such as the mean human rating; null if there is none.
        "reference": "Float64",
        # Why there is no verdict or no value, or what is special about it.
        "reason": "String",
        # The cluster of the item; null for an item that belongs to none.
        "cluster": "String",
    },
    families={GROUP: "String"},
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of one item and one question.

    Attributes:
        item: id of the item.
        question: the question, which is the same for every model.
        method: method of asking; empty where there is only one.
        verdict: the verdict; None where there is no right or wrong.
        right: whether the item counts as right; None if it counts neither way.
        value: a margin or a score; None where there is none.
        unit: unit of the value.
        reference: number with which the value is compared, such as the mean rating of people; None
            where there is none.
        reason: the reason for a missing verdict or value, or a remark on the item.
        cluster: cluster of the item; empty for an item that belongs to none.
        groups: values of the item in the columns by which results are broken down.
    """

    item: str
    question: str
    method: str = ""
    verdict: VerdictName | None = None
    right: bool | None = None
    value: float | None = None
    unit: str = ""
    reference: float | None = None
    reason: str = ""
    cluster: str = ""
    groups: Mapping[str, str] = field(default_factory=dict)


_OUTCOME_COLUMNS = tuple(name for name in OUTCOMES.columns if name != "suite")
_NULL_IF_EMPTY = ("reason", "cluster")


def outcomes_table(suite: str, outcomes: Iterable[Outcome]) -> pl.DataFrame:
    """Outcomes as a table in the order given.

    Args:
        suite: name of the suite.
        outcomes: the outcomes of its items.
    """
    import polars as pl

    rows = list(outcomes)
    columns: dict[str, list[object]] = {"suite": [suite] * len(rows)}
    columns |= {name: [getattr(row, name) for row in rows] for name in _OUTCOME_COLUMNS}
    columns |= {name: [text or None for text in columns[name]] for name in _NULL_IF_EMPTY}
    groups = dict.fromkeys(name for row in rows for name in row.groups)
    for name in groups:
        columns[GROUP + name] = [row.groups.get(name) for row in rows]
    return pl.DataFrame(columns, schema=OUTCOMES.polars(present=list(columns)))


def each_outcome(table: pl.DataFrame) -> Iterator[Outcome]:
    """The rows of an outcomes table as records."""
    for row in table.iter_rows(named=True):
        values = {name: row[name] for name in _OUTCOME_COLUMNS}
        groups = {
            name.removeprefix(GROUP): value
            for name, value in row.items()
            if name.startswith(GROUP) and value is not None
        }
        yield Outcome(**values | {name: row[name] or "" for name in _NULL_IF_EMPTY}, groups=groups)


def design_of(items: Sequence[str], clusters: Sequence[str | None]) -> Design:
    """The design of some items, in which items of the same cluster belong together.

    Args:
        items: ids of the items.
        clusters: the cluster of each item; None for an item that belongs to none.
    """
    return Design(tuple(items), tuple(map(cluster_label, items, clusters)))


def rate(table: pl.DataFrame, like: Estimate) -> Estimate:
    """The proportion of right outcomes in a table, with counts and a 95% interval.

    Args:
        table: outcomes of one question; those that count neither way are counted as unscored.
        like: an estimate with the suite, model, question, group and chance of the result.
    """
    scored = table.filter(table["right"].is_not_null())
    counts = Counter(dict(scored["verdict"].value_counts().iter_rows()))
    n, right = len(scored), int(scored["right"].sum())
    interval, clustered = _interval(scored)
    return replace(
        like,
        value=right / n if n else None,
        low=interval.low,
        high=interval.high,
        interval_method=interval.method,
        reason=interval.reason or "",
        n=n,
        right=right,
        passed=counts["pass"],
        failed=counts["fail"],
        tied=counts["tie"],
        unscored=len(table) - n,
        clustered=clustered,
    )


def _interval(scored: pl.DataFrame) -> tuple[Interval, bool]:
    """The interval of the proportion of right outcomes, and whether some items belong together."""
    if scored["cluster"].str.contains(CROSSED, literal=True).any():
        design = design_of(scored["item"].to_list(), scored["cluster"].to_list())
        return share_interval(scored["right"].to_list(), design), design.clustered
    clusters = _counted_clusters(scored)
    return counted_interval(clusters), sum(clusters.values()) < len(scored)


def _counted_clusters(scored: pl.DataFrame) -> dict[tuple[int, int], int]:
    """The number of clusters, by their numbers of right outcomes and of all outcomes.

    These are the counts of `share_interval`, without making a label for each item.
    """
    import polars as pl

    if scored["cluster"].is_null().all() and scored["item"].n_unique() == len(scored):
        # Of a long suite, groups of one item each would take more memory than all else here.
        clusters = scored.select(held=pl.col("right").cast(pl.UInt32), size=pl.lit(1))
    else:
        clusters = scored.group_by(
            pl.col("cluster").is_null().alias("alone"),
            pl.coalesce("cluster", "item").alias("name"),
            maintain_order=True,
        ).agg(held=pl.col("right").sum(), size=pl.len())
    sizes = clusters.group_by("held", "size", maintain_order=True).len()
    return {(held, size): times for held, size, times in sizes.iter_rows()}


ACCURACY = "accuracy"
"""The name of the statistic of proportions of correct items."""

Role: TypeAlias = Literal["headline", "main", "detail"]
"""``headline``: the one number of a run; ``main``: its first table; ``detail``: all others."""


SAME_VERDICT, KAPPA = "same verdict as people", "Cohen's kappa with people"
"""How often a model's verdicts are those of people together, and the same beyond chance."""
NO_INTERVAL = "no interval is made for it"
"""The reason for the ends of an interval that are missing where there is a value."""

STATISTICS = {"spearman": "Spearman's rho", "pearson": "Pearson's r", "kendall": "Kendall's tau"}
"""Statistics of estimates that have a name in prose, each mapped to it."""
_DIGITS = 3


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Estimate:
    """An estimate over many items.

    Attributes:
        suite: name of the suite.
        model: label of the model, ``name@revision``.
        question: the question: a prediction, ``hit@10``, a tier.
        method: method of asking or measuring; empty where there is only one.
        group: column by which the items are grouped; empty for all items.
        level: value of that column; empty for all items.
        statistic: name of the statistic: ``accuracy``, ``spearman``, ``DD``.
        unit: unit of the value; empty for a pure number.
        role: prominence in reports.
        description: the question in words, or its formula.
        value: the estimate; None where it is undefined.
        low: lower end of its 95% interval; None where there is none.
        high: upper end of the interval; None where there is none.
        interval_method: method by which the interval was computed.
        reason: the reason why the value or its interval is None; empty where both are defined.
        n: number of items over which it is taken.
        right: number of items that count as right; None for an estimate that is not a proportion.
        passed: number of items that passed; None for an estimate that is not a proportion.
        failed: number of items that failed; None likewise.
        tied: number of items that tied; None likewise.
        near_tied: number of passed and failed items decided by less than the threshold of the run,
            in the unit of the measure; of a DD, number of items whose DD does not exceed it; None
            where nothing is compared, or the threshold says nothing about the measure.
        near_tie_bits: that threshold, in bits of a difference of sums.
        near_tie_method: reason for this threshold, or why it says nothing about the measure.
        unscored: number of items that could not be judged, which are in no other count.
        clustered: whether the interval takes some items as belonging together.
        chance: value expected by chance; None where that is not defined.
        chance_method: method by which chance was found, or the reason why it is not defined.
        by_length: value expected from numbers of tokens alone; None where that is not defined.
        off_by_length: whether numbers of tokens alone lead away from chance, however ties count.
        p: p-value of the test against the null hypothesis of no effect; None without a test.
        p_corrected: the p-value corrected over a family of tests.
        p_method: name of the test and of the correction.
    """

    suite: str
    model: str
    question: str
    method: str = ""
    group: str = ""
    level: str = ""
    statistic: str = ACCURACY
    unit: str = ""
    role: Role = "main"
    description: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    interval_method: str | None = None
    reason: str = ""
    n: int = 0
    right: int | None = None
    passed: int | None = None
    failed: int | None = None
    tied: int | None = None
    near_tied: int | None = None
    near_tie_bits: float | None = None
    near_tie_method: str | None = None
    unscored: int = 0
    clustered: bool = False
    chance: float | None = None
    chance_method: str | None = None
    by_length: float | None = None
    off_by_length: bool = False
    p: float | None = None
    p_corrected: float | None = None
    p_method: str | None = None

    @property
    def key(self) -> tuple[str, str, str, str, str]:
        """Question, method, group, level and statistic: unique among the estimates of a run."""
        return self.question, self.method, self.group, self.level, self.statistic

    def __repr__(self) -> str:
        group = f"{self.group}={self.level}" if self.group else ""
        names = (self.suite, self.model, self.question, self.method, group)
        return f"<Estimate of {', '.join(filter(None, names))}: {self.result}, n {self.n}>"

    @property
    def result(self) -> str:
        """The statistic in words, ``accuracy 0.850 [0.640, 0.948]``, or why it is undefined."""
        name = STATISTICS.get(self.statistic, self.statistic)
        why = f" ({self.reason})" if self.reason else ""
        if self.value is None:
            return f"{name} undefined{why}"
        unit = f" {self.unit}" if self.unit else ""
        if self.low is None or self.high is None:
            return f"{name} {self.value:z.{_DIGITS}f}{unit}{why}"
        digits = apart(self.low, self.high, _DIGITS)
        low, high = (f"{end:z.{digits}f}" for end in (self.low, self.high))
        return f"{name} {self.value:z.{digits}f} [{low}, {high}]{unit}"

    @property
    def is_share(self) -> bool:
        """Whether the value is a proportion of items, between 0 and 1."""
        return self.right is not None

    @property
    def is_of_predictions(self) -> bool:
        """Whether the value is a proportion of items whose predictions hold, decided by margins."""
        compared = self.near_tied is not None or self.near_tie_method is not None
        return self.is_share and compared


def mean_estimate(mean: Mean, like: Estimate) -> Estimate:
    """A mean over items, with its interval and its test.

    Args:
        mean: value of the mean.
        like: an estimate with the suite, model and question; its reason, if any, takes precedence.
    """
    return replace(
        like,
        value=mean.value,
        low=mean.low,
        high=mean.high,
        interval_method=mean.method,
        reason=like.reason or mean.reason or "",
        n=mean.n,
        clustered=mean.m < mean.n,
        p=mean.p,
    )


def with_headline(estimates: Sequence[Estimate]) -> list[Estimate]:
    """The estimates, where the first main one becomes the headline if there is none yet."""
    roles = [estimate.role for estimate in estimates]
    if "headline" in roles or "main" not in roles:
        return list(estimates)
    first = roles.index("main")
    return [*estimates[:first], replace(estimates[first], role="headline"), *estimates[first + 1 :]]


def beside_ratings(estimates: Sequence[Estimate]) -> Estimate | None:
    """The first correlation with ratings of a run that a rate sums up; None for other runs."""
    if not any(one.role == "headline" and one.is_share for one in estimates):
        return None
    main = (one for one in estimates if one.role == "main" and not one.group)
    return next((one for one in main if one.statistic in STATISTICS), None)


_KINDS = {"float": "Float64", "int": "Int64", "bool": "Boolean"}

ESTIMATES = TableSchema(
    name="estimates",
    columns={
        column.name: _KINDS.get(str(column.type).removesuffix(" | None"), "String")
        for column in fields(Estimate)
    },
)


def estimates_table(estimates: Iterable[Estimate]) -> pl.DataFrame:
    """Estimates as a table in the order given; the columns are the fields of `Estimate`."""
    import polars as pl

    return pl.DataFrame([asdict(estimate) for estimate in estimates], schema=ESTIMATES.polars())


_SHORTAGE = re.compile(r"\d+ (\w+?)s?: an interval needs (\d+) or more")
"""The reason of `cimento.statistics.design.shortage`, and of the same for suites."""


def reasons_together(reasons: Iterable[str]) -> str:
    """Reasons in one text, each once; those that differ only in their subject share the rest.

    ``2 values: an interval needs 5 or more`` and the same of 4 values become ``fewer than 5
    items``; ``x: undefined`` and ``y: undefined`` become ``x or y: undefined``.
    """
    subjects: dict[str, list[str]] = {}
    for reason in dict.fromkeys(_without_count(reason) for reason in reasons if reason):
        subject, colon, rest = reason.partition(": ")
        subjects.setdefault(colon + rest, []).append(subject)
    return "; ".join(
        " or ".join(named) + rest if rest else "; ".join(named) for rest, named in subjects.items()
    )


def _without_count(reason: str) -> str:
    """Why there is no interval, as many cells share it: without how few units a cell has."""
    if short := _SHORTAGE.fullmatch(reason):
        noun, fewest = short.groups()
        nouns = {"value": "items", "phenomena": "phenomena", "phenomenon": "phenomena"}
        return f"fewer than {fewest} {nouns.get(noun, f'{noun}s')}"
    return reason


def missing(numbers: Iterable[tuple[float | None, float | None, str | None]]) -> tuple[str, ...]:
    """Sentences with the reasons why some values are undefined and why some have no interval.

    Args:
        numbers: value, lower end of its interval, and the reason why one of them is None.
    """
    bare = [(value, reason or "") for value, low, reason in numbers if low is None]
    lacking = {
        "value": reasons_together(reason for value, reason in bare if value is None),
        "interval": reasons_together(reason for value, reason in bare if value is not None),
    }
    return tuple(f"No {name}: {reasons}." for name, reasons in lacking.items() if reasons)


BASELINE = "baseline: "
"""Begins the method of estimates of what answers without any knowledge get."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantAnswer:
    """What one answer to every item reaches, without any knowledge.

    Attributes:
        name: the answer, such as ``always false``.
        value: its proportion of correct items.
    """

    name: str
    value: float


def best_constant(
    headline: Estimate | None, estimates: Iterable[Estimate]
) -> ConstantAnswer | None:
    """The best constant answer to the question of a headline; None where none is above chance.

    Args:
        headline: proportion of items that are right.
        estimates: of the same run.
    """
    if headline is None or not headline.is_share:
        return None
    known = [
        (one.value, one.method.removeprefix(BASELINE))
        for one in estimates
        if one.method.startswith(BASELINE)
        and (one.question, one.level) == (headline.question, "")
        and one.value is not None
    ]
    # The first of equal ones; behind a slash or in parentheses stand answers to later questions.
    value, name = max(known, key=lambda pair: pair[0], default=(0.0, ""))
    if not known or (headline.chance is not None and value <= headline.chance):
        return None
    return ConstantAnswer(name=f"always {re.split(r' [(/]', name)[0]}", value=value)

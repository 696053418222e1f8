"""Outcomes: what became of every item and every question of a run; estimates: numbers about many.

An item passes, fails, ties or is unscored once, in the `judge` of its paradigm. Every rate that
any command shows is a group-by of this table, so that all of them say the same number. Accuracies,
correlations with ratings, interactions, licensing effects, rates of tiers, accuracy at k: every
command and every form of report reads them from here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Literal, TypeAlias

from cimento.io.tables import TableSchema
from cimento.statistics.design import Design
from cimento.statistics.intervals import counted_interval

if TYPE_CHECKING:
    import polars as pl


VerdictName: TypeAlias = Literal["pass", "fail", "tie", "unscored"]
TieRule: TypeAlias = Literal["tie", "pass"]
"""Whether a tie counts as a pass, or as a tie, which is never right."""

GROUP = "group:"
"""Begins the names of the columns that results are broken down by."""

OUTCOMES = TableSchema(
    name="outcomes",
    columns={
        "suite": "String",
        "item": "String",
        # What is asked of the item: a prediction, hit@10, a tier. The same for every model.
        "question": "String",
        # How it was asked, where models of different kinds are asked in different ways.
        "method": "String",
        # pass, fail, tie or unscored; null where nothing is right or wrong (a mere value).
        "verdict": "String",
        # Whether it counts as right; null where it counts neither way.
        "right": "Boolean",
        "value": "Float64",
        "unit": "String",
        # The reference of the value, such as the mean human rating; null if there is none.
        "reference": "Float64",
        # Why there is no verdict or no value, or what is special about it.
        "reason": "String",
        # What the item belongs to; null where it stands alone.
        "cluster": "String",
    },
    families={GROUP: "String"},
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one item and one question.

    Attributes:
        item: its id.
        question: what was asked, the same for every model.
        method: how it was asked; empty where there is one way only.
        verdict: None where nothing is right or wrong.
        right: whether it counts as right; None where it counts neither way.
        value: a margin, a score; None where it has none.
        unit: of the value.
        reference: what the value stands beside, such as the mean rating of people; None where
            nothing is.
        reason: why there is no verdict or no value, or what is special about it.
        cluster: what the item belongs to; empty where it stands alone.
        groups: column to the value that results are broken down by.
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


def outcomes_table(suite: str, outcomes: Iterable[Outcome]) -> pl.DataFrame:
    """Outcomes as a table, in their order.

    Args:
        suite: its name.
        outcomes: of its items.
    """
    import polars as pl

    rows = list(outcomes)
    columns: dict[str, list[object]] = {
        "suite": [suite] * len(rows),
        "item": [row.item for row in rows],
        "question": [row.question for row in rows],
        "method": [row.method for row in rows],
        "verdict": [row.verdict for row in rows],
        "right": [row.right for row in rows],
        "value": [row.value for row in rows],
        "unit": [row.unit for row in rows],
        "reference": [row.reference for row in rows],
        "reason": [row.reason or None for row in rows],
        "cluster": [row.cluster or None for row in rows],
    }
    groups = dict.fromkeys(name for row in rows for name in row.groups)
    for name in groups:
        columns[GROUP + name] = [row.groups.get(name) for row in rows]
    return pl.DataFrame(columns, schema=OUTCOMES.polars(present=list(columns)))


def each_outcome(table: pl.DataFrame) -> Iterator[Outcome]:
    """The rows of an outcomes table as records."""
    for row in table.iter_rows(named=True):
        yield Outcome(
            item=row["item"],
            question=row["question"],
            method=row["method"],
            verdict=row["verdict"],
            right=row["right"],
            value=row["value"],
            unit=row["unit"],
            reference=row["reference"],
            reason=row["reason"] or "",
            cluster=row["cluster"] or "",
            groups={
                name.removeprefix(GROUP): value
                for name, value in row.items()
                if name.startswith(GROUP) and value is not None
            },
        )


def design_of(items: Sequence[str], clusters: Sequence[str | None]) -> Design:
    """The design of some items: those with one cluster belong together.

    Args:
        items: ids.
        clusters: what each belongs to; None for one that stands alone.
    """
    labels: tuple[Hashable, ...] = tuple(
        ("item", item) if cluster is None else ("cluster", cluster)
        for item, cluster in zip(items, clusters, strict=True)
    )
    return Design(tuple(items), labels)


def rate(table: pl.DataFrame, like: Estimate) -> Estimate:
    """How often the outcomes of a table are right, with counts and a 95 % interval.

    Args:
        table: outcomes of one question; unscored ones are counted apart.
        like: what the estimate is otherwise: its suite, model, question, group and chance.
    """
    from dataclasses import replace

    import polars as pl

    counts = Counter(dict(table["verdict"].value_counts().iter_rows()))
    scored = table.filter(table["right"].is_not_null())
    n, right = len(scored), int(scored["right"].sum())
    # As `share_interval` counts, without a label for each item.
    alone = pl.col("cluster").is_null()
    clusters = scored.group_by(
        alone.alias("alone"), pl.coalesce("cluster", "item").alias("name"), maintain_order=True
    ).agg(held=pl.col("right").sum(), size=pl.len())
    sizes = clusters.group_by("held", "size", maintain_order=True).len()
    interval = counted_interval({(held, size): times for held, size, times in sizes.iter_rows()})
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
        unscored=counts["unscored"],
        clustered=len(clusters) < n,
    )


ACCURACY = "accuracy"
"""The statistic of rates of what is right."""

Role: TypeAlias = Literal["headline", "main", "detail"]
"""``headline``: the one number of a run; ``main``: its first table; ``detail``: all others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A number about many items.

    Attributes:
        suite: name of the suite.
        model: label of the model, ``name@revision``.
        question: what it is about: a prediction, ``hit@10``, a tier.
        method: how that was asked or measured; empty where there is one way only.
        group: column that the items are grouped by; empty for all items.
        level: value of that column; empty for all items.
        statistic: what it is: ``accuracy``, ``spearman``, ``DD``.
        unit: of the value; empty for a pure number.
        role: how prominently it is shown.
        description: the question in words, or its formula.
        value: None where it is undefined.
        low: lower end of its interval, 95 %; None where there is none.
        high: upper end.
        interval_method: how the interval was made.
        reason: why the value or its interval is None; empty where both are there.
        n: items that it is taken over.
        right: items that count as right; None for what is no share.
        passed: items that passed; None for what is no share.
        failed: items that failed.
        tied: items that tied.
        near_tied: of the passed and failed ones, those decided by less than the threshold of the
            run; None where nothing is compared.
        near_tie_bits: that threshold, in bits.
        near_tie_method: why it is this threshold.
        unscored: items that could not be judged; in no other count.
        clustered: whether some items belong together, as the interval has it.
        chance: what it would be by chance; None where that is not defined.
        chance_method: how that was found, or why it is not defined.
        by_length: what it would be by numbers of tokens alone; None where that is not defined.
        off_by_length: whether numbers of tokens alone lead away from chance, however ties count.
        p: of the test that it is what it would be if nothing were there; None where none is made.
        p_corrected: the same, corrected over a family of tests.
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

    @property
    def is_share(self) -> bool:
        """Whether it is a share of items, between 0 and 1."""
        return self.right is not None


def _columns() -> dict[str, str]:
    """Field of `Estimate` to polars type."""
    kinds = {"str": "String", "float": "Float64", "int": "Int64", "bool": "Boolean"}
    return {
        each.name: kinds.get(str(each.type).removesuffix(" | None"), "String")
        for each in fields(Estimate)
    }


ESTIMATES = TableSchema(name="estimates", columns=_columns())


def estimates_table(estimates: Iterable[Estimate]) -> pl.DataFrame:
    """Estimates as a table, in their order; the columns are the fields of `Estimate`."""
    import polars as pl

    return pl.DataFrame([asdict(estimate) for estimate in estimates], schema=ESTIMATES.polars())

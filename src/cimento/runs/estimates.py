"""Estimates: numbers about many items, each with its interval, as one table.

Accuracies, correlations with ratings, interactions, licensing effects, rates of tiers, accuracy at
k: every command and every form of report reads them from here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Literal, TypeAlias

from cimento.io.tables import TableSchema

if TYPE_CHECKING:
    import polars as pl

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

    return pl.DataFrame([asdict(each) for each in estimates], schema=ESTIMATES.polars())

"""Runs made by hand: outcomes that are given and no model behind them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import polars as pl

from cimento import Estimate, Meta, Outcome, Run, Suite
from cimento.paradigms import (
    Asker,
    Judge,
    MethodFacts,
    Paradigm,
    ParadigmOptions,
    PlainPresenter,
    SuiteReader,
    outcomes_table,
    rate,
)

MARKS = {"+": "pass", "-": "fail", "=": "tie", "?": "unscored"}


@dataclass(frozen=True)
class MadeSuite:
    """A suite without items of its own."""

    meta: Meta

    @property
    def name(self) -> str:
        return self.meta.name


class MadeOptions(ParadigmOptions):
    """An option that changes what is asked, and one that does not."""

    ASKED = frozenset({"depth"})

    depth: int = 1
    seed: int = 0


@dataclass
class MadeJudge(Judge[Run]):
    """A judge whose outcomes are given; rates are those of questions with verdicts."""

    made: Sequence[Outcome]
    more: Sequence[Estimate] = ()
    table: pl.DataFrame | None = None
    chance: float | None = None

    def outcomes(self, run: Run) -> pl.DataFrame:
        return outcomes_table(run.suite.name, self.made)

    def estimates(self, run: Run) -> Sequence[Estimate]:
        table = run.outcomes().filter(pl.col("verdict").is_not_null())
        rates = [
            rate(rows, Estimate(suite=run.suite.name, model=run.model, question=question,
                                method=method, role="main", chance=self.chance,
                                near_tied=0 if "prediction" in question else None))
            for (question, method), rows in table.group_by("question", "method",
                                                           maintain_order=True)
        ]  # fmt: skip
        stated = [*rates, *self.more]
        return [replace(stated[0], role="headline"), *stated[1:]] if stated else []

    def scores(self, run: Run) -> pl.DataFrame | None:  # noqa: ARG002  # of the protocol
        return self.table


class MadeReader(SuiteReader[Any]):
    """A reader that reads nothing; a run may hold a suite of sentences."""

    def sentences(self, suite: object) -> Suite | None:
        return suite if isinstance(suite, Suite) else None


class MadePresenter(PlainPresenter[MadeSuite]):
    """A presenter whose facts are given."""

    def __init__(self) -> None:
        self.facts = MethodFacts(counted="some items")

    def methods(self, run: Run) -> MethodFacts:  # noqa: ARG002  # of the protocol
        return self.facts


def made_run(
    model: str,
    outcomes: Iterable[Outcome],
    *,
    suite: str = "s",
    kind: str = "causal",
    more: Sequence[Estimate] = (),
    table: pl.DataFrame | None = None,
    manifest: Mapping[str, Any] | None = None,
    chance: float | None = None,
    **options: Any,
) -> Run:
    """A run of a made-up paradigm with these outcomes."""
    paradigm = Paradigm(
        name="made",
        options=MadeOptions,
        reader=MadeReader(),
        asker=cast("Asker[MadeSuite, MadeOptions]", None),  # nobody is asked
        judge=MadeJudge(tuple(outcomes), more, table, chance=chance),
        presenter=MadePresenter(),
    )
    card = {"name": model.partition("@")[0], "kind": kind}
    return Run(
        suite=MadeSuite(Meta(name=suite, language="it")),
        paradigm=paradigm,
        options=MadeOptions(**options),
        manifest={"label": model, "model": card, **(manifest or {})},
        tables={},
    )


def outcomes_of(marks: str, question: str = "all", **more: Any) -> list[Outcome]:
    """Outcomes of items 0, 1, 2 ...: + passes, - fails, = ties, ? is unscored.

    A tie is not right. What is given as a mapping is taken item by item.
    """
    made = []
    for number, mark in enumerate(marks):
        item = str(number)
        fields = {k: v.get(item) if isinstance(v, Mapping) else v for k, v in more.items()}
        right = None if mark == "?" else mark == "+"
        verdict = MARKS[mark]
        made.append(Outcome(item=item, question=question, verdict=verdict, right=right, **fields))
    return made

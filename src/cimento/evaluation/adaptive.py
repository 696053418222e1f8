"""Adaptive runs: items in random order, until the proportion of correct ones is precise enough.

The order is drawn once, from a seed, over all items. They are put to the model in rounds. After
each one its answers are judged, and asking stops when the confidence sequence of the share is as
narrow as was asked for. Everything else, from units to the report, is as in any run of these items.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeAlias

from cimento.engine.requests import NO_ANSWERS, Answers, Requests
from cimento.errors import UsageError
from cimento.kinds.stopped import Question, is_count, rights_by
from cimento.records.store import ORDER
from cimento.suites import JsonValue

if TYPE_CHECKING:
    import polars as pl

    from cimento.kinds.base import TestSuite
    from cimento.kinds.paradigm import AnyParadigm
    from cimento.kinds.run import Run
    from cimento.statistics.sequential import ShareSequence


class Ask(Protocol):
    """What asks for the next round about a suite, given the answers so far."""

    def __call__(self, suite: TestSuite, answers: Answers) -> Requests | None:
        """The requests; None after the last round."""


JudgedPart: TypeAlias = "Callable[[TestSuite, pl.DataFrame, Answers], Run]"
"""What makes a run of a suite, the places of requests, and their answers."""


class AdaptiveRounds:
    """The rounds of an adaptive run: batches of items, each asked in as many rounds as it needs.

    Args:
        paradigm: the paradigm of the suite.
        suite: the whole suite.
        precision: half the width of the interval at which asking stops.
        seed: seed of the order.
        ask: asks about a part of the suite, as if it were all.
        judge: judges such a part.
    """

    def __init__(
        self,
        paradigm: AnyParadigm,
        suite: TestSuite,
        *,
        precision: float,
        seed: int,
        ask: Ask,
        judge: JudgedPart,
    ) -> None:
        self._paradigm, self._whole = paradigm, suite
        self._precision, self._seed = precision, seed
        self._ask, self._judge = ask, judge
        self._order: list[str] = []
        self._sizes: list[int] = []
        self._sequence: ShareSequence | None = None
        self._question: Question | None = None
        self._batch: list[str] = []
        self._places: list[pl.DataFrame] = []
        self._begin = 0
        self.later = 0

    def requests(self, answers: Answers) -> Requests | None:
        """The next round of requests; None when the precision is reached, or all items are asked.

        Raises:
            UsageError: no proportion of correct items sums up such a run.
            CimentoError: the suite cannot be asked or judged.
        """
        sequence = self._sequence or self._drawn()
        if self._batch:
            following = self._asked(answers.since(self._begin))
            if following is not None:
                return following
            sequence.add(self._right(answers.since(self._begin)))
            self._begin = answers.n
        size = sequence.more()
        self._batch = self._order[sequence.asked : sequence.asked + size]
        if not self._batch:
            return None
        self._sizes.append(size)
        self._places = []
        first = self._asked(NO_ANSWERS)
        if first is not None and not sequence.asked:
            self.later = max(0, self.later - len(first.asked))
        return first

    def _drawn(self) -> ShareSequence:
        """The sequence of the whole suite, whose items are put in their order."""
        import numpy as np

        from cimento.statistics.sequential import ShareSequence

        whole = self._ask(self._whole, NO_ANSWERS)
        places = whole.places["item"].drop_nulls().unique(maintain_order=True) if whole else ()
        items: list[str] = list(places)
        if whole is None or not items:
            raise UsageError(
                where=f"suite {self._whole.name!r}, --adaptive",
                seen="there is no item to ask",
                todo="Leave --adaptive out.",
            )
        # All requests but those of the first batch, which is not known yet.
        self.later = len(whole.asked)
        drawn = np.random.default_rng(self._seed).permutation(len(items))
        self._order = [items[int(place)] for place in drawn]
        self._sequence = ShareSequence(len(items), precision=self._precision)
        return self._sequence

    def _asked(self, answers: Answers) -> Requests | None:
        """A round about the batch, numbered after the earlier batches."""
        requests = self._ask(self._paradigm.reader.selected(self._whole, set(self._batch)), answers)
        if requests is None:
            return None
        import polars as pl

        self._places.append(requests.places)
        return dataclasses.replace(
            requests, places=requests.places.with_columns(pl.col("request") + self._begin)
        )

    def _right(self, answers: Answers) -> list[bool | None]:
        """Whether each item of the batch is right by the headline question; None for neither."""
        import polars as pl

        part = self._paradigm.reader.selected(self._whole, set(self._batch))
        run = self._judge(part, pl.concat(self._places), answers)
        if self._question is None:
            self._question = _headline(run)
        right = rights_by(run.outcomes(), self._question)
        return [right.get(item) for item in self._batch]

    @property
    def suite(self) -> TestSuite:
        """The suite with the items that were asked; the whole suite if these are all."""
        asked = self._order[: sum(self._sizes)]
        if len(asked) == len(self._order):
            return self._whole
        selected: TestSuite = self._paradigm.reader.selected(self._whole, set(asked))
        return selected

    @property
    def table(self) -> pl.DataFrame:
        """The order table: each item with its round, or why it was not asked."""
        import polars as pl

        rounds = [number for number, size in enumerate(self._sizes, start=1) for _ in range(size)]
        left = len(self._order) - len(rounds)
        why = f"not asked: the share was known to ±{self._precision:g} without it"
        columns = {
            "item": self._order,
            "round": [*rounds, *[None] * left],
            "reason": [*[None] * len(rounds), *[why] * left],
        }
        return pl.DataFrame(columns, schema=ORDER.polars())

    @property
    def record(self) -> dict[str, JsonValue]:
        """The entry of the manifest."""
        asked, of_items = sum(self._sizes), len(self._order)
        return {
            "precision": self._precision,
            "seed": self._seed,
            "asked": asked,
            "of": of_items,
            "rounds": len(self._sizes),
            "stopped": "all items asked" if asked == of_items else "precision reached",
        }


def _headline(run: Run) -> Question:
    """The question that sums up a run.

    Raises:
        UsageError: nothing does, or it is not a proportion of items.
    """
    for estimate in run.estimates():
        if estimate.role == "headline" and is_count(estimate, run.outcomes()):
            return estimate.question, estimate.method
    stated = [
        f"{one.statistic} of {one.question}" if one.is_share else one.statistic
        for one in run.estimates()
        if one.role == "headline"
    ]
    raise UsageError(
        where=f"suite {run.suite_name!r}, --adaptive",
        seen=f"{stated[0]} sums up its runs, not a proportion of items"
        if stated
        else "it judges nothing",
        todo="Leave --adaptive out; --limit=N asks the first N items.",
    )

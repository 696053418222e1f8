"""The parts of a run that every export needs: estimates, the outcomes behind them, and texts."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from cimento.cite.sentences import RunFacts
from cimento.errors import TableError
from cimento.io.tables import REQUESTS, TOKENS
from cimento.io.values import grouped
from cimento.records.outcomes import Outcome, each_outcome
from cimento.records.store import BLANK, blank_before, manifest_part
from cimento.suites import JsonValue

if TYPE_CHECKING:
    from cimento.kinds.run import Run
    from cimento.records.outcomes import Estimate

_FEWEST_VERDICTS = 2
"""Of which a standard error can be computed."""
_BOUNDS = {
    **dict.fromkeys(("pearson", "spearman", "kendall", "MCC"), (-1.0, 1.0)),
    "AUC": (0.0, 1.0),
}
"""The smallest and largest possible value of each statistic."""


@dataclass(frozen=True, slots=True)
class ExportedResult:
    """One question of a run, asked by one method, with its results as the run states them.

    Attributes:
        name: name of the question and of the method.
        estimates: the estimates over all items.
        outcomes: outcomes of the items; none if the estimates rest on other judgments of the
            answers.
    """

    name: str
    estimates: tuple[Estimate, ...]
    outcomes: tuple[Outcome, ...]

    @property
    def description(self) -> str:
        """The criterion for a correct answer, or the measured quantity, in words."""
        return self.estimates[0].description or f"The answer is right: {self.name}."

    @property
    def scored(self) -> tuple[Outcome, ...]:
        """The outcomes that were scored."""
        return tuple(one for one in self.outcomes if counts(one))


class RunData(RunFacts):
    """A run, with the parts of it that exports need.

    The blank before a text is in its policy, as the suite has it if it has a rule of its own.

    Attributes:
        suite: the name of the suite.
        sha256: the sha256 of the suite; empty if the manifest has none.
        model: the name of the model, without its revision.
        created: the time when the run was made, in ISO 8601.
    """

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.suite = self.meta.name
        self.sha256 = str(manifest_part(run.manifest, "suite").get("sha256") or "")
        self.model = str(self.card.get("name") or run.model)
        self.policy = self.policy and {**self.policy, BLANK: blank_before(run.manifest)}
        self.created = str(run.manifest.get("created", ""))

    @cached_property
    def digest(self) -> bytes:
        """The sha256 of the run as it is exported: of its manifest, with the options of judging."""
        judged = {**self.manifest, "options": self.run.options.model_dump(mode="json")}
        return hashlib.sha256(json.dumps(judged, sort_keys=True, default=str).encode()).digest()

    @property
    def timestamp(self) -> float:
        """The time when the run was made, in seconds since 1970.

        Raises:
            TableError: the manifest has no time.
        """
        try:
            return datetime.fromisoformat(self.created).timestamp()
        except ValueError as error:
            raise TableError(
                where=str(self.run.folder or self.suite),
                seen="its manifest does not say when the run was made",
                todo="Run it again.",
            ) from error

    @cached_property
    def results(self) -> tuple[ExportedResult, ...]:
        """The questions of the run, with all estimates that are not details."""
        groups = grouped(
            ((estimate.question, estimate.method), estimate)
            for estimate in self.run.estimates()
            if not estimate.group and estimate.role != "detail"
        )
        outcomes = grouped(
            ((one.question, one.method), one) for one in each_outcome(self.run.outcomes())
        )
        return tuple(
            ExportedResult(
                name=" ".join(filter(None, (method, question))),
                estimates=tuple(estimates),
                outcomes=tuple(outcomes.get((question, method), ())),
            )
            for (question, method), estimates in groups.items()
        )

    @cached_property
    def texts(self) -> Mapping[str, Mapping[str, str]]:
        """The texts by item and condition; several texts of one condition are numbered."""
        asked: dict[str, dict[str, str]] = {}
        if REQUESTS.name not in self.run.tables:
            return asked
        columns = ("item", "condition", "context", "text")
        table = self.run.table(REQUESTS.name).select(columns).unique(maintain_order=True)
        for item, condition, context, text in table.iter_rows():
            texts = asked.setdefault(item, {})
            name = condition or ""
            same = sum(known.partition(" #")[0] == name for known in texts)
            texts[f"{name} #{same + 1}" if same else name] = (
                f"{context} {text}".strip() if context else text
            )
        return asked

    @cached_property
    def _side_values(self) -> Mapping[str, Mapping[str, Mapping[str, float | None]]]:
        return self.run.paradigm.judge.side_values(self.run)

    def side_values(self, outcome: Outcome) -> Mapping[str, float | None]:
        """The numbers that are compared for an outcome, in nats, by condition.

        Of a prediction, these are of its own regions in the conditions that it names. For other
        questions they are the sums over the scored tokens of all texts; None if there is none.
        """
        compared = self._side_values.get(outcome.question)
        if compared is not None:
            return compared.get(outcome.item, {})
        sums = self.logprobs.get(outcome.item, {})
        return {name: sums.get(name) for name in self.texts.get(outcome.item, {})}

    @cached_property
    def logprobs(self) -> Mapping[str, Mapping[str, float]]:
        """The summed log-probabilities of the scored tokens by item and condition, in nats.

        A condition with an unscored token is left out.
        """
        import polars as pl

        if not {TOKENS.name, REQUESTS.name} <= set(self.run.tables):
            return {}
        sums = (
            self.run.table(TOKENS.name)
            .group_by("request")
            .agg(
                pl.col("logprob_nats").sum().alias("sum"),
                pl.col("logprob_nats").is_null().any().alias("missing"),
            )
        )
        requests = self.run.table(REQUESTS.name)
        places = requests.select("request", "item", "condition").unique(maintain_order=True)
        rows = places.join(sums.filter(~pl.col("missing")), on="request", maintain_order="left")
        by_item: dict[str, dict[str, float]] = {}
        for item, condition, total in rows.select("item", "condition", "sum").iter_rows():
            by_item.setdefault(item, {})[condition or ""] = total
        return by_item


def counts(outcome: Outcome) -> bool:
    """Whether an outcome is right or wrong, or has a value if it has no verdict."""
    return outcome.value is not None if outcome.verdict is None else outcome.right is not None


def standard_error(estimate: Estimate) -> tuple[float | None, str]:
    """The standard error of a share, or the reason why there is none.

    It is that of a mean of zeros and ones, ``sqrt(p (1 - p) / (n - 1))``.

    Args:
        estimate: any estimate.

    Returns:
        The standard error and an empty text, or None and the reason.
    """
    if not estimate.is_share or estimate.value is None:
        return None, "it is not a proportion of items; see the interval"
    if estimate.n < _FEWEST_VERDICTS:
        return None, "fewer than two verdicts"
    if estimate.right in (0, estimate.n):
        return None, "all verdicts are equal, so that the formula gives 0; see the interval"
    if estimate.clustered:
        return None, "items belong together; see the interval"
    return math.sqrt(estimate.value * (1 - estimate.value) / (estimate.n - 1)), ""


def uncertainty(estimate: Estimate) -> dict[str, JsonValue]:
    """The interval, and the reason if there is no standard error, as JSON."""
    return {
        "low": estimate.low,
        "high": estimate.high,
        "interval_method": estimate.interval_method,
        "interval_reason": estimate.reason or None,
        "stderr_reason": standard_error(estimate)[1] or None,
    }


def bounds(estimate: Estimate) -> tuple[float, float] | None:
    """The smallest and largest possible value of an estimate; None if it is unbounded."""
    return (0.0, 1.0) if estimate.is_share else _BOUNDS.get(estimate.statistic)


def run_data(runs: Sequence[Run]) -> list[RunData]:
    """Some runs, with the parts of them that exports need."""
    return [*map(RunData, runs)]

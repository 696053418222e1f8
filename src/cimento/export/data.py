"""What every export needs of a run: its estimates, what each rests on, and the texts asked."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from cimento.errors import TableError
from cimento.io.tables import REQUESTS, TOKENS
from cimento.runs.outcomes import Outcome, each_outcome
from cimento.runs.store import manifest_part
from cimento.suites.model import JsonValue

if TYPE_CHECKING:
    from cimento.runs.outcomes import Estimate
    from cimento.runs.run import Run

ACCURACY = "accuracy"
_TWO = 2
_BOUNDS = {
    **dict.fromkeys(("pearson", "spearman", "kendall", "MCC"), (-1.0, 1.0)),
    "AUC": (0.0, 1.0),
}
"""Statistic to the least and the greatest value that it can have."""


@dataclass(frozen=True, slots=True)
class ExportedResult:
    """One question of a run, asked by one method: what came of it, as a run says it.

    Attributes:
        name: question and method.
        estimates: what is said of it, over all items.
        outcomes: of its items; none where the estimates rest on other judgments of the answers.
    """

    name: str
    estimates: tuple[Estimate, ...]
    outcomes: tuple[Outcome, ...]

    @property
    def description(self) -> str:
        """What is right or measured, in words."""
        return self.estimates[0].description or f"The answer is right: {self.name}."

    @property
    def scored(self) -> tuple[Outcome, ...]:
        """The outcomes that count."""
        return tuple(one for one in self.outcomes if counts(one))


@dataclass(frozen=True)
class RunData:
    """A run, ready to be written in another format.

    Attributes:
        run: the run itself.
    """

    run: Run

    @property
    def suite(self) -> str:
        """The suite's name."""
        return self.run.suite.name

    @property
    def card(self) -> Mapping[str, JsonValue]:
        """The model's card."""
        return manifest_part(self.run.manifest, "model")

    @property
    def asking(self) -> Mapping[str, JsonValue]:
        """How the model was asked."""
        return manifest_part(self.run.manifest, "asking")

    @property
    def policy(self) -> Mapping[str, JsonValue]:
        """How texts were scored; empty for a recording, which was scored by somebody else."""
        return {} if self.run.model_kind == "replay" else manifest_part(self.asking, "policy")

    @property
    def model(self) -> str:
        """The model's name, without its revision."""
        return str(self.card.get("name") or self.run.model)

    @property
    def sha256(self) -> str:
        """Of the suite; empty where the manifest does not say."""
        return str(manifest_part(self.run.manifest, "suite").get("sha256") or "")

    @property
    def created(self) -> str:
        """When the run was made, in ISO 8601."""
        return str(self.run.manifest.get("created", ""))

    @property
    def timestamp(self) -> float:
        """The same in seconds since 1970.

        Raises:
            TableError: the manifest does not say.
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
        """The questions of the run whose estimates are not mere details."""
        groups: dict[tuple[str, str], list[Estimate]] = {}
        for estimate in self.run.estimates():
            if not estimate.group and estimate.role != "detail":
                groups.setdefault((estimate.question, estimate.method), []).append(estimate)
        outcomes: defaultdict[tuple[str, str], list[Outcome]] = defaultdict(list)
        for outcome in each_outcome(self.run.outcomes()):
            outcomes[outcome.question, outcome.method].append(outcome)
        return tuple(
            ExportedResult(
                name=" ".join(filter(None, (method, self.run.named(question)))),
                estimates=tuple(estimates),
                outcomes=tuple(outcomes[question, method]),
            )
            for (question, method), estimates in groups.items()
        )

    @cached_property
    def texts(self) -> Mapping[str, Mapping[str, str]]:
        """Item to condition to text; a condition that was asked in several is numbered."""
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
    def logprobs(self) -> Mapping[str, Mapping[str, float]]:
        """Item to condition to the summed log-probability of the tokens scored, in nats.

        A condition with an unscored token is not there.
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
    """Whether an outcome is right or wrong, or has a value where nothing is either."""
    return outcome.value is not None if outcome.verdict is None else outcome.right is not None


def standard_error(estimate: Estimate) -> tuple[float | None, str]:
    """The standard error of a share, or why there is none.

    That of a mean of zeros and ones, n - 1 below.

    Args:
        estimate: of anything.

    Returns:
        The error and an empty text, or None and the reason.
    """
    if not estimate.is_share or estimate.value is None:
        return None, "it is no share of items; see the interval"
    if estimate.n < _TWO:
        return None, "fewer than two verdicts"
    if estimate.right in (0, estimate.n):
        return None, "all verdicts are equal, so that the formula gives 0; see the interval"
    if estimate.clustered:
        return None, "items belong together; see the interval"
    return math.sqrt(estimate.value * (1 - estimate.value) / (estimate.n - 1)), ""


def uncertainty(estimate: Estimate) -> dict[str, JsonValue]:
    """The interval and what there is to say of the standard error, as JSON."""
    return {
        "low": estimate.low,
        "high": estimate.high,
        "interval_method": estimate.interval_method,
        "interval_reason": estimate.reason or None,
        "stderr_reason": standard_error(estimate)[1] or None,
    }


def bounds(estimate: Estimate) -> tuple[float, float] | None:
    """The least and the greatest value that an estimate can have; None where it has none."""
    return (0.0, 1.0) if estimate.is_share else _BOUNDS.get(estimate.statistic)


def of_runs(runs: Sequence[Run]) -> list[RunData]:
    """Some runs, ready to be written."""
    return [*map(RunData, runs)]

"""How answers are judged: plain data, nothing of which needs a model."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

from cimento.errors import UsageError
from cimento.suites.model import JsonValue, Metric, Prediction, Suite, UnitName


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """How answers are judged.

    Attributes:
        metric: how the surprisals of a region's tokens become one value; None: as the suite says.
        predictions: formulas to judge instead of the suite's, or numbers of the suite's own
            predictions; empty for all of the suite's.
        unit: the unit in which formulas are read: that of their numbers and of the tolerance
            of ``=``.
        seed: of the simulated chance levels.
    """

    metric: Metric | None = None
    predictions: tuple[str, ...] = ()
    unit: UnitName = "bits"
    seed: int = 0

    @classmethod
    def from_plain(cls, plain: Mapping[str, JsonValue]) -> Judging:
        """As a manifest holds it."""
        known = {name: plain[name] for name in ("metric", "unit", "seed") if name in plain}
        predictions = plain.get("predictions")
        texts = tuple(map(str, predictions)) if isinstance(predictions, list) else ()
        return cls(predictions=texts, **known)  # type: ignore[arg-type]  # written by `asdict`

    def applied(self, suite: Suite) -> Suite:
        """The suite with the metric and the predictions that are judged.

        Raises:
            UsageError: the suite has no prediction of a number that is asked for.
        """
        chosen = tuple(_prediction(text, suite) for text in self.predictions)
        return dataclasses.replace(
            suite,
            metric=self.metric or suite.metric,
            predictions=chosen or suite.predictions,
        )

    def number(self, position: int) -> int:
        """The number a judged prediction goes by: that in its suite, where it comes from there."""
        if position < len(self.predictions) and self.predictions[position].strip().isdigit():
            return int(self.predictions[position])
        return position


def _prediction(text: str, suite: Suite) -> Prediction:
    if not text.strip().isdigit():
        return Prediction(formula=text)
    number = int(text)
    if number >= len(suite.predictions):
        raise UsageError(
            where="--prediction",
            seen=f"the suite {suite.name!r} has no prediction {number}",
            todo=f"It has {len(suite.predictions)}, counted from 0.",
        )
    return suite.predictions[number]

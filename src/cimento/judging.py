"""How answers are judged: plain data, nothing of which needs a model."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

from cimento.errors import TableError, UsageError
from cimento.measures.first_token import FirstTokenRule
from cimento.suites.model import JsonValue, Metric, Prediction, Suite, UnitName
from cimento.verdicts.accuracy import TieRule
from cimento.verdicts.measured import refuse_regions

_VALUES: Mapping[str, tuple[object, ...]] = {
    "metric": (None, *get_args(Metric)),
    "unit": get_args(UnitName),
    "unscored_first": get_args(FirstTokenRule),
    "ties": get_args(TieRule),
}


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
        measure: a measure of whole sentences to compare instead of summed surprisals, such as
            ``penlp``; empty for surprisals.
        unigrams: where measures take unigram frequencies from: ``wordfreq``, ``wordfreq:it``, or
            a file of token counts; empty for nowhere.
        unscored_first: what becomes of a first token that has no left context: ``missing`` (its
            region and its sentence have no value), ``drop`` (it counts in no sum and no length),
            ``zero`` (its surprisal is 0).
        ties: whether a tie counts as a ``tie``, which is never a pass, or as a ``pass``. The
            verdict itself stays a tie.
        near_tie_bits: verdicts whose margin is smaller are told as near ties; None: as the number
            format of the model has it, see `verdicts.near_ties`.
        also: measures that a report shows beside `measure`, where a run was made for several.
        compat: the tool whose conventions these are; empty for our own. Only said, not used.
    """

    metric: Metric | None = None
    predictions: tuple[str, ...] = ()
    unit: UnitName = "bits"
    seed: int = 0
    measure: str = ""
    unigrams: str = ""
    unscored_first: FirstTokenRule = "missing"
    ties: TieRule = "tie"
    near_tie_bits: float | None = None
    also: tuple[str, ...] = ()
    compat: str = ""

    def __post_init__(self) -> None:
        if not _fits("near_tie_bits", self.near_tie_bits):
            raise UsageError(
                where="--near-ties",
                seen=f"{self.near_tie_bits!r} is not a finite number of bits of at least 0",
                todo="Give one, such as 0.5, or leave it out: the number format decides.",
            )

    @classmethod
    def from_plain(cls, plain: Mapping[str, JsonValue]) -> Judging:
        """As a manifest holds it.

        Raises:
            TableError: a value is none of its kind.
        """
        names = {field.name for field in dataclasses.fields(cls)} - {"predictions", "also"}
        known = {name: plain[name] for name in names & plain.keys()}
        for name, value in known.items():
            if not _fits(name, value):
                raise TableError(
                    where=f"manifest.json, judging, {name}",
                    seen=f"{value!r} is none of its values",
                    todo="Was it edited? Run again.",
                )
        predictions, also = (_texts(plain.get(name)) for name in ("predictions", "also"))
        return cls(predictions=predictions, also=also, **known)  # type: ignore[arg-type]  # written by `asdict`

    def applied(self, suite: Suite) -> Suite:
        """The suite with the metric and the predictions that are judged.

        Raises:
            UsageError: the suite has no prediction of a number that is asked for, or one that
                names a region is to be judged on a measure of sentences.
        """
        chosen = tuple(_prediction(text, suite) for text in self.predictions)
        judged = dataclasses.replace(
            suite,
            metric=self.metric or suite.metric,
            predictions=chosen or suite.predictions,
        )
        if self.measure:
            refuse_regions(judged)
        return judged

    def number(self, position: int) -> int:
        """The number a judged prediction goes by: that in its suite, where it comes from there."""
        if position < len(self.predictions) and self.predictions[position].strip().isdigit():
            return int(self.predictions[position])
        return position


def _texts(value: JsonValue) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


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


def _fits(name: str, value: JsonValue) -> bool:
    """Whether a value of a manifest is one that this part of the judging can have."""
    if name in _VALUES:
        return value in _VALUES[name]
    if name == "seed":
        return isinstance(value, int) and not isinstance(value, bool) and value >= 0
    if name == "near_tie_bits":
        if value is None or isinstance(value, bool):
            return value is None
        return isinstance(value, int | float) and 0 <= value < float("inf")
    return isinstance(value, str)

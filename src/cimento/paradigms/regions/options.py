"""The options of region suites: how stored answers are judged."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field

from cimento.errors import UsageError, did_you_mean
from cimento.io.tables import Column
from cimento.measures import columns_needed
from cimento.measures.regions import FirstTokenRule
from cimento.measures.unigrams import load_unigrams
from cimento.paradigms.base import ParadigmOptions
from cimento.runs.outcomes import TieRule
from cimento.runs.store import BLANK
from cimento.suites.formula import canonical, parse, references
from cimento.suites.model import JsonValue, Metric, Prediction, Suite, UnitName

if TYPE_CHECKING:
    from cimento.models.registry import Asking

_REGION = re.compile(r"\(\s*\d+\s*;")


def _texts(value: object) -> object:
    """One text stands for a list of one."""
    if isinstance(value, list):
        return tuple(value)
    return (value,) if isinstance(value, str) else value


def names_of(value: object) -> object:
    """Names with commas between stand for a list of them."""
    if not isinstance(value, str):
        return tuple(value) if isinstance(value, list) else value
    return tuple(filter(None, (name.strip() for name in value.split(","))))


class RegionOptions(ParadigmOptions):
    """How the answers to a region suite are judged.

    Attributes:
        metric: how the surprisals of a region's tokens become one value; None: as the suite says.
        predictions: formulas to judge instead of the suite's, or names or numbers of the suite's
            own predictions; empty for all of the suite's.
        unit: the unit in which formulas are read: that of their numbers and of the tolerance
            of ``=``.
        seed: of simulated chance levels and of resampling.
        measure: a measure of whole sentences to compare instead of summed surprisals, such as
            ``penlp``; empty for surprisals.
        also: measures that are shown in addition to `measure`.
        unigrams: where measures take unigram frequencies from: ``wordfreq``, ``wordfreq:it``, or
            a file of token counts; empty for nowhere.
        unscored_first: what becomes of a first token that has no left context: ``missing`` (its
            region and its sentence have no value), ``drop`` (it counts in no sum and no length),
            ``zero`` (its surprisal is 0).
        ties: whether a tie counts as a ``tie``, which is never right, or as a ``pass``. The
            verdict itself stays a tie.
        near_tie_bits: verdicts with a smaller margin are counted as near ties; None: as the number
            format of the model has it, see `verdicts.near_ties`.
        compat: the tool whose conventions these are; empty for our own. Only said, not used.
    """

    ASKED: ClassVar[frozenset[str]] = frozenset()

    metric: Metric | None = None
    predictions: Annotated[tuple[str, ...], BeforeValidator(_texts)] = ()
    unit: UnitName = "bits"
    seed: Annotated[int, Field(ge=0)] = 0
    measure: str = ""
    also: Annotated[tuple[str, ...], BeforeValidator(names_of)] = ()
    unigrams: str = ""
    unscored_first: FirstTokenRule = "missing"
    ties: TieRule = "tie"
    near_tie_bits: Annotated[float | None, Field(ge=0, allow_inf_nan=False)] = None
    compat: str = ""

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the tokens table that the measures need.

        Raises:
            UsageError: there is no such measure.
        """
        return columns_needed([self.measure, *self.also])

    def chosen(self, suite: Suite | None) -> str:
        """The predictions that are judged in place of those of the suite.

        Args:
            suite: that is asked; None where only the options are known.

        Raises:
            UsageError: as for `judged`.
        """
        if suite is None:
            return " ".join(self.predictions)
        judged = [prediction.formula for prediction in self.judged(suite).predictions]
        whole = {prediction.formula for prediction in suite.predictions}
        return "" if set(judged) == whole else " ".join(judged)

    def inputs(self, suite: Suite, scoring: Asking) -> dict[str, JsonValue]:
        """What else decides whether a stored run holds the answers that these options need.

        Args:
            suite: that is asked.
            scoring: how its texts are scored.

        Raises:
            CimentoError: it cannot be judged in this way, or there are no such frequencies.
        """
        if self.unigrams:
            # A mistake is found before a model is asked.
            load_unigrams(self.unigrams, language=suite.meta.language)
        formulas: list[JsonValue] = [
            prediction.formula for prediction in self.judged(suite).predictions
        ]
        blank = None if scoring.own_blank else suite.leading_blank
        # Runs of suites that do not say it are as they were.
        return {"predictions": formulas, **({} if blank is None else {BLANK: blank})}

    def judged(self, suite: Suite) -> Suite:
        """A suite with the metric and the predictions that are judged.

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
            _refuse_regions(judged)
        return judged

    def numbers(self, suite: Suite) -> tuple[int, ...]:
        """The numbers that the judged predictions go by, in the order in which they are judged.

        Args:
            suite: as its author wrote it.

        A prediction of the suite keeps its number there. A formula that was given goes by its
        place among those given, or by the next number that none of them has.
        """
        places = {each.name: str(n) for n, each in enumerate(suite.predictions) if each.name}
        given = self.predictions or map(str, range(len(suite.predictions)))
        texts = [places.get(text.strip(), text.strip()) for text in given]
        taken = {int(text) for text in texts if text.isdigit()}
        numbers: list[int] = []
        for position, text in enumerate(texts):
            number = int(text) if text.isdigit() else position
            while not text.isdigit() and number in taken:
                number += 1
            taken.add(number)
            numbers.append(number)
        return tuple(numbers)

    @classmethod
    def from_version_0_1(cls, judging: Mapping[str, Any]) -> RegionOptions:
        """What version 0.1 wrote under ``judging`` in a manifest; keys of others are ignored.

        Raises:
            ValidationError: a value is none of its kind.
        """
        known = {key: value for key, value in judging.items() if key in cls.model_fields}
        own = {key: value for key, value in known.items() if key in RegionOptions.model_fields}
        # What was stored has the types that it should have; texts of --set stand beside it.
        RegionOptions.model_validate_json(json.dumps(own), strict=True)
        return cls.model_validate(known)


def _prediction(text: str, suite: Suite) -> Prediction:
    named = {prediction.name: prediction for prediction in suite.predictions if prediction.name}
    if text.strip() in named:
        return named[text.strip()]
    if not text.strip().isdigit():
        if named and "(" not in text:
            raise UsageError(
                where="--prediction",
                seen=f"the suite {suite.name!r} has no prediction {text.strip()!r}",
                todo=did_you_mean(text.strip(), named),
            )
        return Prediction(formula=text)
    number = int(text)
    if number >= len(suite.predictions):
        raise UsageError(
            where="--prediction",
            seen=f"the suite {suite.name!r} has no prediction {number}",
            todo=f"It has {len(suite.predictions)}, counted from 0.",
        )
    return suite.predictions[number]


def _refuse_regions(suite: Suite) -> None:
    """See that every prediction is about whole sentences.

    Raises:
        UsageError: one names a region.
        FormulaError: one cannot be read.
    """
    for number, prediction in enumerate(suite.predictions):
        for reference in references(parse(prediction.formula)):
            if reference.region != "*":
                raise UsageError(
                    where=f"suite {suite.name!r}, prediction {number}",
                    seen=f"it names the region {canonical(reference)},"
                    " and a measure (of --measure or --compat) is of whole sentences",
                    todo="Judge another formula with --prediction, such as"
                    f" '{_REGION.sub('(*;', prediction.formula)}', or say --measure regions.",
                )

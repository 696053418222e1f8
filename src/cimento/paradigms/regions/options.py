"""The options of region suites, which determine how stored answers are judged."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import BeforeValidator, Field

from cimento.errors import UsageError, did_you_mean
from cimento.io.tables import UNIGRAM, Column
from cimento.kinds.base import option_names
from cimento.kinds.clusters import ClusteredOptions
from cimento.measures import columns_needed, names_of_measures
from cimento.measures.normalizing import MODEL, load_unigrams
from cimento.measures.regions import FirstTokenRule
from cimento.paradigms.regions.predictions import parse_predictions
from cimento.records.outcomes import TieRule
from cimento.records.store import BLANK
from cimento.suites import JsonValue, Metric, Prediction, Suite, UnitName
from cimento.suites.formula import canonical, parse, references
from cimento.suites.naming import find_prediction, is_number, named, numbered

if TYPE_CHECKING:
    from cimento.models.settings import Asking

_REGION = re.compile(r"\(\s*\d+\s*;")


def _texts(value: object) -> object:
    """A list of texts; a single text becomes a list of one."""
    if isinstance(value, list):
        return tuple(value)
    return (value,) if isinstance(value, str) else value


class RegionOptions(ClusteredOptions):
    """The rules by which the answers to a region suite are judged.

    Attributes:
        metric: function that combines the surprisals of a region's tokens; None for the suite's
            own.
        predictions: formulas to judge instead of the suite's, or names or numbers of the suite's
            own predictions; empty for all of the suite's.
        unit: unit of the numbers in formulas and of the tolerance of ``=``.
        seed: seed of simulated chance levels and of resampling.
        measure: measure of whole sentences to compare instead of summed surprisals, such as
            ``penlp``; empty for surprisals.
        also: measures to show in addition to `measure`.
        unigrams: source of the unigram frequencies in measures: ``model`` (the model itself),
            ``wordfreq``, ``wordfreq:it``, or a file of token counts; empty for none.
        unscored_first: treatment of a first token without left context: ``missing`` (its region and
            sentence have no value), ``drop`` (it is in no sum and no length), or ``zero`` (its
            surprisal is 0).
        ties: whether a tie counts as a ``tie``, which is never right, or as a ``pass``. The
            verdict itself stays a tie.
        near_tie_bits: margin below which a verdict is a near tie; None for the threshold of the
            model's number format, see `cimento.paradigms.regions.chance.near_tie_threshold`.
        compat: tool whose conventions these options follow; empty for our own. For display only.
    """

    ASKED: ClassVar[frozenset[str]] = frozenset()

    metric: Metric | None = None
    predictions: Annotated[tuple[str, ...], BeforeValidator(_texts)] = ()
    unit: UnitName = "bits"
    seed: Annotated[int, Field(ge=0)] = 0
    measure: Annotated[str, BeforeValidator(names_of_measures)] = ""
    also: Annotated[
        tuple[str, ...], BeforeValidator(option_names), BeforeValidator(names_of_measures)
    ] = ()
    unigrams: str = ""
    unscored_first: FirstTokenRule = "missing"
    ties: TieRule = "tie"
    near_tie_bits: Annotated[float | None, Field(ge=0, allow_inf_nan=False)] = None
    compat: str = ""

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the tokens table that the measures need.

        Raises:
            UsageError: a measure is unknown.
        """
        unigrams = (UNIGRAM,) if self.unigrams == MODEL else ()
        return (*columns_needed([self.measure, *self.also]), *unigrams)

    @property
    def measure_names(self) -> tuple[str, ...]:
        """The names of the measures; none where only surprisals are compared."""
        return tuple(filter(None, (self.measure, *self.also)))

    def chosen(self, suite: Suite | None) -> str:
        """The predictions that replace those of the suite.

        Args:
            suite: the suite; None if only the options are known.

        Raises:
            UsageError: as for `judged`.
        """
        if suite is None:
            return " ".join(self.predictions)
        judged = [prediction.formula for prediction in self.judged(suite).predictions]
        whole = {prediction.formula for prediction in suite.predictions}
        return "" if set(judged) == whole else " ".join(judged)

    def inputs(self, suite: Suite, scoring: Asking) -> dict[str, JsonValue]:
        """The other settings on which it depends whether a stored run has the answers needed here.

        Args:
            suite: the suite.
            scoring: rules by which its texts are scored.

        Raises:
            CimentoError: the suite cannot be judged this way, or the frequencies do not exist.
        """
        if self.unigrams:
            # Mistakes are reported before a model is asked.
            load_unigrams(self.unigrams, language=suite.meta.language)
        formulas: list[JsonValue] = [
            prediction.formula for prediction in self.judged(suite).predictions
        ]
        blank = None if scoring.own_blank else suite.leading_blank
        # Absent values are left out, so that stored runs of suites without them still match.
        return {"predictions": formulas, **({} if blank is None else {BLANK: blank})}

    def refuse_unfit(self, suite: Suite) -> None:
        """Refuse predictions that name what a suite does not have.

        Raises:
            CimentoError: as for `judged`.
        """
        self.judged(suite)

    def judged(self, suite: Suite) -> Suite:
        """A suite with the metric and the predictions to judge, each with its name in tables.

        A formula that is none of the suite's is called by the next number after these.

        Raises:
            UsageError: the suite lacks a requested prediction, or a prediction that names a region
                would be judged on a measure of sentences.
            FormulaError: a requested formula cannot be read, or names a region or a condition that
                the suite lacks.
        """
        chosen: dict[str, Prediction] = {}
        number = len(suite.predictions)
        for text in self.predictions:
            prediction = find_prediction(text, suite.predictions)
            if prediction is None:
                prediction = _by_formula(text, suite, numbered(number))
                number += 1
            chosen[prediction.name] = prediction
        judged = dataclasses.replace(
            suite,
            metric=self.metric or suite.metric,
            predictions=tuple(chosen.values()) or named(suite.predictions),
        )
        if self.predictions:
            parse_predictions(judged)
        if self.measure:
            _refuse_regions(judged)
        return judged


def _by_formula(text: str, suite: Suite, name: str) -> Prediction:
    """A prediction that the user gives by its formula.

    Raises:
        UsageError: the text is not a formula, and names no prediction of the suite.
    """
    known = [prediction.name for prediction in named(suite.predictions)]
    if known and "(" not in text:
        is_counted = is_number(text.strip())
        wanted = text.strip() if is_counted else repr(text.strip())
        raise UsageError(
            where="--prediction",
            seen=f"the suite {suite.name!r} has no prediction {wanted.removeprefix('prediction ')}",
            todo=f"It has {len(known)}, counted from 0."
            if is_counted
            else did_you_mean(text.strip(), known),
        )
    return Prediction(text, name=name)


def _refuse_regions(suite: Suite) -> None:
    """Require that every prediction is about whole sentences.

    Raises:
        UsageError: a prediction names a region.
        FormulaError: a prediction cannot be read.
    """
    for prediction in suite.predictions:
        for reference in references(parse(prediction.formula)):
            if reference.region != "*":
                raise UsageError(
                    where=f"suite {suite.name!r}, {prediction.name!r}",
                    seen=f"it names the region {canonical(reference)},"
                    " and a measure (of --measure or --compat) is of whole sentences",
                    todo="Judge another formula with --prediction, such as"
                    f" '{_REGION.sub('(*;', prediction.formula)}', or say --measure=regions.",
                )

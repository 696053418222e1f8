"""The options of suites of ratings: which measures are compared with which ratings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Literal, cast

from pydantic import BeforeValidator, Field

from cimento.measures import Measure, find_measures
from cimento.paradigms.base import option_names
from cimento.paradigms.ratings.correlation import DRAWS
from cimento.paradigms.ratings.people import standardised
from cimento.paradigms.ratings.suite import RatedSentence, rated_of
from cimento.paradigms.regions.options import RegionOptions
from cimento.suites.model import JsonValue, Suite

if TYPE_CHECKING:
    from cimento.models.registry import Asking
    from cimento.runs.run import Run

_PERPLEXITY: Mapping[str, str] = {"causal": "ppl", "masked": "pppl"}


class RatingOptions(RegionOptions):
    """The options for judging a suite of ratings.

    Attributes:
        by: columns by which the accuracy of pairs is broken down, if the suite has them.
        ratings: values with which measures are compared: ``raw`` mean ratings, or the mean
            ``z``-scores of ratings by participant.
        draws: number of permutations of a test, and of divisions of ratings into halves; 0 for no
            test.
    """

    by: Annotated[tuple[str, ...], BeforeValidator(option_names)] = (
        "connective",
        "replacement",
        "grammaticality",
        "phenomenon",
    )
    ratings: Literal["raw", "z"] = "raw"
    draws: Annotated[int, Field(ge=0)] = DRAWS

    def measures(self, model_kind: str) -> tuple[Measure, ...]:
        """The measures compared with the ratings: those in the options, or else the usual ones.

        Args:
            model_kind: kind of the model, which determines the perplexity.

        Raises:
            UsageError: a measure is unknown.
        """
        named = [name for name in (self.measure, *self.also) if name]
        perplexity = _PERPLEXITY.get(model_kind)
        usual = ["lp", "meanlp", "penlp", *([perplexity] if perplexity else [])]
        return find_measures(named or [*usual, *(["slor"] if self.unigrams else [])])

    def inputs(self, suite: Suite, scoring: Asking) -> dict[str, JsonValue]:
        """The other inputs on which a stored run's answers depend.

        Args:
            suite: the suite.
            scoring: rules by which its texts are scored.

        Raises:
            UsageError: z-scores are requested and no rating has one.
            CimentoError: as for suites of regions.
        """
        # Mistakes are reported before a model is asked.
        compared(suite, self)
        return super().inputs(suite, scoring)


def options_of(run: Run) -> RatingOptions:
    """The options of a run."""
    return cast("RatingOptions", run.options)


def perplexity_of(run: Run) -> str:
    """The name of the perplexity described by label: pseudo-perplexity for masked models."""
    return _PERPLEXITY.get(run.model_kind, "ppl")


def compared(suite: Suite, options: RatingOptions) -> tuple[RatedSentence, ...]:
    """The sentences with the ratings to compare: mean ratings or mean z-scores.

    Raises:
        UsageError: z-scores are requested and no rating has one.
    """
    sentences = rated_of(suite).sentences
    return standardised(sentences) if options.ratings == "z" else sentences

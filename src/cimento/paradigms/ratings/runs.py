"""Runs of rated sentences: their options, and what their texts and tables show."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Literal, cast

from pydantic import BeforeValidator, Field

from cimento.io.values import group_by
from cimento.kinds.base import option_names
from cimento.kinds.run import Run
from cimento.measures import Measure, NoValue, find_measure, find_measures
from cimento.measures.regions import count_first_tokens
from cimento.paradigms.ratings.estimates import RatedValues
from cimento.paradigms.ratings.people import DRAWS, RatedValue, standardized
from cimento.paradigms.regions.judging import suite_of, tokens_of
from cimento.paradigms.regions.options import RegionOptions
from cimento.records.outcomes import Estimate
from cimento.records.places import Places, farthest_apart
from cimento.report.formatting import number
from cimento.suites import JsonValue, Suite
from cimento.suites.ratings import RatedSentence, rated_of, ratings_by

if TYPE_CHECKING:
    from cimento.models.settings import Asking

_PERPLEXITY: Mapping[str, str] = {"causal": "ppl", "masked": "pppl"}


class RatingOptions(RegionOptions):
    """The options for judging a suite of ratings.

    Attributes:
        by: columns by which the accuracy of pairs is broken down, if the suite has them.
        ratings: values with which measures are compared: ``raw`` mean ratings, or the mean
            ``z``-scores of ratings by participant.
        draws: number of divisions of ratings into halves.
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
        perplexity = _PERPLEXITY.get(model_kind)
        usual = ["lp", "meanlp", "penlp", *([perplexity] if perplexity else [])]
        return find_measures(self.measure_names or [*usual, *(["slor"] if self.unigrams else [])])

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
        compared_sentences(suite, self)
        return super().inputs(suite, scoring)


def rating_options(run: Run) -> RatingOptions:
    """The options of a run."""
    return cast("RatingOptions", run.options)


def perplexity_of(run: Run) -> str:
    """The name of the perplexity described by label: pseudo-perplexity for masked models."""
    return _PERPLEXITY.get(run.model_kind, "ppl")


def compared_sentences(suite: Suite, options: RatingOptions) -> tuple[RatedSentence, ...]:
    """The sentences with the ratings to compare: mean ratings or mean z-scores.

    Raises:
        UsageError: z-scores are requested and no rating has one.
    """
    sentences = rated_of(suite).sentences
    return standardized(sentences) if options.ratings == "z" else sentences


@dataclass(frozen=True)
class RatedRun:
    """A run of rated sentences, with what its text and tables show.

    Attributes:
        run: the run.
    """

    run: Run

    @property
    def suite(self) -> Suite:
        """The suite of the run."""
        return suite_of(self.run)

    @property
    def model(self) -> str:
        """The label of the model."""
        return self.run.model

    @cached_property
    def by(self) -> str:
        """The source of the ratings: ``people`` or ``author``."""
        return ratings_by(self.suite)

    @cached_property
    def measures(self) -> list[str]:
        """The names of the measures compared with the ratings."""
        measures = rating_options(self.run).measures(self.run.model_kind)
        return [measure.name for measure in measures]

    @property
    def perplexity(self) -> str:
        """The name of the perplexity that is described by label."""
        return perplexity_of(self.run)

    @property
    def first_token(self) -> str:
        """The treatment of first tokens without left context."""
        without = count_first_tokens(tokens_of(self.run))
        if not without:
            return "every token has a left context and is scored"
        rule = _FIRST_TOKENS[rating_options(self.run).unscored_first]
        return f"the first token of {without} texts has no left context: {rule}"

    @cached_property
    def values(self) -> RatedValues:
        """The values of its sentences."""
        return RatedValues.of(rated_of(self.suite).sentences, self.run.outcomes())

    @property
    def estimates(self) -> Sequence[Estimate]:
        """The estimates of the run."""
        return self.run.estimates()

    @cached_property
    def _known(self) -> Mapping[tuple[str, str, str], Estimate]:
        return {(e.question, e.statistic, e.method): e for e in self.estimates if not e.group}

    def find(self, question: str, statistic: str, method: str = "") -> Estimate | None:
        """An estimate over all sentences; None if there is none."""
        return self._known.get((question, statistic, method))

    def measured(self, statistic: str) -> list[Estimate]:
        """A statistic of each measure that has it."""
        estimates = (self.find(measure, statistic) for measure in self.measures)
        return [estimate for estimate in estimates if estimate is not None]

    def shown(self, question: str, statistic: str) -> str:
        """A value as text, or a dash if there is none."""
        estimate = self.find(question, statistic)
        return "-" if estimate is None else number(estimate.value)

    @property
    def sentences(self) -> Sequence[RatedSentence]:
        """The sentences, in the order of the suite."""
        return self.values.sentences

    @property
    def n_rated(self) -> int:
        """The number of sentences with a rating."""
        return sum(sentence.mean is not None for sentence in self.sentences)

    def misses(self) -> Sequence[Places[RatedValue]]:
        """The sentences by how far the first measure and people are apart, the farthest first."""
        first = find_measure(self.measures[0])
        rows = self.values.rows(first.name)
        return farthest_apart(rows, higher_is_better=first.higher_is_better)

    def without_value(self) -> dict[str, int]:
        """The reasons why sentences have no value of some measure, with their counts."""
        lost: dict[str, int] = {}
        for measure in self.measures:
            values = self.values.columns[measure].values()
            lost |= _words_together(Counter(v.reason for v in values if isinstance(v, NoValue)))
        return lost


_FIRST_TOKENS = {
    "missing": "the sentence has no value",
    "drop": "it counts in no sum and no length",
    "zero": "its surprisal counts as 0",
}

_UNKNOWN = re.compile(r"the (token|word) ('.*'|\".*\") is not in the (.*)")
_WORDS_NAMED = 3


def _words_together(counts: Mapping[str, int]) -> dict[str, int]:
    """The reasons with their counts, merging reasons that differ only in an unknown word."""
    unknown = [match for reason in counts if (match := _UNKNOWN.fullmatch(reason))]
    together = {reason: n for reason, n in counts.items() if not _UNKNOWN.fullmatch(reason)}
    for (kind, source), matches in group_by(unknown, lambda match: match.group(1, 3)).items():
        names, reasons = [match[2] for match in matches], [match[0] for match in matches]
        more = len(names) - _WORDS_NAMED
        others = f" and {more} more" if more > 0 else ""
        named = f"{', '.join(names[:_WORDS_NAMED])}{others}"
        reason = f"a {kind} is not in the {source}: {named}" if len(names) > 1 else reasons[0]
        together[reason] = sum(counts[variant] for variant in reasons)
    return together

"""All that a run says about a suite of acceptability, as one record: what is printed and stored."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from cimento.acceptability.beside import (
    DRAWS,
    Beside,
    beside,
    ceiling,
    ceiling_from_errors,
    corrected,
)
from cimento.acceptability.binary import Binary, binary
from cimento.acceptability.items import Described, describe_labels
from cimento.acceptability.people import Agreements, agreements, standardised
from cimento.acceptability.records import RatedSentence, RatedSet
from cimento.measures import Measure, Missing, find_measure, find_measures
from cimento.measures.first_token import count_first_tokens, with_first_tokens
from cimento.measures.scores import ScoredSentence
from cimento.measures.scores import sentences as scored_sentences
from cimento.measures.unigrams import load_unigrams
from cimento.measures.values import Value
from cimento.results import Run
from cimento.suites.model import Suite
from cimento.verdicts.accuracy import Accuracies, Rule, accuracies_by

if TYPE_CHECKING:
    from cimento.statistics.split_half import SplitHalf
    from cimento.statistics.values import Estimate

BY = ("connective", "replacement", "grammaticality", "phenomenon")
"""Columns that accuracies are given for, where the sentences have them."""

_BAD = ("unacceptable", "bad")
_PERPLEXITY: Mapping[str, str] = {"causal": "ppl", "masked": "pppl"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What can be chosen about a report.

    Attributes:
        measures: names; empty for the usual ones of the model's kind.
        by: columns that accuracies are given for.
        ratings: ``raw``, or ``z`` for mean z-scores by participant beside the measures.
        draws: permutations, and divisions into halves.
        seed: of everything that is drawn.
    """

    measures: Sequence[str] = ()
    by: Sequence[str] = BY
    ratings: Literal["raw", "z"] = "raw"
    draws: int = DRAWS
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceRow:
    """What is known of one sentence.

    Attributes:
        id: of the sentence.
        text: the sentence.
        label: what its authors say of it.
        grammatical: whether it is, where they say so.
        rating: its mean rating; None where it has none.
        perplexity: None where it is undefined.
        n_tokens: tokens that the perplexity is taken over.
        reason: why there is no perplexity.
    """

    id: str
    text: str
    label: str
    grammatical: bool | None
    rating: float | None
    perplexity: float | None
    n_tokens: int
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptabilityReport:
    """A model beside people on one suite.

    Attributes:
        suite: its name.
        model: name and revision.
        by: whose the ratings are: ``people``, or ``author`` for what the author expects.
        n_sentences: how many sentences there are.
        n_rated: how many have a rating.
        ratings: the ratings described, by label.
        perplexity: name of the perplexity below.
        perplexities: described by label.
        n_tokens: tokens scored in all sentences that have a perplexity.
        first_token: what became of first tokens without left context.
        ratings_as: ``raw`` or ``z``: what the measures are beside.
        beside: each measure beside the ratings.
        ceiling: how well the people agree with themselves, from split halves of their ratings.
        ceiling_from_errors: the same from standard deviations and numbers of ratings.
        agreement: of the people.
        binary: each measure against the labels.
        accuracies: column to value to the accuracy of the pairs with it.
        sentences: each with its rating, its perplexity and the number of its tokens.
    """

    suite: str
    model: str
    by: str
    n_sentences: int
    n_rated: int
    ratings: tuple[Described, ...]
    perplexity: str
    perplexities: tuple[Described, ...]
    n_tokens: int
    first_token: str
    ratings_as: str
    beside: tuple[Beside, ...]
    ceiling: SplitHalf
    ceiling_from_errors: Estimate
    agreement: Agreements
    binary: tuple[Binary, ...]
    accuracies: Mapping[str, Mapping[str, Accuracies]]
    sentences: tuple[SentenceRow, ...]

    def least_perplexing(self, most: int = 3) -> list[SentenceRow]:
        """The unacceptable sentences of the lowest perplexity, the lowest first."""
        found = [
            (each.perplexity, each)
            for each in self.sentences
            if each.label == "unacceptable" and each.perplexity is not None
        ]
        return [each for _, each in sorted(found, key=lambda pair: pair[0])[:most]]

    def plain(self) -> dict[str, object]:
        """The record as dictionaries and lists, for JSON."""
        return dataclasses.asdict(self)


# size: one line for each field of the report.
def report(run: Run, rated: RatedSet, *, by: str, options: Options) -> AcceptabilityReport:
    """Everything about a run of a suite of acceptability.

    Args:
        run: of the suite that `rated` was made of or made into.
        rated: its sentences, in the order of ``suite.stimuli()``.
        by: whose the ratings are.
        options: what was chosen.

    Raises:
        UsageError: there is no measure of that name, or no rating has a z-score.
        InputError: unigram frequencies cannot be read.
    """
    scored = scored_in_order(run)
    sentences = rated.sentences[: len(scored)]
    compared = standardised(sentences) if options.ratings == "z" else sentences
    measures = chosen_measures(options.measures, run)
    perplexity = find_measure(_PERPLEXITY.get(run.model_kind, "ppl"))
    values = {
        sentence.id: perplexity.of(each.sentence)
        for sentence, each in zip(sentences, scored, strict=True)
    }

    def value_of(sentence: RatedSentence) -> Value:
        return values[sentence.id]

    return AcceptabilityReport(
        suite=run.suite.name,
        model=run.model,
        by=by,
        n_sentences=len(sentences),
        n_rated=sum(each.mean is not None for each in sentences),
        ratings=tuple(describe_labels(sentences)),
        perplexity=perplexity.name,
        perplexities=tuple(describe_labels(sentences, value_of)),
        n_tokens=sum(_tokens(each) for each in scored),
        first_token=_first_token(run),
        ratings_as=options.ratings,
        beside=corrected(
            [
                beside(compared, scored, measure, seed=options.seed, draws=options.draws)
                for measure in measures
            ]
        ),
        ceiling=ceiling(sentences, seed=options.seed, draws=options.draws),
        ceiling_from_errors=ceiling_from_errors(sentences),
        agreement=agreements(sentences),
        binary=tuple(binary(sentences, scored, each, seed=options.seed) for each in measures),
        accuracies=accuracies_of_pairs(run, options.by, seed=options.seed),
        sentences=tuple(
            _row(sentence, values[sentence.id], _tokens(each))
            for sentence, each in zip(sentences, scored, strict=True)
        ),
    )


def scored_in_order(run: Run) -> list[ScoredSentence]:
    """What is known of each sentence of a run, in the order of ``suite.stimuli()``.

    Raises:
        InputError: unigram frequencies cannot be read.
    """
    judging = run.judging
    unigrams = judging.unigrams
    scored = scored_sentences(
        with_first_tokens(run.tokens(), judging.unscored_first),
        run.requests(),
        model_kind=run.model_kind,
        unigrams=load_unigrams(unigrams, language=run.suite.meta.language) if unigrams else None,
    )
    places = {(each.stimulus.item, each.stimulus.condition): each for each in scored}
    return [places[item.id, condition.name] for item, condition in run.suite.stimuli()]


def chosen_measures(names: Sequence[str], run: Run) -> tuple[Measure, ...]:
    """The measures of some names; without names lp, meanlp, penlp, perplexity and maybe slor."""
    named = [name for name in names if name]
    if named:
        return find_measures(named)
    perplexity = _PERPLEXITY.get(run.model_kind)
    usual = ["lp", "meanlp", "penlp", *([perplexity] if perplexity else [])]
    return find_measures([*usual, *(["slor"] if run.judging.unigrams else [])])


def accuracies_of_pairs(
    run: Run, columns: Sequence[str], *, seed: int
) -> dict[str, Mapping[str, Accuracies]]:
    """How often the acceptable sentence is preferred, for each value of each column.

    A pair has the value of its unacceptable sentence, whose replacement and grammaticality are
    those that matter.
    """
    verdicts = run.summary(with_verdicts=True).verdicts
    judged = run.judging.applied(run.suite)
    if not judged.predictions:
        return {}
    found: dict[str, Mapping[str, Accuracies]] = {}
    for column in columns:
        if column not in judged.column_names:
            continue
        groups = accuracies_by(
            _of_pairs(judged, column),
            verdicts,
            seed=seed,
            column=column,
            rule=Rule(ties=run.judging.ties),
        )
        if groups:
            found[column] = groups
    return found


def _of_pairs(suite: Suite, column: str) -> Suite:
    """The suite with the value of an item's unacceptable condition in all of its conditions."""
    items = []
    for item in suite.items:
        bad = next((c for c in item.conditions if c.name in _BAD), item.conditions[-1])
        value = bad.columns.get(column, "")
        conditions = tuple(
            dataclasses.replace(each, columns={**each.columns, column: value})
            for each in item.conditions
        )
        items.append(dataclasses.replace(item, conditions=conditions))
    return dataclasses.replace(suite, items=tuple(items))


def _row(sentence: RatedSentence, value: Value, n_tokens: int) -> SentenceRow:
    known = not isinstance(value, Missing)
    return SentenceRow(
        id=sentence.id,
        text=sentence.text,
        label=sentence.label,
        grammatical=sentence.grammatical,
        rating=sentence.mean,
        perplexity=value if not isinstance(value, Missing) else None,
        n_tokens=n_tokens if known else 0,
        reason=value.reason if isinstance(value, Missing) else None,
    )


def _tokens(each: ScoredSentence) -> int:
    return 0 if isinstance(each.sentence, Missing) else each.sentence.n_tokens


def _first_token(run: Run) -> str:
    without = count_first_tokens(run.tokens())
    if not without:
        return "every token has a left context and is scored"
    rule = {
        "missing": "the sentence has no value",
        "drop": "it counts in no sum and no length",
        "zero": "its surprisal counts as 0",
    }[run.judging.unscored_first]
    return f"the first token of {without} texts has no left context: {rule}"

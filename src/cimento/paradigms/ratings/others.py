"""Estimates of rated sentences whose intervals are for other people like these."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cimento.paradigms.ratings.people import (
    KINDS,
    LEVELS,
    UNNAMED,
    RatedValue,
    sentence_design,
)
from cimento.paradigms.regions.people_tables import OTHERS
from cimento.records.outcomes import Estimate
from cimento.report.formatting import interval
from cimento.statistics.raters import FOR_OTHERS, UNKNOWN_PEOPLE

if TYPE_CHECKING:
    from cimento.statistics.intervals import Interval
    from cimento.statistics.reliability import SplitHalf
    from cimento.suites.ratings import RatedSentence, Rating

ALPHA = "Krippendorff's alpha"


def correlations_for_others(
    rows: Sequence[RatedValue],
    compared: Mapping[str, RatedSentence],
    estimates: Mapping[str, Estimate],
) -> Iterator[Estimate]:
    """The correlations of a measure once more, with intervals for other sentences and people.

    Args:
        rows: sentences with a rating and a value.
        compared: sentence by its id, with the ratings whose means are correlated.
        estimates: the correlations for these people, by kind.
    """
    for kind in KINDS:
        plain = estimates[kind]
        ends = _ends(rows, compared, plain, kind=kind)
        yield _with(plain, ends, name=kind)


def partial_for_others(
    rows: Sequence[RatedValue], compared: Mapping[str, RatedSentence], plain: Estimate
) -> Estimate:
    """A partial correlation once more, with its interval for other sentences and people.

    Args:
        rows: sentences with a rating, a value and covariates.
        compared: sentence by its id, with the ratings whose means are correlated.
        plain: the correlation for these people.
    """
    ends = _ends(rows, compared, plain, kind="spearman", partial=True)
    return _with(plain, ends, name=plain.statistic)


def _ends(
    rows: Sequence[RatedValue],
    compared: Mapping[str, RatedSentence],
    plain: Estimate,
    *,
    kind: str,
    partial: bool = False,
) -> Interval:
    """The interval of a correlation for other sentences and people, or why there is none."""
    from cimento.statistics.raters import correlation_for_others

    sentences = [compared[row.sentence.id] for row in rows]
    if plain.value is None:
        return _none(plain.reason)
    if not (sentences and all(sentence.ratings for sentence in sentences)):
        return _none(UNKNOWN_PEOPLE)
    return correlation_for_others(
        [row.value for row in rows],
        [[rating.value for rating in sentence.ratings] for sentence in sentences],
        [_people(sentence.ratings) for sentence in sentences],
        design=sentence_design(sentences),
        covariates=[row.covariates for row in rows] if partial else None,
        kind=kind,
    )


def agreement_for_others(
    rated: Sequence[RatedSentence],
    ratings: Sequence[Sequence[Rating]],
    estimates: Mapping[str, Estimate],
) -> Iterator[Estimate]:
    """Krippendorff's alphas and Fleiss's kappa once more, for other sentences and other people.

    Args:
        rated: sentences with single ratings.
        ratings: those of each that count.
        estimates: those for these people, by level of measurement; kappa has none.
    """
    from cimento.statistics.agreement import alpha_for_others, fleiss_for_others

    values = [[rating.value for rating in some] for some in ratings]
    people = [_people(some) for some in ratings]
    design = sentence_design(rated)
    for level in LEVELS:
        ends = alpha_for_others(values, people, scale=level, design=design)
        yield _with(estimates[level], ends, name=ALPHA)
    kappa = estimates[""]
    yield _with(kappa, fleiss_for_others(values, people, design=design), name=kappa.statistic)


def ceiling_with_others(
    sentences: Sequence[RatedSentence], halves: SplitHalf, plain: Estimate
) -> Estimate:
    """A noise ceiling once more, with its interval for other sentences and other people.

    Args:
        sentences: those whose ratings were halved.
        halves: the ceiling.
        plain: the same as an estimate.
    """
    from cimento.statistics.reliability import ceiling_for_others

    values = [[rating.value for rating in sentence.ratings] for sentence in sentences]
    people = [_people(sentence.ratings) for sentence in sentences]
    ends = ceiling_for_others(values, people, halves, design=sentence_design(sentences))
    return _with(plain, ends, name=plain.statistic)


def kappas_of_pairs(sentences: Sequence[RatedSentence], like: Estimate) -> Iterator[Estimate]:
    """The mean of Cohen's kappa over pairs of people, and once more for others.

    Args:
        sentences: sentences with or without single ratings.
        like: an estimate with the suite, model and question.
    """
    from cimento.statistics.pairs_of_raters import FEWEST_SHARED, mean_kappa

    mean = mean_kappa(
        [[rating.value for rating in sentence.ratings] for sentence in sentences],
        [_people(sentence.ratings) for sentence in sentences],
        design=sentence_design(sentences),
    )
    nobody = f"no two people rated {FEWEST_SHARED} sentences in common, or {UNNAMED}"
    plain = replace(
        like,
        statistic="mean Cohen's kappa",
        method="quadratic weights",
        value=mean.value,
        n=mean.pairs,
        reason=nobody if mean.value is None else SHARED_PEOPLE,
    )
    yield plain
    if mean.value is not None:
        yield _with(plain, mean.others, name=plain.statistic)


SHARED_PEOPLE = "pairs of people share people, so that there is no interval for these people"


def _people(ratings: Sequence[Rating]) -> list[str | None]:
    return [rating.participant or None for rating in ratings]


def _none(reason: str) -> Interval:
    from cimento.statistics.intervals import Interval

    return Interval(None, None, FOR_OTHERS, reason)


def _with(plain: Estimate, ends: Interval, *, name: str) -> Estimate:
    return replace(
        plain,
        statistic=f"{name}{OTHERS}",
        role="detail",
        low=ends.low,
        high=ends.high,
        interval_method=ends.method,
        reason=ends.reason or "",
        clustered=True,
        p=None,
        p_corrected=None,
        p_method=None,
    )


def alphas_in_words(estimates: Sequence[Estimate]) -> str:
    """What the intervals of alpha are about, and those for other people."""
    others = [one for one in estimates if one.statistic == f"{ALPHA}{OTHERS}"]
    ends = [f"{one.method} {interval(one.low, one.high)}" for one in others if one.low is not None]
    why = next((one.reason for one in others if one.low is None), UNKNOWN_PEOPLE)
    known = ", ".join(ends) if ends else f"none ({why})"
    return f"95% of alpha: for other sentences and these people; for other people too: {known}"


def correlations_in_words(others: Sequence[Estimate]) -> str:
    """How the intervals for other people were found, or why there are none."""
    methods = {one.interval_method: None for one in others if one.low is not None}
    reasons = {one.reason: None for one in others if one.low is None}
    known = " or ".join(filter(None, methods)) or f"none ({'; '.join(reasons)})"
    return f"for other sentences and other people like these: {known}"

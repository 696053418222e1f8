"""What a paper says of ratings: who gave them, and what measures were correlated with."""

from __future__ import annotations

from collections.abc import Sequence

from cimento.cite.sentences import measure_phrase as describe_measure
from cimento.errors import counted
from cimento.paradigms.ratings.runs import RatingOptions
from cimento.suites import Suite
from cimento.suites.ratings import rated_of


def raters(suite: Suite) -> str:
    """How many people rated the sentences, as far as they are named, and on which scale."""
    rated = rated_of(suite)
    ends = f"from {rated.scale.low:g} (worst) to {rated.scale.high:g} (best)" if rated.scale else ""
    people = {
        rating.participant
        for sentence in rated.sentences
        for rating in sentence.ratings
        if rating.participant
    }
    if people:
        return f"{counted(len(people), 'participant')} rated the sentences {ends}"
    return f"Ratings are {ends}"


def in_brief(measures: Sequence[str], rating: str, *, is_named: bool) -> str:
    """A sentence on how measures were compared with ratings, as in a paper.

    Args:
        measures: names of the measures.
        rating: what each sentence has that was compared.
        is_named: whether the sentences before it name the first one, by which pairs were compared.
    """
    others = len(measures) - 1
    more = f" and {others} other measures (see the appendix)" if others else ""
    measure = "the same measure" if is_named else describe_measure(measures[0], brief=True)
    return (
        f"We correlated {measure}{more} of each sentence with"
        f" {rating} by Spearman's rho [@spearman1904], with 95% jackknife intervals [@efron1993]."
    )


def compared_with(options: RatingOptions, *, by_author: bool) -> tuple[str, str]:
    """What measures were correlated with: the values of all sentences, and that of each.

    Args:
        options: of the run.
        by_author: whether the ratings are the author's expectations, which say nothing of people.
    """
    if by_author:
        return "the degrees that the suite's author expects", "the author's expected degree"
    if options.ratings == "z":
        of_all = "z-scores of the ratings within participants"
        return of_all, "its mean z-score within participants"
    return "the ratings", "its mean rating"

"""Ratings by what their sentences are called, such as *filler*: means, with their intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cimento.io.values import grouped
from cimento.judgments import Judgment
from cimento.judgments.summaries import is_rated, once, place_design, rating_of
from cimento.measures.participants import z_by_participant
from cimento.statistics.design import Design
from cimento.statistics.means import Mean, mean_of
from cimento.statistics.raters import contrast_for_others
from cimento.suites.ratings import Rating

Place = tuple[str, str, str]
"""Suite, item and condition of a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelMean:
    """The ratings of the sentences with one label, described.

    Attributes:
        label: what they are called.
        sentences: number of sentences.
        people: number of people who rated any of them.
        ratings: number of ratings.
        z: mean over sentences of their mean z-scores, each within all that its participant rated;
            None where no participant has any.
        these: mean over sentences of their mean ratings, with the interval for other sentences and
            these people.
        others: the same mean, with the interval for other sentences and other people.
    """

    label: str
    sentences: int
    people: int
    ratings: int
    z: float | None
    these: Mean
    others: Mean


def label_means(
    judgments: Sequence[Judgment], labels: Mapping[Place, str], *, seed: int
) -> tuple[LabelMean, ...]:
    """The mean ratings of the sentences with each label.

    The interval for these people is that of `mean_of`, in which sentences of one item belong
    together; for other people it is that of `contrast_for_others`, of one condition. Of repeated
    answers of one person the first counts (`once`).

    Args:
        judgments: of any questions; those that are not ratings are left out.
        labels: of sentences, in the order in which their labels are given.
        seed: of the draws.
    """
    rated: dict[Place, list[Rating]] = grouped(
        (one.key[:3], Rating(value, one.annotator or ""))
        for one in once(judgments)
        if is_rated(one.question) and one.counts and (value := rating_of(one)) is not None
    )
    z, _, _ = z_by_participant(rated)
    mean_z = {place: _mean([one.value for one in given]) for place, given in z.items()}
    by_label = grouped((label, place) for place, label in labels.items() if place in rated)
    return tuple(
        _described(label, {place: rated[place] for place in places}, mean_z, seed=seed)
        for label, places in by_label.items()
    )


def _described(
    label: str,
    rated: Mapping[Place, Sequence[Rating]],
    mean_z: Mapping[Place, float],
    *,
    seed: int,
) -> LabelMean:
    values = [[one.value for one in given] for given in rated.values()]
    people = [[one.participant or None for one in given] for given in rated.values()]
    design: Design = place_design([(*place, "") for place in rated])
    scored = [mean_z[place] for place in rated if place in mean_z]
    return LabelMean(
        label=label,
        sentences=len(rated),
        people=len({name for given in people for name in given}),
        ratings=sum(map(len, values)),
        z=_mean(scored) if scored else None,
        these=mean_of([_mean(given) for given in values], design, seed=seed),
        others=contrast_for_others(
            [[given] for given in values], [[names] for names in people], (1.0,),
            design=design, seed=seed,
        ),
    )  # fmt: skip


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)

"""The first tier as a detection task: how well stories are told apart, and the bias of answers.

The positive class is "plausible". A constant answer is right in as many stories as have that
label, so that accuracy alone says little.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from cimento.statistics.classification import (
    Confusion,
    Threshold,
    auc,
    balanced_accuracy,
    confusion,
    d_prime,
    mcc,
    threshold_mcc,
    tnr,
    tpr,
)
from cimento.statistics.design import Design
from cimento.statistics.intervals import Interval
from cimento.statistics.values import Value
from cimento.stories.outcomes import Outcome, margin
from cimento.stories.records import FALSE, STORY, TRUE, Story
from cimento.stories.triples import bases

NO_MARGINS = "options were not scored"


@dataclass(frozen=True, slots=True, kw_only=True)
class Detection:
    """The first tier of one model.

    Attributes:
        answered: stories with a readable answer that have a label.
        answers: label to the share of `answered`.
        invalid: replies that could not be read.
        counts: true and false positives and negatives.
        tpr: share of plausible stories called plausible.
        tnr: share of implausible stories called implausible.
        balanced_accuracy: mean of the two.
        mcc: Matthews's correlation.
        auc: how often a plausible story has the higher margin of "true" over "false".
        d_prime: sensitivity, log-linear correction.
        criterion: above 0: inclined to answer "false".
        sibling_pair_accuracy: how often a plausible story has a higher margin than its own
            implausible variant, ties as half.
        n_pairs: how many such pairs.
        mean_margin_nats: mean log-probability of "true" minus that of "false".
    """

    answered: int
    answers: Mapping[str, float]
    invalid: int
    counts: Confusion
    tpr: Value
    tnr: Value
    balanced_accuracy: Value
    mcc: Value
    auc: Value
    d_prime: float | None
    criterion: float | None
    sibling_pair_accuracy: Value
    n_pairs: int
    mean_margin_nats: Value


def detect(stories: Sequence[Story], outcomes: Sequence[Outcome]) -> Detection:
    """Measure the first tier."""
    first = [each for each in outcomes if each.tier == STORY]
    answered = [each for each in first if each.chosen is not None and each.gold is not None]
    truth = [each.gold == TRUE for each in answered]
    said = [each.chosen == TRUE for each in answered]
    counts = confusion(truth, said)
    found = d_prime(counts)
    margins = _margins(first)
    pairs = sibling_pairs(stories, margins)
    n = len(answered)
    return Detection(
        answered=n,
        answers={
            label: sum(each.chosen == label for each in answered) / n for label in (FALSE, TRUE)
        }
        if n
        else {},
        invalid=sum(each.invalid for each in first),
        counts=counts,
        tpr=tpr(counts),
        tnr=tnr(counts),
        balanced_accuracy=balanced_accuracy(counts),
        mcc=mcc(counts),
        auc=_auc(stories, margins),
        d_prime=found.d_prime,
        criterion=found.criterion,
        sibling_pair_accuracy=_share(pairs),
        n_pairs=len(pairs),
        mean_margin_nats=_mean(list(margins.values())),
    )


def unbiased_mcc(stories: Sequence[Story], outcomes: Sequence[Outcome], *, seed: int) -> Threshold:
    """Matthews's correlation of the margin at the threshold that is best on the other triples.

    An inclined model may tell stories apart and yet answer all of them alike; a threshold chosen
    by cross-validation over triples shows what it could tell.

    Args:
        stories: all of them.
        outcomes: of one model.
        seed: of the division into folds.
    """
    margins = _margins([each for each in outcomes if each.tier == STORY])
    if not margins:
        return Threshold(None, None, (), NO_MARGINS)
    return threshold_mcc(
        list(margins.values()),
        [stories[row].plausible for row in margins],
        seed=seed,
        clusters=[stories[row].story_id for row in margins],
    )


def sibling_pairs(stories: Sequence[Story], margins: Mapping[int, float]) -> dict[int, float]:
    """Of each implausible story with a plausible sibling, whether that has the higher margin.

    Args:
        stories: all of them.
        margins: row to the margin of "true" over "false" in nats.

    Returns:
        Row of the implausible story to 1 (it has), 0.5 (a tie) or 0.
    """
    known = bases(stories)
    found = {}
    for story in stories:
        base = known[story.story_id]
        if story.plausible or base is None:
            continue
        if story.row in margins and base.row in margins:
            difference = margins[base.row] - margins[story.row]
            found[story.row] = 0.5 if difference == 0 else float(difference > 0)
    return found


def _margins(first: Sequence[Outcome]) -> dict[int, float]:
    found = {each.row: margin(each.answer, TRUE, FALSE) for each in first}
    return {row: value for row, value in found.items() if value is not None}


def _auc(stories: Sequence[Story], margins: Mapping[int, float]) -> Value:
    if not margins:
        return Value(None, NO_MARGINS)
    return auc(list(margins.values()), [stories[row].plausible for row in margins])


def _share(pairs: Mapping[int, float]) -> Value:
    if not pairs:
        return Value(None, "no plausible story has a scored variant")
    return Value(sum(pairs.values()) / len(pairs))


def _mean(values: Sequence[float]) -> Value:
    if not values:
        return Value(None, NO_MARGINS)
    return Value(math.fsum(values) / len(values))


def detection_intervals(
    stories: Sequence[Story], outcomes: Sequence[Outcome]
) -> dict[str, Interval]:
    """Intervals of the first tier's measures, 95 %, stories of one triple together.

    Those of balanced accuracy and AUC are of `statistics.separation`; the accuracy of sibling
    pairs is a mean (`statistics.means.mean_of`, without draws).

    Args:
        stories: all of them.
        outcomes: of one model.
    """
    from cimento.statistics.classification import auc_interval, balanced_interval
    from cimento.statistics.means import mean_of

    first = [each for each in outcomes if each.tier == STORY]
    answered = [each for each in first if each.chosen is not None and each.gold is not None]
    margins = _margins(first)
    pairs = sibling_pairs(stories, margins)

    def design(rows: Iterable[int]) -> Design:
        units = tuple(rows)
        return Design(units, tuple(stories[row].story_id for row in units))

    siblings = mean_of(list(pairs.values()), design(pairs), seed=0, draws=0)
    return {
        "balanced_accuracy": balanced_interval(
            [each.chosen == TRUE for each in answered],
            [each.gold == TRUE for each in answered],
            design(each.row for each in answered),
        ),
        "auc": auc_interval(
            list(margins.values()), [stories[row].plausible for row in margins], design(margins)
        ),
        "sibling_pair_accuracy": Interval(
            siblings.low, siblings.high, siblings.method, siblings.reason
        ),
    }

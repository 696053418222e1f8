"""Means by what sentences are called: against formulas by hand and Student's t of scipy."""

import numpy as np
import pytest
from scipy import stats

from cimento.judgments import Judgment
from cimento.judgments.labeled import label_means

PEOPLE = ["ada", "bea", "cleo", "dino", "ezio", "fabio"]
RATINGS = {
    "1": [7, 6, 5, 7, 6, 7],
    "2": [2, 1, 3, 1, 2, 3],
    "3": [6, 6, 5, 7, 5, 6],
    "4": [2, 3, 4, 2, 2, 1],
    "5": [7, 7, 6, 7, 6, 6],
    "6": [1, 2, 3, 1, 2, 1],
    "7": [6, 7, 5, 7, 6, 5],
    "8": [3, 2, 4, 1, 3, 2],
    "9": [5, 6, 6, 7, 7, 6],
    "10": [1, 1, 2, 1, 3, 2],
}
LABELS = {("frasi", item, "sentence"): "odd" if int(item) % 2 else "even" for item in RATINGS}


def judged(people=PEOPLE, *, ratings=RATINGS):
    return [
        Judgment(suite="frasi", item=item, condition="sentence", annotator=person, value=str(value))
        for item, values in ratings.items()
        for person, value in zip(people, values, strict=False)
    ]


def matrix(label):
    """The ratings with a label, a row for each sentence and a column for each person."""
    items = [place[1] for place, name in LABELS.items() if name == label]
    return np.array([RATINGS[item] for item in items], dtype=float)


@pytest.mark.parametrize("label", ["odd", "even"])
def test_the_mean_is_that_of_sentences_with_students_t_over_them(label):
    (one,) = [made for made in label_means(judged(), LABELS, seed=0) if made.label == label]
    means = matrix(label).mean(axis=1)
    low, high = stats.t.interval(
        0.95, len(means) - 1, loc=means.mean(), scale=stats.sem(means, ddof=1)
    )
    assert (one.sentences, one.people, one.ratings) == (5, 6, 30)
    assert one.these.value == pytest.approx(means.mean())
    assert (one.these.low, one.these.high) == pytest.approx((low, high))


@pytest.mark.parametrize("label", ["odd", "even"])
def test_the_interval_for_other_people_has_the_variance_of_both_factors(label):
    (one,) = [made for made in label_means(judged(), LABELS, seed=0) if made.label == label]
    table = matrix(label)
    rest = table - table.mean()
    n_items, n_people = table.shape
    # Sums over sentences and over people, less those of single ratings, with CR2 (Cameron, Gelbach
    # and Miller 2011): in a whole table each sum has the weight 1 / (1 - 1/m) for m of its kind.
    variance = (
        (rest.sum(axis=1) ** 2).sum() / (1 - 1 / n_items)
        + (rest.sum(axis=0) ** 2).sum() / (1 - 1 / n_people)
        - (rest**2).sum() / (1 - 1 / table.size)
    ) / table.size**2
    over_items = stats.sem(table.mean(axis=1), ddof=1)
    over_people = stats.sem(table.mean(axis=0), ddof=1)
    widest = max(
        np.sqrt(max(variance, 0)) * stats.t.ppf(0.975, min(n_items, n_people) - 1),
        over_items * stats.t.ppf(0.975, n_items - 1),
        over_people * stats.t.ppf(0.975, n_people - 1),
    )
    assert one.others.value == pytest.approx(table.mean())
    assert (one.others.high - one.others.low) / 2 == pytest.approx(widest, rel=1e-6)


def test_z_is_the_mean_over_sentences_of_z_within_people():
    made = {one.label: one for one in label_means(judged(), LABELS, seed=0)}
    table = np.array([*RATINGS.values()], dtype=float)
    z = ((table - table.mean(axis=0)) / table.std(axis=0, ddof=1)).mean(axis=1)
    assert made["odd"].z == pytest.approx(z[::2].mean())
    assert made["even"].z == pytest.approx(z[1::2].mean())


def test_what_is_lacking_is_said_and_no_interval_is_made_up():
    few = {item: RATINGS[item] for item in ("1", "2", "3")}
    odd, even = label_means(judged(PEOPLE[:3], ratings=few), LABELS, seed=0)
    assert (odd.sentences, odd.people, odd.ratings) == (2, 3, 6)
    assert (odd.these.low, odd.these.reason) == (None, "2 values: an interval needs 5 or more")
    assert odd.others.reason.startswith("3 people: an interval for others needs 5")
    assert (even.sentences, even.these.value) == (1, 2.0)


def test_checks_repeated_answers_and_sentences_without_a_label_are_left_out():
    again = Judgment(suite="frasi", item="1", condition="sentence", annotator="ada", value="1")
    check = Judgment(suite="frasi", item="check-1", annotator="ada", value="1", expected="1")
    other = Judgment(suite="frasi", item="99", condition="sentence", annotator="ada", value="1")
    plain = label_means(judged(), LABELS, seed=0)
    more = label_means([*judged(), again, check, other], LABELS, seed=0)
    for one, same in zip(plain, more, strict=True):
        assert (one.label, one.ratings, one.these) == (same.label, same.ratings, same.these)

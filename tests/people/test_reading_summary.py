"""Reading times in short: means at each place by hand, and beside surprisals."""

import pytest

from cimento.people.reading_summary import times_by_place, times_with_surprisal
from cimento.people.surveys.times import ReadWord


def word(position, rt, *, person="P1", item="1", condition="good", region="", excluded=""):
    """One word as somebody read it."""
    return ReadWord(
        text=f"{item}/{condition}", position=position, word=f"w{position}", rt=rt,
        participant=person, item=item, condition=condition, region=region, trial=1, survey="1",
        device="key", comprehension="", distractor="", side="", choice="", corrected_rt=None,
        excluded=excluded,
    )  # fmt: skip


def test_means_are_over_the_times_that_are_left():
    words = [
        word(1, 300.0), word(2, 500.0),
        word(1, 340.0, person="P2"), word(2, None, person="P2", excluded="longer than 3000 ms"),
        word(1, 280.0, condition="bad"), word(2, 900.0, condition="bad"),
    ]  # fmt: skip
    places = {(one.place, one.condition): one for one in times_by_place(words)}
    assert [*places] == [("1", "good"), ("1", "bad"), ("2", "good"), ("2", "bad")]
    first, second = places["1", "good"], places["2", "good"]
    assert (first.time.value, first.people, first.items, first.left_out) == (320.0, 2, 1, 0)
    assert (second.time.value, second.people, second.left_out) == (500.0, 1, 1)
    assert first.time.low is None
    assert first.time.reason


def test_words_of_a_region_belong_together_in_the_order_of_the_sentence():
    words = [
        word(1, 300.0, region="subject"), word(2, 320.0, region="subject"),
        word(3, 400.0, region="verb"),
    ]  # fmt: skip
    places = times_by_place(words, {("1/good", 1): 2.0, ("1/good", 2): 4.0, ("1/good", 3): None})
    assert [(one.place, one.time.value) for one in places] == [("subject", 310.0), ("verb", 400.0)]
    assert [one.bits for one in places] == [3.0, None]


def test_the_interval_is_over_people_and_items_that_cross():
    """By hand: V = V_people + V_items - V_cells, and t with the fewest degrees of freedom.

    Each cell of the 5 x 5 table has one time, 10 p + i. The means of people have the variance
    100 * 2.5, those of items 2.5; five of each make V_people = 50 and V_items = 0.5.
    """
    words = [word(1, 10.0 * p + i, person=f"P{p}", item=str(i)) for p in range(5) for i in range(5)]
    (place,) = times_by_place(words)
    cells = sum((10 * p + i - 22) ** 2 for p in range(5) for i in range(5)) / 24 / 25
    error = (100 * 2.5 / 5 + 2.5 / 5 - cells) ** 0.5
    assert place.time.value == 22.0
    reach = 2.7764451051977934 * error  # qt(0.975, 4)
    assert (place.time.low, place.time.high) == pytest.approx((22 - reach, 22 + reach))


def test_the_correlation_is_of_the_means_of_words():
    """By hand: the ranks of 320, 500, 650 and those of 1, 4, 9 are the same."""
    words = [
        word(1, 300.0), word(1, 340.0, person="P2"), word(2, 500.0), word(3, 650.0), word(4, None),
    ]  # fmt: skip
    bits = {("1/good", n): bits for n, bits in ((1, 1.0), (2, 4.0), (3, 9.0), (4, 5.0))}
    found = times_with_surprisal(words, bits)
    assert (found.r, found.n) == (1.0, 3)
    assert found.low is None

"""Verdicts that are held as numbers are the same verdicts, in memory and in their table."""

from __future__ import annotations

import copy
import math
import pickle

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento.answers import VERDICTS
from cimento.verdicts import compact
from cimento.verdicts.compact import Verdict, Verdicts, verdicts_pieces, verdicts_table

texts = st.sampled_from(("", "uno", "due è", "\ud800 alone", "三", "a\0b"))
verdicts = st.builds(
    Verdict,
    suite=texts,
    item=texts | st.text(st.characters(), max_size=5),
    condition=st.none() | texts,
    prediction=st.none() | st.integers(-3, 70_000),
    verdict=st.sampled_from(("pass", "fail", "tie", "unscored")),
    margin_bits=st.none() | st.floats(),
    unscored_reason=st.none() | texts,
)


@given(given_verdicts=st.lists(verdicts, max_size=30))
def test_they_are_the_same_as_in_a_list(given_verdicts):
    found = Verdicts(iter(given_verdicts))
    # By their texts too: NaN is not equal to itself, and -0.0 is equal to 0.0.
    assert list(map(repr, found)) == list(map(repr, given_verdicts))
    assert [repr(found[n]) for n in range(len(found))] == list(map(repr, given_verdicts))
    assert [repr(found[-n - 1]) for n in range(len(found))] == list(map(repr, given_verdicts))[::-1]
    assert repr(found[1:20:3]) == repr(given_verdicts[1:20:3])
    assert len(found) == len(given_verdicts)
    if not any(math.isnan(each.margin_bits or 0.0) for each in given_verdicts):
        assert found == given_verdicts
        assert given_verdicts == found
        assert found == Verdicts(given_verdicts)
        assert pickle.loads(pickle.dumps(found)) == found  # noqa: S301  # made here
        assert copy.deepcopy(found) == found
        assert all(each in found for each in given_verdicts)


def test_they_differ_from_other_verdicts():
    one = Verdict("s", "1", None, 0, "pass", 1.0, None)
    other = Verdict("s", "1", None, 0, "pass", 2.0, None)
    assert Verdicts([one]) != [other]
    assert Verdicts([one]) != [one, one]
    assert Verdicts([one]) != "1"
    assert Verdicts() == []
    with pytest.raises(IndexError):
        Verdicts([one])[1]
    with pytest.raises(TypeError):
        hash(Verdicts())


@given(given_verdicts=st.lists(verdicts, max_size=9))
def test_predictions_can_have_other_numbers(given_verdicts):
    found = Verdicts(given_verdicts)
    renumbered = found.renumbered(lambda number: number + 1000)
    assert [each.prediction for each in renumbered] == [
        None if each.prediction is None else each.prediction + 1000 for each in given_verdicts
    ]
    back = renumbered.renumbered(lambda number: number - 1000)
    assert list(map(repr, back)) == list(map(repr, found)) == list(map(repr, given_verdicts))


def many(count: int) -> list[Verdict]:
    return [
        Verdict(
            "s",
            f"item {number // 2}",
            None,
            None if number % 2 else 0,
            "unscored" if number % 5 == 0 else "pass",
            None if number % 5 == 0 else number / 7,
            "no score" if number % 5 == 0 else None,
        )
        for number in range(count)
    ]


def whole_table(given_verdicts: list[Verdict]) -> pl.DataFrame:
    names = VERDICTS.columns
    columns = {name: [getattr(each, name) for each in given_verdicts] for name in names}
    return pl.DataFrame(columns, schema=VERDICTS.polars())


@settings(deadline=None, max_examples=25)
@given(count=st.integers(0, 40), together=st.integers(1, 50))
def test_their_table_is_that_of_all_at_once(count, together):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compact, "_TOGETHER", together)
        pieces = verdicts_pieces(Verdicts(many(count)))
        assert max(map(len, pieces)) <= together
        assert pieces.whole().equals(whole_table(many(count)))
    assert verdicts_table(Verdicts(many(count))).equals(whole_table(many(count)))

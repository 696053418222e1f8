"""What is there more than once in a suite is found by hashes, and said only of what is equal."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento.suites.checks import check_suite
from cimento.suites.model import Condition, Item, Meta, Prediction, Region, Suite
from cimento.suites.repeats import Hashes

WORDS = st.sampled_from(
    ["Casa.", "Casa", "casa", "l'uomo.", "l’uomo.", "la la.", "e\u0300.", "Ã¨.", "", " ", "\u200b."]
)
CONDITIONS = st.lists(
    st.builds(
        Condition,
        name=st.sampled_from(("a", "a", "b", "b", "", "a b")),
        regions=st.lists(st.builds(Region, text=WORDS), min_size=1, max_size=2).map(tuple),
        columns=st.fixed_dictionaries(
            {}, optional={"f": st.sampled_from("xyz"), "g": st.sampled_from("uv")}
        ),
    ),
    max_size=3,
).map(tuple)
SUITES = st.builds(
    Suite,
    meta=st.just(Meta("s", language="it")),
    region_names=st.sampled_from((("one",), ("one", "two"))),
    predictions=st.lists(
        st.sampled_from(("(1;%a%) < (1;%b%)", "(*;%b%) > (2;%a%)", "(1;%q%) < 2")).map(Prediction),
        max_size=2,
    ).map(tuple),
    items=st.lists(CONDITIONS, max_size=9).map(
        lambda items: tuple(Item(str(number), own) for number, own in enumerate(items))
    ),
    cluster=st.sampled_from(("", "f", "none")),
    factors=st.sampled_from(({}, {"f": ("x", "y"), "g": ("u", "v")}, {"h": ("x", "y")})),
)


@given(st.lists(st.integers(0, 12)))
def test_the_numbers_of_what_is_repeated_are_told(things):
    hashes = Hashes()
    for thing in things:
        hashes.add(thing)
    assert len(hashes) == len(things)
    assert list(hashes.repeated()) == [
        number for number, thing in enumerate(things) if things.count(thing) > 1
    ]


@settings(deadline=None, max_examples=100)
@given(SUITES)
def test_different_things_with_one_hash_are_no_repetition(suite):
    # The share of repeated words is counted by hashes alone, so CIM-S056 may come or go.
    def faults():
        return [fault for fault in check_suite(suite) if fault.code != "CIM-S056"]

    found = faults()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Hashes, "repeated", lambda self: iter(range(len(self))))
        assert faults() == found

"""An outline tells what a plan holds, and holds next to nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento.answered import requests_pieces
from cimento.answers import requests_table
from cimento.errors import UsageError
from cimento.outline import Outline
from cimento.requests import Context, plan_suite
from cimento.suites.model import Condition, Item, Meta, Prediction, Region, Suite
from cimento.suites.stored import store_items

# Few words, so that sentences recur, in the same regions and in others.
REGIONS = st.lists(
    st.sampled_from(["", "La", "La barca", "barca", "parte.", "\ud800"]), min_size=1, max_size=3
)
FORMULAS = ["(2;%good%) < (2;%bad%)", "(*;%good%) < (1;%bad%)", "(1;%good%) > (3;%other%)"]


@st.composite
def suites(draw):
    items = []
    for number in range(draw(st.integers(0, 6))):
        names = draw(st.lists(st.sampled_from(["good", "bad", "other"]), unique=True, max_size=3))
        conditions = []
        for name in names:
            before = draw(st.sampled_from(["", "Ieri.", "Oggi."]))
            regions = tuple(map(Region, draw(REGIONS)))
            conditions.append(Condition(name, regions, {"before": before} if before else {}))
        items.append(Item(f"i{number}", tuple(conditions)))
    formulas = draw(st.lists(st.sampled_from(FORMULAS), unique=True, max_size=3))
    predictions = tuple(map(Prediction, formulas))
    return Suite(Meta(name="suite"), ("a", "b", "c"), predictions, tuple(items))


@settings(deadline=None)
@given(suites(), st.booleans(), st.sampled_from(["", "before"]), st.booleans())
def test_an_outline_says_what_a_plan_holds(suite, all_tokens, column, on_disk):
    if column and column not in suite.column_names:
        column = ""
    asked = {"all_tokens": all_tokens, "context": Context(column=column)}
    plan = plan_suite(suite, **asked)
    if on_disk:
        suite = Suite(suite.meta, suite.region_names, suite.predictions, store_items(suite.items))
    outline = Outline(suite, **asked)

    for _ in range(2):
        assert tuple(request for request, _ in outline.requests()) == plan.requests
        assert list(outline.asked_places()) == list(plan.asked_places())
    assert len(outline) == len(plan.requests)
    assert outline.suite == plan.suite
    firsts = {}
    for place in plan.places:
        firsts.setdefault(place.request, place)
    for request, place in outline.requests():
        assert firsts.get(request.id, place) == place
    # No table can hold half of a character.
    if not any("\ud800" in request.text for request in plan.requests):
        assert requests_pieces(outline).whole().equals(requests_table(plan))


def test_a_missing_column_of_contexts_is_told():
    suite = Suite(Meta(name="suite"), ("a",), (), (Item("1", (Condition("a", (Region("La"),)),)),))
    with pytest.raises(UsageError, match="has no column 'before'"):
        Outline(suite, context=Context(column="before"))

"""Recordings answer requests from tables, by item and condition."""

from __future__ import annotations

import polars as pl
import pytest

from cimento import InputError
from cimento.engine.requests import NO_ANSWERS, Recording
from cimento.io.tables import CHOICES, FILLS, REQUESTS
from cimento.models.base import ModelCard
from cimento.paradigms import Choose, Fill, Requests

CARD = ModelCard(name="somebody", kind="replay", revision="0123456789", tokenizer="")
BLANKS = (Fill(before="La lampada è ", after="."), Fill(before="Le lampade sono ", after="."))


def places(*rows: tuple[int, str]) -> pl.DataFrame:
    """A requests table: number of a request and its item."""
    filled = [(number, "suite", item, "", 1, "", "", 0, 0, True) for number, item in rows]
    return pl.DataFrame(filled, schema=REQUESTS.polars(), orient="row")


def recording(*rows: tuple[str, int, str]) -> Recording:
    """Candidates by item, rank and text."""
    table = pl.DataFrame(
        [(item, "", rank, text, -0.5, None, "word") for item, rank, text in rows],
        schema={"item": pl.String(), "condition": pl.String()}
        | {name: kind for name, kind in FILLS.polars().items() if name != "request"},
        orient="row",
    )
    return Recording(card=CARD, tables={"fills": table})


def test_requests_are_answered_by_the_items_that_they_are_for():
    recorded = recording(("b", 1, "accese"), ("a", 1, "accesa"), ("b", 2, "spente"))
    asked = Requests(asked=BLANKS, places=places((0, "a"), (1, "b")))
    fills = recorded.answer(asked).table("fills")
    assert fills.select("request", "rank", "candidate").rows() == [
        (0, 1, "accesa"), (1, 1, "accese"), (1, 2, "spente")
    ]  # fmt: skip
    assert fills.schema == FILLS.polars()
    assert recorded.label == "somebody@0123456"


def test_a_later_round_is_numbered_on_in_its_places():
    recorded = recording(("a", 1, "accesa"), ("b", 1, "accese"))
    first = recorded.answer(Requests(asked=BLANKS[:1], places=places((0, "a"))))
    asked = Requests(asked=BLANKS[1:], places=places((1, "b")))
    both = NO_ANSWERS.joined(first).joined(recorded.answer(asked, first=first.n))
    assert both.table("fills")["request"].to_list() == [0, 1]
    assert both.table("fills")["candidate"].to_list() == ["accesa", "accese"]


def test_an_item_that_was_not_recorded_is_named():
    recorded = recording(("a", 1, "accesa"))
    asked = Requests(asked=BLANKS, places=places((0, "a"), (1, "b")))
    with pytest.raises(InputError, match="it has no answer for item 'b'"):
        recorded.answer(asked)
    choice = Choose(prompt="La lampada è", options=(" accesa",))
    with pytest.raises(InputError, match="no answer for item 'a'"):
        recorded.answer(Requests(asked=(choice,), places=places((0, "a"))))
    assert CHOICES.name not in recorded.recorded


def test_items_of_one_text_have_the_same_answer():
    asked = Requests(asked=BLANKS[:1], places=places((0, "a"), (0, "b")))
    same = recording(("a", 1, "accesa"), ("b", 1, "accesa"))
    assert same.answer(asked).table("fills").height == 1
    other = recording(("a", 1, "accesa"), ("b", 1, "spenta"))
    with pytest.raises(InputError, match="item 'b' has another answer than item 'a'"):
        other.answer(asked)

"""From regions to sentences, and from predictions to what is asked of a model."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import Condition, Item, Meta, Prediction, Region, Suite
from cimento.paradigms.regions.requests import region_requests
from cimento.suites.stimuli import join_regions

WORDS = st.text(alphabet="abcèрий'.,", min_size=0, max_size=6)
REGIONS = st.lists(st.builds(Region, text=WORDS, glued=st.booleans()), min_size=1, max_size=7)


def regions(text: str) -> list[Region]:
    """Regions from a short notation: ``a | b`` joined by a blank, ``a|b`` by nothing."""
    made = []
    for number, piece in enumerate(text.split("|")):
        made.append(Region(piece.strip(), glued=number > 0 and not piece.startswith(" ")))
    return made


def make_suite(formula: str, *texts: dict[str, str]) -> Suite:
    """A suite of one prediction whose items map conditions to texts."""
    items = tuple(
        Item(
            id=str(number),
            conditions=tuple(
                Condition(name, tuple(regions(text))) for name, text in conditions.items()
            ),
        )
        for number, conditions in enumerate(texts, start=1)
    )
    predictions = (Prediction(formula),) if formula else ()
    return Suite(
        meta=Meta(name="test"), region_names=("a", "b", "c"), predictions=predictions, items=items
    )


def test_regions_are_joined_by_one_blank():
    assert join_regions(regions("Le lampade | erano | accese.")) == (
        "Le lampade erano accese.",
        [(0, 10), (11, 16), (17, 24)],
    )


def test_a_glued_region_follows_without_a_blank():
    assert join_regions(regions("Vedo l'|uomo | alto.")) == (
        "Vedo l'uomo alto.",
        [(0, 7), (7, 11), (12, 17)],
    )


def test_an_empty_region_adds_no_blank_and_stands_at_the_next_one():
    assert join_regions(regions("Chi |  | arriva")) == ("Chi arriva", [(0, 3), (4, 4), (4, 10)])
    assert join_regions(regions("| Piove")) == ("Piove", [(0, 0), (0, 5)])
    assert join_regions(regions("Piove | ")) == ("Piove", [(0, 5), (5, 5)])


def test_detok_takes_the_blank_before_a_mark_away():
    text, spans = join_regions(regions("Piove , dice | ."), rule="detok")

    assert text == "Piove, dice."
    assert spans == [(0, 11), (11, 12)]


@settings(deadline=None)
@given(REGIONS)
def test_every_span_holds_its_region(made):
    text, spans = join_regions(made)

    assert [text[start:end] for start, end in spans] == [region.text.strip() for region in made]
    assert [start for start, _ in spans] == sorted(start for start, _ in spans)
    assert text == text.strip()


def test_only_regions_that_predictions_name_are_asked_for():
    suite = make_suite(
        "(2;%match%) < (2;%mismatch%)",
        {"match": "Le lampade | erano | accese.", "mismatch": "Le lampade | era | accese."},
    )

    plan = region_requests(suite)

    assert [request.wanted for request in plan.asked] == [((11, 16),), ((11, 14),)]
    assert plan.places["needed"].to_list() == [False, True, False] * 2


def test_a_star_asks_for_the_whole_sentence_of_its_condition_only():
    suite = make_suite("(*;%a%) < (1;%b%)", {"a": "Piove | forte.", "b": "Nevica | forte."})

    first, second = region_requests(suite).asked

    assert first.wanted == ((0, 5), (6, 12))
    assert second.wanted == ((0, 6),)


def test_a_text_that_occurs_twice_is_asked_once_for_all_that_is_needed():
    suite = make_suite("(1;%a%) < (2;%b%)", {"a": "Piove | forte.", "b": "Piove | forte."})

    plan = region_requests(suite)

    assert [request.wanted for request in plan.asked] == [((0, 5), (6, 12))]
    assert set(plan.places["request"]) == {0}


def test_all_tokens_and_suites_without_predictions_ask_for_everything():
    texts = {"a": "Piove | forte.", "b": "Nevica | forte."}

    assert {r.wanted for r in region_requests(make_suite("", texts)).asked} == {None}
    asked = region_requests(make_suite("(1;%a%) < (1;%b%)", texts), all_tokens=True)
    assert {request.wanted for request in asked.asked} == {None}

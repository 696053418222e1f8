"""Token strips: the text's own characters, each with the surprisal of what covers it."""

from __future__ import annotations

import math

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento.io.tables import TOKENS
from cimento.report.strips import Stretch, StripToken, merge_tokens, read_tokens, strip


def cut(text, stretches, tokens):
    return strip("c", text, stretches=stretches, tokens=tokens)


def shown(result):
    return [[piece.text for piece in region.pieces] for region in result.regions]


def test_bytes_of_one_character_become_one_piece_with_their_sum():
    tokens = [StripToken("Ã", 0, 1, 3.0), StripToken("¨", 0, 1, 0.5), StripToken("Ġora", 2, 5, 2.0)]
    result = cut("è ora", [Stretch(1, 0, 5, needed=True)], tokens)
    assert shown(result) == [["è", " ", "ora"]]
    assert [p.surprisal_bits for p in result.regions[0].pieces] == [3.5, None, 2.0]


def test_a_part_without_a_score_leaves_the_whole_without():
    [piece] = merge_tokens([StripToken("a", 0, 2, 1.0), StripToken("b", 1, 2, None, "NaN")])
    assert (piece.surprisal_bits, piece.reason) == (None, "NaN")


def test_text_that_no_token_covers_is_shown_and_was_not_asked():
    stretches = [Stretch(1, 0, 2, needed=False), Stretch(2, 3, 8, needed=True)]
    result = cut("Il gatto", stretches, [StripToken("gatto", 3, 8, 4.0)])
    assert shown(result) == [["Il "], ["gatto"]]
    assert [p.asked for region in result.regions for p in region.pieces] == [False, True]


def test_a_token_over_a_border_stands_in_the_region_where_it_begins():
    stretches = [Stretch(1, 0, 2, needed=False), Stretch(2, 2, 6, needed=True)]
    result = cut("l'uomo", stretches, [StripToken("l'uo", 0, 4, 1.0), StripToken("mo", 4, 6, 2.0)])
    assert shown(result) == [["l'uo"], ["mo"]]


def test_an_empty_region_has_no_piece_and_keeps_its_place():
    stretches = [
        Stretch(1, 0, 3, needed=False),
        Stretch(2, 4, 4, needed=True),
        Stretch(3, 4, 10, needed=False),
    ]
    tokens = [StripToken("Chi", 0, 3, 1.0), StripToken("arriva", 4, 10, 1.0)]
    assert shown(cut("Chi arriva", stretches, tokens)) == [["Chi", " "], [], ["arriva"]]


def test_a_source_that_names_regions_is_believed_and_its_special_tokens_are_shown():
    stretches = [Stretch(1, 0, 2, needed=True), Stretch(2, 3, 5, needed=True)]
    tokens = [StripToken("Il", 0, 2, 1.0, region=1), StripToken("su", 3, 5, 2.0, region=2)]
    tokens.append(StripToken("<eos>", -1, -1, 0.5, region=2))
    assert shown(cut("Il su", stretches, tokens)) == [["Il", " "], ["su", "<eos>"]]


def test_special_tokens_of_a_model_are_not_shown():
    tokens = [StripToken("<s>", -1, -1, None, "special"), StripToken("Il", 0, 2, 1.0)]
    assert shown(cut("Il", [Stretch(1, 0, 2, needed=True)], tokens)) == [["Il"]]


def test_a_token_that_is_only_a_blank_can_be_seen():
    tokens = [StripToken("▁", 0, 0, 1.0), StripToken("Il", 0, 2, 1.0)]
    assert shown(cut("Il", [Stretch(1, 0, 2, needed=True)], tokens)) == [["␣", "Il"]]


@st.composite
def stimuli(draw):
    """A text, its regions and tokens that cover some of its words, whole or in parts."""
    words = draw(st.lists(st.text("abcèж'", min_size=1, max_size=5), min_size=1, max_size=8))
    text, stretches, tokens = "", [], []
    for number, word in enumerate(words, 1):
        start = len(text) + 1 if text else 0
        text = f"{text} {word}" if text else word
        stretches.append(Stretch(number, start, len(text), needed=draw(st.booleans())))
        if draw(st.booleans()):
            middle = draw(st.integers(start, len(text) - 1))
            value = draw(st.floats(0, 30))
            tokens.append(StripToken("x", start, middle + 1, value))
            tokens.append(StripToken("y", middle, len(text), value))
    return text, stretches, tokens


@settings(deadline=None)
@given(stimuli())
def test_a_strip_shows_every_character_once_and_every_bit(stimulus):
    text, stretches, tokens = stimulus
    pieces = [p for region in cut(*stimulus).regions for p in region.pieces]
    assert "".join(piece.text for piece in pieces) == text
    bits = [piece.surprisal_bits for piece in pieces if piece.surprisal_bits is not None]
    assert math.isclose(
        math.fsum(bits), math.fsum(token.surprisal_bits for token in tokens), abs_tol=1e-9
    )
    assert len(cut(text, stretches, tokens).regions) == len(stretches)


def table(*rows, **extra):
    frame = pl.DataFrame(rows, schema=TOKENS.polars(), orient="row")
    return frame.with_columns(**extra)


def test_rows_are_read_in_token_order_and_nats_become_bits():
    frame = table(
        (7, 1, "b", 0, 1, 2, -math.log(8), None),
        (7, 0, "a", 0, 0, 1, None, "first token without left context"),
    )
    first, second = read_tokens(frame)[7]
    assert (first.text, first.surprisal_bits) == ("a", None)
    assert first.reason == "first token without left context"
    assert second.surprisal_bits == pytest.approx(3)


def test_recorded_bits_are_taken_as_they_are():
    frame = table(
        (0, 0, "a", None, None, None, -1.0, None),
        region=pl.lit(2, pl.Int32),
        surprisal_bits=pl.lit(1.25),
    )
    [token] = read_tokens(frame)[0]
    assert (token.surprisal_bits, token.region, token.start) == (1.25, 2, -1)

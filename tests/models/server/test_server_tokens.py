"""Tokens that a server names are matched with the characters of the text."""

from __future__ import annotations

from itertools import cycle, pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cimento.models.server.spelling import token_starts

GENERATED = " and"
TEXTS = st.text(alphabet="aè ж日😀.'", min_size=1, max_size=14).filter(lambda t: t == t.strip())


def split_at(content, cuts):
    """Pieces of something, cut at places."""
    edges = [0, *cuts, len(content)]
    return [content[low:high] for low, high in pairwise(edges)]


@st.composite
def texts_in_characters(draw):
    """A text and tokens of whole characters."""
    text = draw(TEXTS)
    cuts = draw(st.sets(st.integers(1, max(len(text) - 1, 1)), max_size=len(text) - 1))
    return text, [token for token in split_at(text, sorted(cuts)) if token]


@st.composite
def texts_in_bytes(draw):
    """A text and tokens that may be parts of characters, as bytes."""
    text = draw(TEXTS)
    content = text.encode()
    cuts = draw(st.sets(st.integers(1, max(len(content) - 1, 1)), max_size=len(content) - 1))
    return text, [token for token in split_at(content, sorted(cuts)) if token]


def starts_of(tokens):
    """Where tokens begin that follow one another, in bytes."""
    sizes = [len(token if isinstance(token, bytes) else token.encode()) for token in tokens]
    return [sum(sizes[:i]) for i in range(len(sizes))]


@settings(deadline=None)
@given(texts_in_characters())
def test_tokens_of_whole_characters_are_placed_exactly(case):
    text, tokens = case

    assert token_starts(text, [*tokens, GENERATED]) == starts_of(tokens)


@settings(deadline=None)
@given(texts_in_characters(), st.sampled_from(["<s>", "<|endoftext|>", "[CLS]", "<bos>"]))
def test_a_special_token_before_the_text_is_none_of_its_own(case, special):
    text, tokens = case

    assert token_starts(text, [special, *tokens, GENERATED]) == [None, *starts_of(tokens)]


@settings(deadline=None)
@given(texts_in_bytes())
def test_tokens_spelled_in_bytes_are_placed_exactly(case):
    text, tokens = case
    spelled = ["bytes:" + "".join(rf"\x{byte:02x}" for byte in token) for token in tokens]

    assert token_starts(text, [*spelled, GENERATED]) == starts_of(tokens)


@settings(deadline=None)
@given(texts_in_bytes(), st.sampled_from(["replace", "ignore"]))
def test_parts_of_characters_are_all_placed_in_order(case, errors):
    text, tokens = case
    named = [token.decode(errors=errors) for token in tokens]

    starts = token_starts(text, [*named, GENERATED], prompt_tokens=len(named))

    assert starts is not None
    assert len(starts) == len(tokens)
    assert starts[0] == 0
    assert all(one < other for one, other in pairwise(starts))


@settings(deadline=None)
@given(texts_in_characters(), st.booleans())
def test_offsets_place_tokens_in_characters_or_bytes(case, in_bytes):
    text, tokens = case
    lengths = [len(token.encode() if in_bytes else token) for token in tokens]
    offsets = [sum(lengths[:i]) for i in range(len(lengths) + 1)]
    # Strings that say nothing: ids, as some servers write them.
    named = [f"token_id:{i}" for i in range(len(offsets))]

    assert token_starts(text, named, offsets=offsets) == starts_of(tokens)


@pytest.mark.parametrize(
    ("tokens", "starts"),
    [
        # One character in three tokens: replaced, left out, or told with the last.
        (["a", " ", "\ufffd", "\ufffd", "\ufffd", " b"], 6),
        (["a", " \ufffd", "\ufffd", "\ufffd", " b"], 5),
        (["a", " ", "", "", "", " b"], 6),
        (["a", " ", "", "", "😀", " b"], 6),
        (["a", " ", "\ud83d", "\ude00", " b"], 5),
        # The bytes themselves, as OpenAI and SentencePiece write them.
        (["a", r"bytes: \xf0\x9f", r"bytes:\x98\x80", " b"], 4),
        (["a", "▁", "<0xF0>", "<0x9F>", "<0x98>", "<0x80>", "▁b"], 7),
    ],
)
def test_a_character_in_several_tokens_belongs_to_each(tokens, starts):
    text = "a 😀 b"

    places = token_starts(text, [*tokens, GENERATED])

    assert len(places) == starts
    # All begin within the emoji's four bytes or with the blank before it, but the first and last.
    assert places[0] == 0
    assert places[-1] == 6
    assert all(1 <= start <= 5 for start in places[1:-1])


@pytest.mark.parametrize(
    ("tokens", "starts"),
    [
        (["▁The", "▁old", "▁cat"], [0, 3, 7]),
        ([" The", " old", " cat"], [0, 3, 7]),
        (["The", "old", "cat"], [0, 3, 7]),
        (["<s>", "The", "old", "cat"], [None, 0, 3, 7]),
        (["", "The", " old", " cat"], [None, 0, 3, 7]),
        (["<s>", "▁", "The", " old", " cat"], [None, 0, 0, 3, 7]),
        (["The", " ", "old", " cat"], [0, 3, 4, 7]),
        (["The", "", "old", " cat"], [0, 3, 4, 7]),
    ],
)
def test_blanks_that_a_tokenizer_adds_or_its_strings_lose_change_nothing(tokens, starts):
    assert token_starts("The old cat", [*tokens, GENERATED]) == starts


def test_a_text_that_the_server_ends_at_has_no_generated_token():
    assert token_starts("The cat", ["The", " cat"]) == [0, 3]


def test_what_a_server_says_about_the_number_of_tokens_decides_where_a_text_ends():
    # With or without the last empty string the four bytes of the emoji can be spelled.
    tokens = ["", "", "", ""]

    assert len(token_starts("😀", tokens, prompt_tokens=4)) == 4
    assert len(token_starts("😀", tokens, prompt_tokens=3)) == 3
    assert len(token_starts("😀", tokens)) == 3


@pytest.mark.parametrize(
    "tokens",
    [
        ["the", " cat", "x"],
        ["The", " dog", "x"],
        ["The", "x"],
        [],
        ["You", " are", " a", " bot", ".", "The", " cat", "x"],
    ],
)
def test_tokens_of_another_text_fit_nowhere(tokens):
    assert token_starts("The cat", tokens) is None


@settings(deadline=None)
@given(texts_in_characters(), st.integers(0, 13), st.sampled_from("xЖ字"))
def test_offsets_do_not_make_tokens_of_another_text_fit(case, place, letter):
    text, tokens = case
    other = text[: place % len(text)] + letter + text[place % len(text) + 1 :]
    assume(other.casefold() != text.casefold())
    lengths = [len(token) for token in tokens]
    offsets = [sum(lengths[:i]) for i in range(len(lengths) + 1)]

    # The letter is in no text, and so none of these is the other in other capitals.
    assert token_starts(other, [*tokens, GENERATED], offsets=offsets) is None
    assert token_starts(other, [*tokens, GENERATED], offsets=offsets, recased=True) is None


@settings(deadline=None)
@given(texts_in_characters(), st.sampled_from([str.upper, str.lower, str.title]))
def test_capitals_are_put_aside_where_that_is_asked_for(case, change):
    text, tokens = case
    changed = [token if len(change(token)) != len(token) else change(token) for token in tokens]

    starts = token_starts(text, [*changed, GENERATED], recased=True)

    assert starts == starts_of(tokens)


@pytest.mark.parametrize(
    ("text", "tokens", "starts"),
    [
        # Letters that take another number of bytes in the other case.
        ("İstanbul", ["i̇s", "tanbul"], [0, 3]),
        ("STRASSE", ["straße"], [0]),
        ("ẞ ist groß", ["ß", " ist", " groß"], [0, 3, 7]),
        ("\u212a2", ["k", "2"], [0, 3]),
        # The alphabet of byte-level tokenizers: à is C3 A0, there spelled Ã and ł.
        ("La città", ["La", "ĠcittÃł"], [0, 2]),
        ("La Città", ["la", "ĠcittÃ", "ł"], [0, 2, 8]),
    ],
)
def test_places_are_those_of_the_text_as_it_was_sent(text, tokens, starts):
    assert token_starts(text, [*tokens, GENERATED], recased=True) == starts


@pytest.mark.parametrize(
    "offsets",
    [[], [0, 3], [0, 9, 6], [0, 2, 99], [1, 3, 6], [0, -1, 6], [3, 0, 6]],
)
def test_offsets_that_do_not_end_with_the_text_are_not_believed(offsets):
    named = [f"token_id:{i}" for i in range(len(offsets))]

    assert token_starts("è così"[:6], named, offsets=offsets) is None


@pytest.mark.parametrize("offsets", [[0, 1, 2, 2, 2, 3, 5], [0, 1, 2, 2, 2, 6, 8]])
def test_offsets_of_the_parts_of_one_character_are_told_apart(offsets):
    # In characters, as llama-cpp-python counts, and in bytes.
    named = [f"token_id:{i}" for i in range(len(offsets))]

    assert token_starts("a 😀 b", named, offsets=offsets) == [0, 1, 2, 3, 4, 6]


def test_a_long_text_of_broken_characters_is_matched():
    words = zip(range(80), cycle(["жж", "ш", "дядя", "яяя"]), strict=False)
    text = " ".join(word for _, word in words)
    tokens = [bytes([byte]).decode(errors="replace") for byte in text.encode()]

    starts = token_starts(text, [*tokens, GENERATED])

    assert starts == list(range(len(text.encode())))

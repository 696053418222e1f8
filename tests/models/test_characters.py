"""Characters of many texts at once, as of each by itself; tokens found by their bytes alone."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import (
    ByT5Tokenizer,
    GPT2Config,
    GPT2LMHeadModel,
    T5Config,
    T5ForConditionalGeneration,
)

from cimento import ModelError, evaluate, pairs
from cimento.models.characters import (
    Characters,
    byte_offsets,
    containing,
    tokens_in,
    trim_spans,
)
from cimento.models.tokenizing import tokenized
from cimento.suites.stimuli import word_spans

TEXTS = st.lists(st.text("aB1 \t\u00a0,.'\u20ac\u00b2\u4e2d\U0001f600", max_size=12), max_size=5)
SPAN = st.tuples(st.integers(0, 12), st.integers(0, 12)).map(sorted)


@st.composite
def with_tokens(draw):
    """Texts, and spans in each of them."""
    texts = draw(TEXTS)
    spans = [draw(st.lists(SPAN, max_size=6)) for _ in texts]
    return texts, [
        [(min(low, len(text)), min(high, len(text))) for low, high in text_spans]
        for text, text_spans in zip(texts, spans, strict=True)
    ]


def columns(spans):
    """Number of the text, first and last character of spans."""
    flat = [(number, *span) for number, text_spans in enumerate(spans) for span in text_spans]
    return np.array(flat, dtype=np.int64).reshape(-1, 3).T


@settings(deadline=None)
@given(with_tokens())
def test_tokens_are_trimmed_as_in_one_text(case):
    texts, spans = case
    first, last = Characters.of(texts).trimmed(*columns(spans))
    expected = [
        span
        for text, text_spans in zip(texts, spans, strict=True)
        for span in trim_spans(text, text_spans)
    ]
    assert list(zip(first.tolist(), last.tolist(), strict=True)) == expected


@settings(deadline=None)
@given(with_tokens(), st.sampled_from(["split", "keep"]))
def test_tokens_are_in_the_words_that_they_are_in_in_one_text(case, punctuation):
    texts, spans = case
    text, start, _ = columns(spans)
    characters = Characters.of(texts)
    numbers = characters.containing(characters.word_begins(punctuation), text, start)
    words = [word_spans(text, punctuation=punctuation) for text in texts]
    expected = [
        containing(words[number], begin)
        for number, begin in zip(text.tolist(), start.tolist(), strict=True)
    ]
    assert numbers.tolist() == expected


@settings(deadline=None)
@given(with_tokens(), st.data())
def test_tokens_are_wanted_that_are_wanted_in_one_text(case, data):
    texts, spans = case
    wanted = []
    for text in texts:
        edges = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=4)))
        wanted.append(list(zip(edges[::2], edges[1::2], strict=False)))
    characters = Characters.of(texts)
    first, last = characters.trimmed(*columns(spans))
    inside = characters.inside(wanted, columns(spans)[0], first, last).tolist()
    for text, text_spans, some in zip(texts, spans, wanted, strict=True):
        trimmed = trim_spans(text, text_spans)
        chosen = set(tokens_in(trimmed, some))
        assert inside[: len(text_spans)] == [index in chosen for index in range(len(text_spans))]
        del inside[: len(text_spans)]


def test_regions_begin_where_they_are_said_to():
    characters = Characters.of(["ab cd", "", "e"])
    begins = characters.begins_at([[0, 3], [], [0]])
    text, start = np.array([0, 0, 2]), np.array([2, 4, 0])
    assert characters.containing(begins, text, start).tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("text", "tokens", "spans"),
    [
        ("è q", ["Ã", "¨", " ", "q"], [(0, 1), (0, 1), (1, 2), (2, 3)]),
        ("caffè", ["ca", "ffÃ", "¨"], [(0, 2), (2, 5), (4, 5)]),
        ("un po'", ["▁un", "▁po", "'"], [(0, 2), (3, 5), (5, 6)]),
        ("単語と犬", ["単語", "##と", "犬"], [(0, 2), (2, 3), (3, 4)]),
        ("low est", ["low</w>", "es@@", "t"], [(0, 3), (4, 6), (6, 7)]),
        ("a é", ["a", "<0xC3>", "<0xA9>"], [(0, 1), (2, 3), (2, 3)]),
        ("犬と猫", ["犬", "[UNK]", "猫"], [(0, 1), (1, 2), (2, 3)]),
        ("", [], []),
    ],
)
def test_tokens_stand_where_their_bytes_do(text, tokens, spans):
    assert byte_offsets(text, tokens, unknown="[UNK]") == spans


@pytest.mark.parametrize(
    ("text", "tokens"), [("abc", ["a", "c"]), ("abc", ["a", "b"]), ("a", ["[UNK]", "b"])]
)
def test_tokens_that_do_not_add_up_to_the_text_have_no_offsets(text, tokens):
    assert byte_offsets(text, tokens) is None


@given(st.text(alphabet="aè犬🐕 \u0e01'", max_size=20))
def test_byte_tokens_have_the_offsets_of_their_characters(text):
    """The characters are counted by hand: each has as many tokens as UTF-8 gives it bytes."""
    tokens = [chr(octet) for octet in text.encode()]
    expected = [(place, place + 1) for place, letter in enumerate(text) for _ in letter.encode()]
    assert byte_offsets(text, tokens) == expected


GPT2 = {"vocab_size": 384, "n_embd": 16, "n_layer": 1, "n_head": 2, "n_positions": 128}
T5 = {"vocab_size": 384, "d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 1, "num_heads": 2}

SUITE = pairs([("Il caffè è buono.", "Il caffè sono buono.")], name="bytes", language="it")


def test_a_causal_model_of_bytes_is_scored_as_by_torch():
    torch.manual_seed(3)
    model = GPT2LMHeadModel(GPT2Config(**GPT2, eos_token_id=1, bos_token_id=1)).eval()
    tokenizer = ByT5Tokenizer()
    run = evaluate(SUITE, model, tokenizer=tokenizer)
    tokens = run.table("tokens").filter(run.table("tokens")["request"] == 0)
    text = "Il caffè è buono."
    ids = [1, *(octet + 3 for octet in text.encode())]
    with torch.no_grad():
        logits = model(torch.tensor([ids])).logits[0].double().log_softmax(-1)
    expected = [logits[place, number].item() for place, number in enumerate(ids[1:])]
    assert tokens["logprob_nats"].to_list() == pytest.approx(expected, abs=1e-5)
    assert len(expected) == len(text.encode())


def test_byt5_is_scored():
    torch.manual_seed(3)
    config = T5Config(**T5, decoder_start_token_id=0, tie_word_embeddings=False)
    run = evaluate(SUITE, T5ForConditionalGeneration(config).eval(), tokenizer=ByT5Tokenizer())
    assert all(map(math.isfinite, run.table("tokens")["logprob_nats"].drop_nulls().to_list()))


def test_a_model_of_bytes_is_loaded_from_a_folder_as_from_memory(tmp_path):
    torch.manual_seed(3)
    model = GPT2LMHeadModel(GPT2Config(**GPT2, eos_token_id=1, bos_token_id=1)).eval()
    model.save_pretrained(tmp_path)
    ByT5Tokenizer().save_pretrained(tmp_path)
    stored = evaluate(SUITE, str(tmp_path))
    held = evaluate(SUITE, model, tokenizer=ByT5Tokenizer())
    columns = ["token", "start", "logprob_nats"]
    assert stored.table("tokens")[columns].equals(held.table("tokens")[columns])


def test_a_tokenizer_whose_tokens_are_not_in_the_text_is_told():
    odd = ByT5Tokenizer()
    odd.convert_ids_to_tokens = lambda ids: ["x" for _ in ids]
    with pytest.raises(ModelError, match=r"no character offsets.*do not add up to 'Il cane'"):
        tokenized(["Il cane"], odd)

"""Tokenizers without offsets: tokens found by their bytes, and models scored with them."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import (
    ByT5Tokenizer,
    GPT2Config,
    GPT2LMHeadModel,
    T5Config,
    T5ForConditionalGeneration,
)

from cimento import ModelError, evaluate, pairs
from cimento.models.characters import byte_offsets
from cimento.models.tokenizing import tokenized


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

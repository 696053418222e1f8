"""A model of two layers whose mechanism is known: one head copies, and nothing else does anything.

Its words are two subjects (``cat``, ``cats``), two verbs (``runs``, ``run``) and others. In the
second layer, the second head of every position looks at the subject and copies its number into the
residual stream, where the head of the model reads it off as the verb that agrees. All other weights
are zero.
"""

from __future__ import annotations

from pathlib import Path

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

BEGIN = "<s>"
WORDS = (BEGIN, "the", "cat", "cats", "here", "often", "runs", "run", "fast")
SINGULAR, PLURAL = "cat", "cats"
_SUBJECT, _ONE, _MANY, _COPIED_ONE, _COPIED_MANY = range(5)
_WIDTH, _HEADS = 16, 2
LAYER, HEAD = 2, 1
"""The layer, from 1, and the head, from 0, that copy."""


def save(folder: Path) -> Path:
    """Write the model and its tokenizer as a folder."""
    model().save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return folder


def tokenizer() -> PreTrainedTokenizerFast:
    """A tokenizer with a token for each word."""
    plain = Tokenizer(models.WordLevel({word: n for n, word in enumerate(WORDS)}, unk_token=BEGIN))
    plain.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=plain, bos_token=BEGIN, eos_token=BEGIN)


def model() -> GPT2LMHeadModel:
    """The model with its weights."""
    config = GPT2Config(
        vocab_size=len(WORDS), n_positions=32, n_embd=_WIDTH, n_layer=2, n_head=_HEADS,
        bos_token_id=0, eos_token_id=0, tie_word_embeddings=False,
    )  # fmt: skip
    made = GPT2LMHeadModel(config).eval()
    state = made.state_dict()
    with torch.no_grad():
        for name, weight in state.items():
            weight.fill_(1.0 if ".ln_" in name and name.endswith("weight") else 0.0)
        for number, word in enumerate(WORDS):
            vector = state["transformer.wte.weight"][number]
            vector[8 + number % 8] = 3.0  # every word has a mark of its own
            if word in (SINGULAR, PLURAL):
                vector[_SUBJECT] = 3.0
                vector[_ONE if word == SINGULAR else _MANY] = 3.0
        # Columns of c_attn: queries, keys, values; each with one stretch of 8 for each head.
        attention = "transformer.h.1.attn."
        size = _WIDTH // _HEADS
        state[attention + "c_attn.bias"][HEAD * size] = 10.0  # every position asks ...
        state[attention + "c_attn.weight"][_SUBJECT, _WIDTH + HEAD * size] = 10.0  # for subjects
        for number in (_ONE, _MANY):
            values = 2 * _WIDTH + HEAD * size
            state[attention + "c_attn.weight"][number, values + number] = 1.0
            copied = _COPIED_ONE if number == _ONE else _COPIED_MANY
            state[attention + "c_proj.weight"][HEAD * size + number, copied] = 4.0
        state["lm_head.weight"][WORDS.index("runs"), _COPIED_ONE] = 5.0
        state["lm_head.weight"][WORDS.index("run"), _COPIED_MANY] = 5.0
    return made

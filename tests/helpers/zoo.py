"""Tiny random models of every kind, made in the tests; their tokenizers are in `zoo_tokenizers`.

Weights come from numpy's generator, seeded by each parameter's name, so that a model is the same
whatever the order in which a library initializes it. They are large enough that every prediction
depends on the whole context. To add an architecture, add a line to `SPECIES`.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoModelForSeq2SeqLM,
    PreTrainedModel,
)

from tests.helpers.zoo_tokenizers import SENTENCES, TOKENIZERS, tokenizer

__all__ = ["SENTENCES", "TOKENIZERS", "tokenizer"]

WINDOW = 160
SEED = 20240607

# The models are so small that threads would only wait for each other.
torch.set_num_threads(1)


@dataclass(frozen=True)
class Species:
    """An architecture, as small as it can be.

    Attributes:
        tokenizer: the kind of tokenizer it is saved with.
        config: what differs from `_SMALL`; None takes a setting away.
        type: its `model_type` in transformers, where the entry has another name.
        masked: whether it is a masked language model.
    """

    tokenizer: str
    config: Mapping[str, Any] = field(default_factory=dict)
    type: str = ""
    masked: bool = False


_SMALL = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 64,
    "max_position_embeddings": WINDOW,
}
_SLIDING = {"sliding_window": 5, "head_dim": 8}
_NO_GROUPS = {"num_key_value_heads": None}
_UNLIMITED = {"max_position_embeddings": None}


def _masked(tokenizer: str, kind: str = "", **config: Any) -> Species:
    return Species(tokenizer, config=config, type=kind, masked=True)


SPECIES: dict[str, Species] = {
    "gpt2": Species("byte-bpe"),
    "gpt_neo": Species(
        "byte-bpe", {"attention_types": [[["global", "local"], 1]], "window_size": 5}
    ),
    "gpt_neox": Species("byte-bpe-trim"),
    "gptj": Species("byte-bpe-prefix", {"rotary_dim": 4}),
    "opt": Species("byte-bpe-bos", {"word_embed_proj_dim": 32, "ffn_dim": 64}),
    "bloom": Species("byte-bpe-bos"),
    "mpt": Species("no-bos"),
    "falcon": Species("byte-bpe", _NO_GROUPS),
    "falcon-alibi": Species("byte-bpe", {**_NO_GROUPS, "alibi": True}, type="falcon"),
    "llama": Species("bpe-fallback"),
    "llama-bytes": Species("byte-bpe-bos", type="llama"),
    "llama-bare": Species("bare", type="llama"),
    "mistral": Species("bpe-fallback", _SLIDING),
    "mixtral": Species("bpe-fallback", {"num_local_experts": 4, "head_dim": 8}),
    "gemma": Species("gemma", {"head_dim": 8}),
    "gemma2": Species("gemma", _SLIDING),
    "gemma3": Species("gemma", _SLIDING, type="gemma3_text"),
    "qwen2": Species("no-bos"),
    "qwen3": Species("no-bos", {"head_dim": 8}),
    "phi": Species("byte-bpe"),
    "phi3": Species("bpe-fallback", _SLIDING),
    "olmo2": Species("no-bos"),
    "cohere": Species("byte-bpe-bos", {"logit_scale": 1.0}),
    "granite": Species("byte-bpe"),
    "stablelm": Species("byte-bpe"),
    "smollm3": Species("byte-bpe"),
    "glm4": Species("byte-bpe-two", {"head_dim": 8}),
    "mamba": Species("byte-bpe", {"state_size": 8}),
    "falcon_mamba": Species("byte-bpe", {"state_size": 8}),
    "mamba2": Species(
        "byte-bpe",
        {"state_size": 8, "num_heads": 8, "head_dim": 8, "n_groups": 1, "chunk_size": 16},
    ),
    "jamba": Species(
        "byte-bpe",
        {"num_experts": 2, "attn_layer_period": 2, "attn_layer_offset": 1, "mamba_d_state": 8},
    ),
    "recurrent_gemma": Species(
        "gemma",
        {
            "lru_width": 32,
            "attention_window_size": WINDOW,
            "head_dim": 8,
            "block_types": ["recurrent", "attention"],
        },
    ),
    "xlstm": Species(
        "byte-bpe",
        {
            # The config rounds both widths up to a multiple of 64, and the model does not.
            "hidden_size": 64,
            "qk_dim_factor": 1.0,
            "num_heads": 4,
            "num_blocks": 2,
            "chunk_size": 16,
            "autocast_kernel_dtype": "float32",
            "ffn_round_up_to_multiple_of": 8,
        },
    ),
    "rwkv": Species("byte-bpe", {"attention_hidden_size": 32, "context_length": WINDOW}),
    "bert": _masked("wordpiece-uncased"),
    "bert-cased": _masked("wordpiece-cased", "bert"),
    "roberta": _masked("roberta"),
    "camembert": _masked("unigram"),
    "xlm-roberta": _masked("unigram"),
    "electra": _masked("wordpiece-uncased", embedding_size=24),
    "distilbert": _masked("wordpiece-cased", hidden_dim=64),
    "albert": _masked("unigram", embedding_size=24),
    "deberta-v2": _masked(
        "unigram", relative_attention=True, pos_att_type=["c2p", "p2c"], position_buckets=8
    ),
    "modernbert": _masked("roberta", local_attention=6, global_attn_every_n_layers=2),
    "mpnet": _masked("wordpiece-uncased"),
    "eurobert": _masked("roberta"),
}


# T5's positions are relative and have no end; BART's are counted, and its tokenizer begins texts.
_T5_SIZE = {"d_kv": 8, "d_ff": 64, "num_decoder_layers": 2, "decoder_start_token_id": 0}
_BART_SIZE = {
    "encoder_layers": 2, "encoder_attention_heads": 4, "encoder_ffn_dim": 64,
    "decoder_layers": 2, "decoder_attention_heads": 4, "decoder_ffn_dim": 64,
}  # fmt: skip

ENCODER_DECODERS: dict[str, Species] = {
    "t5": Species("unigram-sentinels", {**_T5_SIZE, **_UNLIMITED}),
    "mt5": Species("unigram-sentinels", {**_T5_SIZE, **_UNLIMITED}),
    "switch_transformers": Species(
        "unigram-sentinels", {**_T5_SIZE, **_UNLIMITED, "num_experts": 4}
    ),
    "marian": Species("unigram-sentinels", {**_BART_SIZE, "decoder_start_token_id": 0}),
    "bart": Species("roberta", {**_BART_SIZE, "decoder_start_token_id": 2}),
}


def model(name: str) -> PreTrainedModel:
    """A tiny model with random weights, the same at every call."""
    species = ENCODER_DECODERS.get(name) or SPECIES[name]
    tokens = tokenizer(species.tokenizer)
    special = ("bos_token_id", "eos_token_id", "pad_token_id", "cls_token_id", "sep_token_id")
    settings = {
        **_SMALL,
        **{key: getattr(tokens, key) for key in special},
        "vocab_size": len(tokens),
        **species.config,
    }
    settings = {key: value for key, value in settings.items() if value is not None}
    if "pad_token_id" not in settings:
        settings["pad_token_id"] = 0
    config = AutoConfig.for_model(species.type or name, **settings)
    auto = AutoModelForMaskedLM if species.masked else AutoModelForCausalLM
    if name in ENCODER_DECODERS:
        auto = AutoModelForSeq2SeqLM
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(SEED)
        made = auto.from_config(config).eval()
    fill(made)
    return made


def fill(model: PreTrainedModel, *, scale: float = 0.25, seed: int = SEED) -> None:
    """Give a model its weights: matrices are drawn anew, vectors moved away from where they are."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
            noise = torch.from_numpy(rng.standard_normal(tuple(parameter.shape)))
            # The decay rates of a state-space model are a matrix, but must stay where they are.
            if parameter.dim() > 1 and not name.endswith("A_log"):
                parameter.copy_(scale * noise)
            else:
                parameter.add_(0.1 * noise)


def digest(model: PreTrainedModel) -> str:
    """A hash over the names and values of a model's weights."""
    total = hashlib.sha256()
    for name, parameter in sorted(model.named_parameters()):
        total.update(name.encode())
        total.update(parameter.detach().numpy().tobytes())
    return total.hexdigest()


def save(name: str, folder: Path) -> Path:
    """Write a model and its tokenizer as a Hugging Face folder."""
    model(name).save_pretrained(folder)
    species = ENCODER_DECODERS.get(name) or SPECIES[name]
    tokenizer(species.tokenizer).save_pretrained(folder)
    return folder

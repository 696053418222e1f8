"""Models of real size with random weights, and tokenizers trained on the sentences at hand.

Speed and memory do not depend on what a model has learned. Weights are drawn widely enough
(`initializer_range` 0.05) that every prediction depends on its context, so that equal scores mean
equal computations. Run as a script, for what it allocates to be gone before anything is measured:
``python models.py TEXTS.json FOLDER NAME...``.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from transformers import PretrainedConfig

WANTED = 1.4
"""Tokens for each word, as usual vocabularies have it."""

SPREAD = 0.05
_SIZES = (600, 800, 1000, 1300, 1600, 2000, 2500, 3200, 4000, 5000, 6400, 8000)

NAMES = {
    "gpt2": "GPT-2 small, 30,000 words",
    "bert": "BERT base, 31,102 words",
    "xlmr": "XLM-R base, 250,002 words",
    "llama": "Llama-like, 1 B parameters, 32,000 words",
}
"""The models, with what they are in words."""

_BERT_TOKENS = {
    "pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}  # fmt: skip
_XLMR_TOKENS = {
    "bos_token": "<s>", "eos_token": "</s>", "cls_token": "<s>", "sep_token": "</s>",
    "pad_token": "<pad>", "unk_token": "<unk>", "mask_token": "<mask>",
}  # fmt: skip
_SPECIAL: dict[str, dict[str, str]] = {
    "gpt2": {"bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>"},
    "llama": {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"},
    "bert": _BERT_TOKENS,
    "xlmr": _XLMR_TOKENS,
}
_IDS = {
    "gpt2": ("<|endoftext|>",),
    "llama": ("<unk>", "<s>", "</s>"),
    "bert": ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    "xlmr": ("<s>", "<pad>", "</s>", "<unk>", "<mask>"),
}
"""Special tokens in the order of their ids."""


def _config(name: str) -> PretrainedConfig:
    import transformers

    if name == "gpt2":
        return transformers.GPT2Config(
            vocab_size=30_000, bos_token_id=0, eos_token_id=0, initializer_range=SPREAD
        )
    if name == "bert":
        return transformers.BertConfig(vocab_size=31_102, initializer_range=SPREAD)
    if name == "xlmr":
        return transformers.XLMRobertaConfig(
            vocab_size=250_002,
            max_position_embeddings=514,
            type_vocab_size=1,
            layer_norm_eps=1e-5,
            initializer_range=SPREAD,
        )
    return transformers.LlamaConfig(
        vocab_size=32_000,
        hidden_size=2048,
        intermediate_size=8192,
        num_hidden_layers=16,
        num_attention_heads=32,
        num_key_value_heads=8,
        bos_token_id=1,
        eos_token_id=2,
        initializer_range=SPREAD,
    )


def _untrained(name: str) -> tuple[Tokenizer, Any]:
    """A tokenizer of the model's usual kind, and a trainer's class for it."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers

    specials = [(token, number) for number, token in enumerate(_IDS[name])]
    if name == "bert":
        tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))  # noqa: S106  # a word, not a password
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        around, trainer = "[CLS] $A [SEP]", trainers.WordPieceTrainer
    elif name == "gpt2":
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        around, trainer = "$A", trainers.BpeTrainer
    else:
        tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))  # noqa: S106  # likewise
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        around = "<s> $A </s>" if name == "xlmr" else "<s> $A"
        trainer = trainers.BpeTrainer
    tokenizer.post_processor = processors.TemplateProcessing(single=around, special_tokens=specials)
    return tokenizer, trainer


def train_tokenizer(
    name: str, sentences: Sequence[str], works: Sequence[Sequence[str]]
) -> Tokenizer:
    """The tokenizer of one model, of the size that makes about 1.4 tokens a word.

    Args:
        name: of the model.
        sentences: what it is trained on.
        works: the texts of the works that the model does, which all count the same.
    """
    best: tuple[float, Tokenizer] | None = None
    for size in _SIZES:
        tokenizer, trainer = _untrained(name)
        options = {"vocab_size": size, "special_tokens": list(_IDS[name]), "show_progress": False}
        tokenizer.train_from_iterator(sentences, trainer(**options))
        distance = abs(statistics.fmean(_density(tokenizer, work) for work in works) - WANTED)
        if best is None or distance < best[0]:
            best = (distance, tokenizer)
    assert best is not None  # noqa: S101  # there are sizes
    return best[1]


def _density(tokenizer: Tokenizer, texts: Sequence[str]) -> float:
    """Tokens for each word."""
    encodings = tokenizer.encode_batch(list(texts), add_special_tokens=False)
    return sum(len(encoding.ids) for encoding in encodings) / sum(
        len(text.split()) for text in texts
    )


def build(
    name: str, sentences: Sequence[str], works: Sequence[Sequence[str]], folder: Path
) -> None:
    """Write a model and its tokenizer as every worker loads them."""
    import torch
    import transformers

    torch.manual_seed(0)
    makers: dict[str, Callable[[Any], Any]] = {
        "gpt2": transformers.GPT2LMHeadModel,
        "llama": transformers.LlamaForCausalLM,
        "bert": transformers.BertForMaskedLM,
        "xlmr": transformers.XLMRobertaForMaskedLM,
    }
    makers[name](_config(name)).save_pretrained(folder)
    train_tokenizer(name, sentences, works).save(str(folder / "tokenizer.json"))
    # Written by hand, for versions 4 and 5 of transformers to read the same.
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,
        **_SPECIAL[name],
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")


def main() -> int:
    """Build the models that are named and not there yet."""
    texts = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    for name in sys.argv[3:]:
        folder = Path(sys.argv[2]) / name
        # Written last, so that a folder that has it is whole.
        if not (folder / "tokenizer_config.json").is_file():
            build(name, texts["sentences"], texts["works"][name], folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())

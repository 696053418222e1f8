"""Server programs that are started for the tests, and the tiny random models they serve."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

_WORDS = ("▁Le", "▁lampade", "▁era", "no", "▁accese", ".", *"abcdefghilmnopqrstuvzèà")


@contextmanager
def running(module: Sequence[str], *, ready: str, port: int, attempts: int = 600) -> Iterator[str]:
    """A Python program that serves on a port, from when it answers until the block ends.

    Args:
        module: after ``python -m``.
        ready: path that it answers once it is up.
        port: that it listens to.
        attempts: to reach it, a fifth of a second apart.
    """
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""}
    url = f"http://127.0.0.1:{port}"
    with subprocess.Popen([sys.executable, "-m", *module], env=environment) as program:  # noqa: S603  # ours
        try:
            for _ in range(attempts):
                assert program.poll() is None, "the server ended by itself"
                if _answers(url + ready):
                    break
                time.sleep(0.2)
            yield url + "/v1"
        finally:
            program.terminate()


def free_port() -> int:
    """A port that nothing listens to."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as response:  # noqa: S310  # on loopback
            return bool(response.status == 200)
    except OSError:
        return False


def write_gguf(path: Path, *, bos: bool, width: int = 32, seed: int = 5) -> Path:
    """A Llama with random weights and a SentencePiece vocabulary with a token for every byte."""
    import gguf
    import numpy as np

    pieces = [("<unk>", 0.0), ("<s>", 0.0), ("</s>", 0.0)]
    pieces += [(f"<0x{byte:02X}>", 0.0) for byte in range(256)]
    # SentencePiece joins two pieces at a time, so all beginnings of a word must be there.
    parts = dict.fromkeys(word[:end] for word in _WORDS for end in range(1, len(word) + 1))
    pieces += [(part, float(len(part) - 20)) for part in parts]
    kinds = [gguf.TokenType.UNKNOWN, *[gguf.TokenType.CONTROL] * 2, *[gguf.TokenType.BYTE] * 256]
    kinds += [gguf.TokenType.NORMAL] * len(parts)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(256)
    writer.add_embedding_length(width)
    writer.add_block_count(1)
    writer.add_feed_forward_length(2 * width)
    writer.add_head_count(4)
    writer.add_head_count_kv(4)
    writer.add_rope_dimension_count(width // 4)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(pieces))
    writer.add_tokenizer_model("llama")
    writer.add_token_list([piece for piece, _ in pieces])
    writer.add_token_scores([score for _, score in pieces])
    writer.add_token_types(kinds)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_add_bos_token(bos)
    shapes = {
        "token_embd.weight": (len(pieces), width),
        "output.weight": (len(pieces), width),
        "output_norm.weight": (width,),
        "blk.0.attn_norm.weight": (width,),
        "blk.0.ffn_norm.weight": (width,),
        **{f"blk.0.attn_{part}.weight": (width, width) for part in ("q", "k", "v", "output")},
        **{f"blk.0.ffn_{part}.weight": (2 * width, width) for part in ("gate", "up")},
        "blk.0.ffn_down.weight": (width, 2 * width),
    }
    random = np.random.default_rng(seed)
    for name, shape in shapes.items():
        values = np.ones(shape) if "norm" in name else random.normal(0, 0.5, shape)
        writer.add_tensor(name, values.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def write_transformers_model(folder: Path) -> Path:
    """A GPT-2 with random weights whose tokens are words."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    vocabulary = {word: i for i, word in enumerate(["<s>", "Le", "lampade", "erano", "accese."])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<s>"))  # noqa: S106  # no password
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",  # noqa: S106  # no password
        eos_token="<s>",  # noqa: S106  # no password
    ).save_pretrained(folder)
    config = GPT2Config(
        vocab_size=5, n_positions=64, n_embd=8, n_layer=1, n_head=1, bos_token_id=0, eos_token_id=0
    )
    GPT2LMHeadModel(config).save_pretrained(folder)
    return folder

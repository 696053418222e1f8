"""What a model is like and how it cuts texts, from its files alone: its weights are not loaded."""

from __future__ import annotations

import hashlib
import math
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.io.parsing import parse_json
from cimento.models.base import KindRule, ModelCard, Policy
from cimento.models.config import kind_of, read_config
from cimento.models.encoding import TextEncoder
from cimento.models.loading import load_tokenizer
from cimento.models.locate import Located
from cimento.models.tokenizing import causal_frame, own_frame

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_LENGTH = struct.Struct("<Q")
_MOST_HEADER = 100_000_000
_MOST_AXES = 8
_LARGEST = 1 << 40


@dataclass(frozen=True, slots=True)
class Sized:
    """A model by its files.

    Attributes:
        card: as far as answers are addressed by it.
        encoder: its tokenizer, as it is asked through; None for encoder-decoders.
        tokenizer: itself.
        parameters: how many; None where its files do not tell.
        vocabulary: rows of its head.
    """

    card: ModelCard
    encoder: TextEncoder | None
    tokenizer: PreTrainedTokenizerBase
    parameters: int | None
    vocabulary: int


def size_up(located: Located, *, policy: Policy, kind: KindRule = "auto") -> Sized:
    """Read what there is to know of a model without its weights.

    Raises:
        ModelError: its config or tokenizer cannot be read.
    """
    config = read_config(located)
    chosen = kind_of(located) if kind == "auto" else kind
    tokenizer = load_tokenizer(located)
    inner = config.get("text_config")
    size = (inner if isinstance(inner, dict) else config).get("vocab_size")
    vocabulary = size if isinstance(size, int) else len(tokenizer)
    encoder = None
    if chosen != "seq2seq":
        frame = own_frame(tokenizer) if chosen == "masked" else causal_frame(tokenizer, policy.bos)
        encoder = TextEncoder(
            tokenizer=tokenizer, policy=policy, frame=frame, vocabulary=vocabulary, window=None
        )
    serialized = tokenizer.backend_tokenizer.to_str()
    card = ModelCard(
        name=located.name,
        kind=chosen,
        revision=located.revision,
        tokenizer=hashlib.sha256(serialized.encode()).hexdigest(),
    )
    return Sized(card, encoder, tokenizer, count_parameters(located.folder), vocabulary)


def count_parameters(folder: Path) -> int | None:
    """The numbers in a folder's safetensors files, by their headers; None where there are none."""
    files = sorted(folder.glob("*.safetensors"))
    try:
        return sum(map(_in_file, files)) if files else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, struct.error):
        return None


def _in_file(path: Path) -> int:
    with path.open("rb") as handle:
        (length,) = _LENGTH.unpack(handle.read(_LENGTH.size))
        if length > _MOST_HEADER:
            raise ValueError("no header of a sane length")
        header: dict[str, dict[str, list[int]]] = parse_json(handle.read(length))
    shapes = [each["shape"] for name, each in header.items() if name != "__metadata__"]
    if not all(map(_is_shape, shapes)):
        raise ValueError("no shape of a tensor")
    return sum(map(math.prod, shapes))


def _is_shape(shape: object) -> bool:
    return (
        isinstance(shape, list)
        and len(shape) <= _MOST_AXES
        and all(isinstance(each, int) and 0 <= each <= _LARGEST for each in shape)
    )

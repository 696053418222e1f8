"""Special tokens of a model that are in sentences, by the model's own list.

``The [MASK] sleeps.`` is a blank to a masked model, and ``</s>`` the end of the text to others:
they are read as one token with a meaning of its own, and their probability is not a word's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from cimento.errors import counted

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_SIGN = re.compile(r"[^\w\s.,;:!?'\"()\-–—…«»“”‘’„¡¿%&/*+=°€$£@]|\w_\w|__")
"""What special tokens are made of, and sentences seldom: ``[MASK]``, ``</s>``, ``<|bos|>``."""

_SHORTEST = 3
_SHOWN = 80


def suspicious(texts: Iterable[str]) -> Iterator[str]:
    """The texts that may contain a special token of some model."""
    return (text for text in texts if _SIGN.search(text))


def special_tokens(tokenizer: PreTrainedTokenizerBase) -> list[str]:
    """The special tokens of a tokenizer that no sentence has by chance, the longest first.

    Some models use an exclamation mark or a word as padding; these are read as what they are.
    """
    added = getattr(tokenizer, "added_tokens_decoder", {}).values()
    names = {*map(str, tokenizer.all_special_tokens), *(str(one) for one in added if one.special)}
    marks = [name for name in names if len(name) >= _SHORTEST and _SIGN.search(name)]
    return sorted(marks, key=lambda name: (-len(name), name))


def on_special_tokens(tokenizer: PreTrainedTokenizerBase, texts: Iterable[str]) -> tuple[str, ...]:
    """A note on the texts that contain special tokens of the model; none where none does.

    Args:
        tokenizer: the tokenizer of the model.
        texts: different texts.
    """
    marks = special_tokens(tokenizer)
    found = [(text, mark) for text in texts if (mark := _first(marks, text))]
    if not found:
        return ()
    text, mark = found[0]
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    if tokenizer.convert_tokens_to_ids(mark) in ids:
        read = f"is the token {mark} to the model, and no text"
    else:
        n = len(tokenizer(mark, add_special_tokens=False)["input_ids"])
        read = f"is read as {counted(n, 'ordinary token')}"
    have = counted(len(found), "text contains a special token", "texts contain special tokens")
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
    note = (
        f"{have} of the model: {mark} in {shown!r} {read}. If it is not meant as that, write the"
        " text without it"
    )
    return (note,)


def _first(marks: Iterable[str], text: str) -> str:
    return next((mark for mark in marks if mark in text), "")

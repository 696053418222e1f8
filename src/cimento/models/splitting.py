"""A prompt and what follows it as token ids, and where the one ends and the other begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cimento.errors import ModelError, TextTooLongError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_SHOWN = 60


def split_ids(
    tokenizer: PreTrainedTokenizerBase,
    prompt: str,
    following: str,
    *,
    before: Sequence[int],
    window: int | None,
) -> tuple[list[int], int]:
    """Token ids of a prompt with what follows it, and the number of the prompt's.

    Both are tokenized together, as text is. Where a token would lie across the seam they are
    tokenized apart, for a model that reads the prompt can only go on after it.

    Args:
        tokenizer: a fast tokenizer.
        prompt: may hold special tokens, written out.
        following: what comes after it; not empty.
        before: ids put before the prompt, unless it begins with them.
        window: longest sequence that the model can read.

    Raises:
        TextTooLongError: both are longer than `window`.
        ModelError: the tokenizer makes nothing of what follows.
    """
    ids, spans = _tokens(tokenizer, prompt + following)
    own = sum(end <= len(prompt) for _, end in spans)
    if own < len(ids) and spans[own][0] < len(prompt):
        first, _ = _tokens(tokenizer, prompt)
        second, _ = _tokens(tokenizer, following)
        ids, own = first + second, len(first)
    if list(before) != ids[: len(before)]:
        ids, own = [*before, *ids], own + len(before)
    if own == len(ids):
        raise ModelError(
            where=f"answer {following!r}", seen="the tokenizer makes no token of it", todo=""
        )
    if window is not None and len(ids) > window:
        raise TextTooLongError(
            where=f"prompt that ends in {prompt[-_SHOWN:]!r}",
            seen=f"it makes {len(ids)} tokens with what follows,"
            f" and the model's window holds {window}",
            todo="Ask with fewer examples (--set shots=1), or a model with a longer window.",
        )
    return ids, own


def prompt_ids(
    tokenizer: PreTrainedTokenizerBase, prompt: str, *, before: Sequence[int]
) -> list[int]:
    """Token ids of a prompt alone, as a model reads it before it goes on."""
    ids, _ = _tokens(tokenizer, prompt)
    return ids if list(before) == ids[: len(before)] else [*before, *ids]


def _tokens(
    tokenizer: PreTrainedTokenizerBase, text: str
) -> tuple[list[int], list[tuple[int, int]]]:
    """Ids, and the characters that each token covers."""
    output = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
    return list(output["input_ids"]), list(output["offset_mapping"])

"""Texts longer than a model's window: which part of the text a token is scored in.

Nothing is left out: every token is scored, but not all of them see the whole text. For a causal
model the windows are those that perplexities of long texts are commonly measured in
(https://huggingface.co/docs/transformers/perplexity): they begin at 0, `stride`, 2 * `stride` ...,
and a token is scored in the first one that holds it, so that it sees at least ``window - stride``
tokens before it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from cimento.errors import UsageError
from cimento.models.base import Encoded, ModelCard, Policy

if TYPE_CHECKING:
    from cimento.models.base import FloatArray
    from cimento.models.tokenizing import Frame


def stride_of(policy: Policy, card: ModelCard) -> int | None:
    """By how much the window is moved: as stated, else by half; None where nothing is.

    Raises:
        UsageError: a window moved so would leave its first new token without left context.
    """
    if policy.window == "refuse" or card.window is None:
        return None
    stride = max(1, card.window // 2) if policy.stride is None else policy.stride
    if stride >= card.window:
        raise UsageError(
            where="--stride",
            seen=f"{stride} tokens are not less than the window of {card.name!r}, {card.window}",
            todo="Give a smaller one, so that windows overlap.",
        )
    return stride


def window_start(index: int, *, window: int, stride: int) -> int:
    """The first token of the window that the token at `index` of a long text is scored in."""
    return 0 if index < window else -((window - index - 1) // stride) * stride


def in_windows(
    encoded: Sequence[Encoded],
    score: Callable[[Sequence[Encoded]], Sequence[FloatArray]],
    *,
    window: int,
    stride: int,
) -> list[FloatArray]:
    """What a causal model says of texts, the long ones in several windows.

    Args:
        encoded: texts of any length.
        score: scores the wanted tokens of texts that fit.
        window: longest sequence in tokens.
        stride: by how much it is moved.
    """
    parts = [_cut(each, window=window, stride=stride) for each in encoded]
    answers = iter(score([part for some in parts for part in some]))
    return [np.concatenate([next(answers) for _ in some]) for some in parts]


def centred(ids: Sequence[int], index: int, *, window: int, frame: Frame) -> tuple[int, int]:
    """The part of a long text that a masked model sees while it predicts the token at `index`.

    The token stands in the middle of it, or as near to the middle as the ends of the text allow;
    what the tokenizer puts around a text is put around the part.

    Args:
        ids: of the whole sequence, with what stands around the text.
        index: of the token that is predicted.
        window: longest sequence in tokens.
        frame: what stands around a text.

    Returns:
        Where the part begins and ends in `ids`; the frame comes on top.
    """
    first, last = len(frame.before), len(ids) - len(frame.after)
    room = window - len(frame.before) - len(frame.after)
    start = max(first, min(index - room // 2, last - room))
    return start, min(start + room, last)


def long_texts(encoded: Sequence[Encoded], window: int | None) -> tuple[str, ...]:
    """What the user should know of the texts that did not fit the window, as sentences."""
    number = sum(len(each.tokens) > (window or len(each.tokens)) for each in encoded)
    if not number:
        return ()
    texts = "1 text is" if number == 1 else f"{number} texts are"
    return (f"{texts} longer than the model's window of {window} tokens and scored in parts",)


def _cut(each: Encoded, *, window: int, stride: int) -> list[Encoded]:
    """The windows in which a text's wanted tokens are scored, each wanting its own."""
    if len(each.tokens) <= window:
        return [each]
    if not each.wanted:
        return [_part(each, 0, window, ())]
    wanted: dict[int, list[int]] = {}
    for index in each.wanted:
        start = window_start(index, window=window, stride=stride)
        wanted.setdefault(start, []).append(index - start)
    return [_part(each, start, start + window, some) for start, some in wanted.items()]


def _part(each: Encoded, start: int, end: int, wanted: Sequence[int]) -> Encoded:
    return dataclasses.replace(
        each,
        ids=each.ids[start:end],
        tokens=each.tokens[start:end],
        spans=each.spans[start:end],
        words=each.words[start:end],
        wanted=tuple(wanted),
    )

"""Requests as a model's tokenizer sees them, with what may be put before and after a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cimento.errors import ModelError, TextTooLongError
from cimento.models.align import containing, tokens_in, trim_spans, word_spans
from cimento.models.base import BosRule, Encoded, PunctuationRule
from cimento.requests import ScoreRequest, Span

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_PROBE = "a"


@dataclass(frozen=True, slots=True)
class Frame:
    """The special tokens around a text: ids before it and ids after it."""

    before: tuple[int, ...]
    after: tuple[int, ...]


def own_frame(tokenizer: PreTrainedTokenizerBase) -> Frame:
    """What the tokenizer itself puts around a text.

    Raises:
        ModelError: the text cannot be found again between its special tokens.
    """
    bare = tokenizer(_PROBE, add_special_tokens=False)["input_ids"]
    full = tokenizer(_PROBE, add_special_tokens=True)["input_ids"]
    for start in range(len(full) - len(bare) + 1):
        if full[start : start + len(bare)] == bare:
            return Frame(before=tuple(full[:start]), after=tuple(full[start + len(bare) :]))
    raise ModelError(
        where=f"tokenizer of {tokenizer.name_or_path!r}",
        seen="it tokenizes a text differently when it adds special tokens",
        todo="Such a tokenizer cannot be used; please report the model.",
    )


def causal_frame(tokenizer: PreTrainedTokenizerBase, rule: BosRule) -> Frame:
    """What stands before a text for a causal model; nothing is put after it.

    ``auto`` takes what the tokenizer adds itself, else its BOS token, else its EOS token, which
    models without BOS were trained with as the separator of documents (GPT-2).
    """
    if rule == "none":
        return Frame(before=(), after=())
    own = own_frame(tokenizer).before
    if own:
        return Frame(before=own, after=())
    for token in (tokenizer.bos_token_id, tokenizer.eos_token_id):
        if token is not None:
            return Frame(before=(int(token),), after=())
    return Frame(before=(), after=())


def encode(
    requests: Sequence[ScoreRequest],
    tokenizer: PreTrainedTokenizerBase,
    *,
    frame: Frame,
    punctuation: PunctuationRule,
    window: int | None,
) -> list[Encoded]:
    """Tokenize requests whole, context and text together, and mark the tokens that are wanted.

    Raises:
        TextTooLongError: a sequence is longer than `window`.
        ModelError: the text already begins with the tokens that the frame would add.
    """
    if not requests:
        return []
    whole = [f"{r.context} {r.text}" if r.context else r.text for r in requests]
    output = tokenizer(whole, add_special_tokens=False, return_offsets_mapping=True)
    encoded = []
    for request, text, ids, offsets in zip(
        requests, whole, output["input_ids"], output["offset_mapping"], strict=True
    ):
        _refuse_double(ids, frame, request, tokenizer)
        sequence = (*frame.before, *ids, *frame.after)
        if window is not None and len(sequence) > window:
            raise TextTooLongError(
                where=f"text {_short(request.text)!r}",
                seen=f"it makes {len(sequence)} tokens with this tokenizer,"
                f" and the model's window holds {window}",
                todo="Shorten the text or use a model with a longer window; it is never cut.",
            )
        spans = _spans_in_text(text, request, offsets)
        encoded.append(
            _encoded(request, sequence, spans, frame=frame, tokenizer=tokenizer, rule=punctuation)
        )
    return encoded


def _refuse_double(
    ids: Sequence[int], frame: Frame, request: ScoreRequest, tokenizer: PreTrainedTokenizerBase
) -> None:
    if frame.before and tuple(ids[: len(frame.before)]) == frame.before:
        token = tokenizer.convert_ids_to_tokens(frame.before[0])
        raise ModelError(
            where=f"text {_short(request.text)!r}",
            seen=f"it begins with {token!r}, which the BOS policy puts there too",
            todo="Take the token out of the text, or score with --bos none.",
        )


def _spans_in_text(whole: str, request: ScoreRequest, offsets: Sequence[Span]) -> list[Span]:
    """Trimmed offsets counted in the request's own text; (-1, -1) for tokens of the context."""
    shift = len(whole) - len(request.text)
    return [
        (start - shift, end - shift) if start >= shift else (-1, -1)
        for start, end in trim_spans(whole, offsets)
    ]


def _encoded(
    request: ScoreRequest,
    sequence: tuple[int, ...],
    spans: list[Span],
    *,
    frame: Frame,
    tokenizer: PreTrainedTokenizerBase,
    rule: PunctuationRule,
) -> Encoded:
    around = ([(-1, -1)] * len(frame.before), [(-1, -1)] * len(frame.after))
    all_spans = [*around[0], *spans, *around[1]]
    words = word_spans(request.text, punctuation=rule)
    wanted = request.wanted if request.wanted is not None else ((0, len(request.text)),)
    first = next((i for i, span in enumerate(all_spans) if span[0] >= 0), len(all_spans))
    return Encoded(
        request=request.id,
        ids=sequence,
        tokens=tuple(tokenizer.convert_ids_to_tokens(list(sequence))),
        spans=tuple(all_spans),
        words=tuple(containing(words, span[0]) if span[0] >= 0 else -1 for span in all_spans),
        first=first,
        wanted=tuple(tokens_in(all_spans, wanted)),
    )


def _short(text: str, limit: int = 60) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"

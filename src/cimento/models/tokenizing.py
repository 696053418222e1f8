"""Requests as a model's tokenizer sees them, with what may be put before and after a text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from cimento.errors import ModelError, TextTooLongError
from cimento.models.align import containing_each, tokens_in, trim_spans, word_spans
from cimento.models.base import BosRule, Encoded, PunctuationRule
from cimento.requests import ScoreRequest, Span

if TYPE_CHECKING:
    from transformers import BatchEncoding, PreTrainedModel, PreTrainedTokenizerBase

_PROBE = "a"
_SHORT_PROBE = "A dog barks."
_LONG_PROBE = "The keys to the old cabinet are on the table."
_LONGEST_PROBE = 32
_NOWHERE: Span = (-1, -1)


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
    models without BOS were trained with as the separator of documents (GPT-2). The other rules
    are described in `Policy`.
    """
    if rule == "none":
        return Frame(before=(), after=())
    own = own_frame(tokenizer).before if rule != "bos-or-eos" else ()
    if own or rule == "tokenizer":
        return Frame(before=own, after=())
    for token in (tokenizer.bos_token_id, tokenizer.eos_token_id):
        if token is not None:
            return Frame(before=(int(token),), after=())
    return Frame(before=(), after=())


def vocabulary_size(model: PreTrainedModel) -> int:
    """The number of tokens that a model knows; its tokenizer may have more or fewer."""
    table: Any = model.get_input_embeddings()
    return len(table.weight)


def probes(
    tokenizer: PreTrainedTokenizerBase, frame: Frame, *, window: int | None, vocabulary: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """A short and a long token sequence, to try a model on before its first score."""
    limit = min(_LONGEST_PROBE, window or _LONGEST_PROBE)
    texts = tokenizer([_SHORT_PROBE, _LONG_PROBE], add_special_tokens=False)["input_ids"]
    short, long = (
        tuple(i for i in (*frame.before, *ids, *frame.after) if i < vocabulary)[:limit]
        for ids in texts
    )
    return short[: len(long) // 2], long


def encode(
    requests: Sequence[ScoreRequest],
    tokenizer: PreTrainedTokenizerBase,
    *,
    frame: Frame,
    punctuation: PunctuationRule,
    window: int | None,
    vocabulary: int,
    by_region: bool = False,
    leading_blank: bool = False,
) -> list[Encoded]:
    """Tokenize requests whole, context and text together, and mark the tokens that are wanted.

    Args:
        requests: what is asked.
        tokenizer: a fast tokenizer.
        frame: what stands around a text.
        punctuation: whether a mark is a word of its own.
        window: longest sequence that the model can read; None where there is no limit.
        vocabulary: number of tokens that the model knows.
        by_region: number the tokens by the regions of their requests instead of by words.
        leading_blank: put a blank before texts without context.

    Raises:
        TextTooLongError: a sequence is longer than `window`.
        ModelError: the text already begins with the tokens that the frame would add, a token
            lies across the end of the context, or the model does not know a token.
    """
    if not requests:
        return []
    whole = [_whole(request, leading_blank=leading_blank) for request in requests]
    output = _cut(whole, tokenizer)
    names = _names(output["input_ids"], frame, tokenizer)
    encoded = []
    for request, text, ids, offsets in zip(
        requests, whole, output["input_ids"], output["offset_mapping"], strict=True
    ):
        _refuse_double(ids, frame, request, tokenizer)
        sequence = (*frame.before, *ids, *frame.after)
        _refuse_long(sequence, window, request)
        _refuse_unknown(sequence, vocabulary, request, tokenizer)
        spans = trim_spans(text, offsets)
        shift = len(text) - len(request.text)
        words = _regions(request, shift) if by_region else word_spans(text, punctuation=punctuation)
        known = _encoded(request, sequence, spans, words, shift=shift, frame=frame, names=names)
        encoded.append(known)
    return encoded


def _cut(texts: Sequence[str], tokenizer: PreTrainedTokenizerBase) -> BatchEncoding:
    """Token ids and offsets of texts, with nothing added."""
    output: BatchEncoding = tokenizer(
        list(texts),
        add_special_tokens=False,
        return_offsets_mapping=True,
        return_attention_mask=False,
        return_token_type_ids=False,
        verbose=False,
    )
    return output


def _names(
    sequences: Iterable[Sequence[int]], frame: Frame, tokenizer: PreTrainedTokenizerBase
) -> dict[int, str]:
    """Every token of some texts and of what stands around them, as text; each looked up once."""
    ids = list(set(chain(frame.before, frame.after, *sequences)))
    return dict(zip(ids, tokenizer.convert_ids_to_tokens(ids), strict=True))


def _refuse_long(sequence: Sequence[int], window: int | None, request: ScoreRequest) -> None:
    if window is not None and len(sequence) > window:
        raise TextTooLongError(
            where=f"text {shortened(request.text)!r}",
            seen=f"it makes {len(sequence)} tokens with this tokenizer,"
            f" and the model's window holds {window}",
            todo="Shorten it, use a model with a longer window, or say --window sliding.",
        )


def _whole(request: ScoreRequest, *, leading_blank: bool) -> str:
    """A text after its context; an empty text has no blank before it either."""
    blank = leading_blank if request.blank is None else request.blank
    if blank and request.text and not request.context:
        return f" {request.text}"
    return " ".join(part for part in (request.context, request.text) if part)


def _regions(request: ScoreRequest, shift: int) -> list[Span]:
    """The regions of a request in its whole text; what comes before it is one more."""
    regions = request.regions or ((0, len(request.text)),)
    before = [(0, shift)] if shift else []
    return before + [(start + shift, end + shift) for start, end in regions]


def _refuse_double(
    ids: Sequence[int], frame: Frame, request: ScoreRequest, tokenizer: PreTrainedTokenizerBase
) -> None:
    if frame.before and tuple(ids[: len(frame.before)]) == frame.before:
        token = tokenizer.convert_ids_to_tokens(frame.before[0])
        raise ModelError(
            where=f"text {shortened(request.context or request.text)!r}",
            seen=f"it begins with {token!r}, which is put before every text",
            todo="Take it out of the text; a causal model can also be scored with --bos none.",
        )


def _refuse_unknown(
    ids: Sequence[int], vocabulary: int, request: ScoreRequest, tokenizer: PreTrainedTokenizerBase
) -> None:
    highest = max(ids, default=0)
    if highest >= vocabulary:
        raise ModelError(
            where=f"text {shortened(request.text)!r}",
            seen=f"its token {tokenizer.convert_ids_to_tokens(highest)!r} is number {highest},"
            f" and the model knows {vocabulary} tokens",
            todo="Does the tokenizer in the folder belong to this model?",
        )


def _encoded(
    request: ScoreRequest,
    sequence: tuple[int, ...],
    spans: Sequence[Span],
    words: Sequence[Span],
    *,
    shift: int,
    frame: Frame,
    names: Mapping[int, str],
) -> Encoded:
    """Put together what is known of a request; `spans` and `words` count in the whole text.

    Its own text begins `shift` characters after the whole one; `names` are the tokens as text.

    Raises:
        ModelError: a token lies across the boundary between context and text.
    """
    if any(start < shift < end for start, end in spans):
        raise ModelError(
            where=f"text {shortened(request.text)!r}",
            seen="a token covers its beginning and the end of its context",
            todo="With this tokenizer the two cannot be scored apart; change where they part.",
        )
    own = [(start - shift, end - shift) if start >= shift else _NOWHERE for start, end in spans]
    all_spans = [*[_NOWHERE] * len(frame.before), *own, *[_NOWHERE] * len(frame.after)]
    numbers = containing_each(words, [start for start, _ in spans])
    wanted = request.wanted if request.wanted is not None else ((0, len(request.text)),)
    return Encoded(
        request=request.id,
        ids=sequence,
        tokens=tuple(names[each] for each in sequence),
        spans=tuple(all_spans),
        words=(*[-1] * len(frame.before), *numbers, *[-1] * len(frame.after)),
        first=next((i for i, span in enumerate(all_spans) if span[0] >= 0), len(all_spans)),
        wanted=tuple(tokens_in(all_spans, wanted)),
    )


def shortened(text: str, limit: int = 60) -> str:
    """A text for a message, cut where it is long."""
    return text if len(text) <= limit else text[: limit - 1] + "…"

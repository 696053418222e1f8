"""Requests as a model's tokenizer sees them, with what may be put before and after a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from cimento.errors import ModelError, TextTooLongError
from cimento.io.arrays import stretches
from cimento.models.base import BosRule, EncodedTexts, Policy, PunctuationRule, Score
from cimento.models.tokens.characters import Characters
from cimento.suites.stimuli import Span

if TYPE_CHECKING:
    from transformers import BatchEncoding, PreTrainedModel, PreTrainedTokenizerBase

    from cimento.io.arrays import Flags, Integers

_PROBE = "a"
_SHORT_PROBE = "A dog barks."
_LONG_PROBE = "The keys to the old cabinet are on the table."
_LONGEST_PROBE = 32


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
    requests: Sequence[Score],
    tokenizer: PreTrainedTokenizerBase,
    *,
    frame: Frame,
    punctuation: PunctuationRule,
    window: int | None,
    vocabulary: int,
    by_region: bool = False,
    leading_blank: bool = False,
) -> EncodedTexts:
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
    import numpy as np

    whole = [_whole(request, leading_blank=leading_blank) for request in requests]
    before = [len(text) - len(request.text) for text, request in zip(whole, requests, strict=True)]
    characters = Characters.of(whole)
    cut = _cut(whole, tokenizer, characters)
    shift = np.array(before, dtype=np.int64)[cut.text]
    _refuse(requests, cut, shift, tokenizer, frame=frame, window=window, vocabulary=vocabulary)
    begins = characters.word_begins(punctuation)
    if by_region:
        begins = characters.begins_at(map(_region_begins, requests, before))
    wanted = map(_wanted, requests, before)
    return _framed(
        cut,
        frame,
        tokenizer,
        start=np.where(cut.start < shift, -1, cut.start - shift),
        end=np.where(cut.start < shift, -1, cut.end - shift),
        words=characters.containing(begins, cut.text, cut.start),
        wanted=characters.inside(wanted, cut.text, cut.start, cut.end),
    )


def _wanted(request: Score, before: int) -> list[Span]:
    """The stretches of the whole text that are wanted; its own text begins after so many."""
    spans = ((0, len(request.text)),) if request.wanted is None else request.wanted
    return [(low + before, high + before) for low, high in spans]


def _region_begins(request: Score, before: int) -> list[int]:
    """Where the regions of the whole text begin; what comes before its own text is one more."""
    regions = request.regions or ((0, len(request.text)),)
    return [*([0] if before else []), *(start + before for start, _ in regions)]


@dataclass(frozen=True, slots=True)
class _Cut:
    """The tokens of texts, with nothing added, one text after the other.

    Attributes:
        ids: of the tokens.
        start: first character of each in its text, after the blanks before it.
        end: one past its last character.
        text: number of its text.
        counts: how many tokens each text has.
    """

    ids: Integers
    start: Integers
    end: Integers
    text: Integers
    counts: Integers


def _cut(texts: Sequence[str], tokenizer: PreTrainedTokenizerBase, characters: Characters) -> _Cut:
    """Token ids and offsets of texts, with nothing added."""
    import numpy as np

    output: BatchEncoding | dict[str, list[Any]] = {"input_ids": [], "offset_mapping": []}
    if texts:
        output = tokenizer(
            list(texts),
            add_special_tokens=False,
            return_offsets_mapping=True,
            return_attention_mask=False,
            return_token_type_ids=False,
            verbose=False,
        )
    counts = np.array([len(ids) for ids in output["input_ids"]], dtype=np.int64)
    flat = chain.from_iterable(chain.from_iterable(output["offset_mapping"]))
    offsets = np.fromiter(flat, dtype=np.int64).reshape(-1, 2)
    text = np.repeat(np.arange(len(counts)), counts)
    start, end = characters.trimmed(text, offsets[:, 0], offsets[:, 1])
    ids = np.fromiter(chain.from_iterable(output["input_ids"]), dtype=np.int64)
    return _Cut(ids=ids, start=start, end=end, text=text, counts=counts)


def _refuse(
    requests: Sequence[Score],
    cut: _Cut,
    shift: Integers,
    tokenizer: PreTrainedTokenizerBase,
    *,
    frame: Frame,
    window: int | None,
    vocabulary: int,
) -> None:
    """Refuse the first request that cannot be scored; see `encode`."""
    import numpy as np

    lengths = cut.counts + len(frame.before) + len(frame.after)
    first = np.cumsum(cut.counts) - cut.counts
    doubtful = np.zeros(len(requests), dtype=np.bool_)
    crossing = cut.text[(cut.start < shift) & (shift < cut.end)]
    doubtful[crossing] = True
    doubtful[cut.text[cut.ids >= vocabulary]] = True
    if max((*frame.before, *frame.after), default=0) >= vocabulary:
        doubtful[:] = True
    if window is not None:
        doubtful |= lengths > window
    if frame.before:
        there = np.flatnonzero(cut.counts)
        doubtful[there[cut.ids[first[there]] == frame.before[0]]] = True
    for number in np.flatnonzero(doubtful).tolist():
        request = requests[number]
        ids = tuple(cut.ids[cut.text == number].tolist())
        sequence = (*frame.before, *ids, *frame.after)
        _refuse_double(ids, frame, request, tokenizer)
        _refuse_long(sequence, window, request)
        _refuse_unknown(sequence, vocabulary, request, tokenizer)
        if number in crossing:
            raise ModelError(
                where=f"text {shortened(request.text)!r}",
                seen="a token covers its beginning and the end of its context",
                todo="With this tokenizer the two cannot be scored apart; change where they part.",
            )


def _framed(
    cut: _Cut,
    frame: Frame,
    tokenizer: PreTrainedTokenizerBase,
    *,
    start: Integers,
    end: Integers,
    words: Integers,
    wanted: Flags,
) -> EncodedTexts:
    """Tokens with what stands around each text; the columns are those of `EncodedTexts`."""
    import numpy as np

    before, after = len(frame.before), len(frame.after)
    offsets = np.concatenate(([0], np.cumsum(cut.counts + before + after)))
    own = stretches(offsets[:-1] + before, cut.counts)
    ids = np.empty(offsets[-1], dtype=np.int64)
    ids[own] = cut.ids
    for index, token in enumerate(frame.before):
        ids[offsets[:-1] + index] = token
    for index, token in enumerate(frame.after):
        ids[offsets[1:] - after + index] = token
    columns = np.full((3, offsets[-1]), -1, dtype=np.int64)
    columns[:, own] = start, end, words
    is_wanted = np.zeros(offsets[-1], dtype=np.bool_)
    is_wanted[own] = wanted
    # The first token of a text is written last, over those after it.
    firsts = np.diff(offsets)
    inside = start >= 0
    text = cut.text[inside][::-1]
    firsts[text] = own[inside][::-1] - offsets[text]
    return EncodedTexts(
        offsets=offsets,
        firsts=firsts.tolist(),
        ids=ids,
        tokens=_names(ids.tolist(), tokenizer),
        start=columns[0],
        end=columns[1],
        words=columns[2],
        wanted=is_wanted,
    )


def _names(ids: Sequence[int], tokenizer: PreTrainedTokenizerBase) -> list[str]:
    """Tokens as text; each different one is looked up once."""
    distinct = list(set(ids))
    names = dict(zip(distinct, tokenizer.convert_ids_to_tokens(distinct), strict=True))
    return [names[number] for number in ids]


def _refuse_long(sequence: Sequence[int], window: int | None, request: Score) -> None:
    if window is not None and len(sequence) > window:
        raise TextTooLongError(
            where=f"text {shortened(request.text)!r}",
            seen=f"it makes {len(sequence)} tokens with this tokenizer,"
            f" and the model's window holds {window}",
            todo="Shorten it, use a model with a longer window, or say --window sliding.",
        )


def _whole(request: Score, *, leading_blank: bool) -> str:
    """A text after its context; an empty text has no blank before it either."""
    blank = leading_blank if request.blank is None else request.blank
    if blank and request.text and not request.context:
        return f" {request.text}"
    return " ".join(part for part in (request.context, request.text) if part)


def _refuse_double(
    ids: Sequence[int], frame: Frame, request: Score, tokenizer: PreTrainedTokenizerBase
) -> None:
    if frame.before and tuple(ids[: len(frame.before)]) == frame.before:
        token = tokenizer.convert_ids_to_tokens(frame.before[0])
        raise ModelError(
            where=f"text {shortened(request.context or request.text)!r}",
            seen=f"it begins with {token!r}, which is put before every text",
            todo="Take it out of the text; a causal model can also be scored with --bos none.",
        )


def _refuse_unknown(
    ids: Sequence[int], vocabulary: int, request: Score, tokenizer: PreTrainedTokenizerBase
) -> None:
    highest = max(ids, default=0)
    if highest >= vocabulary:
        raise ModelError(
            where=f"text {shortened(request.text)!r}",
            seen=f"its token {tokenizer.convert_ids_to_tokens(highest)!r} is number {highest},"
            f" and the model knows {vocabulary} tokens",
            todo="Does the tokenizer in the folder belong to this model?",
        )


def shortened(text: str, limit: int = 60) -> str:
    """A text for a message, cut where it is long."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextEncoder:
    """A tokenizer with all that holds for every text of one model under one policy.

    Attributes:
        tokenizer: a fast tokenizer.
        policy: how texts are scored.
        frame: the special tokens around a text.
        vocabulary: number of tokens that the model knows.
        window: longest sequence that it can read; None where there is no limit.
        by_region: whether tokens are numbered by regions instead of by words.
    """

    tokenizer: PreTrainedTokenizerBase
    policy: Policy
    frame: Frame
    vocabulary: int
    window: int | None
    by_region: bool = False

    def encode(self, requests: Sequence[Score]) -> EncodedTexts:
        """Tokenize requests, in order.

        Raises:
            TextTooLongError: a text does not fit the window, and none slides over it.
            ModelError: a text cannot be scored; see `tokenizing.encode`.
        """
        return encode(
            requests,
            self.tokenizer,
            frame=self.frame,
            punctuation=self.policy.punctuation,
            window=self.window if self.policy.window == "refuse" else None,
            vocabulary=self.vocabulary,
            by_region=self.by_region,
            leading_blank=self.policy.leading_blank,
        )

    def probes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """A short and a long token sequence, to try a model on before its first score."""
        return probes(self.tokenizer, self.frame, window=self.window, vocabulary=self.vocabulary)

    def names(self, ids: Sequence[int]) -> str:
        """Tokens by their names, with blanks between."""
        return " ".join(self.tokenizer.convert_ids_to_tokens(list(ids)))

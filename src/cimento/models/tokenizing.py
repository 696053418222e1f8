"""The tokenizing of requests, with the special tokens before and after a text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from cimento.errors import CimentoError, ModelError, TextTooLongError
from cimento.io.values import stretches
from cimento.models.base import EncodedTexts, Score
from cimento.models.characters import Characters, byte_offsets
from cimento.models.failing import SHOWN_CHARACTERS
from cimento.models.settings import BosRule, Policy
from cimento.suites.stimuli import Span

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from cimento.io.values import Flags, Integers


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
    """The special tokens that the tokenizer itself puts around a text.

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
    """The special tokens before a text in a causal model; none are put after it.

    ``auto`` takes what the tokenizer adds itself, else its BOS token, else its EOS token, which
    models without BOS were trained with as the separator of documents (GPT-2). The other rules
    are described in `Policy`.
    """
    if rule == "none":
        return Frame(before=(), after=())
    before = own_frame(tokenizer).before if rule != "bos-or-eos" else ()
    if before or rule == "tokenizer":
        return Frame(before=before, after=())
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


def _wanted(request: Score, before: int) -> list[Span]:
    """The stretches of the whole text that are wanted; its own text begins after so many."""
    spans = ((0, len(request.text)),) if request.wanted is None else request.wanted
    return [(low + before, high + before) for low, high in spans]


def _region_begins(request: Score, before: int) -> list[int]:
    """The begins of the regions of the whole text; the part before its own text is one more."""
    regions = request.regions or ((0, len(request.text)),)
    return [*([0] if before else []), *(start + before for start, _ in regions)]


@dataclass(frozen=True, slots=True)
class _TokenRows:
    """The tokens of texts, with nothing added, one text after the other.

    Attributes:
        ids: of the tokens.
        start: first character of each in its text, after the blanks before it.
        end: one past its last character.
        text: number of its text.
        counts: how many tokens each text has.
        apart: whether it is nothing but blanks, and comes before another blank or at the end: it
            is part of no word.
    """

    ids: Integers
    start: Integers
    end: Integers
    text: Integers
    counts: Integers
    apart: Flags


def _cut(
    texts: Sequence[str], tokenizer: PreTrainedTokenizerBase, characters: Characters
) -> _TokenRows:
    """Token ids and offsets of texts, with nothing added."""
    import numpy as np

    several, offsets_of = tokenized(texts, tokenizer)
    counts = np.fromiter(map(len, several), dtype=np.int64, count=len(several))
    flat = chain.from_iterable(chain.from_iterable(offsets_of))
    offsets = np.fromiter(flat, dtype=np.int64).reshape(-1, 2)
    text = np.repeat(np.arange(len(counts)), counts)
    start, end = characters.trimmed(text, offsets[:, 0], offsets[:, 1])
    ids = np.fromiter(chain.from_iterable(several), dtype=np.int64)
    # A token of blanks has its trimmed start behind it. Some tokenizers give it no length.
    stop = offsets[:, 1]
    length = characters.begin[text + 1] - 1 - characters.begin[text]
    apart = (start > stop) | ((start == stop) & (stop >= length))
    return _TokenRows(ids=ids, start=start, end=end, text=text, counts=counts, apart=apart)


def tokenized(
    texts: Sequence[str], tokenizer: PreTrainedTokenizerBase
) -> tuple[Sequence[Sequence[int]], Sequence[Sequence[Span]]]:
    """The token ids of each text, and the character offsets of its tokens.

    Raises:
        ModelError: the tokenizer gives no offsets, and its tokens do not add up to a text.
    """
    from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

    if not texts:
        return [], []
    if not tokenizer.is_fast:
        several = [tokenizer(text, add_special_tokens=False)["input_ids"] for text in texts]
        return several, [_aligned(*pair, tokenizer) for pair in zip(texts, several, strict=True)]
    kind = type(tokenizer)
    is_plain = (
        kind.__call__ is PreTrainedTokenizerBase.__call__
        and kind._encode_plus is PreTrainedTokenizerFast._encode_plus  # noqa: SLF001
    )
    # transformers copies every answer of the library below it twice, which takes as long as the
    # tokenizing. Its call on the first text sets that library's truncation, padding and treatment
    # of special tokens.
    output = tokenizer(
        [*texts[:1]] if is_plain else [*texts],
        add_special_tokens=False,
        return_offsets_mapping=True,
        return_attention_mask=False,
        return_token_type_ids=False,
        verbose=False,
    )
    if not is_plain:
        return output["input_ids"], output["offset_mapping"]
    encodings = tokenizer.backend_tokenizer.encode_batch([*texts], add_special_tokens=False)
    return [encoding.ids for encoding in encodings], [encoding.offsets for encoding in encodings]


def _aligned(text: str, ids: Sequence[int], tokenizer: PreTrainedTokenizerBase) -> list[Span]:
    """The offsets of tokens from a tokenizer that gives none."""
    tokens = tokenizer.convert_ids_to_tokens([*ids])
    spans = byte_offsets(text, tokens, unknown=str(tokenizer.unk_token or ""))
    if spans is None:
        raise ModelError(
            where=f"tokenizer of {tokenizer.name_or_path!r}",
            seen=f"it gives no character offsets, and its tokens do not add up to {text[:80]!r}",
            todo="Use a version of the model with a tokenizer.json (a fast tokenizer).",
        )
    return spans


def _whole(request: Score, *, leading_blank: bool) -> str:
    """A text after its context; an empty text has no blank before it either."""
    blank = leading_blank if request.blank is None else request.blank
    if blank and request.text and not request.context:
        return f" {request.text}"
    return " ".join(part for part in (request.context, request.text) if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextEncoder:
    """A tokenizer with all that holds for every text of one model under one policy.

    Attributes:
        tokenizer: a fast tokenizer.
        policy: how texts are scored.
        frame: the special tokens around a text.
        vocabulary: number of tokens that the model knows.
        window: longest sequence that it can read; None where there is no limit.
        by_region: whether tokens are numbered by the regions of their requests instead of by words.
        name: name of the model, for messages.
    """

    tokenizer: PreTrainedTokenizerBase
    policy: Policy
    frame: Frame
    vocabulary: int
    window: int | None
    by_region: bool = False
    name: str = ""

    def encode(self, requests: Sequence[Score]) -> EncodedTexts:
        """Tokenize requests whole, context and text together, and mark the tokens that are wanted.

        Raises:
            TextTooLongError: a text does not fit the window, and none slides over it.
            ModelError: the text already begins with the tokens that the frame would add, a token
                lies across the end of the context, the model does not know a token, or the
                tokenizer fails.
        """
        import numpy as np

        leading_blank = self.policy.leading_blank
        whole = [_whole(request, leading_blank=leading_blank) for request in requests]
        before = [
            len(text) - len(request.text) for text, request in zip(whole, requests, strict=True)
        ]
        characters = Characters.of(whole)
        try:
            cut = _cut(whole, self.tokenizer, characters)
        except CimentoError:
            raise
        # Tokenizers are programs in several languages, with errors of their own.
        except Exception as error:
            raise self._untokenized(whole, error) from error
        shift = np.array(before, dtype=np.int64)[cut.text]
        self._refuse(requests, cut, shift)
        regions = [
            _region_begins(request, start) for request, start in zip(requests, before, strict=True)
        ]
        begins = (
            characters.begins_at(regions)
            if self.by_region
            else characters.word_begins(self.policy.punctuation, self.policy.segmenter, regions)
        )
        wanted = map(_wanted, requests, before)
        words = characters.containing(begins, cut.text, cut.start)
        if not self.by_region:
            # Units of their own, below the number of what stands around a text.
            first = np.cumsum(cut.counts) - cut.counts
            index = np.arange(len(words)) - np.repeat(first, cut.counts)
            words = np.where(cut.apart, -2 - index, words)
        return self._framed(
            cut,
            start=np.where(cut.start < shift, -1, cut.start - shift),
            end=np.where(cut.start < shift, -1, cut.end - shift),
            words=words,
            wanted=characters.inside(wanted, cut.text, cut.start, cut.end),
        )

    def _untokenized(self, texts: Sequence[str], error: Exception) -> ModelError:
        """The error of texts with which the tokenizer fails; it names the first of these."""
        where = f"model {self.name!r}"
        for text in texts:
            try:
                tokenized([text], self.tokenizer)
            except Exception as its:  # noqa: BLE001  # as above
                where, error = f"{where}, text {shortened(text)!r}", its
                break
        return ModelError(
            where=where,
            seen=f"its tokenizer failed ({type(error).__name__}: {str(error)[:200]})",
            todo="Is it the tokenizer of this model? Else take out what is odd in the text.",
        )

    @property
    def _longest(self) -> float:
        """The tokens that a sequence may have."""
        slides = self.policy.window == "sliding"
        return math.inf if self.window is None or slides else self.window

    def _refuse(self, requests: Sequence[Score], cut: _TokenRows, shift: Integers) -> None:
        """Refuse the first request that cannot be scored; see `encode`.

        Args:
            requests: what is asked.
            cut: their tokens.
            shift: for each token where its request's own text begins.
        """
        import numpy as np

        frame, vocabulary = self.frame, self.vocabulary
        lengths = cut.counts + len(frame.before) + len(frame.after)
        first = np.cumsum(cut.counts) - cut.counts
        doubtful = np.zeros(len(requests), dtype=np.bool_)
        crossing = cut.text[(cut.start < shift) & (shift < cut.end)]
        doubtful[crossing] = True
        doubtful[cut.text[cut.ids >= vocabulary]] = True
        if max((*frame.before, *frame.after), default=0) >= vocabulary:
            doubtful[:] = True
        doubtful |= lengths > self._longest
        if frame.before:
            there = np.flatnonzero(cut.counts)
            doubtful[there[cut.ids[first[there]] == frame.before[0]]] = True
        for number in np.flatnonzero(doubtful).tolist():
            ids = tuple(cut.ids[cut.text == number].tolist())
            self._refuse_one(requests[number], ids, crosses=number in crossing)

    def _refuse_one(self, request: Score, ids: tuple[int, ...], *, crosses: bool) -> None:
        """Refuse a request that cannot be scored; see `encode`.

        Args:
            request: what is asked.
            ids: its tokens, without those around it.
            crosses: whether one of them lies across the end of the context.
        """
        frame, name = self.frame, self.tokenizer.convert_ids_to_tokens
        sequence = (*frame.before, *ids, *frame.after)
        where = f"text {shortened(request.text)!r}"
        if frame.before and ids[: len(frame.before)] == frame.before:
            raise ModelError(
                where=f"text {shortened(request.context or request.text)!r}",
                seen=f"it begins with {name(frame.before[0])!r}, which is put before every text",
                todo="Take it out of the text; a causal model can also be scored with --bos=none.",
            )
        if len(sequence) > self._longest:
            raise TextTooLongError(
                where=where,
                seen=f"it makes {len(sequence)} tokens with this tokenizer,"
                f" and the model's window holds {self.window}",
                todo="Shorten it, use a model with a longer window, or say --window=sliding.",
            )
        highest = max(sequence, default=0)
        if highest >= self.vocabulary:
            raise ModelError(
                where=f"model {self.name!r}, {where}" if self.name else where,
                seen=f"its token {name(highest)!r} is number {highest},"
                f" and the model knows {self.vocabulary} tokens",
                todo="Does the tokenizer belong to this model?",
            )
        if crosses:
            raise ModelError(
                where=where,
                seen="a token covers its beginning and the end of its context",
                todo="With this tokenizer the two cannot be scored apart; change where they part.",
            )

    def _framed(
        self, cut: _TokenRows, *, start: Integers, end: Integers, words: Integers, wanted: Flags
    ) -> EncodedTexts:
        """Tokens with what stands around each text; the columns are those of `EncodedTexts`."""
        import numpy as np

        frame = self.frame
        before, after = len(frame.before), len(frame.after)
        offsets = np.concatenate(([0], np.cumsum(cut.counts + before + after)))
        places = stretches(offsets[:-1] + before, cut.counts)
        ids = np.empty(offsets[-1], dtype=np.int64)
        ids[places] = cut.ids
        for index, token in enumerate(frame.before):
            ids[offsets[:-1] + index] = token
        for index, token in enumerate(frame.after):
            ids[offsets[1:] - after + index] = token
        columns = np.full((3, offsets[-1]), -1, dtype=np.int64)
        columns[:, places] = start, end, words
        is_wanted = np.zeros(offsets[-1], dtype=np.bool_)
        is_wanted[places] = wanted
        # Tokens are written in reverse, so that the first token of a text remains.
        firsts = np.diff(offsets)
        inside = start >= 0
        text = cut.text[inside][::-1]
        firsts[text] = places[inside][::-1] - offsets[text]
        distinct = list(set(ids.tolist()))
        tokens = self.tokenizer.convert_ids_to_tokens(distinct)
        names = dict(zip(distinct, tokens, strict=True))
        return EncodedTexts(
            offsets=offsets,
            firsts=firsts.tolist(),
            ids=ids,
            tokens=[names[number] for number in ids.tolist()],
            start=columns[0],
            end=columns[1],
            words=columns[2],
            wanted=is_wanted,
        )

    def probes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """A short and a long token sequence, to try a model on before its first score."""
        return probes(self.tokenizer, self.frame, window=self.window, vocabulary=self.vocabulary)

    def names(self, ids: Sequence[int]) -> str:
        """Tokens by their names, with blanks between."""
        return " ".join(self.tokenizer.convert_ids_to_tokens(list(ids)))


def shortened(text: str) -> str:
    """A text for a message, cut where it is long."""
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"

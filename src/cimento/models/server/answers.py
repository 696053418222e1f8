r"""A server's answer to one text: tokens, their places in the text, and their scores.

The answer is that of the OpenAI completions endpoint asked with ``echo`` and ``logprobs``: the
tokens of the prompt with their log-probabilities, and after them those that were generated.

Tokens come as strings, often with the places where they begin. The strings are taken
first, since they can be checked: they must spell the text. But a token may be a part of a
character (then its string is ``\ufffd``, or empty, or ``bytes:\xf0\x9f``), may have lost the
blank before it, and one that stands for the beginning of the text is not in the text at all. So
tokens are matched with the bytes of the text, every reading of a string is tried, and of those
that reach the end the one that takes most strings at their word is chosen. Offsets are the second
choice: some servers count characters, others bytes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TypeAlias

from cimento.errors import ModelError, NonFiniteScoreError
from cimento.io.parsing import value_at
from cimento.runs.usage import Tokens
from cimento.suites import JsonValue

_ESCAPED = re.compile(r"\\x([0-9a-fA-F]{2})")
_BYTES = "bytes:"
_BYTE_TOKEN = re.compile(r"<0x([0-9a-fA-F]{2})>")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SPECIAL = re.compile(r"(<[^<>\s]+>|\[[A-Z]+\])?")
_BLANK = re.compile("[ ▁]+")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_CONTINUATION = range(0x80, 0xC0)
"""The bytes of UTF-8 that do not begin a character."""
_LONGEST = 4
"""Largest number of bytes of a character in UTF-8."""

Starts = list[int | None]

CLAMPED_NATS = -9999.0
"""The number that vLLM writes for minus infinity, which JSON lacks."""

CAN_SCORE = (
    "Scoring needs log-probabilities of the prompt (echo with logprobs on /completions):"
    " vLLM gives them, and llama-cpp-python started with --logits_all true. A model that only chats"
    " can be asked by prompt: cimento suites build prompted."
)

_ROUNDING_NATS = 1e-3
_SHOWN = 6

JsonObject: TypeAlias = "dict[str, JsonValue]"


def token_starts(
    text: str,
    tokens: Sequence[str],
    *,
    offsets: Sequence[int] = (),
    prompt_tokens: int | None = None,
) -> Starts | None:
    """Match the tokens of a text with its bytes.

    Args:
        text: what the server was sent.
        tokens: what it says the tokens are: those of the text, then those it generated.
        offsets: where it says each begins, in characters or in bytes; empty where it does not.
        prompt_tokens: how many it says are the text's, if it does.

    Returns:
        For each token of the text the offset of its first byte in UTF-8, ascending; None for a
        special token before the text; twice 0 where the tokenizer put a blank before the text
        that is a token of its own. None in all where tokens and text do not fit.
    """
    spelled = _spelled(text.encode(), tokens, prompt_tokens)
    return spelled if spelled is not None else _placed(text, offsets, prompt_tokens)


def _spelled(content: bytes, tokens: Sequence[str], prompt_tokens: int | None) -> Starts | None:
    """The starts of tokens by their strings, if these spell the text; else None."""
    # After each token: the places that can be reached, with what that costs and from where. Of
    # several ways to a place the cheapest is kept, and of those the first.
    reached: list[dict[int, tuple[int, int]]] = [{0: (0, 0)}]
    for token in tokens:
        after: dict[int, tuple[int, int]] = {}
        for place, (so_far, _) in reached[-1].items():
            for end, cost in _ends(token, content, place):
                if end not in after or so_far + cost < after[end][0]:
                    after[end] = (so_far + cost, place)
        reached.append(after)
    whole = [count for count, places in enumerate(reached) if len(content) in places]
    count = _prompt_length(whole, len(tokens), prompt_tokens)
    if count is None:
        return None
    starts: Starts = []
    end = len(content)
    for token, places in zip(
        reversed(tokens[:count]), reversed(reached[1 : count + 1]), strict=True
    ):
        _, start = places[end]
        starts.append(None if start == end and not _BLANK.fullmatch(token) else start)
        end = start
    return starts[::-1]


def _prompt_length(whole: Sequence[int], n_tokens: int, prompt_tokens: int | None) -> int | None:
    """The number of tokens of the text: the server's number, all but one, or all.

    One token was to be generated. A server that generated more is believed where the text can
    only end in one place.
    """
    for count in (prompt_tokens, n_tokens - 1, n_tokens):
        if count in whole:
            return count
    return whole[0] if len(whole) == 1 else None


def _ends(token: str, content: bytes, start: int) -> Iterator[tuple[int, int]]:
    """The possible ends of a token that begins at a byte, each with a penalty."""
    said = _SURROGATE.sub(_REPLACEMENT, token)
    literals = [said.encode(), said.replace("▁", " ").encode(), _exact_bytes(token)]
    for literal in filter(None, dict.fromkeys(literals)):
        if content.startswith(literal, start):
            yield start + len(literal), 0
        yield from ((end, 1) for end in _near_ends(literal, content, start))
    if not said and content[start : start + 1].isspace():
        yield start + 1, 1
    if not content.isascii():
        replaced = not said or _REPLACEMENT in said
        yield from ((end, 1 - replaced) for end in _fragment_ends(said, content, start))
    if start == 0 and (_SPECIAL.fullmatch(token) or _BLANK.fullmatch(token)):
        yield 0, 1


def _near_ends(literal: bytes, content: bytes, start: int) -> Iterator[int]:
    """The string has lost the blank before it, has one too many, or tells a begun character."""
    blanks = len(content[start:]) - len(content[start:].lstrip())
    if blanks and content.startswith(literal, start + blanks):
        yield start + blanks + len(literal)
    bare = literal.lstrip()
    if start == 0 and bare and bare != literal and content.startswith(bare):
        yield len(bare)
    first = _character_start(content, start)
    if first < start < first + len(literal) and content.startswith(literal, first):
        yield first + len(literal)


def _fragment_ends(said: str, content: bytes, start: int) -> Iterator[int]:
    """The token holds parts of characters, which its string replaces or leaves out."""
    for end in range(start + 1, min(start + len(said.encode()) + _LONGEST, len(content) + 1)):
        part = content[start:end]
        if said in (part.decode(errors="replace"), part.decode(errors="ignore")):
            yield end


def _exact_bytes(token: str) -> bytes | None:
    """The bytes that a token spells out, as OpenAI and SentencePiece write them."""
    if token.startswith(_BYTES):
        plain = token.removeprefix(_BYTES).encode("latin-1", errors="ignore").decode("latin-1")
        return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), plain).encode("latin-1")
    if single := _BYTE_TOKEN.fullmatch(token):
        return bytes.fromhex(single[1])
    return None


def _character_start(content: bytes, place: int) -> int:
    """First byte of the character that a byte belongs to."""
    while place < len(content) and content[place] in _CONTINUATION:
        place -= 1
    return place


def _placed(text: str, offsets: Sequence[int], prompt_tokens: int | None) -> Starts | None:
    """Starts by the server's offsets, where the generated token's is the length of the text.

    That offset says whether characters or bytes are counted.
    """
    edges = [0, *accumulate(len(char.encode()) for char in text)]
    for count in (prompt_tokens, len(offsets) - 1):
        if count is None or not 0 < count < len(offsets):
            continue
        if offsets[count] == len(text) and 0 <= min(offsets[:count]) <= max(offsets[:count]) < len(
            text
        ):
            return _spread([edges[offset] for offset in offsets[:count]], edges)
        if offsets[count] == edges[-1]:
            return _spread(list(offsets[:count]), edges)
    return None


def _spread(starts: list[int], edges: Sequence[int]) -> Starts | None:
    """Give each of the tokens that begin at one character a byte of it, as far as it has some."""
    for index, start in enumerate(starts[1:], start=1):
        end = next((edge for edge in edges if edge > start), start)
        if start <= starts[index - 1] < end - 1:
            starts[index] = starts[index - 1] + 1
    ascending = all(one < other for one, other in pairwise([*starts, edges[-1]]))
    return list(starts) if starts[0] == 0 and ascending else None


@dataclass(frozen=True, slots=True)
class TextScores:
    """The scores that a server returned for a text.

    Attributes:
        scores: offset of a token's first byte in the UTF-8 text to its log-probability in nats;
            NaN for a first token that has no left context.
        before: the special tokens that it put before the text, as it spells them.
    """

    scores: dict[int, float]
    before: str


@dataclass(frozen=True, slots=True)
class _Listed:
    """The lists of an answer; `offsets` may be empty, else all have one length."""

    tokens: list[str]
    values: list[float | None]
    offsets: list[int]


def read_text_scores(
    answer: JsonValue, text: str, *, where: str, redacted: Callable[[str], str] = str
) -> TextScores:
    """The scores in a server's answer.

    Args:
        answer: the JSON that the server sent.
        text: what it was sent.
        where: the server and the text, for messages.
        redacted: takes secrets out of the server's own words.

    Raises:
        ModelError: the answer has another form, lacks log-probabilities of the text, or names
            tokens that are not those of the text.
        NonFiniteScoreError: it holds NaN, infinity, or nothing where a number should be.
    """
    choice = _choice(answer, where, redacted)
    listed = _lists(choice, where)
    starts = token_starts(
        text, listed.tokens, offsets=listed.offsets, prompt_tokens=_usage(answer, "prompt_tokens")
    )
    if starts is None:
        raise _mismatch(choice, listed.tokens, text, where)
    if len(starts) == len(listed.tokens) and _usage(answer, "completion_tokens"):
        raise ModelError(
            where=where,
            seen="it generated a token and gives it no log-probability, so those of the text may be"
            " one place off: llama-cpp-python does so where a model has no BOS token",
            todo="They cannot be used. Serve the model with vLLM, or give cimento its folder.",
        )
    values = listed.values[: len(starts)]
    if len(values) > 1 and all(value is None for value in values):
        raise lacking(where, "it echoes the text, but gives none of its log-probabilities")
    scores: dict[int, float] = {}
    for index, (start, value) in enumerate(zip(starts, values, strict=True)):
        if start is not None:
            logprob = _checked(value, listed.tokens[index], where, first=index == 0)
            scores[start] = scores.get(start, 0.0) + logprob
    special = [token for token, start in zip(listed.tokens, starts, strict=False) if start is None]
    return TextScores(scores=scores, before="".join(special))


def lacking(where: str, seen: str) -> ModelError:
    """The error for a server that cannot score."""
    return ModelError(where=where, seen=seen, todo=CAN_SCORE)


def _choice(answer: JsonValue, where: str, redacted: Callable[[str], str]) -> JsonObject:
    choice: JsonValue = value_at(answer, "choices", 0)
    if not isinstance(choice, dict):
        shown = redacted(str(answer))[:120]
        raise lacking(where, f"it answered something else than a completion ({shown})")
    if "message" in choice:
        raise lacking(where, "it answered as in a chat, and a chat has no scores of a given text")
    return choice


def _lists(choice: JsonObject, where: str) -> _Listed:
    logprobs = choice.get("logprobs")
    if logprobs is None:
        raise lacking(
            where, "it answered without log-probabilities: it ignores that they are asked for"
        )
    if isinstance(logprobs, dict) and "tokens" not in logprobs and "content" in logprobs:
        raise lacking(where, "it gives log-probabilities of what it generates, not of the text")
    parts = logprobs if isinstance(logprobs, dict) else {}
    tokens, values = parts.get("tokens"), parts.get("token_logprobs")
    if not isinstance(tokens, list) or not isinstance(values, list):
        raise lacking(where, "its log-probabilities have no lists `tokens` and `token_logprobs`")
    if len(tokens) != len(values):
        raise ModelError(
            where=where,
            seen=f"it names {len(tokens)} tokens and gives {len(values)} log-probabilities",
            todo="This is a fault of the server: it cannot be known which belong together.",
        )
    offsets = parts.get("text_offset")
    whole = (
        [offset for offset in offsets if isinstance(offset, int)]
        if isinstance(offsets, list)
        else []
    )
    return _Listed(
        tokens=[str(token) for token in tokens],
        values=[_number(value, where) for value in values],
        offsets=whole if len(whole) == len(tokens) else [],
    )


def _number(value: JsonValue, where: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ModelError(where=where, seen=f"it gives {value!r} as a log-probability")
    return float(value)


def _checked(value: float | None, token: str, where: str, *, first: bool) -> float:
    """A log-probability; NaN for the first token of all where the server does not score it.

    Some servers give 0 for it, the probability 1, which no token has.
    """
    if first and (value is None or value == 0):
        return math.nan
    if value is None or not math.isfinite(value) or value <= CLAMPED_NATS:
        raise NonFiniteScoreError(
            where=where,
            seen=f"the server gave {'nothing' if value is None else value} for the token {token!r}",
            todo="Its weights may be damaged, or its number format too narrow.",
        )
    if value > _ROUNDING_NATS:
        raise ModelError(
            where=where,
            seen=f"the server gave {value} for the token {token!r}, which is no logarithm of a"
            " probability",
        )
    return value


def listed_tokens(answer: JsonValue) -> dict[str, float]:
    """The most probable first tokens of a reply in a chat, without blanks around them.

    Tokens that differ in blanks only are one, with the probability of both.

    Returns:
        Token to log-probability in nats; empty where the server lists none.
    """
    place: JsonValue = value_at(answer, "choices", 0, "logprobs", "content", 0, "top_logprobs")
    shares: dict[str, float] = {}
    for entry in place if isinstance(place, list) else ():
        token, value = map(entry.get, ("token", "logprob")) if isinstance(entry, dict) else (0, 0)
        if isinstance(token, str) and isinstance(value, int | float) and value > CLAMPED_NATS:
            shares[token.strip()] = shares.get(token.strip(), 0.0) + math.exp(value)
    return {token: math.log(share) for token, share in shares.items() if share > 0}


def listed_answers(options: Sequence[str], listed: Mapping[str, float]) -> list[float | None]:
    """The log-probability of each answer by the tokens that are listed; None where none is its own.

    A letter or a number is a token by itself. A word may be parted, and begin with a capital: it
    has the tokens that it begins with, and that no other answer does.

    Args:
        options: the answers.
        listed: token to log-probability in nats.
    """
    words = [option.strip().casefold() for option in options]
    known: list[float | None] = []
    for option, word in zip(options, words, strict=True):
        if len(word) == 1:
            known.append(listed.get(option.strip()))
            continue
        others = [other for other in words if other != word]
        shares = [
            math.exp(nats)
            for token, nats in listed.items()
            if token
            and word.startswith(token.casefold())
            and not any(other.startswith(token.casefold()) for other in others)
        ]
        known.append(math.log(math.fsum(shares)) if shares else None)
    return known


def token_usage(answer: JsonValue) -> Tokens:
    """The tokens of one request, as the server counts them."""
    return Tokens(1, _usage(answer, "prompt_tokens"), _usage(answer, "completion_tokens"))


def _usage(answer: JsonValue, name: str) -> int | None:
    """A number of tokens that the server counted; None if it does not report it."""
    counted: JsonValue = value_at(answer, "usage", name)
    if isinstance(counted, bool) or not isinstance(counted, int) or counted < 0:
        return None
    return counted


def _mismatch(choice: JsonObject, tokens: Sequence[str], text: str, where: str) -> ModelError:
    """The error for tokens that do not fit a text."""
    echoed = str(choice.get("text", "")).strip().startswith(text.strip())
    if not echoed and not "".join(tokens).strip().startswith(text[:1]):
        return lacking(where, "it gives log-probabilities of what it generates, not of the text")
    shown = ", ".join(repr(token) for token in tokens[:_SHOWN])
    return ModelError(
        where=where,
        seen=f"the tokens it names do not spell the text it was sent: {shown}"
        + (", ..." if len(tokens) > _SHOWN else ""),
        todo="Its tokenizer may change texts, or the server name tokens by number; neither its"
        " strings nor its offsets say which characters a token covers.",
    )

"""A server's answer to one text: tokens, their places in the text, and their scores.

The answer is that of the OpenAI completions endpoint asked with ``echo`` and ``logprobs``: the
tokens of the prompt with their log-probabilities, and after them those that were generated.

An answer counts only if it is one to the text that was sent: the echo must begin with it, and the
tokens must spell it (`cimento.models.server.spelling`). Otherwise a server or proxy that mixes up
two requests would exchange their scores.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from cimento.errors import ModelError, NonFiniteScoreError
from cimento.io.parsing import value_at
from cimento.models.checked import ROUNDING_NATS
from cimento.models.server.spelling import Starts, are_numbers, echoed, first_misfit, token_starts
from cimento.records.usage import Tokens
from cimento.suites import JsonValue

CLAMPED_NATS = -9999.0
"""The number that vLLM writes for minus infinity, which JSON lacks."""

CAN_SCORE = (
    "Scoring needs log-probabilities of the prompt (echo with logprobs on /completions):"
    " vLLM gives them, and llama-cpp-python started with --logits_all true. A model that only chats"
    " can be asked by prompt: cimento suites build prompted."
)

_MIXED_UP = (
    "Its scores are not used. Its tokenizer may change texts, or it names tokens by number without"
    " an echo of the text; if not, the server or a proxy mixes up requests: try --concurrency 1."
)

_SHOWN = 6
_SHOWN_CHARACTERS = 40

JsonObject: TypeAlias = "dict[str, JsonValue]"


@dataclass(frozen=True, slots=True)
class TextScores:
    """The scores that a server returned for a text.

    Attributes:
        scores: offset of a token's first byte in the UTF-8 text to its log-probability in nats;
            NaN for a first token that has no left context.
        before: the special tokens that it put before the text, as it spells them.
        n_tokens: number of tokens that it read: those of the text, and those before it.
        recased: whether its tokens have other capitals than the text.
    """

    scores: dict[int, float]
    before: str
    n_tokens: int
    recased: bool = False


@dataclass(frozen=True, slots=True)
class _TokenLists:
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
        ModelError: the answer has another form, lacks log-probabilities of the text, echoes
            another text, or names tokens that are not those of the text.
        NonFiniteScoreError: it holds NaN, infinity, or nothing where a number should be.
    """
    choice = _choice(answer, where, redacted)
    listed = _lists(choice, where)
    starts, recased = _starts(choice, listed, text, where, _usage(answer, "prompt_tokens"))
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
    if len(values) > 1 and not any(values[1:]) and values[0] in (None, 0):
        raise ModelError(
            where=where,
            seen="it gives every token of the text the log-probability 0, which is certainty",
            todo="This is a fault of the server or of a proxy before it; no model is this sure.",
        )
    scores: dict[int, float] = {}
    for index, (start, value) in enumerate(zip(starts, values, strict=True)):
        if start is not None:
            logprob = _checked(value, listed.tokens[index], where, first=index == 0)
            scores[start] = scores.get(start, 0.0) + logprob
    special = [token for token, start in zip(listed.tokens, starts, strict=False) if start is None]
    return TextScores(scores=scores, before="".join(special), n_tokens=len(starts), recased=recased)


def read_texts(
    answer: JsonValue, texts: Sequence[str], *, where: str, redacted: Callable[[str], str] = str
) -> list[TextScores]:
    """The scores in a server's answer to a list of texts, each checked against its own text.

    Args:
        answer: the JSON that the server sent; its choices say by ``index`` which text they are of.
        texts: what it was sent.
        where: the server and the texts, for messages.
        redacted: takes secrets out of the server's own words.

    Raises:
        ModelError: there is not one choice for each text, or one is as for `read_text_scores`.
        NonFiniteScoreError: as there.
    """
    choices: JsonValue = value_at(answer, "choices")
    by_index: dict[int, JsonValue] = {}
    for choice in choices if isinstance(choices, list) else ():
        index = choice.get("index") if isinstance(choice, dict) else None
        if isinstance(index, int) and not isinstance(index, bool):
            by_index[index] = choice
    n_choices = len(choices) if isinstance(choices, list) else 0
    if n_choices != len(texts) or by_index.keys() != set(range(len(texts))):
        raise ModelError(
            where=where, seen=f"it answered with {n_choices} choices, or does not number them"
        )
    # Tokens are counted for all texts together: only whether one was generated can be told.
    written = _usage(answer, "completion_tokens")
    usage: JsonValue = {} if written is None else {"completion_tokens": written}
    return [
        read_text_scores(
            {"choices": [by_index[index]], "usage": usage}, text, where=where, redacted=redacted
        )
        for index, text in enumerate(texts)
    ]


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


def _lists(choice: JsonObject, where: str) -> _TokenLists:
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
    return _TokenLists(
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
    if value > ROUNDING_NATS:
        raise ModelError(
            where=where,
            seen=f"the server gave {value} for the token {token!r}, which is not a logarithm of a"
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


def _starts(
    choice: JsonObject, listed: _TokenLists, text: str, where: str, prompt_tokens: int | None
) -> tuple[Starts, bool]:
    """The starts of the tokens of a text, and whether these have other capitals than the text.

    Raises:
        ModelError: the echo or the tokens are those of another text.
    """
    said = choice.get("text")
    echo = said if isinstance(said, str) and said.strip() else None
    starts = token_starts(
        text,
        listed.tokens,
        # Offsets alone would fit every text of the same length.
        offsets=listed.offsets if echo is not None and echoed(echo, text) else (),
        prompt_tokens=prompt_tokens,
    )
    recased = starts is None
    if starts is None:
        starts = token_starts(text, listed.tokens, prompt_tokens=prompt_tokens, recased=True)
    if starts is None:
        raise _mismatch(echo or "", listed.tokens, text, where)
    if echo is not None and not echoed(echo, text, recased=recased):
        raise ModelError(
            where=where,
            seen=f"it echoes another text than the one it was sent: {echo[:_SHOWN_CHARACTERS]!r}",
            todo=_MIXED_UP,
        )
    return starts, recased


def _mismatch(echo: str, tokens: Sequence[str], text: str, where: str) -> ModelError:
    """The error for tokens that do not fit a text."""
    is_echo = echo.strip().startswith(text.strip())
    spells = are_numbers(tokens) or "".join(tokens).strip().startswith(text[:1])
    if not is_echo and not spells:
        return lacking(where, "it gives log-probabilities of what it generates, not of the text")
    shown = ", ".join(repr(token) for token in tokens[:_SHOWN])
    number, place = first_misfit(text, tokens)
    rest = text.encode()[place:].decode(errors="replace")
    goes_on = f"goes on with {rest[:_SHOWN_CHARACTERS]!r}" if rest else "is at its end"
    stands = f"token {number + 1} is {tokens[number]!r}" if number < len(tokens) else "they end"
    return ModelError(
        where=where,
        seen=f"the tokens it names do not spell the text it was sent: {shown}"
        + (", ..." if len(tokens) > _SHOWN else "")
        + f"; {stands} where the text {goes_on}",
        todo=_MIXED_UP,
    )

"""What a server's answer to one text says of its tokens, or what it lacks.

The answer is that of the OpenAI completions endpoint asked with ``echo`` and ``logprobs``: the
tokens of the prompt with their log-probabilities, and after them those that were generated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from cimento.errors import ModelError, NonFiniteScoreError
from cimento.models.server_tokens import token_starts
from cimento.suites.model import JsonValue

CLAMPED_NATS = -9999.0
"""What vLLM writes for minus infinity, which JSON has no word for."""

CAN_SCORE = (
    "Scoring needs log-probabilities of the prompt (echo with logprobs on /completions):"
    " vLLM gives them, and llama-cpp-python started with --logits_all true."
)

_ROUNDING_NATS = 1e-3
_SHOWN = 6

JsonObject: TypeAlias = "dict[str, JsonValue]"


@dataclass(frozen=True, slots=True)
class Told:
    """What a server told about a text.

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


def read_answer(
    answer: JsonValue, text: str, *, where: str, redacted: Callable[[str], str] = str
) -> Told:
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
        text,
        listed.tokens,
        offsets=listed.offsets,
        prompt_tokens=_usage(answer, "prompt_tokens"),
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
    return Told(scores=scores, before="".join(special))


def lacking(where: str, seen: str) -> ModelError:
    """The error for a server that cannot score."""
    return ModelError(where=where, seen=seen, todo=CAN_SCORE)


def _choice(answer: JsonValue, where: str, redacted: Callable[[str], str]) -> JsonObject:
    choices = answer.get("choices") if isinstance(answer, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
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
    whole = [each for each in offsets if isinstance(each, int)] if isinstance(offsets, list) else []
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


def _usage(answer: JsonValue, name: str) -> int | None:
    """A number of tokens that the server counted, where it says so."""
    usage = answer.get("usage") if isinstance(answer, dict) else None
    counted = usage.get(name) if isinstance(usage, dict) else None
    return counted if isinstance(counted, int) else None


def _mismatch(choice: JsonObject, tokens: Sequence[str], text: str, where: str) -> ModelError:
    """Why tokens do not fit a text."""
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

"""Models behind OpenAI-compatible servers; here the fields of requests, also those of the user.

Servers accept different fields: OpenAI's newer models require ``max_completion_tokens`` instead of
``max_tokens``, and refuse a temperature of 0. A refusal of this kind is learned once for its model;
other fields can be given with ``--body``.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from cimento.errors import ModelError, UsageError
from cimento.io.parsing import parse_json
from cimento.models.questions import Choose, Reply
from cimento.suites import JsonValue

Fields: TypeAlias = Mapping[str, JsonValue]

OPTION = "--body"

KEY_VARIABLES = ("CIMENTO_API_KEY", "OPENAI_API_KEY")
"""Environment variables that may hold the server's key; the first that is set is used."""

ANSWER = "answer"
"""The key of the answer in a constrained reply."""

MAX_TOKENS, MAX_COMPLETION_TOKENS, TEMPERATURE = (
    "max_tokens", "max_completion_tokens", "temperature"
)  # fmt: skip
LIMITS = (MAX_COMPLETION_TOKENS, MAX_TOKENS)
_REPLY_FIELDS = frozenset({*LIMITS, "stop"})
"""Fields that say how much is written; where texts are scored, what is written is not looked at."""

_OURS: Mapping[str, str] = {
    "model": "Say it with -m openai:URL#model.",
    "messages": "They are made from the suite.",
    "prompt": "It is made from the suite.",
    "echo": "It is asked for where texts are scored.",
    "logprobs": "They are asked for where texts are scored.",
    "top_logprobs": "They are asked for where they are used.",
    "n": "One answer is read.",
    "best_of": "One answer is read.",
    "stream": "Answers are read whole.",
    "stream_options": "Answers are read whole.",
    "response_format": "It follows from the suite's options.",
}
"""Fields that cannot be given, and what to do instead."""

_SECRET = re.compile(
    r"api[_-]?key|(^|[_-])token$|secret|passw|authori[sz]ation|credential|bearer", re.IGNORECASE
)
_SECRET_VALUE = re.compile(r"(sk-|Bearer )\S")
_MOST_STOPS = 4
MOST_TOKENS = 20
"""Largest number of alternative tokens that servers list."""

_WANTS_ANOTHER_LIMIT = re.compile(r"\bmax_tokens\b.*\bmax_completion_tokens\b", re.DOTALL)
_REFUSES_TEMPERATURE = re.compile(
    r"\btemperature\b.*(unsupported|not support|only the default|not allowed|deprecated)"
    r"|unsupported \w+: '?temperature",
    re.IGNORECASE | re.DOTALL,
)
_REFUSALS = frozenset({400, 422})
_DRAWN = (
    "the server refuses a temperature: it draws its replies as it does by default, so that they may"
    " differ when it is asked again"
)


class Refusal(Exception):  # noqa: N818  # the cause of an error, and never raised by itself
    """The error of a request that a server refuses, with the server's words.

    Args:
        status: that it answered with.
        said: its words.
    """

    def __init__(self, status: int, said: str) -> None:
        super().__init__(said)
        self.status = status
        self.said = said


def parse_body(texts: Sequence[str]) -> dict[str, JsonValue]:
    """Fields of requests from ``KEY=VALUE``, whose value is JSON or else text, and JSON objects.

    Args:
        texts: as the user wrote them.

    Raises:
        UsageError: one is neither, a field is there twice, is one of cimento's, or may hold a
            secret, which would be stored.
    """
    fields: dict[str, JsonValue] = {}
    for text in texts:
        for key, value in _assigned(text).items():
            if key in fields:
                raise UsageError(where=f"{OPTION}={key}", seen="it is given twice")
            fields[key] = value
    refuse_fields(fields)
    return fields


def checked_body(texts: tuple[str, ...]) -> tuple[str, ...]:
    """The texts, refused before any file can hold them; see `parse_body`."""
    parse_body(texts)
    return texts


def _assigned(text: str) -> dict[str, JsonValue]:
    if text.lstrip().startswith("{"):
        try:
            value = parse_json(text)
        except ValueError:
            value = None
        if isinstance(value, dict):
            return value
    key, equals, value = text.partition("=")
    if not equals or not key.strip() or key.lstrip().startswith("{"):
        raise UsageError(
            where=OPTION,
            # The text is not shown, because it may be a secret key.
            seen="what is given is neither KEY=VALUE nor a JSON object",
            todo="Write it as seed=7, or as '{\"seed\": 7}'.",
        )
    try:
        return {key.strip(): parse_json(value.strip())}
    except ValueError:
        return {key.strip(): value.strip()}


def refuse_fields(fields: Fields) -> None:
    """Refuse fields that are cimento's, or that may hold a secret.

    Raises:
        UsageError: one is, or may; a value is not shown.
    """
    for key in fields:
        if key in _OURS:
            raise UsageError(
                where=f"{OPTION}={key}", seen="it cannot be given this way", todo=_OURS[key]
            )
    known = [os.environ.get(name, "").strip() for name in KEY_VARIABLES]
    if _hides(dict(fields), [key for key in known if key]):
        raise UsageError(
            where=OPTION,
            seen="a field looks like a key or a password, and would be stored with the run",
            todo=f"Put the key into the environment variable {KEY_VARIABLES[0]}.",
        )


def _hides(value: JsonValue, keys: Sequence[str]) -> bool:
    """Whether a value may hold a secret."""
    if isinstance(value, dict):
        return any(_SECRET.search(name) or _hides(element, keys) for name, element in value.items())
    if isinstance(value, list):
        return any(_hides(element, keys) for element in value)
    text = str(value)
    return bool(_SECRET_VALUE.match(text)) or any(key in text for key in keys)


@dataclass
class Bodies:
    """The maker of requests to one model, which threads share.

    Attributes:
        model: its name in requests.
        fields: the user's; null leaves a field out that cimento would send.
        renamed: whether the server wants `MAX_COMPLETION_TOKENS`.
        sampled: whether the server refuses a temperature.
        lists: whether a request for scores may hold several texts; probes tell.
    """

    model: str
    fields: Fields = field(default_factory=dict)
    renamed: bool = False
    sampled: bool = False
    lists: bool = False

    def __post_init__(self) -> None:
        refuse_fields(self.fields)

    @property
    def shown(self) -> tuple[str, ...]:
        """The user's fields in one line, for manifests and addresses; empty for none."""
        return (json.dumps(dict(self.fields), sort_keys=True),) if self.fields else ()

    @property
    def remarks(self) -> tuple[str, ...]:
        """Remarks on learned properties of the server that can change answers, as sentences."""
        return (_DRAWN,) if self.sampled else ()

    def scoring(self, text: str | Sequence[str]) -> dict[str, JsonValue]:
        """A request for the scores of a text, or of several."""
        fields = {key: value for key, value in self.fields.items() if key not in _REPLY_FIELDS}
        if fields.get(TEMPERATURE) is not None:
            del fields[TEMPERATURE]
        return _merged(
            {
                "model": self.model,
                "prompt": text if isinstance(text, str) else list(text),
                # Some servers require at least one generated token, which is ignored.
                MAX_TOKENS: 1,
                TEMPERATURE: 0,
                "echo": True,
                "logprobs": 1,
            },
            fields,
        )

    def reply(self, ask: Reply) -> dict[str, JsonValue]:
        """A request for a reply."""
        limit = MAX_COMPLETION_TOKENS if self.renamed else MAX_TOKENS
        body: dict[str, JsonValue] = {"model": self.model}
        if not self.fields.keys() & set(LIMITS):
            body[limit] = ask.max_tokens
        if not self.sampled:
            body[TEMPERATURE] = 0
        if ask.messages:
            body["messages"] = [{"role": role, "content": text} for role, text in ask.messages]
        else:
            body["prompt"] = ask.prompt
        if ask.stop:
            body["stop"] = list(ask.stop[:_MOST_STOPS])
        if ask.options:
            body["response_format"] = _one_of(ask.options)
        return _merged(body, self.fields)

    def choice(self, ask: Choose) -> dict[str, JsonValue]:
        """A request for the first token of a reply, and the most probable ones in its place."""
        first = self.reply(Reply(messages=ask.messages, max_tokens=1))
        return {**first, "logprobs": True, "top_logprobs": MOST_TOKENS}

    def learns(self, error: ModelError, sent: Fields) -> bool:
        """Whether a request that was refused can be sent again in another form.

        A learned property is kept. Fields that the user gave are not changed.

        Args:
            error: that came of it.
            sent: the request.
        """
        refusal = error.__cause__
        if not isinstance(refusal, Refusal) or refusal.status not in _REFUSALS:
            return False
        # Another thread may have learned it since; what was sent tells.
        if (
            MAX_TOKENS in sent
            and MAX_TOKENS not in self.fields
            and _WANTS_ANOTHER_LIMIT.search(refusal.said)
        ):
            self.renamed = True
            return True
        if (
            TEMPERATURE in sent
            and TEMPERATURE not in self.fields
            and _REFUSES_TEMPERATURE.search(refusal.said)
        ):
            self.sampled = True
            return True
        return False


def _merged(ours: dict[str, JsonValue], fields: Fields) -> dict[str, JsonValue]:
    """The user's fields over ours; those that are null are left out."""
    return {key: value for key, value in {**ours, **fields}.items() if value is not None}


def _one_of(options: Sequence[str]) -> JsonValue:
    """The constraint that the reply is an object with one of some answers."""
    schema: JsonValue = {
        "type": "object",
        "properties": {ANSWER: {"type": "string", "enum": [option.strip() for option in options]}},
        "required": [ANSWER],
        "additionalProperties": False,
    }
    return {
        "type": "json_schema",
        "json_schema": {"name": "one_answer", "strict": True, "schema": schema},
    }

"""Replies from an OpenAI-compatible server: of its chat endpoint, or of its completions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from cimento.errors import ModelError
from cimento.io.parsing import parse_json
from cimento.models.answering import Reply, StopReason, Written
from cimento.models.base import ModelCard
from cimento.models.server_http import Server
from cimento.models.server_pool import ask_at_once
from cimento.suites.model import JsonValue

MALFORMED_ATTEMPTS = 3
"""How often a server is asked that answers, but with something else than a reply."""

_SHOWN = 60
_MOST_STOPS = 4
_KEY = "answer"


class ServerReplier:
    """A model behind a server, asked to answer in its own words.

    Args:
        server: that is asked.
        card: what is known about the model.
        model: its name in requests.
        concurrency: requests that are under way at once.
        remarks: what the user should know of the server, as sentences.
    """

    def __init__(
        self,
        server: Server,
        *,
        card: ModelCard,
        model: str,
        concurrency: int,
        remarks: tuple[str, ...] = (),
    ) -> None:
        self._server = server
        self._model = model
        self._concurrency = concurrency
        self.card = card
        self.remarks = remarks

    def reply(self, asks: Sequence[Reply]) -> Iterator[tuple[int, Written]]:
        """Answer prompts, several at once; see `Replier`."""
        yield from ask_at_once(
            range(len(asks)),
            lambda number: self._ask(asks[number]),
            concurrency=self._concurrency,
            stop=self._server.stop,
        )

    def _ask(self, ask: Reply) -> Written:
        shown = ask.messages[-1][1] if ask.messages else ask.prompt
        about = f"prompt that ends in {shown[-_SHOWN:]!r}"
        path = "/chat/completions" if ask.messages else "/completions"
        body = self._body(ask)
        for _ in range(MALFORMED_ATTEMPTS):
            answer = self._server.post(path, body, about=about)
            reply = read_reply(answer, chat=bool(ask.messages), options=ask.options)
            if reply is not None:
                return reply
        raise ModelError(
            where=f"{self._server.where}, {about}",
            seen=f"no reply in its answer, {MALFORMED_ATTEMPTS} times"
            f" (the last: {self._server.redacted(json.dumps(answer))[:200]})",
            todo="Does the server keep the OpenAI form? What was answered is kept: run again.",
        )

    def _body(self, ask: Reply) -> dict[str, JsonValue]:
        body: dict[str, JsonValue] = {
            "model": self._model,
            "max_tokens": ask.max_tokens,
            "temperature": 0,
        }
        if ask.messages:
            body["messages"] = [{"role": role, "content": text} for role, text in ask.messages]
        else:
            body["prompt"] = ask.prompt
        if ask.stop:
            body["stop"] = list(ask.stop[:_MOST_STOPS])
        if ask.options:
            body["response_format"] = _one_of(ask.options)
        return body


def _one_of(options: Sequence[str]) -> JsonValue:
    """That the reply is an object with one of some answers in it."""
    schema: JsonValue = {
        "type": "object",
        "properties": {_KEY: {"type": "string", "enum": [option.strip() for option in options]}},
        "required": [_KEY],
        "additionalProperties": False,
    }
    return {
        "type": "json_schema",
        "json_schema": {"name": "one_answer", "strict": True, "schema": schema},
    }


def read_reply(answer: JsonValue, *, chat: bool, options: Sequence[str]) -> Written | None:
    """The reply in an answer; None where there is none.

    Args:
        answer: of the server.
        chat: whether turns were sent, and not one text.
        options: that the reply was constrained to; empty where it was free.
    """
    choices = answer.get("choices") if isinstance(answer, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict):
        return None
    text: JsonValue = choice.get("text")
    if chat:
        message = choice.get("message")
        if not isinstance(message, dict) or "content" not in message:
            return None
        # A model that refuses may write nothing at all.
        text = message["content"] or ""
    if not isinstance(text, str):
        return None
    reason: StopReason = "length" if choice.get("finish_reason") == "length" else "end"
    return Written(_unpacked(text) if options else text, reason)


def _unpacked(text: str) -> str:
    """The answer in a constrained reply; the reply itself where the server does not constrain."""
    try:
        content = parse_json(text)
    except ValueError:
        return text
    found = content.get(_KEY) if isinstance(content, dict) else None
    return found if isinstance(found, str) else text

"""Models behind an OpenAI-compatible server: a text goes there, its tokens and scores come back.

The tokenizer is the server's, so nothing is known of the tokens before it answers: this is a
`TextScorer`. Which weights the server holds cannot be seen either; the revision is a hash of what
it reports about the model.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from cimento.errors import UsageError
from cimento.models.base import ModelCard, Policy
from cimento.models.server_answers import JsonObject, Told, read_answer
from cimento.models.server_chat import ServerReplier
from cimento.models.server_http import NotThereError, Patience, Server
from cimento.models.server_pool import ask_at_once
from cimento.requests import ScoreRequest
from cimento.suites.model import JsonValue

_IDENTITY = ("id", "root", "parent", "owned_by", "max_model_len", "meta")
"""Fields of a model's entry that say what it is; the others change from request to request."""
_SHOWN = 60
_SHOWN_MODELS = 5


class ServerScorer:
    """Scores texts with a model behind a server.

    Args:
        server: that is asked.
        card: what is known about the model.
        model: its name in requests.
        concurrency: requests that are under way at once.
    """

    def __init__(self, server: Server, *, card: ModelCard, model: str, concurrency: int) -> None:
        self._server = server
        self._card = card
        self._model = model
        self._concurrency = concurrency

    @property
    def card(self) -> ModelCard:
        """What is known about the model; its BOS token once it has answered."""
        return self._card

    def read(self, texts: Sequence[str]) -> Iterator[tuple[str, dict[int, float]]]:
        """Score texts, several at once; see `TextScorer`."""
        for text, told in ask_at_once(
            texts, self._ask, concurrency=self._concurrency, stop=self._server.stop
        ):
            self._card = dataclasses.replace(self._card, bos=told.before)
            yield text, told.scores

    def replier(self) -> ServerReplier:
        """The same model, asked to answer in its own words."""
        return ServerReplier(
            self._server, card=self._card, model=self._model, concurrency=self._concurrency
        )

    def remarks(self, requests: Sequence[ScoreRequest]) -> tuple[str, ...]:  # noqa: ARG002  # the same for all
        """Whether the server says what it serves."""
        if "reported" in self._card.details:
            return ()
        return ("the server does not say what this model is; it is known by its name alone",)

    def _ask(self, text: str) -> Told:
        body: dict[str, JsonValue] = {
            "model": self._model,
            "prompt": text,
            # Some servers refuse to generate nothing; what is generated is not looked at.
            "max_tokens": 1,
            "temperature": 0,
            "echo": True,
            "logprobs": 1,
        }
        about = f"text {text if len(text) <= _SHOWN else text[: _SHOWN - 1] + '…'!r}"
        answer = self._server.post("/completions", body, about=about)
        where = f"{self._server.where}, {about}"
        return read_answer(answer, text, where=where, redacted=self._server.redacted)


def connect(address: str, *, policy: Policy, concurrency: int, timeout_s: float) -> ServerScorer:
    """Find a model behind a server.

    Args:
        address: ``URL#model``; the model may be left out where the server has only one.
        policy: how texts are scored.
        concurrency: requests that are under way at once.
        timeout_s: without a sign of the server before it is asked again.

    Raises:
        UsageError: the URL is none, the model is missing, or the policy cannot be kept.
        ModelError: the server does not answer.
    """
    url, _, name = address.partition("#")
    _check_policy(policy)
    server = Server(url, patience=Patience(timeout_s=timeout_s))
    entries = _models(server)
    model = name or _only(entries, server)
    entry = entries.get(model) or (next(iter(entries.values())) if len(entries) == 1 else {})
    reported = {key: entry[key] for key in _IDENTITY if entry.get(key) is not None}
    window = entry.get("max_model_len")
    content = json.dumps([model, reported], sort_keys=True)
    details = {"server": server.url}
    if reported:
        details["reported"] = json.dumps(reported, sort_keys=True)
    card = ModelCard(
        name=PurePosixPath(model).name if model.startswith("/") else model,
        kind="causal",
        revision=hashlib.sha256(content.encode()).hexdigest(),
        tokenizer="",
        device="server",
        window=window if isinstance(window, int) else None,
        details=details,
    )
    return ServerScorer(server, card=card, model=model, concurrency=concurrency)


def _check_policy(policy: Policy) -> None:
    """Refuse what only a model that is loaded here can be told."""
    refused = {
        "--bos": policy.bos not in ("auto", "tokenizer"),
        "--leading-blank": policy.leading_blank,
        "--window": policy.window != "refuse",
    }
    for option in (name for name, chosen in refused.items() if chosen):
        raise UsageError(
            where=option,
            seen="a server takes texts as they are, and its own tokenizer says what is before them",
            todo="Leave the option out.",
        )


def _models(server: Server) -> dict[str, JsonObject]:
    """What the server reports about its models, by name; empty where it keeps no such list."""
    try:
        answer = server.get("/models")
    except NotThereError:
        return {}
    data = answer.get("data") if isinstance(answer, dict) else None
    entries = [entry for entry in data if isinstance(entry, dict)] if isinstance(data, list) else []
    return {str(entry["id"]): entry for entry in entries if "id" in entry}


def _only(models: Iterable[str], server: Server) -> str:
    names = list(models)
    if len(names) != 1:
        listed = ", ".join(names[:_SHOWN_MODELS]) or "none"
        raise UsageError(
            where=server.where,
            seen=f"the address names no model, and the server lists {listed}",
            todo="Write it as openai:URL#model.",
        )
    return names[0]

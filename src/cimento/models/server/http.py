"""HTTP requests to a server, several at once, and the errors of those that fail."""

from __future__ import annotations

import json
import os
import re
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Generator, Hashable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import replace
from typing import NoReturn, TypeVar
from urllib.parse import urlsplit

from cimento.errors import CimentoError, ModelError, TextTooLongError, UsageError
from cimento.io.deadline import Limit, TooSlowError
from cimento.io.parsing import parse_json, value_at
from cimento.io.transport import (
    ANSWER_TIMEOUTS,
    BROKEN,
    LOOPBACK,
    MOST_OF_REFUSAL,
    USER_AGENT,
    Patience,
    TransientError,
    opener,
    patiently,
    transient,
)
from cimento.models.server import KEY_VARIABLES, Refusal
from cimento.models.server.answers import lacking
from cimento.suites import JsonValue

MOST_BYTES = 100_000_000
"""Greatest size of an answer in bytes; a text of a million tokens needs less."""

REFUSED_KEY = frozenset({401, 403})
"""The statuses of a server that wants a key, or another one."""

_NOT_THERE = frozenset({404, 405, 501})
_REDIRECTED = range(300, 400)
_NEEDS_PROMPT_LOGPROBS = re.compile(r"logits_all|log_?prob|\becho\b", re.IGNORECASE)
_TOO_LONG = re.compile(r"context (length|window|size)|too (long|many tokens)", re.IGNORECASE)
_SAID = 300
_SHORTEST_SECRET = 8

Asked = TypeVar("Asked", bound=Hashable)
Answer = TypeVar("Answer")


class NotThereError(ModelError):
    """The error of a path or model that the server does not have."""


class Server:
    """A server that speaks JSON, asked again where it fails in a way that may pass.

    Args:
        url: what paths are put behind, such as ``http://127.0.0.1:8000/v1``.
        patience: how long and how often it is asked.
        wait: waits for some seconds; by default until `stop` is called.

    Attributes:
        names: names of the models that its answers came from, in order of their first appearance,
            by path.

    Raises:
        UsageError: the URL is none of a server, or holds a secret.
    """

    def __init__(
        self,
        url: str,
        *,
        patience: Patience | None = None,
        wait: Callable[[float], object] | None = None,
    ) -> None:
        _check_url(url)
        self.url = url.rstrip("/")
        self.names: dict[str, dict[str, None]] = {}
        self._patience = patience or Patience()
        self._stopped = threading.Event()
        self._wait = wait or self._stopped.wait
        self._key = _api_key(url)
        self._spelled_key = _spellings(self._key)
        # No redirect is followed: the key must not go to another host.
        self._opener = opener(url, limit=Limit(self._patience.whole_s))

    @property
    def where(self) -> str:
        """The server, for messages."""
        return f"server {self.url}"

    def get(self, path: str) -> JsonValue:
        """The server's answer at a path, asked at most twice, to fail fast without a server.

        Raises:
            NotThereError: it has nothing there, or fails over it.
            ModelError: it does not answer, or refuses.
        """
        try:
            return self._ask(path, None, attempts=2, where=self.where)
        except ModelError as error:
            cause = error.__cause__
            if isinstance(cause, TransientError) and cause.status is not None:
                raise NotThereError(where=error.where, seen=error.seen) from cause
            raise

    def post(
        self,
        path: str,
        body: dict[str, JsonValue],
        *,
        about: str = "",
        attempts: int | None = None,
    ) -> JsonValue:
        """The server's answer to a JSON object.

        Args:
            path: behind the URL.
            body: what is sent.
            about: what it is about, for messages.
            attempts: how often it is asked at most; None for as often as usual.

        Raises:
            ModelError: it does not answer, however often it is asked, or refuses.
            TextTooLongError: it says that the text does not fit its model's window.
        """
        content = json.dumps(body).encode()
        where = f"{self.where}, {about}" if about else self.where
        answer = self._ask(path, content, attempts=attempts or self._patience.attempts, where=where)
        name = value_at(answer, "model")
        if isinstance(name, str) and name:
            self.names.setdefault(path, {}).setdefault(name)
        return answer

    def redacted(self, words: str) -> str:
        """Words without the key, in case the server repeats that in any spelling."""
        return self._spelled_key.sub("[key]", words) if self._spelled_key else words

    def stop(self) -> None:
        """Stop all waiting, so that requests which would be repeated fail."""
        self._stopped.set()

    def _ask(self, path: str, body: bytes | None, *, attempts: int, where: str) -> JsonValue:
        try:
            return patiently(
                lambda: self._ask_once(path, body, where),
                replace(self._patience, attempts=attempts),
                request=(body or b"").decode(),
                wait=self._wait,
                stopped=self._stopped.is_set,
            )
        except TransientError as error:
            _give_up(error, self.redacted(where))
        except TooSlowError as error:
            raise ModelError(
                where=self.redacted(where),
                seen="it went on sending, but its answer was not complete after"
                f" {self._patience.whole_s:g} s",
                todo="Is it, or a proxy before it, overloaded? --timeout=N gives each answer"
                f" {ANSWER_TIMEOUTS} times N seconds. What was answered is kept: run again.",
            ) from error
        except ModelError as error:
            # The one place for all messages about what a server said.
            error.where, error.seen = self.redacted(error.where), self.redacted(error.seen)
            error.args = (error.where, error.seen, error.todo)
            raise

    def _ask_once(self, path: str, body: bytes | None, where: str) -> JsonValue:
        headers = {"Content-Type": "application/json", "User-Agent": USER_AGENT}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = urllib.request.Request(self.url + path, data=body, headers=headers)  # noqa: S310  # http or https, checked
        try:
            with self._opener.open(request, timeout=self._patience.timeout_s) as response:
                content = response.read(MOST_BYTES + 1)
                if len(content) > MOST_BYTES:
                    raise ModelError(
                        where=where,
                        seen=f"its answer has more than {MOST_BYTES:,} bytes",
                        todo="Is it the server that you mean?",
                    )
                answer = self._without_key(content)
        except urllib.error.HTTPError as error:
            with error:
                self._refused(error, path, where)
        except TimeoutError as error:
            raise TransientError(f"nothing for {self._patience.timeout_s:g} s") from error
        except urllib.error.URLError as error:
            raise TransientError(self.redacted(str(error.reason))) from error
        except BROKEN as error:
            raise TransientError(f"the connection broke: {type(error).__name__}") from error
        except ValueError as error:
            raise TransientError("the answer is not JSON, or was cut short") from error
        return answer

    def _without_key(self, content: bytes) -> JsonValue:
        """An answer as a value; should it repeat the key, that is in none of its texts."""
        answer: JsonValue = parse_json(content)
        if self._spelled_key and self._spelled_key.search(content.decode(errors="replace")):
            answer = self._hidden(answer)
        return answer

    def _hidden(self, value: JsonValue) -> JsonValue:
        """A value without the key in its texts; the names of fields remain."""
        if isinstance(value, dict):
            return {name: self._hidden(element) for name, element in value.items()}
        if isinstance(value, list):
            return [self._hidden(element) for element in value]
        return self.redacted(value) if isinstance(value, str) else value

    def _refused(self, error: urllib.error.HTTPError, path: str, where: str) -> NoReturn:
        """Raise what a status other than 200 means."""
        status, said = error.code, self._said(error)
        words = f"status {status}" + (f": {said}" if said else "")
        if _NEEDS_PROMPT_LOGPROBS.search(said):
            raise lacking(where, f"it refused ({words})") from error
        if (passing := transient(error, words)) is not None:
            raise passing from error
        if status in REFUSED_KEY:
            # Its words may repeat a part of the key.
            raise ModelError(
                where=where,
                seen=f"it {'refuses the key' if self._key else 'wants a key'} (status {status})",
                todo=f"Set {' or '.join(KEY_VARIABLES)} in the environment.",
            ) from error
        if status in _NOT_THERE:
            raise NotThereError(
                where=where,
                seen=f"it has no {path}, or no such model ({words})",
                todo="Does the URL end in /v1? A server that only chats cannot score: ask for free"
                " answers (--set answer=generate of stories), or cimento suites build prompted.",
            ) from error
        if status in _REDIRECTED:
            # The message is redacted, but half a key would not be known.
            location = self.redacted(error.headers.get("Location", "elsewhere"))
            target = location.partition("?")[0].partition("#")[0][:_SAID]
            raise ModelError(
                where=where, seen=f"it redirects to {target}", todo="Give that URL."
            ) from error
        kind = TextTooLongError if _TOO_LONG.search(said) else ModelError
        raise kind(where=where, seen=f"it refused ({words})") from Refusal(status, said)

    def _said(self, error: urllib.error.HTTPError) -> str:
        """The server's own words about an error, in one line."""
        try:
            content = error.read(MOST_OF_REFUSAL).decode(errors="replace")
        except (*BROKEN, TooSlowError):
            return ""
        try:
            said = parse_json(content)
        except ValueError:
            said = content
        for name in ("error", "detail", "message"):
            said = said.get(name, said) if isinstance(said, dict) else said
        line = " ".join(str(said).split())
        return self.redacted(line)[:_SAID]


def _spellings(key: str) -> re.Pattern[str] | None:
    """What a key looks like in an answer or an address: as it is, escaped, in other capitals.

    Short words such as ``EMPTY`` are not secrets; local servers are given them since clients insist
    on a key.
    """
    if len(key) < _SHORTEST_SECRET:
        return None
    letters = [
        rf"(?:{re.escape(letter)}|%(?:25)*{ord(letter):02x}|\\+(?:u00|x){ord(letter):02x}"
        rf"|&#(?:x0*{ord(letter):x}|0*{ord(letter)});)"
        for letter in key
    ]
    return re.compile("".join(letters), re.IGNORECASE)


def _give_up(error: TransientError, where: str) -> NoReturn:
    cause = getattr(error.__cause__, "reason", None)
    if isinstance(cause, ConnectionRefusedError):
        raise ModelError(
            where=where,
            seen="connection refused: is the server running?",
            todo="Start it, or check host and port. Answers that came before are kept.",
        ) from error
    wait = "" if error.told_s is None else f", and asks to wait for {error.told_s:.0f} s"
    raise ModelError(
        where=where,
        seen=f"no usable answer after {error.attempts} attempt{'s' if error.attempts > 1 else ''}"
        f" (the last: {error}{wait})",
        todo="Is it running, and does the URL end in /v1? What was answered is kept: run again"
        " to go on.",
    ) from error


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        host = parts.hostname
        _ = parts.port
    except ValueError:
        parts, host = urlsplit(""), None
    if parts.scheme not in {"http", "https"} or not host:
        raise UsageError(
            where="--model",
            seen="what is between `openai:` and `#` is not an http or https URL",
            todo="Write it as openai:http://127.0.0.1:8000/v1#model.",
        )
    if parts.username is not None or parts.query:
        raise UsageError(
            where=f"server {host}",
            seen="its URL holds a user name, a password or a query, and would be stored",
            todo=f"Put the key into the environment variable {KEY_VARIABLES[0]}.",
        )


def _api_key(url: str) -> str:
    """The key to send; that of OpenAI goes unencrypted to this machine only."""
    parts = urlsplit(url)
    private = parts.scheme == "https" or parts.hostname in LOOPBACK
    for name in KEY_VARIABLES[: 2 if private else 1]:
        key = os.environ.get(name, "").strip()
        if key and not (key.isascii() and key.isprintable()):
            raise UsageError(
                where=name,
                seen="holds characters that no key has",
                todo="Set it again, without line breaks and quotation marks.",
            )
        if key:
            return key
    return ""


def ask_at_once(
    asked: Sequence[Asked],
    ask: Callable[[Asked], Answer],
    *,
    concurrency: int,
    stop: Callable[[], None],
) -> Generator[tuple[Asked, Answer]]:
    """Ask several requests concurrently; each answer is yielded as soon as it comes.

    Args:
        asked: what is asked.
        ask: asks for one of them; may wait and try again.
        concurrency: how many are under way at once.
        stop: ends all waiting, where nobody wants the answers any more.

    Raises:
        CimentoError: one could not be answered. Nothing new was sent from then on, and all that
            was under way has been yielded.
    """
    failure: CimentoError | None = None
    with ThreadPoolExecutor(concurrency) as pool:
        sent = {pool.submit(ask, one): one for one in asked}
        try:
            for future in as_completed(sent):
                if future.cancelled():
                    continue
                error = future.exception()
                if isinstance(error, CimentoError):
                    # Requests under way are still awaited, so that their answers are kept.
                    failure = failure or error
                    _cancel(sent)
                else:
                    yield sent[future], future.result()
        except BaseException:
            _cancel(sent)
            stop()
            raise
    if failure is not None:
        raise failure


def _cancel(futures: Iterable[Future[Answer]]) -> None:
    """Cancel all requests that have not been sent."""
    for future in futures:
        future.cancel()

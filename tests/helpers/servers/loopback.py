"""An OpenAI-compatible server with a tiny language model, which fails in whatever way a test wants.

Its tokens are words with the blank before them. The score of a token is minus its length in
bytes, less an eighth for each token before it: exact in binary, and no two places alike.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from cimento.models.server.identity import PROBES

Answer = dict[str, object]
Fault = Callable[["Handler"], None]


def pieces(text: str) -> list[str]:
    """Tokens of a text: words, each with the blank before it."""
    return re.findall(r" ?\S+", text)


def logprob(token: str, index: int) -> float:
    """Score of a token at a place, in nats."""
    return index / 8 - len(token.encode()) - 8.0


def completion(prompt: str, *, split: Callable[[str], list[str]] = pieces) -> Answer:
    """What a server that can score says: the text's tokens, and one that it generated."""
    tokens = [*split(prompt), " and"]
    values = [None if i == 0 else logprob(token, i) for i, token in enumerate(tokens)]
    starts = [sum(len(token) for token in tokens[:i]) for i in range(len(tokens))]
    listed = {"tokens": tokens, "token_logprobs": values, "text_offset": starts}
    return {
        "object": "text_completion",
        "model": "tiny",
        "choices": [{"index": 0, "text": prompt + " and", "logprobs": listed}],
        "usage": {"prompt_tokens": len(tokens) - 1, "completion_tokens": 1},
    }


@dataclass
class Loopback:
    """A running server: how it answers, and what it was asked.

    Attributes:
        answer: from a prompt to what is answered.
        faults: what befalls the next completions, one each; then all is well.
        models: what ``/models`` says; a number is the status of a refusal.
        prompts: what completions were asked for, in order, without probes.
        probed: the probes that it was asked for; no faults befall them.
        headers: of every request.
        bodies: of every completion that was asked for.
        lists: from the answers to a list of prompts to what is said; None where lists are refused.
        listed: the lists of prompts that it was asked for, without probes.
    """

    answer: Callable[[str], object] = completion
    faults: list[Fault] = field(default_factory=list)
    models: object = field(default_factory=lambda: {"data": [{"id": "tiny", "created": 1}]})
    prompts: list[str] = field(default_factory=list)
    probed: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    bodies: list[dict[str, object]] = field(default_factory=list)
    lists: Callable[[list[Answer]], object] | None = None
    listed: list[list[str]] = field(default_factory=list)
    url: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)
    closing: threading.Event = field(default_factory=threading.Event)

    @property
    def address(self) -> str:
        """The name of its model, as a user writes it."""
        return f"openai:{self.url}#tiny"


class Handler(BaseHTTPRequestHandler):
    """Answers for a `Loopback`."""

    server: _Server
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """The list of models."""
        state = self.server.state
        state.headers.append(dict(self.headers))
        status = state.models if isinstance(state.models, int) else 200
        if self.path != "/v1/models" or status != 200:
            self.send_json({"detail": "Not Found"}, status=status if status != 200 else 404)
        else:
            self.send_json(state.models)

    def do_POST(self) -> None:
        """A completion, or what goes wrong with it."""
        state = self.server.state
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path != "/v1/completions":
            self.send_json({"detail": "Not Found"}, status=404)
            return
        if isinstance(body["prompt"], list):
            self._answer_list(body["prompt"])
            return
        with state.lock:
            state.headers.append(dict(self.headers))
            state.bodies.append(body)
            is_probe = body["prompt"] in PROBES
            (state.probed if is_probe else state.prompts).append(body["prompt"])
            fault = state.faults.pop(0) if state.faults and not is_probe else None
        assert body["echo"] is True
        assert body["logprobs"] == 1
        assert body["max_tokens"] == 1
        if fault is not None:
            fault(self)
        else:
            self.send_json(state.answer(body["prompt"]))

    def _answer_list(self, prompts: list[str]) -> None:
        state = self.server.state
        if state.lists is None:
            self.send_json({"error": "prompt is not a string"}, status=400)
            return
        with state.lock:
            (state.probed if prompts[0] in PROBES else state.prompts).extend(prompts)
            if prompts[0] not in PROBES:
                state.listed.append(prompts)
        self.send_json(state.lists([state.answer(prompt) for prompt in prompts]))

    def send_json(self, content: object, *, status: int = 200, **headers: str) -> None:
        """Send an answer, whole."""
        self.send_bytes(json.dumps(content).encode(), status=status, **headers)

    def send_bytes(
        self, content: bytes, *, status: int = 200, length: int | None = None, **headers: str
    ) -> None:
        """Send an answer that may be shorter than it says."""
        self.send_response(status)
        self.send_header("Content-Length", str(len(content) if length is None else length))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        with suppress(OSError):
            self.wfile.write(content)


def numbered(answers: list[Answer]) -> Answer:
    """What a server that takes lists says: a choice for each text, and the tokens of all."""
    choices = [
        {**answer["choices"][0], "index": index}  # type: ignore[index]
        for index, answer in enumerate(answers)
    ]
    counts = [answer["usage"] for answer in answers]
    usage = {name: sum(count[name] for count in counts) for name in counts[0]}  # type: ignore[index, attr-defined]
    return {**answers[0], "choices": choices, "usage": usage}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # A connection that finds no place in the queue is tried again a second later.
    request_queue_size = 128
    state: Loopback

    def handle_error(self, *_: object) -> None:
        """A client that went away is part of the tests."""


def refuse(status: int, said: object = "", **headers: str) -> Fault:
    """Answer with a status."""
    return lambda handler: handler.send_json({"error": {"message": said}}, status=status, **headers)


def drop(handler: Handler) -> None:
    """Close the connection without a word."""
    handler.close_connection = True
    handler.connection.close()


def cut_short(handler: Handler) -> None:
    """Send half of what was announced."""
    handler.send_bytes(b'{"choices": [{"te', length=100)
    drop(handler)


def half_json(handler: Handler) -> None:
    """Send half of an answer as if it were whole."""
    handler.send_bytes(b'{"choices": [{"te')


def silence(handler: Handler) -> None:
    """Send nothing until the server closes."""
    handler.server.state.closing.wait()


def endless(status: int, sent: list[int], **headers: str) -> Fault:
    """Answer with a status and a body that goes on until the client has gone, or to 200 MB.

    Args:
        status: the status.
        sent: gets the size of each block that was sent, in bytes.
        headers: further ones.
    """

    def fault(handler: Handler) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.close_connection = True
        with suppress(OSError):
            while sum(sent) < 200_000_000:
                sent.append(handler.wfile.write(b" " * 100_000))

    return fault


def drip(beginning: bytes) -> Fault:
    """Send a beginning, and then a byte now and then, until the client has gone."""

    def fault(handler: Handler) -> None:
        handler.close_connection = True
        with suppress(OSError):
            handler.wfile.write(beginning)
            while not handler.server.state.closing.wait(0.02):
                handler.wfile.write(b" ")

    return fault


@contextmanager
def serve(
    answer: Callable[[str], object] = completion, *, faults: Iterable[Fault] = ()
) -> Iterator[Loopback]:
    """A server on a free port of this machine, for as long as the block lasts."""
    state = Loopback(answer=answer, faults=list(faults))
    with _Server(("127.0.0.1", 0), Handler) as server:
        server.state = state
        state.url = f"http://127.0.0.1:{server.server_port}/v1"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield state
        finally:
            state.closing.set()
            server.shutdown()
            thread.join()

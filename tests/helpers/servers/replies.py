"""A server of chats and completions on this machine, which fails in whatever way a test wants."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from typing import Any

from cimento.models.server.identity import PROBES
from tests.helpers.servers.loopback import Handler, drop, refuse

__all__ = ["ReplyServer", "drop", "refuse", "reply_server", "send"]

Fault = Callable[["ReplyHandler"], None]


@dataclass
class ReplyServer:
    """A running server: what it answers, and what it was asked.

    Attributes:
        answer: from turns, or from a prompt, to a reply; None for an answer without one.
        faults: what befalls the next requests, one each.
        asked: path and body of every request, without probes.
        scoring: what it says of a text that it is to score; by default something without scores.
        to_probes: its reply to probes, without faults; None for an answer without one; or what
            gives it.
        refuses: from a request to why it is refused; None where it is not.
        refused: what was said of requests that were, in order.
        finish: why its replies end.
        top: from turns to what is listed in the place of the first token; None where nothing is.
        usage: what an answer says of tokens; nothing by default.
    """

    answer: Callable[[Any], str | None]
    faults: list[Fault] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    scoring: object = field(default_factory=lambda: {"choices": [{"text": " and"}]})
    to_probes: str | Callable[[], str] | None = "a table"
    refuses: Callable[[dict[str, Any]], str | None] = lambda _: None
    refused: list[str] = field(default_factory=list)
    finish: str = "stop"
    top: Callable[[Any], object] | None = None
    usage: dict[str, int] | None = None
    models: object = field(default_factory=lambda: {"data": [{"id": "tiny"}]})
    headers: list[dict[str, str]] = field(default_factory=list)
    url: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def address(self) -> str:
        """The name of its model, as a user writes it."""
        return f"openai:{self.url}#tiny"

    @property
    def bodies(self) -> Sequence[dict[str, Any]]:
        """What was asked, in order."""
        return [request["body"] for request in self.asked]


class ReplyHandler(Handler):
    """Answers for a `ReplyServer`."""

    def do_POST(self) -> None:  # noqa: N802  # as http.server calls it
        """A reply, or what goes wrong with it."""
        state: Any = self.server.state
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if body.get("prompt") in (*PROBES, list(PROBES)):
            self.send_json(state.scoring)
            return
        if (words := state.refuses(body)) is not None:
            with state.lock:
                state.refused.append(words)
            refuse(400, words)(self)
            return
        if "messages" in body and body["messages"][-1]["content"] in PROBES:
            probed = state.to_probes
            self._reply(probed() if callable(probed) else probed)
            return
        with state.lock:
            state.asked.append({"path": self.path, "body": body})
            fault = state.faults.pop(0) if state.faults else None
            said = None if fault else state.answer(body.get("messages", body.get("prompt")))
        if fault is not None:
            fault(self)
        else:
            self._reply(said, asked=body.get("messages"))

    def _reply(self, said: str | None, *, asked: object = None) -> None:
        if said is None:
            self.send_json({"choices": []})
        elif self.path == "/v1/chat/completions":
            message = {"role": "assistant", "content": said}
            finish = self.server.state.finish
            counted = {"usage": self.server.state.usage} if self.server.state.usage else {}
            choice: dict[str, object] = {"message": message, "finish_reason": finish}
            if self.server.state.top is not None and asked is not None:
                place = {"token": said, "top_logprobs": self.server.state.top(asked)}
                choice["logprobs"] = {"content": [place]}
            self.send_json({"choices": [choice], **counted})
        else:
            self.send_json({"choices": [{"text": said, "finish_reason": "stop"}]})


def send(content: object) -> Fault:
    """Answer with something else."""
    return lambda handler: handler.send_json(content)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # A connection that finds no place in the queue is tried again a second later.
    request_queue_size = 128
    state: ReplyServer

    def handle_error(self, *_: object) -> None:
        """A client that went away is part of the tests."""


@contextmanager
def reply_server(
    answer: Callable[[Any], str | None], *, faults: Iterable[Fault] = ()
) -> Iterator[ReplyServer]:
    """A server on a free port of this machine, for as long as the block lasts."""
    state = ReplyServer(answer=answer, faults=list(faults))
    with _Server(("127.0.0.1", 0), ReplyHandler) as server:
        server.state = state
        state.url = f"http://127.0.0.1:{server.server_port}/v1"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield state
        finally:
            server.shutdown()
            thread.join()

"""A loopback server of files, and a hub and an archive that it may serve."""

from __future__ import annotations

import hashlib
import io
import json
import threading
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from huggingface_hub import close_session

REVISION = "0123456789abcdef0123456789abcdef01234567"
PAIRS = b"good\tbad\nIl sole splende.\tIl sole splendono.\n"


@dataclass
class Site:
    """A loopback server.

    Attributes:
        files: path to content.
        asked: the requests that came, path and Range.
        cut_after: how many bytes of a file are sent before the connection is closed.
        length: whether it says how long files are.
        refusals: statuses that come first, each with when to come back.
    """

    files: dict[str, bytes]
    asked: list[tuple[str, str]] = field(default_factory=list)
    cut_after: int | None = None
    length: bool = True
    refusals: list[tuple[int, str]] = field(default_factory=list)
    address: str = ""


@pytest.fixture
def serve() -> Iterator[Callable[[dict[str, bytes]], Site]]:
    servers = []

    def start(files: dict[str, bytes]) -> Site:
        site = Site(files)
        server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(site))
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        servers.append(server)
        site.address = f"http://127.0.0.1:{server.server_port}"
        return site

    yield start
    # The hub's library keeps its connections open.
    close_session()
    for server in servers:
        server.shutdown()
        server.server_close()


def _handler(site: Site) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self._send(body=False)

        def do_GET(self) -> None:
            self._send(body=True)

        def _send(self, *, body: bool) -> None:
            path = self.path.split("?", 1)[0]
            span = self.headers.get("Range", "")
            site.asked.append((path, span))
            content = site.files.get(path)
            if site.refusals:
                status, retry_after = site.refusals.pop(0)
                self.send_response(status)
                if retry_after:
                    self.send_header("Retry-After", retry_after)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            if content is None:
                self.send_error(404)
                return
            start = int(span.removeprefix("bytes=").split("-")[0]) if span else 0
            self.send_response(206 if span else 200)
            if site.length:
                self.send_header("Content-Length", str(len(content) - start))
            etag = hashlib.sha1(content).hexdigest()  # noqa: S324  # as the hub names files
            self.send_header("ETag", f'"{etag}"')
            self.send_header("X-Repo-Commit", REVISION)
            self.end_headers()
            if body:
                end = len(content) if site.cut_after is None else start + site.cut_after
                self.wfile.write(content[start:end])

        def log_message(self, *_args: object) -> None:
            pass

    return Handler


def archive_of(folder: str) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        archive.writestr(f"repo-{REVISION}/{folder}/a.tsv", PAIRS)
        archive.writestr(f"repo-{REVISION}/README.md", "elsewhere")
    return sink.getvalue()


def hub_site(
    serve: Callable[[dict[str, bytes]], Site],
    names: Sequence[str] = ("README.md", "suites/italian.zip", "suites/spanish.zip"),
) -> Site:
    tree = [{"type": "file", "path": name, "size": 3, "oid": "0" * 40} for name in names]
    base = "/api/datasets/someone/suites"
    info = {"id": "someone/suites", "sha": REVISION, "siblings": []}
    files = {
        base: json.dumps(info).encode(),
        f"{base}/revision/main": json.dumps(info).encode(),
        f"{base}/tree/{REVISION}": json.dumps(tree).encode(),
    }
    for name in names:
        files[f"/datasets/someone/suites/resolve/{REVISION}/{name}"] = name.encode()
    return serve(files)

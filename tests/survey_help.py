"""What tests of the survey server share: designs, a client that answers, a server of its own."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass

from cimento.suites.builtin import find_suite
from cimento.surveys.building import Plan, build_design
from cimento.surveys.design import write_design
from cimento.surveys.material import Wanted

SECRET = "a secret of the tests, long enough"  # noqa: S105
HIDDEN = re.compile(r'name="(form|moment)" value="([^"]*)"')


def small(suite="it-connectives", *, limit=4, checks=1, **wanted):
    """A small design."""
    plan = Plan(checks=checks, seed=3, wanted=Wanted(limit=limit, seed=3, **wanted))
    return build_design(find_suite(suite), plan)


def hidden(html):
    """The hidden fields of a page's form."""
    return dict(HIDDEN.findall(html))


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody with a link, at a client that follows no redirects."""

    client: object
    token: str

    def get(self, place=""):
        """A page of one's own."""
        return self.client.get(f"/p/{self.token}{place}", follow_redirects=False)

    def agree(self):
        """Give consent."""
        page = self.get()
        data = {**hidden(page.text), "answer": "agree"}
        return self.client.post(f"/p/{self.token}/consent", data=data, follow_redirects=False)

    def answer(self, position, *values, remark=None):
        """Open a question and answer its fields."""
        page = self.get(f"/{position}")
        assert page.status_code == 200, page.status_code
        data = {**hidden(page.text), **{f"field-{n}": v for n, v in enumerate(values)}}
        if remark is not None:
            data["remark"] = remark
        return self.send(position, data)

    def send(self, position, data):
        """Send a form as it is."""
        return self.client.post(f"/p/{self.token}/{position}", data=data, follow_redirects=False)


@contextmanager
def server(folder, design, *, port=None):
    """A server in a process of its own; yields the process and its address."""
    write_design(design, folder / "design.json")
    port = port or free_port()
    command = [
        sys.executable, "-c", "from cimento.cli.main import main; main()",
        "annotate", "serve", str(folder), "--port", str(port),
    ]  # fmt: skip
    environment = {**os.environ, "CIMENTO_ADMIN_SECRET": SECRET}
    process = subprocess.Popen(  # noqa: S603  # our own command
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        wait_for(port, process)
        yield process, f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.communicate(timeout=30)


def wait_for(port, process):
    """Until somebody listens at a port of this machine."""
    for _ in range(600):
        if process.poll() is not None:
            raise AssertionError(process.stderr.read().decode())
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError("the server does not start")


def free_port():
    """A port of this machine that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]

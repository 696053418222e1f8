"""Many participants at once against `cimento annotate serve`: is anything lost, how fast is it?

    python benchmarks/survey_load.py --people 200 --seconds 120

starts a server, lets everybody agree, answer every two seconds and at last once all at the same
moment, and compares what was acknowledged with what is stored. With ``--kill-after`` the server is
killed (SIGKILL) in the middle, and what it had acknowledged must be there.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import resource
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

from cimento.people.surveys import SurveyDesign, storage, write_design
from cimento.people.surveys.building import build_design
from cimento.people.surveys.material import SurveyPlan
from cimento.suites.builtin import find_suite

EVERY_SECONDS = 2.0
_HIDDEN = re.compile(rb'name="(form|moment)" value="([^"]*)"')
_LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)


@dataclass
class Person:
    """One participant with a connection that is kept open, as browsers do.

    Attributes:
        id: the code.
        token: of the link.
        acknowledged: position to the last answer that the server said it has.
        sent: position to the answers that were sent, acknowledged or not.
        answer_seconds: from sending an answer to its acknowledgment.
        page_seconds: from asking for the next page to its last byte.
    """

    id: str
    token: str
    acknowledged: dict[int, str] = field(default_factory=dict)
    sent: dict[int, list[str]] = field(default_factory=dict)
    answer_seconds: list[float] = field(default_factory=list)
    page_seconds: list[float] = field(default_factory=list)
    position: int = 1
    port: int = 0
    page: bytes = b""
    streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def connect(self, port: int) -> None:
        """Open the connection, agree, and open the first question."""
        self.port = port
        self.streams = await asyncio.open_connection("127.0.0.1", port)
        page = await self.request("GET", "")
        if b"/consent" in page:
            form = dict(_HIDDEN.findall(page))[b"form"].decode()
            await self.request("POST", "/consent", {"form": form, "answer": "agree"})
        self.page = await self.request("GET", f"/{self.position}")

    async def close(self) -> None:
        """Close the connection, if the server has not done so."""
        if self.streams is not None:
            self.streams[1].close()
            with suppress(ConnectionError):
                await self.streams[1].wait_closed()

    async def answer(self, value: str) -> None:
        """Answer the question that is open, and open the next one."""
        form = {name.decode(): text.decode() for name, text in _HIDDEN.findall(self.page)}
        self.sent.setdefault(self.position, []).append(value)
        started = time.perf_counter()
        await self.request("POST", f"/{self.position}", {**form, "field-0": value})
        self.answer_seconds.append(time.perf_counter() - started)
        self.acknowledged[self.position] = value
        self.position += 1
        started = time.perf_counter()
        self.page = await self.request("GET", f"/{self.position}")
        self.page_seconds.append(time.perf_counter() - started)

    async def request(self, method: str, place: str, form: dict[str, str] | None = None) -> bytes:
        """Send a request; its page, or nothing for a redirection.

        A connection that the server has closed because nothing came for long is opened again, as
        browsers do.

        Raises:
            ConnectionError: the server is gone, or answered something else.
        """
        body = urlencode(form).encode() if form else b""
        kind = "content-type: application/x-www-form-urlencoded\r\n" if form else ""
        head = f"{method} /p/{self.token}{place} HTTP/1.1\r\nhost: localhost\r\n{kind}"
        sent = f"{head}content-length: {len(body)}\r\n\r\n".encode() + body
        try:
            return await self.exchange(sent)
        except asyncio.IncompleteReadError:
            await self.close()
            self.streams = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            return await self.exchange(sent)
        except asyncio.IncompleteReadError as error:
            raise ConnectionError(self.id) from error

    async def exchange(self, sent: bytes) -> bytes:
        """Send bytes on the open connection; the page that comes back."""
        if self.streams is None:
            raise ConnectionError(self.id)
        reader, writer = self.streams
        writer.write(sent)
        headers = await reader.readuntil(b"\r\n\r\n")
        length = _LENGTH.search(headers)
        page = await reader.readexactly(int(length[1])) if length else b""
        if headers[9:12] not in {b"200", b"303"}:
            raise ConnectionError(headers[:12].decode())
        return page


@dataclass(frozen=True)
class Load:
    """How much is asked of the server.

    Attributes:
        people: participants at the same time.
        seconds: for which they answer at their pace.
        seed: of who answers when, and what.
    """

    people: int
    seconds: float
    seed: int = 1


async def answer_at_pace(people: list[Person], load: Load) -> None:
    """Everybody answers every two seconds, each beginning at another moment."""
    chance = random.Random(load.seed)  # noqa: S311  # no secret
    began = time.perf_counter()

    async def one(person: Person, delay: float) -> None:
        due = began + delay
        while due < began + load.seconds:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            await person.answer(chance.choice("12345"))
            due += EVERY_SECONDS

    delays = [chance.uniform(0, EVERY_SECONDS) for _ in people]
    # All are waited for: one that goes on could open a connection that nobody closes.
    ends = await asyncio.gather(*map(one, people, delays), return_exceptions=True)
    for error in filter(None, ends):
        raise error


async def answer_at_once(people: list[Person]) -> float:
    """Everybody answers at the same moment; the seconds until all have the next page."""
    started = time.perf_counter()
    await asyncio.gather(*(person.answer("3") for person in people))
    return time.perf_counter() - started


def faults(path: Path, people: list[Person]) -> list[str]:
    """Every difference between what was acknowledged and what is stored."""
    places = {person.id: list(person.questions) for person in storage.participants(path)}
    stored = storage.answers(path)
    messages = [
        f"{key} is stored {count} times"
        for key, count in Counter(
            (answer.participant, answer.question) for answer in stored
        ).items()
        if count > 1
    ]
    values = {(answer.participant, answer.question): answer.value for answer in stored}
    for person in people:
        for position, value in person.acknowledged.items():
            kept = values.pop((person.id, places[person.id][position - 1]), None)
            if kept != value:
                messages.append(f"{person.id} {position}: {value} acknowledged, {kept} stored")
    # Sent, and killed before it was acknowledged: it may be there, and must be what was sent.
    sent = {
        (person.id, places[person.id][position - 1]): given
        for person in people
        for position, given in person.sent.items()
    }
    messages += [f"{key}: {value} was never sent" for key, value in values.items()
              if value not in sent.get(key, [])]  # fmt: skip
    return messages


def start_server(folder: Path, port: int) -> subprocess.Popen[bytes]:
    """A server in a process of its own; returns when it listens."""
    command = [
        sys.executable, "-c", "from cimento.cli.main import main; main()",
        "annotate", "serve", str(folder), "--port", str(port),
    ]  # fmt: skip
    process = subprocess.Popen(  # noqa: S603  # our own command
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    for _ in range(1200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return process
        if process.poll() is not None:
            break
        time.sleep(0.05)
    raise SystemExit("the server does not start")


def make_people(folder: Path, design: SurveyDesign, number: int) -> list[Person]:
    """Write the design and make links."""
    write_design(design, folder / "design.json")
    path = folder / "answers.sqlite"
    storage.prepare(path, design)
    return [
        Person(participant.id, token)
        for participant, token in storage.invite_participants(path, design, number)
    ]


async def connect_all(people: list[Person], port: int) -> None:
    """Everybody opens their link, ten at a time."""
    for place in range(0, len(people), 10):
        await asyncio.gather(*(person.connect(port) for person in people[place : place + 10]))


async def load_run(people: list[Person], port: int, load: Load) -> float:
    """Connect everybody, answer at the pace, then all at once."""
    await connect_all(people, port)
    try:
        await answer_at_pace(people, load)
        return await answer_at_once(people)
    finally:
        await asyncio.gather(*(person.close() for person in people))


async def killed_run(
    people: list[Person], port: int, load: Load, process: subprocess.Popen[bytes], after: float
) -> None:
    """Connect everybody, answer at the pace, and kill the server while they do."""
    await connect_all(people, port)

    async def kill() -> None:
        await asyncio.sleep(after)
        process.send_signal(signal.SIGKILL)

    with suppress(ConnectionError):
        await asyncio.gather(kill(), answer_at_pace(people, load))
    await asyncio.gather(*(person.close() for person in people))


def free_port() -> int:
    """A port of this machine that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def median_and_tail(seconds: list[float]) -> dict[str, float]:
    """Median and tail, in milliseconds."""
    ordered = sorted(1000 * value for value in seconds)
    places = {"p95": 0.95, "p99": 0.99, "max": 1.0}
    tail = {
        name: ordered[min(len(ordered) - 1, int(q * len(ordered)))] for name, q in places.items()
    }
    return {name: round(value, 2) for name, value in
            {"median": statistics.median(ordered), **tail}.items()}  # fmt: skip


def main() -> int:
    """Run it and print what came of it as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--kill-after", type=float, default=0)
    given = parser.parse_args()
    load = Load(given.people, given.seconds)
    design = build_design(find_suite("it-acceptability"), SurveyPlan(checks=0))
    with tempfile.TemporaryDirectory() as name:
        folder, port = Path(name), free_port()
        people = make_people(folder, design, load.people)
        process = start_server(folder, port)
        report: dict[str, object] = {"people": load.people, "seconds": load.seconds}
        try:
            if given.kill_after:
                asyncio.run(killed_run(people, port, load, process, given.kill_after))
                process.wait()
                process = start_server(folder, port)
            else:
                report["all_at_once_seconds"] = round(asyncio.run(load_run(people, port, load)), 3)
                at_once = [(p.answer_seconds.pop(), p.page_seconds.pop()) for p in people]
                report["at_once_answer_ms"] = median_and_tail([answer for answer, _ in at_once])
            report["answers"] = sum(len(person.acknowledged) for person in people)
            report["answer_ms"] = median_and_tail(
                [value for p in people for value in p.answer_seconds]
            )
            report["page_ms"] = median_and_tail([value for p in people for value in p.page_seconds])
            report["faults"] = faults(folder / "answers.sqlite", people)
        finally:
            process.terminate()
            process.wait()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    report["server_cpu_seconds"] = round(used.ru_utime + used.ru_stime, 2)
    used = resource.getrusage(resource.RUSAGE_SELF)
    report["own_cpu_seconds"] = round(used.ru_utime + used.ru_stime, 2)
    report["machine_load"] = [round(average, 1) for average in os.getloadavg()]
    print(json.dumps(report, indent=1))
    return 1 if report["faults"] else 0


if __name__ == "__main__":
    sys.exit(main())

"""What tests of the survey server share: designs, a client that answers, a server of its own."""

from __future__ import annotations

import functools
import re
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from cimento.people.surveys import storage
from cimento.people.surveys.building import build_design
from cimento.people.surveys.plan import SurveyPlan
from cimento.people.surveys.server import listen, make_app, make_server
from cimento.suites.builtin import find_suite

SECRET = "a secret of the tests, long enough"  # noqa: S105  # it opens nothing
HIDDEN = re.compile(r'name="(form|moment)" value="([^"]*)"')


@functools.cache
def small(suite="it-connectives", *, limit=4, checks=1, **wanted):
    """A small design."""
    plan = SurveyPlan(checks=checks, seed=3, limit=limit, **wanted)
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


@pytest.fixture
def design():
    """A small design."""
    return small()


@pytest.fixture
def database(tmp_path):
    """Where answers go."""
    return tmp_path / "answers.sqlite"


@pytest.fixture
def client(design, database):
    """A client of the application."""
    from starlette.testclient import TestClient

    app = make_app(design, database, secret=SECRET, pace=1000)
    with TestClient(app, base_url="http://localhost") as session:
        yield session


@pytest.fixture
def people(client, design, database):
    """Two participants who have agreed, and one who has not."""
    made = [Person(client, token) for _, token in storage.invite_participants(database, design, 3)]
    for person in made[:2]:
        assert person.agree().status_code == 303
    return made


def stored(database):
    """What is stored: participant, question, value."""
    return [
        (answer.participant, answer.question, answer.value) for answer in storage.answers(database)
    ]


@contextmanager
def serving(design, database, *, secret=SECRET):
    """A server on a port of its own, in a thread; yields its address."""
    app = make_app(design, database, secret=secret, pace=1000)
    with listen("127.0.0.1", 0) as listening:
        server = make_server(app)
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


def asked_of(database, design, number=0):
    """The questions of a participant, in the order in which they are asked."""
    return [design.by_id[question] for question in storage.participants(database)[number].questions]


def refusal(link):
    """The status and the page with which a link is refused; empty where it is not."""
    try:
        with urlopen(link):  # noqa: S310  # of a test, on this machine
            return ""
    except HTTPError as answer:
        with answer:
            return f"{answer.code} {answer.read().decode()}"

"""One link for people in a room: who gets a link of their own, how many, and who does not."""

import socket
from urllib.request import Request, urlopen

import pytest

from cimento.people.surveys import participants, server, storage
from cimento.people.surveys.exports import write_survey
from cimento.people.surveys.participants import room_place
from cimento.people.surveys.server import Serving, make_app
from tests.helpers import survey_help
from tests.helpers.command_line import invoke
from tests.helpers.survey_help import SECRET, hidden

starlette = pytest.importorskip("starlette.testclient")

design, database = survey_help.design, survey_help.database


@pytest.fixture
def client(design, database):
    served = make_app(design, database, secret=SECRET, room=2, pace=1000)
    with starlette.TestClient(
        served, base_url="http://localhost", follow_redirects=False
    ) as client:
        yield client


@pytest.fixture
def place(design, database):
    storage.prepare(database, design)
    return room_place(storage.signing_key(database))


def join(client, place):
    """Open the room's link as a new browser and press the button."""
    client.cookies.clear()
    form = hidden(client.get(place).text)
    return client.post(place, data=form)


def test_everyone_who_joins_gets_a_link_of_their_own(client, place, database):
    first, second = join(client, place), join(client, place)
    assert first.status_code == second.status_code == 303
    assert first.headers["location"] != second.headers["location"]
    assert client.get(first.headers["location"]).status_code == 200
    assert len(storage.participants(database)) == 2


def test_opening_the_link_alone_makes_no_participant(client, place, database):
    assert "Comincia" in client.get(place).text
    assert client.head(place).status_code in {200, 405}
    assert storage.participants(database) == []


def test_the_same_browser_is_led_back_to_its_own_link(client, place, database):
    joined = join(client, place)
    assert client.get(place).headers["location"] == joined.headers["location"]
    assert client.post(place, data={}).headers["location"] == joined.headers["location"]
    assert len(storage.participants(database)) == 1
    client.cookies.clear()
    assert client.get(place, headers={"cookie": "cimento_room=forged"}).status_code == 200


def test_nobody_joins_beyond_the_number(client, place, database):
    join(client, place)
    join(client, place)
    full = join(client, place)
    assert full.status_code == 403
    assert "al completo" in full.text
    assert len(storage.participants(database)) == 2


@pytest.mark.parametrize("data", [{}, {"form": "forged"}])
def test_a_form_of_another_page_makes_no_participant(client, place, database, data):
    assert client.post(place, data=data).status_code == 403
    crossed = client.post(
        place, data=hidden(client.get(place).text), headers={"sec-fetch-site": "cross-site"}
    )
    assert crossed.status_code == 403
    assert storage.participants(database) == []


def test_another_code_is_no_room_and_without_a_number_there_is_none(
    client, design, database, place
):
    assert client.get("/room/00000000000000000000").status_code == 404
    served = make_app(design, database, secret=SECRET)
    with starlette.TestClient(served, base_url="http://localhost") as other:
        assert other.get(place).status_code == 404


def test_a_survey_is_served_in_a_thread_until_it_is_stopped(design, database):
    serving = Serving(design, database, host="127.0.0.1", port=0, shown="", room=5)
    try:
        with urlopen(serving.room) as page:  # noqa: S310  # on this machine
            assert page.status == 200
        assert serving.room.startswith(serving.address)
        assert serving.is_running
    finally:
        serving.stop()
    assert not serving.is_running
    with pytest.raises(OSError, match="refused"):
        urlopen(Request(serving.room))  # noqa: S310  # on this machine


@pytest.mark.parametrize(("host", "shown"), [("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "192.0.2.7")])  # noqa: S104  # of a test, on this machine
def test_the_command_prints_a_link_that_people_can_open(
    design, tmp_path, monkeypatch, capfd, host, shown
):
    write_survey(design, tmp_path / "survey")
    monkeypatch.setattr(server, "serve_surveys", lambda *_, **__: None)
    monkeypatch.setattr(participants, "network_host", lambda: "192.0.2.7")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = ["annotate", "serve", str(tmp_path / "survey"), "--room", "5", "--host", host]
    assert invoke([*words, "--port", str(port)]) == 0
    place = room_place(storage.signing_key(tmp_path / "survey" / "answers.sqlite"))
    said = capfd.readouterr().err
    assert f"For people in the room: http://{shown}:{port}{place}\n" in said
    assert ("Others on the network" in said) == (host != shown)


def test_each_page_of_a_trial_says_that_nothing_is_kept(design, database):
    told = "Prova: nessuna di queste risposte viene conservata."
    served = make_app(design, database, secret=SECRET, pace=1000, is_trial=True)
    with starlette.TestClient(served, base_url="http://localhost") as client:
        ((someone, token),) = storage.invite_participants(database, design, 1)
        person = survey_help.Person(client, token)
        assert told in person.get("").text
        person.agree()
        assert told in person.get("/guidelines").text
        for position, question in enumerate(survey_help.asked_of(database, design), start=1):
            assert told in person.get(f"/{position}").text
            person.answer(position, question.expected or "3")
        page = person.get("/done").text
    assert page.count(told) == 1
    assert "sono state salvate" not in page
    assert someone.id not in page

"""The survey server: what is stored, who may see and do what, what is sent and what is logged."""

from __future__ import annotations

import contextlib
import itertools
import logging
import socket
import sqlite3
from contextlib import closing
from dataclasses import replace
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento.people.surveys import administration, storage
from cimento.people.surveys.building import build_design
from cimento.people.surveys.plan import SurveyPlan
from cimento.people.surveys.security import LARGEST_FORM, RateLimits
from cimento.people.surveys.server import listen, make_app
from cimento.suites.builtin import find_suite
from tests.helpers import survey_help
from tests.helpers.survey_help import SECRET, Person, asked_of, hidden, serving, small, stored

starlette = pytest.importorskip("starlette.testclient")

design, database = survey_help.design, survey_help.database
client, people = survey_help.client, survey_help.people


def test_a_survey_is_answered_from_consent_to_thanks(people, design, database):
    first = people[0]
    questions = asked_of(database, design)
    assert "1 (per nulla accettabile)" in first.get("/guidelines").text
    for position, question in enumerate(questions, start=1):
        page = first.get(f"/{position}").text
        assert question.lines[0].replace("'", "&#39;") in page
        reply = first.answer(position, question.expected or str(position % 5 + 1))
        assert reply.status_code == 303
    assert reply.headers["location"].endswith("/done")
    assert storage.participants(database)[0].id in first.get("/done").text
    assert first.get().headers["location"].endswith("/done")

    table = administration.judgments_in(database)
    assert [judgment.position for judgment in table] == list(range(1, len(questions) + 1))
    for judgment, question in zip(table, questions, strict=True):
        assert judgment.suite == "it-connectives"
        assert (judgment.item, judgment.condition) == (question.item, question.condition)
        assert judgment.candidate == (question.candidate or question.lines[0])
        assert judgment.expected == (question.expected or None)
        assert judgment.survey == "1"
        assert judgment.scale == ("1 to 5" if judgment.question == "acceptability" else None)
        assert judgment.seconds < judgment.session_seconds


def test_what_is_sent_in_two_pieces_does_not_wait_in_between():
    """Connections that are accepted are as the socket is at which they arrive."""
    with (
        listen("127.0.0.1", 0) as listening,
        socket.create_connection(listening.getsockname()),
        listening.accept()[0] as accepted,
    ):
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_the_same_form_sent_twice_is_one_answer(people, database):
    page = people[0].get("/1")
    data = {**hidden(page.text), "field-0": "4"}
    for _ in range(3):
        assert people[0].send(1, data).status_code == 303
    assert [value for *_, value in stored(database)] == ["4"]
    with closing(sqlite3.connect(database)) as connection, connection:
        assert connection.execute("SELECT count(*) FROM replaced").fetchone() == (0,)


def test_a_changed_answer_counts_and_the_earlier_one_is_kept(people, database):
    people[0].answer(1, "4")
    people[0].answer(1, "2")
    assert [value for *_, value in stored(database)] == ["2"]
    with closing(sqlite3.connect(database)) as connection, connection:
        assert connection.execute("SELECT value FROM replaced").fetchall() == [("4",)]
    assert 'value="2" checked' in people[0].get("/1").text


def test_going_on_elsewhere_begins_where_one_stopped(people, design):
    people[0].answer(1, "1")
    people[0].answer(2, "2")
    assert f'href="/p/{people[0].token}/3"' in people[0].get("/guidelines").text
    # Beyond the first question that waits there is nothing to see yet.
    assert people[0].get("/4").status_code == 303
    assert people[0].get("/done").status_code == 303
    assert people[0].get(f"/{len(design.by_survey['1']) + 1}").status_code == 303


def test_without_consent_nothing_is_shown_and_nothing_is_stored(people, database):
    stranger = people[2]
    assert stranger.get("/1").headers["location"] == f"/p/{stranger.token}"
    page = people[0].get("/1")
    data = {**hidden(page.text), "field-0": "4"}
    assert stranger.send(1, data).status_code == 403
    declined = {**hidden(stranger.get().text), "answer": "decline"}
    reply = stranger.client.post(f"/p/{stranger.token}/consent", data=declined)
    assert "non è stato salvato nulla" in reply.text
    assert storage.participants(database)[2].consent is None
    assert stored(database) == []


@pytest.mark.usefixtures("people")
def test_the_consent_text_is_kept_with_its_version(design, database):
    with closing(sqlite3.connect(database)) as connection, connection:
        ((version, text),) = connection.execute("SELECT version, text FROM consents")
    assert version == design.consent_version == storage.participants(database)[0].consent
    assert text == "\n\n".join(design.consent)


def test_nobody_can_write_in_the_name_of_another(people, database):
    """A form of one participant is worth nothing under the link of another."""
    one, other = people[:2]
    data = {**hidden(one.get("/1").text), "field-0": "5"}
    assert other.send(1, data).status_code == 403
    assert stored(database) == []


def test_nobody_can_read_the_answers_of_another(people, database):
    one, other = people[:2]
    one.answer(1, "5")
    assert "checked" not in other.get("/1").text
    code = storage.participants(database)[0].id
    for place in ("", "/1", "/guidelines", "/done"):
        for name in (code, f"{one.token}x", one.token[:-1], storage.digest(one.token)):
            reply = other.client.get(f"/p/{name}{place}")
            assert reply.status_code == 404
            assert "checked" not in reply.text
    for name in ("", "/judgments.csv", "/judgments.parquet", "/participants.csv", "/delete"):
        reply = other.client.get(f"/admin{name}", follow_redirects=False)
        assert reply.headers["location"] == "/admin/login"


def test_tokens_and_the_secret_are_not_stored(people, database):
    people[0].answer(1, "5")
    data = b"".join(path.read_bytes() for path in database.parent.iterdir())
    assert SECRET.encode() not in data
    for person in people:
        assert person.token.encode() not in data


@pytest.mark.parametrize(
    "change",
    [
        {"form": "0" * 64},
        {"form": ""},
        {"moment": "1.000"},
        {"moment": "later"},
    ],
)
def test_a_forged_form_stores_nothing(people, database, change):
    data = {**hidden(people[0].get("/1").text), "field-0": "4", **change}
    assert people[0].send(1, data).status_code == 403
    assert stored(database) == []


def test_a_form_for_one_question_does_not_answer_another(people, database):
    data = {**hidden(people[0].get("/1").text), "field-0": "4"}
    assert people[0].send(2, data).status_code == 403
    assert stored(database) == []


def test_a_form_from_another_site_stores_nothing(people, database):
    data = {**hidden(people[0].get("/1").text), "field-0": "4"}
    reply = people[0].client.post(
        f"/p/{people[0].token}/1", data=data, headers={"sec-fetch-site": "cross-site"}
    )
    assert reply.status_code == 403
    assert stored(database) == []


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"x=" + b"y" * LARGEST_FORM, "application/x-www-form-urlencoded"),
        (b"\xff\xfe=%ff", "application/x-www-form-urlencoded"),
        (b"&".join(b"a%d=1" % n for n in range(99)), "application/x-www-form-urlencoded"),
        (b"{}", "application/json"),
        (b"", "application/x-www-form-urlencoded"),
    ],
)
def test_what_is_no_form_of_ours_is_refused(people, database, body, kind):
    reply = people[0].client.post(
        f"/p/{people[0].token}/1", content=body, headers={"content-type": kind}
    )
    assert reply.status_code == 403
    assert stored(database) == []


@pytest.mark.parametrize("value", ["", "6", "none", "1 OR 1=1"])
def test_what_is_no_answer_is_asked_again(people, database, value):
    reply = people[0].answer(1, value)
    assert reply.status_code == 422
    assert "Scegli una risposta" in reply.text
    assert stored(database) == []


def test_every_page_has_strict_headers_and_loads_nothing_from_elsewhere(people):
    client, token = people[0].client, people[0].token
    places = ("", "/guidelines", "/1", "/done", "/nothing")
    for address in (*(f"/p/{token}{place}" for place in places), "/admin/login", "/elsewhere"):
        reply = client.get(address)
        policy = reply.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert reply.headers["referrer-policy"] == "no-referrer"
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["x-frame-options"] == "DENY"
        assert reply.headers["cache-control"] == "no-store"
        assert "http://" not in reply.text
        assert "https://" not in reply.text
        assert "set-cookie" not in reply.headers


def test_the_log_names_no_token_and_no_address(people, caplog):
    caplog.set_level(logging.DEBUG, logger="cimento")
    people[0].answer(1, "3")
    people[0].client.get("/p/no-such-token")
    messages = [
        record.getMessage() for record in caplog.records if record.name.startswith("cimento")
    ]
    assert any(message.startswith("POST answer 303") for message in messages)
    for message in messages:
        assert people[0].token not in message
        assert "no-such-token" not in message
        assert "testclient" not in message


def test_one_participant_cannot_ask_without_end(design, database):
    app = make_app(design, database, secret=SECRET, pace=0.001)
    ((_, token),) = storage.invite_participants(database, design, 1)
    with starlette.TestClient(app, base_url="http://localhost") as client:
        codes = [client.get(f"/p/{token}").status_code for _ in range(60)]
    assert codes.count(200) == 40
    assert codes[40:] == [429] * 20


def test_links_and_secrets_cannot_be_tried_without_end(client):
    codes = [client.get(f"/p/guess-{number}").status_code for number in range(30)]
    assert codes[:20] == [404] * 20
    assert codes[-5:] == [429] * 5
    codes = [
        client.post("/admin/login", data={"secret": str(number)}).status_code
        for number in range(15)
    ]
    assert codes[:10] == [403] * 10
    assert codes[-1] == 429


def test_limits_forget_those_who_were_not_there_for_long():
    limits = RateLimits(rate=0, burst=1)
    assert limits.allow("first")
    assert not limits.allow("first")
    for number in range(5000):
        limits.allow(str(number))
    assert limits.allow("first")


def test_an_answer_that_cannot_be_stored_is_not_acknowledged(people, database, monkeypatch):
    def full(*_, **__):
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as changed:
        changed.setattr(storage, "store_answer", full)
        reply = people[0].answer(1, "3")
    assert reply.status_code == 503
    assert "non è stata salvata" in reply.text
    assert stored(database) == []
    assert people[0].answer(1, "3").status_code == 303


def test_forced_choices_name_the_condition_that_was_preferred(tmp_path):
    design = small(task="choice", checks=0)
    database = tmp_path / "answers.sqlite"
    app = make_app(design, database, secret=SECRET)
    ((_, token),) = storage.invite_participants(database, design, 1)
    questions = asked_of(database, design)
    with starlette.TestClient(app, base_url="http://localhost") as client:
        person = Person(client, token)
        person.agree()
        for position, question in enumerate(questions, start=1):
            person.answer(position, question.choices[position % 2].value)
    for position, judgment in enumerate(administration.judgments_in(database), start=1):
        chosen = questions[position - 1].choices[position % 2]
        assert judgment.question == "which is better"
        assert (judgment.value, judgment.condition) == (chosen.value, chosen.condition)


def test_the_conflict_of_a_story_is_asked_only_where_there_is_one(tmp_path):
    design = small("it-stories", checks=0)
    database = tmp_path / "answers.sqlite"
    app = make_app(design, database, secret=SECRET)
    ((_, token),) = storage.invite_participants(database, design, 1)
    with starlette.TestClient(app, base_url="http://localhost") as client:
        person = Person(client, token)
        person.agree()
        assert person.answer(1, "false").status_code == 422
        assert person.answer(1, "false", "0 and 9", "power").status_code == 422
        assert person.answer(1, "false", "0 and 3", "power").status_code == 303
        assert [judgment.value for judgment in administration.judgments_in(database)] == [
            "false", "0 and 3", "power",
        ]  # fmt: skip
        # What was said of a conflict that is not a conflict any more does not count any more.
        assert person.answer(1, "true", "0 and 3", "power").status_code == 303
        assert [judgment.value for judgment in administration.judgments_in(database)] == ["true"]


ANY_FORM = st.dictionaries(
    st.sampled_from(["form", "moment", "field-0", "remark", "secret"]) | st.text(), st.text()
)
ANY_PLACE = st.text(st.characters(categories=["L", "N", "P", "S"]), max_size=80)


def test_whatever_is_sent_the_server_does_not_fail(people, client):
    person = people[0]

    @given(ANY_FORM, st.booleans(), ANY_PLACE)
    @settings(deadline=None)
    def send(fields, genuine, place):
        hidden_fields = hidden(person.get("/1").text) if genuine else {}
        assert person.send(1, {**fields, **hidden_fields}).status_code in {303, 403, 422}
        assert client.get(f"/p/{person.token}/{quote(place)}").status_code < 500
        assert client.get(f"/{quote(place)}").status_code < 500
        assert client.post("/admin/login", data=fields).status_code in {403, 429}

    send()


def half_request(address):
    """A connection with the beginning of a request."""
    made = socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2])), timeout=20)
    made.sendall(b"GET /admin/login HTTP/1.1\r\nHost: local")
    return made


def test_a_request_that_does_not_end_is_cut_off(design, database, monkeypatch):
    monkeypatch.setattr("cimento.people.surveys.server.REQUEST_SECONDS", 0.2)
    with serving(design, database) as address:
        head = half_request(address)
        body = half_request(address)
        body.sendall(b"host\r\nContent-Length: 9\r\n\r\nx")
        silent = half_request(address)
        silent.sendall(b"host\r\n\r\n")
        assert silent.recv(9).startswith(b"HTTP/1.1 ")
        for made in (head, body):
            with made, contextlib.suppress(ConnectionResetError):
                while made.recv(9999):
                    pass
        silent.close()


def test_unfinished_requests_give_their_places_to_new_ones(design, database, monkeypatch):
    monkeypatch.setattr("cimento.people.surveys.server.MOST_CONNECTIONS", 20)
    with serving(design, database) as address, contextlib.ExitStack() as held:
        for _ in range(60):
            held.enter_context(half_request(address))
        last = held.enter_context(half_request(address))
        last.sendall(b"host\r\n\r\n")
        assert last.recv(99).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("127.0.0.1:8000", 200),
        ("[::1]:8000", 200),
        ("survey.example.org", 200),
        ("SURVEY.example.org:443", 200),
        ("rebound.example.com", 421),
        ("localhost.example.com", 421),
        ("[", 421),
        ("", 421),
    ],
)
def test_requests_for_another_name_are_refused(design, database, host, status):
    app = make_app(design, database, secret=SECRET, url="https://survey.example.org")
    with starlette.TestClient(app, base_url="http://localhost") as client:
        assert client.get("/admin/login", headers={"host": host}).status_code == status


def test_numbers_of_thousands_of_digits_are_no_page(people):
    assert people[0].get("/" + "1" * 5000).status_code == 404
    assert people[0].get("/" + "1" * 200).status_code == 303


def test_looking_at_the_head_of_a_page_is_no_attempt_to_sign_in(client):
    assert [client.head("/admin/login").status_code for _ in range(30)] == [200] * 30


def test_participants_have_orders_of_their_own_which_are_recorded(design, database, monkeypatch):
    codes = itertools.count()
    # Codes are drawn anew each time, and orders with them: not in a test.
    monkeypatch.setattr(storage.secrets, "token_hex", lambda _bytes: f"{next(codes):010x}")
    storage.prepare(database, design)
    made = storage.invite_participants(database, design, 20)
    known = storage.participants(database)
    assert [person.questions for person, _ in made] == [person.questions for person in known]
    first = [person.questions for person in known if person.survey == "1"]
    assert len(first) == 10
    assert len({*first}) > 3
    assert len({frozenset(order) for order in first}) == 1


@pytest.fixture
def whole_survey(tmp_path):
    """A survey with practice, fillers, breaks, questions about the participant and a link."""
    for name in ("practice", "filler"):
        (tmp_path / f"{name}.tsv").write_text(f"text\nUna frase: {name}.\n")
    plan = SurveyPlan(
        checks=1, practice=tmp_path / "practice.tsv", fillers=tmp_path / "filler.tsv",
        background=("first-language", "age"), break_every=3, limit=4,
        completion="https://app.prolific.example/complete?cc=C1&x=<",
    )  # fmt: skip
    return build_design(find_suite("it-connectives"), plan)


def test_a_whole_survey_leads_from_oneself_over_practice_and_breaks_to_the_link(
    whole_survey, database
):
    app = make_app(whole_survey, database, secret=SECRET, pace=1000)
    ((_, token),) = storage.invite_participants(database, whole_survey, 1)
    with starlette.TestClient(app, base_url="http://localhost") as client:
        person = Person(client, token)
        assert person.agree().headers["location"].endswith("/background")
        for place in ("/guidelines", "/1"):
            assert person.get(place).headers["location"] == f"/p/{token}"
        page = person.get("/background").text
        fields = {**hidden(page), "field-0": " =italiano ", "field-1": "99"}
        assert (
            client.post(f"/p/{token}/background", data={**fields, "form": "x"}).status_code == 403
        )
        reply = client.post(f"/p/{token}/background", data=fields, follow_redirects=False)
        assert reply.headers["location"].endswith("/guidelines")
        assert "Prova · " in person.get("/1").text
        assert person.get("/pause/1").status_code == 303
        places = []
        questions = asked_of(database, whole_survey)
        for position in range(1, len(questions) + 1):
            assert "prolific" not in person.get(f"/{position}").text
            reply = person.answer(position, questions[position - 1].expected or "3")
            places.append(reply.headers["location"].removeprefix(f"/p/{token}"))
        assert places == ["/pause/1", "/3", "/4", "/pause/4", "/6", "/7", "/done"]
        assert "La prova è finita" in person.get("/pause/1").text
        # Practice does not count toward a break.
        assert "4 domande su" in person.get("/pause/4").text
        last = person.get("/done").text
        assert "https://app.prolific.example/complete?cc=C1&amp;x=&lt;" in last
        # Whoever closes the page here is not paid.
        assert "Manca solo un ultimo passo" in last
        assert "chiudere questa pagina" not in last
    judgments = administration.judgments_in(database)
    assert {judgment.question for judgment in judgments} == {"acceptability", "attention"}
    header, row = administration.people_csv(database).splitlines()
    assert header.endswith("first-language,age")
    # What is none of the choices is not an answer, and no spreadsheet computes a free one.
    assert row.endswith(",'=italiano,")


def test_no_break_comes_before_the_last_question(whole_survey, database):
    often = replace(whole_survey, break_every=1)
    app = make_app(often, database, secret=SECRET, pace=1000)
    ((_, token),) = storage.invite_participants(database, often, 1)
    with starlette.TestClient(app, base_url="http://localhost") as client:
        person = Person(client, token)
        person.agree()
        fields = {**hidden(person.get("/background").text), "field-0": "italiano", "field-1": ""}
        client.post(f"/p/{token}/background", data=fields, follow_redirects=False)
        questions, places = asked_of(database, often), []
        for position in range(1, len(questions) + 1):
            reply = person.answer(position, questions[position - 1].expected or "3")
            places.append(reply.headers["location"].removeprefix(f"/p/{token}"))
    assert places == ["/pause/1", "/pause/2", "/pause/3", "/pause/4", "/pause/5", "/7", "/done"]


def test_a_completion_code_is_shown_at_the_end_only(design, database):
    coded = replace(design, completion="C0DE<1>")
    app = make_app(coded, database, secret=SECRET, pace=1000)
    ((_, token),) = storage.invite_participants(database, coded, 1)
    with starlette.TestClient(app, base_url="http://localhost") as client:
        person = Person(client, token)
        pages = [person.get().text]
        person.agree()
        pages.append(person.get("/guidelines").text)
        for position, question in enumerate(asked_of(database, coded), start=1):
            pages.append(person.get(f"/{position}").text)
            person.answer(position, question.expected or "3")
        assert not any("C0DE" in page for page in pages)
        assert "C0DE&lt;1&gt;" in person.get("/done").text

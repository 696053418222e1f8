"""The survey server: what is stored, who may see and do what, what is sent and what is logged."""

from __future__ import annotations

import csv
import io
import logging
import socket
import sqlite3
from dataclasses import replace

import polars as pl
import pytest

from cimento.cli.main import invoke
from cimento.errors import InputError, UsageError
from cimento.judgments.records import judgments_of
from cimento.surveys.design import write_design
from cimento.surveys.serving import results, storage
from cimento.surveys.serving.app import make_app
from cimento.surveys.serving.security import LARGEST_FORM, Limits
from tests.survey_help import SECRET, Person, hidden, small

starlette = pytest.importorskip("starlette.testclient")


@pytest.fixture
def design():
    return small()


@pytest.fixture
def database(tmp_path):
    return tmp_path / "answers.sqlite"


@pytest.fixture
def client(design, database):
    app = make_app(design, database, secret=SECRET, pace=1000)
    with starlette.TestClient(app, base_url="http://localhost") as found:
        yield found


@pytest.fixture
def people(client, design, database):
    """Two participants who have agreed, and one who has not."""
    made = [Person(client, token) for _, token in storage.invite(database, design, 3)]
    for each in made[:2]:
        assert each.agree().status_code == 303
    return made


def stored(database):
    return [(each.participant, each.question, each.value) for each in storage.answers(database)]


def test_a_survey_is_answered_from_consent_to_thanks(people, design, database):
    first = people[0]
    questions = design.by_survey["1"]
    assert "1 (per nulla accettabile)" in first.get("/guidelines").text
    for position, question in enumerate(questions, start=1):
        page = first.get(f"/{position}").text
        assert question.lines[0].replace("'", "&#39;") in page
        reply = first.answer(position, question.expected or str(position % 5 + 1))
        assert reply.status_code == 303
    assert reply.headers["location"].endswith("/done")
    assert storage.participants(database)[0].id in first.get("/done").text
    assert first.get().headers["location"].endswith("/done")

    table = results.judgments(database)
    assert [each.position for each in table] == list(range(1, len(questions) + 1))
    for each, question in zip(table, questions, strict=True):
        assert each.suite == "it-connectives"
        assert (each.item, each.condition) == (question.item, question.condition)
        assert each.candidate == (question.candidate or None)
        assert each.expected == (question.expected or None)
        assert each.survey == "1"
        assert each.seconds < each.session_seconds


def test_the_same_form_sent_twice_is_one_answer(people, database):
    page = people[0].get("/1")
    data = {**hidden(page.text), "field-0": "4"}
    for _ in range(3):
        assert people[0].send(1, data).status_code == 303
    assert [value for *_, value in stored(database)] == ["4"]
    with sqlite3.connect(database) as connection:
        assert connection.execute("SELECT count(*) FROM replaced").fetchone() == (0,)


def test_a_changed_answer_counts_and_the_earlier_one_is_kept(people, database):
    people[0].answer(1, "4")
    people[0].answer(1, "2")
    assert [value for *_, value in stored(database)] == ["2"]
    with sqlite3.connect(database) as connection:
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
    with sqlite3.connect(database) as connection:
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
    data = b"".join(each.read_bytes() for each in database.parent.iterdir())
    assert SECRET.encode() not in data
    for each in people:
        assert each.token.encode() not in data


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
    for address in (*(f"/p/{token}{each}" for each in places), "/admin/login", "/elsewhere"):
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
    told = [each.getMessage() for each in caplog.records if each.name.startswith("cimento")]
    assert any(each.startswith("POST answer 303") for each in told)
    for each in told:
        assert people[0].token not in each
        assert "no-such-token" not in each
        assert "testclient" not in each


def test_one_participant_cannot_ask_without_end(design, database):
    app = make_app(design, database, secret=SECRET, pace=0.001)
    ((_, token),) = storage.invite(database, design, 1)
    with starlette.TestClient(app) as client:
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
    limits = Limits(rate=0, burst=1)
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


def test_an_answer_of_somebody_who_was_deleted_meanwhile_is_not_stored(
    people, database, monkeypatch
):
    found = storage.participants(database)[0]
    data = {**hidden(people[0].get("/1").text), "field-0": "4"}
    storage.delete(database, found.id)
    monkeypatch.setattr(storage, "find", lambda *_: found)
    assert people[0].send(1, data).status_code == 403
    assert stored(database) == []


def signed_in(client):
    reply = client.post("/admin/login", data={"secret": SECRET}, follow_redirects=False)
    assert reply.status_code == 303
    cookie = reply.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    return client.get("/admin").text


def test_the_administrator_sees_progress_and_takes_answers_out(people, client, database):
    people[0].answer(1, "3")
    page = signed_in(client)
    assert "1 of 5" in page
    rows = list(csv.DictReader(io.StringIO(client.get("/admin/judgments.csv").text)))
    assert [each["value"] for each in rows] == ["3"]
    table = pl.read_parquet(io.BytesIO(client.get("/admin/judgments.parquet").content))
    assert judgments_of(table) == results.judgments(database)
    people_rows = list(csv.DictReader(io.StringIO(client.get("/admin/participants.csv").text)))
    assert [each["answered"] for each in people_rows] == ["1", "0", "0"]


def test_the_administrator_makes_links_that_work(client):
    page = signed_in(client)
    form = hidden(page.split("/admin/logout")[0])["form"]
    made = client.post("/admin/links", data={"form": form, "number": "2"}).text
    tokens = [part.split("<")[0] for part in made.split("/p/")[1:]]
    assert len(tokens) == 2
    assert all(client.get(f"/p/{token}").status_code == 200 for token in tokens)
    for number in ("0", "1001", "x", "²"):
        assert client.post("/admin/links", data={"form": form, "number": number}).status_code == 403
    assert client.post("/admin/links", data={"form": "", "number": "2"}).status_code == 403


def test_a_participant_is_deleted_with_every_answer(people, client, database):
    for each in people[:2]:
        each.answer(1, "3", remark="una mia osservazione")
    gone, kept = (each.id for each in storage.participants(database)[:2])
    signed_in(client)
    page = client.get(f"/admin/delete?participant={gone}").text
    data = {"form": hidden(page)["form"], "participant": gone}
    assert client.post("/admin/delete", data={**data, "form": "no"}).status_code == 403
    assert client.post("/admin/delete", data=data).status_code == 200
    assert {participant for participant, *_ in stored(database)} == {kept}
    assert people[0].get("/1").status_code == 404
    with sqlite3.connect(database) as connection:
        assert connection.execute("SELECT participant FROM deletions").fetchall() == [(gone,)]
        for name in ("participants", "answers", "replaced"):
            assert gone not in str(connection.execute(f"SELECT * FROM {name}").fetchall())  # noqa: S608
    # Again, or for nobody: it is said.
    assert client.post("/admin/delete", data=data).status_code == 400


def test_signing_out_ends_the_session(client):
    page = signed_in(client)
    cookie = client.cookies["cimento_admin"]
    form = page.rsplit('name="form" value="', 1)[1].split('"')[0]
    client.post("/admin/logout", data={"form": form})
    client.cookies.set("cimento_admin", cookie)
    assert client.get("/admin", follow_redirects=False).status_code == 303


def test_forced_choices_name_the_condition_that_was_preferred(tmp_path):
    design = small(task="choice", checks=0)
    database = tmp_path / "answers.sqlite"
    app = make_app(design, database, secret=SECRET)
    ((_, token),) = storage.invite(database, design, 1)
    questions = design.by_survey["1"]
    with starlette.TestClient(app) as client:
        person = Person(client, token)
        person.agree()
        for position, question in enumerate(questions, start=1):
            person.answer(position, question.choices[position % 2].value)
    for position, each in enumerate(results.judgments(database), start=1):
        chosen = questions[position - 1].choices[position % 2]
        assert each.question == "which is better"
        assert (each.value, each.condition) == (chosen.value, chosen.condition)


def test_the_conflict_of_a_story_is_asked_only_where_there_is_one(tmp_path):
    design = small("it-stories", checks=0)
    database = tmp_path / "answers.sqlite"
    app = make_app(design, database, secret=SECRET)
    ((_, token),) = storage.invite(database, design, 1)
    with starlette.TestClient(app) as client:
        person = Person(client, token)
        person.agree()
        assert person.answer(1, "false").status_code == 422
        assert person.answer(1, "false", "0 and 9", "power").status_code == 422
        assert person.answer(1, "false", "0 and 3", "power").status_code == 303
        assert [each.value for each in results.judgments(database)] == [
            "false", "0 and 3", "power",
        ]  # fmt: skip
        # What was said of a conflict that is no conflict any more does not count any more.
        assert person.answer(1, "true", "0 and 3", "power").status_code == 303
        assert [each.value for each in results.judgments(database)] == ["true"]


def test_a_file_of_answers_belongs_to_one_design(design, database):
    storage.prepare(database, design)
    storage.prepare(database, design)
    with pytest.raises(InputError, match="another design"):
        storage.prepare(database, small("en-subject-verb"))
    assert storage.stored_design(database) == design


def test_participants_go_to_the_survey_with_the_fewest(design, database):
    storage.prepare(database, design)
    for number in (1, 2, 4):
        storage.invite(database, design, number)
    surveys = [each.survey for each in storage.participants(database)]
    assert (surveys.count("1"), surveys.count("2")) == (4, 3)


def test_results_are_written_as_csv_and_parquet(people, database, tmp_path):
    people[0].answer(1, "3")
    assert results.write_results(database, tmp_path / "j.csv") == 1
    assert results.write_results(database, tmp_path / "j.parquet") == 1
    assert judgments_of(pl.read_parquet(tmp_path / "j.parquet")) == results.judgments(database)
    with pytest.raises(UsageError):
        results.write_results(database, tmp_path / "j.xlsx")


def test_a_spreadsheet_takes_no_remark_for_a_formula(tmp_path):
    design = replace(small(checks=0), remarks=True)
    database = tmp_path / "answers.sqlite"
    app = make_app(design, database, secret=SECRET)
    ((_, token),) = storage.invite(database, design, 1)
    with starlette.TestClient(app) as client:
        person = Person(client, token)
        person.agree()
        person.answer(1, "3", remark=" =HYPERLINK(1) ")
    (row,) = csv.DictReader(io.StringIO(results.judgments_csv(database)))
    assert row["remark"] == "'=HYPERLINK(1)"
    assert results.judgments(database)[0].remark == "=HYPERLINK(1)"


def test_links_answers_and_deletion_from_the_command_line(design, tmp_path, capsys):
    write_design(design, tmp_path / "design.json")
    serve = ["annotate", "serve"]
    assert invoke([*serve, "invite", str(tmp_path), "-n", "2", "--url", "https://u.example/"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split("\t") == ["participant", "survey", "link"]
    code, survey, link = lines[1].split("\t")
    assert survey == "1"
    assert link.startswith("https://u.example/p/")
    app = make_app(design, tmp_path / "answers.sqlite", secret=SECRET)
    with starlette.TestClient(app) as client:
        person = Person(client, link.rpartition("/")[2])
        person.agree()
        person.answer(1, "2")
    output, people_file = tmp_path / "out.csv", tmp_path / "people.csv"
    command = [*serve, "export", str(tmp_path), "-o", str(output), "--people", str(people_file)]
    assert invoke(command) == 0
    assert len(output.read_text().splitlines()) == 2
    assert len(people_file.read_text().splitlines()) == 3
    assert invoke([*serve, "delete", str(tmp_path), code]) == 0
    assert "1 answers are deleted" in capsys.readouterr().err
    assert invoke([*serve, "delete", str(tmp_path), code]) == 2
    assert "no such participant" in capsys.readouterr().err
    assert invoke([*serve, "export", str(tmp_path / "elsewhere")]) == 2


def test_a_secret_that_is_too_short_is_refused(design, tmp_path, monkeypatch, capsys):
    write_design(design, tmp_path / "design.json")
    monkeypatch.setenv("CIMENTO_ADMIN_SECRET", "short")
    assert invoke(["annotate", "serve", str(tmp_path)]) == 2
    told = capsys.readouterr().err
    assert "too short" in told


def test_a_port_that_is_taken_is_said_to_be(design, tmp_path, monkeypatch, capsys):
    write_design(design, tmp_path / "design.json")
    monkeypatch.setenv("CIMENTO_ADMIN_SECRET", SECRET)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert invoke(["annotate", "serve", str(tmp_path), "--port", port]) == 2
    told = capsys.readouterr().err
    assert "cannot listen there" in told
    assert SECRET not in told


def test_the_file_of_the_answers_is_for_its_owner_alone(design, database):
    storage.prepare(database, design)
    assert database.stat().st_mode & 0o777 == 0o600

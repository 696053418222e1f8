"""Looking after a survey: progress, links, answers taken out, participants deleted, commands."""

from __future__ import annotations

import csv
import io
import json
import socket
import sqlite3
from contextlib import closing
from dataclasses import replace
from html import unescape

import polars as pl
import pytest

from cimento import InputError, UsageError
from cimento.errors import StorageError
from cimento.judgments import judgments_of
from cimento.people.surveys import administration, links, retention, storage, write_design
from cimento.people.surveys.material import words
from cimento.people.surveys.server import make_app
from tests.helpers import survey_help
from tests.helpers.command_line import invoke
from tests.helpers.survey_help import SECRET, Person, hidden, small, stored

starlette = pytest.importorskip("starlette.testclient")

design, database = survey_help.design, survey_help.database
client, people = survey_help.client, survey_help.people


def test_an_answer_of_somebody_who_was_deleted_meanwhile_is_not_stored(
    people, database, monkeypatch
):
    participant = storage.participants(database)[0]
    data = {**hidden(people[0].get("/1").text), "field-0": "4"}
    retention.delete_participant(database, participant.id)
    monkeypatch.setattr(storage, "find_participant", lambda *_: participant)
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
    assert "1 su 5" in page
    assert "0 su 1" in page  # attention checks
    rows = list(csv.DictReader(io.StringIO(client.get("/admin/judgments.csv").text)))
    assert [row["value"] for row in rows] == ["3"]
    table = pl.read_parquet(io.BytesIO(client.get("/admin/judgments.parquet").content))
    assert judgments_of(table) == administration.judgments_in(database)
    people_rows = list(csv.DictReader(io.StringIO(client.get("/admin/participants.csv").text)))
    assert [row["answered"] for row in people_rows] == ["1", "0", "0"]


def test_the_administrator_makes_links_that_work(client):
    page = signed_in(client)
    form = hidden(page.split("/admin/logout")[0])["form"]
    made = client.post("/admin/links", data={"form": form, "number": "2"}).text
    tokens = [part.split("<")[0] for part in made.split("/p/")[1:]]
    assert len(tokens) == 2
    assert all(client.get(f"/p/{token}").status_code == 200 for token in tokens)
    for number in ("0", "1001", "x", "²", "1" * 5000):
        assert client.post("/admin/links", data={"form": form, "number": number}).status_code == 403
    assert client.post("/admin/links", data={"form": "", "number": "2"}).status_code == 403


def test_a_participant_is_deleted_with_every_answer(people, client, database):
    for person in people[:2]:
        person.answer(1, "3", remark="una mia osservazione")
    gone, kept = (participant.id for participant in storage.participants(database)[:2])
    signed_in(client)
    page = client.get(f"/admin/delete?participant={gone}").text
    data = {"form": hidden(page)["form"], "participant": gone}
    assert client.post("/admin/delete", data={**data, "form": "no"}).status_code == 403
    assert client.post("/admin/delete", data=data).status_code == 200
    assert {participant for participant, *_ in stored(database)} == {kept}
    assert people[0].get("/1").status_code == 404
    with closing(sqlite3.connect(database)) as connection, connection:
        assert connection.execute("SELECT participant FROM deletions").fetchall() == [(gone,)]
        for name in ("participants", "answers", "replaced"):
            assert gone not in str(connection.execute(f"SELECT * FROM {name}").fetchall())  # noqa: S608  # own names
    # Again, or for nobody: it is said.
    assert client.post("/admin/delete", data=data).status_code == 400


@pytest.mark.parametrize(
    ("language", "shown"),
    [
        ("", ("Risposte date", "Partecipanti: 1", "0 su 5")),
        ("en", ("Answered", "Participants: 1", "0 of 5")),
        ("es", ("Respuestas dadas", "Participantes: 1", "0 de 5")),
        ("pt", ("Testes de atenção corretos", "Participantes: 1", "0 de 5")),
        ("ru", ("Дано ответов", "Участники: 1", "0 из 5")),
    ],
)
def test_the_administrator_reads_the_language_of_the_window_or_of_the_survey(
    design, database, language, shown
):
    app = make_app(design, database, secret=SECRET, language=language)
    ((person, _),) = storage.invite_participants(database, design, 1)
    with starlette.TestClient(app, base_url="http://localhost") as client:
        page = signed_in(client)
        asked = client.get(f"/admin/delete?participant={person.id}").text
        data = {"form": hidden(asked)["form"], "participant": "P-none"}
        refused = client.post("/admin/delete", data=data).text
    for text in (page, asked, refused):
        assert f'<html lang="{language or design.language}">' in text
    assert all(text in page for text in shown)
    said = words(language or design.language)["administration"]
    assert person.id in asked
    assert said["delete_what"] in unescape(asked)
    assert said["unknown"] in unescape(refused)


def test_signing_out_ends_the_session(client):
    page = signed_in(client)
    cookie = client.cookies["cimento_admin"]
    form = page.rsplit('name="form" value="', 1)[1].split('"')[0]
    client.post("/admin/logout", data={"form": form})
    client.cookies.set("cimento_admin", cookie)
    assert client.get("/admin", follow_redirects=False).status_code == 303


def test_a_database_appears_whole_or_not_at_all(tmp_path, monkeypatch):
    database, seen = tmp_path / "answers.sqlite", []
    written = storage.design_json

    def looks(design):
        seen.append(database.exists())
        return written(design)

    monkeypatch.setattr(storage, "design_json", looks)
    storage.prepare(database, small())
    assert seen[0] is False  # a page that looks meanwhile finds nothing
    assert storage.answers(database) == []
    assert [path.name for path in tmp_path.iterdir()] == [database.name]
    assert database.stat().st_mode & 0o077 == 0


def test_a_file_of_answers_belongs_to_one_design(design, database):
    storage.prepare(database, design)
    storage.prepare(database, design)
    with pytest.raises(InputError, match="another design"):
        storage.prepare(database, small("en-subject-verb"))
    assert storage.stored_design(database) == design


def test_participants_go_to_the_survey_with_the_fewest(design, database):
    storage.prepare(database, design)
    for number in (1, 2, 4):
        storage.invite_participants(database, design, number)
    surveys = [participant.survey for participant in storage.participants(database)]
    assert (surveys.count("1"), surveys.count("2")) == (4, 3)


def test_results_are_written_as_csv_and_parquet(people, database, tmp_path):
    people[0].answer(1, "3")
    assert administration.write_results(database, tmp_path / "j.csv") == 1
    assert administration.write_results(database, tmp_path / "j.parquet") == 1
    assert judgments_of(pl.read_parquet(tmp_path / "j.parquet")) == administration.judgments_in(
        database
    )
    with pytest.raises(UsageError):
        administration.write_results(database, tmp_path / "j.xlsx")


def test_a_spreadsheet_takes_no_remark_for_a_formula(tmp_path):
    design = replace(small(checks=0), remarks=True)
    database = tmp_path / "answers.sqlite"
    app = make_app(design, database, secret=SECRET)
    ((_, token),) = storage.invite_participants(database, design, 1)
    with starlette.TestClient(app, base_url="http://localhost") as client:
        person = Person(client, token)
        person.agree()
        person.answer(1, "3", remark=" =HYPERLINK(1) ")
    (row,) = csv.DictReader(io.StringIO(administration.judgments_csv(database)))
    assert row["remark"] == "'=HYPERLINK(1)"
    assert administration.judgments_in(database)[0].remark == "=HYPERLINK(1)"


def test_links_answers_and_deletion_from_the_command_line(design, tmp_path, capsys):
    write_design(design, tmp_path / "design.json")
    serve = ["annotate", "serve"]
    assert invoke([*serve, "invite", str(tmp_path), "-n", "2", "--url", "https://u.example/"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split("\t") == ["participant", "survey", "link"]
    code, survey, link = lines[1].split("\t")
    assert survey == "1"
    assert link.startswith("https://u.example/p/")
    file = tmp_path / "links.tsv"
    assert file.read_text("utf-8").splitlines() == lines
    assert file.stat().st_mode & 0o777 == 0o600
    assert invoke([*serve, "invite", str(tmp_path), "-n", "1"]) == 0
    more = capsys.readouterr().out.splitlines()
    assert file.read_text("utf-8").splitlines() == [*lines, more[1]]
    (tmp_path / "notes.tsv").write_text("name\nAnna\n", encoding="utf-8")
    other = ["-n", "1", "-o", str(tmp_path / "notes.tsv")]
    assert invoke([*serve, "invite", str(tmp_path), *other]) == 2
    assert "is not a table of links" in capsys.readouterr().err
    assert len(storage.participants(tmp_path / "answers.sqlite")) == 3
    app = make_app(design, tmp_path / "answers.sqlite", secret=SECRET)
    with starlette.TestClient(app, base_url="http://localhost") as client:
        person = Person(client, link.rpartition("/")[2])
        person.agree()
        person.answer(1, "2")
    output, people_file = tmp_path / "out.csv", tmp_path / "people.csv"
    command = [*serve, "export", str(tmp_path), "-o", str(output), "--people", str(people_file)]
    assert invoke(command) == 0
    assert len(output.read_text().splitlines()) == 2
    assert len(people_file.read_text().splitlines()) == 4
    assert invoke([*serve, "delete", str(tmp_path), code]) == 0
    printed = capsys.readouterr().err
    assert f"{code} is deleted (answers: 1)" in printed
    assert "--links" not in printed
    kept = [line for line in [*lines, more[1]] if code not in line]
    assert file.read_text("utf-8").splitlines() == kept
    assert file.stat().st_mode & 0o777 == 0o600
    assert invoke([*serve, "delete", str(tmp_path), code]) == 2
    assert "no such participant" in capsys.readouterr().err
    assert invoke([*serve, "export", str(tmp_path / "elsewhere")]) == 2
    assert invoke([*command[:-1], str(tmp_path / "people.xlsx")]) == 2
    assert "participants are written as .csv" in capsys.readouterr().err


def test_a_secret_that_is_too_short_is_refused(design, tmp_path, monkeypatch, capsys):
    write_design(design, tmp_path / "design.json")
    monkeypatch.setenv("CIMENTO_ADMIN_SECRET", "short")
    assert invoke(["annotate", "serve", str(tmp_path)]) == 2
    printed = capsys.readouterr().err
    assert "too short" in printed


def test_a_port_that_is_taken_is_said_to_be(design, tmp_path, monkeypatch, capsys):
    write_design(design, tmp_path / "design.json")
    monkeypatch.setenv("CIMENTO_ADMIN_SECRET", SECRET)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert invoke(["annotate", "serve", str(tmp_path), "--port", port]) == 2
    printed = capsys.readouterr().err
    assert "cannot listen there" in printed
    assert SECRET not in printed


def test_the_file_of_the_answers_is_for_its_owner_alone(design, database):
    storage.prepare(database, design)
    assert database.stat().st_mode & 0o777 == 0o600


def test_the_server_says_where_it_is_and_whether_anybody_has_a_link(
    design, tmp_path, monkeypatch, capsys
):
    write_design(design, tmp_path / "design.json")
    module = "cimento.people.surveys.server"
    monkeypatch.setattr(
        f"{module}.make_app", lambda wanted, path, **_: storage.prepare(path, wanted)
    )
    monkeypatch.setattr(f"{module}.serve_surveys", lambda *_, **__: None)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    command = ["annotate", "serve", str(tmp_path), "--port", str(port)]
    assert invoke(command) == 0
    printed = capsys.readouterr().err
    assert f"http://127.0.0.1:{port}/admin" in printed
    assert "Nobody has a link yet" in printed
    assert invoke(["annotate", "serve", "invite", str(tmp_path), "-n", "1"]) == 0
    capsys.readouterr()
    assert invoke(command) == 0
    printed = capsys.readouterr().err
    assert "Nobody has a link yet" not in printed
    links = tmp_path / "links.tsv"
    here = f"http://127.0.0.1:{port}"
    assert f"Links in {links} begin with http://127.0.0.1:8000, and the survey is at {here}:" in (
        printed
    )
    text = links.read_text(encoding="utf-8").replace("http://127.0.0.1:8000", here)
    links.write_text(text, encoding="utf-8")
    assert invoke(command) == 0
    assert "begin with" not in capsys.readouterr().err
    assert invoke([*command, "--url", "https://survey.example.org"]) == 0
    assert f"begin with {here}, and the survey is at https://survey.example.org" in (
        capsys.readouterr().err
    )


def test_a_secret_that_is_no_text_is_refused(design, tmp_path, capsys):
    write_design(design, tmp_path / "design.json")
    (tmp_path / "secret").write_bytes(b"\xff" * 20)
    command = ["annotate", "serve", str(tmp_path), "--admin-secret-file", str(tmp_path / "secret")]
    assert invoke(command) == 2
    assert "is not text" in capsys.readouterr().err


def test_links_begin_with_the_address_that_participants_know(design, database):
    app = make_app(design, database, secret=SECRET, url="https://survey.example.org/")
    with starlette.TestClient(app, base_url="https://survey.example.org") as client:
        form = hidden(signed_in(client).split("/admin/logout")[0])["form"]
        made = client.post("/admin/links", data={"form": form, "number": "1"}).text
    assert ">https://survey.example.org/p/" in made


@pytest.mark.parametrize("url", ["survey.example.org", "https://", "ftp://x", "https://["])
def test_an_address_that_names_no_host_is_refused(design, tmp_path, url, capsys):
    write_design(design, tmp_path / "design.json")
    assert invoke(["annotate", "serve", str(tmp_path), "--url", url]) == 2
    assert "is not an address" in capsys.readouterr().err


def test_a_deletion_that_somebody_who_reads_holds_up_is_not_called_done(
    people, database, monkeypatch
):
    monkeypatch.setattr(retention, "_PATIENCE", 100)  # milliseconds
    people[0].answer(1, "3")
    gone = storage.participants(database)[0].id
    with closing(sqlite3.connect(database, isolation_level=None)) as backup:
        backup.execute("BEGIN")
        backup.execute("SELECT count(*) FROM answers").fetchall()
        with pytest.raises(StorageError, match="can still be found in the file"):
            retention.delete_participant(database, gone)
        assert stored(database) == []
        assert in_files(database, gone) > 1
    retention.delete_participant(database, gone)
    # That it was done is noted, once.
    assert in_files(database, gone) == 1
    with pytest.raises(UsageError, match="no such participant"):
        retention.delete_participant(database, gone)


def test_a_link_is_deleted_from_the_file_that_has_it(design, tmp_path, capsys):
    write_design(design, tmp_path / "design.json")
    serve = ["annotate", "serve"]
    elsewhere = tmp_path / "elsewhere" / "links.tsv"
    elsewhere.parent.mkdir()
    command = [*serve, "invite", str(tmp_path), "-n", "3"]
    assert invoke([*command, "-o", str(elsewhere)]) == 0
    codes = [line.split("\t")[0] for line in capsys.readouterr().out.splitlines()[1:]]
    delete = [*serve, "delete", str(tmp_path)]
    assert invoke([*delete, codes[0]]) == 0
    assert "If you keep the links elsewhere" in capsys.readouterr().err
    assert codes[0] in elsewhere.read_text("utf-8")
    # The answers are gone; the link can be deleted later.
    assert invoke([*delete, codes[0], "--links", str(elsewhere)]) == 0
    assert codes[0] not in elsewhere.read_text("utf-8")
    assert invoke([*delete, codes[1], "--links", str(tmp_path / "none.tsv")]) == 2
    # A text that is nobody's code deletes nobody's line.
    assert invoke([*delete, "participant", "--links", str(elsewhere)]) == 2
    assert invoke([*delete, "P", "--links", str(elsewhere)]) == 2
    assert len(elsewhere.read_text("utf-8").splitlines()) == 3
    assert len(storage.participants(tmp_path / "answers.sqlite")) == 2


def test_a_link_that_cannot_be_deleted_is_said_to_be_left(design, tmp_path, monkeypatch):
    database = tmp_path / "answers.sqlite"
    storage.prepare(database, design)
    ((person, token),) = storage.invite_participants(database, design, 1)
    file = tmp_path / links.LINKS_FILE
    links.append_links([f"{person.id}\t1\thttp://127.0.0.1:8000/p/{token}"], file)
    with monkeypatch.context() as patched:
        patched.setattr(links.os, "fsync", lambda _: file.unlink() or file.mkdir())
        with pytest.raises(StorageError, match=f"Delete the line of {person.id}"):
            retention.delete_participant(database, person.id)


def in_files(database, text):
    """How often a text is in the bytes of the file and what is beside it."""
    return sum(path.read_bytes().count(text.encode()) for path in database.parent.iterdir())


def test_all_that_is_stored_of_one_participant_is_given_out(people, database, design, tmp_path):
    write_design(design, tmp_path / "design.json")
    people[0].answer(1, "3")
    people[0].answer(1, "5")
    people[1].answer(1, "2")
    code, other = (person.id for person in storage.participants(database)[:2])
    output = tmp_path / "person.json"
    command = ["annotate", "serve", "export", str(tmp_path), "--person", code, "-o", str(output)]
    assert invoke(command) == 0
    text = output.read_text(encoding="utf-8")
    assert other not in text
    content = json.loads(text)
    assert content["participant"]["id"] == code
    assert content["consent"]["text"] == "\n\n".join(design.consent)
    (answer,), (earlier,) = content["answers"], content["replaced"]
    assert (answer["value"], earlier["value"]) == ("5", "3")
    assert answer["shown"] == list(design.by_id[answer["question"]].lines)
    assert invoke([*command[:-3], "P-0", "-o", str(output)]) == 2


def test_participants_of_long_ago_are_deleted_when_their_time_is_over(
    people, database, design, tmp_path, capsys
):
    write_design(design, tmp_path / "design.json")
    people[0].answer(1, "3")
    old, answering, invited = (person.id for person in storage.participants(database))
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE participants SET created_at = '2020-01-01T00:00:00.000+00:00'")
        connection.execute(
            "UPDATE participants SET consented_at = '2020-01-01T00:00:00.000+00:00' WHERE id != ?",
            (answering,),
        )
        connection.execute("DELETE FROM answers WHERE participant = ?", (answering,))
        row = (old, "q1", "acceptability", "3", "", "2020-01-02T00:00:00.000+00:00", 1.0)
        connection.execute("DELETE FROM answers")
        connection.execute("INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    command = ["annotate", "serve", "expire", str(tmp_path), "--keep-days", "365"]
    assert invoke([*command, "--dry-run"]) == 0
    assert capsys.readouterr().out.split() == [old, invited]
    assert len(storage.participants(database)) == 3
    assert invoke(command) == 0
    assert capsys.readouterr().out.split() == [old, invited]
    assert [person.id for person in storage.participants(database)] == [answering]
    assert stored(database) == []

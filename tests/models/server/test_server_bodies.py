"""What requests to servers are made of: limits that a server wants, fields that a user gives."""

from __future__ import annotations

import json

import pytest

import cimento
from cimento import ModelError, UsageError
from cimento.cli.main import invoke
from cimento.engine.cache import MemoryCache
from cimento.models.server import parse_body
from cimento.suites.stories import STORY
from tests.helpers.servers.loopback import serve
from tests.helpers.servers.replies import reply_server
from tests.helpers.stories import ask, chosen

pytestmark = pytest.mark.usefixtures("fresh_cache")

KEY = "sk-planted-77aa1"

OTHER_LIMIT = (
    "Unsupported parameter: 'max_tokens' is not supported with this model."
    " Use 'max_completion_tokens' instead."
)
NO_TEMPERATURE = (
    "Unsupported value: 'temperature' does not support 0 with this model."
    " Only the default (1) value is supported."
)


def strict(body):
    """Refuses what OpenAI's newer models refuse."""
    if "max_tokens" in body:
        return OTHER_LIMIT
    return NO_TEMPERATURE if "temperature" in body else None


def run_stories(server, tmp_path, **options):
    return ask(server.address, tmp_path, answer="generate", limit=2, **options)


def test_what_a_server_wants_is_learned_once_and_said(tmp_path):
    with reply_server(lambda _: "falso") as server:
        server.refuses = strict
        run = run_stories(server, tmp_path)
    assert set(chosen(run, STORY)) == {"false"}
    assert server.refused == [OTHER_LIMIT, NO_TEMPERATURE]
    assert all("max_completion_tokens" in body for body in server.bodies)
    assert not any("temperature" in body or "max_tokens" in body for body in server.bodies)
    assert any("refuses a temperature" in text for text in run.manifest["warnings"])


def test_a_server_that_draws_its_replies_is_one_model(tmp_path):
    drawn = iter("abcdefgh")
    with reply_server(lambda _: "falso") as server:
        server.refuses = strict
        server.to_probes = lambda: next(drawn)
        first = run_stories(server, tmp_path / "one")
        second = run_stories(server, tmp_path / "two")
    assert first.manifest["model"]["revision"] == second.manifest["model"]["revision"]


def test_another_refusal_is_not_tried_again(tmp_path):
    with reply_server(lambda _: "falso") as server:
        server.refuses = lambda body: "'stop' is not supported" if "stop" in body else None
        with pytest.raises(ModelError, match="'stop' is not supported"):
            run_stories(server, tmp_path, chat="no")
    assert len(set(map(json.dumps, server.bodies))) == len(server.bodies)


def test_a_limit_that_the_user_gave_is_not_changed(tmp_path):
    with reply_server(lambda _: "falso") as server:
        server.refuses = strict
        with pytest.raises(ModelError, match="max_completion_tokens"):
            ask(server.address, tmp_path, answer="generate", limit=2, body={"max_tokens": 9})


def test_fields_of_the_user_are_sent_and_are_part_of_the_run(tmp_path):
    body = {"max_completion_tokens": 500, "temperature": None, "seed": 7, "user": "caffè"}
    with reply_server(lambda _: "falso") as server:
        plain = run_stories(server, tmp_path / "one")
        run = run_stories(server, tmp_path / "two", body=body)
        again = run_stories(server, tmp_path / "three", body=dict(reversed(body.items())))
    sent = server.bodies[-1]
    assert (sent["max_completion_tokens"], sent["seed"], sent["user"]) == (500, 7, "caffè")
    assert not {"max_tokens", "temperature"} & sent.keys()
    assert run.manifest["asking"]["body"] == body
    revisions = [stored.manifest["model"]["revision"] for stored in (plain, run, again)]
    assert revisions[0] != revisions[1] == revisions[2]
    assert not any("another model" in text for text in run.manifest["warnings"])


def test_other_fields_are_other_answers(tmp_path):
    cache = MemoryCache()
    with reply_server(lambda _: "falso") as server:
        run_stories(server, tmp_path / "one", cache=cache)
        before = len(server.bodies)
        run_stories(server, tmp_path / "two", cache=cache, body={"seed": 7})
        after = len(server.bodies)
        run_stories(server, tmp_path / "three", cache=cache, body={"seed": 7})
    assert after == 2 * before
    assert len(server.bodies) == after


def test_fields_go_with_texts_that_are_scored_but_for_those_of_replies():
    with serve() as server:
        cimento.score(
            "Le lampade.", server.address, body={"seed": 7, "max_tokens": 90, "temperature": 1}
        )
    sent = server.bodies[-1]
    assert (sent["seed"], sent["max_tokens"], sent["temperature"]) == (7, 1, 0)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("seed=7", {"seed": 7}),
        ("reasoning_effort=low", {"reasoning_effort": "low"}),
        ('{"seed": 7, "metadata": {"a": [1]}}', {"seed": 7, "metadata": {"a": [1]}}),
        ("temperature=null", {"temperature": None}),
    ],
)
def test_fields_are_json_or_text(text, value):
    assert parse_body([text]) == value


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["seed"], "neither KEY=VALUE nor a JSON object"),
        (["{'seed': 7}"], "neither KEY=VALUE nor a JSON object"),
        (["seed=7", '{"seed": 8}'], "given twice"),
        (["model=other"], "cannot be given this way"),
        (["stream=true"], "read whole"),
        ([f"user={KEY}"], "would be stored"),
        (["api_key=1"], "would be stored"),
        (['extra={"headers": {"Authorization": "x"}}'], "would be stored"),
    ],
)
def test_fields_that_cannot_be_given_are_refused_without_being_shown(texts, message):
    with pytest.raises(UsageError, match=message) as caught:
        parse_body(texts)
    assert KEY not in str(caught.value)


def test_the_servers_key_in_a_field_is_refused_and_in_no_file(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("CIMENTO_API_KEY", "mine-only-1")
    suite = tmp_path / "suite.tsv"
    suite.write_text("good\tbad\nLe lampade erano accese.\tLe lampade era accese.\n")
    with serve() as server:
        command = ["run", str(suite), "-m", server.address, "--body", "user=mine-only-1"]
        code = invoke([*command, "-o", str(tmp_path / "runs")])
    captured = capsys.readouterr()
    assert code == 2
    assert "CIMENTO_API_KEY" in captured.err
    assert "mine-only-1" not in captured.out + captured.err
    assert not (tmp_path / "runs").exists()


def test_a_model_that_is_no_server_takes_no_fields():
    with pytest.raises(UsageError, match="is not a server"):
        cimento.score("Le lampade.", "demo-causal", body="seed=7")


def test_replies_that_thinking_left_no_room_for_are_named(tmp_path):
    with reply_server(lambda _: "") as server:
        server.finish = "length"
        run = run_stories(server, tmp_path)
    assert any("--body max_completion_tokens" in text for text in run.manifest["warnings"])

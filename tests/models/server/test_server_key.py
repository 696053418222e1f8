"""The key of a server: sent where it belongs, and seen nowhere."""

from __future__ import annotations

import logging

import pytest

from cimento import CimentoError, UsageError, score
from cimento.cli.main import invoke
from cimento.io.transport import Patience
from cimento.models.base import ModelCard
from cimento.models.server import Bodies
from cimento.models.server.http import Server
from cimento.models.server.model import ServerScorer
from tests.helpers.servers.loopback import refuse, serve

pytestmark = pytest.mark.usefixtures("fresh_cache")

KEY = "sk-planted-4f1d9c"


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    monkeypatch.delenv("CIMENTO_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def everything_in(folder):
    """The bytes of all files below a folder, and their names."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return b"".join(str(path).encode() + path.read_bytes() for path in files)


def test_the_key_is_sent_and_is_in_no_file_and_no_message(tmp_path, monkeypatch, capsys, caplog):
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))
    suite = tmp_path / "suite.tsv"
    suite.write_text("good\tbad\nLe lampade erano accese.\tLe lampade era accese.\n")
    caplog.set_level(logging.DEBUG)
    with serve() as server:
        options = ["--concurrency", "2", "--timeout", "30", "--unscored-first", "drop"]
        command = ["run", str(suite), "-m", server.address, *options]
        code = invoke([*command, "-o", str(tmp_path / "runs")])
        server.faults = [refuse(400, f"the key {KEY} is not liked")]
        monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "another"))
        refused = invoke(["run", str(suite), "-m", server.address, "-o", str(tmp_path / "more")])

    captured = capsys.readouterr()
    assert code == 0
    assert refused == 1
    assert {headers["Authorization"] for headers in server.headers} == {f"Bearer {KEY}"}
    assert "the key [key] is not liked" in captured.err
    stored = everything_in(tmp_path)
    assert b"manifest.json" in stored
    assert KEY.encode() not in stored
    assert KEY not in captured.out + captured.err + caplog.text


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_not_repeated_even_in_part(status):
    with serve(faults=[refuse(status, "Incorrect key: sk-pl***9c")]) as server:
        client = Server(server.url)
        with pytest.raises(CimentoError, match="refuses the key") as caught:
            client.post(
                "/completions", {"prompt": "a", "echo": True, "logprobs": 1, "max_tokens": 1}
            )

    assert "sk-" not in str(caught.value)
    assert KEY not in repr(vars(caught.value))


def test_a_key_in_an_answer_that_is_no_completion_is_not_repeated():
    with (
        serve(lambda _: {"error": f"unknown key {KEY}"}) as server,
        pytest.raises(CimentoError, match=r"unknown key \[key\]") as caught,
    ):
        score("Le lampade.", server.address)

    assert KEY not in str(caught.value)


@pytest.mark.parametrize("status", [302, 307])
def test_a_redirect_does_not_carry_the_key_away(status):
    with serve() as elsewhere, serve() as server:
        server.faults = [refuse(status, Location=f"{elsewhere.url}/completions")]
        with pytest.raises(CimentoError, match="redirects"):
            Server(server.url).post(
                "/completions", {"prompt": "a", "echo": True, "logprobs": 1, "max_tokens": 1}
            )

    assert elsewhere.headers == []


def spelled(key):
    """A key in the spellings that a server or a proxy may give it."""
    return {
        "plain": key,
        "in the other case": key.upper(),
        "percent-encoded": "".join(f"%{ord(letter):02x}" for letter in key),
        "in part": key.replace("-", "%2D"),
        "encoded twice": key.replace("-", "%252d"),
        "escaped as in JSON": "".join(rf"\u{ord(letter):04x}" for letter in key),
        "escaped as in HTML": key.replace("-", "&#45;").replace("k", "&#x6B;"),
    }


@pytest.mark.parametrize("spelling", spelled(KEY).values(), ids=spelled(KEY))
@pytest.mark.parametrize(
    "fault",
    [
        lambda said: refuse(302, Location=f"https://evil.test/{said}/x?y={said}#{said}"),
        lambda said: refuse(400, f"no {said}"),
        lambda said: refuse(404, f"no {said}"),
        lambda said: refuse(503, f"no {said}"),
        lambda said: refuse(400, f"echo is not allowed for {said}"),
        lambda said: lambda handler: handler.send_bytes(f'"{said}"'.encode()),
    ],
    ids=["redirect", "400", "404", "503", "no echo", "no completion"],
)
def test_the_key_is_in_no_message_in_any_spelling(fault, spelling):
    with serve(faults=[fault(spelling)]) as server:
        patience = Patience(attempts=1)
        card = ModelCard(name="tiny", kind="causal", revision="", tokenizer="")
        client = Server(server.url, patience=patience)
        scorer = ServerScorer(client, card=card, bodies=Bodies("tiny"), concurrency=1)
        with pytest.raises(CimentoError) as caught:
            list(scorer.read(["Le lampade."]))

    assert "[key]" in str(caught.value)
    assert "4f1d9c" not in repr(vars(caught.value)).casefold()
    assert spelling not in repr(caught.value.args) + str(caught.value)


def test_a_key_that_servers_are_given_for_want_of_one_changes_no_answer(monkeypatch):
    monkeypatch.setenv("CIMENTO_API_KEY", "token")
    with serve() as server:
        tokens = list(score(["The token."], server.address)["token"])

    assert tokens == ["The", "token."]


def test_a_key_in_the_name_of_a_field_leaves_the_answer_whole(monkeypatch):
    monkeypatch.setenv("CIMENTO_API_KEY", "token_logprobs")
    with serve() as server:
        client = Server(server.url)
        answer = client.post(
            "/completions", {"prompt": "a", "echo": True, "logprobs": 1, "max_tokens": 1}
        )

    assert answer["choices"][0]["logprobs"]["token_logprobs"]


def test_a_key_of_its_own_comes_first(monkeypatch):
    monkeypatch.setenv("CIMENTO_API_KEY", "mine\n")
    with serve() as server:
        Server(server.url).get("/models")

    assert server.headers[0]["Authorization"] == "Bearer mine"


@pytest.mark.parametrize(
    ("url", "sent"),
    [
        ("https://models.test/v1", KEY),
        ("http://127.0.0.1:9/v1", KEY),
        ("http://models.test/v1", ""),
    ],
)
def test_openais_key_is_not_sent_unencrypted_to_another_machine(url, sent):
    assert Server(url)._key == sent


def test_a_broken_key_is_refused_without_being_shown(monkeypatch):
    monkeypatch.setenv("CIMENTO_API_KEY", f"{KEY}\nX-Other: 1")

    with pytest.raises(UsageError, match="no key has") as caught:
        Server("https://models.test/v1")

    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    "url", [f"https://me:{KEY}@models.test/v1", f"https://models.test/v1?k={KEY}"]
)
def test_a_secret_in_the_url_is_refused_without_being_shown(url, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))
    suite = tmp_path / "suite.tsv"
    suite.write_text("good\tbad\nLe lampade erano accese.\tLe lampade era accese.\n")
    with serve() as server:
        models = ["-m", server.address, "-m", f"openai:{url}#tiny"]
        code = invoke(["run", str(suite), *models, "-o", str(tmp_path / "runs"), "--json"])

    assert code == 3
    captured = capsys.readouterr()
    assert "would be stored" in captured.err
    assert KEY not in captured.out + captured.err
    assert KEY.encode() not in everything_in(tmp_path)


def test_an_answer_without_end_is_refused(monkeypatch):
    monkeypatch.setattr("cimento.models.server.http.MOST_BYTES", 100)
    with serve(lambda _: {"choices": ["x" * 200]}) as server:
        with pytest.raises(CimentoError, match="more than 100 bytes"):
            Server(server.url).post(
                "/completions", {"prompt": "a", "echo": True, "logprobs": 1, "max_tokens": 1}
            )
        assert len(server.prompts) == 1

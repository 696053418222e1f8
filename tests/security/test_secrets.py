"""Planted secrets: whatever is run, no file, no table, no page and no message has them."""

from __future__ import annotations

import logging

import pytest

from cimento.cli.main import invoke
from tests.helpers.servers.loopback import completion, refuse, serve
from tests.models.server.test_server_key import everything_in

pytestmark = pytest.mark.usefixtures("fresh_cache")

KEY = "sk-planted-7b21e0c4"
TOKEN = "hf_plantedQxWvUtSr"  # noqa: S105  # planted


@pytest.fixture(autouse=True)
def environment(monkeypatch, tmp_path):
    monkeypatch.setenv("CIMENTO_API_KEY", KEY)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def suite(tmp_path):
    path = tmp_path / "suite.tsv"
    path.write_text("good\tbad\nLe lampade erano accese.\tLe lampade era accese.\n")
    return str(path)


def hidden(folder, capsys, caplog=None):
    """See that neither secret is anywhere; what was printed."""
    said = capsys.readouterr()
    stored = everything_in(folder)
    for secret in (KEY, TOKEN):
        assert secret.encode() not in stored
        assert secret not in said.out + said.err
        assert caplog is None or secret not in caplog.text
    return said


def test_every_command_on_a_server_keeps_the_key_to_itself(suite, tmp_path, capsys, caplog):
    caplog.set_level(logging.DEBUG)
    runs = str(tmp_path / "runs")
    text = tmp_path / "text.txt"
    text.write_text("Le lampade erano accese.\n")
    with serve() as server:
        model = server.address
        codes = [
            invoke(["run", suite, "-m", model, "-o", runs, "--unscored-first", "drop"]),
            invoke(["run", suite, "-m", model, "-o", runs, "--unscored-first", "drop", "--json"]),
            invoke(["score", str(text), "-m", model]),
            invoke(["report", runs, "-o", str(tmp_path / "page.html")]),
            invoke(["report", runs, "-o", str(tmp_path / "table.csv")]),
            invoke(["report", runs, "-o", str(tmp_path / "summary.json")]),
            invoke(["show", runs]),
            invoke(["judge", runs, "--scores"]),
            invoke(["models", "cache", "verify"]),
        ]
        invoke(["models", "check", model, suite])

    assert codes == [0] * len(codes)
    assert any(KEY in str(headers) for headers in server.headers)
    said = hidden(tmp_path, capsys, caplog)
    assert "suite" in said.out


@pytest.mark.parametrize("command", ["run", "score", "check"])
def test_a_server_that_repeats_the_key_when_it_fails_is_not_quoted(
    command, suite, tmp_path, capsys
):
    faults = [refuse(400, f"Bearer {KEY} is unknown"), *[refuse(400, KEY)] * 20]
    with serve(faults=faults) as server:
        commands = {
            "run": ["run", suite, "-o", str(tmp_path / "runs"), "-m", server.address],
            "score": ["score", suite, "-m", server.address],
            "check": ["models", "check", server.address],
        }
        assert invoke(commands[command]) == 1

    hidden(tmp_path, capsys)


def test_a_server_that_puts_the_key_into_its_answers_is_not_believed(suite, tmp_path, capsys):
    def answer(prompt):
        made = completion(prompt)
        return {**made, "id": KEY, "model": KEY, "system_fingerprint": KEY}

    with serve(answer) as server:
        invoke(["run", suite, "-m", server.address, "-o", str(tmp_path / "runs")])

    hidden(tmp_path, capsys)


@pytest.mark.slow
@pytest.mark.parametrize(
    "address",
    [
        f"openai:http://me:{KEY}@127.0.0.1:9/v1#tiny",
        f"openai:http://{KEY}@127.0.0.1:9/v1#tiny",
        f"openai:http://127.0.0.1:9/v1?api_key={KEY}#tiny",
        f"openai:https://models.test/v1?token={KEY}",
        f"https://me:{KEY}@models.test/org/name",
    ],
)
@pytest.mark.parametrize("command", ["run", "score", "fill", "check"])
def test_a_secret_in_an_address_is_refused_and_not_repeated(
    command, address, suite, tmp_path, capsys
):
    commands = {
        "run": ["run", suite, "-o", str(tmp_path / "runs"), "-m", address],
        "score": ["score", suite, "-m", address],
        "fill": ["fill", suite, "-m", address],
        "check": ["models", "check", address],
    }

    assert invoke(commands[command]) in {1, 2}

    said = hidden(tmp_path, capsys)
    assert said.err.startswith("cimento: ")


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["token", "use_auth_token", "auth_token", "hf_token", "hub_token", "api_key", "password",
     "secret", "access_token"],
)  # fmt: skip
@pytest.mark.parametrize("command", ["run", "score", "check"])
def test_a_secret_among_the_options_is_refused_and_not_repeated(
    command, name, suite, tmp_path, capsys
):
    commands = {
        "run": ["run", suite, "-o", str(tmp_path / "runs"), "-m", "demo-causal"],
        "score": ["score", suite, "-m", "demo-causal"],
        "check": ["models", "check", "demo-causal"],
    }

    assert invoke([*commands[command], "--model-args", f"{name}={KEY}"]) == 2

    said = hidden(tmp_path, capsys)
    assert f"--model-args {name}" in said.err


def test_what_is_no_option_is_not_repeated_where_it_may_be_a_secret(suite, capsys, tmp_path):
    assert invoke(["score", suite, "-m", "demo-causal", "--model-args", KEY]) == 2

    hidden(tmp_path, capsys)


def test_a_run_of_a_folder_knows_nothing_of_the_environment(suite, tmp_path, capsys):
    assert invoke(["run", suite, "-m", "demo-causal", "-o", str(tmp_path / "runs")]) == 0
    assert invoke(["report", str(tmp_path / "runs"), "-o", str(tmp_path / "page.html")]) == 0

    hidden(tmp_path, capsys)

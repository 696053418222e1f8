"""Whose answers a server's are: its address, its name, and what it answers to two probes."""

from __future__ import annotations

import json
import re

import pytest

from cimento.cli.main import invoke
from cimento.models.server import identity
from cimento.models.server.identity import FILE, PROBES, Fingerprint, identify
from tests.helpers.servers.loopback import completion, logprob, pieces, serve
from tests.helpers.servers.replies import reply_server
from tests.helpers.stories import ask

pytestmark = pytest.mark.usefixtures("fresh_cache")


def otherwise(prompt):
    """A second model: longer tokens score more, so that other sentences win."""
    answer = completion(prompt)
    tokens = [*pieces(prompt), " and"]
    values = [None, *(-32 - logprob(token, i) / 2 for i, token in enumerate(tokens) if i)]
    answer["choices"][0]["logprobs"]["token_logprobs"] = values
    return answer


def moved(by):
    """The first model, whose scores come out a little different."""

    def answer(prompt):
        whole = completion(prompt)
        listed = whole["choices"][0]["logprobs"]
        listed["token_logprobs"] = [value and value + by for value in listed["token_logprobs"]]
        return whole

    return answer


@pytest.fixture
def suite():
    return "en-subject-verb"


def passed(capsys, *arguments, code=0):
    """The number of outcomes that passed, and the run, as `--json` prints it."""
    assert invoke(["run", *arguments, "--json"]) == code
    said = capsys.readouterr()
    if code:
        return None, said
    [run] = json.loads(said.out)["runs"]
    return sum(outcome["verdict"] == "pass" for outcome in run["outcomes"]), run


def test_two_servers_with_one_name_have_numbers_of_their_own(suite, tmp_path, capsys):
    with serve() as one, serve(otherwise) as other:
        first, run = passed(capsys, suite, "-m", one.address, "-o", str(tmp_path / "a"))
        second, again = passed(capsys, suite, "-m", other.address, "-o", str(tmp_path / "b"))
        asked = set(other.prompts)
        third, _ = passed(capsys, suite, "-m", other.address, "-o", str(tmp_path / "a"))

    assert asked, "the answers of the first are not those of the second"
    assert first != second == third
    assert run["model"] != again["model"]
    assert len(list((tmp_path / "a").rglob("manifest.json"))) == 2


def test_another_model_at_an_old_address_is_told_and_has_a_run_of_its_own(suite, tmp_path, capsys):
    arguments = [suite, "-o", str(tmp_path / "runs"), "-m"]
    with serve() as server:
        first, run = passed(capsys, *arguments, server.address)
        assert not run["warnings"]
        server.answer = otherwise
        second, again = passed(capsys, *arguments, server.address)
        server.answer = completion
        server.prompts.clear()
        third, _ = passed(capsys, *arguments, server.address)

    assert first == third != second
    assert any("served another model under this name" in warning for warning in again["warnings"])
    assert run["model"] != again["model"]
    assert server.prompts == [], "the first model is known again, and so are its answers"


def test_a_server_that_cannot_score_is_refused_though_all_texts_are_kept(suite, tmp_path, capsys):
    def chats(_prompt):
        return {"choices": [{"message": {"role": "assistant", "content": "Yes."}}]}

    with serve() as server:
        arguments = [suite, "-m", server.address, "-o"]
        passed(capsys, *arguments, str(tmp_path / "runs"))
        server.answer = chats
        for output in ("runs", "elsewhere"):
            _, said = passed(capsys, *arguments, str(tmp_path / output), code=1)
            assert json.loads(said.out)["runs"] == []
            assert "answered as in a chat" in said.err
            assert "Traceback" not in said.err


def test_rounding_makes_no_other_model(suite, tmp_path, capsys):
    arguments = [suite, "-o", str(tmp_path), "-m"]
    labels = set()
    with serve() as server:
        for by in (0.0, 0.004, -0.03, 0.006):
            server.answer = moved(by)
            _, run = passed(capsys, *arguments, server.address)
            labels.add(run["model"])
            assert not run["warnings"]
        server.answer = moved(-0.2)
        _, run = passed(capsys, *arguments, server.address)

    assert len(labels) == 1
    assert run["model"] not in labels


def test_probes_are_asked_for_at_the_start_of_every_run(suite, tmp_path):
    with serve() as server:
        for _ in range(2):
            server.probed.clear()
            assert invoke(["run", suite, "-m", server.address, "-o", str(tmp_path / "runs")]) == 0
            assert set(server.probed) == set(PROBES)


def test_workers_and_their_driver_agree_on_the_model(suite, tmp_path):
    with serve() as server:
        asked = ["run", suite, "-m", server.address, "--no-cache", "--workers", "2"]
        assert invoke([*asked, "-o", str(tmp_path / "runs")]) == 0

    [path] = (tmp_path / "runs").rglob("manifest.json")
    model = json.loads(path.read_text())["model"]
    assert model["revision"][:7] in path.parent.name
    assert re.fullmatch("[0-9a-f]{64}", model["details"]["fingerprint"])


def test_chat_servers_are_known_by_their_replies(tmp_path):
    def run(server):
        return ask(server.address, tmp_path, answer="generate", limit=2)

    with reply_server(lambda _turns: "Vero.") as server:
        first = run(server)
        asked = len(server.asked)
        assert run(server).model == first.model
        assert len(server.asked) == asked
        server.to_probes = "a chair"
        server.answer = lambda _turns: "Falso."
        second = run(server)

    assert second.model != first.model
    assert not first.table("replies").equals(second.table("replies"))
    assert any("another model under this name" in warning for warning in second.warnings)


def test_a_server_that_does_nothing_is_told_with_both_reasons(suite, capsys):
    with reply_server(lambda _turns: None) as server:
        server.to_probes = None
        assert invoke(["run", suite, "-m", server.address]) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "cannot score" in said
    assert "does not chat" in said


def test_what_is_damaged_in_the_file_is_passed_over(fresh_cache):
    one, other = (Fingerprint(scores=({0: value}, {0: value})) for value in (-1.0, -2.0))
    lines = [b"{", b"[]", b'{"url": "u", "model": "m"}', b"\xff", b"x" * 50_000,
             b'{"url": "u", "model": "m", "scores": [{"a": "b"}], "replies": []}']  # fmt: skip
    (fresh_cache / FILE).write_bytes(b"\n".join(lines) + b"\n")

    identities = [
        identify(fingerprint, url="u", model="m", folder=fresh_cache)
        for fingerprint in (one, other, one)
    ]

    assert identities[0].digest == identities[2].digest != identities[1].digest
    assert [identity.others for identity in identities] == [0, 1, 1]
    assert identify(one, url="u2", model="m", folder=fresh_cache).others == 0


def test_a_folder_that_cannot_be_written_is_told(suite, tmp_path, capsys, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "file"))
    with serve() as server:
        assert invoke(["run", suite, "-m", server.address, "--no-cache"]) == 1
    assert "CIMENTO_CACHE_DIR" in capsys.readouterr().err


def test_clearing_the_cache_forgets_who_answered(suite, tmp_path, fresh_cache):
    with serve() as server:
        assert invoke(["run", suite, "-m", server.address, "-o", str(tmp_path / "runs")]) == 0
    assert (fresh_cache / FILE).is_file()
    assert invoke(["models", "cache", "clear"]) == 0
    assert not (fresh_cache / FILE).exists()


def test_first_tokens_without_a_score_are_equal_and_others_are_not():
    scored = Fingerprint(scores=({0: -1.0, 2: -2.0},))
    unscored = Fingerprint(scores=({0: float("nan"), 2: -2.0},))

    assert unscored.is_like(unscored)
    assert not unscored.is_like(scored)
    assert identity.SAME_MODEL_NATS == 0.05

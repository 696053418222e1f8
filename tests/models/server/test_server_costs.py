"""What servers are sent and write: estimated before a run, counted by the servers in it."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

import cimento
from cimento import InputError
from cimento.cli.main import invoke
from cimento.engine.units import SIZES
from cimento.paradigms import Reply
from cimento.records.usage import Price, Tokens, money, read_prices
from tests.helpers.servers.loopback import pieces, serve
from tests.helpers.servers.replies import reply_server, send
from tests.helpers.stories import TRIPLES_FILE, ask

pytestmark = pytest.mark.usefixtures("fresh_cache")

PRICES = "model\tinput\toutput\tcurrency\ntiny\t0.5\t2\tEUR\n"
PAIRS = "good\tbad\nLe lampade erano accese.\tLe lampade era accese.\n"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prices.tsv").write_text(PRICES)
    (tmp_path / "pairs.tsv").write_text(PAIRS)
    return tmp_path


def planned(capsys, *arguments, code=0):
    capsys.readouterr()
    assert invoke(["plan", *arguments, "--json"]) == code
    [model] = json.loads(capsys.readouterr().out)["models"]
    return model


def estimated(text):
    return math.ceil(len(text.encode()) / 3)


@pytest.mark.usefixtures("here")
def test_pairs_are_planned_for_a_server(capsys):
    texts = [text for line in PAIRS.splitlines()[1:] for text in line.split("\t")]
    with serve() as server:
        plan = planned(capsys, "pairs.tsv", "-m", server.address, "--prices", "prices.tsv")
        assert server.prompts == []
        assert invoke(["run", "pairs.tsv", "-m", server.address, "-o", "runs"]) == 0
        assert sorted(server.prompts) == sorted(texts)
        after = planned(capsys, "pairs.tsv", "-m", server.address, "-o", "other")
    read = sum(map(estimated, texts))
    assert (plan["sent"], plan["tokens"], plan["written"], plan["kept"]) == (2, read, 2, 0)
    assert plan["cost"] == pytest.approx((read * 0.5 + 2 * 2) / 1e6)
    assert plan["currency"] == "EUR"
    assert (after["sent"], after["tokens"], after["kept"], after["cost"]) == (0, 0, 2, None)


def test_stories_are_planned_with_what_may_follow(here, capsys):
    suite = str(TRIPLES_FILE)
    with reply_server(lambda _: "falso") as server:
        options = ["-m", server.address, "--set", "answer=generate", "--prices", "prices.tsv"]
        plan = planned(capsys, suite, *options)
        code = invoke(["plan", suite, *options])
        words = capsys.readouterr().out
        asked = planned(capsys, suite, *options, "--body", "max_completion_tokens=900")
        assert server.bodies == []
        assert invoke(["run", suite, *options, "-o", str(here / "runs")]) == 0
        first = [body for body in server.bodies if "plausibile" in body["messages"][-1]["content"]]
    assert plan["sent"] == len(first) == 15
    turns = [turn["content"] for body in first for turn in body["messages"]]
    assert plan["tokens"] == sum(estimated(text) + 4 for text in turns)
    assert plan["written"] == sum(body["max_tokens"] for body in first)
    assert asked["written"] == 900 * len(first)
    assert plan["later_cost"] == pytest.approx(plan["cost"] / 15 * plan["later"])
    assert code == 0
    assert "15 requests to the server; about" in words
    assert "estimate" in words


@pytest.mark.usefixtures("here")
def test_blanks_are_planned_for_a_server(capsys):
    suite = "it-connectives-cloze"
    with serve() as server:
        command = [suite, "-m", server.address, "--limit", "2"]
        plan = planned(capsys, *command)
        assert server.prompts == []
        assert invoke(["run", *command]) == 0
    assert plan["sent"] == len(server.prompts) > 2
    assert plan["tokens"] == sum(map(estimated, server.prompts))


@pytest.mark.usefixtures("here")
def test_a_server_that_cannot_score_is_named_by_the_plan(capsys):
    with reply_server(lambda _: "falso") as server:
        plan = planned(capsys, "pairs.tsv", "-m", server.address, code=1)
    assert "it answered without log-probabilities" in plan["problem"]


@pytest.mark.usefixtures("here")
def test_a_model_without_a_price_costs_nothing_that_is_known(capsys):
    with serve() as server:
        server.models = {"data": [{"id": "other"}]}
        address = server.address.replace("#tiny", "#other")
        plan = planned(capsys, "pairs.tsv", "-m", address, "--prices", "prices.tsv")
        assert invoke(["plan", "pairs.tsv", "-m", address, "--prices", "prices.tsv"]) == 0
    assert (plan["cost"], plan["currency"]) == (None, "")
    assert "the prices do not name this model" in capsys.readouterr().out


def summed(capsys, *arguments):
    """The summary that a run prints."""
    capsys.readouterr()
    assert invoke(["run", *arguments, "--json"]) == 0
    [run] = json.loads(capsys.readouterr().out)["runs"]
    return run


@pytest.mark.usefixtures("here")
def test_tokens_are_summed_as_the_server_counts_them_and_priced(capsys):
    with serve() as server:
        run = summed(capsys, "pairs.tsv", "-m", server.address, "--prices", "prices.tsv")
        shown = invoke(["run", "pairs.tsv", "-m", server.address])
        again = capsys.readouterr().out
        assert invoke(["report", "runs", "-o", "page.html"]) == 0
    read = sum(len(pieces(text)) for text in server.prompts)
    assert run["usage"] == {
        "asked": 2,
        "kept": 0,
        "sent": 2,
        "read": read,
        "written": 2,
        "cost": pytest.approx((read * 0.5 + 2 * 2) / 1e6),
        "currency": "EUR",
        "reason": "",
    }
    assert shown == 0
    assert f"2 requests, {read} tokens read, 2 tokens written: under 0.0001 EUR." in again
    assert "usage written" in Path("page.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("here")
def test_what_was_known_before_is_told_apart_and_costs_nothing(capsys):
    Path("more.tsv").write_text(PAIRS + "La lampada era accesa.\tLa lampada erano accesa.\n")
    with serve() as server:
        command = ["-m", server.address, "--prices", "prices.tsv"]
        summed(capsys, "pairs.tsv", *command)
        more = summed(capsys, "more.tsv", *command)["usage"]
        again = summed(capsys, "more.tsv", *command, "-o", "other")["usage"]
    assert (more["asked"], more["kept"], more["sent"], more["written"]) == (4, 2, 2, 2)
    assert (again["kept"], again["sent"]) == (4, 0)
    assert (again["read"], again["written"], again["cost"]) == (None, None, None)
    assert "known before" in again["reason"]


def test_a_server_that_does_not_count_leaves_tokens_undefined(tmp_path):
    with reply_server(lambda _: "falso") as server:
        run = ask(server.address, tmp_path, answer="generate", limit=2)
    usage = run.summary().usage
    assert usage.sent == len(server.bodies) == usage.asked
    assert (usage.read, usage.written, usage.cost) == (None, None, None)
    assert "does not count" in usage.reason


def test_rounds_and_units_are_summed_and_attempts_count(tmp_path):
    faults = [send({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 1}})]
    with reply_server(lambda _: "falso", faults=faults) as server:
        server.usage = {"prompt_tokens": 11, "completion_tokens": 3}
        run = ask(server.address, tmp_path, answer="generate")
    sent = len(server.bodies)
    usage = run.summary().usage
    assert sent > usage.asked > SIZES[Reply] // 2
    assert (usage.sent, usage.read, usage.written) == (
        sent, 11 * (sent - 1) + 7, 3 * (sent - 1) + 1
    )  # fmt: skip


@pytest.mark.usefixtures("here")
def test_each_suite_has_its_tokens_where_units_are_shared(capsys):
    Path("other.tsv").write_text(PAIRS + "La lampada era accesa.\tLa lampada erano accesa.\n")
    with serve() as server:
        command = ["run", "pairs.tsv", "other.tsv", "-m", server.address, "--json"]
        capsys.readouterr()
        assert invoke(command) == 0
        first, second = json.loads(capsys.readouterr().out)["runs"]
    assert (first["usage"]["sent"], second["usage"]["sent"]) == (2, 4)
    assert len(server.prompts) == 4


def test_a_model_that_is_no_server_has_no_usage(tmp_path):
    (tmp_path / "pairs.tsv").write_text(PAIRS)
    run = cimento.evaluate(tmp_path / "pairs.tsv", "demo-causal")
    assert "usage" not in run.manifest
    assert "usage" not in json.loads(run.summary().to_json())["runs"][0]


def test_prices_are_read_from_both_forms(tmp_path):
    (tmp_path / "a.tsv").write_text("# of today\n" + PRICES)
    (tmp_path / "a.toml").write_text(
        '[[prices]]\nmodel = "tiny"\ninput = 0.5\noutput = 2\ncurrency = "EUR"\n'
    )
    expected = {"tiny": Price(0.5, 2.0, "EUR")}
    assert read_prices(tmp_path / "a.tsv") == read_prices(tmp_path / "a.toml") == expected


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.tsv", "", "the header is nothing"),
        ("a.tsv", "model\tinput\n", "the header is model, input"),
        ("a.tsv", PRICES.replace("0.5", "0,5"), "line 2, input: '0,5' is not a price"),
        ("a.tsv", PRICES.replace("0.5", "-1"), "is not a price"),
        ("a.tsv", PRICES.replace("0.5", "nan"), "is not a price"),
        ("a.tsv", PRICES.replace("\tEUR", ""), "3 cells under 4 columns"),
        ("a.tsv", PRICES + "tiny\t1\t1\tEUR\n", "is there twice"),
        ("a.toml", "[[price]]\n", "no table"),
        ("a.toml", '[[prices]]\nmodel = "tiny"\ninput = 1\n', "it has model, input"),
        ("a.toml", "prices = [1]\n", "no table"),
    ],
)
def test_prices_that_are_none_are_refused(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=message):
        read_prices(tmp_path / name)


@pytest.mark.parametrize(
    ("amount", "shown"),
    [(0.0, "0.0000"), (1e-9, "under 0.0001"), (0.5, "0.5000"), (1234.5, "1,234.50")],
)
def test_amounts_are_never_rounded_to_nothing(amount, shown):
    assert money(amount, "EUR") == f"{shown} EUR"


def test_what_is_not_known_of_some_is_not_known_of_all():
    both = Tokens(1, 10, None).plus(Tokens(1, 5, 2))
    assert both == Tokens(2, 15, None)
    assert Price(1, 1, "EUR").of(both) is None
    assert Tokens().plus(both) == both

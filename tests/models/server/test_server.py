"""Scores from a server: tokens, reasons, what is kept, what is asked again and what is not."""

from __future__ import annotations

import threading

import pytest

import cimento
from cimento import Asking, ModelError, Policy, UsageError, open_source
from cimento.engine.cache import FileCache, MemoryCache
from cimento.engine.scores import ask
from cimento.evaluation.freetext import score_texts
from cimento.models.server.identity import PROBES
from cimento.models.server.model import connect
from cimento.paradigms import Score
from tests.engine.test_requests import make_suite
from tests.helpers.servers.loopback import completion, logprob, pieces, serve

pytestmark = pytest.mark.usefixtures("fresh_cache")

TEXTS = (
    {"good": "Le lampade | erano | accese.", "bad": "Le lampade | era | accese."},
    {"good": "Città e caffè | erano | vuoti.", "bad": "Città e caffè | era | vuoti."},
)
# A longer word scores less here, so the bad sentences win.
FORMULA = "(2;%good%) > (2;%bad%)"


@pytest.fixture
def server():
    with serve() as running:
        yield running


def tokens_of(address, *requests, cache=None):
    """The tokens table of some requests."""
    url = address.removeprefix("openai:")
    scorer = connect(url, policy=Policy(), concurrency=1, timeout_s=10)
    return ask(requests, scorer, policy=Policy(), cache=cache or MemoryCache())


def test_tokens_come_with_their_characters_and_scores(server):
    text = "Città e caffè 😀 vuoti."

    table = tokens_of(server.address, Score(text=text))

    assert table["token"].to_list() == ["Città", " e", " caffè", " 😀", " vuoti."]
    spans = zip(table["start"], table["end"], strict=True)
    assert [text[low:high] for low, high in spans] == text.split()
    expected = [None, *(logprob(token, i) for i, token in enumerate(pieces(text)) if i)]
    assert table["logprob_nats"].to_list() == expected
    assert table["token_id"].to_list() == [None] * 5
    assert table["unscored_reason"].to_list() == ["first token without left context"] + [None] * 4


def test_a_context_is_read_and_not_scored(server):
    request = Score(text="erano accese.", context="Le lampade")

    table = tokens_of(server.address, request)

    assert server.prompts[-1] == "Le lampade erano accese."
    assert table["position"].to_list() == [0, 1]
    assert table["start"].to_list() == [0, 6]
    assert table["logprob_nats"].to_list() == [logprob(" erano", 2), logprob(" accese.", 3)]


def test_a_token_before_the_text_gives_the_first_word_its_score():
    def with_bos(prompt):
        return completion(prompt, split=lambda text: ["<s>", *pieces(text)])

    with serve(with_bos) as server:
        run = cimento.evaluate(make_suite(FORMULA, *TEXTS), server.address, all_tokens=True)

    assert run.table("tokens")["logprob_nats"].null_count() == 0
    assert run.table("tokens")["logprob_nats"][0] == logprob("Le", 1)
    assert run.manifest["model"]["bos"] == "<s>"


def test_a_suite_is_judged_and_the_manifest_names_the_server(server, tmp_path):
    run = cimento.evaluate(make_suite(FORMULA, *TEXTS), server.address, output=tmp_path)

    [rate] = run.estimates()
    assert (rate.passed, rate.failed) == (2, 0)
    assert run.table("tokens")["token"].to_list() == [" erano", " era", " erano", " era"]
    model = run.manifest["model"]
    assert model["name"] == "tiny"
    assert model["details"]["server"] == server.url
    assert '"id": "tiny"' in model["details"]["reported"]


def test_a_stored_run_is_opened_and_only_models_and_probes_asked_for(server, tmp_path):
    suite = make_suite(FORMULA, *TEXTS)
    first = cimento.evaluate(suite, server.address, output=tmp_path)
    asked = len(server.prompts)
    server.probed.clear()

    second = cimento.evaluate(suite, server.address, output=tmp_path)

    assert len(server.prompts) == asked
    assert server.probed == list(PROBES)
    assert second.outcomes().equals(first.outcomes())


def test_free_text_is_scored_by_word(server):
    table = score_texts(["Le lampade accese"], server.address, words=True)

    assert table["word"].to_list() == ["Le", "lampade", "accese"]
    assert table["surprisal_bits"].null_count() == 1


def test_equal_texts_and_blank_ones_are_not_asked(server):
    texts = ("Le lampade.", "", "Le lampade.")
    requests = [Score(text=text) for text in texts]

    table = tokens_of(server.address, *requests)

    assert server.prompts == ["Le lampade."]
    assert table["request"].to_list() == [0, 0, 2, 2]


def test_nothing_that_was_answered_is_asked_again(server, tmp_path):
    requests = [Score(text=f"Lampada numero {i}.") for i in range(5)]
    texts = {request.text for request in requests}
    cache = FileCache(tmp_path)

    def answer(prompt):
        return {"error": "no more today"} if prompt == requests[3].text else completion(prompt)

    server.answer = answer
    with pytest.raises(ModelError, match="no more today"):
        tokens_of(server.address, *requests, cache=cache)
    answered = set(server.prompts) - {requests[3].text}
    server.answer = completion
    server.prompts.clear()
    table = tokens_of(server.address, *requests, cache=cache)
    again = tokens_of(server.address, *requests, cache=cache)
    cache.close()

    assert answered >= {request.text for request in requests[:3]}
    assert sorted(server.prompts) == sorted(texts - answered)
    assert table["request"].n_unique() == 5
    assert table.equals(again)


def test_requests_are_under_way_together():
    together = threading.Barrier(4)

    def answer(prompt):
        if prompt not in PROBES:
            together.wait(timeout=60)
        return completion(prompt)

    requests = [Score(text=f"Lampada numero {i}.") for i in range(4)]
    with serve(answer) as server:
        scorer = connect(f"{server.url}#tiny", policy=Policy(), concurrency=4, timeout_s=100)
        table = ask(requests, scorer, policy=Policy(), cache=MemoryCache())

    assert table["request"].n_unique() == 4


def test_what_is_under_way_when_a_text_fails_is_kept(server):
    both = threading.Barrier(2)
    texts = ["Lampada buona.", "Lampada cattiva."]

    def answer(prompt):
        if prompt in texts:
            both.wait(timeout=60)
        return {"choices": []} if prompt == texts[1] else completion(prompt)

    server.answer = answer
    scorer = connect(f"{server.url}#tiny", policy=Policy(), concurrency=2, timeout_s=100)

    messages = []
    with pytest.raises(ModelError):
        messages.extend(text for text, _ in scorer.read(texts))
    assert messages == [texts[0]]


def test_the_revision_is_what_the_server_reports(server):
    cards = []
    for entry in (
        {"id": "tiny", "created": 1},
        {"id": "tiny", "created": 2},
        {"id": "tiny", "root": "b"},
    ):
        server.models = {"data": [entry]}
        cards.append(open_source(server.address, Asking()).label)

    assert cards[0] == cards[1] != cards[2]


def test_the_only_model_needs_no_name_and_several_are_listed(server):
    only = open_source(f"openai:{server.url}", Asking())
    server.models = {"data": [{"id": "one"}, {"id": "two"}]}

    assert only.label.startswith("tiny@")
    with pytest.raises(UsageError, match="lists one, two"):
        open_source(f"openai:{server.url}", Asking())


def test_a_name_that_the_only_model_does_not_have_is_refused(server):
    with pytest.raises(UsageError, match=r"model 'nope': the server has one model, 'tiny'.*#tiny"):
        open_source(f"openai:{server.url}#nope", Asking())
    assert server.probed == []


def test_a_name_that_is_not_listed_among_several_is_remarked_on(server):
    server.models = {"data": [{"id": "one"}, {"id": "two:latest"}]}

    notes = {}
    for name in ("one", "two", "three"):
        scorer = connect(f"{server.url}#{name}", policy=Policy(), concurrency=1, timeout_s=100)
        notes[name] = [note for note in scorer.notes if "does not list" in note]

    assert notes["one"] == notes["two"] == []
    assert notes["three"] == [
        "the server does not list 'three' among its models; is this the name you mean?"
    ]


@pytest.mark.parametrize("status", [404, 500])
def test_a_server_without_a_list_of_models_is_used_with_a_remark(server, status):
    # transformers serve fails over its list where nothing has been downloaded yet.
    server.models = status

    run = cimento.evaluate(make_suite(FORMULA, *TEXTS), server.address)

    assert any(
        "known by what it answers to probes" in warning for warning in run.manifest["warnings"]
    )


@pytest.mark.parametrize(
    ("option", "policy"),
    [
        ("bos", Policy(bos="none")),
        ("leading_blank", Policy(leading_blank=True)),
        ("window", Policy(window="sliding")),
    ],
)
def test_a_server_decides_what_stands_before_a_text_and_how_long_it_is(server, option, policy):
    with pytest.raises(UsageError, match=option):
        open_source(server.address, Asking(policy=policy))


@pytest.mark.parametrize(
    "address",
    ["openai:here", "openai:ftp://host/v1#m", "openai:http://:80#m", "openai:http://a:b/#m"],
)
def test_what_is_no_url_is_refused(address):
    with pytest.raises(UsageError, match="not an http or https URL"):
        open_source(address, Asking())

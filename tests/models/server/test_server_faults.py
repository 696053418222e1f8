"""What goes wrong with a server: asked again where it may pass, else said clearly."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from cimento import ModelError, open_run
from cimento.cli.main import invoke
from cimento.errors import NonFiniteScoreError, TextTooLongError
from cimento.io.transport import Patience
from cimento.models.base import ModelCard
from cimento.models.server import Bodies
from cimento.models.server.http import Server
from cimento.models.server.model import ServerScorer
from cimento.records.store import find_runs
from tests.helpers.servers.loopback import (
    Handler,
    completion,
    cut_short,
    drip,
    drop,
    endless,
    half_json,
    logprob,
    pieces,
    refuse,
    serve,
    silence,
)

pytestmark = pytest.mark.usefixtures("fresh_cache")

TEXT = "Le lampade del corridoio erano accese."


def read(server, *, waits=None, timeout_s=60.0, attempts=4):
    """The scores of the text, with the waits noted and not waited."""
    patience = Patience(timeout_s=timeout_s, attempts=attempts, first_wait_s=1.0, seed=7)
    noted = [] if waits is None else waits
    client = Server(server.url, patience=patience, wait=noted.append)
    card = ModelCard(name="tiny", kind="causal", revision="", tokenizer="")
    [(_, scores)] = ServerScorer(client, card=card, bodies=Bodies("tiny"), concurrency=1).read(
        [TEXT]
    )
    return scores


def expected():
    """Byte offset to score, by the rules of the tiny model; all of the text is ASCII."""
    tokens = pieces(TEXT)
    starts = [sum(map(len, tokens[:i])) for i in range(len(tokens))]
    return {start: logprob(tokens[i], i) for i, start in enumerate(starts) if i}


@pytest.mark.parametrize(
    "fault",
    [refuse(429), refuse(500), refuse(503), drop, cut_short, half_json],
    ids=["429", "500", "503", "dropped", "cut short", "half of the JSON"],
)
def test_what_may_pass_is_asked_again_with_growing_waits(fault):
    waits = []
    with serve(faults=[fault, fault]) as server:
        scores = read(server, waits=waits)

    assert math.isnan(scores.pop(0))
    assert scores == expected()
    assert len(server.prompts) == 3
    assert [0.5 <= waits[0] <= 1.0, 1.0 <= waits[1] <= 2.0] == [True, True]


def test_a_server_that_says_nothing_is_asked_again():
    waits = []
    with serve(faults=[silence]) as server:
        # Long enough for the answer that comes, and no time is measured.
        scores = read(server, waits=waits, timeout_s=1.0)

    assert len(scores) == 6
    assert waits


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    "beginning",
    [
        b"HTTP/1.1 200",
        HEAD + b"X-Slow:",
        HEAD + b"Content-Length: 9999\r\n\r\n{",
        HEAD + b"\r\n{",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n999\r\n{",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 400 Bad\r\nContent-Length: 9999\r\n\r\n{",
    ],
    ids=["status", "header", "body", "body without end", "chunk", "length of a chunk", "refusal"],
)
def test_a_server_that_drips_has_no_longer_than_a_whole_answer_may_take(monkeypatch, beginning):
    # Silence alone would last longer than all of the answer.
    monkeypatch.setattr("cimento.io.transport.ANSWER_TIMEOUTS", 0.01)
    waits = []
    with serve(faults=[drip(beginning)]) as server, pytest.raises(ModelError) as caught:
        read(server, waits=waits)

    refused = b"400" in beginning
    assert ("it refused (status 400)" if refused else "went on sending") in str(caught.value)
    assert waits == [], "it is not asked again, or it would have as long again"
    assert len(server.prompts) == 1


def test_a_server_that_drips_stops_a_run_at_its_probes(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("cimento.io.transport.ANSWER_TIMEOUTS", 0.01)
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("good\tbad\nLe chiavi sono qui.\tLe chiavi è qui.\n", encoding="utf-8")
    with serve() as server:
        monkeypatch.setattr(Handler, "do_POST", drip(HEAD + b"\r\n{"))
        command = ["run", str(pairs), "-m", server.address, "-o", str(tmp_path / "runs")]
        assert invoke([*command, "--timeout", "60"]) == 1

    said = " ".join(capsys.readouterr().err.split())
    assert "not complete after 0.6 s" in said
    assert "--timeout N gives each answer" in said


@pytest.mark.parametrize("status", [302, 400, 401, 404, 503])
def test_of_an_endless_refusal_only_the_beginning_is_read(status):
    sent = []
    faults = [endless(status, sent, Location="https://elsewhere.test/v1")]
    with serve(faults=faults) as server, pytest.raises(ModelError):
        read(server, attempts=1)

    # The buffers of both ends of the connection hold some more than is read.
    assert sum(sent) < 50_000_000


def test_waits_are_the_same_for_the_same_seed_and_request():
    patience = [Patience(seed=seed) for seed in (1, 1, 2)]

    waits = [[policy.wait_s(n, request=TEXT) for n in range(1, 9)] for policy in patience]

    assert waits[0] == waits[1] != waits[2]
    assert max(waits[0]) <= patience[0].longest_wait_s


def test_the_wait_that_a_server_asks_for_is_kept():
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    faults = [refuse(429, Retry_After="3"), refuse(503, Retry_After=soon)]
    faults += [refuse(429, Retry_After="later")]
    waits = []
    with serve(faults=faults) as server:
        read(server, waits=waits)

    assert waits[0] == 3.0
    assert 0 < waits[1] <= 90
    assert 2.0 <= waits[2] <= 4.0, "what cannot be read is not a wait"


def test_a_server_that_wants_an_hour_is_not_waited_for():
    with (
        serve(faults=[refuse(429, "quota", Retry_After="3600")]) as server,
        pytest.raises(ModelError, match=r"after 1 attempt .*quota, and asks to wait for 3600 s"),
    ):
        read(server)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (refuse(500, "out of memory"), "status 500: out of memory"),
        (drop, "broke"),
        (half_json, "not JSON, or was cut short"),
    ],
)
def test_in_the_end_the_last_fault_is_told_and_that_one_can_go_on(fault, said):
    with serve(faults=[fault] * 4) as server, pytest.raises(ModelError) as caught:
        read(server)

    assert "no usable answer after 4 attempts" in str(caught.value)
    assert said in str(caught.value)
    assert "run again to go on" in str(caught.value)
    assert repr(TEXT) in str(caught.value)


def test_where_no_server_is_the_url_is_told():
    with serve() as server:
        url = server.url

    with pytest.raises(
        ModelError, match=r"server http://127.0.0.1:\d+/v1: connection refused: is the"
    ):
        Server(url, wait=lambda _: None).get("/models")


LACKS = "Scoring needs log-probabilities of the prompt"


def reply(choice):
    """An answer with one choice, whatever the prompt."""
    return lambda _: {"choices": [choice]}


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        # transformers serve: echo and logprobs are ignored.
        (reply({"index": 0, "text": " and", "finish_reason": "length"}), "ignores that they are"),
        (reply({"text": " and", "logprobs": None}), "ignores that they are"),
        # llama-server: the generated token alone, in the form of a chat.
        (
            reply({"text": " and", "logprobs": {"content": [{"token": " and"}]}}),
            "what it generates",
        ),
        (
            reply({"text": " and", "logprobs": {"tokens": [" and"], "token_logprobs": [-1.0]}}),
            "what it generates",
        ),
        (reply({"message": {"content": "and"}}), "as in a chat"),
        (reply({"text": TEXT, "logprobs": {"top_logprobs": []}}), "have no lists"),
        (reply({"text": TEXT, "logprobs": {"tokens": pieces(TEXT)}}), "have no lists"),
        (reply({"text": TEXT, "logprobs": {"token_logprobs": [-1.0] * 6}}), "have no lists"),
        (
            reply({"text": TEXT, "logprobs": {"tokens": pieces(TEXT), "token_logprobs": 6}}),
            "have no lists",
        ),
        (lambda _: {"choices": []}, "something else than a completion"),
        (lambda _: ["and"], "something else than a completion"),
        (
            reply(
                {
                    "text": TEXT,
                    "logprobs": {
                        "tokens": [*pieces(TEXT), "."],
                        "token_logprobs": [*([None] * 6), -1.0],
                    },
                }
            ),
            "none of its log-probabilities",
        ),
    ],
)
def test_a_server_that_cannot_score_is_told_what_it_lacks(answer, said):
    with serve(answer) as server, pytest.raises(ModelError) as caught:
        read(server)

    assert said in str(caught.value)
    assert LACKS in str(caught.value)
    assert len(server.prompts) == 1, "it is not asked again"


@pytest.mark.parametrize(
    ("fault", "error", "said"),
    [
        (refuse(404, "no such model"), ModelError, "only chats cannot score"),
        (refuse(405), ModelError, "Does the URL end in /v1?"),
        # What llama-cpp-python says without --logits_all true.
        (refuse(500, "logprobs is not supported with logits_all=False"), ModelError, LACKS),
        (refuse(400, "echo is not allowed"), ModelError, LACKS),
        (refuse(400, "maximum context length is 8 tokens"), TextTooLongError, "context length"),
        (refuse(422, {"field": "prompt"}), ModelError, "status 422"),
        (refuse(401, "bad"), ModelError, "wants a key"),
        (refuse(308, Location="https://elsewhere.test/v1"), ModelError, "redirects to https"),
    ],
)
def test_a_refusal_is_told_and_not_asked_again(fault, error, said):
    with serve(faults=[fault]) as server, pytest.raises(error) as caught:
        read(server)

    assert said in str(caught.value)
    assert server.url in str(caught.value)
    assert len(server.prompts) == 1


def changed(**lists):
    """A good answer with some of its lists changed."""

    def answer(prompt):
        good = completion(prompt)
        listed = good["choices"][0]["logprobs"]
        for name, change in lists.items():
            listed[name] = change(listed[name])
        return good

    return answer


def with_third(value):
    """Put a value in the third place."""
    return lambda values: [*values[:2], value, *values[3:]]


def echoing(change):
    """A good answer whose echo is changed."""

    def answer(prompt):
        good = completion(prompt)
        good["choices"][0]["text"] = change(prompt) + " and"
        return good

    return answer


numbered = changed(tokens=lambda t: [f"token_id:{i}" for i, _ in enumerate(t)])
"""A good answer that names tokens by number."""


@pytest.mark.parametrize(
    ("answer", "error", "said"),
    [
        (changed(token_logprobs=lambda v: v[:-2]), ModelError, "7 tokens and gives 5 log-prob"),
        (changed(token_logprobs=with_third(math.nan)), NonFiniteScoreError, "nan .*' del'"),
        (changed(token_logprobs=with_third(-math.inf)), NonFiniteScoreError, "-inf .*' del'"),
        (changed(token_logprobs=with_third(None)), NonFiniteScoreError, "nothing .*' del'"),
        (changed(token_logprobs=with_third(-9999.0)), NonFiniteScoreError, "-9999.0 .*' del'"),
        (changed(token_logprobs=with_third(0.5)), ModelError, "not a logarithm"),
        (changed(token_logprobs=with_third("-1")), ModelError, "'-1' as a log-probability"),
        # Another text of the same length, whose offsets fit: two requests were mixed up.
        (changed(tokens=lambda t: [x.replace("erano", "erane") for x in t]),
         ModelError, "do not spell .*token 5 is ' erane' where the text goes on with ' erano"),
        (changed(tokens=lambda t: [x.replace("accese", "spente") for x in t],
                 text_offset=lambda _: None), ModelError, "token 6 is ' spente.'"),
        (changed(token_logprobs=lambda v: [0.0 for _ in v]), ModelError, "which is certainty"),
        (changed(token_logprobs=lambda v: [None, *(-0.0 for _ in v[1:])]),
         ModelError, "which is certainty"),
        (echoing(lambda text: text.replace("erano", "erane")), ModelError, "echoes another text"),
        (echoing(str.lower), ModelError, "echoes another text"),
        # The numbers of tokens say nothing, and neither do offsets without an echo.
        (lambda prompt: {**numbered(prompt), "choices": [
            {**numbered(prompt)["choices"][0], "text": prompt.replace("erano", "erane") + " and"}
        ]}, ModelError, "token_id:0"),
        (lambda prompt: {"choices": [{"logprobs": numbered(prompt)["choices"][0]["logprobs"]}]},
         ModelError, "token_id:0"),
        (changed(tokens=lambda t: [f"token_id:{i}" for i, _ in enumerate(t)],
                 text_offset=lambda o: [11 * i for i, _ in enumerate(o)]),
         ModelError, "token_id:0"),
    ],
)  # fmt: skip
def test_an_answer_that_cannot_be_right_is_refused(answer, error, said):
    with serve(answer) as server, pytest.raises(error, match=said) as caught:
        read(server)

    assert repr(TEXT) in str(caught.value)


def test_a_first_token_of_probability_one_is_taken_as_not_scored():
    with serve(changed(token_logprobs=lambda v: [0.0, *v[1:]])) as server:
        scores = read(server)

    assert math.isnan(scores[0])


def test_a_first_token_that_the_server_scores_keeps_its_score():
    with serve(changed(token_logprobs=lambda v: [-4.25, *v[1:]])) as server:
        scores = read(server)

    assert scores[0] == -4.25


@pytest.mark.parametrize(
    "change",
    [
        {"tokens": lambda t: [x.upper() for x in t]},
        {"tokens": lambda t: [x.replace(" ", "Ġ") for x in t], "text_offset": lambda _: None},
        {"tokens": lambda t: [f"token_id:{i}" for i, _ in enumerate(t)]},
        {"tokens": lambda t: list(range(len(t)))},
    ],
    ids=["other capitals", "byte letters", "numbers with an echo", "bare numbers with an echo"],
)
def test_tokens_that_are_spelled_otherwise_are_placed(change):
    with serve(changed(**change)) as server:
        scores = read(server)

    assert list(scores) == [0, *expected()]


@pytest.mark.parametrize("echo", [" Le lampade del  corridoio", "<s> Le lampade del corridoio"])
def test_blanks_and_special_tokens_of_an_echo_are_put_aside(echo):
    with serve(echoing(lambda text: text.replace("Le lampade del corridoio", echo))) as server:
        scores = read(server)

    assert list(scores) == [0, *expected()]


def test_a_server_whose_tokenizer_changes_capitals_is_noted_in_the_run(tmp_path, capsys):
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("good\tbad\nLe chiavi sono qui.\tLe chiavi è qui.\n", encoding="utf-8")

    def lowered(prompt):
        return completion(prompt.lower())

    with serve(lowered) as server:
        command = ["run", str(pairs), "-m", server.address, "-o", str(tmp_path / "runs")]
        assert invoke([*command, "--unscored-first", "drop"]) == 0

    assert "other capitals than the texts" in " ".join(capsys.readouterr().out.split())


def test_a_mixed_up_answer_stops_a_run_of_pairs(tmp_path, capsys):
    pairs = tmp_path / "pairs.tsv"
    good, bad = "Il cuoco legge un libro.", "Il cuoco leggi un libro."
    pairs.write_text(f"good\tbad\n{good}\t{bad}\n", encoding="utf-8")
    swapped = {good: bad, bad: good}
    with serve(lambda prompt: completion(swapped.get(prompt, prompt))) as server:
        command = ["run", str(pairs), "-m", server.address, "-o", str(tmp_path / "runs")]
        assert invoke([*command, "--unscored-first", "drop"]) == 1

    assert "do not spell the text" in capsys.readouterr().err


def test_a_list_that_lacks_the_generated_token_may_be_one_place_off():
    # What llama-cpp-python 0.3.36 sends for a model without BOS: each token's score is taken
    # from the place after it, and the last place is missing.
    shifted = changed(
        tokens=lambda t: t[:-1], token_logprobs=lambda v: v[:-1], text_offset=lambda o: o[:-1]
    )
    with serve(shifted) as server, pytest.raises(ModelError, match="one place off"):
        read(server)


def test_more_than_one_generated_token_is_left_out():
    with serve(
        changed(
            tokens=lambda t: [*t, " then"],
            token_logprobs=lambda v: [*v, -3.0],
            text_offset=lambda o: [*o, 0],
        )
    ) as server:
        scores = read(server)

    assert list(scores) == [0, *expected()]


@pytest.mark.usefixtures("fresh_cache")
def test_a_server_that_puts_nothing_before_pairs_is_no_success(tmp_path, capsys):
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("good\tbad\nLe chiavi sono qui.\tLa chiavi sono qui.\n", encoding="utf-8")
    with serve() as server:
        command = ["run", str(pairs), "-m", server.address, "-o", str(tmp_path / "runs")]
        assert invoke(command) == 3
        first = capsys.readouterr()
        assert invoke([*command, "--compat", "lm-eval"]) == 2
        compat = capsys.readouterr().err
        assert invoke([*command, "--unscored-first", "drop"]) == 0
    shown = " ".join(first.out.split())
    assert "1 item unscored: first token without left context." in shown
    assert "--unscored-first drop leaves first tokens out" in shown
    assert "Have the server put a BOS token there, or give --context" in shown
    assert "no item could be scored" in first.err
    assert "--compat lm-eval" in compat
    assert "--measure lp --ties pass, and --context" in compat


@pytest.mark.usefixtures("fresh_cache")
def test_a_first_token_that_all_sentences_share_makes_no_difference(tmp_path, capsys):
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text(
        "good\tbad\n"
        "Le chiavi è qui.\tLe chiavi sono qui.\n"
        "Le chiavi sono qui.\tLe chiavi è qui.\n"
        "Le chiavi.\tLe chiavi sono qui.\n"
        "Le chiavi sono qui.\tLa chiavi è qui.\n",
        encoding="utf-8",
    )

    def verdicts(*options):
        output = tmp_path / "-".join(("runs", *options))
        invoke(["run", str(pairs), "-m", server.address, "-o", str(output), *options])
        [folder] = find_runs(output)
        return open_run(folder.path).outcomes()["verdict"].to_list()

    with serve() as server:
        # The server's scores go by length and place: the shorter sentence wins in sums.
        assert verdicts() == ["pass", "fail", "pass", "unscored"]
        said = " ".join(capsys.readouterr().out.split())
        # In means the token counts otherwise where sentences have other numbers of tokens.
        assert verdicts("--measure", "meanlp") == ["pass", "fail", "unscored", "unscored"]
        assert verdicts("--measure", "lp") == ["pass", "fail", "pass", "unscored"]
    assert "In 3 of 4 items all sentences begin with the same token" in said
    assert "1 item unscored: first token without left context" in said

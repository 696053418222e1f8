"""Stories asked of servers on this machine: chats, completions, faults, going on after them."""

from __future__ import annotations

import json
import re

import pytest

from cimento import ModelError, UsageError
from cimento.engine.cache import MemoryCache
from cimento.engine.units import SIZES
from cimento.paradigms import Reply
from cimento.report.html import Page, html_page
from cimento.suites.stories import CONFLICT, STATE, STORY, TIERS
from tests.helpers.servers.loopback import serve
from tests.helpers.servers.replies import drop, refuse, reply_server, send
from tests.helpers.stories import TRIPLES, answers, ask, chosen

pytestmark = pytest.mark.usefixtures("fresh_cache")


def knows_everything(messages):
    """A model behind a server that answers every question about the triples rightly."""
    asked = messages[-1]["content"]
    story = next(
        s for s in TRIPLES if all(text in asked for text in s.sentences) and _same(s, asked)
    )
    if "plausibile" in asked:
        return "Vero." if story.plausible else "Falso."
    return f"Le frasi {story.gold(CONFLICT)}" if "conflitto" in asked else story.gold(STATE)


def _same(story, asked):
    places = [asked.index(text) for text in story.sentences]
    return places == sorted(places)


def server_run(server, tmp_path, **options):
    return ask(server.address, tmp_path, answer="generate", **options)


def outcomes(run):
    return [answer for tier in TIERS for answer in answers(run, tier)]


def test_a_chat_server_answers(tmp_path):
    with reply_server(knows_everything) as server:
        run = server_run(server, tmp_path)
    assert all(outcome.correct for outcome in outcomes(run))
    assert run.estimates()[0].value == 1.0
    assert len(server.bodies) == 35
    assert server.bodies[0]["messages"][0]["role"] == "system"
    assert server.bodies[0]["temperature"] == 0
    assert {body["path"] for body in server.asked} == {"/v1/chat/completions"}


def test_a_completions_server_answers(tmp_path):
    with reply_server(lambda _prompt: " falso\n\nStoria:") as server:
        run = server_run(server, tmp_path, chat="no", limit=3)
    assert {body["path"] for body in server.asked} == {"/v1/completions"}
    assert set(chosen(run, STORY)) == {"false"}


def test_faults_are_survived_and_nothing_is_asked_twice(tmp_path):
    faults = [
        refuse(429, "slow down", Retry_After="0"),
        drop,
        send({"choices": []}),
        send({"choices": [{"message": {"role": "assistant"}}]}),
        refuse(503, "busy", Retry_After="0"),
    ]
    with reply_server(knows_everything, faults=faults) as server:
        run = server_run(server, tmp_path, limit=3)
    assert all(outcome.correct for outcome in outcomes(run))
    # Seven prompts, and each fault cost one more.
    assert len(server.bodies) == 7 + len(faults)


def test_after_a_server_that_went_away_only_the_unit_it_left_is_asked_again(tmp_path):
    def leaves(messages):
        if len(server.bodies) > 29:
            return None
        return knows_everything(messages)

    kept = MemoryCache()
    with reply_server(leaves) as server:
        with pytest.raises(ModelError, match="no reply in its answer"):
            server_run(server, tmp_path, cache=kept)
        server.answer = knows_everything
        before = len(server.bodies)
        run = server_run(server, tmp_path, cache=kept)
    assert 35 - 29 <= len(server.bodies) - before < 35 - 29 + SIZES[Reply]
    assert len(server.bodies) - before < 35
    assert len(outcomes(run)) == 35


def test_replies_that_say_nothing_count_as_wrong_and_are_told(tmp_path):
    with reply_server(lambda _messages: "Non saprei.") as server:
        run = server_run(server, tmp_path, limit=3)
    assert any("from 3 of 3 replies" in warning for warning in run.warnings)
    assert set(run.outcomes()["verdict"]) == {"fail"}
    assert all(outcome.invalid for outcome in outcomes(run))


def test_a_server_is_told_what_it_may_answer(tmp_path):
    with reply_server(lambda _messages: json.dumps({"answer": "falso"})) as server:
        run = ask(server.address, tmp_path, answer="constrained", limit=3)
    schema = server.bodies[0]["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["answer"]["enum"] == ["falso", "vero"]
    assert set(chosen(run, STORY)) == {"false"}


def scored_completion(prompt):
    """What a server says of a text whose tokens score minus their length."""
    tokens = [*re.findall(r"\s*\S+|\s+", prompt), " and"]
    starts = [sum(map(len, tokens[:place])) for place in range(len(tokens))]
    values = [None, *(-float(len(token)) for token in tokens[1:])]
    listed = {"tokens": tokens, "token_logprobs": values, "text_offset": starts}
    usage = {"prompt_tokens": len(tokens) - 1, "completion_tokens": 1}
    return {"choices": [{"text": prompt + " and", "logprobs": listed}], "usage": usage}


def test_a_completions_server_scores_options():
    with serve(scored_completion) as server:
        run = ask(server.address, limit=3, shots=0)
    assert len(outcomes(run)) == 3 + 2 + 2
    # One prompt more at each tier, without a story.
    assert len(server.prompts) == len(set(server.prompts)) == 4 * 2 + 3 * 10 + 3 * 14
    assert {answer.answer.logprobs_nats for answer in answers(run, STORY)} == {(-6.0, -5.0)}
    assert {v for answer in answers(run, CONFLICT) for v in answer.answer.logprobs_nats} == {-6.0}
    last = answers(run, STATE)[-1].answer
    state = dict(zip(last.options, last.logprobs_nats, strict=True))
    assert state["in pieces"] == -float(len(" in") + len(" pezzi"))


def test_a_chat_server_gives_no_scores():
    with (
        reply_server(knows_everything) as server,
        pytest.raises(UsageError, match="answer='generate'"),
    ):
        ask(server.address, chat="yes")


def test_the_page_shows_what_went_wrong_and_escapes_it(tmp_path):
    with reply_server(lambda _messages: "<b>vero</b>, forse 1 e 2") as server:
        run = server_run(server, tmp_path, limit=3)
    [section] = run.paradigm.presenter.sections([run])
    page = html_page(Page(cimento="", suites=(section,)))
    assert "<b>vero" not in page
    worst = section.runs[0].items[0]
    assert (worst.id, worst.outcome.verdict) == ("1: 1-O0", "fail")
    assert [region.number for region in worst.strips[0].regions if region.needed] == [2, 3]
    assert worst.answers[0].answers[0].text == "<b>vero</b>, forse 1 e 2"
    assert worst.remarks[0] == (STORY, "fail; right: false; chosen: true")

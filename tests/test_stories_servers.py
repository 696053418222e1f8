"""Stories asked of servers on this machine: chats, completions, faults, going on after them."""

from __future__ import annotations

import json
import re

import pytest

from cimento.errors import ModelError, UsageError
from cimento.stories.page import failures, write_page
from cimento.stories.records import CONFLICT, STATE, STORY
from cimento.stories.running import JOURNAL
from cimento.stories.summary import judge_stories
from tests.servers.loopback import serve
from tests.servers.replies import drop, refuse, reply_server, send
from tests.stories import FILE, TRIPLES, evaluation

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
    return evaluation(tmp_path, answer="generate", **options).run(FILE, server.address)


def test_a_chat_server_answers(tmp_path):
    with reply_server(knows_everything) as server:
        run = server_run(server, tmp_path)
    judged = judge_stories(run.stories, run.answers)
    assert all(outcome.correct for outcome in judged.outcomes)
    assert len(server.bodies) == 35
    assert server.bodies[0]["messages"][0]["role"] == "system"
    assert server.bodies[0]["temperature"] == 0
    assert {body["path"] for body in server.asked} == {"/v1/chat/completions"}


def test_a_completions_server_answers(tmp_path):
    with reply_server(lambda _prompt: " falso\n\nStoria:") as server:
        run = server_run(server, tmp_path, chat="no", limit=3)
    assert {body["path"] for body in server.asked} == {"/v1/completions"}
    assert {each.label for each in run.answers if each.tier == STORY} == {"false"}


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
    assert all(each.correct for each in judge_stories(run.stories, run.answers).outcomes)
    # Seven prompts, and each fault cost one more.
    assert len(server.bodies) == 7 + len(faults)


def test_a_server_that_goes_away_loses_no_answer(tmp_path):
    def leaves(messages):
        if len(server.bodies) > 12:
            return None
        return knows_everything(messages)

    with reply_server(leaves) as server:
        with pytest.raises(ModelError, match="no reply in its answer"):
            server_run(server, tmp_path)
        [journal] = tmp_path.rglob(JOURNAL)
        kept = sum(bool(line.strip()) for line in journal.read_text("utf-8").splitlines())
        assert kept == 12
        server.answer = knows_everything
        before = len(server.bodies)
        run = server_run(server, tmp_path)
    assert len(server.bodies) - before == 35 - kept
    assert len(run.answers) == 35


def test_replies_that_say_nothing_count_as_wrong_and_are_told(tmp_path):
    with reply_server(lambda _messages: "Non saprei.") as server:
        run = server_run(server, tmp_path, limit=3)
    assert any("from 3 of 3 replies" in warning for warning in run.warnings)
    outcomes = judge_stories(run.stories, run.answers).outcomes
    assert not any(each.correct for each in outcomes)
    assert all(each.invalid for each in outcomes)


def test_a_server_is_told_what_it_may_answer(tmp_path):
    with reply_server(lambda _messages: json.dumps({"answer": "falso"})) as server:
        run = evaluation(tmp_path, answer="constrained", limit=3).run(FILE, server.address)
    schema = server.bodies[0]["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["answer"]["enum"] == ["falso", "vero"]
    assert {each.label for each in run.answers if each.tier == STORY} == {"false"}


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
        run = evaluation(limit=3, shots=0).run(FILE, server.address)
    assert len(run.answers) == 3 + 2 + 2
    assert len(server.prompts) == len(set(server.prompts)) == 3 * 2 + 2 * 10 + 2 * 14
    for answer in run.answers:
        if answer.tier == STORY:
            assert answer.logprobs_nats == (-6.0, -5.0)
        if answer.tier == CONFLICT:
            assert set(answer.logprobs_nats) == {-6.0}
    state = dict(zip(run.answers[-1].options, run.answers[-1].logprobs_nats, strict=True))
    assert state["in pieces"] == -float(len(" in") + len(" pezzi"))


def test_a_chat_server_gives_no_scores():
    with (
        reply_server(knows_everything) as server,
        pytest.raises(UsageError, match="answer=generate"),
    ):
        evaluation(chat="yes").run(FILE, server.address)


def test_the_page_shows_what_went_wrong_and_escapes_it(tmp_path):
    with reply_server(lambda _messages: "<b>vero</b>, forse 1 e 2") as server:
        run = server_run(server, tmp_path, limit=3)
    page = write_page(run, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "&lt;b&gt;vero&lt;/b&gt;" in page
    assert "<b>vero" not in page
    shown = failures(run)
    assert [each.story.row for each in shown] == [1, 2]
    marks = [(s.is_gold, s.is_chosen) for s in shown[0].sentences]
    assert marks == [(False, False), (True, True), (True, True), (False, False), (False, False)]

"""Several texts in one request: what it saves, and the servers that do not take it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cimento import Policy
from cimento.engine.cache import MemoryCache
from cimento.engine.scores import ask
from cimento.models.server.model import connect
from cimento.models.server.scoring import MOST_BYTES, MOST_TEXTS, in_lists
from cimento.paradigms import Score
from cimento.records.usage import total_tokens
from tests.helpers.servers.loopback import numbered, serve

pytestmark = pytest.mark.usefixtures("fresh_cache")

TEXTS = [f"Città numero {number}, con un caffè 😀." for number in range(40)]


def asked(server):
    """The tokens table of the texts, and what the server counted for them."""
    scorer = connect(f"{server.url}#tiny", policy=Policy(), concurrency=4, timeout_s=60)
    requests = [Score(text=text) for text in TEXTS]
    table = ask(requests, scorer, policy=Policy(), cache=MemoryCache())
    return table, total_tokens(scorer.meter.values())


@pytest.fixture(scope="module")
def singly():
    with serve() as server:
        table, tokens = asked(server)
    assert tokens.sent == len(server.bodies) - len(server.probed) == 40
    return table, tokens


def turned(answers):
    """Choices in another order than the texts, with right numbers."""
    whole = numbered(answers)
    return {**whole, "choices": whole["choices"][::-1]}


def uncounted(answers):
    return {**numbered(answers), "usage": {"prompt_tokens": 1000, "completion_tokens": 16}}


@pytest.mark.parametrize("lists", [numbered, turned])
def test_lists_give_the_same_scores_and_tokens_with_fewer_requests(lists, singly):
    with serve() as server:
        server.lists = lists
        table, tokens = asked(server)

    assert table.equals(singly[0])
    assert [len(some) for some in sorted(server.listed)] == [16, 16, 8]
    assert server.bodies == [], "no text was sent by itself"
    assert (tokens.sent, tokens.read, tokens.written) == (3, singly[1].read, singly[1].written)


def test_tokens_that_do_not_add_up_by_text_are_right_in_sum():
    with serve() as server:
        server.lists = uncounted
        _, tokens = asked(server)
    assert (tokens.sent, tokens.read, tokens.written) == (3, 3000, 48)


def swapped(answers):
    """The numbers of two texts are exchanged, as by a proxy that mixes them up."""
    whole = numbered(answers)
    first, second, *others = whole["choices"]
    return {**whole, "choices": [{**first, "index": 1}, {**second, "index": 0}, *others]}


def unnumbered(answers):
    whole = numbered(answers)
    choices = [{**choice, "index": 0} for choice in whole["choices"]]
    return {**whole, "choices": choices}


@pytest.mark.parametrize(
    "lists",
    [swapped, unnumbered, lambda answers: numbered(answers[:1]), lambda _: {"choices": None}],
    ids=["swapped", "unnumbered", "one choice", "no choices"],
)
def test_a_server_that_answers_lists_wrongly_is_asked_singly(lists, singly):
    with serve() as server:
        server.lists = lists
        table, _ = asked(server)
    assert table.equals(singly[0])
    assert server.listed == [], "its probes tell"
    assert len(server.bodies) >= 40


def test_a_server_that_refuses_lists_later_is_asked_singly(singly):
    with serve() as server:
        server.lists = lambda answers: (
            numbered(answers) if len(answers) < 3 else {"error": "too many prompts"}
        )
        table, _ = asked(server)
    assert table.equals(singly[0])
    assert len(server.listed) <= 3
    assert len(server.bodies) >= 40


@given(st.lists(st.integers(0, 9000), max_size=40))
def test_lists_hold_every_text_once_in_order_and_keep_the_limits(lengths):
    texts = ["è" * length for length in lengths]
    lists = [*in_lists(texts)]
    assert [text for some in lists for text in some] == texts
    for some in lists:
        size = sum(len(text.encode()) for text in some)
        assert len(some) <= MOST_TEXTS
        assert size <= MOST_BYTES or len(some) == 1

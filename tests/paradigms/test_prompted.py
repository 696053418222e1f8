"""Judgments by prompt: what is asked, how replies are read, and that they stand apart."""

from __future__ import annotations

import dataclasses
import math
import re

import pytest

import cimento
from cimento import CimentoError, UsageError
from cimento.cli.main import invoke
from cimento.paradigms import Choose
from cimento.paradigms.prompted.judging import (
    CHOICE,
    LETTERS,
    RATING,
    UNREAD,
    PromptedOptions,
    judgment_wording,
    prompted_suite,
    prompts_of,
)
from cimento.paradigms.prompted.paradigm import NOT_PROBABILITIES, PROMPTED
from cimento.paradigms.registry import load_suite, sentence_suite
from cimento.runs.outcomes import each_outcome
from cimento.suites.model import Prediction
from tests.helpers.servers.replies import reply_server

pytestmark = pytest.mark.usefixtures("fresh_cache")

PAIRS = [
    ("Le lampade erano accese.", "Le lampade era accese."),
    ("La porta era chiusa.", "La porta erano chiusa."),
    ("I gatti dormono.", "I gatti dorme."),
]
GOOD = {good for good, _ in PAIRS}


@pytest.fixture
def pairs():
    return prompted_suite(cimento.pairs(PAIRS, name="it-few", language="it"))


def shown(messages):
    """The sentences that a prompt shows, by their letters."""
    return dict(re.findall(r"^([AB]): (.*)$", messages[-1]["content"], flags=re.MULTILINE))


def knows(messages):
    """A model that always names the better sentence."""
    [letter] = [letter for letter, text in shown(messages).items() if text in GOOD]
    return letter


def outcomes(run):
    return list(each_outcome(run.outcomes()))


def ask(answer, suite, **options):
    with reply_server(answer) as server:
        run = cimento.evaluate(suite, server.address, **options)
    return run, server


def test_each_pair_is_shown_in_both_orders(pairs):
    run, server = ask(knows, pairs)
    seen = [shown(body["messages"]) for body in server.bodies]
    assert sorted(tuple(each[letter] for letter in LETTERS) for each in seen) == sorted(
        [*PAIRS, *((bad, good) for good, bad in PAIRS)]
    )
    assert "A o B" in server.bodies[0]["messages"][0]["content"]
    assert [outcome.verdict for outcome in outcomes(run)] == ["pass"] * 3
    [estimate] = run.estimates()
    assert (estimate.question, estimate.value, estimate.n, estimate.chance) == (CHOICE, 1, 3, 0.25)


def test_a_model_that_always_names_the_first_ties(pairs):
    run, _ = ask(lambda _: "A", pairs)
    assert [(outcome.verdict, outcome.value) for outcome in outcomes(run)] == [("tie", 0.5)] * 3
    assert run.estimates()[0].value == 0


@pytest.mark.parametrize("reply", ["{}", "{}.", " **{}**\n", "«{}»", "({})", "{}:"])
def test_a_reply_may_have_marks_around_the_letter(pairs, reply):
    run, _ = ask(lambda messages: reply.format(knows(messages)), pairs)
    assert {outcome.verdict for outcome in outcomes(run)} == {"pass"}


def test_a_cyrillic_letter_that_looks_the_same_is_the_letter(pairs):
    cyrillic = {"A": "\N{CYRILLIC CAPITAL LETTER A}", "B": "\N{CYRILLIC CAPITAL LETTER VE}."}
    run, _ = ask(lambda messages: cyrillic[knows(messages)], pairs)
    assert [outcome.verdict for outcome in outcomes(run)] == ["pass"] * 3


@pytest.mark.parametrize("reply", ["", "A o B", "Sentence {}", "{} is better", "C", "{}A"])
def test_any_other_reply_is_unscored_with_a_reason(pairs, reply):
    run, _ = ask(lambda messages: reply.format(knows(messages)), pairs)
    assert {(outcome.verdict, outcome.value, outcome.reason) for outcome in outcomes(run)} == {
        ("unscored", None, UNREAD)
    }
    [estimate] = run.estimates()
    assert (estimate.value, estimate.unscored) == (None, 3)
    assert "6 replies name no answer" in run.warnings[-1]


def test_one_unread_reply_leaves_only_its_pair_unscored(pairs):
    run, _ = ask(lambda m: "?" if shown(m)["A"] == PAIRS[0][0] else knows(m), pairs)
    assert [outcome.verdict for outcome in outcomes(run)] == ["unscored", "pass", "pass"]
    assert run.estimates()[0].n == 2


def test_ratings_stand_beside_those_of_people():
    suite = prompted_suite(sentence_suite(load_suite("it-acceptability")))
    suite = dataclasses.replace(suite, items=suite.items[:12])
    with reply_server(lambda m: str(1 + len(m[-1]["content"]) % 7)) as server:
        run = cimento.evaluate(suite, server.address)
    rows = outcomes(run)
    assert len(rows) == 12
    assert {(row.question, row.unit, row.verdict) for row in rows} == {(RATING, "points", None)}
    for row, body in zip(rows, server.bodies, strict=False):
        assert 1 <= row.value <= 7
        assert "da 1" in body["messages"][0]["content"]
    headline = run.estimates()[0]
    assert (headline.statistic, headline.role) == ("spearman", "headline")


def test_a_rating_off_the_scale_is_null_with_a_reason():
    suite = prompted_suite(sentence_suite(load_suite("it-acceptability")))
    suite = dataclasses.replace(suite, items=suite.items[:3])
    run, _ = ask(lambda _: "6", suite, points=5)
    assert {(row.value, row.reason) for row in outcomes(run)} == {(None, UNREAD)}
    assert run.estimates()[0].value is None


def test_a_model_that_scores_can_be_compared_by_its_answers(pairs):
    run = cimento.evaluate(pairs, "demo-causal", answer="loglik")
    rows = outcomes(run)
    assert all(0 < row.value < 1 and row.value != 0.5 for row in rows)
    assert run.estimates()[0].chance == 0.5


def listing(better, worse):
    """What a server lists in the place of the first token."""

    def top(messages):
        right = knows(messages)
        wrong = next(letter for letter in LETTERS if letter != right)
        shares = {right: better[0], f" {right}": better[1], wrong: worse, "Well": 0.01}
        return [
            {"token": token, "logprob": math.log(share)} for token, share in shares.items() if share
        ]

    return top


def test_tokens_that_a_chat_server_lists_are_compared(pairs):
    with reply_server(knows) as server:
        server.top = listing((0.4, 0.2), 0.3)
        run = cimento.evaluate(pairs, server.address, answer="loglik")
    body = server.bodies[0]
    assert (body["logprobs"], body["top_logprobs"], body["max_tokens"]) == (True, 20, 1)
    assert [outcome.value for outcome in outcomes(run)] == pytest.approx([0.6 / 0.9] * 3)
    assert {outcome.verdict for outcome in outcomes(run)} == {"pass"}
    assert run.summary().usage.sent == 6


def test_an_answer_that_is_not_listed_counts_as_nothing_and_none_is_unscored(pairs):
    with reply_server(knows) as server:
        server.top = listing((0.9, 0), 0)
        run = cimento.evaluate(pairs, server.address, answer="loglik")
        server.top = lambda _: [{"token": "Well", "logprob": -0.1}]
        other = cimento.evaluate(pairs, server.address, answer="loglik")
    assert {outcome.value for outcome in outcomes(run)} == {1.0}
    assert {(outcome.verdict, outcome.reason) for outcome in outcomes(other)} == {
        ("unscored", UNREAD)
    }


def test_a_server_that_lists_nothing_says_what_to_do(pairs):
    with reply_server(knows) as server, pytest.raises(CimentoError, match="answer=generate"):
        cimento.evaluate(pairs, server.address, answer="loglik")


def test_what_is_kept_of_choices_without_turns_is_found_again():
    ask = Choose(prompt="a", options=(" b",))
    assert repr(ask) == "Choose(prompt='a', options=(' b',), templated=False)"
    assert repr(dataclasses.replace(ask, messages=(("user", "a"),))) != repr(ask)


def test_a_local_model_replies_too(pairs):
    run = cimento.evaluate(pairs, "demo-causal")
    assert run.table("replies").height == 6


def test_it_is_said_everywhere_that_these_are_no_probabilities(pairs, tmp_path):
    with reply_server(knows) as server:
        run = cimento.evaluate(pairs, server.address, output=tmp_path)
    assert NOT_PROBABILITIES in run.summary().warnings
    assert NOT_PROBABILITIES in run.paradigm.text([run])
    page = run.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "metalinguistic judgments" in page
    assert "not probabilities of the sentences (Hu and Levy 2023)" in run.cite("methods")


def test_a_run_by_prompt_is_not_compared_with_one_by_probability(pairs, tmp_path, capsys):
    plain = cimento.pairs(PAIRS, name="it-few", language="it")
    with reply_server(knows) as server:
        cimento.evaluate(pairs, server.address, output=tmp_path)
    cimento.evaluate(plain, "demo-causal", output=tmp_path)
    folders = sorted(map(str, tmp_path.glob("*/*--*")))
    assert len(folders) == 2
    invoke(["compare", *folders])
    captured = capsys.readouterr()
    assert "it-few-prompted" in captured.out + captured.err
    assert "better than" not in captured.out


def test_a_suite_is_built_checked_run_and_planned(tmp_path, capsys):
    folder = tmp_path / "asked"
    assert invoke(["suites", "build", "prompted", "it-subject-verb", "-o", str(folder)]) == 0
    assert invoke(["suites", "check", str(folder)]) == 0
    assert load_suite(folder).paradigm is PROMPTED
    assert load_suite(folder).suite.name == "it-subject-verb-prompted"
    with reply_server(lambda _: "A") as server:
        common = [str(folder), "-m", server.address, "--limit", "2", "-o", str(tmp_path / "runs")]
        assert invoke(["plan", *common]) == 0
        assert "8 requests to the server" in capsys.readouterr().out
        assert invoke(["run", *common]) == 0
        assert len(server.bodies) == 8
    printed = capsys.readouterr().out
    assert f"{CHOICE}: match, not mismatch_number" in printed
    assert "metalinguistic" in printed


def test_predictions_that_name_no_better_sentence_are_refused():
    suite = sentence_suite(load_suite("it-subject-verb"))
    sums = Prediction(formula="(2;%match%) + 1 < (2;%mismatch_number%)")
    with pytest.raises(UsageError, match="between two conditions"):
        prompted_suite(dataclasses.replace(suite, predictions=(sums,)))


def test_what_two_items_share_is_asked_once_and_counts_for_both():
    twice = prompted_suite(cimento.pairs([*PAIRS, PAIRS[0]], name="it-twice", language="it"))
    run, server = ask(knows, twice)
    assert len(server.bodies) == 6
    assert [outcome.verdict for outcome in outcomes(run)] == ["pass"] * 4


def test_pairs_that_belong_together_stay_together():
    rows = [{"good": good, "bad": bad, "verb": "essere"} for good, bad in PAIRS]
    suite = prompted_suite(cimento.pairs(rows, name="it-few", language="it", cluster="verb"))
    run, _ = ask(knows, suite)
    assert {outcome.cluster for outcome in outcomes(run)} == {"essere"}
    assert run.estimates()[0].clustered


def test_recordings_are_refused(pairs):
    with pytest.raises(UsageError, match="no recordings"):
        cimento.evaluate(pairs, "replay:file.tsv")


@pytest.mark.parametrize(
    ("language", "asked"),
    [
        ("es", "La mejor oración es:"),
        ("it", "La frase migliore è:"),
        ("pt", "A melhor frase é:"),
        ("ru", "Лучшее предложение:"),
        ("en", "The better sentence is:"),
    ],
)
def test_sentences_are_asked_about_in_their_language(language, asked):
    suite = prompted_suite(cimento.pairs(PAIRS, name="few", language=language))
    found = [*prompts_of(suite, PromptedOptions())]
    assert all(prompt.body.endswith(asked) for prompt in found)
    assert judgment_wording(language)["id"] == f"{language}-judgments"

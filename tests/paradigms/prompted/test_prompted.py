"""Judgments by prompt: what is asked, how replies are read, and that they stand apart."""

from __future__ import annotations

import csv
import dataclasses
import math
import re

import pytest

import cimento
from cimento import CimentoError, UsageError
from cimento.cli.main import invoke
from cimento.kinds.registry import load_suite, sentence_suite
from cimento.kinds.run import open_run
from cimento.paradigms.prompted import PROMPTED
from cimento.paradigms.prompted.judging import UNREAD, answers_of
from cimento.paradigms.prompted.paradigm import NOT_PROBABILITIES
from cimento.paradigms.prompted.prompts import CHOICE, RATING, prompted_suite
from cimento.records.outcomes import each_outcome
from cimento.suites import Prediction
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
    """The sentences that a prompt shows, by their labels."""
    return dict(re.findall(r"^([AB12]): (.*)$", messages[-1]["content"], flags=re.MULTILINE))


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


def test_each_pair_is_shown_in_both_orders_with_every_label(pairs):
    run, server = ask(knows, pairs)
    seen = [tuple(shown(body["messages"]).items()) for body in server.bodies]
    assert sorted(seen) == sorted(
        ((one, first), (two, second))
        for good, bad in PAIRS
        for first, second in ((good, bad), (bad, good))
        for one, two in ("AB", "BA", "12", "21")
    )
    assert any("A o B" in body["messages"][0]["content"] for body in server.bodies)
    assert [outcome.verdict for outcome in outcomes(run)] == ["pass"] * 3
    headline = run.estimates()[0]
    assert (headline.question, headline.value, headline.n) == (CHOICE, 1, 3)


def test_rotated_prompts_are_two_a_pair(pairs):
    run, server = ask(knows, pairs, balance="rotated")
    assert len(server.bodies) == 6
    assert run.estimates()[0].chance == 0.25


def test_a_model_that_always_names_the_first_ties(pairs):
    run, _ = ask(lambda messages: next(iter(shown(messages))), pairs)
    assert [(outcome.verdict, outcome.value) for outcome in outcomes(run)] == [("tie", 0.5)] * 3
    assert run.estimates()[0].value == 0


@pytest.mark.parametrize("reply", ["{}", "{}.", " **{}**\n", "«{}»", "({})", "{}:"])
def test_a_reply_may_have_marks_around_the_letter(pairs, reply):
    run, _ = ask(lambda messages: reply.format(knows(messages)), pairs)
    assert {outcome.verdict for outcome in outcomes(run)} == {"pass"}


def test_a_cyrillic_letter_that_looks_the_same_is_the_letter(pairs):
    cyrillic = {"A": "\N{CYRILLIC CAPITAL LETTER A}", "B": "\N{CYRILLIC CAPITAL LETTER VE}."}
    run, _ = ask(lambda messages: cyrillic.get(letter := knows(messages), letter), pairs)
    assert [outcome.verdict for outcome in outcomes(run)] == ["pass"] * 3


@pytest.mark.parametrize("reply", ["", "A o B", "Sentence {}", "{} is better", "C", "{}A"])
def test_any_other_reply_is_unscored_with_a_reason(pairs, reply):
    run, _ = ask(lambda messages: reply.format(knows(messages)), pairs)
    assert {(outcome.verdict, outcome.value, outcome.reason) for outcome in outcomes(run)} == {
        ("unscored", None, UNREAD)
    }
    estimate = run.estimates()[0]
    assert (estimate.value, estimate.unscored) == (None, 3)
    assert "24 replies name no answer" in run.warnings[-1]
    assert "answer=loglik" in run.warnings[-1]


def test_replies_of_one_order_are_read_only_where_the_other_was(pairs):
    def unsure(messages):
        is_first = next(iter(shown(messages).values())) == PAIRS[0][0]
        return "?" if is_first else knows(messages)

    run, _ = ask(unsure, pairs)
    assert [outcome.verdict for outcome in outcomes(run)] == ["unscored", "pass", "pass"]
    assert run.estimates()[0].n == 2
    note = "4 replies name no answer and count neither way, such as '?' to a prompt that asks for"
    assert run.warnings[-1].startswith(f"{note} A or B")


def test_an_item_is_judged_by_the_combinations_that_were_read(pairs):
    run, _ = ask(lambda m: "?" if "A" in shown(m) else knows(m), pairs)
    assert [outcome.verdict for outcome in outcomes(run)] == ["pass"] * 3


def test_words_are_read_without_accents_and_capitals(pairs):
    run, _ = ask(
        lambda m: "A" if "A se" in m[0]["content"] or "B se" in m[0]["content"] else "Si.",
        pairs,
        task="yesno",
    )
    table = {row.prompt.labels: row.shares for row in answers_of(run)}
    assert table["sì/no"] == {"sì": 1.0}
    assert table["accettabile/inaccettabile"] is None


def test_ratings_stand_beside_those_of_people():
    suite = prompted_suite(sentence_suite(load_suite("it-acceptability")))
    suite = dataclasses.replace(suite, items=suite.items[:12])
    with reply_server(lambda m: str(1 + len(m[-1]["content"]) % 7)) as server:
        run = cimento.evaluate(suite, server.address)
    rows = outcomes(run)
    assert len(rows) == 12
    assert {(row.question, row.unit, row.verdict) for row in rows} == {(RATING, "points", None)}
    assert all(1 <= row.value <= 7 for row in rows)
    assert len(server.bodies) == 12 * 8
    assert all(" 1 (" in body["messages"][0]["content"] for body in server.bodies)
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
        wrong = next(letter for letter in shown(messages) if letter != right)
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
    assert run.summary().usage.sent == 24


def test_a_word_that_is_parted_or_begins_with_a_capital_has_its_tokens(pairs):
    listed = {"S": 0.3, "sì": 0.2, "No": 0.25, "acc": 0.3, "in": 0.1, "A": 0.4, "B": 0.2, "a": 0.1}

    with reply_server(lambda _: "A") as server:
        server.top = lambda _: [
            {"token": token, "logprob": math.log(share)} for token, share in listed.items()
        ]
        run = cimento.evaluate(pairs, server.address, answer="loglik", task="yesno")
    shares = {row.prompt.labels: row.shares for row in answers_of(run)}
    assert shares["sì/no"] == pytest.approx({"sì": 0.5 / 0.75, "no": 0.25 / 0.75})
    # The letter a begins one of the words too: it is theirs alone.
    assert shares["accettabile/inaccettabile"] == pytest.approx(
        {"accettabile": 0.8 / 0.9, "inaccettabile": 0.1 / 0.9}
    )
    assert shares["A/B"] == pytest.approx({"A": 0.4 / 0.6, "B": 0.2 / 0.6})


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
    with reply_server(knows) as server, pytest.raises(CimentoError, match="answer='generate'"):
        cimento.evaluate(pairs, server.address, answer="loglik")


def test_a_local_model_replies_too(pairs):
    run = cimento.evaluate(pairs, "demo-causal", balance="rotated")
    assert run.table("replies").height == 6


def test_it_is_said_everywhere_that_these_are_no_probabilities(pairs, tmp_path):
    with reply_server(knows) as server:
        run = cimento.evaluate(pairs, server.address, output=tmp_path)
    assert NOT_PROBABILITIES in run.summary().warnings
    assert NOT_PROBABILITIES in " ".join(run.paradigm.presenter.text([run]).split())
    page = cimento.report(run, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "metalinguistic judgments" in page
    assert "not probabilities of the sentences (Hu and Levy 2023)" in cimento.cite(run, "methods")
    assert "The prompts were it-judgments, version 2." in cimento.cite(run, "methods")


def test_a_suite_is_built_checked_run_and_planned(tmp_path, capsys):
    folder = tmp_path / "asked"
    assert invoke(["suites", "build", "prompted", "it-subject-verb", "-o", str(folder)]) == 0
    assert invoke(["suites", "check", str(folder)]) == 0
    assert load_suite(folder).paradigm is PROMPTED
    assert load_suite(folder).suite.name == "it-subject-verb-prompted"
    with reply_server(lambda _: "A") as server:
        common = [str(folder), "-m", server.address, "--limit", "2", "-o", str(tmp_path / "runs")]
        assert invoke(["plan", *common]) == 0
        assert "32 requests to the server" in capsys.readouterr().out
        assert invoke(["run", *common]) == 0
        assert len(server.bodies) == 32
    printed = capsys.readouterr().out
    assert f"{CHOICE}: match, not mismatch_number" in printed
    assert "metalinguistic" in printed


def test_neither_runs_nor_prompted_suites_are_built_from_nor_is_anything_replaced(
    pairs, tmp_path, capsys
):
    cimento.evaluate("it-subject-verb", "demo-causal", limit=2, output=tmp_path / "runs")
    folder, other = tmp_path / "asked", str(tmp_path / "other")
    PROMPTED.reader.write(pairs, folder)
    [run] = (tmp_path / "runs" / "it-subject-verb").iterdir()
    build = ["suites", "build", "prompted"]
    for source, seen in [
        (tmp_path / "runs", "is a folder of runs, not a suite"),
        (run, "is a folder of a run, not a suite"),
        (folder, "by prompt already"),
    ]:
        assert invoke([*build, str(source), "-o", other]) == 2
        assert seen in " ".join(capsys.readouterr().err.split())
    before = (folder / "items.tsv").read_bytes()
    assert invoke([*build, "it-subject-verb", "-o", str(folder)]) != 0
    assert "--force" in capsys.readouterr().err
    assert (folder / "items.tsv").read_bytes() == before
    assert invoke([*build, "it-subject-verb", "-o", str(folder), "--force"]) == 0


def test_predictions_that_name_no_better_sentence_are_refused():
    suite = sentence_suite(load_suite("it-subject-verb"))
    sums = Prediction(formula="(2;%match%) + 1 < (2;%mismatch_number%)")
    with pytest.raises(UsageError, match="between two conditions"):
        prompted_suite(dataclasses.replace(suite, predictions=(sums,)))


def test_what_two_items_share_is_asked_once_and_counts_for_both():
    twice = prompted_suite(cimento.pairs([*PAIRS, PAIRS[0]], name="it-twice", language="it"))
    run, server = ask(knows, twice, balance="full")
    assert len(server.bodies) == 3 * 32
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


def test_a_run_of_another_design_is_refused_with_what_to_do(pairs, tmp_path):
    run, _ = ask(knows, pairs, balance="rotated", output=tmp_path)
    manifest = run.folder / "manifest.json"
    text = manifest.read_text(encoding="utf-8")
    manifest.write_text(text.replace('"rotated"', '"latin"'), encoding="utf-8")
    with pytest.raises(CimentoError, match="Run the suite again"):
        answers_of(open_run(run.folder))


def test_every_answer_is_a_row_of_a_table(pairs, tmp_path):
    ask(knows, pairs, output=tmp_path / "runs")
    path = tmp_path / "answers.csv"
    assert invoke(["report", str(tmp_path / "runs"), "--table", "answers", "-o", str(path)]) == 0
    rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 24
    assert {row["value"] for row in rows} == {"1.0"}
    assert {(row["task"], row["condition"], row["rival"]) for row in rows} == {
        ("choice", "good", "bad")
    }
    assert {row["better_first"] for row in rows} == {"true", "false"}


def test_other_runs_have_no_table_of_answers(tmp_path, capsys):
    cimento.evaluate("it-subject-verb", "demo-causal", limit=2, output=tmp_path)
    assert invoke(["report", str(tmp_path), "--table", "answers"]) == 2
    assert "suites build prompted" in capsys.readouterr().err


@pytest.mark.parametrize("task", ["choice", "yesno", "auto"])
@pytest.mark.parametrize("points", [5, 7])
def test_points_are_refused_where_nothing_is_rated(pairs, task, points):
    with pytest.raises(UsageError, match=r"points=\d: it is the scale of ratings"):
        ask(knows, pairs, task=task, points=points)


def test_a_run_without_points_is_opened_and_run_again(pairs, tmp_path, capsys):
    """Manifests have every option, those too that nobody gave and that change nothing."""
    folder = pairs_folder(pairs, tmp_path)
    words = ["run", folder, "-m", "demo-causal", "--set", "answer=loglik", "--set", "task=choice"]
    assert invoke([*words, "-o", str(tmp_path / "runs")]) == 0
    [manifest] = (tmp_path / "runs").glob("*/*/manifest.json")
    assert open_run(manifest.parent).judge().outcomes().height > 0
    assert invoke(["rerun", str(manifest.parent), "-o", str(tmp_path / "again")]) == 0
    assert invoke([*words, "--set", "points=7", "-o", str(tmp_path / "runs")]) == 2
    assert "it is the scale of ratings" in capsys.readouterr().err


def pairs_folder(suite, tmp_path):
    """A suite in a folder."""
    PROMPTED.reader.write(suite, tmp_path / suite.name)
    return str(tmp_path / suite.name)


def test_the_appendix_states_the_accuracy_of_every_question(pairs):
    run = cimento.evaluate(pairs, "demo-causal", answer="loglik", task="all")
    rates = [one for one in run.estimates() if one.statistic == "accuracy" and not one.group]
    assert len(rates) == 3
    appendix = " ".join(cimento.cite([run], "appendix").split())
    for one in rates:
        assert f"Accuracy ({one.question}) was {one.value:.3f}" in appendix

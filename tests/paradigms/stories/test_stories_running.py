"""Runs of stories from end to end: models, options, chats; stored, stopped, gone on with."""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path

import polars as pl
import pytest

from cimento import ModelError, UsageError, evaluation, open_run
from cimento.cli.main import invoke
from cimento.engine.cache import MemoryCache
from cimento.engine.units import SIZES
from cimento.kinds.prompting import PromptFormat, find_format
from cimento.paradigms import Choose
from cimento.paradigms.stories.judging import judge_stories, judged_run
from cimento.paradigms.stories.options import (
    StoryOptions,
    normalized,
    prior_corrections,
)
from cimento.paradigms.stories.prompts import choose_shots, find_prompt, prompts
from cimento.paradigms.stories.requests import tier_prompts
from cimento.suites.formats.stories import read_stories
from cimento.suites.stories import CONFLICT, STATE, STORY, TIERS
from cimento.testing import FakeScorer
from cimento.testing.models import uniform_scorer
from tests.helpers import zoo
from tests.helpers.stories import (
    SYSTEM_TEMPLATE,
    TRIPLES,
    TRIPLES_FILE,
    Templated,
    answers,
    ask,
    chosen,
)


def scorer_that_says(*words):
    """A model for which some words are likely and all others are not."""
    return FakeScorer(lambda tokens, index: -1.0 if tokens[index] in words else -9.0, name="says")


class CountingScorer(FakeScorer):
    """Counts what it is asked, and breaks off after so many."""

    def __init__(self, limit=math.inf):
        super().__init__(lambda _tokens, _index: -1.0, name="counting")
        self.asked = 0
        self.limit = limit

    def score(self, encoded):
        if self.asked >= self.limit:
            raise ModelError(where="model", seen="it went away")
        self.asked += 1
        return super().score(encoded)


def test_a_run_is_stored_with_its_tables_and_opened_again(tmp_path):
    run = ask(scorer_that_says("falso"), tmp_path)

    assert chosen(run, STORY) == ["false"] * 15
    choices = run.table("choices")
    # Each tier is also asked without a story, so that answers can be compared by norm=pmi.
    assert choices.height == 16 * 2 + 11 * 10 + 11 * 14
    assert choices.filter(text=" falso")["logprob_nats"].to_list() == [-1.0] * 16
    story = run.outcomes().filter(question=STORY)
    assert story["verdict"].value_counts().sort("verdict").rows() == [("fail", 5), ("pass", 10)]
    assert story.filter(verdict="pass")["value"].to_list() == [8.0 / math.log(2)] * 10
    assert TRIPLES[0].sentences[0] in run.table("requests")["text"][0]
    assert run.n_items == 15
    again = open_run(run.folder)
    assert again.outcomes().equals(run.outcomes())
    assert again.estimates() == run.estimates()
    assert again.options == run.options


def test_a_finished_run_asks_nothing_more(tmp_path):
    first = CountingScorer()
    run = ask(first, tmp_path, shots=1)
    assert first.asked == 35 + 3
    second = CountingScorer(limit=0)
    again = ask(second, tmp_path, shots=1)
    assert second.asked == 0
    assert again.outcomes().equals(run.outcomes())
    assert again.folder == run.folder


def test_a_run_that_was_stopped_goes_on_where_it_was(tmp_path):
    kept = MemoryCache()
    with pytest.raises(ModelError):
        ask(CountingScorer(limit=20), tmp_path, cache=kept)
    assert not list(tmp_path.rglob("manifest.json"))
    rest = CountingScorer()
    run = ask(rest, tmp_path, cache=kept)
    # What a unit answered before it failed is asked again, and nothing else.
    assert 38 - 20 <= rest.asked < 38 - 20 + SIZES[Choose]
    assert rest.asked < 38 - 15
    assert run.outcomes().filter(verdict="unscored").is_empty()


def test_other_options_are_another_run(tmp_path):
    folders = {
        ask(uniform_scorer(10), tmp_path, **options).folder
        for options in ({}, {"shots": 0}, {"prompt": "en-3"}, {"order": "reversed"})
    }
    assert len(folders) == 4
    assert ask(uniform_scorer(10), tmp_path, norm="char").folder in folders


def test_tiers_are_asked_of_all_and_chained_afterwards():
    run = ask(scorer_that_says("vero"))
    # No story survives the first tier, and the second is still comparable between models.
    assert not any(run.outcomes().filter(question="consistency")["right"])
    assert len(answers(run, CONFLICT)) == 10


def asked_at(run, tier):
    return run.table("requests").filter(
        (pl.col("condition") == tier) & pl.col("item").is_not_null()
    )


def test_the_protocol_of_the_paper_asks_survivors_only():
    run = ask(scorer_that_says("true"), protocol="paper", shots=0)
    assert asked_at(run, STORY).height == 15
    assert asked_at(run, CONFLICT).is_empty()
    assert run.manifest["inputs"]["prompt"][0] == "paper-en"
    survived = ask(scorer_that_says("false"), protocol="paper", shots=0)
    assert asked_at(survived, CONFLICT).height == 10


def test_the_first_of_tied_options_survives_as_in_the_study_and_is_a_tie_in_the_run():
    """The study took the first of the tied options, *false*: all ten implausible stories go on.

    Without their answers its table would have no value at the second tier.
    """
    run = ask(FakeScorer(lambda _tokens, _index: -1.0), protocol="paper", shots=0)
    assert set(run.outcomes().filter(question=STORY)["verdict"]) == {"tie"}
    assert asked_at(run, CONFLICT).height == 10
    judged = judge_stories(
        run.suite.stories,
        tuple(outcome.answer for outcome in judged_run(run).outcomes),
        first_of_ties=True,
    )
    assert judged.chained.known(CONFLICT)
    assert judged.chained.known(STATE)


def test_too_few_survivors_for_the_papers_draws_are_said():
    with pytest.raises(UsageError, match="has 10 stories"):
        ask(scorer_that_says("false"), protocol="paper", shots=10)


def test_a_tie_is_no_answer_whichever_option_comes_first():
    for order in ("paper", "reversed"):
        run = ask(FakeScorer(lambda _tokens, _index: -1.0), order=order)
        assert set(chosen(run, STORY)) == {None}
        assert all(answer.tied for answer in answers(run, STORY))
        assert run.estimates()[0].tied == 15


def test_permuted_options_change_nothing():
    def score(tokens, index):
        return -((sum(map(ord, tokens[index])) * 7919) % 1000) / 100

    plain = ask(FakeScorer(score))
    mixed = ask(FakeScorer(score), order="shuffled", order_seed=5)
    assert plain.table("choices")["text"].to_list() != mixed.table("choices")["text"].to_list()
    for tier in TIERS:
        assert chosen(plain, tier) == chosen(mixed, tier)


def test_nan_stops_the_run_and_names_the_model():
    with pytest.raises(ModelError, match="nan"):
        ask(FakeScorer(lambda _tokens, _index: float("nan")))
    with pytest.raises(ModelError, match="inf"):
        ask(FakeScorer(lambda _tokens, _index: -math.inf))


def test_options_are_compared_in_five_ways():
    """By hand: three options of 2, 1 and 3 tokens with sums -4, -3 and -3."""
    nats, n_tokens, words = (-4.0, -3.0, -3.0), (2, 1, 3), ("abcd", "ab", "abcdef")

    def by(norm):
        return normalized(nats, norm, n_tokens=n_tokens, words=words)

    assert by("sum") == (-4.0, -3.0, -3.0)
    assert by("token") == (-2.0, -3.0, -1.0)
    assert by("char") == (-1.0, -1.5, -0.5)
    # Two prompts: P = (1/2, 1/2) and (1/4, 3/4), so the priors are 3/8 and 5/8. One that cannot
    # be scored is left out.
    values = [(math.log(0.5), math.log(0.5)), (math.log(0.25), math.log(0.75))]
    for rows in (values, [*values, (math.nan, -1.0)]):
        corrected = prior_corrections(rows, ("a", "b"))
        assert corrected["a"] == pytest.approx(math.log(3 / 8))
        assert corrected["b"] == pytest.approx(math.log(5 / 8))


@pytest.mark.parametrize("norm", ["sum", "token", "char", "pmi", "prior"])
def test_every_way_of_comparing_runs(norm, tmp_path):
    run = ask(uniform_scorer(50), tmp_path, norm=norm)
    values = answers(run, STORY)[0].answer.logprobs_nats
    if norm == "pmi":
        # A model that does not look at the prompt has no information about it.
        assert values == pytest.approx((0.0, 0.0))
    if norm == "prior":
        assert values[0] == pytest.approx(values[1])


def test_a_model_that_never_writes_an_option_is_noticed(zoo_folder):
    run = ask(str(zoo_folder("llama-long")), shots=0, chat="no", limit=3)
    assert any("no option is ever" in warning for warning in run.warnings)


@pytest.fixture(scope="module")
def zoo_folder(tmp_path_factory):
    """Tiny random models with a window long enough for stories, one with a chat template."""
    root = tmp_path_factory.mktemp("story-models")

    def folder(name: str) -> Path:
        path = root / name
        if path.exists():
            return path
        model = zoo.model("llama")
        model.config.max_position_embeddings = 4096
        model.save_pretrained(path)
        tokenizer = zoo.tokenizer("bpe-fallback")
        tokenizer.save_pretrained(path)
        if name == "llama-chat":
            (path / "chat_template.jinja").write_text(SYSTEM_TEMPLATE, encoding="utf-8")
        if name == "llama-refuses":
            (path / "chat_template.jinja").write_text(
                "{% for turn in messages %}{% if turn.role == 'system' %}"
                "{{ raise_exception('System role not supported') }}{% endif %}"
                "{{ turn.role }}: {{ turn.content }}\n{% endfor %}assistant: ",
                encoding="utf-8",
            )
        if name == "llama-drops":
            (path / "chat_template.jinja").write_text(
                "{% for turn in messages if turn.role != 'system' %}{{ turn.content }}\n"
                "{% endfor %}",
                encoding="utf-8",
            )
        return path

    return folder


@pytest.mark.slow
@pytest.mark.parametrize("answer", ["loglik", "generate", "constrained"])
def test_a_chat_model_runs_all_three_tiers(zoo_folder, answer, tmp_path):
    model = str(zoo_folder("llama-chat"))
    run = ask(model, tmp_path, shots=1, answer=answer, max_tokens=3, limit=6)
    assert "<system>" in run.table("requests")["text"][0]
    assert [len(answers(run, tier)) for tier in TIERS] == [6, 4, 4]
    outcomes = [outcome for tier in TIERS for outcome in answers(run, tier)]
    if answer == "loglik":
        assert all(
            len(outcome.answer.logprobs_nats) == len(outcome.answer.options) for outcome in outcomes
        )
    else:
        assert all(outcome.answer.reply is not None for outcome in outcomes)
        assert run.table("replies").height == 14
    if answer == "constrained":
        assert all(outcome.chosen in outcome.answer.options for outcome in outcomes)


def test_a_template_that_drops_the_instruction_is_refused_and_can_be_folded(zoo_folder):
    model = str(zoo_folder("llama-drops"))
    with pytest.raises(ModelError, match="drops system turns"):
        ask(model, limit=3)
    run = ask(model, limit=3, shots=0, system="folded")
    assert [len(answers(run, tier)) for tier in TIERS] == [3, 2, 2]


@pytest.mark.parametrize("shots_as", ["turns", "text"])
def test_a_template_that_refuses_system_turns_gets_the_instruction_first(zoo_folder, shots_as):
    run = ask(str(zoo_folder("llama-refuses")), limit=3, shots=1, shots_as=shots_as)
    assert "system" not in run.table("requests")["text"][0]
    assert [len(answers(run, tier)) for tier in TIERS] == [3, 2, 2]


def test_a_chat_is_refused_where_there_is_no_template():
    with pytest.raises(UsageError, match="no chat template"):
        ask(uniform_scorer(9), chat="yes")


def test_prompts_are_spoken_as_the_model_takes_them():
    options = StoryOptions(shots=1)
    scored, written = options.prompting, StoryOptions(answer="generate").prompting

    def first(tier, stories, voice):
        return tier_prompts(
            tier, stories, TRIPLES, prompt=find_prompt("it-1"), options=options, prompt_format=voice
        )[0]

    flat = first(STORY, TRIPLES[:3], PromptFormat())
    assert flat.request(scored) == Choose(prompt=flat.rendered.text, options=(" falso", " vero"))
    assert flat.request(written).stop == ("\n",)
    spoken = first(STATE, TRIPLES[1:3], find_format(Templated(SYSTEM_TEMPLATE), scored))
    assert spoken.request(scored).templated
    assert spoken.request(scored).options[0] == "acceso"
    assert spoken.request(written).stop == ()


@pytest.mark.slow
@pytest.mark.parametrize("prompt", prompts())
def test_every_prompt_can_be_asked(prompt):
    run = ask(uniform_scorer(9), prompt=prompt, limit=3)
    assert sum(len(answers(run, tier)) for tier in TIERS) == 7


# The command


@pytest.mark.slow
def test_the_command_runs_offline_and_says_what_it_found(tmp_path, capsys):
    arguments = ["run", str(TRIPLES_FILE), "-m", "demo-causal", "-o", str(tmp_path)]
    arguments += ["--set", "shots=1", "--limit", "6"]
    assert invoke([*arguments, "--json"]) == 0
    [run] = json.loads(capsys.readouterr().out)["runs"]
    headline = run["estimates"][0]
    assert (headline["question"], headline["role"], headline["n"]) == (STORY, "headline", 6)
    assert (run["paradigm"], run["options"]["shots"]) == ("stories", 1)
    stored = json.loads((Path(run["folder"]) / "summary.json").read_text("utf-8"))
    assert stored["runs"][0]["estimates"] == run["estimates"]
    assert invoke(arguments) == 0
    assert "Flow of implausible stories" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("shot=3", "'shots'"),
        ("shots=three", "whole number"),
        ("answer=likelihood", "loglik"),
        ("prompt=it-9", "'it-5'"),
        ("norm=chars", "char"),
        ("shots=30", "--set shots=0"),
    ],
)
def test_wrong_options_are_answered_with_what_is_right(setting, said, tmp_path, capsys):
    arguments = ["run", str(TRIPLES_FILE), "-m", "demo-causal", "-o", str(tmp_path)]
    assert invoke([*arguments, "--set", setting]) == 2
    assert said in capsys.readouterr().err


def test_every_option_has_its_line_in_the_docs():
    page = (Path(__file__).parents[3] / "docs" / "stories.md").read_text(encoding="utf-8")
    assert [key for key in StoryOptions.model_fields if f"| `{key}` |" not in page] == []


def test_a_prompt_is_shown_as_a_model_reads_it(capsys):
    assert invoke(["suites", "prompts"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 27
    shown = ["suites", "prompts", str(TRIPLES_FILE), "--row", "1"]
    assert invoke([*shown, "--set", "prompt=en-3", "--set", "numbering=1", "--set", "shots=0"]) == 0
    out = capsys.readouterr().out
    assert "2) Elena prende la busta dal cassetto." in out
    assert "--- right: ' 2 and 3'" in out
    assert invoke([*shown, "--set", "shots=0", "-m", "demo-causal"]) == 0
    assert "<|assistant|>" in capsys.readouterr().out
    assert invoke(["suites", "prompts", str(TRIPLES_FILE), "--row", "99"]) == 2
    assert "15 stories" in capsys.readouterr().err


@pytest.mark.golden
def test_the_protocol_of_the_paper_asks_what_was_recorded(shared):
    """Prompts and examples of all 356 stories at the first tier, from end to end."""
    folder = shared / "golden" / "stories"
    path = folder / "dataset" / "gita4calamita.jsonl"
    lines = (folder / "responses" / "Meta-Llama-3.1-8B.jsonl").read_text("utf-8").splitlines()
    recorded = [row for row in map(json.loads, lines) if row["task"] == STORY]

    run = evaluation.evaluate(path, scorer_that_says("true"), protocol="paper")

    assert [hashlib.sha256(text.encode()).hexdigest() for text in asked_at(run, STORY)["text"]] == [
        row["prompt_sha256"] for row in recorded
    ]
    stories = read_stories(path).stories
    shots = choose_shots(STORY, stories, stories, StoryOptions(protocol="paper").examples)
    assert [[shot.row for shot in some] for some in shots] == [row["shots"] for row in recorded]

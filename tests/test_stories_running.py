"""Runs of stories from end to end: models, servers, recordings; stored, stopped, gone on with."""

from __future__ import annotations

import json
import math
from pathlib import Path

import polars as pl
import pytest

from cimento.cli.main import invoke
from cimento.errors import ModelError, UsageError
from cimento.models.answering import OptionAsk, OptionScores
from cimento.models.fake import FakeScorer, uniform_scorer
from cimento.stories.asking import Voice, find_voice, tier_asks
from cimento.stories.options import normalised, pmi_corrections, prior_corrections
from cimento.stories.prompts import find_prompt, prompts
from cimento.stories.readers import read_stories
from cimento.stories.records import CONFLICT, STATE, STORY, TIERS
from cimento.stories.responses import read_responses
from cimento.stories.running import ANSWERS, JOURNAL
from cimento.stories.settings import KEYS, StorySettings
from cimento.stories.shots import Shots
from cimento.stories.summary import judge_stories
from tests import zoo
from tests.stories import FILE, SYSTEM_TEMPLATE, TRIPLES, TRIPLES_FILE, evaluation, render_of


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
    run = evaluation(tmp_path).run(FILE, scorer_that_says("falso"))

    assert len(run.answers) == 15 + 10 + 10
    judged = judge_stories(run.stories, run.answers)
    assert [each.chosen for each in judged.outcomes if each.tier == STORY] == ["false"] * 15
    choices = pl.read_parquet(run.folder / "choices.parquet")
    assert choices.height == 15 * 2 + 10 * 10 + 10 * 14
    assert choices.filter(pl.col("word") == "falso")["logprob_nats"].to_list() == [-1.0] * 15
    verdicts = pl.read_parquet(run.folder / "verdicts.parquet")
    story = verdicts.filter(pl.col("condition") == STORY)
    assert story["verdict"].value_counts().sort("verdict").rows() == [("fail", 5), ("pass", 10)]
    assert story.filter(verdict="pass")["margin_bits"].to_list() == [8.0 / math.log(2)] * 10
    assert read_responses(run.folder / ANSWERS, stories=FILE.stories).answers == run.answers


def test_a_finished_run_asks_nothing_more(tmp_path):
    first = CountingScorer()
    run = evaluation(tmp_path, shots=1).run(FILE, first)
    assert first.asked == 35
    second = CountingScorer(limit=0)
    again = evaluation(tmp_path, shots=1).run(FILE, second)
    assert second.asked == 0
    assert again.answers == run.answers
    assert again.folder == run.folder


def test_a_run_that_was_stopped_goes_on_where_it_was(tmp_path):
    with pytest.raises(ModelError):
        evaluation(tmp_path).run(FILE, CountingScorer(limit=20))
    [journal] = tmp_path.rglob(JOURNAL)
    # A line that was being written when the machine went down.
    with journal.open("a", encoding="utf-8") as file:
        file.write('\n{"doc": 3, "task": "conf')
    rest = CountingScorer()
    run = evaluation(tmp_path).run(FILE, rest)
    assert rest.asked == 15
    assert len(run.answers) == 35


def test_other_settings_are_another_run(tmp_path):
    folders = {
        evaluation(tmp_path, **options).run(FILE, uniform_scorer(10)).folder
        for options in ({}, {"shots": 0}, {"prompt": "en-3"}, {"order": "reversed"})
    }
    assert len(folders) == 4


def test_tiers_are_asked_of_all_and_chained_afterwards():
    run = evaluation().run(FILE, scorer_that_says("vero"))
    judged = judge_stories(run.stories, run.answers)
    # No story survives the first tier, and the second is still comparable between models.
    assert judged.chained.passed[CONFLICT] == dict.fromkeys(judged.chained.passed[CONFLICT], False)
    assert sum(answer.tier == CONFLICT for answer in run.answers) == 10


def test_the_protocol_of_the_paper_asks_survivors_only():
    run = evaluation(protocol="paper", shots=0).run(FILE, scorer_that_says("true"))
    assert [answer.tier for answer in run.answers] == [STORY] * 15
    assert run.manifest["prompt"]["id"] == "paper-en"
    survived = evaluation(protocol="paper", shots=0).run(FILE, scorer_that_says("false"))
    assert sum(answer.tier == CONFLICT for answer in survived.answers) == 10


def test_too_few_survivors_for_the_papers_draws_are_said():
    with pytest.raises(UsageError, match="only 10 stories"):
        evaluation(protocol="paper", shots=10).run(FILE, scorer_that_says("false"))


def test_ties_go_to_the_first_option_and_are_named():
    for order, chosen in (("paper", "false"), ("reversed", "true")):
        run = evaluation(order=order).run(FILE, FakeScorer(lambda _tokens, _index: -1.0))
        judged = judge_stories(run.stories, run.answers)
        first = [each for each in judged.outcomes if each.tier == STORY]
        assert {each.chosen for each in first} == {chosen}
        assert all(each.tied for each in first)


def test_permuted_options_change_nothing_but_ties():
    def score(tokens, index):
        return -((sum(map(ord, tokens[index])) * 7919) % 1000) / 100

    plain = evaluation().run(FILE, FakeScorer(score))
    mixed = evaluation(order="shuffled", order_seed=5).run(FILE, FakeScorer(score))
    assert plain.answers[-1].options != mixed.answers[-1].options
    chosen = [
        [each.chosen for each in judge_stories(run.stories, run.answers).outcomes]
        for run in (plain, mixed)
    ]
    assert chosen[0] == chosen[1]


def test_nan_stops_the_run_and_names_the_model():
    with pytest.raises(ModelError, match="nan"):
        evaluation().run(FILE, FakeScorer(lambda _tokens, _index: float("nan")))
    with pytest.raises(ModelError, match="inf"):
        evaluation().run(FILE, FakeScorer(lambda _tokens, _index: -math.inf))


def ask_record(*options):
    return OptionScores(nats=options, tokens=tuple(tuple("x" for _ in nats) for nats in options))


def test_options_are_compared_in_five_ways():
    """By hand: three options with token log-probabilities (-2, -2), (-3,), (-1, -1, -1)."""
    scores = ask_record((-2.0, -2.0), (-3.0,), (-1.0, -1.0, -1.0))
    words = ("abcd", "ab", "abcdef")
    assert normalised(scores, "sum", words=words) == (-4.0, -3.0, -3.0)
    assert normalised(scores, "token", words=words) == (-2.0, -3.0, -1.0)
    assert normalised(scores, "char", words=words) == (-1.0, -1.5, -0.5)
    labels = ("a", "b", "c")
    assert pmi_corrections(scores, labels).nats == {"a": -4.0, "b": -3.0, "c": -3.0}
    # Two prompts: P = (1/2, 1/2) and (1/4, 3/4), so the priors are 3/8 and 5/8.
    values = [(math.log(0.5), math.log(0.5)), (math.log(0.25), math.log(0.75))]
    found = prior_corrections(values, [("a", "b"), ("a", "b")]).nats
    assert found["a"] == pytest.approx(math.log(3 / 8))
    assert found["b"] == pytest.approx(math.log(5 / 8))


@pytest.mark.parametrize("norm", ["sum", "token", "char", "pmi", "prior"])
def test_every_way_of_comparing_runs(norm, tmp_path):
    run = evaluation(tmp_path, norm=norm).run(FILE, uniform_scorer(50))
    assert len(run.answers) == 35
    first = next(answer for answer in run.answers if answer.tier == STORY)
    if norm == "pmi":
        # A model that does not look at the prompt has no information about it.
        assert first.logprobs_nats == pytest.approx((0.0, 0.0))
    if norm == "prior":
        assert first.logprobs_nats[0] == pytest.approx(first.logprobs_nats[1])


def test_a_model_that_never_writes_an_option_is_noticed(zoo_folder):
    run = evaluation(shots=0, chat="no", limit=3).run(FILE, str(zoo_folder("llama-long")))
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


@pytest.mark.parametrize("answer", ["loglik", "generate", "constrained"])
def test_a_chat_model_runs_all_three_tiers(zoo_folder, answer, tmp_path):
    run = evaluation(tmp_path, shots=1, answer=answer, max_tokens=3, limit=6).run(
        FILE, str(zoo_folder("llama-chat"))
    )
    assert run.manifest["prompt"]["system"] == "system"
    assert {each.tier for each in run.answers} == set(TIERS)
    assert len(run.answers) == 6 + 4 + 4
    if answer == "loglik":
        assert all(len(each.logprobs_nats) == len(each.options) for each in run.answers)
    else:
        assert all(each.reply is not None for each in run.answers)
        replies = pl.read_parquet(run.folder / "replies.parquet")
        assert replies.height == 14
    if answer == "constrained":
        assert all(each.label in each.options for each in run.answers)


def test_a_template_that_drops_the_instruction_is_refused_and_can_be_folded(zoo_folder):
    model = str(zoo_folder("llama-drops"))
    with pytest.raises(ModelError, match="drops system turns"):
        evaluation(limit=3).run(FILE, model)
    run = evaluation(limit=3, shots=0, system="folded").run(FILE, model)
    assert len(run.answers) == 3 + 2 + 2


@pytest.mark.parametrize("shots_as", ["turns", "text"])
def test_a_template_that_refuses_system_turns_gets_the_instruction_first(zoo_folder, shots_as):
    run = evaluation(limit=3, shots=1, shots_as=shots_as).run(
        FILE, str(zoo_folder("llama-refuses"))
    )
    assert run.manifest["prompt"]["system"] == "folded"
    assert len(run.answers) == 3 + 2 + 2


def test_a_chat_is_refused_where_there_is_no_template():
    with pytest.raises(UsageError, match="no chat template"):
        evaluation(chat="yes").run(FILE, uniform_scorer(9))


def test_prompts_are_spoken_as_the_model_takes_them():
    settings = StorySettings(shots=Shots(n=1))
    asks = tier_asks(
        STORY, TRIPLES[:3], TRIPLES, prompt=find_prompt("it-1"), settings=settings, voice=Voice()
    )
    assert asks[0].option_ask() == OptionAsk(
        prompt=asks[0].rendered.text, options=(" falso", " vero")
    )
    assert asks[0].reply_ask(settings).stop == ("\n",)
    voice = find_voice(render_of(SYSTEM_TEMPLATE, ""), settings, name="m")
    [spoken, *_] = tier_asks(
        STATE, TRIPLES[1:3], TRIPLES, prompt=find_prompt("it-1"), settings=settings, voice=voice
    )
    assert spoken.option_ask().templated
    assert spoken.option_ask().options[0] == "acceso"
    assert spoken.reply_ask(settings).stop == ()


@pytest.mark.parametrize("prompt", prompts())
def test_every_prompt_can_be_asked(prompt):
    run = evaluation(prompt=prompt, limit=3).run(FILE, uniform_scorer(9))
    assert len(run.answers) == 7


# The command, recordings, the page


def test_the_command_runs_offline_and_says_what_it_found(tmp_path, capsys):
    arguments = ["run", str(TRIPLES_FILE), "-m", "demo-causal", "-o", str(tmp_path)]
    assert invoke([*arguments, "--set", "shots=1", "--limit", "6", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    [run] = found["runs"]
    assert run["prompt"]["id"] == "it-1"
    assert run["untiered"][STORY]["count"][1] == 6
    folder = Path(run["folder"])
    assert json.loads((folder / "summary.json").read_text("utf-8"))["model"] == run["model"]
    assert "what went wrong" in (folder / "failures.html").read_text(encoding="utf-8")
    # Recorded answers are a model like any other.
    again = ["run", str(TRIPLES_FILE), "-m", f"replay:{folder / ANSWERS}", "--limit", "6"]
    assert invoke([*again, "-o", str(tmp_path)]) == 0
    assert "Flow of implausible stories" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("shot=3", "'shots'"),
        ("shots=three", "whole number"),
        ("answer=likelihood", "loglik"),
        ("prompt=it-9", "'it-5'"),
        ("norm=chars", "char"),
        ("shots=30", "--set shots=N"),
    ],
)
def test_wrong_options_are_answered_with_what_is_right(setting, said, tmp_path, capsys):
    arguments = ["run", str(TRIPLES_FILE), "-m", "demo-causal", "-o", str(tmp_path)]
    assert invoke([*arguments, "--set", setting]) == 2
    assert said in capsys.readouterr().err


def test_cards_of_recordings_say_so(tmp_path):
    line = {"doc": 0, "task": STORY, "ll": [-1.0, -2.0]}
    (tmp_path / "m.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    run = evaluation().run(FILE, f"replay:{tmp_path / 'm.jsonl'}")
    assert run.model.startswith("m@")
    assert run.manifest["model"]["kind"] == "replay"


def test_every_option_has_its_line_in_the_docs():
    page = (Path(__file__).parents[1] / "docs" / "stories-prompts.md").read_text(encoding="utf-8")
    assert [key for key in KEYS if f"| `{key.replace('_', '-')}` |" not in page] == []


def test_a_prompt_is_shown_as_a_model_reads_it(capsys):
    assert invoke(["stories", "prompts"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 12
    shown = ["stories", "prompt", str(TRIPLES_FILE), "--row", "1"]
    assert invoke([*shown, "--set", "prompt=en-3", "--set", "numbering=1", "--set", "shots=0"]) == 0
    out = capsys.readouterr().out
    assert "2) Elena prende la busta dal cassetto." in out
    assert "--- right: ' 2 and 3'" in out
    assert invoke([*shown, "--set", "shots=0", "-m", "demo-causal"]) == 0
    assert "<|assistant|>" in capsys.readouterr().out
    assert invoke(["stories", "prompt", str(TRIPLES_FILE), "--row", "99"]) == 2
    assert "15 stories" in capsys.readouterr().err


@pytest.mark.golden
def test_the_protocol_of_the_paper_asks_what_was_recorded(shared):
    """Prompts and examples of all 356 stories at the first tier, from end to end."""
    folder = shared / "golden" / "stories"
    file = read_stories(folder / "dataset" / "gita4calamita.jsonl")
    lines = (folder / "responses" / "Meta-Llama-3.1-8B.jsonl").read_text("utf-8").splitlines()
    recorded = [row for row in map(json.loads, lines) if row["task"] == STORY]

    run = evaluation(protocol="paper").run(file, scorer_that_says("true"))

    assert [answer.prompt_sha256 for answer in run.answers] == [
        row["prompt_sha256"] for row in recorded
    ]
    assert [list(answer.shots) for answer in run.answers] == [row["shots"] for row in recorded]

"""``cimento models``: what it lists, what it prints about a model, and its exit codes."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from cimento import open_source
from cimento.cli.main import invoke
from cimento.models import registry
from cimento.models.base import ModelCard
from cimento.models.hf.causal import CausalScorer
from cimento.models.hf.stored import cached_models, demo_models
from cimento.models.registry import OPENERS
from cimento.testing import check_model
from cimento.testing.models import uniform_scorer
from tests.cli.test_cli import modules_after

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Telling:
    """A model that tells its tokens only with their scores: every word costs 2 nats."""

    card = ModelCard(name="telling", kind="causal", revision="0" * 40, tokenizer="")

    def read(self, texts):
        for text in texts:
            starts = [0] + [i for i, char in enumerate(text.encode()) if char == 32]
            yield text, dict.fromkeys(starts, -2.0)


@pytest.fixture
def hub(tmp_path, monkeypatch) -> Path:
    """A hub's cache with one causal model, one data set and one model of another kind."""
    folder = tmp_path / "hub"
    for repository, config in {
        "models--lab--sentences": {"architectures": ["GPT2LMHeadModel"]},
        "models--lab--pictures": {"architectures": ["ViTForImageClassification"]},
        "datasets--lab--texts": {},
    }.items():
        snapshot = folder / repository / "snapshots" / COMMIT
        snapshot.mkdir(parents=True)
        (folder / repository / "refs").mkdir()
        (folder / repository / "refs" / "main").write_text(COMMIT)
        (folder / repository / "blobs").mkdir()
        blob = folder / repository / "blobs" / "0"
        blob.write_text(json.dumps(config))
        (snapshot / "config.json").symlink_to(blob)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(folder))
    return folder


def test_the_models_of_the_hubs_cache_are_listed(hub):
    models = cached_models(hub)

    assert [(model.name, model.revision, model.kind) for model in models] == [
        ("lab/pictures", COMMIT, ""),
        ("lab/sentences", COMMIT, "causal"),
    ]
    assert models[1].size_bytes == len('{"architectures": ["GPT2LMHeadModel"]}')


def test_a_cache_that_is_not_there_holds_none(tmp_path):
    assert cached_models(tmp_path / "none") == []


def test_the_demo_models_are_listed():
    assert [(model.name, model.kind) for model in demo_models()] == [
        ("demo-causal", "causal"),
        ("demo-masked", "masked"),
    ]


@pytest.mark.usefixtures("hub")
def test_the_list_shows_models_and_ways_to_name_one(capsys):
    assert invoke(["models", "list"]) == 0

    printed = capsys.readouterr().out
    for text in ("demo-causal@", "lab/sentences@0123456  causal", "openai:URL#model", "kenlm:FILE"):
        assert text in printed
    assert "lab/texts" not in printed


def test_the_list_loads_no_torch():
    assert not modules_after(("models", "list")) & {"torch", "transformers"}


def test_the_check_of_a_good_model_ends_well(zoo_folder, capsys):
    code = invoke(["models", "check", str(zoo_folder("gpt2")), "it-subject-verb", "--texts", "8"])

    printed = capsys.readouterr().out
    assert code == 0
    for text in (
        "equal: at most",
        "texts per second",
        "byte-level BPE",
        "its BOS token, the same as its EOS token",
        "chat template",
        "BOS policy        auto",
        "--boundary auto corrects them by word-start",
        "passed  scores are those of a plain forward pass",
        "160 tokens",
        "passed  tokens cover every character",
    ):
        assert text in printed
    assert "FAILED" not in printed


def test_json_says_all_of_it(zoo_folder, capsys):
    folder = str(zoo_folder("bert-cased"))
    assert invoke(["models", "check", folder, "--language", "ru", "--texts", "4", "--json"]) == 0

    printed = json.loads(capsys.readouterr().out)
    assert printed["agrees"] is True
    assert printed["comparison"]["n_texts"] == 4
    assert printed["tokenizer"]["kind"] == "WordPiece"
    assert {row["suite"][:2] for row in printed["unknown"]} == {"ru"}
    assert all(finding["passed"] for finding in printed["findings"])


def test_scores_that_differ_end_with_exit_code_1(zoo_folder, monkeypatch, capsys):
    score = CausalScorer.score
    monkeypatch.setattr(
        CausalScorer, "score", lambda self, encoded: [v - 0.01 for v in score(self, encoded)]
    )

    assert invoke(["models", "check", str(zoo_folder("gpt2")), "--texts", "4"]) == 1
    assert "DIFFERENT: at most 0.01 nats" in capsys.readouterr().out


def opener_of(scorer):
    return lambda _rest, asking: open_source(scorer, asking)


def test_a_finding_that_fails_ends_with_exit_code_1(monkeypatch, capsys):
    broken = uniform_scorer(10)
    monkeypatch.setattr(broken, "_score", lambda _tokens, _index: math.nan)
    monkeypatch.setitem(OPENERS, "broken", opener_of(broken))

    assert invoke(["models", "check", "broken:x"]) == 1
    printed = capsys.readouterr().out
    assert "FAILED" in printed
    assert "not compared" in printed


def test_a_model_that_tells_its_tokens_with_their_scores_is_checked_too(monkeypatch, capsys):
    monkeypatch.setitem(registry.OPENERS, "telling", opener_of(Telling()))

    assert invoke(["models", "check", "telling:x"]) == 0
    assert "passed  a warm cache gives the same table" in capsys.readouterr().out
    assert all(finding.passed for finding in check_model(Telling()))


def test_the_json_of_a_model_that_cannot_be_looked_into_is_as_its_schema_says(monkeypatch, capsys):
    for name, model in (("telling", Telling()), ("closed", uniform_scorer(10))):
        monkeypatch.setitem(registry.OPENERS, name, opener_of(model))
        assert invoke(["models", "check", f"{name}:x", "--json"]) == 0
        printed = json.loads(capsys.readouterr().out)
        assert printed["tokenizer"] is printed["comparison"] is printed["agrees"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["demo-causal", "--language", "tlh"], "no built-in suite in this language"),
        (["demo-causal", "no-such-suite"], "no-such-suite"),
        (["./nowhere"], "there is no such folder"),
        (["replay:x.tsv"], "recorded surprisals"),
        (["demo-causal", "--model-args", "eager"], "not KEY=VALUE"),
    ],
)
def test_bad_input_ends_in_one_message(arguments, message, capsys):
    assert invoke(["models", "check", *arguments]) == 2
    assert message in capsys.readouterr().err

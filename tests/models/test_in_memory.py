"""A model is taken by name, by path, loaded once, or as torch and transformers have it."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

import cimento
from cimento import UsageError
from cimento.engine.cache import MemoryCache
from tests.helpers import zoo

SUITE = "it-subject-verb"
TEXT = "Le lampade nella stanza erano accese."


@pytest.fixture
def folder(zoo_folder) -> Path:
    return zoo_folder("gpt2")


@pytest.fixture
def forms(folder) -> dict[str, tuple[object, dict[str, object]]]:
    """The same model in every form, with what is to be said beside it."""
    module, tokenizer = zoo.model("gpt2"), zoo.tokenizer("byte-bpe")
    return {
        "str": (str(folder), {}),
        "Path": (folder, {}),
        "loaded": (cimento.load_model(folder, device="cpu"), {}),
        "module": (module, {"tokenizer": tokenizer}),
        "module and a folder": (module, {"tokenizer": folder}),
        "module and a name": (module, {"tokenizer": str(folder)}),
        "loaded module": (cimento.load_model(module, tokenizer=tokenizer), {}),
    }


def calls(model, **options):
    """What each public function says of a model."""
    run = cimento.evaluate(SUITE, model, limit=3, device="cpu", **options)
    [other] = cimento.evaluate_all([SUITE], [model], limit=3, device="cpu", **options)
    blank = TEXT.replace("erano", "___")
    return [
        run.table("tokens")["logprob_nats"].to_list(),
        other.outcomes()["value"].to_list(),
        cimento.score(TEXT, model, device="cpu", **options)["surprisal_bits"].to_list(),
        cimento.fill(blank, model, among=["erano", "era"], **options)["logprob_nats"].to_list(),
    ]


@pytest.mark.slow
def test_every_function_takes_every_form(forms):
    said = {name: calls(model, **options) for name, (model, options) in forms.items()}

    assert all(len(values) == 4 and all(values) for values in said.values())
    assert said["Path"] == said["loaded"] == said["str"]
    # Activations of a model that the user has are not replaced by faster ones: equal but for
    # rounding.
    for name, values in said.items():
        for value, expected in zip(values, said["str"], strict=True):
            assert value == pytest.approx(expected, abs=1e-4), name


def test_a_loaded_model_is_loaded_once_and_is_what_its_name_is(folder, monkeypatch):
    model = cimento.load_model(folder, device="cpu")
    monkeypatch.setattr("cimento.models.hf.loading._load_weights", None)
    loaded = cimento.evaluate(SUITE, model, limit=1, device="cpu")
    monkeypatch.undo()
    named = cimento.evaluate(SUITE, str(folder), limit=1, device="cpu")

    assert loaded.manifest["model"] == named.manifest["model"]
    assert loaded.manifest["asking"]["policy"] == named.manifest["asking"]["policy"]


def test_each_call_asks_a_loaded_model_as_it_says(zoo_folder):
    """Among kept answers, one way of scoring never stands for another."""
    folder = zoo_folder("bert")
    model, cache = cimento.load_model(folder, device="cpu"), MemoryCache()
    ways = ("within-word-l2r", "original")
    said = [cimento.score(TEXT, model, pll=way, cache=cache) for way in ways]
    alone = [cimento.score(TEXT, str(folder), pll=way, device="cpu") for way in ways]

    assert not said[0].equals(said[1])
    assert all(one.equals(other) for one, other in zip(said, alone, strict=True))


def test_what_is_settled_by_loading_cannot_be_had_otherwise(folder):
    model = cimento.load_model(folder, device="cpu", dtype="bf16", model_args={"n_layer": 1})
    run = cimento.evaluate(SUITE, model, limit=1, device="cpu", dtype="bfloat16")

    policy = run.manifest["asking"]["policy"]
    assert (policy["dtype"], policy["model_args"]) == ("bfloat16", {"n_layer": 1})
    assert run.manifest["model"]["dtype"] == "bfloat16"
    with pytest.raises(UsageError, match=r"dtype='float32'.*in memory with dtype='bfloat16'"):
        cimento.evaluate(SUITE, model, limit=1, dtype="float32")
    with pytest.raises(UsageError, match=r"device='cuda'.*in memory with device='cpu'"):
        cimento.score(TEXT, model, device="cuda")
    with pytest.raises(UsageError, match=r"model_args=.*in memory with model_args="):
        cimento.score(TEXT, model, model_args={"n_layer": 2})
    scorer = cimento.live_scorer(zoo.model("gpt2"), zoo.tokenizer("byte-bpe"), name="g")
    with pytest.raises(UsageError, match=r"dtype=bfloat16.*made with dtype=float32"):
        cimento.score(TEXT, scorer, dtype="bf16")


def test_a_loaded_model_takes_another_tokenizer_as_its_name_does(folder, tmp_path):
    words = str(tmp_path / "words")
    zoo.tokenizer("byte-bpe-prefix").save_pretrained(words)
    model = cimento.load_model(folder, device="cpu")
    other = cimento.score(TEXT, model, tokenizer=words)

    assert not other.equals(cimento.score(TEXT, model))
    assert other.equals(cimento.score(TEXT, str(folder), tokenizer=words, device="cpu"))


def test_a_scorer_that_was_made_otherwise_than_it_is_asked_is_refused():
    scorer = cimento.live_scorer(zoo.model("bert"), zoo.tokenizer("wordpiece-uncased"), name="b")

    with pytest.raises(UsageError, match=r"pll=original.*made with pll=within-word-l2r"):
        cimento.score(TEXT, scorer, pll="original")


@pytest.mark.parametrize(
    ("model", "options", "seen"),
    [
        (lambda: zoo.model("gpt2"), {}, r"tokenizer is not given.*tokenizer="),
        (lambda: zoo.model("gpt2").train(), {"tokenizer": "demo-causal"}, r"model\.eval\(\)"),
        (lambda: "demo-causal", {"tokenizer": zoo.tokenizer("byte-bpe")}, r"is in memory, and the"),
        (lambda: 3, {}, "int is neither the name of a model nor a scorer"),
        (lambda: torch.nn.Linear(1, 1), {}, "Linear is neither"),
    ],
)
def test_what_lacks_something_is_one_message(model, options, seen):
    with pytest.raises(UsageError, match=seen):
        cimento.score(TEXT, model(), **options)


def test_how_texts_are_scored_is_not_said_when_a_model_is_loaded():
    with pytest.raises(UsageError, match="not how a model is loaded"):
        cimento.load_model("demo-causal", bos="none")


def test_a_model_of_transformers_has_the_name_it_was_loaded_under(folder):
    model = AutoModelForCausalLM.from_pretrained(folder)
    run = cimento.evaluate(SUITE, model, tokenizer=AutoTokenizer.from_pretrained(folder), limit=1)

    assert run.manifest["model"]["name"] == folder.name

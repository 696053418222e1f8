"""Models are scored in process by vLLM's engine, of which there is a fake of the same form here."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from types import ModuleType

import pytest
from transformers import ByT5Tokenizer, GPT2Config, GPT2LMHeadModel

import cimento
from cimento import ModelError, UsageError
from cimento.cli.main import invoke
from cimento.models.hf.files import locate
from cimento.models.hf.own_tokenizer import load_tokenizer
from cimento.models.settings import Policy


@dataclass
class Logprob:
    logprob: float


@dataclass
class Output:
    prompt_logprobs: list


def score(before: list[int], token: int) -> float:
    """Exact in binary, and another one after every history."""
    return -(1 + (token * 7 + sum(before) + len(before)) % 64) / 8


class FakeEngine:
    """As vLLM: the first token of a prompt has no score, and each other one that of its history."""

    made: list[dict[str, object]] = []  # noqa: RUF012  # what the tests look at

    def __init__(self, **options: object) -> None:
        FakeEngine.made.append(options)

    def generate(self, prompts, sampling_params, *, use_tqdm):
        assert sampling_params["prompt_logprobs"] == 1
        assert not use_tqdm
        outputs = []
        for prompt in prompts:
            ids = prompt["prompt_token_ids"]
            listed = [
                {token: Logprob(score(ids[:place], token)), -1: Logprob(0.0)} if place else None
                for place, token in enumerate(ids)
            ]
            outputs.append(Output(listed))
        return outputs


@pytest.fixture
def vllm(monkeypatch, fresh_cache):  # noqa: ARG001  # used for what it does
    module = ModuleType("vllm")
    module.LLM, module.SamplingParams = FakeEngine, lambda **asked: asked
    module.__spec__ = ModuleSpec("vllm", None)
    monkeypatch.setitem(sys.modules, "vllm", module)
    monkeypatch.setattr(FakeEngine, "made", [])
    return FakeEngine


def expected(text: str, *, bos: bool) -> list[float]:
    tokenizer, _ = load_tokenizer(locate("demo-causal"), Policy())
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    before = [tokenizer.bos_token_id or tokenizer.eos_token_id] if bos else []
    scores = [score([*before, *ids[:place]], token) for place, token in enumerate(ids)]
    return scores if bos else [math.nan, *scores[1:]]


@pytest.mark.usefixtures("vllm")
@pytest.mark.parametrize("bos", ["auto", "none"])
def test_scores_are_those_of_the_prompt(bos):
    table = cimento.score("Le zie dormono.", "vllm:demo-causal", bos=bos)

    nats = expected("Le zie dormono.", bos=bos == "auto")
    assert table.height == len(nats)
    for bits, value in zip(table["surprisal_bits"].to_list(), nats, strict=True):
        assert (bits is None) == math.isnan(value)
        assert bits is None or bits == pytest.approx(-value / math.log(2), abs=1e-12)


def test_a_suite_is_run_and_is_not_the_models_run_in_transformers(vllm, tmp_path):
    path = str(tmp_path / "runs")
    given = ["run", "it-subject-verb", "--limit", "2", "-o", path]
    assert invoke([*given, "-m", "vllm:demo-causal"]) == 0
    assert invoke([*given, "-m", "demo-causal"]) == 0
    runs = cimento.open_runs(path)

    assert len({run.model for run in runs}) == len(runs) == 2
    [run] = [run for run in runs if run.manifest["model"]["device"] == "vllm"]
    assert run.manifest["named"] == "vllm:demo-causal"
    assert vllm.made[0]["dtype"] == run.manifest["model"]["dtype"] == "float32"


@pytest.mark.usefixtures("vllm")
def test_the_number_format_is_that_of_the_checkpoint_or_as_chosen(vllm):
    cimento.score("Le zie.", "vllm:demo-causal", dtype="bf16")
    assert vllm.made[0]["dtype"] == "bfloat16"


@pytest.mark.usefixtures("vllm")
@pytest.mark.parametrize("options", [{"leading_blank": True}, {"window": "sliding"}])
def test_what_the_engine_is_not_asked_for_is_refused(options):
    with pytest.raises(UsageError, match="transformers can"):
        cimento.score("Le zie.", "vllm:demo-causal", **options)


def test_answers_that_do_not_fit_are_one_message(vllm, monkeypatch):
    def too_few(_self, prompts, _params, **_):
        return [Output([None])] * len(prompts)

    monkeypatch.setattr(vllm, "generate", too_few)
    with pytest.raises(ModelError, match="gives 1 log-probabilities for"):
        cimento.score("Le zie.", "vllm:demo-causal")


def test_where_it_is_not_installed_the_server_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "vllm", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda *_: None)
    with pytest.raises(UsageError, match=r"vllm serve org/name .*openai:http"):
        cimento.score("Le zie.", "vllm:org/name")


def test_tokenizers_without_offsets_are_aligned_by_bytes(vllm, tmp_path):  # noqa: ARG001  # used for what it does
    """ByT5's tokens are bytes, numbered from 3: a letter of two bytes is one entry with both."""
    config = GPT2Config(
        vocab_size=384, n_embd=16, n_layer=1, n_head=2, bos_token_id=1, eos_token_id=1
    )
    GPT2LMHeadModel(config).save_pretrained(tmp_path)
    ByT5Tokenizer().save_pretrained(tmp_path)
    text = "È qui"
    table = cimento.score(text, f"vllm:{tmp_path}", bos="bos-or-eos", level="word")

    ids = [1, *(octet + 3 for octet in text.encode())]
    scores = [score(ids[:place], token) for place, token in enumerate(ids[1:], start=1)]
    # Two bytes of the first letter; the blank begins the second word.
    expected = [-sum(scores[:2]) / math.log(2), -sum(scores[2:]) / math.log(2)]
    assert table["surprisal_bits"].to_list() == pytest.approx(expected, abs=1e-12)

"""Unigrams of the model itself, in models whose probabilities are known."""

from __future__ import annotations

import json
import math

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoModelForSeq2SeqLM

from cimento import evaluate, pairs
from cimento.cli.main import invoke
from cimento.paradigms.regions.judging import scores_of
from tests.helpers import zoo

SUITE = pairs(
    [("Il gatto dorme.", "Il gatto dormono."), ("Le foglie cadono.", "Le foglie cade.")],
    name="unigrams",
    language="it",
)
ASKED = {"measures": "slor,normlp,lp", "unigrams": "model", "device": "cpu"}


def forgetful():
    """A model that sees no context: its head reads a constant, so that P(token) = softmax(w)."""
    model = zoo.model("gpt2")
    model.config.tie_word_embeddings = False
    weights = torch.linspace(-3, 3, model.config.vocab_size)
    with torch.no_grad():
        model.transformer.ln_f.weight.zero_()
        model.transformer.ln_f.bias.zero_()
        model.transformer.ln_f.bias[0] = 1.0
        model.lm_head.weight = torch.nn.Parameter(torch.zeros_like(model.lm_head.weight))
        model.lm_head.weight[:, 0] = weights
    return model, weights.double().log_softmax(0)


def test_a_model_without_memory_is_its_own_unigram_model():
    """LP = LPu for every sentence, so that SLOR is 0 and NormLP is -1, whatever P is."""
    model, logprobs = forgetful()
    run = evaluate(SUITE, model, tokenizer=zoo.tokenizer("byte-bpe"), **ASKED)

    tokens = run.table("tokens")
    expected = [logprobs[number].item() for number in tokens["token_id"]]
    assert tokens["unigram_nats"].to_list() == pytest.approx(expected, abs=1e-5)
    table = scores_of(run, ["slor", "normlp"])
    assert table["value"].to_list()[::2] == pytest.approx([0.0] * 4, abs=1e-6)
    assert table["value"].to_list()[1::2] == pytest.approx([-1.0] * 4, abs=1e-6)


AUTO = {
    "gpt2": AutoModelForCausalLM,
    "xlstm": AutoModelForCausalLM,
    "bert-cased": AutoModelForMaskedLM,
    "t5": AutoModelForSeq2SeqLM,
}


def without_context(name, model):
    """ln P of every token where only special tokens stand, by one pass of transformers."""
    species = zoo.ENCODER_DECODERS.get(name) or zoo.SPECIES[name]
    tokenizer, kind = zoo.tokenizer(species.tokenizer), zoo.TOKENIZERS[species.tokenizer]
    before, after = (tokenizer.convert_tokens_to_ids(list(s)) for s in (kind.before, kind.after))
    with torch.no_grad():
        if name == "t5":
            start = torch.tensor([[model.config.decoder_start_token_id]])
            logits = model(input_ids=torch.tensor([[*before, *after]]), decoder_input_ids=start)
            return logits.logits[0, -1].double().log_softmax(-1)
        if name == "bert-cased":
            ids = [*before, tokenizer.mask_token_id, *after]
            return model(torch.tensor([ids])).logits[0, len(before)].double().log_softmax(-1)
        ids = before or [tokenizer.bos_token_id or tokenizer.eos_token_id]
        return model(torch.tensor([ids])).logits[0, -1].double().log_softmax(-1)


@pytest.mark.slow
@pytest.mark.parametrize("name", AUTO)
@pytest.mark.parametrize("boundary", ["none", "auto"])
def test_unigrams_are_what_the_model_expects_without_context(name, boundary, zoo_folder):
    folder = zoo_folder(name)
    run = evaluate(SUITE, str(folder), boundary=boundary, **ASKED)

    alone = without_context(name, AUTO[name].from_pretrained(folder))
    tokens = run.table("tokens")
    expected = [alone[number].item() for number in tokens["token_id"]]
    assert tokens["unigram_nats"].to_list() == pytest.approx(expected, abs=1e-5)
    scores = scores_of(run, ["slor", "lp"])["value"].to_list()
    for slor, lp, request in zip(scores[::2], scores[1::2], range(4), strict=True):
        unigrams = tokens.filter(tokens["request"] == request)["unigram_nats"]
        assert slor == pytest.approx((lp - unigrams.sum()) / len(unigrams), abs=1e-9)


def test_where_nothing_stands_before_a_text_there_are_none(zoo_folder):
    run = evaluate(SUITE, str(zoo_folder("gpt2")), bos="none", unscored_first="drop", **ASKED)
    table = scores_of(run, ["slor"])
    assert table["value"].is_null().all()
    assert "--bos" in table["unscored_reason"][0]


def test_a_stored_run_without_them_says_what_to_do(tmp_path, capsys):
    path = tmp_path / "pairs.tsv"
    path.write_text("good\tbad\nIl gatto dorme.\tIl gatto dormono.\n", encoding="utf-8")
    command = ["run", str(path), "-m", "demo-causal", "--device", "cpu", "-o", str(tmp_path)]
    command += ["--measure", "lp"]
    assert invoke(command) == 0
    capsys.readouterr()
    judge = ["judge", str(tmp_path), "--scores", "--measure", "slor", "--unigrams", "model"]
    assert invoke(judge) == 0
    assert "run again with --unigrams model" in capsys.readouterr().out
    again = [*command[:-1], "slor", "--unigrams", "model"]
    assert invoke([*again, "--json"]) == 0
    [run] = json.loads(capsys.readouterr().out)["runs"]
    assert all(math.isfinite(estimate["value"]) for estimate in run["estimates"])

"""Causal scores are those of a plain forward pass over one text, on every architecture."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM

from cimento import ModelError, Policy
from cimento.models.hf.causal import CausalScoring
from cimento.models.hf.layout import LAYOUTS, ModelLayout
from cimento.models.hf.shapes import Passes
from cimento.models.settings import BatchLimits
from cimento.paradigms import Score
from tests.helpers import plain, zoo
from tests.helpers.some_slow import some_slow
from tests.helpers.whole_path import ask, ask_folder, load_folder

plain_model = functools.cache(AutoModelForCausalLM.from_pretrained)
scorer_of = functools.cache(load_folder)
CAUSAL = [name for name, species in zoo.SPECIES.items() if not species.masked]
TOLERANCE_NATS = 1e-5


def before(name: str) -> list[int]:
    """Ids of what comes before a text, as the zoo says and not as cimento finds it."""
    kind = zoo.SPECIES[name].tokenizer
    return zoo.tokenizer(kind).convert_tokens_to_ids(list(zoo.TOKENIZERS[kind].before))


def assert_plain(name, folder, answers, texts, model) -> None:
    for text, answer in zip(texts, answers, strict=True):
        tokens = plain.tokens_of(folder, text)
        expected = plain.causal(model, before(name), tokens.ids)
        assert answer.ids == tokens.ids, text
        assert answer.positions == list(range(len(tokens.ids)))
        assert answer.logprobs == [
            None if value is None else pytest.approx(value, abs=TOLERANCE_NATS)
            for value in expected
        ], text


@pytest.mark.slow
@pytest.mark.parametrize("name", some_slow(CAUSAL, quick=2))
def test_scores_are_those_of_a_plain_forward_pass(name, zoo_folder):
    folder = zoo_folder(name)
    model = plain_model(folder)

    scorer = scorer_of(folder)
    assert_plain(name, folder, ask(scorer, plain.TEXTS), plain.TEXTS, model)
    # One text at a time; other batches and trees in another order.
    assert_plain(name, folder, ask(scorer, plain.TEXTS[2:3]), plain.TEXTS[2:3], model)
    backwards = plain.TEXTS[::-2]
    assert_plain(
        name, folder, ask_folder(folder, backwards, limits=BatchLimits(tokens=90)), backwards, model
    )


@pytest.mark.parametrize("name", CAUSAL)
def test_every_model_of_the_zoo_reads_its_context(name):
    model = zoo.model(name)
    ids = [*before(name), 7, 8, 9, 10, 11]
    others = [*before(name), 7, 12, 9, 10, 11]

    here, there = (plain.causal(model, [], sequence)[-1] for sequence in (ids, others))

    assert abs(here - there) > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("name", some_slow(CAUSAL, quick=2))
def test_all_ways_through_the_head_and_the_batch_agree(name, zoo_folder):
    scorer = scorer_of(zoo_folder(name))
    model = plain_model(zoo_folder(name))
    encoded = scorer.encode([Score(text) for text in plain.TEXTS[:4]])

    values = [
        np.concatenate(
            CausalScoring(
                Passes(model=model, layout=layout, limits=BatchLimits(tokens=200)), packing=packing
            ).score(encoded)
        )
        for layout in LAYOUTS
        if layout.thin != "last attention"  # no causal model of the zoo allows that
        for packing in (True, False)
    ]

    for other in values[1:]:
        np.testing.assert_allclose(other, values[0], atol=TOLERANCE_NATS, rtol=0)


# What was found on transformers 5.23; a change is worth a look, in either direction.
RECURRENT = {"mamba", "falcon_mamba", "mamba2", "jamba", "recurrent_gemma", "xlstm", "rwkv"}
NO_TREES = {"gpt_neo", "bloom", "mpt", "falcon-alibi", *RECURRENT}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gpt2", "llama", "qwen2", "gemma", *sorted(NO_TREES)])
def test_trees_are_used_where_they_hold_and_nowhere_else(name, zoo_folder):
    scorer = scorer_of(zoo_folder(name))
    model = plain_model(zoo_folder(name))
    layout = ModelLayout(thin="head", pad=True)
    scoring = CausalScoring(Passes(model=model, layout=layout, limits=BatchLimits(tokens=512)))
    scoring.score(scorer.encode([Score(text) for text in plain.TEXTS]))

    assert scoring.proof.holds == (name not in NO_TREES)
    assert scoring.proof.nodes > 0
    assert bool(scoring.proof.reason) == (name in NO_TREES)


def test_a_proof_on_narrow_rows_is_not_trusted_for_wider_ones(monkeypatch, zoo_folder):
    """GPT-Neo's attention window counts places in the row: wrong only when rows get long."""
    wide = {"window_size": 48, "max_position_embeddings": 512}
    species = zoo.SPECIES["gpt_neo"]
    monkeypatch.setitem(
        zoo.SPECIES, "wide", zoo.Species(species.tokenizer, {**species.config, **wide}, "gpt_neo")
    )
    folder = zoo_folder("wide")
    scorer = load_folder(folder)
    model = AutoModelForCausalLM.from_pretrained(folder)
    few = ["Sì.", "No."]

    assert_plain("gpt_neo", folder, ask(scorer, few), few, model)
    assert_plain("gpt_neo", folder, ask(scorer, zoo.SENTENCES), zoo.SENTENCES, model)


LONG_ROPE = {
    "rope_type": "longrope",
    "rope_theta": 10_000.0,
    "short_factor": [1.0] * 4,
    "long_factor": [6.0] * 4,
    "original_max_position_embeddings": 34,
}


def test_positions_that_change_with_the_length_are_those_of_the_whole_text(monkeypatch, zoo_folder):
    """Phi-3 takes other ones for all of a text that is longer than 34 tokens here."""
    config = {"rope_parameters": LONG_ROPE, "original_max_position_embeddings": 34}
    monkeypatch.setitem(zoo.SPECIES, "long", zoo.Species("bpe-fallback", config, "phi3"))
    folder = zoo_folder("long")
    model = AutoModelForCausalLM.from_pretrained(folder)
    # Some longer, some not; and only the beginning of the longest is asked for.
    requests = [Score(text) for text in plain.TEXTS]
    requests.append(Score(plain.TEXTS[-1] + " Fine.", wanted=((0, 12),)))
    lengths = [len(plain.tokens_of(folder, request.text).ids) for request in requests]
    assert min(lengths) < 34 < max(lengths)

    for request, answer in zip(requests, ask_folder(folder, requests), strict=True):
        ids = plain.tokens_of(folder, request.text).ids
        expected = plain.causal(model, before("phi3"), ids)[: len(answer.ids)]
        assert answer.logprobs == pytest.approx(expected, abs=TOLERANCE_NATS)


def test_a_row_that_does_not_branch_proves_nothing(zoo_folder):
    """RWKV passes its state along the row: right as long as there is but one text in it."""
    folder = zoo_folder("rwkv")
    scorer = load_folder(folder)
    model = AutoModelForCausalLM.from_pretrained(folder)
    for texts in (["La casa", "La casa della zia di Lucia"], ["La casa", "La mela", "Sì."]):
        assert_plain("rwkv", folder, ask(scorer, texts), texts, model)


def test_a_row_that_does_not_branch_goes_the_plain_way_whatever_was_proven_before(zoo_folder):
    """Else its last digits would depend on what the same process scored before."""
    scorer = load_folder(zoo_folder("gpt2"))
    model = AutoModelForCausalLM.from_pretrained(zoo_folder("gpt2"))
    layout = ModelLayout(thin="head", pad=True)
    scoring = CausalScoring(Passes(model=model, layout=layout, limits=BatchLimits(tokens=512)))
    encoded = scorer.encode([Score(text) for text in plain.TEXTS])
    masks = []
    model.register_forward_pre_hook(
        lambda _module, _args, given: masks.append(given["attention_mask"].dim()), with_kwargs=True
    )

    scoring.score(encoded)
    assert 4 in masks
    masks.clear()
    scoring.score(encoded[2:3])
    assert set(masks) == {2}


def test_a_model_that_sees_the_future_is_no_causal_model(zoo_folder):
    with pytest.raises(ModelError, match=r"sees the words that it should predict.*kind='masked'"):
        load_folder(zoo_folder("bert-cased"), kind="causal")


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-9), ("bfloat16", 0.15)])
def test_other_dtypes(dtype, tolerance, zoo_folder):
    folder = zoo_folder("gpt2")
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=getattr(torch, dtype))
    text = plain.TEXTS[2]
    ids = plain.tokens_of(folder, text).ids
    sequence = torch.tensor([[*before("gpt2"), *ids]])
    with torch.no_grad():
        table = model(sequence).logits[0].double().log_softmax(-1)
    expected = [table[i, token].item() for i, token in enumerate(ids)]

    policy = Policy(dtype=dtype)
    (answer,) = ask_folder(folder, [text], policy)

    assert answer.logprobs == pytest.approx(expected, abs=tolerance)


def without_head(folder, target, dtype="float32"):
    """A copy of a model whose head says nothing: every logit is 0."""
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=getattr(torch, dtype))
    with torch.no_grad():
        model.get_output_embeddings().weight.zero_()
    model.save_pretrained(target)
    zoo.tokenizer("byte-bpe-bos").save_pretrained(target)
    return target


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_uniform_model_pays_log_v_for_every_token(dtype, zoo_folder, tmp_path):
    """In bfloat16 too, where log 420 = 6.04 would come out as 6.03 or 6.06."""
    folder = without_head(zoo_folder("llama-bytes"), tmp_path / "uniform")
    for answer in ask_folder(folder, plain.TEXTS, Policy(dtype=dtype)):
        cost = [-math.log(len(zoo.tokenizer("byte-bpe-bos")))] * len(answer.ids)
        assert answer.logprobs == pytest.approx(cost, abs=2e-6)


def test_texts_of_one_length_tie_exactly_under_a_uniform_model(zoo_folder, tmp_path):
    folder = without_head(zoo_folder("llama-bytes"), tmp_path / "uniform")
    one, other = ask_folder(folder, ["fghij", "qvwxz"])

    assert len(one.ids) == len(other.ids)
    assert one.total == other.total


@pytest.mark.parametrize("name", ["gpt2", "llama", "gemma", "glm4", "mamba", "llama-bare"])
@pytest.mark.parametrize(
    "context",
    ["La vicina", "La vicina ", "Bene.{special} Poi", "Prima, d'inverno:\n", "мо\u0301ре 😀", "x"],
)
def test_a_context_is_read_and_not_scored(name, context, zoo_folder):
    """Blanks at its end and special tokens inside it included."""
    folder = zoo_folder(name)
    kind = zoo.SPECIES[name].tokenizer
    context = context.format(special=zoo.TOKENIZERS[kind].names.get("eos_token", ""))
    model = plain_model(folder)
    text = "dell'amica canta."
    whole = f"{context} {text}"
    tokens = plain.tokens_of(folder, whole)
    expected = plain.causal(model, before(name), tokens.ids)
    in_text = [i for i, start in enumerate(tokens.starts) if start > len(context)]

    # In one batch with the text by itself, and with the whole as a text.
    asked = [Score(text, context=context), Score(text), Score(whole)]
    answer, alone, full = ask(scorer_of(folder), asked)

    assert answer.ids == [tokens.ids[i] for i in in_text]
    assert answer.logprobs == pytest.approx([expected[i] for i in in_text], abs=TOLERANCE_NATS)
    assert full.total - sum(full.logprobs[i] or 0.0 for i in range(in_text[0])) == pytest.approx(
        answer.total, abs=1e-4
    )
    assert answer.logprobs != alone.logprobs


@pytest.mark.parametrize("name", ["gpt2", "llama", "opt", "gemma"])
def test_special_tokens_inside_a_text_are_tokens_like_others(name, zoo_folder):
    """Also where one is what rows are padded with: padding goes by position, not by token."""
    folder = zoo_folder(name)
    names = zoo.TOKENIZERS[zoo.SPECIES[name].tokenizer].names
    model = AutoModelForCausalLM.from_pretrained(folder)
    texts = [f"Bene.{special} Poi{special}{special} dorme." for special in set(names.values())]
    texts.append("Un testo più lungo, di modo che gli altri siano riempiti.")

    assert_plain(name, folder, ask_folder(folder, texts), texts, model)

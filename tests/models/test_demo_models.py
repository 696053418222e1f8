"""The two models of the package: they load offline, hold their bounds, and take any text."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer

import cimento
from demo.discourse import Message
from demo.items import KINDS, pairs
from demo.lexicon import LANGUAGES
from demo.loss import vocabulary_loss
from demo.results import Result, missed_bounds
from demo.scoring import accuracy
from demo.tokenizer import BOS, render_chat
from demo.training import Masking, Schedule, batches

MODELS = Path(cimento.__file__).parent / "data" / "models"
LOADERS = {"demo-causal": AutoModelForCausalLM, "demo-masked": AutoModelForMaskedLM}
# Seed and number differ from those of the script, so that its table is not what is tested.
SEED, COUNT = 31, 40


@pytest.fixture(scope="module", autouse=True)
def _one_thread():
    """Models this small are slower on several threads than on one."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module", params=list(LOADERS))
def name(request):
    return request.param


@pytest.fixture(scope="module")
def model(name):
    return LOADERS[name].from_pretrained(MODELS / name, local_files_only=True)


@pytest.fixture(scope="module")
def tokenizer(name):
    return AutoTokenizer.from_pretrained(MODELS / name, local_files_only=True)


@pytest.mark.slow
def test_unseen_combinations_are_judged_within_the_bounds(name, model, tokenizer):
    masked = name == "demo-masked"
    results = []
    for language in LANGUAGES:
        for kind in KINDS:
            items = pairs(language, kind, count=COUNT, seed=SEED)
            share = accuracy(model, tokenizer, items, masked=masked)
            results.append(Result(name, language, kind, share))
    assert not missed_bounds(results)


def test_they_are_small_and_of_the_size_that_the_page_tells(name, model, tokenizer):
    assert 1.2e6 < model.num_parameters() < 1.4e6
    assert sum(path.stat().st_size for path in (MODELS / name).iterdir()) < 6_000_000
    assert len(tokenizer) == model.config.vocab_size == 4096
    window = {"demo-causal": 2048, "demo-masked": 512}[name]
    assert model.config.max_position_embeddings == tokenizer.model_max_length == window


@settings(deadline=None)
@given(text=st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_comes_back(tokenizer, text):
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    assert tokenizer.unk_token_id is None or tokenizer.unk_token_id not in ids
    assert tokenizer.decode(ids, clean_up_tokenization_spaces=False) == text


@pytest.mark.parametrize("text", ["L'amica dell'uomo è qui.", "¿Qué pasó?", "Девочка поёт.", "não"])
def test_offsets_cover_the_text(tokenizer, text):
    encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    covered = {place for start, end in encoded["offset_mapping"] for place in range(start, end)}
    assert covered == {place for place, letter in enumerate(text) if letter != " "}


def test_the_special_tokens_stand_where_the_page_says():
    causal = AutoTokenizer.from_pretrained(MODELS / "demo-causal")
    masked = AutoTokenizer.from_pretrained(MODELS / "demo-masked")
    assert causal.bos_token == BOS
    assert causal("Il re")["input_ids"][0] == causal.bos_token_id
    around = masked.convert_ids_to_tokens(masked("Il re")["input_ids"])
    assert (around[0], around[-1]) == ("[CLS]", "[SEP]")


def test_the_chat_template_gives_the_text_of_training():
    tokenizer = AutoTokenizer.from_pretrained(MODELS / "demo-causal")
    chat = [Message("system", "Answer in English."), Message("user", "Who sings?")]
    turns = [{"role": message.role, "content": message.content} for message in chat]
    rendered = tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
    assert rendered == f"{BOS}{render_chat(chat)}<|assistant|>"
    ids = tokenizer(rendered, add_special_tokens=False)["input_ids"]
    assert [i for i in ids if i in tokenizer.all_special_ids] == [
        tokenizer.convert_tokens_to_ids(token)
        for token in (BOS, "<|system|>", "<|end|>", "<|user|>", "<|end|>", "<|assistant|>")
    ]


def test_a_long_story_does_not_break_the_causal_model():
    from demo.dice import Dice
    from demo.discourse import Narrator
    from demo.grammar import Grammar
    from demo.lexicon import load_lexicon

    tokenizer = AutoTokenizer.from_pretrained(MODELS / "demo-causal")
    model = AutoModelForCausalLM.from_pretrained(MODELS / "demo-causal")
    story = Narrator(Grammar(load_lexicon("en"), Dice(8))).story(240)
    ids = torch.tensor([tokenizer(story)["input_ids"]])
    assert 1200 < ids.shape[1] <= 2048
    with torch.no_grad():
        logprobs = model(input_ids=ids).logits[0, :-1].log_softmax(-1)
    losses = -logprobs.gather(1, ids[0, 1:, None]).squeeze(1)
    early, late = losses[:200].mean(), losses[-200:].mean()
    assert late < 1.5 * early < 1.5 * math.log(4096) / 2


# The parts of the training loop that can be wrong without anybody noticing


def test_the_loss_is_cross_entropy_and_so_are_its_gradients():
    generator = torch.Generator().manual_seed(0)
    hidden = torch.randn(1500, 8, generator=generator, requires_grad=True)
    weight = torch.randn(50, 8, generator=generator, requires_grad=True)
    targets = torch.randint(50, (1500,), generator=generator)
    ours = vocabulary_loss(hidden, weight, targets)
    gradients = torch.autograd.grad(3 * ours, (hidden, weight))
    theirs = torch.nn.functional.cross_entropy(hidden @ weight.T, targets)
    expected = torch.autograd.grad(3 * theirs, (hidden, weight))
    assert ours.item() == pytest.approx(theirs.item(), rel=1e-5)
    for one, other in zip(gradients, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-7)


def test_batches_hold_every_text_once_a_round():
    texts = [[number] * (1 + number % 7) for number in range(200)]
    schedule = Schedule(steps=1, seed=2, tokens_per_batch=30)
    seen: list[int] = []
    for rows in batches(texts, schedule, window=100):
        assert rows.numel() <= 30
        seen += rows[:, 0].tolist()
        if len(seen) >= len(texts):
            break
    assert sorted(seen) == list(range(200))


def test_masking_spares_special_tokens_and_hides_the_ends_of_words():
    tokenizer = AutoTokenizer.from_pretrained(MODELS / "demo-masked")
    masking = Masking(tokenizer, seed=1)
    ids = tokenizer("Le straordinarie chiavi dell'armadio sono arrugginite.")["input_ids"]
    rows = torch.tensor([ids] * 64)
    shares = []
    for _ in range(60):
        chosen = masking.choose(rows)
        assert not chosen[:, 0].any()
        assert not chosen[:, -1].any()
        hidden = masking.hide(rows, chosen)
        assert (hidden[~chosen] == rows[~chosen]).all()
        assert (hidden[chosen] == tokenizer.mask_token_id).float().mean() > 0.85
        shares.append(chosen.float().mean().item())
    assert 0.15 < sum(shares) / len(shares) < 0.4

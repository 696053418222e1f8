"""A model in memory that several threads use at once, for cimento and for themselves."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from polars.testing import assert_frame_equal
from transformers import AutoModelForCausalLM, AutoTokenizer

import cimento
from cimento import Asking
from cimento.explain import explain
from cimento.models.hf.files import locate
from cimento.models.hf.sharing import shell_of
from cimento.models.registry import open_scorer
from tests.helpers import zoo

TEXTS = ["La casa è bella.", "Il gatto dorme.", "Le lampade sono accese.", "Sì."]
PAIRS = [(f"Il gatto {n} dorme.", f"Il gatto {n} dormono.") for n in range(6)]
THREADS, CALLS, PASSES = 4, 8, 1000


def at_once(work):
    """The results of several calls by several threads that begin together."""
    begin = threading.Barrier(THREADS)

    def call(number):
        if number < THREADS:
            begin.wait()
        return work()

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(call, range(CALLS)))


WORKS = {
    "evaluate": lambda model: cimento.evaluate(
        cimento.pairs(PAIRS, name="cats"), model
    ).table("tokens")["logprob_nats"].to_list(),
    "score": lambda model: cimento.score(TEXTS, model)["surprisal_bits"].to_list(),
    "fill": lambda model: cimento.fill(["La casa è ___."], model, k=3).to_dicts(),
}  # fmt: skip


@pytest.mark.parametrize("work", WORKS)
@pytest.mark.parametrize(
    "name", ["demo-causal", pytest.param("demo-masked", marks=pytest.mark.slow)]
)
def test_threads_that_share_a_model_get_what_one_gets_alone(name, work):
    model = cimento.load_model(name, device="cpu")
    alone = WORKS[work](model)
    assert at_once(lambda: WORKS[work](model)) == [alone] * CALLS


@pytest.mark.parametrize("name", ["demo-causal", "demo-masked"])
def test_threads_that_fill_with_one_scorer_get_what_one_gets_alone(name):
    scorer = open_scorer(name, Asking(device="cpu"))
    alone = WORKS["fill"](scorer)
    assert at_once(lambda: WORKS["fill"](scorer)) == [alone] * CALLS


@pytest.mark.slow
@pytest.mark.parametrize("name", ["demo-causal", "demo-masked"])
def test_threads_that_explain_a_run_with_one_model_get_what_one_gets_alone(name):
    run = cimento.evaluate("it-subject-verb", name, limit=2, device="cpu")
    model = open_scorer(name, Asking(device="cpu"))

    def explained():
        return explain(run, model=model, store=False).table

    alone = explained()
    assert alone.height > 0
    for table in at_once(explained):
        assert_frame_equal(table, alone, check_exact=True)


@pytest.mark.parametrize(
    "name",
    ["bert-cased", *(pytest.param(name, marks=pytest.mark.slow) for name in ("t5", "llama"))],
)
def test_threads_share_models_of_all_kinds(name, zoo_folder):
    model = cimento.load_model(str(zoo_folder(name)), device="cpu")
    alone = WORKS["score"](model)
    assert at_once(lambda: WORKS["score"](model)) == [alone] * CALLS


@pytest.mark.parametrize("name", ["gpt2", "bert-cased"])
def test_forward_passes_of_others_are_those_of_the_model_alone(name, zoo_folder):
    folder = zoo_folder(name)
    model, tokenizer = zoo.model(name), AutoTokenizer.from_pretrained(folder)
    ids = tokenizer(TEXTS[0], return_tensors="pt")
    with torch.inference_mode():
        alone = model(**ids).logits
    ended = threading.Event()
    differing: list[object] = []

    def others():
        while not ended.is_set():
            with torch.inference_mode():
                if not torch.equal(model(**ids).logits, alone):
                    differing.append(1)

    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(others)
        for _ in range(2):
            cimento.score(TEXTS, model, tokenizer=tokenizer)
            cimento.evaluate(cimento.pairs(PAIRS, name="cats"), model, tokenizer=tokenizer)
        ended.set()
        done.result()
    assert differing == []


@pytest.mark.slow
def test_a_thousand_foreign_passes_beside_evaluations_are_those_of_the_model_alone():
    """Passes and calls go on until there are a thousand of the first beside the second."""
    name = "demo-causal"
    folder = locate(name).folder
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    ids = tokenizer(TEXTS[2], return_tensors="pt")
    with torch.inference_mode():
        alone = model(**ids).logits
    busy, enough = threading.Event(), threading.Event()
    passes, differing = [0], [0]

    def others():
        while not enough.is_set():
            beside = busy.is_set()
            with torch.inference_mode():
                same = torch.equal(model(**ids).logits, alone)
            differing[0] += not same
            passes[0] += beside and busy.is_set()
            if passes[0] >= PASSES:
                enough.set()

    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(others)
        while not enough.is_set() and not done.done():
            busy.set()
            cimento.evaluate("en-subject-verb", model, tokenizer=tokenizer, limit=20)
            busy.clear()
        done.result()
    assert passes[0] == PASSES
    assert differing[0] == 0


def test_a_shell_shares_weights_and_nothing_that_a_hook_or_a_mode_changes():
    model = zoo.model("gpt2")
    own = shell_of(model)
    assert [id(weight) for weight in own.parameters()] == [
        id(weight) for weight in model.parameters()
    ]
    assert not set(map(id, own.modules())) & set(map(id, model.modules()))
    assert own.get_output_embeddings().weight is own.get_input_embeddings().weight
    own.train()
    own.base_model.register_forward_hook(lambda *_: 1 / 0)
    assert not any(module.training for module in model.modules())
    model(torch.tensor([[1, 2]]))


def test_a_forward_pass_that_stays_with_its_module_is_left_there():
    model = zoo.model("gpt2")
    block = model.base_model.h[0]
    block.forward = block.forward
    assert shell_of(model) is model

"""Scores from inner layers: the model's own head on its own hidden states."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM
from transformers.modeling_outputs import CausalLMOutput

from cimento import Asking, ModelError, Policy, UsageError, evaluate, open_runs
from cimento.cli.main import invoke
from cimento.engine.cache import FileCache, MemoryCache
from cimento.engine.scores import ask
from cimento.evaluation.freetext import score_texts
from cimento.io.tables import ALL_LAYERS, LAYER, layer_column, layer_of, parse_layers
from cimento.models.hf import heads
from cimento.models.hf.causal import CausalScoring
from cimento.models.hf.heads import Replacement
from cimento.models.hf.layout import LAYOUTS, ModelLayout
from cimento.models.hf.shapes import Passes
from cimento.models.hf.sites import Layers
from cimento.models.settings import BatchLimits
from cimento.paradigms import Score
from cimento.testing.models import uniform_scorer
from tests.helpers import plain, zoo
from tests.helpers.judging import make_suite
from tests.helpers.some_slow import some_slow
from tests.helpers.whole_path import load_folder

TOLERANCE_NATS = 1e-5
TEXTS = plain.TEXTS[1:5]
# What is between the last layer and the head, by what the architectures are known to have.
HEADS = {
    "gpt2": lambda model, state: model.lm_head(model.transformer.ln_f(state)),
    "llama": lambda model, state: model.lm_head(model.model.norm(state)),
    "gpt_neox": lambda model, state: model.get_output_embeddings()(
        model.gpt_neox.final_layer_norm(state)
    ),
}
MASKED_HEADS = {
    "bert": lambda model, state: model.cls(state),
    "xlm-roberta": lambda model, state: model.lm_head(state),
    "modernbert": lambda model, state: model.decoder(model.head(model.model.final_norm(state))),
}


def asked(scorer, texts, columns=(ALL_LAYERS,), policy=None, cache=None):
    requests = [Score(text) for text in texts]
    kept = cache or MemoryCache()
    return ask(requests, scorer, policy=policy or Policy(), cache=kept, columns=columns)


@pytest.mark.slow
@pytest.mark.parametrize("name", some_slow([*zoo.SPECIES, *zoo.ENCODER_DECODERS], quick=5))
def test_the_last_layer_has_the_ordinary_scores(name, zoo_folder):
    table = asked(load_folder(zoo_folder(name)), TEXTS)

    names = [column for column in table.columns if column.startswith(LAYER)]
    assert names == [layer_column(number) for number in range(3)]
    ordinary, last = table["logprob_nats"], table[layer_column(2)]
    assert last.to_list() == [
        None if value is None else pytest.approx(value, abs=TOLERANCE_NATS) for value in ordinary
    ]
    # The others are other scores.
    for number in (0, 1):
        assert (table[layer_column(number)] - ordinary).abs().max() > 1e-2


def hidden_states(model, ids):
    with torch.no_grad():
        return model(input_ids=torch.tensor([ids]), output_hidden_states=True).hidden_states


@pytest.mark.slow
@pytest.mark.parametrize("name", HEADS)
def test_a_causal_models_layers_go_through_norm_and_head(name, zoo_folder):
    folder = zoo_folder(name)
    model = AutoModelForCausalLM.from_pretrained(folder)
    kind = zoo.TOKENIZERS[zoo.SPECIES[name].tokenizer]
    start = zoo.tokenizer(zoo.SPECIES[name].tokenizer).convert_tokens_to_ids(list(kind.before))

    table = asked(load_folder(folder), TEXTS)

    for number, text in enumerate(TEXTS):
        ids = [*start, *plain.tokens_of(folder, text).ids]
        states = hidden_states(model, ids)
        rows = table.filter(request=number).sort("position")
        for layer in (0, 1):
            with torch.no_grad():
                logprobs = HEADS[name](model, states[layer])[0].log_softmax(-1)
            expected = [logprobs[i - 1, ids[i]].item() for i in range(1, len(ids))]
            assert rows[layer_column(layer)].to_list() == pytest.approx(
                expected, abs=TOLERANCE_NATS
            )


@pytest.mark.slow
@pytest.mark.parametrize("name", MASKED_HEADS)
def test_a_masked_models_layers_go_through_its_head(name, zoo_folder):
    folder = zoo_folder(name)
    model = AutoModelForMaskedLM.from_pretrained(folder)
    species = zoo.SPECIES[name].tokenizer
    tokenizer, kind = zoo.tokenizer(species), zoo.TOKENIZERS[species]
    before, after = (tokenizer.convert_tokens_to_ids(list(s)) for s in (kind.before, kind.after))
    policy = Policy(pll="original")
    in_text = plain.tokens_of(folder, TEXTS[0]).ids

    table = asked(load_folder(folder, policy), TEXTS[:1], policy=policy).sort("position")

    for index, token in enumerate(in_text):
        ids = [*before, *in_text, *after]
        ids[len(before) + index] = tokenizer.mask_token_id
        states = hidden_states(model, ids)
        for layer in (0, 1):
            with torch.no_grad():
                logprobs = MASKED_HEADS[name](model, states[layer])[0].log_softmax(-1)
            expected = logprobs[len(before) + index, token].item()
            assert table[layer_column(layer)][index] == pytest.approx(expected, abs=TOLERANCE_NATS)


@pytest.mark.slow
@pytest.mark.parametrize("largest", [300, 16_000_000])
def test_all_ways_through_the_batch_agree(largest, monkeypatch, zoo_folder):
    """Trees and rows; the head on a row at a time; padded, and layers with all positions."""
    monkeypatch.setitem(heads.MAX_LOGITS, "cpu", largest)
    scorer = load_folder(zoo_folder("llama"))
    model = AutoModelForCausalLM.from_pretrained(zoo_folder("llama"))
    encoded = scorer.encode([Score(text) for text in TEXTS])
    columns = (layer_column(1), "rank", layer_column(0))
    ways = [
        np.concatenate(
            CausalScoring(
                Passes(model=model, layout=layout, limits=BatchLimits(tokens=200)),
                packing=packing,
                columns=columns,
            ).score(encoded)
        )
        for layout in (ModelLayout(thin="head", pad=True), LAYOUTS[-1])
        for packing in (True, False)
    ]

    assert ways[0].shape[1] == 4
    for other in ways[1:]:
        np.testing.assert_allclose(other, ways[0], atol=TOLERANCE_NATS, rtol=0)


def test_boundaries_and_layers_go_together(zoo_folder):
    policy = Policy(boundary="auto")
    scorer = load_folder(zoo_folder("gpt2"), policy)

    both = asked(scorer, TEXTS, ("rank", layer_column(2)), policy)
    without = asked(scorer, TEXTS, (), policy)

    assert both.columns[-3:] == ["rank", "boundary_nats", layer_column(2)]
    assert both["boundary_nats"].to_list() == pytest.approx(
        without["boundary_nats"].to_list(), abs=TOLERANCE_NATS
    )
    difference = (both[layer_column(2)] - both["logprob_nats"]).abs().max()
    assert difference <= TOLERANCE_NATS


def test_a_run_stores_them_and_a_second_one_knows_them(zoo_folder, tmp_path):
    suite = make_suite(["(2;%a%) < (2;%b%)"], [{"a": "Le zie | cantano.", "b": "Le zie | canta."}])
    folder = str(zoo_folder("gpt2"))
    cache = FileCache(tmp_path / "cache")
    try:
        evaluate(
            suite,
            folder,
            store="rank",
            layers="all",
            device="cpu",
            output=tmp_path / "runs",
            cache=cache,
        )
        kept = cache._connection.execute("SELECT count(*) FROM sealed").fetchone()[0]
        again = asked(
            load_folder(zoo_folder("gpt2")), ["Le zie cantano."], ("rank", layer_column(1)),
            cache=cache,
        )  # fmt: skip
        assert cache.verify() == []
    finally:
        cache.close()

    [run] = open_runs(tmp_path / "runs")
    stored = run.table("tokens")
    assert stored.columns[-4:] == ["rank", *(layer_column(number) for number in range(3))]
    assert stored[layer_column(0)].dtype == pl.Float64
    # Two sentences, each with its log-probabilities, ranks and three layers.
    assert kept == 10
    one = stored.filter(request=0).join(again, on="position")
    assert one[layer_column(1)].to_list() == one[f"{layer_column(1)}_right"].to_list()


def test_layers_by_name():
    assert parse_layers("") == ()
    assert parse_layers("all") == (ALL_LAYERS,)
    assert parse_layers("12, 0,3,3") == tuple(layer_column(number) for number in (0, 3, 12))
    assert [layer_of(column) for column in (layer_column(11), "rank")] == [11, None]
    for wrong in ("last", "-1", "1.5"):
        with pytest.raises(UsageError, match="not a number of a layer"):
            parse_layers(wrong)


def test_what_cannot_be_had_is_refused(zoo_folder):
    with pytest.raises(UsageError, match=r"has no layer 3\. It has the layers 0 to 2"):
        asked(load_folder(zoo_folder("gpt2")), TEXTS[:1], (layer_column(3),))
    with pytest.raises(UsageError, match="does not show its layers"):
        asked(uniform_scorer(10), TEXTS[:1])


def test_the_command_prints_them(zoo_folder, tmp_path, capsys):
    file = tmp_path / "texts.txt"
    file.write_text("Le zie cantano.\n", encoding="utf-8")

    assert invoke(["score", str(file), "-m", str(zoo_folder("bert")), "--layers", "0,2"]) == 0

    header, *rows = capsys.readouterr().out.splitlines()
    assert header.split("\t")[-2:] == [layer_column(0), layer_column(2)]
    for row in rows:
        bits, last = float(row.split("\t")[3]), float(row.split("\t")[-1])
        assert -last / np.log(2) == pytest.approx(bits, abs=1e-4)
    assert invoke(["score", str(file), "-m", str(zoo_folder("bert")), "--layers", "x"]) == 2


def test_a_forward_pass_of_a_modules_own_comes_back():
    """As accelerate gives modules of models that lie on several devices."""
    module = torch.nn.Linear(2, 2)
    with Replacement(module, "answer"):
        assert module(torch.zeros(2)) == "answer"
    assert "forward" not in vars(module)
    module.forward = forward = lambda _input: "own"
    with Replacement(module, "answer"):
        assert module(torch.zeros(2)) == "answer"
    assert module.forward is forward


def test_memory_that_runs_out_loses_no_layer(zoo_folder, monkeypatch):
    """Also where it runs out while a layer is read."""
    expected = asked(load_folder(zoo_folder("llama")), TEXTS)
    scorer = load_folder(zoo_folder("llama"))
    read = Layers.logits
    refused = []

    def narrow(self, state):
        if len(state) > 64:
            refused.append(len(state))
            raise torch.OutOfMemoryError
        return read(self, state)

    monkeypatch.setattr(Layers, "logits", narrow)
    table = asked(scorer, TEXTS)

    assert refused
    for column in expected.columns:
        if column.startswith("logprob"):
            assert table[column].to_list() == pytest.approx(
                expected[column].to_list(), abs=TOLERANCE_NATS
            )


class Listless(torch.nn.Module):
    """A model without layers: every token is followed by itself."""

    def __init__(self, config, *, mixing=False):
        super().__init__()
        self.config, self.base_model = config, self
        self.device, self.dtype = torch.device("cpu"), torch.float32
        self.table = torch.nn.Embedding(config.vocab_size, config.vocab_size)
        layers = [torch.nn.Linear(config.vocab_size, config.vocab_size)] if mixing else []
        self.layers = torch.nn.ModuleList(layers)

    def forward(self, input_ids):
        hidden = self.table(input_ids)
        for layer in self.layers:
            hidden = layer(hidden)
        return CausalLMOutput(logits=hidden if not self.layers else hidden.roll(1, dims=1))


@pytest.mark.parametrize(
    ("mixing", "message"),
    [(False, "no list of layers"), (True, "does not give its own scores")],
)
def test_a_model_whose_layers_cannot_be_read_is_refused(mixing, message):
    """The second one moves positions after its last layer."""
    with pytest.raises(ModelError, match=message):
        Layers(Listless(zoo.model("gpt2").config, mixing=mixing))


def test_words_have_no_layers(zoo_folder):
    with pytest.raises(UsageError, match="words have no columns"):
        score_texts(
            ["Sì."], str(zoo_folder("gpt2")), asking=Asking(columns=(ALL_LAYERS,)), words=True
        )

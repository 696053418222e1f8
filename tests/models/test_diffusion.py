"""Masked diffusion models, against sums over all sets of masked tokens of a tiny model."""

from __future__ import annotations

import itertools
import json
import math
from functools import cache

import numpy as np
import pytest
import torch
from scipy import stats
from transformers import AutoModelForMaskedLM

from cimento import Asking, Policy, UsageError, cite, evaluate, pairs, score
from cimento.cli.main import invoke
from cimento.engine.cache import MemoryCache
from cimento.io.tables import REPLICATES, replicate_columns
from cimento.measures.errors import half_widths
from cimento.models.hf import copies
from cimento.models.hf.diffusion import draw_masks
from cimento.paradigms.regions.judging import scores_of
from cimento.paradigms.regions.predictions import UNDECIDED
from cimento.paradigms.regions.remarks import monte_carlo_remarks
from tests.helpers import zoo
from tests.helpers.suites_on_disk import write_folder

NAME = "bert-cased"
TEXT = "Il gatto"
SUITE = pairs(
    [
        ("Il gatto dorme.", "Il gatto dormono."),
        ("Le foglie cadono.", "Le foglie cade."),
        ("La casa è rossa.", "La casa sono rossa."),
        ("I cani corrono.", "I cani corre."),
    ],
    name="diffusion",
    language="it",
)
KIND = {"kind": "diffusion", "device": "cpu"}


@cache
def all_subsets(folder):
    """ln P of each token in each set of masked tokens of TEXT, by single passes of transformers."""
    model = AutoModelForMaskedLM.from_pretrained(folder).eval()
    tokenizer = zoo.tokenizer(zoo.SPECIES[NAME].tokenizer)
    ids = tokenizer(TEXT)["input_ids"]
    places = range(1, len(ids) - 1)  # between [CLS] and [SEP]
    table = {}
    for size in range(1, len(places) + 1):
        for hidden in itertools.combinations(places, size):
            copy = [tokenizer.mask_token_id if n in hidden else i for n, i in enumerate(ids)]
            with torch.no_grad():
                logprobs = model(torch.tensor([copy])).logits[0].double().log_softmax(-1)
            table[hidden] = {n: logprobs[n, ids[n]].item() for n in hidden}
    return list(places), table


def exact(folder):
    """The proportion of each token in eq. 6 of Nie et al. 2025, summed over all sets."""
    places, table = all_subsets(folder)
    length = len(places)
    shares = dict.fromkeys(places, 0.0)
    for hidden, logprobs in table.items():
        size = len(hidden)
        probability = 1 / length / math.comb(length, size)
        for place, logprob in logprobs.items():
            shares[place] += probability * length / size * logprob
    return [shares[place] for place in places]


def estimated(folder, *, samples, seed):
    """The proportion of each token in each replicate, from the masks and the sums over all sets."""
    places, table = all_subsets(folder)
    masks = draw_masks(len(places), samples=samples, seed=seed)
    shares = np.zeros((REPLICATES, len(places)))
    for sample, (hidden, weight) in enumerate(zip(masks.hidden, masks.weights, strict=True)):
        chosen = tuple(place for place, masked in zip(places, hidden, strict=True) if masked)
        for place, logprob in table[chosen].items():
            shares[sample * REPLICATES // samples, places.index(place)] += weight * logprob
    return shares


def test_the_text_is_short_enough_for_all_sets(zoo_folder):
    places, table = all_subsets(zoo_folder(NAME))
    assert 4 <= len(places) <= 6
    assert len(table) == 2 ** len(places) - 1


def test_scores_are_the_weighted_sums_over_the_drawn_masks(zoo_folder):
    folder = zoo_folder(NAME)
    suite = pairs([(TEXT, "I cani")], name="one", language="it")
    run = evaluate(suite, str(folder), mc_samples=64, mc_seed=5, **KIND)
    tokens = run.table("tokens").filter(run.table("tokens")["request"] == 0)

    shares = estimated(folder, samples=64, seed=5)
    for number, column in enumerate(replicate_columns()):
        assert tokens[column].to_list() == pytest.approx(shares[number].tolist(), abs=1e-5)
    assert tokens["logprob_nats"].to_list() == pytest.approx(shares.mean(0).tolist(), abs=1e-5)
    asked = run.manifest["asking"]["policy"]
    assert (asked["mc_samples"], asked["mc_seed"]) == (64, 5)


@pytest.mark.parametrize("samples", [8, 40])
def test_estimates_are_unbiased(zoo_folder, samples):
    """Over 400 seeds, the mean of each token's share is within four standard errors."""
    folder = zoo_folder(NAME)
    shares = np.array([estimated(folder, samples=samples, seed=s).mean(0) for s in range(400)])
    error = shares.std(0, ddof=1) / 20
    assert (np.abs(shares.mean(0) - exact(folder)) < 4 * error).all()
    total = shares.sum(1)
    assert abs(total.mean() - sum(exact(folder))) < 4 * total.std(ddof=1) / 20


@pytest.mark.slow
def test_the_interval_holds_the_exact_value_in_95_of_100_samples(zoo_folder):
    """Of 400 intervals, 362 to 394 cover with a probability of 99.9% (binomial)."""
    folder = zoo_folder(NAME)
    low, high = stats.binom.interval(0.999, 400, 0.95)
    covered = 0
    for seed in range(400):
        sums = estimated(folder, samples=64, seed=seed).sum(1)
        half = half_widths([np.array([value]) for value in sums])[0]
        reference = stats.t.interval(0.95, 7, loc=sums.mean(), scale=stats.sem(sums))
        assert sums.mean() + half == pytest.approx(reference[1])
        covered += abs(sums.mean() - sum(exact(folder))) <= half
    assert low <= covered <= high


def test_the_number_of_masked_tokens_is_uniform():
    numbers = [draw_masks(5, samples=80, seed=s).hidden.sum(1) for s in range(100)]
    counts = np.bincount(np.concatenate(numbers), minlength=6)[1:]
    # In each replicate two of ten samples have each number, or one more or less.
    assert counts.sum() == 8000
    assert np.abs(counts - 1600).max() < 100


@pytest.mark.slow
def test_scores_depend_on_the_seed_and_not_on_the_batch(zoo_folder):
    folder = str(zoo_folder(NAME))

    def scores(**options):
        return evaluate(SUITE, folder, **KIND, **options).table("tokens")["logprob_nats"].to_numpy()

    first = scores()
    assert (first == scores()).all()
    assert np.abs(first - scores(batch_size=1)).max() < 1e-5
    assert np.abs(first - scores(mc_seed=1)).max() > 1e-2
    digests = {
        Asking(policy=Policy(**more)).digest() for more in ({}, {"mc_seed": 1}, {"mc_samples": 64})
    }
    assert len(digests) == 3


def test_margins_within_their_error_are_undecided(zoo_folder):
    run = evaluate(SUITE, str(zoo_folder(NAME)), mc_samples=8, **KIND)
    tokens, outcomes = run.table("tokens"), run.outcomes()
    margins = []
    for column in replicate_columns():
        sums = tokens.group_by("request", maintain_order=True).agg(total=tokens[column].sum())
        by_text = {
            request: tokens.filter(tokens["request"] == request)[column].sum()
            for request in sums["request"]
        }
        margins.append([(by_text[2 * n] - by_text[2 * n + 1]) / math.log(2) for n in range(4)])
    margins = np.array(margins)
    error = stats.t.ppf(0.975, 7) * stats.sem(margins)

    assert outcomes["value"].to_list() == pytest.approx(margins.mean(0).tolist(), abs=1e-9)
    is_open = np.abs(margins.mean(0)) <= error
    assert 0 < is_open.sum() < 4
    assert (outcomes["verdict"] == "unscored").to_list() == is_open.tolist()
    assert outcomes["right"].is_null().to_list() == is_open.tolist()
    assert [reason == UNDECIDED for reason in outcomes["reason"]] == is_open.tolist()
    assert f"{is_open.sum()} of 4 verdicts" in " ".join(monte_carlo_remarks(run))
    assert "likelihood bound (Nie et al. 2025)" in cite(run, "methods")
    assert "from 8 random sets of masked tokens (seed 0)" in cite(run, "appendix")


def test_each_likelihood_has_an_interval(zoo_folder):
    run = evaluate(SUITE, str(zoo_folder(NAME)), mc_samples=32, **KIND)
    table = scores_of(run, ["lp", "meanlp", "ppl", "pppl"])
    tokens = run.table("tokens").filter(run.table("tokens")["request"] == 0)
    sums = [tokens[column].sum() for column in replicate_columns()]
    half = stats.t.ppf(0.975, 7) * stats.sem(sums)
    assert table["monte_carlo_error"][0] == pytest.approx(half, rel=1e-9)
    assert table["monte_carlo_error"][1] == pytest.approx(half / len(tokens), rel=1e-9)
    assert table["value"][2] == pytest.approx(math.exp(-tokens["logprob_nats"].mean()))
    assert table["value"][3] is None


def test_answers_are_kept(zoo_folder, tmp_path, monkeypatch):
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))
    suite = write_folder(tmp_path / "lampade")
    command = ["run", str(suite), "-m", str(zoo_folder(NAME)), "--kind", "diffusion"]
    command += ["--mc-samples", "16", "-o", str(tmp_path / "runs"), "--device", "cpu"]
    code = invoke(command)
    assert code in (0, 3)  # 3: every margin is within its error

    def never(*_, **__):
        raise AssertionError("the model was asked again")

    monkeypatch.setattr(copies.MaskedScoring, "add", never)
    assert invoke([*command, "--force"]) == code


def test_a_context_is_read_and_never_masked(zoo_folder):
    """The same tokens as one text and as context and text: other sets, and other answers kept."""
    folder, cache = str(zoo_folder(NAME)), MemoryCache()
    words = {"level": "word", "mc_samples": 512, **KIND}
    whole = score("Il gatto", folder, cache=cache, **words)
    after = score("gatto", folder, contexts="Il", cache=cache, **words)
    assert after.equals(score("gatto", folder, contexts="Il", **words))
    assert after["word"].to_list() == ["gatto"]

    places, table = all_subsets(zoo_folder(NAME))
    in_text = places[2:]  # "Il" is the first two tokens
    length, expected = len(in_text), 0.0
    for hidden, logprobs in table.items():
        if set(hidden) <= set(in_text):
            probability = 1 / length / math.comb(length, len(hidden))
            expected += probability * length / len(hidden) * sum(logprobs.values())
    bits, error = after["surprisal_bits"][0], after["monte_carlo_error"][0]
    assert abs(bits + expected / math.log(2)) < 2 * error
    assert abs(bits - whole["surprisal_bits"][1]) > 2 * error


def test_the_mask_token_may_be_named_by_the_config(zoo_folder, tmp_path):
    tokenizer = zoo.tokenizer(zoo.SPECIES[NAME].tokenizer)
    model = zoo.model(NAME)
    model.config.mask_token_id = tokenizer.mask_token_id
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    named = json.loads((tmp_path / "tokenizer_config.json").read_text(encoding="utf-8"))
    named.pop("mask_token")
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(named), encoding="utf-8")
    columns = ["token_id", "logprob_nats"]
    first, second = (
        evaluate(SUITE, str(folder), mc_samples=8, **KIND).table("tokens")[columns]
        for folder in (zoo_folder(NAME), tmp_path)
    )
    assert first.equals(second)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"window": "sliding"}, "reads texts whole"),
        ({"store": "rank"}, "many passes"),
        ({"layers": "all"}, "many passes"),
        ({"mc_samples": 12}, "multiple of 8"),
    ],
)
def test_what_has_no_meaning_is_refused(zoo_folder, options, said):
    with pytest.raises(UsageError, match=said):
        score(TEXT, str(zoo_folder(NAME)), **KIND, **options)


def test_scores_of_free_texts_have_their_errors(zoo_folder):
    table = score(TEXT, str(zoo_folder(NAME)), level="sentence", mc_samples=64, **KIND)
    sums = estimated(zoo_folder(NAME), samples=64, seed=0).sum(1) / math.log(2)
    assert table["surprisal_bits"][0] == pytest.approx(-sums.mean(), abs=1e-4)
    error = stats.t.ppf(0.975, 7) * stats.sem(sums)
    assert table["monte_carlo_error"][0] == pytest.approx(error, abs=1e-4)


CODE = """
import torch
from transformers import PretrainedConfig, PreTrainedModel
from transformers.modeling_outputs import MaskedLMOutput


class TinyConfig(PretrainedConfig):
    model_type = "tiny-diffusion"

    def __init__(self, vocab_size=300, hidden_size=16, mask_token_id=4, **more):
        self.vocab_size, self.hidden_size = vocab_size, hidden_size
        self.mask_token_id = mask_token_id
        super().__init__(**more)


class TinyModel(PreTrainedModel):
    config_class = TinyConfig

    def __init__(self, config):
        super().__init__(config)
        self.embed = torch.nn.Embedding(config.vocab_size, config.hidden_size)
        self.mix = torch.nn.Linear(config.hidden_size, config.hidden_size)
        self.head = torch.nn.Linear(config.hidden_size, config.vocab_size)
        self.post_init()

    def get_input_embeddings(self):
        return self.embed

    def forward(self, input_ids, attention_mask=None, **_):
        hidden = self.embed(input_ids)
        hidden = torch.tanh(self.mix(hidden) + hidden.mean(dim=1, keepdim=True))
        return MaskedLMOutput(logits=self.head(hidden))
"""


def test_a_model_that_brings_its_code_is_loaded_as_the_class_that_it_names(tmp_path):
    """As LLaDA does, it is listed as a causal model and names its mask token in the config."""
    tokenizer = zoo.tokenizer("wordpiece-cased")
    space = {"__name__": "modeling_tiny"}
    exec(CODE, space)  # noqa: S102  # the module that is written below
    torch.manual_seed(1)
    config = space["TinyConfig"](vocab_size=len(tokenizer), mask_token_id=tokenizer.mask_token_id)
    model = space["TinyModel"](config).eval()
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    (tmp_path / "modeling_tiny.py").write_text(CODE, encoding="utf-8")
    stored = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
    stored["auto_map"] = {
        "AutoConfig": "modeling_tiny.TinyConfig",
        "AutoModelForCausalLM": "modeling_tiny.TinyModel",
    }
    (tmp_path / "config.json").write_text(json.dumps(stored), encoding="utf-8")

    table = score("I", str(tmp_path), trust_remote_code=True, **KIND)
    [before, token, after] = tokenizer("I")["input_ids"]
    with torch.no_grad():
        ids = torch.tensor([[before, tokenizer.mask_token_id, after]])
        bits = -model(ids).logits[0, 1].double().log_softmax(-1)[token].item() / math.log(2)
    # A text of one token has one set of masked tokens, so that there is no noise.
    assert table["surprisal_bits"].to_list() == [pytest.approx(bits, abs=1e-5)]
    assert table["monte_carlo_error"].to_list() == [0.0]

"""Corrections for word boundaries: golden values, and sums over all words of toy models."""

from __future__ import annotations

import itertools
import json
import math

import pytest
import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    PretrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)
from transformers.modeling_outputs import CausalLMOutput

from cimento import Policy, UsageError, evaluate
from cimento.evaluation.freetext import score_texts
from cimento.measures import surprisal_bits
from cimento.models.base import ModelCard
from cimento.models.hf.causal import CausalScorer
from cimento.models.settings import BatchLimits
from cimento.paradigms import Score
from cimento.paradigms.regions.judging import values_of
from tests.helpers import zoo
from tests.helpers.judging import make_suite

SPECIAL = {"bos_token": "<bos>", "eos_token": "<eos>"}
STARTS = ("▁a", "▁b", "a", "b", "<eos>", "<bos>")
ENDS = ("a</w>", "b</w>", "a", "b", "<eos>", "<bos>")


def toy_tokenizer(vocabulary=STARTS, pattern="▁?[ab]"):
    """One token for each letter, with the mark where the vocabulary has it."""
    numbers = {token: number for number, token in enumerate(vocabulary)}
    tokenizer = Tokenizer(models.WordLevel(numbers, unk_token=SPECIAL["eos_token"]))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Metaspace(prepend_scheme="never", split=False),
            pre_tokenizers.Split(Regex(pattern), "isolated"),
        ]
    )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **SPECIAL)


def ending_tokenizer():
    """Letters a and b; the last of a word has a mark at its end."""
    tokenizer = Tokenizer(
        models.BPE(
            {token: number for number, token in enumerate(ENDS)},
            [],
            end_of_word_suffix="</w>",
        )
    )
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.decoder = decoders.BPEDecoder(suffix="</w>")
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **SPECIAL)


class Bigrams(PreTrainedModel):
    """A model whose next token depends on the last one alone, by a table."""

    config_class = PretrainedConfig

    def __init__(self, config, probabilities):
        super().__init__(config)
        table = torch.log(torch.tensor(probabilities, dtype=torch.float64))
        self.table = torch.nn.Embedding.from_pretrained(table)

    def get_input_embeddings(self):
        return self.table

    def forward(self, input_ids, **_others):
        return CausalLMOutput(logits=self.table(input_ids))


def random_gpt2(vocabulary=STARTS, seed=0):
    config = GPT2Config(
        vocab_size=len(vocabulary), n_positions=24, n_embd=16, n_layer=2, n_head=2,
        bos_token_id=vocabulary.index("<bos>"), eos_token_id=vocabulary.index("<eos>"),
    )  # fmt: skip
    model = GPT2LMHeadModel(config).eval().double()
    zoo.fill(model, scale=0.8, seed=seed)
    return model


def scorer_of(model, tokenizer, **policy):
    card = ModelCard(name="toy", kind="causal", revision="0" * 40, tokenizer="toy", window=24)
    return CausalScorer(
        model,
        tokenizer,
        card=card,
        policy=Policy(**{"boundary": "auto", **policy}),
        limits=BatchLimits(tokens=256),
    )


@pytest.fixture
def recipe(shared):
    path = shared / "golden" / "syntaxgym" / "recipe" / "bow_correction_vectors.json"
    return json.loads(path.read_text(encoding="utf-8"))


def golden_model(recipe):
    """The toy model of the published values; nothing follows <eos>, nothing leads to <bos>."""
    rows = []
    for token in STARTS:
        name = token.replace("▁", "Ġ")
        known = recipe["next_token_probabilities"].get(name, [0.2] * 5)
        rows.append([*known, 1e-30])
    return Bigrams(PretrainedConfig(vocab_size=len(STARTS)), rows)


@pytest.mark.golden
def test_words_have_the_published_values(recipe):
    scorer = scorer_of(golden_model(recipe), toy_tokenizer())
    assert scorer.card.boundary == "word-start"
    assert len(recipe["cases"]) == 5
    for case in recipe["cases"]:
        text = " ".join(case["words"])

        corrected = score_texts([text], scorer, words=True)
        naive = score_texts(
            [text], scorer_of(golden_model(recipe), toy_tokenizer(), boundary="none"), words=True
        )

        assert corrected["word"].to_list() == case["words"]
        assert corrected["surprisal_bits"].to_list() == pytest.approx(
            case["pimentel_meister_bits"], abs=1e-9
        )
        expected = [surprisal_bits(-value) for value in case["naive_nats"]]
        assert naive["surprisal_bits"].to_list() == pytest.approx(expected, abs=1e-9)


@pytest.mark.golden
def test_without_eos_and_with_the_first_word_undivided_words_have_the_values_of_minicons(recipe):
    scorer = scorer_of(
        golden_model(recipe),
        toy_tokenizer(),
        boundary_eos=False,
        boundary_first="none",
        punctuation="keep",
    )
    assert scorer.card.details["boundary_eos"] == ""
    for case in recipe["cases"]:
        bits = score_texts([" ".join(case["words"])], scorer, words=True)["surprisal_bits"]

        expected = [surprisal_bits(-value) for value in case["minicons_bow_correction_nats"]]
        assert bits.to_list() == pytest.approx(expected, abs=1e-9)


@pytest.mark.golden
def test_the_ratio_of_two_regions_is_that_of_their_words(recipe):
    """Worked out from the published tables; what comes before the two is the same."""
    scorer = scorer_of(golden_model(recipe), toy_tokenizer())
    suite = make_suite(["(2;%x%) < (2;%y%)"], [{"x": "ab | ba", "y": "ab | b"}])
    run = evaluate(suite, scorer)
    values = values_of(run, metric="sum").values["1"]
    z, p = recipe["Z_bow_or_eos"], recipe["next_token_probabilities"]
    ba, b = p["b"][1] * p["Ġb"][2] * z["a"], p["b"][1] * z["Ġb"]
    difference = values["y"][1] - values["x"][1]
    assert 1 / (1 + math.exp(-difference)) == pytest.approx(ba / (ba + b), abs=1e-9)


WORDS = ["".join(letters) for n in range(1, 6) for letters in itertools.product("ab", repeat=n)]


@pytest.mark.slow
@pytest.mark.parametrize("context", ["", "ab", "b a"])
def test_the_probabilities_of_all_words_and_of_the_end_sum_to_one(context):
    model, tokenizer = random_gpt2(), toy_tokenizer()
    scorer = scorer_of(model, tokenizer)
    table = score_texts(WORDS, scorer, words=True, contexts=[context] * len(WORDS))
    naive = score_texts(
        WORDS,
        scorer_of(model, tokenizer, boundary="none"),
        words=True,
        contexts=[context] * len(WORDS),
    )

    # What is left: the end of the text, and the words that are longer still.
    history = [STARTS.index("<bos>"), *tokenizer(context, add_special_tokens=False)["input_ids"]]

    def after(ids):
        with torch.no_grad():
            row = model(input_ids=torch.tensor([ids])).logits[0, -1]
        return dict(zip(STARTS, row.softmax(-1).tolist(), strict=True))

    here = after(history)
    opening = ["▁a", "▁b", "<eos>"] if context else ["a", "b", "<eos>"]
    z = sum(here[token] for token in opening)
    longer = 0.0
    lost = 0.0
    for word in WORDS:
        text = f"{context} {word}" if context else word
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        there = after([history[0], *ids])
        reach = 1.0
        for position in range(len(history), len(ids) + 1):
            reach *= after([history[0], *ids[: position - 1]])[STARTS[ids[position - 1]]]
        if len(word) == 5:
            longer += reach / z * (there["a"] + there["b"])
        lost += reach / z * there["<bos>"]
    total = sum(2.0**-bits for bits in table["surprisal_bits"])
    assert total + here["<eos>"] / z + longer + lost == pytest.approx(1, abs=1e-9)
    assert abs(sum(2.0**-bits for bits in naive["surprisal_bits"]) - total) > 0.01


def test_where_the_ends_are_marked_tokens_are_words():
    model, tokenizer = random_gpt2(ENDS), ending_tokenizer()
    scorer = scorer_of(model, tokenizer)
    assert scorer.card.boundary == "word-end"
    assert scorer.encode([Score(text="ab a")])[0].tokens == (
        "<bos>", "a", "b</w>", "a</w>",
    )  # fmt: skip

    both = [
        score_texts(WORDS, scorer_of(model, tokenizer, boundary=rule), words=True)["surprisal_bits"]
        for rule in ("word-end", "none")
    ]

    assert both[0].to_list() == pytest.approx(both[1].to_list(), abs=1e-12)


def test_a_text_as_long_as_the_window_has_its_last_term():
    scorer = scorer_of(random_gpt2(), toy_tokenizer())
    text = "ab" * 11 + "a"
    assert len(scorer.encode([Score(text=text)])[0].ids) == scorer.card.window

    [bits] = score_texts([text], scorer, words=True)["surprisal_bits"]

    assert math.isfinite(bits)


def test_terms_of_long_texts_cancel_from_window_to_window():
    model, tokenizer = random_gpt2(), toy_tokenizer()
    policy = {"window": "sliding", "stride": 6}
    scorer = scorer_of(model, tokenizer, **policy)
    text = "ab ba " * 8 + "b"

    tokens = score_texts([text], scorer)

    ids = [STARTS.index("<bos>"), *tokenizer(text, add_special_tokens=False)["input_ids"]]
    assert len(ids) > 24
    opening = [0, 1, 4]

    def log_z(index):
        begin = 0 if index < 24 else math.ceil((index + 1 - 24) / 6) * 6
        with torch.no_grad():
            row = model(input_ids=torch.tensor([ids[begin:index]])).logits[0, -1].softmax(-1)
        return math.log(row[[2, 3, 4] if index == 1 else opening].sum().item())

    assert tokens["boundary_nats"].sum() == pytest.approx(log_z(1) - log_z(len(ids)), abs=1e-9)


def test_a_tokenizer_that_marks_nothing_is_left_alone_and_said_so():
    assert scorer_of(random_gpt2(), toy_tokenizer()).remarks([]) == ()
    plainly = toy_tokenizer(("a", "b", "c", "d", "<eos>", "<bos>"), pattern="[abcd]")
    unmarked = scorer_of(random_gpt2(), plainly)

    assert unmarked.card.boundary == ""
    assert "not corrected" in unmarked.remarks([])[0]
    with pytest.raises(UsageError, match="marks nothing"):
        scorer_of(random_gpt2(), plainly, boundary="word-start")
    with pytest.raises(UsageError, match="marks ends"):
        scorer_of(random_gpt2(ENDS), ending_tokenizer(), boundary="word-start")

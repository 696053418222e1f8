"""Measures of sentences: every one in closed form, and against golden values."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import UsageError
from cimento.io.values import UndefinedValueError
from cimento.measures import (
    MEASURES,
    NoValue,
    Sentence,
    columns_needed,
    corpus_perplexity,
    find_measure,
    find_measures,
    judged_on,
)
from cimento.measures.normalizing import TokenCounts
from cimento.measures.sentence import length_penalty, log_sigmoid

HALF, QUARTER = math.log(1 / 2), math.log(1 / 4)

# Three tokens with P = 1/2, 1/4, 1/4: LP = -5 ln 2. Two words, ten characters. Raw outputs 0
# (sigmoid 1/2) where the whole vocabulary's sigmoids sum to 2. Unigrams: 1/4, 1/8, 1/8.
KNOWN = Sentence(
    logprobs_nats=(HALF, QUARTER, QUARTER),
    n_words=2,
    n_chars=10,
    n_bytes=20,
    logits=(0.0, 0.0, 0.0),
    log_sigmoid_sums_nats=(math.log(2),) * 3,
    unigram_logprobs_nats=(QUARTER, math.log(1 / 8), math.log(1 / 8)),
)
LN2 = math.log(2)
CLOSED_FORMS = {
    "lp": -5 * LN2,
    "surprisal-nats": 5 * LN2,
    "surprisal-bits": 5.0,
    "meanlp": -5 * LN2 / 3,
    "mean-word": -5 * LN2 / 2,
    "mean-char": -LN2 / 2,
    "bits-per-token": 5 / 3,
    "bits-per-byte": 1 / 4,
    "ppl": 2 ** (5 / 3),
    "pppl": 2 ** (5 / 3),
    "penlp": -5 * LN2 / (8 / 6) ** 0.8,
    "normlp": -5 / 8,
    "slor": LN2,
    "lp-l": -3 * LN2,
    "penlp-l": -3 * LN2 / (8 / 6) ** 0.8,
    "lp-nl": -6 * LN2,
}


def test_every_measure_has_a_closed_form_here():
    assert CLOSED_FORMS.keys() == MEASURES.keys()


@pytest.mark.parametrize("name", CLOSED_FORMS)
def test_closed_form(name):
    assert find_measure(name).of(KNOWN) == pytest.approx(CLOSED_FORMS[name], rel=1e-12)


@pytest.mark.parametrize("measure", MEASURES.values(), ids=list(MEASURES))
def test_every_measure_tells_what_it_is(measure):
    assert measure.formula
    assert "doi:" in measure.source or "github.com" in measure.source or "acl" in measure.source
    assert measure.unit.split(" per ")[0] in {"nats", "bits", ""}
    assert (measure.information is None) == (measure.unit == "")
    # The better sentence has the higher log-probability.
    better = Sentence(
        logprobs_nats=(HALF, HALF, QUARTER),
        n_words=2,
        n_chars=10,
        n_bytes=20,
        logits=(1.0, 0.0, 0.0),
        log_sigmoid_sums_nats=KNOWN.log_sigmoid_sums_nats,
        unigram_logprobs_nats=KNOWN.unigram_logprobs_nats,
    )
    assert (measure.of(better) > measure.of(KNOWN)) == measure.higher_is_better


def test_the_table_of_measures_in_the_docs_is_the_registry():
    text = (Path(__file__).parents[2] / "docs" / "measures.md").read_text(encoding="utf-8")
    for measure in MEASURES.values():
        names = ", ".join(f"`{name}`" for name in (measure.name, *measure.aliases))
        better = "higher" if measure.higher_is_better else "lower"
        cells = (names, measure.formula, measure.unit or "-", better, measure.undefined or "-")
        assert f"| {' | '.join(cells)} | {measure.source} |" in text


def test_measures_are_found_by_name_alias_and_alpha():
    assert find_measure("sum") is MEASURES["lp"]
    assert find_measure("PenLP") is MEASURES["penlp"]
    adjusted = find_measure("penlp:0.6")
    assert adjusted.name == "penlp:0.6"
    assert adjusted.of(KNOWN) == pytest.approx(-5 * LN2 / (8 / 6) ** 0.6)
    assert find_measure("penlp:0.80").name == "penlp"
    assert [m.name for m in find_measures(["lp,penlp", "sum", " slor "])] == ["lp", "penlp", "slor"]
    assert judged_on(["regions, lp", "lp"]) == ("", "lp")
    assert columns_needed(["lp-nl", "", "slor"]) == ("logit", "log_sigmoid_sum")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("penpl", "Did you mean 'penlp"),
        ("penlp:many", "'many' is not a positive number"),
        ("penlp:0", "'0' is not a positive number"),
        ("penlp-l:inf", "'inf' is not a positive number"),
        ("slor:2", "slor has no alpha"),
    ],
)
def test_a_measure_that_there_is_not_is_refused(name, said):
    with pytest.raises(UsageError, match=said):
        find_measure(name)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("lp-l", "--store logit"),
        ("penlp-l:1", "--store logit"),
        ("lp-nl", "--store logit"),
        ("normlp", "--unigrams"),
        ("slor", "--unigrams"),
    ],
)
def test_what_is_not_there_is_named(name, reason):
    bare = Sentence(logprobs_nats=(-1.0,), n_words=1, n_chars=1)
    value = find_measure(name).of(bare)
    assert isinstance(value, NoValue)
    assert reason in value.reason


def test_perplexity_is_not_pseudo_perplexity():
    def of(name, *, pseudo):
        sentence = Sentence(logprobs_nats=(HALF,), n_words=1, n_chars=1, pseudo=pseudo)
        return find_measure(name).of(sentence)

    assert (
        of("ppl", pseudo=False)
        == of("pppl", pseudo=True)
        == of("ppl", pseudo=None)
        == pytest.approx(2)
    )
    assert isinstance(of("ppl", pseudo=True), NoValue)
    assert isinstance(of("pppl", pseudo=False), NoValue)


def test_perplexity_of_a_corpus_weighs_sentences_by_their_tokens():
    short = Sentence(logprobs_nats=(math.log(1 / 8),), n_words=1, n_chars=1)
    long = Sentence(logprobs_nats=(0.0, 0.0), n_words=1, n_chars=1)
    assert corpus_perplexity([short, long]) == pytest.approx(2)
    with pytest.raises(UsageError, match="no sentence"):
        corpus_perplexity([])


def test_what_no_number_can_hold_is_undefined():
    impossible = Sentence(logprobs_nats=(-800.0,), n_words=1, n_chars=1)
    assert find_measure("ppl").of(impossible) == NoValue(
        "the perplexity is larger than a 64-bit number can be"
    )
    with pytest.raises(UndefinedValueError):
        corpus_perplexity([impossible])
    certain = Sentence(logprobs_nats=(-1.0,), n_words=1, n_chars=1, unigram_logprobs_nats=(0.0,))
    assert isinstance(find_measure("normlp").of(certain), NoValue)
    assert find_measure("slor").of(certain) == -1
    with pytest.raises(UsageError, match="no token"):
        Sentence(logprobs_nats=(), n_words=1, n_chars=1)


@given(st.floats(-1e300, 1e300))
@settings(deadline=None)
def test_the_log_of_the_logistic_function_is_finite_and_below_zero(logit):
    value = log_sigmoid(logit)
    assert math.isfinite(value)
    assert value <= 0
    assert log_sigmoid(-logit) - value == pytest.approx(-logit, rel=1e-9, abs=1e-9)


@given(st.integers(1, 500), st.floats(0.1, 2))
@settings(deadline=None)
def test_the_penalty_is_1_for_one_token_and_grows(n_tokens, alpha):
    assert length_penalty(1, alpha=alpha) == 1
    assert length_penalty(n_tokens + 1, alpha=alpha) > length_penalty(n_tokens, alpha=alpha)


@pytest.mark.golden
def test_golden_toy_scores(shared):
    golden = json.loads((shared / "golden/islands/toy_scoring.json").read_text(encoding="utf-8"))
    masked = golden["masked_from_logits"]
    logits = [masked["logits_at_masked_position"][i][t] for i, t in enumerate(masked["token_ids"])]
    sums = [
        math.log(math.fsum(1 / (1 + math.exp(-x)) for x in row))
        for row in masked["logits_at_masked_position"]
    ]
    counts = TokenCounts(masked["unigram_counts"], masked["unigram_total"])
    toy = Sentence(
        logprobs_nats=tuple(masked["token_logprob_softmax"]),
        n_words=len(masked["words_of_tokens"]),
        n_chars=len("la gatta dorme?"),
        pseudo=True,
        logits=tuple(logits),
        log_sigmoid_sums_nats=tuple(sums),
        unigram_logprobs_nats=counts.logprobs_nats(masked["tokens"], "la gatta dorme?"),
    )
    named = {
        "lp": "LP_or_PLL",
        "lp-l": "LP-L",
        "lp-nl": "LP_normalised_logistic",
        "meanlp": "MeanLP",
        "pppl": "PPPL",
        "penlp": "PenLP",
        "penlp-l": "PenLP-L",
        "penlp:1": "PenLP_alpha1",
        "normlp": "NormLP",
        "slor": "SLOR",
    }
    for name, key in named.items():
        assert find_measure(name).of(toy) == pytest.approx(masked[key], abs=2e-9), name
    assert length_penalty(4, alpha=0.8) == pytest.approx(masked["penalty_alpha08"], abs=1e-9)
    assert math.fsum(toy.unigram_logprobs_nats) == pytest.approx(masked["unigram_LP"], abs=1e-9)
    assert find_measure("surprisal-bits").of(toy) == pytest.approx(
        math.fsum(masked["token_surprisal_bits"]), abs=1e-8
    )
    for logit, whole, expected, normalized in zip(
        logits,
        sums,
        masked["token_log_sigmoid"],
        masked["token_log_normalised_sigmoid"],
        strict=True,
    ):
        assert log_sigmoid(logit) == pytest.approx(expected, abs=1e-9)
        assert log_sigmoid(logit) - whole == pytest.approx(normalized, abs=1e-9)


@pytest.mark.golden
def test_golden_numerical_traps_and_bigrams(shared):
    golden = json.loads((shared / "golden/islands/toy_scoring.json").read_text(encoding="utf-8"))
    traps, bigram = golden["numerical_traps"], golden["causal_bigram"]
    for logit, expected in zip(traps["logits"], traps["log_sigmoid"], strict=True):
        assert log_sigmoid(logit) == pytest.approx(expected, abs=1e-9)

    table = bigram["conditional_probabilities"]
    before = ["<s>", *bigram["sentence"]]
    chain = [table[a][b] for a, b in zip(before, bigram["sentence"], strict=False)]
    assert chain == bigram["token_probabilities"]
    sentence = Sentence(
        logprobs_nats=tuple(math.log(p) for p in chain), n_words=4, n_chars=7, pseudo=False
    )
    assert find_measure("lp").of(sentence) == pytest.approx(bigram["LP"], abs=1e-9)
    assert find_measure("meanlp").of(sentence) == pytest.approx(-bigram["mean_loss"], abs=1e-9)
    assert find_measure("penlp").of(sentence) == pytest.approx(bigram["PenLP"], abs=1e-9)
    assert find_measure("surprisal-bits").of(sentence) == pytest.approx(
        math.fsum(bigram["surprisal_bits"]), abs=1e-9
    )

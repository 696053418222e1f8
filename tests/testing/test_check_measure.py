"""The conformance kit for measures: cimento's own pass, and each mistake is found by its check."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest

from cimento import Measure, UndefinedValueError, UsageError
from cimento.measures import MEASURES
from cimento.testing import check_measure
from cimento.testing.measures import SENTENCES

ALL = len(SENTENCES)
MEAN = Measure(
    name="mean",
    formula="LP / n",
    unit="nats per token",
    higher_is_better=True,
    source="-",
    function=lambda sentence: math.fsum(sentence.logprobs_nats) / sentence.n_tokens,
    divisor=lambda sentence: sentence.n_tokens,
    function_of="meanlp",
)


def failed(measure: Measure) -> dict[str, str]:
    return {one.name: one.detail for one in check_measure(measure) if not one.passed}


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_of_cimento_passes(name):
    assert failed(MEASURES[name]) == {}


def test_a_plain_measure_passes_all_of_its_checks():
    findings = check_measure(MEAN)
    assert all(finding.passed for finding in findings)
    assert len(findings) >= 10


def raises(_sentence):
    raise KeyError("weights")


def is_undefined(_sentence):
    raise UndefinedValueError(" ")


def reads_unigrams(sentence):
    return math.fsum(sentence.unigram_logprobs_nats)


def counter():
    numbers = itertools.count()
    return lambda _sentence: float(next(numbers))


@pytest.mark.parametrize(
    ("change", "check", "said"),
    [
        ({"name": "Mean Token"}, "its name can be asked for", "lower case"),
        ({"name": "regions"}, "its name can be asked for", "regions"),
        ({"unit": "furlongs"}, "its unit is nats or bits, alone or with a divisor, or empty",
         "furlongs"),
        ({"source": " "}, "it has a formula and a source", "empty: source"),
        ({"function": raises}, "a sentence has a finite number, or there is a reason",
         "it raised KeyError: 'weights'"),
        ({"function": lambda _: math.inf}, "a sentence has a finite number, or there is a reason",
         "it returned inf; where there is no value, raise UndefinedValueError"),
        ({"function": lambda _: None}, "a sentence has a finite number, or there is a reason",
         "it returned None, and must return a number"),
        ({"function": is_undefined}, "a reason is not empty", " "),
        ({"function": is_undefined}, "some sentence has a value", f"0 of {ALL}"),
        ({"function": counter()}, "the same sentence has the same value again", f"{ALL} differ"),
        ({"function": reads_unigrams}, "needs names all that it reads besides log-probabilities",
         f"{ALL} of {ALL} sentences have no value without"),
        ({"function": reads_unigrams, "needs": ("unigrams",)},
         "without unigrams it says that it has no value", "it raised TypeError"),
        ({"needs": ("rank",)}, "what it needs can be read",
         "it needs 'rank'; only 'logit', 'log_sigmoid_sum', 'unigrams' can be read"),
        ({"needs": frozenset({"logit"})}, "what it needs can be read",
         "its needs are a frozenset and must be a tuple of 'logit'"),
        ({"needs": "logit"}, "what it needs can be read", "its needs are a str"),
        ({"function": lambda s: math.fsum(s.rank)},
         "needs names all that it reads besides log-probabilities", "0 of 0"),
        ({"function": lambda s: math.fsum(s.rank)},
         "a sentence with more probable tokens is no worse", "0 of 0"),
        ({"function": is_undefined}, "it divides the sum of log-probabilities by its divisor",
         "0 sentences"),
        ({"function": is_undefined}, "it is a monotone function of meanlp", "0 sentences"),
        ({"function": lambda s: min(s.logprobs_nats[-1:]), "divisor": lambda _: 1.0},
         "it divides the sum of log-probabilities by its divisor",
         "does not move, so it does not divide the sum: leave divisor out"),
        ({"higher_is_better": False}, "a sentence with more probable tokens is no worse",
         f"{ALL} of {ALL} sentences are worse"),
        ({"divisor": lambda _: 1.0}, "it divides the sum of log-probabilities by its divisor",
         "divisor 1, and the measure moves as if it were 4"),
        ({"divisor": lambda _: 0.0}, "it divides the sum of log-probabilities by its divisor",
         "divisor 0"),
        ({"function_of": "meanlpp"}, "it is a monotone function of meanlpp",
         "there is no such measure"),
        ({"function": lambda s: 1.0 if s.n_tokens < 4 else float(s.n_tokens)},
         "it is a monotone function of meanlp", f"{ALL} sentences in the order of meanlp"),
        ({"function": lambda s: math.fsum(s.logprobs_nats) / (s.n_tokens - 1)},
         "a sentence has a finite number, or there is a reason", "it raised ZeroDivisionError"),
        ({"function": lambda s: min(s.logprobs_nats[:-1])},
         "a sentence has a finite number, or there is a reason", "it raised ValueError: min()"),
        ({"function": lambda s: math.fsum(s.logprobs_nats) / math.dist(
            s.logprobs_nats, [math.fsum(s.logprobs_nats) / s.n_tokens] * s.n_tokens)},
         "a sentence has a finite number, or there is a reason", "it raised ZeroDivisionError"),
        ({"function": lambda s: math.fsum(map(math.log, map(abs, s.logprobs_nats)))},
         "a sentence has a finite number, or there is a reason", "it raised ValueError: "),
        ({"function": lambda s: math.fsum(s.logprobs_nats) / s.n_words},
         "a sentence has a finite number, or there is a reason", "it raised TypeError: "),
        ({"function": lambda s: math.fsum(s.logprobs_nats) / s.n_bytes},
         "a sentence has a finite number, or there is a reason", "it raised TypeError: "),
    ],
)  # fmt: skip
def test_each_mistake_is_found(change, check, said):
    found = failed(replace(MEAN, **change))
    assert check in found
    assert said in found[check]


def test_what_is_no_measure_and_too_little_are_refused():
    with pytest.raises(UsageError, match="a function is not a measure"):
        check_measure(raises)
    with pytest.raises(UsageError, match="2 sentences or more"):
        check_measure(MEAN, sentences=SENTENCES[:1])

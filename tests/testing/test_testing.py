"""The conformance kit passes a good adapter and fails each kind of bad one."""

from __future__ import annotations

import dataclasses
import math

import pytest

from cimento import Policy
from cimento.testing import UNKNOWN_TEXT, FakeScorer, check_model
from cimento.testing.models import uniform_scorer
from tests.helpers.whole_path import load_folder


def failed(scorer, policy=None) -> set[str]:
    findings = check_model(scorer, policy=policy)
    return {finding.name for finding in findings if not finding.passed}


class Windowed(FakeScorer):
    """A scorer that says it has a window of 20 tokens and takes everything."""

    @property
    def card(self):
        return dataclasses.replace(super().card, window=20)


class Half(FakeScorer):
    """A scorer that loses the second half of every word."""

    def encode(self, requests):
        return [
            dataclasses.replace(
                encoding,
                spans=tuple((start, (start + end + 1) // 2) for start, end in encoding.spans),
            )
            for encoding in super().encode(requests)
        ]


class Begun(FakeScorer):
    """A scorer that says it puts BOS before texts, and does not score what follows it."""

    @property
    def card(self):
        return dataclasses.replace(super().card, bos="<s>")


class Mute(FakeScorer):
    """A scorer that drops what is not written in letters of today."""

    def encode(self, requests):
        return [
            dataclasses.replace(
                encoding, wanted=() if UNKNOWN_TEXT[0] in request.text else encoding.wanted
            )
            for encoding, request in zip(super().encode(requests), requests, strict=True)
        ]


class Sideways(FakeScorer):
    """A scorer whose scores depend on how many texts it is asked for at once."""

    def score(self, encoded):
        return [values - len(encoded) for values in super().score(encoded)]


def test_a_good_adapter_passes_everything():
    assert failed(uniform_scorer(50)) == set()
    assert len(check_model(uniform_scorer(50))) >= 9


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gpt2", "llama-bare", "bert", "xlm-roberta"])
def test_models_of_transformers_pass_everything(name, zoo_folder):
    findings = check_model(load_folder(zoo_folder(name)))

    assert [finding for finding in findings if not finding.passed] == []
    assert "scores are those of a plain forward pass" in {finding.name for finding in findings}


def test_half_precision_is_held_to_what_it_can_keep(zoo_folder):
    scorer = load_folder(zoo_folder("gpt2"), Policy(dtype="bfloat16"))

    assert failed(scorer, Policy(dtype="bfloat16")) == set()


@pytest.mark.parametrize(("off", "passes"), [(1e-6, True), (3e-5, False)])
def test_a_token_may_differ_by_a_hundred_thousandth(off, passes):
    class Company(FakeScorer):
        def score(self, encoded):
            return [values - off * (len(encoded) > 1) for values in super().score(encoded)]

    failures = failed(Company(lambda _tokens, _index: -1.0))

    assert ("scores do not depend on the batch" not in failures) == passes


def test_scores_that_are_not_those_of_the_model_are_found(zoo_folder, monkeypatch):
    scorer = load_folder(zoo_folder("gpt2"))
    score = scorer.score
    monkeypatch.setattr(scorer, "score", lambda encoded: [v - 0.01 for v in score(encoded)])

    assert failed(scorer) == {"scores are those of a plain forward pass"}


@pytest.mark.parametrize(
    ("scorer", "name"),
    [
        (FakeScorer(lambda _tokens, _index: 0.5), "log-probabilities are finite and at most 0"),
        (Half(lambda _tokens, _index: -1.0), "tokens cover every character"),
        (
            Begun(lambda _tokens, index: -1.0 if index else math.nan),
            "the first token is scored where BOS comes before it",
        ),
        (
            Mute(lambda _tokens, _index: -1.0),
            "characters that hardly any vocabulary has are scored, or there is a reason",
        ),
        (
            Sideways(lambda _tokens, _index: -1.0),
            "a run that was stopped goes on to the same scores",
        ),
        (Windowed(lambda _tokens, _index: -1.0), "a text longer than the window is refused"),
    ],
)
def test_a_bad_adapter_fails_the_check_that_is_about_it(scorer, name):
    assert name in failed(scorer)


def test_scores_that_depend_on_what_was_asked_before_are_found():
    calls = []

    def drifting(_tokens, _index):
        calls.append(1)
        return -1.0 - len(calls) / 100

    assert {
        "scores do not depend on the batch",
        "scores do not depend on the order",
        "the parts of a text sum to the whole",
    } <= failed(FakeScorer(drifting))


def test_a_model_that_gives_nan_is_a_finding_and_not_a_crash():
    failures = failed(FakeScorer(lambda _tokens, _index: math.nan))

    assert "gives_probabilities" in failures

"""The conformance kit passes a good adapter and fails each kind of bad one."""

from __future__ import annotations

import dataclasses
import math

import pytest

from cimento.models.fake import FakeScorer, uniform_scorer
from cimento.testing import check_model


def failed(scorer) -> set[str]:
    return {finding.name for finding in check_model(scorer) if not finding.passed}


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
                each, spans=tuple((start, (start + end + 1) // 2) for start, end in each.spans)
            )
            for each in super().encode(requests)
        ]


def test_a_good_adapter_passes_everything():
    assert failed(uniform_scorer(50)) == set()
    assert len(check_model(uniform_scorer(50))) >= 7


@pytest.mark.parametrize(
    ("scorer", "name"),
    [
        (FakeScorer(lambda _tokens, _index: 0.5), "log-probabilities are finite and at most 0"),
        (Half(lambda _tokens, _index: -1.0), "tokens cover every character"),
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
    found = failed(FakeScorer(lambda _tokens, _index: math.nan))

    assert "gives_probabilities" in found

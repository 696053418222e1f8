"""The largest margin that half precision may decide: measured once with the model itself."""

from __future__ import annotations

import dataclasses
import math
from statistics import median

import cimento
from cimento.engine.cache import FileCache
from cimento.suites import sentence
from cimento.testing.models import FakeScorer

PAIRS = [("The dog barks.", "The dog bark."), ("The children sing.", "The children sings.")]
ERROR_NATS = 0.001


def exact(tokens, index):
    return -math.log(3 + len(tokens[index]))


def rounded(tokens, index):
    """An error that grows with the length of the word."""
    return exact(tokens, index) - ERROR_NATS * len(tokens[index])


class Half(FakeScorer):
    """A model in half precision, which counts how often it is had in float32."""

    device_name = "a device"

    def __init__(self, *, fits: bool = True) -> None:
        super().__init__(rounded, name="half")
        self.fits, self.widened = fits, 0
        self._card = dataclasses.replace(super().card, dtype="bfloat16")

    @property
    def card(self):
        return self._card

    @card.setter
    def card(self, card):
        self._card = card

    def in_float32(self):
        self.widened += 1
        return FakeScorer(exact) if self.fits else None


def near_tie(run):
    [estimate] = [one for one in run.estimates() if one.near_tied is not None][:1]
    return estimate.near_tie_bits, estimate.near_tie_method


def test_the_threshold_is_ten_times_the_median_change_of_a_margin_in_some_language(tmp_path):
    model, cache = Half(), FileCache(tmp_path)
    run = cimento.evaluate(cimento.pairs(PAIRS, language="en"), model, cache=cache)
    changes = []
    for language in ("en", "es", "it", "pt", "ru"):
        suite = cimento.load_suite(f"{language}-subject-verb").suite
        letters = [
            [len(sentence(condition).replace(" ", "")) for condition in item.conditions[:2]]
            for item in suite.items[:16]
        ]
        changes.append(ERROR_NATS * median(abs(good - bad) for good, bad in letters))
    bits, why = near_tie(run)
    # In one of the languages most pairs differ by two letters: ten times 0.002 nats, in bits.
    assert max(changes) == 2 * ERROR_NATS
    assert bits == 0.029  # 0.02885, rounded up
    assert why == "the error of bfloat16, measured with this model"
    assert run.manifest["model"]["rounding_bits"] == bits
    # It is measured once for a model, and kept for the next one of the same weights.
    again = Half()
    cimento.evaluate(cimento.pairs(PAIRS, language="en"), model, cache=cache)
    run = cimento.evaluate(cimento.pairs(PAIRS[:1], language="en"), again, cache=cache)
    assert (model.widened, again.widened, near_tie(run)[0]) == (1, 0, 0.029)
    cache.close()


def test_where_the_model_cannot_be_had_in_float32_the_threshold_is_that_of_the_format():
    model = Half(fits=False)
    run = cimento.evaluate(cimento.pairs(PAIRS, language="en"), model)
    assert near_tie(run) == (1.3, "the error of bfloat16")
    assert run.manifest["model"]["rounding_bits"] is None
    given = cimento.evaluate(cimento.pairs(PAIRS, language="en"), model, near_ties=0.5)
    assert near_tie(given) == (0.5, "given for this run")


def test_a_model_in_float32_is_not_measured():
    run = cimento.evaluate(cimento.pairs(PAIRS, language="en"), FakeScorer(exact))
    assert run.manifest["model"]["rounding_bits"] is None

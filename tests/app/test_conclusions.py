"""What is said of each result: a sentence on what can and cannot be concluded, in all languages."""

import math

import pytest

from cimento.app.conclusions import RunResult
from cimento.app.words import LANGUAGES, words
from cimento.records.effects import DesignEffect
from cimento.records.outcomes import Estimate
from cimento.report.findings import Headline


def share(value, low, high, *, chance=0.5, **more):
    """The result of a suite of pairs."""
    given = {"suite": "s", "model": "m", "question": "number", "right": 1, "n": 20, **more}
    estimate = Estimate(value=value, low=low, high=high, chance=chance, role="headline", **given)
    return RunResult(headline=Headline("m", estimate))


def rho(value, low, high):
    return share(value, low, high, chance=0.0, question="lp", right=None, statistic="spearman")


def dd(level, value, p, reason=""):
    estimate = Estimate(
        suite="s", model="m", question="DD", statistic="DD", unit="bits", level=level, value=value,
        low=value - 1, high=value + 1, p_corrected=p, reason=reason, n=12,
    )  # fmt: skip
    return DesignEffect(estimate, None)


@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        (share(0.9, 0.7, 0.98), "Right more often than without any knowledge (0.500)"),
        (share(0.5, 0.3, 0.7), "From 20 items it cannot be told whether"),
        (share(0.1, 0.02, 0.3), "the opposite of what is expected"),
        (share(0.1, None, None, reason="two values"), "There is no interval (two values)"),
        (share(0.9, 0.7, 0.98, chance=None), "What a model without knowledge would reach"),
        (rho(0.6, 0.2, 0.8), "Sentences that people rate better are more expected"),
        (rho(0.1, -0.3, 0.5), "From 20 sentences it cannot be told"),
        (rho(-0.6, -0.8, -0.2), "are less expected by the model: the opposite"),
        (RunResult(), ""),
    ],
)
def test_a_sentence_says_what_follows_from_the_interval(result, sentence):
    said = result.sentence(words("en"))
    assert sentence in said
    assert bool(said) == bool(sentence)


def test_the_effects_of_a_design_are_said_side_by_side():
    effects = (dd("island", 5.0, 0.001), dd("wh", 0.5, 0.4), dd("subject", -4.0, 0.01))
    result = RunResult(effects)
    assert result.sentence(words("en")) == (
        "island: the effect is there, for other items like these too."
        " wh: it cannot be told whether there is an effect."
        " subject: the opposite of what is expected."
    )
    assert result.number(words("it")).startswith("DD: island 5,00 [4,00; 6,00]; wh 0,50")
    assert RunResult((dd("x", 1.0, None, "one item"),)).sentence(words("en")) == (
        "x: there is no test (one item), so nothing can be concluded."
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_numbers_are_those_of_the_language_in_every_one(language):
    say = words(language)
    decimal = "." if language == "en" else ","
    assert f"0{decimal}900" in share(0.9, 0.7, 0.98).number(say)
    assert say.number(math.pi, ".3f") in share(0.9, 0.7, 0.98, chance=math.pi).sentence(say)
    for result in (share(0.9, 0.7, 0.98), rho(0.1, -0.3, 0.5), RunResult((dd("x", 1.0, 0.01),))):
        assert result.sentence(say).endswith(".")

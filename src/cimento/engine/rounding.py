"""The rounding of models in half precision: how large a margin their number format may decide."""

from __future__ import annotations

import functools
import math
import statistics
from operator import sub
from typing import TYPE_CHECKING

from cimento.engine.cache import AnswerCache, answer_key, get_answers, put_answers
from cimento.engine.scores import model_key
from cimento.errors import ModelError
from cimento.models.base import Score, Widening

if TYPE_CHECKING:
    from cimento.models.settings import Policy

HALF = ("bfloat16", "float16")
"""The number formats whose rounding is measured."""

_SAMPLES = ("en", "es", "it", "pt", "ru")
_PAIRS = 16
"""Languages of the built-in pairs that are the sample, and how many of each are taken."""

TIMES_MEDIAN = 10
"""The largest change of a margin, as a multiple of the median change.

Of 67,000 margins of BLiMP in bfloat16, half changed by at most 0.050 bits, and none by more than
0.50. For a normal error the largest of as many is 6.4 times the median, but longer sentences change
more than short ones.
"""


def measure_rounding(scorer: Widening, policy: Policy, cache: AnswerCache) -> float | None:
    """The largest margin, in bits, that a model's number format may decide.

    A fixed sample of minimal pairs is scored in this format and in float32, on the same device.
    The measure is kept in the cache, by model, policy and device.

    Args:
        scorer: the model, in half precision.
        policy: the policy that it was loaded with.
        cache: the cache of answers.

    Returns:
        `TIMES_MEDIAN` times the median change of a margin in the language whose margins change
        most, rounded up to two digits, since the languages of the model are not known; None where
        the memory does not hold the weights in float32, the model's window does not hold the
        sentences, or no margin changes.
    """
    key = answer_key(model_key(scorer.card, policy), "rounding", [scorer.device_name])
    known = get_answers(cache, [key]).get(key)
    if isinstance(known, float):
        return known
    # A run goes on without what is only measured for it: the memory may not hold two models, nor
    # the window a sentence.
    try:
        wide = scorer.in_float32()
        if wide is None:
            return None
        medians = [
            statistics.median(map(abs, map(sub, _margins(scorer, some), _margins(wide, some))))
            for some in _sample()
        ]
    except ModelError:
        return None
    bits = TIMES_MEDIAN * max(medians) / math.log(2)
    if not bits > 0 or not math.isfinite(bits):
        return None
    threshold = rounded_up(bits)
    put_answers(cache, {key: threshold})
    return threshold


def rounded_up(value: float) -> float:
    """A positive number rounded up to two significant digits."""
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return float(f"{math.ceil(value / step - 1e-9) * step:.2g}")


@functools.cache
def _sample() -> tuple[tuple[tuple[str, str], ...], ...]:
    """Built-in pairs of each language."""
    from cimento.suites import sentence
    from cimento.suites.builtin import find_suite
    from cimento.suites.load import open_suite

    suites = (open_suite(find_suite(f"{language}-subject-verb")).suite for language in _SAMPLES)
    return tuple(
        tuple(
            (sentence(good), sentence(bad))
            for good, bad, *_ in (item.conditions for item in suite.items[:_PAIRS])
        )
        for suite in suites
    )


def _margins(scorer: Widening, pairs: tuple[tuple[str, str], ...]) -> list[float]:
    """The log-probability of each first sentence above that of the second, in nats."""
    import numpy as np

    texts = scorer.encode([Score(text) for pair in pairs for text in pair])
    sums = [float(np.nansum(values)) for values in scorer.score(texts)]
    return [good - bad for good, bad in zip(sums[::2], sums[1::2], strict=True)]

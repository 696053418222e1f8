"""A conformance kit for measures: whether one of another package keeps what cimento expects.

Anyone who writes a `Measure` can run it::

    assert all(finding.passed for finding in check_measure(my_measure))
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from cimento.errors import UsageError
from cimento.io.values import BITS_PER_NAT, NoValue, UndefinedValueError
from cimento.measures import REGIONS, fault_of_needs, find_measure, is_unit
from cimento.measures.scores import NO_SEGMENTER
from cimento.measures.sentence import (
    NO_LOGISTIC_SUMS,
    NO_LOGITS,
    NO_UNIGRAMS,
    Measure,
    Need,
    Sentence,
)
from cimento.testing.models import Finding

SENTENCES = (
    Sentence(
        logprobs_nats=(-4.5, -2.25, -0.5, -1.75), n_words=3, n_chars=16, n_bytes=16,
        logits=(3.5, 6.0, 9.25, 7.0), log_sigmoid_sums_nats=(6.5, 6.75, 6.25, 6.5),
        unigram_logprobs_nats=(-7.0, -9.5, -8.0, -3.0),
    ),
    Sentence(
        logprobs_nats=(-6.25, -8.0, -0.125, -3.5, -1.0, -2.5), n_words=5, n_chars=31, n_bytes=33,
        logits=(2.0, -1.5, 11.0, 4.25, 8.0, 5.5),
        log_sigmoid_sums_nats=(6.5, 6.0, 7.0, 6.75, 6.5, 6.25),
        unigram_logprobs_nats=(-6.0, -11.5, -4.0, -9.25, -7.5, -3.0),
    ),
    Sentence(
        logprobs_nats=(-3.0, -0.75), n_words=1, n_chars=5, n_bytes=5,
        logits=(4.0, 8.5), log_sigmoid_sums_nats=(6.25, 6.5),
        unigram_logprobs_nats=(-8.5, -3.0),
    ),
    Sentence(
        logprobs_nats=(-5.5,), n_words=1, n_chars=2, n_bytes=3, pseudo=False,
        logits=(4.75,), log_sigmoid_sums_nats=(6.5,), unigram_logprobs_nats=(-7.25,),
    ),
    Sentence(
        logprobs_nats=(-2.75,), n_words=1, n_chars=1, n_bytes=1, pseudo=True,
        logits=(7.5,), log_sigmoid_sums_nats=(6.25,), unigram_logprobs_nats=(-4.5,),
    ),
    Sentence(
        logprobs_nats=(-4.0, -4.0, 0.0, 0.0), n_words=4, n_chars=11, n_bytes=11,
        logits=(5.0, 5.0, 19.0, 19.0), log_sigmoid_sums_nats=(6.5, 6.5, 6.5, 6.5),
        unigram_logprobs_nats=(-5.25, -5.25, -5.25, -5.25),
    ),
    Sentence(
        logprobs_nats=(-3.25, -5.0, -1.5), n_words=NO_SEGMENTER, n_chars=5, pseudo=True,
        logits=(4.25, 2.5, 8.0), log_sigmoid_sums_nats=(6.75, 6.5, 6.25),
        unigram_logprobs_nats=(-9.0, -10.5, -4.0),
    ),
)  # fmt: skip
"""Sentences on which measures are tried: of three words, of five, and of one; then, of one token, a
word and a mark alone; one word four times, in the end with probability 1; and one whose words and
bytes are not known."""

_STEP_NATS = 0.0625
_RELATIVE = 1e-9
_FEWEST = 2


def check_measure(measure: Measure, *, sentences: Sequence[Sentence] = SENTENCES) -> list[Finding]:
    """Run every check on a measure.

    Args:
        measure: the measure.
        sentences: what it is tried on; at least two, with all that it needs.

    Returns:
        What each check found: its name, whether the measure passed, and what was seen.

    Raises:
        UsageError: this is not a measure, or there are fewer sentences.

    Example:
        >>> from cimento import Measure
        >>> from cimento.testing import check_measure
        >>> worst = Measure(name="worst-token", formula="min of ln P(token)", unit="nats",
        ...     higher_is_better=False, source="-", function=lambda s: min(s.logprobs_nats))
        >>> [finding.name for finding in check_measure(worst) if not finding.passed]
        ['a sentence with more probable tokens is no worse']
    """
    if not isinstance(measure, Measure):
        raise UsageError(
            where="measure",
            seen=f"a {type(measure).__name__} is not a measure",
            todo="Give a cimento.Measure.",
        )
    if len(sentences) < _FEWEST:
        raise UsageError(
            where="sentences",
            seen="a measure cannot be tried on so little",
            todo=f"Give {_FEWEST} sentences or more.",
        )
    tried = _MeasureTrial(measure, tuple(sentences))
    checks = (_is_described, _gives_numbers, _says_what_it_needs, _has_a_direction)
    of_more = (_divides_as_it_says, _is_a_function_of_what_it_says)
    return [finding for check in (*checks, *of_more) for finding in check(tried)]


@dataclass(frozen=True, slots=True)
class _MeasureTrial:
    """A measure and the sentences it is tried on."""

    measure: Measure
    sentences: tuple[Sentence, ...]

    def value(self, sentence: Sentence) -> float | None:
        """Its value; None where there is none, for whatever reason."""
        answer = _answer(self.measure.function, sentence)
        return answer if isinstance(answer, float) else None

    @property
    def known(self) -> list[tuple[Sentence, float]]:
        """The sentences for which it has a value."""
        values = [(sentence, self.value(sentence)) for sentence in self.sentences]
        return [(sentence, value) for sentence, value in values if value is not None]


def _answer(function: Callable[[Sentence], object], sentence: Sentence) -> float | NoValue | str:
    """A function's value for a sentence, the reason why there is none, or what is wrong."""
    try:
        value = function(sentence)
    except UndefinedValueError as reason:
        return NoValue(str(reason))
    except Exception as error:  # noqa: BLE001  # what it raises is what is asked
        return f"it raised {type(error).__name__}: {error}"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"it returned {value!r}, and must return a number"
    if not math.isfinite(value):
        return f"it returned {value}; where there is no value, raise UndefinedValueError"
    return float(value)


def _is_described(tried: _MeasureTrial) -> Iterator[Finding]:
    measure = tried.measure
    name = measure.name
    plain = bool(name) and name == name.strip().lower() and not set(name) & set(":, \t\n")
    yield Finding(
        "its name can be asked for",
        passed=plain and name != REGIONS,
        detail=repr(name) + ("" if plain else ": lower case, without colon, comma or blank"),
    )
    yield Finding(
        "its unit is nats or bits, alone or with a divisor, or empty",
        passed=is_unit(measure.unit),
        detail=repr(measure.unit),
    )
    empty = [part for part in ("formula", "source") if not getattr(measure, part).strip()]
    yield Finding(
        "it has a formula and a source",
        passed=not empty,
        detail=f"empty: {', '.join(empty)}" if empty else measure.formula,
    )


def _gives_numbers(tried: _MeasureTrial) -> Iterator[Finding]:
    answers = [_answer(tried.measure.function, sentence) for sentence in tried.sentences]
    wrong = [answer for answer in answers if isinstance(answer, str)]
    undefined = [answer for answer in answers if isinstance(answer, NoValue)]
    values = len(answers) - len(wrong) - len(undefined)
    yield Finding(
        "a sentence has a finite number, or there is a reason",
        passed=not wrong,
        detail=wrong[0] if wrong else f"{values} numbers, {len(undefined)} without",
    )
    yield Finding(
        "a reason is not empty",
        passed=all(answer.reason.strip() for answer in undefined),
        detail="; ".join(dict.fromkeys(answer.reason for answer in undefined)) or "none given",
    )
    yield Finding(
        "some sentence has a value",
        passed=values > 0,
        detail=f"{values} of {len(answers)}",
    )
    again = [_answer(tried.measure.function, sentence) for sentence in tried.sentences]
    yield Finding(
        "the same sentence has the same value again",
        passed=again == answers,
        detail=f"{sum(a != b for a, b in zip(again, answers, strict=True))} differ",
    )


_PARTS: Mapping[Need, Mapping[str, NoValue]] = {
    "logit": {"logits": NO_LOGITS},
    "log_sigmoid_sum": {"log_sigmoid_sums_nats": NO_LOGISTIC_SUMS},
    "unigrams": {"unigram_logprobs_nats": NO_UNIGRAMS},
}
"""What a measure may need, mapped to the part of a sentence that is not there without it."""


def _says_what_it_needs(tried: _MeasureTrial) -> Iterator[Finding]:
    needs = tried.measure.needs
    fault = fault_of_needs(needs)
    yield Finding(
        "what it needs can be read", passed=not fault, detail=fault or ", ".join(needs) or "nothing"
    )
    if fault:
        return
    known = [sentence for sentence, _ in tried.known]
    absent = {part: why for need, gone in _PARTS.items() if need not in needs
              for part, why in gone.items()}  # fmt: skip
    lost = [one for one in known if tried.value(replace(one, **absent)) is None]  # type: ignore[arg-type]
    yield Finding(
        "needs names all that it reads besides log-probabilities",
        passed=bool(known) and not lost,
        detail=f"{len(lost)} of {len(known)} sentences have no value without {', '.join(absent)}"
        if lost or not known
        else ", ".join(needs) or "nothing else",
    )
    for need in needs:
        bare = [replace(sentence, **_PARTS[need]) for sentence in tried.sentences]  # type: ignore[arg-type]
        wrong = [
            answer
            for sentence in bare
            if not isinstance(answer := _answer(tried.measure.function, sentence), NoValue)
        ]
        yield Finding(
            f"without {need} it says that it has no value",
            passed=not wrong,
            detail=str(wrong[0]) if wrong else "UndefinedValueError",
        )


def _has_a_direction(tried: _MeasureTrial) -> Iterator[Finding]:
    sign = 1 if tried.measure.higher_is_better else -1
    known = tried.known
    worse = []
    for sentence, value in known:
        raised = [min(0.0, nats + _STEP_NATS) for nats in sentence.logprobs_nats]
        other = tried.value(replace(sentence, logprobs_nats=tuple(raised)))
        if other is not None and sign * (other - value) < -_RELATIVE * abs(value):
            worse.append(sentence)
    yield Finding(
        "a sentence with more probable tokens is no worse",
        passed=bool(known) and not worse,
        detail=f"{len(worse)} of {len(known)} sentences are worse",
    )


def _divides_as_it_says(tried: _MeasureTrial) -> Iterator[Finding]:
    measure, divisor = tried.measure, tried.measure.divisor
    if divisor is None:
        return
    step = _STEP_NATS if measure.unit.startswith("nats") else _STEP_NATS * BITS_PER_NAT
    wrong = []
    for sentence, value in tried.known:
        moved = (sentence.logprobs_nats[0] - _STEP_NATS, *sentence.logprobs_nats[1:])
        other = tried.value(replace(sentence, logprobs_nats=moved))
        by = _answer(divisor, sentence)
        if other is None or not isinstance(by, float) or by <= 0:
            wrong.append(f"divisor {by}")
        elif not math.isclose(abs(other - value), step / by, rel_tol=1e-6):
            wrong.append(f"divisor {by:g}, and the measure moves as if it were"
                         f" {step / abs(other - value):g}" if other != value
                         else f"divisor {by:g}, and the measure does not move, so it does not"
                         " divide the sum: leave divisor out")  # fmt: skip
    yield Finding(
        "it divides the sum of log-probabilities by its divisor",
        passed=bool(tried.known) and not wrong,
        detail=wrong[0] if wrong else f"{len(tried.known)} sentences",
    )


def _is_a_function_of_what_it_says(tried: _MeasureTrial) -> Iterator[Finding]:
    if not tried.measure.function_of:
        return
    name = f"it is a monotone function of {tried.measure.function_of}"
    try:
        other = find_measure(tried.measure.function_of)
    except UsageError as error:
        yield Finding(name, passed=False, detail=str(error))
        return
    signs = [1 if one.higher_is_better else -1 for one in (tried.measure, other)]
    pairs = [
        (signs[1] * theirs, signs[0] * ours)
        for sentence, ours in tried.known
        if isinstance(theirs := other.of(sentence), float)
    ]
    ordered = [ours for _, ours in sorted(pairs)]
    yield Finding(
        name,
        passed=bool(pairs) and all(a <= b for a, b in pairwise(ordered)),
        detail=f"{len(pairs)} sentences in the order of {other.name}",
    )

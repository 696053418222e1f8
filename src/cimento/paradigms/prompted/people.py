"""Answers by prompt beside what people said: correlation, slope, ceiling, calibration."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import cast

from cimento.paradigms.prompted.judging import PromptedRun, accepting_share, rated
from cimento.paradigms.prompted.prompts import QUESTIONS, Form, PromptedOptions
from cimento.paradigms.ratings.estimates import ceilings
from cimento.paradigms.ratings.suite import RatedSentence, rated_of
from cimento.runs.outcomes import Estimate, Role, design_of
from cimento.statistics.calibration import (
    Calibration,
    brier_parts,
    expected_calibration_error,
)
from cimento.statistics.correlation import correlate
from cimento.statistics.design import Design
from cimento.statistics.regression import regress

SLOPE, ECE = "slope", "ECE"
_SEED, _HALVINGS = 0, 1000
_COEFFICIENTS: Mapping[str, Role] = MappingProxyType({"spearman": "main", "pearson": "main"})
_NO_SHARES = "of how many people accept a sentence nothing is known, only their mean rating"


def people_estimates(prompted: PromptedRun, form: Form) -> Iterator[Estimate]:
    """Correlation, slope, ceiling and calibration beside what people said of single sentences."""
    if form == "choice":
        return
    scale = rated_of(prompted.suite).scale
    pairs = [
        (one.value, sentence)
        for one, sentence in rated(prompted.suite, prompted.asked, form)
        if sentence.mean is not None
    ]
    known = [(value, sentence) for value, sentence in pairs if value is not None]
    like = dataclasses.replace(
        prompted.like, question=QUESTIONS[form], n=len(known), unscored=len(pairs) - len(known)
    )
    single = not prompted.suite.predictions
    if not pairs or scale is None:
        if single:
            reason = "no sentence has a rating"
            yield from (
                dataclasses.replace(like, statistic=kind, role=role, reason=reason)
                for kind, role in _COEFFICIENTS.items()
            )
        return
    yield from _correlated(known, like)
    yield _slope(known, like, prompted.options, form, (scale.low, scale.high))
    people = dataclasses.replace(like, question="rating by people", role="detail")
    sentences = [sentence for _, sentence in pairs]
    yield from (
        dataclasses.replace(one, question=like.question)
        for one in ceilings(sentences, people, seed=_SEED, draws=_HALVINGS)
    )
    if form == "yesno":
        yield from _calibrated(prompted, like)


def _sentence_design(sentences: Sequence[RatedSentence]) -> Design:
    return design_of(
        [sentence.id for sentence in sentences],
        [sentence.cluster or sentence.pair or None for sentence in sentences],
    )


def _correlated(known: Sequence[tuple[float, RatedSentence]], like: Estimate) -> Iterator[Estimate]:
    design = _sentence_design([sentence for _, sentence in known])
    for kind, role in _COEFFICIENTS.items():
        correlation = correlate(
            [value for value, _ in known],
            [cast("float", sentence.mean) for _, sentence in known],
            kind=kind, design=design, seed=_SEED, draws=0,
        )  # fmt: skip
        yield dataclasses.replace(
            like, statistic=kind, role=role, value=correlation.r, low=correlation.low,
            high=correlation.high, interval_method=correlation.method, n=correlation.n,
            reason=correlation.reason or "", clustered=design.clustered,
            description="Answers by prompt beside the mean ratings of the suite.",
        )  # fmt: skip


def _slope(
    known: Sequence[tuple[float, RatedSentence]],
    like: Estimate,
    options: PromptedOptions,
    form: Form,
    ends: tuple[float, float],
) -> Estimate:
    """The slope of people's mean ratings on the answers, both from 0 to 1: 1 where they agree."""
    low, high = ends
    start, width = (1, options.points - 1) if form == "rating" else (0, 1)
    design = _sentence_design([sentence for _, sentence in known])
    like = dataclasses.replace(
        like, statistic=SLOPE, chance=0.0, chance_method="values and ratings unrelated",
        clustered=design.clustered,
        description="mean ratings on the answers, both from 0 to 1; 1 if they move alike",
    )  # fmt: skip
    answers = [(value - start) / width for value, _ in known]
    means = [(cast("float", sentence.mean) - low) / (high - low) for _, sentence in known]
    regression = regress(means, {"answer": answers}, design)
    if not regression.coefficients:
        return dataclasses.replace(like, reason=regression.reason or "")
    slope = regression.coefficients[1]
    return dataclasses.replace(
        like, value=slope.value, low=slope.low, high=slope.high, p=slope.p,
        interval_method=regression.method,
    )  # fmt: skip


def reliability(prompted: PromptedRun) -> Calibration | None:
    """The bins of yes beside the share of people who accept; None where that is not known."""
    shares = _shares(prompted)
    if not shares:
        return None
    return expected_calibration_error([p for p, _ in shares], [o for _, o in shares])


def _shares(prompted: PromptedRun) -> list[tuple[float, float]]:
    """The share of acceptable in the answers, and among people, of each sentence with both."""
    scale = rated_of(prompted.suite).scale
    return [
        (one.value, share)
        for one, sentence in rated(prompted.suite, prompted.asked, "yesno")
        if one.value is not None and (share := accepting_share(sentence, scale)) is not None
    ]


def _calibrated(prompted: PromptedRun, like: Estimate) -> Iterator[Estimate]:
    """ECE and Brier's score with its parts, of the share of people who accept a sentence."""
    shares = _shares(prompted)
    like = dataclasses.replace(like, n=len(shares), reason="" if shares else _NO_SHARES)
    probabilities, people = [p for p, _ in shares], [o for _, o in shares]
    error = expected_calibration_error(probabilities, people)
    parts = brier_parts(probabilities, people)
    without = "no interval is made for it" if shares else _NO_SHARES
    about = "share of acceptable among answers and among people"
    numbers: Mapping[str, tuple[float | None, Role]] = {
        ECE: (error.ece, "main"),
        "Brier": (parts.score, "main"),
        "Brier reliability": (parts.reliability, "detail"),
        "Brier resolution": (parts.resolution, "detail"),
        "Brier uncertainty": (parts.uncertainty, "detail"),
        "Brier within bins": (parts.within, "detail"),
    }
    for statistic, (value, role) in numbers.items():
        yield dataclasses.replace(
            like, statistic=statistic, role=role, value=value, reason=without, description=about
        )

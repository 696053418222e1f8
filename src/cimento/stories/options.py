"""From the log-probabilities of an option's tokens to the number that options are compared by."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from cimento.errors import UsageError, did_you_mean
from cimento.models.answering import OptionScores

Norm: TypeAlias = Literal["sum", "token", "char", "pmi", "prior"]
NORMS: tuple[Norm, ...] = get_args(Norm)


@dataclass(frozen=True, slots=True)
class Corrections:
    """What is taken off the sums of a tier's options.

    Attributes:
        nats: of each label.
    """

    nats: Mapping[str, float]


def find_norm(name: str) -> Norm:
    """A way of comparing options by its name.

    Raises:
        UsageError: there is none of this name.
    """
    for norm in NORMS:
        if norm == name:
            return norm
    raise UsageError(where="norm", seen=f"got {name!r}", todo=did_you_mean(name, NORMS))


def sums(scores: OptionScores) -> tuple[float, ...]:
    """Log-probability of each option, in nats, summed in token order."""
    return tuple(sum(nats) for nats in scores.nats)


def normalised(scores: OptionScores, norm: Norm, *, words: Sequence[str]) -> tuple[float, ...]:
    """What options are compared by, as far as one prompt tells.

    Args:
        scores: of the options.
        norm: ``sum``: ln P (what the study did); ``token``, ``char``: divided by the number of
            tokens, of characters (Brown et al. 2020, doi:10.48550/arXiv.2005.14165, section 2.4,
            for tokens); ``pmi`` and ``prior`` start from the sum, see below.
        words: the options as they are written, without the blank before them.
    """
    if norm == "token":
        return tuple(sum(nats) / len(nats) for nats in scores.nats)
    if norm == "char":
        return tuple(sum(nats) / len(word) for nats, word in zip(scores.nats, words, strict=True))
    return sums(scores)


def corrected(values: Sequence[float], labels: Sequence[str], by: Corrections) -> tuple[float, ...]:
    """Values with what is taken off them."""
    return tuple(value - by.nats[label] for value, label in zip(values, labels, strict=True))


def pmi_corrections(scores: OptionScores, labels: Sequence[str]) -> Corrections:
    """Log-probability of each option after the question alone.

    What remains without it is the mutual information of option and story: domain-conditional
    pointwise mutual information, Holtzman et al. 2021,
    doi:10.18653/v1/2021.emnlp-main.564.

    Args:
        scores: of the options after a prompt without story.
        labels: of the options.
    """
    return Corrections(dict(zip(labels, sums(scores), strict=True)))


def prior_corrections(
    values: Sequence[Sequence[float]], labels: Sequence[Sequence[str]]
) -> Corrections:
    """Logarithm of the mean probability of each label over all prompts of a tier.

    Batch calibration, Zhou et al. 2024, doi:10.48550/arXiv.2309.17249: what a model prefers on
    average is no answer to any story. It depends on all stories of the run.

    Args:
        values: ln P of the options, one row for each prompt.
        labels: of the options, one row for each prompt.
    """
    totals: dict[str, float] = {}
    for row, names in zip(values, labels, strict=True):
        best = max(row)
        weights = [math.exp(value - best) for value in row]
        whole = math.fsum(weights)
        for label, weight in zip(names, weights, strict=True):
            totals[label] = totals.get(label, 0.0) + weight / whole
    smallest = 1e-300
    return Corrections(
        {label: math.log(max(total, smallest) / len(values)) for label, total in totals.items()}
    )

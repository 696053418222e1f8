"""From the log-probabilities of an option's tokens to the number that options are compared by."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from cimento.errors import UsageError, did_you_mean

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


def normalised(
    nats: Sequence[float], norm: Norm, *, n_tokens: Sequence[int | None], words: Sequence[str]
) -> tuple[float, ...]:
    """What options are compared by, as far as one prompt tells.

    Args:
        nats: log-probability of each option.
        norm: ``sum``: ln P (what the study did); ``token``, ``char``: divided by the number of
            tokens, of characters (Brown et al. 2020, doi:10.48550/arXiv.2005.14165, section 2.4,
            for tokens); ``pmi`` and ``prior`` start from the sum, see below.
        n_tokens: of each option; None where that was not kept.
        words: the options as they are written, without the blank before them.

    Raises:
        UsageError: the numbers of tokens are needed and were not kept.
    """
    if norm == "token":
        counts = [count for count in n_tokens if count is not None]
        if len(counts) < len(nats):
            raise UsageError(
                where="norm=token",
                seen="the numbers of tokens of these answers were not kept",
                todo="Compare them by another norm, or ask the model again.",
            )
        return tuple(value / count for value, count in zip(nats, counts, strict=True))
    if norm == "char":
        return tuple(value / len(word) for value, word in zip(nats, words, strict=True))
    return tuple(nats)


def corrected(values: Sequence[float], labels: Sequence[str], by: Corrections) -> tuple[float, ...]:
    """Values with what is taken off them."""
    return tuple(value - by.nats[label] for value, label in zip(values, labels, strict=True))


def pmi_corrections(nats: Sequence[float], labels: Sequence[str]) -> Corrections:
    """Log-probability of each option after the question alone.

    What remains without it is the mutual information of option and story: domain-conditional
    pointwise mutual information, Holtzman et al. 2021,
    doi:10.18653/v1/2021.emnlp-main.564.

    Args:
        nats: of the options after a prompt without story.
        labels: of the options.
    """
    return Corrections(dict(zip(labels, nats, strict=True)))


def prior_corrections(
    values: Sequence[Sequence[float]], labels: Sequence[Sequence[str]]
) -> Corrections:
    """Logarithm of the mean probability of each label over all scored prompts of a tier.

    Batch calibration, Zhou et al. 2024, doi:10.48550/arXiv.2309.17249: what a model prefers on
    average is no answer to any story. It depends on all stories of the run.

    Args:
        values: ln P of the options, one row for each prompt.
        labels: of the options, one row for each prompt.
    """
    totals: dict[str, float] = {}
    scored = 0
    for row, names in zip(values, labels, strict=True):
        best = max(row)
        if not math.isfinite(best) or any(map(math.isnan, row)):
            continue
        scored += 1
        weights = [math.exp(value - best) for value in row]
        whole = math.fsum(weights)
        for label, weight in zip(names, weights, strict=True):
            totals[label] = totals.get(label, 0.0) + weight / whole
    smallest = 1e-300
    return Corrections(
        {label: math.log(max(total, smallest) / scored) for label, total in totals.items()}
    )

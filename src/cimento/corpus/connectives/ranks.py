"""Rank agreement of corpora: how far connectives have the same order of frequency in both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from cimento.statistics.correlation import Correlation, correlate
from cimento.statistics.design import Design

if TYPE_CHECKING:
    from cimento.report.grid import Grid

KINDS = ("spearman", "kendall")


@dataclass(frozen=True, slots=True)
class RankAgreement:
    """The rank correlations of two corpora over the connectives that both could have.

    Attributes:
        first: name of the one.
        second: name of the other.
        spearman: rho, with its 95 % interval (jackknife over connectives).
        kendall: tau-b, with its own.
    """

    first: str
    second: str
    spearman: Correlation
    kendall: Correlation


def rank_agreement(columns: Mapping[str, Mapping[str, int]]) -> list[RankAgreement]:
    """The rank correlations of every two columns of frequencies.

    Args:
        columns: name of a corpus to connective to its number; a connective that was looked for and
            not found has the number 0.
    """
    found = []
    for first, second in combinations(columns, 2):
        names = [name for name in columns[first] if name in columns[second]]
        x, y = ([columns[corpus][name] for name in names] for corpus in (first, second))
        design = Design.independent(len(names))
        rho, tau = (correlate(x, y, kind=kind, design=design, seed=0, draws=0) for kind in KINDS)
        found.append(RankAgreement(first, second, rho, tau))
    return found


def rank_grid(agreements: Sequence[RankAgreement]) -> Grid:
    """A grid with a row for every two corpora."""
    from cimento.report.formatting import interval, number
    from cimento.report.grid import Grid

    rows = []
    for each in agreements:
        cells = [f"{each.first}, {each.second}", str(each.spearman.n)]
        for one in (each.spearman, each.kendall):
            cells += [number(one.r), interval(one.low, one.high)]
        rows.append(tuple(cells))
    reasons = dict.fromkeys(each.spearman.reason for each in agreements)
    return Grid(
        title="Agreement of ranks",
        header=("corpora", "n", "rho", "95 %", "tau-b", "95 %"),
        rows=tuple(rows),
        notes=tuple(f"No interval: {reason}." for reason in reasons if reason),
    )

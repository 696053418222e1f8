"""The figures that the paper prints, as it prints them (CLiC-it 2021, ceur-ws.org/Vol-3033)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cimento.studies.record import printed_tables


@dataclass(frozen=True, slots=True)
class Share:
    """A count with its percentage.

    Attributes:
        count: as printed.
        percent: as printed, with its decimals.
    """

    count: int
    percent: str


@dataclass(frozen=True, slots=True)
class Perplexities:
    """A row of Table 4."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Scores:
    """A row of Table 2."""

    mean: float
    sd: float


_TABLES = printed_tables("connectives")


def _shares(table: str) -> dict[str, Share]:
    return {name: Share(*cells) for name, cells in _TABLES[table].items()}


PER_CONNECTIVE, PAIRS_IN_PROSE = _TABLES["section 2.2.1"].values()
ACCEPTABLE, UNACCEPTABLE, UNGRAMMATICAL, CLOZE_ITEMS = _TABLES["sizes"].values()
RHO, RHO_P_BELOW, TARGET_IN_PROSE, PLAUSIBLE_IN_PROSE = _TABLES["section 4"].values()
TABLE_2 = {name: Scores(*cells) for name, cells in _TABLES["Table 2"].items()}
TABLE_3 = _shares("Table 3")
TABLE_4 = {name: Perplexities(*cells) for name, cells in _TABLES["Table 4"].items()}
TABLE_5_TEN, TABLE_5_FIRST = _shares("Table 5, ten"), _shares("Table 5, first")
WORDS: Mapping[str, int] = _TABLES["section 2.1"]
"""Words of the treebanks."""

TABLE_6 = {corpus: _shares(f"Table 6, {corpus}") for corpus in WORDS}
COUNTED: Mapping[str, Mapping[str, int]] = {
    corpus: _TABLES[f"counted, {corpus}"] for corpus in WORDS
}
"""Occurrences in those parts of the treebanks that could be counted, a lower bound of Table 6."""

"""The figures that the paper prints, as it prints them (CLiC-it 2021, ceur-ws.org/Vol-3033)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cimento.paradigms.ratings.formats import CONNECTIVES


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


PER_CONNECTIVE = 15
"""Sentences picked for each connective, before some were deleted (section 2.2.1)."""

PAIRS_IN_PROSE = 518
"""What the text calls sentence pairs (section 2.2.1)."""

ACCEPTABLE = UNACCEPTABLE = 259
UNGRAMMATICAL = 98
CLOZE_ITEMS = 270

TABLE_2: Mapping[str, Scores] = {
    "Acceptable": Scores(4.286, 0.519),
    "NonAcceptable": Scores(1.822, 0.451),
    "NonAccept+NonGr": Scores(1.616, 0.350),
}

TABLE_3: Mapping[str, Share] = {
    "Target": Share(213, "78.89"),
    "Plausible alt.": Share(48, "17.78"),
    "Implausible alt.": Share(4, "1.48"),
    "Target=Plausible alt.": Share(5, "1.85"),
}

TABLE_4: Mapping[str, Perplexities] = {
    "Acceptable": Perplexities(42.512, 2.059, 455.961),
    "NonAcceptable": Perplexities(78.280, 3.534, 390.824),
    "NonAccept+NonGr": Perplexities(98.992, 9.933, 1178.162),
}

RHO = -0.120
"""Spearman's correlation of human scores and perplexities (section 4)."""

RHO_P_BELOW = 0.01

TABLE_5_TEN: Mapping[str, Share] = {
    "Target": Share(85, "31.48"),
    "Pl. alt.": Share(12, "4.44"),
    "Target+Pl. alt.": Share(148, "54.81"),
    "Other": Share(25, "9.26"),
}
TABLE_5_FIRST: Mapping[str, Share] = {
    "Target": Share(111, "41.11"),
    "Pl. alt.": Share(23, "8.52"),
}
TARGET_IN_PROSE = "86.29"
"""Per cent of items with the target in the first ten, as a sum of printed ones (section 4)."""

PLAUSIBLE_IN_PROSE = "59.25"

ISDT, TWEETS = "ISDT", "PoSTWITA+TWITTIRÒ"
WORDS: Mapping[str, int] = {ISDT: 289_343, TWEETS: 154_050}
"""Words of the treebanks (section 2.1)."""

_ISDT = (
    "1906 0.639, 575 0.193, 529 0.177, 422 0.141, 312 0.105, 306 0.103, 259 0.087, 253 0.085, "
    "231 0.077, 138 0.046, 126 0.042, 109 0.037, 106 0.036, 101 0.034, 98 0.033, 88 0.029, "
    "80 0.027, 78 0.026"
)
_TWEETS = (
    "909 0.590, 477 0.309, 141 0.092, 226 0.147, 713 0.463, 60 0.039, 89 0.058, 123 0.080, "
    "255 0.166, 46 0.030, 24 0.016, 13 0.008, 49 0.032, 46 0.030, 49 0.032, 1 0.0006, 1 0.0006, "
    "28 0.018"
)


def _rows(printed: str) -> dict[str, Share]:
    pairs = (cell.split() for cell in printed.split(", "))
    return {
        connective: Share(int(count), percent)
        for connective, (count, percent) in zip(CONNECTIVES, pairs, strict=True)
    }


TABLE_6: Mapping[str, Mapping[str, Share]] = {ISDT: _rows(_ISDT), TWEETS: _rows(_TWEETS)}

_COUNTED_ISDT = (496, 111, 91, 95, 141, 39, 55, 49, 44, 23, 34, 19, 35, 16, 26, 26, 30, 23)
_COUNTED_TWEETS = (647, 370, 98, 181, 532, 53, 69, 96, 172, 110, 15, 17, 35, 33, 34, 1, 1, 24)
COUNTED: Mapping[str, Mapping[str, int]] = {
    ISDT: dict(zip(CONNECTIVES, _COUNTED_ISDT, strict=True)),
    TWEETS: dict(zip(CONNECTIVES, _COUNTED_TWEETS, strict=True)),
}
"""Occurrences in those parts of the treebanks that could be counted, a lower bound of Table 6.

By lemma; the head is a verb, an auxiliary or has a copula; pronouns, nouns and adjectives of the
same spelling are left out. ISDT: development and test files of release 2.6 and ParTUT 2.6, which
is inside it. Tweets: TWITTIRÒ 2.6, PoSTWITA 2.6 development and test, and the other tweets as in
PoSTWITA 2.1.
"""

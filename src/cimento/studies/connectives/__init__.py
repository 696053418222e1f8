"""The acceptability and cloze study of Italian connectives, redone from what is available of it.

Albertin, Miaschi and Brunato 2021, "On the Role of Textual Connectives in Sentence Comprehension:
A New Dataset for Italian", CLiC-it 2021 (ceur-ws.org/Vol-3033, paper 16; CC BY 4.0). The resource
itself is not public: here are the printed tables and what does not add up in them (sums,
percentages, p of rho); `released` computes statistics of released data and finds them; `user_copy`
makes the tables of a user's copy, and `models` those of the user's models in the paper's layout.
`text` counts Table 6 in treebanks and prints what is compared.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, TypeAlias

from cimento.studies import printed_tables
from cimento.suites.formats.ratings import CONNECTIVES


@dataclass(frozen=True, slots=True)
class PrintedShare:
    """A count with its percentage.

    Attributes:
        count: as printed.
        percent: as printed, with its decimals.
    """

    count: int
    percent: str


@dataclass(frozen=True, slots=True)
class PerplexityRow:
    """A row of Table 4."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """A row of Table 2."""

    mean: float
    sd: float


_TABLES = printed_tables("connectives")


def _share_rows(table: str) -> dict[str, PrintedShare]:
    return {name: PrintedShare(*cells) for name, cells in _TABLES[table].items()}


PER_CONNECTIVE, PAIRS_IN_PROSE = _TABLES["section 2.2.1"].values()
ACCEPTABLE, UNACCEPTABLE, UNGRAMMATICAL, CLOZE_ITEMS = _TABLES["sizes"].values()
EXAMPLES = frozenset(_TABLES["examples"].values())
"""The sha256 of the letters of sentences that the paper prints, by which its items are known."""
RHO, RHO_P_BELOW, TARGET_IN_PROSE, PLAUSIBLE_IN_PROSE = _TABLES["section 4"].values()
TABLE_2 = {name: ScoreRow(*cells) for name, cells in _TABLES["Table 2"].items()}
TABLE_3 = _share_rows("Table 3")
TABLE_4 = {name: PerplexityRow(*cells) for name, cells in _TABLES["Table 4"].items()}
TABLE_5_TEN, TABLE_5_FIRST = _share_rows("Table 5, ten"), _share_rows("Table 5, first")
WORDS: Mapping[str, int] = _TABLES["section 2.1"]
"""Words of the treebanks."""

TABLE_6 = {corpus: _share_rows(f"Table 6, {corpus}") for corpus in WORDS}
COUNTED: Mapping[str, Mapping[str, int]] = {
    corpus: _TABLES[f"counted, {corpus}"] for corpus in WORDS
}
"""Occurrences in those parts of the treebanks that could be counted, a lower bound of Table 6."""


Verdict: TypeAlias = Literal["right", "wrong", "open"]
"""``open``: what is printed can be read in two ways, or cannot be decided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyCheck:
    """One thing that was checked.

    Attributes:
        where: table and row, or section.
        what: what is printed.
        printed: the number as printed.
        computed: the same from other numbers; empty where none can be.
        verdict: whether they agree.
        note: what is meant instead, or why it is open.
    """

    where: str
    what: str
    printed: str
    computed: str
    verdict: Verdict
    note: str = ""


def check_published() -> list[StudyCheck]:
    """Every check of the printed tables, in the order of the paper."""
    return [
        _pairs(),
        _table_2(),
        *_shares("Table 3", TABLE_3),
        _total("Table 3", TABLE_3),
        *_table_4(),
        _rho(),
        *_shares("Table 5, ten", TABLE_5_TEN),
        _total("Table 5, ten", TABLE_5_TEN),
        *_shares("Table 5, first", TABLE_5_FIRST),
        *_table_5_in_prose(),
        *map(_words, WORDS),
        *_table_6_percentages(),
        *_table_6_counts(),
    ]


def fits_percentage(count: int, total: int, percent: str) -> bool:
    """Whether a count over a total, rounded to the decimals printed, is the percentage printed."""
    return rounded_percent(count, total, percent) == percent


def rounded_percent(count: int, total: int, like: str) -> str:
    """A percentage with as many decimals as another one has, halves rounded up."""
    from decimal import ROUND_HALF_UP

    exact = Decimal(100 * count) / Decimal(total)
    return str(exact.quantize(Decimal(like), rounding=ROUND_HALF_UP))


def swapped_digits(number: int) -> list[int]:
    """The numbers that two digits in each other's place make of it, without a leading zero."""
    digits = str(number)
    numbers = set()
    for first, second in itertools.combinations(range(len(digits)), 2):
        new = list(digits)
        new[first], new[second] = new[second], new[first]
        if new[0] != "0":
            numbers.add(int("".join(new)))
    return sorted(numbers - {number})


def _pairs() -> StudyCheck:
    possible = PER_CONNECTIVE * len(CONNECTIVES)
    sentences = ACCEPTABLE + UNACCEPTABLE
    return StudyCheck(
        where="section 2.2.1",
        what="number of sentence pairs",
        printed=str(PAIRS_IN_PROSE),
        computed=f"at most {possible}",
        verdict="wrong" if possible < PAIRS_IN_PROSE else "right",
        note=f"{ACCEPTABLE} + {UNACCEPTABLE} = {sentences} sentences, which are"
        f" {sentences // 2} pairs",
    )


def _table_2() -> StudyCheck:
    """Whether the rows of Table 2 can be nested: the rest must have a variance."""
    whole, part = TABLE_2["NonAcceptable"], TABLE_2["NonAccept+NonGr"]
    n, m = UNACCEPTABLE, UNGRAMMATICAL
    rest = (n * whole.mean - m * part.mean) / (n - m)
    squares = (n - 1) * whole.sd**2 - (m - 1) * part.sd**2
    between = m * (part.mean - whole.mean) ** 2 + (n - m) * (rest - whole.mean) ** 2
    nested_is_possible = squares - between >= 0
    pooled = ((n - m) * whole.mean + m * part.mean) / n
    return StudyCheck(
        where="Table 2",
        what="NonAcceptable against NonAccept+NonGr",
        printed=f"{whole.mean:.3f}, {part.mean:.3f}",
        computed=f"pooled {pooled:.3f}",
        verdict="open" if nested_is_possible else "wrong",
        note="the first row may hold the second one or not; if not, as in Table 4, the mean of all"
        f" {n} is {pooled:.3f}",
    )


def _table_4() -> Iterator[StudyCheck]:
    whole, part = TABLE_4["NonAcceptable"], TABLE_4["NonAccept+NonGr"]
    n, m = UNACCEPTABLE, UNGRAMMATICAL
    pooled = ((n - m) * whole.mean + m * part.mean) / n
    nested = whole.high >= part.high and whole.low <= part.low
    yield StudyCheck(
        where="Table 4",
        what="largest perplexity of NonAcceptable",
        printed=f"{whole.high:.3f}",
        computed=f"at least {part.high:.3f}, if it holds NonAccept+NonGr",
        verdict="right" if nested else "open",
        note=f"with rows that share nothing it fits: the first is of the {n - m} grammatical ones"
        " alone",
    )
    yield StudyCheck(
        where="section 4",
        what="mean perplexity of the unacceptable sentences",
        printed=f"{whole.mean:.3f}",
        computed=f"{pooled:.3f}, if the rows of Table 4 share nothing",
        verdict="right" if nested else "open",
        note=f"then the text has the mean of {n - m} sentences for that of all {n}, or means them"
        " alone by the label",
    )


def _rho() -> StudyCheck:
    both, one = ACCEPTABLE + UNACCEPTABLE, ACCEPTABLE
    p, p_of_one = p_of_rho(RHO, both), p_of_rho(RHO, one)
    return StudyCheck(
        where="section 4",
        what=f"p of rho = {RHO:.3f}, n = {both}",
        printed=f"< {RHO_P_BELOW}",
        computed=f"{p:.5f}",
        verdict="right" if p < RHO_P_BELOW else "wrong",
        note=f"n = {one} would give {p_of_one:.4f}, so both labels are in the correlation",
    )


def p_of_rho(rho: float, n: int) -> float:
    """Two-sided p of a rank correlation: Student's t with n - 2 degrees of freedom.

    ``t = rho sqrt((n - 2) / (1 - rho²))``, as in `scipy.stats.spearmanr`.
    """
    from scipy.special import stdtr

    t = abs(rho) * ((n - 2) / (1 - rho * rho)) ** 0.5
    return float(2 * stdtr(n - 2, -t))


def _table_5_in_prose() -> Iterator[StudyCheck]:
    both = TABLE_5_TEN["Target+Pl. alt."].count
    for row, prose in (("Target", TARGET_IN_PROSE), ("Pl. alt.", PLAUSIBLE_IN_PROSE)):
        share = PrintedShare(TABLE_5_TEN[row].count + both, prose)
        yield _share("section 4", f"{row} in the first ten", share, CLOZE_ITEMS)


def _fitting(corpus: str, words: int) -> int:
    """The number of percentages in Table 6 that fit a number of words."""
    return sum(fits_percentage(row.count, words, row.percent) for row in TABLE_6[corpus].values())


def _likely_words(corpus: str) -> int:
    """The number of words that most percentages fit: as printed, or with two digits swapped."""
    words = WORDS[corpus]
    return max((words, *swapped_digits(words)), key=lambda number: _fitting(corpus, number))


def _words(corpus: str) -> StudyCheck:
    words, best, n = WORDS[corpus], _likely_words(corpus), len(TABLE_6[corpus])
    fitting = _fitting(corpus, words)
    return StudyCheck(
        where="section 2.1",
        what=f"words of {corpus}",
        printed=f"{words:,}",
        computed=f"{best:,}",
        verdict="right" if best == words else "wrong",
        note=f"{fitting} of {n} percentages of Table 6 fit it"
        if best == words
        else f"two swapped digits would explain it: {_fitting(corpus, best)} of {n} percentages of"
        f" Table 6 fit {best:,}, and {fitting} fit {words:,}",
    )


def _table_6_percentages() -> Iterator[StudyCheck]:
    for corpus, rows in TABLE_6.items():
        for connective, row in rows.items():
            yield _share(f"Table 6, {corpus}", connective, row, _likely_words(corpus))


def _table_6_counts() -> Iterator[StudyCheck]:
    for corpus, rows in TABLE_6.items():
        for connective, row in rows.items():
            counted = COUNTED[corpus][connective]
            if row.count >= counted:
                continue
            twin = [name for name, other in rows.items() if other == row and name != connective]
            yield StudyCheck(
                where=f"Table 6, {corpus}",
                what=f"{connective}: occurrences",
                printed=str(row.count),
                computed=f"at least {counted}",
                verdict="wrong",
                note="a part of the corpus has more"
                + (f"; the cell is the same as that of {twin[0]}" if twin else ""),
            )


def _shares(where: str, rows: Mapping[str, PrintedShare]) -> Iterator[StudyCheck]:
    for name, row in rows.items():
        yield _share(where, name, row, CLOZE_ITEMS)


def _share(where: str, what: str, row: PrintedShare, total: int) -> StudyCheck:
    computed, printed = rounded_percent(row.count, total, row.percent), Decimal(row.percent)
    last = abs(printed - Decimal(computed)).scaleb(-printed.as_tuple().exponent)  # type: ignore[operator]  # a finite number has a whole exponent
    return StudyCheck(
        where=where,
        what=f"{what}: {row.count} of {total:,}, %",
        printed=row.percent,
        computed=computed,
        verdict="wrong" if last else "right",
        note=f"{last} in the last decimal" if last else "",
    )


def _total(where: str, rows: Mapping[str, PrintedShare]) -> StudyCheck:
    total = sum(row.count for row in rows.values())
    return StudyCheck(
        where=where,
        what="sum of all rows",
        printed=str(CLOZE_ITEMS),
        computed=str(total),
        verdict="right" if total == CLOZE_ITEMS else "wrong",
    )

"""What adds up in the printed tables and what does not: sums, percentages, p from rho and n."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, TypeAlias

from cimento.paradigms.ratings.formats import CONNECTIVES
from cimento.studies.connectives import published as printed
from cimento.studies.connectives.published import Share

Verdict: TypeAlias = Literal["right", "wrong", "open"]
"""``open``: what is printed can be read in two ways, or cannot be decided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
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


def check_published() -> list[Check]:
    """Every check of the printed tables, in the order of the paper."""
    checks: tuple[Callable[[], Iterator[Check]], ...] = (
        _pairs,
        _table_2,
        _table_3,
        _table_4,
        _rho,
        _table_5,
        _table_6_sizes,
        _table_6_percentages,
        _table_6_counts,
    )
    return [check for each in checks for check in each()]


def fits(count: int, total: int, percent: str) -> bool:
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
    found = set()
    for first, second in itertools.combinations(range(len(digits)), 2):
        new = list(digits)
        new[first], new[second] = new[second], new[first]
        if new[0] != "0":
            found.add(int("".join(new)))
    return sorted(found - {number})


def _pairs() -> Iterator[Check]:
    possible = printed.PER_CONNECTIVE * len(CONNECTIVES)
    sentences = printed.ACCEPTABLE + printed.UNACCEPTABLE
    yield Check(
        where="section 2.2.1",
        what="number of sentence pairs",
        printed=str(printed.PAIRS_IN_PROSE),
        computed=f"at most {possible}",
        verdict="wrong" if possible < printed.PAIRS_IN_PROSE else "right",
        note=f"{printed.ACCEPTABLE} + {printed.UNACCEPTABLE} = {sentences} sentences, which are"
        f" {sentences // 2} pairs",
    )


def _table_2() -> Iterator[Check]:
    """Whether the rows of Table 2 can be nested: the rest must have a variance."""
    whole, part = printed.TABLE_2["NonAcceptable"], printed.TABLE_2["NonAccept+NonGr"]
    n, m = printed.UNACCEPTABLE, printed.UNGRAMMATICAL
    rest = (n * whole.mean - m * part.mean) / (n - m)
    squares = (n - 1) * whole.sd**2 - (m - 1) * part.sd**2
    between = m * (part.mean - whole.mean) ** 2 + (n - m) * (rest - whole.mean) ** 2
    nested_is_possible = squares - between >= 0
    pooled = ((n - m) * whole.mean + m * part.mean) / n
    yield Check(
        where="Table 2",
        what="NonAcceptable against NonAccept+NonGr",
        printed=f"{whole.mean:.3f}, {part.mean:.3f}",
        computed=f"pooled {pooled:.3f}",
        verdict="open" if nested_is_possible else "wrong",
        note="the first row may hold the second one or not; if not, as in Table 4, the mean of all"
        f" {n} is {pooled:.3f}",
    )


def _table_3() -> Iterator[Check]:
    yield from _shares("Table 3", printed.TABLE_3, printed.CLOZE_ITEMS)
    yield _total("Table 3", printed.TABLE_3)


def _table_4() -> Iterator[Check]:
    whole, part = printed.TABLE_4["NonAcceptable"], printed.TABLE_4["NonAccept+NonGr"]
    n, m = printed.UNACCEPTABLE, printed.UNGRAMMATICAL
    pooled = ((n - m) * whole.mean + m * part.mean) / n
    nested = whole.high >= part.high and whole.low <= part.low
    yield Check(
        where="Table 4",
        what="largest perplexity of NonAcceptable",
        printed=f"{whole.high:.3f}",
        computed=f"at least {part.high:.3f}, if it holds NonAccept+NonGr",
        verdict="right" if nested else "open",
        note=f"with rows that share nothing it fits: the first is of the {n - m} grammatical ones"
        " alone",
    )
    yield Check(
        where="section 4",
        what="mean perplexity of the unacceptable sentences",
        printed=f"{whole.mean:.3f}",
        computed=f"{pooled:.3f}, if the rows of Table 4 share nothing",
        verdict="right" if nested else "open",
        note=f"then the text has the mean of {n - m} sentences for that of all {n}, or means them"
        " alone by the label",
    )


def _rho() -> Iterator[Check]:
    both, one = printed.ACCEPTABLE + printed.UNACCEPTABLE, printed.ACCEPTABLE
    p, p_of_one = p_of_rho(printed.RHO, both), p_of_rho(printed.RHO, one)
    yield Check(
        where="section 4",
        what=f"p of rho = {printed.RHO:.3f}, n = {both}",
        printed=f"< {printed.RHO_P_BELOW}",
        computed=f"{p:.5f}",
        verdict="right" if p < printed.RHO_P_BELOW else "wrong",
        note=f"n = {one} would give {p_of_one:.4f}, so both labels are in the correlation",
    )


def p_of_rho(rho: float, n: int) -> float:
    """Two-sided p of a rank correlation: Student's t with n - 2 degrees of freedom.

    ``t = rho sqrt((n - 2) / (1 - rho²))``, as in `scipy.stats.spearmanr`.
    """
    from scipy.special import stdtr

    t = abs(rho) * ((n - 2) / (1 - rho * rho)) ** 0.5
    return float(2 * stdtr(n - 2, -t))


def _table_5() -> Iterator[Check]:
    yield from _shares("Table 5, ten", printed.TABLE_5_TEN, printed.CLOZE_ITEMS)
    yield _total("Table 5, ten", printed.TABLE_5_TEN)
    yield from _shares("Table 5, first", printed.TABLE_5_FIRST, printed.CLOZE_ITEMS)
    both = printed.TABLE_5_TEN["Target+Pl. alt."].count
    for row, prose in (
        ("Target", printed.TARGET_IN_PROSE),
        ("Pl. alt.", printed.PLAUSIBLE_IN_PROSE),
    ):
        count = printed.TABLE_5_TEN[row].count + both
        share = Share(count, prose)
        yield _share("section 4", f"{row} in the first ten", share, printed.CLOZE_ITEMS)


def _table_6_sizes() -> Iterator[Check]:
    for corpus, words in printed.WORDS.items():
        rows = printed.TABLE_6[corpus]
        fitting = sum(fits(row.count, words, row.percent) for row in rows.values())
        better = {
            other: sum(fits(row.count, other, row.percent) for row in rows.values())
            for other in swapped_digits(words)
        }
        best = max(better, key=lambda other: better[other])
        swapped = better[best] > fitting
        yield Check(
            where="section 2.1",
            what=f"words of {corpus}",
            printed=f"{words:,}",
            computed=f"{best:,}" if swapped else f"{words:,}",
            verdict="wrong" if swapped else "right",
            note=f"two swapped digits would explain it: {better[best]} of {len(rows)} percentages"
            f" of Table 6 fit {best:,}, and {fitting} fit {words:,}"
            if swapped
            else f"{fitting} of {len(rows)} percentages of Table 6 fit it",
        )


def _table_6_percentages() -> Iterator[Check]:
    for corpus, rows in printed.TABLE_6.items():
        words = printed.WORDS[corpus]
        candidates = [words, *swapped_digits(words)]
        total = max(
            candidates, key=lambda n: sum(fits(r.count, n, r.percent) for r in rows.values())
        )
        for connective, row in rows.items():
            yield _share(f"Table 6, {corpus}", connective, row, total)


def _table_6_counts() -> Iterator[Check]:
    for corpus, rows in printed.TABLE_6.items():
        for connective, row in rows.items():
            counted = printed.COUNTED[corpus][connective]
            if row.count >= counted:
                continue
            twin = [name for name, other in rows.items() if other == row and name != connective]
            yield Check(
                where=f"Table 6, {corpus}",
                what=f"{connective}: occurrences",
                printed=str(row.count),
                computed=f"at least {counted}",
                verdict="wrong",
                note="a part of the corpus has more"
                + (f"; the cell is the same as that of {twin[0]}" if twin else ""),
            )


def _shares(where: str, rows: Mapping[str, Share], total: int) -> Iterator[Check]:
    for name, row in rows.items():
        yield _share(where, name, row, total)


def _share(where: str, what: str, row: Share, total: int) -> Check:
    computed = rounded_percent(row.count, total, row.percent)
    return Check(
        where=where,
        what=f"{what}: {row.count} of {total:,}, %",
        printed=row.percent,
        computed=computed,
        verdict="right" if computed == row.percent else "wrong",
        note="" if computed == row.percent else _difference(row.percent, computed),
    )


def _difference(first: str, second: str) -> str:
    last = abs(Decimal(first) - Decimal(second)).scaleb(-Decimal(first).as_tuple().exponent)  # type: ignore[operator]  # a finite number has a whole exponent
    return f"{last} in the last decimal"


def _total(where: str, rows: Mapping[str, Share]) -> Check:
    total = sum(row.count for row in rows.values())
    return Check(
        where=where,
        what="sum of all rows",
        printed=str(printed.CLOZE_ITEMS),
        computed=str(total),
        verdict="right" if total == printed.CLOZE_ITEMS else "wrong",
    )

"""Tables of the frequencies of connectives in treebanks, next to published numbers; their ranks.

Rank agreement of corpora is how far connectives have the same order of frequency in both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from cimento.errors import UsageError, need_known
from cimento.report.cells import Shown, count
from cimento.report.formatting import number
from cimento.statistics.correlation import Correlation, correlate
from cimento.statistics.design import Design

if TYPE_CHECKING:
    from cimento.corpus.connectives.frequencies import (
        ComparedFrequencies,
        Counts,
        Denominator,
        PublishedFrequencies,
    )
    from cimento.corpus.connectives.inventories import Inventory
    from cimento.corpus.treebanks import TreebankFile
    from cimento.report.grid import Grid


Key = tuple[str, str]
"""The name of a corpus and of a column of a published table."""

_SMALL = 0.001


def read_joint(options: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """A mapping from ``NAME=A,B``.

    Raises:
        UsageError: an option has another form.
    """
    joint = {}
    for option in options:
        name, equals, members = option.partition("=")
        if not (name.strip() and equals and members.strip()):
            raise UsageError(
                where="--join", seen=f"got {option!r}", todo="Write tweets=it_twittiro,it_postwita."
            )
        joint[name.strip()] = tuple(member.strip() for member in members.split(","))
    return joint


def read_comparisons(
    options: Sequence[str], tables: Callable[[str], Sequence[PublishedFrequencies]]
) -> list[tuple[str, PublishedFrequencies]]:
    """Corpora and columns from ``CORPUS=TABLE:COLUMN``.

    Raises:
        UsageError: an option has another form, or a table has no such column.
    """
    comparisons = []
    for option in options:
        corpus, equals, rest = option.partition("=")
        name, _, column = rest.rpartition(":") if ":" in rest else (rest, "", "")
        if not (corpus and equals and name):
            raise UsageError(
                where="--compare", seen=f"got {option!r}", todo="Write it_isdt=paper:ISDT."
            )
        columns = {table.corpus: table for table in tables(name)}
        if not column and len(columns) == 1:
            column = next(iter(columns))
        need_known(
            column,
            columns,
            where="--compare",
            seen=f"{name} has no column {column!r}" if column else "no column is named",
        )
        comparisons.append((corpus, columns[column]))
    return comparisons


def need_corpora(wanted: Sequence[str], there: Sequence[str]) -> None:
    """Refuse a corpus that is not among those read.

    Raises:
        UsageError: a corpus is missing.
    """
    for corpus in wanted:
        need_known(corpus, there, where="--compare", seen=f"there is no corpus {corpus!r}")


def frequency_grid(names: Sequence[str], counts: Sequence[Counts], *, per: Denominator) -> Grid:
    """A grid of connectives by corpora, with number, percentage and rank."""
    from cimento.report.grid import Grid

    ranks = [count.ranks(names) for count in counts]
    rows = []
    for name in names:
        cells = [name]
        for tally, rank in zip(counts, ranks, strict=True):
            cells += [count(tally.hits.get(name, 0)), _percent(tally.percent(name, per))]
            cells.append(count(rank[name]))
        rows.append(tuple(cells))
    sizes = [
        f"{count.corpus}: {count.size.sentences} sentences, {count.size.words} words,"
        f" {count.size.tokens} tokens; {count.duplicates} duplicate sentences."
        for count in counts
    ]
    rule = counts[0].rule if counts else ""
    return Grid(
        title=f"Occurrences under the rule {rule!r}; % of {per}.",
        header=("connective", *(("n", "%", "rank") * len(counts))),
        groups=("", *(name for count in counts for name in (count.corpus,) * 3)),
        rows=tuple(rows),
        notes=tuple(sizes),
    )


def compared_grid(
    cells: Sequence[ComparedFrequencies], *, corpus: str, published: PublishedFrequencies
) -> Grid:
    """A grid of counted and published numbers."""
    from cimento.corpus.connectives.frequencies import size_remark
    from cimento.report.grid import Grid

    remark = size_remark(published)
    equal = sum(not cell.difference for cell in cells)
    return Grid(
        title=f"{corpus} and {published.corpus} as published: {equal} of {len(cells)} equal.",
        header=("connective", "counted", "printed", "expected here", "equal?", "likely cause"),
        rows=tuple(
            (
                cell.connective,
                count(cell.counted),
                count(cell.published),
                number(cell.expected, digits=1),
                Shown(
                    "yes" if not cell.difference else f"{cell.difference:+d}",
                    {"": not cell.difference, "_difference": cell.difference},
                ),
                "; ".join(cell.causes),
            )
            for cell in cells
        ),
        remarks=1,
        notes=(f"{remark}.",) if remark else (),
    )


def connectives_json(
    files: Sequence[TreebankFile],
    inventory: Inventory,
    counts: Sequence[Counts],
    compared: Mapping[Key, tuple[PublishedFrequencies, Sequence[ComparedFrequencies]]],
    ranks: Sequence[RankAgreement],
    *,
    per: Denominator,
) -> dict[str, object]:
    """The frequencies, comparisons and rank correlations as JSON values."""
    from cimento.corpus.connectives.frequencies import size_remark
    from cimento.corpus.treebanks import licenses_of

    return {
        "inventory": inventory.name,
        "files": {file.name: file.sha256 for file in files},
        "licenses": licenses_of(files),
        "per": per,
        "corpora": [
            {
                "corpus": count.corpus,
                "rule": count.rule,
                **asdict(count.size),
                "duplicates": count.duplicates,
                "connectives": {
                    name: {
                        "n": count.hits.get(name, 0),
                        "sentences": count.in_sentences.get(name, 0),
                        "percent": count.percent(name, per),
                        "rank": rank,
                    }
                    for name, rank in count.ranks(inventory.names).items()
                },
            }
            for count in counts
        ],
        "compared": [
            {
                "corpus": corpus,
                "column": column,
                "remark": size_remark(published),
                "cells": [{**asdict(cell), "difference": cell.difference} for cell in cells],
            }
            for (corpus, column), (published, cells) in compared.items()
        ],
        "rank_agreement": [asdict(agreement) for agreement in ranks],
    }


def _percent(value: float | None) -> str:
    from cimento.report.cells import PERCENT, Shown
    from cimento.report.formatting import number

    is_small = value is not None and 0 < value < _SMALL
    return Shown(number(value, digits=4 if is_small else 3), value, PERCENT)


KINDS = ("spearman", "kendall")


@dataclass(frozen=True, slots=True)
class RankAgreement:
    """The rank correlations of two corpora over the connectives that both could have.

    Attributes:
        first: name of the one.
        second: name of the other.
        spearman: rho, with its 95% interval (jackknife over connectives).
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
    agreements = []
    for first, second in combinations(columns, 2):
        names = [name for name in columns[first] if name in columns[second]]
        x, y = ([columns[corpus][name] for name in names] for corpus in (first, second))
        design = Design.independent(len(names))
        rho, tau = (correlate(x, y, kind=kind, design=design) for kind in KINDS)
        agreements.append(RankAgreement(first, second, rho, tau))
    return agreements


def rank_grid(agreements: Sequence[RankAgreement]) -> Grid:
    """A grid with a row for every two corpora."""
    from cimento.report.cells import count
    from cimento.report.formatting import interval, number
    from cimento.report.grid import Grid

    rows = []
    for agreement in agreements:
        cells = [f"{agreement.first}, {agreement.second}", count(agreement.spearman.n)]
        for one in (agreement.spearman, agreement.kendall):
            cells += [number(one.r), interval(one.low, one.high)]
        rows.append(tuple(cells))
    reasons = dict.fromkeys(agreement.spearman.reason for agreement in agreements)
    return Grid(
        title="Agreement of ranks",
        header=("corpora", "n", "rho", "95%", "tau-b", "95%"),
        rows=tuple(rows),
        notes=tuple(f"No interval: {reason}." for reason in reasons if reason),
    )

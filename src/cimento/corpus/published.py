"""Counted frequencies beside a published table, cell by cell, and what may make the difference."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cimento.corpus.connectives import Counts
from cimento.errors import InputError
from cimento.io.parsing import whole_number
from cimento.suites.tables import Row, Table, open_table

MOST_ROWS = 2_000
_FAR = 2
"""With so many times what is expected, a printed number may be that of another row."""


@dataclass(frozen=True, slots=True)
class Published:
    """A column of a published table.

    Attributes:
        corpus: what the table calls the corpus.
        counts: connective to its published number.
        percents: connective to the printed percentage, with its decimals; may be empty.
        size: published number of words; None where it is not given.
    """

    corpus: str
    counts: Mapping[str, int]
    percents: Mapping[str, str]
    size: int | None = None


@dataclass(frozen=True, slots=True)
class Compared:
    """A cell of a published table beside what was counted.

    Attributes:
        connective: the row.
        published: the printed number.
        counted: what was counted under the chosen rule.
        expected: the published number for as many words as were counted here; None where the
            published number of words is not known.
        causes: what may explain the difference, the likeliest first; empty where there is none.
    """

    connective: str
    published: int
    counted: int
    expected: float | None
    causes: tuple[str, ...]

    @property
    def difference(self) -> int:
        """Counted less published."""
        return self.counted - self.published


def compare_published(
    counts: Sequence[Counts], published: Published, *, rule: str
) -> list[Compared]:
    """A published column beside the counts of one corpus.

    Args:
        counts: of one corpus under several rules, that of `rule` among them; the others tell
            which other reading would give the published number.
        published: the column.
        rule: name of the rule that is compared.
    """
    main = next(each for each in counts if each.rule == rule)
    others = [each for each in counts if each.rule != rule]
    share = min(1.0, main.size.words / published.size) if published.size else None
    return [
        Compared(
            name,
            number,
            main.hits.get(name, 0),
            None if share is None else number * share,
            _causes(name, main, others, published),
        )
        for name, number in published.counts.items()
    ]


def size_remark(published: Published) -> str:
    """What the printed percentages say of the printed number of words; empty where they agree.

    Each percentage, rounded, leaves a range of numbers of words; those that most rows leave are
    taken, and a printed number that two neighbouring digits keep out of them is said so.
    """
    ranges = [
        (100 * number / (printed + half), 100 * number / (printed - half))
        for name, number in published.counts.items()
        if (text := published.percents.get(name)) and (printed := float(text)) > 0
        for half in [0.5 * 10.0 ** -len(text.partition(".")[2])]
        if printed > half
    ]
    if not ranges or published.size is None:
        return ""
    agreeing = [_inside(published.size, each) for each in ranges]
    bounds = [bound for each in ranges for bound in each]
    best = max(bounds, key=lambda size: sum(_inside(size, each) for each in ranges))
    kept = [each for each in ranges if _inside(best, each)]
    if sum(agreeing) >= len(kept):
        return ""
    low, high = max(each[0] for each in kept), min(each[1] for each in kept)
    remark = (
        f"{sum(agreeing)} of {len(ranges)} printed percentages are of the printed"
        f" {published.size} words; {len(kept)} are of {math.ceil(low)} to {math.floor(high)} words"
    )
    swapped = [size for size in _swapped(published.size) if low <= size <= high]
    return remark + (f" ({swapped[0]}, two digits swapped?)" if swapped else "")


def _inside(size: float, bounds: tuple[float, float]) -> bool:
    # The bounds themselves are ends of other ranges, which rounding errors must not keep out.
    return bounds[0] * (1 - 1e-12) <= size <= bounds[1] * (1 + 1e-12)


def _swapped(number: int) -> list[int]:
    """The number with two neighbouring digits swapped, in every place."""
    digits = str(number)
    return [
        int(digits[:at] + digits[at + 1] + digits[at] + digits[at + 2 :])
        for at in range(len(digits) - 1)
    ]


def _causes(
    name: str, main: Counts, others: Sequence[Counts], published: Published
) -> tuple[str, ...]:
    number, counted = published.counts[name], main.hits.get(name, 0)
    if number == counted:
        return ()
    causes = []
    missing = published.size is not None and main.size.words < published.size
    target = number * main.size.words / published.size if missing and published.size else number
    if missing and counted > number:
        causes.append(f"printed too low: a part of the corpus already has {counted}")
        causes += _copied(name, published)
    elif missing and published.size:
        causes.append(f"{100 * main.size.words / published.size:.1f} % of the words are here")
        causes += _copied(name, published) if counted > _FAR * target else []
    causes += _other_rules(name, counted, target, others)
    if 0 < counted - target <= main.duplicates:
        causes.append(f"{main.duplicates} sentences are there more than once")
    return tuple(causes) or ("another release or another rule",)


def _other_rules(name: str, counted: int, target: float, others: Sequence[Counts]) -> list[str]:
    """The rules that come nearest to a number, where they come at least twice as near."""
    gaps = {each.rule: abs(each.hits.get(name, 0) - target) for each in others}
    nearest = min(gaps.values(), default=math.inf)
    if nearest > abs(counted - target) / 2:
        return []
    best = [each for each in others if gaps[each.rule] == nearest]
    return [f"nearer under {', '.join(e.rule for e in best)}: {best[0].hits.get(name, 0)}"]


def _copied(name: str, published: Published) -> list[str]:
    """Other rows with the same number and percentage: one may have been copied."""
    same = [
        other
        for other, number in published.counts.items()
        if other != name
        and number == published.counts[name]
        and published.percents.get(other) == published.percents.get(name)
    ]
    return [f"also the number of {', '.join(same)}, perhaps copied"] if same else []


def read_published(path: Path) -> list[Published]:
    """A published table: ``connective``, ``corpus``, ``count``; ``percent`` and ``size`` if known.

    Raises:
        InputError: it cannot be read, a column is missing or a number is none.
    """
    table = open_table(path)
    missing = [name for name in ("connective", "corpus", "count") if name not in table.columns]
    if missing:
        raise InputError(
            where=table.name,
            seen=f"the column {', '.join(missing)} is missing",
            todo="Name the columns connective, corpus, count in the first row.",
        )
    if len(table.rows) > MOST_ROWS:
        raise InputError(
            where=table.name,
            seen=f"it has {len(table.rows):,} rows, and each would be held against all others",
            todo="Is it a table from a publication?",
        )
    corpora: dict[str, list[Row]] = {}
    for row in table.rows:
        corpora.setdefault(row.cells["corpus"].strip(), []).append(row)
    return [_published(table, corpus, rows) for corpus, rows in corpora.items()]


def _published(table: Table, corpus: str, rows: Sequence[Row]) -> Published:
    counts, percents, size = {}, {}, None
    for row in rows:
        name = row.cells["connective"].strip()
        counts[name] = _number(table, row, "count")
        if row.cells.get("percent", "").strip():
            percents[name] = row.cells["percent"].strip()
            _check_percent(table, row)
        if row.cells.get("size", "").strip():
            size = _number(table, row, "size")
    return Published(corpus, counts, percents, size)


def _number(table: Table, row: Row, column: str) -> int:
    text = row.cells[column].strip()
    number = whole_number(text)
    if number is None:
        raise InputError(
            where=table.where(row), seen=f"{column} is {text!r}", todo="Write a whole number."
        )
    return number


def _check_percent(table: Table, row: Row) -> None:
    text = row.cells["percent"].strip()
    whole, _, rest = text.partition(".")
    if not (whole + rest).isdecimal():
        raise InputError(
            where=table.where(row), seen=f"percent is {text!r}", todo="Write it as in 0.639."
        )

"""Frequencies of connectives in treebanks, counted here and compared with published tables.

The layout of published tables is that of Table 6 of Albertin, Miaschi and Brunato 2021
(ceur-ws.org/Vol-3033, paper 16).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from cimento.corpus.conllu import ReadingProblem
from cimento.corpus.connectives.inventories import Inventory
from cimento.corpus.connectives.matching import Finder, Rule
from cimento.corpus.search import DuplicateSentences
from cimento.corpus.treebanks import TreebankFile
from cimento.errors import InputError, UsageError, did_you_mean
from cimento.intake.table import Row, Table
from cimento.intake.tables import open_table
from cimento.io.parsing import whole_number
from cimento.io.values import grouped

Denominator: TypeAlias = Literal["words", "tokens"]


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a corpus.

    Attributes:
        sentences: number of sentences, without malformed ones and omitted duplicates.
        words: number of syntactic words.
        tokens: number of orthographic tokens: ``del`` is one token and two words.
    """

    sentences: int
    words: int
    tokens: int

    def of(self, denominator: Denominator) -> int:
        """The number of words or tokens, by the denominator."""
        return self.words if denominator == "words" else self.tokens


@dataclass(frozen=True, slots=True)
class Counts:
    """The counts of connectives in one corpus under one rule.

    Attributes:
        corpus: its name.
        rule: the rule's name.
        size: size of the corpus.
        hits: number of occurrences of each connective.
        in_sentences: number of sentences that contain each connective.
        duplicates: number of repeated sentences, which are left out only on request.
    """

    corpus: str
    rule: str
    size: Size
    hits: Mapping[str, int]
    in_sentences: Mapping[str, int]
    duplicates: int = 0

    def percent(self, connective: str, denominator: Denominator) -> float | None:
        """Occurrences per hundred words or tokens; None for an empty corpus."""
        size = self.size.of(denominator)
        return 100 * self.hits.get(connective, 0) / size if size else None

    def ranks(self, connectives: Sequence[str]) -> dict[str, int]:
        """The rank of each connective by its number; equal numbers share the best rank."""
        counts = [self.hits.get(name, 0) for name in connectives]
        return {
            name: 1 + sum(other > count for other in counts)
            for name, count in zip(connectives, counts, strict=True)
        }


def count_connectives(
    files: Sequence[TreebankFile],
    inventory: Inventory,
    rules: Sequence[Rule],
    *,
    joint: Mapping[str, Sequence[str]] | None = None,
    skipped: list[ReadingProblem] | None = None,
    drop_duplicates: bool = False,
) -> list[Counts]:
    """Counts of connectives by corpus and rule; every file is read once.

    Args:
        files: treebanks; files of the same corpus are counted together.
        inventory: the connectives to look for.
        rules: the rules for occurrences that count, each with separate counts.
        joint: the corpora in each joint corpus, which are then not returned separately.
        skipped: list to which malformed sentences are added; None refuses them.
        drop_duplicates: whether repeated sentences in the same (joint) corpus are left out.

    Returns:
        For each corpus in order of appearance, the counts under each rule in order.

    Raises:
        InputError: a file cannot be read, or a sentence is malformed and `skipped` is None.
        UsageError: a joint corpus names an unknown corpus.
    """
    named = _corpus_names(files, joint or {})
    finders = [Finder(inventory, rule) for rule in rules]
    tallies: dict[str, _Tally] = {}
    for file in files:
        name = named[file.corpus]
        tally = tallies.setdefault(name, _Tally(len(finders)))
        for sentence in file.sentences(skipped=skipped):
            if not tally.known.is_new(sentence, file.name) and drop_duplicates:
                continue
            tally.sentences += 1
            tally.words += len(sentence.words)
            tally.tokens += sentence.n_tokens
            for index, finder in enumerate(finders):
                names = [match.connective for match in finder.find(sentence)]
                tally.hits[index].update(names)
                tally.in_sentences[index].update(set(names))
    return [
        tally.counts(name, rule.name, index)
        for name, tally in tallies.items()
        for index, rule in enumerate(rules)
    ]


class _Tally:
    """The running counts of one corpus while it is read."""

    def __init__(self, n_rules: int) -> None:
        self.known = DuplicateSentences()
        self.sentences = self.words = self.tokens = 0
        self.hits: list[Counter[str]] = [Counter() for _ in range(n_rules)]
        self.in_sentences: list[Counter[str]] = [Counter() for _ in range(n_rules)]

    def counts(self, corpus: str, rule: str, index: int) -> Counts:
        size = Size(self.sentences, self.words, self.tokens)
        hits, in_sentences = dict(self.hits[index]), dict(self.in_sentences[index])
        return Counts(corpus, rule, size, hits, in_sentences, len(self.known.pairs))


def _corpus_names(
    files: Sequence[TreebankFile], joint: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """The name under which each corpus is counted."""
    there = list(dict.fromkeys(file.corpus for file in files))
    named = {corpus: corpus for corpus in there}
    for name, members in joint.items():
        for member in members:
            if member not in named:
                raise UsageError(
                    where=f"joint corpus {name!r}",
                    seen=f"there is no corpus {member!r}",
                    todo=did_you_mean(member, there),
                )
            named[member] = name
    return named


MOST_ROWS = 2_000
_FAR = 2
"""Factor above the expected number from which a printed number may belong to another row."""


@dataclass(frozen=True, slots=True)
class PublishedFrequencies:
    """A column of a published table.

    Attributes:
        corpus: name of the corpus in the table.
        counts: published number of each connective.
        percents: printed percentage of each connective, with its decimals; may be empty.
        size: published number of words; None where it is not given.
    """

    corpus: str
    counts: Mapping[str, int]
    percents: Mapping[str, str]
    size: int | None = None


@dataclass(frozen=True, slots=True)
class ComparedFrequencies:
    """A cell of a published table compared with our count.

    Attributes:
        connective: name of the row.
        published: the printed number.
        counted: number counted under the chosen rule.
        expected: the published number for as many words as were counted here; None where the
            published number of words is not known.
        causes: possible explanations of the difference, the likeliest first; may be empty.
    """

    connective: str
    published: int
    counted: int
    expected: float | None
    causes: tuple[str, ...]

    @property
    def difference(self) -> int:
        """The counted number minus the published one."""
        return self.counted - self.published


def compare_published(
    counts: Sequence[Counts], published: PublishedFrequencies, *, rule: str
) -> list[ComparedFrequencies]:
    """The comparison of a published column with the counts of one corpus.

    Args:
        counts: counts of one corpus under several rules, including `rule`; the others show which
            rule would give the published number.
        published: the column.
        rule: name of the rule that is compared.
    """
    main = next(count for count in counts if count.rule == rule)
    others = [count for count in counts if count.rule != rule]
    share = min(1.0, main.size.words / published.size) if published.size else None
    return [
        ComparedFrequencies(
            name,
            number,
            main.hits.get(name, 0),
            None if share is None else number * share,
            _causes(name, main, others, published),
        )
        for name, number in published.counts.items()
    ]


def size_remark(published: PublishedFrequencies) -> str:
    """A remark if the printed percentages contradict the printed number of words; else empty.

    Each rounded percentage allows a range of numbers of words. The numbers that most rows allow are
    taken, and the remark says if swapping two neighboring digits of the printed number would bring
    it into their range.
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
    agreeing = [_inside(published.size, range_) for range_ in ranges]
    bounds = [bound for range_ in ranges for bound in range_]
    best = max(bounds, key=lambda size: sum(_inside(size, range_) for range_ in ranges))
    kept = [range_ for range_ in ranges if _inside(best, range_)]
    if sum(agreeing) >= len(kept):
        return ""
    low, high = max(low for low, _ in kept), min(high for _, high in kept)
    remark = (
        f"{sum(agreeing)} of {len(ranges)} printed percentages are of the printed"
        f" {published.size} words; {len(kept)} are of {math.ceil(low)} to {math.floor(high)} words"
    )
    swapped = [size for size in _swapped(published.size) if low <= size <= high]
    return remark + (f" ({swapped[0]}, two digits swapped?)" if swapped else "")


def _inside(size: float, bounds: tuple[float, float]) -> bool:
    # The bounds are themselves ends of ranges, which rounding errors must not exclude.
    return bounds[0] * (1 - 1e-12) <= size <= bounds[1] * (1 + 1e-12)


def _swapped(number: int) -> list[int]:
    """The numbers made by swapping two neighboring digits, for every pair of places."""
    digits = str(number)
    return [
        int(digits[:at] + digits[at + 1] + digits[at] + digits[at + 2 :])
        for at in range(len(digits) - 1)
    ]


def _causes(
    name: str, main: Counts, others: Sequence[Counts], published: PublishedFrequencies
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
        causes.append(f"{100 * main.size.words / published.size:.1f}% of the words are here")
        causes += _copied(name, published) if counted > _FAR * target else []
    causes += _other_rules(name, counted, target, others)
    if 0 < counted - target <= main.duplicates:
        causes.append(f"{main.duplicates} sentences are there more than once")
    return tuple(causes) or ("another release or another rule",)


def _other_rules(name: str, counted: int, target: float, others: Sequence[Counts]) -> list[str]:
    """The rules whose counts are nearest to a number, if at least twice as near as this count."""
    gaps = {other.rule: abs(other.hits.get(name, 0) - target) for other in others}
    nearest = min(gaps.values(), default=math.inf)
    if nearest > abs(counted - target) / 2:
        return []
    best = [other for other in others if gaps[other.rule] == nearest]
    return [f"nearer under {', '.join(e.rule for e in best)}: {best[0].hits.get(name, 0)}"]


def _copied(name: str, published: PublishedFrequencies) -> list[str]:
    """Other rows with the same number and percentage: one may have been copied."""
    same = [
        other
        for other, number in published.counts.items()
        if other != name
        and number == published.counts[name]
        and published.percents.get(other) == published.percents.get(name)
    ]
    return [f"also the number of {', '.join(same)}, perhaps copied"] if same else []


def read_published(path: Path) -> list[PublishedFrequencies]:
    """A published table with ``connective``, ``corpus``, ``count`` and maybe ``percent``, ``size``.

    Raises:
        InputError: the file cannot be read, a column is missing or a number is malformed.
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
    corpora = grouped((row.cells["corpus"].strip(), row) for row in table.rows)
    return [_published(table, corpus, rows) for corpus, rows in corpora.items()]


def _published(table: Table, corpus: str, rows: Sequence[Row]) -> PublishedFrequencies:
    counts, percents, size = {}, {}, None
    for row in rows:
        name = row.cells["connective"].strip()
        counts[name] = _number(table, row, "count")
        if row.cells.get("percent", "").strip():
            percents[name] = row.cells["percent"].strip()
            _check_percent(table, row)
        if row.cells.get("size", "").strip():
            size = _number(table, row, "size")
    return PublishedFrequencies(corpus, counts, percents, size)


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

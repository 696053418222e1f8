"""Matching of queries on an index: tables of word numbers, joined and filtered as columns.

A row of a table is a way to put words of one sentence in the places of a pattern, different words
for different names, as in Grew. Names are added one by one, along edges where there are any.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cimento.corpus.queries import (
    Clause,
    CompareClause,
    DistanceClause,
    DominanceClause,
    EdgeClause,
    FeatureTests,
    Flags,
    NodeClause,
    Numbers,
    OrderClause,
    QueryBlock,
    Request,
    SentenceTest,
    TreebankIndex,
)
from cimento.errors import InputError

Table = dict[str, Numbers]
"""The words in each place of a pattern, row by row."""

_ROWS = 20_000
"""Number of words for the first place that are extended at once, which bounds the memory."""

_MOST_ROWS = 5_000_000
_ROW = "#"
_OPERATORS: Mapping[str, Callable[[Numbers, int], Flags]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}


@dataclass(frozen=True, slots=True)
class TreeMatch:
    """A match of a query.

    Attributes:
        sentence: number of the sentence in the index.
        words: ID in its sentence of the word in each place of the pattern.
    """

    sentence: int
    words: Mapping[str, int]


def find(index: TreebankIndex, request: Request) -> list[TreeMatch]:
    """All matches of a query, in the order of the sentences and then of the words.

    Args:
        index: the treebanks.
        request: the query.

    Raises:
        InputError: the pattern relates its words so little that there are too many combinations.
    """
    first = _first(index, request)
    start = np.flatnonzero(_chosen(index, request.clauses, first))
    if request.sentence:
        wanted = _sentences(index, request.sentence, np.unique(index.sentence_of[start]))
        start = start[wanted[index.sentence_of[start]]]
    tables = [
        _filtered(
            index,
            request.blocks,
            _extended(index, request.clauses, {first: start[low : low + _ROWS]}),
        )
        for low in range(0, len(start), _ROWS)
    ]
    rows = sorted(
        row
        for table in tables
        for row in zip(*(table[name].tolist() for name in request.nodes), strict=True)
    )
    return [_match(index, request.nodes, row) for row in rows]


def _match(index: TreebankIndex, names: Sequence[str], row: Sequence[int]) -> TreeMatch:
    sentence = int(index.sentence_of[row[0]])
    start = int(index.starts[sentence])
    words = {name: word - start + 1 for name, word in zip(names, row, strict=True)}
    return TreeMatch(sentence, words)


# --- Choosing words


def _first(index: TreebankIndex, request: Request) -> str:
    """The place with the fewest candidates."""
    counts = {
        name: int(np.count_nonzero(_chosen(index, request.clauses, name))) for name in request.nodes
    }
    return min(counts, key=counts.__getitem__)


def _chosen(index: TreebankIndex, clauses: Iterable[Clause], name: str) -> Flags:
    """The words that the clauses about one place alone allow there."""
    flags = np.ones(index.n_words, dtype=bool)
    for clause in clauses:
        if isinstance(clause, NodeClause) and clause.name == name:
            flags &= _any(index, clause.alternatives)
        elif isinstance(clause, EdgeClause) and clause.target == name:
            flags &= _labeled(index, clause)
            if clause.source:
                flags &= index.heads >= 0
        elif isinstance(clause, EdgeClause) and clause.source == name and not clause.target:
            heads = index.heads[_labeled(index, clause)]
            parents = np.zeros(index.n_words, dtype=bool)
            parents[heads[heads >= 0]] = True
            flags &= parents
    return flags


def _any(index: TreebankIndex, alternatives: Iterable[FeatureTests]) -> Flags:
    flags = np.zeros(index.n_words, dtype=bool)
    for tests in alternatives:
        passed = np.ones(index.n_words, dtype=bool)
        for test in tests:
            passed &= index.chosen(test)
        flags |= passed
    return flags


def _labeled(index: TreebankIndex, clause: EdgeClause) -> Flags:
    if not clause.labels:
        return np.ones(index.n_words, dtype=bool)
    return _any(index, clause.labels) ^ clause.negated


# --- Extending tables


def _extended(index: TreebankIndex, clauses: Sequence[Clause], table: Table) -> Table:
    """A table with all places that clauses name, and the rows that satisfy all of them."""
    missing = {name: None for clause in clauses for name in clause.names if name not in table}
    chosen = {name: _chosen(index, clauses, name) for name in missing}
    bound = [name for name in table if name != _ROW]
    for name in {name: None for clause in clauses for name in clause.names if name in table}:
        table = _kept(table, _chosen(index, clauses, name)[table[name]])
    table = _related(index, clauses, table, new=bound)
    while missing:
        name, table = _joined(index, clauses, table, chosen)
        del missing[name], chosen[name]
        table = _related(index, clauses, table, new=[name])
    return table


def _joined(
    index: TreebankIndex, clauses: Sequence[Clause], table: Table, chosen: Mapping[str, Flags]
) -> tuple[str, Table]:
    """A table with one place more: by an edge or to a neighbor, else anywhere in the sentence."""
    edges = [c for c in clauses if isinstance(c, EdgeClause) and c.source and c.target]
    for edge in edges:
        if edge.target in table and edge.source in chosen:
            return edge.source, _moved(index, table, edge.source, index.heads[table[edge.target]],
                                       chosen)  # fmt: skip
    for order in clauses:
        if isinstance(order, OrderClause) and order.adjacent:
            for here, there, step in ((order.left, order.right, 1), (order.right, order.left, -1)):
                if here in table and there in chosen:
                    return there, _moved(index, table, there, table[here] + step, chosen)
    for edge in edges:
        if edge.source in table and edge.target in chosen:
            order_, first = index.children
            heads = table[edge.source]
            return edge.target, _spread(
                table, edge.target, order_, first[heads], first[heads + 1], chosen
            )
    near = {n for c in clauses if any(m in table for m in c.names) for n in c.names if n in chosen}
    name = min(near or chosen, key=lambda other: int(np.count_nonzero(chosen[other])))
    words = np.flatnonzero(chosen[name])
    sentences = index.sentence_of[_anchor(table)]
    low = np.searchsorted(words, index.starts[sentences])
    high = np.searchsorted(words, index.starts[sentences + 1])
    return name, _spread(table, name, words, low, high, chosen)


def _anchor(table: Table) -> Numbers:
    """A word of each row, which tells its sentence."""
    return next(column for name, column in table.items() if name != _ROW)


def _moved(
    index: TreebankIndex, table: Table, name: str, words: Numbers, chosen: Mapping[str, Flags]
) -> Table:
    """A table with one given word more in each row, if there is one in the same sentence."""
    anchor = _anchor(table)
    there = (words >= 0) & (words < index.n_words)
    inside = np.where(there, words, 0)
    there &= index.sentence_of[inside] == index.sentence_of[anchor]
    there &= chosen[name][inside]
    return _kept({**table, name: words}, there)


def _spread(
    table: Table,
    name: str,
    words: Numbers,
    low: Numbers,
    high: Numbers,
    chosen: Mapping[str, Flags],
) -> Table:
    """A table with a row for each word between two places of a list of words."""
    counts = high - low
    total = int(counts.sum())
    if total > _MOST_ROWS:
        raise InputError(
            where=f"pattern, the word {name}",
            seen=f"there are more than {_MOST_ROWS:,} combinations with it",
            todo="Relate it to the others by an edge or by order, or give it more features.",
        )
    repeated = {other: np.repeat(column, counts) for other, column in table.items()}
    steps = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
    new = words[np.repeat(low, counts) + steps]
    return _kept({**repeated, name: new}, chosen[name][new])


def _kept(table: Table, flags: Flags) -> Table:
    return {name: column[flags] for name, column in table.items()}


# --- Clauses about several places


def _related(
    index: TreebankIndex, clauses: Sequence[Clause], table: Table, *, new: Sequence[str]
) -> Table:
    """The rows in which new words are not there already, and are related as clauses say."""
    for clause in clauses:
        names = clause.names
        if len(names) > 1 and all(n in table for n in names) and any(n in new for n in names):
            table = _kept(table, _holds(index, clause, table))
    if len(new) == 1:
        flags = np.ones(len(table[new[0]]), dtype=bool)
        for name, column in table.items():
            if name not in (new[0], _ROW):
                flags &= column != table[new[0]]
        table = _kept(table, flags)
    return table


def _holds(index: TreebankIndex, clause: Clause, table: Table) -> Flags:
    one, other = (table[name] for name in clause.names)
    if isinstance(clause, EdgeClause):
        edges: Flags = index.heads[other] == one
        return edges & _labeled(index, clause)[other]
    if isinstance(clause, OrderClause):
        return other - one == 1 if clause.adjacent else other > one
    if isinstance(clause, DistanceClause):
        distance = other - one
        return _OPERATORS[clause.operator](
            distance if clause.signed else np.abs(distance), clause.number
        )
    if isinstance(clause, DominanceClause):
        return _dominates(index, one, other)
    if isinstance(clause, CompareClause):
        return _compared(index, clause, one, other)
    raise TypeError(clause)


def _dominates(index: TreebankIndex, above: Numbers, below: Numbers) -> Flags:
    flags = np.zeros(len(above), dtype=bool)
    heads = index.heads[below]
    while (heads >= 0).any():
        flags |= heads == above
        heads = np.where(heads >= 0, index.heads[heads], -1)
    return flags


def _compared(index: TreebankIndex, clause: CompareClause, one: Numbers, other: Numbers) -> Flags:
    first, second = index.column(clause.left[1]), index.column(clause.right[1])
    # The codes of the second column in those of the first; -1 for values that it does not have.
    place = {value: code for code, value in enumerate(first.values)}
    same = np.array([place.get(value, -1) for value in second.values], dtype=np.int64)
    left, right = first.codes[one], second.codes[other]
    has_left = np.array([bool(value) for value in first.values])[left]
    has_right = np.array([bool(value) for value in second.values])[right]
    agree: Flags = (left == same[right]) == clause.equal
    agree &= has_left & has_right
    return agree


# --- Blocks and whole sentences


def _filtered(index: TreebankIndex, blocks: Iterable[QueryBlock], table: Table) -> Table:
    """The rows that can be extended by every ``with``, and by no ``without``."""
    for block in blocks:
        n = len(next(iter(table.values())))
        extended = _extended(index, block.clauses, {**table, _ROW: np.arange(n)})
        flags = np.zeros(n, dtype=bool)
        flags[extended[_ROW]] = True
        table = _kept(table, flags == block.wanted)
    return table


def _sentences(index: TreebankIndex, tests: Iterable[SentenceTest], numbers: Numbers) -> Flags:
    """Whether each sentence passes; those that are not among the numbers do not."""
    flags = np.zeros(len(index.entries), dtype=bool)
    for number in numbers.tolist():
        flags[number] = all(_sentence_holds(index, test, number) for test in tests)
    return flags


def _sentence_holds(index: TreebankIndex, test: SentenceTest, number: int) -> bool:
    if test.test is None:
        return is_projective(index, number) == (test.name == "is_projective")
    entry = index.entries[number]
    value = {"sent_id": entry.id, "text": entry.text, "newdoc": entry.document}[test.name]
    return test.test.holds(value)


def is_projective(index: TreebankIndex, number: int) -> bool:
    """Whether every word between a word and its head descends from that head."""
    start, end = int(index.starts[number]), int(index.starts[number + 1])
    heads = index.heads[start:end] - start
    arcs = [sorted((word, int(head))) for word, head in enumerate(heads) if head >= 0]
    root = next(word for word, head in enumerate(heads) if head < 0)
    crossing = any(a < c < b < d for a, b in arcs for c, d in arcs)
    return not crossing and not any(low < root < high for low, high in arcs)

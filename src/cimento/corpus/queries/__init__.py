"""Queries of treebanks: here their records, and treebanks as columns of codes to match them on.

The notation of queries is that of Grew (Guillaume 2021, "Graph Matching and Graph Rewriting: GREW
tools for corpus exploration, maintenance and conversion", doi:10.18653/v1/2021.eacl-demos.21):
blocks ``pattern``, ``with``, ``without`` and ``global``, whose clauses are separated by semicolons.
Regular expressions are Python's and match a whole value.

In an index, every column of every word has codes into a vocabulary. A test of a feature is made
once for each value that occurs, and words are then chosen by their codes. Sentences are rebuilt
from the columns when they are asked for, so that a treebank of 300,000 words takes some tens of
megabytes.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from cimento.corpus import Multiword, TreebankSentence, Word
from cimento.corpus.conllu import ReadingProblem
from cimento.corpus.treebanks import TreebankFile
from cimento.io.patterns import LONGEST_SEARCHED
from cimento.suites.letters import one_spelling

Numbers: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]

_COLUMNS = ("form", "lemma", "upos", "xpos", "feats", "deprel", "misc")
Value: TypeAlias = "str | re.Pattern[str]"
"""A value as written, or a regular expression for it."""

Relation: TypeAlias = Literal["is", "is not", "present", "absent"]

LABEL = "deprel"
LABEL_PARTS: Mapping[str, str] = {"label": LABEL, "1": "deprel.1", "2": "deprel.2"}
"""The names for an edge's label and its parts, with those of the columns that hold them."""

GLOBAL_FLAGS = ("is_projective", "is_not_projective")
GLOBAL_TEXTS = ("sent_id", "text", "newdoc")


class Column(NamedTuple):
    """A column: the code of every word, and the value of every code; empty for none."""

    codes: Numbers
    values: Sequence[str]


@dataclass(frozen=True, slots=True)
class SentenceEntry:
    """What a sentence has besides its words.

    Attributes:
        file: number of its file.
        id: its ``sent_id``.
        text: its text.
        document: the document that it is in.
        multiwords: tokens of several words.
    """

    file: int
    id: str
    text: str
    document: str
    multiwords: tuple[Multiword, ...]


class TreebankIndex:
    """The words of some treebanks, numbered from 0 through all sentences.

    Attributes:
        files: the treebanks.
        entries: the sentences.
        starts: number of each sentence's first word, with the number of words at the end.
        heads: number of each word's head; -1 for roots.
        sentence_of: number of each word's sentence.
    """

    def __init__(
        self, files: Sequence[TreebankFile], *, skipped: list[ReadingProblem] | None = None
    ) -> None:
        """Read treebanks.

        Args:
            files: treebanks.
            skipped: list to which malformed sentences are added; None refuses them.

        Raises:
            InputError: a file cannot be read, or a sentence is malformed and `skipped` is None.
        """
        self.files = tuple(files)
        self.entries: list[SentenceEntry] = []
        known: dict[str, dict[str, int]] = {name: {} for name in _COLUMNS}
        codes: dict[str, list[int]] = {name: [] for name in _COLUMNS}
        heads: list[int] = []
        starts = [0]
        for number, file in enumerate(self.files):
            for sentence in file.sentences(skipped=skipped):
                start = starts[-1]
                heads += [start + word.head - 1 if word.head else -1 for word in sentence.words]
                for name, of_name in codes.items():
                    table = known[name]
                    of_name += [
                        table.setdefault(value, len(table))
                        for value in _cells(sentence.words, name)
                    ]
                starts.append(start + len(sentence.words))
                self.entries.append(
                    SentenceEntry(
                        number, sentence.id, sentence.text, sentence.document, sentence.multiwords
                    )
                )
        self.starts = np.array(starts, dtype=np.int64)
        self.heads = np.array(heads, dtype=np.int64)
        lengths = np.diff(self.starts)
        self.sentence_of = np.repeat(np.arange(len(lengths)), lengths)
        self._columns = {
            name: Column(np.array(codes[name], dtype=np.int64), list(known[name]))
            for name in _COLUMNS
        }
        self._tested: dict[FeatureTest, Flags] = {}

    @property
    def n_words(self) -> int:
        """The number of words."""
        return len(self.heads)

    def sentence(self, number: int) -> TreebankSentence:
        """A sentence with its words."""
        entry, start = self.entries[number], int(self.starts[number])
        words = tuple(
            Word(
                id=place - start + 1,
                head=int(self.heads[place]) - start + 1 if self.heads[place] >= 0 else 0,
                **{name: self.value(name, place) for name in _COLUMNS},
            )
            for place in range(start, int(self.starts[number + 1]))
        )
        return TreebankSentence(entry.id, entry.text, words, entry.multiwords, entry.document)

    def sentences(self) -> Iterator[TreebankSentence]:
        """All sentences in order."""
        return map(self.sentence, range(len(self.entries)))

    def value(self, name: str, word: int) -> str:
        """The value of a column for a word; empty where it has none."""
        column = self.column(name)
        return column.values[int(column.codes[word])]

    @functools.cached_property
    def children(self) -> tuple[Numbers, Numbers]:
        """The words sorted by their heads, and for each head the place of its first child there."""
        order = np.argsort(self.heads, kind="stable")
        first = np.searchsorted(self.heads[order], np.arange(self.n_words + 1))
        return order, first

    def column(self, name: str) -> Column:
        """A column of CoNLL-U, a part of a label, a feature of FEATS, or a key of MISC."""
        if name not in self._columns:
            self._columns[name] = self._derived(name)
        return self._columns[name]

    def _derived(self, name: str) -> Column:
        if name.startswith("deprel."):
            codes, labels = self._columns["deprel"]
            place = int(name[-1]) - 1
            return _recoded(codes, ([*label.split(":", 1), ""][place] for label in labels))
        key = f"{name}="
        for source in ("feats", "misc"):
            codes, texts = self._columns[source]
            values = [
                next((part[len(key) :] for part in text.split("|") if part.startswith(key)), "")
                for text in texts
            ]
            if any(values):
                break
        return _recoded(codes, values)

    def chosen(self, test: FeatureTest) -> Flags:
        """Whether each word passes a test."""
        if test not in self._tested:
            codes, values = self.column(test.feature)
            passed = np.fromiter(map(test.holds, values), dtype=bool, count=len(values))
            self._tested[test] = passed[codes]
        return self._tested[test]

    def unknown(self, request: Request) -> list[str]:
        """What a query names and no word has, such as a misspelled feature or relation."""
        missing = dict[str, None]()
        for test in request.tests():
            values = set(self.column(test.feature).values)
            if test.relation == "absent":
                continue
            if not values - {""}:
                missing[test.feature.removeprefix("deprel.")] = None
            elif test.feature in ("upos", "deprel", "deprel.1") and test.relation == "is":
                wanted = (value for value in test.values if isinstance(value, str))
                missing |= dict.fromkeys(value for value in wanted if value not in values)
        return list(missing)


def _cells(words: Sequence[Word], name: str) -> Iterable[str]:
    place = Word._fields.index(name)
    return ["" if (cell := word[place]) == "_" and name != "form" else cell for word in words]  # type: ignore[misc]


def _recoded(codes: Numbers, values: Iterable[str]) -> Column:
    """A column whose values are made from those of another."""
    table: dict[str, int] = {}
    new = [table.setdefault(value, len(table)) for value in values]
    return Column(np.array(new or [0], dtype=np.int64)[codes], list(table) or [""])


@dataclass(frozen=True, slots=True)
class FeatureTest:
    """A test of one feature of a word.

    Attributes:
        feature: ``form``, ``lemma``, ``upos``, ``xpos``, a feature of FEATS or a key of MISC; for
            edges ``deprel``, or ``deprel.1`` and ``deprel.2`` for the parts of its label.
        relation: ``is`` and ``is not`` require that the word has the feature.
        values: alternatives for ``is`` and ``is not``.
    """

    feature: str
    relation: Relation
    values: tuple[Value, ...] = ()

    def holds(self, value: str) -> bool:
        """Whether a value passes; it is empty where a word lacks the feature."""
        if self.relation == "absent" or not value:
            return self.relation == "absent" and not value
        return self.relation == "present" or (
            any(_is(one_spelling(value), wanted) for wanted in self.values)
            == (self.relation == "is")
        )


def _is(value: str, wanted: Value) -> bool:
    if isinstance(wanted, str):
        return value == one_spelling(wanted)
    # No word is longer, and the time grows with the square of its length.
    return len(value) <= LONGEST_SEARCHED and wanted.fullmatch(value) is not None


FeatureTests: TypeAlias = tuple[FeatureTest, ...]


@dataclass(frozen=True, slots=True)
class NodeClause:
    """A word with features: ``V [upos=VERB, Mood=Ind]``, or ``V [upos=VERB]|[upos=AUX]``.

    Attributes:
        name: its name in the pattern.
        alternatives: lists of tests, all of one of which must hold.
        declares: whether the clause brings the word into the pattern; ``V.Mood = Ind`` does not.
    """

    name: str
    alternatives: tuple[FeatureTests, ...]
    declares: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the words concerned."""
        return (self.name,)


@dataclass(frozen=True, slots=True)
class EdgeClause:
    """A dependency: ``V -[nsubj]-> S``, ``V -[^obj|iobj]-> S``, ``* -[root]-> V``.

    Attributes:
        source: the head; empty for any, the root included.
        target: the dependent; empty for any.
        labels: alternatives for the label, each with tests that must all hold; none for any label.
        negated: whether the label must be none of these.
    """

    source: str
    target: str
    labels: tuple[FeatureTests, ...] = ()
    negated: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the words concerned."""
        return tuple(filter(None, (self.source, self.target)))


@dataclass(frozen=True, slots=True)
class _TwoWords:
    """Two words of a pattern, in the order in which a clause names them."""

    left: str
    right: str

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the words concerned."""
        return (self.left, self.right)


@dataclass(frozen=True, slots=True)
class DominanceClause(_TwoWords):
    """A word that dominates another at any distance: ``V ->> N``."""


@dataclass(frozen=True, slots=True)
class OrderClause(_TwoWords):
    """A word before another: ``X < Y`` for neighbors, ``X << Y`` at any distance."""

    adjacent: bool


@dataclass(frozen=True, slots=True)
class DistanceClause(_TwoWords):
    """A distance in words: ``delta(X,Y) > 2`` from X to Y; ``length(X,Y)`` without its sign."""

    signed: bool
    operator: str
    number: int


@dataclass(frozen=True, slots=True)
class CompareClause:
    """Two words that share a feature, or do not: ``S.Number <> V.Number``; both must have it."""

    left: tuple[str, str]
    right: tuple[str, str]
    equal: bool

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the words concerned."""
        return (self.left[0], self.right[0])


Clause: TypeAlias = (
    NodeClause | EdgeClause | DominanceClause | OrderClause | CompareClause | DistanceClause
)


@dataclass(frozen=True, slots=True)
class QueryBlock:
    """The clauses of a ``with`` or ``without``, which may name words of their own."""

    wanted: bool
    clauses: tuple[Clause, ...]


@dataclass(frozen=True, slots=True)
class SentenceTest:
    """A test of the whole sentence: a flag such as ``is_projective``, or ``text = re"..."``."""

    name: str
    test: FeatureTest | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """A query.

    Attributes:
        text: as it was written.
        nodes: names of the words in the pattern, in order of their first mention.
        clauses: those of the pattern.
        blocks: the ``with`` and ``without`` blocks, in order.
        sentence: tests of the sentence.
    """

    text: str
    nodes: tuple[str, ...]
    clauses: tuple[Clause, ...]
    blocks: tuple[QueryBlock, ...] = ()
    sentence: tuple[SentenceTest, ...] = ()

    def tests(self) -> Iterator[FeatureTest]:
        """All tests of features and labels in the pattern."""
        for clause in self.clauses:
            if isinstance(clause, NodeClause):
                yield from (test for tests in clause.alternatives for test in tests)
            elif isinstance(clause, EdgeClause) and not clause.negated:
                yield from (test for tests in clause.labels for test in tests)
            elif isinstance(clause, CompareClause):
                yield from (FeatureTest(name, "present") for _, name in (clause.left, clause.right))

"""Queries of trees in the notation of Grew's requests, as records.

The notation is that of Grew (Guillaume 2021, "Graph Matching and Graph Rewriting: GREW tools for
corpus exploration, maintenance and conversion", doi:10.18653/v1/2021.eacl-demos.21): blocks
``pattern``, ``with``, ``without`` and ``global``, whose clauses are separated by semicolons.
Regular expressions are Python's and match a whole value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Value: TypeAlias = "str | re.Pattern[str]"
"""A value as written, or a regular expression for it."""

Relation: TypeAlias = Literal["is", "is not", "present", "absent"]

LABEL = "deprel"
LABEL_PARTS: Mapping[str, str] = {"label": LABEL, "1": "deprel.1", "2": "deprel.2"}
"""The names for an edge's label and its parts, with those of the columns that hold them."""

GLOBAL_FLAGS = ("is_projective", "is_not_projective")
GLOBAL_TEXTS = ("sent_id", "text", "newdoc")


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
            any(_is(value, wanted) for wanted in self.values) == (self.relation == "is")
        )


def _is(value: str, wanted: Value) -> bool:
    return value == wanted if isinstance(wanted, str) else wanted.fullmatch(value) is not None


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
class DominanceClause:
    """A word that dominates another at any distance: ``V ->> N``."""

    above: str
    below: str

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the words concerned."""
        return (self.above, self.below)


@dataclass(frozen=True, slots=True)
class OrderClause:
    """A word before another: ``X < Y`` for neighbours, ``X << Y`` at any distance."""

    left: str
    right: str
    adjacent: bool

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the words concerned."""
        return (self.left, self.right)


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


@dataclass(frozen=True, slots=True)
class DistanceClause:
    """A distance in words: ``delta(X,Y) > 2`` from X to Y; ``length(X,Y)`` without its sign."""

    left: str
    right: str
    signed: bool
    operator: str
    number: int

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the words concerned."""
        return (self.left, self.right)


Clause: TypeAlias = (
    NodeClause | EdgeClause | DominanceClause | OrderClause | CompareClause | DistanceClause
)


@dataclass(frozen=True, slots=True)
class Block:
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
    blocks: tuple[Block, ...] = ()
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

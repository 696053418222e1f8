"""Queries of trees, read in Grew's notation; those that are stored have names.

Errors point at the place and say what was expected.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from cimento.corpus.queries import (
    GLOBAL_FLAGS,
    GLOBAL_TEXTS,
    LABEL,
    LABEL_PARTS,
    Clause,
    CompareClause,
    DistanceClause,
    DominanceClause,
    EdgeClause,
    FeatureTest,
    FeatureTests,
    NodeClause,
    OrderClause,
    QueryBlock,
    Relation,
    Request,
    SentenceTest,
    Value,
)
from cimento.errors import InputError, UsageError, did_you_mean
from cimento.io.files import read_bytes
from cimento.io.parsing import read_toml
from cimento.io.patterns import may_be_endless
from cimento.suites.letters import one_spelling

T = TypeVar("T")
_STORED_FILE = Path(__file__).parents[2] / "data" / "corpus" / "queries.toml"
SUFFIX = ".req"


def parse_request(text: str) -> Request:
    """The records of a query.

    Args:
        text: one or more ``pattern`` blocks, then ``with``, ``without`` and ``global`` blocks in
            any order; ``%`` begins a comment.

    Raises:
        InputError: the text is not a request; the message names line, column and what was expected.

    Example:
        >>> parse_request("pattern { V -[nsubj]-> S; S << V }").nodes
        ('V', 'S')
    """
    return _Parser(text).request()


class _Token(NamedTuple):
    kind: str
    text: str
    at: int


_REPETITIONS = 2
"""In a regular expression, such as ``.*a.*``."""
_LONGEST_LIST = 5000
"""Characters of a regular expression, which may be a list of words."""

_TOKENS = re.compile(
    r"""(?P<blank>(?:\s|%[^\n]*)+)
    |(?P<regex>re"(?:\\.|[^"\\\n])*")
    |(?P<string>"(?:\\.|[^"\\\n])*")
    |(?P<slashes>/(?:\\.|[^/\\\n])+/i?)
    |(?P<number>-\d+)
    |(?P<word>\w+)
    |(?P<sign>-\[\^|-\[|\]->|->>|->|<<|>>|<>|<=|>=|[-<>={}\[\]()|,;:.*!^])""",
    re.VERBOSE,
)
_SHOWN = 100
_OPERATORS = ("=", "<>", "<", ">", "<=", ">=")
_VALUE = 'a value, such as Sing, "parlare" or re".*are"'
_CLAUSE = "a clause, such as V [upos=VERB], V -[nsubj]-> S or S << V"
_AFTER_NAME = "[, ->, -[, ->>, <, <<, >, >>, : or ."


def _tokens(text: str) -> list[_Token]:
    tokens, at = [], 0
    while at < len(text):
        match = _TOKENS.match(text, at)
        if match is None:
            seen = "a text without its closing quote" if text[at] == '"' else repr(text[at])
            raise PatternError(text, at, seen, "a name, a value or a sign of the notation")
        if match.lastgroup != "blank":
            tokens.append(_Token(match.lastgroup or "", match[0], at))
        at = match.end()
    return [*tokens, _Token("end", "", len(text))]


class PatternError(InputError):
    """The error of a query that cannot be read; the message points at the place.

    Args:
        text: the whole query.
        at: offset of the first offending character.
        seen: what is there.
        expected: what would be right there.
    """

    def __init__(self, text: str, at: int, seen: str, expected: str) -> None:
        start = text.rfind("\n", 0, at) + 1
        self._line = text[start:].partition("\n")[0]
        self._column = at - start
        super().__init__(
            where=f"pattern, line {text.count(chr(10), 0, at) + 1}, column {self._column + 1}",
            seen=f"there is {seen}, but expected was {expected}",
        )

    def __str__(self) -> str:
        start = max(self._column - _SHOWN // 2, 0)
        shown = self._line[start : start + _SHOWN]
        plain = "".join(mark if mark.isprintable() else " " for mark in shown)
        return f"{super().__str__()}\n    {plain}\n    {' ' * (self._column - start)}^"


def _declared(clauses: Iterable[Clause]) -> set[str]:
    return {
        name
        for clause in clauses
        if isinstance(clause, EdgeClause) or (isinstance(clause, NodeClause) and clause.declares)
        for name in clause.names
    }


class _Parser:
    """A recursive-descent parser of requests."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _tokens(text)
        self._place = 0
        self._edges: dict[str, tuple[str, str]] = {}

    # --- Tokens

    @property
    def _next(self) -> _Token:
        return self._tokens[self._place]

    def _take(self, text: str) -> bool:
        """Whether the next token is this sign or word, which is then passed."""
        token = self._next
        if token.kind in ("sign", "word") and token.text == text:
            self._place += 1
            return True
        return False

    def _need(self, text: str, *, expected: str = "") -> None:
        if not self._take(text):
            raise self._unexpected(expected or repr(text))

    def _unexpected(self, expected: str) -> InputError:
        token = self._next
        seen = "the end" if token.kind == "end" else repr(token.text)
        return PatternError(self._text, token.at, seen, expected)

    def _word(self, expected: str) -> str:
        if self._next.kind != "word":
            raise self._unexpected(expected)
        self._place += 1
        return self._tokens[self._place - 1].text

    # --- Blocks

    def request(self) -> Request:
        clauses: list[Clause] = []
        blocks: list[QueryBlock] = []
        sentence: list[SentenceTest] = []
        kinds = ("pattern", "match", "with", "without", "global")
        while self._next.kind != "end":
            kind = self._next.text
            if kind not in kinds or (not clauses and kind not in ("pattern", "match")):
                expected = "pattern {" if not clauses else "pattern, with, without or global"
                raise self._unexpected(expected)
            self._place += 1
            self._need("{")
            if kind == "global":
                sentence += self._items(self._sentence_test)
            elif kind in ("with", "without"):
                blocks.append(QueryBlock(kind == "with", tuple(self._items(self._clause))))
            else:
                clauses += self._items(self._clause)
        if not clauses:
            raise self._unexpected("pattern {")
        self._refuse_undeclared(clauses, blocks)
        nodes = dict.fromkeys(name for clause in clauses for name in clause.names)
        return Request(self._text, tuple(nodes), tuple(clauses), tuple(blocks), tuple(sentence))

    def _refuse_undeclared(self, clauses: list[Clause], blocks: list[QueryBlock]) -> None:
        """Refuse names that stand only in comparisons, such as misspelled ones."""
        declared = _declared(clauses)
        for part in (clauses, *(block.clauses for block in blocks)):
            known = declared | _declared(part)
            for name in (name for clause in part for name in clause.names if name not in known):
                match = re.search(rf"\b{re.escape(name)}\b", self._text)
                at = match.start() if match else 0
                expected = f"the name of a word ({', '.join(sorted(known)) or 'none is declared'})"
                raise PatternError(self._text, at, repr(name), expected)

    def _items(self, read: Callable[[], T], *, sign: str = ";", end: str = "}") -> list[T]:
        """The parts between braces or brackets, separated by signs."""
        items = []
        while not self._take(end):
            items.append(read())
            if not self._take(sign) and self._next.text != end:
                raise self._unexpected(f"{sign} or {end}")
        return items

    def _separated(self, read: Callable[[], T], sign: str) -> tuple[T, ...]:
        """One part or several, separated by signs."""
        items = [read()]
        while self._take(sign):
            items.append(read())
        return tuple(items)

    def _sentence_test(self) -> SentenceTest:
        names = (*GLOBAL_FLAGS, *GLOBAL_TEXTS)
        if self._next.text not in names:
            raise self._unexpected(f"one of {', '.join(names)}")
        name = self._word("")
        if name in GLOBAL_FLAGS:
            return SentenceTest(name)
        relation = self._relation()
        return SentenceTest(name, FeatureTest(name, relation, self._values()))

    # --- Clauses

    def _clause(self) -> Clause:
        name = "" if self._take("*") else self._word(_CLAUSE)
        if name in ("delta", "length") and self._next.text == "(":
            return self._distance(signed=name == "delta")
        if name and self._next.text in ("[", ";", "}"):
            bare = self._next.text != "["
            return NodeClause(name, ((),) if bare else self._separated(self._features, "|"))
        if name and self._take(":"):
            source = "" if self._take("*") else self._word("the name of the head")
            edge = self._edge(source, "-> or -[")
            self._edges[name] = (edge.source, edge.target)
            return edge
        return self._comparison(name) if name and self._take(".") else self._relation_of(name)

    def _relation_of(self, name: str) -> Clause:
        """An edge, dominance or order that begins with a word."""
        if not name:
            return self._edge("", "-> or -[")
        if self._take("->>"):
            return DominanceClause(name, self._word("the name of a word"))
        if self._next.text in ("<", "<<", ">", ">>"):
            sign = self._next.text
            self._place += 1
            other = self._word("the name of a word")
            left, right = (name, other) if sign[0] == "<" else (other, name)
            return OrderClause(left, right, len(sign) == 1)
        return self._edge(name, _AFTER_NAME)

    def _features(self) -> FeatureTests:
        self._need("[")
        return tuple(self._items(self._feature_test, sign=",", end="]"))

    def _feature_test(self) -> FeatureTest:
        if self._take("!"):
            return FeatureTest(self._feature(), "absent")
        feature = self._feature()
        if self._next.text in ("=", "<>"):
            return self._test(feature)
        return FeatureTest(feature, "present")

    def _feature(self) -> str:
        name = self._word("a feature, such as lemma, upos or Number")
        # Grew writes Number__psor for the feature Number[psor].
        base, layered, layer = name.partition("__")
        return f"{base}[{layer}]" if layered and base and layer else name

    def _test(self, feature: str) -> FeatureTest:
        relation = self._relation()
        if self._next.text == "*" and self._next.kind == "sign":
            self._place += 1
            return FeatureTest(feature, "present" if relation == "is" else "absent")
        return FeatureTest(feature, relation, self._values())

    def _relation(self) -> Relation:
        if self._take("<>"):
            return "is not"
        self._need("=", expected="= or <>")
        return "is"

    def _values(self) -> tuple[Value, ...]:
        return self._separated(self._value, "|")

    def _value(self) -> Value:
        token = self._next
        if token.kind == "word":
            return self._name_with_colons(_VALUE)
        if token.kind not in ("string", "regex", "slashes", "number"):
            raise self._unexpected(_VALUE)
        self._place += 1
        if token.kind == "number":
            return token.text
        if token.kind == "string":
            return re.sub(r"\\(.)", r"\1", token.text[1:-1])
        flags = re.IGNORECASE if token.text.endswith("/i") else re.NOFLAG
        whole = token.text[3:-1] if token.kind == "regex" else token.text.strip("i")[1:-1]
        body = one_spelling(whole)  # as the values that it is compared with
        if may_be_endless(body, repetitions=_REPETITIONS, longest=_LONGEST_LIST):
            seen = "a regular expression that may search without end"
            expected = f"one with at most {_REPETITIONS} repetitions, and none of a group"
            raise PatternError(self._text, token.at, seen, expected)
        try:
            return re.compile(body, flags)
        except re.error as error:
            at = token.at + (3 if token.kind == "regex" else 1) + (error.pos or 0)
            seen = f"a regular expression with a fault ({error.msg})"
            raise PatternError(self._text, at, seen, "one of Python's") from error

    def _name_with_colons(self, expected: str) -> str:
        """A name such as ``nsubj:pass``, whose colons have no blank after them."""
        parts = [self._word(expected)]
        while self._next.text == ":" and self._tokens[self._place + 1].at == self._next.at + 1:
            self._place += 1
            parts.append(self._word("the second part of a label"))
        return ":".join(parts)

    # --- Edges

    def _edge(self, source: str, expected: str) -> EdgeClause:
        labels: tuple[FeatureTests, ...] = ()
        negated = False
        if self._next.text in ("-[", "-[^"):
            negated = self._next.text == "-[^"
            self._place += 1
            labels = self._labels()
            self._need("]->")
        else:
            self._need("->", expected=expected)
        target = "" if self._take("*") else self._word("the name of the dependent, or *")
        if not source and not target:
            raise self._unexpected("an edge with a named word, which this one lacks,")
        return EdgeClause(source, target, labels, negated)

    def _labels(self) -> tuple[FeatureTests, ...]:
        if self._next.text in ("1", "2") and self._tokens[self._place + 1].text in ("=", "<>"):
            return (self._separated(self._label_part, ","),)
        return self._separated(self._label, "|")

    def _label(self) -> FeatureTests:
        if self._next.kind not in ("word", "string", "regex", "slashes"):
            raise self._unexpected("a relation, such as nsubj, nsubj:pass or 1=nsubj")
        return (FeatureTest(LABEL, "is", (self._value(),)),)

    def _label_part(self) -> FeatureTest:
        absent = self._take("!")
        if self._next.text not in ("1", "2"):
            raise self._unexpected("1 or 2, the parts of a label")
        feature = LABEL_PARTS[self._word("")]
        return FeatureTest(feature, "absent") if absent else self._test(feature)

    # --- Comparisons

    def _comparison(self, name: str) -> Clause:
        word, feature = self._place_of(name, self._feature())
        relation = self._relation()
        start = self._place
        if self._next.kind == "word":
            other = self._word("")
            if self._take("."):
                right = self._place_of(other, self._feature())
                return CompareClause((word, feature), right, relation == "is")
            self._place = start
        test = FeatureTest(feature, relation, self._values())
        return NodeClause(word, ((test,),), declares=False)

    def _place_of(self, name: str, feature: str) -> tuple[str, str]:
        """The word and the column that ``X.lemma`` or ``e.label`` names."""
        if name not in self._edges:
            return name, feature
        if feature not in LABEL_PARTS:
            self._place -= 1
            raise self._unexpected("label, 1 or 2, as the name is that of an edge,")
        return self._edges[name][1], LABEL_PARTS[feature]

    def _distance(self, *, signed: bool) -> DistanceClause:
        self._need("(")
        left = self._word("the name of a word or an edge")
        if self._take(","):
            right = self._word("the name of a word")
        elif left in self._edges and all(self._edges[left]):
            left, right = self._edges[left]
        else:
            raise self._unexpected("a comma and a second word, or the name of an edge,")
        self._need(")")
        if self._next.text not in _OPERATORS:
            raise self._unexpected(f"one of {' '.join(_OPERATORS)}")
        operator = self._next.text
        self._place += 1
        if not re.fullmatch(r"-?[0-9]{1,6}", self._next.text):
            raise self._unexpected("a whole number")
        self._place += 1
        number = int(self._tokens[self._place - 1].text)
        return DistanceClause(left, right, signed, operator, number)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredQuery:
    """A query with a name, and what its pairs are about.

    Attributes:
        name: its name.
        title: what the bad sentences violate.
        group: the kind of phenomenon, such as ``agreement``.
        languages: ISO 639-1 codes of the treebanks for which it is meant.
        requests: the patterns, all with the words that the change and the controller name.
        change: what makes the bad sentence; empty for a query that only searches.
        controller: the word with which the changed word agrees; empty for none.
        twin: whether an attractor may be made without making the bad sentence good.
        remark: what a user should know; may be empty.
    """

    name: str
    title: str
    group: str
    languages: tuple[str, ...]
    requests: tuple[Request, ...]
    change: str = ""
    controller: str = ""
    twin: bool = True
    remark: str = ""


@functools.cache
def stored_queries() -> Mapping[str, StoredQuery]:
    """The queries that come with cimento, by name."""
    return {name: _stored(name, table) for name, table in read_toml(_STORED_FILE).items()}


def _stored(name: str, table: dict[str, Any]) -> StoredQuery:
    patterns = table.pop("pattern")
    texts = patterns if isinstance(patterns, list) else [patterns]
    languages = tuple(table.pop("languages"))
    return StoredQuery(
        name=name, languages=languages, requests=tuple(map(parse_request, texts)), **table
    )


def open_query(text: str) -> StoredQuery:
    """A stored query by its name, the query in a file, or a pattern as it is.

    Args:
        text: a name, the path of a file ``.req``, or a text with a brace.

    Raises:
        InputError: the pattern cannot be read.
        UsageError: there is no stored query of that name.
    """
    if "{" in text:
        return _own("", text)
    if text.endswith(SUFFIX):
        try:
            return _own(Path(text).stem, read_bytes(Path(text)).decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            raise InputError(where=text, seen="is not UTF-8", todo="Save it as UTF-8.") from error
    queries = stored_queries()
    if text not in queries:
        raise UsageError(
            where="query",
            seen=f"{text!r} is not a stored query, a file {SUFFIX}, or a pattern {{ ... }}",
            todo=f"{did_you_mean(text, queries)} cimento corpus queries lists them.",
        )
    return queries[text]


def _own(name: str, text: str) -> StoredQuery:
    request = parse_request(text)
    return StoredQuery(name=name, title="", group="", languages=(), requests=(request,))

"""The formula language of predictions: tokens, parser and syntax tree."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, TypeVar
from unicodedata import category

from cimento.errors import FormulaError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

T = TypeVar("T")


def is_condition_name(name: str) -> bool:
    """Whether formulas can refer to a condition of this name: letters, digits, ``_`` and ``-``."""
    return bool(name) and _not_in_name(name) is None


def _not_in_name(name: str) -> int | None:
    """The place of the first character that names cannot have; None if there is none.

    Marks belong to the letters of many scripts.
    """
    return next(
        (n for n, mark in enumerate(name) if mark not in "_-" and category(mark)[0] not in "LMN"),
        None,
    )


def as_condition_name(text: str) -> str:
    """The nearest name of a condition: other characters become ``_``; empty if none is left.

    >>> as_condition_name("no island (short)")
    'no_island_short'
    """
    marks = (mark if _not_in_name(mark) is None else " " for mark in text)
    return "_".join("".join(marks).split())


def likelier(better: str, worse: str) -> str:
    """The formula by which whole sentences of one condition are likelier than of the other.

    ``better`` and ``worse`` are the names of the conditions.
    """
    return f"(*;%{better}%) < (*;%{worse}%)"


class _FormulaToken(NamedTuple):
    """A piece of a formula.

    Attributes:
        kind: ``region``, ``literal``, ``sign``, ``relation``, ``connective``, ``open``, ``close``
            or ``end``.
        text: the text as written.
        column: column at which it begins, from 0.
        number: for a region value, the region's number without leading zeros, or ``*``.
        name: for a region value, the condition's name.
    """

    kind: str
    text: str
    column: int
    number: str = ""
    name: str = ""


_TOKEN = re.compile(
    r"""(?P<region>\(\s*(?P<number>[0-9]+|\*)\s*;%\s*(?P<name>[^\s%]+)\s*%\s*\))
      | (?P<foreign><=|>=|==|!=|<>|=<|=>|&&|\|\||\*\*)
      | (?P<literal>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
      | (?P<sign>[-+])
      | (?P<relation>[<>=])
      | (?P<connective>[&|])
      | (?P<open>[(\[])
      | (?P<close>[)\]])""",
    re.VERBOSE,
)
_MOST_DIGITS = 6
_BLANKS = re.compile(r"\s*")
_WORD = re.compile(r"[^\W\d]\w*")
_REGION_START = re.compile(r"\(\s*(?:[0-9]+|\*)\s*;")

_REGION_TODO = "A region value is written (2;%match%), number and name of the condition"
_TIES = "two sides that are equal are a tie and counted apart"
_TODO = {
    **dict.fromkeys(("<=", "=<", "≤"), f"Write <; {_TIES}"),
    **dict.fromkeys((">=", "=>", "≥"), f"Write >; {_TIES}"),
    "==": "Write =",
    **dict.fromkeys(("!=", "<>", "≠"), "Write two inequalities joined by |"),
    **dict.fromkeys(("&&", "and"), "Write &"),
    **dict.fromkeys(("||", "or"), "Write |"),
    **dict.fromkeys(("not", "!"), "There is no negation; turn the inequality round"),
    **dict.fromkeys(
        ("*", "**", "/", "×", "·"), "Only + and - can be used; write 2 times x as x + x"
    ),
    **dict.fromkeys("{}", "Group with ( ) or [ ]"),
    **dict.fromkeys("−–", "Write the minus sign as -"),
    **dict.fromkeys(";%", _REGION_TODO),
    ",": "Write a decimal point as . and join comparisons with &",
}


def tokenize(text: str) -> list[_FormulaToken]:
    """The tokens of a formula, followed by one of kind ``end``.

    Raises:
        FormulaError: a part of the text is not a token of the language.
    """
    tokens: list[_FormulaToken] = []
    column = _skip_blanks(text, 0)
    while column < len(text):
        match = _TOKEN.match(text, column)
        if match is None or match["foreign"]:
            raise _unknown(text, column, match.group() if match else None)
        is_named = is_condition_name(match["name"] or "")
        if not is_named and _REGION_START.match(text, column):
            raise _malformed_region(text, column)
        tokens.append(
            _region(text, match)
            if match["region"]
            else _FormulaToken(str(match.lastgroup), match.group(), match.start())
        )
        column = _skip_blanks(text, match.end())
    tokens.append(_FormulaToken("end", "", len(text.rstrip())))
    return tokens


def _skip_blanks(text: str, column: int) -> int:
    match = _BLANKS.match(text, column)
    return match.end() if match else column


def _region(text: str, match: re.Match[str]) -> _FormulaToken:
    number = match["number"].lstrip("0")
    if not 1 <= len(number) <= _MOST_DIGITS:
        raise FormulaError(
            formula=text,
            column=match.start("number"),
            seen=f"there is no region {match['number'][:12]}",
            todo="Regions are counted from 1",
        )
    return _FormulaToken("region", match.group(), match.start(), number, match["name"])


def _unknown(text: str, column: int, foreign: str | None) -> FormulaError:
    """The error for text that is not a token of the language."""
    word = _WORD.match(text, column)
    seen = foreign or (word.group() if word else text[column])
    known = "It has < > = & | + - ( ) [ ], numbers and region values"
    if text[column + len(seen) :].lstrip().startswith(";"):
        known = "A region is its number, from 1, as in (2;%match%)"
    return FormulaError(
        formula=text,
        column=column,
        seen=f"{seen!r} is not part of the formula language",
        todo=_TODO.get(seen.lower(), known),
    )


def _malformed_region(text: str, column: int) -> FormulaError:
    """The error for text that begins like a region value, with a number and a semicolon."""

    def error(at: int, seen: str, todo: str = _REGION_TODO) -> FormulaError:
        return FormulaError(formula=text, column=at, seen=seen, todo=todo)

    semicolon = text.index(";", column)
    if text[semicolon + 1 : semicolon + 2] != "%":
        return error(semicolon, "';' must be followed by '%' at once")
    start = _skip_blanks(text, semicolon + 2)
    closing = text.find("%", start)
    if closing < 0:
        return error(start, "the condition's name is not closed with '%'")
    name = text[start:closing].rstrip()
    if not name:
        return error(start, "the condition's name is missing")
    strange = _not_in_name(name)
    if strange is not None:
        return error(
            start + strange,
            f"{name[strange]!r} cannot be part of a condition's name",
            "Rename the condition: letters, digits, _ and - are allowed",
        )
    return error(_skip_blanks(text, closing + 1), "the region value is not closed with ')'")


RegionNumber: TypeAlias = "int | Literal['*']"
Sign: TypeAlias = Literal["+", "-"]
Relation: TypeAlias = Literal["<", ">", "="]
Connective: TypeAlias = Literal["&", "|"]

MAX_DEPTH = 100
"""Greatest depth of brackets and operators, far beyond any formula that a person writes."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A region value: ``(2;%match%)``.

    Attributes:
        region: number of the region, from 1, or ``*`` for the sum over all regions.
        condition: name of the condition.
        column: column at which it begins in the formula, from 0; it does not matter for equality.
    """

    region: RegionNumber
    condition: str
    column: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Number:
    """A number, in the unit of the formula."""

    value: float


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """The sum or the difference of two quantities."""

    operator: Sign
    left: Quantity
    right: Quantity


@dataclass(frozen=True, slots=True)
class Comparison:
    """An inequality, or an equality within the tolerance, of two quantities."""

    operator: Relation
    left: Quantity
    right: Quantity


@dataclass(frozen=True, slots=True)
class Junction:
    """Two formulas joined by ``&`` (both hold) or ``|`` (at least one holds)."""

    operator: Connective
    left: Formula
    right: Formula


Quantity: TypeAlias = "Reference | Number | Arithmetic"
Formula: TypeAlias = "Comparison | Junction"


def parse(text: str) -> Formula:
    """The syntax tree of a formula.

    Raises:
        FormulaError: the text is not in the language; the message points at the column.
    """
    tokens = tokenize(text)
    if len(tokens) == 1:
        raise FormulaError(
            formula=text,
            column=0,
            seen="the formula is empty",
            todo="Write a comparison, such as (2;%match%) < (2;%mismatch%)",
        )
    return _Parser(text, tokens).formula()


def canonical(node: Formula | Quantity) -> str:
    """A formula with all brackets, which `parse` reads back as the same tree."""
    match node:
        case Reference(region, condition):
            return f"({region};%{condition}%)"
        case Number(value):
            return repr(value)
        case _:
            return f"({canonical(node.left)} {node.operator} {canonical(node.right)})"


def signed_values(
    node: Formula | Quantity, sign: int = 1
) -> Iterator[tuple[int, Reference | Number]]:
    """Every region value and number in a formula from left to right, with its sign in its sum."""
    if isinstance(node, Reference | Number):
        yield sign, node
    else:
        yield from signed_values(node.left, sign)
        yield from signed_values(node.right, -sign if node.operator == "-" else sign)


def references(node: Formula | Quantity) -> tuple[Reference, ...]:
    """Every region value in a formula, from left to right, including repeated ones."""
    return tuple(leaf for _, leaf in signed_values(node) if isinstance(leaf, Reference))


def numbers(node: Formula | Quantity) -> tuple[float, ...]:
    """Every number written in a formula, from left to right."""
    return tuple(leaf.value for _, leaf in signed_values(node) if isinstance(leaf, Number))


def comparisons(formula: Formula) -> tuple[Comparison, ...]:
    """Every comparison in a formula, from left to right."""
    if isinstance(formula, Comparison):
        return (formula,)
    return comparisons(formula.left) + comparisons(formula.right)


def regions_used(formulas: Iterable[str]) -> dict[str, frozenset[RegionNumber]]:
    """The region values that formulas need: region numbers, or ``*``, by condition.

    Raises:
        FormulaError: one of the texts is not a formula.
    """
    used: dict[str, set[RegionNumber]] = {}
    for formula in formulas:
        for reference in references(parse(formula)):
            used.setdefault(reference.condition, set()).add(reference.region)
    return {condition: frozenset(regions) for condition, regions in used.items()}


_CLOSING = {"(": ")", "[": "]"}


class _Parser:
    """A recursive-descent parser with one method for each rule of the grammar.

    Brackets hold either a formula or a sum, and only the text after the closing bracket shows which
    was required. So every rule may return either, and its caller checks for the kind it needs.
    """

    def __init__(self, text: str, tokens: list[_FormulaToken]) -> None:
        self._text = text
        self._tokens = tokens
        self._next = 0
        self._depth = 0

    def formula(self) -> Formula:
        """The formula of the whole text."""
        node, _ = self._junction()
        token = self._peek()
        if token.kind == "close":
            raise self._error(token, f"{token.text!r} closes nothing", "Remove it")
        if token.kind != "end":
            raise self._error(token, f"an operator is missing before {token.text!r}")
        if not isinstance(node, Comparison | Junction):
            first = self._tokens[0]
            raise self._error(first, "nothing is compared here", "A prediction needs one of < > =")
        return node

    def _junction(self) -> tuple[Formula | Quantity, int]:
        """A formula or a sum, and its depth."""

        def join(operator: str, left: Formula, right: Formula) -> Junction:
            return Junction("&" if operator == "&" else "|", left, right)

        return self._chain("connective", self._comparison, self._need_formula, join)

    def _chain(
        self,
        kind: str,
        operand: Callable[[], tuple[Formula | Quantity, int]],
        need: Callable[[Formula | Quantity, _FormulaToken, _FormulaToken], T],
        join: Callable[[str, T, T], Formula | Quantity],
    ) -> tuple[Formula | Quantity, int]:
        """Operands joined by operators of a kind, of which the left ones bind first."""
        start = self._peek()
        node, depth = operand()
        while self._peek().kind == kind:
            token = self._take()
            left = need(node, start, token)
            start = self._peek()
            node, right_depth = operand()
            right = need(node, start, token)
            depth = self._deeper(max(depth, right_depth), token)
            node = join(token.text, left, right)
        return node, depth

    def _comparison(self) -> tuple[Formula | Quantity, int]:
        start = self._peek()
        node, depth = self._sum()
        if self._peek().kind != "relation":
            return node, depth
        token = self._take()
        left = self._need_quantity(node, start, token)
        start = self._peek()
        node, right_depth = self._sum()
        right = self._need_quantity(node, start, token)
        if self._peek().kind == "relation":
            raise self._error(
                self._peek(),
                "a comparison cannot be continued by another",
                "Write a < b & b < c instead of a < b < c",
            )
        operators: dict[str, Relation] = {"<": "<", ">": ">", "=": "="}
        depth = self._deeper(max(depth, right_depth), token)
        return Comparison(operators[token.text], left, right), depth

    def _sum(self) -> tuple[Formula | Quantity, int]:
        def join(operator: str, left: Quantity, right: Quantity) -> Arithmetic:
            return Arithmetic("+" if operator == "+" else "-", left, right)

        return self._chain("sign", self._operand, self._need_quantity, join)

    def _operand(self) -> tuple[Formula | Quantity, int]:
        token = self._take()
        if token.kind == "region":
            number: RegionNumber = "*" if token.number == "*" else int(token.number)
            return Reference(number, token.name, token.column), 1
        if token.kind == "literal":
            return self._number(token.text, token), 1
        if token.kind == "sign":
            return self._signed(token), 1
        if token.kind == "open":
            return self._bracketed(token)
        seen = f"an operand is missing before {token.text!r}"
        if token.kind == "end":
            seen = "the formula ends where an operand should follow"
        raise self._error(token, seen, "A region value or a number belongs here")

    def _bracketed(self, opening: _FormulaToken) -> tuple[Formula | Quantity, int]:
        self._depth = self._deeper(self._depth, opening)
        inner = self._junction()
        self._depth -= 1
        closing = self._take()
        wanted = _CLOSING[opening.text]
        if closing.kind == "end":
            raise self._error(opening, f"{opening.text!r} is never closed", f"Add {wanted!r}")
        if closing.kind != "close":
            raise self._error(closing, f"an operator is missing before {closing.text!r}")
        if closing.text != wanted:
            raise self._error(
                closing,
                f"{closing.text!r} closes the {opening.text!r} of column {opening.column + 1}",
                f"Write {wanted!r}",
            )
        return inner

    def _signed(self, sign: _FormulaToken) -> Number:
        token = self._take()
        if token.kind != "literal" or token.column != sign.column + 1:
            raise self._error(
                sign,
                f"{sign.text!r} has nothing on its left",
                "A sign must touch the number it belongs to; write -x as 0 - x",
            )
        return self._number(sign.text + token.text, sign)

    def _number(self, text: str, token: _FormulaToken) -> Number:
        value = float(text)
        if not math.isfinite(value):
            raise self._error(token, f"the number {text} is too large")
        return Number(value)

    def _need_formula(
        self, node: Formula | Quantity, start: _FormulaToken, operator: _FormulaToken
    ) -> Formula:
        if not isinstance(node, Comparison | Junction):
            raise self._error(
                start,
                f"{operator.text!r} joins comparisons, and nothing is compared here",
                "Each side of & and | needs one of < > =",
            )
        return node

    def _need_quantity(
        self, node: Formula | Quantity, start: _FormulaToken, operator: _FormulaToken
    ) -> Quantity:
        if isinstance(node, Comparison | Junction):
            raise self._error(
                start,
                f"{operator.text!r} needs a number, and this is a comparison",
                "Join comparisons with & or |",
            )
        return node

    def _deeper(self, depth: int, token: _FormulaToken) -> int:
        if depth >= MAX_DEPTH:
            raise self._error(
                token, f"the formula is nested deeper than {MAX_DEPTH} levels", "Split it"
            )
        return depth + 1

    def _peek(self) -> _FormulaToken:
        return self._tokens[self._next]

    def _take(self) -> _FormulaToken:
        token = self._tokens[self._next]
        if token.kind != "end":
            self._next += 1
        return token

    def _error(self, token: _FormulaToken, seen: str, todo: str = "") -> FormulaError:
        return FormulaError(formula=self._text, column=token.column, seen=seen, todo=todo)

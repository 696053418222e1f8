"""The words of the formula language, and the errors for what is no word of it."""

from __future__ import annotations

import re
from typing import NamedTuple

from cimento.errors import FormulaError


class Token(NamedTuple):
    """A piece of a formula.

    Attributes:
        kind: ``region``, ``literal``, ``sign``, ``relation``, ``connective``, ``open``, ``close``
            or ``end``.
        text: as written.
        column: where it begins, from 0.
        number: for a region value, the region's number without leading zeros, or ``*``.
        name: for a region value, the condition's name.
    """

    kind: str
    text: str
    column: int
    number: str = ""
    name: str = ""


_TOKEN = re.compile(
    r"""(?P<region>\(\s*(?P<number>[0-9]+|\*)\s*;%\s*(?P<name>[A-Za-z0-9_-]+)\s*%\s*\))
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
_NOT_IN_NAME = re.compile(r"[^A-Za-z0-9_-]")
_REGION_TODO = "A region value is written (2;%match%), number and name of the condition"
_ONLY_SUMS = "Only + and - can be used; write 2 times x as x + x"
_TODO = {
    "<=": "Write <; two sides that are equal are a tie and counted apart",
    ">=": "Write >; two sides that are equal are a tie and counted apart",
    "=<": "Write <; two sides that are equal are a tie and counted apart",
    "=>": "Write >; two sides that are equal are a tie and counted apart",
    "≤": "Write <; two sides that are equal are a tie and counted apart",
    "≥": "Write >; two sides that are equal are a tie and counted apart",
    "==": "Write =",
    "!=": "Write two inequalities joined by |",
    "<>": "Write two inequalities joined by |",
    "≠": "Write two inequalities joined by |",
    "&&": "Write &",
    "and": "Write &",
    "||": "Write |",
    "or": "Write |",
    "not": "There is no negation; turn the inequality round",
    "!": "There is no negation; turn the inequality round",
    "*": _ONLY_SUMS,
    "**": _ONLY_SUMS,
    "/": _ONLY_SUMS,
    "×": _ONLY_SUMS,
    "·": _ONLY_SUMS,
    "{": "Group with ( ) or [ ]",
    "}": "Group with ( ) or [ ]",
    "−": "Write the minus sign as -",
    "–": "Write the minus sign as -",
    ";": _REGION_TODO,
    "%": _REGION_TODO,
    ",": "Write a decimal point as . and join comparisons with &",
}


def tokenize(text: str) -> list[Token]:
    """The tokens of a formula, with one of kind ``end`` behind them.

    Raises:
        FormulaError: something is no token of the language.
    """
    tokens: list[Token] = []
    column = _skip_blanks(text, 0)
    while column < len(text):
        found = _TOKEN.match(text, column)
        if found is None or found["foreign"]:
            raise _unknown(text, column, found.group() if found else None)
        if found["open"] and _REGION_START.match(text, column):
            raise _malformed_region(text, column)
        tokens.append(_region(text, found) if found["region"] else _plain(found))
        column = _skip_blanks(text, found.end())
    tokens.append(Token("end", "", len(text.rstrip())))
    return tokens


def _plain(found: re.Match[str]) -> Token:
    return Token(str(found.lastgroup), found.group(), found.start())


def _skip_blanks(text: str, column: int) -> int:
    found = _BLANKS.match(text, column)
    return found.end() if found else column


def _region(text: str, found: re.Match[str]) -> Token:
    number = found["number"].lstrip("0")
    if not 1 <= len(number) <= _MOST_DIGITS:
        raise FormulaError(
            formula=text,
            column=found.start("number"),
            seen=f"there is no region {found['number'][:12]}",
            todo="Regions are counted from 1",
        )
    return Token("region", found.group(), found.start(), number, found["name"])


def _unknown(text: str, column: int, foreign: str | None) -> FormulaError:
    """The error for something that is no token of the language."""
    word = _WORD.match(text, column)
    seen = foreign or (word.group() if word else text[column])
    return FormulaError(
        formula=text,
        column=column,
        seen=f"{seen!r} is not part of the formula language",
        todo=_TODO.get(seen.lower(), "It has < > = & | + - ( ) [ ], numbers and region values"),
    )


def _malformed_region(text: str, column: int) -> FormulaError:
    """The error for something that begins like a region value: a number and a semicolon."""

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
    strange = _NOT_IN_NAME.search(name)
    if strange:
        return error(
            start + strange.start(),
            f"{strange.group()!r} cannot be part of a condition's name",
            "Rename the condition: letters a-z and A-Z, digits, _ and - are allowed",
        )
    return error(_skip_blanks(text, closing + 1), "the region value is not closed with ')'")

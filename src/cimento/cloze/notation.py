r"""How a cloze suite writes texts and options into the cells of a table.

Three underscores or more are the blank, braces mark the words of an expression, ``|`` separates
options and ``/`` the spellings of one. A backslash before a sign takes that meaning away; ``\t``,
``\n``, ``\r`` and ``\s`` are a tab, a line break, a carriage return and a blank at the end of a
cell, ``\e`` is an empty text. docs/cloze.md has the rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from cimento.cloze.records import Option, Role

_CODES = {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\\": "\\\\"}
_MEANINGS = {"\\t": "\t", "\\n": "\n", "\\r": "\r", "\\s": " ", "\\e": ""}
_PIECE = re.compile(r"\\.|.|\\$", re.DOTALL)
_BLANK_LENGTH = 3


def write_cell(text: str, *, signs: str = "") -> str:
    """A text as a cell.

    Args:
        text: anything.
        signs: those that would mean something in this cell.
    """
    return _end(_start(_coded(text, signs)))


def read_cell(cell: str) -> str:
    """The text of a cell in which no sign means anything."""
    return _text(_stripped(_pieces(cell)))


def write_blank(before: str, after: str) -> str:
    """A text with its blank as a cell."""
    return f"{_start(_coded(before, '_{}'))}___{_end(_coded(after, '_{}'))}"


def read_blanks(cell: str) -> list[str]:
    """What stands before, between and after the blanks of a cell: two texts where there is one."""
    found: list[list[str]] = [[]]
    run = 0
    for piece in [*_stripped(_pieces(cell)), ""]:
        if piece == "_":
            run += 1
            continue
        if run >= _BLANK_LENGTH:
            found.append([])
        else:
            found[-1] += ["_"] * run
        run = 0
        found[-1].append(piece)
    return [_text(part) for part in found]


def write_marked(text: str) -> str:
    """A text with marked words as a cell; its braces stay what they are."""
    return write_cell(text, signs="_")


def has_braces(cell: str) -> bool:
    """Whether there are braces that mean something."""
    return not {"{", "}"}.isdisjoint(_pieces(cell))


def write_options(options: Iterable[Option]) -> str:
    """Options of one role as a cell."""
    return " | ".join(
        "/".join(write_cell(text, signs="|/") or "\\e" for text in option.spellings)
        for option in options
    )


def read_options(cell: str, role: Role) -> tuple[Option, ...]:
    """The options in a cell, each with its variants."""
    pieces = _stripped(_pieces(cell))
    if not pieces:
        return ()
    found = []
    for part in _split(pieces, "|"):
        first, *others = (_text(text) for text in _split(_stripped(part), "/"))
        found.append(Option(first, role, tuple(others)))
    return tuple(found)


def read_parts(cell: str) -> tuple[str, ...]:
    """The texts in a cell, with bars between them."""
    pieces = _stripped(_pieces(cell))
    return tuple(_text(_stripped(part)) for part in _split(pieces, "|")) if pieces else ()


# --- Pieces: a character, or a backslash with the character after it


def _pieces(cell: str) -> list[str]:
    return _PIECE.findall(cell)


def _stripped(pieces: list[str]) -> list[str]:
    """Without plain blanks at the ends."""
    first = next((place for place, piece in enumerate(pieces) if piece != " "), len(pieces))
    last = next((place for place, piece in enumerate(reversed(pieces)) if piece != " "), 0)
    return pieces[first : len(pieces) - last]


def _split(pieces: list[str], sign: str) -> list[list[str]]:
    found: list[list[str]] = [[]]
    for piece in pieces:
        if piece == sign:
            found.append([])
        else:
            found[-1].append(piece)
    return found


def _text(pieces: Iterable[str]) -> str:
    return "".join(_MEANINGS.get(piece, piece[-1:]) for piece in pieces)


def _coded(text: str, signs: str) -> str:
    return "".join(
        _CODES.get(character) or (f"\\{character}" if character in signs else character)
        for character in text
    )


def _start(cell: str) -> str:
    return "\\s" + cell[1:] if cell.startswith(" ") else cell


def _end(cell: str) -> str:
    return cell[:-1] + "\\s" if cell.endswith(" ") else cell

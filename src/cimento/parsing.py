"""JSON and TOML as values, and gzip as bytes, within bounds that files of strangers keep to.

A reader that expects the exception of the format's own parser gets no other one: neither for
nesting that would exhaust the stack, nor for numbers of thousands of digits, nor for texts that no
file can hold.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import tomllib
import zlib
from typing import Any

from cimento.errors import InputError

MAX_DEPTH = 100
"""How deep lists and objects may nest; far beyond any file that a person or a program writes."""

MAX_UNPACKED_BYTES = 500_000_000
SMALL_BYTES = 4_000_000
"""What a packed file may grow to, however small it is."""
MAX_GROWTH = 20
"""Tables shrink four- to tenfold; what is small may shrink more."""

_KEY_END = re.compile(r"[\"'=#]")
_MOST_POINTS = 5_000
_LONG = re.compile(r"\d{309}")
"""Digits that no floating-point number has room for."""
_SURROGATE = re.compile(r"\\u[dD][89abcdefABCDEF]")


def parse_json(text: str | bytes) -> Any:  # noqa: ANN401  # as json.loads: anything JSON has
    """The value of a JSON text.

    Args:
        text: of one document; bytes are UTF-8, with or without a byte order mark.

    Raises:
        json.JSONDecodeError: it is no JSON, is nested too deep, has a number of hundreds of
            digits, or half of a surrogate pair, which is no character.
    """
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise json.JSONDecodeError("not UTF-8", "", 0) from error
    try:
        # Hooks make parsing slow: only where there is such a number, or a text like one.
        value = json.loads(text, parse_int=_number) if _LONG.search(text) else json.loads(text)
        if _SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError:
        raise
    except RecursionError as error:
        raise json.JSONDecodeError(_too_deep(), text, 0) from error
    except UnicodeEncodeError as error:
        raise json.JSONDecodeError("half of a surrogate pair is no character", text, 0) from error
    except ValueError as error:
        raise json.JSONDecodeError("a number has too many digits", text, 0) from error
    if text.count("[") + text.count("{") > MAX_DEPTH and _is_deep(value):
        raise json.JSONDecodeError(_too_deep(), text, 0)
    return value


def parse_toml(text: str) -> dict[str, Any]:
    """The table that a TOML text is.

    Raises:
        tomllib.TOMLDecodeError: it is no TOML, is nested too deep, or has a number of thousands of
            digits.
    """
    if any(line.count(".") > MAX_DEPTH and _is_long_key(line) for line in text.split("\n")):
        raise tomllib.TOMLDecodeError(_too_deep())
    try:
        value = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError as error:
        raise tomllib.TOMLDecodeError(_too_deep()) from error
    except ValueError as error:
        raise tomllib.TOMLDecodeError("a number has too many digits") from error
    if _is_deep(value):
        raise tomllib.TOMLDecodeError(_too_deep())
    return value


def unpack_gzip(data: bytes, *, where: str) -> bytes:
    """The content of a file that is packed with gzip.

    Args:
        data: the file's bytes.
        where: its name, for the message.

    Raises:
        InputError: it is damaged, or grows beyond what packed text grows to.
    """
    most = min(max(SMALL_BYTES, MAX_GROWTH * len(data)), MAX_UNPACKED_BYTES)
    try:
        with gzip.open(io.BytesIO(data)) as file:
            content = file.read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(
            where=where, seen=f"is damaged ({error})", todo="Fetch or pack it again."
        ) from error
    if len(content) > most:
        raise InputError(
            where=where,
            seen=f"{len(data):,} bytes grow to more than {most:,}",
            todo="No text shrinks so much: do not trust this file, or unpack it yourself.",
        )
    return content


def _number(digits: str) -> int:
    """A whole number.

    Raises:
        ValueError: it is larger than any floating-point number.
    """
    number = int(digits)
    try:
        float(number)
    except OverflowError as error:
        raise ValueError("too large") from error
    return number


def _is_long_key(line: str) -> bool:
    """Whether a line of TOML begins with a key of very many parts, over which the parser is slow.

    What stands in quotation marks may have points, but no text has so many in one line.
    """
    key = _KEY_END.split(line, maxsplit=1)[0]
    return key.count(".") > MAX_DEPTH or line.count(".") > _MOST_POINTS


def _is_deep(value: object) -> bool:
    """Whether lists and objects nest deeper than is allowed; without recursion."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            child
            for each in level
            if isinstance(each, list | dict)
            for child in (each if isinstance(each, list) else each.values())
        ]
        if not level:
            return False
    return True


def _too_deep() -> str:
    return f"lists and objects are nested more than {MAX_DEPTH} deep"

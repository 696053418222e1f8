"""Bytes of files as text: encodings, byte order marks, lines of JSON."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import MappingProxyType
from typing import Any

from cimento.errors import Fault, InputError, SuiteError
from cimento.faults import fault
from cimento.intake.alphabets import from_central, from_cyrillic, from_western, told_central
from cimento.intake.archives import unzipped
from cimento.intake.table import place_of_row
from cimento.io.files import BOM, read_bytes
from cimento.io.parsing import parse_json

_MARK_OF_LINE = re.compile(rf"^{BOM}+", re.MULTILINE)
_FIRST_LINE = re.compile(rb"\S[^\n]*")
_ACCENTED = re.compile(r"[^\W\d_a-zA-Z]")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_BETWEEN_WORDS = re.compile(r"[ \t\r\n;,]+")
_LONGEST_WORD = 40


def unusable(path: Path, faults: Sequence[Fault]) -> SuiteError:
    """The error for a file that does not make a suite."""
    return SuiteError(where=str(path), faults=faults)


def first_line(data: bytes) -> bytes:
    """The first line that is not empty, from its first character."""
    match = _FIRST_LINE.search(data)
    return match[0] if match else b""


def decode(data: bytes, *, name: str) -> tuple[str | None, list[Fault]]:
    """The text of a file that must be UTF-8, or UTF-16 with a byte order mark; it may be zipped.

    Returns:
        The text, None where there is none, and the faults found.
    """
    data, faults = unzipped(data, name=name)
    if faults:
        return None, faults
    if not data.strip():
        return None, [fault("CIM-S002", where=name, seen="The file is empty.", todo="Fill it in.")]
    encoding = _encoding_of_mark(data) or "utf-8"
    if encoding != "utf-16" and b"\x00" in data:
        seen = "The file has zero bytes: it is not text, or UTF-16 without a byte order mark."
        return None, [fault("CIM-S001", where=name, seen=seen)]
    try:
        return _without_marks(data.decode(encoding), name)
    except UnicodeDecodeError as error:
        return None, [_undecodable(data, error, encoding=encoding, name=name)]


def _without_marks(text: str, name: str) -> tuple[str, list[Fault]]:
    """A text without byte order marks at the beginning of lines, and what is to be said of them.

    ``cat`` leaves them there where it puts files together. Inside a line the same character joins
    words, and is left to the checks of sentences.
    """
    marks = _MARK_OF_LINE.finditer(text) if BOM in text else ()  # few texts have one to look for
    rows = [_row_of(text, mark.start()) for mark in marks]
    if not rows:
        return text, []
    seen = (
        f"Row {rows[0]} begins with a byte order mark (U+FEFF), as where another file was appended;"
        " it is left out."
    )
    places = [place_of_row(name, row) for row in rows]
    return _MARK_OF_LINE.sub("", text), [
        fault("CIM-S092", where=places[0], seen=seen, places=places)
    ]


def open_text(path: Path) -> str:
    """The text of a file that people or programs wrote, decoded as a table is.

    Raises:
        InputError: the file cannot be read.
        SuiteError: the file is empty, or in an unknown encoding.
    """
    text, faults = decode_table(read_bytes(path), name=path.name)
    if text is None:
        raise unusable(path, faults)
    return text


def decoded(path: Path) -> tuple[bytes, str, list[Fault]]:
    """The bytes of a file, their text, and what is to be said of its encoding.

    Raises:
        InputError: the file may not be read.
        SuiteError: it is empty, or in an unknown encoding.
    """
    data = read_bytes(path)
    text, faults = decode(data, name=path.name)
    if text is None:
        raise unusable(path, faults)
    return data, text, faults


def open_json_lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a file with one object a line; empty lines are skipped.

    Raises:
        InputError: the file cannot be read, or a line is not an object.
    """
    records = []
    for number, line in enumerate(open_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = parse_json(line)
        except ValueError as error:
            raise InputError(
                where=f"{path} line {number}", seen=f"is not JSON ({error})", todo="Correct it."
            ) from error
        if not isinstance(record, dict):
            raise InputError(
                where=f"{path} line {number}",
                seen="is not an object",
                todo='Write {"name": "value"}, one object a line.',
            )
        records.append(record)
    return records


_language: ContextVar[str] = ContextVar("language", default="")
"""The language that tables are said to be in while they are read; empty if it is unknown."""
_columns: ContextVar[Mapping[str, str]] = ContextVar("columns", default=MappingProxyType({}))
"""The columns that are said to have roles in tables while these are read."""


@contextmanager
def reading_language(language: str, columns: Mapping[str, str] | None = None) -> Iterator[None]:
    """A context in which tables are read about which something is said.

    Args:
        language: ISO 639-1 code; empty for the language of the context around this one.
        columns: the column of each role that is chosen; None for those of the context around.
    """
    tokens = _language.set(language or _language.get()), _columns.set(columns or _columns.get())
    try:
        yield
    finally:
        _language.reset(tokens[0])
        _columns.reset(tokens[1])


def stated_language() -> str:
    """The language that the tables being read are said to be in; empty if it is unknown."""
    return _language.get()


def chosen_columns() -> Mapping[str, str]:
    """The column of each role that is chosen for the tables that are being read."""
    return _columns.get()


def decode_table(data: bytes, *, name: str) -> tuple[str | None, list[Fault]]:
    """The text of a table, decoded as by `decode`, or in an encoding of Windows.

    Spreadsheet programs on Windows write cp1252, cp1251 or cp1250 without marking them; letters
    tell which. Two observations contradict that guess and are errors: some characters are valid
    UTF-8 (the file is UTF-8 with damage), or the letters are neither those of Western Europe, nor
    as frequent as in Russian, nor those of a language of Central Europe.
    """
    data, faults = unzipped(data, name=name)
    if faults:
        return None, faults
    text, faults = decode(data, name=name)
    if text is not None or not data.strip() or b"\x00" in data or _encoding_of_mark(data):
        return text, faults
    encoding, text = "cp1250", from_central(data, _language.get())
    if not text:
        encoding, text = "cp1251", from_cyrillic(data)
    if not text and any(character > "\x7f" for character in data.decode("utf-8", "ignore")):
        return None, faults
    if not text:
        encoding, text = "cp1250", told_central(data)
    try:
        encoding, text = (encoding, text) if text else ("cp1252", from_western(data))
    except UnicodeDecodeError as error:
        return None, [_undecodable(data, error, encoding="cp1252", name=name)]
    if not text:
        return None, faults
    word, start = _accented_word(text)
    return text, [
        fault(
            "CIM-S006",
            where=f"{name} row {_row_of(text, start)}",
            seen=f"The file is not UTF-8 and was read as {encoding}; {word!r} should look right.",
        )
    ]


def _accented_word(text: str) -> tuple[str, int]:
    """The first word with a letter outside ASCII, or else a sign, and the position of that."""
    match = _ACCENTED.search(text) or _NOT_ASCII.search(text)
    if match is None:
        return "", 0
    at = match.start()
    before = _BETWEEN_WORDS.split(text[max(at - _LONGEST_WORD, 0) : at])[-1]
    after = _BETWEEN_WORDS.split(text[at : at + _LONGEST_WORD])[0]
    return before + after, at


def _encoding_of_mark(data: bytes) -> str | None:
    """The encoding given by a byte order mark; None without one."""
    if data.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    return None


def _undecodable(data: bytes, error: UnicodeDecodeError, *, encoding: str, name: str) -> Fault:
    before = data[: error.start].decode(encoding, "ignore")
    shown = before.splitlines()[-1][-20:] if before.splitlines() else ""
    return fault(
        "CIM-S001",
        where=f"{name} row {_row_of(before, len(before))}",
        seen=f"The byte {data[error.start]:#04x} after {shown!r} is not {encoding.upper()}.",
    )


def _row_of(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1

"""Texts of a file, one a line: what is scored or filled, and the contexts before it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from cimento.errors import InputError
from cimento.io.files import BOM


def read_lines(file: Path, *, remark: Callable[[str], object]) -> list[str]:
    """The texts in a file, one a line; ``-`` is standard input.

    Args:
        file: the file.
        remark: called with what is to be said of it, such as a mark that was left out.

    Raises:
        InputError: the file cannot be read, is not UTF-8, holds no text, or has a byte order mark
            inside a line.
    """
    texts = [line for line in _lines(file, remark) if line]
    if not texts:
        raise InputError(where=_name(file), seen="holds no text", todo="Give one text per line.")
    return texts


def read_contexts(
    file: Path, texts: Sequence[str], *, remark: Callable[[str], object]
) -> list[str]:
    """The contexts that precede some texts, one a line; an empty line is an empty context.

    Args:
        file: the file.
        texts: the texts.
        remark: as for `read_lines`.

    Raises:
        InputError: as for `read_lines`, or there is not one line for each text.
    """
    contexts = _lines(file, remark)
    if len(contexts) != len(texts):
        raise InputError(
            where=_name(file),
            seen=f"there are {len(contexts)} lines for {len(texts)} texts",
            todo="Give one line for each text, empty where nothing comes before it.",
        )
    return contexts


def _name(file: Path) -> str:
    return "standard input" if file == Path("-") else str(file)


def _lines(file: Path, remark: Callable[[str], object]) -> list[str]:
    """The lines of a file, without surrounding blanks and byte order marks before them."""
    name = _name(file)
    try:
        content = sys.stdin.buffer.read() if file == Path("-") else file.read_bytes()
        lines = [line.strip() for line in content.decode("utf-8-sig").splitlines()]
    except UnicodeDecodeError as error:
        if b"\x00" in content:
            raise InputError(
                where=name, seen="is not a text file", todo="Save its texts as UTF-8, one a line."
            ) from error
        line = content[: error.start].count(b"\n") + 1
        raise InputError(
            where=f"{name}, line {line}", seen="is not UTF-8", todo="Save the file as UTF-8."
        ) from error
    except OSError as error:
        raise InputError(where=name, seen=f"cannot be read ({error.strerror or error})") from error
    for number, line in enumerate(lines, start=1):
        if BOM not in line:
            continue
        lines[number - 1] = line.lstrip(f"{BOM} ")
        if BOM in lines[number - 1]:
            raise InputError(
                where=f"{name}, line {number}",
                seen="has a byte order mark (U+FEFF) among its words, as where two files were put"
                " together",
                todo="Remove it, or break the line there.",
            )
        remark(f"{name}, line {number}: the byte order mark (U+FEFF) before it is left out.")
    return lines

"""Lines of dictionary files: what is read from one, and what is wrong with one that is not."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeAlias

from cimento.errors import InputError

_BOMS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}

_ESCAPE = re.compile(r"\\(.)")
_REMARK = re.compile(r"(?<!\\)/")


@dataclass(frozen=True, slots=True)
class Entry:
    """What one line says.

    Attributes:
        form: the word form.
        lemma: its lemma.
        tags: its tags as one text; `delaf.split_tags` takes several codes apart.
    """

    form: str
    lemma: str
    tags: str


@dataclass(frozen=True, slots=True)
class LineFault:
    """A line that could not be read.

    Attributes:
        line: its number, from 1.
        text: the line.
        seen: what is wrong with it.
    """

    line: int
    text: str
    seen: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.seen}: {self.text[:80]!r}"


ParseLine: TypeAlias = Callable[[str], "Entry | str | None"]
"""From a line to its entry; to what is wrong with it; or to None where it says nothing."""

_LONGEST_LINE = 10_000
"""Of a dictionary; the expression below needs two hundred times the memory of its text."""

_DELAF = re.compile(r"(?P<form>(?:\\.|[^\\,])*),(?P<lemma>(?:\\.|[^\\.])*)\.(?P<tags>.*)")
_DELAF_TAGS = re.compile(r"[A-Za-z0-9]+(?:\+[^+:\s]+)*(?::[^+:\s]+)*")


def parse_delaf(line: str) -> Entry | str | None:
    r"""A line ``form,lemma.CLASS+trait:code:code``; ``\`` escapes, ``/`` begins a remark.

    An empty lemma is the form itself (Unitex manual, "The DELAF format").
    """
    if not line.strip() or line.startswith("/"):
        return None
    fits = "\t" not in line and len(line) <= _LONGEST_LINE
    found = _DELAF.fullmatch(line) if fits else None
    if found is None:
        return "is not form,lemma.CLASS"
    form, lemma = _plain(found["form"]), _plain(found["lemma"])
    tags = found["tags"]
    # Millions of lines have neither a remark nor an escape.
    if "/" in tags:
        tags = _REMARK.split(tags)[0]
    tags = tags.strip()
    if not form:
        return "has no form"
    if not _DELAF_TAGS.fullmatch(tags):
        return "has no class, or a code that is none"
    return Entry(form, lemma or form, tags)


def parse_unimorph(line: str) -> Entry | str | None:
    """A line ``lemma<TAB>form<TAB>features``; a fourth column (segmentation) is passed over."""
    if not line.strip() or line.startswith("#"):
        return None
    cells = [cell.strip() for cell in line.split("\t")]
    if len(cells) not in (3, 4):
        return f"has {len(cells)} columns and not lemma, form, features"
    lemma, form, features = cells[:3]
    if not (lemma and form and features):
        return "has an empty column"
    return Entry(form, lemma, features)


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a dictionary with their numbers, from 1; UTF-8, or UTF-16 with its mark.

    Raises:
        InputError: the file cannot be read, or is in another encoding.
    """
    number = 0
    try:
        with _opened(path) as file:
            for number, line in enumerate(file, start=1):
                yield number, line.rstrip("\r\n")
    except UnicodeError as error:
        raise InputError(
            where=f"{path}, after line {number}",
            seen="is neither UTF-8 nor UTF-16 with a byte order mark",
            todo="Save the dictionary as UTF-8.",
        ) from error
    except OSError as error:
        raise InputError(
            where=str(path),
            seen=f"cannot be read ({error.strerror or error})",
            todo="Check the path.",
        ) from error


def _opened(path: Path) -> IO[str]:
    with path.open("rb") as file:
        start = file.read(3)
    encoding = next((name for bom, name in _BOMS.items() if start.startswith(bom)), "utf-8")
    return path.open(encoding=encoding, newline="\n")


def _plain(text: str) -> str:
    return _ESCAPE.sub(r"\1", text) if "\\" in text else text

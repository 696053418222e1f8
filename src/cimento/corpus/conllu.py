"""The reading of CoNLL-U, sentence by sentence.

The format is that of https://universaldependencies.org/format.html. Malformed input is never
reinterpreted: a sentence with a fault is refused, or skipped and recorded with its lines.
"""

from __future__ import annotations

import gzip
import re
import unicodedata
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from cimento.corpus import (
    Multiword,
    TreebankSentence,
    Word,
    joined_tokens,
    range_faults,
    tree_faults,
)
from cimento.errors import InputError, counted
from cimento.io.files import BOM
from cimento.io.parsing import MAX_GROWTH, SMALL_BYTES, whole_number

COLUMNS = 10


LONGEST_LINE = 1_000_000
"""Greatest length of a line in bytes, so that a gzip bomb does not fill the memory."""


LONGEST_SENTENCE = 100_000
"""Greatest number of lines of a sentence."""


_EMPTY_ID = re.compile(r"(0|[1-9]\d{0,8})\.([1-9]\d{0,8})", re.ASCII)


_RANGE = re.compile(r"([1-9]\d{0,8})-([1-9]\d{0,8})", re.ASCII)


_NO_END = "Is it a CoNLL-U file? An empty line ends each sentence."
_BOM8 = b"\xef\xbb\xbf"


_BOMS16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class ReadingProblem:
    """A problem in a file that violates CoNLL-U.

    Attributes:
        path: the file.
        line: line number, from 1.
        sentence: the ``sent_id``, if it could be read.
        seen: description of the problem.
        severity: ``error`` if the sentence is lost, ``warning`` if not.
    """

    path: Path
    line: int
    sentence: str
    seen: str
    severity: Literal["error", "warning"] = "error"

    def __str__(self) -> str:
        name = f" (sentence {self.sentence})" if self.sentence else ""
        return f"{self.path.name}, line {self.line}{name}: {self.seen}"


def read_sentences(
    path: Path, *, skipped: list[ReadingProblem] | None = None
) -> Iterator[TreebankSentence]:
    """The sentences of a file, plain or gzipped, with one in memory at a time.

    All texts are normalized to NFC.

    Args:
        path: a file ``.conllu`` or ``.conllu.gz``.
        skipped: list to which problems are added, in which case malformed sentences are skipped;
            None refuses the file at the first malformed sentence.

    Raises:
        InputError: the file cannot be read, or a sentence is malformed and `skipped` is None.
    """
    seen: set[str] = set()
    document, documents = "", 0
    for start, block in blocks(path):
        reading = SentenceReading(path, start)
        reading.read(block)
        for comment in reading.comments:
            if comment.startswith("newdoc"):
                documents += 1
                document = comment.partition("=")[2].strip() or f"#{documents}"
        if not reading.problems and not reading.words:
            continue  # comments without a following sentence
        if reading.problems:
            if skipped is None:
                raise _refused(reading.problems)
            skipped.extend(reading.problems)
            continue
        sentence = reading.sentence(document, seen)
        seen.add(sentence.id)
        if skipped is not None:
            skipped.extend(reading.warnings)
        yield sentence


def _refused(problems: list[ReadingProblem]) -> InputError:
    first = problems[0]
    more = f" ({counted(len(problems), 'problem')} in this sentence)" if len(problems) > 1 else ""
    name = f", sentence {first.sentence}" if first.sentence else ""
    return InputError(
        where=f"{first.path}, line {first.line}{name}",
        seen=first.seen + more,
        todo="Correct it, or pass malformed sentences over with --malformed=skip;"
        f" cimento corpus check {first.path.name} lists them all.",
    )


def blocks(path: Path) -> Iterator[tuple[int, list[bytes]]]:
    """The lines of each sentence with the number of the first, comments included."""
    block: list[bytes] = []
    start = 0
    for number, line in enumerate(raw_lines(path), start=1):
        text = line.strip(b"\r\n")
        if text.strip():
            if not block:
                start = number
            elif len(block) == LONGEST_SENTENCE:
                seen = f"a sentence has {LONGEST_SENTENCE} lines"
                raise _hostile(path, number, seen, _NO_END)
            block.append(text)
        elif block:
            yield start, block
            block = []
    if block:
        yield start, block


def raw_lines(path: Path) -> Iterator[bytes]:
    """The lines of a file, plain or gzipped, with their ends.

    Raises:
        InputError: the file cannot be read, or is none of text.
    """
    number = 0
    try:
        most = MAX_GROWTH * path.stat().st_size + SMALL_BYTES
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            while line := file.readline(LONGEST_LINE):
                number += 1
                most -= len(line)
                if most < 0:
                    seen = "the file grows as no text does when it is unpacked"
                    raise _hostile(path, number, seen, "Do not trust it, or unpack it yourself.")
                if len(line) == LONGEST_LINE:
                    raise _hostile(path, number, f"a line has {LONGEST_LINE} bytes", _NO_END)
                yield _without_mark(line, path) if number == 1 else line
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", "") or error
        raise InputError(
            where=f"{path}, after line {number}" if number else str(path),
            seen=f"cannot be read ({reason})",
            todo="Check the path; a .gz file may be cut short.",
        ) from error


def _hostile(path: Path, number: int, seen: str, todo: str) -> InputError:
    return InputError(where=f"{path}, line {number}", seen=seen, todo=todo)


def _without_mark(line: bytes, path: Path) -> bytes:
    """The first line without the byte order mark of UTF-8."""
    if line.startswith(_BOMS16):
        raise InputError(
            where=f"{path}, line 1", seen="the file is UTF-16", todo="Save it as UTF-8."
        )
    return line.removeprefix(_BOM8)


class SentenceReading:
    """A sentence while it is read.

    Attributes:
        path: the file.
        start: number of its first line.
        sent_id: its ID, if a comment has one.
        comments: its comments without the mark.
        lines: its lines with their numbers, in NFC.
        words: its words so far.
        multiwords: its tokens of several words so far.
        has_empty_nodes: whether there is an empty node.
        problems: the faults for which it is refused.
        warnings: what else was noticed.
    """

    def __init__(self, path: Path, start: int) -> None:
        self.path = path
        self.start = start
        self.comments: list[str] = []
        self.lines: list[tuple[int, str]] = []
        self.words: list[Word] = []
        self.multiwords: list[Multiword] = []
        self.has_empty_nodes = False
        self.problems: list[ReadingProblem] = []
        self.warnings: list[ReadingProblem] = []
        self.sent_id = ""
        self._text = ""
        self._word_lines: list[int] = []
        self._range_lines: list[int] = []
        self._empty_nodes = 0  # after the last word
        self._opens_range = False

    def read(self, block: list[bytes]) -> None:
        """Read the lines of the sentence, then check that they form a sentence."""
        for number, data in enumerate(block, start=self.start):
            try:
                line = data.decode("utf-8").removeprefix(BOM)  # of a file that was appended
            except UnicodeDecodeError as error:
                shown = data[: error.start].decode("utf-8", "ignore")[-20:]
                self._fault(
                    number, f"the byte {data[error.start]:#04x} after {shown!r} is not UTF-8"
                )
                continue
            if not unicodedata.is_normalized("NFC", line):
                line = unicodedata.normalize("NFC", line)
            self.lines.append((number, line))
            if line.startswith("#"):
                if self._word_lines or self._range_lines:
                    self._fault(number, "a comment is between the words of the sentence")
                self._comment(line[1:].strip())
            else:
                self._line(number, line)
        if self.problems:
            return
        faults = [*range_faults(self.multiwords, self._range_lines, len(self.words))]
        if self.words:
            faults += tree_faults(self.words, self._word_lines)
        elif self.multiwords or self.has_empty_nodes:
            faults.append((self.start, "there are no words"))
        for number, seen in faults:
            self._fault(number, seen)

    def sentence(self, document: str, known: set[str]) -> TreebankSentence:
        """The sentence; an ID that is missing or already known gets the line number added."""
        name = self.sent_id or "no sent_id"
        if not self.sent_id or name in known:
            if self.sent_id:
                seen = f"the sent_id {name!r} is there twice"
                self.warnings.append(
                    ReadingProblem(self.path, self.start, self.sent_id, seen, "warning")
                )
            name = f"{name} (line {self.start})"
        words, multiwords = tuple(self.words), tuple(self.multiwords)
        text = self._text or joined_tokens(TreebankSentence("", "", words, multiwords).tokens())
        return TreebankSentence(name, text, words, multiwords, document)

    def _comment(self, comment: str) -> None:
        self.comments.append(comment)
        key, equals, value = comment.partition("=")
        if equals and key.strip() == "sent_id":
            self.sent_id = value.strip()
        elif equals and key.strip() == "text":
            self._text = value.strip()

    def _line(self, number: int, line: str) -> None:
        cells = line.split("\t")
        if len(cells) != COLUMNS:
            hint = "; tabs separate them" if len(cells) == 1 else ""
            self._fault(
                number, f"the line has {counted(len(cells), 'column')} and not {COLUMNS}{hint}"
            )
            return
        key = cells[0]
        if padded := next((cell for cell in cells[:-1] if cell != cell.strip()), ""):
            self._fault(number, f"a column begins or ends with a blank: {padded!r}")
        elif not cells[1]:
            self._fault(number, f"the word {key} has no form")
        elif (place := _number(key)) is not None:
            self._word(number, place, cells)
        elif match := _RANGE.fullmatch(key):
            self._range(number, Multiword(int(match[1]), int(match[2]), cells[1], cells[9]))
        elif match := _EMPTY_ID.fullmatch(key):
            self._empty_node(number, int(match[1]), int(match[2]))
        else:
            self._fault(number, f"the ID is {key!r}; it is 3, 3-4 or 3.1")

    def _range(self, number: int, multiword: Multiword) -> None:
        first = multiword.first
        if first <= len(self.words) and not self.problems:
            name = f"{first}-{multiword.last}"
            self._fault(number, f"the token {name} comes after its first word and not before it")
        self.multiwords.append(multiword)
        self._range_lines.append(number)
        self._opens_range = True

    def _empty_node(self, number: int, word: int, place: int) -> None:
        self.has_empty_nodes = True
        expected = f"{len(self.words)}.{self._empty_nodes + 1}"
        if f"{word}.{place}" != expected and not self.problems:
            self._fault(number, f"the empty node is {word}.{place} where {expected} may follow")
        elif self._opens_range:
            seen = f"the empty node {word}.{place} is between a token and its first word"
            self._fault(number, seen)
        self._empty_nodes += 1

    def _word(self, number: int, place: int, cells: list[str]) -> None:
        key, form, lemma, upos, xpos, feats, above, deprel, _, misc = cells
        expected = len(self.words) + 1
        if place != expected and not self.problems:
            self._fault(number, f"the ID is {key} where {expected} should follow")
        head = _number(above)
        if head is None:
            self._fault(number, f"the head of word {key} is {above!r} and no number")
            return
        word = Word(place, form, lemma, upos, feats, head, deprel, misc, xpos)
        self.words.append(word)
        self._word_lines.append(number)
        self._empty_nodes, self._opens_range = 0, False

    def _fault(self, line: int, seen: str) -> None:
        self.problems.append(ReadingProblem(self.path, line, self.sent_id, seen))


def _number(text: str) -> int | None:
    """The number of an ID or a head; other digits and zeros in front are refused, as in UD."""
    return whole_number(text) if text.isascii() and (text[:1] != "0" or text == "0") else None

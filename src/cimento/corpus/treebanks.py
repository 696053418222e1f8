"""Treebanks: files, corpora and licenses, and the reading of CoNLL-U sentence by sentence.

The format is that of https://universaldependencies.org/format.html. Malformed input is never
reinterpreted: a sentence with a fault is refused, or skipped and recorded with its lines.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import tomllib
import unicodedata
import zlib
from collections.abc import Iterable, Iterator, Sequence
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
from cimento.io.files import BOM, reading
from cimento.io.parsing import MAX_GROWTH, SMALL_BYTES, whole_number
from cimento.suites.letters import one_spelling

COLUMNS = 10
LONGEST_LINE = 1_000_000
"""Greatest length of a line in bytes, so that a gzip bomb does not fill the memory."""

LONGEST_SENTENCE = 100_000
"""Greatest number of lines of a sentence."""

SUFFIXES = (".conllu", ".conllu.gz")

_EMPTY_ID = re.compile(r"\d{1,9}\.[1-9]\d{0,8}", re.ASCII)
_RANGE = re.compile(r"(\d{1,9})-(\d{1,9})", re.ASCII)
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
    for start, block in _blocks(path):
        reading = _Reading(path, start)
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
    more = f" ({counted(len(problems), 'fault')} in this sentence)" if len(problems) > 1 else ""
    name = f", sentence {first.sentence}" if first.sentence else ""
    return InputError(
        where=f"{first.path}, line {first.line}{name}",
        seen=first.seen + more,
        todo="Correct it, or pass malformed sentences over with --malformed=skip;"
        f" cimento corpus check {first.path.name} lists them all.",
    )


# --- Lines


def _blocks(path: Path) -> Iterator[tuple[int, list[bytes]]]:
    """The lines of each sentence with the number of the first, comments included."""
    block: list[bytes] = []
    number = start = 0
    try:
        most = MAX_GROWTH * path.stat().st_size + SMALL_BYTES
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            while line := file.readline(LONGEST_LINE):
                number += 1
                most -= len(line)
                if most < 0:
                    seen = "the file grows as no text does when it is unpacked"
                    raise _hostile(path, number, seen, "Do not trust it, or unpack it yourself.")
                if len(line) == LONGEST_LINE or len(block) == LONGEST_SENTENCE:
                    seen = f"a line has {LONGEST_LINE} bytes or a sentence {LONGEST_SENTENCE} lines"
                    todo = "Is it a CoNLL-U file? An empty line ends each sentence."
                    raise _hostile(path, number, seen, todo)
                text = line.strip(b"\r\n")
                if number == 1:
                    text = _without_mark(text, path)
                if text.strip():
                    if not block:
                        start = number
                    block.append(text)
                elif block:
                    yield start, block
                    block = []
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", "") or error
        raise InputError(
            where=f"{path}, after line {number}" if number else str(path),
            seen=f"cannot be read ({reason})",
            todo="Check the path; a .gz file may be cut short.",
        ) from error
    if block:
        yield start, block


def _hostile(path: Path, number: int, seen: str, todo: str) -> InputError:
    return InputError(where=f"{path}, line {number}", seen=seen, todo=todo)


def _without_mark(line: bytes, path: Path) -> bytes:
    """The first line without the byte order mark of UTF-8."""
    if line.startswith(_BOMS16):
        raise InputError(
            where=f"{path}, line 1", seen="the file is UTF-16", todo="Save it as UTF-8."
        )
    return line.removeprefix(_BOM8)


# --- Sentences


class _Reading:
    """A sentence while it is read."""

    def __init__(self, path: Path, start: int) -> None:
        self.path = path
        self.start = start
        self.comments: list[str] = []
        self.words: list[Word] = []
        self.multiwords: list[Multiword] = []
        self.has_empty_nodes = False
        self.problems: list[ReadingProblem] = []
        self.warnings: list[ReadingProblem] = []
        self._id = ""
        self._text = ""
        self._word_lines: list[int] = []
        self._range_lines: list[int] = []

    def read(self, block: list[bytes]) -> None:
        """Read the lines of the sentence, then check that they form a sentence."""
        for number, data in enumerate(block, start=self.start):
            try:
                line = data.decode("utf-8").removeprefix(BOM)  # of a file that was appended
            except UnicodeDecodeError as error:
                shown = data[: error.start].decode("utf-8", "ignore")[-20:]
                self._fault(
                    number, f"the byte {data[error.start]:#04x} after {shown!r} is no UTF-8"
                )
                continue
            if not unicodedata.is_normalized("NFC", line):
                line = unicodedata.normalize("NFC", line)
            if line.startswith("#"):
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
        name = self._id or "no sent_id"
        if not self._id or name in known:
            if self._id:
                seen = f"the sent_id {name!r} is there twice"
                self.warnings.append(
                    ReadingProblem(self.path, self.start, self._id, seen, "warning")
                )
            name = f"{name} (line {self.start})"
        words, multiwords = tuple(self.words), tuple(self.multiwords)
        text = self._text or joined_tokens(TreebankSentence("", "", words, multiwords).tokens())
        return TreebankSentence(name, text, words, multiwords, document)

    def _comment(self, comment: str) -> None:
        self.comments.append(comment)
        key, equals, value = comment.partition("=")
        if equals and key.strip() == "sent_id":
            self._id = value.strip()
        elif equals and key.strip() == "text":
            self._text = value.strip()

    def _line(self, number: int, line: str) -> None:
        cells = line.split("\t")
        if len(cells) != COLUMNS:
            hint = "; tabs separate them" if len(cells) == 1 else ""
            self._fault(number, f"the line has {len(cells)} columns and not {COLUMNS}{hint}")
            return
        key = cells[0]
        if not cells[1]:
            self._fault(number, f"the word {key} has no form")
        elif (place := _number(key)) is not None:
            self._word(number, place, cells)
        elif match := _RANGE.fullmatch(key):
            self.multiwords.append(Multiword(int(match[1]), int(match[2]), cells[1], cells[9]))
            self._range_lines.append(number)
        elif _EMPTY_ID.fullmatch(key):
            self.has_empty_nodes = True
        else:
            self._fault(number, f"the ID is {key!r}; it is 3, 3-4 or 3.1")

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

    def _fault(self, line: int, seen: str) -> None:
        self.problems.append(ReadingProblem(self.path, line, self._id, seen))


def _number(text: str) -> int | None:
    """The number of an ID or a head; digits of other scripts are refused, as in UD's level 1."""
    return whole_number(text) if text.isascii() else None


UNKNOWN = "unknown"
SAMPLE = "it_sample"
"""The name of the built-in treebank."""

_DATA = Path(__file__).parents[1] / "data" / "corpus"
_UD_NAME = re.compile(r"(?P<corpus>[a-z]{2,3}_\w+)-ud-(?P<split>train|dev|test)\b")
_README_LICENSE = re.compile(r"^License:(.*\S.*)$", re.MULTILINE)
_OPEN = re.compile(r"CC0|CC[ -]BY(?:[ -]SA)?(?:[ -]\d(?:\.\d)?)?$|public domain", re.IGNORECASE)
_MASKED = re.compile(r"https?://\S+|@\w+|[^\w\s#]+")


@dataclass(frozen=True, slots=True)
class TreebankFile:
    """A file of a treebank.

    Attributes:
        path: path of the file.
        sha256: hash of its bytes, in hexadecimal.
        corpus: the treebank's name, ``it_isdt`` for ``it_isdt-ud-test.conllu``.
        split: ``train``, ``dev``, ``test``, or empty.
        license: license of the treebank; ``unknown`` where it is not stated.
    """

    path: Path
    sha256: str
    corpus: str
    split: str
    license: str

    @property
    def name(self) -> str:
        """The file's name."""
        return self.path.name

    def sentences(
        self, *, skipped: list[ReadingProblem] | None = None
    ) -> Iterator[TreebankSentence]:
        """The sentences of the file; see `cimento.corpus.treebanks.read_sentences`."""
        return read_sentences(self.path, skipped=skipped)


def open_treebanks(paths: Sequence[Path], *, terms: str = "") -> tuple[TreebankFile, ...]:
    """The files of treebanks, without repeats, in the order given.

    Args:
        paths: files, folders of which every ``.conllu`` and ``.conllu.gz`` is taken, or
            ``it_sample``, the built-in treebank.
        terms: license of all files; if empty, the known license of the Universal Dependencies
            treebank of that name, or else that in the README of its folder.

    Raises:
        InputError: a file does not exist, or a folder has no treebank.
    """
    files = dict.fromkeys(file for path in paths for file in _files(path))
    return tuple(_open(path, terms) for path in files)


def may_show(terms: str) -> bool:
    """Whether a license allows sentences to be passed on to anybody: CC0, CC BY, CC BY-SA.

    An unknown license is assumed not to allow it.
    """
    return bool(_OPEN.match(terms.strip()))


def licenses_of(files: Iterable[TreebankFile]) -> dict[str, str]:
    """The license of each corpus, in order."""
    return {file.corpus: file.license for file in files}


def fingerprint(text: str) -> bytes:
    """A short hash of a text, ignoring case, marks, mentions and addresses."""
    plain = _MASKED.sub(" ", one_spelling(text).casefold())
    return hashlib.blake2b(" ".join(plain.split()).encode(), digest_size=12).digest()


def _files(path: Path) -> list[Path]:
    if str(path) == SAMPLE and not path.exists():
        path = _DATA / "sample"
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.name.endswith(SUFFIXES))
        if not files:
            raise InputError(
                where=str(path), seen="the folder has no .conllu file", todo="Check the path."
            )
        return files
    if not path.is_file():
        raise InputError(where=str(path), seen="there is no such file", todo="Check the path.")
    return [path]


def _open(path: Path, terms: str) -> TreebankFile:
    with reading(path, todo="Check its permissions."), path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    match = _UD_NAME.match(path.name)
    corpus = match["corpus"] if match else path.name.partition(".")[0]
    split = match["split"] if match else ""
    return TreebankFile(path, digest, corpus, split, terms or _license(path, corpus))


def _license(path: Path, corpus: str) -> str:
    known = tomllib.loads((_DATA / "licenses.toml").read_text(encoding="utf-8"))["licenses"]
    if corpus in known:
        return str(known[corpus])
    readme = path.parent / "README.md"
    if readme.is_file():
        match = _README_LICENSE.search(readme.read_text(encoding="utf-8", errors="replace"))
        if match:
            return match[1].strip()
    return UNKNOWN

"""What a CoNLL-U file violates that can be read all the same: style, columns that are not read.

The rules are those of levels 1 and 2 of Universal Dependencies
(https://universaldependencies.org/format.html, https://universaldependencies.org/validation-rules.html).
Whatever makes a sentence unreadable is found by its reader (`cimento.corpus.conllu`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from cimento.corpus import TreebankSentence, joined_tokens, token_spans
from cimento.corpus.conllu import ReadingProblem, SentenceReading, blocks, raw_lines

_FEATURE = re.compile(r"(?P<name>[A-Z][A-Za-z0-9]*(?:\[[a-z0-9]+\])?)=(?P<values>\S+)")
_VALUE = re.compile(r"[A-Z0-9][A-Za-z0-9]*")
_UPOS = re.compile(r"[A-Z]+")
_RELATION = re.compile(r"[a-z]+(?::[a-z]+)?")
_ENHANCED = re.compile(r"[a-z]+(?::[\w\u0300-\u036f\u0650-\u0655]+(?::[a-z_]+)*)*")
_PART = re.compile(r"(?P<head>(?:0|[1-9]\d*)(?:\.[1-9]\d*)?):(?P<relation>.+)", re.ASCII)
_COLUMNS = 10
_NOTHING = "_"
_IN_RANGES = {2: "lemma", 3: "UPOS", 4: "XPOS", 5: "features", 6: "head", 7: "relation", 8: "DEPS"}
"""Columns that a multiword token leaves to its words; of features, ``Typo=Yes`` is its own."""
_WITHOUT_BLANKS = {3: "UPOS", 4: "XPOS", 5: "features", 7: "relation", 8: "DEPS"}


def of_lines(lines: Iterable[bytes]) -> Iterator[tuple[int, str]]:
    """What the lines of a file violate as lines: line numbers from 1, and what is seen.

    Args:
        lines: the lines with their ends.
    """
    blank, number = True, 0
    for number, line in enumerate(lines, start=1):
        text = line.rstrip(b"\r\n")
        if line.endswith(b"\r\n") or b"\r" in text:
            yield number, "the line ends in CR LF; treebanks use LF"
        if not text.strip():
            if text:
                yield number, "the line looks empty and has blanks"
            if blank:
                seen = (
                    "an empty line too many" if number > 1 else "the file begins with an empty line"
                )
                yield number, seen
            blank = True
            continue
        blank = False
        decoded = text.decode("utf-8", "replace")
        if not decoded.startswith("#") and not unicodedata.is_normalized("NFC", decoded):
            yield number, "letters and their marks are apart (the line is not in NFC)"
    if not blank:
        yield number, "no empty line follows the last sentence"


def of_comments(comments: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """What the comments of a sentence violate.

    Args:
        comments: their line numbers, and their texts without the mark.
    """
    seen: dict[str, int] = {}
    first = 0
    for number, comment in comments:
        first = first or number
        key, equals, _ = comment.partition("=")
        key = key.strip()
        if key in ("sent_id", "text", "parallel_id"):
            if key in seen:
                yield number, f"a second {key} of the sentence, after line {seen[key]}"
            seen[key] = number
        elif not equals and key.startswith(("sent_id ", "parallel_id ")):
            yield number, f"{key.partition(' ')[0]} lacks its sign '='"
    for key in ("sent_id", "text"):
        if key not in seen:
            yield first, f"the sentence has no {key}"


def of_cells(cells: Sequence[str], nodes: frozenset[str]) -> Iterator[str]:
    """What a line of a sentence violates, in columns that are not needed to read it.

    Args:
        cells: the ten columns.
        nodes: the IDs of the words and empty nodes of the sentence.
    """
    key = cells[0]
    if cells[-1] != cells[-1].strip():
        yield f"MISC of {key} begins or ends with a blank: {cells[-1]!r}"
    for column, name in _WITHOUT_BLANKS.items():
        if any(map(str.isspace, cells[column])):
            yield f"the {name} of {key} has a blank: {cells[column]!r}"
    if "-" in key:
        yield from of_range(cells)
        return
    is_empty = "." in key
    if not _UPOS.fullmatch(cells[3]) and not (is_empty and cells[3] == _NOTHING):
        yield f"the UPOS of {key} is not in uppercase: {cells[3]!r}"
    yield from of_features(key, cells[5])
    if is_empty:
        for column, name in ((6, "head"), (7, "relation")):
            if cells[column] != _NOTHING:
                yield f"the empty node {key} has a {name} outside DEPS: {cells[column]!r}"
    elif not _RELATION.fullmatch(cells[7]):
        yield f"the relation of {key} is not in lowercase: {cells[7]!r}"
    yield from of_enhanced(key, cells[8], nodes)


def of_range(cells: Sequence[str]) -> Iterator[str]:
    """What the line of a multiword token says that only its words say."""
    for column, name in _IN_RANGES.items():
        if cells[column] not in (_NOTHING, "Typo=Yes" if name == "features" else _NOTHING):
            yield f"the range {cells[0]} has a {name}, which its words have: {cells[column]!r}"


def of_features(key: str, cell: str) -> Iterator[str]:
    """What the features of a word violate: form, order, repetition.

    Args:
        key: its ID.
        cell: the features, separated by bars.
    """
    if cell == _NOTHING:
        return
    names: list[str] = []
    for part in cell.split("|"):
        match = _FEATURE.fullmatch(part)
        values = match["values"].split(",") if match else []
        if match is None or not all(map(_VALUE.fullmatch, values)):
            yield f"the feature {part!r} of {key} is not of the form Name=Value with capitals"
        elif len({*values}) < len(values):
            yield f"the feature {part!r} of {key} has a value twice"
        elif values != sorted(values, key=str.casefold):
            yield f"the values of the feature {part!r} of {key} are not in alphabetical order"
        names.append(match["name"] if match else part.partition("=")[0])
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"the word {key} has the feature {name} twice"
    if any(one.casefold() > other.casefold() for one, other in pairwise(names)):
        yield f"the features of {key} are not in alphabetical order: {cell!r}"


def of_enhanced(key: str, cell: str, nodes: frozenset[str]) -> Iterator[str]:
    """What the enhanced dependencies of a word violate: form, heads, order.

    Args:
        key: its ID.
        cell: pairs of head and relation, separated by bars.
        nodes: the IDs of the words and empty nodes of the sentence.
    """
    if cell == _NOTHING:
        return
    order: list[tuple[int, int]] = []
    for part in cell.split("|"):
        match = _PART.fullmatch(part)
        if match is None:
            yield f"DEPS of {key} has {part!r} where a head and its relation belong (2:nsubj)"
            continue
        head, relation = match["head"], match["relation"]
        if head != "0" and head not in nodes:
            yield f"DEPS of {key} names the head {head}, and the sentence has none"
        if head == key:
            yield f"the word {key} is its own head in DEPS"
        if not _ENHANCED.fullmatch(relation):
            yield f"DEPS of {key} has the relation {relation!r}, which is not in lowercase"
        whole, _, decimal = head.partition(".")
        order.append((int(whole), int(decimal or 0)))
    if order != sorted(order):
        yield f"the heads in DEPS of {key} are not in order: {cell!r}"


def of_text(sentence: TreebankSentence) -> Iterator[str]:
    """Where the text of a sentence is not what its tokens make."""
    if token_spans(sentence) is None:
        yield f"the text {sentence.text!r} does not consist of the words"
        return
    expected = " ".join(sentence.text.split())
    if " ".join(joined_tokens(sentence.tokens()).split()) != expected:
        yield f"the blanks of the text {sentence.text!r} are not where SpaceAfter=No has them"


def of_sentence(
    block: Sequence[tuple[int, str]], sentence: TreebankSentence | None
) -> Iterator[tuple[int, str]]:
    """What a sentence violates that can be read all the same.

    Args:
        block: its lines with their numbers.
        sentence: the sentence as it was read; None where it is malformed.
    """
    comments = [(number, line[1:].strip()) for number, line in block if line.startswith("#")]
    rows = [(number, line.split("\t")) for number, line in block if not line.startswith("#")]
    if not rows:
        yield block[0][0], "comments without a sentence"
        return
    yield from of_comments(comments or [(block[0][0], "")])
    rows = [(number, cells) for number, cells in rows if len(cells) == _COLUMNS]
    nodes = frozenset(cells[0] for _, cells in rows if "-" not in cells[0])
    for number, cells in rows:
        for seen in of_cells(cells, nodes):
            yield number, seen
    if sentence is not None and any(comment.startswith("text") for _, comment in comments):
        for seen in of_text(sentence):
            yield block[0][0], seen


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """What a check found in a file of CoNLL-U.

    Attributes:
        n_sentences: number of sentences that can be read.
        n_words: number of their words.
        problems: what was found, by lines.
    """

    n_sentences: int
    n_words: int
    problems: list[ReadingProblem]


def check_file(path: Path) -> CheckedFile:
    """The check of a file: malformed sentences as errors, anything else as warnings.

    Raises:
        InputError: the file cannot be read.
    """
    problems = [
        ReadingProblem(path, number, "", seen, "warning")
        for number, seen in of_lines(raw_lines(path))
    ]
    known: set[str] = set()
    n_sentences = n_words = 0
    for start, block in blocks(path):
        reading = SentenceReading(path, start)
        reading.read(block)
        sentence = None
        if reading.words and not reading.problems:
            sentence = reading.sentence("", known)
            known.add(sentence.id)
            n_sentences, n_words = n_sentences + 1, n_words + len(sentence.words)
        problems += [*reading.problems, *reading.warnings]
        problems += [
            ReadingProblem(path, number, reading.sent_id, seen, "warning")
            for number, seen in of_sentence(reading.lines, sentence)
        ]
    return CheckedFile(n_sentences, n_words, sorted(problems, key=lambda problem: problem.line))

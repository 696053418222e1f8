"""Files of recorded surprisals, and the model specs that describe their tokens.

Both formats are those of the LM Zoo (Gauthier et al. 2020, doi:10.18653/v1/2020.acl-demos.10):

- a table with the columns ``sentence_id``, ``token_id``, ``token`` and ``surprisal``, separated
  by tabs and never quoted, so that a token may be a quotation mark or the word ``NA``. Tables
  separated by blanks, as sg-eval reads them, and tables without a header are read too;
- a JSON object that names special tokens and the marks of a subword tokenizer.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Literal, TypeAlias

from cimento.errors import TableError
from cimento.io.files import read_bytes
from cimento.io.parsing import faults_of, refuse_very_faulty
from cimento.io.patterns import REFUSED, may_be_endless

COLUMNS = ("sentence_id", "token_id", "token", "surprisal")

_NOT_A_NUMBER = frozenset({"", "nan", "na", "null", "none"})
_MAX_DIGITS = 12

_Split: TypeAlias = Callable[[str], list[str]]


@dataclass(frozen=True, slots=True)
class RecordedSentence:
    """The tokens of one recorded sentence with their surprisals.

    Attributes:
        id: as the file has it, from 1.
        line: line of its first token, from 1.
        tokens: as text.
        surprisals: one for each token, in the unit of the file; NaN and infinity as recorded.
    """

    id: int
    line: int
    tokens: tuple[str, ...]
    surprisals: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class RecordedSurprisals:
    """A file of surprisals.

    Attributes:
        sentences: in order; their ids are 1, 2, 3 and so on.
        digest: SHA-256 of the file, hexadecimal.
    """

    sentences: tuple[RecordedSentence, ...]
    digest: str


@dataclass(frozen=True, slots=True)
class _Row:
    line: int
    sentence_id: int
    token_id: int
    token: str
    surprisal: float


def read_recording(path: Path) -> RecordedSurprisals:
    """Read a file of recorded surprisals.

    Raises:
        InputError: the file cannot be read.
        TableError: it is not UTF-8, lacks a column, or has a row that is cut short, out of order
            or without a number; names the line.
    """
    data = read_bytes(path)
    lines = _decode(data, path).split("\n")
    sentences: list[RecordedSentence] = []
    for rows in _by_sentence(_rows(lines, path), path):
        first = rows[0]
        sentences.append(
            RecordedSentence(
                id=first.sentence_id,
                line=first.line,
                tokens=tuple(row.token for row in rows),
                surprisals=tuple(row.surprisal for row in rows),
            )
        )
    if not sentences:
        raise TableError(
            where=str(path),
            seen="holds no surprisals",
            todo=f"It needs a header and one row for each token: {', '.join(COLUMNS)}.",
        )
    return RecordedSurprisals(tuple(sentences), hashlib.sha256(data).hexdigest())


def _decode(data: bytes, path: Path) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise TableError(
            where=f"{path}, line {line}", seen="is not UTF-8", todo="Save the file as UTF-8 text."
        ) from error


def _rows(lines: Sequence[str], path: Path) -> Iterator[_Row]:
    """The rows of a table, its header and blank lines left out.

    Lines end at a line feed and nowhere else: a token may hold any other line separator.
    """
    numbered = [(n, line.removesuffix("\r")) for n, line in enumerate(lines, start=1)]
    numbered = [(n, line) for n, line in numbered if line.strip(" \t")]
    if not numbered:
        return
    columns, split = _layout(*numbered[0], path)
    headless = split(numbered[0][1])[0].isdigit()
    in_order = itemgetter(*(columns.index(name) for name in COLUMNS))
    for number, line in numbered[0 if headless else 1 :]:
        fields = split(line)
        last = number == len(lines)  # with no line feed after it
        if last and (len(fields) < len(columns) or not fields[-1]):
            raise TableError(
                where=f"{path}, line {number}",
                seen="the file ends in the middle of a row",
                todo="Get the whole file again.",
            )
        if len(fields) != len(columns):
            raise TableError(
                where=f"{path}, line {number}",
                seen=f"has {len(fields)} fields where the header has {len(columns)}",
                todo="One row is one token; fields are separated as in the header, unquoted.",
            )
        yield _row(*in_order(fields), path=path, line=number)


def _layout(number: int, first: str, path: Path) -> tuple[Sequence[str], _Split]:
    """The columns of a table and how its lines are split, from its first line."""
    split: _Split = _split_at_tabs if "\t" in first else _split_at_blanks
    fields = [name.strip() for name in split(first)]
    if len(fields) == len(COLUMNS) and fields[0].isdigit() and fields[1].isdigit():
        return COLUMNS, split
    missing = [name for name in COLUMNS if name not in fields]
    twice = [name for name in COLUMNS if fields.count(name) > 1]
    if missing or twice:
        fault = f"lacks the column {', '.join(missing)}" if missing else f"has {twice[0]} twice"
        shown = ", ".join(fields[:8])[:120]
        raise TableError(
            where=f"{path}, line {number}",
            seen=f"the header {fault}; it reads: {shown}",
            todo=f"Name the columns {', '.join(COLUMNS)} and separate them by tabs.",
        )
    return fields, split


def _split_at_tabs(line: str) -> list[str]:
    return line.split("\t")


def _split_at_blanks(line: str) -> list[str]:
    return re.split("[ \t]+", line.strip(" \t"))


def _row(
    sentence_id: str, token_id: str, token: str, surprisal: str, *, path: Path, line: int
) -> _Row:
    ids: list[int] = []
    for column, value in (("sentence_id", sentence_id), ("token_id", token_id)):
        text = value.strip()
        if not (text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS):
            raise TableError(
                where=f"{path}, line {line}",
                seen=f"{column} is {text!r} and not a whole number",
                todo="Ids count from 1.",
            )
        ids.append(int(text))
    return _Row(line, ids[0], ids[1], token, _number(surprisal.strip(), path=path, line=line))


def _number(text: str, *, path: Path, line: int) -> float:
    """A surprisal; NaN for all ways of writing a missing one."""
    if text.lower() in _NOT_A_NUMBER:
        return math.nan
    try:
        return float(text.replace("_", "?"))  # for Python, 1_0 is 10
    except ValueError as error:
        comma = " Write a point and not a comma in numbers." if "," in text else ""
        raise TableError(
            where=f"{path}, line {line}",
            seen=f"the surprisal is {text[:40]!r} and not a number",
            todo=f"Is the row shifted, or the token quoted?{comma}",
        ) from error


def _by_sentence(rows: Iterator[_Row], path: Path) -> Iterator[list[_Row]]:
    """Rows grouped by sentence.

    Raises:
        TableError: ids do not run 1, 2, 3, ... in the order of the file.
    """
    group: list[_Row] = []
    for row in rows:
        sentence = group[0].sentence_id if group else 0
        begins = (row.sentence_id, row.token_id) == (sentence + 1, 1)
        goes_on = bool(group) and (row.sentence_id, row.token_id) == (sentence, len(group) + 1)
        if not (begins or goes_on):
            wanted = f"sentence {sentence + 1}, token 1"
            if group:
                wanted = f"sentence {sentence}, token {len(group) + 1}, or {wanted}"
            raise TableError(
                where=f"{path}, line {row.line}",
                seen=f"is sentence {row.sentence_id}, token {row.token_id}; due was {wanted}",
                todo="Sort the rows; ids count from 1 and none may be missing.",
            )
        if begins and group:
            yield group
            group = []
        group.append(row)
    if group:
        yield group


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The special tokens, which do not spell a part of the text.

    Attributes:
        unk_types: stand for a word that the model does not know.
        prefix_types: begin a sentence; charged to the first region.
        suffix_types: end a sentence; charged to the last region.
        special_types: anything else; charged to no region.
    """

    unk_types: tuple[str, ...] = ()
    prefix_types: tuple[str, ...] = ()
    suffix_types: tuple[str, ...] = ()
    special_types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """The way in which tokens spell the text.

    Attributes:
        type: what a token is; marks of pieces are looked at for ``subword`` only.
        cased: False where the text was put in lower case first.
        sentinel_position: where a piece carries its mark: on the piece that begins a word
            (``initial``), on those that go on with one (``medial``), or at the end (``final``).
        sentinel_pattern: the mark, such as ``Ġ`` or ``##``.
        drop_token_pattern: regular expression; a word that it matches whole has no token.
        metaspace: the mark that stands for a blank, such as ``▁``.
        behaviors: ``moses``: hyphens, commas and points inside words are ``@-@`` and the like.
    """

    type: Literal["word", "subword", "character"]
    cased: bool
    sentinel_position: Literal["initial", "medial", "final"] | None = None
    sentinel_pattern: str | None = None
    drop_token_pattern: str | None = None
    metaspace: str | None = None
    behaviors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """The facts on a model that are needed to match its tokens with a text.

    Attributes:
        vocabulary: its special tokens.
        tokenizer: how the others spell a text.
        name: the model's name, where the file tells.
    """

    vocabulary: Vocabulary
    tokenizer: Tokenizer
    name: str = ""


PLAIN = ModelSpec(Vocabulary(), Tokenizer(type="word", cased=True))
"""The spec that is assumed by default: tokens spell the text and nothing else."""


def read_spec(path: Path) -> ModelSpec:
    """Read a model spec; keys that the alignment does not need are ignored.

    Raises:
        InputError: the file cannot be read.
        TableError: it is not JSON, or lacks something or has it wrong.
    """
    return parse_spec(_decode(read_bytes(path), path), where=str(path))


def parse_spec(text: str, *, where: str) -> ModelSpec:
    """The model spec in a JSON text.

    Args:
        text: a JSON object.
        where: for messages: the file it comes from.

    Raises:
        InputError: it is not a model spec; lists what is wrong.
    """
    from pydantic import TypeAdapter, ValidationError

    adapter = TypeAdapter(ModelSpec)
    refuse_very_faulty(adapter, text, where=where)
    try:
        spec = adapter.validate_json(text, strict=True)
    except ValidationError as error:
        faults = [": ".join(fault).strip(": ") for fault in faults_of(error)]
    else:
        faults = _faults(spec.tokenizer)
        if not faults:
            return spec
    raise TableError(
        where=where,
        seen=f"is not a model spec ({'; '.join(faults[:5])})",
        todo='See the page "Recorded answers" for its keys.',
    )


def _faults(tokenizer: Tokenizer) -> list[str]:
    """The faults that involve several keys."""
    faults: list[str] = []
    if tokenizer.sentinel_pattern and tokenizer.sentinel_position is None:
        faults.append("tokenizer.sentinel_position: missing beside sentinel_pattern")
    pattern = tokenizer.drop_token_pattern or ""
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        faults.append(f"tokenizer.drop_token_pattern: not a regular expression, {error}")
    if may_be_endless(pattern):
        faults.append(f"tokenizer.drop_token_pattern: {REFUSED}; write it without")
    return faults

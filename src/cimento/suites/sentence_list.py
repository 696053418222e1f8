"""Lists: one sentence per row, with nothing else but perhaps its number."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from cimento.errors import CimentoError, Fault
from cimento.faults import errors
from cimento.intake.decoding import decode, stated_language
from cimento.intake.names import ends_sentence, without_noun
from cimento.intake.sheets import read_sheet
from cimento.intake.table import Table
from cimento.intake.tables import SUFFIXES, read_raw_rows
from cimento.intake.words import HEADERS
from cimento.io.files import read_bytes
from cimento.io.parsing import whole_number
from cimento.suites.checks.asides import cleaned, judgment_marks, lead
from cimento.suites.ratings import RatedSentence, RatedSet
from cimento.suites.reading import name_from

_TEXT = ".txt"
_COLUMNS = 2
_FEWEST = 1
_MOST_LABELS = 8
_MOST_WORDS = 6
"""Words of the longest label, such as *dislocazione a sinistra di un oggetto*."""
_DIGITS_ALONE = re.compile(r"[\W\d]*")
_MOST_BYTES = 2_000_000
"""The largest list, some 40,000 sentences; larger files are not looked through for one."""


@dataclass(frozen=True, slots=True)
class ListRow:
    """A row of a list.

    Attributes:
        number: number of the row in the file, from 1.
        text: its sentence.
        label: the cell beside it; empty without one.
    """

    number: int
    text: str
    label: str


def read_list(data: bytes, path: Path) -> tuple[list[ListRow], list[Fault]]:
    """The rows of a list, the heading included; none where a file has more than two columns.

    Args:
        data: the content of the file.
        path: its name.

    Returns:
        The rows that are not empty, and the faults found.
    """
    rows, faults = read_raw_rows(data, path)
    if path.suffix.lower() == _TEXT and not errors(faults) and b"\t" not in data:
        text, faults = decode(data, name=path.name)  # commas are those of sentences
        rows = [[line] for line in (text or "").split("\n")]
    # Gaps of a workbook may have a million rows, of which none is a sentence.
    filled = [(n, [*map(str.strip, row)]) for n, row in enumerate(rows, start=1) if any(row)]
    columns = sorted({place for _, row in filled for place, cell in enumerate(row) if cell})
    if errors(faults) or not 0 < len(columns) <= _COLUMNS:
        return [], faults
    cells = {
        place: [row[place] if place < len(row) else "" for _, row in filled] for place in columns
    }
    text_at = max(columns, key=lambda place: sum(" " in cell for cell in cells[place]))
    labels = next((cells[place] for place in columns if place != text_at), ["" for _ in filled])
    listed = [
        ListRow(number, text, label)
        for (number, _), text, label in zip(filled, cells[text_at], labels, strict=True)
        if text or label
    ]
    return listed, faults


def may_be_list(data: bytes, path: Path) -> bool:
    """Whether a file is a table or a text that is not too large to be a list."""
    return path.suffix.lower() in SUFFIXES and len(data) <= _MOST_BYTES


@dataclass(frozen=True, slots=True)
class SentenceList:
    """The sentences of a list, with whatever its author has written before them.

    Attributes:
        heading: the name of the column; empty without one.
        rows: a row for each sentence.
        ids: the number of each: that beside it, or else its place from 1.
    """

    heading: str
    rows: tuple[ListRow, ...]
    ids: tuple[str, ...]

    @property
    def texts(self) -> list[str]:
        """The sentences."""
        return [row.text for row in self.rows]


def listed_sentences(path: Path) -> SentenceList | None:
    """The sentences of a list; None where a file is none.

    Args:
        path: a table or a text; a first row that names the column is not a sentence.
    """
    try:
        data = read_bytes(path)
        rows, faults = read_list(data, path) if may_be_list(data, path) else ([], [])
    except CimentoError:
        return None
    heading = ""
    if rows and _is_heading(rows[0], rows[1:]):
        heading, rows = rows[0].text, rows[1:]
    whole = sum(" " in row.text for row in rows)
    labels = [row.label for row in rows]
    numbers = [whole_number(label) or 0 for label in labels]
    is_numbered = all(one < other for one, other in pairwise([0, *numbers]))
    if errors(faults) or len(rows) < _FEWEST or 2 * whole <= len(rows):
        return None
    # Other numbers than those of rows may be ratings.
    if not all(row.text for row in rows) or (any(labels) and not is_numbered):
        return None
    ids = labels if is_numbered else [str(count) for count in range(1, len(rows) + 1)]
    return SentenceList(heading, tuple(rows), tuple(ids))


def sentence_list(path: Path, *, language: str = "") -> RatedSet | None:
    """The sentences of a list, without ratings, perhaps with a label each; None for other files.

    Args:
        path: a table or a text; a first row that names the column is not a sentence.
        language: ISO 639-1 code of the sentences; empty if it is unknown.
    """
    try:
        labeled = _labeled_list(read_bytes(path), path, language=language)
    except CimentoError:
        return None
    if labeled is not None:
        return labeled
    if (listed := listed_sentences(path)) is None:
        return None
    sentences = tuple(
        RatedSentence(id=id_, text=text)
        for id_, text in zip(listed.ids, _without_numbers(listed.rows), strict=True)
    )
    return RatedSet(name=name_from(path), sentences=sentences, language=language)


def _labeled_list(data: bytes, path: Path, *, language: str) -> RatedSet | None:
    """The sentences of a table with labels beside them, which are kept; None for other files."""
    if not may_be_list(data, path):
        return None
    table, faults = read_sheet(data, path)
    if table is None or errors(faults) or (found := labeled_columns(table)) is None:
        return None
    sentences, labels = table.stripped(found.sentence), found.labels
    numbers = map(str, range(1, len(sentences) + 1))
    ids = table.stripped(found.number) if found.number else numbers
    rated = tuple(
        RatedSentence(id=id_, text=text, columns=dict(zip(labels, own, strict=True)))
        for id_, text, *own in zip(ids, sentences, *map(table.stripped, labels), strict=True)
    )
    return RatedSet(name=name_from(path), sentences=rated, language=language)


@dataclass(frozen=True, slots=True)
class LabeledColumns:
    """The columns of a list of sentences with labels.

    Attributes:
        sentence: the column of the sentences.
        number: that of their numbers; empty without one.
        labels: those of their labels, one or more.
    """

    sentence: str
    number: str
    labels: tuple[str, ...]


def labeled_columns(table: Table) -> LabeledColumns | None:
    """The columns of a table with nothing but sentences, their numbers and labels; else None.

    Numbers that do not go through the rows may be ratings, and sentences that appear twice are
    asked in some way that a list does not say. Columns without cells, such as one that is still to
    be filled with ratings, are none.

    Args:
        table: a table.
    """
    cells = {name: table.stripped(name) for name in table.columns if any(table.stripped(name))}
    numbers = [name for name in cells if _numbers_rows(cells[name])]
    labels = [name for name in cells if name not in numbers and _may_label(cells[name])]
    texts = [name for name in cells if name not in (*numbers, *labels)]
    if len(texts) != 1 or not labels or len(numbers) > 1:
        return None
    [sentence] = texts
    is_each_another = len({*cells[sentence]} - {""}) == len(cells[sentence])
    if not is_each_another or table.profile(sentence).kind != "sentences":
        return None
    return LabeledColumns(sentence, "".join(numbers), tuple(labels))


def _numbers_rows(cells: Sequence[str]) -> bool:
    numbers = [whole_number(cell) or 0 for cell in cells]
    return all(one < other for one, other in pairwise([0, *numbers]))


def are_labels(cells: Sequence[str]) -> bool:
    """Whether the cells of a column are words for a few kinds of sentences."""
    kinds = {cell.casefold() for cell in cells}
    is_few = len(kinds) <= _MOST_LABELS and len(kinds) < len(cells)
    return "" not in kinds and is_few and not any(map(_DIGITS_ALONE.fullmatch, kinds))


def _may_label(cells: Sequence[str]) -> bool:
    """Whether the cells of a column call sentences something: in words, most of them repeated.

    What ends as sentences do may be a context, which people would have to see.
    """
    filled = list(filter(None, cells))
    is_text = not any(map(_DIGITS_ALONE.fullmatch, filled))
    is_short = all(len(cell.split()) <= _MOST_WORDS for cell in filled)
    is_repeated = len({*filled}) < len(cells)
    return is_text and is_short and is_repeated and not any(map(ends_sentence, filled))


def labels_named(listed: RatedSet) -> list[str]:
    """The columns of labels of a list; none for a list of sentences alone."""
    return list(dict.fromkeys(name for one in listed.sentences for name in one.columns))


def list_advised(path: Path) -> str:
    """What can be done with a list of sentences; empty for other files."""
    listed = sentence_list(path)
    if listed is None or labels_named(listed):  # of which there is more to say
        return ""
    name = path.name
    scored = (
        f" To see what a model makes of them: `cimento score {name} -m MODEL`. If each two lines"
        f" are a pair, run `cimento suites convert {name} --from good-first -o NAME`, or with"
        " --from zorro if the bad sentence is the first."
    )
    return (
        f"Nothing says which are good; colors and bold type are not read. {to_ask(path)}"
        f"{scored if path.suffix.lower() == _TEXT else ''} To compare sentences, write each good"
        " one and its bad one in a row, under the names good and bad."
    )


def to_ask(path: Path) -> str:
    """How people are asked about the sentences of a list."""
    name, language = path.name, stated_language()
    command = f"`cimento annotate survey build {name} --language {language or 'CODE'} -o survey`"
    return (
        f"To ask people: {command}{'' if language else ', with the code of your language'}. If you"
        f" have answers: `cimento annotate import ANSWERS --suite {name} -o answers.csv`."
    )


def _is_heading(first: ListRow, rows: Sequence[ListRow]) -> bool:
    """Whether the first row names the column: by its word, or as one word above sentences."""
    if without_noun(first.text) in {"sentence", *HEADERS["sentence"]}:
        return True
    is_above_numbers = bool(first.label) and not first.label.isdecimal()
    return is_above_numbers or (" " not in first.text and all(" " in row.text for row in rows))


def _without_numbers(rows: Sequence[ListRow]) -> list[str]:
    """The sentences without numbers such as ``(12)``, if all have one and none has a mark."""
    texts = [row.text for row in rows]
    if any(map(judgment_marks, texts)) or not all(lead(text).number for text in texts):
        return texts
    return [cleaned(text, doubtful=True) for text in texts]

"""Reading times, or other measures of words, joined to the surprisals that a model gives them.

One row for each observation, ready for a mixed model. Difficulty spills over to the next words
(Smith and Levy 2013, doi:10.1016/j.cognition.2013.02.013), so earlier words are in the row too.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cimento.engine.cache import MemoryCache
from cimento.engine.handle import ModelHandle
from cimento.engine.scores import ask
from cimento.errors import InputError, UsageError
from cimento.evaluation.freetext import surprisals_of_words
from cimento.intake.tables import open_table
from cimento.io.files import atomically, read_bytes, write_text
from cimento.io.parquet import parse_parquet, write_parquet
from cimento.io.tables import Column
from cimento.models.base import TWO_SIDED, Score
from cimento.models.characters import containing
from cimento.models.in_memory import ModelLike, as_scorers
from cimento.models.registry import AnyScorer
from cimento.models.settings import Asking, Policy
from cimento.people.word_positions import (
    WordColumns,
    all_words,
    counting_remark,
    require_columns,
    word_positions,
)
from cimento.suites.derived import Frequency
from cimento.suites.letters import one_spelling
from cimento.suites.stimuli import Span

if TYPE_CHECKING:
    import polars as pl


READ = (".csv", ".tsv", ".txt", ".tab", ".xlsx", ".parquet")
WRITTEN = (".csv", ".tsv", ".parquet")


def read_observations(path: Path) -> pl.DataFrame:
    """A table of observations; what is not Parquet is text, as it is in the file.

    Raises:
        InputError: it cannot be read, or has no rows.
        SuiteError: it is damaged; the error says where.
        UsageError: its suffix is none of `READ`.
    """
    import polars as pl

    if not path.exists():
        raise InputError(where=str(path), seen="there is no such file", todo="Check the path.")
    if path.is_dir():
        raise InputError(
            where=str(path), seen="this is a folder", todo="Name a table of observations."
        )
    _refuse_suffix(path, READ)
    if path.suffix.lower() == ".parquet":
        frame = parse_parquet(read_bytes(path), where=str(path))
    else:
        table = open_table(path)
        columns = {name: [row.cells.get(name, "") for row in table.rows] for name in table.columns}
        frame = pl.DataFrame(columns, schema=dict.fromkeys(table.columns, pl.String()))
    if frame.is_empty():
        raise InputError(where=str(path), seen="holds no observations", todo="Add rows.")
    return frame


_COMMA_NUMBER = re.compile(r"-?\d+(?:,(?P<decimals>\d+))?")
_THOUSAND_DIGITS = 3
"""Digits after a comma that may also separate thousands."""


def with_decimal_points(
    observations: pl.DataFrame, *, names: WordColumns
) -> tuple[pl.DataFrame, dict[str, str]]:
    """Observations with decimal points for decimal commas, which R would not read as numbers.

    Args:
        observations: as `read_observations` gives them.
        names: the columns that say which word it is, which are left alone.

    Returns:
        The table, and the first number with a comma of each column that was changed. A column is
        changed if it has only numbers, one of them with a comma that cannot separate thousands.
    """
    import polars as pl

    changed: dict[str, str] = {}
    for name, kind in observations.schema.items():
        if kind != pl.String or name in {names.text, names.position, names.word}:
            continue
        cells = [cell.strip() for cell in observations[name].to_list() if cell and cell.strip()]
        matches = [_COMMA_NUMBER.fullmatch(cell) for cell in cells]
        decimals = [match["decimals"] for match in matches if match and match["decimals"]]
        if all(matches) and any(len(digits) != _THOUSAND_DIGITS for digits in decimals):
            changed[name] = next(cell for cell in cells if "," in cell)
    if not changed:
        return observations, changed
    points = pl.col(*changed).str.strip_chars().str.replace(",", ".", literal=True)
    return observations.with_columns(points), changed


def read_texts(path: Path, *, column: str) -> dict[str, str]:
    """Id, in one spelling, to text: a table with the ids in `column` and texts in ``content``.

    Raises:
        CimentoError: as for `read_observations`, or a column is missing, or an id is there twice.
    """
    frame = read_observations(path)
    require_columns(frame, (column, "content"), where=str(path))
    texts: dict[str, str] = {}
    for row, (text, content) in enumerate(frame.select(column, "content").iter_rows(), start=2):
        if (key := one_spelling(str(text))) in texts:
            raise InputError(
                where=f"{path} row {row}",
                seen=f"the text {str(text)!r} is there already",
                todo="Give every text one row.",
            )
        texts[key] = str(content or "")
    return texts


def write_joined(frame: pl.DataFrame, path: Path) -> Path:
    """Write a table as ``.csv``, ``.tsv`` or ``.parquet``; null is an empty cell, in R an NA.

    Raises:
        UsageError: the suffix is another one.
        StorageError: the file cannot be written.
    """
    refuse_output(path)
    if path.suffix.lower() == ".parquet":
        return atomically(path, partial(write_parquet, frame))
    separator = "\t" if path.suffix.lower() == ".tsv" else ","
    return write_text(frame.write_csv(separator=separator), path)


def refuse_output(path: Path) -> None:
    """Refuse a name that a table cannot be written under.

    Raises:
        UsageError: its suffix is none of `WRITTEN`.
    """
    _refuse_suffix(path, WRITTEN)


def _refuse_suffix(path: Path, known: Sequence[str]) -> None:
    if path.suffix.lower() not in known:
        raise UsageError(
            where=str(path),
            seen=f"ends in {path.suffix!r}",
            todo=f"It should be one of {', '.join(known)}.",
        )


ENTROPY: Column = "entropy_nats"
REASON = "unscored_reason"
READING_POLICY = Policy(punctuation="keep")
"""A mark belongs to the word that it touches, as it is read with it."""


def join_surprisals(
    observations: pl.DataFrame,
    model: ModelLike,
    *,
    names: WordColumns | None = None,
    texts: Mapping[str, str] | None = None,
    before: int = 2,
    frequency: Frequency | None = None,
    asking: Asking | None = None,
    remark: Callable[[str], object] | None = None,
) -> pl.DataFrame:
    """Join observations of words with a model's surprisals for these words.

    Args:
        observations: one row for each observation; columns that `names` does not name are kept.
        model: a name as for ``cimento run -m``, or anything that keeps the `Scorer` protocol.
        names: the columns that say which word it is.
        texts: id to text; else texts are made of the table, which must then have every word.
        before: number of preceding words whose surprisal, length and frequency are added.
        frequency: Zipf frequencies of words; None leaves the column out.
        asking: how the model is asked; by default with `READING_POLICY`.
        remark: called with remarks on texts that differ in their first position, and on the model.

    Returns:
        The rows of `observations` in their order, with the columns ``surprisal_bits``, ``length``
        (without marks at the ends), ``zipf``, ``entropy_nats`` (at the first token, if asked for),
        the same with ``_1``, ``_2`` ... for the words before, and ``unscored_reason``.

    Raises:
        CimentoError: columns or words and texts do not agree, or the model cannot be used.

    Example:
        >>> import polars as pl
        >>> words = {"text": 1, "position": [1, 2, 3], "word": ["Le", "lampade", "erano"]}
        >>> join_surprisals(pl.DataFrame(words), "demo-causal")["surprisal_bits"].round(1).to_list()
        [5.9, 8.9, 4.3]
    """
    chosen = asking or Asking(policy=READING_POLICY)
    made = _columns_made(before, zipf=frequency is not None, entropy=ENTROPY in chosen.columns)
    _refuse_columns(observations, (_column_name(name, n) for name, n in made))
    places = word_positions(observations, names or WordColumns())
    words = all_words(places, texts)
    if remark is not None and texts is None and (said := counting_remark(words)):
        remark(said)
    handle = ModelHandle(as_scorers([model], chosen)[0], chosen)
    texts_read = {text: way.words for text, way in words.items()}
    values = _values(texts_read, handle.scorer, handle.scoring, frequency)
    _tell_of_model(handle, texts_read.values(), remark)
    rows = [(text, number - words[text].first) for text, number in places.rows]
    return observations.with_columns(_column(name, rows, values, distance=n) for name, n in made)


def _tell_of_model(
    handle: ModelHandle, texts: Iterable[Sequence[str]], remark: Callable[[str], object] | None
) -> None:
    """Say how a model differs from a reader: words that it sees, and words that it takes apart."""
    if remark is not None and handle.card.kind in TWO_SIDED:
        remark(
            f"{handle.label} predicts a word also from the words after it, which a reader has not"
            " seen yet; a causal model does not."
        )
    handle.tell_special_tokens(map(" ".join, texts), remark)


def _columns_made(before: int, *, zipf: bool, entropy: bool) -> list[tuple[str, int]]:
    """The columns that are added, each with the distance of its word from the word of the row."""
    wanted = ["surprisal_bits", "length", *["zipf"] * zipf, *[ENTROPY] * entropy]
    return [(name, n) for n in range(before + 1) for name in wanted] + [(REASON, 0)]


def _refuse_columns(observations: pl.DataFrame, made: Iterable[str]) -> None:
    for column in made:
        if column in observations.columns:
            raise UsageError(
                where="the table",
                seen=f"it has a column {column!r} already, which is made here",
                todo="Join another model to the table without it, or give it another name.",
            )


def _column_name(name: str, distance: int) -> str:
    return f"{name}_{distance}" if distance else name


def _column(
    name: str,
    rows: Sequence[tuple[str, int]],
    values: Mapping[str, Sequence[_Word]],
    *,
    distance: int,
) -> pl.Series:
    """One column of values, for the word at a distance before that of each observation."""
    import polars as pl

    types = {"length": pl.Int32(), REASON: pl.String()}
    cells = [
        getattr(values[text][index - distance], name) if index >= distance else None
        for text, index in rows
    ]
    return pl.Series(_column_name(name, distance), cells, dtype=types.get(name, pl.Float64()))


class _Word(NamedTuple):
    """The values of one word of a text."""

    surprisal_bits: float | None
    length: int
    zipf: float | None
    entropy_nats: float | None
    unscored_reason: str | None


def _values(
    words: Mapping[str, Sequence[str]],
    scorer: AnyScorer,
    asking: Asking,
    frequency: Frequency | None,
) -> dict[str, list[_Word]]:
    """The values of each word of each text, from the model and from the word itself."""
    joined = {text: " ".join(word) for text, word in words.items()}
    ids = {content: number for number, content in enumerate(dict.fromkeys(joined.values()))}
    asked = [Score(content, asking.context.text) for content in ids]
    tokens = ask(asked, scorer, policy=asking.policy, cache=MemoryCache(), columns=asking.columns)
    tables = tokens.partition_by("request", as_dict=True, maintain_order=True)
    values: dict[str, list[_Word]] = {}
    for text, content in joined.items():
        table, spans = tables[(ids[content],)], _spans(words[text])
        entropies = _entropies(table, spans)
        values[text] = [
            _Word(bits, word_length(word), word_zipf(word, frequency), entropies[index], reason)
            for index, (word, (bits, reason)) in enumerate(
                zip(words[text], surprisals_of_words(table, spans), strict=True)
            )
        ]
    return values


def _spans(words: Sequence[str]) -> list[Span]:
    """The characters of each word in the text that has one blank between words."""
    spans, start = [], 0
    for word in words:
        spans.append((start, start + len(word)))
        start += len(word) + 1
    return spans


def _entropies(table: pl.DataFrame, spans: Sequence[Span]) -> list[float | None]:
    """The entropy of the position of each word's first token, where it was asked for."""
    entropies: dict[int, float | None] = {}
    if ENTROPY in table.columns:
        for start, entropy in table.select("start", ENTROPY).iter_rows():
            entropies.setdefault(containing(spans, start), entropy)
    return [entropies.get(index) for index in range(len(spans))]


def without_marks(word: str) -> str:
    """A word without the marks at its ends: punctuation and symbols of Unicode."""
    kept = [index for index, sign in enumerate(word) if unicodedata.category(sign)[0] not in "PS"]
    return word[kept[0] : kept[-1] + 1] if kept else ""


def word_length(word: str) -> int:
    """Count characters without marks at the ends; an accent of its own is a part of its letter."""
    return len(without_marks(one_spelling(word)))


def word_zipf(word: str, frequency: Frequency | None) -> float | None:
    """The Zipf frequency of a word; None if it is not known, or several words are in one place."""
    form = without_marks(word)
    if frequency is None or not form or " " in form:
        return None
    return frequency(form) or None

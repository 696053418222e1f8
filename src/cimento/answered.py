"""The answers to a suite that are too many to be held: made, stored and read a piece at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from cimento.answers import (
    REQUESTS,
    TOKENS,
    Answers,
    TableSchema,
    metadata_of,
    not_parquet,
    places_table,
    read_table,
    validate,
)
from cimento.files import atomically
from cimento.pieces import Pieces, read_parquet, write_parquet

if TYPE_CHECKING:
    import polars as pl

    from cimento.outline import Outline
    from cimento.requests import Plan

_PLACES = 4096
"""Places of a plan that become rows of a requests table together."""


@dataclass(frozen=True, slots=True)
class LongAnswers:
    """`Answers` whose tables are not held: they are made or read when they are gone through.

    Attributes:
        asked: the requests table, in the order of its suite.
        scored: the tokens table.
        warnings: what was noticed on the way.
    """

    asked: Pieces
    scored: Pieces
    warnings: tuple[str, ...] = ()

    @property
    def requests(self) -> pl.DataFrame:
        """The requests table, made or read now."""
        return self.asked.whole()

    @property
    def tokens(self) -> pl.DataFrame:
        """The tokens table, made or read now."""
        return self.scored.whole()


AnyAnswers: TypeAlias = Answers | LongAnswers


def in_pieces(answers: AnyAnswers) -> LongAnswers:
    """Answers in pieces, whether they are held or not."""
    if isinstance(answers, LongAnswers):
        return answers
    asked = Pieces.of(in_suite_order(answers.requests))
    return LongAnswers(asked, Pieces.of(answers.tokens), answers.warnings)


def in_suite_order(requests: pl.DataFrame) -> pl.DataFrame:
    """A requests table in which the rows of an item, and of a stimulus in it, stand together."""
    import polars as pl

    row = pl.col("row").first()
    order = (row.over("item"), row.over("item", "condition"), "row")
    return requests.with_row_index("row").sort(*order).drop("row")


def requests_pieces(plan: Plan | Outline) -> Pieces:
    """The requests table of a plan, made a piece at a time."""

    def made() -> Iterator[pl.DataFrame]:
        asked = plan.asked_places()
        # One without rows is a piece too.
        yield places_table(plan.suite, list(islice(asked, _PLACES)))
        while some := list(islice(asked, _PLACES)):
            yield places_table(plan.suite, some)

    return Pieces(made)


def store_answers(answers: AnyAnswers, folder: Path) -> LongAnswers:
    """Write the tables of a run, each whole or not at all, and go on with them as they are stored.

    Raises:
        StorageError: the folder cannot be written.
    """
    long = in_pieces(answers)
    write_pieces(long.asked, REQUESTS, folder)
    write_pieces(long.scored, TOKENS, folder)
    return stored_answers(folder, warnings=answers.warnings)


def stored_answers(folder: Path, *, warnings: tuple[str, ...]) -> LongAnswers:
    """The answers in the folder of a run.

    Args:
        folder: where.
        warnings: what the run's manifest says was noticed.

    Raises:
        TableError: a table is missing, is not Parquet, or has another schema or a later version.
    """
    return LongAnswers(read_pieces(REQUESTS, folder), read_pieces(TOKENS, folder), warnings)


def write_pieces(table: Pieces, schema: TableSchema, folder: Path) -> Path:
    """Write a table as `write_table` does, without ever holding it.

    Raises:
        StorageError: the folder cannot be written.
        TableError: a piece has other columns.
    """
    path = folder / f"{schema.name}.parquet"

    def checked(piece: pl.DataFrame) -> pl.DataFrame:
        validate(piece, schema, where=str(path))
        return piece

    pieces = table.changed(checked)
    return atomically(path, lambda file: write_parquet(pieces, file, metadata=metadata_of(schema)))


def read_pieces(schema: TableSchema, folder: Path) -> Pieces:
    """A stored table, read a piece at a time each time it is gone through.

    Raises:
        TableError: as for `read_table`; where the file is damaged inside, when that is read.
    """
    read_table(schema, folder, rows=0)
    path = folder / f"{schema.name}.parquet"

    def pieces() -> Iterator[pl.DataFrame]:
        import polars as pl

        try:
            yield from read_parquet(path)
        # Where a file is damaged inside, the library may panic, which is no Exception.
        except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            raise not_parquet(path) from error

    return Pieces(pieces)

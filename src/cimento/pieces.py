"""Tables that are made, stored and read a piece at a time, so that their length does not matter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

ROWS = 1 << 12
"""Rows that are stored together, as a row group of Parquet, and read together."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """A table in pieces, one below the other.

    Attributes:
        make: begins to give the pieces, anew each time; there is at least one, and all have the
            same columns.
    """

    make: Callable[[], Iterator[pl.DataFrame]]

    @classmethod
    def of(cls, table: pl.DataFrame) -> Pieces:
        """A table that is there already, as one piece."""
        return cls(lambda: iter((table,)))

    def __iter__(self) -> Iterator[pl.DataFrame]:
        """The pieces in order."""
        return self.make()

    def whole(self) -> pl.DataFrame:
        """The table in one."""
        import polars as pl

        pieces = list(self)
        return pieces[0] if len(pieces) == 1 else pl.concat(pieces, rechunk=True)

    def changed(self, change: Callable[[pl.DataFrame], pl.DataFrame]) -> Pieces:
        """The table with each piece changed, when its turn comes."""
        return Pieces(lambda: map(change, self))


def write_parquet(pieces: Pieces, path: Path, *, metadata: Mapping[str, str]) -> None:
    """Write a table as one Parquet file; where its pieces are cut makes no difference to it.

    What is raised while a piece is made comes through as it is.
    """
    from polars.io.plugins import register_io_source

    groups = _row_groups(pieces)
    first, second = next(groups), next(groups, None)
    if second is None:
        first.write_parquet(path, row_group_size=ROWS, metadata=dict(metadata))
        return
    raised: list[Exception] = []

    def given(*_: object) -> Iterator[pl.DataFrame]:
        try:
            yield from chain((first, second), groups)
        except Exception as error:
            raised.append(error)
            raise

    # The one way in which polars writes what it is given bit by bit.
    table = register_io_source(given, schema=first.schema)
    try:
        table.sink_parquet(path, row_group_size=ROWS, metadata=dict(metadata))
    except Exception:
        if raised:
            raise raised[0] from None
        raise


def _row_groups(pieces: Pieces) -> Iterator[pl.DataFrame]:
    """The table cut after every `ROWS` rows; one without rows is one group."""
    import polars as pl

    rest: list[pl.DataFrame] = []
    for piece in pieces:
        rest.append(piece)
        while sum(map(len, rest)) > ROWS:
            table = pl.concat(rest)
            yield table.head(ROWS)
            rest = [table.slice(ROWS)]
    yield pl.concat(rest, rechunk=True)


def read_parquet(path: Path) -> Pieces:
    """A stored table, read a piece at a time each time it is gone through."""
    return Pieces(lambda: _read(path))


def _read(path: Path) -> Iterator[pl.DataFrame]:
    import polars as pl

    stored = pl.scan_parquet(path)
    rows = stored.select(pl.len()).collect().item()
    for start in range(0, max(rows, 1), ROWS):
        yield stored.slice(start, ROWS).collect()

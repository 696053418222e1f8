"""The tables between models and verdicts: their columns and their storage.

Making these tables may need a model; everything made from them does not. Each table is a Parquet
file whose metadata holds the schema's name and version. docs/parts/tables.md documents the columns.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NewType, TypeAlias, TypeVar, get_args

from cimento.errors import TableError, UsageError, need_known
from cimento.io.files import atomically
from cimento.io.panics import without_panics
from cimento.io.parquet import refuse_growth, refuse_growth_of, write_parquet
from cimento.io.parsing import whole_number

if TYPE_CHECKING:
    import polars as pl


SCHEMA_VERSION = 1

Rows: TypeAlias = "pl.DataFrame | pl.LazyFrame"
"""A table in memory, or one that is read when its rows are needed."""

RowsT = TypeVar("RowsT", "pl.DataFrame", "pl.LazyFrame")

NO_LEFT_CONTEXT = "first token without left context"
"""The reason why the first token of a text has no score under ``--bos none``."""

LEFT_OUT = "first token without left context, left out of every value"
"""The same reason where the token is left out of sums and lengths (``unscored_first="drop"``)."""

LayerColumn = NewType("LayerColumn", str)
"""A column of the log-probabilities of an inner layer, or of a replicate; see `layer_column`."""

NamedColumn: TypeAlias = Literal[
    "logit", "log_sigmoid_sum", "entropy_nats", "rank", "unigram_nats", "boundary_nats"
]
"""A column of further values of tokens that has a name of its own."""

Column: TypeAlias = NamedColumn | LayerColumn
"""A column of further values of tokens, besides the log-probability."""

BOUNDARY: Column = "boundary_nats"
"""The column that is present exactly when words are corrected for their boundaries."""

UNIGRAM: Column = "unigram_nats"
"""The column of the log-probabilities of tokens without any context."""

COLUMNS: tuple[Column, ...] = tuple(
    column for column in get_args(NamedColumn) if column != BOUNDARY
)
"""The columns that can be requested by name."""

LAYER = "logprob_nats_layer_"
"""The prefix of a layer's column, before the number of the layer."""

ALL_LAYERS = LayerColumn(f"{LAYER}all")
"""The name that stands for all layers while their number is not known."""


REPLICATE = "logprob_nats_replicate_"
"""The prefix of a replicate's column, before its number."""

MONTE_CARLO_ERROR = "monte_carlo_error"

REPLICATES = 8
"""Number of independent replicates of an estimate by samples; its error has one degree less."""


@dataclass(frozen=True, slots=True)
class TableSchema:
    """The name and columns of a table; polars types are named as text, so that polars loads late.

    Attributes:
        name: name of the table and of its file.
        columns: polars type of each required column.
        optional: polars type of each column that only some sources or policies provide.
        families: polars type of optional columns by the prefix of their names.
    """

    name: str
    columns: Mapping[str, str]
    optional: Mapping[str, str] = field(default_factory=dict)
    families: Mapping[str, str] = field(default_factory=dict)

    def polars(self, *, present: Sequence[str] = ()) -> dict[str, pl.DataType]:
        """The polars type of each column, including those optional columns that are `present`."""
        import polars as pl

        chosen = {**self.columns, **{k: v for k, v in self.optional.items() if k in present}}
        for beginning, kind in self.families.items():
            chosen |= {name: kind for name in present if name.startswith(beginning)}
        return {column: getattr(pl, kind)() for column, kind in chosen.items()}

    def empty(self) -> pl.DataFrame:
        """An empty table without optional columns."""
        import polars as pl

        return pl.DataFrame(schema=self.polars())


TOKENS = TableSchema(
    name="tokens",
    columns={
        "request": "Int32",
        "position": "Int32",
        "token": "String",
        "token_id": "Int64",
        "start": "Int32",
        "end": "Int32",
        "logprob_nats": "Float64",
        "unscored_reason": "String",
    },
    optional={
        # Set by a source that assigns tokens to regions itself (recorded surprisals).
        "region": "Int32",
        # As recorded by a source in bits, because sums and ties are then computed in bits.
        "surprisal_bits": "Float64",
        # Requested with --store; see docs/measures.md.
        **{column: "Int64" if column == "rank" else "Float64" for column in COLUMNS},
        # The correction of words for their boundaries; see docs/scoring.md.
        BOUNDARY: "Float64",
    },
    families={LAYER: "Float64", REPLICATE: "Float64"},
)

REQUESTS = TableSchema(
    name="requests",
    columns={
        "request": "Int32",
        "suite": "String",
        "item": "String",
        "condition": "String",
        "region": "Int32",
        "text": "String",
        "context": "String",
        "start": "Int32",
        "end": "Int32",
        "needed": "Boolean",
    },
)

SCORES = TableSchema(
    name="scores",
    columns={
        "suite": "String",
        "item": "String",
        "condition": "String",
        "measure": "String",
        "value": "Float64",
        "unit": "String",
        "unscored_reason": "String",
    },
    # Of scores that are estimates by samples: half the width of the value's 95% interval.
    optional={MONTE_CARLO_ERROR: "Float64"},
)

FILLS = TableSchema(
    name="fills",
    columns={
        "request": "Int32",
        # From 1, the most probable first; two candidates of one request never share a rank.
        "rank": "Int32",
        "candidate": "String",
        # Null if a recording has ranks without probabilities.
        "logprob_nats": "Float64",
        # Null if the source does not give it.
        "n_pieces": "Int32",
        # word, piece, unknown, punctuation or words; see docs/parts/tables.md.
        "kind": "String",
    },
    optional={
        # The method of asking, for requests that are asked in several ways.
        "method": "String",
    },
)

REPLIES = TableSchema(
    name="replies",
    columns={
        "request": "Int32",
        "text": "String",
        # end, stop or length; see docs/parts/tables.md.
        "stop_reason": "String",
    },
)

CHOICES = TableSchema(
    name="choices",
    columns={
        "request": "Int32",
        # Number of the option, from 0, in the order of the request.
        "option": "Int32",
        # The text as appended to the prompt, with its leading blank if there is one.
        "text": "String",
        "logprob_nats": "Float64",
        "n_tokens": "Int32",
        # Whether greedy decoding would write this option; null where that is not known.
        "is_greedy": "Boolean",
    },
)

JUDGMENTS = TableSchema(
    name="judgments",
    columns={
        "suite": "String",
        "item": "String",
        "condition": "String",
        "candidate": "String",
        "annotator": "String",
        "question": "String",
        # The response as given: a rating, a choice or a category.
        "value": "String",
        "remark": "String",
        "at": "String",
    },
    # Columns of surveys; see docs/parts/tables.md.
    optional={
        "survey": "String",
        "position": "Int32",
        # Among the answers that were shown; only for choices whose order is known.
        "answer_place": "Int32",
        "seconds": "Float64",
        "session_seconds": "Float64",
        # The correct answer to an attention check; null in every other row.
        "expected": "String",
        "status": "String",
        # The ends of the scale of ratings, such as 1 and 7.
        "scale": "String",
    },
)


def parse_columns(names: Sequence[str]) -> tuple[Column, ...]:
    """Optional columns by their names; a name may be several separated by commas.

    Raises:
        UsageError: there is no such column.
    """
    single = [part.strip() for name in names for part in name.split(",") if part.strip()]
    for name in single:
        need_known(name, COLUMNS, where="--store", seen=f"there is no column {name!r}")
    return tuple(column for column in COLUMNS if column in single)


def parse_layers(text: str) -> tuple[LayerColumn, ...]:
    """The columns of layers from ``all`` or numbers separated by commas; empty for none.

    Raises:
        UsageError: the text is neither.
    """
    if text.strip() == "all":
        return (ALL_LAYERS,)
    parts = [part.strip() for part in text.split(",") if part.strip()]
    for part in parts:
        if whole_number(part) is None:
            raise UsageError(
                where="--layers",
                seen=f"{part!r} is not a number of a layer",
                todo="Write all, or numbers such as 0,6,12; 0 is what goes into the first layer.",
            )
    return tuple(map(layer_column, sorted({int(part) for part in parts})))


def layer_column(number: int) -> LayerColumn:
    """The column of a layer: 0 is the input of the first layer, n the output of the n-th.

    Its values are the log-probabilities that the model's output head gives for that hidden state.
    """
    return LayerColumn(f"{LAYER}{number}")


def layer_of(column: Column) -> int | None:
    """The layer of a column; None for a column that is not of a layer."""
    return int(column.removeprefix(LAYER)) if column.startswith(LAYER) else None


def replicate_columns() -> tuple[LayerColumn, ...]:
    """The columns of the replicates of estimates by samples, whose mean is the score."""
    return tuple(LayerColumn(f"{REPLICATE}{number}") for number in range(1, REPLICATES + 1))


def replicate_of(column: Column) -> int | None:
    """The number of a replicate's column, from 1; None for any other column."""
    return int(column.removeprefix(REPLICATE)) if column.startswith(REPLICATE) else None


def validate_table(table: Rows, schema: TableSchema, *, where: str) -> None:
    """Check that a table has a schema's columns with the right types.

    Raises:
        TableError: columns are missing or have other types; the message names them.
    """
    present = table.collect_schema()
    wanted = schema.polars(present=present.names())
    missing = [column for column in wanted if column not in present]
    if missing:
        raise TableError(
            where=where,
            seen=f"the {schema.name} table lacks the column {', '.join(missing)}",
            todo="Was it written by another program, or cut short?",
        )
    wrong = [
        f"{column} is {present[column]} and not {kind}"
        for column, kind in wanted.items()
        if present[column] != kind
    ]
    if wrong:
        raise TableError(where=where, seen=f"{schema.name} table: {'; '.join(wrong)}")


def write_table(table: Rows, schema: TableSchema, folder: Path) -> Path:
    """Write a table into the folder of a run, completely or not at all.

    Lazy rows are written as they come, so that a long table is never in memory as a whole. The
    digest in the run's manifest reveals damage.

    Raises:
        StorageError: the folder cannot be written.
    """
    path = folder / f"{schema.name}.parquet"
    validate_table(table, schema, where=str(path))
    about = {"cimento_table": schema.name, "cimento_schema_version": str(SCHEMA_VERSION)}
    return atomically(path, lambda file: write_parquet(table, file, metadata=about), sealed=True)


def find_table(schema: TableSchema, folder: Path) -> pl.DataFrame | None:
    """The table that `write_table` wrote; None where there is none.

    Raises:
        TableError: the table cannot be read, or has another schema or a later version.
    """
    present = (folder / f"{schema.name}.parquet").is_file()
    return read_table(schema, folder) if present else None


SHORT_BYTES = 4_000_000
"""Size of a file up to which its table takes little memory as a whole."""
_Engine: TypeAlias = Literal["auto", "in-memory", "streaming"]


def read_table(schema: TableSchema, folder: Path) -> pl.DataFrame:
    """Read a table that `write_table` wrote.

    Raises:
        TableError: the file is missing, is not Parquet, or has another schema or a later version.
    """
    import polars as pl

    path = folder / f"{schema.name}.parquet"
    with _reading(path):
        if path.stat().st_size > SHORT_BYTES:
            return collected(scan_table(schema, folder), where=path)
        # Of many short tables, a plan and a second look into each file take as long as its rows.
        data = path.read_bytes()
        refuse_growth_of(data, where=str(path))
        with without_panics():
            metadata = pl.read_parquet_metadata(io.BytesIO(data))
            table = pl.read_parquet(io.BytesIO(data))
    _refuse_other(metadata, schema, where=path)
    validate_table(table, schema, where=str(path))
    return table


def scan_table(schema: TableSchema, folder: Path, *, is_new: bool = False) -> pl.LazyFrame:
    """A table that `write_table` wrote, whose rows are read when they are needed.

    Args:
        schema: the schema of the table.
        folder: the folder of the run.
        is_new: whether this process has just written it, so that its headers can be trusted.

    Raises:
        TableError: as for `read_table`.
    """
    import polars as pl

    path = folder / f"{schema.name}.parquet"
    with _reading(path):
        if not is_new:
            refuse_growth(path)
        with without_panics():
            metadata = pl.read_parquet_metadata(path)
            # A path with brackets is not a pattern.
            table = pl.scan_parquet(path, glob=False)
            table.collect_schema()
    _refuse_other(metadata, schema, where=path)
    validate_table(table, schema, where=str(path))
    return table


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """A context of reading the file of a table.

    Raises:
        TableError: the file is missing, or is not Parquet.
    """
    import polars as pl

    try:
        yield
    except FileNotFoundError as error:
        raise TableError(
            where=str(path),
            seen="there is no such table",
            todo="Give the folder of one run, as `cimento run` names it.",
        ) from error
    # Where a file is damaged inside, the library may panic, which is not an Exception.
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise not_parquet(path) from error


def _refuse_other(metadata: Mapping[str, str], schema: TableSchema, *, where: Path) -> None:
    """Refuse another table, or one of a later version.

    Raises:
        TableError: the metadata of the file tells so.
    """
    version = whole_number(metadata.get("cimento_schema_version", ""))
    if metadata.get("cimento_table") != schema.name or version is None:
        raise TableError(where=str(where), seen=f"is not a {schema.name} table of cimento")
    if version > SCHEMA_VERSION:
        raise TableError(
            where=str(where),
            seen=f"has schema version {version}; this cimento reads up to {SCHEMA_VERSION}",
            todo="Install a newer cimento.",
        )


def collected(rows: Rows, *, where: Path | str, engine: _Engine = "auto") -> pl.DataFrame:
    """The rows of a table in memory.

    Args:
        rows: the rows.
        where: the file or run of the table, for the message.
        engine: ``streaming`` reads a long table a part at a time where only a little is kept of it;
            ``in-memory`` is quicker to start, and takes more memory for a long table.

    Raises:
        TableError: the file that the rows come from is damaged.
    """
    import polars as pl

    try:
        with without_panics():
            return rows.lazy().collect(engine=engine)
    # Where a file is damaged inside, the library may panic, which is not an Exception.
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise not_parquet(where) from error


def in_memory(rows: Rows) -> pl.DataFrame:
    """The rows of a table that are in memory already, in a tenth of the time of `collected`."""
    return rows.lazy().collect(engine="in-memory")


def not_parquet(path: Path | str) -> TableError:
    """The error of a damaged table file."""
    return TableError(
        where=str(path), seen="cannot be read as Parquet", todo="Was it cut short? Run again."
    )

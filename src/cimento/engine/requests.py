"""The six kinds of request that a model can be asked, as plain records; and recorded answers.

`Score`: how probable are the tokens of a text? `Fill`: what belongs in the blank? `Choose`: how
probable is each of some answers after a prompt? `Reply`: what does the model write? `Patch`: how
probable is a text with hidden states of another one? `Attribute`: how much does each token
contribute to the score? A request does not name its suite, so that the same request of two suites
is answered once.

A recording has tables that answer requests without loading a model. It belongs to a suite and is
read by the suite's paradigm. The rows of its tables name the item and the condition that they
answer for, and a request is answered by the rows of its places in the suite.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from cimento.errors import InputError
from cimento.io.explained import GRADIENTS, PATCHES
from cimento.io.tables import CHOICES, FILLS, REPLIES, REQUESTS, TOKENS
from cimento.models.base import ModelCard, Score
from cimento.models.questions import Attribute, Choose, FillPolicy, Patch, Reply
from cimento.records.usage import Tokens
from cimento.suites import JsonValue

if TYPE_CHECKING:
    import polars as pl

__all__ = (
    "NO_ANSWERS", "Answers", "Attribute", "Choose", "Fill", "Patch", "Reply", "Request", "Requests",
    "Score", "requests_table",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Fill:
    """A text with a blank, for which a model finds candidates and scores options.

    Attributes:
        before: the text before the blank.
        after: the text after the blank.
        options: the options that are scored in the blank besides the candidates; may be empty.
        policy: the method of finding candidates, and the rules by which options are scored.
    """

    before: str
    after: str
    options: tuple[str, ...] = ()
    policy: FillPolicy = field(default_factory=FillPolicy)


Request: TypeAlias = Score | Fill | Choose | Reply | Patch | Attribute
"""One question to a model."""


def sentences_in(request: Request) -> tuple[str, ...]:
    """The texts of a suite in a request; a prompt is none, as its template has special tokens."""
    if isinstance(request, Score):
        return (request.text,)
    if isinstance(request, Fill):
        return (request.before, request.after, *request.options)
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Requests:
    """One round of requests, with the places that each answers for.

    Attributes:
        asked: the requests, numbered from the end of the earlier rounds. A repeated one is answered
            once, and its answer is under each of its numbers.
        places: a requests table (docs/parts/tables.md), which gives for each number the item, the
            condition and the region that it answers for. One request may answer for several.
    """

    asked: Sequence[Request]
    places: pl.DataFrame


def requests_table(suite: str, places: Iterable[tuple[int, str | None, str, str]]) -> pl.DataFrame:
    """The requests table of prompts, each of which is one region that is asked as a whole.

    Args:
        suite: name of the suite.
        places: for each item that a request answers for, in order: the number of the request, the
            item (None where it is for no single one), the condition, and the prompt as text.
    """
    import polars as pl

    rows = [
        (number, suite, item, condition, 1, text, "", 0, len(text), True)
        for number, item, condition, text in places
    ]
    return pl.DataFrame(rows, schema=REQUESTS.polars(), orient="row")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """The answers of a model to all requests so far.

    Attributes:
        tables: ``tokens`` for `Score`, ``fills`` for `Fill`, ``choices`` for `Choose`, ``replies``
            for `Reply`, ``patches`` for `Patch`, ``gradients`` for `Attribute`; each has the column
            ``request``. A kind of request that was never made has no table. They are lazy, because
            the answers to a long suite stay in the files of its units until they are stored.
        n: number of requests.
        warnings: the model's remarks on the requests, as sentences.
        model: the card of the model that answered; None if nothing was asked.
        usage: tokens used at a server, by the number of the request; without requests that were
            known already and those to other models.
    """

    tables: Mapping[str, pl.LazyFrame]
    n: int
    warnings: tuple[str, ...] = ()
    model: ModelCard | None = None
    usage: Mapping[int, Tokens] = field(default_factory=dict)

    def table(self, name: str) -> pl.DataFrame:
        """The rows of a table in memory.

        Args:
            name: name of the table, such as ``fills``.

        Raises:
            KeyError: no such request was made.
        """
        return self.tables[name].collect()

    def outline(self) -> Answers:
        """The same answers with empty tables, which keep their columns."""
        schemas = {name: rows.collect_schema() for name, rows in self.tables.items()}
        empty = {name: _empty(tuple(schema.items())) for name, schema in schemas.items()}
        return replace(self, tables=empty)

    def since(self, first: int) -> Answers:
        """The answers to the requests from some number on, which are numbered from 0 again."""
        import polars as pl

        if not first:
            return self
        tables = {
            name: table.filter(pl.col("request") >= first).with_columns(pl.col("request") - first)
            for name, table in self.tables.items()
        }
        usage = {number - first: used for number, used in self.usage.items() if number >= first}
        return replace(self, tables=tables, n=self.n - first, usage=usage)

    def joined(self, following: Answers) -> Answers:
        """These answers joined with those to the next round, which are numbered after these."""
        import polars as pl

        if not self.n:
            return following
        shifted = {
            name: table.with_columns(pl.col("request") + self.n)
            for name, table in following.tables.items()
        }
        tables = {
            name: pl.concat([part[name] for part in (self.tables, shifted) if name in part])
            for name in dict.fromkeys((*self.tables, *shifted))
        }
        warnings = tuple(dict.fromkeys((*self.warnings, *following.warnings)))
        return Answers(
            tables=tables,
            n=self.n + following.n,
            warnings=warnings,
            model=self.model or following.model,
            usage={**self.usage, **{self.n + n: tokens for n, tokens in following.usage.items()}},
        )


@lru_cache(maxsize=64)
def _empty(columns: tuple[tuple[str, pl.DataType], ...]) -> pl.LazyFrame:
    """A table without rows, made once for the same columns: every unit of a run needs one."""
    import polars as pl

    return pl.LazyFrame(schema=dict(columns))


NO_ANSWERS = Answers(tables={}, n=0)
"""The answers before the first round."""


PREFIX = "replay:"
"""The prefix of the name of a recording in ``-m``."""

TABLES: Mapping[type[Request], str] = {
    Score: TOKENS.name, Fill: FILLS.name, Choose: CHOICES.name, Reply: REPLIES.name,
    Patch: PATCHES.name, Attribute: GRADIENTS.name,
}  # fmt: skip
"""The name of the table that answers each kind of request."""

_Rows: TypeAlias = list[tuple[object, ...]]
_KEYS = ("item", "condition")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Recording:
    """A recording of a model's answers to a suite.

    Attributes:
        card: card of the recorded model; its kind is ``replay``, its revision the hash of the file.
        tables: the tables among ``tokens``, ``fills``, ``choices`` and ``replies`` that were
            recorded, with the columns ``item`` and ``condition`` instead of ``request``.
        inputs: everything that determines its answers, for the manifest.
        named: the name under which it can be opened again, from any folder.
        warnings: warnings for the user, as sentences.
    """

    card: ModelCard
    tables: Mapping[str, pl.DataFrame]
    inputs: Mapping[str, JsonValue] = field(default_factory=dict)
    named: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The name of the recording, with the beginning of the file's hash."""
        return self.card.label

    @property
    def items(self) -> frozenset[str]:
        """The ids of the items that it has answers about."""
        tables = self.tables.values()
        return frozenset(id_ for table in tables for id_ in table["item"].drop_nulls().to_list())

    @property
    def recorded(self) -> frozenset[str]:
        """The names of the recorded tables."""
        return frozenset(self.tables)

    @property
    def takes_messages(self) -> bool:
        """Whether turns are rendered elsewhere: never, since a recording sends nothing."""
        return False

    def chat(self, messages: Sequence[tuple[str, str]]) -> None:  # required by `AskedModel`
        """Return None, since a recording has no chat template."""

    def answer(self, requests: Requests, *, first: int = 0) -> Answers:
        """The recorded answers to some requests.

        Args:
            requests: the requests with their places.
            first: number of the first request in `Requests.places`.

        Raises:
            InputError: an item has no such answer, or two items with the same request have
                different answers.
        """
        import polars as pl

        places: dict[int, dict[tuple[str, str], None]] = {}
        for number, item, condition in requests.places.select("request", *_KEYS).iter_rows():
            places.setdefault(number - first, {})[item, condition] = None
        tables: dict[str, pl.LazyFrame] = {}
        for name in dict.fromkeys(TABLES[type(request)] for request in requests.asked):
            recorded = self._by_place(name)
            rows = [
                (number, *row)
                for number, request in enumerate(requests.asked)
                if TABLES[type(request)] == name
                for row in self._rows(recorded, list(places.get(number, {})))
            ]
            kept = self.tables[name].drop(*_KEYS).schema if name in self.tables else {}
            schema = {"request": pl.Int32(), **kept}
            tables[name] = pl.LazyFrame(rows, schema=schema, orient="row")
        return Answers(
            tables=tables, n=len(requests.asked), warnings=self.warnings, model=self.card
        )

    def _by_place(self, name: str) -> dict[tuple[str, str], _Rows]:
        """The rows of a table by item and condition, without these two columns."""
        by_key: dict[tuple[str, str], _Rows] = {}
        if name in self.tables:
            table = self.tables[name]
            keys = table.select(_KEYS).iter_rows()
            for key, row in zip(keys, table.drop(*_KEYS).iter_rows(), strict=True):
                by_key.setdefault(key, []).append(row)
        return by_key

    def _rows(
        self, recorded: Mapping[tuple[str, str], _Rows], places: Sequence[tuple[str, str]]
    ) -> _Rows:
        """The rows that answer a request, which must be the same at all of its places."""
        answer: _Rows = []
        for number, place in enumerate(places):
            rows = recorded.get(place)
            if rows is None:
                raise InputError(
                    where=f"recording {self.card.name!r}",
                    seen=f"it has no answer for {_named(place)}",
                    todo="Was it recorded on another suite?",
                )
            if number and rows != answer:
                raise InputError(
                    where=f"recording {self.card.name!r}",
                    seen=f"{_named(place)} has another answer than {_named(places[0])}, which asks"
                    " the same",
                    todo="Which is right?",
                )
            answer = rows
        return answer


def _named(place: tuple[str, str]) -> str:
    item, condition = place
    return f"item {item!r}, condition {condition!r}" if condition else f"item {item!r}"

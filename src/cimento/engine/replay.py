"""Recordings: recorded tables that answer requests without loading a model.

A recording belongs to a suite and is read by the suite's paradigm. The rows of its tables name the
item and the condition that they answer for, and a request is answered by the rows of its places in
the suite.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from cimento.engine.requests import (
    Answers,
    Attribute,
    Choose,
    Fill,
    Patch,
    Reply,
    Request,
    Requests,
    Score,
)
from cimento.errors import InputError
from cimento.io.explained import GRADIENTS, PATCHES
from cimento.io.tables import CHOICES, FILLS, REPLIES, TOKENS
from cimento.models.base import ModelCard
from cimento.suites.model import JsonValue

if TYPE_CHECKING:
    import polars as pl

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

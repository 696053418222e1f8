"""What runs use: tokens of servers, their cost by prices that the user gives, time and memory.

A number that a server does not report is unknown, never 0.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from cimento.errors import InputError
from cimento.io.files import read_utf8
from cimento.io.parsing import number_in, read_toml
from cimento.suites import JsonValue

COLUMNS = ("model", "input", "output", "currency")
"""Columns of a table of prices, which are per million tokens read and written."""

_PRICED_TOKENS = 1_000_000
_LEAST = 0.0001


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of requests to a server.

    Attributes:
        sent: number of requests; of several texts in one request, the first has it.
        read: number of tokens that the server read; None unless it reports them for each request.
        written: number of tokens that it wrote; None likewise.
    """

    sent: int = 0
    read: int | None = None
    written: int | None = None

    def plus(self, other: Tokens) -> Tokens:
        """The sum of two counts."""
        if Tokens() in (self, other):
            return other if self == Tokens() else self
        read = None if self.read is None or other.read is None else self.read + other.read
        written = (
            None if self.written is None or other.written is None else self.written + other.written
        )
        return Tokens(self.sent + other.sent, read, written)


def total_tokens(parts: Iterable[Tokens]) -> Tokens:
    """The sum of some counts."""
    return functools.reduce(Tokens.plus, parts, Tokens())


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a model on a server.

    Attributes:
        input: price of a million tokens that it reads.
        output: price of a million tokens that it writes.
        currency: currency of both.
    """

    input: float
    output: float
    currency: str

    def of(self, tokens: Tokens) -> float | None:
        """The cost of tokens; None where one of their numbers is unknown."""
        if tokens.read is None or tokens.written is None:
            return None
        return (tokens.read * self.input + tokens.written * self.output) / _PRICED_TOKENS


@dataclass(frozen=True, slots=True, kw_only=True)
class RunUsage:
    """The usage of a server by a run, as the server counts it.

    Attributes:
        asked: number of questions that the run asked.
        kept: number of these whose answers were known before, so that nothing was sent.
        sent: number of requests sent for the others.
        read: number of tokens that the server read; null unless it reports them for every request.
        written: number of tokens that it wrote; null likewise.
        cost: cost of these tokens at the given prices; null where one of their numbers is unknown.
        currency: currency of the cost; empty where the model has no price.
        reason: the reason why numbers are null; empty where none is.
    """

    asked: int
    kept: int
    sent: int
    read: int | None
    written: int | None
    cost: float | None = None
    currency: str = ""
    reason: str = ""

    @property
    def text(self) -> str:
        """The usage in one line."""
        known = f"{self.kept} of {self.asked} answers were known before" if self.kept else ""
        if self.kept == self.asked:
            return known
        counts = (("read", self.read), ("written", self.written))
        tokens = ", ".join(
            f"{'-' if number is None else f'{number:,}'} tokens {name}" for name, number in counts
        )
        line = f"{self.sent:,} requests, {tokens}"
        if self.cost is not None:
            line += f": {money(self.cost, self.currency)}"
        return "; ".join(filter(None, (line, self.reason, known)))


def usage_of_run(usage: Mapping[int, Tokens], *, asked: int, price: Price | None) -> RunUsage:
    """The usage of a server by a run.

    Args:
        usage: tokens of each question, without questions whose answers were known.
        asked: number of questions.
        price: the price of the model; None where none was given.
    """
    tokens = total_tokens(usage.values())
    reason = ""
    if not usage:
        reason = "all answers were known before, so that nothing was sent"
    elif tokens.read is None or tokens.written is None:
        reason = "the server does not count the tokens of every request"
    return RunUsage(
        asked=asked,
        kept=asked - len(usage),
        sent=tokens.sent,
        read=tokens.read,
        written=tokens.written,
        cost=None if price is None else price.of(tokens),
        currency="" if price is None else price.currency,
        reason=reason,
    )


USAGE = "usage"
"""Key of the manifest: the usage of a server, present only where a server was asked."""


def stored_usage(manifest: Mapping[str, JsonValue]) -> RunUsage | None:
    """The usage in the manifest of a run; None where no server was asked."""
    stored = manifest.get(USAGE)
    names = {field.name for field in fields(RunUsage)}
    if not isinstance(stored, dict) or stored.keys() != names:
        return None
    return RunUsage(**stored)  # type: ignore[arg-type]  # written by `asdict`


def read_prices(path: Path) -> dict[str, Price]:
    """Prices by the name of the model.

    Args:
        path: a tab-separated table with the columns `COLUMNS`, or TOML with a table ``[[prices]]``
            for each model.

    Raises:
        InputError: the file cannot be read, or a price is not a number.
    """
    is_toml = path.suffix.lower() == ".toml"
    records = _toml_records(path) if is_toml else _tsv_records(path)
    prices: dict[str, Price] = {}
    for where, record in records:
        name, price = _price(record, where)
        if name in prices:
            raise InputError(where=where, seen=f"the model {name!r} is there twice")
        prices[name] = price
    if not prices:
        raise InputError(where=str(path), seen="holds no prices", todo=_SHAPE)
    return prices


_SHAPE = f"Give one row for each model, under a header of {', '.join(COLUMNS)}."


def _toml_records(path: Path) -> Iterable[tuple[str, Mapping[str, JsonValue]]]:
    rows = read_toml(path).get("prices")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError(
            where=str(path),
            seen="there is no table [[prices]]",
            todo=f"Write one for each model, with {', '.join(COLUMNS)}.",
        )
    return [(f"{path}, prices {number}", row) for number, row in enumerate(rows, start=1)]


def _tsv_records(path: Path) -> Iterable[tuple[str, Mapping[str, JsonValue]]]:
    lines = read_utf8(path).splitlines()
    rows = [
        (f"{path}, line {number}", [cell.strip() for cell in line.split("\t")])
        for number, line in enumerate(lines, start=1)
        if line.strip() and not line.startswith("#")
    ]
    header = [name.lower() for name in rows[0][1]] if rows else []
    if sorted(header) != sorted(COLUMNS):
        shown = ", ".join(header) or "nothing"
        raise InputError(where=str(path), seen=f"the header is {shown}", todo=_SHAPE)
    for where, cells in rows[1:]:
        if len(cells) != len(header):
            seen = f"{len(cells)} cells under {len(header)} columns"
            raise InputError(where=where, seen=seen, todo="Put tabs between the columns.")
        yield where, dict(zip(header, cells, strict=True))


def _price(record: Mapping[str, JsonValue], where: str) -> tuple[str, Price]:
    if set(record) != set(COLUMNS):
        raise InputError(where=where, seen=f"it has {', '.join(record)}", todo=_SHAPE)
    name, currency = str(record["model"]), str(record["currency"])
    if not name or not currency:
        raise InputError(where=where, seen="the model or the currency is empty")
    return name, Price(_amount(record, "input", where), _amount(record, "output", where), currency)


def _amount(record: Mapping[str, JsonValue], column: str, where: str) -> float:
    value = record[column]
    if not 0 <= (amount := number_in(str(value))) < math.inf:
        raise InputError(
            where=f"{where}, {column}",
            seen=f"{str(value)[:40]!r} is not a price",
            todo="Write a number such as 0.15, for a million tokens.",
        )
    return amount


def money(amount: float, currency: str) -> str:
    """An amount of money as printed, with four digits where it is small."""
    if 0 < amount < _LEAST:
        return f"under {_LEAST:.4f} {currency}"
    return f"{amount:,.2f} {currency}" if amount >= 1 else f"{amount:.4f} {currency}"


_MINUTE, _HOUR = 60, 3600


def duration(seconds: float) -> str:
    """A rough time in the largest fitting unit: ``< 1 s``, ``40 s``, ``12 min``, ``3.5 h``."""
    if seconds < 1:
        return "< 1 s"
    if seconds < _MINUTE:
        return f"{seconds:.0f} s"
    return f"{seconds / _MINUTE:.0f} min" if seconds < _HOUR else f"{seconds / _HOUR:.1f} h"


def gigabytes(size: float) -> str:
    """A rough size in memory, given in bytes: ``< 0.1 GB``, ``2.4 GB``."""
    amount = size / 1e9
    return f"{amount:.1f} GB" if amount >= _LEAST_GB else f"< {_LEAST_GB} GB"


_LEAST_GB = 0.1

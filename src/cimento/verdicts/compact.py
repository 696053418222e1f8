"""Verdicts as a sequence that takes some twenty bytes for each, and the table that it becomes."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple, overload

from cimento.answers import VERDICTS
from cimento.pieces import Pieces
from cimento.verdicts.formula import Kind

if TYPE_CHECKING:
    import polars as pl

_TOGETHER = 4096
"""Verdicts that become rows of a table together."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a prediction says about an item: one row of the verdicts table.

    Attributes:
        suite: name of the suite.
        item: id of the item.
        condition: None; for kinds of test that judge single conditions.
        prediction: its number, from 0; None for the conjunction of all.
        verdict: ``pass``, ``fail``, ``tie`` or ``unscored``.
        margin_bits: signed in favour of the prediction; None where a value was missing.
        unscored_reason: why the margin is None.
    """

    suite: str
    item: str
    condition: str | None
    prediction: int | None
    verdict: Kind
    margin_bits: float | None
    unscored_reason: str | None

    def is_near_tie(self, bits: float) -> bool:
        """Whether it was decided by less than so many bits; an exact tie was not decided."""
        return (
            self.verdict in {"pass", "fail"}
            and self.margin_bits is not None
            and abs(self.margin_bits) < bits
        )


class _Form(NamedTuple):
    """What verdicts have in common: all but the item and the margin.

    Attributes:
        has_margin: False where the margin is None, which is not the same as NaN.
    """

    suite: str
    condition: str | None
    prediction: int | None
    verdict: Kind
    unscored_reason: str | None
    has_margin: bool


class Verdicts(Sequence[Verdict]):
    """Verdicts in order, of which only numbers and the ids of items are held.

    The records are made anew each time they are gone through. Equal to any other sequence of the
    same verdicts.

    Args:
        verdicts: gone through once. Those of one item should follow each other, for then they
            share its id.
    """

    def __init__(self, verdicts: Iterable[Verdict] = ()) -> None:
        self._forms: list[_Form] = []
        self._form = array("I")
        self._margins = array("d")
        # Ids as UTF-8, one after the other; where each ends, and with which verdict it begins.
        self._ids = bytearray()
        self._ends = array("Q")
        self._firsts = array("Q")
        self._add(verdicts)

    def _add(self, verdicts: Iterable[Verdict]) -> None:
        numbers: dict[_Form, int] = {}
        last: str | None = None
        for number, each in enumerate(verdicts):
            if each.item != last:
                last = each.item
                self._ids += last.encode("utf-8", "surrogatepass")
                self._ends.append(len(self._ids))
                self._firsts.append(number)
            margin = each.margin_bits
            form = _Form(
                each.suite,
                each.condition,
                each.prediction,
                each.verdict,
                each.unscored_reason,
                margin is not None,
            )
            self._form.append(numbers.setdefault(form, len(numbers)))
            self._margins.append(0.0 if margin is None else margin)
        self._forms = list(numbers)

    def renumbered(self, number: Callable[[int], int]) -> Verdicts:
        """The same verdicts with other numbers for their predictions; only these are copied.

        Args:
            number: the new number of a prediction; the conjunction of all goes on without one.
        """
        other = Verdicts()
        vars(other).update(vars(self))
        other._forms = [
            form if form.prediction is None else form._replace(prediction=number(form.prediction))
            for form in self._forms
        ]
        return other

    def __len__(self) -> int:
        return len(self._form)

    def __iter__(self) -> Iterator[Verdict]:
        begin = 0
        for place, (end, first) in enumerate(zip(self._ends, self._firsts, strict=True)):
            item = self._ids[begin:end].decode("utf-8", "surrogatepass")
            begin = end
            after = place + 1
            last = self._firsts[after] if after < len(self._firsts) else len(self._form)
            for number in range(first, last):
                yield self._verdict(item, number)

    @overload
    def __getitem__(self, index: int) -> Verdict: ...
    @overload
    def __getitem__(self, index: slice) -> list[Verdict]: ...
    def __getitem__(self, index: int | slice) -> Verdict | list[Verdict]:
        numbers = range(len(self))[index]
        if isinstance(numbers, range):
            return [self._verdict(self._item(number), number) for number in numbers]
        return self._verdict(self._item(numbers), numbers)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and all(
            one == another for one, another in zip(self, other, strict=True)
        )

    __hash__ = None  # type: ignore[assignment]  # as a list has none

    def __repr__(self) -> str:
        return f"Verdicts({list(self)!r})"

    def _item(self, number: int) -> str:
        """The id of the item of a verdict."""
        place = bisect_right(self._firsts, number) - 1
        begin = self._ends[place - 1] if place else 0
        return self._ids[begin : self._ends[place]].decode("utf-8", "surrogatepass")

    def _verdict(self, item: str, number: int) -> Verdict:
        form = self._forms[self._form[number]]
        return Verdict(
            form.suite,
            item,
            form.condition,
            form.prediction,
            form.verdict,
            self._margins[number] if form.has_margin else None,
            form.unscored_reason,
        )


def verdicts_pieces(verdicts: Iterable[Verdict]) -> Pieces:
    """The verdicts as a table of the schema ``answers.VERDICTS``, made a piece at a time.

    Args:
        verdicts: gone through each time the table is.
    """

    def made() -> Iterator[pl.DataFrame]:
        left = iter(verdicts)
        blocks = iter(lambda: list(islice(left, _TOGETHER)), [])
        first = next(blocks, [])
        yield from map(_rows, chain((first,), blocks))

    return Pieces(made)


def verdicts_table(verdicts: Sequence[Verdict]) -> pl.DataFrame:
    """The same in one."""
    return verdicts_pieces(verdicts).whole()


def _rows(verdicts: Sequence[Verdict]) -> pl.DataFrame:
    import polars as pl

    columns = {name: [getattr(verdict, name) for verdict in verdicts] for name in VERDICTS.columns}
    return pl.DataFrame(columns, schema=VERDICTS.polars())

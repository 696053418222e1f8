"""Checks of items, conditions, regions and predictions of a suite."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias, TypeVar

from cimento.errors import Fault, FormulaError, are_opposites, counted, did_you_mean
from cimento.faults import CHECKS, EXAMPLE, NO_PREDICTIONS, UNUSABLE_NAME, fault
from cimento.intake.marks import is_formula_error
from cimento.suites import Prediction, Suite
from cimento.suites.builtin import RATED
from cimento.suites.checks.contradictions import contradictions
from cimento.suites.formula import Reference, is_condition_name, likelier, parse, references
from cimento.suites.naming import mistaken, numbered

_MOST_LISTED = 6
_NUMBERED = re.compile(r".*\b((?:row|line) \d+)$")

TOGETHER = 1000
"""Number of texts that are tested at once, which is fast."""

WORDS_APART = bytes(
    ord(chr(code).lower() if chr(code).isalnum() or chr(code) == "_" else " ")
    for code in range(128)
) + bytes(128)
"""A translation table that separates words of ASCII text from marks and lowercases them."""


class Stimuli:
    """The stimuli of a suite: every condition of every item, numbered in order.

    Args:
        suite: the suite.
        places: file and row of each stimulus, as far as known.

    Attributes:
        suite: the suite.
        conditions: name of the condition of each stimulus.
        texts: the sentence of each stimulus.
        starts: the number of each item's first stimulus, with the number of stimuli at the end.
        shapes: the names of each item's conditions.
        names: the names of all conditions, in order of first appearance.
    """

    def __init__(self, suite: Suite, places: Sequence[str] = ()) -> None:
        self.suite = suite
        self.conditions = suite.columns.names
        self.texts = suite.columns.sentences(suite.join)
        self.starts = suite.columns.starts
        self.shapes = suite.columns.shapes
        self.names = suite.condition_names
        self._places = places

    @cached_property
    def strays(self) -> dict[int, Fault | None]:
        """The items with a row of another item or another condition, each with what to say of it.

        None for the other item of two, which what is said of the one names.
        """
        return dict(_strays(self))

    @cached_property
    def repeated(self) -> set[str]:
        """The sentences that are there several times."""
        return {text for text, times in Counter(self.texts).items() if times > 1}

    def places(self, condition: str) -> dict[tuple[str, ...], int]:
        """The place of a condition in each shape that has it; the first, where it has several."""
        return {shape: shape.index(condition) for shape in {*self.shapes} if condition in shape}

    @cached_property
    def is_plain(self) -> bool:
        """Whether all texts are visible ASCII characters with single blanks between words."""
        return next(unlike(self.lines, are_plain), None) is None

    @cached_property
    def lines(self) -> Sequence[str]:
        """The regions of each stimulus with bars between them."""
        columns = self.suite.columns
        if columns.is_whole:
            return columns.texts
        return [" | ".join(columns.texts[begin:end]) for begin, end in pairwise(columns.bounds)]

    def regions(self, number: int) -> Sequence[str]:
        """The texts of a stimulus's regions."""
        columns = self.suite.columns
        return columns.texts[columns.bounds[number] : columns.bounds[number + 1]]

    def cells(self, column: str) -> Iterable[str]:
        """The cell of each stimulus in a free column; empty where it has none."""
        return (cell or "" for cell in self.suite.columns.free[column])

    def pairs(self, first: str, second: str) -> list[tuple[int, int]]:
        """The numbers of the stimuli in two conditions, for each item that has both."""
        left, right = self.places(first), self.places(second)
        if len({*self.shapes}) == 1 and left and right:
            [one], [other] = left.values(), right.values()
            return [(start + one, start + other) for start in self.starts[: len(self.shapes)]]
        return [
            (start + left[shape], start + right[shape])
            for start, shape in zip(self.starts, self.shapes, strict=False)
            if shape in left and shape in right
        ]

    def of(self, item: int) -> range:
        """The numbers of an item's stimuli."""
        return range(self.starts[item], self.starts[item + 1])

    def item(self, number: int) -> str:
        """The id of a stimulus's item."""
        return self.suite.columns.ids[bisect_right(self.starts, number) - 1]

    def where(self, number: int) -> str:
        """File and row of a stimulus where they are known, item and condition."""
        return self._at(number, f"item {self.item(number)}, condition {self.conditions[number]}")

    def where_item(self, item: int, conditions: Collection[str] = ()) -> str:
        """File and row of an item's first stimulus in some conditions, or at all, and the item."""
        id_ = self.suite.columns.ids[item]
        named = f"item {id_}" if id_ else f"item number {item + 1}"
        among = (number for number in self.of(item) if self.conditions[number] in conditions)
        return self._at(next(among, self.starts[item]), named)

    def row_number(self, number: int) -> int | None:
        """The row of a stimulus in its file; None where it is not known."""
        place = self._places[number] if number < len(self._places) else ""
        match = _NUMBERED.search(place)
        return int(match[1].split()[1]) if match else None

    def row(self, item: int) -> str:
        """File and row of an item's first stimulus; the number of the item where it has no row."""
        place = self._places[self.starts[item]] if self._places else ""
        return place if _NUMBERED.search(place) else f"item number {item + 1}"

    def _at(self, number: int, named: str) -> str:
        return f"{self._places[number]}, {named}" if number < len(self._places) else named


def are_plain(texts: Sequence[str]) -> bool:
    """Whether texts consist of visible ASCII characters with single blanks between words."""
    lines = "\n".join(["", *texts, ""])
    return (
        lines.isascii()
        and lines.count("\n") == len(texts) + 1
        and not lines.encode().translate(None, _PRINTABLE)
        # One search instead of three: no two blanks meet unless a text is empty.
        and (
            "  " not in lines.replace("\n", " ")
            or not any(blanks in lines for blanks in ("  ", "\n ", " \n"))
        )
    )


_PRINTABLE = bytes(range(0x20, 0x7F)) + b"\n"


def unlike(texts: Sequence[str], are_right: Callable[[Sequence[str]], bool]) -> Iterator[int]:
    """The numbers of the texts that are not right, by a test of many together.

    Most suites need no closer look.
    """
    for begin in range(0, len(texts), TOGETHER):
        some = texts[begin : begin + TOGETHER]
        if not are_right(some):
            yield from (n for n, text in enumerate(some, start=begin) if not are_right([text]))


Check: TypeAlias = Callable[[Stimuli], Iterable[Fault]]
"""A check, which yields the faults of one kind in the order of the stimuli."""


class Listing(list[str]):
    """A list of names for a message, which shows the first few."""

    def __str__(self) -> str:
        """The names, or the first few with the number of the others."""
        shown, more = ", ".join(self[:_MOST_LISTED]), len(self) - _MOST_LISTED
        return f"{shown} and {more} more" if more > 0 else shown


KeyT = TypeVar("KeyT", bound=Hashable)


def names_by_key(keyed: Iterable[tuple[KeyT, str]]) -> dict[KeyT, Listing]:
    """Names by the keys that they share."""
    groups: dict[KeyT, Listing] = {}
    for key, name in keyed:
        groups.setdefault(key, Listing()).append(name)
    return groups


def _filled(stimuli: Stimuli) -> Iterator[Fault]:
    ids = stimuli.suite.columns.ids
    if not ids:
        yield fault("CIM-S005", where=stimuli.suite.name, seen="The suite has no items.")
    for number, (id_, shape) in enumerate(zip(ids, stimuli.shapes, strict=True)):
        if not id_:
            todo = "Fill in the cell, or delete the row if it holds no sentence."
            where = stimuli.where_item(number)
            yield fault("CIM-S016", where=where, seen="The item has no id.", todo=todo)
        if not shape:
            yield fault("CIM-S005", where=f"item {id_}", seen="The item has no conditions.")


def _ids(stimuli: Stimuli) -> Iterator[Fault]:
    """Items that share an id."""
    ids = stimuli.suite.columns.ids
    if len(set(ids)) == len(ids):
        return
    positions: dict[str, list[int]] = {}
    for number, id_ in enumerate(ids):
        positions.setdefault(id_, []).append(number)
    for id_, (first, *more) in positions.items():
        if more:
            there, other = stimuli.row(first), _NUMBERED.sub(r"\1", stimuli.row(more[0]))
            seen = f"The id {id_!r} is that of {there} and of {other}."
            if len(more) > 1:
                seen = f"The id {id_!r} is that of {there}, of {other} and of {len(more) - 1} more."
            places = map(stimuli.row, (first, *more))
            yield fault("CIM-S010", where=f"item {id_}", seen=seen, places=places)


def _conditions(stimuli: Stimuli) -> Iterator[Fault]:
    """Conditions without a name, or with the name of another condition of the item."""
    unusual = {s for s in set(stimuli.shapes) if "" in s or len(set(s)) < len(s)}
    for item, shape in enumerate(stimuli.shapes):
        if shape not in unusual or item in stimuli.strays:
            continue
        before: dict[str, int] = {}
        for number, name in zip(stimuli.of(item), shape, strict=True):
            first = before.setdefault(name, number)
            where = stimuli.where(number)
            if not name:
                yield fault("CIM-S016", where=where, seen="The condition has no name.")
            elif first != number:
                seen = f"The item has the condition {name!r} already ({stimuli.where(first)})."
                places = stimuli.where(first), where
                yield fault("CIM-S011", where=where, seen=seen, places=places)


def _names(stimuli: Stimuli) -> Iterator[Fault]:
    has_formulas = stimuli.suite.predictions or stimuli.suite.extra.get("kind") != RATED
    for name in stimuli.names if has_formulas else ():
        if name and not is_condition_name(name):
            seen = "Formulas cannot use this name."
            yield fault(UNUSABLE_NAME, where=f"condition {name!r}", seen=seen)


_FILLERS = (
    "Give every item the same conditions; fillers belong in a file of their own, and are pasted"
    " into the fillers of a survey."
)


def _condition_sets(stimuli: Stimuli) -> Iterator[Fault]:
    """Items whose conditions differ from those of most items."""
    known = {shape: frozenset(shape) for shape in set(stimuli.shapes)}
    if len(set(known.values())) < 2:  # noqa: PLR2004 - one set is what should be
        return
    sets = [known[shape] for shape in stimuli.shapes]
    [(most, count)] = Counter(sets).most_common(1)
    yield from filter(None, stimuli.strays.values())
    for number, names in enumerate(sets):
        if names == most or number in stimuli.strays:
            continue
        parts = [f"lacks {', '.join(sorted(most - names))}"] if most - names else []
        parts += [f"has {', '.join(sorted(odd))}"] if (odd := names - most - {""}) else []
        if not parts:
            continue  # a row more, whose condition has no name
        seen = f"The item {' and '.join(parts)}, unlike {count} of {counted(len(sets), 'item')}."
        todo = _meant(sorted(odd), most - names) or (None if names & most else _FILLERS)
        yield fault("CIM-S012", where=stimuli.where_item(number, odd), seen=seen, todo=todo)


def _strays(stimuli: Stimuli) -> Iterator[tuple[int, Fault | None]]:
    """Items with one condition twice, or few conditions, where an item or a condition lacks these.

    One wrong number spoils two items, and one wrong level one: the rows and the items beside them
    show what was meant.
    """
    shapes = Counter(stimuli.shapes)
    usual, count = shapes.most_common(1)[0] if shapes else ((), 0)
    most = {*usual}
    if not all(map(stimuli.row_number, range(min(1, len(stimuli.texts))))):
        return  # nothing says which rows are beside each other
    if len(shapes) < 2 or len(most) < len(usual) or 2 * count <= len(stimuli.shapes):  # noqa: PLR2004
        return
    known = {one for one in shapes if one and {*one} <= most and sorted(one) != sorted(usual)}
    odd = {item: shape for item, shape in enumerate(stimuli.shapes) if shape in known}
    lacks = {item: most - {*shape} for item, shape in odd.items()}
    for item, shape in odd.items():
        [(name, times)] = Counter(shape).most_common(1)
        if times == 2 and len({*shape}) == len(shape) - 1:  # noqa: PLR2004  # one is there twice
            numbers = [n for n in stimuli.of(item) if stimuli.conditions[n] == name]
            others = [other for other in lacks if lacks[other] == {name}]
            if len(lacks[item]) == 1:
                yield item, _of_condition(stimuli, item, numbers, usual, *lacks[item])
            elif not lacks[item] and len(others) == 1:
                yield from _of_item(stimuli, item, others[0], numbers)
        elif times == 1 and len(shape) * 2 < len(most) + 1:
            others = [one for one in lacks if lacks[one] == {*shape} and len(odd[one]) > len(shape)]
            if len(others) == 1:
                yield from _of_item(stimuli, item, others[0], stimuli.of(item))


def _of_condition(
    stimuli: Stimuli, item: int, numbers: Sequence[int], usual: Sequence[str], due: str
) -> Fault:
    """The fault of an item with a condition twice, of which one should be another.

    Args:
        stimuli: the stimuli.
        item: number of the item.
        numbers: the two stimuli of one condition.
        usual: the conditions of most items in their order.
        due: the condition that the item lacks.
    """
    at = [n for n in numbers if usual.index(due) == n - stimuli.starts[item]]
    one, other = map(stimuli.row_number, numbers)
    seen = (
        f"The item has {stimuli.conditions[numbers[0]]} in rows {one} and {other}, and lacks {due}."
    )
    todo = f"One of the two should be {due}."
    if at:
        row = stimuli.row_number(at[0])
        todo = f"Did you mean {due} in row {row}? It has that place in the other items."
    where, places = stimuli.where((at or numbers)[0]), map(stimuli.where, numbers)
    return fault("CIM-S012", where=where, seen=seen, todo=todo, places=places)


def _of_item(
    stimuli: Stimuli, item: int, other: int, numbers: Sequence[int]
) -> Iterator[tuple[int, Fault | None]]:
    """The fault of stimuli that should be of another item, with both items.

    Args:
        stimuli: the stimuli.
        item: number of the item that they are of.
        other: that of the item that lacks them.
        numbers: all that the item has, or the two of one condition, of which one is meant.
    """
    id_ = stimuli.suite.columns.ids[other]
    names = Listing(dict.fromkeys(stimuli.conditions[n] for n in numbers))
    first, last = stimuli.row_number(numbers[0]), stimuli.row_number(numbers[-1])
    meant = numbers[0]
    seen = f"Item {id_} lacks {names}, which is all that this item has (row {first})."
    if is_twice := len(names) < len(numbers):
        meant = _nearest(stimuli, numbers, other) or meant
        seen = f"Item {id_} lacks {names}, which this item has in rows {first} and {last}."
    row = stimuli.row_number(meant)
    todo = f"Did you mean item {id_} in row {row}?"
    if is_twice and _nearest(stimuli, numbers, other) is None:
        todo = f"One of the two should be of item {id_}."
    where, places = stimuli.where(meant), map(stimuli.where, numbers)
    yield item, fault("CIM-S012", where=where, seen=seen, todo=todo, places=places)
    yield other, None


def _nearest(stimuli: Stimuli, numbers: Sequence[int], other: int) -> int | None:
    """Of two stimuli, the one whose row is beside those of another item; None where none is."""
    rows = {stimuli.row_number(n) for n in stimuli.of(other)}
    beside = [n for n in numbers if rows & {(stimuli.row_number(n) or 0) + k for k in (-1, 1)}]
    return beside[0] if len(beside) == 1 else None


def _meant(unknown: Sequence[str], lacking: Collection[str]) -> str:
    """Advice on which lacking names the unknown ones may stand for; empty without any."""
    left = set(lacking)
    closest = []
    for name in unknown:
        near = sorted(one for one in left if not are_opposites(name, one))
        if close := get_close_matches(name, near, n=1):
            left.discard(close[0])
            closest.append(f"{close[0]!r}" + (f" for {name!r}" if len(unknown) > 1 else ""))
    return f"Did you mean {' and '.join(closest)}?" if closest else ""


def _regions(stimuli: Stimuli) -> Iterator[Fault]:
    names = stimuli.suite.region_names
    if len(names) == 1 and stimuli.suite.columns.is_whole:
        return
    counts = [end - begin for begin, end in pairwise(stimuli.suite.columns.bounds)]
    todo = _of_names(stimuli) if len(set(counts)) == 1 else None
    for number, count in enumerate(counts):
        if count != len(names):
            there = "is 1 region" if count == 1 else f"are {count} regions"
            seen = f"There {there}; the suite names {len(names)}: {Listing(names)}."
            yield fault("CIM-S013", where=stimuli.where(number), seen=seen, todo=todo)


def _of_names(stimuli: Stimuli) -> str:
    """Advice for sentences that all have the same number of regions, other than the names."""
    if stimuli.suite.columns.bounds[1] == 1:
        return (
            "Divide the sentences with bars ( | ); or delete regions in suite.toml, if predictions"
            " compare whole sentences."
        )
    return "Add or remove bars ( | ), or correct regions in suite.toml."


def _texts(stimuli: Stimuli) -> Iterator[Fault]:
    for number, text in enumerate(stimuli.texts):
        if text and text[0] != "#":
            continue  # nearly all texts
        if not text:
            yield fault("CIM-S017", where=stimuli.where(number), seen="There is no text.")
        elif is_formula_error(text):
            seen = f"{text!r} is what a formula gives that fails, not a sentence."
            todo = "Correct the formula, or write the sentence."
            yield fault("CIM-S017", where=stimuli.where(number), seen=seen, todo=todo)


STRUCTURE_CHECKS: tuple[Check, ...] = (
    _filled, _ids, _conditions, _names, _condition_sets, _regions, _texts,
)  # fmt: skip
"""The checks of codes CIM-S005 and CIM-S010 to CIM-S017."""


def _example(stimuli: Stimuli) -> str | None:
    """Advice with a prediction about the first two conditions; None where there are none."""
    names = [*filter(is_condition_name, stimuli.names)][:2]
    if len(names) < 2:  # noqa: PLR2004  # one against the other
        return None
    return (
        f"{CHECKS[NO_PREDICTIONS].todo} {EXAMPLE}{likelier(*names)}: {names[0]} should be"
        f" likelier than {names[1]}."
    )


def check_predictions(stimuli: Stimuli) -> Iterator[Fault]:
    """Faults CIM-S020 to CIM-S026; predictions are counted from 0, as in the tables of a run."""
    suite = stimuli.suite
    for number, reason in enumerate(mistaken(suite.predictions)):
        if reason:
            seen = f"{reason[:1].upper()}{reason[1:]}."
            yield fault("CIM-S026", where=numbered(number), seen=seen)
    # Where a condition is misspelled, a table predicts nothing for that reason.
    if not suite.predictions and len(set(map(frozenset, stimuli.shapes))) <= 1:
        todo = _example(stimuli)
        yield fault(NO_PREDICTIONS, where=suite.name, seen="The suite predicts nothing.", todo=todo)
    readable = True
    for number, prediction in enumerate(suite.predictions):
        where = f"prediction {prediction.name or number}"
        try:
            named = tuple(references(parse(prediction.formula)))
        except FormulaError as error:
            yield fault("CIM-S020", where=where, seen=str(error))
            readable = False
            continue
        for reference in named:
            yield from _unknown(stimuli, prediction, reference, where=where)
        for reference in dict.fromkeys(named):
            yield from _without_words(stimuli, reference, where=where)
    if readable:
        for sentence in contradictions(suite):
            yield fault("CIM-S025", where=suite.name, seen=sentence)


def _without_words(stimuli: Stimuli, reference: Reference, *, where: str) -> Iterator[Fault]:
    """Faults of a region that a formula names, in the items where it has no words."""
    if reference.region == "*":
        return
    index, name = reference.region - 1, reference.condition
    items = Listing(
        stimuli.item(number)
        for number, condition in enumerate(stimuli.conditions)
        if condition == name
        and index < len(regions := stimuli.regions(number))
        and not regions[index].strip()
    )
    if items:
        value = "0 bits" if stimuli.suite.metric == "sum" else "undefined"
        seen = f"Region {reference.region} of {name!r} has no words in item {items};"
        yield fault("CIM-S024", where=where, seen=f"{seen} its value there is {value}.")


def _unknown(
    stimuli: Stimuli, prediction: Prediction, reference: Reference, *, where: str
) -> Iterator[Fault]:
    """Faults that show the formula with a caret under a reference to nothing in the suite."""

    def pointing(code: str, seen: str, todo: str) -> Fault:
        error = FormulaError(formula=formula, column=reference.column, seen=seen, todo=todo)
        return fault(code, where=where, seen=str(error))

    conditions, formula = stimuli.names, prediction.formula
    if conditions and reference.condition not in conditions:
        seen = f"there is no condition {reference.condition!r}"
        yield pointing("CIM-S021", seen, did_you_mean(reference.condition, conditions))
    regions = stimuli.suite.region_names
    if reference.region != "*" and reference.region > len(regions):
        seen = f"there is no region {reference.region}; the suite names {len(regions)}"
        yield pointing("CIM-S022", seen, f"They are {Listing(regions)}, counted from 1")

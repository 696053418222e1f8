"""Test suites as frozen records of items, conditions, regions and predictions, and as text.

A suite holds items; an item holds the same sentence in several conditions; a condition is a
sequence of regions; a prediction is an inequality between region values that should hold in every
item (Hu et al. 2020, doi:10.18653/v1/2020.acl-main.158). Canaries follow BIG-bench (Srivastava et
al. 2023, arXiv:2206.04615, section 3): a fixed string in every file allows the file to be left out
of training data, and reveals where it was not.
"""

from __future__ import annotations

import operator
import re
import uuid
from array import array
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Literal, Never, TypeAlias, TypeVar, cast, overload

from cimento.io.clusters import cluster_cells, cluster_label, columns_named
from cimento.io.inline_markup import ITEMS_SHOWN, suite_table
from cimento.io.values import FreeCells

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
"""A value of JSON."""
Metric: TypeAlias = Literal["sum", "mean", "median", "range", "max", "min"]
"""How the surprisals of a region's tokens become one value."""
UnitName: TypeAlias = Literal["bits", "nats"]
"""The unit of surprisal."""
JoinRule: TypeAlias = Literal["blank", "detok", "none"]
"""What is put between regions: a blank, a blank unless punctuation follows, nothing."""

METRICS: tuple[Metric, ...] = ("sum", "mean", "median", "range", "max", "min")

NOTHING: Mapping[str, Never] = {}
"""The empty mapping of extra keys that most records share, and that is never changed.

A separate mapping for each record would take a third of the memory of a suite of pairs.
"""


def _nothing() -> Mapping[str, Never]:
    return NOTHING


@dataclass(frozen=True, slots=True)
class Region:
    """A region: a part of a stimulus that predictions can name.

    Attributes:
        text: the words, without surrounding blanks; may be empty.
        glued: whether nothing separates this region from the one before it (``l'|uomo``), where
            otherwise a blank does.
        extra: keys of the source format that cimento does not use, kept for writing.
    """

    text: str
    glued: bool = False
    extra: Mapping[str, JsonValue] = field(default_factory=_nothing)


@dataclass(frozen=True, slots=True)
class Condition:
    """One version of an item.

    Attributes:
        name: the name that predictions write between ``%`` signs.
        regions: the regions in order; every condition of a suite has the same number of them.
        columns: free columns of this row (factor levels, flags, ratings), as text.
        extra: keys of the source format that cimento does not use, kept for writing.
    """

    name: str
    regions: tuple[Region, ...]
    columns: Mapping[str, str] = field(default_factory=_nothing)
    extra: Mapping[str, JsonValue] = field(default_factory=_nothing)


@dataclass(frozen=True, slots=True)
class Item:
    """An item: an id and the conditions that are compared with each other."""

    id: str
    conditions: tuple[Condition, ...]
    extra: Mapping[str, JsonValue] = field(default_factory=_nothing)

    def condition(self, name: str) -> Condition:
        """The condition of that name; KeyError where there is none.

        Conditions are found by name, never by position, because items of published suites list them
        in different orders.
        """
        for condition in self.conditions:
            if condition.name == name:
                return condition
        raise KeyError(name)

    def column(self, name: str) -> str | None:
        """The value of a free column if all conditions of the item agree on it; else None."""
        values = {condition.columns.get(name) for condition in self.conditions}
        return values.pop() if len(values) == 1 else None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ItemColumns(Sequence[Item]):
    """Items as columns; the record of an item is made each time that it is asked for.

    Records of all items, conditions and regions at once would take several times the memory. A
    stimulus is one condition of one item; stimuli and regions are numbered over all items.

    Attributes:
        ids: id of each item.
        shapes: names of the conditions of each item.
        starts: number of each item's first stimulus, with the number of stimuli at the end.
        bounds: number of each stimulus's first region, with the number of regions at the end.
        texts: text of each region.
        free: cells of each free column by stimulus; None where a stimulus has none.
        glued: numbers of the glued regions.
        item_extras: extra keys of items, by number.
        condition_extras: extra keys of conditions, by number of the stimulus.
        region_extras: extra keys of regions, by number.
    """

    ids: Sequence[str]
    shapes: Sequence[tuple[str, ...]]
    starts: Sequence[int]
    bounds: Sequence[int]
    texts: Sequence[str]
    free: Mapping[str, Sequence[str | None]] = field(default_factory=_nothing)
    glued: frozenset[int] = frozenset()
    item_extras: Mapping[int, Mapping[str, JsonValue]] = field(default_factory=dict)
    condition_extras: Mapping[int, Mapping[str, JsonValue]] = field(default_factory=dict)
    region_extras: Mapping[int, Mapping[str, JsonValue]] = field(default_factory=dict)

    @classmethod
    def of(cls, items: Sequence[Item]) -> ItemColumns:
        """Items in the form of columns."""
        if isinstance(items, ItemColumns):
            return items
        bounds, texts, free = [0], list[str](), FreeCells[str]()
        glued, conditions_of, regions_of = set[int](), {}, {}
        for item in items:
            for condition in item.conditions:
                free.add(condition.columns)
                if condition.extra:
                    conditions_of[len(bounds) - 1] = condition.extra
                for place, region in enumerate(condition.regions, start=len(texts)):
                    if region.glued:
                        glued.add(place)
                    if region.extra:
                        regions_of[place] = region.extra
                    texts.append(region.text)
                bounds.append(len(texts))
        shapes = [tuple([condition.name for condition in item.conditions]) for item in items]
        same = {shape: shape for shape in shapes}
        return cls(
            ids=[item.id for item in items],
            shapes=[same[shape] for shape in shapes],
            starts=ascending(accumulate(map(len, shapes), initial=0)),
            bounds=ascending(bounds),
            texts=texts,
            free=free.columns(),
            glued=frozenset(glued),
            item_extras={number: item.extra for number, item in enumerate(items) if item.extra},
            condition_extras=conditions_of,
            region_extras=regions_of,
        )

    @property
    def names(self) -> list[str]:
        """The name of each stimulus's condition."""
        return [name for shape in self.shapes for name in shape]

    @property
    def is_whole(self) -> bool:
        """Whether every stimulus is a single region."""
        return len(self.texts) == len(self.bounds) - 1 and isinstance(self.bounds, range)

    def sentences(self, rule: JoinRule) -> list[str]:
        """The sentence of each stimulus."""
        if self.is_whole and rule == "blank":
            return [text.strip() for text in self.texts]
        parts = [(text, number in self.glued) for number, text in enumerate(self.texts)]
        return [_joined(parts[begin:end], rule) for begin, end in pairwise(self.bounds)]

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Item, ...]: ...
    def __getitem__(self, index: int | slice) -> Item | tuple[Item, ...]:
        if isinstance(index, slice):
            return tuple(map(self._item, range(len(self))[index]))
        return self._item(range(len(self))[index])

    def __iter__(self) -> Iterator[Item]:
        return map(self._item, range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, tuple | ItemColumns):
            return NotImplemented
        return len(self) == len(other) and all(map(operator.eq, self, other))

    def __hash__(self) -> int:
        return hash(tuple(self.ids))

    def __repr__(self) -> str:
        return repr(tuple(self))

    def _item(self, number: int) -> Item:
        start = self.starts[number]
        conditions = tuple(
            [self._condition(start + k, name) for k, name in enumerate(self.shapes[number])]
        )
        return Item(self.ids[number], conditions, self.item_extras.get(number, NOTHING))

    def _condition(self, number: int, name: str) -> Condition:
        columns = {
            column: cell
            for column, cells in self.free.items()
            if (cell := cells[number]) is not None
        }
        regions = tuple(
            [
                Region(self.texts[k], k in self.glued, self.region_extras.get(k, NOTHING))
                for k in range(self.bounds[number], self.bounds[number + 1])
            ]
        )
        extra = self.condition_extras.get(number, NOTHING)
        return Condition(name, regions, columns or NOTHING, extra)


def ascending(numbers: Iterable[int]) -> Sequence[int]:
    """Ascending numbers from 0, as a range where their steps are equal."""
    listed = array("l", numbers)
    step = listed[1] if len(listed) > 1 else 1
    even = range(0, len(listed) * step, step) if step else range(0)
    return even if len(even) == len(listed) and listed == array("l", even) else listed


@dataclass(frozen=True, slots=True)
class Prediction:
    """An inequality between region values, in the SyntaxGym formula language.

    Attributes:
        formula: the formula as written by the suite's author.
        comment: claim of the prediction in words.
        extra: keys of the source format that cimento does not use, kept for writing.
        name: a short name for people; if empty, the number is shown. The name does not influence
            the requests, so it is left out of the digest of a suite made in Python.
    """

    formula: str
    comment: str = ""
    extra: Mapping[str, JsonValue] = field(default_factory=_nothing)
    name: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Meta:
    """The metadata of a suite: authors, subject and terms.

    Attributes:
        name: the suite's name.
        version: version of the suite's content.
        language: ISO 639-1 code, such as ``it``.
        phenomenon: the phenomenon of the whole suite; otherwise a column of that name gives it.
        license: SPDX identifier if there is one.
        citation: how to cite the suite.
        status: state of review, such as ``draft, not yet reviewed by native speakers``.
        author: names of the authors.
        reference: the publication of origin.
        comment: any other remark.
        tags: free labels.
        extra: keys of the source format that cimento does not use, kept for writing.
    """

    name: str
    version: str = ""
    language: str = ""
    phenomenon: str = ""
    license: str = ""
    citation: str = ""
    status: str = ""
    author: str = ""
    reference: str = ""
    comment: str = ""
    tags: tuple[str, ...] = ()
    extra: Mapping[str, JsonValue] = field(default_factory=_nothing)


@dataclass(frozen=True, slots=True)
class Suite:
    """A test suite.

    Attributes:
        meta: name, language, license and the like.
        region_names: names for display; region k of a formula is ``region_names[k - 1]``.
        predictions: the predictions, of which a suite may have none.
        items: the items in file order.
        metric: the metric that combines the surprisals of a region's tokens into one value.
        join: rule for making a sentence of regions: ``blank`` puts one blank between non-empty
            regions, ``detok`` also removes blanks before ``. , ! ? ; :``, ``none`` puts none.
        cluster: free columns whose values group items that belong together (made from the same
            template, for example), so that intervals can allow for it; empty without clusters.
            With two or more, such as template and verb, clusters are crossed. One name is enough
            for one column.
        leading_blank: whether each text has a blank before it; None leaves this to the policy of
            scoring.
        factors: the levels of each factor of a factorial design; the free columns with the names of
            the factors give the level of each condition.
        extra: top-level keys of the source format that cimento does not use, kept for writing.
    """

    meta: Meta
    region_names: tuple[str, ...]
    predictions: tuple[Prediction, ...]
    items: Sequence[Item]
    metric: Metric = "sum"
    join: JoinRule = "blank"
    cluster: Sequence[str] = ()
    leading_blank: bool | None = None
    factors: Mapping[str, tuple[str, ...]] = field(default_factory=_nothing)
    extra: Mapping[str, JsonValue] = field(default_factory=_nothing)

    def __post_init__(self) -> None:
        object.__setattr__(self, "items", ItemColumns.of(self.items))
        object.__setattr__(self, "cluster", columns_named(self.cluster))

    def __repr__(self) -> str:
        return f"<Suite {self.name!r}: {len(self.items)} items>"

    @property
    def columns(self) -> ItemColumns:
        """The items as columns."""
        return cast("ItemColumns", self.items)

    @property
    def name(self) -> str:
        """The suite's name."""
        return self.meta.name

    def clusters(self) -> dict[str, Hashable]:
        """What each item belongs to: by the cluster columns, or else the item alone."""
        cells = zip(self.columns.ids, self.cluster_cells(), strict=True)
        return {id_: cluster_label(id_, cell) for id_, cell in cells}

    def cluster_cells(self) -> list[str | None]:
        """The cluster of each item in one cell, as tables of outcomes have it."""
        return cluster_cells([self.item_cells(name) for name in self.cluster], len(self.items))

    def item_cells(self, column: str) -> list[str | None]:
        """The cell of each item in a free column; None where its conditions do not agree on one."""
        cells = self.columns.free.get(column)
        if cells is None:
            return [None] * len(self.items)
        parts = [cells[begin:end] for begin, end in pairwise(self.columns.starts)]
        return [part[0] if part and part.count(part[0]) == len(part) else None for part in parts]

    @property
    def condition_names(self) -> tuple[str, ...]:
        """The names of all conditions, in order of first appearance."""
        return tuple(dict.fromkeys(name for s in dict.fromkeys(self.columns.shapes) for name in s))

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of all free columns, in order of first appearance."""
        return tuple(self.columns.free)

    def _repr_html_(self) -> str:
        """The suite in HTML, for notebooks."""
        meta = self.meta
        rows = [
            [(item.id, c.name, " | ".join(r.text for r in c.regions)) for c in item.conditions]
            for item in self.items[:ITEMS_SHOWN]
        ]
        predicted = [
            f"prediction {prediction.name or n}: {prediction.formula} {prediction.comment}".rstrip()
            for n, prediction in enumerate(self.predictions)
        ]
        facts = (meta.name, meta.language, meta.phenomenon, meta.license, meta.status)
        notes, header = predicted or ["It predicts nothing."], ("item", "condition", "text")
        return suite_table(header, rows, n_items=len(self.items), facts=facts, notes=notes)

    def stimuli(self) -> Iterator[tuple[Item, Condition]]:
        """Every item with each of its conditions, in file order."""
        for item in self.items:
            for condition in item.conditions:
                yield item, condition


GOOD, BAD = "good", "bad"
"""The conditions of a minimal pair."""

PAIR_PREDICTION = Prediction(
    f"(*;%{GOOD}%) < (*;%{BAD}%)",
    comment="The good sentence is less surprising than the bad one.",
    name=GOOD,
)
"""The prediction of a suite of pairs, unless it has other predictions."""


def pair_conditions(
    good: str, bad: str, columns: Mapping[str, str] = NOTHING
) -> tuple[Condition, Condition]:
    """The two conditions of a minimal pair, each of one region.

    Args:
        good: the sentence that should be more probable.
        bad: the other sentence.
        columns: free columns of the pair; both conditions hold the same mapping.
    """
    columns = columns or NOTHING
    return (
        Condition(GOOD, (Region(good, extra=NOTHING),), columns, NOTHING),
        Condition(BAD, (Region(bad, extra=NOTHING),), columns, NOTHING),
    )


CellT = TypeVar("CellT")


def _in_turn(first: Sequence[CellT], second: Sequence[CellT]) -> list[CellT]:
    """The values of two columns of the same length, one of each in turn."""
    both = [*first, *second]
    both[::2], both[1::2] = first, second
    return both


def pair_columns(
    ids: Sequence[str],
    good: Sequence[str],
    bad: Sequence[str],
    free: Mapping[str, Sequence[str | None]],
    *,
    extras: Mapping[int, Mapping[str, JsonValue]] | None = None,
) -> ItemColumns:
    """Minimal pairs as columns; see `pair_conditions`.

    Args:
        ids: the id of each pair.
        good: the sentences that should be more probable.
        bad: the other sentences.
        free: the cells of each free column, by pair; a column without any cell is left out.
        extras: extra keys of items, by number.
    """
    count = len(ids)
    return ItemColumns(
        ids=ids,
        shapes=[(GOOD, BAD)] * count,
        starts=range(0, 2 * count + 1, 2),
        bounds=range(2 * count + 1),
        texts=_in_turn(good, bad),
        free={name: _in_turn(cells, cells) for name, cells in free.items() if any(cells)},
        item_extras=extras or {},
    )


# Matching starts only at the first of several blanks, since otherwise long runs of blanks take
# quadratic time.
BLANK_BEFORE_MARK = re.compile(r"(?<!\s)\s+(?=[.,!?;:])")


def sentence(condition: Condition, *, rule: JoinRule = "blank") -> str:
    """The sentence of a condition, equal to that of `stimuli.join_regions`, without offsets."""
    return _joined(((region.text, region.glued) for region in condition.regions), rule)


def _joined(regions: Iterable[tuple[str, bool]], rule: JoinRule) -> str:
    made, glued = "", True
    for region, is_glued in regions:
        glued = (glued and is_glued) or rule == "none"
        if text := region.strip():
            made += text if glued or not made else f" {text}"
            glued = True
    return BLANK_BEFORE_MARK.sub("", made) if rule == "detok" else made


CANARY = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""The random identifier that makes a canary unique."""


def new_canary() -> str:
    """Make a new canary, by which a suite can be found in training data.

    Returns:
        A text such as ``cimento:5f0c2b1e-7d3a-4b56-9a51-0d6f6f2f7a10``, which nobody else has.

    Example:
        >>> new_canary()
        'cimento:...'
    """
    return f"cimento:{uuid.uuid4()}"

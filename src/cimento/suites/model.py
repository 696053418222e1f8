"""A test suite as frozen records: items, conditions, regions, predictions; and as people see it.

A suite holds items; an item holds the same sentence in several conditions; a condition is a row
of regions; a prediction is an inequality between region values that should hold in every item
(Hu et al. 2020, doi:10.18653/v1/2020.acl-main.158). Canaries are BIG-bench's idea (Srivastava et
al. 2023, arXiv:2206.04615, section 3): a fixed string in every file lets those who gather training
texts leave it out, and shows where they did not.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Never, TypeAlias

from cimento.io.notebook import notebook_table

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
Metric: TypeAlias = Literal["sum", "mean", "median", "range", "max", "min"]
UnitName: TypeAlias = Literal["bits", "nats"]
JoinRule: TypeAlias = Literal["blank", "detok"]

METRICS: tuple[Metric, ...] = ("sum", "mean", "median", "range", "max", "min")

NOTHING: Mapping[str, Never] = {}
"""What most records have besides their fields: one mapping for all, which nobody changes.

One each would be a third of the room that a suite of pairs takes.
"""


def _nothing() -> Mapping[str, Never]:
    return NOTHING


@dataclass(frozen=True, slots=True)
class Region:
    """A stretch of a stimulus that predictions can name.

    Attributes:
        text: the words, without blanks at either end; may be empty.
        glued: True where nothing stands between this region and the one before it
            (``l'|uomo``), False where a blank does.
        extra: keys of the source format that cimento does not use, kept for writing.
    """

    text: str
    glued: bool = False
    extra: Mapping[str, JsonValue] = field(default_factory=_nothing)


@dataclass(frozen=True, slots=True)
class Condition:
    """One version of an item.

    Attributes:
        name: as predictions write it between ``%`` signs.
        regions: in order; the same number in every condition of a suite.
        columns: free columns of this row (factor levels, flags, ratings), as text.
        extra: keys of the source format that cimento does not use, kept for writing.
    """

    name: str
    regions: tuple[Region, ...]
    columns: Mapping[str, str] = field(default_factory=_nothing)
    extra: Mapping[str, JsonValue] = field(default_factory=_nothing)


@dataclass(frozen=True, slots=True)
class Item:
    """The conditions that are compared with each other, under one id."""

    id: str
    conditions: tuple[Condition, ...]
    extra: Mapping[str, JsonValue] = field(default_factory=_nothing)

    def condition(self, name: str) -> Condition:
        """The condition of that name; KeyError where there is none.

        By name and never by position: published suites list the conditions of their items in
        different orders.
        """
        for condition in self.conditions:
            if condition.name == name:
                return condition
        raise KeyError(name)

    def column(self, name: str) -> str | None:
        """The value of a free column, where all conditions of the item agree on it; else None."""
        values = {condition.columns.get(name) for condition in self.conditions}
        return values.pop() if len(values) == 1 else None


@dataclass(frozen=True, slots=True)
class Prediction:
    """An inequality between region values, in the SyntaxGym formula language.

    Attributes:
        formula: as written by the suite's author.
        comment: what it claims, in words.
        extra: keys of the source format that cimento does not use, kept for writing.
        name: a word or two by which people know it; empty for its number. It is no part of what
            is asked, so it does not tell two suites apart that were made in Python.
    """

    formula: str
    comment: str = ""
    extra: Mapping[str, JsonValue] = field(default_factory=_nothing)
    name: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Meta:
    """Who made a suite, about what, and on which terms.

    Attributes:
        name: the suite's name.
        version: of the suite's content.
        language: ISO 639-1 code, such as ``it``.
        phenomenon: for a suite about one phenomenon; else a column of that name tells.
        licence: SPDX identifier where there is one.
        citation: how to cite the suite.
        status: such as ``draft, not yet reviewed by native speakers``.
        author: who wrote it.
        reference: the publication it comes from.
        comment: anything else.
        tags: free labels.
        extra: keys of the source format that cimento does not use, kept for writing.
    """

    name: str
    version: str = ""
    language: str = ""
    phenomenon: str = ""
    licence: str = ""
    citation: str = ""
    status: str = ""
    author: str = ""
    reference: str = ""
    comment: str = ""
    tags: tuple[str, ...] = ()
    extra: Mapping[str, JsonValue] = field(default_factory=_nothing)


def reviewers(meta: Meta) -> str:
    """Who has reviewed a suite, as `cimento annotate review` writes it; empty for nobody."""
    names = meta.extra.get("reviewed_by", [])
    return ", ".join(map(str, names)) if isinstance(names, list) else str(names)


@dataclass(frozen=True, slots=True)
class Suite:
    """A test suite.

    Attributes:
        meta: name, language, licence and the like.
        region_names: for display; region k of a formula is ``region_names[k - 1]``.
        predictions: what should hold; a suite may have none.
        items: in file order.
        metric: how the surprisals of a region's tokens become one value.
        join: how regions become a sentence: ``blank`` puts one blank between non-empty regions,
            ``detok`` also removes blanks before ``. , ! ? ; :``.
        cluster: free column whose value says which items belong together (made from one
            template, say), so that intervals can allow for it; empty where each stands alone.
        leading_blank: whether a blank stands before each text, where the suite says so; None leaves
            it to how texts are scored.
        factors: for factorial designs: factor name to its levels; the free columns of the same
            names give the level of each condition.
        extra: top-level keys of the source format that cimento does not use, kept for writing.
    """

    meta: Meta
    region_names: tuple[str, ...]
    predictions: tuple[Prediction, ...]
    items: Sequence[Item]
    metric: Metric = "sum"
    join: JoinRule = "blank"
    cluster: str = ""
    leading_blank: bool | None = None
    factors: Mapping[str, tuple[str, ...]] = field(default_factory=_nothing)
    extra: Mapping[str, JsonValue] = field(default_factory=_nothing)

    @property
    def name(self) -> str:
        """The suite's name."""
        return self.meta.name

    def clusters(self) -> dict[str, Hashable]:
        """Item to what it belongs to: the value of the cluster column, else the item alone."""
        labels: dict[str, Hashable] = {}
        for item in self.items:
            value = item.column(self.cluster) if self.cluster else None
            labels[item.id] = ("cluster", value) if value else ("item", item.id)
        return labels

    def item_ids(self) -> Iterator[str]:
        """The ids of the items, in order."""
        return (item.id for item in self.items)

    @property
    def condition_names(self) -> tuple[str, ...]:
        """The names of all conditions, in order of first appearance."""
        return tuple(dict.fromkeys(c.name for _, c in self.stimuli()))

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of all free columns, in order of first appearance."""
        return tuple(dict.fromkeys(key for _, c in self.stimuli() for key in c.columns))

    def _repr_html_(self) -> str:
        """The suite as notebooks show it."""
        return suite_html(self)

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
"""The claim of a suite of pairs, unless it says something else."""


def pair_conditions(
    good: str, bad: str, columns: Mapping[str, str] = NOTHING
) -> tuple[Condition, Condition]:
    """The two conditions of a minimal pair, each of one region.

    Args:
        good: the sentence that should be the more probable one.
        bad: the other.
        columns: free columns of the pair; both conditions hold the same mapping.
    """
    columns = columns or NOTHING
    return (
        Condition(GOOD, (Region(good, extra=NOTHING),), columns, NOTHING),
        Condition(BAD, (Region(bad, extra=NOTHING),), columns, NOTHING),
    )


# Only from the first of several blanks: else very many of them take very long.
_BLANK_BEFORE_MARK = re.compile(r"(?<!\s)\s+(?=[.,!?;:])")


def sentence(condition: Condition, *, rule: JoinRule = "blank") -> str:
    """The sentence of a condition; equal to `requests.stimulus_text`, which also has offsets."""
    made = ""
    glued = True
    for region in condition.regions:
        glued = glued and region.glued
        text = region.text.strip()
        if text:
            made += text if glued or not made else f" {text}"
            glued = True
    return _BLANK_BEFORE_MARK.sub("", made) if rule == "detok" else made


CANARY = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""What makes a canary unlike any other text: a random identifier somewhere in it."""


def new_canary() -> str:
    """A fresh canary, such as ``cimento:5f0c2b1e-7d3a-4b56-9a51-0d6f6f2f7a10``."""
    return f"cimento:{uuid.uuid4()}"


def is_canary(text: object) -> bool:
    """Whether a text has what makes a canary one of its kind."""
    return isinstance(text, str) and CANARY.search(text) is not None


def describe_suite(suite: Suite, items: int) -> str:
    """What a suite is, what it predicts, and its first items.

    Args:
        suite: of regions.
        items: how many are shown.
    """
    meta = suite.meta
    facts = [
        ("language", meta.language),
        ("phenomenon", meta.phenomenon),
        ("version", meta.version),
        ("licence", meta.licence),
        ("status", meta.status),
        ("reviewers", reviewers(meta)),
        ("citation", meta.citation),
        ("items", str(len(suite.items))),
        ("conditions", ", ".join(suite.condition_names)),
        ("regions", ", ".join(f"{i} {name}" for i, name in enumerate(suite.region_names, 1))),
        ("metric", suite.metric),
    ]
    lines = [meta.name, *(f"  {label:<11}{value}" for label, value in facts if value)]
    for number, prediction in enumerate(suite.predictions):
        name = prediction.name or str(number)
        lines.append(f"  prediction {name}  {prediction.formula}  {prediction.comment}".rstrip())
    for item in suite.items[:items]:
        lines.append(f"  item {item.id}")
        lines += [
            f"    {condition.name:<20} {' | '.join(region.text for region in condition.regions)}"
            for condition in item.conditions
        ]
    return "\n".join(lines)


ITEMS = 3
"""Items that are shown."""


def suite_html(suite: Suite) -> str:
    """The first items, what is predicted, and what is known about the suite."""
    rows = [
        (item.id, condition.name, " | ".join(region.text for region in condition.regions))
        for item in suite.items[:ITEMS]
        for condition in item.conditions
    ]
    meta = suite.meta
    facts = [meta.language, meta.phenomenon, meta.licence, meta.status]
    count = f"{len(suite.items)} item{'' if len(suite.items) == 1 else 's'}"
    left = len(suite.items) - ITEMS
    predicted = [
        f"prediction {each.name or number}: {each.formula} {each.comment}".rstrip()
        for number, each in enumerate(suite.predictions)
    ]
    notes = [*([f"... and {left} more items"] if left > 0 else []), *predicted]
    return notebook_table(
        ("item", "condition", "text"),
        rows,
        title=", ".join(fact for fact in (f"{suite.name}: {count}", *facts) if fact),
        notes=notes or ["It predicts nothing."],
        labels=3,
    )

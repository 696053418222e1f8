"""Test suites as frozen records of items, conditions, regions and predictions, and as text.

A suite holds items; an item holds the same sentence in several conditions; a condition is a
sequence of regions; a prediction is an inequality between region values that should hold in every
item (Hu et al. 2020, doi:10.18653/v1/2020.acl-main.158). Canaries follow BIG-bench (Srivastava et
al. 2023, arXiv:2206.04615, section 3): a fixed string in every file allows the file to be left out
of training data, and reveals where it was not.
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


@dataclass(frozen=True, slots=True)
class Prediction:
    """An inequality between region values, in the SyntaxGym formula language.

    Attributes:
        formula: the formula as written by the suite's author.
        comment: its claim in words.
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
        licence: SPDX identifier if there is one.
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
    licence: str = ""
    citation: str = ""
    status: str = ""
    author: str = ""
    reference: str = ""
    comment: str = ""
    tags: tuple[str, ...] = ()
    extra: Mapping[str, JsonValue] = field(default_factory=_nothing)


def reviewers(meta: Meta) -> str:
    """The reviewers of a suite, as `cimento annotate review` writes them; empty without any."""
    names = meta.extra.get("reviewed_by", [])
    return ", ".join(map(str, names)) if isinstance(names, list) else str(names)


@dataclass(frozen=True, slots=True)
class Suite:
    """A test suite.

    Attributes:
        meta: name, language, licence and the like.
        region_names: names for display; region k of a formula is ``region_names[k - 1]``.
        predictions: the predictions, of which a suite may have none.
        items: the items in file order.
        metric: the metric that makes one value of the surprisals of a region's tokens.
        join: rule for making a sentence of regions: ``blank`` puts one blank between non-empty
            regions, ``detok`` also removes blanks before ``. , ! ? ; :``.
        cluster: free column whose value groups items that belong together (made from the same
            template, for example), so that intervals can allow for it; empty without clusters.
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
    cluster: str = ""
    leading_blank: bool | None = None
    factors: Mapping[str, tuple[str, ...]] = field(default_factory=_nothing)
    extra: Mapping[str, JsonValue] = field(default_factory=_nothing)

    @property
    def name(self) -> str:
        """The suite's name."""
        return self.meta.name

    def clusters(self) -> dict[str, Hashable]:
        """The cluster of each item: the value of the cluster column, or else the item alone."""
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
        names: dict[str, None] = {}
        for _, condition in self.stimuli():
            if not condition.columns.keys() <= names.keys():  # nearly all have the same
                names |= dict.fromkeys(condition.columns)
        return tuple(names)

    def _repr_html_(self) -> str:
        """The suite in HTML, for notebooks."""
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


# Matching starts only at the first of several blanks, since otherwise long runs of blanks take
# quadratic time.
_BLANK_BEFORE_MARK = re.compile(r"(?<!\s)\s+(?=[.,!?;:])")


def sentence(condition: Condition, *, rule: JoinRule = "blank") -> str:
    """The sentence of a condition, equal to that of `stimuli.join_regions`, without offsets."""
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
"""The random identifier that makes a canary unique."""


def new_canary() -> str:
    """A fresh canary, such as ``cimento:5f0c2b1e-7d3a-4b56-9a51-0d6f6f2f7a10``."""
    return f"cimento:{uuid.uuid4()}"


def is_canary(text: object) -> bool:
    """Whether an object is a text with a random identifier, as every canary has."""
    return isinstance(text, str) and CANARY.search(text) is not None


def describe_suite(suite: Suite, items: int) -> str:
    """A description of a suite: its metadata, its predictions and its first items.

    Args:
        suite: a suite of regions.
        items: number of items shown.
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
"""Number of items shown."""


def suite_html(suite: Suite) -> str:
    """The first items, the predictions and the metadata of a suite, in HTML."""
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

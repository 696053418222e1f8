"""Twins of agreement items: the same sentence after a controller with the other value of a feature.

A pair such as *The owner lives* and *The owner live* differs only in the verb, which is what is
measured: to find where the number of the subject is carried, each of the two sentences needs a twin
whose subject has the other number. A suite may declare twins in a column; otherwise the controller
is taken from another item, so that the twin differs in one controller, and in nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cimento.errors import UsageError, counted
from cimento.suites.formats.items import read_regions

if TYPE_CHECKING:
    from cimento.suites import Condition, Item, JsonValue, Region, Suite

KEY = "explain"
"""The table of suite.toml that says what is exchanged, and what the controller is."""

TWIN = "twin"
"""The free column with the twin of a condition, in regions; ``twin_number`` if one of several."""

CONTROLLERS = (("subject",), ("noun_phrase",), ("determiner", "noun"))
"""Names of regions that are taken for the controller where a suite does not say which it is."""

FEATURES = frozenset({"number", "gender", "person", "case"})
"""Names of columns in which a twin's controller is like that of its item, unless they differ."""

_WRONG = "mismatch_"
_N_FORMS = 2
"""Values of a feature, and conditions of an item, that can be exchanged for each other."""
_OTHER_TEMPLATE = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Controller:
    """The controller of a pair of conditions, and the features in which its twin differs.

    Attributes:
        features: names of the columns with the features; empty if the twins are declared in a
            column that belongs to no feature.
        regions: numbers of the regions that make the controller; empty if twins are declared.
        column: the column with the twins; empty if they are built.
    """

    features: tuple[str, ...]
    regions: tuple[int, ...] = ()
    column: str = ""

    def twin_of(self, condition: str) -> str:
        """The name of the twin of a condition."""
        return f"{condition} (other {' and '.join(self.features) or 'controller'})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Twins:
    """The twins of some conditions of a suite.

    Attributes:
        controller: the controller that they differ in.
        regions: the regions of the twin by id of the item and name of the condition.
        donors: the id of the item that the controller comes from, by id of the item; empty if twins
            are declared.
        left_out: why items have no twin, by id.
    """

    controller: Controller
    regions: Mapping[tuple[str, str], tuple[Region, ...]]
    donors: Mapping[str, str]
    left_out: Mapping[str, str]

    def notes(self, suite: Suite) -> Iterator[str]:
        """What the twins are, as sentences.

        Args:
            suite: the suite.
        """
        twins = len({item for item, _ in self.regions})
        feature = " and ".join(self.controller.features)
        if self.controller.column:
            yield f"{counted(twins, 'item')} with the twin of the column {self.controller.column}"
        else:
            names = " and ".join(suite.region_names[n - 1] for n in self.controller.regions)
            yield (
                f"{counted(twins, 'item')} with a built twin, which has the {names} of an item with"
                f" the other {feature}"
            )
        for reason, count in Counter(self.left_out.values()).items():
            yield f"{counted(count, 'item')} left out: {reason}"


def controller_of(
    suite: Suite,
    conditions: Sequence[str],
    measured: frozenset[int | str],
    *,
    features: Sequence[str] = (),
    regions: Sequence[int] = (),
) -> Controller:
    """The controller of two conditions that differ only in what is measured.

    Args:
        suite: the suite.
        conditions: names of the conditions; of one that is called ``mismatch_gender_number``, the
            features are gender and number.
        measured: the regions that are measured.
        features: names of the columns with the features in which a twin differs; empty to find
            them.
        regions: numbers of the regions that make the controller; empty to find them.

    Raises:
        UsageError: the suite does not say what it is.
    """
    chosen = tuple(features) or declared_names(suite, "feature") or _named(conditions)
    column = next((n for n in ("_".join((TWIN, *chosen)), TWIN) if n in suite.column_names), "")
    if column and not regions:
        return Controller(features=chosen, column=column)
    missing = [name for name in chosen if name not in suite.column_names]
    if missing or not chosen:
        raise UsageError(
            where=f"suite {suite.name!r}",
            seen=f"it has no column {' or '.join(missing)}, so that no item is known to have the"
            " other value"
            if missing
            else "it does not say in which feature the two sentences differ",
            todo=_remedy(chosen, conditions),
        )
    for name in chosen:
        values = {item.column(name) for item in suite.items} - {None, ""}
        if len(values) != _N_FORMS:
            raise UsageError(
                where=f"suite {suite.name!r}",
                seen=f"{name} has {counted(len(values), 'value')} in it, so that it is not known"
                " which one the other form has",
                todo=f"Give twins in a column named {'_'.join((TWIN, *chosen))} (or {TWIN}).",
            )
    return Controller(
        features=chosen, regions=tuple(regions) or _regions(suite, measured, conditions)
    )


def _remedy(features: Sequence[str], conditions: Sequence[str]) -> str:
    """What to do where it is not known what to exchange: a design lacks factors, a pair twins."""
    if len(conditions) > _N_FORMS and not features:
        return (
            "If the suite crosses two factors, declare them in [factors] of suite.toml, so that the"
            " levels of the first are exchanged, or name two conditions with --swap BASE=SOURCE."
        )
    column = "_".join((TWIN, *features))
    also = f"{column} (or {TWIN})" if features else TWIN
    return f"Name the columns with --feature, or give twins in a column named {also}."


def _named(conditions: Sequence[str]) -> tuple[str, ...]:
    """The features that the name of a condition says are wrong."""
    wrong = [name.removeprefix(_WRONG) for name in conditions if name.startswith(_WRONG)]
    return tuple(wrong[0].split("_")) if len(wrong) == 1 else ()


def declared_names(suite: Suite, key: str) -> tuple[str, ...]:
    """The names that a suite declares: ``[explain] controller = "subject"``, or a list."""
    declared = suite.extra.get(KEY)
    names: JsonValue = declared.get(key) if isinstance(declared, dict) else None
    return tuple(map(str, names if isinstance(names, list) else [names] if names else []))


def _regions(
    suite: Suite, measured: frozenset[int | str], conditions: Sequence[str]
) -> tuple[int, ...]:
    """The regions of the controller: declared, by their names, or the only one there is.

    Raises:
        UsageError: there are several.
    """
    numbers = {name: number for number, name in enumerate(suite.region_names, start=1)}
    for names in (declared_names(suite, "controller"), *CONTROLLERS):
        chosen = tuple(numbers[name] for name in names if name in numbers)
        if chosen and len(chosen) == len(names) and not measured.intersection(chosen):
            return chosen
    before = range(1, min((n for n in measured if isinstance(n, int)), default=1))
    filled = [
        number
        for number in before
        if any(item.condition(conditions[0]).regions[number - 1].text for item in suite.items)
    ]
    if len(filled) != 1:
        raise UsageError(
            where=f"suite {suite.name!r}",
            seen="it does not say in which region the controller is",
            todo="Name it: --controller=REGION.",
        )
    return tuple(filled)


def twins_of(
    suite: Suite, conditions: Sequence[str], measured: frozenset[int | str], controller: Controller
) -> Twins:
    """The twins of some conditions of every item.

    Args:
        suite: the suite.
        conditions: names of the conditions.
        measured: the regions that are measured, which twins share with their conditions.
        controller: what twins differ in.
    """
    items = [item for item in suite.items if {c.name for c in item.conditions} >= {*conditions}]
    left_out: dict[str, str] = {}
    donors = {} if controller.column else _donors(suite, items, conditions, controller, left_out)
    by_id = {item.id: item for item in items}
    regions: dict[tuple[str, str], tuple[Region, ...]] = {}
    for item in items:
        if item.id in left_out:
            continue
        made: dict[tuple[str, str], tuple[Region, ...]] = {}
        for name in conditions:
            condition = item.condition(name)
            if controller.column:
                twin, _ = read_regions(condition.columns.get(controller.column, ""))
            else:
                donor = by_id[donors[item.id]].condition(name)
                twin = tuple(
                    donor.regions[number - 1] if number in controller.regions else region
                    for number, region in enumerate(condition.regions, start=1)
                )
            if fault := _fault(condition, twin, measured):
                left_out[item.id] = fault
            made[item.id, name] = twin
        if item.id not in left_out:
            regions |= made
    return Twins(controller=controller, regions=regions, donors=donors, left_out=left_out)


def with_twins(suite: Suite, several: Sequence[Twins]) -> Suite:
    """The suite with the twins as further conditions of its items."""
    if not several:
        return suite
    items = []
    for item in suite.items:
        added = {}
        for twins in several:
            for condition in item.conditions:
                regions = twins.regions.get((item.id, condition.name))
                if regions is not None:
                    name = twins.controller.twin_of(condition.name)
                    added[name] = replace(condition, name=name, regions=regions)
        items.append(replace(item, conditions=(*item.conditions, *added.values())))
    return replace(suite, items=tuple(items))


def _fault(condition: Condition, twin: Sequence[Region], measured: frozenset[int | str]) -> str:
    """Why a twin cannot be used; empty if it can."""
    if not any(region.text for region in twin):
        return "there is no twin in its column"
    if len(twin) != len(condition.regions):
        return "its twin has another number of regions"
    pairs = enumerate(zip(condition.regions, twin, strict=True), start=1)
    apart = {number for number, (one, other) in pairs if one.text != other.text}
    if not apart:
        return "its twin is the same"
    return "its twin differs where something is measured" if apart & measured else ""


def _donors(
    suite: Suite,
    items: Sequence[Item],
    conditions: Sequence[str],
    controller: Controller,
    left_out: dict[str, str],
) -> dict[str, str]:
    """The item that the controller of each item's twin comes from.

    It has the other values of the features, the same of all other features, and the same empty
    regions, so that a capital at the beginning stays one. Among these, items are paired so that all
    together are most alike: in template, number of words and length; none is used more often than
    needed (an assignment of least cost; Kuhn 1955, doi:10.1002/nav.3800020109).
    """
    fixed = [
        name
        for name in suite.column_names
        if name not in controller.features
        and (name in FEATURES or any(name in _named([other]) for other in suite.condition_names))
    ]
    values = {
        name: sorted({item.column(name) or "" for item in suite.items} - {""})
        for name in controller.features
    }
    groups: dict[tuple[tuple[str | None, ...], tuple[object, ...]], list[Item]] = {}
    for item in items:
        levels = tuple(item.column(name) for name in controller.features)
        if not all(levels):
            left_out[item.id] = f"its conditions name no {' and '.join(controller.features)}"
            continue
        groups.setdefault((levels, _frame(item, conditions[0], controller, fixed)), []).append(item)
    donors: dict[str, str] = {}
    for (levels, frame), some in groups.items():
        wanted = tuple(
            values[name][1 - values[name].index(value or "")]
            for name, value in zip(controller.features, levels, strict=True)
        )
        others = groups.get((wanted, frame), [])
        if others:
            donors |= _paired(some, others, conditions[0], controller)
            continue
        cells = [*wanted, *(some[0].column(name) for name in fixed)]
        pairs = zip((*controller.features, *fixed), cells, strict=True)
        like = ", ".join(f"{name} {value}" for name, value in pairs if value)
        left_out |= {item.id: f"no item has {like} and the same regions" for item in some}
    return donors


def _frame(
    item: Item, condition: str, controller: Controller, fixed: Sequence[str]
) -> tuple[object, ...]:
    """What two items must share for one to have the controller of the other."""
    regions = item.condition(condition).regions[: max(controller.regions)]
    return (*(item.column(name) for name in fixed), tuple(not region.text for region in regions))


def _paired(
    items: Sequence[Item], others: Sequence[Item], condition: str, controller: Controller
) -> dict[str, str]:
    """A donor for each item, so that all pairs together are most alike."""
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    def controlling(item: Item) -> str:
        regions = item.condition(condition).regions
        return " ".join(regions[number - 1].text for number in controller.regions)

    def unlike(item: Item, other: Item) -> float:
        one, two = controlling(item), controlling(other)
        same = item.column("template") == other.column("template")
        words = abs(len(one.split()) - len(two.split()))
        return (0 if same else _OTHER_TEMPLATE) + 100 * words + abs(len(one) - len(two))

    costs = np.array([[unlike(item, other) for other in others] for item in items])
    rounds = -(-len(items) // len(others))
    rows, columns = linear_sum_assignment(np.tile(costs, rounds))
    return {
        items[row].id: others[column % len(others)].id
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True)
    }

"""What people chose among the options of cloze items, and how far a model agrees with them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cimento.cloze.judging.choices import (
    Choices,
    ItemAgreement,
    agreement,
    count_majorities,
)
from cimento.cloze.judging.precision import Share
from cimento.cloze.notation import read_cell
from cimento.cloze.records import ClozeItem
from cimento.errors import InputError, did_you_mean
from cimento.io.files import read_bytes
from cimento.io.parsing import whole_number
from cimento.statistics.values import Value
from cimento.suites.tables import read_table

COLUMNS = ("item", "option", "count")

NO_ITEM = "no item has both choices of people and scores of its options"


@dataclass(frozen=True, slots=True)
class PeopleReport:
    """People on a suite, and a model beside them.

    Attributes:
        majorities: class of what most people chose to how many items; ties are named.
        same_mode: items whose most probable option is one that most people chose, of those that
            both answered.
        divergence_bits: mean Jensen-Shannon divergence over these items.
        items: agreement item by item.
    """

    majorities: Mapping[str, Share]
    same_mode: Share
    divergence_bits: Value
    items: tuple[ItemAgreement, ...]


def read_choices(path: Path, items: Iterable[ClozeItem]) -> dict[str, dict[str, int]]:
    """How many people chose each option of each item.

    Args:
        path: a table with the columns `item`, `option` (or ``none``) and `count`.
        items: of the suite; those that the table does not name were not answered.

    Raises:
        InputError: the table cannot be used, or names an item that does not exist.
    """
    table, faults = read_table(read_bytes(path), path)
    if table is None:
        raise InputError(where=path.name, seen="; ".join(fault.seen for fault in faults))
    for name in COLUMNS:
        if name not in table.columns:
            raise InputError(
                where=path.name,
                seen=f"there is no column {name!r}",
                todo=did_you_mean(name, table.columns),
            )
    known = {item.id for item in items}
    found: dict[str, dict[str, int]] = {}
    for row in table.rows:
        item, option = read_cell(row.cells["item"]), read_cell(row.cells["option"])
        said = row.cells["count"].strip()
        count = whole_number(said)
        if item not in known:
            todo = did_you_mean(item, known)
            raise InputError(where=table.where(row), seen=f"there is no item {item!r}", todo=todo)
        if count is None:
            raise InputError(
                where=table.where(row), seen=f"the count is {said!r}", todo="Write a number."
            )
        own = found.setdefault(item, {})
        own[option] = own.get(option, 0) + count
    return found


def compare_with_people(
    items: Sequence[ClozeItem],
    choices: Mapping[str, Choices],
    logprobs: Mapping[str, Mapping[str, float | None]],
) -> PeopleReport:
    """People's choices by class, and a model's agreement with them.

    Args:
        items: those with one option or none are left out.
        choices: id of an item to what people chose.
        logprobs: id of an item to the log-probability of each spelling of its options, in nats;
            an option has the score of its most probable spelling.

    Raises:
        InputError: somebody chose what is no option.
    """
    answered = [item for item in items if len(item.options) > 1]
    compared = [
        agreement(item, choices[item.id], weights)
        for item in answered
        if item.id in choices and (weights := option_weights(item, logprobs.get(item.id, {})))
    ]
    modes = [each.same_mode for each in compared if each.same_mode is not None]
    values = [
        each.divergence_bits.value for each in compared if each.divergence_bits.value is not None
    ]
    return PeopleReport(
        majorities=count_majorities(answered, choices),
        same_mode=Share(sum(modes), len(modes)),
        divergence_bits=Value(math.fsum(values) / len(values)) if values else Value(None, NO_ITEM),
        items=tuple(compared),
    )


def option_weights(item: ClozeItem, logprobs: Mapping[str, float | None]) -> dict[str, float]:
    """The probabilities of an item's options among each other.

    ``exp(l_i) / Σ exp(l_j)``; empty where an option has no score, since the others would be
    compared with nothing.
    """
    best: dict[str, float] = {}
    for option in item.options:
        known = [value for text in option.spellings if (value := logprobs.get(text)) is not None]
        if not known:
            return {}
        best[option.text] = max(known)
    highest = max(best.values(), default=0.0)
    weights = {text: math.exp(value - highest) for text, value in best.items()}
    total = math.fsum(weights.values())
    return {text: weight / total for text, weight in weights.items()}

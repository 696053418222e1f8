"""Forced choice: which of an item's options a model finds most probable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from cimento.cloze.records import ClozeItem, Role

Outcome: TypeAlias = Literal["pass", "fail", "tie", "unscored"]

NO_CHOICE = "there are not two options to choose among"


@dataclass(frozen=True, slots=True)
class Choice:
    """What a model chose for one item.

    Attributes:
        item: id of the item.
        chosen: the options that are most probable; several where they are exactly equal.
        roles: their roles.
        outcome: ``pass`` where a target alone is most probable, ``tie`` where it shares that.
        margin_nats: the best target minus the best of the others; None where it is not known.
        reason: why the item is unscored.
    """

    item: str
    chosen: tuple[str, ...]
    roles: tuple[Role, ...]
    outcome: Outcome
    margin_nats: float | None
    reason: str | None = None


def choose(
    items: Iterable[ClozeItem], scores: Mapping[str, Mapping[str, float | None]]
) -> list[Choice]:
    """The choice for each item that has a target and something else to choose.

    An option has the score of the best of its spellings. Where an option has none, the choice is
    unscored: the others would be compared with nothing.

    Args:
        items: with options.
        scores: id of an item to the log-probability of each spelling, in nats.
    """
    return [
        _choice(item, scores.get(item.id, {}))
        for item in items
        if len(item.options) > 1 and item.targets
    ]


def _choice(item: ClozeItem, scores: Mapping[str, float | None]) -> Choice:
    values: list[float] = []
    for option in item.options:
        known = [scores[text] for text in option.spellings if scores.get(text) is not None]
        best = max((value for value in known if value is not None), default=None)
        if best is None:
            reason = f"the option {option.text!r} has no score under this rule"
            return Choice(item.id, (), (), "unscored", None, reason)
        values.append(best)
    targets = [v for v, option in zip(values, item.options, strict=True) if option.role == "target"]
    others = [v for v, option in zip(values, item.options, strict=True) if option.role != "target"]
    if not others:
        return Choice(item.id, (), (), "unscored", None, NO_CHOICE)
    chosen = [o for o, value in zip(item.options, values, strict=True) if value == max(values)]
    margin = max(targets) - max(others)
    outcome: Outcome = "pass" if margin > 0 else "fail" if margin < 0 else "tie"
    return Choice(
        item.id,
        tuple(option.text for option in chosen),
        tuple(option.role for option in chosen),
        outcome,
        margin,
    )

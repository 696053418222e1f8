"""Suites and their adversarial twins: found by name, paired item by item."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cimento.suites.model import Condition, Item, Suite

_MARK = re.compile(
    r"(?:^|[-_ ])(?:adversarial|adversary|advers|adv|attractors?)(?=$|[-_ ])", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Intervening:
    """What the adversarial version of an item has that the plain one has not.

    Attributes:
        words: as text; empty where the two do not differ by an insertion.
        n_words: how many.
    """

    words: str
    n_words: int


def plain_name(name: str) -> str | None:
    """The name of the suite that an adversarial suite is the twin of; None for a plain suite."""
    rest = _MARK.sub("", name, count=1)
    return rest.strip("-_ ") if rest != name else None


def twins(names: Iterable[str]) -> dict[str, str]:
    """Plain suite to its adversarial twin, among suites of one language.

    Args:
        names: of suites, such as ``attribute`` and ``attribute_adversarial``.
    """
    known = {_folded(name): name for name in names if plain_name(name) is None}
    found = {}
    for name in names:
        plain = plain_name(name)
        if plain is not None and _folded(plain) in known:
            found[known[_folded(plain)]] = name
    return found


def paired_items(plain: Suite, adversarial: Suite) -> list[tuple[Item, Item]]:
    """The items that both have, by their ids."""
    others = {item.id: item for item in adversarial.items}
    return [(item, others[item.id]) for item in plain.items if item.id in others]


def intervening(plain: Condition, adversarial: Condition) -> Intervening:
    """The words that the adversarial version puts in: the longest gap between what both share.

    The plain sentence must be left when the inserted words are taken out; else nothing is said.
    """
    short, long = _words(plain), _words(adversarial)
    extra = len(long) - len(short)
    if extra <= 0:
        return Intervening("", 0)
    start = _shared(short, long)
    if long[start + extra :] != short[start:]:
        return Intervening("", 0)
    return Intervening(" ".join(long[start : start + extra]), extra)


def attractor_columns(adversarial: Suite) -> Mapping[str, Sequence[str]]:
    """The free columns of a suite that say what its attractors are like, with their values.

    These are the columns whose names begin with ``attractor``, and ``distance``.
    """
    names = [
        name
        for name in adversarial.column_names
        if name.startswith("attractor") or name == "distance"
    ]
    return {
        name: tuple(
            dict.fromkeys(value for item in adversarial.items if (value := item.column(name)))
        )
        for name in names
    }


def _shared(short: Sequence[str], long: Sequence[str]) -> int:
    """How many words both begin with."""
    pairs = zip(short, long, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), len(short))


def _words(condition: Condition) -> list[str]:
    return " ".join(region.text for region in condition.regions if region.text).split()


def _folded(name: str) -> str:
    return re.sub(r"[-_ ]+", "-", name).strip("-").casefold()

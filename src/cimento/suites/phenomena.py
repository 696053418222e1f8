"""Phenomena in one list over all registered sets: what each set's own labels measure.

Decisions and their sources are in ``phenomena.toml``. Sets with one label for many phenomena, and
sentences that are not sorted, have no phenomenon, for a reason that is also given there.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as field_
from fnmatch import fnmatchcase
from importlib import resources

_FILE = "phenomena.toml"
_PATTERN = "*"
"""The mark of labels that stand for others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a label of a set measures.

    Attributes:
        phenomenon: its name in `phenomena`; None for labels of no phenomenon in that list.
        reason: why it has none, or why it has this one where the set itself uses another word;
            empty where the set says so itself.
        source: where the set's labels come from.
    """

    phenomenon: str | None
    reason: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetLabels:
    """The labels of a set, by phenomenon.

    Attributes:
        source: where they come from.
        field: the column of its items that has the label; empty where it is the suite's name.
        labels: its finest labels; ``*`` in one stands for any text.
        categories: labels of groups of these, where a group is of one phenomenon.
        none: labels of no phenomenon, by the reason.
        own: reasons for phenomena that the set itself calls otherwise, or not at all.
    """

    source: str
    field: str = ""
    labels: Mapping[str, tuple[str, ...]] = field_(default_factory=dict)
    categories: Mapping[str, tuple[str, ...]] = field_(default_factory=dict)
    none: Mapping[str, tuple[str, ...]] = field_(default_factory=dict)
    own: Mapping[str, str] = field_(default_factory=dict)

    def decisions(self) -> dict[str, Decision]:
        """The decision on each label, those of the finest labels before those of groups."""
        made: dict[str, Decision] = {}
        for by_phenomenon in (self.labels, self.categories):
            for phenomenon, labels in by_phenomenon.items():
                because = self.own.get(phenomenon, "")
                for label in labels:
                    made.setdefault(
                        label, Decision(phenomenon=phenomenon, reason=because, source=self.source)
                    )
        for reason, labels in self.none.items():
            for label in labels:
                made.setdefault(label, Decision(phenomenon=None, reason=reason, source=self.source))
        return made


@functools.cache
def _table() -> tuple[Mapping[str, str], Mapping[str, SetLabels]]:
    text = (resources.files("cimento") / "data" / _FILE).read_text(encoding="utf-8")
    read = tomllib.loads(text)
    return read["phenomena"], {name: SetLabels(**entry) for name, entry in read["sets"].items()}


def phenomena() -> Mapping[str, str]:
    """The names of all phenomena, and what each is about, in the order of their names."""
    return _table()[0]


def labels_of_sets() -> Mapping[str, SetLabels]:
    """The labels of each registered set, by its name."""
    return _table()[1]


@functools.cache
def _decisions(suite: str) -> Mapping[str, Decision]:
    found = labels_of_sets().get(suite)
    return {} if found is None else found.decisions()


def decision_on(*, suite: str, label: str) -> Decision | None:
    """What a label of a registered set measures, and why.

    Args:
        suite: the name of the set in the registry.
        label: the set's own name of a paradigm, a category or a test suite.

    Returns:
        The decision on this very label; else that on a pattern that it fits; None where the set or
        the label is unknown.
    """
    decisions = _decisions(suite)
    if label in decisions:
        return decisions[label]
    patterns = (known for known in decisions if _PATTERN in known)
    return next((decisions[known] for known in patterns if fnmatchcase(label, known)), None)


def phenomenon_of(*, suite: str, label: str) -> str | None:
    """The phenomenon that a label of a registered set measures.

    Args:
        suite: the name of the set in the registry.
        label: the set's own name of a paradigm, a category or a test suite.

    Returns:
        A name in `phenomena`; None where there is none, see `decision_on`.
    """
    decision = decision_on(suite=suite, label=label)
    return None if decision is None else decision.phenomenon

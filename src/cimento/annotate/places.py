"""What suites ask people, for answers that name it by an id or by its text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from cimento.api import load_suites
from cimento.people.judgments.mapping import AskedItem, AskedItems
from cimento.people.judgments.records import BETTER

Named: TypeAlias = tuple[AskedItem, list[str]]


def places_of(suites: Sequence[Path]) -> AskedItems:
    """The questions of suites, by every name that an answer may have for them.

    Args:
        suites: folders or files.

    Raises:
        CimentoError: one cannot be read, or people are not asked about such suites.
    """
    return AskedItems(named for path in suites for named in _named(path))


def _named(path: Path) -> Iterator[Named]:
    for loaded in load_suites(path):
        suite = loaded.suite.name
        asked = loaded.paradigm.survey_items(loaded.suite, None).items
        for item in asked:
            both = f"{item.item}/{item.condition}"
            with_condition = [both, both.replace("/", " ")] if item.condition else []
            names = [item.item, *with_condition, item.text, *item.names]
            yield AskedItem(suite, item.item, item.condition, item.text), names
        for name, count in Counter(item.item for item in asked).items():
            if count > 1:
                yield AskedItem(suite, name, "", ""), [f"{name}/{BETTER}"]

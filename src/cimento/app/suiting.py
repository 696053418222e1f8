"""A survey about a test as it is if nothing is chosen: task, language, and who sees what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cimento.errors import CimentoError
from cimento.io.values import grouped
from cimento.kinds.base import SurveyTask
from cimento.kinds.paradigm import surveyor_of
from cimento.people.surveys.material import languages, load_material
from cimento.suites import BAD, GOOD
from cimento.suites.languages import language_code

RATED_ONE_BY_ONE: SurveyTask = "likert"
"""The usual task for sentences; pairs can be rated too, but choosing is what suits them."""


@dataclass(frozen=True, slots=True)
class Suited:
    """What suits a test, as far as it can be asked about.

    Attributes:
        task: what people do.
        language: of the instructions; empty where the test does not say its own, or there are no
            instructions in it.
        is_each_alone: whether each of its sentences is an item of its own, so that everybody sees
            all of them.
        sizes: number of the conditions of each item, by its name, where people see one of them.
    """

    task: SurveyTask
    language: str
    is_each_alone: bool
    sizes: Mapping[str, int] = field(default_factory=dict)


def suited_to(path: Path) -> Suited | None:
    """What suits a test; None for one that people cannot be asked about."""
    try:
        loaded = load_material(path)
        asked = surveyor_of(loaded.paradigm, loaded.suite).survey_items(loaded.suite, None)
    except CimentoError:  # which is said when the survey is made
        return None
    language = language_code(loaded.suite.meta.language)
    items = grouped((one.apart or one.item, one.condition) for one in asked.items)
    # Pairs that people have rated already are rated again.
    are_pairs = loaded.paradigm.name == "regions" and all(
        sorted(of_one) == [BAD, GOOD] for of_one in items.values()
    )
    return Suited(
        task="choice" if are_pairs else asked.task,
        language=language if language in languages() else "",
        is_each_alone=asked.task == RATED_ONE_BY_ONE
        and all(len(of_one) == 1 for of_one in items.values()),
        sizes={name: len(of_one) for name, of_one in items.items()},
    )


def seen_by_each(sizes: Sequence[int], lists: int | None) -> tuple[int, int, int]:
    """How many sentences a participant sees, who sees one condition of an item at most.

    Args:
        sizes: number of the conditions of each item.
        lists: into which they are dealt; None for as few as possible.

    Returns:
        The number of lists, and of sentences in the shortest and the longest of them.
    """
    count = max(lists or 0, *sizes)
    shortest, rest = divmod(sum(sizes), count)
    return count, shortest, shortest + bool(rest)

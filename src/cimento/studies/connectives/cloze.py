"""The cloze section: blanks with options, which option people chose, and a model's completions.

Tables 3 and 5 of Albertin, Miaschi and Brunato 2021 (ceur-ws.org/Vol-3033). The files are
described in docs/ratings.md.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from cimento.errors import InputError
from cimento.intake.reading import TableReading
from cimento.intake.table import Table
from cimento.intake.tables import open_table
from cimento.judgments import NONE
from cimento.paradigms.cloze.connectives import (
    CHOICES,
    connective_items,
    people_choices,
    suite_of_connectives,
)
from cimento.paradigms.cloze.people import (
    CHOICES_FILE,
    UNANSWERED,
    Choices,
    first_match,
    majority,
    top_class,
)
from cimento.paradigms.cloze.requests import Candidate
from cimento.statistics.design import Design
from cimento.statistics.intervals import Interval, share_interval
from cimento.suites.cells import Cells, need_columns, text_of
from cimento.suites.cloze import ClozeItem, ClozeSuite, cluster_of, expand_suite
from cimento.suites.letters import folded_text

COMPLETION_COLUMNS = ("id", "rank", "completion")
TARGET, PLAUSIBLE, IMPLAUSIBLE = "target", "plausible", "implausible"
TIED = "target = plausible"
OTHER_TIE = "another tie"
NO_OPTION = "no option"
NOT_ANSWERED = "without answers"
BOTH, NEITHER = "target and plausible", "neither"
UNREACHABLE = "target of several tokens"
"""One mask cannot give such a target; that it is not found says nothing about the model."""

_CLASSES: Mapping[str, str] = {
    TARGET: TARGET, PLAUSIBLE: PLAUSIBLE, IMPLAUSIBLE: IMPLAUSIBLE, TIED: TIED,
    f"{PLAUSIBLE} = {TARGET}": TIED, NONE: NO_OPTION, UNANSWERED: NOT_ANSWERED,
}  # fmt: skip


@dataclass(frozen=True)
class ClozeSection:
    """The cloze section of the resource, or of a suite like it.

    Attributes:
        suite: items with one target, one plausible option and some implausible ones.
        choices: id of an item to how many people chose each option, or `NONE`.
        completions: id of an item to a model's completions; empty where there is no file of them.
        read: what the tables were read as; None for a folder of a suite.
    """

    suite: ClozeSuite
    choices: Mapping[str, Choices] = field(default_factory=dict)
    completions: Mapping[str, Sequence[Candidate]] = field(default_factory=dict)
    read: TableReading | None = None

    @cached_property
    def items(self) -> tuple[ClozeItem, ...]:
        """The items, in order."""
        return expand_suite(self.suite).items


@dataclass(frozen=True, slots=True)
class ClassCount:
    """The items of one class among some items.

    Attributes:
        name: of the class.
        held: whether each item is in it.
        design: of the items.
    """

    name: str
    held: Sequence[bool]
    design: Design

    @property
    def count(self) -> int:
        """How many items are in it."""
        return sum(self.held)

    @property
    def percent(self) -> float | None:
        """Their share in percent; None of nothing."""
        return 100 * self.count / len(self.held) if self.held else None

    @property
    def interval(self) -> Interval:
        """The interval of their share, in percent."""
        share = share_interval(self.held, self.design)
        low, high = (None if end is None else 100 * end for end in (share.low, share.high))
        return replace(share, low=low, high=high)


def _class_counts(
    classes: Mapping[str, str], usual: Sequence[str], suite: ClozeSuite, *, more: Sequence[str] = ()
) -> list[ClassCount]:
    """How many items are of each class.

    Args:
        classes: id of an item to its class.
        usual: classes that are always named.
        suite: of the items; its clusters belong together.
        more: classes that are named where there are some.
    """
    items = {item.id: item for item in expand_suite(suite).items}
    clusters = {name: cluster_of(items[name], suite.cluster) for name in classes}
    design = Design.of(classes, clusters)
    present = set(classes.values())
    names = [*usual, *(name for name in more if name in present)]
    return [ClassCount(name, [kind == name for kind in classes.values()], design) for name in names]


def choice_counts(suite: ClozeSuite, roles: Mapping[str, str]) -> list[ClassCount]:
    """How many items the target was chosen for, the plausible option, and so on.

    Args:
        suite: of the items.
        roles: id of an item to the roles of what was chosen, as `majority` names them.
    """
    classes = {item: _CLASSES.get(role, OTHER_TIE) for item, role in roles.items()}
    usual = (TARGET, PLAUSIBLE, IMPLAUSIBLE, TIED)
    return _class_counts(classes, usual, suite, more=(OTHER_TIE, NO_OPTION, NOT_ANSWERED))


def chosen_by_people(section: ClozeSection) -> dict[str, str]:
    """Id of each item to the roles of the option that most people chose; see `majority`."""
    return {
        item.id: majority(item, section.choices.get(item.id, {})).name for item in section.items
    }


def table_5(
    suite: ClozeSuite,
    completions: Mapping[str, Sequence[Candidate]],
    *,
    k: int = 10,
    unreachable: Collection[str] = (),
) -> tuple[list[ClassCount], list[ClassCount]]:
    """How many items have the target and the plausible option among the first k completions.

    Args:
        suite: of the items.
        completions: id of an item to its completions; items without any are left out.
        k: how many completions are looked at.
        unreachable: ids of items whose target the completions cannot hold.

    Returns:
        The classes of the first k; and how often each of the two comes first.

    Raises:
        InputError: an item has fewer than k completions.
    """
    asked = [item for item in expand_suite(suite).items if completions.get(item.id)]
    short = next((item.id for item in asked if len(completions[item.id]) < k), None)
    if short is not None:
        raise InputError(
            where=f"completions of {short!r}",
            seen=f"there are {len(completions[short])} of {k}",
            todo="Give as many to every item.",
        )
    names = {"both": BOTH, "other": NEITHER}
    ten, first = {}, {}
    for item in asked:
        some = completions[item.id]
        top = top_class(item, some, k)
        missed = item.id in unreachable and top not in {"target", "both"}
        ten[item.id] = UNREACHABLE if missed else names.get(top, top)
        first[item.id] = first_match(item, some)
    return (
        _class_counts(ten, (TARGET, PLAUSIBLE, BOTH, NEITHER), suite, more=(UNREACHABLE,)),
        _class_counts(first, (TARGET, PLAUSIBLE), suite),
    )


def read_cloze_section(
    place: Path | Table, completions: Path | Table | None = None
) -> ClozeSection:
    """A cloze section, with a model's completions where there is a file of them.

    Args:
        place: a table or its file, or the folder of a cloze suite, which may hold ``choices.tsv``
            or a column `choices`.
        completions: table of a model's completions.

    Raises:
        InputError: a file cannot be read, an option is there twice, a choice is not an option, or a
            completion belongs to no item.
        SuiteError: a folder holds no cloze suite.
    """
    if isinstance(place, Path) and place.is_dir():
        section = _of_suite(place)
    else:
        items, read = connective_items(_opened(place))
        suite = suite_of_connectives("cloze", items)
        choices = {item.id: counts for item, counts in items}
        section = ClozeSection(suite, choices, read=read)
    if completions is None:
        return section
    table = _opened(completions)
    ranked = _read_completions(table)
    unknown = sorted(ranked.keys() - {item.id for item in section.items})
    if unknown:
        raise InputError(
            where=table.name,
            seen=f"there is no cloze item {unknown[0]!r}",
            todo="Use the ids of the cloze file.",
        )
    return replace(section, completions=ranked)


def _opened(place: Path | Table) -> Table:
    return open_table(place) if isinstance(place, Path) else place


def _of_suite(path: Path) -> ClozeSection:
    from cimento.paradigms.cloze.files import load_cloze
    from cimento.paradigms.cloze.people import read_option_counts

    section = ClozeSection(load_cloze(path))
    for item in section.items:
        roles = Counter(option.role for option in item.options)
        if (roles["target"], roles["plausible"]) != (1, 1):
            raise InputError(
                where=f"{path.name}, item {item.id}",
                seen="it has not one target and one plausible option",
                todo="Tables 3 and 5 are of items such as `cimento corpus finish` makes.",
            )
    file = path / CHOICES_FILE
    if not file.is_file():
        return replace(section, choices=_of_columns(section.items, path.name))
    counts = read_option_counts(file, section.items)
    items = {item.id: item for item in section.items}
    choices = {name: _by_option(items[name], count) for name, count in counts.items()}
    return ClozeSection(section.suite, choices)


def _of_columns(items: Sequence[ClozeItem], suite: str) -> dict[str, Counter[str]]:
    """What people chose, as the items of a converted table say; a free column may say others."""
    if not any("=" in item.columns.get(CHOICES, "") for item in items):
        return {}
    return {item.id: people_choices(item, where=f"{suite}, item {item.id}") for item in items}


def _by_option(item: ClozeItem, counts: Choices) -> Counter[str]:
    """How many people chose each option, whichever of its spellings a table has."""
    texts = {folded_text(text): option.text for option in item.options for text in option.spellings}
    answers: Counter[str] = Counter()
    for text, count in counts.items():
        answers[texts.get(folded_text(text), text)] += count
    return answers


def _read_completions(table: Table) -> dict[str, list[Candidate]]:
    need_columns(table, COMPLETION_COLUMNS)
    by_item: dict[str, dict[int, str]] = {}
    for row in table.rows:
        item, rank = text_of(row, "id"), Cells.of(table, row).whole("rank")
        ranks = by_item.setdefault(item, {})
        if not rank or rank in ranks:
            raise InputError(
                where=table.where(row),
                seen=f"the rank of a completion of {item!r} is {rank}",
                todo="Number the completions of an item from 1, each once.",
            )
        ranks[rank] = unicodedata.normalize("NFC", text_of(row, "completion"))
    for item, ranks in by_item.items():
        if sorted(ranks) != list(range(1, len(ranks) + 1)):
            raise InputError(
                where=table.name,
                seen=f"a rank is missing among the completions of {item!r}",
                todo="Number them from 1 without a gap.",
            )
    return {
        item: [Candidate(item, rank, ranks[rank]) for rank in sorted(ranks)]
        for item, ranks in by_item.items()
    }

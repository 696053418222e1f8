"""The cloze section: which option people choose, and where a model's completions have it.

Tables 3 and 5 of Albertin, Miaschi and Brunato 2021 (ceur-ws.org/Vol-3033). The files are
described in docs/acceptability.md.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cimento.errors import InputError
from cimento.io.parsing import whole_number
from cimento.paradigms.cloze.suite import ROLES
from cimento.paradigms.ratings.cells import count_of, need_columns, text_of
from cimento.paradigms.ratings.formats import parse_id
from cimento.suites.tables import Row, Table, open_table

NONE = "none"
"""How people say that no option is suitable."""

COLUMNS = ("id", "sentence", "target", "plausible", "implausible")
COMPLETION_COLUMNS = ("id", "rank", "completion")

TARGET, PLAUSIBLE, IMPLAUSIBLE = "target", "plausible", "implausible"
TIED = "target = plausible"
OTHER_TIE = "another tie"
NO_OPTION = "no option"
UNANSWERED = "without answers"
BOTH, NEITHER = "target and plausible", "neither"
UNREACHABLE = "target of several tokens"
"""One mask cannot give such a target; that it is not found says nothing about the model."""

_VARIANTS = {
    "ed": "e", "od": "o", "dov'": "dove", "anch'": "anche", "com'": "come", "quand'": "quando",
    "perchè": "perché", "perche'": "perché", "però'": "però", "pero'": "però",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ClozeItem:
    """A sentence with a blank, what may fill it, and what people chose.

    Attributes:
        id: such as ``se 23cl``.
        sentence: the blank is `` ... ``.
        target: the connective of the original sentence.
        plausible: another one that fits.
        implausible: those that do not.
        choices: how many people chose each option, `NONE` among them.
        completions: a model's, the most probable first; empty where none were given.
        unreachable: those of target and plausible that are several tokens of the model.
    """

    id: str
    sentence: str
    target: str
    plausible: str
    implausible: tuple[str, ...]
    choices: Mapping[str, int]
    completions: tuple[str, ...] = ()
    unreachable: frozenset[str] = frozenset()

    @property
    def options(self) -> tuple[str, ...]:
        """What people could choose from."""
        return (self.target, self.plausible, *self.implausible, NONE)


@dataclass(frozen=True, slots=True)
class Counted:
    """How many items are of a class, and of how many."""

    name: str
    count: int
    total: int

    @property
    def percent(self) -> float | None:
        """Their share in per cent; None of nothing."""
        return 100 * self.count / self.total if self.total else None


def read_cloze(path: Path, completions: Path | None = None) -> tuple[ClozeItem, ...]:
    """The items of a cloze section, with a model's completions where there is a file of them.

    Args:
        path: a table, or a folder of a cloze suite with ``choices.tsv`` in it.
        completions: table of a model's completions.

    Raises:
        InputError: a file cannot be read, an option is there twice, a choice is no option, or a
            completion belongs to no item.
    """
    found = _read_completions(completions) if completions else {}
    if path.is_dir():
        items = tuple(_of_suite(path, found))
    else:
        table = open_table(path)
        need_columns(table, COLUMNS)
        items = tuple(_item(table, row, found) for row in table.rows)
    ids = Counter(item.id for item in items)
    twice = next((each for each, times in ids.items() if times > 1), None)
    if twice is not None:
        raise InputError(
            where=path.name, seen=f"the id {twice!r} is there twice", todo="Give each its own."
        )
    unknown = sorted(found.keys() - ids.keys())
    if unknown and completions:
        raise InputError(
            where=completions.name,
            seen=f"there is no cloze item {unknown[0]!r}",
            todo="Use the ids of the cloze file.",
        )
    return items


def _of_suite(path: Path, completions: Mapping[str, Mapping[int, str]]) -> Iterator[ClozeItem]:
    """The items of a cloze suite and how many people chose each of their options."""
    from cimento.paradigms.cloze.checks import load_cloze
    from cimento.paradigms.cloze.people import read_option_counts

    suite = load_cloze(path)
    choices = path / "choices.tsv"
    people = read_option_counts(choices, suite.items) if choices.is_file() else {}
    for item in suite.items:
        by_role = {
            role: [each.text for each in item.options if each.role == role] for role in ROLES
        }
        if len(by_role["target"]) != 1 or len(by_role["plausible"]) != 1:
            raise InputError(
                where=f"{path.name}, item {item.id}",
                seen="it has not one target and one plausible option",
                todo="Tables 3 and 5 are of items such as `cimento corpus finish` makes.",
            )
        counted: Counter[str] = Counter()
        for option, count in people.get(item.id, {}).items():
            counted[fold(option)] += count
        ranked = completions.get(item.id, {})
        yield ClozeItem(
            id=item.id,
            sentence=f"{item.before.rstrip()} ... {item.after.lstrip()}".strip(),
            target=fold(by_role["target"][0]),
            plausible=fold(by_role["plausible"][0]),
            implausible=tuple(map(fold, by_role["implausible"])),
            choices=counted,
            completions=tuple(ranked[rank] for rank in sorted(ranked)),
        )


def fold(word: str) -> str:
    """A word without what does not count: capitals, accents written apart, euphonic spellings."""
    plain = unicodedata.normalize("NFC", word).strip().lower().replace("’", "'")
    return _VARIANTS.get(plain, plain)


def preference(item: ClozeItem) -> str:
    """The class of what most people chose; options compete one by one."""
    most = max(item.choices.values(), default=0)
    if most == 0:
        return UNANSWERED
    first = {option for option, count in item.choices.items() if count == most}
    if first == {item.target, item.plausible}:
        return TIED
    if len(first) > 1:
        return OTHER_TIE
    (option,) = first
    classes = {item.target: TARGET, item.plausible: PLAUSIBLE, NONE: NO_OPTION}
    return classes.get(option, IMPLAUSIBLE)


def rank_of(item: ClozeItem, option: str) -> int | None:
    """The place of an option among a model's completions, from 1; None where it is not there."""
    wanted = fold(option)
    return next(
        (rank for rank, each in enumerate(item.completions, start=1) if fold(each) == wanted), None
    )


def table_3(items: Sequence[ClozeItem]) -> list[Counted]:
    """How many items most people chose the target for, the plausible option, and so on."""
    counts = Counter(map(preference, items))
    total = len(items)
    usual = (TARGET, PLAUSIBLE, IMPLAUSIBLE, TIED)
    others = [name for name in (OTHER_TIE, NO_OPTION, UNANSWERED) if counts[name]]
    return [Counted(name, counts[name], total) for name in (*usual, *others)]


def table_5(items: Sequence[ClozeItem], *, k: int = 10) -> tuple[list[Counted], list[Counted]]:
    """How many items have the target and the plausible option among the first k completions.

    Args:
        items: those without completions are left out of both lists and their totals.
        k: how many completions are looked at.

    Returns:
        The classes of the first k; and how often each of the two comes first.

    Raises:
        InputError: an item has fewer than k completions.
    """
    asked = [item for item in items if item.completions]
    short = next((item for item in asked if len(item.completions) < k), None)
    if short is not None:
        raise InputError(
            where=f"completions of {short.id!r}",
            seen=f"there are {len(short.completions)} of {k}",
            todo="Give as many to every item.",
        )
    counts = Counter(_found(item, k) for item in asked)
    total = len(asked)
    usual = (TARGET, PLAUSIBLE, BOTH, NEITHER)
    others = [UNREACHABLE] if counts[UNREACHABLE] else []
    ten = [Counted(name, counts[name], total) for name in (*usual, *others)]
    first = [
        Counted(TARGET, sum(rank_of(item, item.target) == 1 for item in asked), total),
        Counted(PLAUSIBLE, sum(rank_of(item, item.plausible) == 1 for item in asked), total),
    ]
    return ten, first


def _found(item: ClozeItem, k: int) -> str:
    ranks = (rank_of(item, item.target), rank_of(item, item.plausible))
    has_target, has_plausible = (rank is not None and rank <= k for rank in ranks)
    if has_target and has_plausible:
        return BOTH
    if has_target:
        return TARGET
    if item.target in item.unreachable:
        return UNREACHABLE
    return PLAUSIBLE if has_plausible else NEITHER


def _item(table: Table, row: Row, completions: Mapping[str, Mapping[int, str]]) -> ClozeItem:
    text = text_of(row, "id")
    found = parse_id(text)
    if found is None or found.kind != "cl":
        raise InputError(
            where=table.where(row),
            seen=f"the id is {text!r}",
            todo="It ends in the connective, a number and cl, such as 'se 23cl'.",
        )
    target, plausible = (fold(text_of(row, name)) for name in ("target", "plausible"))
    implausible = tuple(map(fold, _list(text_of(row, "implausible"))))
    options = (target, plausible, *implausible)
    if len(set(options)) < len(options) or "" in options:
        raise InputError(
            where=table.where(row),
            seen=f"the options are {', '.join(options)}",
            todo="Give each option once.",
        )
    choices = _choices(table, row, {*options, NONE})
    ranked = completions.get(text, {})
    return ClozeItem(
        id=text,
        sentence=text_of(row, "sentence"),
        target=target,
        plausible=plausible,
        implausible=implausible,
        choices=choices,
        completions=tuple(ranked[rank] for rank in sorted(ranked)),
    )


def _choices(table: Table, row: Row, options: set[str]) -> dict[str, int]:
    """``se=18, none=2`` as a mapping."""
    found: dict[str, int] = {}
    for part in _list(text_of(row, "choices")):
        option, equals, count = part.partition("=")
        name = fold(option)
        number = whole_number(count.strip())
        if not equals or number is None or name not in options or name in found:
            raise InputError(
                where=table.where(row),
                seen=f"choices has {part!r}",
                todo=f"Write OPTION=NUMBER with each of {', '.join(sorted(options))} once at most.",
            )
        found[name] = number
    return found


def _list(text: str) -> list[str]:
    return [part.strip() for part in re.split(r"[,;]", text) if part.strip()]


def _read_completions(path: Path) -> dict[str, dict[int, str]]:
    table = open_table(path)
    need_columns(table, COMPLETION_COLUMNS)
    found: dict[str, dict[int, str]] = {}
    for row in table.rows:
        item, rank = text_of(row, "id"), count_of(table, row, "rank")
        ranks = found.setdefault(item, {})
        if not rank or rank in ranks:
            raise InputError(
                where=table.where(row),
                seen=f"the rank of a completion of {item!r} is {rank}",
                todo="Number the completions of an item from 1, each once.",
            )
        ranks[rank] = text_of(row, "completion")
    for item, ranks in found.items():
        if sorted(ranks) != list(range(1, len(ranks) + 1)):
            raise InputError(
                where=table.name,
                seen=f"a rank is missing among the completions of {item!r}",
                todo="Number them from 1 without a gap.",
            )
    return found

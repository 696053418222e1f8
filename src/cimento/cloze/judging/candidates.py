"""A candidate for a blank, and what is known and said about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from cimento.errors import InputError


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that a model put into the blank of an item.

    Attributes:
        item: id of the item.
        rank: from 1, the most probable first.
        text: as the model's tokenizer writes it, ``##s`` and ``[UNK]`` included.
        probability: at the blank; None where a recording has only ranks.
        fits: whether it fits in the blank; None where nobody has judged it.
        remarks: what was said of it beside that.
        tags: its readings in a dictionary, as the dictionary writes them.
    """

    item: str
    rank: int
    text: str
    probability: float | None = None
    fits: bool | None = None
    remarks: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


def by_item(candidates: Iterable[Candidate]) -> dict[str, list[Candidate]]:
    """The candidates of each item by rank, items in order of first appearance."""
    found: dict[str, list[Candidate]] = {}
    for each in candidates:
        found.setdefault(each.item, []).append(each)
    return {item: sorted(group, key=lambda each: each.rank) for item, group in found.items()}


def check_candidates(
    candidates: Iterable[Candidate], *, items: Sequence[str] | None = None, k: int | None = None
) -> tuple[str, ...]:
    """See that candidates can be judged, and say what is missing from them.

    Args:
        candidates: of any items, in any order.
        items: ids of the items that there should be; None where any will do.
        k: how many candidates an item should have; None where it may be any number.

    Returns:
        Warnings: items with fewer than `k` candidates, items with none, and candidates that
        nobody has judged, each with their number.

    Raises:
        InputError: two candidates of an item have one rank, a rank is below 1, or a candidate
            belongs to an item that does not exist.
    """
    groups = by_item(candidates)
    for item, group in groups.items():
        _refuse_ranks(item, [each.rank for each in group])
    if items is not None:
        _refuse_unknown(groups, items)
    warnings = [] if items is None else _without(items, groups)
    if k is not None:
        warnings += _too_few(groups, k)
    return (*warnings, *unjudged_warning([each for group in groups.values() for each in group]))


def unjudged_warning(candidates: Sequence[Candidate]) -> tuple[str, ...]:
    """A warning that counts the candidates nobody has judged; none where all or no one is."""
    missing = [each for each in candidates if each.fits is None]
    if not missing or len(missing) == len(candidates):
        return ()
    first = missing[0]
    told = (
        f"{_count(len(missing), 'candidate')} of {len(candidates)} not judged, and left out of "
        f"every share; the first is {first.text!r} (item {first.item!r}, rank {first.rank})."
    )
    return (told,)


def _refuse_ranks(item: str, ranks: Sequence[int]) -> None:
    if ranks[0] < 1:
        raise InputError(
            where=f"item {item!r}", seen=f"a rank is {ranks[0]}", todo="Count ranks from 1."
        )
    for rank, following in pairwise(ranks):
        if rank == following:
            raise InputError(
                where=f"item {item!r}",
                seen=f"two candidates have rank {rank}",
                todo="Give each candidate of an item a rank of its own.",
            )


def _refuse_unknown(groups: Mapping[str, object], items: Sequence[str]) -> None:
    known = set(items)
    unknown = next((item for item in groups if item not in known), None)
    if unknown is not None:
        raise InputError(
            where="candidates",
            seen=f"there is no item {unknown!r}",
            todo="Do the candidates belong to another suite, or to another version of it?",
        )


def _without(items: Sequence[str], groups: Mapping[str, object]) -> list[str]:
    empty = [item for item in items if item not in groups]
    if not empty:
        return []
    return [f"{_count(len(empty), 'item')} without candidates; the first is {empty[0]!r}."]


def _too_few(groups: Mapping[str, Sequence[Candidate]], k: int) -> list[str]:
    short = [item for item, group in groups.items() if len(group) < k]
    if not short:
        return []
    told = (
        f"{_count(len(short), 'item')} with fewer than {k} candidates; the first is {short[0]!r} "
        f"with {len(groups[short[0]])}."
    )
    return [told]


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")

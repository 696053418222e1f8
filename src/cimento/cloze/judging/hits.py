"""Whether a model hits the word that was there: acc@k, curves, and models compared.

A hit at k is an item for which one of the first k candidates is one of the item's targets,
capitals aside. Where a candidate is one entry of the model's vocabulary, a target of several
pieces cannot be hit at all, and should be counted apart.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

from cimento.cloze.judging.candidates import Candidate, by_item
from cimento.cloze.judging.precision import Key, Share
from cimento.cloze.records import ClozeItem
from cimento.errors import UsageError

if TYPE_CHECKING:
    from cimento.statistics.design import Design
    from cimento.statistics.differences import Difference
    from cimento.statistics.values import Significance

Ranks = Mapping[str, int | None]
"""Id of an item to the rank at which its target was hit; None where it was not."""


def same_word(candidate: str, target: str) -> bool:
    """Whether a candidate is a target: equal once both are in small letters."""
    return candidate.lower() == target.lower()


def hit_ranks(
    items: Iterable[ClozeItem],
    candidates: Iterable[Candidate],
    *,
    same: Callable[[str, str], bool] = same_word,
) -> dict[str, int | None]:
    """The rank of the first candidate that is a target, for each item.

    Args:
        items: with targets.
        candidates: of these items; an item without any is not hit.
        same: whether a candidate and a target are the same.

    Raises:
        UsageError: an item has no target.
    """
    groups = by_item(candidates)
    found: dict[str, int | None] = {}
    for item in items:
        targets = item.targets
        if not targets:
            raise UsageError(
                where=f"item {item.id!r}",
                seen="it has no target to be hit",
                todo="Judge its candidates by people or by rules instead.",
            )
        ranks = (
            each.rank
            for each in groups.get(item.id, [])
            if any(same(each.text, target) for target in targets)
        )
        found[item.id] = next(ranks, None)
    return found


def accuracy_at(ranks: Ranks, k: int) -> Share:
    """acc@k: the share of items whose target is among the first k candidates."""
    return Share(sum(is_hit(rank, k) for rank in ranks.values()), len(ranks))


def curve(ranks: Ranks, k: int) -> tuple[Share, ...]:
    """acc@1 to acc@k."""
    return tuple(accuracy_at(ranks, each) for each in range(1, k + 1))


def is_hit(rank: int | None, k: int) -> bool:
    """Whether a rank is among the first k."""
    return rank is not None and rank <= k


def grouped(ranks: Ranks, key: Mapping[str, Key]) -> dict[Key, dict[str, int | None]]:
    """The ranks of each group of items, groups in order of first appearance.

    Args:
        ranks: of items.
        key: id of an item to its group; items without one are left out.
    """
    found: dict[Key, dict[str, int | None]] = {}
    for item, rank in ranks.items():
        if item in key:
            found.setdefault(key[item], {})[item] = rank
    return found


def hit_by_only(first: Ranks, second: Ranks, k: int) -> tuple[str, ...]:
    """The items that the first model hits at k and the second does not."""
    return tuple(
        item for item, rank in first.items() if is_hit(rank, k) and not is_hit(second[item], k)
    )


def groups_better(first: Ranks, second: Ranks, key: Mapping[str, Key], k: int) -> tuple[Key, ...]:
    """The groups (expressions, say) in which the first model has more hits at k than the second."""
    ours, theirs = grouped(first, key), grouped(second, key)
    return tuple(
        group
        for group in ours
        if accuracy_at(ours[group], k).correct > accuracy_at(theirs[group], k).correct
    )


def groups_hit_by_none(models: Iterable[Ranks], key: Mapping[str, Key], k: int) -> tuple[Key, ...]:
    """The groups of which no model hits a single item at k."""
    each = [grouped(ranks, key) for ranks in models]
    return tuple(
        group
        for group in (each[0] if each else {})
        if all(accuracy_at(found[group], k).correct == 0 for found in each)
    )


@dataclass(frozen=True, slots=True)
class PairedHits:
    """Two models on the same items, compared at k.

    Attributes:
        first: name of a model.
        second: name of the other.
        k: rank up to which a hit counts.
        only_first: items that only the first hits.
        only_second: items that only the second hits.
        n: all items.
        change: second minus first, with its interval.
        test: McNemar's exact test, or t over clusters (`statistics.paired.share_test`).
        holm: its p, corrected over all tests made together; None where it is the only one.
    """

    first: str
    second: str
    k: int
    only_first: int
    only_second: int
    n: int
    change: Difference
    test: Significance
    holm: float | None = None


def compare_pairs(
    models: Mapping[str, Ranks], *ks: int, clusters: Mapping[str, Hashable] | None = None
) -> tuple[PairedHits, ...]:
    """Every pair of models compared at one rank or more, with Holm's correction over all tests.

    Args:
        models: name to ranks.
        ks: ranks up to which a hit counts.
        clusters: item to what it belongs to; None where each stands alone.

    Raises:
        UsageError: the models did not answer the same items.
    """
    from cimento.statistics.design import Design
    from cimento.statistics.multiple import holm

    items = _same_items(models)
    design = Design.of(items, clusters)
    found = [
        _pair(names, [_hits(models[name], items, k) for name in names], k, design)
        for k in ks
        for names in combinations(models, 2)
    ]
    if len(found) == 1:
        return tuple(found)
    corrected = holm([pair.test.p for pair in found])
    return tuple(replace(pair, holm=p) for pair, p in zip(found, corrected, strict=True))


def _pair(
    names: tuple[str, str], columns: Sequence[Sequence[bool]], k: int, design: Design
) -> PairedHits:
    from cimento.statistics.differences import discordant, share_difference, share_test

    first, second = columns
    only_first, only_second = discordant(first, second)
    return PairedHits(
        *names,
        k,
        only_first,
        only_second,
        n=design.n,
        change=share_difference(second, first, design),
        test=share_test(second, first, design),
    )


def compare_all(
    models: Mapping[str, Ranks],
    k: int,
    *,
    clusters: Mapping[str, Hashable] | None = None,
    seed: int = 0,
) -> Significance:
    """Cochran's Q: whether all models hit the same share of the items at k.

    Args:
        models: name to ranks.
        k: rank up to which a hit counts.
        clusters: item to what it belongs to; None where each stands alone.
        seed: of the permutations that clusters need.

    Raises:
        UsageError: there are fewer than two models, or they did not answer the same items.
    """
    from cimento.statistics.design import Design
    from cimento.statistics.differences import cochran_q

    items = _same_items(models)
    columns = [_hits(ranks, items, k) for ranks in models.values()]
    return cochran_q(list(zip(*columns, strict=True)), Design.of(items, clusters), seed=seed)


def _hits(ranks: Ranks, items: Sequence[str], k: int) -> list[bool]:
    return [is_hit(ranks[item], k) for item in items]


def _same_items(models: Mapping[str, Ranks]) -> list[str]:
    """The items that all models answered.

    Raises:
        UsageError: one answered others.
    """
    names: Sequence[str] = list(models)
    for name in names[1:]:
        if models[name].keys() != models[names[0]].keys():
            raise UsageError(
                where=f"models {names[0]!r} and {name!r}",
                seen="they did not answer the same items",
                todo="Compare them on the items that both have.",
            )
    return list(models[names[0]]) if names else []

"""Models compared on the hits of one suite, pair by pair and all together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cimento.cloze.judging.hits import PairedHits, Ranks, compare_all, compare_pairs
from cimento.cloze.outcomes import ClozeSummary
from cimento.statistics.values import Significance

if TYPE_CHECKING:
    from cimento.suites.model import JsonValue


@dataclass(frozen=True, slots=True)
class Comparison:
    """All models of one suite compared at one rank.

    Attributes:
        suite: its name.
        k: rank up to which a hit counts.
        pairs: McNemar's test for every pair of models, with Holm's correction over the pairs.
        together: Cochran's Q; None for two models, where it is McNemar's test.
    """

    suite: str
    k: int
    pairs: tuple[PairedHits, ...]
    together: Significance | None

    def plain(self) -> dict[str, JsonValue]:
        """As JSON."""
        return {
            "suite": self.suite,
            "k": self.k,
            "pairs": [
                {
                    "first": each.first,
                    "second": each.second,
                    "only_first": each.only_first,
                    "only_second": each.only_second,
                    "n": each.n,
                    "mcnemar": {
                        name: {"p": test.p, "holm": each.holm[name], "reason": test.reason}
                        for name, test in each.tests.items()
                    },
                }
                for each in self.pairs
            ],
            "cochran_q": None
            if self.together is None
            else {"p": self.together.p, "reason": self.together.reason},
        }


def compare_runs(summaries: Iterable[ClozeSummary]) -> list[Comparison]:
    """Compare the models of each suite at 1 and at k, by their first way of asking.

    Models that were not asked the same items are not compared.
    """
    by_suite: dict[str, list[ClozeSummary]] = {}
    for each in summaries:
        by_suite.setdefault(each.suite, []).append(each)
    return [found for own in by_suite.values() for found in _compared(own)]


def _compared(summaries: list[ClozeSummary]) -> list[Comparison]:
    ranks: dict[str, Ranks] = {
        each.model: own for each in summaries for own in list(each.ranks.values())[:1] if own
    }
    if len(ranks) < 2 or len({frozenset(own) for own in ranks.values()}) > 1:  # noqa: PLR2004  # a comparison takes two
        return []
    several = len(ranks) > 2  # noqa: PLR2004  # of two it is McNemar's test
    return [
        Comparison(
            suite=summaries[0].suite,
            k=k,
            pairs=compare_pairs(ranks, k),
            together=compare_all(ranks, k) if several else None,
        )
        for k in dict.fromkeys((1, summaries[0].k))
    ]

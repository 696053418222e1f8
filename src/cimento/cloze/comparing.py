"""Models compared on the hits of one suite, pair by pair and all together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, cast

from cimento.cloze.judging.hits import PairedHits, Ranks, compare_all, compare_pairs
from cimento.cloze.outcomes import ClozeSummary
from cimento.statistics.values import Significance
from cimento.verdicts.kinds import rates_only

if TYPE_CHECKING:
    from cimento.suites.model import JsonValue


@dataclass(frozen=True, slots=True)
class Comparison:
    """All models of one suite compared at one rank or more.

    Attributes:
        suite: its name.
        n: items that all models were asked.
        left_out: items that some model was not asked.
        clusters: what these items come from; the number of items where each stands alone.
        pairs: every pair of models at each rank, with Holm's correction over all of them.
        together: rank to Cochran's Q over all models; empty for two models.
        note: on models of several kinds; None where they are of one.
    """

    suite: str
    n: int
    left_out: int
    clusters: int
    pairs: tuple[PairedHits, ...]
    together: dict[int, Significance]
    note: str | None

    def plain(self) -> dict[str, JsonValue]:
        """As JSON."""
        return {
            "suite": self.suite,
            "n": self.n,
            "left_out": self.left_out,
            "clusters": self.clusters,
            "pairs": [cast("dict[str, JsonValue]", asdict(pair)) for pair in self.pairs],
            "cochran_q": [
                {"k": k, **cast("dict[str, JsonValue]", asdict(test))}
                for k, test in self.together.items()
            ],
            "note": self.note,
        }


def compare_runs(summaries: Iterable[ClozeSummary], *, seed: int = 0) -> list[Comparison]:
    """Compare the models of each suite at 1 and at k, by their first way of asking.

    They are compared on the items that all of them were asked, as `cimento compare` does.

    Args:
        summaries: of runs, of one suite or several.
        seed: of what is drawn.
    """
    by_suite: dict[str, list[ClozeSummary]] = {}
    for each in summaries:
        by_suite.setdefault(each.suite, []).append(each)
    return [found for own in by_suite.values() for found in _compared(own, seed=seed)]


def _compared(summaries: list[ClozeSummary], *, seed: int) -> list[Comparison]:
    asked = {each.model: each for each in summaries if each.methods and _first_ranks(each)}
    if len(asked) < 2:  # noqa: PLR2004  # a comparison takes two
        return []
    every = {item for each in asked.values() for item in _first_ranks(each)}
    shared = set.intersection(*(set(_first_ranks(each)) for each in asked.values()))
    if not shared:
        return []
    ranks: dict[str, Ranks] = {
        name: {item: rank for item, rank in _first_ranks(each).items() if item in shared}
        for name, each in asked.items()
    }
    first = next(iter(asked.values()))
    depths = tuple(dict.fromkeys((1, first.k)))
    clusters = first.cluster_of
    several = len(ranks) > 2  # noqa: PLR2004  # of two it is the test of the pair
    return [
        Comparison(
            suite=first.suite,
            n=len(shared),
            left_out=len(every) - len(shared),
            clusters=len({clusters[item] for item in shared}),
            pairs=compare_pairs(ranks, *depths, clusters=clusters),
            together={k: compare_all(ranks, k, clusters=clusters, seed=seed) for k in depths}
            if several
            else {},
            note=rates_only(each.model_kind for each in asked.values()),
        )
    ]


def _first_ranks(summary: ClozeSummary) -> Ranks:
    return summary.ranks[summary.methods[0].method]

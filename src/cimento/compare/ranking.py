"""Several models on the same items: their ranking, for runs of any kind."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from cimento.compare.ranking_records import FEWEST_RANKED, RankedModel, Ranking
from cimento.errors import UsageError
from cimento.io.values import grouped
from cimento.paired.item_outcomes import ItemOutcomes, rates_only, reach_notes
from cimento.paired.pairwise import (
    Correction,
    PairedCorrelations,
    adjusted,
    compare_pair,
    corrected,
    paired_correlations,
)
from cimento.report.grid import Grid
from cimento.statistics.agreement import krippendorff_alpha
from cimento.statistics.design import Design, Significance
from cimento.statistics.differences import cochran_q, share_test
from cimento.statistics.intervals import share_interval
from cimento.statistics.multiple import ModelRanks, Rank, RankedPair, rank_by_pairs
from cimento.statistics.reliability import item_analysis

_SHOWN = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Rankings:
    """The models of some suites compared.

    Attributes:
        rankings: rankings by what is right and wrong, one for each suite and question.
        correlations: correlations of the values of every two models with their references.
        alone: suite and model of the runs that are compared with no other, since none is on their
            suite.
    """

    rankings: tuple[Ranking, ...]
    correlations: tuple[PairedCorrelations, ...]
    alone: tuple[str, ...] = ()

    def __repr__(self) -> str:
        suites = dict.fromkeys(ranking.suite for ranking in self.rankings)
        suites |= dict.fromkeys(changes.suite for changes in self.correlations)
        models = dict.fromkeys(one.model for ranking in self.rankings for one in ranking.models)
        return f"<Rankings of {len(models)} models on {', '.join(suites)[:_SHOWN]}>"

    def grids(self, *, correction: Correction = "holm") -> dict[str, Grid]:
        """The tables, by name, as the command prints them."""
        from cimento.compare.comparison_tables import ranking_grids

        return ranking_grids(self.rankings, self.correlations, correction=correction)


def rank_models(
    outcomes: Sequence[ItemOutcomes],
    *,
    correction: Correction = "holm",
    seed: int = 0,
    with_pairs: bool = True,
) -> Rankings:
    """All models of each suite and question, with p-values corrected over all pairs.

    The places that models could hold are always by Holm's correction over all pairs: by another one
    they are not a confidence set for all models at once.

    Args:
        outcomes: of two models or more.
        correction: of the p-values that are shown: ``holm``, or ``bh`` for the proportion of false
            finds.
        seed: of what is drawn.
        with_pairs: whether rankings have their pairs. Without, places follow from the same tests,
            and correlations are left out where there are rankings.

    Raises:
        UsageError: no suite was run by two models.
    """
    groups = grouped(((one.suite, one.question), one) for one in outcomes)
    several = [group for group in groups.values() if len(group) > 1]
    rankings = [
        _ranking(judged, seed=seed, with_pairs=with_pairs)
        for group in several
        if len(judged := [one for one in group if one.right]) > 1
        or (not any(one.coefficients for one in group) and len(judged := group) > 1)
    ]
    correlations = [
        change
        for group in several
        for one, other in combinations(group, 2)
        for change in (paired_correlations(one, other) if with_pairs or not rankings else ())
    ]
    if not rankings and not correlations:
        raise UsageError(
            where="compare",
            seen="no suite was run by two models",
            todo="Give runs of one suite by several models.",
        )
    together = {one.suite for group in several for one in group}
    titles = (f"{one.suite}, {one.model}" for one in outcomes if one.suite not in together)
    return Rankings(
        rankings=tuple(_all_placed(rankings, correction)),
        correlations=corrected(correlations, correction),
        alone=tuple(dict.fromkeys(titles)),
    )


@dataclass(frozen=True, slots=True)
class _PairTests:
    """A ranking without places, and every pair of its models with p before any correction."""

    ranking: Ranking
    tests: list[tuple[str, str, float | None]]


def _all_placed(rankings: Sequence[_PairTests], correction: Correction) -> Iterator[Ranking]:
    """The rankings with corrected pairs and with places."""
    tests = [p for one in rankings for _, _, p in one.tests]
    # Places hold for all models at once only where no pair at all is found by chance.
    sure, shown = iter(adjusted(tests, "holm")), iter(adjusted(tests, correction))
    for one in rankings:
        yield _placed(
            one,
            sure=[next(sure) for _ in one.tests],
            shown=[next(shown) for _ in one.tests],
            family=sum(p is not None for p in tests),
        )


def _placed(
    unplaced: _PairTests,
    *,
    sure: Sequence[float | None],
    shown: Sequence[float | None],
    family: int,
) -> Ranking:
    """A ranking with corrected pairs, and the places that Holm's correction leaves to models."""
    ranking = unplaced.ranking
    pairs = [
        replace(pair, corrected=p, family=family)
        for pair, p in zip(ranking.pairs, shown, strict=False)
    ]
    shares = {one.model: one.accuracy for one in ranking.models if one.accuracy is not None}
    tested = [(one, other, p) for (one, other, _), p in zip(unplaced.tests, sure, strict=True)]
    ranks = rank_by_pairs(shares, tested if shares else [], corrected=True).ranks
    by_model = {rank.name: rank for rank in ranks}
    models = (replace(one, rank=by_model.get(one.model)) for one in ranking.models)
    return replace(ranking, pairs=tuple(pairs), models=tuple(models))


def _ranking(group: Sequence[ItemOutcomes], *, seed: int, with_pairs: bool) -> _PairTests:
    items = [item for item in group[0].right if all(item in one.right for one in group)]
    scored_by_some = {item for one in group for item in one.right}
    design = group[0].design(items)
    columns = {one.model: [one.right[item] for item in items] for one in group}
    models = [
        RankedModel(
            model=one.model,
            n=len(items),
            accuracy=sum(columns[one.model]) / len(items) if items else None,
            interval=share_interval(columns[one.model], design),
            rank=None,
            family=one.family,
            step=one.step,
        )
        for one in group
    ]
    rows = list(zip(*columns.values(), strict=True))
    several = combinations(group, 2) if with_pairs else ()
    pairs = tuple(compare_pair(one, other, items) for one, other in several)
    tests = [(pair.first, pair.second, pair.test.p) for pair in pairs]
    ranking = Ranking(
        suite=group[0].suite,
        question=group[0].question,
        n=len(items),
        left_out=len(scored_by_some) - len(items),
        models=tuple(sorted(models, key=lambda model: -(model.accuracy or 0.0))),
        pairs=pairs,
        together=cochran_q(rows, design, seed=seed) if len(group) > FEWEST_RANKED else None,
        alpha=krippendorff_alpha(rows, design=design),
        analysis=item_analysis(rows, seed=seed),
        items=tuple(items),
        note=rates_only(one.kind for one in group),
        reach=reach_notes(group),
    )
    return _PairTests(ranking, tests if with_pairs else _share_tests(columns, design).pairs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The places that the models of one suite could hold, and the tests behind them.

    Attributes:
        ranks: label of each model to its place; empty where there is nothing to rank.
        n: items that all models were scored on.
        left_out: items that some model was not scored on.
        pairs: every two models, with p before and after Holm's correction over all of them.
        method: of the tests.
        reason: why there are no places; empty where there are.
    """

    ranks: Mapping[str, Rank]
    n: int = 0
    left_out: int = 0
    pairs: tuple[RankedPair, ...] = ()
    method: str = ""
    reason: str = ""


def places_of(group: Sequence[ItemOutcomes], *, items: Collection[str] | None = None) -> Places:
    """The places of models by one question, without all else that `rank_models` finds out.

    Shares are compared on the items that all models were scored on, correlations on those that
    have a value and one reference for all; p-values are corrected over the pairs by Holm's method.

    Args:
        group: of one suite and question, each model once.
        items: ids; None for all.
    """
    judged = [one for one in group if one.right]
    columns = {one.model: one.right if judged else one.values for one in judged or group}
    if len(columns) < FEWEST_RANKED or not all(judged or [one.coefficients for one in group]):
        return Places(ranks={}, reason="fewer than two models have something to rank by")
    listed = [column.keys() for column in columns.values()]
    known = [item for item in listed[0] if items is None or item in items]
    shared = [item for item in known if all(item in keys for keys in listed)]
    by_some = {item for keys in listed for item in keys if items is None or item in items}
    if not shared:
        return Places(ranks={}, left_out=len(by_some), reason="no item was scored on all models")
    if judged:
        shared_columns = {one.model: [one.right[item] for item in shared] for one in judged}
        tests = _share_tests(shared_columns, judged[0].design(shared))
    else:
        tests = _correlation_tests(group, shared)
    ranked = rank_by_pairs(tests.means, tests.pairs) if tests.means else ModelRanks((), ())
    return Places(
        ranks={rank.name: rank for rank in ranked.ranks},
        n=len(shared),
        left_out=len(by_some) - len(shared),
        pairs=ranked.pairs,
        method=tests.method,
        reason="" if ranked.ranks else "a model has no coefficient",
    )


@dataclass(frozen=True, slots=True)
class _Tests:
    """What models are ranked by: a mean of each, every pair with its p, and the tests' names."""

    means: dict[str, float]
    pairs: list[tuple[str, str, float | None]]
    method: str


def _share_tests(columns: Mapping[str, Sequence[bool]], design: Design) -> _Tests:
    """The tests of what each model gets right of the same items.

    Where items stand alone, p depends on two numbers, which many pairs of models share.
    """
    import numpy as np

    known: dict[tuple[int, int], Significance] = {}
    tests = {}
    right = np.array([*columns.values()], dtype=np.int64).reshape(len(columns), design.n)
    alone = (right @ (1 - right.T)).tolist()  # items that the model of a row alone gets right
    for (first, one), (second, other) in combinations(enumerate(columns), 2):
        counts = alone[second][first], alone[first][second]
        if design.clustered or counts not in known:
            known[counts] = share_test(columns[other], columns[one], design)
        tests[one, other] = known[counts]
    return _Tests(
        {model: sum(column) / design.n for model, column in columns.items() if design.n},
        [(one, other, test.p) for (one, other), test in tests.items()],
        " or ".join(dict.fromkeys(test.method for test in tests.values())),
    )


def _correlation_tests(group: Sequence[ItemOutcomes], items: Sequence[str]) -> _Tests:
    """The same by the first coefficient of values and references; no means if one is undefined."""
    same = [replace(one, values={item: one.values[item] for item in items}) for one in group]
    changes = [
        change
        for one, other in combinations(same, 2)
        for change in paired_correlations(one, other)[:1]
    ]
    means = {
        model: value
        for one in changes
        for model, value in ((one.first, one.change.first), (one.second, one.change.second))
        if value is not None
    }
    return _Tests(
        means if len(means) == len(group) else {},
        [(one.first, one.second, one.change.p) for one in changes],
        " or ".join(dict.fromkeys(f"{one.coefficient}, {one.change.method}" for one in changes)),
    )

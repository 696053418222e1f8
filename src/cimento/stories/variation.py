"""How much a result depends on the wording of the prompt and the seed of the examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, stdev

from cimento.statistics.agreement import fleiss_kappa
from cimento.statistics.correlation import coefficient
from cimento.statistics.reliability import VarianceShares, variance_shares
from cimento.stories.records import STORY, Tier
from cimento.stories.tiers import Chain

ONE_CONDITION = "one prompt and one seed only"
NOT_CROSSED = "not every prompt was asked with every seed"
NO_COMMON = "no story is scored under every prompt and seed"


@dataclass(frozen=True, slots=True, order=True)
class Condition:
    """One way of asking: a prompt and the seed of its examples."""

    prompt: str
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Variation:
    """One model under several prompts and seeds, at one tier.

    Attributes:
        rates: condition to the share of stories that are right.
        mean: of these shares.
        low: the lowest.
        high: the highest.
        sd: their standard deviation (n - 1 below); None with one condition.
        n_common: stories that are scored in every condition; what follows is about these.
        same_throughout: share of them that are right everywhere or wrong everywhere.
        kappa: Fleiss's kappa of conditions as raters of right and wrong.
        shares: of the variance: prompt, seed, story and the rest.
        reason: why something is missing.
    """

    rates: Mapping[Condition, float]
    mean: float
    low: float
    high: float
    sd: float | None
    n_common: int
    same_throughout: float | None
    kappa: float | None
    shares: VarianceShares
    reason: str = ""


def variation(chains: Mapping[Condition, Chain], *, tier: Tier = STORY) -> Variation | None:
    """Describe one model under several ways of asking.

    Args:
        chains: condition to the tiers of the model; all over the same stories.
        tier: right at this tier and all before.

    Returns:
        None where no condition says anything about the tier.
    """
    columns = {
        condition: {row: value for row, value in each.passed[tier].items() if value is not None}
        for condition, each in sorted(chains.items())
        if each.known(tier)
    }
    columns = {condition: column for condition, column in columns.items() if column}
    if not columns:
        return None
    found = {condition: fmean(column.values()) for condition, column in columns.items()}
    common = sorted(set.intersection(*(set(column) for column in columns.values())))
    ratings = [[column[row] for column in columns.values()] for row in common]
    several = len(columns) > 1
    return Variation(
        rates=found,
        mean=fmean(found.values()),
        low=min(found.values()),
        high=max(found.values()),
        sd=stdev(found.values()) if several else None,
        n_common=len(common),
        same_throughout=fmean(len(set(row)) == 1 for row in ratings)
        if several and ratings
        else None,
        kappa=fleiss_kappa(ratings).value if several and ratings else None,
        shares=_shares(columns, common),
        reason="" if several else ONE_CONDITION,
    )


def _shares(
    columns: Mapping[Condition, Mapping[int, bool]], common: Sequence[int]
) -> VarianceShares:
    prompts = sorted({condition.prompt for condition in columns})
    seeds = sorted({condition.seed for condition in columns})
    if len(columns) < len(prompts) * len(seeds):
        return VarianceShares(None, NOT_CROSSED)
    if not common:
        return VarianceShares(None, NO_COMMON)
    table = [
        [[float(columns[Condition(prompt, seed)][row]) for row in common] for seed in seeds]
        for prompt in prompts
    ]
    return variance_shares(table, ("prompt", "seed", "story"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Whether models keep their order under other prompts and seeds.

    Attributes:
        orders: condition to its models, the best first; equal ones by name.
        mean_tau: mean of Kendall's tau-b over all pairs of conditions; None where no pair has one.
        same_best: share of pairs of conditions that have the same best model.
        kept: pair of models to the share of conditions in which the first is ahead, ties as half.
        reason: why there is no mean.
    """

    orders: Mapping[Condition, tuple[str, ...]]
    mean_tau: float | None
    same_best: float | None
    kept: Mapping[tuple[str, str], float]
    reason: str = ""


def ranking(models: Mapping[str, Mapping[Condition, float]]) -> Ranking:
    """Compare the order of models over the conditions in which all of them were asked.

    Args:
        models: model to its rate under each condition.
    """
    shared = sorted(set.intersection(*(set(each) for each in models.values()))) if models else []
    names = sorted(models)
    orders = {
        condition: tuple(sorted(names, key=lambda name: (-models[name][condition], name)))
        for condition in shared
    }
    pairs = list(combinations(shared, 2))
    taus = [
        tau
        for one, other in pairs
        if (tau := _tau([models[n][one] for n in names], [models[n][other] for n in names]))
        is not None
    ]
    return Ranking(
        orders=orders,
        mean_tau=fmean(taus) if taus else None,
        same_best=fmean(orders[a][0] == orders[b][0] for a, b in pairs) if pairs else None,
        kept={
            (one, other): fmean(_ahead(models[one][c], models[other][c]) for c in shared)
            for one, other in combinations(names, 2)
            if shared
        },
        reason="" if taus else "fewer than two conditions or three models that differ",
    )


def _tau(first: Sequence[float], second: Sequence[float]) -> float | None:
    return coefficient(first, second, kind="kendall").r


def _ahead(one: float, other: float) -> float:
    return 0.5 if one == other else float(one > other)

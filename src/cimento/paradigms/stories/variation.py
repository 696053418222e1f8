"""Variation over prompts and seeds: how much each model varies, and whether ranks stay."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from statistics import fmean, stdev

from cimento.errors import TableError, UsageError
from cimento.io.inline_markup import columns
from cimento.kinds.identity import content_of
from cimento.kinds.run import Run, open_run
from cimento.paradigms.stories.conditions import PromptCondition, condition_of
from cimento.paradigms.stories.judging import asked_of, judged_run
from cimento.paradigms.stories.outcomes import Chain
from cimento.records.store import PARADIGM, find_runs
from cimento.statistics.agreement import fleiss_kappa
from cimento.statistics.correlation import coefficient
from cimento.statistics.reliability import VarianceShares, variance_shares
from cimento.suites.formats.stories import KIND
from cimento.suites.stories import STORY, Tier

ONE_CONDITION = "one prompt and one seed only"
NOT_CROSSED = "not every prompt was asked with every seed"
NO_COMMON = "no story is scored under every prompt and seed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Variation:
    """One model under several prompts and seeds, at one tier.

    Attributes:
        rates: condition to the proportion of stories that are right.
        mean: of these shares.
        low: the lowest.
        high: the highest.
        sd: their standard deviation (n - 1 below); None with one condition.
        n_common: stories that are scored in every condition; what follows is about these.
        same_throughout: proportion of them that are right everywhere or wrong everywhere.
        kappa: Fleiss's kappa of conditions as raters of right and wrong.
        shares: of the variance: prompt, seed, story and the rest.
        reason: why something is missing.
    """

    rates: Mapping[PromptCondition, float]
    mean: float
    low: float
    high: float
    sd: float | None
    n_common: int
    same_throughout: float | None
    kappa: float | None
    shares: VarianceShares
    reason: str = ""


def variation(chains: Mapping[PromptCondition, Chain], *, tier: Tier = STORY) -> Variation | None:
    """Describe one model under several ways of asking.

    Args:
        chains: condition to the tiers of the model; all over the same stories.
        tier: right at this tier and all before.

    Returns:
        None where no condition says anything about the tier.
    """
    columns = {
        condition: {row: value for row, value in chain.passed[tier].items() if value is not None}
        for condition, chain in sorted(chains.items())
        if chain.known(tier)
    }
    columns = {condition: column for condition, column in columns.items() if column}
    if not columns:
        return None
    rates = {condition: fmean(column.values()) for condition, column in columns.items()}
    common = sorted(set.intersection(*(set(column) for column in columns.values())))
    ratings = [[column[row] for column in columns.values()] for row in common]
    several = len(columns) > 1
    return Variation(
        rates=rates,
        mean=fmean(rates.values()),
        low=min(rates.values()),
        high=max(rates.values()),
        sd=stdev(rates.values()) if several else None,
        n_common=len(common),
        same_throughout=fmean(len(set(row)) == 1 for row in ratings)
        if several and ratings
        else None,
        kappa=fleiss_kappa(ratings).value if several and ratings else None,
        shares=_shares(columns, common),
        reason="" if several else ONE_CONDITION,
    )


def _shares(
    columns: Mapping[PromptCondition, Mapping[int, bool]], common: Sequence[int]
) -> VarianceShares:
    prompts = sorted({condition.prompt for condition in columns})
    seeds = sorted({condition.seed for condition in columns})
    if len(columns) < len(prompts) * len(seeds):
        return VarianceShares(None, NOT_CROSSED)
    if not common:
        return VarianceShares(None, NO_COMMON)
    table = [
        [[float(columns[PromptCondition(prompt, seed)][row]) for row in common] for seed in seeds]
        for prompt in prompts
    ]
    return variance_shares(table, ("prompt", "seed", "story"))


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptRanking:
    """Whether models keep their order under other prompts and seeds.

    Attributes:
        orders: condition to its models, the best first; equal ones by name.
        mean_tau: mean of Kendall's tau-b over all pairs of conditions; None where no pair has one.
        same_best: proportion of pairs of conditions that have the same best model.
        kept: pair of models to the proportion of conditions in which the first is ahead, ties as
            half.
        reason: why there is no mean.
    """

    orders: Mapping[PromptCondition, tuple[str, ...]]
    mean_tau: float | None
    same_best: float | None
    kept: Mapping[tuple[str, str], float]
    reason: str = ""


def compare_rankings(models: Mapping[str, Mapping[PromptCondition, float]]) -> PromptRanking:
    """Compare the order of models over the conditions in which all of them were asked.

    Args:
        models: model to its rate under each condition.
    """
    shared = sorted(set.intersection(*(set(model) for model in models.values()))) if models else []
    names = sorted(models)
    orders = {
        condition: tuple(sorted(names, key=lambda name: (-models[name][condition], name)))
        for condition in shared
    }
    pairs = list(combinations(shared, 2))
    rates = {condition: [models[name][condition] for name in names] for condition in shared}
    taus = [
        tau
        for one, other in pairs
        if (tau := coefficient(rates[one], rates[other], kind="kendall").r) is not None
    ]
    return PromptRanking(
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


def _ahead(one: float, other: float) -> float:
    return 0.5 if one == other else float(one > other)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryVariation:
    """How much results depend on prompt and seed.

    Attributes:
        models: model to its variation.
        ranking: the order of several models; None for one.
    """

    models: dict[str, Variation]
    ranking: PromptRanking | None

    def text(self) -> str:
        """The variation of each model, then the order of models."""
        parts = [
            f"{model}\n{columns(_variation_rows(of_model), indent=2)}\n"
            for model, of_model in self.models.items()
        ]
        if self.ranking is not None:
            parts.append(f"Order of models\n{columns(_ranking_rows(self.ranking), indent=2)}")
        return "\n".join(parts)

    def plain(self) -> dict[str, object]:
        """The same as JSON."""
        return _as_json(self.models, self.ranking)


def open_story_runs(paths: Iterable[Path]) -> list[Run]:
    """Every run of the three tiers in some folders; other runs are ignored.

    Raises:
        TableError: there is none, or one cannot be read.
    """
    named = list(paths)
    folders = (folder for path in named for folder in find_runs(path))
    runs = [open_run(folder.path) for folder in folders if folder.manifest().get(PARADIGM) == KIND]
    tiered = [run for run in runs if asked_of(run)[1].task == "tiers"]
    if not tiered:
        raise TableError(
            where=", ".join(map(str, named)),
            seen="there is no run of stories here",
            todo="Run a suite of stories first, such as it-stories.",
        )
    return tiered


def variation_of(runs: Sequence[Run], *, tier: Tier = STORY) -> StoryVariation:
    """The variation of each model over prompts and seeds, and the stability of the ranking.

    Args:
        runs: runs of one suite.
        tier: right at this tier and all before.

    Raises:
        UsageError: the runs are of different stories, or two are of the same model asked alike.
    """
    if len({content_of(run) for run in runs}) > 1:
        names = ", ".join(sorted({run.suite.name for run in runs}))
        raise UsageError(
            where="runs",
            seen=f"they are of different stories ({names})",
            todo="Give the runs of one suite.",
        )
    models: dict[str, dict[PromptCondition, Run]] = {}
    for run in runs:
        known, condition = models.setdefault(run.model, {}), condition_of(run)
        if condition in known:
            raise UsageError(
                where="runs",
                seen=f"{run.model} was asked twice with {condition.prompt} and the seed"
                f" {condition.seed}",
                todo="Leave one of the two out.",
            )
        known[condition] = run
    variations = {
        model: result
        for model, known in models.items()
        if (
            result := variation(
                {condition: judged_run(run).chained for condition, run in known.items()}, tier=tier
            )
        )
    }
    order = compare_rankings({model: result.rates for model, result in variations.items()})
    return StoryVariation(models=variations, ranking=order if len(variations) > 1 else None)


def _variation_rows(of_model: Variation) -> list[tuple[str, ...]]:
    shares = of_model.shares.shares
    rows: list[tuple[str, ...]] = [
        (str(c.prompt), f"seed {c.seed}", f"{rate:.3f}") for c, rate in of_model.rates.items()
    ]
    facts = {
        "mean": of_model.mean,
        "lowest": of_model.low,
        "highest": of_model.high,
        "standard deviation": of_model.sd,
        "same throughout": of_model.same_throughout,
        "kappa": of_model.kappa,
        **{f"variance: {name}": share for name, share in (shares or {}).items()},
    }
    rows += [(name, "", "-" if value is None else f"{value:.3f}") for name, value in facts.items()]
    if shares is None:
        rows.append(("variance", "", str(of_model.shares.reason)))
    return rows


def _ranking_rows(order: PromptRanking) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [
        (f"{condition.prompt}, seed {condition.seed}", " > ".join(models))
        for condition, models in order.orders.items()
    ]
    rows.append(
        ("mean Kendall tau", order.reason if order.mean_tau is None else f"{order.mean_tau:.3f}")
    )
    rows += [
        (f"{one} before {other}", f"{share:.3f}") for (one, other), share in order.kept.items()
    ]
    return rows


def _as_json(variations: dict[str, Variation], order: PromptRanking | None) -> dict[str, object]:
    common = ("mean", "low", "high", "sd", "n_common", "same_throughout", "kappa")
    models = {
        model: {
            "rates": [
                {"prompt": condition.prompt, "seed": condition.seed, "rate": rate}
                for condition, rate in of_model.rates.items()
            ],
            **{name: getattr(of_model, name) for name in common},
            "variance": {"shares": of_model.shares.shares, **_reason(of_model.shares.reason)},
            **_reason(of_model.reason),
        }
        for model, of_model in variations.items()
    }
    if order is None:
        return {"models": models}
    orders = [
        {"prompt": condition.prompt, "seed": condition.seed, "models": names}
        for condition, names in order.orders.items()
    ]
    kept = [
        {"first": one, "second": other, "ahead": share}
        for (one, other), share in order.kept.items()
    ]
    return {
        "models": models,
        "ranking": {
            "orders": orders,
            "mean_tau": order.mean_tau,
            "same_best": order.same_best,
            "kept": kept,
            **_reason(order.reason),
        },
    }


def _reason(reason: str | None) -> dict[str, str]:
    """The reason why something is missing; empty where none is given."""
    return {"reason": reason} if reason else {}

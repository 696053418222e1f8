"""Tables on the robustness of results: sensitivity, reliability, suite size."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from cimento.errors import counted
from cimento.report import formatting
from cimento.report.cells import lower, upper
from cimento.report.findings_pairs import LEVEL
from cimento.report.formatting import ends_of, short_model_names
from cimento.report.grid import BLANK, Grid
from cimento.statistics.power import spearman_interval

if TYPE_CHECKING:
    from cimento.compare.ranking_records import Ranking
    from cimento.evaluation.sensitivity import Sensitivity
    from cimento.statistics.planning import Pilot, SizePlan


_share = partial(formatting.rate_as_text, absent=BLANK)
_bits = partial(formatting.number, digits=3, absent=BLANK)
_p = partial(formatting.p_number, absent=BLANK)

ITEMS_SHOWN = 12
"""Most items that a note names."""


def sensitivity_grid(rows: Sequence[Sensitivity]) -> Grid:
    """A table of how many verdicts change when one choice is made differently."""
    return Grid.of(
        rows,
        {
            "suite": lambda row: row.suite,
            "model": lambda row: row.model,
            "variant": lambda row: row.variant,
            "items": lambda row: row.n or None,
            "changed": lambda row: row.changed if row.n else None,
            "share": lambda row: _share(row.changed / row.n) if row.n else None,
            "95%": lambda row: ends_of(row.interval) if row.n else None,
            "gained": lambda row: len(row.gained) if row.n else None,
            "lost": lambda row: len(row.lost) if row.n else None,
            "accuracy": lambda row: _share(row.accuracy),
            "reason": lambda row: row.reason or row.interval.reason,
        },
        title="Items whose verdict changes when one choice is made differently.",
        grouped=2,
        labels=3,
        remarks=1,
        notes=(
            "gained, lost: items that pass only in the variant, or only as it was asked for.",
            "The last row of a model counts the items that any variant changes.",
        ),
    )


def reliability_grid(rankings: Sequence[Ranking]) -> Grid:
    """A table of how reliably the items of suites tell their models apart.

    Of several suites there is a row for each, with the agreement of the models and their common
    test; of one suite, the items that all models pass, and none, are named.
    """
    alone = rankings[0] if len(rankings) == 1 else None
    said = [
        "alpha: agreement of the models on which items are right (Krippendorff).",
        *(
            f"p: of all models together, {test.method}."
            for test in [one.together for one in rankings if one.together][:1]
        ),
        *(f"{one.suite}, {one.question}: {why}" for one in rankings if (why := why_apart(one))),
    ]
    return Grid.of(
        rankings,
        {
            "suite": lambda ranking: ranking.suite,
            "right is": lambda ranking: ranking.question,
            "models": lambda ranking: ranking.analysis.models,
            "alpha": lambda ranking: _share(ranking.alpha.value),
            "p": lambda ranking: _p(ranking.together.p) if ranking.together else None,
            "items": lambda ranking: ranking.analysis.items,
            "all pass": lambda ranking: len(ranking.analysis.all_pass),
            "none passes": lambda ranking: len(ranking.analysis.none_pass),
            "KR-20": lambda ranking: _share(ranking.analysis.kr20.value),
            "split-half": lambda ranking: _share(ranking.analysis.halves.reliability),
            "item-total (median)": lambda ranking: _share(_middle(ranking)),
            "negative": lambda ranking: (
                None if _middle(ranking) is None else len(ranking.analysis.against)
            ),
            "reason": lambda ranking: (
                ranking.analysis.reason
                or ranking.analysis.kr20.reason
                or ranking.analysis.halves.reason
            ),
        },
        without=("suite", "right is", "models", "alpha", "p") if alone else (),
        title=f"{alone.suite}, {alone.question}: reliability over {alone.analysis.models} models."
        if alone
        else "Reliability of the items.",
        labels=0 if alone else 2,
        remarks=1,
        notes=(
            *(_named_items(alone) if alone else said),
            "Items that all models pass, or none, say nothing about differences of models.",
        ),
    )


def why_apart(ranking: Ranking) -> str:
    """Why the test of all models together and those of pairs differ; empty where they agree.

    Args:
        ranking: of three models or more, with their pairs.
    """
    known = [pair for pair in ranking.pairs if pair.corrected is not None]
    if ranking.together is None or ranking.together.p is None or not known:
        return ""
    sure = [pair for pair in known if pair.corrected is not None and pair.corrected <= LEVEL]
    if ranking.together.p <= LEVEL and not sure:
        return (
            "All models together differ significantly, but no two do: the common test adds up all"
            f" pairs, while each pair stands alone, with p corrected over {known[0].family} tests."
        )
    if ranking.together.p > LEVEL and sure:
        short = short_model_names(model.model for model in ranking.models)
        names = f"{short[sure[0].first]} and {short[sure[0].second]} differ"
        which = names if len(sure) == 1 else f"{len(sure)} pairs differ"
        return (
            f"{which} significantly, but all models together do not: the common test averages over"
            " all pairs."
        )
    return ""


def _middle(ranking: Ranking) -> float | None:
    """The median correlation of an item with the other items."""
    known = [r for r in ranking.analysis.item_total if r is not None]
    return statistics.median(known) if known else None


def _named_items(ranking: Ranking) -> list[str]:
    """The items that all models pass, that none passes, and that worse models pass more often."""
    analysis = ranking.analysis
    lists = {
        "Pass with every model": analysis.all_pass,
        "Pass with none": analysis.none_pass,
        "Passed more often by models that are worse on the other items": analysis.against,
    }
    return [
        f"{what}: {', '.join(ranking.items[place] for place in places[:ITEMS_SHOWN])}"
        + (f" and {len(places) - ITEMS_SHOWN} more." if len(places) > ITEMS_SHOWN else ".")
        for what, places in lists.items()
        if places
    ]


def plan_grid(plan: SizePlan, pilot: Pilot, *, title: str, unit: str, from_pilot: bool) -> Grid:
    """The table of a plan, with the required sizes below it.

    Args:
        plan: the plan.
        pilot: the pilot data of the plan.
        title: what is tested.
        unit: unit of means; empty for shares.
        from_pilot: whether the difference is the pilot's own, because none was given.
    """
    aim = _amount(plan.difference, unit)
    return Grid.of(
        plan.sizes,
        {
            "items": lambda size: size.items,
            "clusters": lambda size: size.clusters,
            "power": lambda size: _share(size.power),
            "low": lambda size: lower(_share(size.low)),
            "high": lambda size: upper(_share(size.high)),
        },
        title=title,
        labels=0,
        notes=(
            _needed(plan),
            f"Target difference: {aim}, alpha {plan.alpha:g}, two-sided.",
            f"Test: {plan.test}.",
            _pilot(pilot, unit),
            *((_OWN,) if from_pilot else ()),
            _drawn(plan, pilot),
        ),
    )


_OWN = (
    "The difference is the pilot's own, which is often too large by chance: give the smallest one"
    " that matters with --difference."
)


def _needed(plan: SizePlan) -> str:
    asked = f"A power of {plan.power:g}"
    size = plan.needed
    if size is None:
        return f"{asked} is not reached with {plan.most} items, the most that were tried."
    clusters = f" in {size.clusters} clusters" if size.clusters < size.items else ""
    return f"{asked} needs {counted(size.items, 'item')}{clusters}."


def _amount(difference: float, unit: str) -> str:
    return f"{difference:+.3f} {unit}".rstrip()


def _pilot(pilot: Pilot, unit: str) -> str:
    design = pilot.design
    size = f"{design.n} items" + (f" in {design.m} clusters" if design.clustered else "")
    size = design.described if design.crossed else size
    effect = _amount(pilot.effect, unit)
    if pilot.kind == "difference":
        return f"Pilot: {size}, difference {effect}, discordant {_share(pilot.varying)}."
    if pilot.kind == "rate":
        chance = _share(pilot.null)
        return f"Pilot: {size}, right {_share(pilot.varying)}, tested against {chance}."
    if pilot.kind == "correlation":
        return f"Pilot: {size}, correlation {_share(pilot.effect)}."
    return f"Pilot: {size}, mean {effect}."


def _drawn(plan: SizePlan, pilot: Pilot) -> str:
    if pilot.kind == "correlation":
        alone = (
            "The power is approximate, for sentences that stand alone. Sentences of one item are"
            " alike: to be safe, use that many items."
        )
        if plan.needed is None:
            return alone
        low, high = spearman_interval(plan.needed.items, plan.difference)
        return f"The 95% interval to expect is [{low:.2f}, {high:.2f}]. {alone}"
    if pilot.design.crossed:
        return (
            "The power is approximate: the variance of a mean follows from that between the levels"
            " of each factor in the pilot. Larger suites have more levels of all in proportion;"
            " clusters are those of the smallest factor."
        )
    if not plan.trials:
        exact = "The power is exact, for items that stand alone and are like those of the pilot."
        if plan.needed is None:
            return exact
        return (
            f"{exact} It rises and falls a little as items are added: fewer than"
            f" {plan.needed.items} may reach {plan.power:g} too, but not all of the next sizes do."
        )
    what = "clusters" if pilot.design.clustered else "items"
    return (
        f"Power: proportion of {plan.trials} data sets of {what} drawn from the pilot in which"
        " the test"
        " finds the difference, with its 95% interval."
    )

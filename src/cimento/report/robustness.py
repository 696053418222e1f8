"""Tables of how far results hold: sensitivity, reliability, covariates, people, size of suites."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from cimento.report import formatting
from cimento.report.grid import BLANK, Grid
from cimento.statistics.regression import CONSTANT_TERM

if TYPE_CHECKING:
    from cimento.compare.covariates import MarginCovariates
    from cimento.compare.ranking import Ranking
    from cimento.paradigms.regions.people import ChoiceRate
    from cimento.runs.sensitivity import Sensitivity
    from cimento.statistics.planning import Pilot, SizePlan
    from cimento.statistics.regression import Coefficient


_share = partial(formatting.rate, absent=BLANK)
_bits = partial(formatting.number, digits=3, absent=BLANK)
_p = partial(formatting.p_number, absent=BLANK)


def sensitivity_grid(rows: Sequence[Sensitivity]) -> Grid:
    """How many verdicts change when one choice is made differently."""
    places = [(row.suite, row.model) for row in rows]
    return Grid(
        title="Items whose verdict changes when one choice is made differently.",
        header=(
            "suite", "model", "variant", "items", "changed", "share", "95 %", "gained", "lost",
            "accuracy", "reason",
        ),
        rows=tuple(
            (
                *(place if k == 0 or places[k - 1] != place else (BLANK,) * len(place)),
                row.variant,
                *(_counts(row) if row.n else (BLANK,) * 6),
                _share(row.accuracy),
                row.reason or row.interval.reason or BLANK,
            )
            for k, (place, row) in enumerate(zip(places, rows, strict=True))
        ),
        rules=frozenset(k for k in range(1, len(rows)) if places[k - 1] != places[k]),
        labels=3,
        remarks=1,
        notes=(
            "gained, lost: items that pass only in the variant, or only as it was asked for.",
            "The last row of a model counts the items that any variant changes.",
        ),
    )  # fmt: skip


def reliability_grid(ranking: Ranking) -> Grid:
    """How reliably the items of a suite tell its models apart."""
    analysis = ranking.analysis
    known = sorted(r for r in analysis.item_total if r is not None)
    middle = statistics.median(known) if known else None
    lists = {
        "Pass with every model": analysis.all_pass,
        "Pass with none": analysis.none_pass,
        "Passed more often by models that are worse on the other items": analysis.against,
    }
    notes = [
        f"{what}: {', '.join(ranking.items[place] for place in places[:PEOPLE_SHOWN])}"
        + (f" and {len(places) - PEOPLE_SHOWN} more." if len(places) > PEOPLE_SHOWN else ".")
        for what, places in lists.items()
        if places
    ]
    return Grid(
        title=f"{ranking.suite}, {ranking.question}: reliability over {analysis.models} models.",
        header=(
            "items", "all pass", "none passes", "KR-20", "split-half", "item-total (median)",
            "negative", "reason",
        ),
        rows=(
            (
                str(analysis.items),
                str(len(analysis.all_pass)),
                str(len(analysis.none_pass)),
                _share(analysis.kr20.value),
                _share(analysis.halves.reliability),
                _share(middle),
                str(len(analysis.against)) if known else BLANK,
                analysis.reason or analysis.kr20.reason or analysis.halves.reason or BLANK,
            ),
        ),
        labels=0,
        remarks=1,
        notes=(
            *notes,
            "Items that all models pass, or none, say nothing about differences of models.",
        ),
    )  # fmt: skip


def covariates_grid(found: Sequence[MarginCovariates]) -> Grid:
    """Margins at equal length and frequency, and what a token, a word and a Zipf unit add."""
    rows = []
    for each in found:
        place = (each.suite, each.model, str(each.prediction), str(each.n), _bits(each.mean_bits))
        remarks = [f"left out: {', '.join(each.left_out)}"] if each.left_out else []
        remark = "; ".join([each.reason, *remarks] if each.reason else remarks)
        for k, one in enumerate(each.coefficients or (None,)):
            rows.append(
                (
                    *(place if k == 0 else (BLANK,) * len(place)),
                    *(_coefficient(one, each) if one else (BLANK,) * 5),
                    remark if k == 0 else BLANK,
                )
            )
    return Grid(
        title="Margins in bits, and what length and word frequency have to do with them.",
        header=(
            "suite", "model", "prediction", "items", "mean", "margin, and bits for each", "value",
            "95 %", "p", "p (Holm)", "remark",
        ),
        rows=tuple(rows),
        labels=3,
        remarks=1,
        notes=(
            "Least squares over items, with CR2 standard errors over clusters.",
            "First line: the margin of an item whose two sides are alike in what stands below it.",
            "Left out is what is the same in all items, or follows from the other covariates.",
            "Holm's correction is over all the other lines; p of the first lines is not corrected.",
            "Frequencies are summed over words.",
        ),
    )  # fmt: skip


def people_grid(found: Sequence[ChoiceRate]) -> Grid:
    """How often people choose as is predicted, and models on the same items."""
    # The runs of a suite say the same of people; what they say comes once, before the models.
    groups: dict[tuple[str, int | None], list[ChoiceRate]] = {}
    for rate in dict.fromkeys(found):
        groups.setdefault((rate.suite, rate.prediction), []).append(rate)
    ordered = [sorted(own, key=lambda rate: not rate.of_people) for own in groups.values()]
    starts = list(itertools.accumulate(map(len, ordered)))
    return Grid(
        title="How often people choose as is predicted, and models on the same items.",
        header=(
            "suite", "prediction", "who", "items", "ties", "choices", "rate", "95 %", "reason",
        ),
        rows=tuple(
            (
                *(_place(rate) if k == 0 else (BLANK, BLANK)),
                rate.who,
                str(rate.n),
                BLANK if rate.tied is None else str(rate.tied),
                BLANK if rate.choices is None else str(rate.choices),
                _share(rate.rate),
                formatting.interval(rate.low, rate.high, absent=BLANK),
                rate.reason or BLANK,
            )
            for own in ordered
            for k, rate in enumerate(own)
        ),
        rules=frozenset(starts[:-1]),
        labels=3,
        remarks=1,
        notes=(
            "most people: the prediction holds of the numbers of people who chose each sentence.",
            "one person: mean over items of the share of choices by which it holds.",
            "Choices that decide nothing are left out of the latter.",
        ),
    )  # fmt: skip


def _place(rate: ChoiceRate) -> tuple[str, str]:
    return rate.suite, "all" if rate.prediction is None else str(rate.prediction)


def _coefficient(one: Coefficient, row: MarginCovariates) -> tuple[str, ...]:
    first = one.name == CONSTANT_TERM
    return (
        "both sides alike" if first else one.name,
        _bits(one.value),
        formatting.interval(one.low, one.high, absent=BLANK),
        _p(one.p),
        BLANK if first else _p(row.p_holm.get(one.name)),
    )


PEOPLE_SHOWN = 12
"""Items that a note names."""


def _counts(row: Sensitivity) -> tuple[str, ...]:
    return (
        str(row.n),
        str(row.changed),
        _share(row.changed / row.n),
        formatting.interval(row.interval.low, row.interval.high, absent=BLANK),
        str(len(row.gained)),
        str(len(row.lost)),
    )


_planned_share = partial(formatting.rate, absent="")


def plan_grid(found: SizePlan, pilot: Pilot, *, title: str, unit: str, own: bool) -> Grid:
    """The table of a plan, with what is needed below it.

    Args:
        found: the plan.
        pilot: that it was made from.
        title: what is tested.
        unit: of means; empty for shares.
        own: whether the difference is that of the pilot, as none was given.
    """
    rows = tuple(
        (
            str(size.items),
            str(size.clusters),
            _planned_share(size.power),
            _planned_share(size.low),
            _planned_share(size.high),
        )
        for size in found.sizes
    )
    return Grid(
        title=title,
        header=("items", "clusters", "power", "low", "high"),
        rows=rows,
        labels=0,
        notes=(
            _needed(found),
            f"To be found: {_amount(found.difference, unit)}, alpha {found.alpha:g}, two-sided.",
            f"Test: {found.test}.",
            _pilot(pilot, unit),
            *((_OWN,) if own else ()),
            _drawn(found, pilot),
        ),
    )


_OWN = (
    "The difference is the pilot's own, which is often too large by chance: give the smallest one"
    " that matters with --difference."
)


def _needed(found: SizePlan) -> str:
    asked = f"A power of {found.power:g}"
    size = found.needed
    if size is None:
        return f"{asked} is not reached with {found.most} items, the most that were tried."
    clusters = f" in {size.clusters} clusters" if size.clusters < size.items else ""
    return f"{asked} needs {size.items} items{clusters}."


def _amount(difference: float, unit: str) -> str:
    return f"{difference:+.3f} {unit}".rstrip()


def _pilot(pilot: Pilot, unit: str) -> str:
    design = pilot.design
    size = f"{design.n} items" + (f" in {design.m} clusters" if design.clustered else "")
    effect = _amount(pilot.effect, unit)
    if pilot.kind == "difference":
        return f"Pilot: {size}, difference {effect}, discordant {_planned_share(pilot.varying)}."
    if pilot.kind == "rate":
        chance = _planned_share(pilot.null)
        return f"Pilot: {size}, right {_planned_share(pilot.varying)}, tested against {chance}."
    return f"Pilot: {size}, mean {effect}."


def _drawn(found: SizePlan, pilot: Pilot) -> str:
    if not found.trials:
        return "The power is exact, for items that stand alone and are like those of the pilot."
    what = "clusters" if pilot.design.clustered else "items"
    return (
        f"Power: share of {found.trials} data sets of {what} drawn from the pilot in which the test"
        " finds the difference, with its 95 % interval."
    )

"""Tables of factorial designs: effects, tests of DD, single items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from cimento.records.effects import not_the_worst, shown_by, side_of
from cimento.records.outcomes import Estimate
from cimento.report import formatting
from cimento.report.cells import count, lower, no_ends, upper
from cimento.report.grid import BLANK, EstimateCell, Grid
from cimento.statistics.means import (
    CLUSTERED_T,
    FEWEST_DRAWN,
    STUDENT,
    STUDENTIZED,
    STUDENTIZED_CLUSTERED,
)

if TYPE_CHECKING:
    from cimento.measures.normalizing import Normalization
    from cimento.paradigms.regions.factorial import (
        DDTest,
        DesignModel,
        Factorial,
        PhenomenonEffects,
    )
    from cimento.paradigms.regions.two_by_two import Effects
    from cimento.statistics.means import Mean
    from cimento.statistics.mixed import FixedEffect

_number = partial(formatting.number, digits=4, absent=BLANK)
_bits = partial(formatting.number, digits=2, absent=BLANK)
_p = partial(formatting.p_number, absent=BLANK)

OTHERS = "95%, others"
"""The column of intervals for other items and other people."""
HOLM = "Holm: over the phenomena and measures of a model on the suite."
"""What p is corrected over, whatever other models are beside."""
WHY_DRAWN = (
    "t: DD over its standard error. With 8 to 200 items or clusters, p and interval are those of"
    " the symmetric studentized bootstrap (Hall 1988), which draws these again: where values are"
    " skewed, the intervals of Student's t are too narrow."
)
"""Why p of a table is not that of the t beside it (docs/statistics-coverage.md)."""
WHY_STUDENT = (
    "With fewer than 8 items or clusters, p and interval are those of Student's t, which also"
    " assumes that values are not skewed: the bootstrap, used from 8 on, would have too few"
    " different samples to draw. So a result near the limit of 5% may change where an item is"
    " added."
)
"""Why p of a table of few items is that of t, and not of the bootstrap (docs/statistics.md)."""


EFFECT_COLUMNS = (
    "suite", "model", "measure", "phenomenon", "scale", "scope", "items", "plain", "se plain",
    "first changed", "se first changed", "second changed", "se second changed", "both changed",
    "se both changed", "first effect", "second effect", "total effect", "DD", "reason",
)  # fmt: skip


DD_COLUMNS = (
    "suite", "model", "measure", "phenomenon", "item", "plain", "first changed", "second changed",
    "both changed", "DD", "pairs", "reason",
)  # fmt: skip


def _named(columns: Sequence[str], results: Sequence[Factorial]) -> tuple[str, ...]:
    """The column names, with the names of factors and conditions if all designs share them."""
    factors = {phenomenon.square.factors for result in results for phenomenon in result.phenomena}
    if len(factors) != 1:
        return tuple(columns)
    first, second = factors.pop()
    names = {
        f"{plain} {what}": f"{named} {what}"
        for plain, named in (("first", first), ("second", second))
        for what in ("changed", "effect")
    }
    squares = {one.square.conditions for result in results for one in result.phenomena}
    conditions = squares.pop() if len(squares) == 1 else ()
    if all(conditions):
        cells = ("plain", "first changed", "second changed", "both changed")
        names |= {cell: str(name) for cell, name in zip(cells, conditions, strict=False)}
    names |= {f"se {plain}": f"se {named}" for plain, named in names.items()}
    return tuple(names.get(column, column) for column in columns)


def effects_grid(results: Sequence[Factorial], *, scale: Normalization | None = None) -> Grid:
    """A table of condition means with their standard errors and all effects, as records.

    Args:
        results: results of any suites.
        scale: the only scale; None for all of them.
    """
    rows = [
        (*_place(result, phenomenon), *_effect_cells(phenomenon, effects))
        for result in results
        for phenomenon in result.phenomena
        for effects in phenomenon.effects.values()
        if scale in (None, effects.normalization)
    ]
    return Grid(
        title="Condition means and effects; scores are turned so that more is better.",
        header=_named(EFFECT_COLUMNS, results),
        rows=tuple(rows),
        labels=6,
        remarks=1,
        notes=(
            "se: standard error of the mean over items.",
            "Effects are differences of these means, without interval here; that of DD: tests.",
        ),
    )


def _effect_cells(phenomenon: PhenomenonEffects, effects: Effects) -> tuple[str, ...]:
    means = [_number(value) for cell in effects.cells for value in (cell.mean, cell.se)]
    whole = (effects.length_effect, effects.structure_effect, effects.total_effect, effects.dd)
    return (
        effects.normalization,
        effects.scope,
        count(phenomenon.n_items),
        *means,
        *(_number(value) for value in whole),
        effects.reason or BLANK,
    )


def dd_grid(tests: Sequence[DDTest]) -> Grid:
    """A table of the DD of every phenomenon, with its interval and tests over items."""
    return Grid.of(
        tests,
        {
            "suite": lambda test: test.result.suite,
            "model": lambda test: test.result.model,
            "measure": lambda test: test.result.measure,
            "phenomenon": lambda test: test.phenomenon,
            "scale": lambda test: test.normalization,
            "items": lambda test: test.dd.n,
            "clusters": lambda test: test.clusters,
            "DD": lambda test: _number(test.dd.value),
            "low": lambda test: lower(_number(test.dd.low)),
            "high": lambda test: upper(_number(test.dd.high)),
            "t": lambda test: _number(test.dd.statistic),
            "p": lambda test: _p(test.dd.p),
            "p (Holm)": lambda test: _p(test.p_holm),
            "reason": lambda test: test.dd.reason,
        },
        title="DD over items, with its interval and test.",
        labels=5,
        remarks=1,
        notes=(HOLM, *_methods_said(tests), *why_drawn(tests)) if _tested(tests) else (),
        without=() if any(test.clusters for test in tests) else ("clusters",),
    )


def _tested(tests: Sequence[DDTest]) -> bool:
    return any(test.dd.p is not None for test in tests)


def _methods_said(tests: Sequence[DDTest], *more: str) -> list[str]:
    """How intervals and p were made, and more about p; nothing where nothing was tested."""
    said = f"Intervals (95%) and p: {interval_methods(test.dd for test in tests)}."
    return [said, *more] if _tested(tests) else []


def why_drawn(tests: Sequence[DDTest]) -> list[str]:
    """Why p is of the bootstrap, or of Student's t because there are too few items to draw."""
    drawn = (STUDENTIZED, STUDENTIZED_CLUSTERED)
    tested = [test.dd for test in tests if test.dd.p is not None]
    is_few = any(dd.method in (STUDENT, CLUSTERED_T) and dd.m < FEWEST_DRAWN for dd in tested)
    is_drawn = any(dd.method in drawn for dd in tested)
    return [*([WHY_DRAWN] if is_drawn else []), *([WHY_STUDENT] if is_few else [])]


def headline_grid(tests: Sequence[DDTest], *, notes: Sequence[str] = ()) -> Grid:
    """The table that comes first of a design: DD of every phenomenon, and what it shows.

    Args:
        tests: DD in raw scores of models, or of people.
        notes: what else is said below it.
    """
    measures = dict.fromkeys((t.result.measure, t.result.unit) for t in tests if not _is_z(t))
    by = " or ".join(", ".join(filter(None, of)) for of in measures)
    several = len({test.result.suite for test in tests}) > 1
    shown = {
        "suite": several,
        "measure": len(measures) > 1,
        "clusters": any(test.clusters for test in tests),
        OTHERS: any(test.others for test in tests),
    }
    names = 1 + shown["suite"] + shown["measure"]
    grid = Grid.of(
        tests,
        {
            "suite": lambda test: test.result.suite,
            "model": lambda test: f"{test.result.model}{' (z)' if _is_z(test) else ''}",
            "measure": lambda test: test.result.measure,
            "phenomenon": lambda test: test.phenomenon,
            "n": lambda test: test.dd.n,
            "clusters": lambda test: test.clusters,
            "DD": lambda test: EstimateCell.of(test.dd.value, test.dd, test.dd.n, digits=2),
            OTHERS: lambda test: _ends_for_others(test.others),
            "p (Holm)": lambda test: _p(test.p_holm),
            "shows": lambda test: shown_by(side_of(test.dd.value, test.p_holm), test.worst),
            "reason": lambda test: test.dd.reason,
        },
        title=f"DD, the difference of differences{f' ({by})' if by else ''}: what both changes cost"
        " beyond each alone.",
        grouped=names,
        labels=names + 1,
        remarks=1,
        notes=(
            "n: items. Each DD is taken within its item, so that items may differ in level.",
            *_methods_said(tests, f"{HOLM} What a DD shows is by this p."),
            *filter(None, map(_said_of_worst, tests)),
            *notes,
        ),
        without=[name for name, is_shown in shown.items() if not is_shown],
    )
    return replace(grid, keys={OTHERS: "DD_others"} if shown[OTHERS] else {})


def _said_of_worst(test: DDTest) -> str:
    """Of a DD that is surely above 0, that another condition is the worst; or empty."""
    is_above = side_of(test.dd.value, test.p_holm) == "above"
    said = not_the_worst(test.expected, test.worst, of_people=_is_z(test)) if is_above else ""
    return f"{test.result.model}, {test.phenomenon}: {said}." if said else ""


def _ends_for_others(others: Mean | None) -> str:
    """The interval of people's DD for other people; a dash for models."""
    return (
        no_ends("-") if others is None else formatting.interval(others.low, others.high, digits=2)
    )


def _is_z(test: DDTest) -> bool:
    """Whether scores are z-scores already, as those of people are."""
    return test.result.unit == "z"


def regions_grid(regions: Sequence[Estimate]) -> Grid:
    """A table of the DD of whole sentences and of their parts, with n and an interval."""
    return Grid.of(
        regions,
        {
            "suite": lambda region: region.suite,
            "model": lambda region: region.model,
            "phenomenon": lambda region: region.level,
            "regions": lambda region: region.question.partition(": ")[2],
            "items": lambda region: region.n,
            "DD": lambda region: _bits(region.value),
            "low": lambda region: lower(_bits(region.low)),
            "high": lambda region: upper(_bits(region.high)),
            "reason": lambda region: region.reason,
        },
        title="DD by region, in bits of surprisal: where in the sentence the effect arises.",
        grouped=3,
        labels=4,
        remarks=1,
        notes=(
            "Above 0: super-additive. The DDs of parts that do not overlap add up to that of all.",
            f"Intervals (95%): {interval_methods(regions)}. No test is made here.",
            *_small_dds(regions),
        ),
    )


def _small_dds(regions: Sequence[Estimate]) -> Iterator[str]:
    """What is said of parts in which no item's DD exceeds the error of the number format."""
    small: dict[tuple[float, str], list[str]] = {}
    for region in regions:
        if region.near_tied and region.near_tied == region.n and region.value:
            key = (region.near_tie_bits or 0.0, region.near_tie_method or "")
            small.setdefault(key, []).append(region.question.partition(": ")[2])
    for (bits, method), names in small.items():
        yield (
            f"No item's DD exceeds the error of a single margin, {bits:g} bits ({method}), in:"
            f" {', '.join(dict.fromkeys(names))}. Rounding averages out over items as far as it is"
            " random."
        )


def interval_methods(means: Iterable[Mean | Estimate]) -> str:
    """The methods of the intervals of some means, each named once; of all means if none has one."""
    several = [*means]
    methods = (
        mean.interval_method if isinstance(mean, Estimate) else mean.method
        for mean in [mean for mean in several if mean.low is not None] or several
    )
    return "; ".join(filter(None, dict.fromkeys(methods)))


def mixed_grid(models: Sequence[DesignModel]) -> Grid:
    """A table of the interaction in every mixed model."""
    rows = tuple(
        (
            *_place(model.result, model.phenomenon),
            model.normalization,
            model.formula,
            count(model.fit.n),
            *_interaction(model.interaction),
            _number(model.fit.loglik),
            model.fit.reason or ("singular fit" if model.fit.singular else BLANK),
        )
        for model in models
    )
    return Grid(
        title="Mixed models: the interaction, coded so that it is DD.",
        header=(
            "suite", "model", "measure", "phenomenon", "scale", "formula", "scores", "DD", "se",
            "low", "high", "t", "df", "p", "log-likelihood", "remark",
        ),
        rows=rows,
        labels=6,
        remarks=1,
        notes=(
            "Intercepts alone can look surer than they are, or less sure: see the table tests too.",
            "With `cluster` in the formula, effects may differ between the suite's clusters.",
            "p and 95% interval: Satterthwaite's degrees of freedom; not corrected. REML.",
        ),
    )  # fmt: skip


def _interaction(effect: FixedEffect | None) -> tuple[str, ...]:
    """The estimate, standard error, interval, t, degrees of freedom and p of a fixed effect."""
    from cimento.statistics.intervals import t_quantile, z_quantile

    if effect is None:
        return (BLANK,) * 7
    free = effect.freedom
    half = effect.se * (z_quantile(0.95) if free is None else t_quantile(free))
    ends = (effect.estimate - half, effect.estimate + half)
    numbers = (effect.estimate, effect.se, *ends, effect.statistic, free)
    estimate, se, low, high, statistic, df = map(_number, numbers)
    return estimate, se, lower(low), upper(high), statistic, df, _p(effect.p)


def licensing_grid(effects: Sequence[Estimate]) -> Grid:
    """A table of filler effects, wh-licensing interactions and island terms.

    Args:
        effects: the effects, whose questions name the window and the effect.
    """
    return Grid.of(
        effects,
        {
            "suite": lambda effect: effect.suite,
            "model": lambda effect: effect.model,
            "window": lambda effect: effect.question.rpartition(": ")[0],
            "island": lambda effect: effect.level,
            "effect": lambda effect: effect.question.rpartition(": ")[2],
            "items": lambda effect: effect.n,
            "mean": lambda effect: _number(effect.value),
            "low": lambda effect: lower(_number(effect.low)),
            "high": lambda effect: upper(_number(effect.high)),
            "p": lambda effect: _p(effect.p),
            "p (Holm)": lambda effect: _p(effect.p_corrected),
            "reason": lambda effect: effect.reason,
        },
        title="Wh-licensing over items, in bits.",
        labels=5,
        remarks=1,
        notes=(
            "Filler effect: surprisal with the wh-word less that without it.",
            "Wh-licensing: filler effect without a gap less that with one; above 0, a gap is due.",
            "Intervals of 95% and p: "
            + interval_methods(effects)
            + ". Holm's correction is over all effects of a model on the suite, in all windows.",
        ),
    )


def factorial_items_grid(results: Sequence[Factorial]) -> Grid:
    """A table of the four scores and the DD of every item, the smallest DD first."""
    rows = [
        (
            *_place(result, phenomenon),
            item.item,
            *map(_number, item.scores),
            _number(item.dd),
            _marks(phenomenon, item.scores),
            item.reason or BLANK,
        )
        for result in results
        for phenomenon in result.phenomena
        for item in sorted(
            phenomenon.effects["raw"].items, key=lambda item: (item.dd is None, item.dd or 0.0)
        )
    ]
    return Grid(
        title="Scores of every item, turned so that more is better; the smallest DD first.",
        header=_named(DD_COLUMNS, results),
        rows=tuple(rows),
        labels=5,
        remarks=1,
        notes=("Pairs in the table of accuracies: + the first scores higher, - lower, = equal.",),
    )  # fmt: skip


def _marks(phenomenon: PhenomenonEffects, scores: Sequence[float | None]) -> str:
    """One sign for each comparison of two conditions."""
    names = (cell.name for cell in phenomenon.square.cells)
    known = dict(zip(names, scores, strict=True))
    pairs = ((known[pair.better], known[pair.worse]) for pair in phenomenon.pairs)
    return "".join(
        "?" if good is None or bad is None else "+" if good > bad else "-" if good < bad else "="
        for good, bad in pairs
    )


def _place(result: Factorial, phenomenon: PhenomenonEffects) -> tuple[str, str, str, str]:
    return result.suite, result.model, result.measure, phenomenon.name

"""Mixed models of right and wrong: the models that answered a suite, beside the first of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cimento.errors import UsageError
from cimento.io.values import grouped
from cimento.paired.item_outcomes import ItemOutcomes, item_outcomes
from cimento.report.formatting import number, p_number
from cimento.report.grid import Grid
from cimento.statistics.design import Design

if TYPE_CHECKING:
    from cimento.kinds.run import Run
    from cimento.statistics.mixed import MixedFit

_MOST_SLOPES = 4
"""Models up to which each may differ freely by cluster: ten variances and covariances."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RightModel:
    """One mixed model of which items some models get right.

    Attributes:
        suite: its name.
        question: by which items are right.
        models: labels; the others are compared with the first.
        formula: as lme4 writes it.
        items: number of items.
        clusters: number of clusters, of each factor; empty where items stand alone.
        fit: with an effect for each model but the first, in their order.
    """

    suite: str
    question: str
    models: tuple[str, ...]
    formula: str
    items: int
    clusters: tuple[int, ...]
    fit: MixedFit


def right_models(runs: Sequence[Run]) -> tuple[RightModel, ...]:
    """Mixed models of right and wrong, for each suite and question of two models or more.

    ``right ~ model + (1 | item)``; where items come in clusters also ``(1 + model | cluster)``, so
    that models may differ more in one cluster than in another (Barr et al. 2013,
    doi:10.1016/j.jml.2012.11.001). Where that fit is singular or does not converge, or there are
    many models, ``(1 | cluster) + (1 | cluster:model)`` follows, with one variance for all models.

    Raises:
        UsageError: no suite was answered by two models.
    """
    by_question = grouped(
        ((one.suite, one.question), one) for one in item_outcomes(runs) if one.right
    )
    several = [alike for alike in by_question.values() if len(alike) > 1]
    if not several:
        raise UsageError(
            where="--table mixed-right",
            seen="no suite has items that two models got right or wrong",
            todo="Give runs of two models or more on one suite.",
        )
    return tuple(model for alike in several for model in _of_question(alike))


def _of_question(alike: Sequence[ItemOutcomes]) -> Iterator[RightModel]:
    items = list(dict.fromkeys(item for one in alike for item in one.right))
    design = alike[0].design(items)
    factors = design.factors() if design.clustered else ()
    names = ["cluster" if n == 1 else f"cluster_{n}" for n in range(1, len(factors) + 1)]
    slopes = " + ".join(f"(1 + model | {name})" for name in names)
    apart = " + ".join(f"(1 | {name}) + (1 | {name}:model)" for name in names)
    random = [slopes] if len(alike) <= _MOST_SLOPES else []
    for terms in [*random, apart] if names else [""]:
        formula = " + ".join(filter(None, ["right ~ model", terms, "(1 | item)"]))
        fit = _fitted(formula, alike, items, factors)
        yield RightModel(
            suite=alike[0].suite,
            question=alike[0].question,
            models=tuple(one.model for one in alike),
            formula=formula,
            items=len(items),
            clusters=tuple(factor.m for factor in factors),
            fit=fit,
        )
        if fit.doubt is None:
            return


def _fitted(
    formula: str, alike: Sequence[ItemOutcomes], items: Sequence[str], factors: Sequence[Design]
) -> MixedFit:
    from cimento.statistics.mixed_answers import logistic_mixed_model

    rows = [(item, n) for item in items for n, one in enumerate(alike) if item in one.right]
    columns: dict[str, Sequence[Hashable]] = {
        "right": [float(alike[n].right[item]) for item, n in rows],
        "item": [item for item, _ in rows],
    }
    dummies = [f"model_{n}" for n in range(2, len(alike) + 1)]
    for n, dummy in enumerate(dummies, start=1):
        columns[dummy] = [float(which == n) for _, which in rows]
    text = formula
    for number_, factor in enumerate(factors, start=1):
        name = "cluster" if number_ == 1 else f"cluster_{number_}"
        label = dict(zip(factor.units, factor.clusters, strict=True))
        columns[name] = [label[item] for item, _ in rows]
        columns[f"{name}_model"] = [(label[item], n) for item, n in rows]
        text = text.replace(f"{name}:model", f"{name}_MODEL")
    text = text.replace("model", " + ".join(dummies)).replace("_MODEL", "_model")
    return logistic_mixed_model(text, columns)


_METHOD = (
    "Logistic, by Laplace's approximation, as lme4's glmer. 95% interval and p: normal, not"
    " corrected; for other items and clusters of the kind."
)


def right_grid(runs: Sequence[Run]) -> Grid:
    """The table of mixed models of right and wrong (`right_models`).

    Raises:
        UsageError: no suite was answered by two models.
    """
    return Grid(
        title="Mixed models of right and wrong: each model beside another, in log-odds.",
        header=(
            "suite", "question", "formula", "items", "clusters", "model", "beside", "log-odds",
            "se", "low", "high", "z", "p", "log-likelihood", "remark",
        ),
        rows=tuple(row for model in right_models(runs) for row in _rows(model)),
        labels=7,
        remarks=1,
        notes=(
            "Above 0 the model is right more often than the one beside it, on the same items.",
            _METHOD,
            "With cluster in the formula, models may differ more in one cluster than in another.",
        ),
    )  # fmt: skip


def _rows(model: RightModel) -> Iterator[tuple[str, ...]]:
    from cimento.statistics.intervals import z_quantile

    first, *others = model.models
    clusters = " x ".join(map(str, model.clusters)) or "-"
    place = (model.suite, model.question, model.formula, str(model.items), clusters)
    doubt, reach = model.fit.doubt, z_quantile(0.95)
    effects = [effect for effect in model.fit.fixed if effect.name.startswith("model_")]
    for n, other in enumerate(others):
        if doubt is not None or not effects:
            yield (*place, other, first, *("-",) * 7, doubt or "-")
            continue
        one = effects[n]
        ends = (one.estimate - reach * one.se, one.estimate + reach * one.se)
        numbers = map(number, (one.estimate, one.se, *ends, one.statistic))
        yield (*place, other, first, *numbers, p_number(one.p), number(model.fit.loglik), "-")

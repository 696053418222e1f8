"""Comparisons that are explained: their margins, and which condition's states are put where.

A prediction holds because of something in the sentences that it compares. To find where a model
carries it, hidden states of one condition (the source) are put into another (the base), region by
region; conditions should differ in one controller, such as the filler or the number of the subject.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cimento.errors import UsageError, did_you_mean, need_known
from cimento.models.questions import AlignmentRule, AttributionRule, BaselineRule, Part
from cimento.paradigms.regions.judging import judged_suite, suite_of
from cimento.paradigms.regions.predictions import parse_predictions
from cimento.paradigms.regions.twins import KEY, Twins, controller_of, twins_of, with_twins
from cimento.suites.formula import (
    Number,
    Quantity,
    Reference,
    comparisons,
)
from cimento.suites.naming import find_prediction

if TYPE_CHECKING:
    from cimento.kinds.run import Run
    from cimento.suites import Condition, Item, Suite


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainSettings:
    """The settings of an explanation.

    Attributes:
        part: the part of a layer whose states are exchanged.
        align: which tokens of a region are exchanged. ``auto``: all, or the last one where the two
            conditions have other numbers of tokens there; ``exact``: all, and only in items whose
            sentences have the same tokens' positions; ``last``: the last one.
        swaps: the source of each base, by condition; empty to find them.
        features: columns with the features in which twins differ; empty to find them.
        controller: numbers of the regions that make the controller; empty to find them.
        reverse: whether bases and sources that are found change places.
        regions: numbers of the regions whose states are exchanged; empty for all.
        items: ids of the items; empty for all.
        predictions: names or numbers of the predictions; empty for all.
        rule: the way in which contributions of tokens are found, if nothing is exchanged.
        baseline: the embedding from which contributions count.
    """

    part: Part = "residual"
    align: AlignmentRule = "auto"
    swaps: Mapping[str, str] = field(default_factory=dict)
    features: tuple[str, ...] = ()
    controller: tuple[int, ...] = ()
    reverse: bool = False
    regions: tuple[int, ...] = ()
    items: tuple[str, ...] = ()
    predictions: tuple[str, ...] = ()
    rule: AttributionRule = "integrated"
    baseline: BaselineRule = "mean"

    def named_regions(
        self, run: Run, *, controller: Sequence[str], regions: Sequence[str]
    ) -> ExplainSettings:
        """The settings with regions of a run by their names or numbers.

        Args:
            run: run of a region suite.
            controller: the regions that make the controller.
            regions: regions whose states are exchanged.

        Raises:
            UsageError: the suite has no such region.
        """
        suite = suite_of(run)
        return replace(
            self,
            controller=regions_named(suite, controller, flag="--controller"),
            regions=regions_named(suite, regions),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SwapContrast:
    """A comparison that a prediction makes, and what is exchanged in it.

    Attributes:
        question: the question of the outcomes; of several comparisons, with a number.
        weights: the factor of each region value in the margin, which is their sum plus `constant`.
        constant: the sum of the formula's numbers, in the unit of the formula.
        swaps: the source of each base, by condition.
    """

    question: str
    weights: Mapping[Reference, float]
    constant: float
    swaps: Mapping[str, str]

    def measured(self, condition: str) -> frozenset[int | str]:
        """The regions of a condition that the comparison needs, or that its base needs."""
        bases = {condition, *(base for base, source in self.swaps.items() if source == condition)}
        return frozenset(r.region for r in self.weights if r.condition in bases)

    @property
    def conditions(self) -> tuple[str, ...]:
        """All conditions that must be scored."""
        named = [reference.condition for reference in self.weights]
        return tuple(dict.fromkeys((*named, *self.swaps, *self.swaps.values())))

    @property
    def named(self) -> str:
        """The swaps in words."""
        return ", ".join(f"{source} into {base}" for base, source in self.swaps.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrasts:
    """The comparisons that are explained.

    Attributes:
        suite: the suite, with twins as further conditions of its items where they are built.
        contrasts: the comparisons.
        twins: the twins, by the number of their comparison.
        unexplained: why other comparisons are not explained, as sentences.
    """

    suite: Suite
    contrasts: tuple[SwapContrast, ...]
    twins: Mapping[int, Twins]
    unexplained: tuple[str, ...] = ()

    def notes(self) -> Iterator[str]:
        """What twins are built or declared, as sentences."""
        for number, twins in self.twins.items():
            for line in twins.notes(self.suite):
                yield f"{self.contrasts[number].question}: {line}"

    def donor(self, number: int, item: str) -> str:
        """The item that an item's controller comes from in a comparison; empty for no other."""
        return self.twins[number].donors.get(item, "") if number in self.twins else ""


def contrasts_of(run: Run, settings: ExplainSettings) -> Contrasts:
    """The comparisons of a run's predictions, with twins where no two conditions can be exchanged.

    Args:
        run: run of a region suite.
        settings: the settings.

    Raises:
        UsageError: a condition or region is unknown, or nothing can be explained.
    """
    suite = judged_suite(run)
    margins = margins_of(run, settings)
    contrasts: list[SwapContrast] = []
    reasons = list(margins.unexplained)
    built: dict[int, Twins] = {}
    for margin in margins.contrasts:
        try:
            contrast, twins = _swapped(suite, margin, settings)
        except UsageError as error:
            todo = error.todo.rstrip(".")
            remedy = f" ({todo[:1].lower()}{todo[1:]})" if todo else ""
            reasons.append(f"{margin.question}: {error.seen}{remedy}")
            continue
        if twins is not None:
            built[len(contrasts)] = twins
        contrasts.append(contrast)
    if not contrasts:
        raise UsageError(
            where=f"suite {suite.name!r}",
            seen="; ".join(reasons),
            todo="Give --by=integrated, which says what each word contributes and needs no other"
            " sentence; or say which condition differs in one controller only:"
            " --swap=BASE=SOURCE puts the states of SOURCE into BASE.",
        )
    return Contrasts(
        suite=with_twins(suite, list(built.values())),
        contrasts=tuple(contrasts),
        twins=built,
        unexplained=tuple(reasons),
    )


def margins_of(run: Run, settings: ExplainSettings) -> Contrasts:
    """The comparisons of a run's predictions, in which nothing is exchanged.

    Args:
        run: run of a region suite.
        settings: the settings, of which items and predictions count.

    Raises:
        UsageError: a condition or region is unknown, or no prediction has a margin.
    """
    suite = judged_suite(run)
    _refuse_unknown(suite, settings)
    chosen = _chosen(run, settings.predictions)
    contrasts, reasons = [], []
    for prediction, tree in zip(suite.predictions, parse_predictions(suite), strict=True):
        question = prediction.name
        if question not in chosen:
            continue
        parts = comparisons(tree)
        for number, part in enumerate(parts, start=1):
            name = question if len(parts) == 1 else f"{question}, part {number}"
            if part.operator == "=":
                reasons.append(f"{name}: an equality has no margin")
                continue
            sign = 1.0 if part.operator == ">" else -1.0
            weights: dict[Reference, float] = {}
            constant = _weigh(part.left, sign, weights) + _weigh(part.right, -sign, weights)
            contrasts.append(
                SwapContrast(question=name, weights=weights, constant=constant, swaps={})
            )
    if not contrasts:
        raise UsageError(
            where=f"suite {suite.name!r}",
            seen="; ".join(reasons) or "it predicts nothing",
            todo="Give a prediction that compares surprisals, with cimento judge --prediction.",
        )
    return Contrasts(suite=suite, contrasts=tuple(contrasts), twins={}, unexplained=tuple(reasons))


def _chosen(run: Run, predictions: Sequence[str]) -> set[str]:
    """The questions of some predictions, given by name or number.

    Raises:
        UsageError: there is no such prediction.
    """
    suite = judged_suite(run)
    judged = [prediction.name for prediction in suite.predictions]
    chosen = set()
    for text in predictions:
        prediction = find_prediction(text, suite_of(run).predictions)
        name = prediction.name if prediction is not None else text
        need_known(
            name,
            judged,
            where=f"--prediction {text}",
            seen=f"the run of {suite.name!r} has no such prediction",
        )
        chosen.add(name)
    return chosen or set(judged)


def _refuse_unknown(suite: Suite, settings: ExplainSettings) -> None:
    lacks = f"the suite {suite.name!r} has no such"
    for name in (*settings.swaps, *settings.swaps.values()):
        known = suite.condition_names
        need_known(name, known, where=f"--swap={name}", seen=f"{lacks} condition")
    for item in settings.items:
        need_known(item, suite.columns.ids, where=f"item {item!r}", seen=f"{lacks} item")


def _swapped(
    suite: Suite, margin: SwapContrast, settings: ExplainSettings
) -> tuple[SwapContrast, Twins | None]:
    """A comparison with what is exchanged in it, and its twins if it needs any.

    Raises:
        UsageError: it is not known what to exchange.
    """
    question, weights = margin.question, margin.weights
    conditions = list(dict.fromkeys(reference.condition for reference in weights))
    swaps = {
        base: source
        for base, source in (settings.swaps or _declared(suite)).items()
        if base in conditions
    }
    if not swaps and not settings.swaps:
        swaps = _found(suite, weights, conditions)
        if settings.reverse:
            swaps = {source: base for base, source in swaps.items()}
    contrast = replace(margin, swaps=swaps)
    if swaps and any(can_swap(contrast, item) for item in suite.items):
        return contrast, None
    measured = frozenset(reference.region for reference in weights)
    if settings.swaps or "*" in measured:
        raise UsageError(
            where=question,
            seen=f"none of its conditions ({', '.join(conditions)}) has a twin that differs in one"
            " controller and is the same where something is measured",
        )
    controller = controller_of(
        suite, conditions, measured, features=settings.features, regions=settings.controller
    )
    twins = twins_of(suite, conditions, measured, controller)
    if not twins.regions:
        reason = next(iter(twins.left_out.values()), "no item has all conditions")
        raise UsageError(where=question, seen=f"no item has a twin: {reason}")
    return replace(margin, swaps={name: controller.twin_of(name) for name in conditions}), twins


def can_swap(contrast: SwapContrast, item: Item) -> bool:
    """Whether an item has all conditions of a contrast, with bases and sources that are alike."""
    names = {condition.name for condition in item.conditions}
    return names.issuperset(contrast.conditions) and all(
        _is_alike(item.condition(base), item.condition(source), contrast.measured(base))
        for base, source in contrast.swaps.items()
    )


def _weigh(node: Quantity, factor: float, weights: dict[Reference, float]) -> float:
    """Add the factors of the values in a quantity; returns the sum of its numbers."""
    match node:
        case Reference():
            weights[node] = weights.get(node, 0.0) + factor
            return 0.0
        case Number(value):
            return factor * value
        case _:
            right = factor if node.operator == "+" else -factor
            return _weigh(node.left, factor, weights) + _weigh(node.right, right, weights)


def _declared(suite: Suite) -> Mapping[str, str]:
    """The swaps that a suite declares: ``[explain] swaps = { match = "twin_mismatch" }``."""
    declared = suite.extra.get(KEY)
    swaps = declared.get("swaps") if isinstance(declared, dict) else None
    return {key: str(value) for key, value in swaps.items()} if isinstance(swaps, dict) else {}


def _found(
    suite: Suite, weights: Mapping[Reference, float], conditions: Sequence[str]
) -> dict[str, str]:
    """The swaps of a comparison that none are given for.

    Of two conditions, the one whose surprisal should be higher is the base. With more, each at a
    later level of the first factor in which two of them differ is a base, and its partner at the
    first level, alike in all other factors, the source.
    """
    if len(conditions) == 2:  # noqa: PLR2004
        total = dict.fromkeys(conditions, 0.0)
        for reference, factor in weights.items():
            total[reference.condition] += factor
        source, base = sorted(conditions, key=total.__getitem__)
        return {base: source}
    levels = {
        condition.name: {name: condition.columns.get(name, "") for name in suite.factors}
        for _, condition in suite.stimuli()
    }
    for name, listed in suite.factors.items():
        pairs: dict[str, str] = {}
        for base in conditions:
            base_levels = levels[base]
            if base_levels[name] == listed[0]:
                continue
            wanted = base_levels | {name: listed[0]}
            partners = [other for other in conditions if levels[other] == wanted]
            if partners:
                pairs[base] = partners[0]
        if 2 * len(pairs) == len(conditions):
            return pairs
    return {}


def _is_alike(base: Condition, source: Condition, measured: frozenset[int | str]) -> bool:
    """Whether two sentences are the same where something is measured, and differ elsewhere."""
    one, other = ([region.text for region in condition.regions] for condition in (base, source))
    pairs = enumerate(zip(one, other, strict=False), start=1)
    apart = {number for number, (first, second) in pairs if first != second}
    return bool(apart) and "*" not in measured and not apart & measured


def regions_named(suite: Suite, names: Sequence[str], *, flag: str = "--region") -> tuple[int, ...]:
    """Numbers of regions from their numbers or names.

    Raises:
        UsageError: the suite has no such region.
    """
    known = {name: number for number, name in enumerate(suite.region_names, start=1)}
    known |= {str(number): number for number in range(1, len(suite.region_names) + 1)}
    for name in names:
        if name not in known:
            raise UsageError(
                where=f"{flag} {name}",
                seen=f"the suite {suite.name!r} has no such region",
                todo=_meant(name, suite),
            )
    return tuple(sorted({known[name] for name in names}))


def _meant(name: str, suite: Suite) -> str:
    """The region that an unknown name is close to, or all of them in their order."""
    close = did_you_mean(name, suite.region_names)
    if close.startswith("Did"):
        return close
    named = ", ".join(f"{k} ({name})" for k, name in enumerate(suite.region_names, start=1))
    return f"It has the regions {named}."

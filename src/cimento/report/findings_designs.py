"""Sentences on factorial designs: where a model shows the effect, and where that is open.

A design is reported by DD, the difference of differences of its conditions. The effect is there if
DD is above 0 by its p-value, corrected over the phenomena and measures of the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from cimento.io.values import grouped
from cimento.records.effects import DesignEffect, Side, not_the_worst
from cimento.records.outcomes import reasons_together
from cimento.report.design_differences import DesignDifference, said_of_differences
from cimento.report.findings_pairs import FEW_MODELS, joined
from cimento.report.formatting import interval, number, p_value

MOST_IN_FULL = 4
"""Most phenomena of one result that are given with their numbers; else only with their names."""

_NOTE = (
    "DD: the difference of differences, taken within items; it shows the effect if it is above 0"
    " by p, corrected by Holm's method over the phenomena and measures of a model."
)
_PEOPLE = (
    "People's DD is that of their ratings, of z-scores within participants where these are named:"
    " for these people, and then for others too."
)
_DIFFERENCES = "Differences of DDs are paired by item"
_OVER = ", p corrected by Holm's method over all {} tests"


@dataclass(frozen=True, slots=True)
class DesignResult:
    """The DDs of a run of a factorial design.

    Attributes:
        model: name of the model.
        effects: DD of each phenomenon, of one suite.
    """

    model: str
    effects: tuple[DesignEffect, ...]

    @property
    def suite(self) -> str:
        """The name of the suite."""
        return self.effects[0].estimate.suite


@dataclass(frozen=True, slots=True)
class Designs:
    """What is known of some factorial designs.

    Attributes:
        results: one for each model and suite.
        differences: the paired differences of DD of every two models.
        people: names of suites, each mapped to the DDs in people's ratings of its sentences.
    """

    results: tuple[DesignResult, ...] = ()
    differences: tuple[DesignDifference, ...] = ()
    people: Mapping[str, Sequence[DesignEffect]] = field(default_factory=dict)

    @property
    def suites(self) -> tuple[str, ...]:
        """The names of the suites."""
        return tuple(dict.fromkeys(result.suite for result in self.results))

    @property
    def notes(self) -> tuple[str, ...]:
        """What the words mean, as far as they are used."""
        tests = max((one.family for one in self.differences), default=0)
        few = len({result.model for result in self.results}) <= FEW_MODELS
        over = _OVER.format(tests) if tests > 1 else ""
        compared = (f"{_DIFFERENCES}{over}.",) if tests and few else ()
        rated = (_PEOPLE,) if any(self.people.values()) else ()
        return (_NOTE, *rated, *compared) if self.results else ()


NO_DESIGNS = Designs()


def _shown_by_models(designs: Designs) -> Iterator[str]:
    """What people and each of some models show on some designs; many models are counted."""
    models = dict.fromkeys(result.model for result in designs.results)
    for suite, where in _places(designs):
        of_suite = [result for result in designs.results if result.suite == suite]
        if people := designs.people.get(suite):
            yield f"People{where} {_one_result(people, of_people=True)}"
        if len(models) > FEW_MODELS:
            yield from _counted(of_suite, where)
        else:
            yield from (
                f"{result.model}{where} {_one_result(result.effects)}" for result in of_suite
            )


def _compared_models(designs: Designs) -> Iterator[str]:
    """Which of few models differ on some designs."""
    if len({result.model for result in designs.results}) <= FEW_MODELS:
        for suite, where in _places(designs):
            pairs = [one for one in designs.differences if one.suite == suite]
            yield from (f"{said}{where}" for said in said_of_differences(pairs))


DESIGNS_SAID = (_shown_by_models, _compared_models)
"""What is said of designs: of each model, and of models beside each other."""


def _places(designs: Designs) -> Iterator[tuple[str, str]]:
    """The suites, each with how it is named in a sentence."""
    for suite in designs.suites:
        yield suite, f" on {suite}" if len(designs.suites) > 1 else ""


_IN: dict[Side, str] = {
    "above": "shows the effect",
    "below": "shows the opposite of what is expected",
    "open": "is not distinguishable from no effect",
    "undefined": "has no test",
}
_OF_PEOPLE: dict[Side, str] = {
    "above": "show the effect",
    "below": "show the opposite of what is expected",
    "open": "show no effect distinguishable from 0",
    "undefined": "have no test",
}


def _one_result(effects: Sequence[DesignEffect], *, of_people: bool = False) -> str:
    words = _OF_PEOPLE if of_people else _IN
    by_side = grouped((effect.side, effect) for effect in effects)
    alone = len(effects) == 1
    parts = [
        f"{said}{_listed(by_side[side], alone=alone)}"
        for side, said in words.items()
        if side in by_side
    ]
    others = [effect for effect in by_side.get("above", ()) if effect.worst]
    told = [not_the_worst(one.expected, one.worst, of_people=of_people) for one in others]
    if alone and others:
        parts.append(f"but {told[0]}")
    elif others:
        told = [f"{one.estimate.level} {said}" for one, said in zip(others, told, strict=True)]
        parts.append(f"but in {'; in '.join(told)}")
    return "; ".join(parts)


def _listed(effects: Sequence[DesignEffect], *, alone: bool) -> str:
    """The phenomena with their DDs; if there are many, the names alone."""
    why = reasons_together(
        effect.estimate.reason for effect in effects if effect.side == "undefined"
    )
    after = f": {why}" if why else ""
    if alone:
        return f" ({_size(effects[0])}){after}"
    names = [effect.estimate.level for effect in effects]
    if len(effects) <= MOST_IN_FULL:
        names = [f"{name} ({_size(effect)})" for name, effect in zip(names, effects, strict=True)]
    return f" in {joined(names)}{after}"


def _size(effect: DesignEffect) -> str:
    """DD with its unit, its interval, and the number of items and clusters."""
    return f"DD {_number(effect)}, {effect.size}"


def _number(effect: DesignEffect) -> str:
    """The value with its unit, its interval and p."""
    one = effect.estimate
    unit = f" {one.unit}" if one.unit else ""
    if one.value is None:
        return "undefined"
    ends = interval(one.low, one.high, digits=2, absent="without interval")
    p = "" if one.p_corrected is None else f", {p_value(one.p_corrected)}"
    others = ""
    if effect.others is not None:
        others = f", for other people too {interval(*effect.others, digits=2)}"
    return f"{number(one.value, digits=2)}{unit} {ends}{p}{others}"


def _counted(results: Sequence[DesignResult], where: str) -> Iterator[str]:
    """How many of many models show the effect in each phenomenon."""
    by_level = grouped((e.estimate.level, e.side) for result in results for e in result.effects)
    counts = [
        f"{sides.count('above')} in {level}"
        + (f" ({sides.count('below')} the opposite)" if "below" in sides else "")
        for level, sides in by_level.items()
    ]
    yield f"Of {len(results)} models{where}, the effect is shown by {joined(counts)}"

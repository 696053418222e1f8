"""Values computed from scored tokens: values of regions and measures of sentences.

All functions are pure: they take stored tables and plain records, and no model. `regions` computes
the values that predictions over regions compare, `sentence` holds the measures of whole
sentences, and `scores` computes these for every sentence of a run. Here measures are found by name:
those of cimento, with a parameter after a colon, and those of plug-ins.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias, TypeGuard

from cimento.errors import PluginError, UsageError, did_you_mean
from cimento.io.parsing import number_in
from cimento.io.plugins import (
    PluginGroup,
    PluginPackage,
    blamed,
    find_plugin,
    package_of_plugin,
    plugin_names,
    proposed_names,
    why_skipped,
)
from cimento.io.tables import COLUMNS, Column
from cimento.io.values import (
    BITS_PER_NAT,
    NoValue,
    UndefinedValueError,
    Unit,
    Value,
    surprisal_bits,
    total,
)
from cimento.measures.regions import RegionValues, region_metric, region_values
from cimento.measures.scores import NOT_ASKED, boundary_corrected
from cimento.measures.sentence import (
    ADJUSTABLE,
    MEASURES,
    NEEDS,
    Measure,
    Sentence,
    corpus_perplexity,
)

__all__ = [
    "BITS_PER_NAT",
    "MEASURES",
    "NOT_ASKED",
    "Measure",
    "MeasuresLike",
    "NoValue",
    "RegionValues",
    "Sentence",
    "Unit",
    "Value",
    "boundary_corrected",
    "columns_needed",
    "corpus_perplexity",
    "fault_of_needs",
    "find_measure",
    "find_measures",
    "is_unit",
    "judged_on",
    "names_of_measures",
    "package_of_measure",
    "plugged_measures",
    "region_metric",
    "region_values",
    "surprisal_bits",
    "texts_of_measures",
    "total",
]

MeasuresLike: TypeAlias = str | Measure | Sequence[str | Measure]
"""A measure or several, by name (``"lp"``, ``"lp,slor"``) or as an object; the first decides."""

_GROUP: PluginGroup = "cimento.measures"
_EXPECTED = "a Measure"
_UNIT = re.compile(r"(nats|bits)( per [^ ].*)?")

REGIONS = "regions"
"""The name that stands for the values of regions where a measure is named."""

_BY_ANY_NAME = {
    name: measure for measure in MEASURES.values() for name in (measure.name, *measure.aliases)
}


def find_measure(name: str) -> Measure:
    """The measure of a name; ``penlp:0.6`` is PenLP with an alpha of 0.6.

    Raises:
        UsageError: there is no such measure, or its alpha is not a positive number.
        PluginError: the measure of a plug-in has a wrong unit, name or needs.
    """
    family, colon, alpha = name.strip().lower().partition(":")
    if not colon and family in _BY_ANY_NAME:
        return _BY_ANY_NAME[family]
    if colon and family in ADJUSTABLE:
        return ADJUSTABLE[family](_alpha(alpha, name))
    if not colon and (plugged := _plugged(family)):
        return plugged
    if colon and family in _BY_ANY_NAME:
        raise UsageError(
            where=f"measure {name!r}",
            seen=f"{family} has no alpha",
            todo=f"Only {' and '.join(ADJUSTABLE)} have one.",
        )
    skipped = why_skipped(_GROUP, family)
    raise UsageError(
        where=f"measure {name!r}",
        seen=f"there is no such measure, since {skipped}"
        if skipped
        else "there is no such measure",
        todo="Please tell its author."
        if skipped
        else did_you_mean(family, [*_BY_ANY_NAME, REGIONS, *proposed_names(_GROUP)]),
    )


def _plugged(name: str) -> Measure | None:
    """The measure of a plug-in, under the name by which it was asked for; None if there is none."""
    measure = find_plugin(_GROUP, name, expected=_EXPECTED, is_right=_is_measure)
    if measure is None:
        return None
    _refuse_unusable(measure, name)

    def value(sentence: Sentence) -> float:
        with blamed(_GROUP, name, but=UndefinedValueError):
            number = float(measure.function(sentence))
        if math.isnan(number):
            raise UndefinedValueError(f"the measure {name} returned no number (NaN)")
        return number

    return replace(measure, name=name, aliases=(), function=value)


def package_of_measure(name: str) -> PluginPackage | None:
    """The package of a measure by its name; None for one of cimento's own, or for no measure."""
    if name in _BY_ANY_NAME or ":" in name:
        return None
    return package_of_plugin(_GROUP, name, expected=_EXPECTED, is_right=_is_measure)


def plugged_measures() -> tuple[str, ...]:
    """The names of the measures of plug-ins, found without loading any."""
    return tuple(sorted(plugin_names(_GROUP) - _BY_ANY_NAME.keys()))


def is_unit(text: str) -> bool:
    """Whether a measure may have this unit: one of information, with its divisor, or none."""
    return not text or _UNIT.fullmatch(text) is not None


def fault_of_needs(needs: object) -> str:
    """Say what is wrong with what a measure declares that it needs; empty if nothing is."""
    known = ", ".join(map(repr, NEEDS))
    if not isinstance(needs, tuple):
        return f"its needs are a {type(needs).__name__} and must be a tuple of {known}"
    unknown = [repr(need) for need in needs if need not in NEEDS]
    return f"it needs {', '.join(unknown)}; only {known} can be read" if unknown else ""


def _is_measure(value: object) -> TypeGuard[Measure]:
    return isinstance(value, Measure)


def _refuse_unusable(measure: Measure, name: str) -> None:
    """Refuse a measure of a plug-in whose unit, name or needs are wrong.

    Raises:
        PluginError: its unit is none of information, its name is not that of its entry point, or it
            needs what no sentence has.
    """
    wrong = [
        *([f"its unit is {measure.unit!r}"] if not is_unit(measure.unit) else []),
        *([f"its name is {measure.name!r}"] if measure.name != name else []),
        *filter(None, [fault_of_needs(measure.needs)]),
    ]
    if wrong:
        raise PluginError(
            where=f"the measure {name!r} of {package_of_measure(name)}",
            seen=" and ".join(wrong),
            todo="A unit is nats or bits, alone or with a divisor (nats per token), or empty; a"
            " name is that of the entry point. Please tell its author.",
        )


def find_measures(names: Sequence[str]) -> tuple[Measure, ...]:
    """The measures of some names without repeats; a name may be several separated by commas.

    Raises:
        UsageError: there is no such measure.
    """
    single = [part for name in names for part in name.split(",") if part.strip()]
    return tuple({measure.name: measure for measure in map(find_measure, single)}.values())


def names_of_measures(given: object) -> object:
    """What was given for measures with a name in the place of each object; else as it is.

    A stored run has the name of its measure, and the version of the package that it is found in.
    So an object stands for its name only if it is what is found by it.

    Args:
        given: a measure, or several; anything else stays.

    Raises:
        UsageError: a measure is not registered, or another one is under its name.
    """
    if isinstance(given, list | tuple):
        return type(given)(map(names_of_measures, given))
    if not isinstance(given, Measure):
        return given
    name = given.name
    found = _BY_ANY_NAME.get(name) or find_plugin(
        _GROUP, name, expected=_EXPECTED, is_right=_is_measure
    )
    if found is not None and found != given:
        raise UsageError(
            where=f"measure {name!r}",
            seen="another measure has this name",
            todo="Give it a name of its own.",
        )
    if found is None:
        raise UsageError(
            where=f"measure {name!r}",
            seen="no package registers it, so a stored run could not be judged on it again",
            todo=f'Put the lines\n[project.entry-points."{_GROUP}"]\n{name} = "MODULE:VARIABLE"\n'
            f"into the pyproject.toml of a package, install it, and give the name {name!r}.",
        )
    return name


def texts_of_measures(given: object) -> tuple[str, ...]:
    """The names of measures, each of which may be several with commas, from a name or several.

    Args:
        given: what was given as `MeasuresLike`.

    Raises:
        UsageError: it is something else, or a measure that is not registered.
    """
    several = [given] if isinstance(given, str | Measure) else given
    if isinstance(several, list | tuple):
        names = [names_of_measures(one) for one in several]
        if all(isinstance(name, str) for name in names):
            return tuple(map(str, names))
    raise UsageError(
        where="option measures",
        seen=f"got {given!r}",
        todo="Give the name of a measure, such as lp, or a Measure, or a list of these.",
    )


def judged_on(names: Sequence[str]) -> tuple[str, ...]:
    """The names of measures as `Judging` has them, where ``regions`` is the empty name.

    Args:
        names: names of measures; each may be several separated by commas.

    Raises:
        UsageError: there is no such measure.
    """
    single = [part.strip() for name in names for part in name.split(",") if part.strip()]
    plain = ("" if name == REGIONS else find_measure(name).name for name in single)
    return tuple(dict.fromkeys(plain))


def columns_needed(names: Sequence[str]) -> tuple[Column, ...]:
    """The columns of the tokens table that some measures need; the empty name needs none.

    Raises:
        UsageError: there is no such measure.
    """
    needs = {need for name in names if name for need in find_measure(name).needs}
    return tuple(column for column in COLUMNS if column in needs)


def _alpha(text: str, name: str) -> float:
    alpha = number_in(text)
    if not 0 < alpha < math.inf:
        raise UsageError(
            where=f"measure {name!r}",
            seen=f"{text!r} is not a positive number",
            todo="Write the alpha after the colon: penlp:0.6.",
        )
    return alpha

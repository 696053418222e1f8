"""Checks of what a suite says about its design: factors, clusters, language, canary."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cimento.errors import Fault, InputError, did_you_mean
from cimento.suites.canary import is_canary
from cimento.suites.checks.stimuli import Check, Stimuli
from cimento.suites.design import squares, windows_of
from cimento.suites.faults import fault
from cimento.suites.licensing import licensing_of

_LANGUAGE_CODE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9-]+)?")
_CODES = {
    "english": "en", "italian": "it", "portuguese": "pt", "russian": "ru", "spanish": "es",
    "french": "fr", "german": "de", "dutch": "nl", "catalan": "ca", "chinese": "zh",
}  # fmt: skip


def _factors(stimuli: Stimuli) -> Iterator[Fault]:
    factors = stimuli.suite.factors
    columns = stimuli.suite.column_names if factors else ()
    for factor, levels in factors.items():
        if factor in columns:
            yield from _levels(stimuli, factor, levels)
            continue
        seen = f"The factor {factor!r} has no column of its name."
        todo = f"Add the column. {did_you_mean(factor, columns)}"
        yield fault("CIM-S030", where=f"factor {factor}", seen=seen, todo=todo)


def _levels(stimuli: Stimuli, factor: str, levels: Sequence[str]) -> Iterator[Fault]:
    for number, condition in enumerate(stimuli.conditions):
        level = condition.columns.get(factor, "")
        if not level:
            seen = f"The factor {factor!r} has no level here."
            yield fault("CIM-S030", where=stimuli.where(number), seen=seen)
        elif level not in levels:
            seen = f"{level!r} is not a level of the factor {factor!r}."
            todo = did_you_mean(level, levels)
            yield fault("CIM-S031", where=stimuli.where(number), seen=seen, todo=todo)


def _cells(stimuli: Stimuli) -> Iterator[Fault]:
    """Cells of the design that no condition fills, and declarations that make no design."""
    suite = stimuli.suite
    if suite.factors and not set(suite.factors) <= set(suite.column_names):
        return
    try:
        licensing_of(suite)
        found = squares(suite)
        windows_of(suite)
    except InputError as error:
        yield fault("CIM-S034", where=error.where, seen=f"{error.seen}.", todo=error.todo)
        return
    empty = {cell.levels: square for square in found for cell in square.cells if not cell.condition}
    for levels, square in empty.items():
        named = ", ".join(f"{f} {level}" for f, level in zip(square.factors, levels, strict=True))
        seen = f"No condition is {named}."
        yield fault("CIM-S034", where=f"suite {suite.name!r}, [factors]", seen=seen)


def _cluster(stimuli: Stimuli) -> Iterator[Fault]:
    """A cluster column that is not there, is empty somewhere, or has two values in one item."""
    suite, cluster = stimuli.suite, stimuli.suite.cluster
    if not cluster:
        return
    if cluster not in suite.column_names:
        seen = f"The cluster column {cluster!r} does not exist."
        todo = did_you_mean(cluster, suite.column_names)
        yield fault("CIM-S032", where=suite.name, seen=seen, todo=todo)
        return
    for number, condition in enumerate(stimuli.conditions):
        if not condition.columns.get(cluster):
            seen = f"The cluster column {cluster!r} is empty here."
            yield fault("CIM-S032", where=stimuli.where(number), seen=seen)
    for item in suite.items:
        values = {each.columns.get(cluster, "") for each in item.conditions} - {""}
        if len(values) > 1:
            seen = f"The item is in several clusters: {', '.join(sorted(values))}."
            yield fault("CIM-S032", where=f"item {item.id}", seen=seen)


def _canary(stimuli: Stimuli) -> Iterator[Fault]:
    suite = stimuli.suite
    canary = suite.meta.extra.get("canary")
    if canary is not None and not is_canary(canary):
        seen = f"The canary {canary!r} has no random part, so that others may have written it."
        yield fault("CIM-S035", where=suite.name, seen=seen)


def _language(stimuli: Stimuli) -> Iterator[Fault]:
    suite = stimuli.suite
    language = suite.meta.language
    if not language:
        yield fault("CIM-S033", where=suite.name, seen="The suite does not say its language.")
    elif not _LANGUAGE_CODE.fullmatch(language):
        code = _CODES.get(language.lower())
        yield fault(
            "CIM-S033",
            where=suite.name,
            seen=f"The language {language!r} is not an ISO 639-1 code.",
            todo=f"Write {code!r}." if code else None,
        )


DESIGN_CHECKS: tuple[Check, ...] = (_factors, _cells, _cluster, _language, _canary)
"""Codes CIM-S030 to CIM-S035."""

"""Checks of the design of a suite: factors and their levels, cells, clusters and the canary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from cimento.errors import Fault, InputError, did_you_mean
from cimento.faults import fault
from cimento.io.values import grouped
from cimento.suites import CANARY, Suite
from cimento.suites.checks.structure import Check, Stimuli
from cimento.suites.design import squares, windows_of
from cimento.suites.licensing import licensing_of


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
    for number, level in enumerate(stimuli.cells(factor)):
        if not level:
            seen = f"The factor {factor!r} has no level here."
            yield fault("CIM-S030", where=stimuli.where(number), seen=seen)
        elif level not in levels:
            seen = f"{level!r} is not a level of the factor {factor!r}."
            todo = did_you_mean(level, levels)
            yield fault("CIM-S031", where=stimuli.where(number), seen=seen, todo=todo)


def _cells(stimuli: Stimuli) -> Iterator[Fault]:
    """Cells of the design without a condition, and factors that cannot form a design."""
    suite = stimuli.suite
    if not set(suite.factors) <= set(suite.column_names):
        return
    if moved := [*_moved(stimuli)]:
        yield from moved
        return
    try:
        licensing_of(suite)
        all_squares = squares(suite)
        windows_of(suite)
    except InputError as error:
        yield fault("CIM-S034", where=error.where, seen=f"{error.seen}.", todo=error.todo)
        return
    empty = {
        cell.levels: square for square in all_squares for cell in square.cells if not cell.condition
    }
    for levels, square in empty.items():
        named = ", ".join(f"{f} {level}" for f, level in zip(square.factors, levels, strict=True))
        seen = f"No condition is {named}."
        yield fault("CIM-S034", where=f"suite {suite.name!r}, [factors]", seen=seen)


def _moved(stimuli: Stimuli) -> Iterator[Fault]:
    """Stimuli of a design of several factors whose levels are not those of their condition."""
    columns = {factor: [*stimuli.cells(factor)] for factor in stimuli.suite.factors}
    rows = [*zip(*columns.values(), strict=True)]
    found = grouped(zip(stimuli.conditions, rows, strict=False))
    most = {name: Counter(levels).most_common(1)[0] for name, levels in found.items()}
    due = {name: levels for name, (levels, n) in most.items() if 2 * n > len(found[name])}
    if len(columns) == 1 or len({*due.values()}) < len(found):
        return
    for number, (condition, levels) in enumerate(zip(stimuli.conditions, rows, strict=False)):
        for factor, level, other in zip(columns, levels, due[condition], strict=True):
            if level != other:
                seen = f"{factor} is {level!r} in {condition}, and {other!r} elsewhere."
                yield fault("CIM-S031", where=stimuli.where(number), seen=seen)


def cluster_faults(suite: Suite) -> list[Fault]:
    """What keeps the cluster columns of a suite from giving each item one cluster."""
    return list(_cluster(Stimuli(suite)))


def _cluster(stimuli: Stimuli) -> Iterator[Fault]:
    """Cluster columns that are missing, have empty cells, or have two values in one item."""
    for name in stimuli.suite.cluster:
        yield from _cluster_column(stimuli, name)


def _cluster_column(stimuli: Stimuli, cluster: str) -> Iterator[Fault]:
    suite = stimuli.suite
    if cluster not in suite.column_names:
        seen = f"The cluster column {cluster!r} does not exist."
        todo = did_you_mean(cluster, suite.column_names)
        yield fault("CIM-S032", where=suite.name, seen=seen, todo=todo)
        return
    labels = list(stimuli.cells(cluster))
    for number, label in enumerate(labels):
        if not label:
            seen = f"The cluster column {cluster!r} is empty here."
            yield fault("CIM-S032", where=stimuli.where(number), seen=seen)
    for item, id_ in enumerate(suite.columns.ids):
        values = {labels[number] for number in stimuli.of(item)} - {""}
        if len(values) > 1:
            seen = f"The item is in several clusters: {', '.join(sorted(values))}."
            yield fault("CIM-S032", where=f"item {id_}", seen=seen)


def _canary(stimuli: Stimuli) -> Iterator[Fault]:
    suite = stimuli.suite
    canary = suite.meta.extra.get("canary")
    if canary is not None and not (isinstance(canary, str) and CANARY.search(canary)):
        seen = f"The canary {canary!r} has no random part, so others may have written it too."
        yield fault("CIM-S035", where=suite.name, seen=seen)


DESIGN_CHECKS: tuple[Check, ...] = (_factors, _cluster)
"""The checks of codes CIM-S030 to CIM-S032."""
DESIGN_REMARKS: tuple[Check, ...] = (_cells, _canary)
"""The checks of codes CIM-S034 and CIM-S035, which are warnings."""

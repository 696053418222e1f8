"""The measures of one model's answers to stories, as tables to read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias, cast

from cimento.stories.rates import METRICS
from cimento.suites.model import JsonValue

UNKNOWN = "-"

Rows: TypeAlias = "list[tuple[str, ...]]"


def grouping_rows(summary: Mapping[str, JsonValue]) -> Rows:
    """Each metric by grouping, with Wilson's interval, beside what needs no knowledge."""
    groupings = list(mapping(at(summary, "rates")))
    baselines = mapping(at(summary, "baselines"))
    rows: Rows = [("metric", *groupings, *baselines)]
    for name in METRICS:
        cells = [_with_interval(at(summary, "rates", each, name)) for each in groupings]
        cells += [shown(number(each, name), 3) for each in baselines.values()]
        rows.append((name, *cells))
    return rows


def flow_rows(summary: Mapping[str, JsonValue]) -> Rows:
    """How many implausible stories reach and pass each tier."""
    rows: Rows = [("tier", "reached", "passed", "share")]
    steps = at(summary, "flow")
    for step in steps if isinstance(steps, list) else []:
        reached, passed = number(step, "reached"), number(step, "passed")
        share = None if not reached or passed is None else passed / reached
        rows.append((str(at(step, "tier")), shown(reached, 0), shown(passed, 0), shown(share, 3)))
    return rows


def at(value: JsonValue | Mapping[str, JsonValue], *keys: str) -> JsonValue:
    """What stands in nested objects; None where there is nothing."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return cast("JsonValue", value)


def number(value: JsonValue | Mapping[str, JsonValue], *keys: str) -> float | None:
    """A number in nested objects; None where there is none."""
    found = at(value, *keys)
    return float(found) if isinstance(found, int | float) else None


def shown(value: float | None, digits: int) -> str:
    """A number to read."""
    return UNKNOWN if value is None else f"{value:.{digits}f}"


def mapping(value: JsonValue) -> Mapping[str, JsonValue]:
    """An object, or an empty one for anything else."""
    return value if isinstance(value, Mapping) else {}


def _with_interval(rate: JsonValue) -> str:
    value, ends = number(rate, "value"), at(rate, "wilson95")
    if value is None or not isinstance(ends, list):
        return UNKNOWN
    low, high = (number({"end": end}, "end") for end in ends)
    return f"{value:.3f} [{shown(low, 3)}, {shown(high, 3)}]"

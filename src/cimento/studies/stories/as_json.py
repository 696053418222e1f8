"""Frozen records as JSON: what is undefined is null, with its reason beside it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from cimento.statistics.values import Value
from cimento.suites.model import JsonValue


def as_json(value: object) -> JsonValue:
    """A record as JSON; an undefined number named ``x`` is null, with ``x_reason`` beside it."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _fields(value)
    if isinstance(value, Mapping):
        return {str(key): as_json(each) for key, each in value.items()}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Sequence | frozenset | set):
        return [as_json(each) for each in value]
    return str(value)


def _fields(record: object) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {}
    for field in dataclasses.fields(record):  # type: ignore[arg-type]  # seen to be a record above
        value = getattr(record, field.name)
        if isinstance(value, Value):
            found[field.name] = value.value
            if value.value is None:
                found[f"{field.name}_reason"] = value.reason
        elif field.name != "reason" or value:
            found[field.name] = as_json(value)
    return found

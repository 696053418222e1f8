"""The study as tables to read: computed beside printed, with baselines and the flow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from cimento.stories.rates import METRICS
from cimento.studies.stories.record import MORE
from cimento.suites.model import JsonValue

_LOG_TOLERANCE = 1e-12
_PRINTED_TOLERANCE = 0.005 + 1e-9
_UNKNOWN = "-"

Rows = list[tuple[str, ...]]


def equality_rows(record: Mapping[str, JsonValue]) -> Rows:
    """Each metric: computed, in the authors' log, in Table 3 (percent), and whether all agree."""
    values = at(record, "paper_code", "value")
    counts = at(record, "paper_code", "count")
    rows: Rows = [("paper_code", "computed", "n", "log", "equal?", "Table 3 %", "equal?")]
    for name in METRICS:
        value = number(values, name)
        log, percent = (
            number(record.get(key), name)
            for key in ("published_metrics_txt", "published_table3_percent")
        )
        count = at(counts, name)
        rows.append(
            (
                name,
                shown(value, 4),
                f"{count[0]}/{count[1]}" if isinstance(count, list) else _UNKNOWN,
                shown(log, 4),
                _equal(value, log, _LOG_TOLERANCE),
                shown(percent, 2),
                _equal(None if value is None else 100 * value, percent, _PRINTED_TOLERANCE),
            )
        )
    return rows


def grouping_rows(record: Mapping[str, JsonValue]) -> Rows:
    """Each metric by grouping, with Wilson's interval, beside what needs no knowledge."""
    more = at(record, MORE)
    groupings = list(_mapping(at(more, "rates")))
    baselines = _mapping(at(more, "baselines"))
    rows: Rows = [("metric", *groupings, *baselines)]
    for name in METRICS:
        cells = [_with_interval(at(more, "rates", each, name)) for each in groupings]
        cells += [shown(number(each, name), 3) for each in baselines.values()]
        rows.append((name, *cells))
    return rows


def flow_rows(record: Mapping[str, JsonValue]) -> Rows:
    """How many implausible stories reach and pass each tier."""
    rows: Rows = [("tier", "reached", "passed", "share")]
    steps = at(record, MORE, "flow")
    for step in steps if isinstance(steps, list) else []:
        reached, passed = number(step, "reached"), number(step, "passed")
        share = None if not reached or passed is None else passed / reached
        rows.append((str(at(step, "tier")), shown(reached, 0), shown(passed, 0), shown(share, 3)))
    return rows


def bias_rows(record: Mapping[str, JsonValue]) -> Rows:
    """The first tier as a detection task."""
    bias = _mapping(record["bias"])
    return [
        (name, str(value) if isinstance(value, int) else shown(number(bias, name), 4))
        for name, value in bias.items()
        if not name.endswith("_reason")
    ]


def prompt_rows(record: Mapping[str, JsonValue]) -> Rows:
    """How many prompts and draws are rebuilt."""
    rows: Rows = [("tier", "prompts", "rebuilt", "draws", "drawn again")]
    for tier, found in _mapping(at(record, MORE, "prompts")).items():
        names = ("prompts", "equal_prompts", "draws", "equal_draws")
        rows.append((tier, *(shown(number(found, name), 0) for name in names)))
    return rows


def paired_rows(paired: Mapping[str, JsonValue]) -> Rows:
    """Models against each other."""
    rows: Rows = [("models", "only first", "only second", "McNemar exact p", "Holm p")]
    for name, found in paired.items():
        rows.append(
            (
                name,
                shown(number(found, "only_first_correct"), 0),
                shown(number(found, "only_second_correct"), 0),
                _p(number(found, "mcnemar_exact_p")),
                _p(number(found, "holm_p")),
            )
        )
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
    return _UNKNOWN if value is None else f"{value:.{digits}f}"


def differing(rows: Iterable[Sequence[str]]) -> int:
    """How many rows say that something computed is not what was printed."""
    return sum("NO" in row for row in rows)


def _equal(value: float | None, other: float | None, tolerance: float) -> str:
    if value is None or other is None:
        return _UNKNOWN
    return "yes" if abs(value - other) <= tolerance else "NO"


def _with_interval(rate: JsonValue) -> str:
    value, ends = number(rate, "value"), at(rate, "wilson95")
    if value is None or not isinstance(ends, list):
        return _UNKNOWN
    low, high = (number({"end": end}, "end") for end in ends)
    return f"{value:.3f} [{shown(low, 3)}, {shown(high, 3)}]"


def _p(value: float | None) -> str:
    return _UNKNOWN if value is None else f"{value:.3g}"


def _mapping(value: JsonValue) -> Mapping[str, JsonValue]:
    return value if isinstance(value, Mapping) else {}

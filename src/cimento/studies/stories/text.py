"""The study as tables to read: computed beside printed, with baselines and the flow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from cimento.stories.rates import METRICS
from cimento.stories.records import TRUE
from cimento.studies.printed import equals_printed
from cimento.studies.stories.record import MORE
from cimento.studies.stories.rows import UNKNOWN, Rows, at, mapping, number, shown
from cimento.suites.model import JsonValue

_LOG_DECIMALS, _TABLE_DECIMALS = 12, 2


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
                f"{count[0]}/{count[1]}" if isinstance(count, list) else UNKNOWN,
                shown(log, 4),
                _equal(value, log, _LOG_DECIMALS),
                shown(percent, 2),
                _equal(None if value is None else 100 * value, percent, _TABLE_DECIMALS),
            )
        )
    return rows


def bias_rows(record: Mapping[str, JsonValue]) -> Rows:
    """The first tier as a detection task, beside the constant answer "false"."""
    bias = mapping(record["bias"])
    constant = at(record, MORE, "constant", "detection")
    intervals = at(record, MORE, "detection_intervals")
    rows: Rows = [("measure", "value", "95 %", "constant")]
    for name, value in bias.items():
        if not name.endswith("_reason"):
            digits = 0 if isinstance(value, int) else 4
            beside = _of_constant(constant, name)
            low, high = number(intervals, name, "low"), number(intervals, name, "high")
            ends = UNKNOWN if low is None or high is None else f"[{low:.3f}, {high:.3f}]"
            rows.append((name, shown(number(bias, name), digits), ends, shown(beside, digits)))
    return rows


def _of_constant(constant: JsonValue, name: str) -> float | None:
    """The same measure of the constant answer; None where options are not scored."""
    if name in {"tp", "tn", "fp", "fn"}:
        return number(constant, "counts", name)
    return number(constant, "answers", TRUE) if name == "p_answer_true" else number(constant, name)


def prompt_rows(record: Mapping[str, JsonValue]) -> Rows:
    """How many prompts and draws are rebuilt."""
    rows: Rows = [("tier", "prompts", "rebuilt", "draws", "drawn again")]
    for tier, found in mapping(at(record, MORE, "prompts")).items():
        names = ("prompts", "equal_prompts", "draws", "equal_draws")
        rows.append((tier, *(shown(number(found, name), 0) for name in names)))
    return rows


def paired_rows(paired: Mapping[str, JsonValue]) -> Rows:
    """Models against each other, with the test that respects triples."""
    rows: Rows = [("models", "only first", "only second", "change", "95 %", "p", "Holm p")]
    for name, found in paired.items():
        low, high = number(found, "change", "low"), number(found, "change", "high")
        rows.append(
            (
                name,
                shown(number(found, "only_first_correct"), 0),
                shown(number(found, "only_second_correct"), 0),
                shown(number(found, "change", "estimate"), 3),
                UNKNOWN if low is None or high is None else f"[{low:.3f}, {high:.3f}]",
                _p(number(found, "test", "p")),
                _p(number(found, "p_holm")),
            )
        )
    return rows


def differing(rows: Iterable[Sequence[str]]) -> int:
    """How many rows say that something computed is not what was printed."""
    return sum("NO" in row for row in rows)


def _equal(value: float | None, other: float | None, decimals: int) -> str:
    if value is None or other is None:
        return UNKNOWN
    return "yes" if equals_printed(value, f"{other:.{decimals}f}") else "NO"


def _p(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.3g}"

"""The paper's Table 3: models by metrics, in percent, with what needs no knowledge below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cimento.report.grid import Grid
from cimento.studies.stories.facts import TABLE_3
from cimento.studies.stories.record import MORE
from cimento.studies.stories.rows import at, mapping, number
from cimento.suites.model import JsonValue

_UNKNOWN = "–"
_SUMMED = {"Accuracy", "Consistency", "Verifiability"}


def table_3(
    records: Mapping[str, Mapping[str, JsonValue]],
    *,
    grouping: str = "paper_code",
    notes: Sequence[str] = (),
) -> Grid:
    """Every model of the study in the layout of the paper's Table 3, the best in bold.

    Args:
        records: model to what `study_record` gives.
        grouping: ``paper_code``, ``type`` or ``corrected``.
        notes: sentences to stand below.
    """
    rows = [
        (
            model,
            *(_percent(number(record, MORE, "rates", grouping, name, "value")) for name in TABLE_3),
        )
        for model, record in records.items()
    ]
    first = next(iter(records.values()))
    beside = [
        (name, *(_percent(number(values, metric)) for metric in TABLE_3))
        for name, values in mapping(at(first, MORE, "baselines_by_grouping", grouping)).items()
    ]
    return Grid(
        title=f"Accuracy, consistency and verifiability (percent), groups by {grouping}",
        header=("model", *(_group_of(name) for name in TABLE_3)),
        groups=("", *(_metric_of(name) for name in TABLE_3)),
        rows=(*rows, *beside),
        bold=_best(rows),
        rules=frozenset({len(rows)}),
        notes=tuple(notes),
    )


def _metric_of(name: str) -> str:
    return name.rsplit(" ", maxsplit=1)[-1]


def _group_of(name: str) -> str:
    return "all" if name in _SUMMED else name.split(" ", maxsplit=1)[0].lower()


def _percent(value: float | None) -> str:
    return _UNKNOWN if value is None else f"{100 * value:.2f}"


def _best(rows: Sequence[tuple[str, ...]]) -> frozenset[tuple[int, int]]:
    """Row and column of the highest value in each column, all of them where several are equal."""
    found = set()
    for column in range(1, len(TABLE_3) + 1):
        known = {
            place: float(row[column]) for place, row in enumerate(rows) if row[column] != _UNKNOWN
        }
        found |= {(place, column) for place, value in known.items() if value == max(known.values())}
    return frozenset(found)

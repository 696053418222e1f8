"""Tables of how far results can be relied on: sensitivity to choices, reliability, covariates."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from cimento.report import wording
from cimento.report.grid import BLANK, Grid

if TYPE_CHECKING:
    from cimento.sensitivity import Sensitivity
    from cimento.standings import Table

_share = partial(wording.rate, absent=BLANK)


def sensitivity_grid(rows: Sequence[Sensitivity]) -> Grid:
    """How many verdicts change where one choice is made in another way."""
    places = [(row.suite, row.model) for row in rows]
    return Grid(
        title="Items that pass or fail otherwise where one choice is made in another way.",
        header=(
            "suite", "model", "variant", "items", "changed", "share", "95 %", "gained", "lost",
            "accuracy", "reason",
        ),
        rows=tuple(
            (
                *(place if k == 0 or places[k - 1] != place else (BLANK,) * len(place)),
                row.variant,
                *(_counts(row) if row.n else (BLANK,) * 6),
                _share(row.accuracy),
                row.reason or row.interval.reason or BLANK,
            )
            for k, (place, row) in enumerate(zip(places, rows, strict=True))
        ),
        rules=frozenset(k for k in range(1, len(rows)) if places[k - 1] != places[k]),
        labels=3,
        remarks=1,
        notes=(
            "gained, lost: items that pass only in the variant, or only as it was asked for.",
            "The last row of a model counts the items that any variant changes.",
        ),
    )  # fmt: skip


def reliability_grid(table: Table) -> Grid:
    """How reliably the items of a suite tell its models apart."""
    analysis = table.analysis
    known = sorted(r for r in analysis.item_total if r is not None)
    middle = statistics.median(known) if known else None
    lists = {
        "Pass with every model": analysis.all_pass,
        "Pass with none": analysis.none_pass,
        "Passed more often by models that are worse on the other items": analysis.against,
    }
    notes = [
        f"{what}: {', '.join(table.items[place] for place in places[:SHOWN])}"
        + (f" and {len(places) - SHOWN} more." if len(places) > SHOWN else ".")
        for what, places in lists.items()
        if places
    ]
    return Grid(
        title=f"{table.suite}, {table.question}: reliability over {analysis.models} models.",
        header=(
            "items", "all pass", "none passes", "KR-20", "split-half", "item-total (median)",
            "negative", "reason",
        ),
        rows=(
            (
                str(analysis.items),
                str(len(analysis.all_pass)),
                str(len(analysis.none_pass)),
                _share(analysis.kr20.value),
                _share(analysis.halves.reliability),
                _share(middle),
                str(len(analysis.against)) if known else BLANK,
                analysis.reason or analysis.kr20.reason or analysis.halves.reason or BLANK,
            ),
        ),
        labels=0,
        remarks=1,
        notes=(
            *notes,
            "Items that all models pass, or none, say nothing about differences of models.",
        ),
    )  # fmt: skip


SHOWN = 12
"""Items that a note names."""


def _counts(row: Sensitivity) -> tuple[str, ...]:
    return (
        str(row.n),
        str(row.changed),
        _share(row.changed / row.n),
        wording.interval(row.interval.low, row.interval.high, absent=BLANK),
        str(len(row.gained)),
        str(len(row.lost)),
    )

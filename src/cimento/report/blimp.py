"""BLiMP's own table: paradigms, phenomena and overall, beside what is published.

A phenomenon is the unweighted mean over its paradigms, and the whole the unweighted mean over all
67 of them (Warstadt et al. 2020, doi:10.1162/tacl_a_00321). The published figures are those of the
released files, with the erratum of August 2021; people are the mean over their answers to five
pairs of each paradigm.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.errors import UsageError
from cimento.report.grid import BLANK, EstimateCell, Grid, GridCell, sizes
from cimento.report.overview import mean_of_accuracies, of_cell

if TYPE_CHECKING:
    from cimento.report.overview import JointCell

PUBLISHED = Path(__file__).parents[1] / "data" / "blimp_published.tsv"
PARADIGMS = 67
_NAMES = ("ngram", "lstm", "transformer-xl", "gpt2", "people")


def published_accuracies() -> dict[str, dict[str, float]]:
    """Paradigm to the accuracy of each published model, and of people."""
    with PUBLISHED.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return {row["paradigm"]: {name: float(row[name]) for name in _NAMES} for row in rows}


def blimp_grid(cells: Sequence[JointCell]) -> Grid:
    """Accuracies in percent of BLiMP's paradigms, their means, and the published figures.

    Published means are over the same paradigms, so that they can be compared.

    Args:
        cells: one for each suite, model and measure; suites that are no paradigm of BLiMP are
            passed over.

    Raises:
        UsageError: none of them is one.
    """
    known = published_accuracies()
    own = [each for each in cells if each.suite in known]
    if not own:
        raise UsageError(
            where="--table blimp",
            seen="none of the runs is of a paradigm of BLiMP",
            todo="Run its files, such as wh_island.jsonl: a suite has the name of its paradigm.",
        )
    columns = list(dict.fromkeys((each.model, each.measure) for each in own))
    rows, rules = _rows(own, columns, known)
    return Grid(
        title="BLiMP accuracies in %, phenomena and overall as means over paradigms.",
        header=("phenomenon", "paradigm", "n", *(m or "regions" for _, m in columns), *_NAMES),
        groups=(
            BLANK,
            BLANK,
            BLANK,
            *(model for model, _ in columns),
            *("published",) * len(_NAMES),
        ),
        rows=tuple(rows),
        rules=rules,
        labels=2,
        notes=(
            "n: items; of means: paradigms. Published figures are printed without intervals.",
            "Published: Warstadt et al. 2020, doi:10.1162/tacl_a_00321, with the erratum of 2021.",
        ),
    )


def _rows(
    cells: Sequence[JointCell],
    columns: Sequence[tuple[str, str]],
    known: Mapping[str, Mapping[str, float]],
) -> tuple[list[tuple[GridCell, ...]], frozenset[int]]:
    """A row for each paradigm, phenomenon and for all, and before which of them a line stands."""
    found: dict[str, dict[tuple[str, str], JointCell]] = {}
    groups: dict[str, list[str]] = {}
    for each in sorted(cells, key=lambda cell: (cell.phenomenon, cell.suite)):
        found.setdefault(each.suite, {})[each.model, each.measure] = each
        members = groups.setdefault(each.phenomenon, [])
        if each.suite not in members:
            members.append(each.suite)
    rows: list[tuple[GridCell, ...]] = []
    rules: set[int] = set()
    for phenomenon, paradigms in groups.items():
        for name in paradigms:
            label = phenomenon if name == paradigms[0] else BLANK
            values = [_of(found[name].get(column)) for column in columns]
            rows.append((label, name, *_line(values, [name], known)))
        mean = f"mean of {len(paradigms)}"
        values = [_mean(paradigms, found, column) for column in columns]
        rows.append((BLANK, mean, *_line(values, paradigms, known)))
        rules.add(len(rows))
    values = [_mean(list(found), found, column) for column in columns]
    overall = f"mean of {len(found)} of {PARADIGMS}"
    rows.append(("overall", overall, *_line(values, list(found), known)))
    return rows, frozenset(rules)


def _line(
    values: Sequence[EstimateCell | None],
    paradigms: Sequence[str],
    known: Mapping[str, Mapping[str, float]],
) -> tuple[GridCell, ...]:
    """The n of a row, what was measured, and the published means over the same paradigms."""
    published = (
        f"{100 * math.fsum(known[name][source] for name in paradigms) / len(paradigms):.1f}"
        for source in _NAMES
    )
    return (sizes(values), *(each or BLANK for each in values), *published)


def _of(cell: JointCell | None) -> EstimateCell | None:
    return None if cell is None else of_cell(cell)


def _mean(
    paradigms: Sequence[str],
    found: Mapping[str, Mapping[tuple[str, str], JointCell]],
    column: tuple[str, str],
) -> EstimateCell | None:
    """The mean of a column over some paradigms; None where one is missing."""
    cells = [found[name].get(column) for name in paradigms]
    known = [each.accuracy for each in cells if each is not None and each.accuracy is not None]
    return mean_of_accuracies(known) if len(known) == len(paradigms) else None

"""English acceptability ratings (Sprouse et al. 2016), from single judgments on."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

from cimento.errors import InputError
from cimento.io.values import NoValue, group_by
from cimento.measures.normalizing import NORMALIZATIONS, Scope, standard_scores
from cimento.paradigms.regions.design_rates import DesignRate
from cimento.paradigms.regions.factorial import Factorial, PhenomenonEffects, factorial
from cimento.paradigms.regions.two_by_two import (
    CellMean,
    Effects,
    cell_mean,
    effects_of,
    effects_of_means,
)
from cimento.statistics.design import Design
from cimento.statistics.intervals import Interval, share_interval
from cimento.statistics.means import t_test, within_intervals
from cimento.statistics.mixed import MixedFit, mixed_model, sum_coded
from cimento.studies import (
    Cell,
    Section,
    beside,
    cell_number,
    equals_printed,
    need,
    printed_column,
    printed_tables,
    read_rows,
)
from cimento.studies.islands.tables import find_file
from cimento.suites import Condition, Item, Meta, Region, Suite
from cimento.suites.design import ISLAND_CONDITIONS, ISLAND_FACTORS, ISLAND_SQUARE

SOURCE = "Sprouse, Caponigro, Greco and Cecchetto 2016, doi:10.1007/s11049-015-9286-8"
RATINGS = "sprouse2016_en_ratings.csv"
RECOMPUTED = "summary_by_phenomenon.csv"
"""What others computed from the same ratings, if it is there; it was never published."""
FORMULA = "z ~ structure * distance + (1 | participant) + (1 | item)"
FILLER = "filler"
LOWEST, HIGHEST = 1, 7
_COLUMNS = (
    "participant", "experiment", "dependency", "island", "condition", "item_number", "judgment",
    "zscore_published",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class IslandRating:
    """One rating of one sentence by one person.

    Attributes:
        participant: who rated.
        experiment: in which of the four experiments.
        phenomenon: dependency and island, such as ``wh_adjunct``; ``filler`` for fillers.
        condition: of the design.
        item: number of the item in its phenomenon.
        rating: from 1 to 7.
        z: of the rating within participant and experiment, fillers included.
        z_released: as released, with its digits; empty where there is none.
    """

    participant: str
    experiment: str
    phenomenon: str
    condition: str
    item: str
    rating: float
    z: float
    z_released: str


def read_island_ratings(path: Path) -> list[IslandRating]:
    """The ratings, with z computed as the study did: sample sd, over all of a person's trials.

    Raises:
        InputError: the file cannot be read, a rating is off the scale, or a sentence that is not
            a filler has no condition of the design.
    """
    rows = read_rows(path)
    need(path, rows, _COLUMNS)
    for row, z_released in zip(rows, printed_column(rows, "zscore_published"), strict=True):
        row["zscore_published"] = z_released
    people: dict[tuple[str, str], list[dict[str, str]]] = defaultdict(list)
    for position, row in enumerate(rows, start=2):
        rating = cell_number(row["judgment"])
        if rating is not None and not LOWEST <= rating <= HIGHEST:
            raise InputError(
                where=f"{path} row {position}",
                seen=f"the judgment is {row['judgment']}",
                todo=f"People rated from {LOWEST} to {HIGHEST}.",
            )
        if row["island"] != FILLER:
            _need_condition(row["condition"], where=f"{path} row {position}")
        if rating is not None:
            people[row["participant"], row["experiment"]].append(row)
    judgments = []
    for (participant, experiment), person_rows in people.items():
        scaled = standard_scores([float(row["judgment"]) for row in person_rows], ddof=1)
        if isinstance(scaled, NoValue):
            continue
        for row, z in zip(person_rows, scaled, strict=True):
            released = row["zscore_published"]
            is_filler = row["island"] == FILLER
            judgments.append(
                IslandRating(
                    participant=participant,
                    experiment=experiment,
                    phenomenon=FILLER if is_filler else f"{row['dependency']}_{row['island']}",
                    condition=row["condition"],
                    item=row["item_number"],
                    rating=float(row["judgment"]),
                    z=z,
                    z_released="" if cell_number(released) is None else released,
                )
            )
    return judgments


def _need_condition(condition: str, *, where: str) -> None:
    """See that a condition is one of the design.

    Raises:
        InputError: it is another.
    """
    if condition not in ISLAND_CONDITIONS:
        raise InputError(
            where=where,
            seen=f"the condition is {condition!r}",
            todo=f"Conditions are {', '.join(ISLAND_CONDITIONS)}.",
        )


def by_phenomenon(judgments: Sequence[IslandRating]) -> dict[str, list[IslandRating]]:
    """The judgments of targets, by phenomenon."""
    targets = (judgment for judgment in judgments if judgment.phenomenon != FILLER)
    return dict(sorted(group_by(targets, lambda judgment: judgment.phenomenon).items()))


def judgment_cells(judgments: Sequence[IslandRating]) -> list[CellMean]:
    """Mean, sd and standard error over judgments for each condition."""
    return [
        cell_mean(
            cell, [judgment.z for judgment in judgments if judgment.condition == cell.condition]
        )
        for cell in ISLAND_SQUARE.cells
    ]


def unit_means(judgments: Sequence[IslandRating], unit: str) -> dict[str, dict[str, float]]:
    """Participant or item, and condition, to the mean z of its judgments.

    Args:
        judgments: of one phenomenon.
        unit: ``participant`` or ``item``.
    """
    return _means(
        (getattr(judgment, unit), judgment.condition, judgment.z) for judgment in judgments
    )


def _means(values: Iterable[tuple[str, str, float]]) -> dict[str, dict[str, float]]:
    """The mean of the values of each unit and condition."""
    cells: dict[str, dict[str, list[float]]] = {}
    for unit, condition, value in values:
        cells.setdefault(unit, {}).setdefault(condition, []).append(value)
    return {
        unit: {name: fmean(several) for name, several in conditions.items()}
        for unit, conditions in cells.items()
    }


def complete_table(means: Mapping[str, Mapping[str, float]]) -> list[list[float]]:
    """One row a unit that has all four conditions, one column a condition."""
    return [
        [conditions[name] for name in ISLAND_CONDITIONS]
        for conditions in means.values()
        if all(name in conditions for name in ISLAND_CONDITIONS)
    ]


def crossed_model(judgments: Sequence[IslandRating]) -> MixedFit:
    """The mixed model of one phenomenon; with this coding its interaction is DD."""
    return mixed_model(
        FORMULA,
        {
            "z": [judgment.z for judgment in judgments],
            "structure": sum_coded(
                [judgment.condition.split("_")[1] for judgment in judgments], high="nonisland"
            ),
            "distance": sum_coded(
                [judgment.condition.split("_")[0] for judgment in judgments], high="long"
            ),
            "participant": [judgment.participant for judgment in judgments],
            "item": [judgment.item for judgment in judgments],
        },
    )


def human(data: Path) -> Section:
    """Every figure of the English ratings, beside the released z and, if there, recomputed ones."""
    path = find_file(data, RATINGS)
    judgments = read_island_ratings(path)
    recomputed = _recomputed(path.with_name(RECOMPUTED))
    lines = [_z_line(judgments)]
    for phenomenon, group in by_phenomenon(judgments).items():
        lines += _phenomenon(phenomenon, group, recomputed.get(phenomenon, {}))
    return Section(
        name="human",
        title="English ratings, z by participant and experiment: means, DD, tests, mixed models",
        source=f"{SOURCE}; each p is of one phenomenon alone, not adjusted"
        + (f"; recomputed: {RECOMPUTED}" if recomputed else ""),
        cells=tuple(lines),
    )


def _recomputed(path: Path) -> dict[str, dict[str, str]]:
    """Phenomenon to column to number, with its digits; nothing where the file is not there."""
    if not path.is_file():
        return {}
    rows = read_rows(path)
    for column in rows[0]:
        for row, text in zip(rows, printed_column(rows, column), strict=True):
            row[column] = text
    return {row.get("", ""): row for row in rows}


def _z_line(judgments: Sequence[IslandRating]) -> Cell:
    known = [judgment for judgment in judgments if judgment.z_released]
    gaps = [abs(judgment.z - float(judgment.z_released)) for judgment in known]
    equal = sum(equals_printed(judgment.z, judgment.z_released) for judgment in known)
    return beside(
        "judgments whose z equals the released one",
        equal if known else None,
        str(len(known)) if known else None,
        note=f"largest difference {max(gaps):.2g}" if gaps else "no z was released",
    )


def _phenomenon(
    name: str, judgments: Sequence[IslandRating], others: Mapping[str, str]
) -> Iterator[Cell]:
    def with_others(what: str, value: float | None, column: str, note: str = "") -> Cell:
        return beside(f"{name}{what}", value, None, recomputed=others.get(column), note=note)

    cells = judgment_cells(judgments)
    for cell in cells:
        note = f"n {cell.n}, sd {_fixed(cell.sd)}, se {_fixed(cell.se)}"
        yield with_others(f" {cell.cell.name}: mean z", cell.mean, cell.cell.name, note)
    length, structure, total, dd = effects_of_means([cell.mean for cell in cells])
    note = f"length {_fixed(length)}, structure {_fixed(structure)}, total {_fixed(total)}"
    yield with_others(": DD of means", dd, "DD", note)
    for unit, column in (("participant", "t_part"), ("item", "t_item")):
        yield from _by_unit(name, judgments, unit, others.get(column))
    fit = crossed_model(judgments)
    if not fit.fixed:
        yield Cell(what=f"{name}: mixed model", computed=None, note=fit.reason or "")
        return
    interaction = fit.effect("structure:distance")
    note = f"t {interaction.statistic:.3f}, p {interaction.p:.2g}; log-likelihood {fit.loglik:.4f}"
    yield with_others(": interaction, mixed model", interaction.estimate, "lme_int", note)
    yield with_others(": its standard error", interaction.se, "lme_se")


def _by_unit(
    name: str, judgments: Sequence[IslandRating], unit: str, others: str | None
) -> Iterator[Cell]:
    means = unit_means(judgments, unit)
    effects = effects_of(ISLAND_SQUARE, means, list(means))
    test = t_test(effects.item_dds, Design.independent(len(effects.item_dds)))
    positive = sum(dd > 0 for dd in effects.item_dds)
    note = test.reason or (
        f"DD {math.fsum(effects.item_dds) / len(effects.item_dds):.6f}, df {test.freedom:g}, "
        f"p {test.p:.3g}, above 0 in {positive} of {len(effects.item_dds)}"
    )
    what = f"{name}: t of DD by {unit}"
    yield beside(what, test.statistic, None, recomputed=others, note=note)
    table = complete_table(means)
    for method in ("cousineau-morey", "loftus-masson"):
        intervals = within_intervals(table, method=method)
        widths = intervals.half_widths or ()
        yield Cell(
            what=f"{name}: 95% half-width by {unit}, {intervals.method}",
            computed=widths[0] if len(set(widths)) == 1 else None,
            note=intervals.reason or ", ".join(f"{width:.4f}" for width in widths),
        )
    if unit == "item":
        yield from _pairs(name, means)


def _pairs(name: str, means: Mapping[str, Mapping[str, float]]) -> Iterator[Cell]:
    for cell, bad in ISLAND_SQUARE.compared:
        held = [
            mean[cell.name] > mean[bad.name]
            for mean in means.values()
            if {cell.name, bad.name} <= {*mean}
        ]
        interval = share_interval(held, Design.independent(len(held)))
        ends = (
            f", 95% {_fixed(interval.low)} to {_fixed(interval.high)}"
            if interval.low is not None
            else ""
        )
        yield Cell(
            what=f"{name}: people's accuracy, {cell.name}",
            computed=sum(held) / len(held) if held else None,
            note=f"{sum(held)} of {len(held)} items{ends}",
        )


def _fixed(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.4f}"


VALUES = ("value", "z", "mean_z", "rating", "judgment")
"""Columns that may hold the rating; the first that is there is taken."""

Z_VALUES = frozenset({"z", "mean_z"})
"""Those of them that are z-scores already."""

PARTICIPANT = "participant"

Means = dict[str, dict[str, dict[str, float]]]
"""Phenomenon, item and condition to the mean rating."""


def people_result(path: Path, *, scope: Scope = "suite") -> Factorial:
    """The mean rating of each item and condition, as a model's scores would be.

    The file is a CSV with ``phenomenon``, ``item``, ``condition`` (of island studies) and a rating,
    single or mean; or the released ratings of Sprouse et al. 2016. With a column ``participant``,
    as there, z is computed within participants. z-scores keep their values on every scale.

    Args:
        path: of the file.
        scope: what is pooled for scales.

    Raises:
        InputError: the file cannot be used.
    """
    rows = read_rows(path)
    released = {"participant", "judgment", "zscore_published"} <= rows[0].keys()
    means = _released(path) if released else _plain(path, rows)
    suite = _suite(means)
    scores = {
        f"{phenomenon}-{item}": conditions
        for phenomenon, items in means.items()
        for item, conditions in items.items()
    }
    are_z = released or PARTICIPANT in rows[0] or _value_column(rows) in Z_VALUES
    phenomena = factorial(suite, scores, scope=scope)
    if are_z:
        # z-scores of people are neither binned nor scaled again: they are the same on every scale.
        phenomena = tuple(
            replace(one, effects=dict.fromkeys(one.effects, one.effects["raw"]))
            for one in phenomena
        )
    return Factorial(
        suite=path.stem,
        model="people",
        measure="rating",
        unit="z" if are_z else "",
        phenomena=phenomena,
    )


ITEMS = 8
"""Of each phenomenon of Sprouse et al. 2016."""


def known_people() -> Factorial:
    """The English ratings of Sprouse et al. 2016, as means over items, which allow no test."""
    untold = "only means over items are known"
    untested = Interval(None, None, None, untold)
    none = DesignRate(name="DD > 0", unscored=ITEMS, interval=untested)
    phenomena = tuple(
        PhenomenonEffects(
            name=name,
            square=ISLAND_SQUARE,
            n_items=ITEMS,
            pairs=(),
            super_additive=none,
            effects=dict.fromkeys(("raw", *NORMALIZATIONS), _known_effects(row)),
        )
        for name, row in printed_tables("islands")["Sprouse 2016, English"].items()
    )
    return Factorial(
        suite="sprouse2016-en", model="people", measure="rating", unit="z", phenomena=phenomena
    )


def _known_effects(row: Mapping[str, Sequence[str]]) -> Effects:
    cells = [
        CellMean(cell=cell, n=ITEMS, mean=float(mean), sd=None, se=float(se))
        for cell in ISLAND_SQUARE.cells
        for mean, se in [row[cell.name]]
    ]
    length, structure, total, dd = effects_of_means([cell.mean for cell in cells])
    return Effects(
        normalization="raw",
        scope="suite",
        cells=tuple(cells),
        length_effect=length,
        structure_effect=structure,
        total_effect=total,
        dd=dd,
        items=(),
    )


def _released(path: Path) -> Means:
    groups = by_phenomenon(read_island_ratings(path))
    return {name: unit_means(group, "item") for name, group in groups.items() if name[:3] == "wh_"}


def _plain(path: Path, rows: list[dict[str, str]]) -> Means:
    todo = f"A table of ratings has phenomenon, item, condition, and one of {', '.join(VALUES)}."
    need(path, rows, ("phenomenon", "item", "condition"), todo=todo)
    column = _value_column(rows)
    if column is None:
        raise InputError(
            where=str(path),
            seen=f"there is no rating; the columns are {', '.join(rows[0])}",
            todo=f"Name the column of ratings {VALUES[0]}.",
        )
    for place, row in enumerate(rows, start=2):
        _need_condition(row["condition"], where=f"{path} row {place}")
    known = [(row, value) for row in rows if (value := cell_number(row[column])) is not None]
    if PARTICIPANT in rows[0] and column not in Z_VALUES:
        known = _within_participants(path, known)
    return {
        phenomenon: _means((row["item"], row["condition"], value) for row, value in group)
        for phenomenon, group in group_by(known, lambda pair: pair[0]["phenomenon"]).items()
    }


def _within_participants(
    path: Path, known: Sequence[tuple[dict[str, str], float]]
) -> list[tuple[dict[str, str], float]]:
    """The ratings as z-scores within participants; those of who rated everything alike have none.

    Raises:
        InputError: no participant has z-scores.
    """
    scaled = []
    by_person = group_by(known, lambda pair: pair[0][PARTICIPANT].strip())
    if "" in by_person:
        raise InputError(
            where=str(path),
            seen=f"{len(by_person[''])} ratings have no {PARTICIPANT}",
            todo="Name who gave each rating: z is computed within people.",
        )
    for group in by_person.values():
        scores = standard_scores([value for _, value in group], ddof=1)
        if not isinstance(scores, NoValue):
            scaled += [(row, z) for (row, _), z in zip(group, scores, strict=True)]
    if not scaled:
        raise InputError(
            where=str(path),
            seen="nobody rated sentences differently, so that there are no z-scores",
            todo=f"Without a column {PARTICIPANT}, ratings are taken as they are.",
        )
    return scaled


def _value_column(rows: Sequence[Mapping[str, str]]) -> str | None:
    return next((name for name in VALUES if name in rows[0]), None)


def _suite(means: Means) -> Suite:
    """A suite without sentences: only its design is used."""
    return Suite(
        meta=Meta("people"),
        region_names=("sentence",),
        predictions=(),
        items=tuple(
            Item(f"{phenomenon}-{item}", tuple(_conditions(phenomenon)))
            for phenomenon, items in means.items()
            for item in items
        ),
        factors=dict(ISLAND_FACTORS),
    )


def _conditions(phenomenon: str) -> Iterable[Condition]:
    for name in ISLAND_CONDITIONS:
        levels = dict(zip(ISLAND_FACTORS, name.split("_"), strict=True))
        yield Condition(name, (Region(name),), {"phenomenon": phenomenon, **levels})

"""Two published studies of wh-licensing, from recorded surprisals: Kobzeva 2023, Wilcox 2023."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from cimento.errors import InputError
from cimento.io.values import Value, group_by
from cimento.paradigms.regions.licensing import LicensingCell, LicensingEffect, effects_of_items
from cimento.statistics.means import within_intervals
from cimento.statistics.mixed import MixedFit, mixed_model, sum_coded
from cimento.studies import Cell, beside, cell_number, need, printed_tables, read_rows, section_of
from cimento.studies.islands.tables import find_file, surprisals
from cimento.suites.licensing import Licensing

KOBZEVA = (
    "Kobzeva, Arehalli, Linzen and Kush 2023, github.com/anastasiakobzeva/learning-FGDs-with-NLMs"
)
WILCOX = "Wilcox, Futrell and Levy 2023, doi:10.1162/ling_a_00491"
FILLER_FORMULA = "effect ~ complementizer + (1 | item)"
ISLAND_FORMULA = "surprisal ~ wh * gap * island + (1 + gap || item)"
NOT_COUNTED = frozenset({".", "<eos>"})
"""Left out of the last region, as the study does."""

REGION_OF_GAP: Mapping[str, str] = {"no-gap": "obj", "gap": "end"}
DECLARATIVE, ISLAND = "that-comp", "wh-comp"

_COLUMNS = ("sent_index", "word", "region", "condition", "surprisal")
_PARTS = ("FILLER", "GAP", "COMPLEMENTIZER")

Effects = dict[tuple[str, str], dict[str, float]]
"""Complementizer and gap to item to filler effect in nats."""


@section_of(
    "kobzeva",
    title="Filler effects in nats, what minus that: Norwegian and English, GPT-2 and LSTM",
    source=KOBZEVA,
)
def kobzeva(data: Path) -> Iterator[Cell]:
    """Filler effects in whether-clauses and declaratives, and their mixed models."""
    for path in surprisals(data):
        model = path.parent.name
        label, effects = filler_effects(path)
        yield from _filler_lines(f"{model} {label}", effects)
        yield from _model_lines(model, label, effects)


def filler_effects(path: Path) -> tuple[str, Effects]:
    """The filler effects of one file of recorded surprisals.

    Returns:
        Language and dependency, and the effects.

    Raises:
        InputError: the file cannot be read, or a condition is not of the study's form.
    """
    rows = read_rows(path)
    need(path, rows, (*_COLUMNS, "language", "dependency"))
    sums: dict[tuple[str, str, str], dict[str, float]] = {}
    for position, row in enumerate(rows, start=2):
        filler, gap, complementizer = _parts(row["condition"], where=f"{path} row {position}")
        surprisal = cell_number(row["surprisal"])
        if row["region"] != REGION_OF_GAP[gap] or row["word"] in NOT_COUNTED or surprisal is None:
            continue
        items = sums.setdefault((filler, gap, complementizer), {})
        items[row["sent_index"]] = items.get(row["sent_index"], 0.0) + surprisal
    effects: Effects = {}
    for (filler, gap, complementizer), items in sums.items():
        if filler == "what":
            control = sums.get(("that", gap, complementizer), {})
            effects[complementizer, gap] = {
                item: value - control[item] for item, value in items.items() if item in control
            }
    return f"{rows[0]['language']} {rows[0]['dependency']}", effects


def _parts(condition: str, *, where: str) -> tuple[str, str, str]:
    """Filler, gap and complementizer of a condition.

    Raises:
        InputError: it does not name all three.
    """
    parts = condition.split("_")
    if len(parts) != len(_PARTS) or parts[1] not in REGION_OF_GAP:
        raise InputError(
            where=where,
            seen=f"the condition is {condition!r}",
            todo=f"Conditions are {'_'.join(_PARTS)}, such as what_no-gap_{DECLARATIVE};"
            f" the gap is {' or '.join(REGION_OF_GAP)}.",
        )
    return parts[0], parts[1], parts[2]


def filler_model(effects: Effects, gap: str) -> MixedFit:
    """The mixed model of filler effects in one region, declaratives against islands."""
    rows = [
        (value, complementizer, item)
        for complementizer in (DECLARATIVE, ISLAND)
        for item, value in effects[complementizer, gap].items()
    ]
    return mixed_model(
        FILLER_FORMULA,
        {
            "effect": [value for value, _, _ in rows],
            "complementizer": sum_coded([name for _, name, _ in rows], high=DECLARATIVE),
            "item": [item for _, _, item in rows],
        },
    )


def _filler_lines(label: str, effects: Effects) -> Iterator[Cell]:
    for complementizer in (DECLARATIVE, ISLAND):
        gaps = [effects[complementizer, gap] for gap in ("gap", "no-gap")]
        table = [[items[item] for items in gaps] for item in gaps[0] if item in gaps[1]]
        errors = within_intervals(table, method="means-removed").se or (None, None)
        for gap, items, error in zip(("gap", "no-gap"), gaps, errors, strict=True):
            mean = math.fsum(items.values()) / len(items)
            shown = "" if error is None else f"se with item means removed {error:.6f}"
            note = f"{len(items)} items, region {REGION_OF_GAP[gap]}; {shown}"
            yield Cell(what=f"{label}, {complementizer}, {gap}", computed=mean, note=note)
        differences = [effect[1] - effect[0] for effect in table]
        yield Cell(
            what=f"{label}, {complementizer}: wh-licensing interaction",
            computed=math.fsum(differences) / len(differences),
        )


def _model_lines(model: str, label: str, effects: Effects) -> Iterator[Cell]:
    printed = printed_tables("islands").get(f"Kobzeva 2023, {model}", {})
    for gap, region in REGION_OF_GAP.items():
        fit = filler_model(effects, gap)
        known = printed.get(f"{label} {region}")
        for index, name in enumerate(("(Intercept)", "complementizer")):
            what = f"{model} {label}, region {region}: {name}"
            if not fit.fixed:
                yield Cell(what=what, computed=None, note=fit.reason or "")
                continue
            effect = fit.effect(name)
            note = f"se {effect.se:.6f}, log-likelihood {fit.loglik:.4f}"
            estimate, t = known[2 * index : 2 * index + 2] if known else (None, None)
            yield beside(what, effect.estimate, estimate, note=note)
            yield beside(f"{what}, t", effect.statistic, t)


@section_of(
    "wilcox",
    title="Wh-islands: licensing in bits, outside and inside, and the three-way term",
    source=WILCOX,
)
def wilcox(data: Path) -> Iterator[Cell]:
    """Licensing interactions in wh-islands, and the three-way term of the mixed model."""
    path = find_file(data, "wh_islands.csv")
    rows = read_rows(path)
    need(path, rows, ("island", "item", "wh", "gap", "model", "surprisal"))
    for model, model_rows in group_by(rows, lambda row: row["model"]).items():
        yield from _wilcox_lines(model, model_rows)


WILCOX_DESIGN = Licensing(
    filler="wh",
    gap="gap",
    island="island",
    levels={"wh": ("what", "that"), "gap": ("gap", "nogap"), "island": ("nocomp", "wh")},
    windows={},
)


def wilcox_cells(rows: Sequence[Mapping[str, str]]) -> dict[str, dict[LicensingCell, Value]]:
    """Item and cell to its surprisal."""
    cells: dict[str, dict[LicensingCell, Value]] = {}
    for row in rows:
        value = cell_number(row["surprisal"])
        if value is not None:
            cells.setdefault(row["item"], {})[row["wh"], row["gap"], row["island"]] = value
    return cells


def wilcox_model(rows: Sequence[Mapping[str, str]]) -> MixedFit:
    """The mixed model of the paper, coded 0 and 1."""
    rows = [row for row in rows if cell_number(row["surprisal"]) is not None]
    return mixed_model(
        ISLAND_FORMULA,
        {
            "surprisal": [float(row["surprisal"]) for row in rows],
            "wh": [float(row["wh"] == "what") for row in rows],
            "gap": [float(row["gap"] == "gap") for row in rows],
            "island": [float(row["island"] == "wh") for row in rows],
            "item": [row["item"] for row in rows],
        },
    )


def _wilcox_lines(model: str, rows: Sequence[Mapping[str, str]]) -> Iterator[Cell]:
    printed, p = printed_tables("islands")["Wilcox 2023"].get(model, (None, None))
    for effect in effects_of_items(WILCOX_DESIGN, wilcox_cells(rows), seed=0):
        what = f"{model} {effect.name} {effect.island}".strip()
        note = "" if effect.se_bits is None else f"se {effect.se_bits:.6f}, t {_t(effect)}"
        if effect.name.startswith("reduction"):
            yield beside(what, effect.mean.value, printed, note=note)
        else:
            yield Cell(what=what, computed=effect.mean.value, note=note or effect.reason)
    fit = wilcox_model(rows)
    if not fit.fixed:
        note = fit.reason or ""
        yield Cell(what=f"{model} three-way term, mixed model", computed=None, note=note)
        return
    term = fit.effect("wh:gap:island")
    note = f"se {term.se:.6f}, t {term.statistic:.4f}"
    yield beside(f"{model} three-way term, mixed model", term.estimate, printed, note=note)
    note = f"df {term.freedom:.1f}" if term.freedom else term.method
    yield beside(f"{model} its p", term.p, p, note=note)


def _t(effect: LicensingEffect) -> str:
    if effect.mean.value is None or not effect.se_bits:
        return f"undefined ({effect.reason})"
    return f"{effect.mean.value / effect.se_bits:.4f}"

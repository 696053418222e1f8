"""The printed tables of accuracies: what adds up in them and what does not."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from cimento.studies.islands.blimp import ERRATUM, released_accuracies
from cimento.studies.islands.published import SALAZAR_ISLANDS
from cimento.studies.islands.records import (
    Line,
    Section,
    beside,
    need,
    number,
    printed_column,
    read_rows,
)
from cimento.studies.printed import equals_printed

SOURCE = "bert-syntax-it 2022, tables 1 to 4 (github.com/ml-utils/bert-syntax-it)"
TENTHS = ".1f"
"""How the tables of accuracies are printed."""
ITEMS_OF_THE_SUITE: Mapping[str, Mapping[str, int]] = {
    "madeddu50": {"Wh-whether": 59},
    "sprouse8": {},
}
"""Phenomena whose items are not as many as the suite's name says."""
INVALID = "GilBERTo"
INVALID_NOTE = "masked with strings that its tokenizer lacks: not a valid expectation"

Cells = dict[str, dict[tuple[str, str], float]]
"""Column to phenomenon and condition to accuracy in %."""


def tables(data: Path) -> Section:
    """Tables 1 and 2: averages against cells, cells against the number of items."""
    lines: list[Line] = []
    for name in ("table1_accuracy_it_madeddu", "table2_accuracy_it_sprouse"):
        cells, suite = read_cells(data / "tables" / f"{name}.csv")
        printed = _averages(data / "tables" / f"{name}_averages.csv")
        label = name.split("_", maxsplit=1)[0]
        lines += _average_lines(label, cells, printed)
        lines += _copied_rows(label, cells, printed)
        lines += _item_lines(label, cells, suite)
    return Section(
        name="tables", title="Tables 1 and 2 against themselves", source=SOURCE, lines=tuple(lines)
    )


def variations(data: Path) -> Section:
    """Table 4: the difference of PenLP between acceptable and unacceptable sentence."""
    path = data / "tables" / "table4_penlp_variations_geppetto.csv"
    rows = read_rows(path)
    need(path, rows, ("long_nonisland", "penlp_long_nonisland", "penlp_long_island"))
    lines = []
    for row, printed in zip(rows, printed_column(rows, "diff_printed"), strict=True):
        good, bad = number(row["penlp_long_nonisland"]), number(row["penlp_long_island"])
        difference = None if good is None or bad is None else good - bad
        notes = [
            f"{name}: {fault}"
            for name in ("long_nonisland", "long_island")
            for fault in _faults(row[name])
        ]
        lines.append(beside(row["long_nonisland"], difference, printed, note="; ".join(notes)))
    return Section(
        name="variations",
        title="Table 4: PenLP of GePpeTto, Long-NonIsland minus Long-Island",
        source=SOURCE,
        lines=tuple(lines),
    )


def pseudo_likelihoods(data: Path) -> Section:
    """Eight BLiMP island paradigms for four masked models, averaged as Salazar et al. do."""
    path = data / "tables" / "table3c_blimp_islands_pll_by_paradigm.csv"
    rows = read_rows(path)
    need(path, rows, ("phenomenon", *SALAZAR_ISLANDS))
    lines = []
    for model, printed in SALAZAR_ISLANDS.items():
        values = [number(row[model]) for row in rows if row["phenomenon"] != "average"]
        known = [value for value in values if value is not None]
        mean = math.fsum(known) / len(known) if known else None
        lines.append(beside(model, mean, printed, note=f"{len(known)} paradigms"))
    return Section(
        name="pseudo-likelihoods",
        title="BLiMP islands by PLL, mean over paradigms in %, against Salazar et al. 2020",
        source="bert-syntax-it 2022; Salazar et al. 2020, doi:10.18653/v1/2020.acl-main.240",
        lines=tuple(lines),
    )


def blimp_table(data: Path) -> Section:
    """Table 3: accuracies on three BLiMP islands against the table by paradigm and the release."""
    printed_path = data / "tables" / "table3_accuracy_blimp_islands.csv"
    paradigm_path = data / "tables" / "table3c_blimp_islands_pll_by_paradigm.csv"
    printed, paradigms = read_rows(printed_path), read_rows(paradigm_path)
    need(printed_path, printed, ("model", *_TABLE_3))
    need(paradigm_path, paradigms, ("phenomenon", *SALAZAR_ISLANDS))
    released = {
        str(row["UID"]).lower(): 100 * float(row["gpt2"])
        for row in released_accuracies(data / "blimp" / "models_summary.jsonl")
    }
    by_name = {row["phenomenon"]: row for row in paradigms}
    lines = []
    for row in printed:
        name = row["model"]
        column = next((each for each in SALAZAR_ISLANDS if name.lower().startswith(each)), "")
        for key, paradigm in _TABLE_3.items():
            computed, note, digits = None, "", TENTHS
            if "Warstadt" in name:
                # Printed as whole numbers.
                computed, digits = released.get(paradigm.replace(" ", "_").lower()), ".0f"
                note = ERRATUM
            elif column:
                computed = number(by_name[paradigm][column]) if paradigm in by_name else None
                note = _OTHER_SCORE if "(PLL)" in name else ""
            known = number(row[key])
            shown = None if known is None else format(known, digits)
            line = beside(f"{name}: {paradigm}", computed, shown)
            lines.append(replace(line, note=note if line.equal is False else ""))
    return Section(
        name="blimp-table",
        title="Table 3: BLiMP islands in %, against the table by paradigm and the released figures",
        source=SOURCE,
        lines=tuple(lines),
    )


_TABLE_3 = {"adjunct": "adjunct island", "complex_np": "complex NP island", "wh": "wh island"}
_OTHER_SCORE = (
    "would be explained by another score (a penalised logistic one) or a run with wrong masks"
)


def read_cells(path: Path) -> tuple[Cells, str]:
    """The accuracies of a printed table, and the name of its suite.

    Raises:
        InputError: the file cannot be read.
    """
    rows = read_rows(path)
    columns = ("suite", "phenomenon", "sentence_type", "model", "measure", "accuracy_pct")
    need(path, rows, columns)
    cells: Cells = {}
    for row in rows:
        column = f"{row['model']} {row['measure']}"
        value = number(row["accuracy_pct"])
        if value is not None:
            cells.setdefault(column, {})[row["phenomenon"], row["sentence_type"]] = value
    return cells, rows[0]["suite"]


def _averages(path: Path) -> dict[str, float | None]:
    rows = read_rows(path)
    need(path, rows, ("column", "printed_average_pct"))
    return {row["column"]: number(row["printed_average_pct"]) for row in rows}


def _average_lines(label: str, cells: Cells, printed: Mapping[str, float | None]) -> Iterator[Line]:
    for column, values in cells.items():
        mean = math.fsum(values.values()) / len(values)
        note = INVALID_NOTE if column.startswith(INVALID) else ""
        average = printed.get(column)
        shown = None if average is None else format(average, TENTHS)
        yield beside(f"{label} {column}: average", mean, shown, note=note)


def _copied_rows(label: str, cells: Cells, printed: Mapping[str, float | None]) -> Iterator[Line]:
    """Where the printed average is not that of the cells: the mean that one row would need.

    An inference, and no comparison: nobody printed the mean of a row.
    """
    for column, values in cells.items():
        average = printed.get(column)
        mean = math.fsum(values.values()) / len(values)
        if average is None or equals_printed(mean, format(average, TENTHS)):
            continue
        for phenomenon, twin in _twins(values):
            row = [value for (name, _), value in values.items() if name == phenomenon]
            others = math.fsum(values.values()) - math.fsum(row)
            implied = (average * len(values) - others) / len(row)
            yield Line(
                what=f"{label} {column}: mean of {phenomenon} that would give the average",
                computed=implied,
                note=f"the printed row has {math.fsum(row) / len(row):.2f} and equals that of"
                f" {twin} up to one item; copied from there, it would explain the difference",
            )


def _twins(values: Mapping[tuple[str, str], float]) -> Iterator[tuple[str, str]]:
    """Phenomena whose row is another one's, each cell within one item of fifty."""
    names = list(dict.fromkeys(name for name, _ in values))
    for index, name in enumerate(names):
        for other in names[:index]:
            pairs = [(v, values[other, cell]) for (n, cell), v in values.items() if n == name]
            if all(abs(one - two) <= 2.0 for one, two in pairs):  # noqa: PLR2004 - 1 of 50 in %
                yield name, other


def _item_lines(label: str, cells: Cells, suite: str) -> Iterator[Line]:
    """Cells that are no multiple of one over the number of items."""
    usual = int("".join(mark for mark in suite if mark.isdigit()))
    for column, values in cells.items():
        odd = []
        for (phenomenon, condition), value in values.items():
            n = ITEMS_OF_THE_SUITE.get(suite, {}).get(phenomenon, usual)
            nearest = 100 * round(value * n / 100) / n
            if not equals_printed(nearest, format(value, TENTHS)):
                odd.append(f"{phenomenon} {condition} {value} is no multiple of 1/{n}")
        if odd:
            yield Line(
                what=f"{label} {column}: cells that the items cannot give",
                computed=float(len(odd)),
                note="; ".join(odd),
            )


def _faults(text: str) -> list[str]:
    """Slips in a sentence that a model sees."""
    words = text.lower().split()
    doubled = [f"doubled {one!r}" for one, two in pairwise(words) if one == two]
    return doubled + ([] if text.endswith(("?", ".")) else ["no final mark"])

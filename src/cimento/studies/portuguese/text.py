"""The study of Brazilian Portuguese as sections, from the tables and parts that it computes."""

from __future__ import annotations

from collections.abc import Iterator

from cimento.studies import Cell, Section
from cimento.studies.portuguese import EQUAL
from cimento.studies.portuguese.data import STATES
from cimento.studies.portuguese.grammar import Json
from cimento.suites import JsonValue

SOURCE = "Wilkens, Zilio and Villavicencio 2023, doi:10.1007/s10579-023-09664-1"
_RULES = {
    "large_gt_base_at1": "Large has more hits at 1 than Base",
    "large_lt_base_at10": "Large has fewer hits among ten than Base",
}
_FEW = "no interval: fewer than 5 templates, whose sentences belong together"


def table_section(table: Json) -> Section:
    """One of the paper's tables, each number beside the printed one."""
    rule = str(table["note"]).rstrip(".")
    if "aggregation" in table:
        rule = f"{table['aggregation']}: {rule}"
    if "cells" not in table:
        cells = _lists(table)
    elif "hits1" in table["cells"][0]:
        cells = _accuracies(table)
    else:
        cells = _precisions(table)
    return Section(
        name=f"table {table['table']}",
        title=f"Table {table['table']}. {table['title']}",
        source=f"{SOURCE}; {rule}",
        cells=tuple(cells),
    )


def part_section(name: str, value: Json | list[Json]) -> Section:
    """What was asked for with ``--what``: claims beside what is printed, or values as they are."""
    if name == "claims" and isinstance(value, dict):
        cells = [
            Cell(
                what=str(claim["claim"]),
                computed=_shown(claim["computed"]),
                printed=_shown(claim["paper"]),
                equal=claim["verdict"] == EQUAL,
                note=str(claim["how"]),
            )
            for claim in value.values()
        ]
    else:
        cells = list(_leaves(value))
    return Section(name=name, title=f"Of the study: {name}", source=SOURCE, cells=tuple(cells))


def _precisions(table: Json) -> Iterator[Cell]:
    """P@1 and P@10 of each case, in each state."""
    for cell, ends in zip(table["cells"], table["intervals"], strict=True):
        for position, (key, measure) in enumerate((("p1", "P@1"), ("p10", "P@10"))):
            for state in (state for state in STATES if state in cell):
                share = cell[state][key]
                yield _cell(
                    f"{cell['case']}, {measure}, {state}",
                    share["pct"],
                    cell["paper"][key],
                    equal=cell[f"{state}_equals_paper"][position],
                    ends=ends[state][key],
                    count=_count(share),
                )


def _accuracies(table: Json) -> Iterator[Cell]:
    """Accuracy at 1 and among ten of each model and word."""
    for cell, ends in zip(table["cells"], table["intervals"], strict=True):
        for position, (k, name) in enumerate(((1, "acc"), (10, "acc10"))):
            yield _cell(
                f"{cell['model']}, W{cell['word']}, hit@{k}",
                cell[name],
                cell["paper"][position],
                equal=cell["equals_paper"][position],
                ends=ends[f"k{k}"],
                count=f"{cell[f'hits{k}']}/{cell['n']}",
            )


def _cell(
    what: str, computed: JsonValue, paper: JsonValue, *, equal: bool, ends: Json, count: str
) -> Cell:
    return Cell(
        what=what,
        computed=_shown(computed),
        printed=_shown(paper),
        equal=equal,
        note=_FEW if ends["low"] is None else "",
        low=ends["low"],
        high=ends["high"],
        count=count,
    )


def _count(share: Json) -> str:
    if "templates" in share:
        return f"{share['templates']} templates"
    return f"{share['correct']}/{share['n']}"


def _lists(table: Json) -> Iterator[Cell]:
    """Tables 2 and 3: lists of expressions, and hits where there are some."""
    computed, equal = table.get("computed", {}), table.get("equals_paper", {})
    for word, names in table["paper"].items():
        same, value = equal.get(word), computed.get(word)
        remarks = [f"printed: {_shown(names)}"]
        remarks += [] if same is True or value is None else [f"computed: {_shown(value)}"]
        remarks += [] if word in computed else ["no rule on hits gives this list"]
        yield Cell(
            what=word,
            computed=None if value is None else f"{len(value)} expressions",
            printed=f"{len(names)} expressions",
            equal=same,
            note="; ".join(remarks),
        )
    for key, rule in _RULES.items():
        for word, names in table.get(key, {}).items():
            number = f"{len(names)} expressions"
            yield Cell(what=f"{word}, {rule}", computed=number, note=_shown(names))
    for word, hits in table.get("hits", {}).items():
        for name, both in hits.items():
            yield Cell(
                what=f"{word} {name}: hits at 1 and among ten, of five sentences",
                computed=f"Base {_shown(both['base'])}; Large {_shown(both['large'])}",
                note="printed in the list" if name in table["paper"][word] else "",
            )


def _leaves(value: object, path: tuple[str, ...] = ()) -> Iterator[Cell]:
    """Each value under its path; a share with its counts and its interval."""
    if isinstance(value, dict) and "correct" in value:
        yield Cell(
            what=" / ".join(path),
            computed=_shown(value["pct"]),
            low=value.get("low"),
            high=value.get("high"),
            count=_count(value),
        )
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from _leaves(part, (*path, key))
    elif isinstance(value, list) and any(isinstance(part, dict) for part in value):
        for number, part in enumerate(value, start=1):
            yield from _leaves(part, (*path, str(number)))
    else:
        yield Cell(what=" / ".join(path), computed=_shown(value))


def _shown(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(_shown, value))
    if isinstance(value, float):
        return f"{value:.4g}" if 0 < abs(value) < 1 else f"{value:.2f}"
    return "-" if value is None else str(value)

"""The study of Brazilian Portuguese as sections, from the tables and parts that it computes."""

from __future__ import annotations

from collections.abc import Iterator

from cimento.studies.portuguese.data import STATES
from cimento.studies.portuguese.study import EQUAL
from cimento.studies.record import Cell, Section
from cimento.suites.model import JsonValue

SOURCE = "Wilkens, Zilio and Villavicencio 2023, doi:10.1007/s10579-023-09664-1"
_RULES = {
    "large_gt_base_at1": "Large has more hits at 1 than Base",
    "large_lt_base_at10": "Large has fewer hits among ten than Base",
}
_FEW = "no interval: fewer than 5 templates, whose sentences belong together"


def table_section(table: dict[str, JsonValue]) -> Section:
    """One of the paper's tables, each number beside the printed one."""
    rule = str(table["note"]).rstrip(".")
    if "aggregation" in table:
        rule = f"{table['aggregation']}: {rule}"
    if "cells" not in table:
        cells = _lists(table)
    elif "hits1" in _dicts(table["cells"])[0]:
        cells = _accuracies(table)
    else:
        cells = _precisions(table)
    return Section(
        name=f"table {table['table']}",
        title=f"Table {table['table']}. {table['title']}",
        source=f"{SOURCE}; {rule}",
        cells=tuple(cells),
    )


def part_section(name: str, value: JsonValue) -> Section:
    """What was asked for with ``--what``: claims beside what is printed, or values as they are."""
    if name == "claims":
        cells = [
            Cell(
                what=str(claim["claim"]),
                computed=_shown(claim["computed"]),
                printed=_shown(claim["paper"]),
                equal=claim["verdict"] == EQUAL,
                note=str(claim["how"]),
            )
            for claim in map(_dict, _dict(value).values())
        ]
    else:
        cells = list(_leaves(value))
    return Section(name=name, title=f"Of the study: {name}", source=SOURCE, cells=tuple(cells))


def _precisions(table: dict[str, JsonValue]) -> Iterator[Cell]:
    """P@1 and P@10 of each case, in each state."""
    for cell, ends in zip(_dicts(table["cells"]), _dicts(table["intervals"]), strict=True):
        for position, (key, measure) in enumerate((("p1", "P@1"), ("p10", "P@10"))):
            for state in (each for each in STATES if each in cell):
                share = _dict(_dict(cell[state])[key])
                yield _cell(
                    f"{cell['case']}, {measure}, {state}",
                    share["pct"],
                    _dict(cell["paper"])[key],
                    equal=_list(cell[f"{state}_equals_paper"])[position],
                    ends=_dict(_dict(ends[state])[key]),
                    count=_count(share),
                )


def _accuracies(table: dict[str, JsonValue]) -> Iterator[Cell]:
    """Accuracy at 1 and among ten of each model and word."""
    for cell, ends in zip(_dicts(table["cells"]), _dicts(table["intervals"]), strict=True):
        for position, (k, name) in enumerate(((1, "acc"), (10, "acc10"))):
            yield _cell(
                f"{cell['model']}, W{cell['word']}, acc@{k}",
                cell[name],
                _list(cell["paper"])[position],
                equal=_list(cell["equals_paper"])[position],
                ends=_dict(ends[f"k{k}"]),
                count=f"{cell[f'hits{k}']}/{cell['n']}",
            )


def _cell(
    what: str,
    computed: JsonValue,
    paper: JsonValue,
    *,
    equal: JsonValue,
    ends: dict[str, JsonValue],
    count: str,
) -> Cell:
    low, high = (float(end) if isinstance(end, int | float) else None for end in _ends(ends))
    return Cell(
        what=what,
        computed=_shown(computed),
        printed=_shown(paper),
        equal=equal is True,
        note=_FEW if low is None else "",
        low=low,
        high=high,
        count=count,
    )


def _ends(interval: dict[str, JsonValue]) -> tuple[JsonValue, JsonValue]:
    return interval["low"], interval["high"]


def _count(share: dict[str, JsonValue]) -> str:
    if "templates" in share:
        return f"{share['templates']} templates"
    return f"{share['correct']}/{share['n']}"


def _lists(table: dict[str, JsonValue]) -> Iterator[Cell]:
    """Tables 2 and 3: lists of expressions, and hits where there are some."""
    computed, equal = _dict(table.get("computed", {})), _dict(table.get("equals_paper", {}))
    for word, names in _dict(table["paper"]).items():
        same, found = equal.get(word), computed.get(word)
        told = [f"printed: {_shown(names)}"]
        told += [] if same is True or found is None else [f"computed: {_shown(found)}"]
        told += [] if word in computed else ["no rule on hits gives this list"]
        yield Cell(
            what=word,
            computed=None if found is None else f"{len(_list(found))} expressions",
            printed=f"{len(_list(names))} expressions",
            equal=None if same is None else same is True,
            note="; ".join(told),
        )
    for key, rule in _RULES.items():
        for word, names in _dict(table.get(key, {})).items():
            number = f"{len(_list(names))} expressions"
            yield Cell(what=f"{word}, {rule}", computed=number, note=_shown(names))
    for word, hits in _dict(table.get("hits", {})).items():
        listed = _list(_dict(table["paper"])[word])
        for name, both in _dict(hits).items():
            base, large = (_shown(_dict(both)[model]) for model in ("base", "large"))
            yield Cell(
                what=f"{word} {name}: hits at 1 and among ten, of five sentences",
                computed=f"Base {base}; Large {large}",
                note="printed in the list" if name in listed else "",
            )


def _leaves(value: JsonValue, path: tuple[str, ...] = ()) -> Iterator[Cell]:
    """Each value under its path; a share with its counts and its interval."""
    if isinstance(value, dict) and "correct" in value:
        low, high = (value.get(end) for end in ("low", "high"))
        yield Cell(
            what=" / ".join(path),
            computed=_shown(value["pct"]),
            low=float(low) if isinstance(low, int | float) else None,
            high=float(high) if isinstance(high, int | float) else None,
            count=_count(value),
        )
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _leaves(each, (*path, key))
    elif isinstance(value, list) and any(isinstance(each, dict) for each in value):
        for number, each in enumerate(value, start=1):
            yield from _leaves(each, (*path, str(number)))
    else:
        yield Cell(what=" / ".join(path), computed=_shown(value))


def _shown(value: JsonValue) -> str:
    if isinstance(value, list):
        return ", ".join(map(_shown, value))
    if isinstance(value, float):
        return f"{value:.4g}" if 0 < abs(value) < 1 else f"{value:.2f}"
    return "-" if value is None else str(value)


def _dict(value: JsonValue) -> dict[str, JsonValue]:
    return value if isinstance(value, dict) else {}


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def _dicts(value: JsonValue) -> list[dict[str, JsonValue]]:
    return [_dict(each) for each in _list(value)]

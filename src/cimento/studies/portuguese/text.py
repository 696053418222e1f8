"""The study of Brazilian Portuguese as text: computed, printed, equal or not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cimento.io.inline_markup import columns
from cimento.studies.portuguese.data import STATES
from cimento.suites.model import JsonValue

_PRECISIONS = (("p1", "P@1"), ("p10", "P@10"))
_EQUAL = {True: "=", False: "differs"}
NO_INTERVAL = "none"


def table_text(table: dict[str, JsonValue]) -> str:
    """One table: a title, its rule, and a row for each case."""
    title = f"Table {table['table']}. {table['title']}"
    note = str(table["note"])
    if "aggregation" in table:
        note = f"{table['aggregation']}. {note}"
    if "cells" not in table:
        return "\n".join([title, note, *_lists(table)])
    cells, intervals = _dicts(table["cells"]), _dicts(table["intervals"])
    shown = _accuracies if "hits1" in cells[0] else _shares
    rows = shown(cells, intervals)
    lines = [title, note, columns(rows, indent=2)]
    if any(NO_INTERVAL in row for row in rows):
        lines.append(f"  {NO_INTERVAL}: fewer than 5 templates, whose sentences belong together")
    return "\n".join(lines)


def part_text(name: str, value: JsonValue) -> str:
    """What was asked for with --what: one line for each value, under its path."""
    if name == "claims" and isinstance(value, dict):
        claims = _dicts(list(value.values()))
        rows: list[tuple[str, ...]] = [("claim", "printed", "computed", "verdict", "how")]
        rows += [
            tuple(_shown(claim[key]) for key in ("claim", "paper", "computed", "verdict", "how"))
            for claim in claims
        ]
        return columns(rows)
    if isinstance(value, list) and value:
        records = _dicts(value)
        rows = [tuple(records[0]), *(tuple(map(_shown, each.values())) for each in records)]
        return columns(rows)
    return columns([(" / ".join(path), _shown(leaf)) for path, leaf in _leaves(value)])


def _shares(
    cells: Sequence[dict[str, JsonValue]], intervals: Sequence[dict[str, JsonValue]]
) -> list[tuple[str, ...]]:
    """P@1 and P@10 of each case, in each state, beside what is printed."""
    states = [state for state in STATES if state in cells[0]]
    header = ["case", "measure", "printed"]
    for state in states:
        header += [state, "95 %", "counts", ""]
    rows = [tuple(header)]
    for cell, ends in zip(cells, intervals, strict=True):
        paper = _dict(cell["paper"])
        for position, (key, measure) in enumerate(_PRECISIONS):
            row = [str(cell["case"]), measure, _shown(paper[key])]
            for state in states:
                computed = _dict(_dict(cell[state])[key])
                equal = cell[f"{state}_equals_paper"]
                same = isinstance(equal, list) and equal[position] is True
                interval = _ends(_dict(_dict(ends[state])[key]))
                row += [_shown(computed["pct"]), interval, _counts(computed), _EQUAL[same]]
            rows.append(tuple(row))
    return rows


def _counts(share: dict[str, JsonValue]) -> str:
    if "templates" in share:
        return f"{share['templates']} templates"
    return f"{share['correct']}/{share['n']}"


def _ends(interval: dict[str, JsonValue]) -> str:
    if interval["low"] is None:
        return NO_INTERVAL
    return f"{_shown(interval['low'])} to {_shown(interval['high'])}"


def _accuracies(
    cells: Sequence[dict[str, JsonValue]], intervals: Sequence[dict[str, JsonValue]]
) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [
        ("model", "word", "measure", "printed", "computed", "95 %", "counts", "")
    ]
    for cell, ends in zip(cells, intervals, strict=True):
        paper, equal = cell["paper"], cell["equals_paper"]
        if not (isinstance(paper, list) and isinstance(equal, list)):
            continue
        for position, (k, name) in enumerate(((1, "acc"), (10, "acc10"))):
            rows.append(
                (
                    str(cell["model"]),
                    f"W{cell['word']}",
                    f"acc@{k}",
                    _shown(paper[position]),
                    _shown(cell[name]),
                    _ends(_dict(ends[f"k{k}"])),
                    f"{cell[f'hits{k}']}/{cell['n']}",
                    _EQUAL[equal[position] is True],
                )
            )
    return rows


def _lists(table: dict[str, JsonValue]) -> Iterator[str]:
    """Tables 2 and 3: lists of expressions, and hits where there are some."""
    for key in ("paper", "computed", "large_gt_base_at1", "large_lt_base_at10"):
        for word, names in _dict(table.get(key, {})).items():
            yield f"  {key} {word}: {_shown(names)}"
    for word, same in _dict(table.get("equals_paper", {})).items():
        yield f"  {word}: {'equal' if same else 'differs'}"
    for word, hits in _dict(table.get("hits", {})).items():
        rows = [("expression", "Base at 1", "at 10", "Large at 1", "at 10", "printed")]
        printed = _dict(table["paper"])[word]
        for name, each in _dict(hits).items():
            both = [*_list(_dict(each)["base"]), *_list(_dict(each)["large"])]
            mark = "yes" if name in _list(printed) else ""
            base, base_ten, large, large_ten = map(str, both)
            rows.append((name, base, base_ten, large, large_ten, mark))
        yield f"  hits {word}, of five sentences"
        yield columns(rows, indent=4)


def _leaves(
    value: JsonValue, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], JsonValue]]:
    if isinstance(value, dict) and "correct" in value:
        yield path, _with_counts(value)
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _leaves(each, (*path, key))
    elif isinstance(value, list) and any(isinstance(each, dict) for each in value):
        for number, each in enumerate(value, start=1):
            yield from _leaves(each, (*path, str(number)))
    else:
        yield path, value


def _with_counts(share: dict[str, JsonValue]) -> str:
    interval = f" [{_shown(share['low'])}, {_shown(share['high'])}]" if "low" in share else ""
    return f"{_shown(share['pct'])}{interval}  {_counts(share)}"


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

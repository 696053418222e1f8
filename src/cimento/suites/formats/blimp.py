"""BLiMP JSONL: a minimal pair on each line (Warstadt et al. 2020, doi:10.1162/tacl_a_00321)."""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from sys import intern
from typing import TypeAlias, cast

from cimento.errors import Fault, FormulaError, InputError, counted
from cimento.faults import errors, fault
from cimento.intake.decoding import decoded, unusable
from cimento.intake.reading import TableReading, reading_of_keys
from cimento.intake.shapes import PAIRS
from cimento.intake.words import CONTEXTS, PREFIXES
from cimento.io.files import write_text
from cimento.io.parsing import parse_lines
from cimento.io.values import FreeCells
from cimento.suites import (
    BAD,
    GOOD,
    PAIR_PREDICTION,
    Condition,
    Item,
    ItemColumns,
    JsonValue,
    Meta,
    Prediction,
    Suite,
    pair_columns,
    sentence,
)
from cimento.suites.formula import Comparison, Reference, parse
from cimento.suites.naming import named
from cimento.suites.published_results import blimp_names
from cimento.suites.reading import Reading, RowPlaces, sha256_of, stripped

PHENOMENON_KEY = "linguistics_term"
PARADIGM_KEY = "UID"
ID_KEY = "pairID"
SENTENCES = {GOOD: "sentence_good", BAD: "sentence_bad"}
_KEYS = frozenset(SENTENCES.values())
_Row: TypeAlias = dict[str, JsonValue]
_AT_ONCE = 1024
"""Number of rows that become columns together; all of a long suite would take much memory."""


def is_blimp(line: bytes) -> bool:
    """Whether the first line of a file has the keys of a pair, and no prefix or context of both."""
    keys = {f'"{key}"'.encode() for key in SENTENCES.values()}
    before = (f'"{name}"'.encode() for name in (*PREFIXES, *CONTEXTS))
    return all(key in line for key in keys) and not any(name in line for name in before)


def read_blimp(path: Path) -> Reading:
    """Read BLiMP JSONL: conditions ``good`` and ``bad``, one region, one prediction.

    All other keys become free columns, as text; ``linguistics_term`` also becomes the column
    ``phenomenon``; lists and objects are kept as extra keys of the item. The suite is named after
    the paradigm if there is one, else after the file.

    Raises:
        InputError: the file may not be read.
        SuiteError: the file is not BLiMP JSONL.
    """
    data, text, faults = decoded(path)
    sha256 = sha256_of(data)
    del data  # as large as the text, which is read line by line
    pairs = _Pairs()
    numbers, of_lines = _read_lines(text, pairs, name=path.name)
    faults += of_lines
    del text
    if errors(faults):
        raise unusable(path, faults)
    items, more = pairs.items(RowPlaces(path.name, numbers, "line"))
    suite = Suite(
        meta=Meta(
            name=pairs.only(PARADIGM_KEY) or path.stem,
            phenomenon=pairs.only(PHENOMENON_KEY),
            language=_known(pairs.only(PARADIGM_KEY), items.texts),
        ),
        region_names=("sentence",),
        predictions=(PAIR_PREDICTION,),
        items=items,
    )
    twice = array("l", [number for number in numbers for _ in SENTENCES])
    places = RowPlaces(path.name, twice, "line")
    read = pairs.read_as(n_items=len(items.ids))
    return Reading(suite, sha256, places, (*faults, *more), read)


def _known(dataset: str, texts: Iterable[str]) -> str:
    """The language of a dataset; empty where it is unknown because the dataset is not BLiMP's.

    Sets of other languages have names of BLiMP too, as ZhoBLiMP has anaphor_gender_agreement; the
    sentences of BLiMP have no letter beyond ASCII.
    """
    return "en" if dataset in blimp_names() and all(map(str.isascii, texts)) else ""


def _read_lines(text: str, pairs: _Pairs, *, name: str) -> tuple[list[int], list[Fault]]:
    """The numbers of the lines with pairs in a text of JSON Lines, and the faults of its lines."""
    from cimento.suites.schema import BlimpRow, validate

    good, bad = SENTENCES.values()
    numbers: list[int] = []
    faults: list[Fault] = []
    rows: list[_Row] = []
    for number, row in parse_lines(text):
        if isinstance(row, ValueError):
            where, seen = f"{name} line {number}", f"Not JSON: {row}."
            todo = "Each line must be one JSON object; was the file cut short?"
            faults.append(fault("CIM-S002", where=where, seen=seen, todo=todo))
            if not numbers:
                break  # not JSON Lines at all; every further line would give the same fault
        elif type(row) is dict and type(row.get(good)) is type(row.get(bad)) is str:
            rows.append(row)
            numbers.append(number)
            if len(rows) == _AT_ONCE:
                pairs.add(rows)
                rows = []
        else:
            faults += validate(BlimpRow, row, where=f"{name} line {number}")[1]
    pairs.add(rows)
    return numbers, faults


class _Pairs:
    """The pairs of a file, whose ids are decided after all of them are read."""

    def __init__(self) -> None:
        self._rows: FreeCells[JsonValue] = FreeCells()

    def add(self, rows: Sequence[_Row]) -> None:
        """Add the pairs of some lines."""
        self._rows.extend(rows)

    def only(self, key: str) -> str:
        """The value of a key if all lines that have one agree; else empty."""
        values = {value for value in self._rows.columns().get(key, ()) if isinstance(value, str)}
        return values.pop().strip() if len(values) == 1 else ""

    def read_as(self, *, n_items: int) -> TableReading:
        """What the keys of the lines were read as."""
        roles = {**SENTENCES, "item": ID_KEY, "phenomenon": ["phenomenon", PHENOMENON_KEY]}
        return reading_of_keys(self._rows.columns(), PAIRS, roles, n_items=n_items, known="BLiMP")

    def items(self, places: Sequence[str]) -> tuple[ItemColumns, list[Fault]]:
        """The pairs in the order of the file, and a fault for each sentence with stray blanks.

        Args:
            places: the place of each pair.
        """
        free: dict[str, Sequence[str | None]] = {}
        nested: dict[int, dict[str, JsonValue]] = {}
        rows = dict(self._rows.columns())
        texts = {key: list(map(str, rows.pop(key, ()))) for key in SENTENCES.values()}
        sentences, faults = stripped(texts, places)
        for key, values in rows.items():
            kinds = set(map(type, values))
            if list in kinds or dict in kinds:
                for number, value in enumerate(values):
                    if type(value) is list or type(value) is dict:
                        nested.setdefault(number, {})[key] = value
            # Nearly all columns are texts; equal ones share one object to save memory.
            as_text = str if kinds == {int} else cast("Callable[[JsonValue], str]", intern)
            as_cell = as_text if kinds in ({str}, {int}) else _as_cell
            free[key] = list(map(as_cell, values))
        if PHENOMENON_KEY in free:
            phenomena = free.get("phenomenon") or [None] * len(places)
            both = zip(phenomena, free[PHENOMENON_KEY], strict=True)
            free["phenomenon"] = [term if given is None else given for given, term in both]
        ids = _ids(rows.get(ID_KEY, ()), free.get(PARADIGM_KEY), count=len(places))
        good, bad = sentences.values()
        return pair_columns(ids, good, bad, free, extras=nested), faults


def _ids(
    keys: Sequence[JsonValue], paradigms: Sequence[str | None] | None, *, count: int
) -> list[str]:
    """The ids of the pairs, after the paradigm where paradigms share ids; or else numbers.

    Ids that remain ambiguous are reported by the checks.
    """
    if not keys or any(key is None for key in keys):
        return [str(number) for number in range(1, count + 1)]
    ids = [_as_text(key).strip() for key in keys]
    if paradigms is None or max(Counter(ids).values(), default=1) == 1:
        return ids
    return [
        f"{paradigm}/{id_}" if paradigm else id_
        for paradigm, id_ in zip(paradigms, ids, strict=True)
    ]


def _as_cell(value: JsonValue) -> str | None:
    """A value as the cell of a free column; equal texts share one object to save memory."""
    if value is None or type(value) is list or type(value) is dict:
        return None
    return intern(value if type(value) is str else _as_text(value))


def _as_text(value: JsonValue) -> str:
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
    return json.dumps(value)


_TEXT_COLUMNS = (ID_KEY, PARADIGM_KEY, PHENOMENON_KEY)
_META_KEYS = (
    "version", "language", "license", "citation", "status", "author", "reference", "comment",
    "tags", "extra",
)  # fmt: skip


def write_blimp(suite: Suite, path: Path) -> Path:
    """Write the pairs of a suite as BLiMP JSONL; `blimp_losses` says what is left out.

    Each prediction that compares two conditions makes a pair of each item, in which the condition
    that should be less surprising is the good one.

    Raises:
        InputError: no prediction makes pairs.
        StorageError: the file cannot be written.
    """
    pairs = {
        prediction.name: pair
        for prediction in named(suite.predictions)
        if (pair := _pair(prediction)) is not None
    }
    if not pairs:
        raise InputError(
            where=suite.name,
            seen="no prediction compares one condition with one other, so there are no pairs",
            todo="Write another format, or add a prediction such as (*;%good%) < (*;%bad%).",
        )
    numeric = _numeric_columns(suite)
    lines = [json.dumps(line, ensure_ascii=False) + "\n" for line in _lines(suite, pairs, numeric)]
    return write_text("".join(lines), path)


def blimp_losses(suite: Suite) -> list[str]:
    """The parts of a suite that BLiMP JSONL cannot hold, as phrases; empty if nothing is lost."""
    losses, said = pair_losses(suite), sorted(_values(suite, PARADIGM_KEY))
    if said and suite.meta.name not in said:
        names = ", ".join(said[:3]) + (" ..." if said[3:] else "")
        losses.append(f"the name of the suite, which the column {PARADIGM_KEY} gives as {names}")
    return losses


def losses_of(
    suite: Suite, of_meta: Mapping[str, object], others: Sequence[str], *, regions: int = 1
) -> list[str]:
    """The parts of a suite that are lost where only sentences and free columns are kept.

    Args:
        suite: the suite.
        of_meta: the metadata that are lost, of which some may be empty.
        others: what is lost of conditions and predictions.
        regions: the number of regions that are kept apart.
    """
    losses = [f"{key}, in the metadata" for key, value in of_meta.items() if value]
    if len(suite.region_names) > regions:
        losses.append(f"the division into {len(suite.region_names)} regions")
    losses += others
    losses += [f"the {name}" for name in ("cluster", "factors", "extra") if getattr(suite, name)]
    return losses if suite.metric == "sum" else [*losses, f"the metric {suite.metric}"]


def pair_losses(suite: Suite) -> list[str]:
    """The parts of a suite that pairs with free columns cannot hold, as phrases; may be empty."""
    of_meta = {key: getattr(suite.meta, key) for key in _META_KEYS}
    if of_meta["language"] == _known(suite.name, suite.columns.texts):
        del of_meta["language"]
    others = []
    if set(suite.condition_names) != SENTENCES.keys():
        others.append(f"the conditions {', '.join(suite.condition_names)}")
    if [prediction.formula for prediction in suite.predictions] != [PAIR_PREDICTION.formula]:
        others.append(f"the {counted(len(suite.predictions), 'prediction')} as written")
    losses = losses_of(suite, of_meta, others)
    if suite.join != "blank":
        losses.append(f"the rule {suite.join} for joining regions")
    columns = sorted(name for name in suite.column_names if _differs(suite, name))
    losses += [f"the column {name}, which differs between conditions" for name in columns]
    if any(c.extra or any(r.extra for r in c.regions) for _, c in suite.stimuli()):
        losses.append("what another format said about conditions and regions")
    return losses


def _pair(prediction: Prediction) -> tuple[str, str] | None:
    """The condition that should be less surprising, and the other; None without such a pair."""
    try:
        formula = parse(prediction.formula)
    except FormulaError:
        return None
    match formula:
        case Comparison("<", Reference(_, good), Reference(_, bad)):
            return good, bad
        case Comparison(">", Reference(_, bad), Reference(_, good)):
            return good, bad
    return None


def _lines(
    suite: Suite, pairs: Mapping[str, tuple[str, str]], numeric: frozenset[str]
) -> Iterator[dict[str, JsonValue]]:
    for item in suite.items:
        for name, (good, bad) in pairs.items():
            sides = (item.condition(good), item.condition(bad))
            texts = [sentence(side, rule=suite.join) for side in sides]
            line: dict[str, JsonValue] = dict(zip(SENTENCES.values(), texts, strict=True))
            line.update(_fields(suite, item, sides[0], numeric))
            line.update({key: value for key, value in item.extra.items() if key not in line})
            if len(pairs) > 1:
                line["prediction"] = name
                line[ID_KEY] = f"{line[ID_KEY]}-{name}"
            yield line


def _fields(
    suite: Suite, item: Item, condition: Condition, numeric: frozenset[str]
) -> dict[str, JsonValue]:
    columns = {
        name: value for name, value in condition.columns.items() if name not in SENTENCES.values()
    }
    phenomenon = columns.get("phenomenon", suite.meta.phenomenon)
    if columns.get(PHENOMENON_KEY, phenomenon) == phenomenon:
        columns.pop("phenomenon", None)
        if phenomenon:
            columns.setdefault(PHENOMENON_KEY, phenomenon)
    columns.setdefault(PARADIGM_KEY, suite.name)
    columns.setdefault(ID_KEY, item.id)
    return {
        name: json.loads(value) if name in numeric else value for name, value in columns.items()
    }


def _numeric_columns(suite: Suite) -> frozenset[str]:
    """The columns in which every value is a number or a Boolean in JSON."""
    return frozenset(
        name
        for name in suite.column_names
        if name not in _TEXT_COLUMNS and all(map(_is_scalar, _values(suite, name)))
    )


def _is_scalar(text: str) -> bool:
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return isinstance(value, bool | int | float) and json.dumps(value) == text


def _values(suite: Suite, column: str) -> set[str]:
    values = (condition.columns.get(column) for _, condition in suite.stimuli())
    return {value for value in values if value is not None}


def _differs(suite: Suite, column: str) -> bool:
    return any(
        len({condition.columns.get(column) for condition in item.conditions}) > 1
        for item in suite.items
    )

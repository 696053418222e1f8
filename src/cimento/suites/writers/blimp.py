"""BLiMP JSONL, and what of a suite it cannot hold."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from cimento.errors import FormulaError, InputError
from cimento.files import write_text
from cimento.suites.formula import Comparison, Reference, parse
from cimento.suites.model import Condition, Item, JsonValue, Prediction, Suite
from cimento.suites.readers.blimp import ID_KEY, PARADIGM_KEY, PHENOMENON_KEY
from cimento.suites.readers.items import PAIR_PREDICTION
from cimento.suites.sentences import sentence

_CONDITIONS = {"good", "bad"}
_SENTENCE_KEYS = ("sentence_good", "sentence_bad")
_TEXT_COLUMNS = (ID_KEY, PARADIGM_KEY, PHENOMENON_KEY)
_META_KEYS = (
    "version", "language", "licence", "citation", "status", "author", "reference", "comment",
    "tags", "extra",
)  # fmt: skip


def write_blimp(suite: Suite, path: Path) -> Path:
    """Write the pairs of a suite as BLiMP JSONL; `blimp_losses` says what is left out.

    Each prediction that compares one condition with one other makes a pair of each item: the
    condition that should be less surprising is the good one.

    Raises:
        InputError: no prediction makes pairs.
        StorageError: the file cannot be written.
    """
    pairs = [pair for each in suite.predictions if (pair := _pair(each)) is not None]
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
    """What BLiMP JSONL cannot hold of a suite, as phrases; empty where nothing is lost."""
    losses = [f"{key}, in the metadata" for key in _META_KEYS if getattr(suite.meta, key)]
    if len(suite.region_names) > 1:
        losses.append(f"the division into {len(suite.region_names)} regions")
    if set(suite.condition_names) != _CONDITIONS:
        losses.append(f"the conditions {', '.join(suite.condition_names)}")
    if [each.formula for each in suite.predictions] != [PAIR_PREDICTION.formula]:
        losses.append(f"the {len(suite.predictions)} predictions as they are")
    losses += [f"the {name}" for name in ("cluster", "factors", "extra") if getattr(suite, name)]
    if suite.metric != "sum":
        losses.append(f"the metric {suite.metric}")
    if suite.join != "blank":
        losses.append(f"the rule {suite.join} for joining regions")
    if suite.meta.name not in (_values(suite, PARADIGM_KEY) or {suite.meta.name}):
        losses.append("the name of the suite")
    columns = sorted(name for name in suite.column_names if _differs(suite, name))
    losses += [f"the column {name}, which differs between conditions" for name in columns]
    if any(c.extra or any(r.extra for r in c.regions) for _, c in suite.stimuli()):
        losses.append("what another format said about conditions and regions")
    return losses


def _pair(prediction: Prediction) -> tuple[str, str] | None:
    """The condition that should be less surprising, and the other."""
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
    suite: Suite, pairs: list[tuple[str, str]], numeric: frozenset[str]
) -> Iterator[dict[str, JsonValue]]:
    for item in suite.items:
        for number, (good, bad) in enumerate(pairs):
            sides = (item.condition(good), item.condition(bad))
            texts = [sentence(side, rule=suite.join) for side in sides]
            line: dict[str, JsonValue] = dict(zip(_SENTENCE_KEYS, texts, strict=True))
            line.update(_fields(suite, item, sides[0], numeric))
            line.update({key: value for key, value in item.extra.items() if key not in line})
            if len(pairs) > 1:
                line["prediction"] = number
                line[ID_KEY] = f"{line[ID_KEY]}-{number}"
            yield line


def _fields(
    suite: Suite, item: Item, condition: Condition, numeric: frozenset[str]
) -> dict[str, JsonValue]:
    columns = {
        name: value for name, value in condition.columns.items() if name not in _SENTENCE_KEYS
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
    """Columns whose every value is a number or a truth value as JSON writes it."""
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
    found = (condition.columns.get(column) for _, condition in suite.stimuli())
    return {value for value in found if value is not None}


def _differs(suite: Suite, column: str) -> bool:
    return any(
        len({condition.columns.get(column) for condition in item.conditions}) > 1
        for item in suite.items
    )

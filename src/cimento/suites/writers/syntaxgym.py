"""SyntaxGym JSON, as `readers.syntaxgym` reads it back without loss.

The keys of the format are written as its schema has them. What it has no place for stands under
the key ``cimento`` of the object concerned, and nowhere if there is nothing to say.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from cimento.files import write_text
from cimento.suites.model import METRICS, Condition, Item, JsonValue, Prediction, Region, Suite
from cimento.suites.readers.syntaxgym import TEXT_KEYS

_Object = dict[str, JsonValue]

_OURS = "cimento"
_MOST_DIGITS = 15
_ALWAYS_WRITTEN = ("author", "reference", "comment")


def write_syntaxgym(suite: Suite, path: Path) -> Path:
    """Write a suite as SyntaxGym JSON.

    Raises:
        StorageError: the file cannot be written.
    """
    text = json.dumps(_document(suite), ensure_ascii=False, indent=2)
    return write_text(text + "\n", path)


def _document(suite: Suite) -> _Object:
    ours: _Object = {}
    if suite.join != "blank":
        ours["join"] = suite.join
    if suite.cluster:
        ours["cluster"] = suite.cluster
    if suite.factors:
        ours["factors"] = {factor: list(levels) for factor, levels in suite.factors.items()}
    numbered = all(_is_number(item.id) for item in suite.items)
    return _object(
        {
            "meta": _meta(suite),
            "region_meta": {str(k): name for k, name in enumerate(suite.region_names, start=1)},
            "predictions": [_prediction(each) for each in suite.predictions],
            "items": [
                _item(item, None if numbered else position)
                for position, item in enumerate(suite.items, start=1)
            ],
        },
        ours,
        suite.extra,
    )


def _object(standard: _Object, ours: _Object, extra: Mapping[str, JsonValue]) -> _Object:
    """The keys of the format, those that were kept, and ours; what would clash is set aside."""
    clashing = {key: value for key, value in extra.items() if key in standard or key == _OURS}
    kept = {key: value for key, value in extra.items() if key not in clashing}
    ours = {**ours, **({"extra": clashing} if clashing else {})}
    return {**standard, **kept, **({_OURS: ours} if ours else {})}


def _meta(suite: Suite) -> _Object:
    meta = suite.meta
    extra = dict(meta.extra)
    metric: JsonValue = suite.metric
    kept = extra.get("metric")
    if _stands_for(kept, suite.metric):
        metric = extra.pop("metric")
    standard: _Object = {"name": meta.name, "metric": metric}
    standard.update(
        {
            key: value
            for key in TEXT_KEYS
            if (value := getattr(meta, key)) or key in _ALWAYS_WRITTEN or key in extra
        }
    )
    if meta.tags or "tags" in extra:
        standard["tags"] = list(meta.tags)
    return _object(standard, {}, extra)


def _stands_for(kept: JsonValue, metric: str) -> bool:
    """Whether what a file said in place of one metric is read as that metric."""
    wanted = list(METRICS) if kept == "all" else kept
    if not isinstance(wanted, list) or not wanted or any(each not in METRICS for each in wanted):
        return False
    return metric == ("sum" if "sum" in wanted else wanted[0])


def _prediction(prediction: Prediction) -> _Object:
    standard: _Object = {"type": "formula", "formula": prediction.formula}
    if prediction.comment or "comment" in prediction.extra:
        standard["comment"] = prediction.comment
    return _object(standard, {}, prediction.extra)


def _item(item: Item, position: int | None) -> _Object:
    """An item under its own number, or under its position where not all ids are numbers."""
    number = int(item.id) if position is None else position
    conditions: list[JsonValue] = [_condition(each) for each in item.conditions]
    ours: _Object = {} if item.id == str(number) else {"id": item.id}
    return _object({"item_number": number, "conditions": conditions}, ours, item.extra)


def _is_number(id_: str) -> bool:
    return id_.isascii() and id_.isdecimal() and len(id_) <= _MOST_DIGITS and str(int(id_)) == id_


def _condition(condition: Condition) -> _Object:
    regions: list[JsonValue] = [
        _region(region, number) for number, region in enumerate(condition.regions, start=1)
    ]
    ours: _Object = {"columns": dict(condition.columns)} if condition.columns else {}
    standard: _Object = {"condition_name": condition.name, "regions": regions}
    return _object(standard, ours, condition.extra)


def _region(region: Region, number: int) -> _Object:
    ours: _Object = {"glued": True} if region.glued else {}
    return _object({"region_number": number, "content": region.text}, ours, region.extra)

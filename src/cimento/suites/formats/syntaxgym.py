"""SyntaxGym JSON.

The format is that of Gauthier et al. 2020, doi:10.18653/v1/2020.acl-demos.10: round or square
brackets in formulas, relations, evaluated or not. The keys are written as its schema has them.
Values without a place in the format go under a key ``cimento`` of their object, which is left out
if there are none; so a suite is read back without loss.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from cimento.errors import Fault
from cimento.faults import fault
from cimento.intake.decoding import decoded, unusable
from cimento.io.clusters import columns_said
from cimento.io.files import write_text
from cimento.io.parsing import parse_json, whole_number
from cimento.io.values import FreeCells
from cimento.suites import (
    METRICS,
    NOTHING,
    Condition,
    Item,
    ItemColumns,
    JsonValue,
    Meta,
    Metric,
    Prediction,
    Region,
    Suite,
    ascending,
)
from cimento.suites.reading import Reading, number_text, sha256_of, strip_blanks

if TYPE_CHECKING:
    from cimento.suites.schema import JsonMeta, JsonPrediction, JsonRelation


TEXT_KEYS = (
    "version", "language", "phenomenon", "license", "citation", "status", "author", "reference",
    "comment",
)  # fmt: skip
OURS = "cimento"
"""The key of values that have no place in the format."""
_Object: TypeAlias = Mapping[str, Any]
_NUMBERS = (int, str)
_SIGNS = {"greaterthan": ">", "lessthan": "<"}


def read_syntaxgym(path: Path) -> Reading:
    """Read a suite in SyntaxGym JSON.

    Raises:
        InputError: the file may not be read.
        SuiteError: the file is not SyntaxGym JSON.
    """
    data, text, faults = decoded(path)
    try:
        parsed = parse_json(text)
    except ValueError as error:
        raise unusable(
            path, [fault("CIM-S002", where=path.name, seen=f"Not JSON: {error}.")]
        ) from error
    suite, of_document = suite_from_document(parsed, name=path.name)
    faults += of_document
    if suite is None:
        raise unusable(path, faults)
    places = (path.name,) * len(suite.columns.names)
    return Reading(suite, sha256_of(data), places, tuple(faults))


def suite_from_document(parsed: object, *, name: str) -> tuple[Suite | None, list[Fault]]:
    """The suite in a document, or None if there is none, and the faults found.

    Args:
        parsed: the document as parsed from JSON.
        name: name of the file.
    """
    from cimento.suites.schema import JsonSuite, validate

    given = parsed if isinstance(parsed, dict) else {}
    items = given.get("items")
    if isinstance(items, list) and all(map(_is_usual, items)):
        # Items of the usual form are valid without building a pydantic model of each part.
        document, faults = validate(JsonSuite, {**given, "items": []}, where=name)
    else:
        document, faults = validate(JsonSuite, parsed, where=name)
    if document is None or not isinstance(items, list):
        return None, faults
    ours = document.ours
    metric, kept = _metric(document.meta, name=name, faults=faults)
    suite = Suite(
        meta=_meta(document.meta, kept),
        region_names=_region_names(document.region_meta, name=name, faults=faults),
        predictions=tuple(_prediction(prediction) for prediction in document.predictions),
        items=_Items(name, faults).of(items),
        metric=metric,
        join=ours.join,
        cluster=ours.cluster,
        factors={factor: tuple(levels) for factor, levels in ours.factors.items()},
        extra=document.kept(),
    )
    return suite, faults


def _is_usual(item: object) -> bool:
    """Whether an item has exactly the usual keys with the right types, as nearly all items do."""
    if not (
        type(item) is dict
        and type(item.get("item_number")) in _NUMBERS
        and type(item.get("conditions")) is list
        and OURS not in item
    ):
        return False
    for condition in item["conditions"]:
        if not (
            type(condition) is dict
            and type(condition.get("condition_name")) is str
            and type(condition.get("regions")) is list
            and (OURS not in condition or _has_only_columns(condition[OURS]))
        ):
            return False
        for region in condition["regions"]:
            if not (
                type(region) is dict
                and type(region.get("content")) is str
                and type(region.get("region_number")) in _NUMBERS
                and OURS not in region
            ):
                return False
    return True


def _has_only_columns(ours: object) -> bool:
    columns = ours.get("columns") if type(ours) is dict and len(ours) == 1 else None
    return type(columns) is dict and all(type(value) is str for value in columns.values())


def _metric(
    meta: JsonMeta, *, name: str, faults: list[Fault]
) -> tuple[Metric, dict[str, JsonValue]]:
    """The metric, and the original value if it must be kept for writing."""
    if meta.metric in METRICS:
        return meta.metric, {}
    if metric := _metric_meant(cast("JsonValue", meta.metric)):
        return metric, {"metric": cast("JsonValue", meta.metric)}
    seen = f"The metric {meta.metric!r} is unknown."
    todo = f"Write one of {', '.join(METRICS)}."
    faults.append(fault("CIM-S003", where=f"{name}: meta, metric", seen=seen, todo=todo))
    return "sum", {}


def _metric_meant(stated: JsonValue) -> Metric | None:
    """The metric that is meant by ``all`` or by a list of metrics; None for other values.

    Some suites state these to have all six metrics computed; their predictions compare sums.
    """
    wanted = list(METRICS) if stated == "all" else stated
    if not isinstance(wanted, list) or not wanted or any(one not in METRICS for one in wanted):
        return None
    return cast("Metric", "sum" if "sum" in wanted else wanted[0])


def _meta(meta: JsonMeta, kept: dict[str, JsonValue]) -> Meta:
    """The metadata: known keys with text become fields, and everything else is kept."""
    rest = meta.rest()
    texts = {key: value for key in TEXT_KEYS if isinstance(value := rest.get(key), str)}
    tags = rest.get("tags")
    known = set(texts)
    labels: tuple[str, ...] = ()
    if isinstance(tags, list) and all(isinstance(tag, str) for tag in tags):
        labels = tuple(cast("list[str]", tags))
        known.add("tags")
    extra = {key: value for key, value in rest.items() if key not in known}
    return Meta(name=meta.name, **texts, tags=labels, extra={**extra, **kept, **meta.ours.extra})


def _region_names(
    region_meta: dict[str, str], *, name: str, faults: list[Fault]
) -> tuple[str, ...]:
    wanted = [str(number) for number in range(1, len(region_meta) + 1)]
    if set(region_meta) != set(wanted):
        seen = f"region_meta has the numbers {', '.join(region_meta)}."
        faults.append(fault("CIM-S014", where=name, seen=seen))
        return tuple(region_meta.values())
    return tuple(region_meta[number] for number in wanted)


def _prediction(prediction: JsonPrediction | JsonRelation) -> Prediction:
    from cimento.suites.schema import JsonRelation

    if isinstance(prediction, JsonRelation):
        number, sign = prediction.region_number, _SIGNS[prediction.relation]
        formula = f"({number};%{prediction.l_operand}%) {sign} ({number};%{prediction.r_operand}%)"
        older = prediction.model_dump(include={"relation", "l_operand", "r_operand"})
        whole = whole_number(number)
        older["region_number"] = number if whole is None else whole
        return Prediction(formula, extra={**prediction.kept(), **older})
    rest = prediction.rest()
    comment = rest.get("comment")
    if isinstance(comment, str):
        del rest["comment"]
    return Prediction(
        prediction.formula,
        comment=comment if isinstance(comment, str) else "",
        extra={**rest, **prediction.ours.extra},
        name=prediction.ours.name,
    )


class _Items:
    """The items of a document as columns.

    Args:
        name: name of the file.
        faults: faults found are added here.
    """

    def __init__(self, name: str, faults: list[Fault]) -> None:
        self._name = name
        self._faults = faults
        self._texts: list[str] = []
        self._bounds = array("l", [0])
        self._cells: dict[int, Mapping[str, str]] = {}
        self._glued: set[int] = set()
        self._condition_extras: dict[int, Mapping[str, JsonValue]] = {}
        self._region_extras: dict[int, Mapping[str, JsonValue]] = {}

    def of(self, items: Sequence[_Object]) -> ItemColumns:
        """The columns of the items, which are of the right types."""
        ids: list[str] = []
        shapes: list[tuple[str, ...]] = []
        extras: dict[int, Mapping[str, JsonValue]] = {}
        same: dict[tuple[str, ...], tuple[str, ...]] = {}
        for number, item in enumerate(items):
            id_ = (item.get(OURS) or NOTHING).get("id")
            if id_ is None:
                id_ = self._id(item["item_number"])
            ids.append(id_)
            shape = tuple([self._condition(condition, id_) for condition in item["conditions"]])
            shapes.append(same.setdefault(shape, shape))
            if len(item) > len(_ITEM) and (kept := _kept(item, *_ITEM)):
                extras[number] = kept
        return ItemColumns(
            ids=ids,
            shapes=shapes,
            starts=ascending(accumulate(map(len, shapes), initial=0)),
            bounds=ascending(self._bounds),
            texts=self._texts,
            free=self._free().columns(),
            glued=frozenset(self._glued),
            item_extras=extras,
            condition_extras=self._condition_extras,
            region_extras=self._region_extras,
        )

    def _free(self) -> FreeCells[str]:
        """The further columns of conditions, of which most suites have none."""
        free = FreeCells[str]()
        for number in range(len(self._bounds) - 1 if self._cells else 0):
            free.add(self._cells.get(number, NOTHING))
        return free

    def _id(self, number: int | str) -> str:
        id_ = str(number_text(number))
        return id_ if id_ == id_.strip() else self._stripped(id_, "item_number", self._name)

    def _condition(self, condition: _Object, item: str) -> str:
        """Add a condition of an item; returns its name."""
        number = len(self._bounds) - 1
        regions = condition["regions"]
        name: str = condition["condition_name"]
        if name != name.strip():
            name = self._stripped(name, "condition_name", f"{self._name}, item {item}")
        if [region["region_number"] for region in regions] != _counted(len(regions)):
            written = [str(number_text(region["region_number"])).strip() for region in regions]
            if written != list(map(str, _counted(len(regions)))):
                seen = f"The regions have the numbers {', '.join(written)}."
                self._faults.append(fault("CIM-S014", where=self._place(item, name), seen=seen))
        for region in regions:
            text = region["content"]
            if len(region) > len(_REGION) or text != text.strip():
                text = self._unusual(region, item, name)
            self._texts.append(text)
        self._bounds.append(len(self._texts))
        if ours := condition.get(OURS):
            self._cells[number] = ours.get("columns") or NOTHING
        if len(condition) > len(_CONDITION) and (kept := _kept(condition, *_CONDITION)):
            self._condition_extras[number] = kept
        return name

    def _unusual(self, region: _Object, item: str, condition: str) -> str:
        """The text of a region with blanks around it, or with further keys, which are added."""
        text: str = region["content"]
        if text != text.strip():
            what = f"Region {number_text(region['region_number'])}"
            text = self._stripped(text, what, self._place(item, condition))
        if len(region) > len(_REGION):
            if (region.get(OURS) or NOTHING).get("glued", False):
                self._glued.add(len(self._texts))
            if kept := _kept(region, *_REGION):
                self._region_extras[len(self._texts)] = kept
        return text

    def _place(self, item: str, condition: str) -> str:
        return f"{self._name}, item {item}, condition {condition}"

    def _stripped(self, text: str, what: str, where: str) -> str:
        return strip_blanks(text, what=what, where=where, faults=self._faults)


_ITEM = ("item_number", "conditions")
_CONDITION = ("condition_name", "regions")
_REGION = ("region_number", "content")
"""The keys that every item, condition and region has; most have no others."""


@cache
def _counted(count: int) -> list[int]:
    return list(range(1, count + 1))


def _kept(part: _Object, *known: str) -> Mapping[str, JsonValue]:
    """The unknown keys, with those that were set aside when writing."""
    kept = {key: value for key, value in part.items() if key not in (*known, OURS)}
    return {**kept, **(part.get(OURS) or NOTHING).get("extra", NOTHING)} or NOTHING


_PlainObject = dict[str, JsonValue]

_MOST_DIGITS = 15
_ALWAYS_WRITTEN = ("author", "reference", "comment")


def write_syntaxgym(suite: Suite, path: Path) -> Path:
    """Write a suite as SyntaxGym JSON.

    Raises:
        StorageError: the file cannot be written.
    """
    text = json.dumps(_document(suite), ensure_ascii=False, indent=2)
    return write_text(text + "\n", path)


def _document(suite: Suite) -> _PlainObject:
    ours: _PlainObject = {}
    if suite.join != "blank":
        ours["join"] = suite.join
    if suite.cluster:
        ours["cluster"] = cast("JsonValue", columns_said(suite.cluster))
    if suite.factors:
        ours["factors"] = {factor: list(levels) for factor, levels in suite.factors.items()}
    numbered = all(_is_number(item.id) for item in suite.items)
    return _object(
        {
            "meta": _meta_object(suite),
            "region_meta": {str(k): name for k, name in enumerate(suite.region_names, start=1)},
            "predictions": [_prediction_object(prediction) for prediction in suite.predictions],
            "items": [
                _item_object(item, None if numbered else position)
                for position, item in enumerate(suite.items, start=1)
            ],
        },
        ours,
        suite.extra,
    )


def _object(
    standard: _PlainObject, ours: _PlainObject, extra: Mapping[str, JsonValue]
) -> _PlainObject:
    """An object of the format's keys, kept keys and ours; kept keys that clash are set aside."""
    clashing = {key: value for key, value in extra.items() if key in standard or key == OURS}
    kept = {key: value for key, value in extra.items() if key not in clashing}
    ours = {**ours, **({"extra": clashing} if clashing else {})}
    return {**standard, **kept, **({OURS: ours} if ours else {})}


def _meta_object(suite: Suite) -> _PlainObject:
    meta = suite.meta
    extra = dict(meta.extra)
    is_kept = _metric_meant(extra.get("metric")) == suite.metric
    metric = extra.pop("metric") if is_kept else suite.metric
    standard: _PlainObject = {"name": meta.name, "metric": metric}
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


def _prediction_object(prediction: Prediction) -> _PlainObject:
    standard: _PlainObject = {"type": "formula", "formula": prediction.formula}
    if prediction.comment or "comment" in prediction.extra:
        standard["comment"] = prediction.comment
    ours: _PlainObject = {"name": prediction.name} if prediction.name else {}
    return _object(standard, ours, prediction.extra)


def _item_object(item: Item, position: int | None) -> _PlainObject:
    """The object of an item, numbered by its id, or by its position if not all ids are numbers."""
    number = int(item.id) if position is None else position
    conditions: list[JsonValue] = [_condition_object(condition) for condition in item.conditions]
    ours: _PlainObject = {} if item.id == str(number) else {"id": item.id}
    return _object({"item_number": number, "conditions": conditions}, ours, item.extra)


def _is_number(id_: str) -> bool:
    return id_.isascii() and id_.isdecimal() and len(id_) <= _MOST_DIGITS and str(int(id_)) == id_


def _condition_object(condition: Condition) -> _PlainObject:
    regions: list[JsonValue] = [
        _region(region, number) for number, region in enumerate(condition.regions, start=1)
    ]
    ours: _PlainObject = {"columns": dict(condition.columns)} if condition.columns else {}
    standard: _PlainObject = {"condition_name": condition.name, "regions": regions}
    return _object(standard, ours, condition.extra)


def _region(region: Region, number: int) -> _PlainObject:
    ours: _PlainObject = {"glued": True} if region.glued else {}
    return _object({"region_number": number, "content": region.text}, ours, region.extra)

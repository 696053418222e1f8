"""SyntaxGym JSON: with round or square brackets in formulas, with relations, evaluated or not.

The format is that of Gauthier et al. 2020, doi:10.18653/v1/2020.acl-demos.10. What it has no
place for stands under the key ``cimento``, where `writers.syntaxgym` puts it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from sys import intern
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from cimento.errors import Fault
from cimento.files import read_bytes
from cimento.parsing import parse_json
from cimento.suites.faults import fault
from cimento.suites.model import (
    METRICS,
    NOTHING,
    Condition,
    Item,
    JsonValue,
    Meta,
    Metric,
    Prediction,
    Region,
    Suite,
)
from cimento.suites.reading import Reading, decode, number_text, sha256_of, strip_blanks, unusable

if TYPE_CHECKING:
    from cimento.suites.schema import JsonMeta, JsonPrediction, JsonRelation

TEXT_KEYS = (
    "version", "language", "phenomenon", "licence", "citation", "status", "author", "reference",
    "comment",
)  # fmt: skip
OURS = "cimento"
"""The key of what the format has no place for."""
_Object: TypeAlias = Mapping[str, Any]
_NUMBERS = (int, str)
_SIGNS = {"greaterthan": ">", "lessthan": "<"}


def read_syntaxgym(path: Path) -> Reading:
    """Read a suite in SyntaxGym JSON.

    Raises:
        InputError: the file may not be read.
        SuiteError: it is no such JSON.
    """
    data = read_bytes(path)
    text, faults = decode(data, name=path.name)
    if text is None:
        raise unusable(path, faults)
    try:
        parsed = parse_json(text)
    except ValueError as error:
        raise unusable(
            path, [fault("CIM-S002", where=path.name, seen=f"Not JSON: {error}.")]
        ) from error
    suite, faults = suite_of(parsed, name=path.name)
    if suite is None:
        raise unusable(path, faults)
    places = (path.name,) * sum(len(item.conditions) for item in suite.items)
    return Reading(suite, sha256_of(data), places, tuple(faults))


def suite_of(parsed: object, *, name: str) -> tuple[Suite | None, list[Fault]]:
    """The suite that a document holds, None where it is none, and what is wrong with it.

    Args:
        parsed: the document, as JSON has it.
        name: of the file.
    """
    from cimento.suites.schema import JsonSuite, validate

    given = parsed if isinstance(parsed, dict) else {}
    items = given.get("items")
    if isinstance(items, list) and all(map(_is_usual, items)):
        # What is as usual needs no record of each part to be found right.
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
        predictions=tuple(_prediction(each) for each in document.predictions),
        items=tuple([_item(each, name=name, faults=faults) for each in items]),
        metric=metric,
        join=ours.join,
        cluster=ours.cluster,
        factors={factor: tuple(levels) for factor, levels in ours.factors.items()},
        extra=document.kept(),
    )
    return suite, faults


def _is_usual(item: object) -> bool:
    """Whether an item has all that it must have, each of its kind, as nearly all items do."""
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
    """The metric, and what must be kept to write it back.

    Suites that were written to have all six metrics computed say ``all`` or list them; their
    predictions compare sums.
    """
    if meta.metric in METRICS:
        return meta.metric, {}
    wanted = list(METRICS) if meta.metric == "all" else meta.metric
    if isinstance(wanted, list) and wanted and set(wanted) <= set(METRICS):
        metric = "sum" if "sum" in wanted else wanted[0]
        return cast("Metric", metric), {"metric": cast("JsonValue", meta.metric)}
    seen = f"The metric {meta.metric!r} is unknown."
    todo = f"Write one of {', '.join(METRICS)}."
    faults.append(fault("CIM-S003", where=f"{name}: meta, metric", seen=seen, todo=todo))
    return "sum", {}


def _meta(meta: JsonMeta, kept: dict[str, JsonValue]) -> Meta:
    """Known keys that hold text become fields; everything else is kept."""
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
        older["region_number"] = int(number) if number.isdecimal() else number
        return Prediction(formula, extra={**prediction.kept(), **older})
    rest = prediction.rest()
    comment = rest.get("comment")
    if isinstance(comment, str):
        del rest["comment"]
    return Prediction(
        prediction.formula,
        comment=comment if isinstance(comment, str) else "",
        extra={**rest, **prediction.ours.extra},
    )


def _item(item: _Object, *, name: str, faults: list[Fault]) -> Item:
    id_ = (item.get(OURS) or NOTHING).get("id")
    if id_ is None:
        id_ = str(number_text(item["item_number"]))
        id_ = strip_blanks(id_, what="item_number", where=name, faults=faults)
    conditions = tuple(
        [_condition(each, f"{name}, item {id_}", faults) for each in item["conditions"]]
    )
    return Item(id_, conditions, extra=_kept(item, "item_number", "conditions"))


def _condition(condition: _Object, where: str, faults: list[Fault]) -> Condition:
    name = condition["condition_name"]
    name = strip_blanks(name, what="condition_name", where=where, faults=faults)
    numbers = [str(number_text(region["region_number"])) for region in condition["regions"]]
    if [number.strip() for number in numbers] != _counted(len(numbers)):
        seen = f"The regions have the numbers {', '.join(map(str.strip, numbers))}."
        faults.append(fault("CIM-S014", where=f"{where}, condition {name}", seen=seen))
    regions = []
    for number, region in zip(numbers, condition["regions"], strict=True):
        text = region["content"]
        if text != text.strip():
            place = f"{where}, condition {name}"
            text = strip_blanks(text, what=f"Region {number}", where=place, faults=faults)
        glued = (region.get(OURS) or NOTHING).get("glued", False)
        regions.append(Region(text, glued, _kept(region, "region_number", "content")))
    columns = (condition.get(OURS) or NOTHING).get("columns") or NOTHING
    extra = _kept(condition, "condition_name", "regions")
    return Condition(intern(name), tuple(regions), columns, extra)


@cache
def _counted(count: int) -> list[str]:
    return [str(number) for number in range(1, count + 1)]


def _kept(part: _Object, *known: str) -> Mapping[str, JsonValue]:
    """The keys that are not known, with those that were set aside when writing."""
    if len(part) == len(known):
        return NOTHING
    kept = {key: value for key, value in part.items() if key not in (*known, OURS)}
    return {**kept, **(part.get(OURS) or NOTHING).get("extra", NOTHING)} or NOTHING

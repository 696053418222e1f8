"""SyntaxGym JSON: with round or square brackets in formulas, with relations, evaluated or not.

The format is that of Gauthier et al. 2020, doi:10.18653/v1/2020.acl-demos.10. What it has no
place for stands under the key ``cimento``, where `writers.syntaxgym` puts it.
"""

from __future__ import annotations

from pathlib import Path
from sys import intern
from typing import TYPE_CHECKING, cast

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
from cimento.suites.reading import Reading, decode, sha256_of, strip_blanks, unusable

if TYPE_CHECKING:
    from cimento.suites.schema import (
        JsonCondition,
        JsonItem,
        JsonMeta,
        JsonPrediction,
        JsonRelation,
        JsonSuite,
    )

TEXT_KEYS = (
    "version", "language", "phenomenon", "licence", "citation", "status", "author", "reference",
    "comment",
)  # fmt: skip
_SIGNS = {"greaterthan": ">", "lessthan": "<"}


def read_syntaxgym(path: Path) -> Reading:
    """Read a suite in SyntaxGym JSON.

    Raises:
        InputError: the file may not be read.
        SuiteError: it is no such JSON.
    """
    from cimento.suites.schema import JsonSuite, validate

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
    document, faults = validate(JsonSuite, parsed, where=path.name)
    if document is None:
        raise unusable(path, faults)
    suite = suite_of(document, name=path.name, faults=faults)
    places = (path.name,) * sum(len(item.conditions) for item in suite.items)
    return Reading(suite, sha256_of(data), places, tuple(faults))


def suite_of(document: JsonSuite, *, name: str, faults: list[Fault]) -> Suite:
    """The suite that a document holds; what is wrong with it is added to `faults`."""
    ours = document.ours
    metric, kept = _metric(document.meta, name=name, faults=faults)
    return Suite(
        meta=_meta(document.meta, kept),
        region_names=_region_names(document.region_meta, name=name, faults=faults),
        predictions=tuple(_prediction(each) for each in document.predictions),
        items=tuple(_item(each, name=name, faults=faults) for each in document.items),
        metric=metric,
        join=ours.join,
        cluster=ours.cluster,
        factors={factor: tuple(levels) for factor, levels in ours.factors.items()},
        extra=document.kept(),
    )


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


def _item(item: JsonItem, *, name: str, faults: list[Fault]) -> Item:
    id_ = item.ours.id
    if id_ is None:
        id_ = strip_blanks(item.item_number, what="item_number", where=name, faults=faults)
    where = f"{name}, item {id_}"
    conditions = tuple(_condition(each, where=where, faults=faults) for each in item.conditions)
    return Item(id_, conditions, extra=item.kept() or NOTHING)


def _condition(condition: JsonCondition, *, where: str, faults: list[Fault]) -> Condition:
    name = strip_blanks(condition.condition_name, what="condition_name", where=where, faults=faults)
    where = f"{where}, condition {name}"
    numbers = [region.region_number.strip() for region in condition.regions]
    if numbers != [str(number) for number in range(1, len(numbers) + 1)]:
        seen = f"The regions have the numbers {', '.join(numbers)}."
        faults.append(fault("CIM-S014", where=where, seen=seen))
    regions = tuple(
        Region(
            strip_blanks(
                region.content, what=f"Region {region.region_number}", where=where, faults=faults
            ),
            glued=region.ours.glued,
            extra=region.kept() or NOTHING,
        )
        for region in condition.regions
    )
    columns = dict(condition.ours.columns) or NOTHING
    return Condition(intern(name), regions, columns, extra=condition.kept() or NOTHING)

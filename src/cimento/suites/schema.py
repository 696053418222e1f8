"""The contents of suite files as pydantic models; every fault of a file becomes a coded fault.

Unknown keys are kept, so that a suite can be written back with everything its author put there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from typing import Annotated, Literal, TypeVar, cast

import pydantic
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
)

from cimento.errors import Fault
from cimento.faults import fault
from cimento.io.parsing import MOST_FAULTS, is_very_faulty
from cimento.suites import JoinRule, JsonValue, Metric
from cimento.suites.reading import number_text

Model = TypeVar("Model", bound="Open")


class Open(BaseModel):
    """A table or an object that may hold more keys than are known."""

    model_config = ConfigDict(extra="allow", strict=True)

    def rest(self) -> dict[str, JsonValue]:
        """The unknown keys, with dates and times as text."""
        return {key: as_json_value(value) for key, value in (self.model_extra or {}).items()}


def as_json_value(value: object) -> JsonValue:
    """A value of JSON or TOML as a JSON value: dates and times become text."""
    if isinstance(value, Mapping):
        return {str(key): as_json_value(child) for key, child in value.items()}
    if isinstance(value, list | tuple):
        return [as_json_value(child) for child in value]
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return cast("JsonValue", value)


class TomlMeta(Open):
    """The table ``[meta]`` of suite.toml."""

    name: Annotated[str, Field(min_length=1)]
    version: str = ""
    language: str = ""
    phenomenon: str = ""
    license: str = ""
    citation: str = ""
    status: str = ""
    author: str = ""
    reference: str = ""
    comment: str = ""
    tags: list[str] = []


class TomlOptions(Open):
    """The table ``[options]`` of suite.toml."""

    metric: Metric = "sum"
    join: JoinRule = "blank"
    cluster: str | list[str] = ""
    leading_blank: bool | None = None


class TomlPrediction(Open):
    """One of ``[[predictions]]`` of suite.toml."""

    formula: str
    comment: str = ""
    name: str = ""


class TomlSuite(Open):
    """The whole of suite.toml."""

    meta: TomlMeta
    regions: Annotated[list[str], Field(min_length=1)] = ["sentence"]
    options: TomlOptions = Field(default_factory=TomlOptions)
    factors: dict[str, Annotated[list[str], Field(min_length=1)]] = {}
    columns: dict[str, str] = {}
    cells: dict[str, list[str]] = {}
    predictions: list[TomlPrediction] = []


class RowExtra(Open):
    """The ``_extra`` column of items.tsv."""

    item: dict[str, pydantic.JsonValue] = {}
    condition: dict[str, pydantic.JsonValue] = {}
    regions: list[dict[str, pydantic.JsonValue]] = []
    columns: dict[str, str] = {}


Number = Annotated[str, BeforeValidator(number_text)]


class Ours(Open):
    """The key ``cimento`` of SyntaxGym JSON, for values that have no place in the format.

    The fields in use differ between the top, items, conditions and regions. `extra` holds keys of a
    suite that would clash with those of the format.
    """

    join: JoinRule = "blank"
    cluster: str | list[str] = ""
    factors: dict[str, list[str]] = {}
    id: str | None = None
    name: str = ""
    columns: dict[str, str] = {}
    glued: bool = False
    extra: dict[str, pydantic.JsonValue] = {}


class JsonObject(Open):
    """An object of SyntaxGym JSON."""

    cimento: Ours | None = None

    @property
    def ours(self) -> Ours:
        """The value of the key ``cimento``, which may be empty."""
        return self.cimento or _NOTHING

    def kept(self) -> dict[str, JsonValue]:
        """The unknown keys, with those that were set aside when writing."""
        if self.cimento is None:
            return self.rest()
        return {**self.rest(), **self.cimento.extra}


_NOTHING = Ours()


class JsonMeta(JsonObject):
    """The key ``meta`` of SyntaxGym JSON, whose other keys the reader handles."""

    name: Annotated[str, Field(min_length=1)]
    metric: str | list[str] = "sum"


class JsonPrediction(JsonObject):
    """A prediction of SyntaxGym JSON in its current form."""

    type: Literal["formula"] = "formula"
    formula: str


class JsonRelation(JsonObject):
    """A prediction of SyntaxGym JSON in the form that preceded formulas."""

    relation: Literal["greaterthan", "lessthan"]
    region_number: Number
    l_operand: str
    r_operand: str


def _form(value: object) -> str:
    """The form of a prediction; the older form names a relation and has no formula."""
    older = isinstance(value, Mapping) and "relation" in value and "formula" not in value
    return "JsonRelation" if older else "JsonPrediction"


AnyPrediction = Annotated[
    Annotated[JsonPrediction, Tag("JsonPrediction")] | Annotated[JsonRelation, Tag("JsonRelation")],
    Discriminator(_form),
]


class JsonRegion(JsonObject):
    """A region of SyntaxGym JSON."""

    region_number: Number
    content: str


class JsonCondition(JsonObject):
    """A condition of SyntaxGym JSON."""

    condition_name: str
    regions: list[JsonRegion]


class JsonItem(JsonObject):
    """An item of SyntaxGym JSON."""

    item_number: Number
    conditions: list[JsonCondition]


class JsonSuite(JsonObject):
    """A suite in SyntaxGym JSON."""

    meta: JsonMeta
    region_meta: dict[str, str]
    predictions: list[AnyPrediction] = []
    items: list[JsonItem]


class BlimpRow(Open):
    """A line of BLiMP JSONL."""

    sentence_good: str
    sentence_bad: str


def validate(model: type[Model], data: object, *, where: str) -> tuple[Model | None, list[Fault]]:
    """Data as a pydantic model, or None with every fault that prevents this.

    Args:
        model: the class of the model.
        data: the parsed data.
        where: the file, and the row if there is one.
    """
    if is_very_faulty(model.model_validate, data):
        seen = "Very many things in it are not what they should be."
        return None, [fault("CIM-S003", where=where, seen=seen, todo="Is it such a file?")]
    try:
        return model.model_validate(data), []
    except ValidationError as error:
        return None, [
            fault(
                "CIM-S003",
                where=f"{where}: {_place(detail['loc'], data)}",
                seen=_seen(detail["type"], detail["msg"], detail["input"]),
                todo="Add it." if detail["type"] == "missing" else "Correct it.",
            )
            for detail in error.errors(include_url=False, include_context=False)[:MOST_FAULTS]
        ]


_WANTED = {
    "model_type": "An object with named fields should be here",
    "model_attributes_type": "An object with named fields should be here",
    "dict_type": "An object with named fields should be here",
    "list_type": "A list should be here",
    "string_type": "Text should be here, in quotation marks",
    "string_too_short": "This must not be empty",
    "too_short": "This must not be empty",
    "extra_forbidden": "No such field is known here",
}
_LONGEST_SHOWN = 60


def _seen(kind: str, message: str, value: object) -> str:
    if kind == "missing":
        return "This field is missing."
    shown = json.dumps(as_json_value(value), ensure_ascii=False, default=str)
    shown = shown if len(shown) <= _LONGEST_SHOWN else shown[:_LONGEST_SHOWN] + " ..."
    return f"{_WANTED.get(kind) or _of_kinds(kind, message)}; it is {shown}."


def _of_kinds(kind: str, message: str) -> str:
    """The fault of a table of one of several kinds, where a field names the kind."""
    if kind == "union_tag_not_found":
        return f"The field {message.rpartition(' ')[2]} is missing, which says what this is"
    if kind == "union_tag_invalid":
        before, _, expected = message.partition(" does not match any of the expected tags: ")
        return f"The field {before.rpartition(' ')[2]} should be one of {expected}"
    return message


def _place(steps: Sequence[int | str], data: object) -> str:
    """The path to a value: ``items 3 (item_number 7), conditions 1``.

    Positions are counted from 1, but predictions from 0, as in the tables of a run.
    """
    words: list[str] = []
    for step in steps:
        if isinstance(step, int):
            last = words.pop() if words else ""
            words.append(f"{last} {step if last == 'predictions' else step + 1}".strip())
        elif step not in {"JsonPrediction", "JsonRelation"}:
            words.append(step)
        data = _child(data, step)
        if isinstance(step, int) and isinstance(data, Mapping) and "item_number" in data:
            words[-1] += f" (item_number {data['item_number']})"
    return ", ".join(words) or "the whole"


def _child(data: object, step: int | str) -> object:
    if isinstance(step, str) and isinstance(data, Mapping):
        return data.get(step)
    if isinstance(step, int) and isinstance(data, Sequence) and step < len(data):
        return data[step]
    return None

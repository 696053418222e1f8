"""Declared options: what an option is, and how the values that are given for it are checked.

An option is a field of a pydantic model. Its declaration says all that flags, variables, run files
and manifests need to know of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from cimento.errors import UsageError, need_known
from cimento.io.parsing import fault_in_words

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from pydantic.fields import FieldInfo


def option(
    default: Any,  # noqa: ANN401  # of any type that an option may have
    help: str,  # noqa: A002  # as every command line calls it
    *,
    flags: tuple[str, ...] = (),
    metavar: str = "",
    argument: str = "",
    where: Literal["anywhere", "command line", "this run"] = "anywhere",
    ge: float | None = None,
    le: float | None = None,
) -> Any:  # noqa: ANN401  # pydantic's field, in the place of a value
    """A field that is an option.

    Args:
        default: the value of an option that is not given.
        help: what the option does, in one sentence.
        flags: other ways to write it on the command line, such as ``-m``.
        metavar: the name of its value in the help.
        argument: the same for an option that commands take without a flag; those of a command come
            before those that it shares.
        where: ``command line``: no file may set it, since it says what is trusted; ``this run``: it
            concerns a single call and is not recorded.
        ge: the least value allowed.
        le: the greatest value allowed.
    """
    extra: dict[str, Any] = {
        "flags": list(flags), "metavar": metavar, "argument": argument, "where": where
    }  # fmt: skip
    return Field(default=default, description=help, json_schema_extra=extra, ge=ge, le=le)


def _listed(value: object) -> object:
    """A value as a sequence: a single text or path becomes a tuple of one."""
    return (value,) if isinstance(value, str | Path) else value


Texts: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(_listed)]
"""Several texts; one alone is taken too."""


Name: TypeAlias = Annotated[
    str, BeforeValidator(lambda name: str(name) if isinstance(name, Path) else name)
]


def _assigned(value: object) -> object:
    """A mapping from ``KEY=VALUE`` texts; a mapping stays as it is."""
    if value is None or isinstance(value, Mapping):
        return value
    pairs: dict[str, object] = {}
    for text in (value,) if isinstance(value, str) else value:  # type: ignore[attr-defined]  # a list, or pydantic says so
        key, equals, assigned = str(text).partition("=")
        if not key.strip() or not equals:
            raise ValueError("write KEY=VALUE")
        pairs[key.strip().replace("-", "_")] = assigned
    return pairs


Settings: TypeAlias = Annotated[dict[str, Any], BeforeValidator(_assigned)]


RecordT = TypeVar("RecordT", bound="DataclassInstance")


class Options(BaseModel):
    """The base of the options of commands; an option that is not declared is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    def named_in(self, record: type[RecordT], **others: object) -> RecordT:
        """A record of settings with the values of the options that its fields are named like.

        Args:
            record: a dataclass; each of its fields is an option or given here.
            others: the fields that are not options, or have another value.
        """
        names = {field.name for field in fields(record)} - others.keys()
        return record(**{name: getattr(self, name) for name in names}, **others)


def about(field: FieldInfo) -> Mapping[str, Any]:
    """The facts that `option` declares of a field, except its description."""
    return field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}


def is_trust(field: FieldInfo) -> bool:
    """Whether an option says what is trusted, so that no file may set it."""
    return about(field).get("where") == "command line"


def recorded_fields(model: type[Options]) -> dict[str, FieldInfo]:
    """The options that run files may hold and manifests record; none of trust or of a single call.

    Args:
        model: the class of the options.
    """
    declared = model.model_fields.items()
    return {name: field for name, field in declared if about(field).get("where") == "anywhere"}


ModelT = TypeVar("ModelT", bound=BaseModel)


def checked(
    model: type[ModelT], values: Mapping[str, object], *, prefix: Literal["--", "--set "] = "--"
) -> ModelT:
    """Options made from values, each of which is checked.

    Args:
        model: the class of the options.
        values: the values by name, as Python objects or as texts.
        prefix: what comes before an option on the command line.

    Raises:
        UsageError: an option does not exist, or does not take the value given.
    """
    for name in values:
        flag, seen = _flag(name, prefix), "there is no such option"
        need_known(name, model.model_fields, where=flag, seen=seen)
    try:
        return model.model_validate(dict(values))
    except ValidationError as error:
        fault = error.errors()[0]
        name, given = str(fault["loc"][0]) if fault["loc"] else "", fault.get("input")
        if isinstance(given, list | tuple) and len(given) == 1:
            [given] = given  # of an option that may be repeated
        raise UsageError(
            where=_flag(name, prefix),
            seen=f"got {given!r}",
            todo=fault_in_words(fault),
        ) from error


def _flag(name: str, prefix: str) -> str:
    return f"{prefix}{name.replace('_', '-')}"

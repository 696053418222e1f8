"""The number formats in which weights can be scored, and their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias, get_args

DtypeName: TypeAlias = Literal["float32", "float64", "bfloat16", "float16"]
DtypeRule: TypeAlias = DtypeName | Literal["auto"]

_ALSO_CALLED: Mapping[str, DtypeName] = {
    "fp16": "float16", "half": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64"
}  # fmt: skip


def dtype_rule(value: object) -> DtypeRule:
    """A number format by any of its names, or a dtype of torch; ``auto`` stays.

    Raises:
        ValueError: there is no number format of this name.
    """
    name = str(value).removeprefix("torch.")
    names: tuple[DtypeRule, ...] = (*get_args(DtypeName), "auto")
    found = next((each for each in names if each == _ALSO_CALLED.get(name, name)), None)
    if found is None:
        known = ", ".join((*names, *_ALSO_CALLED))
        raise ValueError(f"there is no such number format; there are {known}")
    return found

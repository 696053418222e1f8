"""Which files hold the weights of a model, seen before transformers opens any of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING

from cimento.errors import ModelError
from cimento.io.parsing import parse_json

if TYPE_CHECKING:
    from cimento.suites.model import JsonValue

SAFE = ".safetensors"
_INDEX = ".index.json"
_NAMED_BY_CONFIG = "transformers_weights"
_PICKLES = (
    "Weights of other formats are pickles, which can hold code: convert them to safetensors, or"
    " trust them with --allow-pickle."
)
_SHOWN = 80


def refuse_other_files(
    folder: Path, config: Mapping[str, JsonValue], *, allow_pickle: bool
) -> None:
    """See that the indices of a model, and its config, name safetensors in its folder only.

    An index says which file holds which weight, and transformers opens whatever it names.

    Args:
        folder: of the model.
        config: of the model.
        allow_pickle: whether files of other formats may be named.

    Raises:
        ModelError: one names a file of another format that is not trusted, or outside the folder.
    """
    named = config.get(_NAMED_BY_CONFIG)
    if named is not None and not (isinstance(named, str) and _is_safe(named, allow_pickle)):
        raise ModelError(
            where=str(folder / "config.json"),
            seen=f"{_NAMED_BY_CONFIG} is {str(named)[:_SHOWN]!r}, which is no safetensors file",
            todo=_PICKLES,
        )
    indices = {*folder.glob(f"*{_INDEX}"), *([folder / named] if named else [])}
    for index in sorted(each for each in indices if each.name.endswith(_INDEX)):
        # Indices of pickles are not opened where pickles are not.
        if index.name.endswith(SAFE + _INDEX) or allow_pickle:
            _check(index, allow_pickle=allow_pickle)


def _is_safe(name: str, allow_pickle: bool) -> bool:  # noqa: FBT001  # as `refuse_other_files` has it
    return allow_pickle or name.removesuffix(_INDEX).endswith(SAFE)


def _check(index: Path, *, allow_pickle: bool) -> None:
    """See that an index names what may be opened."""
    try:
        content = parse_json(index.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(where=str(index), seen=f"cannot be read ({error})") from error
    weights = content.get("weight_map") if isinstance(content, dict) else None
    if not isinstance(weights, dict):
        raise ModelError(where=str(index), seen="says nothing of which file holds which weights")
    for name in sorted({str(name) for name in weights.values()}):
        if _leads_out(name):
            raise ModelError(
                where=str(index),
                seen=f"it names the file {name[:_SHOWN]!r}, which is not in the model's folder",
                todo="Weights are read from there only: bring the whole model.",
            )
        if not (allow_pickle or name.endswith(SAFE)):
            raise ModelError(
                where=str(index),
                seen=f"it names the file {name[:_SHOWN]!r}, which is no safetensors file",
                todo=_PICKLES,
            )


def _leads_out(name: str) -> bool:
    """Whether a path leads out of its folder, on any system."""
    kinds = (PurePosixPath(name), PureWindowsPath(name))
    return any(path.is_absolute() or path.anchor or ".." in path.parts for path in kinds)

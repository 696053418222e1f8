"""What a run was made of and with, in plain values for manifest.json."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import json
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cimento._version import __version__
from cimento.suites.model import JsonValue

BLANK = "leading_blank"
"""Key of the inputs: whether the suite says that a blank stands before each text."""

_LIBRARIES = ("numpy", "polars", "tokenizers", "torch", "transformers")


def describe(**parts: Any) -> dict[str, JsonValue]:  # noqa: ANN401  # dataclasses of any kind
    """A manifest: the parts given, with the versions of everything and the time.

    Args:
        parts: dataclasses, paths and plain values, under their names in the manifest.
    """
    return {
        **{name: plain(part) for name, part in parts.items()},
        "cimento": __version__,
        "versions": versions(),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def blank_before(manifest: Mapping[str, JsonValue]) -> bool:
    """Whether a blank stood before every text of a run: by its suite, else by its policy."""
    inputs, asking = manifest.get("inputs"), manifest.get("asking")
    own = inputs.get(BLANK) if isinstance(inputs, dict) else None
    policy = asking.get("policy") if isinstance(asking, dict) else None
    by_policy = policy.get("leading_blank") if isinstance(policy, dict) else None
    return bool(by_policy if own is None else own)


def versions() -> dict[str, JsonValue]:
    """The versions of Python and of the libraries that scores depend on, where installed."""
    found: dict[str, JsonValue] = {"python": platform.python_version()}
    for library in _LIBRARIES:
        try:
            found[library] = importlib.metadata.version(library)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def plain(part: Any) -> JsonValue:  # noqa: ANN401
    """A dataclass, a path or a plain value as it stands in a manifest."""
    if dataclasses.is_dataclass(part) and not isinstance(part, type):
        part = dataclasses.asdict(part)
    text = json.dumps(part, default=lambda value: str(value) if isinstance(value, Path) else value)
    value: JsonValue = json.loads(text)
    return value

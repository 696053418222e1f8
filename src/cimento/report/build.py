"""What every section of a report is made of: what a suite says, and where a run is from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cimento.suites.model import JsonValue, Meta

_SHOWN_FIRST = ("model", "suite", "asking", "options", "judging")
_SHOWN_ELSEWHERE = ("inputs", "label", "files")
"""Parts of a manifest that repeat others: what a re-run compares, the model's label, checksums."""


def provenance_of(manifest: Mapping[str, JsonValue]) -> tuple[tuple[str, str], ...]:
    """The manifest as lines, what matters most first."""
    shown = {key: manifest[key] for key in _SHOWN_FIRST if key in manifest}
    shown |= {key: value for key, value in manifest.items() if key not in _SHOWN_ELSEWHERE}
    lines = flatten(shown)
    if shown.get("warnings") == []:
        lines.append(("warnings", "none"))
    return tuple(lines)


def flatten(manifest: Mapping[str, JsonValue], *, under: str = "") -> list[tuple[str, str]]:
    """A nested manifest as lines: ``{"policy": {"bos": "auto"}}`` is ``policy bos: auto``.

    What is empty or null has no line; what is a list has one for each member, under one label.
    """
    lines: list[tuple[str, str]] = []
    for key, value in manifest.items():
        label = f"{under} {key}".strip().replace("_", " ")
        if isinstance(value, dict):
            lines += flatten(value, under=label)
        elif isinstance(value, list):
            lines.append((label, "\n".join(_text(each) for each in value)))
        else:
            lines.append((label, _text(value)))
    return [(label, text) for label, text in lines if text]


def _text(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return "; ".join(f"{label}: {text}" for label, text in flatten(value))
    return "" if value is None else str(value)


def about_of(meta: Meta) -> tuple[tuple[str, str], ...]:
    """What a suite says of itself, as lines."""
    lines = (
        ("phenomenon", meta.phenomenon),
        ("version", meta.version),
        ("status", meta.status),
        ("comment", meta.comment),
        ("author", meta.author),
        ("reference", meta.reference),
        ("citation", meta.citation),
        ("licence", meta.licence),
    )
    return tuple((label, text) for label, text in lines if text)

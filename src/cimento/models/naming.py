"""Names of models that mean the same tomorrow, in another folder, and hold no secret."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeGuard

from cimento.io.plugins import find_plugin
from cimento.models.locate import DEMO_MODELS

# User name and password, or the query, of a URL.
_SECRET = re.compile(r"(?<=//)[^/#]*@|\?[^#]*")
_OF_FILES = frozenset({"replay", "kenlm"})


def without_secrets(model: str) -> str:
    """A model's name as the user wrote it, without what may be a secret."""
    return _SECRET.sub("", model) if "//" in model.partition(":")[2] else model


def lasting_name(model: str) -> str:
    """A model's name by which it is found from any folder: paths whole, no secrets."""
    prefix, _, rest = model.partition(":")
    if rest and prefix in _OF_FILES:
        return f"{prefix}:{Path(rest).expanduser().resolve()}"
    shown = without_secrets(model)
    folder = Path(shown).expanduser()
    return str(folder.resolve()) if shown not in DEMO_MODELS and folder.is_dir() else shown


def needs_saying(model: str, *, plugged: bool = True) -> str:
    """Why a model must be named on the command line and is not taken out of a file.

    Files come from others: a run's manifest, a run file. What they name may be read as data (a
    folder or a hub's model without its code, a recording), and no more.

    Args:
        model: as a file names it.
        plugged: whether a plug-in's models need it, too. Not in a run file, which whoever runs it
            can read; an address needs it there as well.

    Returns:
        What naming it there would trust; empty where it trusts nothing.
    """
    prefix, _, rest = model.partition(":")
    if not rest or prefix == "replay":
        return ""
    if prefix == "openai" or "//" in rest:
        return "a server, which would be sent texts and, where there is one, the API key"
    if prefix == "kenlm":
        return "a file that KenLM may read without checking it"
    if not plugged:
        return ""
    opener = find_plugin("cimento.models", prefix, expected="a function", is_right=_is_opener)
    return "a model of a plug-in" if opener else ""


def _is_opener(value: object) -> TypeGuard[Callable[..., object]]:
    return callable(value)

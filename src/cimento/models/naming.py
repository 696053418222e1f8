"""Names of models that mean the same tomorrow, in another folder, and hold no secret."""

from __future__ import annotations

import re
from pathlib import Path

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

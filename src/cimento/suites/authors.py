"""How the authors of published sets count: by which measure, and what their number is over.

``data/authors.toml`` has what was looked up; sets that are not there have no authors' number.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources

_FILE = "authors.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorsScoring:
    """How the authors of a set count.

    Attributes:
        measure: by which they compare sentences, under our name.
        over: what their number is a share or a mean of: ``pairs``, or ``paradigms``.
        scored: where they say or show it.
    """

    measure: str
    over: str
    scored: str


@functools.cache
def authors_scoring() -> Mapping[str, AuthorsScoring]:
    """How the authors of sets count, by the name of the set."""
    text = (resources.files("cimento") / "data" / _FILE).read_text(encoding="utf-8")
    return {name: AuthorsScoring(**table) for name, table in tomllib.loads(text).items()}

"""What ``suite.toml`` of a cloze suite may contain, as pydantic models."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from cimento.suites.model import Meta
from cimento.suites.schema import Open, TomlMeta


class TomlClozeOptions(Open):
    """``[options]`` of suite.toml."""

    cluster: str = ""


class TomlCloze(Open):
    """suite.toml of kind ``cloze`` or ``templates``."""

    kind: Literal["cloze", "templates"]
    meta: TomlMeta
    options: TomlClozeOptions = Field(default_factory=TomlClozeOptions)

    def suite_meta(self) -> Meta:
        """Who made the suite, about what, and on which terms."""
        known = {name: getattr(self.meta, name) for name in TomlMeta.model_fields if name != "tags"}
        return Meta(**known, tags=tuple(self.meta.tags), extra=self.meta.rest())

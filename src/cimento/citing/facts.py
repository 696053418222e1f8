"""What must be known of a run to say how it was made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from cimento.suites.model import JsonValue, Meta

if TYPE_CHECKING:
    from cimento.paradigms.base import MethodFacts
    from cimento.runs.run import Run
    from cimento.runs.store import Manifest


@dataclass(frozen=True, eq=False)
class RunFacts:
    """What a methods paragraph is made of.

    Attributes:
        run: the run itself, for its outcomes and estimates.
    """

    run: Run

    @cached_property
    def methods(self) -> MethodFacts:
        """What only the run's paradigm knows."""
        return self.run.paradigm.methods(self.run)

    @property
    def manifest(self) -> Manifest:
        """What the run was made of and with."""
        return self.run.manifest

    @property
    def meta(self) -> Meta:
        """Who made the suite."""
        return self.run.suite.meta

    @property
    def model(self) -> Mapping[str, JsonValue]:
        """The model's card."""
        return part(self.manifest, "model")

    @property
    def asking(self) -> Mapping[str, JsonValue]:
        """How the model was asked."""
        return part(self.manifest, "asking")

    @property
    def policy(self) -> Mapping[str, JsonValue]:
        """How texts were scored; empty for a recording, which was scored by somebody else."""
        return {} if self.model.get("kind") == "replay" else part(self.asking, "policy")

    @property
    def label(self) -> str:
        """The model, by name and revision."""
        return self.run.model


def part(manifest: Mapping[str, JsonValue], name: str) -> Mapping[str, JsonValue]:
    """An object inside a manifest; empty where there is none."""
    member = manifest.get(name)
    return member if isinstance(member, dict) else {}

"""The suite of a stored run, told from others by its content."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cimento.records.store import CONTENT, manifest_part

if TYPE_CHECKING:
    from cimento.kinds.run import Run


def content_of(run: Run) -> str:
    """The digest of the content of a run's suite, equal for suites of the same content."""
    return str(manifest_part(run.manifest, "suite").get(CONTENT, ""))


def is_trial(run: Run) -> bool:
    """Whether only some items of the suite were asked about."""
    asking = manifest_part(run.manifest, "asking")
    return any(asking.get(name) is not None for name in ("limit", "precision"))

"""The suite of a stored run, told from others by its content."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cimento.records.store import CONTENT, manifest_part
from cimento.suites.digest import content_digest

if TYPE_CHECKING:
    from cimento.kinds.run import Run


def content_of(run: Run) -> str:
    """The digest of the content of a run's suite; empty if it is not known.

    Earlier versions stored a digest of the bytes read only. The content of their runs is that of
    the copy of the suite, unless only a part of it was asked about and copied.
    """
    stored = manifest_part(run.manifest, "suite").get(CONTENT)
    if isinstance(stored, str):
        return stored
    return "" if is_trial(run) else content_digest(run.suite)


def suite_digests(runs: Sequence[Run]) -> list[str]:
    """The digest of the suite of each run, equal for suites of the same content.

    A trial of an earlier version has that of a run on the same bytes; if there is none, the digest
    of its bytes stands for the content.
    """
    contents = list(map(content_of, runs))
    sources = [str(manifest_part(run.manifest, "suite").get("sha256", "")) for run in runs]
    known = {source: content for source, content in zip(sources, contents, strict=True) if content}
    return [
        content or known.get(source, source)
        for source, content in zip(sources, contents, strict=True)
    ]


def is_trial(run: Run) -> bool:
    """Whether only some items of the suite were asked about."""
    asking = manifest_part(run.manifest, "asking")
    return any(asking.get(name) is not None for name in ("limit", "precision"))

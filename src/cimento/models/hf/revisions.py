"""Revisions of models in the hub's cache, also by the digits of a commit that tables show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from cimento.errors import UsageError
from cimento.io.files import expanded
from cimento.models.hf.names import DEMO_MODELS, MOST_LISTED, hub_cache, is_folder

SHOWN_DIGITS = 7
"""Number of digits of a revision in names that are shown; fewer are not taken for one."""

_DIGITS = re.compile(rf"[0-9a-f]{{{SHOWN_DIGITS},64}}")


@dataclass(frozen=True, slots=True)
class CachedRevisions:
    """The revisions of a model in the hub's cache.

    Attributes:
        commits: hashes of the commits of which there are files, sorted.
        names: branches and tags, and the commit of each.
    """

    commits: tuple[str, ...] = ()
    names: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        """Commits by their first digits, with the branches and tags at each."""
        parts = []
        for commit in self.commits[:MOST_LISTED]:
            names = [name for name, of in self.names.items() if of == commit]
            parts.append(commit[:SHOWN_DIGITS] + (f" ({', '.join(names)})" if names else ""))
        more = len(self.commits) - len(parts)
        return ", ".join(parts) + (f" and {more} more" if more else "")

    def full(self, revision: str, *, where: str) -> str:
        """The whole commit that begins with some digits; any other revision as it is.

        Args:
            revision: a branch, a tag, or the first digits of a commit.
            where: the model, for messages.

        Raises:
            UsageError: several commits begin so.
        """
        if revision in self.names or not _DIGITS.fullmatch(revision):
            return revision
        commits = [commit for commit in self.commits if commit.startswith(revision)]
        if len(commits) > 1:
            raise UsageError(
                where=where,
                seen=f"{len(commits)} revisions in the cache begin so: {', '.join(commits)}",
                todo="Give more digits.",
            )
        return commits[0] if commits else revision


def cached_revisions(name: str) -> CachedRevisions:
    """The revisions of a model in the hub's cache; none where there is no cache.

    Args:
        name: name of the model on the hub.
    """
    cache = hub_cache()
    if cache is None:
        return CachedRevisions()
    folder = cache / "--".join(["models", *name.split("/")])
    return CachedRevisions(
        tuple(sorted(path.name for path in _below(folder / "snapshots", "*"))),
        {
            path.relative_to(folder / "refs").as_posix(): path.read_text(
                encoding="utf-8", errors="replace"
            ).strip()
            for path in sorted(_below(folder / "refs", "**/*"))
            if path.is_file()
        },
    )


def _below(folder: Path, pattern: str) -> Iterator[Path]:
    return folder.glob(pattern) if is_folder(folder) else iter(())


def without_digits(name: str) -> tuple[str, str]:
    """The name of a model here, and the digits of its revision; these are empty for any other name.

    Args:
        name: name of a model as tables show it, such as ``demo-causal@91bca5d``, or any other.
    """
    plain, at, revision = name.rpartition("@")
    is_here = plain in DEMO_MODELS or (plain and is_folder(expanded(plain)))
    if at and is_here and _DIGITS.fullmatch(revision) and not is_folder(expanded(name)):
        return plain, revision
    return name, ""

"""The models on this machine: the built-in ones, and those in the hub's cache."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from pathlib import Path

from cimento.errors import CimentoError, StorageError
from cimento.models.hf.files import Located, kind_of, locate
from cimento.models.hf.names import ADAPTER_CONFIG, DEMO_MODELS


@dataclass(frozen=True, slots=True, kw_only=True)
class Present:
    """A model on this machine.

    Attributes:
        name: name for ``--model``.
        revision: commit or content hash, hexadecimal.
        kind: ``causal``, ``masked`` and the like; ``adapter``; empty where it is none of these.
        size_bytes: size of its files.
        last_used: day of its last use, if known.
    """

    name: str
    revision: str
    kind: str
    size_bytes: int
    last_used: dt.date | None = None


def demo_models() -> list[Present]:
    """The built-in models."""
    return [
        Present(
            name=located.name,
            revision=located.revision,
            kind=_kind(located),
            size_bytes=sum(path.stat().st_size for path in located.folder.iterdir()),
        )
        for located in map(locate, DEMO_MODELS)
    ]


def cached_models(folder: Path) -> list[Present]:
    """The models of the Hugging Face hub that were downloaded, sorted by name.

    Raises:
        StorageError: the folder cannot be read.
    """
    from huggingface_hub import scan_cache_dir

    if not folder.is_dir():
        return []
    try:
        repositories = scan_cache_dir(folder).repos
    except (OSError, ValueError) as error:
        raise StorageError(
            where=str(folder), seen=f"the hub's cache cannot be read ({error})"
        ) from error
    found = [
        Present(
            name=repository.repo_id,
            revision=revision.commit_hash,
            kind=_kind(
                Located(repository.repo_id, Path(revision.snapshot_path), revision.commit_hash)
            ),
            size_bytes=revision.size_on_disk,
            last_used=dt.datetime.fromtimestamp(repository.last_accessed, tz=dt.UTC).date(),
        )
        for repository in repositories
        if repository.repo_type == "model"
        for revision in repository.revisions
    ]
    return sorted(found, key=lambda model: (model.name, model.revision))


def _kind(located: Located) -> str:
    """The kind of a model by its config; empty if the config does not determine it."""
    if (located.folder / ADAPTER_CONFIG).is_file():
        return "adapter"
    try:
        return kind_of(located)
    except CimentoError:
        return ""

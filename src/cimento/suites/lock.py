"""The lock file: revisions of sets that no registry pins, as they were when they were first used.

``cimento.lock`` is TOML, to be kept beside a paper. It has a table for each set: the dataset on
the hub, the commit that was used first (the newest where none was on this machine), the day, and
the sha256 of each file. Later uses get these files or an error.
"""

from __future__ import annotations

import datetime as dt
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from cimento.errors import InputError, StorageError, needing
from cimento.io.files import read_utf8, write_text
from cimento.io.parsing import parse_toml
from cimento.suites.published import COMMIT, PublishedDataset
from cimento.suites.sources import recorded_source

LOCK = "cimento.lock"
"""The name of the lock file in the working folder."""
_HEAD = (
    "# Revisions of sets that no registry pins, as first used. Keep this file with the results.\n"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Locked:
    """The revision of one set.

    Attributes:
        hub: the dataset on the hub.
        revision: its commit.
        resolved: the day on which it was looked up, as ISO 8601.
        sha256: of each file, by language and path in the fetched folder.
    """

    hub: str
    revision: str
    resolved: str
    sha256: Mapping[str, str] = field(default_factory=dict)


def read_lock(path: Path) -> dict[str, Locked]:
    """The sets of a lock file by name; none where there is no file.

    Raises:
        InputError: the file cannot be read, or is not a lock file.
    """
    if not path.exists():
        return {}
    try:
        tables = parse_toml(read_utf8(path))
        locked = {name: Locked(**table) for name, table in tables.items()}
    except (tomllib.TOMLDecodeError, TypeError) as error:
        raise InputError(
            where=str(path), seen=f"is not a lock file ({error})", todo=_FROM_HISTORY
        ) from error
    for name, one in locked.items():
        if not COMMIT.fullmatch(str(one.revision)) or not isinstance(one.sha256, dict):
            raise InputError(
                where=f"{path}, {name}", seen="has no commit of 40 digits", todo=_FROM_HISTORY
            )
    return locked


_FROM_HISTORY = "Take the file from your history, or remove it to lock the newest revisions."


def locked_dataset(
    dataset: PublishedDataset, path: Path, *, here: str = "", endpoint: str | None = None
) -> PublishedDataset:
    """A dataset at the revision of the lock file, which gets one at first use.

    Args:
        dataset: an entry of the registry; one that is pinned there is returned as it is.
        path: the lock file.
        here: the commit of its files on this machine, which is locked; empty to lock the newest.
        endpoint: address of another hub than huggingface.co.

    Raises:
        InputError: the hub cannot be reached, or the lock file names another dataset.
        StorageError: the lock file cannot be written.
    """
    if not dataset.hub or dataset.revision:
        return dataset
    lock = read_lock(path)
    known = lock.get(dataset.name)
    if known is None:
        known = Locked(
            hub=dataset.hub,
            revision=here or _newest(dataset, endpoint),
            resolved=dt.datetime.now(tz=dt.UTC).date().isoformat(),
        )
        _write(path, {**lock, dataset.name: known})
    if known.hub != dataset.hub:
        raise InputError(
            where=f"{path}, {dataset.name}",
            seen=f"it is {known.hub} there, and {dataset.hub} in the registry",
            todo="Remove its table from the file to lock the other.",
        )
    return replace(dataset, revision=known.revision)


def check_locked(dataset: PublishedDataset, folder: Path, path: Path, *, part: str) -> None:
    """Compare the files of a fetched dataset with the lock file, which records them at first use.

    Args:
        dataset: the dataset, as `locked_dataset` returned it.
        folder: the folder with its files.
        path: the lock file.
        part: the language that was fetched; empty for the whole dataset.

    Raises:
        StorageError: the files are others than those that were locked.
    """
    lock = read_lock(path)
    known = lock.get(dataset.name)
    if known is None:
        return
    recorded = recorded_source(folder)
    files = recorded.get("files")
    here = {f"{part}/{name}".lstrip("/"): str(digest) for name, digest in files.items()} if (
        isinstance(files, dict)
    ) else {}  # fmt: skip
    before = {
        name: digest
        for name, digest in known.sha256.items()
        if not part or name.startswith(f"{part}/")
    }
    if recorded.get("revision") != known.revision or (before and before != here):
        raise StorageError(
            where=str(folder),
            seen=f"these files of {dataset.name} are not those of {path}, which has the commit"
            f" {known.revision}",
            todo=f"Remove {folder} to fetch that commit. To use the newest one instead, also remove"
            f" the table of {dataset.name} from {path}; results may then differ.",
        )
    if not before:
        lock[dataset.name] = replace(known, sha256={**known.sha256, **here})
        _write(path, lock)


def _newest(dataset: PublishedDataset, endpoint: str | None) -> str:
    """The newest commit of a dataset on the hub.

    Raises:
        InputError: the hub cannot be reached.
    """
    with needing("huggingface_hub", extra="hf", purpose=f"dataset {dataset.name!r}"):
        from huggingface_hub import HfApi
    from cimento.suites.fetching import explained

    with explained(dataset, dataset.address, Path(dataset.folder)):
        return str(HfApi(endpoint=endpoint).dataset_info(dataset.hub).sha)


def _write(path: Path, lock: Mapping[str, Locked]) -> None:
    import tomli_w

    tables = {
        name: {
            "hub": one.hub,
            "revision": one.revision,
            "resolved": one.resolved,
            **({"sha256": dict(sorted(one.sha256.items()))} if one.sha256 else {}),
        }
        for name, one in sorted(lock.items())
    }
    write_text(_HEAD + tomli_w.dumps(tables), path)

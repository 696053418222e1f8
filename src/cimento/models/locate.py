"""From the name of a model to a folder on disk, without loading it."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from cimento.errors import MissingDependencyError, ModelError, UsageError
from cimento.models.adapters import CONFIG, Adapter, find_adapter

DEMO_MODELS = ("demo-causal", "demo-masked")
_HUB_NAME = re.compile(r"^[\w.-]+(/[\w.-]+)?$")
_PATTERNS = ["*.json", "*.safetensors", "*.txt", "*.model", "*.jinja", "*.bin"]
_CODE = "*.py"
"""Brought and hashed too: it is run for those who trust it."""


@dataclass(frozen=True, slots=True)
class Located:
    """A model that was found.

    Attributes:
        name: for tables and reports.
        folder: the Hugging Face folder with its weights.
        revision: commit of the hub, or sha256 over the folder's files; for an adapter, a hash over
            its own and that of the model it belongs on.
        adapter: what is put on the model in the folder; None for a model as it is.
    """

    name: str
    folder: Path
    revision: str
    adapter: Adapter | None = None

    @property
    def label(self) -> str:
        """The name with the first seven digits of the revision."""
        return f"{self.name}@{self.revision[:7]}"

    @property
    def tokenizer_folder(self) -> Path:
        """Where the tokenizer is: beside the adapter, where one was saved there."""
        if self.adapter is not None and any(self.adapter.folder.glob("tokenizer*.json")):
            return self.adapter.folder
        return self.folder


def locate(name: str) -> Located:
    """Find a model by the name a user gives.

    Args:
        name: ``demo-causal`` or ``demo-masked``; a folder; ``org/name`` or ``org/name@revision``
            of the Hugging Face hub, downloaded where it is not in the local cache yet. The folder
            may be that of a PEFT adapter, which is put on the model its config names.

    Raises:
        UsageError: there is no such model, or it cannot be downloaded.
        ModelError: its files cannot be read.
    """
    return _locate(name, inner=False)


def _locate(name: str, *, inner: bool) -> Located:
    """Find a model; see `locate`.

    Args:
        name: as a user, or the config of an adapter, gives it.
        inner: whether an adapter belongs on it: if it is one itself, its own model is not looked
            for, since adapters could name each other without end.
    """
    if name in DEMO_MODELS:
        folder = Path(str(resources.files("cimento") / "data" / "models" / name))
        return Located(name=name, folder=folder, revision=_digest(folder))
    path = Path(name).expanduser()
    if _is_folder(path):
        if not any((path / config).is_file() for config in ("config.json", CONFIG)):
            raise UsageError(
                where=name,
                seen="this folder holds no config.json, so it is not a Hugging Face model",
                todo="Give the folder that `save_pretrained` wrote.",
            )
        return _at(path, name=path.resolve().name, revision=_digest(path), inner=inner)
    hub_name, _, revision = name.partition("@")
    looks_like_path = name.startswith((".", "/", "~")) or name.count("/") > 1 or "\\" in name
    if looks_like_path or not _HUB_NAME.match(hub_name):
        raise UsageError(
            where=f"model {name!r}",
            seen="there is no such folder, and it is no name on the hub either",
            todo="Give a folder, org/name@revision, openai:URL#model, kenlm:FILE, replay:FILE,"
            f" {' or '.join(DEMO_MODELS)}.",
        )
    return _from_hub(hub_name, revision or None, inner=inner)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # a name that no file can have
        return False


def _from_hub(name: str, revision: str | None, *, inner: bool) -> Located:
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise MissingDependencyError(
            package="huggingface_hub", extra="hf", purpose=f"model {name!r}"
        ) from error
    try:
        folder = Path(
            snapshot_download(name, revision=revision, allow_patterns=[*_PATTERNS, _CODE])
        )
    # The hub library raises errors of many unrelated classes (HTTP, cache, validation).
    except Exception as error:
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise UsageError(
            where=f"model {name!r}" + (f" at {revision!r}" if revision else ""),
            seen=f"it is neither a folder here, nor in the local cache, nor downloadable"
            f" ({type(error).__name__}: {reason[0][:200]})",
            todo="Check the spelling and the network, or give the folder of a downloaded copy"
            f" (demo models that need no download: {', '.join(DEMO_MODELS)}).",
        ) from error
    return _at(folder, name=name, revision=folder.name, inner=inner)


def _at(folder: Path, *, name: str, revision: str, inner: bool) -> Located:
    """The model in a folder, or an adapter with the model that it belongs on."""
    adapter = find_adapter(folder)
    if inner or adapter is None or adapter.is_complete:
        return Located(name, folder, revision, adapter)
    beside = folder / adapter.base
    hub_name = f"{adapter.base}@{adapter.revision}".rstrip("@")
    found = _locate(str(beside) if _is_folder(beside) else hub_name, inner=True)
    if found.adapter is not None:
        raise ModelError(
            where=str(folder),
            seen=f"it is an adapter of {adapter.base!r}, which is an adapter itself",
            todo="Merge that one into its model first (`merge_and_unload` in peft).",
        )
    both = hashlib.sha256(f"{revision} {found.revision}".encode()).hexdigest()
    return Located(name, found.folder, both, adapter)


def _digest(folder: Path) -> str:
    """sha256 over the names and contents of the files that make the model."""
    total = hashlib.sha256()
    try:
        files = sorted({path for each in (*_PATTERNS, _CODE) for path in folder.glob(each)})
        for path in files:
            if not path.is_file():  # a link may lead to a device, which never ends
                raise ModelError(where=str(path), seen="is no file")
            total.update(path.name.encode() + b"\0")
            with path.open("rb") as handle:
                total.update(hashlib.file_digest(handle, "sha256").digest())
    except OSError as error:
        raise ModelError(
            where=str(folder), seen=f"cannot be read ({error.strerror or error})"
        ) from error
    return total.hexdigest()

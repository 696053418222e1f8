"""The models stored on this machine: names, kinds, sizes and number formats, by files alone."""

from __future__ import annotations

import contextlib
import datetime as dt
import math
import os
import struct
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from cimento.errors import CimentoError, StorageError
from cimento.io.files import open_plain
from cimento.io.parsing import parse_json
from cimento.models.hf.files import LocatedModel, locate, model_kind, read_config
from cimento.models.hf.names import ADAPTER_CONFIG, DEMO_MODELS
from cimento.models.settings import DtypeName

_LENGTH = struct.Struct("<Q")
_MOST_HEADER = 100_000_000
_MOST_AXES = 8
_LARGEST = 1 << 40
_FORMATS: dict[object, DtypeName] = {
    "F64": "float64", "F32": "float32", "BF16": "bfloat16", "F16": "float16"
}  # fmt: skip
"""The names in safetensors files of the formats in which weights can be scored."""


def stored_dtype(located: LocatedModel) -> DtypeName:
    """The number format of a checkpoint: that in its config, or else that of most weights.

    The config of transformers 5 calls it ``dtype``, that of earlier versions ``torch_dtype``; for
    models that also take images, it may be in the config of the language model. For weights in a
    format that cannot be scored in (8 bits), and without any statement, it is float32.

    Raises:
        ModelError: the config cannot be read.
    """
    config = read_config(located)
    inner = config.get("text_config")
    for part in (config, inner if isinstance(inner, dict) else {}):
        stated = str(part.get("dtype") or part.get("torch_dtype")).removeprefix("torch.")
        for name in get_args(DtypeName):
            if stated == name:
                known: DtypeName = name
                return known
    sizes: Counter[DtypeName] = Counter()
    for form, size in _tensors(located.folder) or []:
        if form in _FORMATS:
            sizes[_FORMATS[form]] += size
    return max(sizes, key=sizes.__getitem__, default="float32")


def read_ahead(located: LocatedModel) -> None:
    """Have the system read a model's weights from the disk while libraries are imported.

    It goes on by itself; the weights are found in its memory when they are loaded.
    """
    if not hasattr(os, "posix_fadvise"):
        return
    for path in sorted(located.folder.glob("*.safetensors")):
        with contextlib.suppress(OSError, CimentoError), open_plain(path) as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_WILLNEED)


def count_parameters(folder: Path) -> int | None:
    """The number of parameters in a folder's safetensors files, by their headers; None without."""
    tensors = _tensors(folder)
    return None if tensors is None else sum(size for _, size in tensors)


def _tensors(folder: Path) -> list[tuple[object, int]] | None:
    """The format and the size of each tensor; None if there is no file, or a damaged one."""
    files = sorted(folder.glob("*.safetensors"))
    try:
        return [tensor for path in files for tensor in _in_file(path)] if files else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, struct.error):
        return None


def _in_file(path: Path) -> list[tuple[object, int]]:
    with path.open("rb") as handle:
        (length,) = _LENGTH.unpack(handle.read(_LENGTH.size))
        if length > _MOST_HEADER:
            raise ValueError("no header of a sane length")
        header: dict[str, dict[str, Any]] = parse_json(handle.read(length))
    tensors = [tensor for name, tensor in header.items() if name != "__metadata__"]
    if not all(_is_shape(tensor["shape"]) for tensor in tensors):
        raise ValueError("no shape of a tensor")
    return [(tensor.get("dtype"), math.prod(tensor["shape"])) for tensor in tensors]


def _is_shape(shape: object) -> bool:
    return (
        isinstance(shape, list)
        and len(shape) <= _MOST_AXES
        and all(isinstance(axis, int) and 0 <= axis <= _LARGEST for axis in shape)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Present:
    """A model on this machine.

    Attributes:
        name: name for ``--model``.
        revision: commit or content hash, hexadecimal.
        kind: ``causal``, ``masked`` and the like; ``adapter``; empty if it is not one of these.
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
    models = [
        Present(
            name=repository.repo_id,
            revision=revision.commit_hash,
            kind=_kind(
                LocatedModel(repository.repo_id, Path(revision.snapshot_path), revision.commit_hash)
            ),
            size_bytes=revision.size_on_disk,
            last_used=dt.datetime.fromtimestamp(repository.last_accessed, tz=dt.UTC).date(),
        )
        for repository in repositories
        if repository.repo_type == "model"
        for revision in repository.revisions
    ]
    return sorted(models, key=lambda model: (model.name, model.revision))


def _kind(located: LocatedModel) -> str:
    """The kind of a model by its config; empty if the config does not determine it."""
    if (located.folder / ADAPTER_CONFIG).is_file():
        return "adapter"
    try:
        return model_kind(located)
    except CimentoError:
        return ""

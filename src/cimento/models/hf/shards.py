"""Checkpoints of distributed training whose weights are in shards, which must be merged first."""

from __future__ import annotations

import shlex
from pathlib import Path

from cimento.errors import ModelError
from cimento.models.hf.names import holds_model

_WHOLE = ("*.safetensors", "pytorch_model*.bin", "adapter_model*.bin")
_FSDP, _SHARD_OF_FSDP = "pytorch_model_fsdp_*", "*.distcp"
_DEEPSPEED = "global_step*"


def refuse_only_shards(folder: Path, *, name: str) -> None:
    """Refuse a folder with shards of FSDP or DeepSpeed and without whole weights.

    Args:
        folder: of a model, of a checkpoint, or of the shards themselves.
        name: the model as the user named it.

    Raises:
        ModelError: it is such a folder; the message has the command that merges the shards.
    """
    if any(True for pattern in _WHOLE for _ in folder.glob(pattern)):
        return
    is_inside = any(folder.glob(_SHARD_OF_FSDP))
    target = folder.parent if is_inside else folder
    fsdp = [folder] if is_inside else _folders(folder, _FSDP)
    if fsdp:
        by, shards = "FSDP", fsdp[0]
        merge = ["accelerate", "merge-weights", str(shards), str(target)]
    elif found := _folders(folder, _DEEPSPEED):
        by, shards = "DeepSpeed", found[-1]
        script = str(folder / "zero_to_fp32.py")
        merge = ["python", script, str(folder), str(folder), "--safe_serialization"]
    else:
        return
    todo = f"Merge them first: `{shlex.join(merge)}`"
    if not holds_model(target):
        # The Trainer saves none of these files beside shards of FSDP.
        todo += (
            "; then copy config.json and the tokenizer's files there, from the model that the"
            " training began with"
        )
    raise ModelError(
        where=f"model {name!r}",
        seen=f"its weights are only in shards of {by} ({shards.name})",
        todo=todo,
    )


def _folders(folder: Path, pattern: str) -> list[Path]:
    return sorted(path for path in folder.glob(pattern) if path.is_dir())

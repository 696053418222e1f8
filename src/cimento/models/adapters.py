"""PEFT adapters: small weights that are put on the model they were trained with."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.errors import MissingDependencyError, ModelError
from cimento.io.parsing import parse_json

if TYPE_CHECKING:
    from transformers import PreTrainedModel

CONFIG = "adapter_config.json"
_WEIGHTS = "adapter_model.safetensors"


@dataclass(frozen=True, slots=True)
class Adapter:
    """What the config of an adapter says.

    Attributes:
        folder: of the adapter.
        kind: such as ``LORA``.
        base: name of the model it belongs on; a folder, or a name on the hub.
        revision: of that model on the hub; empty for the newest.
    """

    folder: Path
    kind: str
    base: str
    revision: str = ""

    @property
    def is_complete(self) -> bool:
        """Whether the model is in the same folder."""
        return self.base == str(self.folder)


def find_adapter(folder: Path) -> Adapter | None:
    """The adapter in a folder; None where there is none.

    Raises:
        ModelError: its config cannot be read, or names no model.
    """
    path = folder / CONFIG
    if not path.is_file():
        return None
    try:
        config = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(where=str(path), seen=f"cannot be read ({error})") from error
    if not isinstance(config, dict):
        raise ModelError(where=str(path), seen="is not a JSON object")
    if config.get("megatron_config"):
        # peft would import whatever module the config names beside it.
        raise ModelError(
            where=str(path),
            seen="it is made for Megatron, and names a module to be imported",
            todo="Adapters may bring no code: save it without megatron_config.",
        )
    complete = (folder / "config.json").is_file()
    base = str(folder) if complete else config.get("base_model_name_or_path")
    if not base or not isinstance(base, str):
        raise ModelError(
            where=str(path),
            seen="it does not say which model the adapter belongs on",
            todo="Fill in base_model_name_or_path: a folder, or a name on the hub.",
        )
    return Adapter(
        folder=folder,
        kind=str(config.get("peft_type", "")),
        base=base,
        revision=str(config.get("revision") or ""),
    )


def need_peft(name: str) -> None:
    """See that adapters can be loaded.

    Raises:
        MissingDependencyError: peft is not installed.
    """
    if importlib.util.find_spec("peft") is None:
        raise MissingDependencyError(
            package="peft", extra="peft", purpose=f"model {name!r}, an adapter"
        )


def refuse_pickled(adapter: Adapter) -> None:
    """See that the weights of an adapter are safetensors: transformers takes others as well.

    Raises:
        ModelError: there are none.
    """
    if not (adapter.folder / _WEIGHTS).is_file():
        raise ModelError(
            where=str(adapter.folder),
            seen=f"there is no {_WEIGHTS}",
            todo="Weights of other formats can hold code: convert them, or give --allow-pickle.",
        )


def put_on(model: PreTrainedModel, adapter: Adapter) -> None:
    """Load an adapter onto the model it belongs on.

    Args:
        model: without it.
        adapter: what is put on.

    Raises:
        ModelError: the files lack some of its weights.
    """
    # A folder that holds both is loaded as one by transformers itself.
    if adapter.is_complete:
        return
    info = model.load_adapter(str(adapter.folder))
    missing = sorted(info.missing_keys)
    if missing:
        raise ModelError(
            where=str(adapter.folder),
            seen=f"{len(missing)} of the adapter's weights are not in its files"
            f" ({', '.join(missing[:3])} ...)",
            todo="Is the download complete, and is it an adapter of this model?",
        )

"""The files of a model: resolution of its name, and its config.

Nothing is loaded. A PEFT adapter is located together with its base model.
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from cimento.errors import MissingDependencyError, ModelError, UsageError, needing
from cimento.io.files import expanded, reading
from cimento.io.parsing import parse_json
from cimento.models.hf.names import (
    ADAPTER_CONFIG,
    CONFIG,
    DEMO_MODELS,
    FORMS,
    folder_without_model,
    holds_model,
    is_folder,
    meant_by,
    refuse_misnamed,
)
from cimento.models.hf.revisions import cached_revisions, without_digits
from cimento.models.hf.shards import refuse_only_shards

if TYPE_CHECKING:
    from transformers import PreTrainedModel

_WEIGHTS = "adapter_model.safetensors"

_HUB_NAME = re.compile(r"^[\w.-]+(/[\w.-]+)?$")
_PATTERNS = ["*.json", "*.safetensors", "*.txt", "*.model", "*.jinja", "*.bin"]
_TOKENIZER_PATTERNS = ("*.json", "*.txt", "*.model", "*.jinja")
_TOKENIZER_FILES = ("tokenizer.json", "vocab*", "*.model")
_CODE = "*.py"
"""Files of code, which are downloaded and hashed too, since they run if the user trusts them."""

Kind: TypeAlias = Literal["causal", "masked", "seq2seq"]
"""The kind as which a model of transformers can be loaded."""

_CAUSAL_ENDINGS = ("ForCausalLM", "LMHeadModel")
_MASKED_ENDINGS = ("ForMaskedLM", "ForPreTraining", "WithLMHeadModel")
_GENERATING = "ForConditionalGeneration"
_AUTO_KINDS: Mapping[str, Kind] = {
    "AutoModelForCausalLM": "causal",
    "AutoModelForMaskedLM": "masked",
    "AutoModelForSeq2SeqLM": "seq2seq",
}
_INNER_CONFIGS = ("text_config", "vision_config", "audio_config")


@dataclass(frozen=True, slots=True)
class Adapter:
    """The config of a PEFT adapter.

    Attributes:
        folder: folder of the adapter.
        kind: kind of adapter, such as ``LORA``.
        base: its base model: a folder, or a name on the hub.
        revision: revision of the base model on the hub; empty for the newest.
    """

    folder: Path
    kind: str
    base: str
    revision: str = ""

    @property
    def is_complete(self) -> bool:
        """Whether the base model is in the same folder."""
        return self.base == str(self.folder)


def find_adapter(folder: Path) -> Adapter | None:
    """The adapter in a folder; None where there is none.

    Raises:
        ModelError: its config cannot be read, or does not name a base model.
    """
    path = folder / ADAPTER_CONFIG
    if not path.is_file():
        return None
    config = _read_object(path)
    if config.get("megatron_config"):
        # peft would import any module that the config names for the base model.
        raise ModelError(
            where=str(path),
            seen="it is made for Megatron, and names a module to be imported",
            todo="Adapters may bring no code: save it without megatron_config.",
        )
    complete = (folder / CONFIG).is_file()
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
    """Check that adapters can be loaded.

    Raises:
        MissingDependencyError: peft is not installed.
    """
    if importlib.util.find_spec("peft") is None:
        raise MissingDependencyError(
            package="peft", extra="peft", purpose=f"model {name!r}, an adapter"
        )


def refuse_pickled(adapter: Adapter) -> None:
    """Refuse an adapter without safetensors weights, since transformers would load other formats.

    Raises:
        ModelError: there are no safetensors weights.
    """
    if not (adapter.folder / _WEIGHTS).is_file():
        raise ModelError(
            where=str(adapter.folder),
            seen=f"there is no {_WEIGHTS}",
            todo="Weights of other formats can hold code: convert them, or give --allow-pickle.",
        )


def put_on(model: PreTrainedModel, adapter: Adapter) -> None:
    """Load an adapter onto its base model.

    Args:
        model: the base model.
        adapter: the adapter.

    Raises:
        ModelError: the files lack some of its weights.
    """
    # transformers itself loads a folder that holds both.
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


@dataclass(frozen=True, slots=True)
class LocatedModel:
    """A located model, or a tokenizer other than that of a model.

    Attributes:
        name: name in tables and reports.
        folder: the Hugging Face folder with its weights, or with the files of the tokenizer.
        revision: commit of the hub, or sha256 over the folder's files (of a tokenizer, except
            weights); for an adapter, a hash over its revision and that of the base model; with
            another tokenizer, a hash over the revisions of model and tokenizer.
        adapter: the adapter of the model in the folder; None for none.
        tokenizer: the other tokenizer; None for the model's.
    """

    name: str
    folder: Path
    revision: str
    adapter: Adapter | None = None
    tokenizer: LocatedModel | None = None

    @property
    def label(self) -> str:
        """The name with the first seven digits of the revision."""
        return f"{self.name}@{self.revision[:7]}"

    @property
    def tokenizer_folder(self) -> Path:
        """The folder of the tokenizer: that of another one, of the adapter, or of the model."""
        if self.tokenizer is not None:
            return self.tokenizer.folder
        if self.adapter is not None and any(self.adapter.folder.glob("tokenizer*.json")):
            return self.adapter.folder
        return self.folder


_WHOLE_COPY = "Is the download complete? Copy the file from the model again."
_LONG = 600
"""Number of characters up to which a message of the hub is shown whole."""


def locate(name: str, *, tokenizer: str = "") -> LocatedModel:
    """Locate a model by the name a user gives.

    Args:
        name: ``demo-causal`` or ``demo-masked``; a folder; ``org/name`` or ``org/name@revision``
            of the Hugging Face hub, downloaded unless it is in the local cache, of whose commits
            the first seven digits are enough. The folder may be that of a PEFT adapter, which is
            loaded onto the base model in its config.
        tokenizer: the name of another tokenizer than the model's, in the same forms; empty for
            the model's.

    Raises:
        UsageError: there is no such model, or it cannot be downloaded.
        ModelError: its files cannot be read.
    """
    located = _locate(name, inner=False)
    if not tokenizer:
        return located
    other = tokenizer_files(tokenizer)
    both = hashlib.sha256(f"{located.revision} {other.revision}".encode()).hexdigest()
    return replace(located, revision=both, tokenizer=other)


def tokenizer_files(name: str) -> LocatedModel:
    """Locate a tokenizer by the name a user gives.

    Raises:
        UsageError: there is no such tokenizer, or it cannot be downloaded.
    """
    where = f"--tokenizer={name}"
    folder = _folder_here(name, what="tokenizer")
    if folder is None:
        hub_name, revision = _hub_name(
            name, where=where, todo="Give a folder, or org/name@revision."
        )
        folder = _download(hub_name, revision, _TOKENIZER_PATTERNS, what="tokenizer")
        return LocatedModel(hub_name, folder, folder.name)
    if not any(True for pattern in _TOKENIZER_FILES for _ in folder.glob(pattern)):
        raise UsageError(
            where=where,
            seen="this folder holds no tokenizer.json, nor the vocabulary of a tokenizer",
            todo="Give the folder that `tokenizer.save_pretrained` wrote.",
        )
    known = name if name in DEMO_MODELS else folder.resolve().name
    return LocatedModel(known, folder, _digest(folder, _TOKENIZER_PATTERNS))


def _folder_here(name: str, *, what: str) -> Path | None:
    """The folder of a model or a tokenizer on this machine; None if the name may be on the hub.

    Raises:
        UsageError: the name can be neither.
    """
    if name in DEMO_MODELS:
        return Path(str(resources.files("cimento") / "data" / "models" / name))
    refuse_misnamed(name, what=what)
    path = expanded(name)
    return path if is_folder(path) else None


def _hub_name(name: str, *, where: str, todo: str) -> tuple[str, str | None]:
    """A name on the hub, and a revision if one is given.

    Raises:
        UsageError: it is no such name.
    """
    hub_name, _, revision = name.partition("@")
    is_path = name.startswith((".", "/", "~")) or "\\" in name
    if is_path or not _HUB_NAME.match(hub_name):
        raise UsageError(
            where=where,
            seen="there is no such folder, and it is not a name on the hub either",
            todo=meant_by(name) or todo,
        )
    return hub_name, revision or None


def _locate(name: str, *, inner: bool) -> LocatedModel:
    """Locate a model; see `locate`.

    Args:
        name: the name given by a user, or by the config of an adapter.
        inner: whether it is the base model of an adapter; if it is an adapter too, its base is not
            located, since adapters could name each other endlessly.
    """
    plain, digits = without_digits(name)
    if digits:
        located = _locate(plain, inner=inner)
        if located.revision.startswith(digits):
            return located
        if plain in DEMO_MODELS:
            raise UsageError(
                where=f"model {name!r}",
                seen=f"this version of cimento comes with {located.label}",
                todo=f"Give {plain}.",
            )
    path = _folder_here(name, what="model")
    if path is None:
        hub_name, revision = _hub_name(name, where=f"model {name!r}", todo=FORMS)
        folder = _download(hub_name, revision, [*_PATTERNS, _CODE], what="model")
        return _at(folder, name=hub_name, revision=folder.name, inner=inner)
    if name in DEMO_MODELS:
        return LocatedModel(name=name, folder=path, revision=_digest(path))
    if not holds_model(path):
        refuse_only_shards(path, name=name)
        raise folder_without_model(name)
    return _at(path, name=path.resolve().name, revision=_digest(path), inner=inner)


def _download(name: str, revision: str | None, patterns: Sequence[str], *, what: str) -> Path:
    """The folder of some files of the hub, downloaded unless they are in the cache.

    Raises:
        MissingDependencyError: the hub's library is not installed.
        UsageError: the files cannot be downloaded.
    """
    where = f"{what} '{name}{f'@{revision}' if revision else ''}'"
    with needing("huggingface_hub", extra="hf", purpose=where):
        from huggingface_hub import snapshot_download
    cached = cached_revisions(name)
    commit = cached.full(revision, where=where) if revision else None
    try:
        return Path(snapshot_download(name, revision=commit, allow_patterns=list(patterns)))
    # The hub library raises errors of many unrelated classes (HTTP, cache, validation).
    except Exception as error:
        if not cached.commits and (lacks := _lacking(error)):
            todo = meant_by(name) or (
                "Check the spelling and the network, or give the folder of a downloaded copy"
                f" (demo models that need no download: {', '.join(DEMO_MODELS)})."
            )
            raise UsageError(where=where, seen=lacks, todo=todo) from error
        reason = str(error).strip().splitlines() or [type(error).__name__]
        said = f"{type(error).__name__}: {_whole_sentences(reason[0])}"
        if cached.commits:
            raise UsageError(
                where=where,
                seen=f"this revision is neither in the local cache nor downloadable ({said})",
                todo=f"In the cache are the revisions {cached}.",
            ) from error
        if meant := meant_by(name):
            raise UsageError(
                where=where,
                seen="it is neither a folder here, nor in the local cache, nor downloadable"
                f" ({type(error).__name__})",
                todo=meant,
            ) from error
        raise UsageError(
            where=where,
            seen=f"it is neither a folder here, nor in the local cache, nor downloadable ({said})",
            todo="Check the spelling and the network, or give the folder of a downloaded copy"
            f" (demo models that need no download: {', '.join(DEMO_MODELS)}).",
        ) from error


def _lacking(error: Exception) -> str:
    """Why the hub has not given a model, in a sentence, where its library takes many; else empty.

    The rest of what the library says is in the traceback, which CIMENTO_DEBUG shows.
    """
    from huggingface_hub import constants
    from huggingface_hub.errors import LocalEntryNotFoundError

    if not isinstance(error, LocalEntryNotFoundError):
        return ""
    off = constants.HF_HUB_OFFLINE
    why = "the network is off (HF_HUB_OFFLINE)" if off else "the hub cannot be reached"
    return f"there is no such model here, and {why}"


def _whole_sentences(text: str) -> str:
    """The beginning of a long text, cut at the end of a sentence and never in a quotation."""
    if len(text) <= _LONG:
        return text
    return text[:_LONG].rpartition(". ")[0] or text[:_LONG].rpartition(" ")[0] + " ..."


def _at(folder: Path, *, name: str, revision: str, inner: bool) -> LocatedModel:
    """The model in a folder, or an adapter with its base model."""
    adapter = find_adapter(folder)
    if inner or adapter is None or adapter.is_complete:
        return LocatedModel(name, folder, revision, adapter)
    beside = folder / adapter.base
    hub_name = f"{adapter.base}@{adapter.revision}".rstrip("@")
    located = _locate(str(beside) if is_folder(beside) else hub_name, inner=True)
    if located.adapter is not None:
        raise ModelError(
            where=str(folder),
            seen=f"it is an adapter of {adapter.base!r}, which is an adapter itself",
            todo="Merge that one into its model first (`merge_and_unload` in peft).",
        )
    both = hashlib.sha256(f"{revision} {located.revision}".encode()).hexdigest()
    return LocatedModel(name, located.folder, both, adapter)


def _digest(folder: Path, patterns: Sequence[str] = (*_PATTERNS, _CODE)) -> str:
    """The sha256 over the names and contents of files, by default those that define the model."""
    total = hashlib.sha256()
    with reading(folder, todo="", kind=ModelError):
        files = sorted({path for pattern in patterns for path in folder.glob(pattern)})
        for path in files:
            if not path.is_file():  # a link may lead to a device, which could be read endlessly
                raise ModelError(where=str(path), seen="is not a file")
            total.update(path.name.encode() + b"\0")
            with path.open("rb") as handle:
                total.update(hashlib.file_digest(handle, "sha256").digest())
    return total.hexdigest()


def read_model_json(path: Path) -> object:
    """The content of a JSON file of a model.

    Raises:
        ModelError: the file cannot be read.
    """
    try:
        content: object = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(
            where=str(path), seen=f"cannot be read ({error})", todo=_WHOLE_COPY
        ) from error
    return content


def _read_object(path: Path) -> dict[str, Any]:
    content = read_model_json(path)
    if not isinstance(content, dict):
        raise ModelError(where=str(path), seen="is not a JSON object", todo=_WHOLE_COPY)
    return content


def read_config(located: LocatedModel) -> dict[str, Any]:
    """A model's config, unchanged from its file.

    Raises:
        ModelError: the config cannot be read.
    """
    return _read_object(located.folder / CONFIG)


def model_kind(located: LocatedModel) -> Kind:
    """The kind of a model: encoder-decoder by the config, else by the name of the architecture.

    ``...WithLMHeadModel`` has the ending of GPT-2's ``LMHeadModel``, but is masked (XLM, Flaubert).
    """
    config = read_config(located)
    if kind := kind_in(config):
        return kind
    raise ModelError(
        where=f"model {located.name!r}",
        seen="its config names the architecture"
        f" {', '.join(named_architectures(config)) or '(none)'},"
        " which is neither a causal nor a masked language model",
        todo="Say which with --kind=causal, masked or diffusion, if it can be loaded as one.",
    )


def kind_in(config: Mapping[str, Any]) -> Kind | None:
    """The kind of a model by its config; None if that does not say."""
    if config.get("is_encoder_decoder"):
        return "seq2seq"
    kinds = {kind_by_name(name, parts=config) for name in named_architectures(config)}
    if "masked" in kinds:
        return "masked"
    if "causal" in kinds:
        return "causal"
    # Code that comes with a model has classes of any names, and says which loader takes them.
    brought = config.get("auto_map")
    named = {
        kind for auto, kind in _AUTO_KINDS.items() if isinstance(brought, dict) and auto in brought
    }
    return named.pop() if len(named) == 1 else None


def named_architectures(config: Mapping[str, Any]) -> list[str]:
    """The classes that a config names; may be empty."""
    named = config.get("architectures")
    return [str(name) for name in named] if isinstance(named, list) else []


def kind_by_name(
    architecture: str, *, parts: Container[str] = ()
) -> Literal["causal", "masked"] | None:
    """The kind of a class of transformers, by the end of its name; None where that is unclear.

    ``...ForConditionalGeneration`` is an encoder-decoder (T5), or a causal language model that also
    takes images or sound (Gemma 3, Qwen2-VL); these have a config inside their config.

    Args:
        architecture: name of a class that is not an encoder-decoder.
        parts: keys of its config.
    """
    if architecture.endswith(_MASKED_ENDINGS):
        return "masked"
    if architecture.endswith(_GENERATING) and any(name in parts for name in _INNER_CONFIGS):
        return "causal"
    return "causal" if architecture.endswith(_CAUSAL_ENDINGS) else None

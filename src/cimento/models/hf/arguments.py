"""Options and files for transformers, and the refusal of unsafe ones before it sees them.

Options (attention, quantization, devices) can change scores, so they are part of the policy, and
thus of cache keys, of a run's inputs and of the name of its folder.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath

from cimento.errors import CimentoError, ModelError, UsageError, did_you_mean
from cimento.io.parsing import parse_json, whole_number
from cimento.models.hf.files import kind_in, named_architectures, read_model_json
from cimento.suites import JsonValue

OPTION = "--model-args"
TOKENIZER_OPTION = "--tokenizer-args"
_SHOWN = 300

_KNOWN = (
    "attn_implementation", "device_map", "experts_implementation", "key_mapping", "max_memory",
    "offload_buffers", "offload_folder", "quantization_config", "use_kernels", "variant",
)  # fmt: skip
"""Names suggested for a misspelled option; other options exist, such as settings of the config."""

TOKENIZER_ARGUMENTS = (
    "add_bos_token", "add_eos_token", "add_prefix_space", "bos_token", "chat_template",
    "cls_token", "do_lower_case", "eos_token", "extra_special_tokens", "fix_mistral_regex",
    "legacy", "mask_token", "model_max_length", "pad_token", "sep_token", "split_special_tokens",
    "src_lang", "strip_accents", "tgt_lang", "unk_token",
)  # fmt: skip
"""Arguments of tokenizers that may change nothing of one; every other must change something."""

ALLOW_PICKLE, TRUST_CODE = "allow_pickle", "trust_remote_code"
"""What the user trusts a model with; these are options, so that runs record them."""

_NO_CODE = "Code that comes with a model is run with --trust-remote-code only, as it is."
_NO_PICKLE = "Weights are safetensors; --allow-pickle takes others too."
_LOCATED = "The model is found before it is loaded; set HF_HOME, HF_TOKEN and the like instead."
_HIDDEN = "What is secret goes into the environment (HF_TOKEN), since options are stored with runs."
_SECRETS = (
    "access_token", "api_key", "auth_token", "hf_token", "hub_token", "password", "secret",
    "use_auth_token",
)  # fmt: skip
_OURS: Mapping[str, str] = {
    ALLOW_PICKLE: "Say it with --allow-pickle.",
    "adapter_kwargs": "Give the adapter's folder as the model.",
    "allow_all_kernels": _NO_CODE,
    "cache_dir": _LOCATED,
    "code_revision": _NO_CODE,
    "config": "Give the settings that are to be other, one by one.",
    "device": "Say it with --device.",
    "dtype": "Say it with --dtype.",
    "force_download": _LOCATED,
    "gguf_file": "Give the file itself: --model=gguf:FILE.",
    "load_in_4bit": 'Write quantization_config={"load_in_4bit": true}.',
    "load_in_8bit": 'Write quantization_config={"load_in_8bit": true}.',
    "local_files_only": _LOCATED,
    "output_loading_info": "It is always asked for.",
    "pretrained_model_name_or_path": "Say it with --model.",
    "proxies": _LOCATED,
    "revision": "Say it with --model=NAME@REVISION.",
    "state_dict": "Save the model with these weights, and give its folder.",
    "subfolder": "Give that folder as the model.",
    "token": _LOCATED,
    "torch_dtype": "Say it with --dtype.",
    TRUST_CODE: "Say it with --trust-remote-code.",
    **dict.fromkeys(_SECRETS, _HIDDEN),
    "use_safetensors": _NO_PICKLE,
    "weights_only": _NO_PICKLE,
}
"""Arguments that cannot be given, each with the advice what to do instead."""

_FILE = "The tokenizer is read from its own folder; --tokenizer=NAME takes another one."
_OURS_OF_TOKENIZER: Mapping[str, str] = {
    **{key: _OURS[key] for key in (
        ALLOW_PICKLE, "cache_dir", "code_revision", "config", "force_download", "local_files_only",
        "proxies", "revision", "subfolder", "token", TRUST_CODE, *_SECRETS,
    )},
    "backend": _FILE,
    "gguf_file": _FILE,
    "tokenizer_type": _FILE,
    "pretrained_model_name_or_path": "Say it with --tokenizer.",
    "use_fast": "Say nothing: the fast tokenizer is used where there is one.",
}  # fmt: skip
"""Arguments of a tokenizer that cannot be given, as `_OURS`."""
_FILE_ENDINGS = ("_file", "_object", "_files")

TRUSTED = (ALLOW_PICKLE, TRUST_CODE)
_PICKLED = "no file named model.safetensors"

SAFE = ".safetensors"
_INDEX = ".index.json"
_NAMED_BY_CONFIG = "transformers_weights"
_PICKLES = (
    "Weights of other formats are pickles, which can hold code: convert them to safetensors, or"
    " trust them with --allow-pickle."
)
_SHORT = 80


def texts_of_arguments(value: object) -> object:
    """Arguments of a model as texts; values of a mapping become JSON and so keep their types."""
    if isinstance(value, Mapping):
        return tuple(f"{key}={json.dumps(element)}" for key, element in value.items())
    return (value,) if isinstance(value, str) else value


def parse_model_args(
    texts: Sequence[str], *, allow_pickle: bool = False, trust_remote_code: bool = False
) -> dict[str, JsonValue]:
    """Options from ``KEY=VALUE``, where a value is JSON or else text.

    Args:
        texts: the texts as the user wrote them.
        allow_pickle: whether weights may be in other formats than safetensors.
        trust_remote_code: whether code that comes with the model may be run.

    Raises:
        UsageError: a text has no ``=``, a key occurs twice, or a key concerns trust.
    """
    trusted = {ALLOW_PICKLE: allow_pickle, TRUST_CODE: trust_remote_code}
    args = _parsed(texts, OPTION, example="attn_implementation=eager")
    _refuse({key: _OURS[key] for key in TRUSTED}, args)
    return args | {key: True for key in TRUSTED if trusted[key]}


def parse_tokenizer_args(texts: Sequence[str]) -> dict[str, JsonValue]:
    """Arguments of a tokenizer from ``KEY=VALUE``, where a value is JSON or else text.

    Args:
        texts: the texts as the user wrote them.

    Raises:
        UsageError: a text has no ``=``, a key occurs twice, or a key concerns trust, files or
            secrets.
    """
    args = _parsed(texts, TOKENIZER_OPTION, example="add_bos_token=true")
    refuse_of_tokenizer(args)
    return args


def refuse_of_tokenizer(args: Mapping[str, JsonValue]) -> None:
    """Refuse arguments of a tokenizer that are cimento's, or that name files.

    Raises:
        UsageError: an argument is one of these; the message says what to do instead.
    """
    files = {key: _FILE for key in args if key.endswith(_FILE_ENDINGS) or key.startswith("_")}
    _refuse({**_OURS_OF_TOKENIZER, **files}, args, TOKENIZER_OPTION)


def _parsed(texts: Sequence[str], option: str, *, example: str) -> dict[str, JsonValue]:
    args: dict[str, JsonValue] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not (equals and key.strip()):
            raise UsageError(
                where=option,
                # The text is not shown, because it may be a secret key.
                seen="what is given is not KEY=VALUE",
                todo=f"Write it as {example}.",
            )
        if key.strip() in args:
            raise UsageError(where=f"{option}={key.strip()}", seen="it is given twice")
        args[key.strip()] = _value(value.strip())
    return args


def as_options(
    args: Mapping[str, JsonValue], tokenizer_args: Mapping[str, JsonValue] | None = None
) -> str:
    """Options of models and tokenizers as on a command line; words where there are none."""
    said = [
        f"--{key.replace('_', '-')}"
        if key in TRUSTED
        else f"{OPTION}={shlex.quote(f'{key}={_as_text(args[key])}')}"
        for key in args
        if key not in TRUSTED or args[key] is True
    ]
    said += [
        f"{TOKENIZER_OPTION}={shlex.quote(f'{key}={_as_text(value)}')}"
        for key, value in (tokenizer_args or {}).items()
    ]
    return " ".join(said) or "no options for transformers"


def refuse_ours(args: Mapping[str, JsonValue]) -> None:
    """Refuse options that cimento sets itself.

    Raises:
        UsageError: an option is one of these; the message says what to do instead.
    """
    _refuse({key: todo for key, todo in _OURS.items() if key not in TRUSTED}, args)


def _refuse(ours: Mapping[str, str], args: Mapping[str, JsonValue], option: str = OPTION) -> None:
    for key in args:
        if key in ours:
            raise UsageError(
                where=f"{option}={key}", seen="it cannot be given this way", todo=ours[key]
            )


def for_transformers(
    args: Mapping[str, JsonValue], *, quantized: bool, device: str
) -> dict[str, object]:
    """The options in the form for ``from_pretrained``.

    Args:
        args: the options as given.
        quantized: whether the files hold quantized weights.
        device: device of the model, unless the options choose one.
    """
    ready: dict[str, object] = {key: args[key] for key in args if key not in TRUSTED}
    ready[TRUST_CODE] = args.get(TRUST_CODE) is True
    # Weights in other formats are pickles, of which only tensors are read, even if they are
    # trusted.
    ready["use_safetensors"] = None if args.get(ALLOW_PICKLE) is True else True
    ready["weights_only"] = True
    if quantized or "quantization_config" in args:
        # Quantized weights cannot be moved after loading.
        ready.setdefault("device_map", {"": device})
    limits = args.get("max_memory")
    if isinstance(limits, dict):
        # Keys in JSON are texts, but GPUs are numbers here.
        numbers = {key: whole_number(key) for key in limits if key.isascii()}
        ready["max_memory"] = {
            key if (number := numbers.get(key)) is None else number: limits[key] for key in limits
        }
    return ready


def loading_error(
    error: Exception,
    args: Mapping[str, JsonValue],
    *,
    name: str,
    kind: str,
    config: Mapping[str, JsonValue],
) -> CimentoError:
    """The error for a model that transformers cannot load.

    Args:
        error: the exception it raised.
        args: the options given to it.
        name: name of the model.
        kind: kind as which it was loaded, such as ``causal``.
        config: config of the model.
    """
    message = str(error).strip()
    unknown = [key for key in args if f"unexpected keyword argument '{key}'" in message]
    if isinstance(error, TypeError) and unknown:
        return UsageError(
            where=f"{OPTION}={unknown[0]}",
            seen=f"transformers takes no such argument for the model {name!r}",
            todo=did_you_mean(unknown[0], _KNOWN),
        )
    if known := _known_error(message, name=name, kind=kind, config=config):
        return known
    todo = "Is the download complete, and does the installed transformers know it?"
    if TRUST_CODE in message:
        todo = (
            "It needs code of its own, which is run with --trust-remote-code only. Read it first."
        )
    elif _PICKLED in message and ALLOW_PICKLE not in args:
        todo = f"Has it been written completely? {_PICKLES}"
    elif args:
        todo = f"Check {OPTION}={' '.join(args)}: these options go to transformers as they are."
    if isinstance(error, ImportError) or "pip install" in message:
        todo = "Install the package that is named there."
    return ModelError(
        where=f"model {name!r}",
        seen=f"cannot be loaded as a {kind} language model"
        f" ({type(error).__name__}: {message[:_SHOWN]})",
        todo=todo,
    )


def _known_error(
    message: str, *, name: str, kind: str, config: Mapping[str, JsonValue]
) -> CimentoError | None:
    """The error for what transformers says at length, or on its log; None for all else."""
    config_kind, where = kind_in(config), f"model {name!r}"
    named = ", ".join(named_architectures(config)) or str(config.get("model_type"))
    if "Unrecognized configuration class" in message:
        if config_kind in (None, kind):
            return ModelError(
                where=where,
                seen=f"transformers has no {kind} language model for {named}",
                todo="Say another --kind: causal, masked or seq2seq.",
            )
        return UsageError(
            where=f"--kind={kind}",
            seen=f"model {name!r} ({named}) is a {config_kind} language model",
            todo="Leave the option out.",
        )
    if "does not recognize this architecture" in message:
        return ModelError(
            where=where,
            seen=f"the installed transformers does not know its type, {config.get('model_type')!r}",
            todo="Upgrade transformers. If the model brings its own code, --trust-remote-code runs"
            " it; read it first.",
        )
    if "ignore_mismatched_sizes" in message:
        return ModelError(
            where=where,
            seen="its weights have other sizes than its config.json says",
            todo="Copy config.json and the weights from the same model.",
        )
    return None


def _as_text(value: JsonValue) -> str:
    """The text that `_value` reads as this value."""
    plain = isinstance(value, str) and _value(value) == value
    return str(value) if plain else json.dumps(value)


def _value(text: str) -> JsonValue:
    try:
        value: JsonValue = parse_json(text)
    except ValueError:
        return text
    return value


def refuse_other_files(
    folder: Path, config: Mapping[str, JsonValue], *, allow_pickle: bool
) -> None:
    """Refuse indices and configs that name anything but safetensors files in the model's folder.

    An index gives the file of each weight, and transformers opens whatever file it names.

    Args:
        folder: folder of the model.
        config: config of the model.
        allow_pickle: whether files of other formats may be named.

    Raises:
        ModelError: a named file is in a format that is not trusted, or outside the folder.
    """
    named = config.get(_NAMED_BY_CONFIG)
    if named is not None and not (
        isinstance(named, str) and (allow_pickle or named.removesuffix(_INDEX).endswith(SAFE))
    ):
        raise ModelError(
            where=str(folder / "config.json"),
            seen=f"{_NAMED_BY_CONFIG} is {str(named)[:_SHORT]!r}, which is not a safetensors file",
            todo=_PICKLES,
        )
    indices = {*folder.glob(f"*{_INDEX}"), *([folder / named] if named else [])}
    for index in sorted(path for path in indices if path.name.endswith(_INDEX)):
        # Indices of pickles are skipped if pickles are not allowed.
        if index.name.endswith(SAFE + _INDEX) or allow_pickle:
            _check(index, allow_pickle=allow_pickle)


def refuse_only_pickles(folder: Path, *, name: str) -> None:
    """Refuse a folder whose weights are all in formats that are not trusted.

    Args:
        folder: folder of the model; one without any weights may still be downloaded.
        name: the model as the user named it.

    Raises:
        ModelError: there are weights, and none of them is a safetensors file.
    """
    pickled = sorted(path.name for path in folder.glob("pytorch_model*.bin"))
    if pickled and not any(folder.glob(f"*{SAFE}")):
        raise ModelError(
            where=f"model {name!r}", seen=f"its weights are in {pickled[0]}", todo=_PICKLES
        )


def _check(index: Path, *, allow_pickle: bool) -> None:
    """Refuse an index that names files which must not be opened."""
    content = read_model_json(index)
    weights = content.get("weight_map") if isinstance(content, dict) else None
    if not isinstance(weights, dict):
        raise ModelError(where=str(index), seen="says nothing of which file holds which weights")
    for name in sorted({str(name) for name in weights.values()}):
        if _leads_out(name):
            raise ModelError(
                where=str(index),
                seen=f"it names the file {name[:_SHORT]!r}, which is not in the model's folder",
                todo="Weights are read from there only: bring the whole model.",
            )
        if not (allow_pickle or name.endswith(SAFE)):
            raise ModelError(
                where=str(index),
                seen=f"it names the file {name[:_SHORT]!r}, which is not a safetensors file",
                todo=_PICKLES,
            )


def _leads_out(name: str) -> bool:
    """Whether a path leads out of its folder, on any system."""
    kinds = (PurePosixPath(name), PureWindowsPath(name))
    return any(path.is_absolute() or path.anchor or ".." in path.parts for path in kinds)

"""The loading of a model of transformers and its tokenizer, with checks before the first score.

Facts from its files alone (kind, tokens, size) are available without its weights.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cimento.errors import MissingDependencyError, ModelError, UsageError
from cimento.models.base import TWO_SIDED, ModelCard, Scorer
from cimento.models.hf import import_libraries
from cimento.models.hf.arguments import (
    ALLOW_PICKLE,
    OPTION,
    TRUST_CODE,
    for_transformers,
    loading_error,
    refuse_other_files,
    refuse_ours,
)
from cimento.models.hf.files import (
    LocatedModel,
    model_kind,
    named_architectures,
    need_peft,
    put_on,
    read_config,
    refuse_pickled,
)
from cimento.models.hf.own_tokenizer import load_tokenizer, lower_case
from cimento.models.hf.shards import refuse_only_shards
from cimento.models.hf.stored import count_parameters, read_ahead, stored_dtype
from cimento.models.hf.warned import listening, on_weights, say
from cimento.models.settings import AUTO, BatchLimits, KindRule, Policy
from cimento.models.tokenizing import TextEncoder, causal_frame, own_frame
from cimento.records.computed import CHECKPOINT, DEVICES, IN_MEMORY, QUANTIZED

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from cimento.models.hf.scorer import TransformersScorer

_SHOWN = 80


def _import_libraries(name: str) -> None:
    """Import torch and transformers for a model.

    Raises:
        MissingDependencyError: a library is not installed.
        ModelError: a library is installed, but the system cannot load a part of it.
    """
    try:
        import_libraries()
        import transformers  # noqa: F401  # a part of it may be missing
    except ModuleNotFoundError as error:
        raise MissingDependencyError(
            package=error.name or "transformers", extra="hf", purpose=f"model {name!r}"
        ) from error
    except (ImportError, OSError) as error:
        raise ModelError(
            where=f"model {name!r}",
            seen=f"torch or transformers cannot be loaded ({' '.join(str(error).split())[:300]})",
            todo="Is there enough memory? Else install them again, for this computer and its GPU.",
        ) from error


def load(
    located: LocatedModel,
    *,
    policy: Policy,
    kind: KindRule = "auto",
    device: str = "auto",
    limits: BatchLimits = AUTO,
) -> Scorer:
    """Load a model that scores texts.

    Args:
        located: the located model.
        policy: the policy of scoring, with the dtype of the weights.
        kind: ``causal``, ``masked``, ``seq2seq`` or ``diffusion``; ``auto`` follows the config.
        device: ``cpu``, ``cuda``, ``cuda:1``, ``mps``; ``auto`` takes a GPU if there is one.
        limits: the limits of a batch; chosen by device if there are none.

    Raises:
        MissingDependencyError: torch or transformers is not installed, or peft for an adapter.
        UsageError: an option for transformers does not exist, or cannot be given.
        DoesNotFitError: memory does not hold the weights, or two short texts.
        ModelError: the folder cannot be loaded, or lacks weights.
    """
    read_ahead(located)
    _import_libraries(located.name)
    import torch

    refuse_ours(policy.model_args)
    if located.adapter is not None:
        need_peft(located.name)
    # transformers reads the config with the tokenizer, and would blame that for its faults.
    with listening() as notes:
        read_config(located)
    tokenizer, of_tokenizer = load_tokenizer(located, policy)
    if policy.lowercase:
        lower_case(tokenizer)
    chosen = model_kind(located) if kind == "auto" else kind
    target = _device(torch, device)
    model, of_model = _weights(located, chosen, policy, target)
    # What is said while the constructor tests the model is about the test.
    with listening():
        card = model_card(located, chosen, policy, model, tokenizer)
        limits = limits.or_tokens(1024 if target == "cpu" else 16_384)
        make = scorer_of(chosen)
        scorer = make(model, tokenizer, card=card, policy=policy, limits=limits)
    scorer.notes = (*notes, *of_tokenizer, *of_model)
    say(located.name, scorer.notes)
    return scorer


def scorer_of(kind: str) -> Callable[..., TransformersScorer]:
    """The class that scores with models of a kind."""
    from cimento.models.hf.causal import CausalScorer
    from cimento.models.hf.diffusion import DiffusionScorer
    from cimento.models.hf.masked import MaskedScorer
    from cimento.models.hf.seq2seq import Seq2SeqScorer

    scorers: dict[str, Callable[..., TransformersScorer]] = {
        "causal": CausalScorer,
        "masked": MaskedScorer,
        "diffusion": DiffusionScorer,
        "seq2seq": Seq2SeqScorer,
    }
    return scorers[kind]


def _refuse_kernels(config: Mapping[str, object], *, where: str) -> None:
    """Refuse a config, or options in its place, that require code of the hub.

    Args:
        config: config of the model, or options.
        where: name of the config in messages.

    Raises:
        ModelError: they require such code.
    """
    for key, value in config.items():
        if isinstance(value, dict):
            _refuse_kernels(value, where=where)
        is_kernel = key.endswith("attn_implementation") and "/" in str(value)
        if is_kernel or (key == "use_kernels" and value):
            raise ModelError(
                where=where,
                seen=f"{key} is {str(value)[:_SHOWN]!r}, which is code of the hub",
                todo="It is run with --trust-remote-code only. Read it first.",
            )


def _reason(error: Exception) -> str:
    """What torch says of a device, without its list of all kinds."""
    first = str(error).splitlines()[0]
    if first.startswith("Expected one of"):
        return "there is no such kind of device"
    return "torch finds none" if first.startswith("Could not run") else first


def _device(torch: Any, wanted: str) -> str:
    from cimento.models.hf.room import DoesNotFitError, is_out_of_memory

    if wanted != "auto":
        try:
            device = torch.device(wanted)
            torch.empty(1, device=device)
        except (RuntimeError, AssertionError) as error:
            if is_out_of_memory(error):
                raise DoesNotFitError(torch.device(wanted), "any model") from error
            raise UsageError(
                where="--device",
                seen=f"{wanted!r} cannot be used here ({_reason(error)})",
                todo="Give one device, such as cuda:0; --model-args=device_map=auto uses several."
                if "," in wanted
                else "Use cpu, or leave the option out.",
            ) from error
        return str(device)
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _class_for(kind: str, config: Mapping[str, Any]) -> Any:
    """The class of transformers that loads models of a kind.

    A checkpoint that also takes images is loaded as the very class that it names and is given only
    text: for some, AutoModelForCausalLM has no class (Qwen2-VL, Mistral 3), for others it has a
    different class from the saved one (Llama 4). Masked diffusion models bring code of their own
    under one name or another, or are masked language models.
    """
    from transformers import (
        AutoModel,
        AutoModelForCausalLM,
        AutoModelForImageTextToText,
        AutoModelForMaskedLM,
        AutoModelForSeq2SeqLM,
    )
    from transformers.models.auto import modeling_auto

    if kind == "causal":
        names = modeling_auto.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES
        named = names.get(str(config.get("model_type")))
        takes_images = named in named_architectures(config)
        return AutoModelForImageTextToText if takes_images else AutoModelForCausalLM
    if kind == "diffusion":
        brought = config.get("auto_map")
        autos = (AutoModelForMaskedLM, AutoModelForCausalLM, AutoModel)
        there = brought if isinstance(brought, dict) else {}
        return next((auto for auto in autos if auto.__name__ in there), AutoModelForMaskedLM)
    return AutoModelForMaskedLM if kind == "masked" else AutoModelForSeq2SeqLM


def _weights(
    located: LocatedModel, kind: str, policy: Policy, device: str
) -> tuple[PreTrainedModel, list[str]]:
    """The weights as `_load_weights` gives them, with lack of memory as one message.

    Raises:
        DoesNotFitError: memory does not hold the weights.
    """
    import torch

    from cimento.models.hf.room import room_for

    parameters = count_parameters(located.folder)
    # Quantized weights take fewer bits than the number format says.
    is_known = parameters is not None and "quantization_config" not in read_config(located)
    needed = (parameters or 0) * getattr(torch, policy.dtype).itemsize if is_known else None
    what = f"the weights of {located.name!r} in {policy.dtype}"
    with room_for(what, torch.device(device), needed_bytes=needed):
        return _load_weights(located, kind, policy, device)


def _load_weights(
    located: LocatedModel, kind: str, policy: Policy, device: str
) -> tuple[PreTrainedModel, list[str]]:
    """The model on its device, and notes on what transformers warned of while it was loaded."""
    import torch

    from cimento.models.hf.room import is_out_of_memory

    config = read_config(located)
    auto = _class_for(kind, config)
    quantized = "quantization_config" in config
    if policy.model_args.get(TRUST_CODE) is not True:
        _refuse_kernels(config, where=str(located.folder / "config.json"))
        _refuse_kernels(policy.model_args, where=OPTION)
    args = for_transformers(policy.model_args, quantized=quantized, device=device)
    pickles = policy.model_args.get(ALLOW_PICKLE) is True
    refuse_only_shards(located.folder, name=located.name)
    refuse_other_files(located.folder, config, allow_pickle=pickles)
    if located.adapter is not None and not pickles:
        refuse_pickled(located.adapter)
    try:
        with listening() as notes:
            loaded: Any = auto.from_pretrained(
                located.folder, dtype=getattr(torch, policy.dtype), output_loading_info=True, **args
            )
            model, info = loaded
            known = list(model.state_dict())
            if located.adapter is not None:
                put_on(model, located.adapter)
    # Loading fails in many ways: no weights, wrong shapes, an unknown architecture, bad JSON.
    except Exception as error:
        if isinstance(error, ModelError) or is_out_of_memory(error):
            raise
        raise loading_error(
            error, policy.model_args, name=located.name, kind=kind, config=config
        ) from error
    model.config.use_cache = False
    missing = sorted(info["missing_keys"]) + sorted(str(k) for k in info["mismatched_keys"])
    if missing:
        raise ModelError(
            where=f"model {located.name!r}",
            seen=f"{len(missing)} of its weights are not in the files"
            f" ({', '.join(missing[:3])} ...) and would be random",
            todo=f"Is this model a {kind} language model with its head? See --kind.",
        )
    model.eval().requires_grad_(requires_grad=False)
    fuse_activations(model)
    # Devices that transformers chose are kept.
    placed: PreTrainedModel = model if "device_map" in args else model.to(device)
    return placed, [*on_weights(info, known), *notes]


def model_card(
    located: LocatedModel,
    kind: str,
    policy: Policy,
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
) -> ModelCard:
    """The card of a model that is in memory.

    Args:
        located: its name and revision.
        kind: the kind as which it is loaded.
        policy: the policy of scoring.
        model: the model on its device.
        tokenizer: a fast tokenizer.
    """
    from cimento.models.hf.boundaries import tokenizer_kind, tokenizer_state

    state = tokenizer_state(tokenizer)
    adapter = located.adapter
    return ModelCard(
        name=located.name,
        kind=kind,
        revision=located.revision,
        tokenizer=_digest(tokenizer),
        dtype=policy.dtype,
        device=str(model.device),
        window=_window(model),
        details={
            "architecture": type(model).__name__,
            "parameters": str(model.num_parameters()),
            "vocabulary": str(model.config.get_text_config().vocab_size),
            "tokenizer": tokenizer_kind(state),
            **({"tokenizer from": located.tokenizer.label} if located.tokenizer else {}),
            **({"adapter": f"{adapter.kind} on {adapter.base}"} if adapter else {}),
            **_placed(located, model),
        },
    )


def _placed(located: LocatedModel, model: PreTrainedModel) -> dict[str, str]:
    """The format of the weights in their files, and the devices that they were put on."""
    is_read = located.folder != Path()
    details = {CHECKPOINT: stored_dtype(located) if is_read else IN_MEMORY}
    if getattr(model, "is_quantized", False):
        details[QUANTIZED] = "yes"
    parts: Mapping[str, object] = getattr(model, "hf_device_map", None) or {}
    names = dict.fromkeys(
        f"cuda:{part}" if isinstance(part, int) else str(part) for part in parts.values()
    )
    if len(names) > 1:
        details[DEVICES] = ", ".join(names)
    return details


def _digest(tokenizer: PreTrainedTokenizerBase) -> str:
    """The content hash of a tokenizer, hexadecimal."""
    from tokenizers import Tokenizer

    if not tokenizer.is_fast:
        from cimento.models.hf.boundaries import tokenizer_state

        return hashlib.sha256(json.dumps(tokenizer_state(tokenizer)).encode()).hexdigest()
    serialized: str = tokenizer.backend_tokenizer.to_str()
    state = json.loads(serialized)
    if state.get("padding") or state.get("truncation"):
        # What a call left behind, such as that of a data collator, is not a property of a
        # tokenizer.
        plain = Tokenizer.from_str(serialized)
        plain.no_padding()
        plain.no_truncation()
        serialized = plain.to_str()
    return hashlib.sha256(serialized.encode()).hexdigest()


def _window(model: PreTrainedModel) -> int | None:
    """The longest sequence that the model can read, in tokens; None without a limit."""
    config = model.config.get_text_config()
    # T5's config names the length used in training, which does not limit its positions.
    trained = ("n_positions",) if not hasattr(config, "relative_attention_num_buckets") else ()
    for key in ("max_position_embeddings", *trained, "max_seq_len"):
        limit = getattr(config, key, None)
        if isinstance(limit, int) and limit > 0:
            # RoBERTa and related models count positions from padding_idx + 1.
            embeddings = getattr(model.base_model, "embeddings", None)
            table = getattr(embeddings, "position_embeddings", None)
            padding = getattr(table, "padding_idx", None)
            return limit - (padding + 1) if isinstance(padding, int) else limit
    return None


def fuse_activations(model: torch.nn.Module) -> None:
    """Replace activations of a model by torch's equivalents, if there are any.

    GPT-2 and related models compute the tanh form of GELU (Hendrycks and Gimpel 2016,
    arXiv:1606.08415) in eight steps over the widest tensors of the model. torch computes it in one
    step, equal except for rounding.
    """
    import torch
    from transformers import activations

    spelled_out = (activations.NewGELUActivation, activations.FastGELUActivation)
    for module in list(model.modules()):
        for name, child in module.named_children():
            if isinstance(child, spelled_out):
                setattr(module, name, torch.nn.GELU(approximate="tanh"))


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """The facts on a model from its files.

    Attributes:
        card: its card, with all fields that enter cache keys.
        encoder: encoder of requests for it; None for encoder-decoders.
        tokenizer: its tokenizer.
        parameters: number of parameters; None if its files do not give it.
        vocabulary: number of rows of its head.
        layers: number of its layers; None if its config does not give it.
        window: the longest sequence that it can read, by its config; None if that gives none.
    """

    card: ModelCard
    encoder: TextEncoder | None
    tokenizer: PreTrainedTokenizerBase
    parameters: int | None
    vocabulary: int
    layers: int | None = None
    window: int | None = None


def size_up(located: LocatedModel, *, policy: Policy, kind: KindRule = "auto") -> ModelFacts:
    """Read the facts on a model that are available without its weights.

    Raises:
        ModelError: its config or tokenizer cannot be read.
    """
    config = read_config(located)
    chosen = model_kind(located) if kind == "auto" else kind
    # Code that comes with a model is not run for facts on it.
    tokenizer, _ = load_tokenizer(located, policy, trusted=False)
    if policy.lowercase:
        lower_case(tokenizer)
    inner = config.get("text_config")
    text_config = inner if isinstance(inner, dict) else config
    size = text_config.get("vocab_size")
    vocabulary = size if isinstance(size, int) else len(tokenizer)
    encoder = None
    if chosen != "seq2seq":
        frame = own_frame(tokenizer) if chosen in TWO_SIDED else causal_frame(tokenizer, policy.bos)
        encoder = TextEncoder(
            name=located.name, tokenizer=tokenizer, policy=policy, frame=frame,
            vocabulary=vocabulary, window=None,
        )  # fmt: skip
    digest = _digest(tokenizer)
    card = ModelCard(located.name, chosen, revision=located.revision, tokenizer=digest)
    names = ("num_hidden_layers", "n_layer", "num_layers")
    layers = next((n for name in names if isinstance(n := text_config.get(name), int)), None)
    parameters = count_parameters(located.folder)
    positions = ("max_position_embeddings", *(() if chosen == "seq2seq" else ("n_positions",)))
    window = next((n for key in positions if isinstance(n := text_config.get(key), int)), None)
    return ModelFacts(card, encoder, tokenizer, parameters, vocabulary, layers, window)

"""Scorers of models in memory, during training or in a notebook, which leave them unchanged."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import hashlib
import random
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import numpy as np
import torch

from cimento.errors import UsageError
from cimento.models.base import KindRule, Policy, Scorer
from cimento.models.dtypes import DtypeName
from cimento.models.hf.files import Kind, Located, kind_by_name
from cimento.models.hf.loading import lower_case, model_card, scorer_of
from cimento.models.limits import AUTO, BatchLimits

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

TOKENS = 4096
"""Padded tokens in a batch without given limits, which is little compared to a training step."""


def live_scorer(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    *,
    name: str,
    policy: Policy | None = None,
    kind: KindRule = "auto",
    limits: BatchLimits = AUTO,
) -> Scorer:
    """A scorer around a model of transformers that is in memory already.

    Args:
        model: in evaluation mode (``model.eval()``), on its device; it is not changed.
        tokenizer: a fast tokenizer.
        name: name of the model in tables and folders; its revision is the hash of its weights.
        policy: the policy of scoring, whose dtype is replaced by that of the model.
        kind: ``causal``, ``masked`` or ``seq2seq``, if the class does not determine it.
        limits: the limits of a batch, by default small compared to a training step.

    Raises:
        UsageError: the model is in training mode, its tokenizer gives no offsets, or either is of
            another type.
        ModelError: the model cannot be scored exactly.
    """
    if not isinstance(model, torch.nn.Module):
        raise UsageError(
            where="model",
            seen=f"{type(model).__name__} is no model of transformers in memory",
            todo="Load it first, or give cimento.evaluate its name.",
        )
    policy = live_policy(policy or Policy(), model)
    located = Located(name=name, folder=Path(), revision=weights_digest(model))
    return scorer_around(model, tokenizer, located=located, policy=policy, kind=kind, limits=limits)


def scorer_around(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    *,
    located: Located,
    policy: Policy,
    kind: KindRule,
    limits: BatchLimits,
) -> Scorer:
    """The same for a model whose name and revision are known.

    Args:
        model: as for `live_scorer`.
        tokenizer: a fast tokenizer.
        located: the name and revision.
        policy: the policy of scoring, with the dtype of the model.
        kind: as for `live_scorer`.
        limits: the limits of a batch.

    Raises:
        UsageError: as for `live_scorer`.
        ModelError: the model cannot be scored exactly.
    """
    name = located.name
    if model.training:
        raise UsageError(
            where=f"model {name!r}",
            seen="it is in training mode, in which dropout makes scores random",
            todo="Call model.eval() first.",
        )
    if not hasattr(tokenizer, "is_fast"):
        raise UsageError(
            where=f"tokenizer of {name!r}",
            seen=f"{type(tokenizer).__name__} is no tokenizer of transformers",
            todo="Give one in memory: AutoTokenizer.from_pretrained(NAME).",
        )
    if not tokenizer.is_fast:
        raise UsageError(
            where=f"tokenizer of {name!r}",
            seen="it gives no character offsets, so tokens cannot be matched with words",
            todo="Use a fast tokenizer.",
        )
    if policy.lowercase:
        tokenizer = copy.deepcopy(tokenizer)
        lower_case(tokenizer)
    chosen = _kind_of(model, name) if kind == "auto" else kind
    card = model_card(located, chosen, policy, model, tokenizer)
    make, limits = scorer_of(chosen), limits.or_tokens(TOKENS)
    return make(model, tokenizer, card=card, policy=policy, limits=limits)


def live_policy(policy: Policy, model: PreTrainedModel) -> Policy:
    """The policy with the dtype of the model, if policies have that dtype."""
    dtype = str(model.dtype).removeprefix("torch.")
    names: tuple[DtypeName, ...] = get_args(DtypeName)
    return next(
        (dataclasses.replace(policy, dtype=name) for name in names if name == dtype),
        policy.settled("float32"),
    )


def weights_digest(model: torch.nn.Module) -> str:
    """A hash of all weights and buffers with their names, hexadecimal."""
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        flat = tensor.detach().cpu().contiguous().reshape(-1)
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(flat.view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


@contextlib.contextmanager
def undisturbed(model: PreTrainedModel) -> Iterator[None]:
    """A context with the model in evaluation mode, after which all its state is restored.

    Each module gets back its mode (frozen parts may be in evaluation mode while the rest trains)
    and its buffers, which a forward pass may replace. The random generators of Python, numpy and
    torch get back their states, so that training continues identically to the bit. Mixed precision
    that accelerate has put around the forward pass is removed in the meantime: scores are those of
    the weights in their dtype, as after loading them.
    """
    modes = {module: module.training for module in model.modules()}
    buffers = {module: dict(module.named_buffers(recurse=False)) for module in modes}
    numbers, array_numbers = random.getstate(), np.random.get_state()  # noqa: NPY002  # theirs to keep
    use_cache = getattr(model.config, "use_cache", None)
    devices = [model.device.index or 0] if model.device.type == "cuda" else []
    own = vars(model)
    mixed = own.get("forward") if "_original_forward" in own else None
    with torch.random.fork_rng(devices=devices):
        try:
            model.train(mode=False)
            if use_cache is not None:
                model.config.use_cache = False
            if mixed is not None:
                own["forward"] = own["_original_forward"]
            yield
        finally:
            for module, mode in modes.items():
                module.training = mode
                for name, buffer in buffers[module].items():
                    setattr(module, name, buffer)
            if mixed is not None:
                own["forward"] = mixed
            if use_cache is not None:
                model.config.use_cache = use_cache
            random.setstate(numbers)
            np.random.set_state(array_numbers)  # noqa: NPY002  # theirs to keep


def _kind_of(model: PreTrainedModel, name: str) -> Kind:
    """The kind of a model: encoder-decoder by its config, else by the name of the class."""
    if getattr(model.config, "is_encoder_decoder", False):
        return "seq2seq"
    written = type(model).__name__
    kind = kind_by_name(written, parts=vars(model.config))
    if kind is not None:
        return kind
    raise UsageError(
        where=f"model {name!r}",
        seen=f"{written} is neither a causal nor a masked language model",
        todo="Say which with kind, if it can be scored as one.",
    )

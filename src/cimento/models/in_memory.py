"""Models of transformers in memory, which functions take in place of a name.

A new scorer is made for each setting, so that ``pll`` or ``bos`` take effect whoever loaded the
weights; the weights are shared. During training and in notebooks, models are left unchanged.
"""

from __future__ import annotations

import contextlib
import copy
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast, get_args

from cimento.errors import UsageError, needing
from cimento.models.base import HasRemarks, Scorer
from cimento.models.hf.arguments import TRUSTED
from cimento.models.hf.files import Kind, LocatedModel, kind_by_name
from cimento.models.registry import AnyScorer, ScorerSource, open_source
from cimento.models.settings import AUTO, Asking, BatchLimits, DtypeName, KindRule, Policy
from cimento.models.weights import passing_digest, weights_digest

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from cimento.models.hf.scorer import TransformersScorer


@dataclass(frozen=True, slots=True, eq=False)
class LoadedModel:
    """A model of transformers with its tokenizer, in memory.

    Attributes:
        model: the model on its device, in evaluation mode.
        tokenizer: a fast tokenizer; None leaves it to an option.
        located: files of the model; None for a model made in Python.
        kind: the kind as which it was loaded.
        policy: the policy with whose options it and its tokenizer were loaded.
        notes: what the user should know of how it was loaded, as sentences.
    """

    model: PreTrainedModel = field(repr=False)
    tokenizer: PreTrainedTokenizerBase | None = field(default=None, repr=False)
    located: LocatedModel | None = None
    kind: KindRule = "auto"
    policy: Policy = field(default_factory=Policy)
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        number_format = str(self.model.dtype).removeprefix("torch.")
        return f"<LoadedModel {self.name!r}, {number_format} on {self.model.device}>"

    @property
    def name(self) -> str:
        """The name in tables: that of loading, or that known to transformers."""
        if self.located is not None:
            return self.located.name
        origin = str(getattr(self.model, "name_or_path", "") or "")
        return Path(origin).name or type(self.model).__name__

    def scorer(self, asking: Asking, *, keeps: bool = True) -> Scorer:
        """A scorer of texts with the model under the given settings.

        Args:
            asking: the settings.
            keeps: whether its answers may be kept; if not, weights in memory are not hashed whole.

        Raises:
            UsageError: the model is in training mode, has no usable tokenizer, or was loaded
                in another way than it is to be asked.
            ModelError: the model cannot be scored exactly.
        """
        from cimento.models.hf.files import LocatedModel, tokenizer_files
        from cimento.models.hf.own_tokenizer import load_tokenizer
        from cimento.models.hf.warned import say

        located, tokenizer, notes = self.located, self.tokenizer, self.notes
        args = self.policy.tokenizer_args
        self._need_as_loaded(asking)
        if located is None:
            digest = weights_digest if keeps else passing_digest
            located = LocatedModel(self.name, Path(), digest(self.model))
        if asking.tokenizer:
            located = replace(located, tokenizer=tokenizer_files(asking.tokenizer))
            args = asking.policy.tokenizer_args
            tokenizer, of_tokenizer = load_tokenizer(located, asking.policy, trusted=False)
            say(located.name, of_tokenizer)
            notes += tuple(of_tokenizer)
        if tokenizer is None:
            raise UsageError(
                where=f"model {self.name!r}",
                seen="it is in memory, and its tokenizer is not given",
                todo="Give the tokenizer, or its name, with tokenizer=.",
            )
        policy = live_policy(asking.policy, self.model)
        policy = replace(policy, model_args=self.policy.model_args, tokenizer_args=args)
        kind = self.kind if asking.kind == "auto" else asking.kind
        scorer = scorer_around(
            self.model, tokenizer, located=located, policy=policy, kind=kind, limits=asking.limits
        )
        scorer.notes = notes
        return scorer

    def _need_as_loaded(self, asking: Asking) -> None:
        """See that nothing is asked for that is settled when weights are loaded.

        Raises:
            UsageError: another number format, device or option of transformers is.
        """
        asked_args, loaded_args = (
            {key: value for key, value in policy.model_args.items() if key not in TRUSTED}
            for policy in (asking.policy, self.policy)
        )
        of_tokenizer = asking.policy.tokenizer_args
        here = self.model.device
        settled: tuple[tuple[str, object, object, object], ...] = (
            ("dtype", asking.policy.dtype, "auto", live_policy(Policy(), self.model).dtype),
            (
                "device",
                asking.device,
                "auto",
                here.type if asking.device == here.type else str(here),
            ),
            ("model_args", asked_args, {}, loaded_args),
            # Another tokenizer, by its name, is loaded with its own arguments.
            (
                "tokenizer_args",
                of_tokenizer,
                {},
                of_tokenizer if asking.tokenizer else self.policy.tokenizer_args,
            ),
        )
        for option, asked, usual, loaded in settled:
            if asked not in (usual, loaded):
                raise UsageError(
                    where=f"{option}={asked!r}",
                    seen=f"the model {self.name!r} is in memory with {option}={loaded!r}",
                    todo="Leave it out, or load the model so (by its name, or with load_model).",
                )


ModelLike: TypeAlias = "str | Path | AnyScorer | LoadedModel | PreTrainedModel"
"""The types that functions accept as a model."""


def loaded_model(model: str | AnyScorer | LoadedModel, asking: Asking) -> AnyScorer | LoadedModel:
    """Load a model once, for any number of calls.

    Args:
        model: a model from `as_models`.
        asking: the settings of loading.

    Raises:
        CimentoError: there is no such model, or it cannot be loaded.
    """
    from cimento.models.hf.inside import Inspectable

    if isinstance(model, LoadedModel):
        return model
    source = open_source(model, asking)
    scorer = source.load()
    located = source.located if isinstance(source, ScorerSource) else None
    if located is None or not isinstance(scorer, Inspectable):
        return scorer
    inside = scorer.inside()
    notes = scorer.notes if isinstance(scorer, HasRemarks) else ()
    return LoadedModel(inside.model, inside.tokenizer, located, asking.kind, asking.policy, notes)


def in_memory(model: str, asking: Asking) -> AnyScorer:
    """A scorer as for weights in memory: its revision is a hash of them, and not of their files.

    Args:
        model: name of the model.
        asking: the settings of loading and asking.

    Raises:
        CimentoError: there is no such model, or it cannot be loaded.
    """
    loaded = loaded_model(model, asking)
    return (
        replace(loaded, located=None).scorer(asking) if isinstance(loaded, LoadedModel) else loaded
    )


def split_tokenizer(options: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
    """Options without a tokenizer in memory, and that tokenizer or None.

    Args:
        options: the options as they were given.
    """
    rest = dict(options)
    given = rest.get("tokenizer")
    if given is None or isinstance(given, str | Path):
        return rest, None
    return rest, rest.pop("tokenizer")


def as_models(
    models: Sequence[ModelLike],
    tokenizer: Any = None,  # noqa: ANN401  # seen to be one when it is asked
) -> list[str | AnyScorer | LoadedModel]:
    """Models by name, as scorers, or as weights with a tokenizer.

    Args:
        models: models in any accepted form.
        tokenizer: a tokenizer in memory, for models that are in memory as well.

    Raises:
        UsageError: a tokenizer in memory is given for a model that is not.
    """
    taken = [_taken(model, tokenizer) for model in models]
    if tokenizer is not None and not all(isinstance(model, LoadedModel) for model in taken):
        raise UsageError(
            where="tokenizer",
            seen="it is in memory, and the model that it is for is not",
            todo="Give the name or the folder of the tokenizer, or save_pretrained it first.",
        )
    return taken


def as_scorers(
    models: Sequence[ModelLike],
    asking: Asking,
    tokenizer: Any = None,  # noqa: ANN401  # as for `as_models`
    *,
    keeps: bool = True,
) -> list[str | AnyScorer]:
    """Models in the form for the engine: by name, or ready to score.

    Args:
        models: models in any accepted form.
        asking: the settings under which they are asked.
        tokenizer: as for `as_models`.
        keeps: whether their answers may be kept.

    Raises:
        CimentoError: a model cannot be used.
    """
    return [
        model.scorer(asking, keeps=keeps) if isinstance(model, LoadedModel) else model
        for model in as_models(models, tokenizer)
    ]


def _taken(model: ModelLike, tokenizer: Any) -> str | AnyScorer | LoadedModel:  # noqa: ANN401
    if isinstance(model, Path):
        return str(model)
    if isinstance(model, LoadedModel):
        return model if tokenizer is None else replace(model, tokenizer=tokenizer, located=None)
    is_module = hasattr(model, "state_dict") and hasattr(model, "config")
    if isinstance(model, str) or hasattr(model, "card") or not is_module:
        # An object that is not a model is refused when it is opened.
        return cast("str | AnyScorer", model)
    module = cast("PreTrainedModel", model)
    name = str(getattr(module, "name_or_path", "") or type(module).__name__)
    return LoadedModel(without_peft(module, name), tokenizer)


def without_peft(model: PreTrainedModel, name: str) -> PreTrainedModel:
    """The model of transformers in a `PeftModel`, whose modules have the adapter inside.

    Args:
        model: a model of transformers, which is returned itself, or one that peft wraps.
        name: its name, for messages.

    Raises:
        UsageError: the adapter is not in the modules of the model, but puts tokens before texts.
    """
    get_base = getattr(type(model), "get_base_model", None)
    if get_base is None or not hasattr(model, "active_peft_config"):
        return model
    adapter: Any = model.active_peft_config
    if adapter.is_prompt_learning:
        raise UsageError(
            where=f"model {name!r}",
            seen=f"its adapter ({type(adapter).__name__}) puts tokens of its own"
            " before every text, and is not part of the model's layers",
            todo="Only adapters of weights (LoRA and the like) can be scored.",
        )
    inner: PreTrainedModel = get_base(model)
    return inner


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
    """Wrap a transformers model that is already in memory as a scorer.

    Args:
        model: model in evaluation mode (``model.eval()``), on its device; it is not changed.
        tokenizer: a fast tokenizer.
        name: name of the model in tables and folders; its revision is the hash of its weights.
        policy: the policy of scoring, whose dtype is replaced by that of the model.
        kind: ``causal``, ``masked`` or ``seq2seq``, if the class does not determine it.
        limits: the limits of a batch, by default small compared to a training step.

    Returns:
        The scorer, which takes the place of a model's name; the model is not copied.

    Raises:
        UsageError: the model is in training mode, or either is of another type.
        ModelError: the model cannot be scored exactly.

    Example:
        >>> scorer = live_scorer(model, tokenizer, name="mine")
        >>> evaluate("it-subject-verb", scorer).model.partition("@")[0]
        'mine'
    """
    with needing("torch", extra="hf", purpose="live_scorer"):
        import torch

    if not isinstance(model, torch.nn.Module):
        raise UsageError(
            where="model",
            seen=f"{type(model).__name__} is not a model of transformers in memory",
            todo="Load it first, or give cimento.evaluate its name.",
        )
    model = without_peft(model, name)
    policy = live_policy(policy or Policy(), model)
    located = LocatedModel(name=name, folder=Path(), revision=weights_digest(model))
    return scorer_around(model, tokenizer, located=located, policy=policy, kind=kind, limits=limits)


def scorer_around(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    *,
    located: LocatedModel,
    policy: Policy,
    kind: KindRule,
    limits: BatchLimits,
) -> TransformersScorer:
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
    from cimento.models.hf.loading import model_card, scorer_of
    from cimento.models.hf.own_tokenizer import lower_case

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
            seen=f"{type(tokenizer).__name__} is not a tokenizer of transformers",
            todo="Give one in memory: AutoTokenizer.from_pretrained(NAME).",
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
        (replace(policy, dtype=name) for name in names if name == dtype), policy.settled("float32")
    )


@contextlib.contextmanager
def undisturbed(model: PreTrainedModel) -> Iterator[None]:
    """A context with the model in evaluation mode, after which all its state is restored.

    Each module gets back its mode (frozen parts may be in evaluation mode while the rest trains)
    and its buffers, which a forward pass may replace. The random generators of Python, numpy and
    torch get back their states, so that training continues identically to the bit. Mixed precision
    that accelerate has put around the forward pass is removed in the meantime: scores are those of
    the weights in their dtype, as after loading them.
    """
    import numpy as np

    with needing("torch", extra="hf", purpose="undisturbed"):
        import torch

    modes = {module: module.training for module in model.modules()}
    buffers = {module: dict(module.named_buffers(recurse=False)) for module in modes}
    numbers, array_numbers = random.getstate(), np.random.get_state()  # noqa: NPY002  # theirs to keep
    use_cache = getattr(model.config, "use_cache", None)
    devices = [model.device.index or 0] if model.device.type == "cuda" else []
    attributes = vars(model)
    mixed = attributes.get("forward") if "_original_forward" in attributes else None
    with torch.random.fork_rng(devices=devices):
        try:
            model.train(mode=False)
            if use_cache is not None:
                model.config.use_cache = False
            if mixed is not None:
                attributes["forward"] = attributes["_original_forward"]
            yield
        finally:
            for module, mode in modes.items():
                module.training = mode
                for name, buffer in buffers[module].items():
                    setattr(module, name, buffer)
            if mixed is not None:
                attributes["forward"] = mixed
            if use_cache is not None:
                model.config.use_cache = use_cache
            random.setstate(numbers)
            np.random.set_state(array_numbers)  # noqa: NPY002  # theirs to keep


def _kind_of(model: PreTrainedModel, name: str) -> Kind:
    """The kind of a model: encoder-decoder by its config, else by the names of its classes."""
    if getattr(model.config, "is_encoder_decoder", False):
        return "seq2seq"
    parts, written = vars(model.config), type(model).__name__
    # A class of one's own has the kind of the class that it is made from.
    for base in type(model).__mro__:
        if kind := kind_by_name(base.__name__, parts=parts):
            return kind
    raise UsageError(
        where=f"model {name!r}",
        seen=f"{written} is neither a causal nor a masked language model",
        todo="Say which with kind, if it can be scored as one.",
    )

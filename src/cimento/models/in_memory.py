"""Models of transformers in memory, which functions take in place of a name.

A new scorer is made for each setting, so that ``pll`` or ``bos`` take effect whoever loaded the
weights; the weights are shared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from cimento.errors import UsageError
from cimento.models.base import KindRule, Policy, Scorer
from cimento.models.hf.arguments import ALLOW_PICKLE, TRUST_CODE
from cimento.models.registry import AnyScorer, Asking, ScorerSource, open_source

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from cimento.models.hf.files import Located
    from cimento.suites.model import JsonValue

_TRUST = (ALLOW_PICKLE, TRUST_CODE)


@dataclass(frozen=True, slots=True, eq=False)
class LoadedModel:
    """A model of transformers with its tokenizer, in memory.

    Attributes:
        model: the model on its device, in evaluation mode.
        tokenizer: a fast tokenizer; None leaves it to an option.
        located: its files; None for a model made in Python.
        kind: the kind as which it was loaded.
        model_args: options of transformers with which it was loaded.
    """

    model: PreTrainedModel = field(repr=False)
    tokenizer: PreTrainedTokenizerBase | None = field(default=None, repr=False)
    located: Located | None = None
    kind: KindRule = "auto"
    model_args: Mapping[str, JsonValue] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name in tables: that of loading, or that known to transformers."""
        if self.located is not None:
            return self.located.name
        origin = str(getattr(self.model, "name_or_path", "") or "")
        return Path(origin).name or type(self.model).__name__

    def scorer(self, asking: Asking) -> Scorer:
        """A scorer of texts with the model under the given settings.

        Raises:
            UsageError: the model is in training mode, has no usable tokenizer, or was loaded
                otherwise than it is to be asked.
            ModelError: the model cannot be scored exactly.
        """
        from cimento.models.hf.files import Located, tokenizer_files
        from cimento.models.hf.live import live_policy, scorer_around, weights_digest
        from cimento.models.hf.loading import load_tokenizer

        located, tokenizer = self.located, self.tokenizer
        self._need_as_loaded(asking)
        if located is None:
            located = Located(self.name, Path(), weights_digest(self.model))
        if asking.tokenizer:
            located = replace(located, tokenizer=tokenizer_files(asking.tokenizer))
            tokenizer = load_tokenizer(located)
        if tokenizer is None:
            raise UsageError(
                where=f"model {self.name!r}",
                seen="it is in memory, and its tokenizer is not given",
                todo="Give the tokenizer, or its name, with tokenizer=.",
            )
        policy = replace(live_policy(asking.policy, self.model), model_args=self.model_args)
        kind = self.kind if asking.kind == "auto" else asking.kind
        return scorer_around(
            self.model, tokenizer, located=located, policy=policy, kind=kind, limits=asking.limits
        )

    def _need_as_loaded(self, asking: Asking) -> None:
        """See that nothing is asked for that is settled when weights are loaded.

        Raises:
            UsageError: another number format, device or option of transformers is.
        """
        from cimento.models.hf.live import live_policy

        args = {key: value for key, value in asking.policy.model_args.items() if key not in _TRUST}
        here = self.model.device
        settled: tuple[tuple[str, object, object, object], ...] = (
            ("dtype", asking.policy.dtype, "auto", live_policy(Policy(), self.model).dtype),
            (
                "device",
                asking.device,
                "auto",
                here.type if asking.device == here.type else str(here),
            ),
            ("model_args", args, {}, {k: v for k, v in self.model_args.items() if k not in _TRUST}),
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
    from cimento.models.hf.scorer import Inspectable

    if isinstance(model, LoadedModel):
        return model
    source = open_source(model, asking)
    scorer = source.load()
    located = source.located if isinstance(source, ScorerSource) else None
    if located is None or not isinstance(scorer, Inspectable):
        return scorer
    inside = scorer.inside()
    return LoadedModel(
        inside.model, inside.tokenizer, located, asking.kind, asking.policy.model_args
    )


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
) -> list[str | AnyScorer]:
    """Models in the form for the engine: by name, or ready to score.

    Args:
        models: models in any accepted form.
        asking: the settings under which they are asked.
        tokenizer: as for `as_models`.

    Raises:
        CimentoError: a model cannot be used.
    """
    return [
        model.scorer(asking) if isinstance(model, LoadedModel) else model
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
    return LoadedModel(cast("PreTrainedModel", model), tokenizer)

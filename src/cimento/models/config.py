"""What the config of a model says it is."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from cimento.errors import ModelError
from cimento.io.parsing import parse_json
from cimento.models.locate import Located

Kind: TypeAlias = Literal["causal", "masked", "seq2seq"]
"""What a model of transformers can be loaded as."""

_CAUSAL_ENDINGS = ("ForCausalLM", "LMHeadModel")
_MASKED_ENDINGS = ("ForMaskedLM", "ForPreTraining", "WithLMHeadModel")


def read_config(located: Located) -> dict[str, Any]:
    """A model's config, as its file has it.

    Raises:
        ModelError: it cannot be read.
    """
    try:
        config = parse_json((located.folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(
            where=str(located.folder / "config.json"), seen=f"cannot be read ({error})"
        ) from error
    if not isinstance(config, dict):
        raise ModelError(where=str(located.folder / "config.json"), seen="is not a JSON object")
    return config


def kind_of(located: Located) -> Kind:
    """Encoder-decoder, as the config says; else causal or masked, by the name of the architecture.

    ``...WithLMHeadModel`` ends like GPT-2's ``LMHeadModel`` but is masked (XLM, Flaubert).
    """
    config = read_config(located)
    told = config.get("architectures")
    names = [str(each) for each in told] if isinstance(told, list) else []
    if config.get("is_encoder_decoder"):
        return "seq2seq"
    kinds = set(map(kind_by_name, names))
    if "masked" in kinds:
        return "masked"
    if "causal" in kinds:
        return "causal"
    raise ModelError(
        where=f"model {located.name!r}",
        seen=f"its config names the architecture {', '.join(names) or '(none)'},"
        " which is neither a causal nor a masked language model",
        todo="Say which with --kind causal or --kind masked, if it can be loaded as one.",
    )


def kind_by_name(architecture: str) -> Literal["causal", "masked"] | None:
    """What a class of transformers is, by the end of its name; None where that does not tell."""
    if architecture.endswith(_MASKED_ENDINGS):
        return "masked"
    return "causal" if architecture.endswith(_CAUSAL_ENDINGS) else None

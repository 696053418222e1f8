"""What a reader must be told where a run was not scored and judged by our own conventions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from cimento.measures import find_measure
from cimento.runs.store import blank_before

if TYPE_CHECKING:
    from cimento.paradigms.regions.options import RegionOptions
    from cimento.suites.model import JsonValue

_BOS = {
    "none": "Nothing stood before the texts.",
    "tokenizer": "Before the texts stood what the tokenizer puts there itself, if anything.",
    "bos-or-eos": "Before the texts stood the BOS token, or the EOS token where there is none.",
}
_FIRST = {
    "drop": "left out of every sum and length",
    "zero": "given a surprisal of 0",
}


def conventions(
    options: RegionOptions,
    manifest: Mapping[str, JsonValue],
    *,
    first_tokens: int,
) -> tuple[str, ...]:
    """The conventions of a run that are not the default ones, as sentences.

    Args:
        options: how it was judged.
        manifest: its policy tells how it was scored.
        first_tokens: number of tokens without left context.
    """
    policy = _policy(manifest)
    said: list[str] = []
    if options.compat:
        said.append(f"Conventions of {options.compat}, see docs/compat.md.")
    if options.compat and policy.get("bos") in _BOS:
        said.append(_BOS[str(policy["bos"])])
    if blank_before(manifest) and policy:
        said.append("A blank stood before every text.")
    model = manifest.get("model")
    if isinstance(model, dict) and model.get("boundary"):
        said.append(f"Words are corrected for their boundaries ({model['boundary']}).")
    if options.unscored_first in _FIRST and first_tokens:
        done = _FIRST[options.unscored_first]
        said.append(f"First tokens without left context are {done}: {first_tokens} of them.")
    if options.ties == "pass":
        said.append(
            "Ties count as passes: of two equals the first is taken, which is the good one."
        )
    if options.measure:
        said.append(_measure(options.measure))
    return tuple(said)


def _policy(manifest: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """How texts were scored; empty for a recording, which was scored by somebody else."""
    asking, model = manifest.get("asking"), manifest.get("model")
    if isinstance(model, dict) and model.get("kind") == "replay":
        return {}
    policy = asking.get("policy") if isinstance(asking, dict) else None
    return policy if isinstance(policy, dict) else {}


def _measure(name: str) -> str:
    measure = find_measure(name)
    unit = f", {measure.unit}" if measure.unit else ""
    better = "higher" if measure.higher_is_better else "lower"
    return f"Judged on {measure.name}: {measure.formula}{unit}; the {better} the better."

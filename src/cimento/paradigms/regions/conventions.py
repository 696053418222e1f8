"""The conventions by which a run was scored and judged, as sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from cimento.measures import find_measure
from cimento.records.store import blank_before, manifest_part

if TYPE_CHECKING:
    from cimento.paradigms.regions.options import RegionOptions
    from cimento.suites import JsonValue

_BOS = {
    "none": "Nothing preceded the texts.",
    "tokenizer": "The texts were preceded by the token that the tokenizer adds, if any.",
    "bos-or-eos": "The texts were preceded by the BOS token, or the EOS token if there is none.",
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
    """The conventions of a run that differ from the defaults, as sentences.

    Args:
        options: options of judging.
        manifest: the manifest, whose policy says how texts were scored.
        first_tokens: number of tokens without left context.
    """
    model = manifest_part(manifest, "model")
    # The policy does not apply to a recording, which was scored by another program.
    recorded = model.get("kind") == "replay"
    policy = {} if recorded else manifest_part(manifest, "asking", "policy")
    said: list[str] = []
    if options.compat:
        said.append(f'Conventions of {options.compat}, see the page "Measures".')
    if options.compat and policy.get("bos") in _BOS:
        said.append(_BOS[str(policy["bos"])])
    if blank_before(manifest) and policy:
        said.append("Every text was preceded by a blank.")
    if model.get("boundary"):
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


def _measure(name: str) -> str:
    measure = find_measure(name)
    unit = f", {measure.unit}" if measure.unit else ""
    better = "higher" if measure.higher_is_better else "lower"
    return f"Judged on {measure.name}: {measure.formula}{unit}; the {better} the better."

"""Which margins are too small for the number format that scores were computed in.

The thresholds are the largest movement of a margin that was measured on the demo models, between
batches of different shapes and against a wider number format (docs/scoring.md has the numbers and
the command). For the model at hand ``cimento models check --precision`` measures its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cimento.suites.model import JsonValue

NEAR_TIE_BITS: Mapping[str, float] = {
    "float64": 1e-13,
    "float32": 1.1e-4,
    "float16": 0.17,
    "bfloat16": 1.3,
}
"""Number format of the weights to the largest movement of a margin that was measured."""

_UNKNOWN = "float32"


@dataclass(frozen=True, slots=True)
class NearTies:
    """Which verdicts are near ties.

    Attributes:
        bits: those whose margin is smaller than this.
        reason: why.
    """

    bits: float
    reason: str


def near_ties(manifest: Mapping[str, JsonValue], given: float | None) -> NearTies:
    """The threshold of a run.

    Args:
        manifest: of the run, whose model card names the number format.
        given: a threshold in bits that goes before all others; None where there is none.
    """
    if given is not None:
        return NearTies(given, "given for this run")
    model, asking = manifest.get("model"), manifest.get("asking")
    dtype = str(model.get("dtype") or "") if isinstance(model, dict) else ""
    policy = asking.get("policy") if isinstance(asking, dict) else None
    args = policy.get("model_args") if isinstance(policy, dict) else None
    if isinstance(args, dict) and "quantization_config" in args:
        return NearTies(NEAR_TIE_BITS["bfloat16"], "weights quantised, as for bfloat16")
    if dtype in NEAR_TIE_BITS:
        return NearTies(NEAR_TIE_BITS[dtype], f"the error of {dtype}")
    return NearTies(NEAR_TIE_BITS[_UNKNOWN], f"number format unknown, as for {_UNKNOWN}")

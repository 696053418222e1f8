"""The line that says where a model computed, and in which number format."""

from __future__ import annotations

from collections.abc import Mapping

from cimento.io.parsing import value_at
from cimento.suites import JsonValue

CHECKPOINT, QUANTIZED, DEVICES, IN_MEMORY = "checkpoint", "quantized", "devices", "in memory"
"""Details of a model's card: the number format of its files, or that it was in memory already;
whether its weights have fewer bits; and its devices, if they are several."""


def computed(card: Mapping[str, JsonValue], *, asked: bool = False) -> str:
    """Where a model computed, and in which format: ``on cuda:0, bfloat16 (the checkpoint's)``.

    A format other than the checkpoint's was asked for, except for float32 outside GPUs of CUDA,
    which is the usual one there.

    Args:
        card: the card of the model, as in a manifest; see `ModelCard`.
        asked: whether the format was asked for; no run stores that, as it has only the result.

    Returns:
        A phrase; empty if the card says neither, as that of a plug-in may.
    """
    if card.get("kind") == "replay":
        return "elsewhere, and recorded"
    device, form = str(card.get("device") or ""), str(card.get("dtype") or "")
    if device == "server":
        server = value_at(card, "details", "server")
        return f"on the server {server}, which does not say in which number format"
    place = str(value_at(card, "details", DEVICES) or device)
    if not form and value_at(card, "details", "read_by") == "llama-cpp-python":
        form = "in the number formats of the file"
    why = _why(card, form, device, asked=asked)
    said = ", ".join(filter(None, (place, f"{form} ({why})" if why else form)))
    return said and (f"on {said}" if place else f"in {said}")


def _why(card: Mapping[str, JsonValue], form: str, device: str, *, asked: bool) -> str:
    """Why this number format was used, as far as the card tells."""
    checkpoint = value_at(card, "details", CHECKPOINT)
    bits = ", its weights quantized" if value_at(card, "details", QUANTIZED) else ""
    if not isinstance(checkpoint, str) or not checkpoint:
        return bits.removeprefix(", ")
    if checkpoint == IN_MEMORY:
        return f"as in memory{bits}"
    if checkpoint == form:
        return f"{'as asked, and ' * asked}the checkpoint's{bits}"
    usual = form == "float32" and not device.startswith("cuda") and not asked
    return f"{'usual there' if usual else 'as asked'}; the checkpoint's is {checkpoint}{bits}"

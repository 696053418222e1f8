"""The settings of a run by their paths, so that runs can be told apart by them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cimento.kinds.run import Run
    from cimento.suites import JsonValue

_MACHINE = frozenset({"device", "batch_size", "batch_tokens", "concurrency", "timeout_s"})
"""The options of the machine and its batches, which change no answer."""
_ARGUMENTS = (".model_args.", ".tokenizer_args.")
"""Options for transformers; some of them hold a secret."""


def settings_of(run: Run) -> Mapping[str, JsonValue]:
    """The options of a run's scoring and judging, by paths such as ``asking.policy.bos``.

    Those of the machine are left out, and so are options for transformers.
    """
    found: dict[str, JsonValue] = {}

    def put(path: str, value: JsonValue) -> None:
        if isinstance(value, dict):
            for name, member in value.items():
                put(f"{path}.{name}", member)
        elif path.rpartition(".")[2] not in _MACHINE and not any(a in path for a in _ARGUMENTS):
            found[path] = value

    put("asking", run.manifest.get("asking"))
    put("options", run.options.model_dump(mode="json"))
    return found

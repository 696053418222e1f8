"""What was published about the models of the study, by the stem of their files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FILE = Path(__file__).parents[2] / "data" / "stories" / "published.json"

TABLE_3 = (
    "Accuracy", "Cloze Accuracy", "Order Accuracy", "Plausible Accuracy", "Consistency",
    "Cloze Consistency", "Order Consistency", "Verifiability", "Cloze Verifiability",
    "Order Verifiability",
)  # fmt: skip
"""The columns of the paper's Table 3."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """What was published about one model.

    Attributes:
        chat_template: what its recorded prompts were rendered by; None for flat text.
        metrics_txt: metric to the value in the authors' log; None where there is no log.
        table3_percent: metric to the percentage printed; None where the model is not there.
    """

    chat_template: str | None = None
    metrics_txt: Mapping[str, float] | None = None
    table3_percent: Mapping[str, float] | None = None


def published(stem: str) -> Published | None:
    """What was published about a model; None where nothing is known."""
    return _load().get(stem)


@cache
def _load() -> dict[str, Published]:
    models = json.loads(_FILE.read_text(encoding="utf-8"))["models"]
    return {name: Published(**content) for name, content in models.items()}

"""Models `frozen:NAME`, whose scores are hashes: for the frozen outputs (scripts/freeze.py).

A token costs whole eighths of a bit, by itself and all that comes before it, so that exact ties
occur. A name that begins with `gappy` has no probability for some words, as n-gram models do not.
What is asked is written to the file in FROZEN_LOG; with FROZEN_BUDGET set, a call that comes when
so many texts have been answered is interrupted as if by Ctrl-C.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cimento import Asking
from cimento.models.base import Encoding, Score
from cimento.models.registry import Source, open_source
from cimento.testing.models import FakeScorer

if TYPE_CHECKING:
    from cimento.models.base import FloatArray


def _hash(*parts: object) -> int:
    """A number of 32 bits."""
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:4])


class FrozenScorer(FakeScorer):
    """Hashes in the place of a language model.

    Args:
        name: another name is another model.
    """

    def __init__(self, name: str) -> None:
        super().__init__(lambda _tokens, _index: 0.0, name=name)
        self._card = dataclasses.replace(self._card, revision=f"{_hash(name):08x}" * 5)

    def _nats(self, encoded: Encoding, index: int) -> float:
        if index in encoded.undefined:
            return math.nan
        eighths = 8 + _hash(self.card.name, encoded.ids[: index + 1]) % 64
        return -eighths / 8 * math.log(2)

    def _is_unknown(self, token: str) -> bool:
        return self.card.name.startswith("gappy") and _hash("gap", token) % 25 == 0

    def encode(self, requests: Sequence[Score]) -> list[Encoding]:
        """Words as tokens, whose ids depend on themselves and on the context of the text."""
        return [
            dataclasses.replace(
                encoded,
                ids=tuple(_hash(request.context, token) for token in encoded.tokens),
                undefined={
                    index: "unknown word"
                    for index in encoded.wanted
                    if self._is_unknown(encoded.tokens[index])
                },
            )
            for request, encoded in zip(requests, super().encode(requests), strict=True)
        ]

    def score(self, encoded: Sequence[Encoding]) -> list[FloatArray]:
        """What the hashes say, once it is in the log."""
        log = Path(os.environ["FROZEN_LOG"])
        budget = os.environ.get("FROZEN_BUDGET")
        if budget is not None and asked(log) >= int(budget):
            raise KeyboardInterrupt
        with log.open("a", encoding="utf-8") as file:
            file.write(f"{len(encoded)}\n")
        return [
            np.array([self._nats(text, index) for index in text.wanted], dtype=np.float64)
            for text in encoded
        ]


def asked(log: Path) -> int:
    """How many texts are in a log."""
    return sum(map(int, log.read_text(encoding="utf-8").split())) if log.exists() else 0


def open_frozen(rest: str, asking: Asking) -> Source:
    """`frozen:NAME`."""
    return open_source(FrozenScorer(rest), asking)

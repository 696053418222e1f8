"""How much goes through a model at once."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Literal, TypeAlias

from cimento.errors import UsageError

Limit: TypeAlias = int | Literal["auto"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLimits:
    """How much may go through a model at once; what is None sets no limit.

    Attributes:
        sequences: texts in one batch; copies of a text where a masked model reads several.
        tokens: padded tokens in one batch: rows times the longest row.
    """

    sequences: int | None = None
    tokens: int | None = None

    @classmethod
    def chosen(cls, sequences: Limit, tokens: Limit) -> BatchLimits:
        """The limits that a user chose.

        Raises:
            UsageError: one is no number from 1, nor ``auto``.
        """
        for name, value in (("batch_size", sequences), ("batch_tokens", tokens)):
            # A value from Python may be of any type.
            if value != "auto" and not (type(value) is int and value >= 1):
                raise UsageError(
                    where=name, seen=f"got {value!r}", todo="Give a number from 1, or auto."
                )
        return cls(
            sequences=None if sequences == "auto" else sequences,
            tokens=None if tokens == "auto" else tokens,
        )

    def or_tokens(self, tokens: int) -> BatchLimits:
        """These limits, or a number of padded tokens where nothing was chosen."""
        return BatchLimits(tokens=tokens) if self == AUTO else self

    def positions(self, longest: int) -> int:
        """Padded tokens of the largest batch that keeps to the limits.

        Args:
            longest: tokens of the longest sequence.
        """
        by_sequences = None if self.sequences is None else self.sequences * longest
        return min(each for each in (by_sequences, self.tokens, sys.maxsize) if each is not None)

    def allow(self, *, rows: int, width: int, sequences: int) -> bool:
        """Whether a batch of some rows keeps to the limits.

        Args:
            rows: in the batch.
            width: tokens of its longest row.
            sequences: in these rows; more than rows where they share beginnings.
        """
        return (self.tokens is None or rows * width <= self.tokens) and (
            self.sequences is None or sequences <= self.sequences
        )


AUTO = BatchLimits()
"""Nothing is chosen: the number of padded tokens goes by the device."""

"""The limits on what goes through a model at once."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Literal, TypeAlias

from cimento.errors import UsageError

Limit: TypeAlias = int | Literal["auto"]
"""A limit as a user gives it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLimits:
    """The limits on what goes through a model at once; None sets no limit.

    Attributes:
        sequences: largest number of texts in a batch, or of masked copies of texts.
        tokens: largest number of padded tokens in a batch: rows times the longest row.
    """

    sequences: int | None = None
    tokens: int | None = None

    @classmethod
    def chosen(cls, sequences: Limit, tokens: Limit) -> BatchLimits:
        """The limits that a user chose.

        Raises:
            UsageError: a limit is neither a number from 1 nor ``auto``.
        """
        for name, value in (("batch_size", sequences), ("batch_tokens", tokens)):
            # In calls from Python, the value may have any type.
            if value != "auto" and not (type(value) is int and value >= 1):
                raise UsageError(
                    where=name, seen=f"got {value!r}", todo="Give a number from 1, or auto."
                )
        return cls(
            sequences=None if sequences == "auto" else sequences,
            tokens=None if tokens == "auto" else tokens,
        )

    def or_tokens(self, tokens: int) -> BatchLimits:
        """These limits, or a limit on padded tokens if none was chosen."""
        return BatchLimits(tokens=tokens) if self == AUTO else self

    def positions(self, longest: int) -> int:
        """The number of padded tokens in the largest batch within the limits.

        Args:
            longest: number of tokens of the longest sequence.
        """
        by_sequences = None if self.sequences is None else self.sequences * longest
        return min(limit for limit in (by_sequences, self.tokens, sys.maxsize) if limit is not None)

    def allow(self, *, rows: int, width: int, sequences: int) -> bool:
        """Whether a batch is within the limits.

        Args:
            rows: number of rows in the batch.
            width: number of tokens of its longest row.
            sequences: number of sequences in these rows, which is larger if they share beginnings.
        """
        return (self.tokens is None or rows * width <= self.tokens) and (
            self.sequences is None or sequences <= self.sequences
        )


AUTO = BatchLimits()
"""The limits if none are chosen: the device decides on the number of padded tokens."""

"""Which sequences go through the model together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cimento.models.limits import BatchLimits


def batches(
    lengths: Sequence[int], *, limits: BatchLimits, mixed: bool = True
) -> Iterator[list[int]]:
    """Group sequences so that each padded batch keeps to the limits.

    Sequences are taken from the longest down, so that neighbours are of like length and an
    out-of-memory error comes first and not last. A batch that holds half of the tokens it may
    ends where the length changes, so that sequences of which there are many are not padded: a
    fuller batch gains less. One sequence longer than the limit is a batch of its own. The grouping
    depends on the lengths alone.

    Args:
        lengths: of the sequences, in tokens.
        limits: of a batch.
        mixed: whether sequences of different length may share a batch.

    Yields:
        Indices into `lengths`.
    """
    order = sorted(range(len(lengths)), key=lambda index: (-lengths[index], index))
    batch: list[int] = []
    for index in order:
        longest = lengths[batch[0]] if batch else 0
        rows = len(batch) + 1
        full = not limits.allow(rows=rows, width=longest, sequences=rows)
        half = limits.tokens is not None and longest * len(batch) * 2 >= limits.tokens
        if batch and (full or ((half or not mixed) and lengths[index] != longest)):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch

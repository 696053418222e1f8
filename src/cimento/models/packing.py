"""Which sequences go through the model together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def batches(
    lengths: Sequence[int], *, token_budget: int, mixed: bool = True
) -> Iterator[list[int]]:
    """Group sequences so that a padded batch holds at most `token_budget` positions.

    Sequences are taken from the longest down, so that neighbours are of like length and an
    out-of-memory error comes first and not last. A batch that is half full ends where the length
    changes, so that sequences of which there are many are not padded: a fuller batch gains less.
    One sequence longer than the budget is a batch of its own. The grouping depends on the lengths
    alone.

    Args:
        lengths: of the sequences, in tokens.
        token_budget: largest number of rows times longest row.
        mixed: whether sequences of different length may share a batch.

    Yields:
        Indices into `lengths`.
    """
    order = sorted(range(len(lengths)), key=lambda index: (-lengths[index], index))
    batch: list[int] = []
    for index in order:
        longest = lengths[batch[0]] if batch else 0
        full = longest * (len(batch) + 1) > token_budget
        enough = not mixed or longest * len(batch) * 2 >= token_budget
        if batch and (full or (enough and lengths[index] != longest)):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch

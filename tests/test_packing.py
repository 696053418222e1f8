"""Which sequences share a batch."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from cimento.models.packing import batches

LENGTHS = st.lists(st.integers(1, 40), max_size=80)


@settings(deadline=None)
@given(LENGTHS, st.integers(1, 200), st.booleans())
def test_every_sequence_is_in_one_batch_and_no_batch_is_too_large(lengths, budget, mixed):
    found = list(batches(lengths, token_budget=budget, mixed=mixed))

    assert sorted(index for batch in found for index in batch) == list(range(len(lengths)))
    for batch in found:
        widths = [lengths[index] for index in batch]
        assert widths[0] == max(widths)
        assert len(batch) == 1 or widths[0] * len(batch) <= budget
        assert mixed or len(set(widths)) == 1


@settings(deadline=None)
@given(LENGTHS, st.integers(1, 200))
def test_what_is_half_full_is_not_padded_any_more(lengths, budget):
    for batch in batches(lengths, token_budget=budget):
        widths = [lengths[index] for index in batch]
        first_shorter = next((n for n, width in enumerate(widths) if width < widths[0]), None)
        if first_shorter is not None:
            assert widths[0] * first_shorter * 2 < budget


def test_many_copies_of_two_lengths():
    lengths = [4, 3, 4, 3, 4, 3, 3, 3]

    assert list(batches(lengths, token_budget=16)) == [[0, 2, 4], [1, 3, 5, 6, 7]]
    assert list(batches(lengths, token_budget=64)) == [[0, 2, 4, 1, 3, 5, 6, 7]]

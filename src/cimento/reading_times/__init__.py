"""Reading times, or other measures of words, beside what a model says of these words."""

from cimento.reading_times.files import (
    read_observations,
    read_texts,
    refuse_output,
    write_joined,
)
from cimento.reading_times.joining import ENTROPY, READING_POLICY, join_surprisals
from cimento.reading_times.places import Names

__all__ = [
    "ENTROPY",
    "READING_POLICY",
    "Names",
    "join_surprisals",
    "read_observations",
    "read_texts",
    "refuse_output",
    "write_joined",
]

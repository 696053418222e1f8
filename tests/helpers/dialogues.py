"""Recorded dialogues: what a person would type, as a source of lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cimento.people.annotate.dialogue import ReadPrompt


def lines_of(texts: Sequence[str]) -> ReadPrompt:
    """What is typed, line by line; then the input ends."""
    waiting: Iterator[str] = iter(texts)

    def read(_prompt: str) -> str:
        for text in waiting:
            return text
        raise EOFError

    return read

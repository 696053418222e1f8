"""Whether the words of a sentence are one tree, and if not, why and in which line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cimento.corpus.records import Multiword, Word

_SHOWN = 8


def tree_faults(words: Sequence[Word], lines: Sequence[int]) -> Iterator[tuple[int, str]]:
    """What keeps words from being a tree with one root.

    Args:
        words: of one sentence; the n-th has ID n.
        lines: the line of each.

    Yields:
        A line and what is wrong there.
    """
    roots = [word for word in words if word.head == 0]
    beyond = False
    for word, line in zip(words, lines, strict=True):
        if word.head > len(words):
            beyond = True
            yield (
                line,
                f"the head of word {word.id} is {word.head}, but there are {len(words)} words",
            )
    if not roots and not beyond:
        yield lines[0], "no word has the head 0, so that there is no root"
    for extra in roots[1:]:
        yield lines[extra.id - 1], f"word {extra.id} is a second root, after word {roots[0].id}"
    if beyond:
        return
    for circle in _circles(words):
        shown = ", ".join(map(str, circle[:_SHOWN])) + (" ..." if len(circle) > _SHOWN else "")
        yield lines[min(circle) - 1], f"the heads of words {shown} go round in a circle"


def range_faults(
    multiwords: Sequence[Multiword], lines: Sequence[int], n_words: int
) -> Iterator[tuple[int, str]]:
    """What is wrong with the ranges of tokens of several words."""
    end = 0
    for each, line in zip(multiwords, lines, strict=True):
        name = f"{each.first}-{each.last}"
        if each.first >= each.last or each.first < 1:
            yield line, f"the token {name} is no range of two words or more"
        elif each.last > n_words:
            yield line, f"the token {name} reaches beyond the {n_words} words"
        elif each.first <= end:
            yield line, f"the token {name} overlaps the one before it"
        end = max(end, each.last)


def _circles(words: Sequence[Word]) -> Iterator[list[int]]:
    """The words of each circle of heads."""
    reached = [0] * (len(words) + 1)
    for start in range(1, len(words) + 1):
        here = start
        while here and not reached[here]:
            reached[here] = start
            here = words[here - 1].head
        if here and reached[here] == start:
            circle = [here]
            while (following := words[circle[-1] - 1].head) != here:
                circle.append(following)
            yield sorted(circle)

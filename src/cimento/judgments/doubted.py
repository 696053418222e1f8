"""Questions to people about themselves among the sentences that they judged.

A number of languages, or consent as 1, could pass for a rating. Neither the words of a question nor
its numbers alone tell it from a sentence that is a question; the form of all headings, the places
of the columns and the range of the answers do, together. Who knows better says so.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from cimento.intake.forms import of_grid
from cimento.intake.names import ends_sentence
from cimento.judgments.asked import GRID_DASH
from cimento.judgments.columns import Answers

_FEWEST = 3
_MOSTLY = 2 / 3
"""The least proportion of headings that are statements, from which questions are something else."""
_FEW, _SOME = 4, 2
"""How many times more statements there are than questions before them: where these are something
else whatever their answers are, and where they are so only with another range of answers."""
_SCALED = re.compile(
    r"[(\[][^()\[\]]*\b[0-9]{1,2}\s?([-–—/]|to|a|al|до|e)\s?[0-9]{1,3}\b[^()\[\]]*[)\]]"
)
"""A scale in brackets: *(1-5)*, *(da 1 a 7)*, *(0–10)*."""
_APART = "it is beside the grid of the others"


def outside_grid(
    headings: Mapping[str, str], columns: Mapping[str, Answers], *, dash: bool
) -> dict[str, str]:
    """The columns beside a grid that are not statements, where most are of a grid.

    Args:
        headings: what people read above each column that may be an item.
        columns: what may be the answers in each.
        dash: whether the program writes a dash between the question of a grid and its row.

    Returns:
        Each column with the reason why it is not an item.
    """
    parts = {name: _of_grid(heading, dash=dash) for name, heading in headings.items()}
    rows = Counter(question for question, _ in parts.values() if question)
    grid = [name for name, (question, _) in parts.items() if rows[question] >= _FEWEST]
    of_numbers = 2 * sum(columns[name].are_numbers for name in grid) > len(grid)
    outside = [
        name
        for name, heading in headings.items()
        if name not in grid and not _states(heading) and columns[name].are_numbers == of_numbers
    ]
    return dict.fromkeys(outside, _APART) if len(grid) > len(outside) else {}


def _of_grid(heading: str, *, dash: bool) -> tuple[str, str]:
    """The question of a grid and its row, as the program writes them."""
    return of_grid(heading, dash=GRID_DASH if dash else "")


def with_scale_alone(columns: Mapping[str, Answers], *, dash: bool) -> Iterator[tuple[str, str]]:
    """The few columns whose question gives a scale in brackets, as in *(1-5)*; no sentence does.

    Where several do, they are perhaps the items: of a grid the row counts, not its question.

    Args:
        columns: those whose cells may be answers, by what is above them.
        dash: whether the program writes a dash between the question of a grid and its row.

    Yields:
        The heading of each, with the reason.
    """
    scaled = [name for name in columns if _SCALED.search(_of_grid(name, dash=dash)[1] or name)]
    if scaled and _FEW * len(scaled) <= len(columns) - len(scaled):
        for name in scaled:
            yield name, "it gives a scale in brackets, and the others do not"


def doubts(texts: Sequence[str], *, todo: str) -> Iterator[str]:
    """What is asked about questions that may be no sentences.

    Args:
        texts: of what was rated, in the order of the form.
        todo: what to do if they are about the person.
    """
    for text in _in_doubt(texts):
        asked = "a sentence to rate, as it is read here, or a question about the person"
        yield f"Is {text!r} {asked}? {todo}"


def _in_doubt(texts: Sequence[str]) -> list[str]:
    """The questions before and behind all sentences that may be about the person.

    Most are statements, and nothing else is among them. Behind them a question may be a sentence.

    Args:
        texts: of what was rated, in the order of the form.
    """
    statements = [*map(_states, texts)]
    if sum(statements) < max(_FEWEST, _MOSTLY * len(texts)):
        return []
    leading = [*itertools.takewhile(lambda text: not _states(text), texts)]
    behind = [*itertools.takewhile(lambda text: not ends_sentence(text), reversed(texts))][::-1]
    around = [*leading, *behind]
    return around if len(around) == len(texts) - sum(statements) else []


def about_people(
    columns: Mapping[str, Answers], before: Sequence[str], *, dash: bool
) -> Iterator[tuple[str, str]]:
    """The columns that are not statements where most are, and that are likely about the person.

    They come before all statements. Behind other columns about people they are few, or lack an end
    of the range of the others; in front of everything, everybody gave them one answer.

    Args:
        columns: those whose cells may be answers, by what is above them, in the order of the form.
        before: headings of the columns in front of them that are not answers to items.
        dash: whether the program writes a dash between the question of a grid and its row.

    Yields:
        The heading of each, with the reason.
    """
    rows = {name: _of_grid(name, dash=dash)[1] or name for name in columns}
    statements = [name for name in columns if _states(rows[name])]
    others = [name for name in columns if name not in statements]
    if len(statements) < max(_FEWEST, _MOSTLY * len(columns)) or not others:
        return
    known = [columns[name] for name in statements]
    order = [*columns]
    first = order.index(statements[0])
    leading = [name for name in others if order.index(name) < first]
    has_others = not all(map(_states, before))
    few, some = (n * len(leading) <= len(statements) for n in (_FEW, _SOME))
    # Among statements, questions are sentences too; before them they go with those about people.
    if leading != others or not (few or (some and has_others)):
        return
    for name in leading:
        is_alike = not has_others and len({*columns[name].cells}) > 1
        if (few and has_others) or (not is_alike and _is_narrower(columns[name], known)):
            yield name, "it comes before the sentences, and is not one of them in its form"


def _states(heading: str) -> bool:
    return ends_sentence(heading) and not _asks(heading)


def _asks(heading: str) -> bool:
    return heading.rstrip(" *:\"'»”’").endswith("?")


def _is_narrower(column: Answers, known: Sequence[Answers]) -> bool:
    """Whether answers lack one of the ends of the others, or in words one of their answers."""
    numbers = [number for one in known for number in one.numbers]
    if numbers and column.numbers:
        return not {min(numbers), max(numbers)} <= {*column.numbers}
    return not {cell for one in known for cell in one.cells} <= {*column.cells}

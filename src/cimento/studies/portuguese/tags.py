"""Parts of speech of a model's candidates, as far as the dictionary tells them apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from cimento.report.cells import count
from cimento.report.grid import Grid
from cimento.studies.portuguese.asked import ModelAnswers
from cimento.studies.portuguese.judge import Readings, is_whole_word

UNKNOWN, NO_WORD = "unknown", "no whole word"


def tags_of(model: ModelAnswers, readings: Readings) -> dict[tuple[str, str], Counter[str]]:
    """The parts of speech that candidates may have, counted.

    Args:
        model: with its candidates.
        readings: of words in the dictionary.

    Returns:
        Template and the parts of speech of a candidate, joined by ``or`` where it may have several,
        to how often that occurs among the first candidates (``1``) and among all (``10``).
    """
    template = {one.item.id: one.item.columns["template"] for one in model.instances}
    counted: dict[tuple[str, str], Counter[str]] = {}
    for candidate in model.candidates:
        classes = sorted({reading.pos for reading in readings(candidate)})
        tag = " or ".join(classes) or UNKNOWN
        if not is_whole_word(candidate):
            tag = NO_WORD
        of_tag = counted.setdefault((template[candidate.item], tag), Counter())
        of_tag["10"] += 1
        of_tag["1"] += candidate.rank == 1
    return counted


def tag_table(models: Sequence[ModelAnswers], readings: Readings, dictionary: str) -> Grid:
    """The parts of speech of the candidates of each template, the most frequent first.

    Args:
        models: with their candidates.
        readings: of words in the dictionary.
        dictionary: its name.
    """
    rows = []
    for model in models:
        counted = tags_of(model, readings)
        order = {template: k for k, (template, _) in enumerate(counted)}
        for (template, tag), n in sorted(
            counted.items(), key=lambda pair: (order[pair[0][0]], -pair[1]["10"], pair[0][1])
        ):
            rows.append((model.model, template, tag, n))
    return Grid.of(
        rows,
        {
            "model": lambda row: row[0],
            "template": lambda row: row[1],
            "part of speech": lambda row: row[2],
            "ambiguous": lambda row: "yes" if " or " in row[2] else "no",
            "first": lambda row: count(row[3]["1"]),
            "among ten": lambda row: count(row[3]["10"]),
        },
        title="Parts of speech of the candidates",
        labels=4,
        grouped=2,
        notes=(
            (
                f"Dictionary: {dictionary}. It reads a word alone, so that it may have several"
                " parts of speech; which one is meant in the sentence is not decided."
            ),
        ),
    )

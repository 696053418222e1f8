"""Rated sentences for tests, and a model that goes by their length."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cimento import Suite, evaluate
from cimento.paradigms.ratings.runs import RatedRun
from cimento.suites.formats.ratings import read_rated
from cimento.suites.load import open_suite
from cimento.suites.ratings import (
    RatedSentence,
    RatedSet,
    Scale,
    rated_of,
    suite_from_ratings,
    with_ratings,
)
from cimento.testing import FakeScorer

LENGTHS = FakeScorer(lambda tokens, index: -float(len(tokens[index])))
"""A model to which a sentence is the less probable the more letters it has."""


Asked = tuple[str, str, str, str]
"""A condition such as ``passive_2ans1``, two sentences, and the answer."""


def mturk(*sheets: tuple[str, str, Sequence[Asked]]) -> str:
    """A file as BLiMP released its human answers.

    Args:
        sheets: annotator, seconds, and up to five choices; the others are checks of attention that
            are passed.
    """
    names = ["WorkTimeInSeconds", "anonCode"]
    for place in range(1, 6):
        names += [f"Input.item_{place}_condition", f"Input.field_{place}_1"]
        names += [f"Input.field_{place}_2", f"Answer.Choice{place}"]
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(names)
    passed = ("attnchkans1", "Choose this.", "Not this.", "1. Choose this.")
    for annotator, seconds, asked in sheets:
        choices = [*asked, *[passed] * (5 - len(asked))]
        writer.writerow([seconds, annotator, *(cell for choice in choices for cell in choice)])
    return file.getvalue()


def sentence(name: str, text: str, *values: float, **more: object) -> RatedSentence:
    return with_ratings(RatedSentence(id=name, text=text, **more), values)


@dataclass(frozen=True)
class Loaded:
    """A suite of ratings and its sentences."""

    suite: Suite
    rated: RatedSet


def load_rated(path: Path) -> Loaded:
    """A suite folder, or a file in one of the formats of rated sentences."""
    suite = suite_from_ratings(read_rated(path)) if path.is_file() else open_suite(path).suite
    return Loaded(suite, rated_of(suite))


def rated(*sentences: RatedSentence) -> RatedSet:
    return RatedSet(name="set", sentences=sentences, scale=Scale(1, 5), language="it")


def judged(some: RatedSet, *measures: str, **options: Any) -> RatedRun:
    """What a model that goes by length gives of some sentences beside their ratings."""
    chosen = {"draws": 200, "model": LENGTHS, **options}
    return RatedRun(evaluate(suite_from_ratings(some), measures=measures or ("lp",), **chosen))


FIVE = rated(
    sentence("a", "Sì", 5, 4),
    sentence("b", "Piove", 4, 4),
    sentence("c", "Nevicava", 2, 3),
    sentence("d", "Ci", 3, 4),
    sentence("e", "Grandinando", 1, 1),
)

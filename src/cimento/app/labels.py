"""What sentences are called in columns of one's own, such as *Tipo*: beside answers, and in means.

The condition of a sentence is one of these, where there are several.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from cimento.app.answer_tables import Labels, condition_shown, heading_of, shown_apart
from cimento.app.frame import Text, Visit, heading
from cimento.app.parts import ends, table
from cimento.app.words import USUAL, Words, reason_of, two_decimals
from cimento.errors import CimentoError
from cimento.judgments import Judgment
from cimento.judgments.labeled import LabelMean, Place, label_means
from cimento.kinds.paradigm import surveyor_of
from cimento.people.surveys import SurveyDesign
from cimento.people.surveys.labels import labels_of_items
from cimento.people.surveys.material import load_material
from cimento.report.cells import count
from cimento.report.formatting import number
from cimento.report.grid import Grid
from cimento.suites.builtin import find_suite

_SEED = 0
_PHENOMENON = "phenomenon"
_MOST_CELLS = 24
"""Cells of two columns of labels together, of which there are means too."""

Columns: TypeAlias = Mapping[str, Mapping[Place, str]]
"""The labels of sentences by the title of their column; empty for none."""


def in_words(labels: Labels, say: Words) -> Labels:
    """Labels whose column of phenomena, if it has the name that suites give it, has the page's.

    Args:
        labels: of sentences.
        say: the words of the page; in English the name stays.
    """
    title = say("start.phenomenon")
    if say.language == USUAL or _PHENOMENON not in labels.names or title in labels.names:
        return labels
    return Labels.at({
        place: {title if name == _PHENOMENON else name: label for name, label in of_one.items()}
        for place, of_one in labels.of_place.items()
    })  # fmt: skip


def labels_asked(design: SurveyDesign) -> Labels:
    """The labels of the sentences of a survey."""
    suite = design.source.suite
    asked = {(suite, one.item, one.condition): one.labels for one in design.questions}
    return Labels.at({place: labels for place, labels in asked.items() if labels})


async def labels_about(visit: Visit, judgments: Sequence[Judgment]) -> Labels:
    """The labels of the sentences of a test, which answers are about; none without the test."""
    names = dict.fromkeys(one.suite for one in judgments if one.suite)
    found: dict[Place, Mapping[str, str]] = {}
    for suite in names:
        with contextlib.suppress(CimentoError):
            path = await asyncio.to_thread(suite_of, visit, suite)
            found |= await asyncio.to_thread(_labels_in, path, suite)
    return Labels.at(found)


def _labels_in(path: Path, suite: str) -> dict[Place, Mapping[str, str]]:
    loaded = load_material(path)
    asked = surveyor_of(loaded.paradigm, loaded.suite).survey_items(loaded.suite, None)
    labels = labels_of_items(asked.items)
    return {(suite, *place): of_place for place, of_place in labels.items() if of_place}


def suite_of(visit: Visit, name: str, language: str = "") -> Path:
    """The suite, or the list of sentences, with a name: in the workspace or built-in.

    Raises:
        InputError: there is none.
    """
    # A file that is named like its suite is the likeliest, and only then are others opened.
    suites = sorted(visit.workspace.suites(), key=lambda suite: suite.path.stem != name)
    for suite in suites:
        with contextlib.suppress(CimentoError):
            if load_material(suite.path, language=language).suite.name == name:
                return suite.path
    return find_suite(visit.workspace.suite(name))


@dataclass(frozen=True, slots=True)
class LabelTable:
    """The means of the sentences with each label of a column.

    Attributes:
        name: of the column; that of conditions as the page calls it.
        means: of each label.
    """

    name: str
    means: tuple[LabelMean, ...]


def label_tables(judgments: Sequence[Judgment], labels: Labels, say: Words) -> list[LabelTable]:
    """The means of ratings by each column of labels, and by condition, if there are several.

    Args:
        judgments: the answers.
        labels: of their sentences.
        say: the words of the page.
    """
    places = dict.fromkeys((one.suite, one.item, one.condition) for one in judgments)
    # In the order of the suite, and behind it what the suite does not have.
    ordered = dict.fromkeys([*(place for place in labels.of_place if place in places), *places])
    title = shown_apart(("condition",), labels.names, say)["condition"]
    columns = {title: {place: condition_shown(place[2], say) for place in ordered}}
    columns |= {
        name: {place: labels.of(*place)[number] for place in ordered}
        for number, name in enumerate(labels.names)
    }
    made = [
        LabelTable(name, label_means(judgments, of_place, seed=_SEED))
        for name, column in (columns | dict(_crossed(columns))).items()
        if (of_place := {place: label for place, label in column.items() if label})
    ]
    return [one for one in made if len(one.means) > 1]


def _crossed(columns: Columns) -> Iterator[tuple[str, dict[Place, str]]]:
    """Each two columns as one, such as *type × condition*, where neither follows from the other."""
    for (first, ones), (second, others) in itertools.combinations(columns.items(), 2):
        both = {place: (one, others[place]) for place, one in ones.items() if one and others[place]}
        cells = {*both.values()}
        fewest = max(len({one for one, _ in cells}), len({other for _, other in cells}))
        if fewest < len(cells) <= _MOST_CELLS:
            yield f"{first} × {second}", {place: " × ".join(cell) for place, cell in both.items()}


def show_label_tables(tables: Sequence[LabelTable], say: Words) -> None:
    """Show the means by label, in the place where the page is being built."""
    names = (
        "sentences", "participants", "judgments", "mean", "ci-sentences", "ci-people", "z",
    )  # fmt: skip
    for one in tables:
        heading(say("people.labels", name=one.name), level=3)
        table([one.name, *(say(f"people.of-{name}") for name in names)],
              [_shown(mean, say) for mean in one.means])  # fmt: skip
        for line in _without_interval(one.means, say):
            Text(line).classes("small")
    if tables:
        Text(say("people.labels-what")).classes("small")


def _shown(mean: LabelMean, say: Words) -> list[str]:
    return [
        mean.label, say.number(mean.sentences), say.number(mean.people), say.number(mean.ratings),
        two_decimals(mean.these.value, say), ends(mean.these.low, mean.these.high, say) or "–",
        ends(mean.others.low, mean.others.high, say) or "–", two_decimals(mean.z, say),
    ]  # fmt: skip


def _without_interval(means: Sequence[LabelMean], say: Words) -> list[str]:
    """Why there are no intervals, once for each reason."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for mean in means:
        for name, of_mean in (("ci-sentences", mean.these), ("ci-people", mean.others)):
            if of_mean.low is None:
                why = reason_of(of_mean.reason, say)
                reasons.setdefault((name, why), []).append(mean.label)
    return [
        say("people.labels-none", interval=say(f"people.of-{name}"), reason=why,
            labels=", ".join(labels))
        for (name, why), labels in reasons.items()
    ]  # fmt: skip


def labels_grid(tables: Sequence[LabelTable], language: str) -> Grid:
    """The means by label as a table for spreadsheet programs.

    Args:
        tables: the means.
        language: of the headings, ISO 639-1.
    """
    names = (
        "column", "label", "sentences_n", "people_n", "ratings_n", "rating", "sentences_low",
        "sentences_high", "people_low", "people_high", "mean_z",
    )  # fmt: skip
    return Grid(
        title="labels",
        header=tuple(heading_of(name, language) for name in names),
        labels=2,
        rows=tuple(
            (
                one.name, mean.label, count(mean.sentences), count(mean.people),
                count(mean.ratings),
                *(number(value, digits=4, absent="") for value in (
                    mean.these.value, mean.these.low, mean.these.high, mean.others.low,
                    mean.others.high, mean.z,
                )),
            )
            for one in tables for mean in one.means
        ),
    )  # fmt: skip

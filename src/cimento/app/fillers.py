"""Sentences of a survey whose labels may call them fillers: asked before, said and left out after.

Names propose only: nothing is a filler until somebody has said so.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

from nicegui import ui

from cimento.app.answer_tables import Labels
from cimento.app.findings import button
from cimento.app.frame import Text, Visit, guarded
from cimento.app.words import Words
from cimento.errors import CimentoError, counted
from cimento.judgments import Judgment
from cimento.judgments.summaries import is_rated
from cimento.kinds.paradigm import surveyor_of
from cimento.people.surveys import SurveyDesign
from cimento.people.surveys.labels import filler_labels, labels_of_items
from cimento.people.surveys.material import load_material


class LabeledFillers:
    """The question whether sentences are fillers whose labels say so, in the form for a survey.

    Args:
        visit: what the page is built for.
        changed: called when it is answered.
    """

    def __init__(self, visit: Visit, changed: Callable[[], None]) -> None:
        self._say, self._changed = visit.say, changed
        self._labels: tuple[str, ...] = ()

    def build(self) -> None:
        """Build the question in the place where it is called; it is shown once there is one."""
        with ui.element("div").classes("mend").mark("labeled-fillers") as self._place:
            self._text = Text("")
            self._yes = ui.checkbox(self._say("people.fillers-yes"), on_change=self._changed)
        self._place.set_visibility(False)

    @property
    def chosen(self) -> tuple[str, ...]:
        """The labels of fillers; none unless somebody has said that they are."""
        return self._labels if self._labels and self._yes.value else ()

    async def ask(self, path: Path | None, language: str) -> None:
        """Ask about the sentences of a suite, if any have such labels.

        Args:
            path: of the suite; None for none.
            language: of sentences that do not say theirs.
        """
        found = await asyncio.to_thread(_labels_in, path, language) if path else Counter()
        self._labels, self._yes.value = tuple(found), False
        self._place.set_visibility(bool(found))
        self._text.text = self._say("people.fillers-ask", **_told(found, self._say))


def _labels_in(path: Path, language: str) -> Counter[str]:
    """The labels of a suite that may be those of fillers; none where it cannot be asked about."""
    try:
        loaded = load_material(path, language=language)
        items = surveyor_of(loaded.paradigm, loaded.suite).survey_items(loaded.suite, None).items
    except CimentoError:  # which is said when the survey is made
        return Counter()
    return filler_labels(labels_of_items(items).values())


def _told(found: Mapping[str, int], say: Words) -> dict[str, str]:
    labels = ", ".join(map(say.quoted, found))
    return {"count": say.number(sum(found.values())), "labels": labels}


def show_not_declared(design: SurveyDesign, say: Words) -> None:
    """Say which questions of a survey have labels of fillers and count as those of the test."""
    of_test = (one.labels for one in design.questions if not one.kind and not one.expected)
    if found := filler_labels(of_test):
        Text(say("people.fillers-counted", **_told(found, say))).classes("mend").mark("as-test")


def offer_without(
    visit: Visit,
    judgments: Sequence[Judgment],
    labels: Labels,
    leave: Callable[[list[Judgment], str], Awaitable[object]],
) -> None:
    """Say how many of the rated sentences have labels of fillers, with a button to leave them out.

    Args:
        visit: what the page is built for.
        judgments: the answers.
        labels: of their sentences.
        leave: called with the answers to other sentences, and what is said of those without.
    """
    rated = {one.key[:3] for one in judgments if one.counts and is_rated(one.question)}
    of_place = {place: dict(enumerate(labels.of(*place))) for place in rated}
    found = filler_labels({str(n): label for n, label in of.items()} for of in of_place.values())
    if not found:
        return
    say = visit.say
    fillers = {place for place, of in of_place.items() if not {*found}.isdisjoint(of.values())}

    async def do() -> None:
        shown = ", ".join(f"'{label}'" for label in found)
        n = counted(len(fillers), "sentence")
        said = f"Left out as fillers: {n} with the label {shown}."
        await leave([one for one in judgments if one.key[:3] not in fillers], said)

    with ui.element("div").classes("mend").mark("fillers-in"):
        Text(say("people.fillers-in", **_told(found, say)))
        if len(fillers) < len(rated):
            button(say("people.fillers-leave"), guarded(visit, do), icon="filter_alt")

"""The files of answers, and of what came of them, that the page gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from nicegui import ui

from cimento.app.answer_tables import (
    Beyond,
    Labels,
    answers_csv,
    answers_grid,
    file_named,
    means_grid,
    named_by_labels,
    workbook_of,
)
from cimento.app.choice_shares import shares_grid
from cimento.app.findings import button
from cimento.app.frame import Text, Visit, guarded
from cimento.app.label_shares import LabelShare, good_shares, group_shares_grid
from cimento.app.labels import LabelTable, labels_grid
from cimento.app.parts import save, say_csv
from cimento.app.rated import ratings_of
from cimento.app.words import Words
from cimento.judgments import Judgment
from cimento.judgments.effects import SentenceShare, acceptance_shares
from cimento.people.surveys import SurveyDesign
from cimento.report.grid import Grid


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFiles:
    """The answers, the means of sentences and of labels, and choices, for spreadsheets.

    Attributes:
        name: of the table of the answers, as the page calls it.
        judgments: the answers.
        labels: of their sentences.
        design: of a survey, whose order sentences are in; None for a form.
        beyond: what else was asked.
        by_label: the means by label.
        shares: how often each sentence was chosen.
        by_group: how often conditions were chosen in the items with each label.
    """

    name: str
    judgments: Sequence[Judgment]
    labels: Labels
    design: SurveyDesign | None
    beyond: Beyond
    by_label: Sequence[LabelTable]
    shares: Sequence[SentenceShare]
    by_group: Mapping[str, Sequence[LabelShare]]

    def build(self, visit: Visit) -> None:
        """Build a button for each file, in the place where the page is being built."""
        say, beyond, name = visit.say, self.beyond, self.name
        language = say.language
        judgments, labels = named_by_labels(self.judgments, self.labels)
        files = [
            (
                "answers-xlsx",
                f"{name}.xlsx",
                lambda: workbook_of(answers_grid(judgments, beyond, language, labels), language),
            ),
            (
                "answers-csv",
                f"{name}.csv",
                lambda: answers_csv(judgments, beyond, language, labels),
            ),
        ]
        for key, grid in self._grids(judgments, labels, say).items():
            written = partial(workbook_of, grid, language)
            files.append((key, file_named(name, grid, language), written))
        if beyond.fillers or beyond.told:
            Text(say("people.files-beyond")).classes("small")
        with ui.element("div").classes("tools"):
            for key, file, make in files:
                give = guarded(visit, partial(save, file, make))
                button(say(f"people.{key}"), give, icon="download")
            say_csv(say)

    def _grids(self, judgments: Sequence[Judgment], labels: Labels, say: Words) -> dict[str, Grid]:
        """The tables beside the answers, by the word for their button."""
        grids = {}
        if ratings_of(judgments):
            grids["means-xlsx"] = means_grid(judgments, say.language, self.design, labels)
        if self.by_label:
            grids["labels-xlsx"] = labels_grid(self.by_label, say.language)
        if self.shares:
            grids["shares-xlsx"] = shares_grid(self.shares, labels, say)
        people = good_shares(judgments)
        if self.by_group or people:
            grids["group-shares-xlsx"] = group_shares_grid(self.by_group, people, say.language)
        if accepted := acceptance_shares(judgments):
            grids["accepted-xlsx"] = shares_grid(accepted, labels, say, title="accepted")
        return grids

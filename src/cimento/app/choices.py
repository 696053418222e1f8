"""What people chose beside what a model does: pairs of sentences, words for blanks, and stories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean

import polars as pl
from nicegui import ui

from cimento.app.answer_tables import Labels, shown_apart, workbook_of
from cimento.app.beside_sentences import file_of
from cimento.app.findings import button
from cimento.app.frame import Visit, guarded, heading
from cimento.app.parts import save, table
from cimento.app.words import percent
from cimento.documents import versions_apart
from cimento.intake.words import apart_from
from cimento.io.values import grouped
from cimento.judgments import Judgment
from cimento.judgments.summaries import once
from cimento.kinds.run import Run
from cimento.paired.item_outcomes import item_outcomes, labeled_apart
from cimento.report.cells import count
from cimento.report.formatting import number
from cimento.report.grid import Grid
from cimento.statistics.intervals import wilson

_EVEN = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemBeside:
    """The answers of people to one item beside that of a model.

    Attributes:
        item: its id.
        texts: what people read, joined by bars.
        people: number of people whose answers are right or wrong.
        people_right: the proportion of them who are right.
        model_right: whether the model is right.
        is_same: whether it is what most people are; if they are evenly split, whether it has a tie.
    """

    item: str
    texts: str
    people: int
    people_right: float
    model_right: bool
    is_same: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoicesBeside:
    """The answers of people beside those of a model, on the items that both answered.

    Attributes:
        suite: name of the run's suite, with its version where there are several.
        model: label of the model.
        items: those that both answered.
        people_right: mean over items of the proportion of people who are right; None without items.
        model_right: proportion of the items on which the model is right; None without items.
        same: number of items on which most people and the model are both right or both wrong;
            where people are evenly split, a model's tie is the same, and nothing else, as in the
            report.
    """

    suite: str
    model: str
    items: tuple[ItemBeside, ...]
    people_right: float | None
    model_right: float | None
    same: int


def beside_choices(judgments: Sequence[Judgment], runs: Sequence[Run]) -> list[ChoicesBeside]:
    """The choices of people beside each run on the same items.

    Args:
        judgments: the answers; of repeated ones of one person the first counts.
        runs: stored runs; those of other suites, and those that have no items with an answer of
            people that is right or wrong, are left out.

    Raises:
        CimentoError: a run's outcomes cannot be read.
    """
    given = once([one for one in judgments if one.counts])
    asked = {one.suite for one in given}
    shown = labeled_apart(versions_apart([run for run in runs if run.suite_name in asked]))
    made = (_beside(run, right) for run in shown if (right := _people_right(run, given)))
    return [one for one in made if one.items]


def _people_right(run: Run, judgments: Sequence[Judgment]) -> dict[str, list[bool]]:
    """Whether each person is right, by item; answers that are neither right nor wrong are out."""
    surveyor = run.paradigm.surveyor
    if surveyor is None:
        return {}
    verdicts, _ = surveyor.verdicts(run.suite, judgments)
    right: dict[str, list[bool]] = {}
    for by_item in verdicts.values():
        for item, verdict in by_item.items():
            if verdict != "unscored":
                right.setdefault(item, []).append(verdict == "pass")
    return right


def _texts(run: Run) -> dict[str, str]:
    """What people read of each item."""
    surveyor = run.paradigm.surveyor
    asked = () if surveyor is None else surveyor.survey_items(run.suite, None).items
    texts = grouped((one.item, one.text) for one in asked if one.text)
    return {item: " | ".join(dict.fromkeys(of_item)) for item, of_item in texts.items()}


def _beside(run: Run, people: Mapping[str, Sequence[bool]]) -> ChoicesBeside:
    texts = _texts(run)
    items = tuple(
        ItemBeside(
            item=item,
            texts=texts.get(item, ""),
            people=len(people[item]),
            people_right=share,
            model_right=right,
            is_same=is_tie if share == _EVEN else right == (share > _EVEN),
        )
        for item, right, is_tie in _rights(run)
        if item in people
        for share in [fmean(people[item])]
    )
    return ChoicesBeside(
        suite=run.suite.name,
        model=run.model,
        items=items,
        people_right=fmean(one.people_right for one in items) if items else None,
        model_right=fmean(one.model_right for one in items) if items else None,
        same=sum(one.is_same for one in items),
    )


def _rights(run: Run) -> list[tuple[str, bool, bool]]:
    """Each item, whether the run is right on the question people are asked, and has a tie."""
    surveyor = run.paradigm.surveyor
    question = "" if surveyor is None else surveyor.question
    question = question or next((one.question for one in item_outcomes([run])), "")
    rows = run.outcomes().filter(pl.col("question") == question)
    rows = rows.filter(rows["method"] == rows["method"][0]) if len(rows) else rows
    return [
        (item, right, verdict == "tie")
        for item, right, verdict in rows.select("item", "right", "verdict").iter_rows()
        if right is not None
    ]


def show_items(row: ChoicesBeside, visit: Visit, *, used: str, labels: Labels) -> None:
    """Show the items one by one, with a file of them, in the place where the page is being built.

    Args:
        row: the answers of people beside those of a model.
        visit: what the page is built for.
        used: name of the table of the answers, which gives the file its name.
        labels: of the items, which have a column for each name.
    """
    say = visit.say
    heading(say("people.one-by-one", suite=row.suite, model=row.model), level=4)
    yes, no = say("read.blank_yes"), say("read.blank_no")
    own = labels.columns([(row.suite, one.item, "") for one in row.items])
    texts, numbers = ("item", "sentence"), ("participants", "people-right", "model-right")
    of = shown_apart((*texts, *numbers), own, say)
    columns = {
        of["item"]: [one.item for one in row.items],
        of["sentence"]: [one.texts for one in row.items],
        **own,
        of["participants"]: [say.number(one.people) for one in row.items],
        of["people-right"]: [percent(100 * one.people_right, say) for one in row.items],
        of["model-right"]: [yes if one.model_right else no for one in row.items],
    }
    table([*columns], [list(cells) for cells in zip(*columns.values(), strict=True)])
    give = partial(save, file_of(used, row.model), lambda: workbook_of(
        items_grid(row, say.language, labels), say.language))  # fmt: skip
    with ui.element("div").classes("tools"):
        button(say("people.beside-xlsx"), guarded(visit, give), icon="download")


def items_grid(row: ChoicesBeside, language: str, labels: Labels) -> Grid:
    """The items beside a model as a table, with 95% intervals of the proportions (Wilson 1927).

    Args:
        row: the answers of people beside those of a model.
        language: of the headings, ISO 639-1.
        labels: of the items, which have a column for each name.
    """
    texts, own = ("suite", "model", "item", "sentence"), labels.names
    numbers = ("people_n", "share_right", "share_low", "share_high", "model_right")
    return Grid(
        title="beside",
        header=(
            *(apart_from(name, language, own) for name in texts), *own,
            *(apart_from(name, language, own) for name in numbers),
        ),
        labels=len(texts) + len(own),
        rows=tuple(
            (
                row.suite, row.model, one.item, one.texts,
                *labels.of(row.suite, one.item, ""), count(one.people),
                *(
                    number(value, digits=4)
                    for value in (one.people_right, *wilson(one.people_right, one.people))
                ),
                count(int(one.model_right)),
            )
            for one in row.items
        ),
    )  # fmt: skip

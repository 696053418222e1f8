"""What people are asked about suites with blanks, and their choices beside a copy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.cloze.answers import ClozeAnswers
from cimento.cloze.notation import write_cell
from cimento.cloze.templates import expand_suite
from cimento.cloze.writers.native import write_folder
from cimento.io.files import write_text
from cimento.paradigms.base import Applied, SurveyItem, SurveyItems, SurveyTask
from cimento.paradigms.people import answers_about, chosen_task, refuse_nothing
from cimento.people.judgments.records import WHICH_FITS, Judgment

if TYPE_CHECKING:
    from cimento.cloze.records import ClozeSuite
    from cimento.runs.run import Run

CHOICES = "choices.tsv"
"""Beside a cloze suite: how many people chose each option."""

_BLANK_SIGNS = ("___", "...", " ... ", "…")


def blank_items(
    suite: ClozeSuite, task: SurveyTask | None, *, run: Run | None = None
) -> SurveyItems:
    """Each blank with its options; or what a model put into it, each candidate of an item once.

    Raises:
        UsageError: the task is another one.
    """
    if run is not None:
        return SurveyItems(chosen_task(task, "candidate"), tuple(_candidates(run)))
    chosen = chosen_task(task, "cloze")
    return SurveyItems(
        chosen,
        tuple(
            SurveyItem(
                item=item.id,
                lines=(item.text,),
                options=tuple((option.text, "") for option in item.options),
                none=item.none_option,
                columns=item.columns,
                apart=item.id,
                names=tuple(f"{item.before}{sign}{item.after}" for sign in _BLANK_SIGNS),
            )
            for item in expand_suite(suite).items
        ),
    )


def _candidates(run: Run) -> list[SurveyItem]:
    answers = ClozeAnswers(run)
    by_item = answers.by_method(answers.methods[0]) if answers.methods else {}
    return [
        SurveyItem(
            item=item.id,
            lines=(item.filled(text),),
            judged=text,
            mark=(len(item.before), len(item.before) + len(text)),
            columns=item.columns,
            apart=f"{item.id}/{text}",
        )
        for item in answers.items
        for text in dict.fromkeys(answer.text for answer in by_item.get(item.id, []))
    ]


def judged_blanks(suite: ClozeSuite, judgments: Sequence[Judgment], folder: Path) -> Applied:
    """Write a copy of a suite of blanks, beside it how many people chose each option.

    Raises:
        InputError: nobody answered anything about the suite.
        StorageError: the copy cannot be written.
    """
    known = [item.id for item in expand_suite(suite).items]
    about, passed = answers_about(judgments, suite.name, (WHICH_FITS,))
    counts: dict[str, Counter[str]] = {item: Counter() for item in known}
    for judgment in about:
        if judgment.item in counts and judgment.value is not None:
            counts[judgment.item][judgment.value] += 1
        else:
            passed["the suite has no such item"] += 1
    used = sum(chosen.total() for chosen in counts.values())
    refuse_nothing(used, suite.name, passed)
    write_folder(suite, folder)
    rows = [("item", "option", "count")] + [
        (write_cell(item), write_cell(option), str(count))
        for item, chosen in counts.items()
        for option, count in chosen.most_common()
    ]
    write_text("".join("\t".join(row) + "\n" for row in rows), folder / CHOICES)
    return Applied(used, sum(not chosen for chosen in counts.values()), passed)

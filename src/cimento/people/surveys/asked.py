"""The questions of a design, by which answers from other programs find what they are about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from cimento.errors import CimentoError
from cimento.judgments.asked import AnswerValue, AskedItem, AskedItems
from cimento.people.surveys import (
    FILE,
    SurveyDesign,
    SurveyField,
    SurveyQuestion,
    read_design,
)
from cimento.people.surveys.material import load_material


def asked_by(design: SurveyDesign, *, stored: bool) -> AskedItems:
    """All questions of a design, attention checks, fillers and practice included.

    Args:
        design: of the survey.
        stored: whether answers are as they are stored, as in the files of our own experiments;
            if not, as participants read them.
    """
    return AskedItems(_named(design, stored=stored), complete=True)


def _named(design: SurveyDesign, *, stored: bool) -> Iterator[tuple[AskedItem, list[str]]]:
    for question in design.questions:
        surveys = tuple(survey.name for survey in design.surveys if question.id in survey.questions)
        fields = design.fields_of(question)
        for number, field in enumerate(fields):
            item = AskedItem(
                suite=design.source.suite,
                item=question.item,
                condition=question.condition,
                text=" ".join(question.lines),
                trial=question.id,
                question=field.name,
                candidate=question.candidate,
                expected=field.expected,
                scale=field.scale,
                answers=_answers(field, stored=stored),
                surveys=surveys,
            )
            names = _names(question)
            of_field = [f"{name} [{field.name}]" for name in names] if len(fields) > 1 else []
            yield item, of_field if number else [*names, *of_field]


def _names(question: SurveyQuestion) -> list[str]:
    item, condition = question.item, question.condition
    both = [f"{item}/{condition}", f"{item} {condition}"] if condition else []
    return [question.id, item, *both, " ".join(question.lines), question.candidate]


def _answers(field: SurveyField, *, stored: bool) -> tuple[AnswerValue, ...]:
    """The answers to a field by what is shown and by what is stored; the likelier name first."""
    shown = [AnswerValue(c.label, c.value, c.condition) for c in field.choices]
    kept = [AnswerValue(c.value, c.value, c.condition) for c in field.choices]
    return tuple(dict.fromkeys([*kept, *shown] if stored else [*shown, *kept]))


def language_of(suite: Path, answers: Iterable[Path]) -> tuple[str, Path | None]:
    """The language of a suite: its own, or that of the survey that was made from it.

    Args:
        suite: the suite, or a list of sentences; a survey counts if it is of the same content.
        answers: the files of answers: the survey may be in the folder of one, in a folder beside
            one, or likewise where the suite is.

    Returns:
        The language, empty if nothing tells it, and the survey's design if that does.
    """
    loaded = load_material(suite)
    if own := loaded.suite.meta.language:
        return own, None
    folders = dict.fromkeys(path.parent for path in (suite, *answers))
    for folder in folders:
        for path in (folder / FILE, *sorted(folder.glob(f"*/{FILE}"))):
            try:
                design = read_design(path)
            except CimentoError:
                # There is none, or a file of another program has this name.
                continue
            if design.source.sha256 == loaded.reading.sha256:
                return design.language, path
    return "", None

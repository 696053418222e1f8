"""Results of a survey: answers as the judgments table, and participants as a table of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from cimento.errors import StorageError
from cimento.people.judgments.records import BETTER, Judgment, csv_of, table_of, write_judgments
from cimento.people.surveys.design import SurveyDesign, SurveyQuestion
from cimento.people.surveys.exports import safe_csv
from cimento.people.surveys.serving import storage
from cimento.people.surveys.serving.storage import Participant, StoredAnswer

_PEOPLE = (
    "participant", "survey", "link_made", "consent_version", "consented", "finished",
    "session_seconds", "answered", "questions", "checks", "checks_passed",
)  # fmt: skip


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Answers that belong to no question, or times that are none, told as what they are."""
    try:
        yield
    except (KeyError, TypeError, ValueError) as error:
        raise StorageError(
            where=str(path),
            seen=f"the answers in it do not fit its survey ({error})",
            todo="Was the file damaged or edited? Take a copy from before.",
        ) from error


def judgments(path: Path) -> list[Judgment]:
    """What the participants in a file answered, survey by survey, in the order of its pages.

    Raises:
        InputError: there is no such file.
        StorageError: it cannot be read, or its answers do not fit its survey.
    """
    with _told(path):
        return _judgments(path)


def _judgments(path: Path) -> list[Judgment]:
    design = storage.stored_design(path)
    people = {participant.id: participant for participant in storage.participants(path)}
    places = {
        (survey, question.id): place
        for survey, questions in design.by_survey.items()
        for place, question in enumerate(questions, start=1)
    }
    found = [
        _judgment(design, answer, people[answer.participant], places)
        for answer in storage.answers(path)
        # Somebody may have been deleted between the two queries.
        if answer.participant in people
    ]
    order = {person: number for number, person in enumerate(people)}
    fields = {field.name: number for number, field in enumerate(design.fields)}
    return sorted(
        found,
        key=lambda each: (
            order[each.annotator or ""], each.position or 0, fields.get(each.question, 0),
        ),
    )  # fmt: skip


def judgments_csv(path: Path) -> str:
    """The same as CSV that a spreadsheet can open."""
    return csv_of(table_of(judgments(path)))


def people_csv(path: Path) -> str:
    """Participants with how far they are, as CSV.

    Raises:
        InputError: there is no such file.
        StorageError: it cannot be read, or its answers do not fit its survey.
    """
    with _told(path):
        return _people_csv(path)


def _people_csv(path: Path) -> str:
    design = storage.stored_design(path)
    answers = storage.answers(path)
    given = Counter(
        participant for participant, _ in {(a.participant, a.question) for a in answers}
    )
    passed = Counter(
        answer.participant
        for answer in answers
        if design.by_id[answer.question].expected == answer.value
    )
    lines = [list(_PEOPLE)]
    for each in storage.participants(path):
        questions = design.by_survey[each.survey]
        seconds = session_seconds(each)
        lines.append(
            [
                each.id, each.survey, each.created_at, each.consent or "", each.consented_at or "",
                each.finished_at or "", "" if seconds is None else f"{seconds:.3f}",
                str(given[each.id]), str(len(questions)),
                str(sum(bool(question.expected) for question in questions)), str(passed[each.id]),
            ]
        )  # fmt: skip
    return safe_csv(lines)


def write_results(path: Path, output: Path) -> int:
    """Write the judgments table to a ``.parquet``, ``.csv`` or ``.tsv`` file.

    Returns:
        How many judgments there are.

    Raises:
        UsageError: the suffix is another one.
        InputError: there are no answers at that path.
        StorageError: the file cannot be written.
    """
    table = table_of(judgments(path))
    write_judgments(table, output)
    return table.height


def session_seconds(participant: Participant) -> float | None:
    """From the consent to the last answer; None for those who have not finished."""
    if participant.consented_at is None or participant.finished_at is None:
        return None
    started, ended = participant.consented_at, participant.finished_at
    return (datetime.fromisoformat(ended) - datetime.fromisoformat(started)).total_seconds()


def _judgment(
    design: SurveyDesign,
    answer: StoredAnswer,
    person: Participant,
    places: dict[tuple[str, str], int],
) -> Judgment:
    question = design.by_id[answer.question]
    return Judgment(
        suite=design.source.suite,
        item=question.item,
        condition=_condition(question, answer),
        candidate=question.candidate or None,
        annotator=person.id,
        question=answer.field,
        value=answer.value,
        remark=answer.remark or None,
        at=answer.at,
        survey=person.survey,
        position=places[(person.survey, question.id)],
        seconds=answer.seconds,
        session_seconds=session_seconds(person),
        expected=question.expected or None,
    )


def _condition(question: SurveyQuestion, answer: StoredAnswer) -> str:
    """That of the question, or of the sentence that was preferred."""
    if answer.field != BETTER:
        return question.condition
    return next((c.condition for c in question.choices if c.value == answer.value), "")

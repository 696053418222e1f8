"""Surveys: here their design, as frozen records and as the JSON file that exports are made from.

A design holds questions, and surveys that each ask some of them, in an order of their own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeAlias

from cimento.errors import InputError
from cimento.io.files import read_bytes, write_text
from cimento.io.parsing import faults_of, refuse_very_faulty
from cimento.judgments import (
    ATTENTION,
    COMPREHENSION,
    PRACTICE,
    PRACTICE_COMPREHENSION,
)
from cimento.kinds.base import TIMED_TASKS, SurveyTask
from cimento.suites.reading import sha256_of

FORMAT = 3
MOST_CHOICES = 200
"""Among which one may be asked to choose."""
FILE = "design.json"
DATABASE = "answers.sqlite"
"""The answers that cimento itself collects, beside the design."""
PARTICIPANT_COLUMNS = (
    "participant", "survey", "link_made", "consent_version", "consented", "finished",
    "session_seconds", "answered", "questions", "checks", "checks_passed",
)  # fmt: skip
"""The table of participants; the answers to questions about them are written in further columns."""
QuestionKind: TypeAlias = Literal["", "filler", "practice"]


@dataclass(frozen=True, slots=True)
class AnswerChoice:
    """One answer that can be given.

    Attributes:
        value: as it is stored.
        label: as it is shown.
        condition: of the suite, where choosing it is choosing one.
    """

    value: str
    label: str
    condition: str = ""


@dataclass(frozen=True, slots=True)
class SurveyField:
    """One field of a question page.

    Attributes:
        name: what the judgments table calls the question.
        prompt: the question as people read it.
        choices: the answers; empty where each question of the survey has its own.
        low: what the first choice of a scale means; empty where it is not a scale.
        high: what the last one means.
        when: the value of the first field for which this one is asked; empty for always.
        expected: the correct answer; empty where there is none.
    """

    name: str
    prompt: str
    choices: tuple[AnswerChoice, ...] = ()
    low: str = ""
    high: str = ""
    when: str = ""
    expected: str = ""

    @property
    def scale(self) -> str:
        """The ends of the scale, as judgments have them; empty where there is none."""
        return f"{self.choices[0].value} to {self.choices[-1].value}" if self.low else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyQuestion:
    """One question, shown on a page of its own.

    Attributes:
        id: unique in the design.
        item: of the suite.
        condition: of the suite; empty where none or several are shown.
        candidate: what is judged, as the judgments table has it; empty where a choice is made.
        lines: what is shown: a sentence, a text with a blank, the sentences of a story.
        mark: the part of the first line, from and to which character, that is highlighted.
        choices: of the first field, where the design leaves them open.
        members: what nobody may see two questions of.
        group: what the surveys are balanced over.
        expected: the correct answer of an attention check; empty for every other question.
        kind: `FILLER`, `PRACTICE`, or empty for what is of the suite and for attention checks.
        comprehension: asked after a sentence that is read word by word; empty for no question.
            Its answers are `choices`.
        correct: the correct answer to that; empty where there is none.
        regions: the region of each word of such a sentence; empty where they are not known.
        foils: what is beside each word of such a sentence in a maze; empty in other tasks.
        labels: what its author calls the sentence, by the column of the suite; nobody is shown it.
    """

    id: str
    item: str
    lines: tuple[str, ...]
    condition: str = ""
    candidate: str = ""
    mark: tuple[int, int] | None = None
    choices: tuple[AnswerChoice, ...] = ()
    members: str = ""
    group: str = ""
    expected: str = ""
    kind: QuestionKind = ""
    comprehension: str = ""
    correct: str = ""
    regions: tuple[str, ...] = ()
    foils: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the first line, with the marks that touch them."""
        return tuple(self.lines[0].split()) if self.lines else ()


AfterError: TypeAlias = Literal["stop", "correct"]
"""What follows a wrong choice in a maze: the next sentence, or another choice of the same word."""


@dataclass(frozen=True, slots=True)
class BackgroundQuestion:
    """A question about the participant.

    Attributes:
        name: the column of its answers, such as ``region``.
        prompt: as people read it.
        choices: the answers; empty for a line to write on.
    """

    name: str
    prompt: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Survey:
    """The questions of one participant.

    Attributes:
        name: such as ``1``.
        questions: their ids, in order.
    """

    name: str
    questions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SuiteSource:
    """The suite that a design was made from.

    Attributes:
        suite: its name.
        version: of its content.
        sha256: of its bytes, hexadecimal; empty where it is not known.
        license: SPDX identifier where there is one.
        citation: how to cite it.
        status: such as ``draft, not yet reviewed by native speakers``.
    """

    suite: str
    version: str = ""
    sha256: str = ""
    license: str = ""
    citation: str = ""
    status: str = ""


# Not slots: what is looked up by id is kept (`cached_property`).
@dataclass(frozen=True, kw_only=True)
class SurveyDesign:
    """The design of a survey.

    Attributes:
        cimento_survey: version of the format.
        title: as people read it.
        language: of guidelines and buttons.
        task: what people do.
        source: the suite.
        seed: of every choice that was made by chance.
        consent: paragraphs of what people agree to.
        guidelines: paragraphs of what they should do.
        fields: what is asked of each question.
        remarks: whether a remark can be written.
        background: what participants are asked about themselves.
        break_every: questions between two breaks; 0 for none.
        completion: address or code that is shown when all is answered; empty for none.
        after_error: what follows a wrong choice in a maze.
        questions: all of them, attention checks included.
        surveys: which of them go together, and in which order.
    """

    cimento_survey: int = FORMAT
    title: str
    language: str
    task: SurveyTask
    source: SuiteSource
    seed: int
    consent: tuple[str, ...]
    guidelines: tuple[str, ...]
    fields: tuple[SurveyField, ...]
    remarks: bool = False
    background: tuple[BackgroundQuestion, ...] = ()
    break_every: int = 0
    completion: str = ""
    after_error: AfterError = "stop"
    questions: tuple[SurveyQuestion, ...]
    surveys: tuple[Survey, ...]

    @cached_property
    def by_id(self) -> Mapping[str, SurveyQuestion]:
        """Every question by its id."""
        return {question.id: question for question in self.questions}

    @cached_property
    def by_survey(self) -> Mapping[str, tuple[SurveyQuestion, ...]]:
        """The questions of each survey, in order, by its name."""
        return {
            survey.name: tuple(self.by_id[question] for question in survey.questions)
            for survey in self.surveys
        }

    @property
    def is_timed(self) -> bool:
        """Whether sentences are read word by word, and words are timed."""
        return self.task in TIMED_TASKS

    @property
    def completion_link(self) -> str:
        """The address that participants go back to; empty where there is none."""
        return self.completion if self.completion.startswith("https://") else ""

    @property
    def consent_version(self) -> str:
        """Twelve hexadecimal digits that change whenever the consent text does."""
        return sha256_of("\n".join(self.consent).encode())[:12]

    @property
    def sha256(self) -> str:
        """The SHA-256 of the design file, hexadecimal."""
        return sha256_of(design_json(self).encode())

    def fields_of(self, question: SurveyQuestion) -> tuple[SurveyField, ...]:
        """The fields of a question; of what is not of the suite, the first field only.

        Of a sentence that is read word by word: the times, and the comprehension question if any.
        """
        first, *rest = self.fields
        if self.is_timed:
            return _timed_fields(first, question)
        name = ATTENTION if question.expected else question.kind or first.name
        choices = question.choices or first.choices
        return (
            SurveyField(
                name, first.prompt, choices, first.low, first.high, expected=question.expected
            ),
            *(() if question.expected or question.kind else rest),
        )


def _timed_fields(first: SurveyField, question: SurveyQuestion) -> tuple[SurveyField, ...]:
    """The times of the words of a sentence, and the question about it; fillers have that too."""
    times = SurveyField(question.kind or first.name, first.prompt)
    if not question.comprehension:
        return (times,)
    name = PRACTICE_COMPREHENSION if question.kind == PRACTICE else COMPREHENSION
    correct = "" if question.kind == PRACTICE else question.correct
    return (
        times,
        SurveyField(name, question.comprehension, question.choices, expected=correct),
    )


def design_json(design: SurveyDesign) -> str:
    """The text of a design file."""
    made = asdict(design)
    for question in made["questions"]:
        if not question["labels"]:  # as in designs whose suite has none, which stay as they are
            del question["labels"]
    return json.dumps(made, ensure_ascii=False, indent=1) + "\n"


def write_design(design: SurveyDesign, path: Path) -> Path:
    """Write a design file.

    Raises:
        StorageError: it cannot be written.
    """
    return write_text(design_json(design), path)


def read_design(path: Path) -> SurveyDesign:
    """Read a design file.

    Args:
        path: the file, or the folder that it was written into.

    Raises:
        InputError: it cannot be read, or is not what it should be; the message says where.
    """
    file = path / FILE if path.is_dir() else path
    return parse_design(read_bytes(file), where=str(file))


def parse_design(data: bytes, *, where: str) -> SurveyDesign:
    """A design from the bytes of its file.

    Raises:
        InputError: it is not what it should be; the message says where.
    """
    from pydantic import TypeAdapter, ValidationError

    adapter = TypeAdapter(SurveyDesign)
    refuse_very_faulty(adapter, data, where=where)
    try:
        design = adapter.validate_json(data)
    except ValidationError as error:
        place, seen = faults_of(error)[0]
        raise InputError(
            where=f"{where} {place}".strip(),
            seen=seen,
            todo="Is it a file that `cimento annotate survey build` wrote?",
        ) from error
    if design.cimento_survey != FORMAT:
        raise InputError(
            where=where,
            seen=f"has version {design.cimento_survey} of the format; this cimento reads {FORMAT}",
            todo="Make the survey again with `cimento annotate survey build`, or use the cimento"
            " that wrote it.",
        )
    seen = next(_faults(design), "")
    if seen:
        raise InputError(where=where, seen=seen, todo="Was it edited? Put it right by hand.")
    return design


def _faults(design: SurveyDesign) -> Iterator[str]:
    """The faults that make a design unusable."""
    if not design.surveys or not design.fields or not design.consent:
        yield "there are no surveys, no fields or no consent text"
    if len(design.by_id) != len(design.questions):
        yield "two questions have the same id"
    names = [question.name for question in design.background]
    if len({*names}) != len(names) or not all(names):
        yield "a question about the participant has no name, or two have the same"
    if design.break_every < 0:
        yield "the number of questions between two breaks is negative"
    if len({survey.name for survey in design.surveys}) != len(design.surveys):
        yield "two surveys have the same name"
    most = max((len(field.choices) for field in design.fields), default=0)
    if most > MOST_CHOICES:
        # Each question would be held against all of them.
        yield f"there are {most} answers to choose from, and {MOST_CHOICES} may be given"
        return
    for survey in design.surveys:
        yield from _survey_faults(design, survey)
    for question in design.questions:
        yield from _question_faults(design, question)


def _survey_faults(design: SurveyDesign, survey: Survey) -> Iterator[str]:
    if not survey.questions or len(set(survey.questions)) != len(survey.questions):
        yield f"survey {survey.name!r} has no questions, or one twice"
    for question in survey.questions:
        if question not in design.by_id:
            yield f"survey {survey.name!r} names the question {question!r}, which does not exist"


def _question_faults(design: SurveyDesign, question: SurveyQuestion) -> Iterator[str]:
    if question.foils and len(question.foils) != len(question.words):
        yield f"question {question.id!r} has {len(question.foils)} distractors, and other words"
    for asked in design.fields_of(question)[int(design.is_timed) :]:
        values = [choice.value for choice in asked.choices]
        if not values or "" in values or len(set(values)) != len(values):
            yield f"question {question.id!r} has no answers, an empty one or one twice"
        if asked.expected and asked.expected not in values:
            yield f"the correct answer to {question.id!r} is none of its answers"

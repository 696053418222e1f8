"""Rows of answers as judgments.

Names of people become pseudonyms, keyed hashes (HMAC-SHA256, RFC 2104 and FIPS 180-4): the same
participant has the same one in every table imported with the same secret, and without the secret a
list of all identifiers does not help to find out who is who.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias, get_args

from cimento.errors import InputError, counted
from cimento.intake.profile import number_of
from cimento.intake.reading import AnswersReading
from cimento.intake.words import cell_of, question_of
from cimento.judgments import (
    ACCEPTABILITY,
    ATTENTION,
    BETTER,
    MILLISECONDS,
    MISSING,
    NOT_OF_SUITE,
    TEXT,
    ColumnMap,
    Judgment,
    RawRow,
    scale_in,
)
from cimento.judgments.asked import AnswerValue, AskedItem, AskedItems
from cimento.judgments.formats import Submission
from cimento.judgments.jspsych import TRIAL_TYPE, counting_notes
from cimento.judgments.yes_no import with_yes_or_no
from cimento.people.annotate.remarks import (
    doubled,
    inattentive,
    prolific_notes,
    spelled_apart,
    unanswered,
    unfinished,
    worded,
)

MS = 1000.0
_OWN_NAMES = ("item", "condition")
MOST_PLACES = 1_000_000
_SHOWN = 5
_DIGITS = 12
"""Hexadecimal digits of a pseudonym: 48 bits; two of 10,000 people share one in 2 of 10 million."""

AnswerForm: TypeAlias = Literal[
    "long", "wide", "qualtrics", "google", "microsoft", "limesurvey", "jspsych", "pcibex",
    "gorilla", "labjs", "psychopy", "labvanced", "rated",
]  # fmt: skip
ANSWER_FORMS: tuple[AnswerForm, ...] = get_args(AnswerForm)
PROGRAM_FORMS = ANSWER_FORMS[2:-1]
"""The forms that programs have, as in `intake/forms.toml`."""
Unknown: TypeAlias = Literal["refuse", "skip"]
"""The treatment of an answer that the suite or the design does not know."""


def pseudonym(name: str, secret: bytes) -> str:
    """The pseudonym of a participant.

    Args:
        name: as the platform has it; what `one_spelling` makes equal is one participant.
        secret: of `open_secret`.
    """
    plain = one_spelling(name).encode("utf-8")
    return "p" + hmac.new(secret, plain, hashlib.sha256).hexdigest()[:_DIGITS]


def one_spelling(name: str) -> str:
    """A participant's name without blanks at its ends, in one Unicode form.

    E-mail addresses are in small letters: people write their own one way or the other. Codes stay,
    as those of some platforms differ in capitals only.
    """
    plain = unicodedata.normalize("NFC", name).strip()
    return plain.lower() if "@" in plain else plain


_CODE = re.compile(r"(?P<letters>[^\W\d_]{0,3})(?P<number>[0-9]{1,3})")
_LONGEST_CODE = 4
_MOST_GAPS = 2
"""How many times more numbers than codes there may be between the first and the last code."""


def are_plain_codes(names: Iterable[str]) -> bool:
    """Whether all participants have codes that count them, and by which nobody is found: *P01*.

    They are short, begin with the same letters, and their numbers run: the last digits of a
    telephone or of a document do not, and initials differ.

    >>> are_plain_codes(["P01", "P02", "P04"]), are_plain_codes(["12", "13"])
    (True, True)
    >>> are_plain_codes(["AG87", "ML92"]), are_plain_codes(["117", "930"])
    (False, False)
    """
    found = [_CODE.fullmatch(name) for name in {*map(one_spelling, names)}]
    codes = [code for code in found if code and len(code[0]) <= _LONGEST_CODE]
    numbers = {int(code["number"]) for code in codes}
    if not codes or len(codes) < len(found) or len(numbers) < len(codes):
        return False
    runs = max(numbers) - min(numbers) < _MOST_GAPS * len(numbers)
    return runs and len({code["letters"] for code in codes}) == 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """The judgments imported from some files.

    Attributes:
        judgments: in the order of the files.
        passed: reasons why rows were skipped, and how often.
        notes: what else a person should know.
        readings: what the files were read as, those together that are alike.
        people: what each participant is called in the judgments, by the name in the files.
    """

    judgments: tuple[Judgment, ...]
    passed: Mapping[str, int]
    notes: tuple[str, ...] = ()
    readings: tuple[AnswersReading, ...] = ()
    people: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """The user's description of files of answers.

    Attributes:
        form: which program wrote them; ``rated`` for lists such as those of ItaCoLA and Lau et al.;
            None if each file's contents say it.
        places: what was asked; may be empty, and then items are as the files have them.
        columns: where fields stand, before what is usual for the form.
        secret: for pseudonyms; None keeps the names of participants.
        codes_stay: whether `are_plain_codes` get no pseudonyms.
        submissions: of Prolific, by participant; None where no export was given.
        unknown: what becomes of answers that `places` do not know.
        items: columns of a wide table that are items, where neither suite nor design says so.
        unsubmitted: what becomes of answers that form programs mark as never submitted.
    """

    form: AnswerForm | None = None
    places: AskedItems = field(default_factory=lambda: AskedItems(()))
    columns: ColumnMap = field(default_factory=ColumnMap)
    secret: bytes | None = None
    codes_stay: bool = False
    submissions: Mapping[str, Submission] | None = None
    unknown: Unknown = "refuse"
    items: tuple[str, ...] = ()
    unsubmitted: Literal["skip", "keep"] = "skip"

    def without_names(self, names: Iterable[str]) -> ImportOptions:
        """The description for participants with some names: codes stay where it says so."""
        plain = self.codes_stay and are_plain_codes(names)
        return replace(self, secret=None) if plain else self

    def rename(self, name: str) -> str:
        """A participant's name as it is kept."""
        return pseudonym(name, self.secret) if self.secret else one_spelling(name)


CODES_STAY = "The codes of the participants, such as {}, tell nothing about anybody, and stay."
YES_AND_NO = "All ratings are yes or no: read as whether a sentence is acceptable."


def judgments_from(rows: Sequence[RawRow], reading: ImportOptions) -> tuple[Import, Sequence[int]]:
    """Rows as judgments, and the places of the rows that became some.

    Args:
        rows: one for each answer.
        reading: how they are read.

    Raises:
        InputError: an item is not known, an answer is of nobody, or a number cannot be read;
            the first ones are named.
    """
    passed, asked, faults = Counter[str](), list[tuple[Judgment, AskedItem | None]](), list[str]()
    people: dict[str, str] = {}
    shifted, kept = Counter[tuple[str, bool]](), list[int]()
    named = {name for row in rows if (name := row.cells.get("annotator", ""))}
    is_named, reading = bool(reading.secret), reading.without_names(named)
    for place, row in enumerate(rows):
        try:
            read = _judgment(row, reading, people)
        except InputError as error:
            faults.append(str(error))
            continue
        if isinstance(read, str):
            passed[read] += 1
            continue
        asked.append(read)
        kept.append(place)
        if row.choice is not None:
            by_design = read[1] is not None and bool(read[1].answers)
            shifted[row.cells.get(TRIAL_TYPE, ""), by_design] += 1
    if faults:
        more = f"\n  ... and {len(faults) - _SHOWN} more" if len(faults) > _SHOWN else ""
        shown = "".join(f"\n  {fault}" for fault in faults[:_SHOWN])
        raise InputError(
            where="", seen=f"{counted(len(faults), 'answer')} cannot be used:{shown}{more}"
        )
    judgments, are_words = with_yes_or_no(_with_surveys(asked))
    notes = (
        *([CODES_STAY.format(repr(min(named)))] if is_named and not reading.secret else []),
        *([YES_AND_NO] if are_words else []),
        *counting_notes(shifted),
        *spelled_apart(people),
        *doubled(judgments),
        *worded(judgments),
        *unanswered(asked, judgments, reading.places),
        *unfinished(judgments, reading.places.sizes()),
        *inattentive(judgments),
        *prolific_notes(people, reading.submissions),
    )
    return Import(judgments=judgments, passed=passed, notes=notes, people=people), kept


def _in_own_words(row: RawRow) -> RawRow:
    """A row with the names of questions, items and conditions that cimento gives, in English."""
    own = {"question": question_of(row.cells.get("question", ""))}
    if row.cells.get("suite"):  # a table that cimento has written
        own |= {name: cell_of(row.cells.get(name, "")) for name in _OWN_NAMES}
    told = {name: text for name, text in own.items() if text}
    return replace(row, cells={**row.cells, **told})


def _judgment(
    row: RawRow, reading: ImportOptions, people: dict[str, str]
) -> tuple[Judgment, AskedItem | None] | str:
    """A row as a judgment with the place in question, or the reason why it is skipped."""
    columns = reading.columns

    def cell(name: str) -> str:
        return row.cells.get(name, "")

    name = cell("annotator")
    if not name:
        raise InputError(
            where=row.where,
            seen="it is not said whose answer it is",
            todo="Write it in the column of the people.",
        )
    row = _in_own_words(row)
    question = cell("question")
    if question in NOT_OF_SUITE:
        return _not_of_suite(question)
    place = _place(row, reading)
    if isinstance(place, str):
        return place
    if place is not None and place.question in NOT_OF_SUITE:
        return _not_of_suite(place.question)
    asked = place or AskedItem(cell("suite"), cell("item"), "", cell(TEXT))
    value = columns.value(cell("value"))
    if not value or (value in MISSING and not (asked.answers and asked.answer(value))):
        return "there is no answer in the row"
    answer = asked.answer(value) if row.choice is None else _in_place(row, asked, question)
    if answer is None:
        return _no_answer(row, asked, value, reading.unknown)
    people.setdefault(name, reading.rename(name))
    expected = cell("expected")
    judgment = Judgment(
        suite=asked.suite,
        item=asked.item,
        condition=asked.condition or cell("condition") or answer.condition,
        candidate=cell("candidate") or asked.candidate or asked.text or None,
        annotator=people[name],
        question=question or asked.question or ACCEPTABILITY,
        value=answer.value,
        remark=cell("remark") or None,
        at=cell("at") or None,
        survey=cell("survey") or None,
        expected=(columns.value(expected) if expected else asked.expected) or None,
        scale=scale_in(cell("scale")) or asked.scale or None,
    )
    return _timed(judgment, row, (reading.submissions or {}).get(name)), place


def _timed(judgment: Judgment, row: RawRow, submission: Submission | None) -> Judgment:
    """The judgment with its place in the survey, its times, and the status of the submission."""

    def number(name: str) -> float | None:
        return _number(row, name, row.cells.get(name, ""))

    seconds, milliseconds = number("seconds"), number(MILLISECONDS)
    sitting, position, place = map(number, ("session_seconds", "position", "answer_place"))
    status = row.cells.get("status", "")
    return replace(
        judgment,
        position=None if position is None else int(position),
        answer_place=None if place is None else int(place),
        seconds=milliseconds / MS if seconds is None and milliseconds is not None else seconds,
        session_seconds=submission.seconds if submission and sitting is None else sitting,
        status=(submission.status if submission else "") or status or None,
    )


def _in_place(row: RawRow, asked: AskedItem, question: str) -> AnswerValue | None:
    """The answer that is in a place among those that could be given; None for no such place.

    Raises:
        InputError: the answers are neither a scale nor known.
    """
    named = question or asked.question or ACCEPTABILITY
    if not asked.answers and named != ACCEPTABILITY:
        raise InputError(
            where=row.where,
            seen=f"the answer to {named!r} is number {row.choice}, counted from 0, of answers that"
            " are not known",
            todo="Say what each number means, in the table [values] of a --mapping; or give the"
            " survey with --design.",
        )
    return asked.in_place(row.choice or 0)


def _not_of_suite(question: str) -> str:
    return f"it is a {question} question, which is not of the suite"


def _no_answer(row: RawRow, asked: AskedItem, value: str, unknown: Unknown) -> str:
    """The reason for skipping an answer that nobody could give.

    Raises:
        InputError: such answers are refused.
    """
    if unknown == "skip":
        return f"{value!r} is none of the answers of the survey"
    known = ", ".join(dict.fromkeys(answer.given for answer in asked.answers))
    counted_so = "" if row.choice is None else ", counted from 0,"
    raise InputError(
        where=row.where,
        seen=f"{value!r}{counted_so} is none of the answers of the survey ({known})",
        todo="Correct it in the file, or leave the cell empty; `cimento annotate import` can also"
        " recode it (--mapping) or pass it over (--unknown skip).",
    )


def _place(row: RawRow, reading: ImportOptions) -> AskedItem | str | None:
    """The place of a row; the reason for skipping it; None for an attention check of no item."""
    item, condition, text, question, expected = (
        row.cells.get(n, "") for n in ("item", "condition", TEXT, "question", "expected")
    )
    check = bool(expected) or question == ATTENTION
    if check and not reading.places.complete:
        return None
    if not reading.places:
        if not item and not text:
            raise InputError(
                where=row.where,
                seen="it names no item",
                todo="Name the column: --columns=item=COLUMN; or --columns=sentence=COLUMN with"
                " --suite.",
            )
        return AskedItem(row.cells.get("suite", ""), item or text, condition, "")
    # An id with its condition first: the id alone is that of all conditions.
    asked = BETTER if question == BETTER else condition
    both = [f"{item}/{asked}"] if item and asked else []
    fields = [f"{name} [{question}]" for name in (*both, item, text) if name and question]
    place = reading.places.find(*fields, *both, text, item, where=row.where)
    if place is not None or check:
        return place
    shown = both[0] if both else item or text
    if reading.unknown == "skip":
        return f"no item of the suite is called {shown!r}"
    raise InputError(
        where=row.where,
        seen=f"no item of the suite is called {shown!r}",
        todo=f"{reading.places.hint(shown)} --unknown skip passes such answers over.",
    )


def _number(row: RawRow, name: str, text: str) -> float | None:
    if not text or text.casefold() in ("null", "na", "nan"):
        return None
    value = number_of(text)
    # Tables keep positions as whole numbers.
    if value is None or (
        name == "position" and not (value.is_integer() and abs(value) <= MOST_PLACES)
    ):
        todo = "It is a whole number." if name == "position" else "It is a number."
        raise InputError(where=row.where, seen=f"{name} is {text!r}", todo=todo)
    return value


def _with_surveys(asked: Sequence[tuple[Judgment, AskedItem | None]]) -> tuple[Judgment, ...]:
    """The judgments, each with the only survey that has all that the person answered."""
    common: dict[str | None, set[str]] = {}
    for judgment, place in asked:
        if place is not None and place.surveys:
            surveys = common.setdefault(judgment.annotator, {*place.surveys})
            surveys &= {*place.surveys}
    only = {name: next(iter(surveys)) for name, surveys in common.items() if len(surveys) == 1}
    return tuple(
        judgment
        if judgment.survey or place is None or judgment.annotator not in only
        else replace(judgment, survey=only[judgment.annotator])
        for judgment, place in asked
    )

"""Answers made into judgments: their fields found, their items known, their people pseudonyms.

A pseudonym is a keyed hash (HMAC-SHA256, RFC 2104 and FIPS 180-4): the same participant has the
same one in every table imported with the same secret, and without the secret a list of all
identifiers does not help to find out who is who.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeAlias

from cimento.errors import InputError, UsageError, counted
from cimento.io.files import read_bytes, writing
from cimento.paradigms.base import Applied
from cimento.paradigms.registry import load_suite, load_suites
from cimento.people.judgments import (
    ACCEPTABILITY,
    ATTENTION,
    BETTER,
    FILLER,
    MILLISECONDS,
    PRACTICE,
    TEXT,
    AskedItem,
    AskedItems,
    ColumnMap,
    Judgment,
    RawRow,
    finite,
    judgments_of,
    usual_map,
)
from cimento.people.judgments.formats import (
    RawAnswers,
    Submission,
    jspsych_map,
    pcibex_map,
    read_jspsych,
    read_long,
    read_pcibex,
    read_wide,
)

BYTES = 32
"""The length of a new secret."""

LEAST_BYTES = 16
"""A shorter one could be guessed."""

_DIGITS = 12
"""Hexadecimal digits of a pseudonym: 48 bits; two of 10,000 people share one in 2 of 10 million."""


def open_secret(path: Path) -> tuple[bytes, bool]:
    """The secret in a file, and whether it was made just now, readable by its owner alone.

    Raises:
        InputError: the file is too short to be one.
        StorageError: it cannot be written.
    """
    if path.exists():
        secret = read_bytes(path).strip()
        if len(secret) < LEAST_BYTES:
            raise InputError(
                where=str(path),
                seen=f"has {len(secret)} characters",
                todo=f"A secret has {LEAST_BYTES} or more; name a file that is not there to make"
                " one.",
            )
        return secret, False
    secret = secrets.token_hex(BYTES).encode("ascii")
    with writing(path, todo="Name a file in a folder of yours."):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(secret + b"\n")
    return secret, True


def pseudonym(name: str, secret: bytes) -> str:
    """The pseudonym of a participant.

    Args:
        name: as the platform has it; blanks at its ends and the Unicode form do not count.
        secret: of `open_secret`.
    """
    plain = unicodedata.normalize("NFC", name).strip().encode("utf-8")
    return "p" + hmac.new(secret, plain, hashlib.sha256).hexdigest()[:_DIGITS]


MS = 1000.0
MOST_PLACES = 1_000_000
_SHOWN = 5

Unknown: TypeAlias = Literal["refuse", "skip"]
"""The treatment of an answer to no item of the suite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """The judgments imported from some files.

    Attributes:
        judgments: in the order of the files.
        passed: reasons why rows were skipped, and how often.
        notes: what else a person should know.
    """

    judgments: tuple[Judgment, ...]
    passed: Mapping[str, int]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRules:
    """The rules for reading rows.

    Attributes:
        columns: where the fields stand.
        places: what the suites ask; may be empty, and then items are as the file has them.
        rename: from a participant's name to the one that is kept.
        submissions: of Prolific, by participant; None where no export was given.
        unknown: what becomes of an answer to no item of the suites.
    """

    columns: ColumnMap
    places: AskedItems
    rename: Callable[[str], str]
    submissions: Mapping[str, Submission] | None = None
    unknown: Unknown = "refuse"


def judgments_from(rows: Sequence[RawRow], reading: ImportRules) -> Import:
    """Rows as judgments.

    Args:
        rows: one for each answer.
        reading: how they are read.

    Raises:
        InputError: an item is not known, an answer is of nobody, or a number is none; the first
            ones are named.
    """
    passed, judgments, faults = Counter[str](), list[Judgment](), list[str]()
    people: dict[str, str] = {}
    for row in rows:
        try:
            judgment = _judgment(row, reading, people)
        except InputError as error:
            faults.append(str(error))
            continue
        if isinstance(judgment, str):
            passed[judgment] += 1
        else:
            judgments.append(judgment)
    if faults:
        more = f"\n  ... and {len(faults) - _SHOWN} more" if len(faults) > _SHOWN else ""
        shown = "".join(f"\n  {fault}" for fault in faults[:_SHOWN])
        raise InputError(
            where="", seen=f"{counted(len(faults), 'answer')} cannot be used:{shown}{more}"
        )
    notes = (*_doubled(judgments), *_prolific_notes(people, reading.submissions))
    return Import(judgments=tuple(judgments), passed=passed, notes=notes)


def _judgment(row: RawRow, reading: ImportRules, people: dict[str, str]) -> Judgment | str:
    """A row as a judgment, or the reason why it is skipped."""
    columns = reading.columns

    def cell(name: str) -> str:
        return columns.cell(row, name)

    name = cell("annotator")
    if not name:
        raise InputError(
            where=row.where,
            seen="it is not said whose answer it is",
            todo="Name the column: --map annotator=COLUMN.",
        )
    expected, question = cell("expected"), cell("question") or ACCEPTABILITY
    if question in {FILLER, PRACTICE}:
        return f"it is a {question} question, which is not of the suite"
    place = None if expected or question == ATTENTION else _place(row, reading)
    if isinstance(place, str):
        return place
    answer = cell("value")
    if not answer:
        return "there is no answer in the row"
    people.setdefault(name, reading.rename(name))
    submission = (reading.submissions or {}).get(name)
    seconds = _number(row, "seconds", cell("seconds"))
    milliseconds = _number(row, MILLISECONDS, cell(MILLISECONDS))
    sitting = _number(row, "session_seconds", cell("session_seconds"))
    position = _number(row, "position", cell("position"))
    return Judgment(
        suite=place.suite if place else cell("suite"),
        item=place.item if place else cell("item"),
        condition=(place.condition if place else "") or cell("condition"),
        candidate=cell("candidate") or (place.text if place else cell(TEXT)) or None,
        annotator=people[name],
        question=question,
        value=columns.value(answer),
        remark=cell("remark") or None,
        at=cell("at") or None,
        survey=cell("survey") or None,
        position=None if position is None else int(position),
        seconds=milliseconds / MS if seconds is None and milliseconds is not None else seconds,
        session_seconds=submission.seconds if submission and sitting is None else sitting,
        expected=columns.value(expected) if expected else None,
        status=(submission.status if submission else "") or cell("status") or None,
        scale=cell("scale") or None,
    )


def _place(row: RawRow, reading: ImportRules) -> AskedItem | str | None:
    """The place of a row; the reason for skipping it; None where no suite is known."""
    item, condition, text = (reading.columns.cell(row, n) for n in ("item", "condition", TEXT))
    if not reading.places:
        if not item and not text:
            raise InputError(
                where=row.where,
                seen="it names no item",
                todo="Name the column: --map item=COLUMN; or --map text=COLUMN with --suite.",
            )
        return AskedItem(reading.columns.cell(row, "suite"), item or text, condition, "")
    # An id with its condition first: the id alone is that of all conditions.
    better = reading.columns.cell(row, "question") == BETTER
    asked = BETTER if better else condition
    both = [f"{item}/{asked}"] if item and asked else []
    place = reading.places.find(*both, text, item, where=row.where)
    if place is not None:
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
    value = finite(text)
    # Tables keep positions as whole numbers.
    if value is None or (
        name == "position" and not (value.is_integer() and abs(value) <= MOST_PLACES)
    ):
        todo = "It is a whole number." if name == "position" else "It is a number."
        raise InputError(where=row.where, seen=f"{name} is {text!r}", todo=todo)
    return value


def _doubled(judgments: Sequence[Judgment]) -> list[str]:
    """A note where the same person answered the same question twice; nothing is left out."""
    counts = Counter(
        (judgment.annotator, *judgment.key) for judgment in judgments if not judgment.is_check
    )
    n = sum(count - 1 for count in counts.values())
    if not n:
        return []
    note = f"{n} answers are to a question that the same person had answered before; all are kept:"
    return [note + " `cimento annotate filter --duplicates first` keeps the first ones."]


def _prolific_notes(
    people: Mapping[str, str], submissions: Mapping[str, Submission] | None
) -> list[str]:
    """Notes on participants in the answers alone or in the export alone."""
    if submissions is None:
        return []
    unknown = [kept for name, kept in people.items() if name not in submissions]
    silent = [name for name in submissions if name not in people]
    notes = []
    if unknown:
        notes.append(f"{len(unknown)} who answered are not in the export: {_listed(unknown)}")
    if silent:
        notes.append(f"{len(silent)} in the export have no answer")
    return notes


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def asked_items(suites: Sequence[Path]) -> AskedItems:
    """The questions of suites, by every name that an answer may have for them.

    Args:
        suites: folders or files.

    Raises:
        CimentoError: one cannot be read, or people are not asked about such suites.
    """
    return AskedItems(named for path in suites for named in _named(path))


def _named(path: Path) -> Iterator[tuple[AskedItem, list[str]]]:
    for loaded in load_suites(path):
        suite = loaded.suite.name
        asked = loaded.paradigm.survey_items(loaded.suite, None).items
        for item in asked:
            both = f"{item.item}/{item.condition}"
            with_condition = [both, both.replace("/", " ")] if item.condition else []
            names = [item.item, *with_condition, item.text, *item.names]
            yield AskedItem(suite, item.item, item.condition, item.text), names
        for name, count in Counter(item.item for item in asked).items():
            if count > 1:
                yield AskedItem(suite, name, "", ""), [f"{name}/{BETTER}"]


AnswerForm: TypeAlias = Literal["long", "wide", "jspsych", "pcibex", "rated"]

_LONG = usual_map(
    annotator=("participant", "participant_id", "PROLIFIC_PID"),
    value=("answer", "rating", "response"),
    text=("sentence", "stimulus"),
    milliseconds=("rt",),
    survey=("list",),
)
_MAPS: Mapping[AnswerForm, Callable[[], ColumnMap]] = {
    "long": lambda: _LONG,
    "wide": lambda: _LONG,
    "jspsych": jspsych_map,
    "pcibex": pcibex_map,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """The user's description of files of answers.

    Attributes:
        form: which program wrote them; ``rated`` for lists such as those of ItaCoLA and Lau et al.
        suites: paths of the suites that were asked; empty where items are as the files have them.
        columns: where fields stand, before what is usual for the form.
        secret: for pseudonyms; None keeps the names of participants.
        submissions: of Prolific, by participant.
        unknown: what becomes of answers to no item of the suites.
    """

    form: AnswerForm
    suites: Sequence[Path] = ()
    columns: ColumnMap = field(default_factory=ColumnMap)
    secret: bytes | None = None
    submissions: Mapping[str, Submission] | None = None
    unknown: Unknown = "refuse"


def read_answers(files: Sequence[Path], options: ImportOptions) -> Import:
    """The answers in some files as judgments.

    Raises:
        InputError: a file or a suite cannot be read, or an answer cannot be used.
        UsageError: options do not go together.
    """
    if options.form == "rated":
        return _published(files, options)
    secret = options.secret
    places = asked_items(options.suites)
    columns = _MAPS[options.form]().with_own(options.columns)
    passed, rows = Counter[str](), list[RawRow]()
    for path in files:
        answers = _read(path, options.form, columns, places)
        rows += answers.rows
        passed.update(answers.passed)
    imported = judgments_from(
        rows,
        ImportRules(
            columns=columns,
            places=places,
            rename=(lambda name: pseudonym(name, secret)) if secret else str,
            submissions=options.submissions,
            unknown=options.unknown,
        ),
    )
    if not imported.judgments:
        raise InputError(where=str(files[0]), seen="there is no answer", todo="Check --form.")
    return replace(imported, passed={**passed, **imported.passed})


def _read(path: Path, form: AnswerForm, columns: ColumnMap, places: AskedItems) -> RawAnswers:
    if form == "long":
        return read_long(path)
    if form == "wide":
        return read_wide(path, columns, places)
    return read_jspsych(path) if form == "jspsych" else read_pcibex(path)


def _published(files: Sequence[Path], options: ImportOptions) -> Import:
    """The single ratings in published lists, whose participants have no names."""
    from cimento.paradigms.ratings.formats import read_rated
    from cimento.paradigms.ratings.people import judgments_table

    if options.suites or options.submissions is not None:
        raise UsageError(
            where="--form rated",
            seen="a suite or an export of Prolific is given too",
            todo="Published lists have their own items and no participants of Prolific.",
        )
    judgments, passed = [], Counter[str]()
    for path in files:
        rated = read_rated(path)
        unrated = sum(not sentence.ratings for sentence in rated.sentences)
        if unrated:
            passed["a sentence has no single ratings"] += unrated
        judgments += judgments_of(judgments_table(rated))
    if not judgments:
        raise InputError(
            where=str(files[0]),
            seen="no sentence has single ratings",
            todo="A list of means or of labels is a suite: `cimento run FILE -m MODEL`.",
        )
    return Import(judgments=tuple(judgments), passed=passed)


def apply_judgments(
    path: Path,
    judgments: Sequence[Judgment],
    output: Path,
    *,
    scale: tuple[float, float] | None = None,
    language: str = "",
) -> Applied:
    """Write a copy of a suite with what people said of it, see `Paradigm.apply_judgments`.

    Args:
        path: the suite.
        judgments: those of other suites, and attention checks, are skipped and counted.
        output: folder of the copy.
        scale: ends of the scale of ratings, the worst first; None for those of the suite.
        language: ISO 639-1, of a suite that does not say its own.

    Raises:
        InputError: nobody answered anything about the suite, or a rating is off the scale.
        UsageError: suites of its paradigm hold no answers of people, or the scale is unknown.
        StorageError: the copy cannot be written.
    """
    if path.resolve() == output.resolve():
        raise UsageError(
            where="--output", seen="is the suite itself", todo="Name a folder for the copy."
        )
    loaded = load_suite(path, language=language)
    return loaded.paradigm.apply_judgments(loaded.suite, judgments, output, scale=scale)

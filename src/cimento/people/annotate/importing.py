"""Files of answers made into judgments, and judgments into suites that hold them."""

from __future__ import annotations

import contextlib
import os
import secrets
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

from cimento.errors import CimentoError, InputError, UsageError
from cimento.intake.archives import unzipped
from cimento.intake.decoding import decoded
from cimento.intake.forms import program_of, programs
from cimento.intake.reading import AnswersReading
from cimento.intake.table import Table
from cimento.intake.tables import open_table
from cimento.io.files import folder_atomically, read_bytes, writing
from cimento.io.values import grouped
from cimento.judgments import BETTER, BOTH, NONE, ColumnMap, Judgment, judgments_of
from cimento.judgments.asked import AnswerValue, AskedItem, AskedItems, comparable_text
from cimento.judgments.formats import RawAnswers, likely_form, read_long
from cimento.judgments.jspsych import TRIAL_TYPE, read_jspsych
from cimento.judgments.participants import ANNOTATOR
from cimento.judgments.pcibex import read_pcibex
from cimento.judgments.programs import is_labjs, read_program
from cimento.judgments.rated import judgments_table
from cimento.judgments.roles import usual_columns
from cimento.judgments.summaries import once
from cimento.judgments.told import told_advised
from cimento.judgments.wide import read_wide
from cimento.kinds.base import AppliedJudgments, SurveyItem
from cimento.kinds.paradigm import surveyor_of
from cimento.kinds.registry import LoadedSuite, load_suites
from cimento.people.annotate.remarks import unasked
from cimento.people.annotate.rows import PROGRAM_FORMS, Import, ImportOptions, judgments_from
from cimento.people.surveys.material import load_material
from cimento.suites.sentence_list import sentence_list

BYTES = 32
"""The length of a new secret."""

LEAST_BYTES = 16
"""A shorter one could be guessed."""


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


def questions_by_name(suites: Sequence[Path]) -> AskedItems:
    """The questions of suites, by every name that an answer may have for them.

    Args:
        suites: folders or files.

    Raises:
        CimentoError: one cannot be read, or people are not asked about such suites.
    """
    return AskedItems(named for path in suites for named in _named(path))


def _named(path: Path) -> Iterator[tuple[AskedItem, list[str]]]:
    for loaded in _suites_of(path):
        suite = loaded.suite.name
        surveyor = surveyor_of(loaded.paradigm, loaded.suite)
        asked = surveyor.survey_items(loaded.suite, None).items
        for item in asked:
            both = f"{item.item}/{item.condition}"
            with_condition = [both, both.replace("/", " ")] if item.condition else []
            names = [item.item, *with_condition, item.text, *item.names]
            yield AskedItem(suite, item.item, item.condition, item.text), names
        for name, members in grouped((item.item, item) for item in asked).items():
            if len(members) > 1:
                yield AskedItem(suite, name, "", "", answers=_chosen(members)), [f"{name}/{BETTER}"]


def _chosen(members: Sequence[SurveyItem]) -> tuple[AnswerValue, ...]:
    """The answers to which sentence of an item is better: one of them, or the condition's name."""
    sentences = [AnswerValue(one.text, one.text, one.condition) for one in members]
    conditions = [AnswerValue(one.condition, one.condition, one.condition) for one in members]
    ties = [AnswerValue(one, one) for one in (BOTH, NONE)]
    return (*sentences, *conditions, *ties)


def _suites_of(path: Path) -> list[LoadedSuite]:
    """The suites of a path; a list of sentences is one of sentences to be rated."""
    try:
        return list(load_suites(path))
    except InputError:
        if sentence_list(path) is None:
            raise
        return [load_material(path)]


def read_answers(files: Sequence[Path], options: ImportOptions) -> Import:
    """The answers in some files as judgments.

    Raises:
        InputError: a file or a suite cannot be read, or an answer cannot be used.
        UsageError: options do not go together.
    """
    if options.form == "rated":
        return _published(files, options)
    names = _names(files)
    answers = _told_apart(
        [_read(path, options, person) for path, person in zip(files, names, strict=True)], names
    )
    rows = [row for of_file in answers for row in of_file.rows]
    imported, kept = judgments_from(rows, options)
    if not imported.judgments:
        raise InputError(where=str(files[0]), seen="there is no answer", todo="Check --form.")
    passed = Counter[str]()
    for of_file in answers:
        passed.update(of_file.passed)
    notes = dict.fromkeys(note for of_file in answers for note in of_file.notes)
    unused = {name for of_file in answers for name in of_file.reading.unused}
    missing = unasked(imported.judgments, options.places, sorted(unused))
    return replace(
        imported,
        passed={**passed, **imported.passed},
        notes=(*notes, *imported.notes, *missing),
        readings=tuple(_readings(answers, imported.judgments, kept)),
    )


def _told_apart(answers: Sequence[RawAnswers], names: Sequence[str]) -> list[RawAnswers]:
    """Answers of several files, with the file's name before people that are times or numbers.

    Forms with other sentences may be sent at the same second; only a submission with the same
    answers is the same one, downloaded twice.

    Args:
        answers: of each file.
        names: of the files.
    """
    given: dict[str, set[frozenset[tuple[str, str]]]] = {}
    for of_file in answers:
        sent: dict[str, set[tuple[str, str]]] = {}
        for row in of_file.rows if of_file.unnamed else ():
            cells = row.cells
            sent.setdefault(cells[ANNOTATOR], set()).add((cells["item"], cells["value"]))
        for person, said in sent.items():
            given.setdefault(person, set()).add(frozenset(said))
    if all(len(submissions) == 1 for submissions in given.values()):
        return [*answers]
    return [
        replace(
            of_file,
            rows=[
                replace(row, cells={**row.cells, ANNOTATOR: f"{name} {row.cells[ANNOTATOR]}"})
                for row in of_file.rows
            ],
        )
        if of_file.unnamed
        else of_file
        for of_file, name in zip(answers, names, strict=True)
    ]


def _readings(
    answers: Sequence[RawAnswers], judgments: Sequence[Judgment], kept: Sequence[int]
) -> list[AnswersReading]:
    """What files were read as, those together that were read alike.

    Args:
        answers: of each file.
        judgments: that came of all of them.
        kept: the place of the row of each judgment among the rows of all files.
    """
    ends = [*accumulate(len(of_file.rows) for of_file in answers)]
    alike: dict[object, AnswersReading] = {}
    given: dict[object, list[Judgment]] = {}
    for of_file in answers:
        reading, key = of_file.reading, of_file.reading.layout
        alike[key] = alike[key].with_file(reading) if key in alike else reading
    for judgment, row in zip(judgments, kept, strict=True):
        key = answers[bisect_right(ends, row)].reading.layout
        given.setdefault(key, []).append(judgment)
    return [
        replace(
            reading,
            n_judgments=len(given.get(key, ())),
            n_people=len({judgment.annotator for judgment in given.get(key, ())}),
        )
        for key, reading in alike.items()
    ]


DESIGN_FORMS: frozenset[str] = frozenset({"jspsych", "pcibex"})
"""Forms in which our own experiments store answers as the design does."""


def _names(files: Sequence[Path]) -> list[str]:
    """The names of some files, with their folders where two are called alike."""
    stems = Counter(path.stem for path in files)
    return [
        path.stem if stems[path.stem] == 1 else path.with_suffix("").as_posix() for path in files
    ]


def _read(path: Path, options: ImportOptions, person: str) -> RawAnswers:
    """The answers in a file.

    Args:
        path: of the file.
        options: how it is read.
        person: who answered, where one person's answers fill a file that does not name them.
    """
    form = options.form or form_of(path, options.columns, options.places)
    if form == "long":
        table, columns = open_table(path), usual_columns(None).with_own(options.columns)
        _refuse_other_form(table, columns, options.places)
        return read_long(table, columns, is_of_suite=bool(options.places))
    program = programs().get(form)
    if form == "wide" or (program is not None and program.shape == "wide"):
        return read_wide(
            path,
            usual_columns(None).with_own(options.columns),
            options.places,
            form=form,
            items=options.items,
            unsubmitted=options.unsubmitted == "keep",
            keep_names=options.secret is None,
        )
    if program is None or form not in PROGRAM_FORMS:
        raise unclear_form(path, form)
    columns = usual_columns(program, alone=program.shape != "long").with_own(options.columns)
    if form == "jspsych":
        return read_jspsych(path, columns, person, asked=options.places)
    if form == "pcibex":
        return read_pcibex(path, columns, person, keep_names=options.secret is None)
    return read_program(path, program, columns, person)


FORMS = {
    "long": "a table with one answer a row, as `cimento annotate serve` exports them",
    "wide": "a table with one person per row and one sentence per column, as form programs"
    " export them",
    "rated": "a published list of sentences with single ratings, such as ItaCoLA's",
}
"""The forms of answers beside those of programs."""


_NO_TEXT = frozenset({".xlsx", ".parquet", ".zip"})


def unclear_form(path: Path, form: str) -> CimentoError:
    """The error of a file whose form is not clear, that has no answers or that cannot be read.

    Args:
        path: of the file.
        form: what it has in place of answers; empty if that is not known.
    """
    try:
        # A file that is not what it is called, or no text, has no form.
        (open_table if path.suffix in _NO_TEXT else decoded)(path)
    except CimentoError as fault:
        return fault
    if form == "prolific":
        return UsageError(
            where=path.name,
            seen="is Prolific's list of who took part, and has no answers",
            todo=f"Give the file of the answers, and this one as --prolific {path.name}.",
        )
    advice = ""
    with contextlib.suppress(CimentoError):
        table = open_table(path)
        advice = told_advised(table) or _in_columns(path, table)
    return UsageError(
        where=path.name,
        seen="it is not clear how the answers are arranged",
        todo=advice
        or "Give --form with one of: "
        + "; ".join(f"{name}: {what}" for name, what in FORMS.items())
        + f"; or the program: {', '.join(PROGRAM_FORMS)}.",
    )


def _in_columns(path: Path, table: Table) -> str:
    """Advice on a table with a sentence in each row and a column for each person; else empty."""
    from cimento.suites.formats.judged_advice import people_advised

    sentences = [name for name in table.columns if table.profile(name).kind == "sentences"]
    advice = people_advised(table, sentences[0]) if len(sentences) == 1 else ""
    given = (
        advice and f"Such a table is a suite with ratings, which `cimento run {path.name}` reads."
    )
    return f"{given} {advice}".strip()


def form_of(path: Path, columns: ColumnMap, places: AskedItems | None) -> str:
    """The form that a file of answers has by its contents; empty if it is not clear.

    Args:
        path: of the file.
        columns: where fields stand, before the usual columns.
        places: the questions of a suite or a design; None where none is given.
    """
    begin = unzipped(read_bytes(path), name=path.name)[0][:1]
    if begin == b"#":
        return "pcibex"
    if begin in (b"[", b"{"):
        return "labjs" if is_labjs(path) else "jspsych"
    try:
        table = open_table(path, apart=True)
    except CimentoError:
        return ""
    program = program_of(table)
    if program is not None and program.shape != "wide":
        return program.name
    likely = likely_form(table, usual_columns(None).with_own(columns), places or AskedItems(()))
    if program is None or likely == "long":
        return likely
    return program.name


def _refuse_other_form(table: Table, columns: ColumnMap, places: AskedItems) -> None:
    """Refuse a table with a person in each row where one with an answer in each row is expected.

    Raises:
        UsageError: it looks like that, or has jsPsych's responses, which may count from 0.
    """
    if {TRIAL_TYPE, "response"} <= {*table.columns} and "value" not in table.columns:
        raise UsageError(
            where=table.name,
            seen=f"there is a column {TRIAL_TYPE}, as in jsPsych's data, whose responses may count"
            " from 0",
            todo="Give --form jspsych.",
        )
    if likely_form(table, columns, places) == "wide":
        raise UsageError(
            where=table.name,
            seen="looks as if each row had all answers of one person, and no column has answers",
            todo="Give --form wide; or name the columns: --columns='answer=COLUMN,item=COLUMN'.",
        )


def _published(files: Sequence[Path], options: ImportOptions) -> Import:
    """The single ratings in published lists, whose participants have no names."""
    from cimento.suites.formats.ratings import read_rated

    if options.places or options.submissions is not None:
        raise UsageError(
            where="--form rated",
            seen="a suite, a design or an export of Prolific is given too",
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
) -> AppliedJudgments:
    """Write a copy of a suite with what people said of it, see `Surveyor.apply_judgments`.

    Args:
        path: the suite, or a list of sentences, which becomes a suite of ratings.
        judgments: attention checks and those of other suites are skipped and counted; one other
            suite with the same sentences under the same items is this one under another name.
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
    loaded = load_material(path, language=language)
    surveyor = surveyor_of(loaded.paradigm, loaded.suite)
    first = once(judgments)
    asked_as = _other_name(loaded, first)
    if asked_as:
        first = [
            replace(judgment, suite=loaded.suite.name) if judgment.suite == asked_as else judgment
            for judgment in first
        ]
    applied: list[AppliedJudgments] = []

    def save(folder: Path) -> None:
        applied.append(surveyor.apply_judgments(loaded.suite, first, folder, scale=scale))

    if output.is_dir() and any(output.iterdir()):  # to be replaced, if its caller let it
        save(output)
    else:
        folder_atomically(output, save)
    if again := len(judgments) - len(first):
        why = "the same person had answered the question before"
        passed = {**applied[0].passed, why: again}
        return replace(applied[0], passed=passed, suite=loaded.suite.name, asked_as=asked_as)
    return replace(applied[0], suite=loaded.suite.name, asked_as=asked_as)


def _other_name(loaded: LoadedSuite, judgments: Sequence[Judgment]) -> str:
    """The one other name that answers have for a suite, if all are about its sentences.

    Each has the text that somebody judged, which is that of the suite's item and condition.
    """
    about = [j for j in judgments if not j.is_check]
    names = {judgment.suite for judgment in about}
    if len(names) != 1 or loaded.suite.name in names:
        return ""
    asked = surveyor_of(loaded.paradigm, loaded.suite).survey_items(loaded.suite, None).items
    texts = {(one.item, one.condition): comparable_text(one.text) for one in asked}
    are_same = all(
        j.candidate and texts.get((j.item, j.condition)) == comparable_text(j.candidate)
        for j in about
    )
    return names.pop() if are_same else ""

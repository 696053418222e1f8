"""Files of answers made into judgments, and judgments into suites that hold them."""

from __future__ import annotations

import os
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from cimento.errors import CimentoError, InputError, UsageError
from cimento.intake.words import HEADERS, PARTICIPANTS
from cimento.io.files import folder_atomically, read_bytes, writing
from cimento.judgments import (
    BETTER,
    ColumnMap,
    Judgment,
    RawRow,
    judgments_of,
    usual_map,
)
from cimento.judgments.asked import AskedItem, AskedItems
from cimento.judgments.formats import RawAnswers, likely_form, read_long
from cimento.judgments.jspsych import JSPSYCH_COLUMNS, TRIAL_TYPE, read_jspsych
from cimento.judgments.pcibex import PCIBEX_COLUMNS, read_pcibex
from cimento.judgments.rated import judgments_table
from cimento.judgments.summaries import once
from cimento.judgments.wide import read_wide
from cimento.kinds.base import AppliedJudgments
from cimento.kinds.paradigm import surveyor_of
from cimento.kinds.registry import load_suite, load_suites
from cimento.people.annotate.rows import AnswerForm, Import, ImportOptions, judgments_from
from cimento.suites.tables import open_table

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
    for loaded in load_suites(path):
        suite = loaded.suite.name
        surveyor = surveyor_of(loaded.paradigm, loaded.suite)
        asked = surveyor.survey_items(loaded.suite, None).items
        for item in asked:
            both = f"{item.item}/{item.condition}"
            with_condition = [both, both.replace("/", " ")] if item.condition else []
            names = [item.item, *with_condition, item.text, *item.names]
            yield AskedItem(suite, item.item, item.condition, item.text), names
        for name, count in Counter(item.item for item in asked).items():
            if count > 1:
                yield AskedItem(suite, name, "", ""), [f"{name}/{BETTER}"]


def _spelled(*names: str) -> tuple[str, ...]:
    """Names of a column in small letters, with a capital, and in capitals."""
    return tuple(dict.fromkeys(f(name) for name in names for f in (str, str.capitalize, str.upper)))


# A subject, a person or a name may also be those of the sentence.
_LONG = usual_map(
    annotator=(
        *_spelled("participant_id", "participant id", *PARTICIPANTS),
        "PROLIFIC_PID",
    ),
    value=_spelled(
        "answer", "rating", "response", "judgment", "judgement", "risposta", "giudizio", "voto",
        "valutazione", "punteggio", "respuesta", "juicio", "valoración", "puntuación", "resposta",
        "julgamento", "avaliação", "pontuação", "nota", "ответ", "оценка", "балл",
    ),
    item=_spelled("item", "ítem", "elemento"),
    condition=_spelled("condition", *HEADERS["condition"]),
    text=_spelled("sentence", "stimulus", "text", *HEADERS["text"]),
    milliseconds=("rt",),
    survey=("list",),
)  # fmt: skip
_MAPS: Mapping[AnswerForm, ColumnMap] = {
    "long": _LONG, "wide": _LONG, "jspsych": JSPSYCH_COLUMNS, "pcibex": PCIBEX_COLUMNS,
}  # fmt: skip


def read_answers(files: Sequence[Path], options: ImportOptions) -> Import:
    """The answers in some files as judgments.

    Raises:
        InputError: a file or a suite cannot be read, or an answer cannot be used.
        UsageError: options do not go together.
    """
    if options.form == "rated":
        return _published(files, options)
    options = replace(options, columns=_MAPS[options.form].with_own(options.columns))
    passed, rows, notes = Counter[str](), list[RawRow](), list[str]()
    for path, person in zip(files, _names(files), strict=True):
        answers = _read(path, options, person)
        rows += answers.rows
        passed.update(answers.passed)
        notes += answers.notes
    imported = judgments_from(rows, options)
    if not imported.judgments:
        raise InputError(where=str(files[0]), seen="there is no answer", todo="Check --form.")
    return replace(
        imported,
        passed={**passed, **imported.passed},
        notes=(*dict.fromkeys(notes), *imported.notes),
    )


OF_DESIGNS: frozenset[str] = frozenset({"jspsych", "pcibex"})
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
    if options.form == "long":
        _refuse_other_form(path, options)
        return read_long(path, options.columns)
    if options.form == "wide":
        return read_wide(
            path,
            options.columns,
            options.places,
            items=options.items,
            unsubmitted=options.unsubmitted == "keep",
            keep_names=options.secret is None,
        )
    if options.form == "jspsych":
        return read_jspsych(path, options.columns, person)
    return read_pcibex(path, options.columns, person, keep_names=options.secret is None)


def form_of(path: Path, columns: ColumnMap, places: AskedItems | None) -> str:
    """The form that a file of answers seems to have; empty if it is not clear.

    Args:
        path: of the file.
        columns: where fields stand, before the usual columns.
        places: the questions of a design; None where no design is given.
    """
    begin = read_bytes(path)[:1]
    if begin == b"#" or begin in (b"[", b"{"):
        return "pcibex" if begin == b"#" else "jspsych"
    try:
        table = open_table(path)
    except CimentoError:
        return ""
    if TRIAL_TYPE in table.columns:
        return "jspsych"
    return likely_form(table, _LONG.with_own(columns), places or AskedItems(()))


def _refuse_other_form(path: Path, options: ImportOptions) -> None:
    """Refuse a table with a person in each row where one with an answer in each row is expected.

    Raises:
        UsageError: it looks like that, or has jsPsych's responses, which may count from 0.
    """
    table = open_table(path)
    if {TRIAL_TYPE, "response"} <= {*table.columns} and "value" not in table.columns:
        raise UsageError(
            where=path.name,
            seen=f"there is a column {TRIAL_TYPE}, as in jsPsych's data, whose responses may count"
            " from 0",
            todo="Give --form jspsych.",
        )
    if likely_form(table, options.columns, options.places) == "wide":
        raise UsageError(
            where=path.name,
            seen="looks as if each row had all answers of one person, and no column has answers",
            todo="Give --form wide; or name the columns: --map value=COLUMN --map item=COLUMN.",
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
    surveyor = surveyor_of(loaded.paradigm, loaded.suite)
    first = once(judgments)
    applied: list[AppliedJudgments] = []

    def save(folder: Path) -> None:
        applied.append(surveyor.apply_judgments(loaded.suite, first, folder, scale=scale))

    if output.is_dir() and any(output.iterdir()):  # to be replaced, if its caller let it
        save(output)
    else:
        folder_atomically(output, save)
    if again := len(judgments) - len(first):
        why = "the same person had answered the question before"
        return replace(applied[0], passed={**applied[0].passed, why: again})
    return applied[0]

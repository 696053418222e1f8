"""``cimento annotate``: people's answers imported, filtered, applied to suites, adjudicated."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from cimento.cli.console import note, show
from cimento.cli.flags import command_of, parted, refuse_file_name, refuse_used_folder
from cimento.errors import CimentoError, InputError, UsageError, counted
from cimento.intake.read_once import reading_once
from cimento.io.declared import Options, Texts, option
from cimento.io.files import refuse_overwriting
from cimento.judgments import (
    SUFFIXES,
    finite,
    is_judgments,
    judgments_of,
    read_judgments,
    refuse_suffix,
    table_of,
    write_judgments,
)
from cimento.judgments.filters import ExclusionRules, write_filtered
from cimento.judgments.formats import read_prolific, write_participants
from cimento.judgments.roles import map_of_options, read_map
from cimento.options import run_option
from cimento.people.annotate.importing import open_secret
from cimento.people.annotate.remarks import inattentive, spelled_apart
from cimento.people.annotate.rows import AnswerForm, pseudonym
from cimento.suites.builtin import find_suite

if TYPE_CHECKING:
    from cimento.judgments import ColumnMap
    from cimento.judgments.asked import AskedItems
    from cimento.judgments.formats import Submission
    from cimento.kinds.base import AppliedJudgments


class ImportAnswersOptions(Options):
    """The files of answers, their form, and the treatment of names."""

    files: tuple[Path, ...] = option(
        ...,
        "Files of answers, Excel or CSV, zipped or not; or what a program wrote.",
        argument="FILE...",
    )
    output: Path = option(..., "Judgments: .parquet, .csv or .tsv.", flags=("-o",))
    suites: Texts = option(
        (), "The suite that people judged; items are checked against it.", flags=("--suite",)
    )
    secret: Path | None = option(
        None, "File with the key of pseudonyms, made if missing. Required unless --names keep."
    )
    names: Literal["replace", "keep"] = option(
        "replace",
        "Pseudonyms replace participants' names (replace, the default), or keep the names.",
    )
    form: AnswerForm | None = option(
        None,
        "long: an answer per row; wide: a person per row; rated: lists such as ItaCoLA's; or the"
        " program that wrote the files. By default what their contents say.",
    )
    design: Path | None = option(
        None,
        "The survey that was asked, as `annotate survey build` wrote it, instead of --suite: its"
        " items, attention checks, answers and scale are then known. By default the design.json"
        " beside the answers.",
    )
    columns: str = option(
        "",
        'Which column is what: participant="Your code",answer=Voto; separate several with commas.'
        " A column whose cells do not fit is refused, unless ! follows its name.",
        metavar="ROLE=COLUMN,...",
    )
    fixed: Texts = option((), "What is the same in all answers. Repeatable.", metavar="ROLE=VALUE")
    mapping: Path | None = option(None, 'The same as TOML (see the page "Ask people").')
    prolific: Path | None = option(None, "Prolific's export of the participants.")
    keep: Texts = option((), "Column of that export to keep in --participants. Repeatable.")
    participants: Path | None = option(None, "Write pseudonym, status, seconds and --keep (TSV).")
    unknown: Literal["refuse", "skip"] = option(
        "refuse", "Answers that the suite or the design does not know."
    )
    items: Texts = option(
        (),
        "Column of a wide table that is an item, where there is no --suite or --design; * stands"
        " for any letters, as in 'Q2_*'. By default those whose cells may be answers. Repeatable.",
        metavar="COLUMN",
    )
    unsubmitted: Literal["skip", "keep"] = option(
        "skip", "Answers that Qualtrics or LimeSurvey marks as never submitted."
    )
    details: bool = option(
        default=False, help="List every column of the files with what it was read as."
    )


@command_of
@reading_once()
def import_answers(options: ImportAnswersOptions) -> None:
    """Read people's answers and write the judgments table.

    Participants get pseudonyms (a keyed hash). --secret names the file with the key, which stays
    with you and is in no table. Use --names keep for participants who are already anonymous.
    Example, a Google form about pairs:
    cimento annotate import form.csv --suite pairs.xlsx --secret my.secret -o judgments.csv
    """
    from cimento.people.annotate.importing import read_answers
    from cimento.people.annotate.rows import ImportOptions

    refuse_suffix(options.output)
    _check_people(options)
    form, places = _form_and_places(options)
    submissions = read_prolific(options.prolific) if options.prolific is not None else None
    key = _secret(options.secret) if form != "rated" and options.names == "replace" else None
    imported = read_answers(
        options.files,
        ImportOptions(
            form=form if len(options.files) == 1 else options.form,
            places=places,
            columns=_columns(options),
            secret=key,
            submissions=submissions,
            unknown=options.unknown,
            items=options.items,
            unsubmitted=options.unsubmitted,
        ),
    )
    whole = "\n".join(reading.said(whole=True) for reading in imported.readings)
    write_judgments(table_of(imported.judgments), options.output, read=whole)
    if options.participants is not None and submissions is not None:
        _write_people(submissions, options.keep, key, options.participants)
    skipped = [f"{number} skipped: {reason}" for reason, number in imported.passed.items()]
    for line in (*skipped, *imported.notes):
        note(line)
    for reading in imported.readings:
        note(reading.said())
        if options.details:
            note(reading.listed())
        elif reading.said() != reading.said(whole=True):
            note("Every question, with what it was read as: --details.")
    people = len({judgment.annotator for judgment in imported.judgments})
    note(
        f"{counted(len(imported.judgments), 'judgment')} of {counted(people, 'person', 'people')}:"
        f" {options.output}"
    )


def _form_and_places(options: ImportAnswersOptions) -> tuple[AnswerForm, AskedItems]:
    """The form of the first file, and the questions of the design or of the suites.

    Raises:
        UsageError: the form is not given, and not clear; or a design and suites are given.
        InputError: the design or a suite cannot be read.
    """
    from cimento.people.annotate.importing import (
        DESIGN_FORMS,
        form_of,
        questions_by_name,
        unclear_form,
    )
    from cimento.people.annotate.rows import ANSWER_FORMS
    from cimento.people.surveys import read_design
    from cimento.people.surveys.asked import asked_by
    from cimento.suites.load import suite_paths

    path = _design(options)
    design = None if path is None else read_design(path)
    paths = [path for name in options.suites for path in suite_paths(find_suite(name))]
    places = questions_by_name(paths) if design is None else asked_by(design, stored=False)
    first = options.files[0]
    told = options.form or form_of(first, _columns(options), places)
    form = next((form for form in ANSWER_FORMS if form == told), None)
    if form is None:
        raise unclear_form(first, told)
    if design is not None and form in DESIGN_FORMS:
        places = asked_by(design, stored=True)
    return form, places


def _design(options: ImportAnswersOptions) -> Path | None:
    """The path of the survey's design: the one given, else the one beside the answers, if any.

    Raises:
        UsageError: a suite is given too.
    """
    from cimento.people.surveys import FILE

    if options.design is not None and options.suites:
        raise UsageError(
            where="--design", seen="--suite is given too", todo="Give one: a design has its items."
        )
    beside = options.files[0].parent / FILE
    if options.design or options.suites or options.form == "rated" or not beside.is_file():
        return options.design
    note(f"The survey is that of {beside}.")
    return beside


def _check_people(options: ImportAnswersOptions) -> None:
    """Refuse options that have no effect without another, and files that would be overwritten."""
    prolific, participants = options.prolific, options.participants
    if participants is not None and prolific is None:
        raise UsageError(where="--participants", seen="there is no --prolific", todo="Give both.")
    if options.keep and participants is None:
        raise UsageError(where="--keep", seen="there is no --participants", todo="Give both.")
    if participants is not None and prolific is not None:
        refuse_overwriting(participants, [*options.files, prolific])
    if participants is not None and participants.suffix != ".tsv":
        raise UsageError(
            where=f"--participants {participants}",
            seen="participants are written as .tsv",
            todo=f"Name a file, such as {participants.with_suffix('.tsv')}.",
        )


def _secret(path: Path | None) -> bytes:
    if path is None:
        raise UsageError(
            where="--secret",
            seen="is missing, and participants' names are not kept",
            todo="Give --secret FILE (made if not there; keep it to yourself), or --names keep.",
        )
    secret, made = open_secret(path)
    if made:
        note(f"A secret was made: {path}. Whoever has it can tell who is who; keep it to yourself.")
    return secret


def _columns(options: ImportAnswersOptions) -> ColumnMap:
    said = map_of_options(options.columns, options.fixed)
    return said if options.mapping is None else read_map(options.mapping).with_own(said)


def _write_people(
    submissions: dict[str, Submission], keep: Sequence[str], key: bytes | None, path: Path
) -> None:
    def rename(name: str) -> str:
        return pseudonym(name, key) if key else name

    write_participants(submissions, path, keep=keep, rename=rename)
    note(f"{len(submissions)} participants: {path}")


class PseudonymOptions(Options):
    """The participants, and the secret of their pseudonyms."""

    names: Texts = option(..., "Identifiers as the platform has them.", argument="ID...")
    secret: Path = option(..., "File with the secret that made them.")


@command_of
def pseudonym_of(options: PseudonymOptions) -> None:
    """Print the pseudonyms of participants, to find somebody who asks for deletion.

    Then exclude their answers with: cimento annotate filter --drop PSEUDONYM=WHY.
    """
    if not options.secret.is_file():
        raise InputError(
            where=str(options.secret),
            seen="there is no such file",
            todo="Give the secret that the table was imported with; a new one is of no use.",
        )
    key, _ = open_secret(options.secret)
    for name in options.names:
        show(pseudonym(name, key))


class FilterOptions(Options):
    """The rules that leave participants out."""

    judgments: Path = option(..., "Table of judgments, or a run with one.", argument="JUDGMENTS")
    output: Path = option(..., "Table of what is left.", flags=("-o",))
    duplicates: Literal["keep", "first", "last", "none"] = option(
        "keep", "Which answer counts if one person answered a question several times."
    )
    status: str = option("", "Leave these out, as in REJECTED,RETURNED.")
    min_seconds: float | None = option(
        None, "Minimum time for the whole session, breaks included.", ge=0
    )
    min_median_seconds: float | None = option(
        None, "Minimum median time per answer, which breaks do not lengthen.", ge=0
    )
    answered: float | None = option(
        None, "Least proportion of their survey's questions that somebody answered.", ge=0, le=1
    )
    attention: float | None = option(
        None, "Minimum proportion of attention checks answered correctly.", ge=0, le=1
    )
    same_share: float | None = option(None, "Largest proportion of one answer.", ge=0, le=1)
    same_run: int | None = option(None, "Longest run of equal answers.", ge=1)
    with_rest: float | None = option(None, "Least agreement with all others.", ge=-1, le=1)
    drop: Texts = option((), "Leave one out, and why. Repeatable.", metavar="WHO=WHY")
    by: str = option("", "Who decides on these rules, for the log.")

    @property
    def rules(self) -> ExclusionRules:
        """The rules, as they are applied.

        Raises:
            UsageError: a person is dropped without a reason.
        """
        return self.named_in(
            ExclusionRules,
            statuses=tuple(part.strip() for part in self.status.split(",") if part.strip()),
            seconds=self.min_seconds,
            median_seconds=self.min_median_seconds,
            by_hand=parted(self.drop, flag="--drop", todo="Say why: --drop 'p12=asked for it'."),
        )


_RULES = (
    "Give at least one: --attention 0.8 (least proportion of checks that is right), --answered 0.9"
    " (least proportion of the questions), --min-median-seconds 1 (of an answer), --min-seconds"
    " 60 (of"
    " the whole sitting), --same-run 20 (equal answers in a row), --same-share 0.9, --with-rest 0,"
    " --status REJECTED, --duplicates first, or --drop WHO=WHY."
)


@command_of
def filter_answers(options: FilterOptions) -> None:
    """Exclude participants by rules, with a log of who was excluded, why, and the effect.

    The log is written next to OUTPUT, as .log.json and .log.txt; the text is printed too.
    """
    refuse_suffix(options.output)
    limits = options.rules
    if limits == ExclusionRules():
        raise UsageError(
            where="filter", seen="no rule is given, so nobody would be left out", todo=_RULES
        )
    source = options.judgments
    file = source / "judgments.parquet" if source.is_dir() else source
    refuse_overwriting(options.output, [file])
    judgments = judgments_of(read_judgments(options.judgments))
    for remark in spelled_apart({j.annotator: j.annotator for j in judgments if j.annotator}):
        note(remark)
    filtered, text = write_filtered(judgments, limits, options.output, source=file, by=options.by)
    show(text)
    if not any(judgment.counts for judgment in filtered.judgments):
        note("Nothing is left.")
    names = ", ".join(options.output.with_suffix(f".log.{kind}").name for kind in ("json", "txt"))
    note(f"{len(filtered.judgments)} judgments: {options.output}; the log: {names}")


_UNDER_OTHER_NAME = "The answers call the suite {!r}; all are about sentences of {}, so they count."


class ApplyOptions(Options):
    """The suite, and people's judgments of it."""

    suite: str = option(
        ..., "Suite that people judged: the file given to `annotate import`.", argument="SUITE"
    )
    judgments: tuple[Path, ...] = option(
        ...,
        "Tables of judgments, an answer a row. Mean ratings do not belong here: write them beside"
        " the sentences, and run that table.",
        argument="JUDGMENTS...",
    )
    output: Path = option(..., "Folder of the copy.", flags=("-o",))
    scale: str = option(
        "",
        "Worst and best rating, such as 1,5. Needed for ratings unless the suite, or the survey's"
        " design, has it.",
    )
    language: str = run_option("language")
    force: bool = option(default=False, help="Replace what is in the folder.")


@command_of
def apply_answers(options: ApplyOptions) -> None:
    """Write a copy of a suite with people's answers, for comparison with models.

    Ratings become columns of the copy, so that `cimento run` compares them with a model; choices
    among options are written to choices.tsv, for `cimento analyze profile --people`. Example:
    cimento annotate apply pairs.xlsx judgments.csv --scale 1,5 --language it -o rated
    """
    from cimento.paradigms.cloze import CHOICES_FILE
    from cimento.people.annotate.importing import apply_judgments
    from cimento.people.surveys.asked import language_of

    output, language = options.output, options.language
    _refuse_swapped(options.suite, options.judgments[0])
    refuse_file_name(output, holds="suites with people's answers are")
    refuse_used_folder(output, force=options.force)
    all_judgments = [
        judgment for path in options.judgments for judgment in judgments_of(read_judgments(path))
    ]
    path = find_suite(options.suite)
    if not language:
        language, design = language_of(path, options.judgments)
        if design is not None:
            note(f"The language is that of {design}: {language}.")
        elif not language:
            note(
                "The suite does not name its language."
                " Give --language CODE (en, es, it, pt, ru ...)."
            )
    for remark in inattentive(all_judgments, failed_only=True):
        note(f"Their answers count: {remark[0].lower()}{remark[1:]}")
    scale = _scale(options.scale)
    applied = apply_judgments(path, all_judgments, output, scale=scale, language=language)
    _say_counts(applied, path)
    note(f"{applied.used} answers: {output}")
    if (output / CHOICES_FILE).exists():
        note(f"cimento analyze profile RUN --people {output / CHOICES_FILE}")
        note(f"Runs are stored under the suite's name: runs/{applied.suite}")
    else:
        # The copy has the suite's name, under which other runs are stored: it has its own folder.
        note(f"cimento run {output} -m MODEL -o {output}-runs")


def _say_counts(applied: AppliedJudgments, path: Path) -> None:
    """Say what was left out of a copy, what the suite had already, and what it still lacks."""
    if applied.asked_as:
        note(_UNDER_OTHER_NAME.format(applied.asked_as, path.name))
    for why, count in applied.passed.items():
        note(f"{count} skipped: {why}")
    if applied.without:
        note(f"{counted(applied.without, 'item was', 'items were')} answered by nobody")
    if applied.earlier:
        had, answered = counted(applied.earlier, "sentence"), applied.earlier - applied.kept
        note(
            f"Ratings of {had} were in the suite already: {answered} replaced by the answers,"
            f" {applied.kept} kept."
        )
    if applied.unrated:
        lacking = counted(applied.unrated, "sentence")
        note(f"{lacking} of the suite without ratings")


def _refuse_swapped(suite: str, judgments: Path) -> None:
    """Refuse judgments in the place of the suite, which other commands of `annotate` read first.

    Raises:
        UsageError: the first file may be one of judgments, and the second cannot be one.
    """
    first, may_be = Path(suite), True
    with contextlib.suppress(CimentoError):
        may_be = is_judgments(first)
    if first.suffix in SUFFIXES and judgments.suffix not in SUFFIXES and may_be:
        raise UsageError(
            where="cimento annotate apply",
            seen=f"{judgments} is in the place of the judgments",
            todo=f"The suite comes first: cimento annotate apply {judgments} {suite}",
        )


def _scale(text: str) -> tuple[float, float] | None:
    if not text:
        return None
    ends = [finite(part) for part in text.split(",")]
    if len(ends) != 2 or ends[0] is None or ends[1] is None or ends[0] >= ends[1]:  # noqa: PLR2004  # two ends
        raise UsageError(
            where="--scale", seen=f"got {text!r}", todo="Write the worst and the best: 1,5."
        )
    return ends[0], ends[1]


class AdjudicateOptions(Options):
    """The judgments of two annotators, and who decides between them."""

    first: Path = option(..., "Judgments of one annotator.", argument="A")
    second: Path = option(..., "Judgments of another; may be A.", argument="B")
    output: Path = option(..., "Table of the final judgments.", flags=("-o",))
    one: str = option("", "Annotator in A, if A has several.", flags=("--first",))
    other: str = option("", "Annotator in B.", flags=("--second",))
    by: str = option("", "Name of the person who decides.")
    ask: bool = option(
        default=True, help="Ask, or only print the agreement.", flags=("--ask/--no-ask",)
    )


@command_of
def adjudicate(options: AdjudicateOptions) -> None:
    """Decide, one by one, the answers on which two annotators differ.

    Both answers are shown. Type 1 or 2 to choose one of them, or any other answer that is allowed.
    Every decision is saved at once. Type :quit to stop; the next time you continue there.
    """
    from cimento.people.annotate.adjudication import adjudication_text, one_annotator
    from cimento.people.annotate.adjudication import decide_differences as decide

    output = options.output
    refuse_suffix(output)
    a, b = (
        one_annotator(judgments_of(read_judgments(path)), name, where=str(path))
        for path, name in ((options.first, options.one), (options.second, options.other))
    )
    if options.ask:
        disputed, left = decide(a, b, output, by=options.by, read=input, show=show)
        note(f"{disputed - left} of {disputed} differences are decided: {output}")
    show(adjudication_text(a, b, output))

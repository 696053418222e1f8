"""``cimento annotate survey distractors`` and ``annotate times``: sentences read word by word."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.cli.console import note, show
from cimento.cli.flags import SheetOptions, command_of
from cimento.errors import InputError, UsageError, counted
from cimento.io.declared import option
from cimento.io.files import refuse_overwriting, write_text
from cimento.models.settings import BoundaryRule, PllRule
from cimento.options import ModelOptions, run_option
from cimento.people.surveys.times import MazeErrors, TimeRules

if TYPE_CHECKING:
    from cimento.judgments import Judgment


class DistractorOptions(ModelOptions):
    """The sentences, the words to take distractors from, and the model."""

    suite: str = option(..., "A suite, or a list of sentences.", argument="SUITE")
    model: str = option(
        ..., "demo-causal, a folder, org/name@revision, openai:URL#model.", flags=("-m",)
    )
    output: Path = option(Path("maze.tsv"), "Sheet that is written, .tsv.", flags=("-o",))
    words: Path | None = option(
        None,
        "Words to choose from: a treebank, a text (.txt), or a list with the columns word and"
        " count. By default the words of the suite, whose frequency is not known.",
    )
    practice: Path | None = option(None, "Table of practice sentences, as for survey build.")
    fillers: Path | None = option(None, "Table of fillers, as for survey build.")
    above: float = option(8.0, "Bits by which a distractor is more surprising than its word.", ge=0)
    candidates: int = option(24, "Words that are tried for each place.", ge=1, le=1000)
    boundary: BoundaryRule | None = option(
        None, "Correct words for where they may end; none by default."
    )
    pll: PllRule | None = option(None, "Pseudo-log-likelihood of masked models.")
    language: str = option("", "Language of the suite, if it does not say it.")
    limit: int | None = run_option("limit")
    seed: int = option(0, "Seed of the order of words that are equally similar.", ge=0)
    force: bool = option(default=False, help="Replace a sheet, with its corrections.")


@command_of
def distractors(options: DistractorOptions) -> None:
    """Propose the distractors of a maze: a sheet that a person checks and corrects.

    A distractor is surprising where it stands, and like its word in length and frequency. Correct
    the column `distractor`, then give the sheet to `survey build --task maze --distractors`.
    """
    from cimento.people.reading_times import READING_POLICY
    from cimento.people.surveys.distractors import (
        DistractorRules,
        propose_distractors,
        sentences_of,
        sheet_rows,
    )
    from cimento.people.surveys.lexicon import lexicon_of, read_lexicon
    from cimento.people.surveys.plan import SurveyPlan
    from cimento.suites.builtin import find_suite

    _refuse_sheet(options)
    plan = SurveyPlan(
        task="maze", language=options.language, limit=options.limit, practice=options.practice,
        fillers=options.fillers,
    )  # fmt: skip
    questions = sentences_of(find_suite(options.suite), plan)
    lexicon = (
        read_lexicon(options.words)
        if options.words
        else lexicon_of(line for question in questions for line in question.lines)
    )
    if not lexicon.has_frequencies:
        note("Distractors are like their words in length only: give --words with frequencies.")
    proposals = propose_distractors(
        questions,
        options.model,
        lexicon,
        asking=replace(options.asking, policy=options.policy(READING_POLICY)),
        rules=DistractorRules(
            above_bits=options.above, candidates=options.candidates, seed=options.seed
        ),
    )
    lines = ["\t".join(cells) + "\n" for cells in sheet_rows(proposals)]
    write_text("".join(lines), options.output)
    notes = Counter(proposal.note for proposal in proposals if proposal.note)
    for reason, number in notes.items():
        note(f"{counted(number, 'word')}: {reason}")
    note(
        f"{len(proposals)} words of {counted(len(questions), 'sentence')}: {options.output}. Check"
        f" the column distractor, then: cimento annotate survey build {options.suite} --task maze"
        f" --distractors {options.output}"
    )


def _refuse_sheet(options: DistractorOptions) -> None:
    """Refuse a name of another kind, and a sheet that somebody may have corrected.

    Raises:
        UsageError: that is so.
    """
    if options.output.suffix != ".tsv":
        raise UsageError(
            where=str(options.output),
            seen="a sheet of distractors is written as .tsv",
            todo=f"Name a file, such as {options.output.with_suffix('.tsv')}.",
        )
    if options.output.exists() and not options.force:
        raise UsageError(
            where=str(options.output),
            seen="is there already, perhaps with corrections",
            todo="Name another file, or give --force to replace it.",
        )


class TimesOptions(SheetOptions):
    """The answers, the survey, and the rules by which times are left out."""

    files: tuple[Path, ...] = option(
        ..., "Judgments of the survey, as exported or imported.", argument="JUDGMENTS..."
    )
    design: Path = option(..., "The survey that was asked, a design or its folder.")
    output: Path = option(..., "Table of words: .csv, .tsv or .parquet.", flags=("-o",))
    shortest: float | None = option(None, "Leave out times below this, in ms: 100.", ge=0)
    longest: float | None = option(None, "Leave out times above this, in ms: 3000.", ge=0)
    errors: MazeErrors = option(
        "rest",
        "What a wrong choice in a maze leaves out: that word and the rest of the sentence (rest),"
        " that word alone (word), the whole sentence (sentence), or nothing (keep).",
    )
    correct_only: bool = option(
        default=False, help="Leave sentences out whose comprehension question was answered wrongly."
    )


@command_of
def times(options: TimesOptions) -> None:
    """Write the reading times of a self-paced or maze survey, a row for each word.

    The table is what `cimento analyze reading-times` and `reading-gains` take. A time that is left
    out is an empty cell, with the reason in the column `excluded`; a log beside the table names
    each of them.
    """
    from cimento.people.reading_times import refuse_output, write_joined
    from cimento.people.surveys import read_design
    from cimento.people.surveys.times import word_times

    refuse_output(options.output)
    refuse_overwriting(options.output, options.files)
    design = read_design(options.design)
    if not design.is_timed:
        raise UsageError(
            where=str(options.design),
            seen=f"its task is {design.task}, in which no words are timed",
            todo="Give a survey that was built with --task reading or --task maze.",
        )
    rules = TimeRules(
        shortest_ms=options.shortest,
        longest_ms=options.longest,
        errors=options.errors,
        correct_only=options.correct_only,
    )
    made = word_times(_judgments(options.files), design, rules)
    write_joined(made.frame(), options.output)
    options.neutralize(options.output)
    log = write_text(made.log(), options.output.with_suffix(".log.txt"))
    show("\n".join(line for line in made.log().splitlines() if not line.startswith(" ")))
    note(f"{len(made.words)} words: {options.output}; the log: {log.name}")


def _judgments(files: tuple[Path, ...]) -> list[Judgment]:
    """The judgments in some files, as export, import and filter write them.

    Raises:
        InputError: one is a database of answers, or no table of judgments.
    """
    from cimento.judgments import judgments_of, read_judgments

    for path in files:
        if path.suffix == ".sqlite":
            raise InputError(
                where=str(path),
                seen="is the server's file of answers",
                todo="Export them: cimento annotate serve export FOLDER -o judgments.csv",
            )
    return [judgment for path in files for judgment in judgments_of(read_judgments(path))]

"""``cimento annotate candidates``: words that models put into blanks, judged one by one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from cimento.cli.console import note, show, show_json
from cimento.cli.flags import command_of
from cimento.errors import UsageError, counted
from cimento.io.declared import Options, option
from cimento.io.files import refuse_filled_in
from cimento.options import run_option
from cimento.paradigms import cloze

if TYPE_CHECKING:
    import polars as pl

    from cimento.kinds.run import Run
    from cimento.people.annotate import Journal
    from cimento.people.annotate.candidates import CandidateTask

Order = Literal["rank", "shuffled"]


class CandidateOptions(Options):
    """The candidates to judge, the judge, and the order."""

    run: Path = option(..., "Folder of a run of a cloze suite.", argument="RUN")
    annotator: str = option("me", "Who judges: a name.")
    method: str = option("", "Candidates of this protocol; of the first if not given.")
    only_other: bool = option(
        default=False,
        help="Only items with neither target nor plausible option among the candidates; the list of"
        " remarks then begins with the four labels of the connectives study.",
    )
    only_open: bool = option(
        default=False,
        help="Only the candidates that decide P@1 in the study of Portuguese: first ones that the"
        " dictionary leaves open, in the order in which they narrow the bounds most.",
    )
    dictionary: str = option("rules:pt", "With --only-open: as for study portuguese.")
    data: Path | None = option(
        None, "With --only-open: the study's released files, if the run is of its own sentences."
    )
    order: Order = option("rank", "Candidates of an item by rank, or shuffled.")
    seed: int = option(0, "Seed of the shuffled order.")
    show_probability: bool = option(default=False, help="Show the probability of each candidate.")
    part: str = option("", "1/3: the first of three parts of the items, one part per annotator.")
    overlap: int = option(0, "Items that everybody judges.", ge=0)
    reuse: Path | None = option(None, "A judged run: its candidates are not asked again.")
    export: Path | None = option(None, "Write a .tsv or .xlsx to fill in, and ask nothing.")
    import_from: Path | None = option(
        None, "Take decisions over from such a table.", flags=("--import",)
    )
    agreement: bool = option(default=False, help="Print the agreement of the annotators.")
    as_json: bool = run_option("as_json")


@command_of
def candidates(options: CandidateOptions) -> None:
    """Judge one candidate after another: does it fit in the blank?

    Every decision is saved at once; stop with q, or in any other way, and continue later.
    """
    from cimento.kinds.run import open_run
    from cimento.people.annotate import (
        Journal,
        candidate_agreement,
        candidate_agreement_text,
        earlier_judgments,
    )
    from cimento.people.annotate.candidates import candidate_tasks
    from cimento.people.annotate.spreadsheets import read_candidates, write_candidates

    if sum((options.export is not None, options.import_from is not None, options.agreement)) > 1:
        raise UsageError(
            where="--export, --import, --agreement",
            seen="several are given",
            todo="Give one at a time.",
        )
    if options.agreement:
        agreements = candidate_agreement(options.run)
        if options.as_json:
            show_json(agreements.plain())
        else:
            show(candidate_agreement_text(agreements))
        return
    run = open_run(options.run)
    answers = cloze.ClozeAnswers(run)
    tasks = candidate_tasks(answers, options.method, only_other=options.only_other)
    if options.only_open and options.import_from is None:
        tasks = _open_tasks(run, tasks, options)
        waiting = counted(len(tasks), "open first candidate is", "open first candidates are")
        note(f"{waiting} left to judge for P@1.")
    journal = Journal(options.run, options.annotator)
    if options.export is not None:
        refuse_filled_in(options.export, holds="decisions")
        write_candidates(tasks, journal.decisions, options.export)
        note(f"{len(tasks)} candidates in {options.export}. Fill in: fits (yes or no), remarks.")
    elif options.import_from is not None:
        decisions = read_candidates(options.import_from, tasks)
        new = journal.add_new(decisions)
        _store(answers, options.run, earlier_judgments(answers, options.run))
        note(f"{len(decisions)} decisions in {options.import_from}, {new} of them new or changed.")
    else:
        _ask(answers, tasks, journal, options)


def _open_tasks(
    run: Run, tasks: Sequence[CandidateTask], options: CandidateOptions
) -> list[CandidateTask]:
    """The tasks that narrow the bounds of P@1 in the study of Portuguese, most of all first."""
    from cimento.studies.portuguese.asked import is_of_grammar, model_answers
    from cimento.studies.portuguese.data import load_study
    from cimento.studies.portuguese.deciding import deciding_candidates
    from cimento.studies.portuguese.judging import earlier_candidates, known_readings

    if not is_of_grammar(run):
        raise UsageError(
            where="--only-open",
            seen=f"the run is of {run.suite.name}, not of the tests of grammar in Portuguese",
            todo="Leave it out: all candidates of this run can be judged.",
        )
    released = load_study(options.data) if options.data else None
    model = model_answers(run.model, [run], released)
    by_pair = {task.pair: task for task in tasks}
    readings = known_readings(options.dictionary)
    asked = deciding_candidates(model, readings, earlier_candidates(released, ()))
    return [by_pair[pair] for pair in asked if pair in by_pair]


def _ask(
    answers: cloze.ClozeAnswers,
    tasks: Sequence[CandidateTask],
    journal: Journal,
    options: CandidateOptions,
) -> None:
    """The dialogue about one person's proportion of the candidates."""
    from cimento.people.annotate import earlier_judgments
    from cimento.people.annotate.candidates import (
        REMARKS,
        CandidateDialogue,
        Remarks,
        part_of,
        read_part,
        shuffled,
    )

    if options.order == "shuffled":
        tasks = shuffled(tasks, options.seed)
    if options.part:
        tasks = part_of(tasks, *read_part(options.part), overlap=options.overlap)
    earlier = earlier_judgments(answers, options.run, reuse=options.reuse)
    if options.reuse is not None:
        known = set(earlier.select("item", "candidate").iter_rows())
        tasks = [task for task in tasks if task.pair not in known]
        note(f"{counted(len(known), 'judgment is', 'judgments are')} kept from before.")
    remarks = Remarks(options.run / REMARKS)
    if options.only_other:
        for label in cloze.LABELS:
            remarks.add(label)
    dialogue = CandidateDialogue(tasks, journal, remarks, show_probability=options.show_probability)
    try:
        dialogue.run(_typed, show)
    finally:
        _store(answers, options.run, earlier)


def _store(answers: cloze.ClozeAnswers, run: Path, earlier: pl.DataFrame) -> None:
    from cimento.people.annotate import store_judgments

    table = store_judgments(run, suite=answers.suite.name, earlier=earlier)
    note(f"{table.height} judgments in {run}.")


def _typed(prompt: str) -> str | None:
    try:
        return input(prompt)
    except EOFError:
        return None

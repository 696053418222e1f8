"""``cimento annotate candidates``: models' answers for blanks, judged by people."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from cimento.cli.console import note, show, show_json
from cimento.cli.flags import command_of, run_option
from cimento.errors import UsageError, counted
from cimento.io.files import refuse_filled_in
from cimento.options import Options, option

if TYPE_CHECKING:
    import polars as pl

    from cimento.paradigms.cloze.answers import ClozeAnswers
    from cimento.people.annotate.candidates import CandidateTask
    from cimento.people.annotate.decisions import Journal

Order = Literal["rank", "shuffled"]


class CandidateOptions(Options):
    """The candidates to judge, the judge, and the order."""

    run: Path = option(..., "Folder of a run of a cloze suite.")
    annotator: str = option("me", "Who judges: a name.")
    method: str = option("", "Candidates of this protocol; of the first if not given.")
    only_other: bool = option(
        default=False,
        help="Only items with neither target nor plausible option among the candidates; the list of"
        " remarks then begins with the four labels of the connectives study.",
    )
    order: Order = option("rank", "Candidates of an item by rank, or shuffled.")
    seed: int = option(0, "Seed of the shuffled order.")
    show_probability: bool = option(default=False, help="Show the probability of each candidate.")
    part: str = option("", "1/3: the first of three people's share of the items.")
    overlap: int = option(0, "Items that everybody judges.", ge=0)
    reuse: Path | None = option(None, "A judged run: its candidates are not asked again.")
    export: Path | None = option(None, "Write a .tsv or .xlsx to fill in, and ask nothing.")
    import_from: Path | None = option(
        None, "Take decisions over from such a table.", flags=("--import",)
    )
    agreement: bool = option(default=False, help="Print the agreement of the annotators.")
    as_json: bool = run_option("as_json")


def _candidates(options: CandidateOptions) -> None:
    """Judge one candidate after another: does it fit in the blank?

    Every decision is saved at once; stop with q, or in any other way, and continue later.
    """
    from cimento.paradigms.cloze.answers import ClozeAnswers
    from cimento.people.annotate.candidates import candidate_tasks
    from cimento.people.annotate.decisions import (
        Journal,
        candidate_agreement,
        candidate_agreement_text,
        earlier_judgments,
    )
    from cimento.people.annotate.spreadsheets import read_candidates, write_candidates
    from cimento.runs.run import open_run

    if sum((options.export is not None, options.import_from is not None, options.agreement)) > 1:
        raise UsageError(
            where="--export, --import, --agreement",
            seen="several are given",
            todo="Give one at a time.",
        )
    if options.agreement:
        found = candidate_agreement(options.run)
        if options.as_json:
            show_json(found.plain())
        else:
            show(candidate_agreement_text(found))
        return
    answers = ClozeAnswers(open_run(options.run))
    tasks = candidate_tasks(answers, options.method, only_other=options.only_other)
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


candidates = command_of(CandidateOptions, _candidates, positional="run", metavar="RUN")


def _ask(
    answers: ClozeAnswers,
    tasks: Sequence[CandidateTask],
    journal: Journal,
    options: CandidateOptions,
) -> None:
    """The dialogue about one person's share of the candidates."""
    from cimento.paradigms.cloze.people import LABELS
    from cimento.people.annotate.candidates import (
        REMARKS,
        CandidateDialogue,
        Remarks,
        part_of,
        read_part,
        shuffled,
    )
    from cimento.people.annotate.decisions import earlier_judgments

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
        for label in LABELS:
            remarks.add(label)
    dialogue = CandidateDialogue(tasks, journal, remarks, show_probability=options.show_probability)
    try:
        dialogue.run(_typed, show)
    finally:
        _store(answers, options.run, earlier)


def _store(answers: ClozeAnswers, run: Path, earlier: pl.DataFrame) -> None:
    from cimento.people.annotate.decisions import store_judgments

    table = store_judgments(run, suite=answers.suite.name, earlier=earlier)
    note(f"{table.height} judgments in {run}.")


def _typed(prompt: str) -> str | None:
    try:
        return input(prompt)
    except EOFError:
        return None

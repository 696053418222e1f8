"""``cimento annotate candidates``: what models put into blanks, judged by people."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from cimento.cli.console import note, show, show_json
from cimento.cli.flags import command_of, run_option
from cimento.errors import UsageError, did_you_mean
from cimento.options import Options, option
from cimento.people.annotate.candidates import (
    REMARKS,
    CandidateDialogue,
    CandidateTask,
    Remarks,
    part_of,
)
from cimento.people.annotate.decisions import (
    Journal,
    candidate_agreement,
    candidate_agreement_text,
    journals,
    store_judgments,
)
from cimento.people.annotate.spreadsheets import read_candidates, write_candidates

if TYPE_CHECKING:
    import polars as pl

    from cimento.paradigms.cloze.answers import ClozeAnswers, FillAnswer
    from cimento.people.annotate.decisions import CandidateDecision

Order = Literal["rank", "shuffled"]

_SHOWN = ("template", "dimension", "expression", "seed", "category", "expected")


class CandidateOptions(Options):
    """Whose candidates are judged, by whom, in which order."""

    run: Path = option(..., "Folder of a run of a cloze suite.")
    annotator: str = option("me", "Who judges: a name.")
    method: str = option("", "Candidates of this protocol; of the first if not given.")
    order: Order = option("rank", "Candidates of an item by rank, or shuffled.")
    seed: int = option(0, "Seed of the shuffled order.")
    show_probability: bool = option(default=False, help="Show how probable a candidate is.")
    part: str = option("", "1/3: the first of three people's share of the items.")
    overlap: int = option(0, "Items that everybody judges.", ge=0)
    reuse: Path | None = option(None, "A judged run: its candidates are not asked again.")
    export: Path | None = option(None, "Write a .tsv or .xlsx to fill in, and ask nothing.")
    import_from: Path | None = option(
        None, "Take decisions over from such a table.", flags=("--import",)
    )
    agreement: bool = option(default=False, help="Say how far those who judged agree.")
    as_json: bool = run_option("as_json")


def _candidates(options: CandidateOptions) -> None:
    """Judge one candidate after another: does it fit in the blank?

    Every decision is kept at once; stop with q, or in any other way, and go on later.
    """
    if sum((options.export is not None, options.import_from is not None, options.agreement)) > 1:
        raise UsageError(
            where="--export, --import, --agreement",
            seen="several are given",
            todo="Give one at a time.",
        )
    if options.agreement:
        _agreement(options.run, as_json=options.as_json)
        return
    answers = _open(options.run)
    tasks = _tasks(answers, options.method)
    if options.export is not None:
        _export(options.run, tasks, options.annotator, options.export)
    elif options.import_from is not None:
        _import(answers, options.run, tasks, options.annotator, options.import_from)
    else:
        if options.order == "shuffled":
            tasks = _shuffled(tasks, options.seed)
        _ask(
            answers,
            options.run,
            _share(tasks, options.part, options.overlap),
            options.annotator,
            reuse=options.reuse,
            show_probability=options.show_probability,
        )


candidates = command_of(CandidateOptions, _candidates, positional="run", metavar="RUN")


def _ask(
    answers: ClozeAnswers,
    run: Path,
    tasks: list[CandidateTask],
    annotator: str,
    *,
    reuse: Path | None,
    show_probability: bool,
) -> None:

    earlier = _earlier(answers, run, reuse)
    if reuse is not None:
        known = set(earlier.select("item", "candidate").iter_rows())
        tasks = [task for task in tasks if task.pair not in known]
        note(f"{len(known)} judgments are taken over.")
    journal = Journal(run, annotator)
    dialogue = CandidateDialogue(
        tasks, journal, Remarks(run / REMARKS), show_probability=show_probability
    )
    try:
        dialogue.run(_typed, show)
    finally:
        _store(answers, run, earlier)


def _agreement(run: Path, *, as_json: bool) -> None:
    found = candidate_agreement(run)
    if as_json:
        show_json(found.plain())
    else:
        show(candidate_agreement_text(found))


def _export(run: Path, tasks: list[CandidateTask], annotator: str, output: Path) -> None:
    from cimento.io.files import refuse_filled_in

    refuse_filled_in(output, holds="decisions")
    write_candidates(tasks, Journal(run, annotator).decisions, output)
    note(f"{len(tasks)} candidates in {output}. Fill in: fits (yes or no), remarks.")


def _import(
    answers: ClozeAnswers, run: Path, tasks: list[CandidateTask], annotator: str, file: Path
) -> None:

    decisions = read_candidates(file, tasks)
    journal = Journal(run, annotator)
    new = [each for each in decisions if _differs(journal.decisions.get(each.pair), each)]
    for decision in new:
        journal.add(decision)
    _store(answers, run, _earlier(answers, run, None))
    note(f"{len(decisions)} decisions in {file}, {len(new)} of them new or changed.")


def _open(run: Path) -> ClozeAnswers:
    from cimento.paradigms.cloze.answers import ClozeAnswers
    from cimento.runs.run import open_run

    return ClozeAnswers(open_run(run))


def _tasks(answers: ClozeAnswers, method: str) -> list[CandidateTask]:
    """Each candidate of each item once, in the order of items and ranks.

    Raises:
        UsageError: the run has no such method.
    """
    if method and method not in answers.methods:
        raise UsageError(
            where=f"--method {method}",
            seen="the run has no candidates that were asked for so",
            todo=did_you_mean(method, answers.methods),
        )
    by_item = answers.by_method(method or next(iter(answers.methods), ""))
    return [
        CandidateTask(
            item=item.id,
            candidate=text,
            before=item.before,
            after=item.after,
            details={name: item.columns.get(name, "") for name in _SHOWN},
            probability=probability,
        )
        for item in answers.items
        for text, probability in _once(by_item.get(item.id, [])).items()
    ]


def _once(answers: Iterable[FillAnswer]) -> dict[str, float | None]:
    """Each candidate with the probability of its best rank: two tokens may be one text."""
    found: dict[str, float | None] = {}
    for each in answers:
        found.setdefault(each.text, each.probability)
    return found


def _shuffled(tasks: Iterable[CandidateTask], seed: int) -> list[CandidateTask]:
    """The candidates of each item in an order that says nothing of their ranks."""
    chance = random.Random(seed)  # noqa: S311  # no secret
    by_item: dict[str, list[CandidateTask]] = {}
    for task in tasks:
        by_item.setdefault(task.item, []).append(task)
    for own in by_item.values():
        chance.shuffle(own)
    return [task for own in by_item.values() for task in own]


def _share(tasks: list[CandidateTask], part: str, overlap: int) -> list[CandidateTask]:

    if not part:
        return tasks
    number, slash, parts = part.partition("/")
    if not (slash and number.isdecimal() and parts.isdecimal() and 1 <= int(number) <= int(parts)):
        raise UsageError(where="--part", seen=f"got {part!r}", todo="Write it as in 1/3.")
    return part_of(tasks, int(number), int(parts), overlap=overlap)


def _earlier(answers: ClozeAnswers, run: Path, reuse: Path | None) -> pl.DataFrame:
    """Judgments of another run about candidates of this one, and those taken over before."""
    import polars as pl

    from cimento.io.tables import JUDGMENTS, read_table

    tables = [pl.DataFrame(schema=JUDGMENTS.polars())]
    if reuse is not None:
        tables.append(read_table(JUDGMENTS, reuse))
    if (run / f"{JUDGMENTS.name}.parquet").exists():
        own = [each.annotator for each in journals(run)]
        tables.append(read_table(JUDGMENTS, run).filter(~pl.col("annotator").is_in(own)))
    asked = pl.DataFrame(
        [
            (each.item, each.text)
            for method in answers.methods
            for each in answers.candidates(method)
        ],
        schema=["item", "candidate"],
        orient="row",
    ).unique()
    both = pl.concat(tables).unique(["item", "candidate", "annotator"], maintain_order=True)
    return both.join(asked, on=["item", "candidate"], how="semi")


def _store(answers: ClozeAnswers, run: Path, earlier: pl.DataFrame) -> None:

    table = store_judgments(run, suite=answers.suite.name, earlier=earlier)
    note(f"{table.height} judgments in {run}.")


def _differs(known: CandidateDecision | None, other: CandidateDecision) -> bool:
    return known is None or (known.fits, known.remarks) != (other.fits, other.remarks)


def _typed(prompt: str) -> str | None:
    try:
        return input(prompt)
    except EOFError:
        return None

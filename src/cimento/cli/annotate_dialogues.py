"""The dialogues of ``cimento annotate`` in the terminal, and reviews in a sheet."""

from __future__ import annotations

from itertools import chain
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.cli.console import in_columns, note, show, show_json
from cimento.cli.corpus_build import InventoryOptions, TreebankOptions
from cimento.cli.flags import SuitesOptions, command_of
from cimento.errors import InputError, UsageError, counted
from cimento.io.declared import Options, Texts, option
from cimento.io.files import refuse_filled_in, write_text
from cimento.options import run_option
from cimento.people.annotate.dialogue import DialogueSession, converse
from cimento.report.formatting import agreement_text as agreed
from cimento.report.formatting import rate_as_text
from cimento.suites.builtin import find_suite

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cimento.judgments.summaries import QuestionSummary
    from cimento.people.annotate.second_annotator import JudgeAgreement, StoryJudgment
    from cimento.suites.stories import Story


class DecideOptions(TreebankOptions, InventoryOptions):
    """The table of decisions, and the rows to ask again."""

    decisions: Path = option(..., "Table that cimento corpus pairs wrote.", argument="DECISIONS")
    again: Texts = option((), "Ask a decided row again. May be repeated.", metavar="ID")


@command_of
def pairs(options: DecideOptions) -> int:
    """Decide for each row which connective replaces the original, and whether it is grammatical.

    A row may also be dropped with a reason. Every decision is saved at once; :quit stops, and the
    next time you continue there. :help lists everything that you can type. At the end the table is
    checked as by `cimento corpus finish`.
    """
    from cimento.corpus.decisions import open_decisions, read_decisions
    from cimento.people.annotate.pairs import decide, tasks_of

    if options.decisions.suffix != ".tsv":
        raise UsageError(
            where=str(options.decisions),
            seen="is not a .tsv, and the table is rewritten after every decision",
            todo="Save it as .tsv, or go on in a spreadsheet program.",
        )
    files, opened = options.files, options.connectives
    table = open_decisions(options.decisions, files, opened)
    done = decide(options.decisions, table, opened, read=input, show=show, again=options.again)
    left = sum(
        task.is_open for task in tasks_of(open_decisions(options.decisions, files, opened), opened)
    )
    note(f"{done} decided now, {left} of {len(table.rows)} left: {options.decisions}")
    if not left:
        kept = [
            decision
            for decision in read_decisions(options.decisions, files, opened)
            if not decision.dropped
        ]
        note(f"{len(kept)} items. cimento corpus finish {options.decisions} TREEBANK... -o FOLDER")
    return 0


INVALID = 2


class ReviewOptions(SuitesOptions):
    """The suites to review, and the sheet."""

    output: Path = option(..., "Sheet: .xlsx or .tsv.", flags=("-o",))
    items: int | None = option(None, "Items drawn from each suite; else all.", ge=1)
    seed: int = option(0, "Seed of the draw.")


@command_of
def export(options: ReviewOptions) -> None:
    """Write the rows of suites as one sheet, with columns for a verdict and a comment.

    The reviewer writes ok, wrong or unsure, and corrects cells directly.
    """
    from cimento.people.annotate.spreadsheets import export_review

    output = options.output
    refuse_filled_in(output, holds="verdicts")
    folders = [find_suite(suite) for suite in options.suites]
    count = export_review(folders, output, items=options.items, seed=options.seed)
    note(f"{count} rows: {output}. Verdicts are ok, wrong or unsure; cells are corrected in place.")


class CorrectionOptions(Options):
    """The suite, and the sheet of its reviewer."""

    suite: str = option(..., "Built-in name or path.", argument="SUITE")
    sheet: Path = option(..., "Sheet filled in by the reviewer.", argument="SHEET")
    output: Path = option(..., "Folder of the copy.", flags=("-o",))
    reviewer: str = option(..., "Name of the reviewer.")


@command_of
def import_(options: CorrectionOptions) -> int:
    """Apply corrections to a copy of the suite, with a log of every change.

    The copy names the reviewer. Its status is `reviewed` if every row has a verdict and no row is
    left wrong or unsure. The exit code is 2 if the corrected copy has faults.
    """
    from cimento.kinds.registry import audit_suite
    from cimento.people.annotate.spreadsheets import LOG, import_review

    output, name = options.output, " ".join(options.reviewer.split())
    if not name:
        raise UsageError(where="--reviewer", seen="is empty", todo="Say who reviewed the suite.")
    review = import_review(find_suite(options.suite), options.sheet, output, reviewer=name)
    for change in review.changes:
        item = change.row.cells.get("item", "")
        show(f"{item} {change.column}: {change.before} -> {change.after}")
    for row in review.open:
        show(f"{row.cells.get('item', '')} is {row.verdict}, not changed: {row.comment or '-'}")
    note(f"{len(review.changes)} changes, status: {review.status}. The log: {output / LOG}")
    faults = [fault for fault in audit_suite(output).faults if fault.severity == "error"]
    for fault in faults:
        show(f"{fault.severity}: {fault}")
    return INVALID if faults else 0


class StoryOptions(Options):
    """The stories, and who writes them."""

    file: Path = option(..., "Stories as JSONL; need not exist.", argument="FILE")
    replay: Path | None = option(None, "Recorded dialogues instead of a terminal.")
    annotator: str = option("", "Name of the annotator.")


@command_of
def stories(options: StoryOptions) -> int:
    """Write stories, field by field, and append them to a file.

    The fields and their order are those of Appendix B of the GITA4CALAMITA paper. An empty line
    takes the value in brackets; :help lists everything that you can type. An unfinished story is
    continued the next time.
    """
    from cimento.people.annotate.stories import append, known_stories, play, read_recorded
    from cimento.suites.formats.stories import ITEMS

    file = options.file / ITEMS if options.file.is_dir() else options.file
    if options.replay is None:
        return _write_stories(file, options.annotator)
    for recorded in read_recorded(options.replay):
        story = play(recorded, known_stories(file))
        append(story, file)
        note(f"{story.example_id} is in {file}.")
    return 0


class SecondOptions(Options):
    """The stories, and who judges them."""

    file: Path = option(..., "Stories as JSONL; need not exist.", argument="FILE")
    judgments: Path = option(..., "Table to write.", argument="JUDGMENTS")
    annotator: str = option("second", "Name of the annotator.")
    seed: int = option(0, "Seed of the random order.")


@command_of
def second(options: SecondOptions) -> int:
    """Judge stories blind: only their sentences are shown, in mixed order.

    An interrupted session continues where it stopped; every judgment is saved at once.
    """
    from cimento.people.annotate.second_annotator import (
        blind_order,
        read_story_judgments,
        write_story_judgments,
    )
    from cimento.people.annotate.stories import known_stories

    known, judgments = known_stories(options.file), options.judgments
    done = read_story_judgments(judgments, stories=known) if judgments.exists() else []
    judged = {judgment.row for judgment in done}
    waiting = [story for story in blind_order(known, seed=options.seed) if story.row not in judged]
    for number, story in enumerate(waiting, start=len(judged) + 1):
        show(f"\n{number} of {len(known)}")
        judgment = _judge(story, options.annotator)
        if judgment is None:
            break
        done.append(judgment)
        write_story_judgments(done, judgments)
    note(f"{len(done)} of {len(known)} stories are judged in {judgments}.")
    return 0


class AgreementOptions(Options):
    """The judgments, and what else is compared with them."""

    file: Path = option(..., "Stories as JSONL, or a table of judgments.", argument="FILE")
    judgments: Path | None = option(
        None, "Judgments of one annotator, on stories.", argument="[JUDGMENTS]"
    )
    adjudicate: Path | None = option(None, "Write the differences to this JSONL file.")
    judge: tuple[Path, ...] = option(
        (), "Prompted run whose model is one more annotator. Repeatable."
    )
    effects: bool = option(
        default=False,
        help="Mixed models of ratings, or of yes and no: what conditions do, with participants and"
        " items, and clusters of items, as random factors.",
    )
    suite: str = option("", "The suite that people judged, if its items come in clusters.")
    cluster: Texts = run_option("cluster")
    as_json: bool = run_option("as_json")


@command_of
def agreement(options: AgreementOptions) -> int:
    """Report the agreement in a table of judgments, or with a second annotator of stories.

    With --judge, a model that was asked by prompt is one more annotator: alpha with and without it,
    and its agreement with each person.
    """
    file = options.file
    if options.judgments is None:
        if options.adjudicate is not None:
            raise UsageError(
                where="--adjudicate",
                seen=f"it is for stories, and {file} is a table of judgments",
                todo=f"Decide with: cimento annotate adjudicate {file} {file} -o FINAL.",
            )
        _agreement_of_table(options)
        return 0
    if options.judge or options.suite or options.cluster:
        what = "models that judge stories are annotators" if options.judge else "clusters are"
        where = "--judge" if options.judge else "--suite" if options.suite else "--cluster"
        raise UsageError(where=where, seen=f"{what} of no story file", todo="Leave it out.")
    _agreement_of_stories(options.judgments, options)
    return 0


def _agreement_of_stories(judgments: Path, options: AgreementOptions) -> None:
    """The agreement of a second annotator with the authors of stories, tier by tier."""
    from cimento.people.annotate import second_annotator as second_
    from cimento.people.annotate.stories import known_stories

    known, adjudicate = known_stories(options.file), options.adjudicate
    said = second_.read_story_judgments(judgments, stories=known)
    tiers = second_.story_agreement(known, said)
    if options.as_json:
        show_json({"tiers": tiers})
    else:
        rows = [
            (tier.tier, f"{tier.equal}/{tier.compared}", agreed(tier.kappa), agreed(tier.alpha))
            for tier in tiers
        ]
        show(in_columns(("tier", "agree", "Cohen's kappa", "Krippendorff's alpha"), rows))
    if adjudicate is not None:
        differing = second_.to_adjudicate(known, said)
        lines = (dumps(row, ensure_ascii=False) + "\n" for row in differing)
        write_text("".join(lines), adjudicate)
        note(f"{counted(len(differing), 'story', 'stories')} to decide about in {adjudicate}.")


def _agreement_of_table(options: AgreementOptions) -> None:
    """A description of every question in a table of judgments, and of models beside people."""
    from cimento.judgments import judgments_of, read_judgments
    from cimento.judgments.effects import condition_models, condition_shares
    from cimento.judgments.summaries import summarize
    from cimento.people.annotate.effects_text import (
        models_text,
        sentences_text,
        shares_text,
        targets_text,
        unknown_sides,
    )
    from cimento.people.annotate.item_clusters import clusters_of_suite
    from cimento.people.annotate.remarks import doubled, worded
    from cimento.people.annotate.second_annotator import judge_agreements

    judgments = judgments_of(read_judgments(options.file))
    clusters = clusters_of_suite(judgments, options.suite, options.cluster)
    summaries = summarize(judgments, clusters=clusters)
    for remark in (*doubled(judgments), *worded(judgments)):
        note(remark)
    if not summaries:
        raise InputError(
            where=str(options.file),
            seen="there are no answers in it",
            todo="Was it exported before somebody answered? Or use cimento annotate import FILE.",
        )
    judges = [judge_agreements(judgments, one, clusters=clusters) for one in options.judge]
    shares = condition_shares(judgments, clusters=clusters)
    sentences = unknown_sides(judgments)
    models = condition_models(judgments, clusters=clusters) if options.effects else ()
    if options.as_json:
        told = {"questions": summaries, "shares": shares, "effects": models,
                "judges": [*chain(*judges)], "sentences": sentences}  # fmt: skip
        asked = {"questions": True, "shares": shares, "effects": options.effects,
                 "judges": judges, "sentences": sentences}  # fmt: skip
        show_json({name: made for name, made in told.items() if asked[name]})
        return
    show(_questions_text(summaries))
    effects = models_text(models) if options.effects else ""
    texts = (targets_text(summaries, clusters), shares_text(shares), sentences_text(sentences))
    for text in filter(None, (*texts, effects, *map(_judge_text, chain(*judges)))):
        show(f"\n{text}")


def _questions_text(summaries: Sequence[QuestionSummary]) -> str:
    """Every question with its numbers, as a table."""
    header = ("question", "people", "places", "answers", "per place", "mean of places",
              "sd in places", "Krippendorff's alpha")  # fmt: skip
    rows = [
        (
            summary.question,
            summary.people,
            summary.places,
            summary.judgments,
            f"{summary.fewest} to {summary.most}",
            rate_as_text(summary.mean),
            rate_as_text(summary.sd),
            f"{summary.alpha.coefficient.rpartition(', ')[2]} {agreed(summary.alpha)}",
        )
        for summary in summaries
    ]
    return in_columns(header, rows)


def _judge_text(compared: JudgeAgreement) -> str:
    """A model beside people, as text: alpha with and without it, then each person."""
    scale = f", its ratings brought to {compared.converted}" if compared.converted else ""
    people, places = counted(compared.people, "person", "people"), counted(compared.places, "place")
    text = (
        f"{compared.question}: {compared.model} as one more annotator, on {places}{scale}\n"
        f"  Krippendorff's alpha of {people}: {agreed(compared.without)}\n"
        f"  with the model: {agreed(compared.with_judge)}\n"
    )
    if not compared.pairs:
        return text
    rows = [
        (pair.person, pair.n, agreed(pair.alpha), pair.equal, pair.kappa and agreed(pair.kappa))
        for pair in compared.pairs
    ]
    header = ("the model and", "places", "alpha", "equal", "Cohen's kappa")
    return f"{text}\n{in_columns(header, rows)}"


def _write_stories(file: Path, annotator: str) -> int:
    """Ask for one story after another, until the person stops."""
    from cimento.people.annotate.stories import (
        append,
        append_timing,
        finished,
        known_stories,
        story_fields,
        story_session_file,
    )

    while True:
        known = known_stories(file)
        session = DialogueSession(story_fields(known), path=story_session_file(file))
        if session.lines:
            note(f"Going on with a story that was left ({session.state.values.get('example_id')}).")
        if not converse(session, input, show):
            if session.lines:
                note("\nYour entries are kept; next time you continue here.")
            return 0
        story = finished(session.state.values, row=len(known))
        append(story, file)
        append_timing(story, session, file, annotator=annotator or story.worker_id)
        session.forget()
        note(f"{story.example_id} is in {file} ({session.seconds / 60:.1f} minutes).\n")


def _judge(story: Story, annotator: str) -> StoryJudgment | None:
    from cimento.people.annotate.second_annotator import blind_fields, judgment, story_text

    session = DialogueSession(blind_fields(story))
    show(story_text(story))
    if not converse(session, input, show):
        return None
    return judgment(session.state.values, story=story, annotator=annotator, seconds=session.seconds)

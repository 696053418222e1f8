"""``cimento corpus select``, ``pairs`` and ``finish``, and the options of treebank commands."""

from __future__ import annotations

import json as json_module
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cimento.cli import flags
from cimento.cli.console import note, show
from cimento.corpus.connectives.passages import DecisionKind
from cimento.errors import InputError

if TYPE_CHECKING:
    from cimento.corpus.connectives.extraction import Selected
    from cimento.corpus.making.decisions import PairDecision
    from cimento.corpus.making.finishing import ClozeDraft
    from cimento.corpus.treebanks import ReadingProblem, TreebankFile
    from cimento.paradigms.cloze.suite import ClozeSuite
    from cimento.report.grid import Grid
    from cimento.suites.model import Meta


_SHOWN = 10

Treebanks = Annotated[
    list[Path],
    typer.Argument(
        metavar="TREEBANK...", help="CoNLL-U files (.conllu, .gz), folders of them; it_sample."
    ),
]
InventoryName = Annotated[
    str,
    flags.option(
        "--inventory",
        help="it-connectives, or a file: .toml, .tsv, .xml (DiMLex, LexConn), .json (NVdB), .txt.",
    ),
]
RuleName = Annotated[
    str, flags.option("--rule", help="paper, verb, any ... or a TOML file (docs/corpus.md).")
]
WithText = Annotated[
    bool | None,
    flags.option(
        "--text/--ids-only", help="Sentences as text, or ids only; else as the licences allow."
    ),
]
Malformed = Annotated[
    Literal["refuse", "skip"],
    flags.option("--malformed", help="Refuse malformed sentences, or skip and report them."),
]
Duplicates = Annotated[
    Literal["keep", "drop"],
    flags.option("--duplicates", help="Sentences that were there before, in any file."),
]
Licence = Annotated[
    str,
    flags.option("--licence", help="Of the treebanks, where neither name nor README tells."),
]


def where_skipped(malformed: str) -> list[ReadingProblem] | None:
    """Where malformed sentences are noted; None where they are refused."""
    return [] if malformed == "skip" else None


def note_skipped(skipped: Sequence[ReadingProblem] | None) -> None:
    """Say what was passed over."""
    faults = [each for each in skipped or () if each.severity == "error"]
    if not faults:
        return
    n = len({(each.path, each.sentence or each.line) for each in faults})
    note(f"{n} malformed sentences were skipped:")
    for each in faults[:_SHOWN]:
        note(f"  {each}")
    if len(faults) > _SHOWN:
        note(f"  ... and {len(faults) - _SHOWN} more faults; cimento corpus check lists them")


def shows_text(files: Sequence[TreebankFile], wanted: bool | None) -> bool:  # noqa: FBT001  # as the option gives it
    """Whether sentences are given as text: as asked for, else where every licence allows it."""
    from cimento.corpus.treebanks import licences_of, may_show

    closed = {k: v for k, v in licences_of(files).items() if not may_show(v)}
    if not closed:
        return wanted is not False
    said = ", ".join(f"{corpus}: {licence}" for corpus, licence in closed.items())
    if wanted is None:
        note(f"Ids only ({said}); --text gives the sentences too, for your own use.")
        return False
    if wanted:
        note(f"With sentences that may not be passed on freely ({said}).")
    return wanted


DECISIONS = "decisions.tsv"
_STATUS = "draft, not yet reviewed by native speakers"


def select(
    treebanks: Treebanks,
    *,
    inventory: InventoryName = "it-connectives",
    rule: RuleName = "paper",
    top: Annotated[int, flags.option("--top", min=1, help="How many of the most frequent.")] = 21,
    exclude: Annotated[
        list[str] | None,
        flags.option(
            "--exclude", metavar="NAME=REASON", help="Leave one out, and why. May be repeated."
        ),
    ] = None,
    output: Annotated[
        Path | None, flags.option("-o", "--output", help="Inventory to write (TOML).")
    ] = None,
    malformed: Malformed = "refuse",
    licence: Licence = "",
    json: flags.Json = False,
) -> None:
    """Take the most frequent connectives; the table says which go with infinitives only."""
    from dataclasses import asdict

    from cimento.corpus.connectives.extraction import select_connectives as choose
    from cimento.corpus.connectives.extraction import selected_inventory
    from cimento.corpus.connectives.inventories import write_inventory
    from cimento.corpus.connectives.lexicons import open_inventory
    from cimento.corpus.connectives.matching import open_rule
    from cimento.corpus.treebanks import open_treebanks
    from cimento.report.grid import as_text

    opened, skipped = open_inventory(inventory), where_skipped(malformed)
    found = choose(
        open_treebanks(treebanks, licence=licence),
        opened,
        open_rule(rule),
        top=top,
        exclude=flags.reasons(exclude or (), flag="--exclude", example="per=before infinitives"),
        skipped=skipped,
    )
    if json:
        plain = [{**asdict(each), "infinitive_share": each.infinitive_share} for each in found]
        show(json_module.dumps({"connectives": plain}, ensure_ascii=False, indent=2))
    else:
        show(as_text(_selection_grid(found, top)))
    note_skipped(skipped)
    if output is not None:
        if not any(each.taken for each in found):
            raise InputError(where="treebanks", seen="no connective is left", todo="Exclude fewer.")
        write_inventory(selected_inventory(opened, found), output)
        note(f"{sum(each.taken for each in found)} connectives: {output}")


# size: one argument for each option
def pairs(
    treebanks: Treebanks,
    output: Annotated[Path, flags.option("-o", "--output", help="Table to write (TSV).")],
    *,
    inventory: InventoryName = "it-connectives",
    rule: RuleName = "paper",
    section: Annotated[
        DecisionKind,
        flags.option("--section", help="Pairs of sentences, or texts with a blank."),
    ] = DecisionKind.SENTENCES,
    per: Annotated[int, flags.option("--per", min=1, help="Sentences for each connective.")] = 15,
    seed: Annotated[int, flags.option("--seed", help="Seed of the draw.")] = 0,
    shortest: Annotated[int, flags.option("--shortest", min=1, help="In words.")] = 5,
    longest: Annotated[int, flags.option("--longest", min=1, help="In words.")] = 40,
    join: Annotated[
        bool,
        flags.option(
            "--join/--no-join",
            help="Put the sentence before it to one that opens with e, ma, tuttavia ...; not for"
            " single sentences, such as tweets.",
        ),
    ] = True,
    fewer: Annotated[
        bool, flags.option("--fewer", help="Take what there is where there are not so many.")
    ] = False,
    avoid: Annotated[
        Path | None,
        flags.option("--avoid", help="Table of another section: none of its sentences."),
    ] = None,
    propose: Annotated[
        bool, flags.option("--propose", help="Fill in replacements to start from.")
    ] = False,
    text: WithText = None,
    malformed: Malformed = "refuse",
    licence: Licence = "",
) -> None:
    """Draw sentences for each connective, and write the table in which a person decides.

    Sentences come from strata of length and number of clauses; a connective that opens its sentence
    and links it to the one before is joined to that one. Then: cimento corpus finish.
    """
    from cimento.corpus.connectives.extraction import (
        SentenceLimits,
        candidate_sentences,
        draw_candidates,
    )
    from cimento.corpus.connectives.lexicons import open_inventory
    from cimento.corpus.connectives.matching import open_rule
    from cimento.corpus.making.decisions import as_table, columns_of, decision_rows
    from cimento.corpus.treebanks import open_treebanks
    from cimento.io.files import refuse_filled_in, write_text

    files, skipped = open_treebanks(treebanks, licence=licence), where_skipped(malformed)
    opened, reasons = open_inventory(inventory), Counter[str]()
    limits = SentenceLimits(
        shortest=shortest, longest=longest, join=join, whole_words=section is DecisionKind.BLANKS
    )
    found = candidate_sentences(
        files, opened, open_rule(rule), limits=limits, skipped=skipped, reasons=reasons
    )
    drawn = draw_candidates(
        list(found), opened.names, per=per, seed=seed, fewer=fewer, avoid=_sentences_of(avoid)
    )
    with_text = shows_text(files, text)
    rows = decision_rows(
        drawn,
        opened,
        section=section,
        per=per,
        with_text=with_text,
        propose=seed if propose else None,
    )
    table = as_table(rows, columns_of(section, with_text=with_text))
    refuse_filled_in(output, holds="decisions", fresh=table)
    write_text(table, output)
    note_skipped(skipped)
    for reason, number in reasons.items():
        note(f"{number} occurrences were passed over: {reason}")
    for name, each in drawn.items():
        if len(each) < per:
            note(f"{name}: {len(each)} of {per}")
    note(f"{len(rows)} sentences to decide on: {output}")


# size: one argument for each option
def finish(
    decisions: Annotated[
        Path, typer.Argument(metavar="DECISIONS", help="Table of decisions: TSV, CSV, xlsx.")
    ],
    treebanks: Treebanks,
    output: Annotated[Path, flags.option("-o", "--output", help="Suite folder to write.")],
    *,
    inventory: InventoryName = "it-connectives",
    name: Annotated[
        str, flags.option("--name", help="Of the suite; else that of its folder.")
    ] = "",
    seed: Annotated[int, flags.option("--seed", help="Seed of the order of options.")] = 0,
    text: WithText = None,
    licence: Licence = "",
) -> None:
    """Check decisions and make them a suite of kind acceptability or cloze.

    Where a treebank's licence keeps its sentences from being passed on, only the decisions are
    written, with ids: anybody who has the treebank makes the suite of them. --text says otherwise.
    """
    from cimento.corpus.connectives.lexicons import open_inventory
    from cimento.corpus.making.decisions import as_table, columns_of, read_decisions
    from cimento.corpus.making.finishing import cloze_drafts, licence_of, pair_suite
    from cimento.corpus.treebanks import open_treebanks
    from cimento.io.files import write_text
    from cimento.paradigms.cloze.writing import write_folder
    from cimento.suites.formats.native import write_native
    from cimento.suites.model import Meta

    files, opened = open_treebanks(treebanks, licence=licence), open_inventory(inventory)
    read = read_decisions(decisions, files, opened)
    kept = [each for each in read if not each.dropped]
    if not kept:
        raise InputError(where=str(decisions), seen="every item is dropped", todo="Keep some.")
    section = kept[0].section
    columns = columns_of(section, with_text=False)
    rows = as_table([_as_row(each) for each in read], columns)
    if not shows_text([file for file in files if file.sha256 in _hashes(kept)], text):
        write_text(rows, output / DECISIONS)
        note(f"decisions without texts: {output / DECISIONS}")
        return
    meta = Meta(
        name=name or output.resolve().name,
        version="0.1.0",
        language=opened.language,
        phenomenon="textual connectives",
        licence=licence_of(kept),
        status=_STATUS,
        reference="Albertin, Miaschi and Brunato 2021, ceur-ws.org/Vol-3033",
    )
    if section is DecisionKind.SENTENCES:
        write_native(pair_suite(kept, opened, meta=meta), output)
    else:
        write_folder(_cloze_suite(cloze_drafts(kept, opened, seed=seed), meta, kept), output)
    write_text(rows, output / DECISIONS)
    for each, number in _numbers(read).items():
        note(f"{each}: {number}")
    note(f"{len(kept)} items, {len(read) - len(kept)} dropped: {output}")
    note(f"cimento suites check {output}")


def _sentences_of(path: Path | None) -> frozenset[tuple[str, str]]:
    """The sentences of a table of decisions, by sha256 and ID."""
    from cimento.suites.tables import open_table

    if path is None:
        return frozenset()
    table = open_table(path)
    if not {"sha256", "sent_id", "joined"} <= set(table.columns):
        raise InputError(
            where=table.name,
            seen=f"there are the columns {', '.join(table.columns)}",
            todo="Give a table that cimento corpus pairs wrote.",
        )
    return frozenset(
        (row.cells["sha256"], row.cells[key])
        for row in table.rows
        for key in ("sent_id", "joined")
        if row.cells[key]
    )


def _selection_grid(found: Sequence[Selected], top: int) -> Grid:
    from cimento.report.grid import Grid

    def share(each: Selected) -> str:
        value = each.infinitive_share
        return "-" if value is None else f"{100 * value:.1f}"

    return Grid(
        title=f"The {top} most frequent connectives, less those with a reason.",
        header=("connective", "n", "rank", "infinitive", "%", "taken", "reason"),
        rows=tuple(
            (
                each.connective,
                str(each.n),
                str(each.rank),
                str(each.infinitive),
                share(each),
                "yes" if each.taken else "no",
                each.reason,
            )
            for each in found
        ),
        remarks=2,
    )


def _hashes(kept: Sequence[PairDecision]) -> set[str]:
    return {each.source["sha256"] for each in kept}


def _as_row(decision: PairDecision) -> dict[str, str]:
    row = {"id": decision.id, **decision.source, "edit": decision.passage.edit}
    if decision.dropped:
        return {**row, "drop": "yes", "reason": decision.dropped}
    if decision.section is DecisionKind.BLANKS:
        options_ = " | ".join(decision.implausible)
        return {**row, "plausible": decision.plausible, "implausible": options_}
    grammatical = "yes" if decision.grammatical else "no"
    return {**row, "replacement": decision.replacement, "grammaticality": grammatical}


def _numbers(read: Sequence[PairDecision]) -> dict[str, int]:
    """How many items each connective has left."""
    found: dict[str, int] = {}
    for each in read:
        found[each.connective] = found.get(each.connective, 0) + (not each.dropped)
    return found


def _cloze_suite(
    drafts: Sequence[ClozeDraft], meta: Meta, kept: Sequence[PairDecision]
) -> ClozeSuite:
    from cimento.corpus.making.finishing import sources
    from cimento.paradigms.cloze.suite import ClozeItem, ClozeSuite, Option, Role

    items = []
    for draft in drafts:
        roles: list[tuple[str, Role]] = [(draft.target, "target"), (draft.plausible, "plausible")]
        roles += [(each, "implausible") for each in draft.implausible]
        known = tuple(
            Option(each, role, tuple(filter(None, [draft.variants.get(each, "")])))
            for each, role in roles
        )
        columns = {**draft.columns, "order": " ; ".join(draft.order)}
        items.append(
            ClozeItem(draft.id, draft.before, draft.after, known, none_option=True, columns=columns)
        )
    return ClozeSuite(meta, tuple(items), cluster="connective", extra={"sources": sources(kept)})

"""``cimento corpus select``, ``pairs`` and ``finish``, and the options of treebank commands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from cimento.cli.console import note, show, show_json
from cimento.cli.flags import command_of, parted
from cimento.corpus.connectives import DecisionKind
from cimento.corpus.connectives.matching import open_rule
from cimento.errors import InputError
from cimento.io.declared import Options, Texts, option
from cimento.io.files import refuse_filled_in, write_text
from cimento.kinds.registry import owner_of
from cimento.options import run_option
from cimento.suites import Meta
from cimento.suites.formats.native import write_native
from cimento.suites.languages import NAMES

if TYPE_CHECKING:
    from cimento.corpus.conllu import ReadingProblem
    from cimento.corpus.connectives.extraction import CandidateSentence, Selection
    from cimento.corpus.connectives.inventories import Inventory
    from cimento.corpus.decisions import PairDecision
    from cimento.corpus.treebanks import TreebankFile
    from cimento.report.grid import Grid
    from cimento.suites.cloze import ClozeSuite


_SHOWN = 10


class TreebankOptions(Options):
    """The treebanks, and their licenses."""

    treebanks: tuple[Path, ...] = option(
        ..., "CoNLL-U files (.conllu, .gz), folders of them; it_sample.", argument="TREEBANK..."
    )
    license: str = option("", "License of the treebanks, if neither name nor README says.")

    @property
    def files(self) -> tuple[TreebankFile, ...]:
        """The files of the treebanks.

        Raises:
            InputError: a path does not exist.
        """
        from cimento.corpus.treebanks import open_treebanks

        return open_treebanks(self.treebanks, terms=self.license)


class InventoryOptions(Options):
    """The connectives to look for."""

    inventory: str = option(
        "it-connectives",
        "it-connectives, or a file: .toml, .tsv, .xml (DiMLex, LexConn), .json (NVdB), .txt.",
    )

    @property
    def connectives(self) -> Inventory:
        """The inventory of connectives.

        Raises:
            InputError: the inventory does not exist or cannot be read.
        """
        from cimento.corpus.connectives.lexicons import open_inventory

        return open_inventory(self.inventory)


class ConnectiveOptions(TreebankOptions, InventoryOptions):
    """The options to find connectives in treebanks."""

    rule: str = option(
        "paper", 'paper, verb, any ... or a TOML file (see the page "From a treebank to a suite").'
    )
    malformed: Literal["refuse", "skip"] = option(
        "refuse", "Refuse malformed sentences, or skip and report them."
    )


class MalformedOptions(Options):
    """What becomes of malformed sentences."""

    malformed: Literal["refuse", "skip"] = option(
        "refuse", "Refuse malformed sentences, or skip and report them."
    )


class FormOptions(Options):
    """Where the other forms of words come from."""

    dictionary: str = option(
        "",
        "delaf:FILE, unimorph:FILE, rules:it or pymorphy3, asked before the treebanks themselves.",
    )


class TextOptions(Options):
    """Whether sentences are written as text."""

    text: bool | None = option(
        None,
        "Sentences as text, or ids only; else as the licenses allow.",
        flags=("--text/--ids-only",),
    )


def where_skipped(malformed: str) -> list[ReadingProblem] | None:
    """A list for malformed sentences, which are then skipped; None if they are refused."""
    return [] if malformed == "skip" else None


def note_skipped(skipped: Sequence[ReadingProblem] | None) -> None:
    """Print the number of skipped sentences."""
    faults = [problem for problem in skipped or () if problem.severity == "error"]
    if not faults:
        return
    n = len({(fault.path, fault.sentence or fault.line) for fault in faults})
    note(f"{n} malformed sentences were skipped:")
    for problem in faults[:_SHOWN]:
        note(f"  {problem}")
    if len(faults) > _SHOWN:
        note(f"  ... and {len(faults) - _SHOWN} more faults; cimento corpus check lists them")


def shows_text(files: Sequence[TreebankFile], wanted: bool | None) -> bool:  # noqa: FBT001  # as the option gives it
    """Whether to write sentences as text: as requested, or else if every license allows it."""
    from cimento.corpus.treebanks import licenses_of, may_show

    closed = {k: v for k, v in licenses_of(files).items() if not may_show(v)}
    if not closed:
        return wanted is not False
    said = ", ".join(f"{corpus}: {terms}" for corpus, terms in closed.items())
    if wanted is None:
        note(f"Ids only ({said}); --text gives the sentences too, for your own use.")
        return False
    if wanted:
        note(f"With sentences that may not be passed on freely ({said}).")
    return wanted


DECISIONS = "decisions.tsv"
_STATUS = "draft, not yet reviewed by native speakers"


def note_languages(treebanks: Sequence[str], language: str) -> None:
    """Say which treebanks are of another language by their names, as ``it_isdt`` is Italian."""
    for name in dict.fromkeys(treebanks):
        code = name.partition("_")[0]
        if code != language and code in NAMES and "_" in name:
            note(f"{name} is {NAMES[code]} by its name, and --language says {language}.")


def note_inventory(files: Sequence[TreebankFile], opened: Inventory) -> None:
    """Say which treebanks are of another language, by their names, than the connectives."""
    for name in dict.fromkeys(file.corpus for file in files):
        code = name.partition("_")[0]
        if code in NAMES and "_" in name and opened.language in set(NAMES) - {code}:
            note(
                f"{name} is {NAMES[code]} by its name, and the connectives of {opened.name} are"
                f" {NAMES[opened.language]}: --inventory FILE takes others, one on each line."
            )


class SelectOptions(ConnectiveOptions):
    """The number of connectives to take, and those to leave out."""

    top: int = option(21, "How many of the most frequent.", ge=1)
    exclude: Texts = option((), "Leave one out, and why. May be repeated.", metavar="NAME=REASON")
    output: Path | None = option(None, "Inventory to write (TOML).", flags=("-o",))
    as_json: bool = run_option("as_json")


@command_of
def select(options: SelectOptions) -> None:
    """Take the most frequent connectives; the table marks those with infinitives only."""
    from dataclasses import asdict

    from cimento.corpus.connectives.extraction import select_connectives as choose
    from cimento.corpus.connectives.extraction import selected_inventory
    from cimento.corpus.connectives.inventories import write_inventory
    from cimento.report.terminal import on_terminal

    opened, skipped = options.connectives, where_skipped(options.malformed)
    selection = choose(
        options.files,
        opened,
        open_rule(options.rule),
        top=options.top,
        exclude=parted(
            options.exclude,
            flag="--exclude",
            todo="Say why: --exclude 'per=before infinitives'.",
        ),
        skipped=skipped,
    )
    if options.as_json:
        plain = [
            {**asdict(selected), "infinitive_share": selected.infinitive_share}
            for selected in selection
        ]
        show_json({"connectives": plain})
    else:
        show(on_terminal(_selection_grid(selection, options.top)))
    note_skipped(skipped)
    if options.output is not None:
        if not any(selected.taken for selected in selection):
            raise InputError(where="treebanks", seen="no connective is left", todo="Exclude fewer.")
        write_inventory(selected_inventory(opened, selection), options.output)
        note(f"{sum(selected.taken for selected in selection)} connectives: {options.output}")


class DrawOptions(ConnectiveOptions, TextOptions):
    """The number and length of the sentences to draw, and the decisions left to a person."""

    output: Path = option(..., "Table to write (TSV).", flags=("-o",))
    section: DecisionKind = option(
        DecisionKind.SENTENCES, "Pairs of sentences, or texts with a blank."
    )
    per: int = option(15, "Sentences for each connective.", ge=1)
    seed: int = option(0, "Seed of the draw.")
    shortest: int = option(5, "In words.", ge=1)
    longest: int = option(40, "In words.", ge=1)
    join: bool = option(
        default=True,
        help="Join a sentence that opens with e, ma, tuttavia ... to the one before it; not for "
        "isolated sentences, such as tweets.",
        flags=("--join/--no-join",),
    )
    fewer: bool = option(default=False, help="Accept fewer sentences if there are not enough.")
    avoid: Path | None = option(None, "Table of another section: none of its sentences.")
    propose: bool = option(default=False, help="Fill in first replacements.")


@command_of
def pairs(options: DrawOptions) -> None:
    """Draw sentences for each connective, and write the table of decisions for a person.

    Sentences come from strata of length and number of clauses. A connective that opens its sentence
    and links it to the previous one is joined to that one. Next: cimento corpus finish.
    """
    from cimento.corpus.decisions import as_table, columns_of, decision_rows

    files = options.files
    skipped, reasons = where_skipped(options.malformed), Counter[str]()
    opened = options.connectives
    note_inventory(files, opened)
    drawn = _drawn(options, files, opened, skipped, reasons)
    with_text = shows_text(files, options.text)
    rows = decision_rows(
        drawn,
        opened,
        section=options.section,
        per=options.per,
        with_text=with_text,
        propose=options.seed if options.propose else None,
    )
    table = as_table(rows, columns_of(options.section, with_text=with_text))
    refuse_filled_in(options.output, holds="decisions", fresh=table)
    write_text(table, options.output)
    note_skipped(skipped)
    for reason, number in reasons.items():
        note(f"{number} occurrences were skipped: {reason}")
    for name, sentences in drawn.items():
        if len(sentences) < options.per:
            note(f"{name}: {len(sentences)} of {options.per}")
    note(f"{len(rows)} sentences to decide on: {options.output}")


def _drawn(
    options: DrawOptions,
    files: Sequence[TreebankFile],
    inventory: Inventory,
    skipped: list[ReadingProblem] | None,
    reasons: Counter[str],
) -> dict[str, list[CandidateSentence]]:
    """The sentences of each connective.

    Args:
        options: options of the draw.
        files: treebanks to draw from.
        inventory: inventory of the connectives.
        skipped: list that collects malformed sentences; None to refuse them.
        reasons: counter that collects the reasons why occurrences are skipped.
    """
    from cimento.corpus.connectives.extraction import (
        SentenceLimits,
        candidate_sentences,
        draw_candidates,
    )

    limits = options.named_in(SentenceLimits, whole_words=options.section is DecisionKind.BLANKS)
    rule = open_rule(options.rule)
    candidates = candidate_sentences(
        files, inventory, rule, limits=limits, skipped=skipped, reasons=reasons
    )
    return draw_candidates(
        list(candidates),
        inventory.names,
        per=options.per,
        seed=options.seed,
        fewer=options.fewer,
        avoid=_sentences_of(options.avoid),
    )


class FinishOptions(TreebankOptions, InventoryOptions, TextOptions):
    """The decisions, and the suite to make from them."""

    decisions: Path = option(..., "Table of decisions: TSV, CSV, xlsx.", argument="DECISIONS")
    output: Path = option(..., "Suite folder to write.", flags=("-o",))
    name: str = option("", "Name of the suite; else that of its folder.")
    seed: int = option(0, "Seed of the order of options.")


@command_of
def finish(options: FinishOptions) -> None:
    """Check decisions and turn them into a suite of kind acceptability or cloze.

    If a treebank's license forbids redistribution of its sentences, only the decisions are written,
    with ids: anyone who has the treebank can make the suite from them. --text overrides this.
    """
    from cimento.corpus.decisions import as_table, columns_of, read_decisions

    files = options.files
    opened = options.connectives
    read = read_decisions(options.decisions, files, opened)
    kept = [decision for decision in read if not decision.dropped]
    if not kept:
        raise InputError(
            where=str(options.decisions), seen="every item is dropped", todo="Keep some."
        )
    columns = columns_of(kept[0].section, with_text=False)
    rows = as_table([decision.row for decision in read], columns)
    hashes = {decision.source["sha256"] for decision in kept}
    if not shows_text([file for file in files if file.sha256 in hashes], options.text):
        write_text(rows, options.output / DECISIONS)
        note(f"decisions without texts: {options.output / DECISIONS}")
        return
    _write_suite(options, kept, opened)
    write_text(rows, options.output / DECISIONS)
    for name in dict.fromkeys(decision.connective for decision in read):
        note(f"{name}: {sum(decision.connective == name for decision in kept)}")
    note(f"{len(kept)} items, {len(read) - len(kept)} dropped: {options.output}")
    note(f"cimento suites check {options.output}")


def _write_suite(
    options: FinishOptions, kept: Sequence[PairDecision], inventory: Inventory
) -> None:
    """Write the decisions as a suite: pairs of sentences, or texts with a blank."""
    from cimento.corpus.decisions import decision_suite, license_of

    meta = Meta(
        name=options.name or options.output.resolve().name,
        version="0.1.0",
        language=inventory.language,
        phenomenon="textual connectives",
        license=license_of(kept),
        status=_STATUS,
        reference="Albertin, Miaschi and Brunato 2021, ceur-ws.org/Vol-3033",
    )
    if kept[0].section is DecisionKind.SENTENCES:
        write_native(decision_suite(kept, inventory, meta=meta), options.output)
    else:
        suite = _cloze_suite(kept, inventory, meta, seed=options.seed)
        owner_of(suite).reader.write(suite, options.output)


def _cloze_suite(
    kept: Sequence[PairDecision], inventory: Inventory, meta: Meta, *, seed: int
) -> ClozeSuite:
    """A suite of texts with a blank, with the options in the order of their roles."""
    from cimento.corpus.decisions import decision_options, sources
    from cimento.suites.cloze import ClozeItem, ClozeSuite, Option, OptionRole

    items = []
    for decision in kept:
        spellings, order = decision_options(decision, inventory, seed=seed)
        roles: list[OptionRole] = ["target", "plausible"]
        roles += ["implausible"] * len(decision.implausible)
        known = tuple(
            Option(form, role, (other,) if other else ())
            for (form, other), role in zip(spellings, roles, strict=True)
        )
        columns = {
            "connective": decision.connective,
            "source": decision.sentence,
            "order": " ; ".join(order),
        }
        before, after = decision.passage.before, decision.passage.after
        items.append(
            ClozeItem(decision.id, before, after, known, none_option=True, columns=columns)
        )
    return ClozeSuite(meta, tuple(items), cluster="connective", extra={"sources": sources(kept)})


def _sentences_of(path: Path | None) -> frozenset[tuple[str, str]]:
    """The sentences in a table of decisions, by sha256 and id."""
    from cimento.intake.tables import open_table

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


def _selection_grid(selection: Sequence[Selection], top: int) -> Grid:
    from cimento.report.cells import Shown, count
    from cimento.report.formatting import percent
    from cimento.report.grid import Grid

    return Grid(
        title=f"The {top} most frequent connectives, less those with a reason.",
        header=("connective", "n", "rank", "infinitive", "%", "taken", "reason"),
        rows=tuple(
            (
                selected.connective,
                count(selected.n),
                count(selected.rank),
                count(selected.infinitive),
                percent(selected.infinitive_share),
                Shown("yes" if selected.taken else "no", selected.taken),
                selected.reason,
            )
            for selected in selection
        ),
        remarks=2,
    )

"""``cimento suites``: list, fetch, show, check, convert and start test suites."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from cimento.cli.console import in_columns, note, note_faults, show, show_json
from cimento.cli.flags import SuiteOptions, SuitesOptions, command_of
from cimento.cli.tree import moved
from cimento.errors import InputError, UsageError, counted
from cimento.faults import NO_PLAIN_LEVEL
from cimento.intake.decoding import reading_language
from cimento.intake.roles import parse_choice
from cimento.io.declared import Options, option
from cimento.io.files import folder_atomically
from cimento.kinds.registry import (
    LoadedSuite,
    audit_suite,
    load_suite,
    load_suites,
    save_suite,
    sentence_suite,
    suite_record,
)
from cimento.options import run_option
from cimento.suites.builtin import (
    TEMPLATE_LANGUAGES,
    WORKBOOK,
    BuiltinSuite,
    find_suite,
    list_builtin,
    new_suite,
    template_kinds,
)
from cimento.suites.kinds import in_words
from cimento.suites.load import name_archive, named_fault, open_suite, opened, suite_paths
from cimento.suites.published import (
    PublishedDataset,
    published,
    refuse_incomplete,
    write_publication,
)
from cimento.suites.sources import SOURCE, recorded_source

if TYPE_CHECKING:
    from cimento.errors import Fault
    from cimento.intake.reading import TableReading
    from cimento.kinds.registry import SuiteLike
    from cimento.suites import JsonValue


INVALID = 2
_MOST_ALIKE = 3
"""Faults with one message that are shown one by one."""

Format = Literal[
    "native", "xlsx", "syntaxgym", "blimp", "lm-eval", "minicons", "gita4calamita", "gita-v1"
]


class ListOptions(Options):
    """The suites to list."""

    remote: bool = option(default=False, help="List published datasets that can be fetched.")
    language: str = option("", "Only those of a language: ISO 639-1 code (it, es ...).")
    as_json: bool = option(default=False, help="Print the list as JSON.", flags=("--json",))

    @property
    def builtin(self) -> list[BuiltinSuite]:
        """The suites that come with cimento."""
        return [one for one in list_builtin() if self.language in ("", one.language)]

    @property
    def datasets(self) -> list[PublishedDataset]:
        """The published datasets; one with more languages than it names may have any."""
        return [
            one
            for one in published().values()
            if not self.language or self.language in one.languages or one.has_more_languages
        ]


@command_of
def list_suites(options: ListOptions) -> None:
    """List the suites that come with cimento, or with --remote those published by others."""
    if not (options.datasets if options.remote else options.builtin):
        raise UsageError(
            where=f"--language {options.language}",
            seen="no such suite is in this language",
            todo="--remote lists published datasets; `cimento suites get multiblimp --language`"
            " fetches any of 101 languages.",
        )
    if options.as_json:
        listed = options.datasets if options.remote else options.builtin
        name = "datasets" if options.remote else "suites"
        show_json({name: [_listed(entry, options.language) for entry in listed]})
        return
    if options.remote:
        _list_published(options.datasets, options.language)
        return

    names = ("language", "items", "phenomenon", "status")
    rows = [
        (entry.name, entry.kind, *(getattr(entry, name) for name in names))
        for entry in options.builtin
    ]
    show(in_columns(("suite", "kind", *names), rows))
    used = dict.fromkeys(entry.kind for entry in options.builtin)
    show("\nkinds: " + "; ".join(f"{kind}: {in_words(kind)}" for kind in used))


def _listed(entry: BuiltinSuite | PublishedDataset, language: str) -> dict[str, object]:
    """A suite or a dataset as JSON: what people are shown, and no place on this machine."""
    if isinstance(entry, BuiltinSuite):
        own = ("kind", "language", "phenomenon", "items", "status")
        return {"name": entry.name, **{name: getattr(entry, name) for name in own}}
    names = ("title", "languages", "license", "citation", "format", "address", "judged")
    shown = {name: getattr(entry, name) for name in names}
    return {"name": entry.name, **shown, "size": entry.size_in(language)}


def _list_published(datasets: Sequence[PublishedDataset], language: str) -> None:
    rows = [
        (
            entry.name,
            _languages(entry),
            entry.license,
            entry.size_in(language),
            "by people" if entry.judged else "",
            "by hand" if entry.by_hand else "yes" if entry.verified else "newest",
            entry.title,
            entry.address,
        )
        for entry in datasets
    ]
    header = ("dataset", "languages", "license", "size", "judged", "pinned", "what it is", "where")
    show(in_columns(header, rows))
    show(f"\n{_unattended(datasets)}.")


def _unattended(datasets: Sequence[PublishedDataset]) -> str:
    """How many datasets `cimento run --language` can use without anybody's help."""
    by_hand = [one.name for one in datasets if one.by_hand]
    unstated = [one.name for one in datasets if not (one.by_hand or one.states_license)]
    alone = len(datasets) - len(by_hand) - len(unstated)
    parts = [f"Unattended: {alone} of {counted(len(datasets), 'set')}"]
    if unstated:
        parts.append(f"{len(unstated)} more with --accept-license ({', '.join(unstated)})")
    if by_hand:
        parts.append(f"to be fetched by hand: {', '.join(by_hand)}")
    return "; ".join(parts)


_MOST_LANGUAGES = 8
"""Most languages of a dataset that are named in the list; the JSON has all."""


def _languages(entry: PublishedDataset) -> str:
    shown = entry.languages[:_MOST_LANGUAGES]
    left = len(entry.languages) - len(shown)
    return " ".join([*shown, *([f"and {left} more"] if left else [])])


class GetOptions(Options):
    """The dataset to fetch, and its folder."""

    dataset: str = option(
        ...,
        "See suites list --remote; one of the hub also as DATASET@COMMIT. Or an address:"
        " hf:ORG/NAME@COMMIT, github:OWNER/REPO@COMMIT, zenodo:10.5281/zenodo.NUMBER, each with"
        " :PATH for a part of it.",
        argument="DATASET",
    )
    language: str = option("", "ISO 639-1 code, or 639-3 if there is none; default: all.")
    output: Path | None = option(
        None, "Folder; by default DATASET in the working folder.", flags=("-o",)
    )


@command_of
def get(options: GetOptions) -> None:
    """Fetch a published dataset at a pinned revision; files already there are only checked.

    Of a dataset of the hub without a pin, the newest commit is fetched, and its digits are said.
    """
    from cimento.suites.fetching import fetch, unpinned
    from cimento.suites.published import find_published

    entry = find_published(options.dataset)
    folder = fetch(entry, options.output or Path(entry.folder), language=options.language)
    if entry.hub and not entry.revision:
        commit = recorded_source(folder).get("revision")
        note(
            f"No commit of {entry.name} is pinned: this is {commit}, the newest when it was"
            f" fetched. Others get the same with `cimento suites get {entry.name}@{commit}`."
        )
    if unknown := unpinned(entry, folder):
        note(
            f"The sha256 of {counted(unknown, 'file')} could not be compared with published ones:"
            f" what came is recorded in {folder / SOURCE} and compared from now on."
        )
    note(f"{entry.title}\nlicense: {entry.license}\nplease cite: {entry.citation}")
    show(str(folder))


class ShowOptions(SuiteOptions):
    """The suite, and how much of it is printed."""

    items: int = option(3, "Number of items to print.", ge=0)
    as_json: bool = option(default=False, help="Print the description as JSON.", flags=("--json",))


@command_of
def show_suite(options: ShowOptions) -> None:
    """Print the description of a suite, its predictions, and its first items."""
    loaded_suites, items = load_suites(options.suite), options.items
    if options.as_json:
        shown = [suite_record(loaded, items) for loaded in loaded_suites]
        show_json({"suites": shown})
        return
    for loaded in loaded_suites:
        show(loaded.paradigm.presenter.describe(loaded.suite, items))


_CHOICE = "Columns of a table by their roles: good=A,bad=B,item=ID,phenomenon=P; A! to insist."


class CheckOptions(SuitesOptions):
    """The suites to check."""

    language: str = run_option("language")
    columns: str = option("", _CHOICE)
    as_json: bool = option(default=False, help="Print the findings as JSON.", flags=("--json",))


@command_of
def check(options: CheckOptions) -> int:
    """Report every fault of some suites at once: where it is, what was seen, what to do.

    Of faults with the same message, three are shown and the others counted; --json has all. The
    exit code is 2 if a suite cannot be used; with warnings only, it is 0.
    """
    from cimento.faults import NO_PREDICTIONS

    language, suites = options.language, options.suites
    columns = parse_choice(options.columns)
    said = f" --language {language}" if language else ""
    said += f" --columns {shlex.quote(options.columns)}" if columns else ""
    errors = 0
    audits: list[JsonValue] = []
    for name in suites:
        with opened(given := find_suite(name)) as root:
            paths = suite_paths(root)
            several = len(paths) > 1 or len(suites) > 1
            for path in paths:
                try:
                    audited = audit_suite(path, language=language, columns=columns)
                except InputError as error:
                    # The other suites are checked nevertheless.
                    name_archive(error, root, given)
                    note(f"error: {error}")
                    errors += 1
                    continue
                audits.append(audited.record)
                faults = audited.faults
                if several:
                    faults = tuple(named_fault(fault, path.name) for fault in faults)
                if audited.read is not None and not options.as_json:
                    line = audited.read.said()
                    note(f"{path.name}: {line}" if several else line)
                wrong = _show_faults(path.name, faults, quiet=options.as_json)
                if not wrong:
                    holds = f"{audited.holds}. " if audited.holds else ""
                    needs = f" {audited.needs}" if audited.needs else ""
                    next_step = f"cimento run {name}{said} -m MODEL{needs}"
                    if any(fault.code == NO_PREDICTIONS for fault in faults):
                        next_step = "write a prediction. Without one, a run judges nothing."
                    note(f"  {holds}Next: {next_step}")
                errors += wrong
    if options.as_json:
        show_json({"suites": audits}, indent=1)
    return INVALID if errors else 0


def _show_faults(name: str, faults: Sequence[Fault], *, quiet: bool = False) -> int:
    """Print faults, and return how many of them make the suite unusable."""
    alike: dict[tuple[str, str], list[Fault]] = {}
    for fault in () if quiet else faults:
        alike.setdefault((fault.code, fault.seen), []).append(fault)
    for several in alike.values():
        for fault in several[:_MOST_ALIKE]:
            show(f"{fault.severity}: {fault}")
        if len(several) > _MOST_ALIKE:
            left = len(several) - _MOST_ALIKE
            show(f"  ... and {left} more like it, the last at {several[-1].where}")
    errors = sum(fault.severity == "error" for fault in faults)
    note(f"{name}: {_count(errors, 'error')}, {_count(len(faults) - errors, 'warning')}")
    return errors


class ConvertOptions(SuiteOptions):
    """The suite, the format to write, and where."""

    output: Path = option(..., "File or folder to write.", flags=("-o",))
    to: Format = option("native", "Format to write.")
    from_: str = option(
        "",
        "Format to read, if it cannot be recognized: native, syntaxgym, syntaxgym-rows,"
        " syntaxgym-csv, blimp, pairs, labeled, choices, clams, zorro, lm-eval, good-first,"
        " examples, factorial, factorial-table, coded-cells, minicons, endings, crossed, targets,"
        " reversed,"
        " choice, options, forms, words.",
        flags=("--from",),
    )
    language: str = run_option("language")
    columns: str = option("", _CHOICE)
    allow_loss: bool = option(default=False, help="Write even if the format loses information.")
    corrections: str = option("", "Corrections of stories to apply, such as gita4calamita.")
    states: str | None = option(None, "A file with the states of each sentence of stories.")


@command_of
def convert(options: ConvertOptions) -> None:
    """Write a suite in another format; this is refused if the format would lose something.

    Of a folder of suites, all are written, to a folder.
    ``-o NAME.xlsx`` writes one workbook with the sheets about, items, predictions and how to.
    Stories have formats of their own: gita4calamita, and gita-v1, which cannot contain the state of
    a whole story; these labels are lost only with ``--allow-loss``.
    """
    from cimento.cli.stories import are_converted_here, convert_stories

    suite, output, to, language = options.suite, options.output, options.to, options.language
    source = find_suite(suite)
    if are_converted_here(options, source):
        convert_stories(options, source)
        return
    _refuse_other_suffix(output, to)
    columns = parse_choice(options.columns)
    readings: list[TableReading | None] = []
    with reading_language(language, columns):
        read: SuiteLike = suite
        if options.from_:
            file = open_suite(source, format_=options.from_)
            read, readings = file.suite, [file.table]
            note_faults(file.faults, NO_PLAIN_LEVEL)
    loaded = list(load_suites([read], language=language, columns=columns))
    for reading in readings or [one.reading.table for one in loaded]:
        if reading is not None:
            note(reading.said())

    def write_all(folder: Path) -> None:
        for one in loaded:
            source = one.reading.path
            name = source.name if source.is_dir() else source.stem
            _write(one, folder / f"{name}{_SUFFIXES.get(to, '')}", options)

    if len(loaded) == 1:
        written = _write(loaded[0], output, options)
    elif output.suffix.lower() in _DATA:
        raise UsageError(
            where=f"-o {output}",
            seen=f"there are {len(loaded)} suites in {suite}, and this is the name of one file",
            todo="Give the name of a folder, which gets all of them, or the file of one suite.",
        )
    else:
        written = folder_atomically(output, write_all)
    note(f"Written: {written}")
    if language and to in _WITHOUT_LANGUAGE:
        note(f"The format states no language: give --language {language} where you read it.")


def _write(loaded: LoadedSuite, output: Path, options: ConvertOptions) -> Path:
    """Write one suite in a format, to a name that gets the suffix of the format."""
    from cimento.suites.formats.lm_eval import write_choice_tasks
    from cimento.suites.formats.writing import convert as write

    to = options.to
    if to == "xlsx":
        output = output.with_name(output.name.removesuffix(WORKBOOK) + WORKBOOK)
    elif to in _SUFFIXES and not output.suffix[1:].isalpha():
        output = output.with_name(output.name + _SUFFIXES[to])
    if to in ("native", "xlsx"):
        return save_suite(loaded, output)
    if to == "lm-eval" and (tasks := loaded.paradigm.presenter.choice_tasks(loaded.suite)):
        write_tasks = partial(write_choice_tasks, tasks, meta=loaded.suite.meta)
        return folder_atomically(output, write_tasks)
    sentences = sentence_suite(loaded)
    if options.language and to in _WITHOUT_LANGUAGE:
        # The command line gave it: it is not part of the file that could be lost.
        sentences = replace(sentences, meta=replace(sentences.meta, language=""))
    return write(sentences, to, output, allow_loss=options.allow_loss)


_SUFFIXES = {"blimp": ".jsonl", "minicons": ".tsv", "syntaxgym": ".json"}
"""The suffix by which a format of one file is read."""
_DATA = frozenset({*_SUFFIXES.values(), ".csv", ".tab", ".yaml", ".yml", ".parquet", ".xlsx"})
_WITHOUT_LANGUAGE = ("blimp", "minicons")


def _refuse_other_suffix(output: Path, to: Format) -> None:
    """Refuse a name that promises another format than is written, such as pairs.json for a folder.

    Raises:
        UsageError: the name ends in the suffix of another format.
    """
    suffix, own = output.suffix.lower(), WORKBOOK if to == "xlsx" else _SUFFIXES.get(to, "")
    if suffix not in _DATA - {own} or (to == "native" and suffix == WORKBOOK):
        return
    named = [f"--to {name} for {end}" for name, end in _SUFFIXES.items()]
    raise UsageError(
        where=f"-o {output}",
        seen=f"the format {to} is " + (f"a file with the suffix {own}" if own else "a folder"),
        todo=f"Give another name, or another format: {', '.join(named)}, --to xlsx for {WORKBOOK}.",
    )


class PublishOptions(SuiteOptions):
    """The suite, and where its folder goes."""

    output: Path = option(..., "Folder to write.", flags=("-o",))
    language: str = run_option("language")


@command_of
def publish(options: PublishOptions) -> None:
    """Write a suite as a folder for a host of data sets, with card, citation and license."""
    loaded = load_suite(options.suite, language=options.language)
    meta, path = loaded.suite.meta, loaded.reading.path
    refuse_incomplete(meta)
    about = (path if path.is_dir() else path.parent) / "README.md"
    readme = about.read_text(encoding="utf-8") if path.is_dir() and about.is_file() else ""

    def write(folder: Path) -> None:
        loaded.paradigm.reader.write(loaded.suite, folder)
        write_publication(
            folder,
            meta,
            description=loaded.paradigm.presenter.describe(loaded.suite, _SHOWN),
            readme=readme,
        )

    folder_atomically(options.output, write)
    note(
        f"Written: {options.output}\nUpload the folder to a data set of the Hugging Face hub, a"
        " repository on GitHub or a record of Zenodo. Then others run it by its address:"
        ' the page "Supported file formats"'
    )


_SHOWN = 3
"""Items shown on a card."""


def _kinds_in_words() -> str:
    """The kinds of templates, each with its name for people."""
    return "; ".join(f"{name} ({in_words(name)})" for name in template_kinds())


class NewOptions(Options):
    """The kind of suite to start, and where."""

    kind: str = option(..., f"What it tests: {_kinds_in_words()}.", argument="KIND")
    folder: Path = option(..., "Folder to make, or a workbook: NAME.xlsx.", argument="FOLDER")
    language: str = option(
        TEMPLATE_LANGUAGES[0],
        "Language of the example sentences, which you then replace:"
        f" {', '.join(TEMPLATE_LANGUAGES)}.",
    )
    xlsx: bool = option(default=False, help="One Excel workbook, no folder.")


@command_of
def new(options: NewOptions) -> None:
    """Start a suite to fill in: a folder with a description and a table, or one workbook."""
    from cimento.suites import new_canary

    old, now = moved(("suites", "new", options.kind))
    if now:
        raise UsageError(where="", seen=f"there is no command '{old}'", todo=f"It is now: {now}")
    folder = options.folder
    if options.xlsx and folder.suffix.lower() != WORKBOOK:
        folder = folder.with_name(folder.name + WORKBOOK)
    written = new_suite(options.kind, folder, language=options.language, canary=new_canary())
    table = written[0] if len(written) == 1 else written[1]
    others = ", ".join(code for code in TEMPLATE_LANGUAGES if code != options.language)
    note(
        f"Fill in {table}, then: cimento suites check {folder}\n"
        f"The suite's language is {options.language}, that of its examples; for another, give"
        f" --language ({others})."
    )


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")

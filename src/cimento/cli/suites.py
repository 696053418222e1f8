"""``cimento suites``: list, show, check, convert and start test suites."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cimento.cli import audit, options, suites_build, suites_derived, suites_power, vary
from cimento.cli.console import note, show
from cimento.io.inline_markup import columns

if TYPE_CHECKING:
    from cimento.errors import Fault
    from cimento.suites.model import JsonValue

INVALID = 2

app = typer.Typer(help="List, show, check, convert and start test suites.", no_args_is_help=True)
app.add_typer(suites_build.app, name="build")

app.command("audit")(audit.audit_suites)
app.command("power")(suites_power.power_of_suite)
app.command("vary")(vary.vary_suite)
app.command("match")(suites_derived.match_suite)
app.command("prime")(suites_derived.prime_suite)
app.command("merge")(suites_derived.merge_suite)

SuiteName = Annotated[str, typer.Argument(metavar="SUITE", help="Built-in name or path.")]
Kind = Literal["pairs", "regions", "factorial", "agreement", "cloze", "templates"]
Format = Literal["native", "syntaxgym", "blimp", "lm-eval", "minicons"]


@app.command("list")
def list_suites(
    *,
    remote: Annotated[
        bool, options.option("--remote", help="List published datasets that can be fetched.")
    ] = False,
) -> None:
    """List the suites that come with cimento, or with --remote those that others published."""
    if remote:
        _list_published()
        return
    from cimento.suites.builtin import list_builtin

    rows = [("suite", "kind", "language", "items", "phenomenon", "status")]
    rows += [
        (each.name, each.kind, each.language, str(each.items), each.phenomenon, each.status)
        for each in list_builtin()
    ]
    show(columns(rows))


def _list_published() -> None:
    from cimento.suites.published import published

    rows = [("dataset", "languages", "licence", "size", "what it is", "where")]
    rows += [
        (
            each.name,
            " ".join(each.languages),
            each.licence,
            each.size,
            each.title,
            each.address,
        )
        for each in published().values()
    ]
    show(columns(rows))


@app.command("get")
def get(
    dataset: Annotated[str, typer.Argument(metavar="DATASET", help="See suites list --remote.")],
    *,
    language: Annotated[
        str, options.option("--language", help="ISO 639-1 code; all languages by default.")
    ] = "",
    output: Annotated[
        Path | None,
        options.option("-o", "--output", help="Folder; by default DATASET in the working folder."),
    ] = None,
) -> None:
    """Fetch a published dataset at a pinned revision; what is already there is only checked."""
    from cimento.io.fetching import SOURCE, fetch, unpinned
    from cimento.suites.published import find_published

    found = find_published(dataset)
    folder = fetch(found, output or Path(found.name), language=language)
    if unknown := unpinned(found, folder):
        note(
            f"The sha256 of {unknown} files could not be compared with published ones: what came"
            f" is recorded in {folder / SOURCE} and compared from now on."
        )
    note(f"{found.title}\nlicence: {found.licence}\nplease cite: {found.citation}")
    show(str(folder))


@app.command("show")
def show_suite(
    suite: SuiteName,
    items: Annotated[int, options.option("--items", min=0, help="How many items to print.")] = 3,
) -> None:
    """Print what a suite is, what it predicts, and its first items."""
    from cimento.api import load_suites

    for loaded in load_suites(suite):
        show(loaded.paradigm.describe(loaded.suite, items))


@app.command("check")
def check(
    suites: Annotated[
        list[str], typer.Argument(metavar="SUITE...", help="Built-in names or paths.")
    ],
    *,
    as_json: Annotated[
        bool, options.option("--json", help="Print what was found as JSON.")
    ] = False,
) -> int:
    """Report every fault of some suites at once: where, what was seen, what to do.

    The exit code is 2 where a suite cannot be used; warnings alone leave it at 0.
    """
    from cimento.paradigms.suites import audit_suite
    from cimento.suites.archives import opened
    from cimento.suites.builtin import find_suite
    from cimento.suites.load import suite_paths

    errors = 0
    audits: list[JsonValue] = []
    for name in suites:
        with opened(find_suite(name)) as found:
            for path in suite_paths(found):
                audited = audit_suite(path)
                audits.append(audited.record)
                errors += _show_faults(path.name, audited.faults, quiet=as_json)
    if as_json:
        show(json.dumps(audits[0] if len(audits) == 1 else audits, indent=1, ensure_ascii=False))
    return INVALID if errors else 0


def _show_faults(name: str, faults: Sequence[Fault], *, quiet: bool = False) -> int:
    """Print faults, and return how many of them keep the suite from being used."""
    for fault in () if quiet else faults:
        show(f"{fault.severity}: {fault}")
    errors = sum(fault.severity == "error" for fault in faults)
    note(f"{name}: {_count(errors, 'error')}, {_count(len(faults) - errors, 'warning')}")
    return errors


@app.command("convert")
def convert(
    suite: SuiteName,
    output: Annotated[Path, options.option("-o", "--output", help="File or folder to write.")],
    to: Annotated[Format, options.option("--to", help="Format to write.")] = "native",
    *,
    from_: Annotated[
        str,
        options.option("--from", help="Format to read, where the file does not tell: zorro."),
    ] = "",
    allow_loss: Annotated[
        bool, options.option("--allow-loss", help="Write even what the format cannot hold whole.")
    ] = False,
) -> None:
    """Write a suite in another format; refused where the format would lose something."""
    from cimento.api import load_suite
    from cimento.paradigms.suites import sentence_suite
    from cimento.suites.builtin import find_suite
    from cimento.suites.formats.registry import convert as write
    from cimento.suites.load import open_suite

    sentences = (
        open_suite(find_suite(suite), format_=from_).suite
        if from_
        else sentence_suite(load_suite(suite))
    )
    written = write(sentences, to, output, allow_loss=allow_loss)
    note(f"Written: {written}")


@app.command("new")
def new(
    kind: Annotated[
        Kind,
        typer.Argument(
            metavar="KIND", help="pairs, regions, factorial, agreement, cloze, templates"
        ),
    ],
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder to make.")],
    *,
    xlsx: Annotated[bool, options.option("--xlsx", help="The items as an Excel workbook.")] = False,
) -> None:
    """Start a suite: a folder with a description and a table to fill in a spreadsheet."""
    from cimento.suites.model import new_canary
    from cimento.suites.templates import new_suite

    new_suite(kind, folder, workbook=xlsx, canary=new_canary())
    table = "items.xlsx" if xlsx else "items.tsv"
    note(f"Fill in {folder / table}, then: cimento suites check {folder}")


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")

"""``cimento annotate review``: a suite to a native speaker and back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cimento.cli import options
from cimento.cli.console import note, show
from cimento.errors import UsageError

INVALID = 2

app = typer.Typer(help="Give a suite to a native speaker, and take corrections back.")

SuiteName = Annotated[str, typer.Argument(metavar="SUITE", help="Built-in name or suite folder.")]


@app.command("export")
def export(
    suite: SuiteName,
    output: Annotated[Path, options.option("-o", "--output", help="Sheet: .xlsx or .tsv.")],
) -> None:
    """Write the rows of a suite as a sheet, with columns for a verdict and a comment.

    The reviewer writes ok, wrong or unsure, and corrects any cell in its place.
    """
    from cimento.io.files import refuse_filled_in
    from cimento.people.annotate.spreadsheets import export_review
    from cimento.suites.builtin import find_suite

    refuse_filled_in(output, holds="verdicts")
    count = export_review(find_suite(suite), output)
    note(f"{count} rows: {output}. Verdicts are ok, wrong or unsure; cells are corrected in place.")


@app.command("import")
def import_(
    suite: SuiteName,
    sheet: Annotated[Path, typer.Argument(metavar="SHEET", help="As the reviewer left it.")],
    output: Annotated[Path, options.option("-o", "--output", help="Folder of the copy.")],
    reviewer: Annotated[str, options.option("--reviewer", help="Who reviewed it: a name.")],
) -> int:
    """Take corrections into a copy of the suite, with a log of every change.

    The copy says who reviewed it; its status is `reviewed` where every row has a verdict and none
    is left wrong or unsure. Exit code 2: what was corrected has faults.
    """
    from cimento.paradigms.suites import audit_suite
    from cimento.people.annotate.spreadsheets import LOG, import_review
    from cimento.suites.builtin import find_suite

    name = " ".join(reviewer.split())
    if not name:
        raise UsageError(where="--reviewer", seen="is empty", todo="Say who reviewed the suite.")
    review = import_review(find_suite(suite), sheet, output, reviewer=name)
    for each in review.changes:
        item = each.row.cells.get("item", "")
        show(f"{item} {each.column}: {each.before} -> {each.after}")
    for row in review.open:
        show(f"{row.cells.get('item', '')} is {row.verdict}, not changed: {row.comment or '-'}")
    note(f"{len(review.changes)} changes, status: {review.status}. The log: {output / LOG}")
    faults = [each for each in audit_suite(output).faults if each.severity == "error"]
    for fault in faults:
        show(f"{fault.severity}: {fault}")
    return INVALID if faults else 0

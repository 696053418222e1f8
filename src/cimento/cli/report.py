"""``cimento report``: a page or a table to read, made from stored runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from cimento.cli.designs import TableName, make_table
from cimento.cli.flags import command_of
from cimento.cli.stored_options import TableOptions
from cimento.options import Texts, option

if TYPE_CHECKING:
    from cimento.report.grid import Grid
    from cimento.runs.run import Run

Form: TypeAlias = Literal["text", "markdown", "csv", "latex", "json"]

ENDINGS: Mapping[Form, str] = {
    "text": ".txt",
    "markdown": ".md",
    "csv": ".csv",
    "latex": ".tex",
    "json": ".json",
}


class ReportOptions(TableOptions):
    """Which runs are reported, and in which form."""

    output: Path | None = option(None, "A file: .html, .md, .csv, .json or .txt.", flags=("-o",))
    table: str = option(
        "", "Only this table: of the page, or of factorial suites; a wrong name lists them."
    )
    form: Form | None = option(
        None, "Of a table that is printed: booktabs for latex.", flags=("--format",)
    )
    measures: Texts = option(
        (),
        "Judge whole sentences on these: lp,penlp:0.8,slor ... or regions.",
        flags=("--measure",),
    )


def _report(options: ReportOptions) -> int:
    """Write a report of stored runs; without -o the table is printed."""
    from cimento.cli.console import note, show
    from cimento.cli.reports import open_reports
    from cimento.cli.spreadsheets import neutralise
    from cimento.errors import UsageError
    from cimento.report.document import report as write_report
    from cimento.report.document import text

    output, measures = options.output, options.measures
    if options.form is not None and not options.table:
        raise UsageError(
            where=f"--format {options.form}",
            seen="no table is named",
            todo="Add --table NAME, or say the form by the ending of -o.",
        )
    if options.table:
        grid = _table(options.table, open_reports(options.runs), measures, seed=options.seed)
        _write_table(grid, output, options.form or "text")
    elif output is None:
        show(text(open_reports(options.runs, measures)))
    else:
        write_report(open_reports(options.runs, measures), output)
        note(f"The report is in {output}")
    neutralise([output] if output is not None else [], asked=options.spreadsheet_safe)
    return 0


report = command_of(ReportOptions, _report, positional="runs", metavar="RUN...")


def _table(name: str, runs: Sequence[Run], measures: Sequence[str], *, seed: int) -> Grid:
    """A table by its name: one that any set of runs can have, or one of the page's.

    Raises:
        UsageError: there is no such table.
    """
    from typing import cast

    from cimento.errors import UsageError, did_you_mean
    from cimento.report.document import sections_of

    known = get_args(TableName)
    if name in known:
        return make_table(cast("TableName", name), _on_sentences(runs), measures, seed=seed)
    found = [table for section in sections_of(runs) for table in section.tables]
    own = [each.grid for each in found if each.name == name]
    if len(own) == 1:
        return own[0]
    names = dict.fromkeys([*(each.name for each in found), *known])
    raise UsageError(
        where=f"--table {name}",
        seen=f"{len(own)} suites have it" if own else "there is no such table",
        todo="Give the runs of one suite." if own else did_you_mean(name, names),
    )


def _on_sentences(runs: Sequence[Run]) -> list[Run]:
    """The runs whose sentences were scored, on each measure that they are judged on."""
    from cimento.cli.reports import has_sentences
    from cimento.paradigms.regions.judging import on_each_measure

    return [each for run in runs if has_sentences(run) for each in on_each_measure(run)]


def _write_table(grid: Grid, output: Path | None, form: Form) -> None:
    """Print a table, or write it in the form that the ending of the file names.

    Raises:
        UsageError: the ending is of no form.
        StorageError: the file cannot be written.
    """
    from cimento.cli.console import note, show
    from cimento.errors import UsageError
    from cimento.io.files import write_text
    from cimento.report.grid import GRID_FORMS

    if output is None:
        show(GRID_FORMS[ENDINGS[form]](grid))
        return
    made = GRID_FORMS.get(output.suffix.lower())
    if made is None:
        raise UsageError(
            where=f"--output {output}",
            seen=f"a table cannot be written as {output.suffix or 'a file without ending'}",
            todo=f"Use one of {', '.join(GRID_FORMS)}.",
        )
    write_text(made(grid), output)
    note(f"The table is in {output}")

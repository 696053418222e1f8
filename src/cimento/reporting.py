"""Writing reports: which form a file gets, by its name."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path

from cimento.designs import compares_sentences, factorial_of, is_factorial
from cimento.errors import UsageError
from cimento.files import write_text
from cimento.report.build import RunReport
from cimento.report.summary import to_json
from cimento.report.told import Told
from cimento.results import Run, summarise


def write_report(
    runs: Sequence[Run], path: Path, *, items: int | None = None, told: Sequence[Told] = ()
) -> Path:
    """Write a report of some runs.

    Args:
        runs: in the order in which they are to be shown.
        path: ``.html``, ``.md``, ``.csv``, ``.json`` or ``.txt``; the ending says the form.
        items: items of each run that the HTML page shows with their tokens; None: fewer, the more
            runs there are.
        told: texts of runs that formulas do not judge; a ``.csv`` or ``.json`` leaves them out.

    Raises:
        UsageError: the ending is none of these.
        StorageError: the file cannot be written.
    """
    forms: dict[str, Callable[[], str]] = {
        ".html": lambda: _html(runs, items, told),
        ".md": lambda: _markdown(runs, told),
        ".csv": lambda: _csv(runs),
        ".json": lambda: to_json(summarise(runs)),
        ".txt": lambda: _text(runs, told),
    }
    form = forms.get(path.suffix.lower())
    if form is None:
        raise UsageError(
            where=f"--output {path}",
            seen=f"a report cannot be written as {path.suffix or 'a file without ending'}",
            todo=f"Use one of {', '.join(forms)}.",
        )
    return write_text(form(), path)


def _html(runs: Sequence[Run], items: int | None, told: Sequence[Told]) -> str:
    from cimento.report.build import items_shown
    from cimento.report.html import html_page

    shown = items_shown(len(runs)) if items is None else items
    panels = [_with_panels(run, shown) for run in runs]
    return html_page(summarise(runs), panels, told)


def _with_panels(run: Run, shown: int) -> RunReport:
    """What the page shows of a run; with interaction panels for factorial suites."""
    from cimento.report.panels import panels
    from cimento.verdicts.factorial_tests import dd_tests

    report = run.report(items=shown)
    if not is_factorial(run) or not compares_sentences(run):
        return report
    result = factorial_of(run, normalisations=("raw", "z"))
    tests = dd_tests([result], seed=run.judging.seed)
    ps = {test.phenomenon: test.sign_flip.p for test in tests}
    drawn = panels(result, "z", ps)
    scale = f"z of {result.measure} over the suite, more is better"
    if not drawn:
        drawn, scale = panels(result, "raw", ps), f"{result.measure}, turned so that more is better"
    return dataclasses.replace(report, panels=drawn, scale=scale)


def _markdown(runs: Sequence[Run], told: Sequence[Told]) -> str:
    from cimento.report.markdown import markdown_table, markdown_text

    parts = [markdown_table(summarise(runs))] if runs or not told else []
    return "\n".join([*parts, *map(markdown_text, told)])


def _csv(runs: Sequence[Run]) -> str:
    from cimento.report.csv_table import csv_table

    return csv_table(summarise(runs), by_phenomenon=True)


def _text(runs: Sequence[Run], told: Sequence[Told]) -> str:
    from cimento.report.text import terminal_table

    parts = [terminal_table(summarise(runs), width=100)] if runs or not told else []
    return "\n".join([*parts, *(each.text for each in told)])

"""Writing reports: runs of any paradigms, and texts of those that another runner stored."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cimento._version import __version__
from cimento.errors import CimentoError
from cimento.files import write_text
from cimento.report import document
from cimento.report.markdown import markdown_text
from cimento.report.records import SuiteReport
from cimento.report.told import Told
from cimento.runs.run import Run, open_run


def write_report(
    runs: Sequence[Run],
    path: Path,
    *,
    others: Sequence[SuiteReport] = (),
    told: Sequence[Told] = (),
) -> Path:
    """Write a report of some runs.

    Args:
        runs: that their paradigms show, in the order in which they are to be shown.
        path: ``.html``, ``.md``, ``.csv``, ``.json`` or ``.txt``; the ending says the form.
        others: sections of other runs, for a page.
        told: texts of these, for the forms that have no sections of them; a ``.csv`` or ``.json``
            leaves them out.

    Raises:
        UsageError: the ending is none of these.
        StorageError: the file cannot be written.
    """
    ending = path.suffix.lower()
    if ending == ".html" and (others or told):
        return write_text(_html(runs, others, told), path)
    texts = {".md": map(markdown_text, told), ".txt": (each.text for each in told)}
    if not told or ending not in texts:
        return document.write_report(runs, path)
    parts = [document.FORMS[ending](runs)] if runs else []
    return write_text("\n".join([*parts, *texts[ending]]), path)


def _html(runs: Sequence[Run], others: Sequence[SuiteReport], told: Sequence[Told]) -> str:
    from cimento.report.html import Page, html_page

    shown = {run.folder for suite in others for run in suite.runs}
    rest = tuple(each for each in told if str(each.folder) not in shown)
    suites = (*document.sections_of(runs), *others)
    methods, works = _methods(runs, others)
    page = Page(cimento=__version__, suites=suites, told=rest, methods=methods, references=works)
    return html_page(page)


def _methods(runs: Sequence[Run], others: Sequence[SuiteReport]) -> tuple[str, tuple[str, ...]]:
    """How runs were made, for a paper, and what that cites."""
    from cimento.citing import methods_paragraph, references

    folders = dict.fromkeys(run.folder for suite in others for run in suite.runs if run.folder)
    try:
        opened = [*runs, *(open_run(folder) for folder in folders)]
        return methods_paragraph(opened), tuple(work.line for work in references(opened))
    except CimentoError as error:
        # A run that was moved, or that an older version stored; the rest of the page stands.
        return f"What was done cannot be told: {error}", ()

"""The document of ``cimento report``: a page in any language of the app, or another form."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.documents import report as write_report
from cimento.errors import UsageError, needing
from cimento.io.files import expanded, write_text

if TYPE_CHECKING:
    from cimento.kinds.run import Run
    from cimento.report import JointReport

_USUAL = "en"


def write_document(runs: Sequence[Run], output: Path, language: str, *, analyze: bool) -> None:
    """Write the report of some runs.

    Args:
        runs: in the order of display.
        output: the file; its ending determines the form.
        language: ISO 639-1 code; only a page is in another language than English.
        analyze: whether a page has a section on items, models and phenomena.

    Raises:
        UsageError: the file has no known ending, or is in a language and no page.
        MissingDependencyError: the extra ``app``, which knows the languages, is not installed.
    """
    joint = _joint(runs) if analyze else ()
    if language == _USUAL:
        write_report(runs, output, joint=joint)
        return
    if output.suffix.lower() != ".html":
        raise UsageError(
            where=f"--language={language}",
            seen=f"a report as {output.suffix or 'a file without ending'} is in English",
            todo="Write a page: .html.",
        )
    with needing("nicegui", extra="app", purpose="reports in other languages"):
        from cimento.app.report_page import report_page
    write_text(report_page(runs, language, joint), expanded(output))


def _joint(runs: Sequence[Run]) -> tuple[JointReport, ...]:
    """The section on items, models and phenomena."""
    from cimento.compare import analyze
    from cimento.compare.analysis_tables import analysis_section

    return (analysis_section(analyze(runs)),)

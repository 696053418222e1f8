"""The summary as a GitHub Markdown table."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cimento.markup import printable
from cimento.report.wording import cells, notes, told_about, without_length

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cimento.report.summary import RunSummary, Summary
    from cimento.report.told import Told

_LABELS = ("suite", "model", "prediction")
_NUMBERS = ("accuracy", "95 % interval", "chance", "length", "n", "ties", "unscored")
# An underscore inside a word is text in GitHub's Markdown and stays readable as it is.
_MARKUP = re.compile(r"[\\`*\[\]<>|#~&]|(?<!\w)_|_(?!\w)")


def markdown_text(told: Told) -> str:
    """A heading and the text of a run of another kind, as it was printed."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", told.text)), default=0))
    heading = f"## {_escape(told.suite)}, {_escape(told.model)}"
    return f"{heading}\n\n{fence}text\n{told.text}\n{fence}\n"


def markdown_table(summary: Summary) -> str:
    """A table with one row for each suite, model and prediction, then notes, as Markdown text."""
    numbers = without_length(_NUMBERS, summary.runs)
    rows = [row for run in summary.runs for row in _rows(run, numbers)]
    rule = ["---"] * len(_LABELS) + ["---:"] * len(numbers)
    lines = [_line((*_LABELS, *numbers)), _line(rule), *(_line(row) for row in rows)]
    if not rows:
        lines = ["Nothing was run."]
    else:
        lines += ["", f"{told_about(summary)}"]
    said = [f"- {_escape(about)}: {_escape(remark)}" for about, remark in notes(summary)]
    lost = [
        f"- {_escape(each.suite)}, {_escape(each.model)}: {_escape(each.message)}"
        for each in summary.missing
    ]
    if said:
        lines += ["", "Notes:", "", *said]
    if lost:
        lines += ["", "Not run:", "", *lost]
    return "\n".join(lines) + "\n"


def _rows(run: RunSummary, numbers: Sequence[str]) -> Iterable[tuple[str, ...]]:
    names = (_escape(run.suite), _escape(run.label))
    if not run.results:
        yield (*names, *["-"] * (1 + len(numbers)))
    for result in run.results:
        found = cells(result)
        yield (*names, result.label, *(found[name] for name in numbers))


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escape(text: str) -> str:
    """The text with everything that Markdown would read as markup made literal."""
    return _MARKUP.sub(r"\\\g<0>", printable(text))

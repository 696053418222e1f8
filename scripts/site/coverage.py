"""The page of coverage: the tables of ``docs/data/coverage`` in their text in ``docs/parts``."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = "statistics-coverage.md"
"""Its path in the site."""
DOCS = Path(__file__).parents[2] / "docs"
TABLES = DOCS / "data" / "coverage"
_TEXT = DOCS / "parts" / PAGE
_PLACE = re.compile(r"^\{([a-z-]+)\}$", re.MULTILINE)


def coverage_page() -> str:
    """The page of coverage in Markdown.

    Raises:
        OSError: the text names a table that is not among the files.
    """
    return _PLACE.sub(lambda place: _table(TABLES / f"{place[1]}.tsv"), _TEXT.read_text("utf-8"))


def _table(path: Path) -> str:
    """A file with tabs, whose first line is the title, as a table of Markdown."""
    title, *rows = path.read_text(encoding="utf-8").splitlines()
    names, *cells = (f"| {' | '.join(row.split(chr(9)))} |" for row in rows)
    rule = f"|{'---|' * (rows[0].count(chr(9)) + 1)}"
    return "\n".join([f"**{title.removeprefix('# ')}**", "", names, rule, *cells])

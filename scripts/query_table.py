"""Write what each stored query finds in some treebanks into the table of docs/treebanks.md.

::

    python scripts/query_table.py ../shared/data/treebanks it
    python scripts/query_table.py ../shared/data/treebanks it --check

Only counts enter the page, no sentence of a treebank. Queries that are not meant for the language
of the treebanks have no counts.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from cimento.cli.queries import LibraryOptions, query_counts
from cimento.corpus.queries.parsing import stored_queries

PAGE = Path(__file__).parents[1] / "docs" / "treebanks.md"
START, END = "<!-- counts: start -->", "<!-- counts: end -->"
HEAD = ("query", "languages", "the bad sentence has", "matches", "pairs", "with rules", "twins")

Counts = Mapping[str, Mapping[str, int | None]]


def main(arguments: list[str]) -> int:
    """Write the table, or with ``--check`` say whether it is up to date."""
    folder, language, *flags = arguments
    plain, ruled = (counts(Path(folder), language, name) for name in ("", f"rules:{language}"))
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    new = f"{before}{START}\n{table(plain, ruled)}{END}{after}"
    if "--check" in flags:
        return int(new != text)
    PAGE.write_text(new, encoding="utf-8")
    return 0


def counts(folder: Path, language: str, dictionary: str) -> Counts:
    """The counts of the queries for a language, by name."""
    options = LibraryOptions(treebanks=(folder,), language=language, dictionary=dictionary)
    queries = [query for query in stored_queries().values() if language in query.languages]
    return query_counts(queries, options)


def table(plain: Counts, ruled: Counts) -> str:
    """The table in Markdown, with a row for each group."""
    lines = [f"| {' | '.join(HEAD)} |", "|---|---|---|--:|--:|--:|--:|"]
    group = ""
    for query in stored_queries().values():
        if query.group != group:
            group = query.group
            lines.append(f"| **{group}** | | | | | | |")
        here, more = plain.get(query.name, {}), ruled.get(query.name, {})
        numbers = (here.get("matches"), here.get("pairs"), more.get("pairs"), more.get("twins"))
        cells = ["" if number is None else f"{number:,}" for number in numbers]
        row = (f"`{query.name}`", " ".join(query.languages), query.title, *cells)
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The list of the stored treebank queries, and what each finds in some treebanks."""

from __future__ import annotations

import csv

from cells import DOCS, filled, table

from cimento.corpus.queries.parsing import stored_queries

PAGE = "stored-queries.md"
COUNTS = DOCS / "data" / "query-counts.tsv"
"""What the queries find, which scripts/query_table.py counts in treebanks."""
NUMBERS = ("matches", "pairs", "with rules", "twins")


def queries_page() -> str:
    """The page in Markdown.

    Raises:
        KeyError: there are no counts for a query.
    """
    with COUNTS.open(encoding="utf-8", newline="") as file:
        counts = {row["query"]: row for row in csv.DictReader(file, delimiter="\t")}
    rows = list[tuple[str, ...]]()
    group = ""
    for query in stored_queries().values():
        if query.group != group:
            group = query.group
            rows.append((f"**{group}**", *[""] * 6))
        cells = (f"{int(text):,}" if (text := counts[query.name][name]) else "" for name in NUMBERS)
        rows.append((f"`{query.name}`", " ".join(query.languages), query.title, *cells))
    head = ("query", "languages", "the bad sentence has", *NUMBERS)
    return filled(PAGE, {"queries": table(head, rows, numbers=4)})

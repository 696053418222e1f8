"""Write what each stored query finds in some treebanks into docs/data/query-counts.tsv.

::

    python scripts/query_table.py ../shared/data/treebanks it
    python scripts/query_table.py ../shared/data/treebanks it --check

Only counts are written, no sentence of a treebank; scripts/site/queries.py makes a page of them.
Queries that are not meant for the language of the treebanks have no counts.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from cimento.cli.queries import LibraryOptions, query_counts
from cimento.corpus.queries.parsing import stored_queries

COUNTS = Path(__file__).parents[1] / "docs" / "data" / "query-counts.tsv"
HEAD = ("query", "matches", "pairs", "with rules", "twins")

Counts = Mapping[str, Mapping[str, int | None]]


def main(arguments: list[str]) -> int:
    """Write the counts, or with ``--check`` say whether they are up to date."""
    folder, language, *flags = arguments
    plain, ruled = (counts(Path(folder), language, name) for name in ("", f"rules:{language}"))
    new = table(plain, ruled)
    if "--check" in flags:
        return int(new != COUNTS.read_text(encoding="utf-8"))
    COUNTS.write_text(new, encoding="utf-8")
    return 0


def counts(folder: Path, language: str, dictionary: str) -> Counts:
    """The counts of the queries for a language, by name."""
    options = LibraryOptions(treebanks=(folder,), language=language, dictionary=dictionary)
    queries = [query for query in stored_queries().values() if language in query.languages]
    return query_counts(queries, options)


def table(plain: Counts, ruled: Counts) -> str:
    """The counts with tabs, a row for each query."""
    lines = ["\t".join(HEAD)]
    for name in stored_queries():
        here, more = plain.get(name, {}), ruled.get(name, {})
        numbers = (here.get("matches"), here.get("pairs"), more.get("pairs"), more.get("twins"))
        cells = ("" if number is None else str(number) for number in numbers)
        lines.append("\t".join([name, *cells]))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

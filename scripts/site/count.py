"""Count the pages of the site and the words that people write and read: `make docs` comes first.

::

    python scripts/site/count.py            # the sums
    python scripts/site/count.py --pages    # and a row for each kept page

A kept page lies in docs/, or at the root of the repository, and is part of the site; the prose of
made pages counts with it, and so do blocks of code. Pages of single check codes are kept too, and
what a program printed into a page once; both are counted apart.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections import Counter
from pathlib import Path

import staging
from cells import DOCS, PARTS, ROOT

CHECKS = "checks/"
PRINTED = ("tables-read.md",)
"""Kept pages whose text is tables that a program printed."""


def main(arguments: list[str]) -> int:
    """Print the counts."""
    config = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))
    kept = {path: words(DOCS / path) for path in kept_pages()}
    kept |= {page: words(ROOT / name) for page, name in staging.AT_ROOT.items()}
    kinds = Counter[str]()
    for path, n in kept.items():
        kinds[kind_of(path)] += n
    n_of = Counter(map(kind_of, kept))
    made = staging.made_pages()
    in_menu = staging.menu(config)
    print(f"pages in the menu         {len(in_menu):>7,}")
    print(f"  of which kept           {len(kept_in(in_menu)):>7,}")
    print(f"kept pages                {n_of['prose']:>7,}   {kinds['prose']:>8,} words")
    print(f"kept pages of check codes {n_of['checks']:>7,}   {kinds['checks']:>8,} words")
    print(f"kept pages of printed rows{n_of['printed']:>7,}   {kinds['printed']:>8,} words")
    print(f"made pages                {len(made):>7,}")
    if "--pages" in arguments:
        for path, n in sorted(kept.items(), key=lambda pair: -pair[1]):
            if kind_of(path) == "prose":
                print(f"{n:>8,}  {path}")
    return 0


def kept_in(pages: list[str]) -> list[str]:
    """Those of some pages that are written by hand, whole; the rest is made by scripts/site/."""
    return [page for page in pages if page in staging.AT_ROOT or (DOCS / page).is_file()]


def kind_of(path: str) -> str:
    """What a kept page is: ``prose``, ``checks``, or ``printed`` by a program."""
    return "checks" if path.startswith(CHECKS) else "printed" if path in PRINTED else "prose"


def kept_pages() -> list[str]:
    """The pages of docs/ and the prose of made pages, by their paths in docs/."""
    files = [*DOCS.rglob("*.md"), PARTS / "columns.tsv"]
    paths = (path.relative_to(DOCS).as_posix() for path in sorted(files))
    return [path for path in paths if not path.startswith("design/")]


def words(page: Path) -> int:
    """Number of words of a page, which blanks separate."""
    return len(re.findall(r"\S+", page.read_text(encoding="utf-8")))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

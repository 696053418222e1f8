"""Count the pages of the site and the words that people write and read: `make docs` comes first.

::

    python scripts/site/count.py            # the sums
    python scripts/site/count.py --pages    # and a row for each kept page

A kept page lies in docs/ and is part of the site; blocks of code and the prose of made pages count
with it. Pages of single check codes are kept too, and counted apart.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections import Counter
from pathlib import Path

from cells import DOCS, ROOT

import build

CHECKS = "checks/"


def main(arguments: list[str]) -> int:
    """Print the counts."""
    config = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))
    kept = {path: words(DOCS / path) for path in kept_pages()}
    kinds = Counter[str]()
    for path, n in kept.items():
        kinds["checks" if path.startswith(CHECKS) else "prose"] += n
    n_checks = sum(path.startswith(CHECKS) for path in kept)
    made = build.made_pages()
    print(f"pages in the menu         {len(build.menu(config)):>7,}")
    print(f"kept pages                {len(kept) - n_checks:>7,}   {kinds['prose']:>8,} words")
    print(f"kept pages of check codes {n_checks:>7,}   {kinds['checks']:>8,} words")
    print(f"made pages                {len(made):>7,}")
    if "--pages" in arguments:
        for path, n in sorted(kept.items(), key=lambda pair: -pair[1]):
            if not path.startswith(CHECKS):
                print(f"{n:>8,}  {path}")
    return 0


def kept_pages() -> list[str]:
    """The pages of docs/ and the prose of made pages, by their paths in docs/."""
    paths = (path.relative_to(DOCS).as_posix() for path in sorted(DOCS.rglob("*.md")))
    return [path for path in paths if not path.startswith("design/")]


def words(page: Path) -> int:
    """Number of words of a page, which blanks separate."""
    return len(re.findall(r"\S+", page.read_text(encoding="utf-8")))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

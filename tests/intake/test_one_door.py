"""Tables that people bring are opened by one package."""

import re
from pathlib import Path

import cimento

OPENING = re.compile(r"csv\.(?:Dict)?reader\(|\bopenpyxl\b|\.read_(?:csv|excel)\(", re.IGNORECASE)
APART = {
    "io/files.py",  # of text that cimento has written itself
    "suites/published_results.py",  # of cimento's own data
    "studies/portuguese/accuracy.py",  # of cimento's own data
    "studies/__init__.py",  # released files of studies, some of them packed
    "studies/connectives/released.py",  # a released file with a column without a name
}


def test_only_intake_opens_tables_that_people_bring():
    source = Path(cimento.__file__).parent
    opening = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        if OPENING.search(path.read_text(encoding="utf-8"))
    }
    assert {name for name in opening if not name.startswith("intake/")} == APART

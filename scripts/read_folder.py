"""What the tables in a folder are read as: a table in Markdown, one row for each file.

    python scripts/read_folder.py FOLDER [--languages FILE] [--before FILE] > table.md

Nothing is fetched: the folder holds the files. ``--languages`` names a table of file names and
codes, separated by tabs, for files that are not in English. ``--before`` names the table that an
earlier version printed, of which a column says what became of each file then.
"""

from __future__ import annotations

import argparse
import csv
import re
from pathlib import Path

from cimento.errors import CimentoError, Fault
from cimento.kinds.registry import audit_suite

SUFFIXES = {".csv", ".tsv", ".tab", ".txt", ".xlsx", ".json", ".jsonl", ".parquet"}
_LONGEST = 160
_CELL = re.compile(r"\| `(?P<name>[^`]+)` \|(?P<rest>.*)\|$")


def read_as(path: Path, language: str) -> tuple[str, str]:
    """What a file was read as or that it was refused, and the remarks."""
    try:
        audited = audit_suite(path, language=language)
    except CimentoError as error:
        return "refused", _short(error.seen)
    errors = [fault for fault in audited.faults if fault.severity == "error"]
    if errors:
        return "refused", _short(f"{errors[0].code}: {errors[0].seen}")
    return audited.read.rstrip(".") or audited.holds, _codes(audited.faults)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST].rsplit(' ', 1)[0]} ..."


def _codes(faults: tuple[Fault, ...]) -> str:
    return ", ".join(sorted({fault.code for fault in faults}))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--languages", type=Path)
    parser.add_argument("--before", type=Path)
    options = parser.parse_args()
    languages, before = dict[str, str](), dict[str, str]()
    if options.languages:
        with options.languages.open(encoding="utf-8") as file:
            languages = dict(csv.reader(file, delimiter="\t"))
    if options.before:
        rows = map(_CELL.match, options.before.read_text(encoding="utf-8").splitlines())
        before = {row["name"]: row["rest"].split(" | ")[0].strip() for row in rows if row}
    print(f"| file | {'before | ' if before else ''}read as | remarks |")
    print(f"|---|{'---|' if before else ''}---|---|")
    for path in sorted(options.folder.iterdir()):
        if path.suffix.lower() in SUFFIXES:
            read, remarks = read_as(path, languages.get(path.name, "en"))
            cells = [
                f"`{path.name}`",
                *([before.get(path.name, "")] if before else []),
                read,
                remarks,
            ]
            print(f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |")


if __name__ == "__main__":
    main()

"""What the tables in a folder are read as: a table in Markdown, one row for each file.

    python scripts/read_folder.py FOLDER [--languages FILE] [--before FILE] > table.md
    python scripts/read_folder.py FOLDER --list scripts/published_files.tsv > table.md

Nothing is fetched: the folder holds the files. ``--languages`` names a table of file names and
codes, separated by tabs, for files that are not in English. ``--before`` names the table that an
earlier version printed, of which a column says what became of each file then. ``--list`` names a
table of public files: file, repository, path, commit, language, the command that reads such files
(``suites check``, if it is empty), the shape and the number of items that somebody found in the
file, and a remark. A file is read correctly if that command finds the same.
"""

from __future__ import annotations

import argparse
import csv
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from cimento.errors import CimentoError, Fault
from cimento.kinds.registry import audit_suite
from cimento.people.annotate.importing import read_answers
from cimento.people.annotate.rows import ImportOptions
from cimento.people.reading_times import read_observations
from cimento.people.word_columns import word_columns
from cimento.people.word_positions import all_words, word_positions

SUFFIXES = {".csv", ".tsv", ".tab", ".txt", ".xlsx", ".json", ".jsonl", ".parquet"}
REFUSED = "refused"
CHECK, ANNOTATE, JOIN = "suites check", "annotate import", "analyze reading-times"
_LONGEST = 160
_COMMIT = 10
_CELL = re.compile(r"\| `(?P<name>[^`]+)` \|(?P<rest>.*)\|$")
_READ = re.compile(
    r"Read as (?P<shape>[^:]+): .*?; (?P<items>[\d,]+) (?:items?|judgments?|observations?)\b"
)
_HOLDS = re.compile(r"(?P<items>[\d,]+) items?(?: in the (?P<shape>conditions .*))?")


def read_by(command: str, path: Path, language: str) -> tuple[str, str]:
    """What a command read a file as or that it was refused, and the remarks.

    Args:
        command: ``annotate import``, ``analyze reading-times``, or empty for ``suites check``.
        path: the file.
        language: its language.
    """
    try:
        if command == ANNOTATE:
            imported = read_answers([path], ImportOptions())
            return " ".join(reading.said() for reading in imported.readings), ""
        if command == JOIN:
            observations = read_observations(path)
            names, reading = word_columns(observations, {}, where=path.name)
            all_words(word_positions(observations, names), None)  # refuses what is not whole
            return reading.said(), ""
    except CimentoError as error:
        return REFUSED, _short(error.seen)
    return read_as(path, language)


def read_as(path: Path, language: str) -> tuple[str, str]:
    """What `suites check` read a file as or that it was refused, and the remarks."""
    try:
        audited = audit_suite(path, language=language)
    except CimentoError as error:
        return REFUSED, _short(error.seen)
    errors = [fault for fault in audited.faults if fault.severity == "error"]
    if errors:
        return REFUSED, _short(f"{errors[0].code}: {errors[0].seen}")
    said = audited.read.said() if audited.read else audited.holds
    return said.rstrip("."), _codes(audited.faults)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST].rsplit(' ', 1)[0]} ..."


def _codes(faults: tuple[Fault, ...]) -> str:
    return ", ".join(sorted({fault.code for fault in faults}))


def print_row(*cells: str) -> None:
    """Print a row of the table, in whose cells bars are slashes."""
    print(f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |")


def print_published(folder: Path, listed: Path) -> None:
    """Print how many public files are read correctly, and a table of them.

    Args:
        folder: the folder of the files.
        listed: the table that says where they are from, and what is in them.
    """
    with listed.open(encoding="utf-8", newline="") as file:
        files = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    rows, counts = list[tuple[str, ...]](), Counter[str]()
    right = Counter[str]()
    for one in files:
        verdict, shape, items, remarks = _judged(folder, one)
        counts[verdict] += 1
        right[one["command"] or CHECK] += verdict == "right"
        name = f"`{one['repository']}`", f"`{one['path']}`", f"`{one['commit'][:_COMMIT]}`"
        rows.append((*name, f"`{one['command'] or CHECK}`", shape, items, remarks))
    n_repositories = len({one["repository"] for one in files})
    by = [f"{right[command]} by `{command}`" for command in (CHECK, ANNOTATE, JOIN)]
    print(
        f"Of {len(files)} files from {n_repositories} repositories, {counts['right']} are read"
        f" correctly without an edit ({', '.join(by)}), {counts['wrong']} wrongly;"
        f" {counts['other']} are read with a remark, and {counts[REFUSED]} are refused.\n"
    )
    print_row("repository", "file", "commit", "command", "read as", "items", "remarks")
    print("|---|---|---|---|---|---:|---|")
    for row in rows:
        print_row(*row)


def _judged(folder: Path, one: Mapping[str, str]) -> tuple[str, str, str, str]:
    """The verdict on the reading of a file, what it was read as, its items, and remarks."""
    read, remarks = read_by(one["command"], folder / one["file"], one["language"])
    if read == REFUSED:
        return REFUSED, REFUSED, "", one["remark"] or remarks
    match = _READ.match(read) or _HOLDS.match(read)
    shape, items = (match["shape"] or "items", match["items"]) if match else (read, "")
    said = ". ".join(filter(None, (one["remark"], remarks)))
    if not one["shape"]:
        return "other", shape, items, said
    is_named = shape.startswith((one["shape"], "conditions", "items"))
    if is_named and items.replace(",", "") == one["items"]:
        return "right", shape, items, said
    return "wrong", shape, items, f"**wrong**: {one['items']} {one['shape']}. {said}"


def print_folder(folder: Path, languages: Mapping[str, str], before: Mapping[str, str]) -> None:
    """Print a table of the files of a folder.

    Args:
        folder: the folder.
        languages: codes of languages by the names of files; others are in English.
        before: what became of files in an earlier version; without any there is no such column.
    """
    print_row("file", *(["before"] if before else []), "read as", "remarks")
    print(f"|---|{'---|' if before else ''}---|---|")
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() in SUFFIXES:
            read, remarks = read_as(path, languages.get(path.name, "en"))
            earlier = [before.get(path.name, "")] if before else []
            print_row(f"`{path.name}`", *earlier, read, remarks)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--languages", type=Path)
    parser.add_argument("--before", type=Path)
    parser.add_argument("--list", type=Path)
    options = parser.parse_args()
    if options.list:
        print_published(options.folder, options.list)
        return
    languages, before = dict[str, str](), dict[str, str]()
    if options.languages:
        with options.languages.open(encoding="utf-8") as file:
            languages = dict(csv.reader(file, delimiter="\t"))
    if options.before:
        rows = map(_CELL.match, options.before.read_text(encoding="utf-8").splitlines())
        before = {row["name"]: row["rest"].split(" | ")[0].strip() for row in rows if row}
    print_folder(options.folder, languages, before)


if __name__ == "__main__":
    main()

"""Small suites for tests of reading and writing, written by hand, and how to put them on disk."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import openpyxl

from cimento.errors import Fault
from cimento.suites.load import inspect_suite

TOML = """\
regions = ["subject", "verb", "rest"]

[meta]
name = "lampade"
language = "it"

[[predictions]]
formula = "(2;%match%) < (2;%mismatch%)"
"""

ITEMS = """\
item	condition	text
1	match	Le lampade | sono | accese.
1	mismatch	Le lampade | è | accese.
2	match	Il cane | dorme | in giardino.
2	mismatch	Il cane | dormono | in giardino.
"""

PAIRS = '''\
item;good;bad;tipo
a;Le città sono belle.;Le città è bella.;verbo
b;"Ha detto: ""Vieni; presto!""";"Hanno detto: ""Viene; presto!""";altro
'''


def write_folder(
    folder: Path, *, toml: str | bytes = TOML, items: str | bytes = ITEMS, table: str = "items.tsv"
) -> Path:
    """A suite folder with the files given."""
    folder.mkdir(parents=True, exist_ok=True)
    write(folder / "suite.toml", toml)
    write(folder / table, items)
    return folder


def write(path: Path, content: str | bytes) -> Path:
    """A file, in UTF-8 where it is given as text."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def write_workbook(path: Path, rows: Sequence[Sequence[object]], *, sheet: str = "Foglio1") -> Path:
    """A workbook with one sheet."""
    book = openpyxl.Workbook()
    book.worksheets[0].title = sheet
    for row in rows:
        book.worksheets[0].append(list(row))
    book.save(path)
    return path


def syntaxgym(
    *, contents: Sequence[str] = ("Le lampade", "sono", "accese."), **more: object
) -> str:
    """A one-item suite in SyntaxGym JSON; `more` replaces top-level keys."""

    def condition(name: str, texts: Sequence[str]) -> dict[str, object]:
        regions = [{"region_number": k, "content": t} for k, t in enumerate(texts, start=1)]
        return {"condition_name": name, "regions": regions}

    names = {str(number): f"r{number}" for number in range(1, len(contents) + 1)}
    suite = {
        "meta": {"name": "lampade", "metric": "sum", "language": "it"},
        "region_meta": names,
        "predictions": [{"type": "formula", "formula": "(2;%match%) < (2;%mismatch%)"}],
        "items": [
            {
                "item_number": 1,
                "conditions": [
                    condition("match", contents),
                    condition("mismatch", [contents[0], "è", *contents[2:]]),
                ],
            }
        ],
    }
    return json.dumps({**suite, **more}, ensure_ascii=False)


def faults_of(path: Path) -> tuple[Fault, ...]:
    """Every fault of what is at a path."""
    return inspect_suite(path)[1]


def codes_of(path: Path) -> list[str]:
    """The codes of all faults, sorted, each once."""
    return sorted({fault.code for fault in faults_of(path)})

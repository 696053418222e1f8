"""The pages of check codes: their examples are put together and checked."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from string import ascii_uppercase
from xml.sax.saxutils import escape
from zipfile import ZipFile

from cimento.cli.main import invoke
from cimento.intake.workbooks import write_sheets
from tests.helpers.docs_pages import DOCS, Block, blocks

FOLDER = DOCS / "checks"
WHOLE_FOLDERS: Mapping[str, str] = {"S": "lamps", "C": "umbrellas", "T": "letters"}
"""Letter of a code to the good suite on docs/parts/checks.md that its examples change."""
STORIES = "items.jsonl"


def good_suites() -> dict[str, dict[str, str]]:
    """Name of each good suite on docs/parts/checks.md to its files and their text."""
    suites: dict[str, dict[str, str]] = {}
    for block in blocks(DOCS / "parts" / "checks.md"):
        folder, _, name = block.title.partition("/")
        if name:
            suites.setdefault(folder, {})[name] = block.text
    return suites


def printed_by(page: Path, folder: Path) -> str:
    """What `cimento suites check` prints of the example on a page.

    Blocks with the name of a file in the suite take its place, ``items.jsonl, story 1-O0`` is a
    change of one story, ``pairs.xlsx, sheet Data`` is a sheet of a workbook, and any other name is
    a suite in one file. What is in parentheses behind a name is the encoding, or a hidden row
    of a sheet. Cells of a sheet that begin with = are formulas without a value.
    """
    example = folder / "example"
    example.mkdir(parents=True)
    files = good_suites()[WHOLE_FOLDERS[page.stem.removeprefix("CIM-")[0]]]
    checked = example
    sheets: dict[str, list[list[str]]] = {}
    for block in blocks(page):
        if not block.title:
            continue
        name, _, encoding = block.title.removesuffix(")").partition(" (")
        file, _, sheet = name.partition(", sheet ")
        if sheet:
            sheets[sheet] = [line.split("\t") for line in block.text.splitlines()]
            checked = example / file
            made = with_hidden(write_sheets(sheets, where=file), encoding)
            checked.write_bytes(with_formulas(made, sheets[sheet]))
            continue
        file, _, story = name.partition(", story ")
        if story:
            files = {**files, file: _changed(files[file], story, json.loads(block.text))}
            continue
        if file in {"suite.toml", "items.tsv", "seeds.tsv", STORIES, "items.csv"}:
            files = {key: text for key, text in files.items() if _stem(key) != _stem(file)}
        else:
            checked = example / file
        text = block.text.removesuffix("\n") if _is_cut(block) else block.text
        (example / file).write_bytes(text.encode(encoding or "utf-8"))
    for name, text in files.items():
        if not (example / name).exists():
            (example / name).write_text(text, encoding="utf-8")
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()):
        invoke(["suites", "check", str(checked)])
    return out.getvalue().replace(f"{folder}/", "")


def with_hidden(workbook: bytes, row: str) -> bytes:
    """A workbook with a row hidden in its first sheet, such as ``row 3 hidden``, or none."""
    if not row:
        return workbook
    number = row.split()[1]
    return _with_part(
        workbook,
        lambda part: part.replace(f'<row r="{number}"', f'<row r="{number}" hidden="1"'),
    )


def with_formulas(workbook: bytes, rows: Sequence[Sequence[str]], type_: str = "") -> bytes:
    """A workbook in which the cells that begin with = are formulas without a stored value.

    Args:
        workbook: the workbook, which has these cells as texts in its first sheet.
        rows: the rows of the sheet.
        type_: type of the cells, as ``str`` for formulas whose result is an empty text.
    """
    type_ = f' t="{type_}"' if type_ else ""

    def change(part: str) -> str:
        for number, row in enumerate(rows, start=1):
            for column, cell in enumerate(row):
                place = f"{ascii_uppercase[column]}{number}"
                if cell.startswith("="):
                    formula = f'<c r="{place}"{type_}><f>{escape(cell[1:])}</f><v></v></c>'
                    part = re.sub(rf'<c r="{place}"[^>]*>.*?</c>', lambda _, f=formula: f, part)
        return part

    return _with_part(workbook, change)


def _with_part(workbook: bytes, change: Callable[[str], str]) -> bytes:
    """A workbook after a change of the XML of its first sheet."""
    made = io.BytesIO()
    with ZipFile(io.BytesIO(workbook)) as old, ZipFile(made, "w") as new:
        for name in old.namelist():
            part = old.read(name)
            if name.endswith("/sheet1.xml"):
                part = change(part.decode()).encode()
            new.writestr(name, part)
    return made.getvalue()


def _stem(name: str) -> str:
    return name.rpartition(".")[0]


def _is_cut(block: Block) -> bool:
    """Whether a file has no final newline: JSON has none."""
    return block.language == "json"


def _changed(text: str, story: str, change: Mapping[str, object]) -> str:
    """The stories, with other values in one of them."""
    stories = [json.loads(line) for line in text.splitlines()]
    made = [{**row, **change} if row["example_id"] == story else row for row in stories]
    assert made != stories, f"there is no story {story}"
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in made)

"""What files of hostile shapes are made of."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from cimento.judgments import usual_map
from cimento.judgments.asked import AskedItems
from cimento.judgments.wide import read_wide
from tests.fuzzing.seeds import workbook, zipped
from tests.security.test_hostile_files import rows, sheet_xml

Shape: TypeAlias = tuple[str, Callable[[], bytes], Callable[[Path], object]]
"""The name of a file, what makes it, and what reads it."""

MOST = 990_000


def counted(row: str, *, header: str = "", most: int = MOST) -> bytes:
    """A table of one row over and over; ``{n}`` counts."""
    return rows(header, row, most=most)


def filled(piece: str, *, before: str = "", after: str = "", most: int = MOST) -> bytes:
    """A piece over and over, between two others."""
    return (before + piece * (most // len(piece.encode())) + after).encode()


def factorial(conditions: int, keys: int) -> bytes:
    names = [f"c{n}_x" for n in range(conditions)]
    header = {"conditions": names, "factorial_properties_and_levels": {"f": ["a"], "g": ["x"]}}
    item = {"id": 1, **dict.fromkeys(names, "a"), **{f"k{n}": 1 for n in range(keys)}}
    return "\n".join(map(json.dumps, (header, item))).encode()


def many_conditions() -> bytes:
    header = {"conditions": [f"c{n}" for n in range(40_000)]}
    return json.dumps(header).encode() + b'\n{"id":1,"c1":"a"}' * 30_000


def archive(files: int, row: str, *, most: int) -> bytes:
    """Many tables that shrink well."""
    table = counted(row, header="good\tbad", most=most)
    return zipped({f"a{n}.tsv": table for n in range(files)})


def styled() -> bytes:
    """A workbook with very many styles."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    styles = f'<styleSheet xmlns="{main}"><cellXfs>'.encode() + b"<xf/>" * 600_000
    return with_part("xl/styles.xml", styles + b"</cellXfs></styleSheet>")


def with_part(name: str, content: bytes, sheet: bytes = b"") -> bytes:
    """A workbook with one more part, which its relations name."""
    import io

    base = workbook(sheet or sheet_xml(b"<row><c><v>1</v></c></row>", 1))
    file = io.BytesIO()
    kind = "styles" if "styles" in name else "sharedStrings"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    spreadsheet = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    with (
        zipfile.ZipFile(io.BytesIO(base)) as old,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for member in old.namelist():
            data = old.read(member)
            if member == "[Content_Types].xml":
                more = f'<Override PartName="/{name}" ContentType="{spreadsheet}.{kind}+xml"/>'
                data = data.replace(b"</Types>", more.encode() + b"</Types>")
            if member.endswith("workbook.xml.rels"):
                target = name.removeprefix("xl/")
                more = f'<Relationship Id="r9" Type="{office}/{kind}" Target="{target}"/>'
                data = data.replace(b"</Relationships>", more.encode() + b"</Relationships>")
            new.writestr(member, data)
        new.writestr(name, content)
    return file.getvalue()


def shared() -> bytes:
    """Very many cells that share one long text."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    strings = f'<sst xmlns="{main}"><si><t>good</t></si><si><t>bad</t></si><si><t>'
    sheet = sheet_xml(
        b'<row><c t="s"><v>0</v></c><c t="s"><v>1</v></c></row>'
        + b'<row><c t="s"><v>2</v></c><c t="s"><v>2</v></c></row>' * 15_000,
        1,
    )
    content = strings.encode() + b"a" * 2_000_000 + b"</t></si></sst>"
    return with_part("xl/sharedStrings.xml", content, sheet)


def answers_to_whatever(path: Path) -> object:
    """A wide table where no suite is known: every column is an item."""
    return read_wide(path, usual_map(), AskedItems(())).rows


def entities(data: bytes) -> bytes:
    """A workbook whose sheet declares an entity and names it very often."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    text = "a" * 20_000
    declared = f'<!DOCTYPE x [<!ENTITY a "{text}">]><worksheet xmlns="{main}"><sheetData>'
    return workbook(declared.encode() + data * 20_000 + b"</sheetData></worksheet>")


LAUGHS_16 = (
    '<?xml version="1.0" encoding="UTF-16"?><!DOCTYPE l [<!ENTITY a "'
    + "ha" * 5_000
    + '">]><dimlex><entry word="'
    + "&a;" * 8_000
    + '"/></dimlex>'
).encode("utf-16")

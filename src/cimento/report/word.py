"""Tables and paragraphs as Word documents."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from xml.sax.saxutils import escape

from cimento.io.inline_markup import printable
from cimento.report import formatting
from cimento.report.grid import Grid


def docx(grid: Grid) -> bytes:
    """The table as a Word document: title, editable table, notes."""
    shown = grid.for_paper()
    widest = len(shown.header) > _UPRIGHT
    size = 'w:w="16838" w:h="11906" w:orient="landscape"' if widest else _PORTRAIT_PAGE
    width = _LANDSCAPE if widest else _PORTRAIT
    body = [_paragraph(shown.title), _table(shown, width), *map(_paragraph, shown.footnotes)]
    return _document("".join(body), size)


def paragraphs_docx(paragraphs: Iterable[str]) -> bytes:
    """Paragraphs as a Word document.

    Args:
        paragraphs: texts without line breaks.
    """
    return _document("".join(map(_paragraph, paragraphs)), _PORTRAIT_PAGE)


def _document(body: str, size: str) -> bytes:
    """A Word document.

    Args:
        body: its paragraphs and tables as XML.
        size: of its pages, as attributes.
    """
    document = (
        f'{_XML}<w:document xmlns:w="{_WORD}"><w:body>{body}'
        f"<w:sectPr><w:pgSz {size}/></w:sectPr></w:body></w:document>"
    )
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in {**_PARTS, "word/document.xml": document}.items():
            # The date is fixed, so that the same table yields the same bytes.
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), text)
    return file.getvalue()


_PORTRAIT_PAGE = 'w:w="11906" w:h="16838"'
_UPRIGHT = 7
"""Most columns that fit on a page in portrait orientation."""
_PORTRAIT, _LANDSCAPE = 9_000, 13_900
"""Widths between the margins of a page, in twentieths of a point."""
_PER_CHARACTER, _BETWEEN = 120, 400
"""Width of a character of ten points, and of the margins of a cell."""

_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_APPLICATION = "application/vnd.openxmlformats"
_PARTS: Mapping[str, str] = {
    "[Content_Types].xml": f'{_XML}<Types xmlns="{_TYPES}"><Default Extension="rels"'
    f' ContentType="{_APPLICATION}-package.relationships+xml"/><Override'
    f' PartName="/word/document.xml" ContentType="{_APPLICATION}-officedocument'
    '.wordprocessingml.document.main+xml"/></Types>',
    "_rels/.rels": f'{_XML}<Relationships xmlns="{_RELATIONS}"><Relationship Id="rId1"'
    f' Type="{_OFFICE}" Target="word/document.xml"/></Relationships>',
}


def _table(grid: Grid, most: int) -> str:
    """The table in Word's XML, with lines where LaTeX has them: top, below the header, bottom.

    Args:
        grid: the table.
        most: largest width, in twentieths of a point; columns are as wide as what they hold.
    """
    sides = ["left" if grid.is_text(k) else "right" for k in range(len(grid.header))]
    longest = [max(map(len, cells)) for cells in zip(grid.header, *grid.text, strict=True)]
    needed = [_PER_CHARACTER * length + _BETWEEN for length in longest]
    widths = [width * min(most, sum(needed)) // sum(needed) for width in needed]
    groups, begun = [], 0
    for name, size in grid.spans:
        groups.append(_box(name, "center", widths[begun : begun + size]))
        begun += size
    lines = [*([groups] if groups else [])]
    lines.append(
        [
            _box(name, side, [width])
            for name, side, width in zip(grid.header, sides, widths, strict=True)
        ]
    )
    lines += [
        [
            _box(formatting.with_minus(cell), sides[k], [widths[k]], bold=(i, k) in grid.bold)
            for k, cell in enumerate(row)
        ]
        for i, row in enumerate(grid.text)
    ]
    begin = len(lines) - len(grid.rows)
    above = {0, begin, *(begin + i for i in grid.rules)}
    rows = [
        _row(boxes, top=i in above, bottom=i == len(lines) - 1) for i, boxes in enumerate(lines)
    ]
    columns = "".join(f'<w:gridCol w:w="{width}"/>' for width in widths)
    whole = f'<w:tblPr><w:tblW w:w="{sum(widths)}" w:type="dxa"/></w:tblPr>'
    return f"<w:tbl>{whole}<w:tblGrid>{columns}</w:tblGrid>{''.join(rows)}</w:tbl>"


def _box(
    text: str, side: str, widths: Sequence[int], *, bold: bool = False
) -> tuple[str, Sequence[int]]:
    """The paragraph of a cell, and the widths of the columns that it spans."""
    return _paragraph(text, side, bold=bold), widths


def _row(boxes: Sequence[tuple[str, Sequence[int]]], *, top: bool, bottom: bool) -> str:
    edges = [name for name, drawn in (("top", top), ("bottom", bottom)) if drawn]
    drawn = "".join(f'<w:{edge} w:val="single" w:sz="6" w:color="auto"/>' for edge in edges)
    borders = f"<w:tcBorders>{drawn}</w:tcBorders>" if drawn else ""
    cells = (
        f'<w:tc><w:tcPr><w:tcW w:w="{sum(widths)}" w:type="dxa"/>'
        f'<w:gridSpan w:val="{len(widths)}"/>{borders}</w:tcPr>{paragraph}</w:tc>'
        for paragraph, widths in boxes
    )
    return f"<w:tr>{''.join(cells)}</w:tr>"


def _paragraph(text: str, side: str = "left", *, bold: bool = False) -> str:
    weight = "<w:rPr><w:b/></w:rPr>" if bold else ""
    shown = f'<w:t xml:space="preserve">{escape(printable(text))}</w:t>'
    return f'<w:p><w:pPr><w:jc w:val="{side}"/></w:pPr><w:r>{weight}{shown}</w:r></w:p>'

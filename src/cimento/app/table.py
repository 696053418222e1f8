"""The grid of the page: options of AG Grid for a view, its rows, and what happens in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from cimento.app.views import Column, Mark, View, letters
from cimento.app.words import Words, said
from cimento.suites.workbook_words import ABOUT, ENGLISH, heading_of, setting_row

MOST_LINES = 3
"""Findings that are read out with a row's number."""

REGIONS = """(params) => {
  const box = document.createElement('span');
  const parts = String(params.value ?? '').split(/(?<!\\\\)\\|/);
  parts.forEach((part, number) => {
    if (number) {
      const bar = document.createElement('span');
      bar.className = 'bar';
      bar.textContent = '|';
      box.append(bar);
    }
    const region = document.createElement('span');
    if (parts.length > 1) region.className = 'region region-' + (number % 6);
    region.textContent = part.trim().replaceAll('\\\\|', '|');
    box.append(region);
  });
  return box;
}"""
"""The renderer of sentences with bars: each region has a color, and the bars stay."""

NUMBER = """(params) => {
  const box = document.createElement('span');
  box.append(params.value ?? '');
  if (params.data?.mark) {
    const mark = document.createElement('span');
    mark.className = 'row-mark ' + params.data.mark;
    mark.setAttribute('role', 'img');
    mark.setAttribute('aria-label', params.data.label);
    mark.textContent = params.data.mark === 'error' ? '\\u2715' : '!';
    box.append(' ', mark);
  }
  return box;
}"""
"""The renderer of row numbers: a mark beside the number says that something was found."""

CHOICE = """class {
  init(params) {
    const column = params.column.getColId();
    const words = new Set(params.words);
    params.api.forEachNode((node) => words.add((node.data[column] ?? '').trim()));
    words.delete('');
    this.box = document.createElement('div');
    this.box.className = 'choice';
    this.field = document.createElement('input');
    this.field.value = params.eventKey?.length === 1 ? params.eventKey : params.value ?? '';
    this.typed = params.eventKey?.length === 1;
    this.list = document.createElement('ul');
    this.list.id = 'words-' + column;
    this.list.setAttribute('role', 'listbox');
    const named = {role: 'combobox', 'aria-expanded': 'true', 'aria-controls': this.list.id};
    Object.entries(named).forEach((pair) => this.field.setAttribute(...pair));
    for (const part of [this.field, this.list]) {
      part.setAttribute('aria-label', params.colDef.headerName);
    }
    [...words].forEach((word, number) => {
      const option = document.createElement('li');
      option.id = this.list.id + '-' + number;
      option.setAttribute('role', 'option');
      option.textContent = word;
      option.addEventListener('mousedown', (event) => {
        event.preventDefault();
        this.field.value = word;
        params.stopEditing();
      });
      this.list.append(option);
    });
    this.field.addEventListener('input', () => this.mark());
    this.field.addEventListener('keydown', (event) => {
      const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
      if (!step || !this.list.children.length) return;
      event.preventDefault();
      event.stopPropagation();
      const options = [...this.list.children];
      const at = options.findIndex((option) => option.ariaSelected === 'true');
      const next = at < 0 && step < 0 ? options.length - 1 : at + step;
      this.field.value = options[(next + options.length) % options.length].textContent;
      this.mark();
    });
    this.box.append(this.field, this.list);
    this.mark();
  }
  mark() {
    this.field.removeAttribute('aria-activedescendant');
    for (const option of this.list.children) {
      const chosen = option.textContent === this.field.value.trim();
      option.ariaSelected = String(chosen);
      if (chosen) this.field.setAttribute('aria-activedescendant', option.id);
    }
  }
  getGui() { return this.box; }
  isPopup() { return true; }
  afterGuiAttached() {
    this.field.focus();
    if (!this.typed) this.field.select();
  }
  getValue() { return this.field.value; }
}"""
"""The editor of cells that take one of some words: they are listed, and others can be typed."""

PASTED = """(event) => {
  if (event.target.closest('input, textarea, [contenteditable]')) return;
  const cell = getElement(%d).api.getFocusedCell();
  const text = event.clipboardData?.getData('text/plain');
  if (!cell || !text) return;
  event.preventDefault();
  emit({row: cell.rowIndex, column: cell.column.getColId(), text});
}"""

COPIED = """(event) => {
  if (event.target.closest('input, textarea, [contenteditable]')) return;
  if (String(window.getSelection())) return;
  const api = getElement(%d).api;
  const cell = api.getFocusedCell();
  const node = cell && api.getDisplayedRowAtIndex(cell.rowIndex);
  if (!node) return;
  event.clipboardData.setData('text/plain', node.data[cell.column.getColId()] ?? '');
  event.preventDefault();
}"""

PRESSED = """(event) => {
  if (!(event.ctrlKey || event.metaKey) || event.target.closest('input, textarea')) return;
  const key = event.key.toLowerCase();
  if (key !== 'z' && key !== 'y') return;
  event.preventDefault();
  emit(key === 'y' || event.shiftKey ? 'redo' : 'undo');
}"""

NAMED = "getElement(%d).$el.querySelector('.ag-root')?.setAttribute('aria-label', %s)"

_FLEX: Mapping[str, dict[str, Any]] = {
    "id": {"minWidth": 90, "maxWidth": 140},
    "choice": {"minWidth": 120, "flex": 1},
    "number": {"minWidth": 90, "flex": 1},
    "regions": {"minWidth": 240, "flex": 4},
    "formula": {"minWidth": 260, "flex": 4},
    "text": {"minWidth": 140, "flex": 2},
}


def options(view: View, marks: Mapping[int, Mark], say: Words) -> dict[str, Any]:
    """The options of AG Grid for a view.

    Args:
        view: the view.
        marks: what was found about its rows.
        say: the words of the page.
    """
    return {
        "theme": "quartz",
        "columnDefs": [
            _numbers(say),
            *(_column(view, n, say) for n in range(len(view.columns))),
        ],
        "rowData": rows(view, marks, say),
        ":getRowId": "params => params.data.id",
        "defaultColDef": {
            "sortable": False,
            "suppressMovable": True,
            "suppressHeaderMenuButton": True,
            "resizable": True,
        },
        "rowSelection": {"mode": "multiRow", "enableClickSelection": False},
        "stopEditingWhenCellsLoseFocus": True,
        "enterNavigatesVerticallyAfterEdit": True,
        "suppressFieldDotNotation": True,
        # Tab goes through the cells that are being edited, and else leaves the grid: arrow keys
        # move in it, and nobody should have to pass through a thousand cells.
        ":tabToNextCell": "params => params.editing && (params.nextCellPosition || false)",
        ":tabToNextHeader": "() => false",
        # A row that has the focus itself would take no arrow keys.
        ":processRowPostCreate": "params => params.eRow.removeAttribute('tabindex')",
        "localeText": {
            "noRowsToShow": say("edit.no-rows"),
            "ariaRowToggleSelection": say("edit.select-row"),
            "ariaRowSelect": say("edit.select-row"),
            "ariaRowDeselect": say("edit.select-row"),
            "ariaHeaderSelection": say("edit.select-all"),
            "ariaToggleCellValue": say("edit.select-row"),
            "ariaSelectAllRows": say("edit.select-all"),
            "ariaRowSelectAll": say("edit.select-all"),
            "ariaChecked": say("edit.checked"),
            "ariaUnchecked": say("edit.unchecked"),
            "ariaIndeterminate": say("edit.some-checked"),
            "ariaInputEditor": say("edit.cell-field"),
            "ariaValidationErrorPrefix": say("edit.invalid-cell"),
        },
    }


def rows(view: View, marks: Mapping[int, Mark], say: Words) -> list[dict[str, Any]]:
    """The rows of a view as AG Grid takes them."""
    made = []
    for n, row in enumerate(view.rows):
        mark = marks.get(n)
        numbers = [str(part + 1) for part in row.rows]
        made.append(
            {
                "id": str(row.rows[0]),
                "number": numbers[0] if len(numbers) == 1 else f"{numbers[0]}-{numbers[-1]}",
                "mark": mark.severity if mark else "",
                "label": _label(mark, say) if mark else "",
                "named": {f"c{k}": mark.severity for k in sorted(mark.columns)} if mark else {},
                **{f"c{k}": cell for k, cell in enumerate(_shown(view, row.cells, say))},
            }
        )
    return made


def _shown(view: View, cells: Sequence[str], say: Words) -> Sequence[str]:
    """The cells of a row; settings and what they are for are in the language of the page."""
    return setting_row(cells, ENGLISH, say.language) if view.sheet == ABOUT else cells


def _label(mark: Mark, say: Words) -> str:
    """What a screen reader says of a mark: what was found, at most the first few."""
    seen = (said(finding.seen, say.language) or finding.seen for finding in mark.findings)
    lines = [text.split("\n")[0] for text in islice(seen, MOST_LINES)]
    return f"{say(f'edit.{mark.severity}')}: {' '.join(lines)}"


def _numbers(say: Words) -> dict[str, Any]:
    """The column of row numbers and marks."""
    return {
        "field": "number",
        "headerName": say("edit.row"),
        "pinned": "left",
        "width": 96,
        "editable": False,
        "cellClass": "row-number",
        ":cellRenderer": NUMBER,
        ":tooltipValueGetter": "params => params.data.label || null",
    }


def _longest(view: View, column: int) -> int:
    """The number of letters of the longest word in a column."""
    cells = (row.cells[column] for row in view.rows)
    return max((len(word) for cell in cells for word in cell.split()), default=0)


LETTER, PADDING, WIDEST_WORD = 8, 38, 320
"""Pixels of a letter of the grid, on average; beside a text; and of the widest column of words."""


def _heading(view: View, column: Column, say: Words) -> str:
    """What the head of a column says; the columns that are ours are in the language of the page."""
    name = column.name.strip()
    key = f"edit.head-{view.sheet}-{name.replace(' ', '-')}"
    return (
        say(key)
        if key in say.texts
        else heading_of(view.sheet, name, say.language) or letters(column.source)
    )


def _column(view: View, number: int, say: Words) -> dict[str, Any]:
    """The definition of a column."""
    column = view.columns[number]
    made: dict[str, Any] = {
        "field": f"c{number}",
        "headerName": _heading(view, column, say),
        "editable": True,
        "wrapText": True,
        "autoHeight": True,
        "cellDataType": "text",
        ":cellClassRules": "{"
        "'cell-error': params => params.data?.named?.[params.colDef.field] === 'error',"
        "'cell-warning': params => params.data?.named?.[params.colDef.field] === 'warning'}",
        **_FLEX[column.role],
    }
    if column.role == "regions":
        made[":cellRenderer"] = REGIONS
    if column.role == "choice":
        # A word of its own, such as ``mismatch_number``, is not broken.
        word = min(LETTER * _longest(view, number) + PADDING, WIDEST_WORD)
        made["minWidth"] = max(made["minWidth"], word)
        made[":cellEditor"] = CHOICE
        made["cellEditorParams"] = {"words": [*column.choices]}
    return made


def shape(view: View) -> Sequence[tuple[str, str, tuple[str, ...]]]:
    """What the columns of a view depend on; where it changes, the grid is made again."""
    return [(column.name, column.role, column.choices) for column in view.columns]


def row_with(view: View, id_: str) -> int | None:
    """The index of the row of a view with an id."""
    return next((n for n, row in enumerate(view.rows) if str(row.rows[0]) == id_), None)


def number_of(field: object) -> int | None:
    """The number of a column of the grid, from its field."""
    text = str(field).removeprefix("c")
    return int(text) if text.isdecimal() and text.isascii() and len(text) < 6 else None  # noqa: PLR2004

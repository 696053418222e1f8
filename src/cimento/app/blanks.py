"""What became of each blank of a run, in the language of the page: a table, and what is said of it.

The table is that of the report, with its headings and words in the language of the page, so that
what the page shows and what its files have is one thing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import median

from nicegui import ui

from cimento.app.frame import Text, Visit, guarded
from cimento.app.parts import save, table
from cimento.app.words import Words
from cimento.documents import grid_file
from cimento.errors import UsageError
from cimento.kinds.named import TableSettings
from cimento.kinds.run import Run
from cimento.records.blanks import EXPECTED_TABLE
from cimento.report.cells import CellValue, parts_of, shown
from cimento.report.grid import Grid, GridCell

_MOST_BLANKS = 200
_MOST_WORDS = 20
_LEAST_P = 0.0001
_SAID = re.compile(r"(?<=\()\d\.\d{3}(?=\))")
"""A probability behind a word that the model put first."""

_HEADINGS = {
    "model": "model",
    "item": "blank_item",
    "text": "blank_text",
    "expected": "blank_expected",
    "surprisal (bits)": "blank_bits",
    "probability": "blank_p",
    "tokens": "blank_tokens",
    "rank": "blank_rank",
    "hit@1": "blank_hit",
    "other given words": "blank_others",
    "chosen": "blank_chosen",
    "choice": "blank_choice",
    "margin (bits)": "blank_margin",
    "surprisal of the chosen (bits)": "blank_chosen_bits",
    "probability of the chosen": "blank_chosen_p",
    "tokens of the chosen": "blank_chosen_tokens",
    "lost by length": "blank_length",
    "surprisal by": "blank_by",
    "choice by": "blank_choice_by",
    "the model's first": "blank_said",
}
"""The columns of the report's table, each with what the page calls it."""

_OF_CHOICE = frozenset(
    {
        "other given words", "chosen", "surprisal of the chosen (bits)",
        "probability of the chosen", "tokens of the chosen",
    }
)  # fmt: skip
"""The columns that the page shows only where a word was chosen."""
_ON_PAGE = (
    "text", "expected", "surprisal (bits)", "probability", "tokens",
    "other given words", "chosen", "surprisal of the chosen (bits)", "probability of the chosen",
    "tokens of the chosen", "rank", "the model's first",
)  # fmt: skip
"""The columns that the page shows; files have all."""

Row = Mapping[str, GridCell]
"""The cells of an expected answer, by the columns of the report's table."""


def in_language(grid: Grid, say: Words) -> Grid:
    """The table of expected answers with headings and words in the language of the page.

    Args:
        grid: the table, as the report has it; another one stays as it is.
        say: the words of the page.
    """
    if not _HEADINGS.keys() >= {*grid.header}:
        return grid  # a kind of a package may have a table of this name too
    header = tuple(say(f"read.{_HEADINGS[name]}") for name in grid.header)
    rows = tuple(
        tuple(_told(name, cell, row, say) for name, cell in row.items()) for row in _rows(grid)
    )
    return replace(grid, title=say("read.blanks"), header=header, rows=rows, notes=())


def show_blanks(visit: Visit, run: Run) -> None:
    """Show what became of each blank, and of the words that could not be found or scored.

    Args:
        visit: what the page is built for.
        run: of any kind; nothing is shown of one without expected answers.
    """
    presenter, say = run.paradigm.presenter, visit.say
    if EXPECTED_TABLE not in presenter.tables:
        return
    try:
        grid = presenter.table(EXPECTED_TABLE, [run], TableSettings())
    except UsageError:  # no answer is expected
        return
    if not _HEADINGS.keys() >= {*grid.header}:
        return
    rows = _rows(grid)
    for line in _words_said(rows, say):
        Text(line)
    given = any(_value(row, "chosen") for row in rows)
    with ui.element("details").classes("blanks"):
        Text(say("read.blanks"), "summary")
        names = _ON_PAGE if given else tuple(name for name in _ON_PAGE if name not in _OF_CHOICE)
        cells = [[_shown(name, row, say) for name in names] for row in rows[:_MOST_BLANKS]]
        table([say(f"read.{_HEADINGS[name]}") for name in names], cells, is_long=True)
        if len(rows) > _MOST_BLANKS:
            Text(say("read.more", count=len(rows) - _MOST_BLANKS)).classes("small")
        for line in _choice_said(rows, say) if given else ():
            Text(line).classes("small")
        _files(visit, f"{run.suite.name}-{run.model}", in_language(grid, say))


def _files(visit: Visit, name: str, grid: Grid) -> None:
    """Buttons for the table as a file of Excel and as CSV."""
    title = re.sub(r"[^\w.-]+", "-", name)
    with ui.element("div").classes("buttons"):
        for form, label in ((".xlsx", "Excel (xlsx)"), (".csv", "CSV")):
            make: Callable[[], bytes] = partial(grid_file, grid, form)
            give = partial(save, f"{title}{form}", make)
            button = ui.button(label, on_click=guarded(visit, give)).props("no-caps flat dense")
            button.props["aria-label"] = f"{visit.say('frame.download')} {label}: {grid.title}"
            button.mark(f"blanks-{form}")


def _rows(grid: Grid) -> list[Row]:
    return [dict(zip(grid.header, row, strict=True)) for row in grid.rows]


def _value(row: Row, name: str) -> CellValue:
    """The value behind a cell."""
    cell = row[name]
    return parts_of(cell)[""] if isinstance(cell, str) else cell.value


def _number(row: Row, name: str) -> float | None:
    """The number behind a cell; None where there is none."""
    value = _value(row, name)
    return value if isinstance(value, int | float) else None


def _told(name: str, cell: GridCell, row: Row, say: Words) -> GridCell:
    """A cell in the language of the page; numbers stay numbers."""
    text = str(cell)
    if name == "rank":
        return shown(_number(row, name), text, absent="")
    if not text or name not in _IN_WORDS:
        return cell
    is_lost = name == "hit@1" and row["rank"] == "never"
    return say("read.rank_never") if is_lost else _IN_WORDS[name](text, say)


_IN_WORDS: Mapping[str, Callable[[str, Words], str]] = {
    "hit@1": lambda text, say: say(f"read.blank_{text}"),
    "choice": lambda text, say: say(f"read.blank_{text}"),
    "lost by length": lambda text, say: say(f"read.blank_{text}"),
    "surprisal by": lambda text, say: say.named("rule", text),
    "choice by": lambda text, say: say.named("rule", text),
    "the model's first": lambda text, say: _SAID.sub(
        lambda found: say.number(float(found[0]), ".3f"), text
    ),
}
"""The columns with words of the report, each with how the page says them."""


def _shown(name: str, row: Row, say: Words) -> str:
    """A cell as the page shows it."""
    value = _number(row, name)
    if name.startswith("surprisal"):
        return "–" if value is None else say.number(value, ".2f")
    if name.startswith("probability"):
        return _probability(value, say)
    if name == "chosen":
        mark = {"right": " ✓", "wrong": " ✗", "tie": ""}.get(str(row["choice"]), "")
        return f"{row[name] or '–'}{mark}"
    if name == "rank":
        return _rank(row, say)
    return str(_told(name, row[name], row, say))


def _rank(row: Row, say: Words) -> str:
    """The place of an expected answer among the candidates, or why it has none."""
    rank = _number(row, "rank")
    if rank is not None:
        return say.number(int(rank))
    if row["rank"] == "never":
        return say("read.rank_never")
    return say("read.rank_none") if row["hit@1"] else "–"


def _probability(p: float | None, say: Words) -> str:
    """A probability, or that it is smaller than any that is shown."""
    if p is None:
        return "–"
    form = ".4f"
    return say.number(p, form) if p >= _LEAST_P else f"< {say.number(_LEAST_P, form)}"


def _words_said(rows: Sequence[Row], say: Words) -> Iterator[str]:
    """What is said of the expected words together."""
    known = [bits for row in rows if (bits := _number(row, "surprisal (bits)")) is not None]
    if known:
        middle, low, high = (
            say.number(value, ".2f") for value in (median(known), min(known), max(known))
        )
        rule, n = say.named("rule", str(rows[0]["surprisal by"])), say.number(len(known))
        yield say("read.expected_words", rule=rule, median=middle, low=low, high=high, n=n)
    if lost := _listed([str(row["expected"]) for row in rows if row["rank"] == "never"]):
        yield say("read.never", words=lost)
    bare = [str(row["expected"]) for row in rows if _number(row, "surprisal (bits)") is None]
    if unscored := _listed(bare):
        yield say("read.unscored_words", words=unscored)


def _choice_said(rows: Sequence[Row], say: Words) -> Iterator[str]:
    """By which rules words are chosen and scored, and which choices the length may have decided."""
    rules = [
        say.named("rule", next((str(row[name]) for row in rows if row[name]), ""))
        for name in ("choice by", "surprisal by")
    ]
    key = "read.blank_rules" if rules[0] != rules[1] and rules[1] else "read.blank_rule"
    yield say(key, choice=rules[0], surprisal=rules[1])
    wrong = dict.fromkeys(str(row["item"]) for row in rows if row["choice"] == "wrong")
    short = dict.fromkeys(str(row["item"]) for row in rows if row["lost by length"] == "yes")
    if short:
        count, lost = say.number(len(short)), say.number(len(wrong))
        yield say("read.blank_lengths", count=count, lost=lost, items=_listed([*short]))


def _listed(words: Sequence[str]) -> str:
    """Words, each once, the first of many."""
    each = [*dict.fromkeys(words)]
    return ", ".join(each[:_MOST_WORDS]) + (" …" if len(each) > _MOST_WORDS else "")

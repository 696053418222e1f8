"""What became of each blank of a run, in the language of the page: a table, and what is said of it.

The table is that of the report, with its headings and words in the language of the page, so that
what the page shows and what its files have is one thing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import median

from nicegui import ui

from cimento.app.frame import Text, Visit
from cimento.app.grids import grid_files
from cimento.app.parts import table
from cimento.app.words import Words
from cimento.errors import UsageError
from cimento.io.values import grouped
from cimento.kinds.named import TableSettings
from cimento.kinds.run import Run
from cimento.records.blanks import EXPECTED_TABLE, FORCED_CHOICE
from cimento.report.cells import CellValue, parts_of, shown
from cimento.report.grid import Grid, GridCell
from cimento.report.language import Told
from cimento.suites.cloze import ClozeSuite, dividing_column

_FORMS = (".xlsx", ".csv")
_MOST_BLANKS = 200
_MOST_WORDS = 20
_LEAST_P = 0.0001
_SAID = re.compile(r"(?<=\()\d\.\d{3}(?=\))")
"""A probability behind a word that the model put first."""
_ROLE = re.compile(r"\b(?:target|plausible|implausible)\b")
_BITS = re.compile(r"(?<= )\d+\.\d\d(?=,|$)")
"""The bits behind a word."""

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
    "deciding bits": "blank_deciding",
    "deciding bits of the others": "blank_deciding_others",
    "surprisal of the chosen (bits)": "blank_chosen_bits",
    "probability of the chosen": "blank_chosen_p",
    "tokens of the chosen": "blank_chosen_tokens",
    "length may decide": "blank_length",
    "asked by": "blank_asked",
    "surprisal by": "blank_by",
    "choice by": "blank_choice_by",
    "the model's first": "blank_said",
}
"""The columns of the report's table, each with what the page calls it."""

_ON_PAGE = (
    "item", "text", "expected", "surprisal (bits)", "probability", "tokens", "rank",
    "the model's first",
)  # fmt: skip
"""The columns that the page shows where no word was chosen; files have all."""
_OF_CHOICE = (
    "item", "text", "expected", "chosen", "margin (bits)", "deciding bits",
    "deciding bits of the others", "length may decide", "rank", "the model's first",
)  # fmt: skip
"""The columns that the page shows where one was, those that say which word won first."""

Row = Mapping[str, GridCell]
"""The cells of an expected answer, by the columns of the report's table."""


def in_language(grid: Grid, say: Words) -> Grid:
    """A table of blanks with its words in the language of the page.

    Args:
        grid: that of expected answers, whose headings are told too, or one with the rules by
            which words were scored; another one stays as it is.
        say: the words of the page.
    """
    if not _HEADINGS.keys() <= {*grid.header}:  # the table of a package may have its name too
        told = {name: _OF_RULES[name] for name in grid.header if name in _OF_RULES}
        return replace(grid, rows=_with(grid, told, say)) if _is_of_rules(grid) else grid
    header = tuple(_heading(name, say) for name in grid.header)
    rows = tuple(
        tuple(_told(name, cell, row, say) for name, cell in row.items()) for row in _rows(grid)
    )
    notes = tuple(map(Told, _notes(_rows(grid), say)))
    return replace(grid, title=Told(say("read.blanks")), header=header, rows=rows, notes=notes)


def _is_of_rules(grid: Grid) -> bool:
    """Whether a table has rules by which blanks were filled, or questions about them."""
    return grid.header[:2] in _WITH_RULES


def _with(
    grid: Grid, told: Mapping[str, Callable[[str, Words], str]], say: Words
) -> tuple[tuple[GridCell, ...], ...]:
    """The rows of a table with the words of some columns in the language of the page."""
    return tuple(
        tuple(
            told[name](str(cell), say) if name in told and str(cell) else cell
            for name, cell in row.items()
        )
        for row in _rows(grid)
    )


def divided(run: Run) -> Run:
    """A run of blanks broken down as its report is, by a column of the items; others as they are.

    Args:
        run: of any kind.
    """
    if not isinstance(run.suite, ClozeSuite) or getattr(run.options, "by", None):
        return run
    column = dividing_column(run.suite.items)
    return run.grouped(by=(column,)) if column else run


def show_blanks(visit: Visit, run: Run, *, is_folded: bool = False) -> None:
    """Show what became of each blank, and of the words that could not be found or scored.

    Args:
        visit: what the page is built for.
        run: of any kind; nothing is shown of one without expected answers.
        is_folded: whether the table of the blanks is there once somebody opens it.
    """
    presenter, say = run.paradigm.presenter, visit.say
    if EXPECTED_TABLE not in presenter.tables:
        return
    try:
        grid = presenter.table(EXPECTED_TABLE, [run], TableSettings())
    except UsageError:  # no answer is expected
        return
    if not _HEADINGS.keys() <= {*grid.header}:
        return
    rows = _rows(grid)
    for line in _words_said(rows, say):
        Text(line)
    given = any(_value(row, "chosen") for row in rows)
    with ui.element("details").classes("blanks").props("" if is_folded else "open"):
        Text(say("read.blanks"), "summary")
        names = _OF_CHOICE if given else _ON_PAGE
        own = [name for name in grid.header if name not in _HEADINGS]
        names = (names[0], *own, *names[1:])
        cells = [[_shown(name, row, say) for name in names] for row in rows[:_MOST_BLANKS]]
        headings = [_heading(name, say) for name in names]
        table(headings, cells, f"text-{names.index('text') + 1}")
        if len(rows) > _MOST_BLANKS:
            Text(say("read.more", count=len(rows) - _MOST_BLANKS)).classes("small")
        for line in _notes(rows, say):
            Text(line).classes("small")
        name = re.sub(r"[^\w.-]+", "-", f"{run.suite.name}-{run.model}")
        grid_files(visit, in_language(grid, say), name, _FORMS)


def _heading(name: str, say: Words) -> str:
    """A heading of the table; a column of the suite keeps its name."""
    if name in _HEADINGS:
        return say(f"read.{_HEADINGS[name]}")
    return say("start.phenomenon") if name == "phenomenon" else name


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
    "asked by": lambda text, say: say.named("rule", text),
    "choice": lambda text, say: say(f"read.blank_{text}"),
    "length may decide": lambda text, say: say(f"read.blank_{text}"),
    "surprisal by": lambda text, say: say.named("rule", text),
    "choice by": lambda text, say: say.named("rule", text),
    "deciding bits of the others": lambda text, say: _BITS.sub(
        lambda found: say.number(float(found[0]), ".2f"), text
    ),
    "the model's first": lambda text, say: _SAID.sub(
        lambda found: say.number(float(found[0]), ".3f"), text
    ),
}
"""The columns with words of the report, each with how the page says them."""
_OF_RULES: Mapping[str, Callable[[str, Words], str]] = {
    "right is": lambda text, say: say("read.blank_choice") if text == FORCED_CHOICE else text,
    "of": lambda text, say: say("read.blank_choice") if text == FORCED_CHOICE else text,
    "rule": lambda text, say: say.named("rule", text),
    "asked by": lambda text, say: say.named("rule", text),
    "chosen": lambda text, say: _ROLE.sub(lambda found: say(f"read.blank_{found[0]}"), text),
}
"""The same of the tables of hits and of choices."""
_WITH_RULES = (("model", "rule"), ("model", "asked by"), ("suite", "right is"), ("suite", "of"))
"""How the headings of those tables begin, the last two of comparisons."""
_BY_PIECES = ("left", "sentinel")
"""The ways of asking whose candidates are single tokens, which may only begin a word."""


def _shown(name: str, row: Row, say: Words) -> str:
    """A cell as the page shows it."""
    value = _number(row, name)
    if name.startswith("surprisal") or name in ("margin (bits)", "deciding bits"):
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


def _notes(rows: Sequence[Row], say: Words) -> Iterator[str]:
    """What is said below the table of each way of asking, with its models where there are several.

    Args:
        rows: of the table.
        say: the words of the page.
    """
    of_model = grouped((str(row["model"]), row) for row in rows)
    ways = grouped((_way(those), name) for name, those in of_model.items())
    for models in ways.values():
        own = [row for name in models for row in of_model[name]]
        whose = f"{', '.join(models)}: " if len(ways) > 1 else ""
        for line in _notes_of_way(own, say):
            yield f"{whose}{line}"


_RULES_OF_WAY = ("choice by", "surprisal by")


def _way(rows: Sequence[Row]) -> tuple[str, ...]:
    """By which rules a model's words were chosen, scored and asked for."""
    rules = [next((str(row[name]) for row in rows if row[name]), "") for name in _RULES_OF_WAY]
    return (*rules, str(any(row["asked by"] in _BY_PIECES for row in rows)))


def _notes_of_way(rows: Sequence[Row], say: Words) -> Iterator[str]:
    """What is said of rows of one way: of the choices, and of candidates that may be pieces."""
    if any(_value(row, "chosen") for row in rows):
        yield from _choice_said(rows, say)
    if any(row["asked by"] in _BY_PIECES for row in rows):
        yield say("read.blank_pieces")


def _choice_said(rows: Sequence[Row], say: Words) -> Iterator[str]:
    """By which rules words are chosen and scored, and which choices the length may have decided."""
    rules = [say.named("rule", rule) for rule in _way(rows)[: len(_RULES_OF_WAY)]]
    key = "read.blank_rules" if rules[0] != rules[1] and rules[1] else "read.blank_rule"
    yield say(key, choice=rules[0], surprisal=rules[1])
    known = [row for row in rows if row["length may decide"]]
    total = len(dict.fromkeys(str(row["item"]) for row in known))
    items = dict.fromkeys(str(row["item"]) for row in known if _value(row, "length may decide"))
    if items:
        count, of = say.number(len(items)), say.number(total)
        yield say(
            "read.blank_lengths", count=count, total=of, surprisal=rules[1], items=_listed([*items])
        )


def _listed(words: Sequence[str]) -> str:
    """Words, each once, the first of many."""
    each = [*dict.fromkeys(words)]
    return ", ".join(each[:_MOST_WORDS]) + (" …" if len(each) > _MOST_WORDS else "")

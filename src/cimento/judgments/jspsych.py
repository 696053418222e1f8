"""Answers in jsPsych's data: which trials are about items, and what their responses mean.

jsPsych gives a list of trials as JSON or CSV, one list a file or a line; a trial whose data name an
item is an answer, and all others (instructions, consent) are counted and skipped.

A page with several questions is an answer for each whose name the suite or the survey knows.

What a response means depends on the plugin, which is in ``trial_type``: buttons and the points
of a Likert scale are numbers counted from 0, while sliders, keys and texts are the answer itself
(`intake/forms.toml` has the plugins). What the author of an experiment put into the data of a
trial, as ``value`` or ``answer``, is the answer, whatever the plugin.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from cimento.errors import InputError
from cimento.intake.decoding import open_text
from cimento.intake.forms import Program, programs
from cimento.intake.table import Table
from cimento.intake.tables import holds_table, open_table
from cimento.io.parsing import parse_json
from cimento.judgments import TEXT, ColumnMap, RawRow
from cimento.judgments.asked import AskedItems
from cimento.judgments.formats import RawAnswers
from cimento.judgments.roles import (
    answers_reading,
    resolved,
    table_of,
    with_file,
    with_roles,
)
from cimento.suites import JsonValue

_FILE = "file"
"""The stand-in for a column of participants: each file is one person's."""

TRIAL_TYPE = "trial_type"
"""The column in which every trial has its plugin."""

_RESPONSES = ("response", "responses", "button_pressed")
"""Columns that plugins write themselves."""

_NAME = "name of the question"
"""The stand-in for a column of items: on a page, each question has a name of its own."""

_TIME = "rt"
"""The column with the time of a trial: of a page it is not that of one answer."""

_WHOLE = re.compile(r"[0-9]{1,6}")
_VALUES = (
    'Say what each number means, in a file for --mapping: a table [values] with lines such as "0" ='
    ' "1"; or put the answer into the data of the trial as value.'
)


def read_jspsych(
    path: Path, columns: ColumnMap, person: str = "", *, asked: AskedItems | None = None
) -> RawAnswers:
    """The trials about items in a file.

    Args:
        path: of the file.
        columns: where the fields stand, and how answers are recoded.
        person: who answered, where the trials do not say; empty for the name of the file.
        asked: what was asked, for the names of the questions of a page; None if unknown.

    Raises:
        InputError: it is neither JSON nor CSV of trials, or a response cannot be understood.
        UsageError: a column that somebody has chosen does not fit its role.
    """
    program = programs()["jspsych"]
    numbered = [*(_from_table if holds_table(path) else _from_json)(path)]
    parted = [(number, one) for number, trial in numbered for one in _by_question(trial, asked)]
    trials = [replace(trial, cells=_one_answer(trial.cells)) for _, trial in parted]
    numbers = [number for number, _ in parted]
    columns, notes = _with_pages(trials, columns)
    table = table_of(trials, numbers, name=path.name, **{_FILE: person or path.stem})
    # What a response may be depends on the plugin, and not on the column.
    table, columns = with_file(*with_roles(table, columns, untested=("value",)), _FILE)
    rows, left_out, passed = list[RawRow](), dict[int, str](), dict[str, int]()
    for number, (trial, row) in enumerate(zip(trials, table.rows, strict=True)):
        known = RawRow(trial.where, row.cells)
        # A trial without an id can be known by the text that it showed.
        if columns.cell(known, TEXT) or columns.cell(known, "item"):
            rows.append(_understood(known, columns, table, program))
            continue
        left_out[number] = "a trial that names no item"
        reason = f"a trial of type {trial.cells.get(TRIAL_TYPE) or 'unknown'} names no item"
        passed[reason] = passed.get(reason, 0) + 1
    if not rows:
        raise InputError(
            where=str(path),
            seen="no trial names an item",
            todo="Put item, condition and question into the trials' data; surveys that `cimento"
            " annotate survey` builds have them.",
        )
    reading = answers_reading(
        table.without(left_out),
        columns,
        program=program.title,
        own=[_FILE, _NAME],
        written=[name for name in table.columns if program.writes(name)],
    )
    return RawAnswers(resolved(rows, columns, TRIAL_TYPE), passed, notes, reading)


def _with_pages(trials: Sequence[RawRow], columns: ColumnMap) -> tuple[ColumnMap, tuple[str, ...]]:
    """Where fields stand, and what is said, if some trials are questions of one page."""
    if not any(_NAME in trial.cells for trial in trials):
        return columns, ()
    names = (_NAME, *columns.columns.get("item", ()))
    return replace(columns, columns={**columns.columns, "item": names}), (_PAGES,)


_PAGES = (
    "Pages with several questions are read as an answer to each whose name is an item; their times"
    " are those of pages, and left out."
)


def _by_question(trial: RawRow, asked: AskedItems | None) -> Iterator[RawRow]:
    """A trial; of a page of questions, a row for each that has the name of something asked."""
    column = next((name for name in _RESPONSES if trial.cells.get(name, "").strip()), "")
    known = {}
    for name, answer in _answers_of(trial.cells.get(column, "")).items():
        if asked is not None and asked.find(name, where=trial.where) is not None:
            known[name] = _text(answer)
    if not known:
        yield trial
        return
    for name, answer in known.items():
        yield replace(trial, cells={**trial.cells, column: answer, _NAME: name, _TIME: ""})


def _answers_of(cell: str) -> dict[str, JsonValue]:
    """The answers to the questions of a page, by their names; none of any other cell."""
    if not cell.strip().startswith("{"):
        return {}
    try:
        value = parse_json(cell)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _understood(trial: RawRow, columns: ColumnMap, table: Table, program: Program) -> RawRow:
    """A trial whose response is a place among the answers, as such; others as they are.

    Raises:
        InputError: it is not known what the response counts.
    """
    names = columns.columns.get("value", ())
    column = next((name for name in names if trial.cells.get(name, "").strip()), "")
    text = trial.cells.get(column, "").strip()
    if table.shown(column) not in _RESPONSES or text in columns.values:
        return trial
    plugin = trial.cells.get(TRIAL_TYPE, "").strip().casefold()
    if text.startswith("{"):
        raise InputError(
            where=trial.where,
            seen=f"a {plugin or 'trial'} has several answers, and one item: {text[:80]}",
            todo="If the questions are named by items or sentences, say of which suite: --suite"
            " SUITE. Else write them as a table with a row for each answer, with the columns"
            " participant, item and answer (of a survey-likert, 0 stands for the first point).",
        )
    whole = _WHOLE.fullmatch(text) is not None
    counts = plugin in program.zero
    if plugin in program.given or not (counts or whole):
        return trial
    recoded = any(_WHOLE.fullmatch(key) for key in columns.values)
    if counts and whole and not recoded:
        return replace(trial, choice=int(text))
    if counts:
        seen = f"the response {text!r} of a {plugin} is not a number of a button or point"
        seen = f"[values] has no {text!r}, the response of a {plugin}" if recoded else seen
    else:
        of = f"the trial type {plugin!r} is not known" if plugin else "there is no trial_type"
        seen = f"the response is {text!r}, and {of}: whether it counts from 0 cannot be told"
    raise InputError(where=trial.where, seen=seen, todo=_VALUES)


def _from_table(path: Path) -> Iterator[tuple[int, RawRow]]:
    table = open_table(path)
    for row in table.rows:
        yield row.number, RawRow(table.where(row), dict(row.cells))


def _one_answer(cells: Mapping[str, str]) -> dict[str, str]:
    """A row whose responses may be JSON objects of one answer, as survey plugins write them."""
    return {**cells, **{name: _plain(cells[name]) for name in _RESPONSES if name in cells}}


def _plain(cell: str) -> str:
    try:
        return _text(parse_json(cell))
    except ValueError:
        return cell


def _from_json(path: Path) -> Iterator[tuple[int, RawRow]]:
    text = open_text(path).strip()
    lines = [text] if _is_json(text) else text.split("\n")
    number = 0
    for line in lines:
        if not line.strip():
            continue
        try:
            content = parse_json(line)
        except ValueError as error:
            raise InputError(
                where=str(path),
                seen=f"is not JSON ({error})",
                todo="Give what jsPsych's data.json() wrote, one list of trials a file or a line.",
            ) from error
        for trial in content if isinstance(content, list) else [content]:
            number += 1
            where = f"{path.name}, trial {number}"
            if not isinstance(trial, dict):
                raise InputError(
                    where=where, seen="is not an object", todo="Is it a list of trials?"
                )
            # In jsPsych 6, survey plugins wrote their answers as a text of JSON.
            yield number, RawRow(where, {str(name): _as_text(trial[name]) for name in trial})


def _is_json(text: str) -> bool:
    try:
        parse_json(text)
    except ValueError:
        return False
    return True


def _text(value: JsonValue) -> str:
    """A value as a cell: an object of one answer as that answer."""
    if isinstance(value, dict) and len(value) == 1:
        return _text(next(iter(value.values())))
    return _as_text(value)


def _as_text(value: JsonValue) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def counting_notes(shifted: Mapping[tuple[str, bool], int]) -> Iterator[str]:
    """What is said of answers that were places counted from 0.

    Args:
        shifted: number of answers, by the type of the trial and whether the answers of a design
            were taken, in their order.
    """
    for (plugin, by_design), count in shifted.items():
        said = (
            "each is read as the answer of the survey in that place"
            if by_design
            else "1 is added to each, so that the first is 1"
        )
        yield (
            f"jsPsych counts the answers of {plugin} trials from 0 ({count} here): {said}. If they"
            " mean something else, say it with [values] in a --mapping."
        )

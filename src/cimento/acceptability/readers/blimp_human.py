"""BLiMP's human validation (Warstadt et al. 2020, doi:10.1162/tacl_a_00321): forced choices.

Columns: ``hit annotator list work_seconds status english position paradigm is_attention_check
correct_option choice sentence_1 sentence_2``, one row an answer. Which of the two sentences stands
first differs between sheets, so that the sentences name the item and not the option.
"""

from __future__ import annotations

from pathlib import Path

from cimento.acceptability.readers import cells
from cimento.acceptability.records import ForcedChoice
from cimento.errors import InputError
from cimento.suites.tables import Row, Table, open_table

COLUMNS = (
    "hit", "annotator", "work_seconds", "paradigm", "is_attention_check", "correct_option",
    "choice", "sentence_1", "sentence_2",
)  # fmt: skip


def read_choices(path: Path) -> tuple[ForcedChoice, ...]:
    """Every answer of the file.

    Raises:
        InputError: it cannot be read, lacks a column, or a cell is not what it should be.
    """
    table = open_table(path)
    cells.need_columns(table, COLUMNS)
    return tuple(_choice(table, row) for row in table.rows)


def _choice(table: Table, row: Row) -> ForcedChoice:
    correct = cells.count_of(table, row, "correct_option")
    chosen = cells.count_of(table, row, "choice")
    if correct not in {1, 2} or chosen not in {1, 2, None}:
        raise InputError(
            where=table.where(row),
            seen="correct_option or choice is neither 1 nor 2",
            todo="An answer that is missing is NA.",
        )
    first, second = cells.text_of(row, "sentence_1"), cells.text_of(row, "sentence_2")
    return ForcedChoice(
        sheet=cells.text_of(row, "hit"),
        annotator=cells.text_of(row, "annotator"),
        paradigm=cells.text_of(row, "paradigm"),
        good=first if correct == 1 else second,
        bad=second if correct == 1 else first,
        chose_good=None if chosen is None else chosen == correct,
        attention=bool(cells.flag_of(table, row, "is_attention_check")),
        seconds=cells.number_of(table, row, "work_seconds"),
    )

"""The tables that explanations added to a stored run, by the names of today."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cimento.io.tables import find_table
from cimento.suites.naming import ALL_PREDICTIONS, named, numbered

if TYPE_CHECKING:
    import polars as pl

    from cimento.io.tables import TableSchema
    from cimento.kinds.run import Run

_PART = ", part "


def explained_table(run: Run, schema: TableSchema) -> pl.DataFrame | None:
    """A table that explanations added to a stored run; None where there is none.

    Tables of earlier versions have the number of a prediction in the place of its name, and call a
    prediction that is judged alone ``all predictions``.

    Args:
        run: the run.
        schema: one of `cimento.io.explained.EXPLAINED`.

    Raises:
        TableError: the table is damaged.
    """
    table = None if run.folder is None else find_table(schema, run.folder)
    if table is None or table.is_empty():
        return table
    predictions = named(getattr(run.suite, "predictions", ()))
    names = {numbered(number): prediction.name for number, prediction in enumerate(predictions)}
    if len(judged := run.outcomes()["question"].unique()) == 1:
        names[ALL_PREDICTIONS] = judged[0]
    today = {}
    for question in table["question"].unique():
        name, part, number = question.partition(_PART)
        today[question] = names.get(name, name) + part + number
    return table.with_columns(table["question"].replace(today))

"""Tables 1 and 2 with models in columns hold what the tables with rows hold."""

from __future__ import annotations

from cimento.report.grid import EstimateCell
from cimento.studies.islands.columns import models_in_columns
from cimento.studies.islands.models import accuracy_table


def test_every_cell_stands_below_its_model_and_the_best_stay_bold():
    table = accuracy_table(1, {})
    turned = models_in_columns(table)
    places, label = {}, ""
    for number, (phenomenon, form, model, *values) in enumerate(table.rows):
        if phenomenon or form:
            label, kind = phenomenon or label, form
        for column, value in enumerate(values, start=3):
            if value:
                key = (label, kind, model, table.header[column])
                places[key] = value, (number, column) in table.bold
    found = {
        (row[0], row[1], turned.groups[k], turned.header[k]): (row[k], (number, k) in turned.bold)
        for number, row in enumerate(turned.rows)
        for k in range(2, len(turned.header))
        if row[k]
    }
    assert found == places
    assert len(turned.rows) == 13
    # GePpeTto has no logistic forms, so it has two columns and the others four.
    assert turned.spans[1:] == [
        ("GePpeTto (published)", 2), ("BERT-it-xxl-cased (published)", 4),
        ("GilBERTo (published)", 4),
    ]  # fmt: skip
    assert turned.rules == {3, 6, 9, 12}


def test_own_values_keep_interval_and_n_for_programs_only():
    table = accuracy_table(1, {})
    first, *others = table.rows
    cell = EstimateCell(value=75.0, low=40.1, high=92.9, n=8, unit="percent")
    own = ("", "", "mine", cell, *first[4:])
    turned = models_in_columns(
        type(table)(title="", header=table.header, rows=(first, own, *others), labels=3)
    )
    columns = {column.name: column.values[0] for column in turned.tidy.columns}
    ends = [columns[f"mine_LP_percent{end}"] for end in ("", "_low", "_high", "_n")]
    assert ends == [75.0, 40.1, 92.9, 8]
    assert "75.0" in turned.text[0]

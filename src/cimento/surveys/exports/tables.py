"""A table for each survey, for programs that make forms."""

from __future__ import annotations

import csv
import io

from cimento.io.files import inert
from cimento.surveys.design import Design
from cimento.surveys.exports.rows import COLUMNS, known


def form_tables(design: Design) -> dict[str, str]:
    """File name to CSV: a line for each thing that is asked, in order."""
    widest = max(
        len(field.choices) for each in design.questions for field in design.fields_of(each)
    )
    header = ["trial", "text", "prompt", "low", "high", *COLUMNS]
    header += [f"choice_{number}" for number in range(1, widest + 1)]
    header += [f"value_{number}" for number in range(1, widest + 1)]
    files = {}
    for survey, questions in design.by_survey.items():
        lines = [header]
        for position, question in enumerate(questions, start=1):
            for field in design.fields_of(question):
                about = known(design, question, field, survey=survey, position=position)
                empty = [""] * (widest - len(field.choices))
                lines.append(
                    [question.id, "\n".join(question.lines), field.prompt, field.low, field.high]
                    + [about[name] for name in COLUMNS]
                    + [choice.label for choice in field.choices]
                    + empty
                    + [choice.value for choice in field.choices]
                    + empty
                )
        files[f"survey-{survey}.csv"] = as_csv(lines)
    return files


def as_csv(lines: list[list[str]]) -> str:
    """Lines as CSV that a spreadsheet opens without taking a text for a formula."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([inert(cell) for cell in line] for line in lines)
    return out.getvalue()

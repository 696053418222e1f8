"""What is known of a question before anybody answers it, in the columns of the judgments table."""

from __future__ import annotations

from cimento.surveys.design import Design, Field, Question

COLUMNS = ("suite", "item", "condition", "candidate", "question", "survey", "position", "expected")


def known(
    design: Design, question: Question, field: Field, *, survey: str, position: int
) -> dict[str, str]:
    """The columns that an answer will have besides its value, its annotator and its time."""
    return {
        "suite": design.source.suite,
        "item": question.item,
        "condition": question.condition,
        "candidate": question.candidate,
        "question": field.name,
        "survey": survey,
        "position": str(position),
        "expected": question.expected,
    }

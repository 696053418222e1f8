"""A script for PCIbex (PennController, Zehr and Schwarz 2018, doi:10.17605/OSF.IO/MD832)."""

from __future__ import annotations

from dataclasses import asdict
from html import escape

from cimento.surveys.design import Design, Field, Question
from cimento.surveys.exports.jspsych import script_json
from cimento.surveys.exports.pages import TEMPLATES, marked
from cimento.surveys.exports.rows import known
from cimento.surveys.wording import words


def script(design: Design) -> str:
    """The whole of ``main.js``: texts are HTML there, so all of them are escaped here.

    PCIbex asks one thing a trial: a page that asks several becomes as many trials.
    """
    said = words(design.language)
    data = {
        "title": escape(design.title),
        # PCIbex stores a hash of the address, which the usual text says is not stored.
        "consent": [escape(each) for each in (*design.consent, said["consent"]["pcibex"])],
        "guidelines": [escape(each) for each in design.guidelines],
        "words": {name: escape(text) for name, text in said["pages"].items()},
        "surveys": {
            survey: [
                _trial(design, question, field, survey, place)
                for place, question in enumerate(questions, start=1)
                for field in design.fields_of(question)
            ]
            for survey, questions in design.by_survey.items()
        },
    }
    code = (TEMPLATES / "pcibex.js").read_text(encoding="utf-8")
    return code.replace("{/* the survey */}", script_json(data))


def _trial(
    design: Design, question: Question, field: Field, survey: str, position: int
) -> dict[str, object]:
    return {
        "lines": _lines(question),
        "prompt": escape(field.prompt),
        "low": escape(field.low),
        "high": escape(field.high),
        "when": field.when,
        "labels": [escape(choice.label) for choice in field.choices],
        "choices": [asdict(choice) for choice in field.choices],
        "data": known(design, question, field, survey=survey, position=position),
    }


def _lines(question: Question) -> list[str]:
    if not question.lines:
        return []
    first, *rest = question.lines
    before, part, after = (escape(text) for text in marked(first, question.mark))
    return [f"{before}<mark>{part}</mark>{after}" if part else before, *map(escape, rest)]

"""A folder with a jsPsych experiment; jsPsych itself is installed into it by npm."""

from __future__ import annotations

import json

from cimento.surveys.design import Design
from cimento.surveys.exports.pages import TEMPLATES, environment
from cimento.surveys.exports.rows import known
from cimento.surveys.wording import words

PACKAGES = {"jspsych": "8.3.0", "@jspsych/plugin-html-button-response": "2.1.0"}
"""What npm installs (de Leeuw, Gilbert and Luchterhandt 2023, doi:10.21105/joss.05351)."""


def experiment(design: Design) -> dict[str, str]:
    """File name to content."""
    said = words(design.language)
    data = {
        "title": design.title,
        "consent": design.consent,
        "guidelines": design.guidelines,
        "words": {**said["pages"]},
        "surveys": {
            survey: [_trial(design, survey, place) for place in range(len(questions))]
            for survey, questions in design.by_survey.items()
        },
    }
    package = {
        "name": "cimento-survey",
        "private": True,
        "description": "A survey made with cimento, for jsPsych.",
        "dependencies": PACKAGES,
    }
    return {
        "package.json": json.dumps(package, indent=2) + "\n",
        "index.html": environment().get_template("jspsych.html").render(design=design),
        "survey.js": f"const SURVEY = {script_json(data)};\n",
        "experiment.js": (TEMPLATES / "jspsych.js").read_text(encoding="utf-8"),
        "experiment.css": (TEMPLATES / "jspsych.css").read_text(encoding="utf-8"),
        "README.md": (TEMPLATES / "jspsych.md").read_text(encoding="utf-8"),
    }


def script_json(data: object) -> str:
    """JSON that may stand in a script: nothing in it can end the script element."""
    text = json.dumps(data, ensure_ascii=False, indent=1)
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def _trial(design: Design, survey: str, place: int) -> dict[str, object]:
    question = design.by_survey[survey][place]
    return {
        "lines": question.lines,
        "mark": question.mark,
        "fields": [
            {
                "prompt": field.prompt,
                "low": field.low,
                "high": field.high,
                "when": field.when,
                "choices": [
                    {"value": each.value, "label": each.label, "condition": each.condition}
                    for each in field.choices
                ],
                "data": known(design, question, field, survey=survey, position=place + 1),
            }
            for field in design.fields_of(question)
        ],
    }

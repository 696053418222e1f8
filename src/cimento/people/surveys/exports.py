"""Designs written for other programs: tables for forms, pages to print, jsPsych and PCIbex.

jsPsych itself is installed by npm into the folder of its experiment. The script for PCIbex needs
PennController (Zehr and Schwarz 2018, doi:10.17605/OSF.IO/MD832).
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.errors import UsageError
from cimento.io.files import BOM, inert, write_text
from cimento.io.inline_markup import templates_of
from cimento.people.surveys import (
    DATABASE,
    FILE,
    SurveyDesign,
    SurveyField,
    SurveyQuestion,
    read_design,
    write_design,
)
from cimento.people.surveys.material import words
from cimento.people.surveys.qualtrics import qualtrics_files
from cimento.people.surveys.storage import stored_design
from cimento.people.surveys.timed import page_of

if TYPE_CHECKING:
    from jinja2 import Environment
    from starlette.responses import HTMLResponse


TEMPLATES = Path(__file__).parent / "templates"
READING = (Path(__file__).parent / "static" / "reading.js").read_text(encoding="utf-8")
"""The script that shows a sentence word by word, here and in both experiments."""


@cache
def environment() -> Environment:
    """The templates, with the functions that they call."""
    templates = templates_of("cimento.people.surveys")
    templates.globals["marked"] = marked
    return templates


def page(
    template: str, design: SurveyDesign, *, status: int = 200, language: str = "", **values: object
) -> HTMLResponse:
    """A page made from a template, which escapes every text in it.

    Args:
        template: name of the template.
        design: of the survey.
        status: of the response.
        language: ISO 639-1 code of the page's words; empty for that of the survey.
        values: whatever else the template shows; of trials that each is one (`is_trial`).
    """
    from starlette.responses import HTMLResponse

    spoken = language or design.language
    made = environment().get_template(template)
    shown = {"is_trial": False, **values}
    html = made.render(design=design, words=words(spoken), language=spoken, **shown)
    return HTMLResponse(html, status_code=status)


def marked(line: str, mark: tuple[int, int] | None) -> tuple[str, str, str]:
    """A line in three parts: before, in, and after the highlighted span."""
    start, end = mark or (len(line), len(line))
    return line[:start], line[start:end], line[end:]


def printed(design: SurveyDesign) -> dict[str, str]:
    """File name to HTML: each survey as a page without scripts, to be printed."""
    template = environment().get_template("print.html")
    style = (TEMPLATES / "print.css").read_text(encoding="utf-8")
    return {
        f"survey-{survey}.html": template.render(
            design=design, survey=survey, questions=questions, words=words(design.language),
            style=style, consent=_paper_consent(design),
        )
        for survey, questions in design.by_survey.items()
    }  # fmt: skip


def _paper_consent(design: SurveyDesign) -> list[str]:
    """The consent text for paper: cimento's own paragraphs as they are true there."""
    texts = words(design.language)["consent"]
    online, paper = (texts[name].split("\n") for name in ("paragraphs", "paper"))
    on_paper = dict(zip(online, paper, strict=True))
    return [on_paper.get(paragraph, paragraph) for paragraph in design.consent]


KNOWN_COLUMNS = (
    "suite", "item", "condition", "candidate", "question", "survey", "position", "expected",
    "scale",
)  # fmt: skip


def known_columns(
    design: SurveyDesign, question: SurveyQuestion, field: SurveyField, survey: str, position: int
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
        "expected": field.expected,
        "scale": field.scale,
    }


def form_tables(design: SurveyDesign) -> dict[str, str]:
    """File name to CSV: a line for each thing that is asked, in order."""
    widest = max(
        len(field.choices) for question in design.questions for field in design.fields_of(question)
    )
    header = ["trial", "text", "prompt", "low", "high", *KNOWN_COLUMNS]
    header += [f"choice_{number}" for number in range(1, widest + 1)]
    header += [f"value_{number}" for number in range(1, widest + 1)]
    files = {}
    for survey, questions in design.by_survey.items():
        lines = [header]
        for position, question in enumerate(questions, start=1):
            for field in design.fields_of(question):
                known = known_columns(design, question, field, survey, position)
                empty = [""] * (widest - len(field.choices))
                lines.append(
                    [question.id, "\n".join(question.lines), field.prompt, field.low, field.high]
                    + [known[name] for name in KNOWN_COLUMNS]
                    + [choice.label for choice in field.choices]
                    + empty
                    + [choice.value for choice in field.choices]
                    + empty
                )
        files[f"survey-{survey}.csv"] = safe_csv(lines)
    return files


def safe_csv(lines: list[list[str]]) -> str:
    """Lines as CSV that a spreadsheet opens with all accents, taking no text for a formula."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([inert(cell) for cell in line] for line in lines)
    return BOM + out.getvalue()


PACKAGES = {"jspsych": "8.3.0", "@jspsych/plugin-html-button-response": "2.1.0"}
"""The npm packages (de Leeuw, Gilbert and Luchterhandt 2023, doi:10.21105/joss.05351)."""


def _experiment(
    design: SurveyDesign,
    trials: Callable[[SurveyDesign, SurveyQuestion, str, int], list[dict[str, object]]],
    *,
    text: Callable[[str], str] = str,
    more_consent: Sequence[str] = (),
) -> dict[str, object]:
    """The part of a design that a script needs.

    Args:
        design: what is asked.
        trials: makes those of a question, of the name of its survey, and of its place there.
        text: makes a text fit for the script.
        more_consent: paragraphs at the end of the consent text.
    """
    return {
        "title": text(design.title),
        "consent": [text(part) for part in (*design.consent, *more_consent)],
        "guidelines": [text(part) for part in design.guidelines],
        "words": {name: text(word) for name, word in words(design.language)["pages"].items()},
        "surveys": {
            survey: [
                trial
                for position, question in enumerate(questions, start=1)
                for trial in trials(design, question, survey, position)
            ]
            for survey, questions in design.by_survey.items()
        },
    }


def jspsych_experiment(design: SurveyDesign) -> dict[str, str]:
    """File name to content."""
    package = {
        "name": "cimento-survey",
        "private": True,
        "description": "A survey made with cimento, for jsPsych.",
        "dependencies": PACKAGES,
    }
    reading = {"reading.js": READING} if design.is_timed else {}
    return {
        **reading,
        "package.json": json.dumps(package, indent=2) + "\n",
        "index.html": environment().get_template("jspsych.html").render(design=design),
        "survey.js": f"const SURVEY = {script_json(_experiment(design, _page))};\n",
        "experiment.js": (TEMPLATES / "jspsych.js").read_text(encoding="utf-8"),
        "experiment.css": (TEMPLATES / "jspsych.css").read_text(encoding="utf-8"),
        "README.md": (TEMPLATES / "jspsych.md").read_text(encoding="utf-8"),
    }


def script_json(data: object) -> str:
    """JSON that may be in a script: nothing in it can end the script element."""
    text = json.dumps(data, ensure_ascii=False, indent=1)
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def _page(
    design: SurveyDesign, question: SurveyQuestion, survey: str, position: int
) -> list[dict[str, object]]:
    """The trial of jsPsych that asks a question, with all of its fields."""
    fields = [
        {
            "prompt": field.prompt,
            "low": field.low,
            "high": field.high,
            "when": field.when,
            "choices": [asdict(choice) for choice in field.choices],
            "data": known_columns(design, question, field, survey, position),
        }
        for field in design.fields_of(question)
    ]
    sentence = page_of(design, question) if design.is_timed else None
    return [
        {"lines": question.lines, "mark": question.mark, "sentence": sentence, "fields": fields}
    ]


def pcibex_script(design: SurveyDesign) -> str:
    """The whole of ``main.js``: texts are HTML there, so all of them are escaped here.

    PCIbex asks one thing a trial: a page that asks several becomes as many trials.
    """
    # PCIbex stores a hash of the address, which the usual text says is not stored.
    stored = words(design.language)["consent"]["pcibex"]
    data = _experiment(design, _trials, text=escape, more_consent=[stored])
    code = (TEMPLATES / "pcibex.js").read_text(encoding="utf-8")
    code = code.replace("{/* reading */}", READING if design.is_timed else "")
    return code.replace("{/* the survey */}", script_json(data))


def _trials(
    design: SurveyDesign, question: SurveyQuestion, survey: str, position: int
) -> list[dict[str, object]]:
    """The trials of PCIbex that ask a question, one for each field."""
    fields = design.fields_of(question)
    return [
        {
            "lines": [] if design.is_timed else _lines(question),
            "sentence": page_of(design, question) if design.is_timed and not number else None,
            "prompt": escape(field.prompt),
            "low": escape(field.low),
            "high": escape(field.high),
            "when": field.when,
            "labels": [escape(choice.label) for choice in field.choices],
            "choices": [asdict(choice) for choice in field.choices],
            "data": known_columns(design, question, field, survey, position),
        }
        for number, field in enumerate(fields)
    ]


def _lines(question: SurveyQuestion) -> list[str]:
    if not question.lines:
        return []
    first, *rest = question.lines
    before, part, after = (escape(text) for text in marked(first, question.mark))
    return [f"{before}<mark>{part}</mark>{after}" if part else before, *map(escape, rest)]


_MADE = ("forms/survey-*.csv", "print/survey-*.html", "qualtrics/survey-*.txt")
"""The files of which another design may have more."""


KEPT = "design-answered.json"
"""The design of the answers in a folder into which another was written all the same."""


def _files_of(design: SurveyDesign) -> dict[str, str]:
    """The files that are made from a design, by their places in its folder."""
    files = {f"jspsych/{name}": text for name, text in jspsych_experiment(design).items()}
    files["pcibex/main.js"] = pcibex_script(design)
    if design.is_timed:  # on paper and in forms, words are not
        return files
    return {
        **{f"forms/{name}": text for name, text in form_tables(design).items()},
        **{f"print/{name}": text for name, text in printed(design).items()},
        **{f"qualtrics/{name}": text for name, text in qualtrics_files(design).items()},
        **files,
    }


def write_survey(design: SurveyDesign, folder: Path, *, force: bool = False) -> list[Path]:
    """Write the design, tables for forms, pages to print, and files for jsPsych, PCIbex, Qualtrics.

    Sentences that are read word by word are only in the experiments.

    Args:
        design: what is written.
        folder: where to.
        force: take the place of another design, and of all that was made from it. The design of
            answers in the folder is kept as `KEPT`.

    Returns:
        The files, in the order in which they were written.

    Raises:
        UsageError: there is another design, or answers to another.
        InputError: the answers in the folder cannot be read.
        StorageError: the folder cannot be written.
    """
    answers = folder / DATABASE
    answered = stored_design(answers) if answers.is_file() else design
    if not force and answered != design:
        raise UsageError(
            where=str(folder),
            seen=f"{DATABASE} there holds links and answers to another design, which would no"
            " longer work",
            todo="Write to another folder (-o), and make new links there. --force writes here, and"
            f" keeps the design of the answers as {KEPT}.",
        )
    if not force and (folder / FILE).exists() and read_design(folder) != design:
        raise UsageError(
            where=str(folder),
            seen="holds another design, which people may have answered already",
            todo="Name another folder, or give --force to replace it.",
        )
    files = _files_of(design)
    written = [
        *([write_design(answered, folder / KEPT)] if answered != design else []),
        write_design(design, folder / FILE),
        *(write_text(text, folder / name) for name, text in files.items()),
    ]
    for earlier in {path for pattern in _MADE for path in folder.glob(pattern)} - {*written}:
        earlier.unlink()
    return written

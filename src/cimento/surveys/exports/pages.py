"""Surveys to print: a page for each, and the templates that all pages of surveys share."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.io.inline_markup import templates_of
from cimento.surveys.design import Design
from cimento.surveys.wording import words

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).parents[1] / "templates"


@cache
def environment() -> Environment:
    """Where templates are, with what they call."""
    found = templates_of("cimento.surveys")
    found.globals["marked"] = marked
    return found


def marked(line: str, mark: tuple[int, int] | None) -> tuple[str, str, str]:
    """A line as what stands before what is highlighted, that, and what stands after it."""
    start, end = mark or (len(line), len(line))
    return line[:start], line[start:end], line[end:]


def printed(design: Design) -> dict[str, str]:
    """File name to HTML: each survey as a page without scripts, to be printed."""
    template = environment().get_template("print.html")
    style = (TEMPLATES / "print.css").read_text(encoding="utf-8")
    return {
        f"survey-{survey}.html": template.render(
            design=design, survey=survey, questions=questions, words=words(design.language),
            style=style,
        )
        for survey, questions in design.by_survey.items()
    }  # fmt: skip

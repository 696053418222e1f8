"""Surveys as text files that Qualtrics imports, in its Advanced Format.

Every question has its id (such as ``q7``) as its export tag, so that the answers are found again,
and each answer has its place as its code. Texts are HTML there. Qualtrics has no notion of a
question that another answer decides on, so designs with such questions have no file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from cimento.people.surveys import SurveyDesign, SurveyQuestion
from cimento.people.surveys.material import words

_BREAK = "[[PageBreak]]"


def qualtrics_files(design: SurveyDesign) -> dict[str, str]:
    """File name to content, one file a survey; none if a question asks several things.

    Args:
        design: what is asked.
    """
    if len(design.fields) > 1:
        return {}
    return {
        f"survey-{survey}.txt": "\n".join(["[[AdvancedFormat]]", "", *_lines(design, questions)])
        for survey, questions in design.by_survey.items()
    }


def _lines(design: SurveyDesign, questions: Sequence[SurveyQuestion]) -> Iterator[str]:
    """The lines of a survey's file: consent, background, guidelines, questions, the code."""
    pages = words(design.language)["pages"]
    yield from _question("MC:SingleAnswer:Vertical", "consent", design.consent)
    yield from _choices([pages["agree"], pages["decline"]])
    for asked in design.background:
        kind = "MC:SingleAnswer:Vertical" if asked.choices else "TE:SingleLine"
        yield from _question(kind, asked.name, [asked.prompt])
        yield from _choices(asked.choices)
    yield _BREAK
    yield from _question("DB", "guidelines", design.guidelines)
    yield _BREAK
    for question in questions:
        (field,) = design.fields_of(question)
        direction = "Horizontal" if field.low else "Vertical"
        texts = [*question.lines, field.prompt]
        if field.low:
            first, last = field.choices[0].label, field.choices[-1].label
            texts.append(f"{first}: {field.low}; {last}: {field.high}")
        yield from _question(f"MC:SingleAnswer:{direction}", question.id, texts)
        yield from _choices([choice.label for choice in field.choices])
        yield _BREAK
    # The code of the answer, by which its deletion can be asked for, is piped in.
    yield from _question("DB", "end", [pages["code"].format(code="${e://Field/ResponseID}")])


def _question(kind: str, id_: str, texts: Sequence[str]) -> Iterator[str]:
    yield f"[[Question:{kind}]]"
    yield f"[[ID:{id_}]]"
    yield "<br><br>".join(map(_text, texts))
    yield ""


def _choices(labels: Sequence[str]) -> Iterator[str]:
    if not labels:
        return
    yield "[[AdvancedChoices]]"
    for number, label in enumerate(labels, start=1):
        yield f"[[Choice:{number}]]"
        yield _text(label)
    yield ""


def _text(text: str) -> str:
    """A text as HTML on one line, in which no bracket begins a mark of the format."""
    return escape(" ".join(text.split()), quote=False).replace("[[", "&#91;&#91;")

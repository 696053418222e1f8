"""What was said of answers when they were read, in the words of the page."""

from __future__ import annotations

import re

from nicegui import ui

from cimento.app.findings import show_translated
from cimento.app.form_sentences import CORRECT
from cimento.app.frame import Text
from cimento.app.words import USUAL, Words, reason_of, said
from cimento.intake.words import told_tie
from cimento.judgments import BOTH, NONE

_ROLE = re.compile(r'\b(\w+) = "')
"""The name of a role before the first of its columns."""


def _role(name: str, say: Words) -> str:
    """The name of a role in tables of answers, where a position is one in a list of questions."""
    return say.named("role", "place" if name == "position" else name)


_CHECKS = re.compile(r"\((\d+) of (\d+)(?: right)?\)")
"""How many questions somebody answered, or attention checks somebody passed, behind the code."""


_WHY = re.compile(r"\((its? (?:[^()]|\([^()]*\))+)\)")
"""Why a column has no answers, behind its name."""


_TIE = re.compile(rf"'({BOTH}|{NONE})'(?=\.?$)")
"""What a choice of both sentences or of neither is stored as, at the end of a line."""


_LEFT_OUT = "left out: "
_ROWS = re.compile(r"rows? [^()]+ \([^()]+\)")
"""Rows of one kind that were left out."""


_CODED = re.compile(r"('[^']*'|\"[^\"]*\") as (-?\d+)")
"""What a code is read as."""


def _in_words(text: str, say: Words) -> str | None:
    """A line in the language of the page; None where it is not known."""
    if not text.startswith(_LEFT_OUT):
        return said(text, say.language)
    rows = [said(part, say.language) or part for part in _ROWS.findall(text)]
    return said(f"{_LEFT_OUT}{', '.join(rows)}", say.language) if rows else None


def show_remark(text: str, say: Words) -> None:
    """Show what is said of answers, in the place where the page is being built.

    Args:
        text: a line of it, in English.
        say: the words of the page, in which columns have their roles too.
    """
    told = _in_words(text, say)
    if text.endswith(CORRECT):  # it asks, and decides what is a sentence
        with ui.element("div").classes("mend").mark("doubt"):
            Text(told or text)
        return
    if told is None:
        show_translated(text, say).classes("small")
        return
    told = _WHY.sub(lambda m: f"({reason_of(m[1], say)})", told)
    told = _CHECKS.sub(lambda m: f"({say('people.of-of', part=m[1], whole=m[2])})", told)
    if say.language != USUAL:
        told = _CODED.sub(r"\1 = \2", told)
    told = _TIE.sub(lambda m: say.quoted(told_tie(m[1], say.language)), told)
    roles = say.language != USUAL and _ROLE.sub(lambda m: f'{_role(m[1], say)} = "', told)
    Text(roles or told).classes("small")

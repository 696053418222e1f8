"""The report as a page in a language of the app: its words, and what it says first of each run."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from cimento.app.blanks import in_language
from cimento.app.conclusions import results_beside
from cimento.app.words import LANGUAGES, USUAL, Words, report_labels, said, words
from cimento.documents import html
from cimento.documents.findings import findings_of
from cimento.kinds.run import Run
from cimento.records.blanks import FORCED_CHOICE
from cimento.report import MAJORITY, MEANS, ONE_PERSON, JointReport
from cimento.report.findings import Finding, Findings
from cimento.report.formatting import short_model_names
from cimento.report.grid import Grid, GridCell
from cimento.report.language import ENGLISH, PageLanguage, Told


def report_page(runs: Sequence[Run], code: str, joint: Sequence[JointReport] = ()) -> str:
    """The report of some stored runs as a page in a language.

    Args:
        runs: in the order of display.
        code: one of `cimento.app.words.LANGUAGES`; the page is in English for any other.
        joint: sections about all of them together.
    """
    if code == USUAL or code not in LANGUAGES:
        return html(runs, joint)
    say = words(code)
    return html(runs, joint, language=page_language(code), findings=_findings(runs, say))


@functools.cache
def page_language(code: str) -> PageLanguage:
    """What the texts of a page are in a language of the app.

    Args:
        code: one of `cimento.app.words.LANGUAGES`.
    """
    if code == USUAL:
        return ENGLISH
    labels = {texts[USUAL]: texts[code] for texts in report_labels()}

    def known(text: str) -> str | None:
        code_of_check = text[: _CODE.match(text).end()]  # type: ignore[union-attr]  # any text
        plain = _plain(text.removeprefix(code_of_check))
        if lacking := _LACKING.fullmatch(plain):
            names = ", ".join(labels.get(name, name) for name in lacking["names"].split(", "))
            plain = f"Not computed: {names} ({lacking['why']})."
        is_placed = bool(code_of_check)
        told = labels.get(text) or said(plain, code, has_place=is_placed) or said(plain, code)
        return told and code_of_check + told

    say = words(code)

    def told(grid: Grid) -> Grid:
        named = _with_choices(in_language(grid, say), labels)
        return _in_our_words(_of_people(named, labels, say), known)

    return PageLanguage(code, known, labels.get, told)


_CODE = re.compile(r"(?:CIM-[A-Z]\d+ )?")
"""The code of a check, which is before its place."""
_LACKING = re.compile(r"Not computed: (?P<names>.+) \((?P<why>.+)\)\.")
"""The note on columns that a table lacks, with their headings."""
_NO_DIGIT = re.compile(r"(?<![\w.])\.(?=\d)")


_WHO, _SAME = "who", "same verdict"
"""The columns of people's rates that have words: whose rate it is, and ``3 of 8``."""


def _of_people(grid: Grid, labels: Mapping[str, str], say: Words) -> Grid:
    """A table of people's rates with the words in its cells in the language; others as they are."""
    if not {_WHO, _SAME} <= {*grid.header}:
        return grid
    who, same = map(grid.header.index, (_WHO, _SAME))

    def told(place: int, cell: GridCell) -> GridCell:
        if place == who and cell in (MAJORITY, MEANS, ONE_PERSON):
            return labels[str(cell)]
        part, of, whole = str(cell).partition(" of ")
        return say("people.of-of", part=part, whole=whole) if place == same and of else cell

    rows = tuple(tuple(told(n, cell) for n, cell in enumerate(row)) for row in grid.rows)
    return replace(grid, rows=rows)


_OF_CHOICES = re.compile(rf"(?<= \(){FORCED_CHOICE}(?=\)$)")
"""The question behind the name of a suite in the table for a paper."""


def _with_choices(grid: Grid, labels: Mapping[str, str]) -> Grid:
    """The table for a paper with choices called as in the language; others as they are."""
    if not grid.title.startswith("Accuracy (%)"):
        return grid

    def told(cell: GridCell) -> GridCell:
        choice = labels[FORCED_CHOICE].lower()
        return _OF_CHOICES.sub(choice, cell) if isinstance(cell, str) else cell

    rows = tuple(tuple(map(told, row)) for row in grid.rows)
    return replace(grid, header=tuple(str(told(name)) for name in grid.header), rows=rows)


_OURS = frozenset({"shows", "part", "look at", "scale", "of", "comparison"})
"""The columns of words that are those of cimento: what a DD shows, and so on."""
_AVERAGES = {"phenomenon": "Average"}
"""The words of cimento in columns of names: those of the mean over a design's phenomena."""


def _in_our_words(grid: Grid, known: Callable[[str], str | None]) -> Grid:
    """A table with the words of cimento in `_OURS` in the language; others as they are."""
    if not _OURS & {*grid.header}:
        return grid

    def told(name: str, cell: GridCell) -> GridCell:
        is_ours = isinstance(cell, str) and (name in _OURS or _AVERAGES.get(name) == cell)
        return known(str(cell)) or cell if is_ours else cell

    rows = tuple(tuple(map(told, grid.header, row)) for row in grid.rows)
    return replace(grid, rows=rows)


def _plain(text: str) -> str:
    """A text with minus signs and numbers as patterns know them: ``-0.5`` for ``−.5``."""
    return _NO_DIGIT.sub("0.", text.replace("\N{MINUS SIGN}", "-"))


def _findings(runs: Sequence[Run], say: Words) -> Findings:
    """What each run shows, as the window says it, and then what is said of them together."""
    together = findings_of(runs)
    others = [replace(part, sentences=part.compared) for part in together.parts if part.compared]
    each, shared = _each(runs, say)
    return Findings((*each, *others), (*shared, *together.notes))


def _each(runs: Sequence[Run], say: Words) -> tuple[list[Finding], list[str]]:
    """What each run shows: its number, what that is of, and what can be concluded.

    Returns:
        A finding for each run, and what is so of all of several, which is said once.
    """
    stored = [(run, run.folder) for run in runs if run.folder is not None]
    short = short_model_names(dict.fromkeys(run.model for run, _ in stored))
    results = results_beside([folder for _, folder in stored])
    sizes = [result.size(say).split("; ") for result in results]
    concluded = [_sentences(result.sentence(say)) for result in results]
    of_size, of_all = _said_of_all(sizes), _said_of_all(concluded)
    each = []
    for (run, _), result, facts, means in zip(stored, results, sizes, concluded, strict=True):
        size = [facts[0], *(fact for fact in facts[1:] if fact not in of_size)]
        line = "; ".join(filter(None, (result.number(say), *size)))
        own = [*means[:1], *(one for one in means[1:] if one not in of_all)]
        lines = filter(None, (line, result.unjudged(say), " ".join(own)))
        name = f"{run.suite.name} × {short[run.model]}"
        each.append(Finding(Told(name), (), tuple(map(_ended, lines))))
    facts_of_all = "; ".join(of_size)
    alike = (facts_of_all[:1].upper() + facts_of_all[1:], " ".join(of_all))
    return each, [_ended(text) for text in alike if text]


def _sentences(text: str) -> list[str]:
    """The sentences of a text."""
    return re.split(r"(?<=\.) (?=\w)", text)


def _said_of_all(of_each: Sequence[Sequence[str]]) -> list[str]:
    """What is said of every one of several, but for what is said first."""
    if len(of_each) < 2:  # noqa: PLR2004  # several
        return []
    first, *others = (said[1:] for said in of_each)
    return [one for one in first if all(one in other for other in others)]


def _ended(text: str) -> Told:
    """A text of the page with its period."""
    return Told(text if text.endswith(".") else f"{text}.")

"""What each of the shown runs says in short, in the language of the page, above its report."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from nicegui import ui

from cimento.app.breakdowns import show_parts
from cimento.app.conclusions import RunResult, results_beside
from cimento.app.findings import show_translated
from cimento.app.frame import Text, Visit, heading
from cimento.app.parts import table
from cimento.app.words import Words
from cimento.kinds.run import Run
from cimento.paradigms.cloze import ClozeAnswers, FilledBlank, FilledBlanks, filled_blanks
from cimento.report.formatting import remarks
from cimento.suites.cloze import ClozeSuite

_CODE = re.compile(r"^CIM-[A-Z]\d+ ")
_MOST_BLANKS = 200
_MOST_WORDS = 20
_LEAST_P = 0.0001


def show_result(result: RunResult, say: Words, *, kind: str = "small means") -> None:
    """Show the number of a run, what it is of, and what can be concluded from it.

    Args:
        result: of the run.
        say: the words of the page.
        kind: the class of what is below the number.
    """
    Text(result.number(say), "span")
    for line in filter(None, (result.size(say), result.unjudged(say), result.sentence(say))):
        Text(line).classes(kind)


def show_summaries(visit: Visit, named: Sequence[tuple[Path, Run]]) -> None:
    """Show what some runs say in short, in the place where the page is being built.

    Args:
        visit: what the page is built for.
        named: the runs, each with its folder.
    """
    say = visit.say
    heading(say("read.in_short"))
    results = results_beside([path for path, _ in named])
    for (_, run), result in zip(named, results, strict=True):
        with ui.element("section").classes("in-short"):
            heading(f"{run.suite.name} × {run.model}", level=3)
            show_result(result, say, kind="")
            for line in filter(None, (result.masked(say), *result.cells(say))):
                Text(line)
            show_parts(run, say)
            if isinstance(run.suite, ClozeSuite):
                _show_blanks(run, say)
            with ui.element("ul").classes("plain-list small"):
                for remark in remarks(run.summary()):
                    with ui.element("li"):
                        show_translated(_CODE.sub("", remark), say)


def _show_blanks(run: Run, say: Words) -> None:
    """What became of each blank of a run, and of the words that it could not find or score."""
    filled = filled_blanks(ClozeAnswers(run))
    for line in _words_said(filled, say):
        Text(line)
    if not any(blank.expected for blank in filled.blanks):
        return
    with ui.element("details"):
        Text(say("read.blanks"), "summary")
        shown = filled.blanks[:_MOST_BLANKS]
        given = ("others", "choice") if any(blank.others for blank in shown) else ()
        names = ("text", "expected", *given, "bits", "p", "rank", "said")
        rows = [row for blank in shown for row in _rows(blank, run, say, given=bool(given))]
        table([say(f"read.blank_{name}") for name in names], rows, is_long=True)
        if len(filled.blanks) > _MOST_BLANKS:
            more = len(filled.blanks) - _MOST_BLANKS
            Text(say("read.more", count=more)).classes("small")


def _words_said(filled: FilledBlanks, say: Words) -> Iterator[str]:
    """What is said of the expected words together."""
    words = [word for blank in filled.blanks for word in blank.expected]
    known = [word.bits for word in words if word.bits is not None]
    if known:
        middle, low, high = (
            say.number(value, ".2f") for value in (median(known), min(known), max(known))
        )
        rule, n = say.named("rule", filled.rule), say.number(len(known))
        yield say("read.expected_words", rule=rule, median=middle, low=low, high=high, n=n)
    if filled.not_found:
        yield say("read.never", words=_listed(filled.not_found))
    if filled.unscored:
        yield say("read.unscored_words", words=_listed(filled.unscored))


def _listed(words: Sequence[str]) -> str:
    """Words, the first of many."""
    return ", ".join(words[:_MOST_WORDS]) + (" …" if len(words) > _MOST_WORDS else "")


def _rows(blank: FilledBlank, run: Run, say: Words, *, given: bool) -> Iterator[list[str]]:
    """A row for each expected answer of a blank; with the other given words where there are any."""
    said = ", ".join(
        word if p is None else f"{word} ({say.number(p, '.3f')})"
        for word, p in ((text.strip() or "␣", p) for text, p in blank.said)
    )
    mark = {True: " ✓", False: " ✗", None: ""}[blank.is_right]
    choice = [", ".join(blank.others), f"{blank.choice or '–'}{mark}"] if given else []
    rank = say.number(blank.rank) if blank.rank else _no_rank(blank, run, say)
    for word in blank.expected:
        bits = "–" if word.bits is None else say.number(word.bits, ".2f")
        yield [
            blank.text,
            word.text,
            *choice,
            bits,
            _probability(word.probability, say),
            rank,
            said,
        ]


def _probability(p: float | None, say: Words) -> str:
    """A probability, or that it is smaller than any that is shown."""
    if p is None:
        return "–"
    form = ".4f"
    return say.number(p, form) if p >= _LEAST_P else f"< {say.number(_LEAST_P, form)}"


def _no_rank(blank: FilledBlank, run: Run, say: Words) -> str:
    """Why an expected answer has no place among the candidates."""
    if not blank.is_findable:
        return say("read.rank_never")
    if blank.is_hit is None:
        return "–"
    return say("read.rank_none", k=say.number(ClozeAnswers(run).options.k))

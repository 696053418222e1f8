"""A run of rated sentences: what its correlation is to be read with, and each sentence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from nicegui import ui

from cimento.app.answer_tables import Labels
from cimento.app.beside import FEWEST
from cimento.app.beside_ratings import beside_own, main_correlation
from cimento.app.beside_sentences import BesideSentences
from cimento.app.frame import Text, Visit
from cimento.app.labels import in_words
from cimento.app.words import Words
from cimento.kinds.paradigm import surveyor_of
from cimento.kinds.run import Run
from cimento.people.surveys.labels import labels_of_items
from cimento.records.outcomes import Estimate
from cimento.suites.ratings import rated_of

_KIND, _RHO, _SUM = "ratings", "spearman", "lp"


def show_rated_run(visit: Visit, run: Run, path: Path) -> None:
    """Show both in the place where the page is being built; nothing of other runs.

    Args:
        visit: what the page is built for.
        run: the run.
        path: its folder, which gives the file its name.
    """
    correlation = main_correlation(run)
    if run.paradigm.name != _KIND or correlation is None or run.sentences is None:
        return
    for line in _cautions(run, correlation, visit.say):
        Text(line).classes("mend")
    if (row := beside_own(run, correlation.question)) is not None:
        with ui.element("details").classes("more"):
            Text(visit.say("read.one_by_one"), "summary")
            BesideSentences(visit, row, in_words(_labels(run), visit.say)).build(used=path.name)


def _cautions(run: Run, correlation: Estimate, say: Words) -> Iterator[str]:
    """That sentences are few, or that longer ones are less probable whatever they are like."""
    if correlation.statistic != _RHO or run.sentences is None:
        return
    if correlation.n < FEWEST:
        yield say("people.few-sentences", fewest=FEWEST)
    lengths = {len(one.text.split()) for one in rated_of(run.sentences).sentences}
    if correlation.question == _SUM and len(lengths) > 1:
        yield say("read.lengths", least=min(lengths), most=max(lengths))


def _labels(run: Run) -> Labels:
    """The labels of the sentences of a run, where each item has one sentence."""
    suite = run.sentences
    if suite is None or any(len(item.conditions) > 1 for item in suite.items):
        return Labels()
    found = labels_of_items(surveyor_of(run.paradigm, suite).survey_items(suite, None).items)
    return Labels.at({(run.suite_name, item, ""): labels for (item, _), labels in found.items()})

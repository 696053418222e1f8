"""The items of a run of compared sentences one by one: sentences, values, margins, as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from nicegui import ui

from cimento.app.beside_sentences import file_of
from cimento.app.breakdowns import measure_named
from cimento.app.frame import Text, Visit
from cimento.app.grids import grid_files, show_grid
from cimento.app.report_page import page_language
from cimento.app.words import Words
from cimento.io.values import grouped
from cimento.records.wrong_side import DD
from cimento.report.formatting import number
from cimento.report.grid import Grid
from cimento.report.language import Told
from cimento.suites.naming import ALL_PREDICTIONS
from cimento.suites.stimuli import stimulus_texts

if TYPE_CHECKING:
    from cimento.app.conclusions import RunResult
    from cimento.kinds.run import Run

_KIND = "regions"
"""The kind of suites whose items have sentences that are compared."""
_FORMS = (".xlsx", ".csv")


def show_items(visit: Visit, run: Run, result: RunResult, *, used: str) -> None:
    """Show the items of a run of compared sentences, with files; nothing of other runs.

    Args:
        visit: what the page is built for.
        run: the run.
        result: of the run, which knows the levels of its conditions.
        used: name of the run's folder, which gives the files their names.
    """
    say = visit.say
    if run.paradigm.name != _KIND or (grid := items_grid(run, result, say)) is None:
        return
    with ui.element("details").classes("more"):
        Text(grid.title, "summary")
        show_grid(grid.filled(), page_language(say.language), say)
        grid_files(visit, grid, file_of(run.suite.name, used).removesuffix(".xlsx"), _FORMS)


def items_grid(run: Run, result: RunResult, say: Words) -> Grid | None:
    """A table with a row for each item: its sentences, their values, its margins, and the verdict.

    Args:
        run: a run of compared sentences.
        result: of the run, which knows the levels of its conditions.
        say: the words of the page, in whose language the headings are.

    Returns:
        The table in the order of the suite; None where nothing is judged.
    """
    suite, outcomes = run.sentences, run.outcomes()
    if suite is None or outcomes.is_empty():
        return None
    asked = outcomes["question"].unique(maintain_order=True).to_list()
    # The other predictions of a design compare single values of the table.
    questions = [DD] if DD in asked else [one for one in asked if one != ALL_PREDICTIONS]
    of_item = grouped((row["item"], row) for row in outcomes.iter_rows(named=True))
    texts, values = stimulus_texts(suite), _values(run)
    conditions = [*dict.fromkeys(condition for _, condition in texts)]
    measure = _measure(run, say)
    names = {name: say.named("role", result.cell(name)) for name in conditions}
    phenomena = {item.id: item.column("phenomenon") or "" for item in suite.items}
    return Grid(
        title=Told(say("read.items_one_by_one")),
        header=(
            say("people.of-item"), say("start.phenomenon"), *names.values(),
            *(f"{measure}: {name}" for name in names.values()),
            *(_margin(question, outcomes["unit"][0], questions, say) for question in questions),
            say("read.part_verdict"),
        ),
        labels=2 + len(names),
        remarks=1,
        rows=tuple(
            (
                item.id, phenomena[item.id],
                *(texts.get((item.id, condition), "") for condition in conditions),
                *(number(values.get((item.id, condition)), absent="") for condition in conditions),
                *_judged(of_item.get(item.id, ()), questions, say),
            )
            for item in suite.items
        ),
        notes=(Told(say("read.items_what")),),
    )  # fmt: skip


def _values(run: Run) -> dict[tuple[str, str], float]:
    """The value of each sentence, by item and condition; none where only regions are compared."""
    scores = run.paradigm.judge.scores(run)
    if scores is None:
        return {}
    return {(row["item"], row["condition"]): row["value"] for row in scores.iter_rows(named=True)}


def _measure(run: Run, say: Words) -> str:
    """What the values are of."""
    scores = run.paradigm.judge.scores(run)
    name = "" if scores is None or scores.is_empty() else scores["measure"][0]
    return measure_named(name, say, masked=run.model_kind == "masked")


def _margin(question: str, unit: str | None, questions: Sequence[str], say: Words) -> str:
    """The heading of the margins of a question."""
    of_unit = f" ({say.named('unit', unit)})" if unit else ""
    if question == DD:
        return f"{DD}{of_unit}"
    named = f": {question}" if len(questions) > 1 else ""
    return f"{say('read.part_margin')}{of_unit}{named}"


def _judged(
    rows: Sequence[Mapping[str, object]], questions: Sequence[str], say: Words
) -> tuple[str, ...]:
    """The margins of an item, and what became of it: by DD in a design, else by all predictions."""
    by_question = {str(row["question"]): row for row in rows}
    known = [by_question.get(question, {}) for question in questions]
    margins = (number(cast("float | None", row.get("value")), absent="") for row in known)
    last: Mapping[str, object] = rows[-1] if rows else {}
    verdict = str(by_question.get(DD, last).get("verdict") or "unscored")
    return (*margins, page_language(say.language).named(verdict))

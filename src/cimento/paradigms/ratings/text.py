"""The text of runs of rated sentences: pairs, then correlations; whole, or about a screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cimento.errors import few_of_each_code
from cimento.io.inline_markup import wrapped
from cimento.paradigms.ratings.runs import RatedRun
from cimento.paradigms.ratings.sections import rated_tables, rated_text
from cimento.paradigms.regions.judging import judged_suite
from cimento.paradigms.regions.text import (
    SCREEN,
    design_grids,
    headline_grids,
    rates_text,
    region_text,
    where_more,
)
from cimento.records.outcomes import beside_ratings, best_constant
from cimento.report.findings import Headline, findings
from cimento.report.findings_designs import DesignResult, Designs
from cimento.report.findings_people import same_verdict_said
from cimento.report.formatting import shared_remarks, short_model_names
from cimento.report.terminal import WIDEST, on_terminal

if TYPE_CHECKING:
    from cimento.kinds.run import Run
    from cimento.records.effects import DesignEffect


def rated_runs_text(runs: Sequence[Run]) -> str:
    """The table of pairs, if there are any, then the text of each run.

    Args:
        runs: runs of rated sentences.
    """
    pairs = _with_pairs(runs)
    return _joined(runs, region_text(pairs) if pairs else "", brief=False)


def brief_rated_text(runs: Sequence[Run]) -> str:
    """The same, without tables of designs, labels and groups where it is longer than a screen.

    Args:
        runs: runs of rated sentences.
    """
    whole = rated_runs_text(runs)
    if whole.count("\n") < SCREEN:
        return whole
    pairs = _with_pairs(runs)
    tables = [*design_grids(pairs), *rated_tables([RatedRun(run) for run in runs])]
    more = where_more(runs, [table.name for table in tables])
    rates = rates_text(pairs).rstrip("\n") if pairs else ""
    return "\n\n".join([_joined(runs, rates, brief=True), _conclusion(runs), more])


def _conclusion(runs: Sequence[Run]) -> str:
    """What the numbers of each run show, in sentences; of a design, beside what people show."""
    short = short_model_names(run.model for run in runs)
    headlines: list[Headline] = []
    verdicts: list[str] = []
    designs: list[DesignResult] = []
    people: dict[str, Sequence[DesignEffect]] = {}
    for run in runs:
        estimates, model = run.estimates(), short[run.model]
        effects = tuple(run.paradigm.presenter.design_effects(run))
        if of_people := run.paradigm.presenter.design_effects(run, of_people=True):
            designs.append(DesignResult(model, effects))
            people[run.suite.name] = of_people
        main = [one for one in estimates if one.role == "headline" and not effects]
        headlines += [Headline(model, one, best_constant(one, estimates)) for one in main]
        if (beside := beside_ratings(estimates)) is not None:
            headlines.append(Headline(model, beside, beside=True))
        # Nobody counts the items of a design on which all of its predictions hold.
        verdicts += [] if effects else filter(None, [same_verdict_said(model, estimates)])
    known = findings(headlines, designs=Designs(tuple(designs), people=people))
    said = [(part.about, part.sentences) for part in known.parts]
    said += [("Same verdict as people", tuple(verdicts))] if verdicts else []
    lines = (f"{about}: {' '.join(sentences)}" for about, sentences in said)
    return "\n".join(line for text in lines for line in wrapped(text, WIDEST))


def _with_pairs(runs: Sequence[Run]) -> list[Run]:
    return [run for run in runs if judged_suite(run).predictions]


def _joined(runs: Sequence[Run], of_pairs: str, *, brief: bool) -> str:
    """The text of some runs, of whose pairs there is a text."""
    pairs = _with_pairs(runs)
    alone = [run for run in runs if run not in pairs]
    tables = [on_terminal(grid) + "\n" for grid in headline_grids(alone)]
    # The warnings of runs with pairs are below the table of pairs.
    others = [run.summary() for run in alone]
    warned = shared_remarks(others, lambda run: few_of_each_code(run.warnings))
    notes = [f"{about}: {note}" if len(others) > 1 else note for about, note in warned]
    rated = (rated_text(RatedRun(run), brief=brief) for run in runs)
    return "\n\n".join([*tables, *filter(None, [of_pairs]), *rated, *notes])

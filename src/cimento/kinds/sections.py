"""Sections for runs of any kind, made only from outcomes, estimates and tables.

A paradigm with its own figures, tables or views of items adds them to the `run_report`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from cimento.errors import few_of_each_code
from cimento.intake.reading import READ
from cimento.io.tables import CHOICES, FILLS, REPLIES, REQUESTS, TOKENS
from cimento.io.values import grouped
from cimento.kinds.clusters import designs_said
from cimento.records.outcomes import Outcome, best_constant, each_outcome
from cimento.records.store import manifest_part
from cimento.report import (
    AnswerList,
    Claim,
    GivenAnswer,
    ItemRecord,
    NamedGrid,
    Rates,
    RunReport,
    SuiteReport,
    about_of,
    provenance_of,
)
from cimento.report.cells import Shown
from cimento.report.figures import drawable
from cimento.report.figures_rates import margins_figure, rates_figure
from cimento.report.formatting import estimate_label, foremost, items, number, percent, rate_remarks
from cimento.report.grid import EstimateCell, Grid
from cimento.report.items import strips_of, worst_first

if TYPE_CHECKING:
    import polars as pl

    from cimento.kinds.run import Run
    from cimento.records.outcomes import Estimate
    from cimento.report.figures import Figure


WORST_SHOWN = 5
"""Most candidates and options of an item on a page."""


def plain_sections(runs: Sequence[Run]) -> list[SuiteReport]:
    """A section for each suite: rates, a table of estimates, and items, worst first.

    Args:
        runs: runs of one paradigm, of any suites.
    """
    return [_section(several) for several in runs_by_suite(runs)]


def runs_by_suite(runs: Iterable[Run]) -> list[list[Run]]:
    """The runs of each suite, suites in the order of their first runs."""
    return list(grouped((run.suite.name, run) for run in runs).values())


def _section(runs: Sequence[Run]) -> SuiteReport:
    estimates = [
        estimate for run in runs for estimate in run.estimates() if estimate.role != "detail"
    ]
    title = f"Main estimates on {runs[0].suite.name}; shares in percent."
    return suite_section(runs, {"estimates": estimates_grid(estimates, title=title)})


def suite_section(
    runs: Sequence[Run],
    tables: Mapping[str, Grid],
    figures: Sequence[Callable[[], Figure]] = (),
) -> SuiteReport:
    """The section of a suite: its runs with their rates and items, figures, and tables.

    Args:
        runs: runs of the suite.
        tables: the tables, by name.
        figures: functions that draw further figures, below rates and margins; a figure for which
            there is nothing to draw is left out.
    """
    reports = [run_report(run) for run in runs]
    suite = runs[0].suite.name
    return SuiteReport(
        runs=tuple(reports),
        figures=drawable(
            partial(rates_figure, reports, suite=suite),
            partial(margins_figure, reports, suite=suite),
            *figures,
        ),
        tables=tuple(NamedGrid(name, grid) for name, grid in tables.items()),
    )


def run_report(run: Run, *, items: Sequence[ItemRecord] | None = None) -> RunReport:
    """The report on a run of any kind.

    Args:
        run: the run, with its estimates, including the headline.
        items: the items, worst first; None to make them from the outcomes and the tables.
    """
    estimates = run.estimates()
    rates = rates_of(estimates)
    charted = [estimate for rate in rates[:1] for _, estimate in rate.lines]
    headline = next((estimate for estimate in estimates if estimate.role == "headline"), None)
    return RunReport(
        suite=run.suite.name,
        paradigm=run.paradigm.name,
        model=run.model,
        n_items=run.outcomes()["item"].n_unique(),
        language=run.suite.meta.language,
        folder=str(run.folder) if run.folder else None,
        about=(*about_of(run.suite.meta), *_read_as(run)),
        claims=tuple(_claims(estimates)),
        items=tuple(run_items(run) if items is None else items),
        provenance=provenance_of({**run.manifest, "options": run.options.model_dump(mode="json")}),
        headline=headline,
        constant=best_constant(headline, estimates),
        effects=tuple(run.paradigm.presenter.design_effects(run)),
        people=tuple(run.paradigm.presenter.design_effects(run, of_people=True)),
        rates=rates,
        notes=foremost(
            (*rate_remarks(charted), *few_of_each_code(run.warnings), *designs_said([run]))
        ),
    )


def _read_as(run: Run) -> list[tuple[str, str]]:
    """What the table of the suite was read as; empty for other files."""
    read = manifest_part(run.manifest, "suite").get(READ)
    return [("table", str(read))] if read else []


def _claims(estimates: Iterable[Estimate]) -> Iterator[Claim]:
    """The questions that have a description or a formula, each once."""
    said = dict.fromkeys(
        (estimate.question, estimate.description)
        for estimate in estimates
        if estimate.description and estimate.is_share and estimate.role != "detail"
    )
    for question, description in said:
        yield Claim(question, "", description)


def rates_of(estimates: Iterable[Estimate]) -> tuple[Rates, ...]:
    """The shares that a page charts: of all items, then by each grouping column.

    Args:
        estimates: estimates of a run; those with the role of details are left out.
    """
    by_group = grouped(
        (one.group, one) for one in estimates if one.is_share and one.role != "detail"
    )
    return tuple(_rates(group, charted) for group, charted in by_group.items())


def _rates(group: str, estimates: Sequence[Estimate]) -> Rates:
    """The proportions of one group; the subject that they share is in the heading."""
    labels = [estimate_label(estimate) for estimate in estimates]
    if not group:
        return Rates("", tuple(zip(labels, estimates, strict=True)))
    levels = [estimate.level or "(none)" for estimate in estimates]
    if len(set(labels)) == 1:
        return Rates(f"By {group}, {labels[0]}", tuple(zip(levels, estimates, strict=True)))
    names = (f"{level}: {label}" for level, label in zip(levels, labels, strict=True))
    return Rates(f"By {group}", tuple(zip(names, estimates, strict=True)))


# --- Items


def run_items(run: Run) -> tuple[ItemRecord, ...]:
    """The items of a run, worst first, with the requests to the model and its answers."""
    headline = next((estimate for estimate in run.estimates() if estimate.role == "headline"), None)
    by_item = grouped((outcome.item, outcome) for outcome in each_outcome(run.outcomes()))
    places = run.table(REQUESTS.name) if REQUESTS.name in run.tables else None
    asked = _requests_of(places)
    tokens = run.table(TOKENS.name) if TOKENS.name in run.tables else TOKENS.empty()
    strips = {} if places is None else strips_of(places, tokens)
    answers = dict(_answers(run))
    return worst_first(
        ItemRecord(
            id=item,
            phenomenon=next(
                (o.groups["phenomenon"] for o in outcomes if "phenomenon" in o.groups), ""
            ),
            outcome=_whole(outcomes, headline),
            parts=tuple(outcome for outcome in outcomes if outcome.verdict is not None),
            strips=strips.get(item, ()),
            answers=tuple(
                AnswerList(f"{condition}: {name}" if condition else name, given)
                for condition, request in asked.get(item, ())
                for name, given in answers.get(request, ())
            ),
            remarks=tuple(_remarks(outcomes)),
        )
        for item, outcomes in by_item.items()
    )


def _whole(outcomes: Sequence[Outcome], headline: Estimate | None) -> Outcome | None:
    """The outcome that the headline counts, or else the first one with a verdict."""
    judged = [outcome for outcome in outcomes if outcome.verdict is not None]
    about = (
        outcome
        for outcome in judged
        if headline and (outcome.question, outcome.method) == (headline.question, headline.method)
    )
    return next(about, judged[0] if judged else None)


def _remarks(outcomes: Iterable[Outcome]) -> Iterator[tuple[str, str]]:
    """Values without a verdict, each next to its reference value, if any."""
    for outcome in outcomes:
        if outcome.verdict is None and outcome.value is not None:
            beside = "" if outcome.reference is None else f", beside {outcome.reference:g}"
            name = " ".join(filter(None, (outcome.question, outcome.method)))
            yield name, f"{outcome.value:.4g} {outcome.unit}".rstrip() + beside


def _requests_of(places: pl.DataFrame | None) -> Mapping[str, list[tuple[str, int]]]:
    """The conditions of each item, with their requests."""
    if places is None:
        return {}
    asked = places.select("item", "condition", "request").unique(maintain_order=True)
    return grouped((item, (name, request)) for item, name, request in asked.iter_rows())


AnsweredPlaces = Sequence[tuple[str, tuple[GivenAnswer, ...]]]


def _answers(run: Run) -> Iterator[tuple[int, AnsweredPlaces]]:
    """The answers to each request: options by probability, candidates by rank, replies."""
    by_request: dict[int, list[tuple[str, tuple[GivenAnswer, ...]]]] = {}
    for table, read in ((CHOICES, _options), (FILLS, _candidates), (REPLIES, _replies)):
        if table.name in run.tables:
            for (request,), rows in run.table(table.name).group_by("request", maintain_order=True):
                by_request.setdefault(request, []).extend(read(rows))
    yield from by_request.items()


def _options(rows: pl.DataFrame) -> Iterator[tuple[str, tuple[GivenAnswer, ...]]]:
    """The most probable options, each with its proportion of the probability of all options."""
    known = [(text.strip(), x) for text, x in rows.select("text", "logprob_nats").iter_rows()]
    highest = max((x for _, x in known if x is not None), default=0.0)
    total = math.fsum(math.exp(x - highest) for _, x in known if x is not None)
    ordered = sorted(known, key=lambda option: -math.inf if option[1] is None else -option[1])
    yield (
        "options",
        tuple(
            GivenAnswer(text, None if x is None else math.exp(x - highest) / total)
            for text, x in ordered[:WORST_SHOWN]
        ),
    )


def _replies(rows: pl.DataFrame) -> Iterator[tuple[str, tuple[GivenAnswer, ...]]]:
    yield from (("reply", (GivenAnswer(text),)) for text in rows["text"])


def _candidates(rows: pl.DataFrame) -> Iterator[tuple[str, tuple[GivenAnswer, ...]]]:
    """The first candidates for each method of asking."""
    named = rows.sort("rank").iter_rows(named=True)
    for method, several in grouped(
        (row.get("method") or "candidates", row) for row in named
    ).items():
        shown = [(row["candidate"], row["logprob_nats"]) for row in several[:WORST_SHOWN]]
        yield method, tuple(GivenAnswer(t, None if x is None else math.exp(x)) for t, x in shown)


# --- Estimates as a table


def estimates_grid(
    estimates: Iterable[Estimate],
    *,
    title: str,
    notes: Sequence[str] = (),
    in_percent: bool = True,
) -> Grid:
    """Estimates as a table: one row each, with interval, n and chance.

    The suite has a column if there are several suites.

    Args:
        estimates: the estimates, in the order of display.
        title: title of the table.
        notes: sentences below the table.
        in_percent: whether shares are in percent, as in reports; in the terminal they are not.
    """
    listed, sign = list(estimates), ", %" if in_percent else ""
    several = len({estimate.suite for estimate in listed}) > 1
    return Grid.of(
        listed,
        {
            "suite": lambda estimate: estimate.suite,
            "model": lambda estimate: estimate.model,
            "question": lambda e: " ".join(filter(None, (e.question, e.method))),
            "group": lambda estimate: estimate.group and f"{estimate.group}={estimate.level}",
            "statistic": lambda e: f"{e.statistic}{sign}" if e.is_share else e.statistic,
            "value": partial(estimate_cell, in_percent=in_percent),
            "n": lambda estimate: estimate.n,
            "ties": lambda estimate: estimate.tied,
            "unscored": lambda estimate: estimate.unscored,
            "chance": partial(chance_as_text, in_percent=in_percent),
        },
        without=() if several else ("suite",),
        title=title,
        labels=5 if several else 4,
        notes=tuple(notes),
    )


def estimate_cell(estimate: Estimate, *, in_percent: bool = True) -> EstimateCell:
    """An estimate as a cell of a table, with interval and n: a share in percent, else as it is."""
    share = estimate.is_share and in_percent
    digits = 1 if share else 3
    return EstimateCell.of(estimate.value, estimate, estimate.n, digits=digits, percent=share)


def chance_as_text(estimate: Estimate, *, in_percent: bool = True) -> str:
    """The chance level of an estimate as in tables: of a share in percent; blank if undefined."""
    if estimate.chance is None:
        return Shown("", None)
    if estimate.is_share:
        return percent(estimate.chance) if in_percent else number(estimate.chance)
    return Shown(f"{estimate.chance:g}", estimate.chance)


def unscored(outcomes: pl.DataFrame) -> tuple[str, ...]:
    """The reasons why items are unscored, the most frequent first.

    Args:
        outcomes: outcomes of a run; an item is unscored if any of its predictions is.
    """
    table = outcomes.filter(outcomes["verdict"].is_not_null() & outcomes["right"].is_null())
    # The term of a formula precedes the reason; several terms may lack a value for the same reason.
    reasons = {
        item: (reason or "no reason was given").rpartition("%): ")[2]
        for item, reason in zip(table["item"].to_list(), table["reason"].to_list(), strict=True)
    }
    return tuple(
        f"{items(count)} unscored: {reason}."
        for reason, count in Counter(reasons.values()).most_common(_REASONS)
    )


_REASONS = 3
"""Most reasons that are named for unscored items."""

"""One self-contained HTML page: no script, nothing loaded from anywhere, text escaped by jinja2."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING
from unicodedata import bidirectional

from cimento.report.summary import Result, RunSummary, Summary
from cimento.report.wording import (
    bits,
    explanation,
    interval,
    items,
    methods,
    rate,
    remarks,
)

if TYPE_CHECKING:
    from jinja2 import Environment

    from cimento.report.build import RunReport
    from cimento.report.items import ItemRecord
    from cimento.report.strips import Strip
    from cimento.report.told import Told

STEP_BITS = 2.0
STEPS = 9
"""Token colours: one for each two bits of surprisal, the last for 16 bits and more."""

_VERDICTS = ("fail", "tie", "pass", "unscored")


@dataclass(frozen=True, slots=True)
class Section:
    """The runs of one suite, shown together.

    Attributes:
        anchor: id of the section in the page.
        runs: one for each model.
    """

    anchor: str
    runs: tuple[RunReport, ...]

    @property
    def first(self) -> RunReport:
        """The run that says what the suite is."""
        return self.runs[0]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the chart of a suite: a rate with its interval.

    Attributes:
        group: the phenomenon or prediction that this line and its neighbours are about.
        span: number of lines in the group, on its first line; 0 on the others.
        model: label of the model.
        result: what is drawn.
    """

    group: str
    span: int
    model: str
    result: Result


def html_page(summary: Summary, runs: Sequence[RunReport], told: Sequence[Told] = ()) -> str:
    """The page.

    Args:
        summary: of all runs, with those that are missing.
        runs: the same runs, in any order, with what their sections show.
        told: texts of runs that formulas do not judge.
    """
    environment = _environment()
    style = environment.get_template("report.css").render().strip()
    sections = _sections(runs)
    common, own = _provenance(runs)
    return environment.get_template("report.html").render(
        summary=summary,
        title=_title(summary),
        style=style,
        policy=_security_policy(style),
        sections=sections,
        models=tuple(dict.fromkeys(run.summary.label for run in runs)),
        common=common,
        own=own,
        verdicts=_VERDICTS,
        steps=STEPS,
        step_bits=STEP_BITS,
        explanation=explanation(summary),
        methods=methods(summary),
        told=told,
    )


def shade(surprisal_bits: float) -> int:
    """The number of the colour for a surprisal, from 0 (expected) to 8 (16 bits or more)."""
    return min(STEPS - 1, max(0, int(surprisal_bits // STEP_BITS)))


def prediction_lines(runs: Sequence[RunReport]) -> tuple[Line, ...]:
    """The chart of a suite: each prediction, and all of them together, by model."""
    return _lines(
        (_name(run.summary, result), run.summary.label, result)
        for run in runs
        for result in run.summary.results
    )


def phenomenon_lines(runs: Sequence[RunReport]) -> tuple[Line, ...]:
    """The chart of a suite by phenomenon and model: all predictions together."""
    return _lines(
        (each.name or "no phenomenon named", run.summary.label, each.conjunction)
        for run in runs
        for each in run.summary.phenomena
        if each.conjunction is not None
    )


def _lines(results: Iterable[tuple[str, str, Result]]) -> tuple[Line, ...]:
    groups: dict[str, list[tuple[str, Result]]] = {}
    for group, model, result in results:
        groups.setdefault(group, []).append((model, result))
    return tuple(
        Line(group, len(members) if index == 0 else 0, model, result)
        for group, members in groups.items()
        for index, (model, result) in enumerate(members)
    )


def _name(summary: RunSummary, result: Result) -> str:
    if len(summary.predictions) == 1:
        return "All items"
    return "All predictions" if result.index is None else f"Prediction {result.index}"


def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("cimento.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        bits=lambda value: bits(value, absent="–").replace("-", "−"),
        direction=direction,
        exact=lambda value: f"{value:.2f}",
        brief=lambda value: f"{value:.1f}",
        interval=lambda result: interval(result, absent="–"),
        items=items,
        marked=marked_regions,
        percent=lambda value: f"{100 * value:.2f}%",
        rate=lambda value: rate(value, absent="–"),
        remarks=remarks,
        shade=shade,
        tally=lambda run: Counter(item.outcome.verdict for item in run.items if item.outcome),
        prediction_lines=prediction_lines,
        phenomenon_lines=phenomenon_lines,
    )
    return environment


def marked_regions(strip: Strip) -> frozenset[int]:
    """Numbers of the regions that decide; none where the whole stimulus does."""
    filled = [region for region in strip.regions if region.pieces]
    needed = frozenset(region.number for region in filled if region.needed)
    return needed if len(needed) < len(filled) else frozenset()


def direction(item: ItemRecord) -> str:
    """``rtl`` where the first letter of the item's first text is written so, else ``ltr``."""
    for strip in item.strips[:1]:
        for piece in chain.from_iterable(region.pieces for region in strip.regions):
            for letter in piece.text:
                kind = bidirectional(letter)
                if kind in {"L", "R", "AL"}:
                    return "ltr" if kind == "L" else "rtl"
    return "ltr"


def _security_policy(style: str) -> str:
    """Nothing may be loaded or run; the page's own style is allowed by its hash."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def _sections(runs: Sequence[RunReport]) -> tuple[Section, ...]:
    """The runs by suite; the same suite judged by other predictions has a section of its own."""
    groups: dict[tuple[str, tuple[str | None, ...]], list[RunReport]] = {}
    for run in runs:
        formulas = tuple(result.formula for result in run.summary.predictions)
        groups.setdefault((run.summary.suite, formulas), []).append(run)
    return tuple(
        Section(f"suite-{number}", tuple(group)) for number, group in enumerate(groups.values(), 1)
    )


def _title(summary: Summary) -> str:
    models = tuple(dict.fromkeys(run.model for run in summary.runs))
    suites = tuple(dict.fromkeys(run.suite for run in summary.runs))
    if not summary.runs:
        return "Nothing was run"
    named = models[0] if len(models) == 1 else f"{len(models)} models"
    return f"{named} on {suites[0] if len(suites) == 1 else f'{len(suites)} suites'}"


_Lines = tuple[tuple[str, str], ...]


def _provenance(runs: Sequence[RunReport]) -> tuple[_Lines, tuple[tuple[RunReport, _Lines], ...]]:
    """What all runs share, said once, and what each has of its own."""
    if not runs:
        return (), ()
    shared = set(runs[0].provenance).intersection(*(run.provenance for run in runs))
    common = tuple(line for line in runs[0].provenance if line in shared)
    own = tuple((run, tuple(line for line in run.provenance if line not in shared)) for run in runs)
    return common, own

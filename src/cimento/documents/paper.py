"""Tables for papers, with the user's names, in LaTeX and Word: suites and models."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from cimento.documents.judged import judged_notes
from cimento.errors import UsageError, did_you_mean
from cimento.io.inline_markup import exchanged
from cimento.io.values import grouped
from cimento.kinds.alike import estimates_alike, headline_of
from cimento.kinds.sections import chance_as_text, estimate_cell, runs_by_suite
from cimento.kinds.stopped import AdaptiveRecord
from cimento.records.blanks import FIRST_HIT, reach_notes
from cimento.records.effects import effects_among
from cimento.records.outcomes import STATISTICS
from cimento.records.store import manifest_part
from cimento.report import formatting
from cimento.report.cells import Shown, count
from cimento.report.formatting import MOST_COLUMNS, short_model_names
from cimento.report.grid import BLANK, EstimateCell, Grid, GridCell, sizes

if TYPE_CHECKING:
    from cimento.kinds.run import Run
    from cimento.records.outcomes import Estimate


class NamedResult(NamedTuple):
    """The number that sums up a run.

    Attributes:
        suite: name of the suite, with the kind of number unless it is an accuracy.
        model: label of the model, without its revision where that says nothing.
        estimate: the number.
        run: the run.
    """

    suite: str
    model: str
    estimate: Estimate
    run: Run


def named_results(runs: Sequence[Run]) -> list[NamedResult]:
    """The number that sums up each run; none for runs in which nothing is judged.

    Raises:
        UsageError: nothing is judged in any run.
    """
    headlines = [
        (run, estimate)
        for run, estimates in zip(runs, estimates_alike(runs), strict=True)
        if (estimate := headline_of(estimates)) is not None
    ]
    if not headlines:
        raise UsageError(
            where="results",
            seen="nothing is judged in these runs",
            todo="Give runs of suites with predictions, targets, tiers or ratings.",
        )
    short = short_model_names(dict.fromkeys(run.model for run, _ in headlines))
    return [NamedResult(_row_name(one), short[run.model], one, run) for run, one in headlines]


def results_grid(runs: Iterable[Run]) -> Grid:
    """The main table of a paper: the headline number of each run, suites by models.

    Args:
        runs: runs of any kinds; those in which nothing is judged are ignored.

    Raises:
        UsageError: nothing is judged in any run.
    """
    several = [*runs]
    named = named_results(several)
    short = {one.run.model: one.model for one in named}
    cells = [(one.suite, one.model, one.estimate) for one in named]
    estimates = [one.estimate for one in named]
    together = {
        one.suite: held
        for one in named
        if (held := formatting.predictions_together(one.run.estimates())) > 1
    }
    leveled, of_chance = _with_chance(_side_by_side(cells) or _one_by_one(cells), estimates)
    (header, rows, labels), said = _with_predictions(leveled, together)
    judged = judged_notes([run for run in several if run.model in short], short)
    return Grid(
        title=title_of(
            estimates, are_designs=all(effects_among(run.estimates()) for run in several)
        ),
        header=header,
        rows=rows,
        labels=labels,
        notes=(
            *_designs(several),
            *said,
            *judged,
            *_within_reach(several, estimates),
            *of_chance,
            formatting.methods(estimates),
            *revisions(short),
            *_limited(several, short),
        ),
    )


def _designs(several: Sequence[Run]) -> list[str]:
    """A note naming the suites whose headline is not an accuracy, but DD."""
    names = dict.fromkeys(run.suite.name for run in several if effects_among(run.estimates()))
    if not names:
        return []
    return [f"Factorial designs are reported by DD (--table tests): {formatting.some([*names])}."]


def _within_reach(several: Sequence[Run], shown: Iterable[Estimate]) -> list[str]:
    """A note on each model whose hits are shown, and which cannot find every answer."""
    by_hits = {(one.suite, one.model) for one in shown if one.question == FIRST_HIT}
    return [
        note
        for run in several
        if (run.suite.name, run.model) in by_hits
        for note in reach_notes(run.estimates())
    ]


def _limited(several: Sequence[Run], short: Mapping[str, str]) -> list[str]:
    """A note naming the runs that cover only some items of a suite, those cut alike together."""
    shown = [run for run in several if run.model in short]
    limited: dict[tuple[int, tuple[str, ...]], list[str]] = {}
    for runs in runs_by_suite(shown):
        by_limit = grouped(
            (limit, short[run.model])
            for run in runs
            if isinstance(limit := manifest_part(run.manifest, "asking").get("limit"), int)
        )
        for limit, cut in by_limit.items():
            named = () if 1 < len(cut) == len(runs) else tuple(cut)
            limited.setdefault((limit, named), []).append(runs[0].suite.name)
    parts = []
    for (limit, models), suites in limited.items():
        by = ", ".join(models) or "all models"
        parts.append(f"{by} on the first {formatting.items(limit)} of {formatting.some(suites)}")
    adaptive = [(run, AdaptiveRecord.of(run.manifest)) for run in shown]
    parts += [
        f"{short[run.model]} on {went.asked} of {went.of_items} items of {run.suite.name}, asked in"
        " random order until the share was precise enough"
        for run, went in adaptive
        if went is not None and not went.is_whole
    ]
    return [f"Not on the whole suite: {'; '.join(parts)}."] if parts else []


Cells: TypeAlias = "Sequence[tuple[str, str, Estimate]]"
"""Suite, model and number of each cell."""
Parts: TypeAlias = tuple[tuple[str, ...], tuple[tuple[GridCell, ...], ...], int]
"""Header, rows, and number of label columns."""


def _side_by_side(cells: Cells) -> Parts | None:
    """A table with models in columns, or suites if fewer; None if there are too many of both."""
    suites = [*dict.fromkeys(suite for suite, _, _ in cells)]
    models = [*dict.fromkeys(model for _, model, _ in cells)]
    twice = len({cell[:2] for cell in cells}) < len(cells)
    if twice or min(len(suites), len(models)) > MOST_COLUMNS:
        return None
    table = {(suite, model): estimate_cell(one) for suite, model, one in cells}
    across = len(models) <= len(suites)
    down, beside = (suites, models) if across else (models, suites)
    rows = []
    for name in down:
        row = [table.get((name, other) if across else (other, name)) for other in beside]
        rows.append((name, sizes(row), *(BLANK if cell is None else cell for cell in row)))
    return ("suite" if across else "model", "n", *beside), tuple(rows), 1


def _one_by_one(cells: Cells) -> Parts:
    """A table with one number per row."""
    rows = (
        (suite, model, one.method, count(one.n), estimate_cell(one)) for suite, model, one in cells
    )
    return ("suite", "model", "by", "n", "value"), tuple(rows), 3


def _with_predictions(parts: Parts, together: Mapping[str, int]) -> tuple[Parts, list[str]]:
    """The table and the notes that say how many predictions of an item must hold.

    The numbers have a column if suites are in rows and each has several predictions, or else they
    are in the note.

    Args:
        parts: the table.
        together: suites with several predictions, each mapped to their number.
    """
    header, rows, labels = parts
    if not together:
        return parts, []
    if header[0] != "suite" or any(str(row[0]) not in together for row in rows):
        counts = "; ".join(f"{suite}: {held}" for suite, held in together.items())
        return parts, [f"{formatting.ALL_MUST_HOLD.rstrip('.')} (predictions: {counts})."]
    wider = tuple((*row[:labels], count(together[str(row[0])]), *row[labels:]) for row in rows)
    return ((*header[:labels], "predictions", *header[labels:]), wider, labels), [
        formatting.ALL_MUST_HOLD
    ]


def _with_chance(parts: Parts, estimates: Sequence[Estimate]) -> tuple[Parts, list[str]]:
    """The table and the notes on chance levels, which have a column if they differ by row.

    Args:
        parts: the table.
        estimates: its numbers.
    """
    header, rows, labels = parts
    levels: dict[str, dict[str, str]] = {}
    reasons: dict[str, dict[str, None]] = {}
    for one in estimates:
        level = chance_as_text(one)
        levels.setdefault(_row_name(one), {})[level] = level
        if one.chance is None and one.chance_method:
            reasons.setdefault(one.chance_method, {})[_row_name(one)] = None
    shown = {
        name: next(iter(several.values()))
        if len(several) == 1
        else " or ".join(filter(None, several))
        for name, several in levels.items()
    }
    notes = [
        f"No chance level: {formatting.some([*names])} ({reason})."
        for reason, names in reasons.items()
    ]
    known = {name: level for name, level in shown.items() if level}
    if len({*shown.values()}) == 1 or header[0] != "suite":
        alike = "; ".join(f"{name} {level}" for name, level in known.items())
        if len({*shown.values()}) == 1:
            alike = next(iter(shown.values()))
        return parts, [*([f"Chance: {alike}."] if known else []), *notes]
    place = header.index("n") + 1
    wider = tuple((*row[:place], shown[str(row[0])], *row[place:]) for row in rows)
    return ((*header[:place], "chance", *header[place:]), wider, labels), notes


def revisions(short: Mapping[str, str]) -> tuple[str, ...]:
    """A note on the revisions of models that a table names without them; none if there are none.

    Args:
        short: labels of models, each mapped to its name in the table.
    """
    cut = [(name, label.partition("@")[2]) for label, name in short.items() if name != label]
    known = [f"{name} {after.partition(' ')[0]}" for name, after in cut]
    return (f"Revisions: {'; '.join(known)}.",) if known else ()


def _row_name(one: Estimate) -> str:
    """The name of the suite, with the kind of number unless it is the accuracy of predictions."""
    if not one.is_share:
        return f"{one.suite} ({STATISTICS.get(one.statistic, one.statistic)})"
    plain = one.is_of_predictions or not one.question
    return one.suite if plain else f"{one.suite} ({one.question})"


def title_of(estimates: Sequence[Estimate], *, are_designs: bool) -> str:
    """What the table shows; of designs that is not their result.

    Args:
        estimates: its numbers.
        are_designs: whether all are of factorial designs.
    """
    if are_designs:
        return "Items in which all predictions hold (%), with 95% confidence intervals."
    kinds = {one.is_share for one in estimates}
    what = {
        (True,): "Accuracy (%)",
        (False,): "Correlations",
        (False, True): "Accuracy (%) and correlations",
    }[tuple(sorted(kinds))]
    return f"{what} with 95% confidence intervals."


def dressed(
    grid: Grid, *, title: str = "", names: Mapping[str, str] | None = None, label: str = ""
) -> Grid:
    """The table with the user's title, names and label.

    Args:
        grid: table with the names that programs use.
        title: title that replaces the table's own.
        names: names of suites, models, conditions and columns, each mapped to the one to show. They
            are replaced in cells, headers, title and notes where they occur as words.
        label: label by which LaTeX refers to the table.
    """
    grid = dataclasses.replace(grid, title=title or grid.title, label=label or grid.label)
    if not names:
        return grid

    def new(text: str) -> str:
        return exchanged(text, names)

    def cell(old: GridCell) -> GridCell:
        if isinstance(old, EstimateCell):
            return old
        text = new(old)
        if text == old or not isinstance(old, Shown):
            return old if text == old else text
        renamed = {k: new(v) if isinstance(v, str) else v for k, v in old.parts.items()}
        return Shown(text, renamed, old.unit)

    return dataclasses.replace(
        grid,
        title=new(grid.title),
        header=tuple(map(new, grid.header)),
        groups=tuple(map(new, grid.groups)),
        rows=tuple(tuple(map(cell, row)) for row in grid.rows),
        notes=tuple(map(new, grid.notes)),
    )


def grid_texts(grid: Grid) -> list[str]:
    """Every text of a table that may be replaced by another."""
    cells = [text for row in grid.rows for text in row if isinstance(text, str)]
    return [grid.title, *grid.header, *grid.groups, *grid.notes, *cells]


def names_standing(names: Mapping[str, str], texts: Collection[str]) -> dict[str, str]:
    """The names as they occur in some texts, where a model may be named without its revision.

    Args:
        names: each name, mapped to the one to show.
        texts: all texts that are shown, such as the cells of a table.

    Raises:
        UsageError: a name is in no text, or is a model with several revisions.
    """
    standing: dict[str, str] = {}
    for name, shown in names.items():
        revised = re.compile(rf"(?<![\w@-]){re.escape(name)}@[\w-]+(?:\.[\w-]+)*")
        labels = {label for text in texts for label in revised.findall(text)}
        if len(labels) == 1:
            standing[labels.pop()] = shown
        elif not any(exchanged(text, {name: ""}) != text for text in texts):
            raise UsageError(
                where=f"--rename={name}",
                seen="there are several revisions of it" if labels else "nothing has this name",
                todo=(
                    f"Give one whole: {' or '.join(sorted(labels))}."
                    if labels
                    else did_you_mean(name, _names_in(texts))
                ),
            )
        standing[name] = shown
    return standing


def _names_in(texts: Collection[str]) -> set[str]:
    """The candidates for names in some texts: no sentences; models without revisions too."""
    short = {text for text in texts if len(text) <= _LONGEST_NAME and not text.endswith(".")}
    names = {part for text in short for part in (text, text.partition("@")[0])}
    return {name for name in names if any(map(str.isalpha, name))}


_LONGEST_NAME = 40
"""Most characters of a name that ``did you mean`` may offer; longer texts are prose."""

"""Tables 1 to 4 of the study for models of one's own, the published rows above.

Such models are asked the study's suites where they are there, else our own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from cimento.io.values import NoValue, group_by
from cimento.kinds.registry import SuiteLike
from cimento.kinds.run import Run
from cimento.measures import find_measure
from cimento.paradigms.regions.accuracy_tables import rate_cell
from cimento.paradigms.regions.design_rates import average_of_shares
from cimento.paradigms.regions.estimates import MASKED_MODELS_REASON, factorials, good_scores
from cimento.paradigms.regions.factorial import Factorial, PhenomenonEffects
from cimento.report.cells import PERCENT, Shown, printed, repeated
from cimento.report.formatting import number as formatted
from cimento.report.grid import BLANK, EstimateCell, Grid, GridCell
from cimento.statistics.design import Design
from cimento.statistics.intervals import share_interval
from cimento.studies import AbsentError
from cimento.studies.islands.tables import (
    AVERAGE,
    BLIMP_FILES,
    CAPTION_SLIP,
    INVALID,
    INVALID_NOTE,
    SOURCE,
    find_file,
    new_items,
    printed_accuracies,
    printed_blimp,
    printed_variations,
    published_items,
    sentence_faults,
)
from cimento.suites import BAD, GOOD, Suite
from cimento.suites.derived import merge_suites, pairs
from cimento.suites.design import ISLAND_CONDITIONS
from cimento.suites.load import open_suite

STARTER = "it-islands"
NEW, PUBLISHED, VARIATIONS = "islands-madeddu", "islands-sprouse", "islands-variations"
"""Suites of the study: the new items, those of Sprouse et al. 2016, the pairs of Table 4."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IslandSuites:
    """The suites of the study that there are.

    Attributes:
        suites: all of them, to be run.
        new: name of the suite whose results go into Table 1; empty where there is none.
        published: the same for Table 2.
        blimp: column of Table 3 to the name of BLiMP's suite; empty where one is missing.
        notes: table to what is to be said below it of what was asked.
    """

    suites: Sequence[SuiteLike]
    new: str = ""
    published: str = ""
    blimp: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def remarks(self) -> list[str]:
        """The notes of all tables, each once."""
        return list(dict.fromkeys(note for notes in self.notes.values() for note in notes))


def island_suites(data: Path | None) -> IslandSuites:
    """The suites to ask.

    Args:
        data: folder with released files; None for cimento's own items.

    Raises:
        AbsentError: it has no Italian items of the study.
        SuiteError: a file cannot be used.
    """
    if data is None:
        ours = (f"Published rows are about the study's items, those of your models about {STARTER},"
                " cimento's own items.")  # fmt: skip
        return IslandSuites(
            suites=(STARTER, variations_suite()),
            new=STARTER,
            notes={"table-1": (ours,), "table-2": (_NO_PUBLISHED,), "table-3": (_NO_BLIMP,)},
        )
    new, published = _merged(NEW, data), _merged(PUBLISHED, data)
    if new is None and published is None:
        new_items(data)  # says what is looked for
    blimp = _blimp(data)
    return IslandSuites(
        suites=[*filter(None, (new, published)), *blimp.values(), variations_suite()],
        new=NEW if new else "",
        published=PUBLISHED if published else "",
        blimp={column: open_suite(path).suite.name for column, path in blimp.items()},
        notes={
            "table-1": () if new else (_NO_NEW,),
            "table-2": () if published else (_NO_PUBLISHED,),
            "table-3": () if blimp else (_NO_BLIMP,),
        },
    )


_FETCH = "`cimento suites get sprouse-it` fetches them for --data"
_NO_NEW = f"Your models were not asked: the study's new items are not there; {_FETCH}."
_NO_PUBLISHED = (
    f"Your models were not asked the items of Sprouse et al. 2016, which are not there; {_FETCH}."
)
_NO_BLIMP = (
    "BLiMP's sentences are not there (`cimento suites get blimp` fetches them for --data): rows of"
    " your models are about Italian items of the same islands. As in BLiMP's pairs, Short-Island"
    " stands against Long-Island for adjunct and complex NP, Long-NonIsland for whether."
)


def variations_suite() -> Suite:
    """The six pairs of Table 4 as printed, the sentence without an island as the good one."""
    return pairs(
        [{"id": id_, "good": row[0], "bad": row[2]} for id_, row in printed_variations().items()],
        name=VARIATIONS,
        language="it",
    )


def _merged(name: str, data: Path) -> Suite | None:
    """The four phenomena of one suite of the study in one; None where the files are not there."""
    try:
        files = (new_items if name == NEW else published_items)(data)
    except AbsentError:
        return None
    parts = {phenomenon: open_suite(path).suite for phenomenon, path in files.items()}
    merged = merge_suites(parts, name=name)
    return replace(merged, meta=replace(merged.meta, language="it"))


def _blimp(data: Path) -> dict[str, Path]:
    """Column of Table 3 to BLiMP's file; empty where one of the three is not there."""
    try:
        return {column: find_file(data, name) for column, name in BLIMP_FILES.items()}
    except AbsentError:
        return {}


MEASURES: Mapping[str, str] = {
    "lp": "LP", "penlp": "PenLP", "lp-l": "LP-L", "penlp-l": "PenLP-L"
}  # fmt: skip
"""Measures of the study to their names in its tables."""
_NAMES = tuple(MEASURES.values())

_ITEMS = {1: "new items", 2: "the items of Sprouse et al. 2016"}
PUBLISHED_ROW = "(published)"
_FORMS = dict(zip(ISLAND_CONDITIONS, ("Short-N.I.", "Long-N.I.", "Short-I.S."), strict=False))
"""Acceptable condition to the sentence form of Tables 1 and 2."""

_BLIMP_LIKE = {
    "adjunct island": ("adjunct", "short_island"),
    "complex NP island": ("complex_np", "short_island"),
    "wh island": ("whether", "long_nonisland"),
}
"""Column of Table 3 to the Italian phenomenon and condition that differ from the unacceptable one
as BLiMP's sentences do: both have the island, or only the bad one."""

Results = Mapping[str, Mapping[str, Factorial]]
"""Model to measure to what came of one suite."""


def model_tables(runs: Sequence[Run], asked: IslandSuites, *, limit: int | None) -> dict[str, Grid]:
    """The tables of some models, by the names of their files.

    Args:
        runs: of the suites asked, for any models.
        asked: what they are about.
        limit: how many items of each suite were asked; None for all.
    """
    cut = (
        ()
        if limit is None
        else (f"Of each suite only {limit} items were asked, of its phenomena in turn.",)
    )
    by_suite = group_by(runs, lambda run: run.suite.name)
    new, published = (
        island_results(by_suite.get(name, ())) for name in (asked.new, asked.published)
    )
    tables = {
        "table-1": accuracy_table(1, new),
        "table-2": accuracy_table(2, published),
        "table-3": _blimp_table(by_suite, asked, new or published),
        "table-4": _variation_table(by_suite.get(VARIATIONS, ())),
    }
    return {
        name: replace(table, notes=(*table.notes, *asked.notes.get(name, ()), *cut))
        for name, table in tables.items()
    }


def island_results(runs: Sequence[Run]) -> Results:
    """Model and measure to the results of some runs of one factorial suite."""
    by_model: dict[str, dict[str, Factorial]] = {}
    for result in factorials(runs, tuple(MEASURES)):
        by_model.setdefault(result.model, {})[result.measure] = result
    return by_model


def accuracy_table(number: int, results: Results) -> Grid:
    """Table 1 or 2: a row for each phenomenon, sentence form and model.

    Args:
        number: of the table, whose published rows are above the others.
        results: of models, which may be none.
    """
    published = _published_columns(number)
    rows: list[tuple[GridCell, ...]] = []
    rules, bold, above = set(), set(), BLANK
    for phenomenon, form in next(iter(published.values()))["LP"]:
        lines: list[tuple[GridCell, ...]] = [
            (model, *(columns.get(name, {}).get((phenomenon, form), BLANK) for name in _NAMES))
            for model, columns in published.items()
        ]
        lines += [
            (model, *(_accuracy(columns.get(measure), phenomenon, form) for measure in MEASURES))
            for model, columns in results.items()
        ]
        bold |= {(len(rows) + row, 2 + column) for row, column in _highest(lines)}
        label: str = repeated(phenomenon)
        if phenomenon != above:
            rules.add(len(rows))
            label = above = phenomenon
        # The averages are of all forms.
        labels = form or Shown(BLANK, "all")
        rows.append((label, labels, *lines[0]))
        rows += [(repeated(phenomenon), repeated(labels), *line) for line in lines[1:]]
    has_undefined = any(result.reason for some in results.values() for result in some.values())
    return Grid(
        title=f"Table {number}. Accuracy in % on {_ITEMS[number]}: each acceptable sentence form"
        " against Long-Island",
        header=("Phenomenon", "Sentence form", "Model", *_NAMES),
        rows=tuple(rows),
        rules=frozenset(rules - {0}),
        bold=frozenset(bold),
        labels=3,
        notes=(
            f"Published rows: {SOURCE}. {INVALID}: {INVALID_NOTE}.",
            "Ties count as failures. Bold: the highest of each form.",
            *([f"Blank: {MASKED_MODELS_REASON}."] if has_undefined else ()),
        ),
    )


def _published_columns(number: int) -> dict[str, dict[str, dict[tuple[str, str], str]]]:
    """Model and name of a measure to phenomenon and form to what Table 1 or 2 prints."""
    by_model: dict[str, dict[str, dict[tuple[str, str], str]]] = {}
    cells, averages = printed_accuracies(number)
    for column, values in cells.items():
        model, _, name = column.rpartition(" ")
        shown = {key: f"{value:.1f}" for key, value in values.items()}
        shown[AVERAGE, BLANK] = averages[column]
        columns = by_model.setdefault(f"{model} {PUBLISHED_ROW}", {})
        columns[name] = {key: printed(text, unit=PERCENT) for key, text in shown.items()}
    return by_model


def _highest(lines: Sequence[Sequence[GridCell]]) -> Iterator[tuple[int, int]]:
    """Row and column of the highest numbers; the first column is a label."""
    known = {
        (row, column): float(value)
        for row, line in enumerate(lines)
        for column, cell in enumerate(line)
        if column and (value := cell.numbers[0] if isinstance(cell, EstimateCell) else cell)
    }
    highest = max(known.values(), default=None)
    return (place for place, value in known.items() if value == highest)


def _accuracy(result: Factorial | None, phenomenon: str, form: str) -> GridCell:
    """One accuracy of a model; blank where it was not asked or the measure is not defined."""
    if result is None or result.reason:
        return BLANK
    if phenomenon == AVERAGE:
        return _average(result)
    pairs = (
        pair
        for part in result.phenomena
        if _label(part) == phenomenon
        for pair in part.pairs
        if _FORMS[pair.better] == form
    )
    return next(map(rate_cell, pairs), BLANK)


def _label(phenomenon: PhenomenonEffects) -> str:
    """The name of a phenomenon in the tables."""
    return f"Wh-{phenomenon.name.replace('_', ' ')}"


def _average(result: Factorial) -> GridCell:
    """The mean over the table's twelve cells, which stands only where all of them do."""
    printed = next(iter(printed_accuracies(1)[0].values()))
    names = {phenomenon for phenomenon, _ in printed}
    groups = [part for part in result.phenomena if _label(part) in names]
    if len(groups) < len(names):
        return BLANK
    clusters = dict(item for group in groups for item in group.clusters.items())
    mean = average_of_shares([group.pairs for group in groups], clusters, seed=0)
    return EstimateCell.of(mean.value, mean, mean.n, percent=True)


def _blimp_table(
    by_suite: Mapping[str, Sequence[Run]], asked: IslandSuites, italian: Results
) -> Grid:
    """Table 3: a row for each model and measure, BLiMP's three islands in columns."""
    rows: list[tuple[GridCell, ...]] = [
        (f"{model} {PUBLISHED_ROW}", *(printed(text, unit=PERCENT) for text in row.values()))
        for model, row in printed_blimp().items()
    ]
    published = len(rows)
    rows += _blimp_rows(by_suite, asked.blimp) if asked.blimp else _italian_rows(italian)
    return Grid(
        title="Table 3. Accuracy in % on three islands of BLiMP",
        header=("Model", "Adjunct", "Complex NP", "Wh"),
        rows=tuple(rows),
        rules=frozenset({published}),
        notes=(f"Published rows: {SOURCE}. The first is of 2020, before BLiMP's erratum.",),
    )


def _blimp_rows(
    by_suite: Mapping[str, Sequence[Run]], blimp: Mapping[str, str]
) -> Iterator[tuple[GridCell, ...]]:
    runs = {name: {run.model: run for run in by_suite.get(name, ())} for name in blimp.values()}
    kinds = {
        run.model: run.model_kind for by_measure in runs.values() for run in by_measure.values()
    }
    for model, kind in kinds.items():
        for measure in MEASURES:
            if kind != "causal" or "logit" not in find_measure(measure).needs:
                asked = (runs[blimp[column]].get(model) for column in _BLIMP_LIKE)
                cells = (BLANK if run is None else _good_rate(run, measure) for run in asked)
                yield (f"{model} ({_name(measure, kind)})", *cells)


def _name(measure: str, kind: str) -> str:
    """A measure as Table 3 calls it: LP of masked models is their pseudo-log-likelihood."""
    return "PLL" if measure == "lp" and kind == "masked" else MEASURES[measure]


def _good_rate(run: Run, measure: str) -> EstimateCell:
    """How often the good sentence of a pair scores above the bad one."""
    held = {}
    for item, scores in good_scores(run, find_measure(measure)).items():
        good, bad = scores[GOOD], scores[BAD]
        if not isinstance(good, NoValue) and not isinstance(bad, NoValue):
            held[item] = good > bad
    interval = share_interval(list(held.values()), Design.independent(len(held)))
    share = sum(held.values()) / len(held) if held else None
    return EstimateCell.of(share, interval, len(held), percent=True)


def _italian_rows(results: Results) -> Iterator[tuple[GridCell, ...]]:
    """Rows of the Italian items that are like BLiMP's, where these are not there."""
    for model, columns in results.items():
        kind = "causal" if any(result.reason for result in columns.values()) else "masked"
        for measure, result in columns.items():
            if not result.reason:
                rates = {
                    (part.name, pair.better): pair
                    for part in result.phenomena
                    for pair in part.pairs
                }
                cells = (
                    rate_cell(rates[place]) if place in rates else BLANK
                    for place in _BLIMP_LIKE.values()
                )
                yield (f"{model} ({_name(measure, kind)}), {result.suite}", *cells)


def _variation_table(runs: Sequence[Run]) -> Grid:
    """Table 4: PenLP of six pairs of sentences, one row for each pair and model."""
    penlp = {run.model: good_scores(run, find_measure("penlp")) for run in runs}
    rows: list[tuple[str, ...]] = []
    rules, notes = set(), []
    for id_, (good, good_value, bad, bad_value, difference) in printed_variations().items():
        rules.add(len(rows))
        above = [printed(text, unit="nats") for text in (good_value, bad_value, difference)]
        rows.append((f"GePpeTto {PUBLISHED_ROW}", good, above[0], bad, *above[1:]))
        for model, scores in penlp.items():
            one, other = (scores.get(id_, {}).get(name) for name in (GOOD, BAD))
            apart = None
            if isinstance(one, float) and isinstance(other, float):
                apart = one - other
            values = [_value(one), _value(other), _value(apart)]
            rows.append((model, repeated(good), values[0], repeated(bad), *values[1:]))
        notes += [f"{text!r}: {fault}." for text in (good, bad) for fault in sentence_faults(text)]
    said = f" Faults that models see: {' '.join(notes)}" if notes else ""
    return Grid(
        title="Table 4. PenLP of pairs of complex NP sentences",
        header=("Model", "text", "PenLP", "text", "PenLP", "Diff"),
        groups=(BLANK, *("Long-NonIsland",) * 2, *("Long-Island",) * 2, BLANK),
        rows=tuple(rows),
        rules=frozenset(rules - {0}),
        labels=2,
        notes=(
            f"Published rows: {SOURCE}. PenLP in nats, penalty exponent 0.8.",
            f"Diff above 0: the sentence without an island is more acceptable, as expected.{said}",
            CAPTION_SLIP,
        ),
    )


def _value(score: float | NoValue | None) -> str:
    value = score if isinstance(score, float) else None
    return Shown(formatted(value, digits=2, absent=BLANK), value, "nats")

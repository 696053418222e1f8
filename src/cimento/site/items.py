"""Pages of a site beside its board: an item as all models answered it, all suites on one scale.

The tables of the site are here too, as grids for its pages and for CSV.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from cimento.compare.analysis import Analysis, analyze_table
from cimento.compare.analysis_tables import analysis_section
from cimento.compare.answer_table import answer_table
from cimento.compare.levels import at_level, levels_of, with_others
from cimento.errors import UsageError, counted
from cimento.paired.item_outcomes import without_restated
from cimento.records.store import manifest_part
from cimento.report.cells import Shown, lower, upper
from cimento.report.grid import Grid, as_csv
from cimento.report.html import drawings_of
from cimento.report.items import marked_regions
from cimento.site.board import slug

if TYPE_CHECKING:
    from cimento.kinds.run import Run
    from cimento.report import ItemRecord
    from cimento.report.strips import Strip
    from cimento.site.board import Entry, ItemAcross, SideBySide, SuitePart
    from cimento.site.pages import SiteLook
    from cimento.statistics.multiple import RankedPair

TOGETHER = "analysis.html"
_MOST_CELLS = 10_000
"""Number of answers up to which a site has discriminations of items."""
FEWEST_ITEMS, FEWEST_MODELS = 20, 2


def item_pages(look: SiteLook, part: SuitePart) -> Iterator[tuple[str, str]]:
    """The page of each item, with its path.

    Args:
        look: what all pages share.
        part: the suite.
    """
    around = {before.page: after for before, after in pairwise(part.items)}
    for item in part.items:
        following = around.get(item.page)
        more = [(part.page, part.name), *([(following.page, "next item")] if following else [])]
        columns = [
            column
            for column in _columns(item.first.strips)
            if any(_bits(record, [column]) != [None] for _, record in item.answers)
        ]
        yield (
            item.page,
            look.page(
                "item.html",
                item.page,
                title=f"{part.name}, {item.id}",
                links=look.links(item.page, *more),
                item=item,
                language=part.whole.language,
                texts=[(strip.condition, _underlined(strip)) for strip in item.first.strips],
                remarks=_common_remarks(item),
                columns=[text for _, text in columns],
                answered=any(record.answers for _, record in item.answers),
                rows=[(entry, record, _bits(record, columns)) for entry, record in item.answers],
                valued=_valued(item),
                lacking=_lacking(item),
            ),
        )


def _valued(item: ItemAcross) -> str:
    """The heading of the values of an item; empty if no model has one."""
    outcomes = [record.outcome for _, record in item.answers if record.outcome]
    known = [one for one in outcomes if one.value is not None]
    if not known:
        return ""
    name = "Margin" if item.judged else known[0].question
    return ", ".join(dict.fromkeys([name, *(one.unit for one in known if one.unit)]))


def _lacking(item: ItemAcross) -> list[str]:
    """The reasons for outcomes, each with the number of models that have it."""
    reasons = Counter(record.outcome.reason for _, record in item.answers if record.outcome)
    return [f"{counted(n, 'model')}: {reason}." for reason, n in reasons.items() if reason]


def _underlined(strip: Strip) -> list[tuple[str, bool]]:
    """The text of a strip in pieces, each with whether it is in a region that decides."""
    marked = marked_regions(strip)
    pieces: list[tuple[str, bool]] = []
    for region in strip.regions:
        text = "".join(piece.text for piece in region.pieces)
        bare = text.strip()
        before, _, after = text.partition(bare) if bare else ("", "", text)
        pieces += [(before, False), (bare, region.number in marked), (after, False)]
    return [(text, decides) for text, decides in pieces if text]


_Place = tuple[str, int | None]


def _columns(strips: Sequence[Strip]) -> list[tuple[_Place, tuple[str, str]]]:
    """What has a number in the table of an item: places, each with its condition and text."""
    places: list[tuple[_Place, tuple[str, str]]] = []
    for strip in strips:
        marked = marked_regions(strip)
        asked = any(piece.asked for region in strip.regions for piece in region.pieces)
        if not marked and asked:
            places.append(((strip.condition, None), (strip.condition, "")))
        places += [
            (
                (strip.condition, region.number),
                (strip.condition, "".join(piece.text for piece in region.pieces).strip()),
            )
            for region in strip.regions
            if region.number in marked
        ]
    return places


def _bits(record: ItemRecord, columns: Iterable[tuple[_Place, object]]) -> list[float | None]:
    """The summed surprisal in each place; None where a part of it has no score."""
    strips = {strip.condition: strip for strip in record.strips}
    return [_sum(strips.get(condition), number) for (condition, number), _ in columns]


def _sum(strip: Strip | None, number: int | None) -> float | None:
    pieces = [
        piece
        for region in (strip.regions if strip else ())
        if number in (None, region.number)
        for piece in region.pieces
        if piece.asked
    ]
    known = [piece.surprisal_bits for piece in pieces if piece.surprisal_bits is not None]
    return sum(known) if pieces and len(known) == len(pieces) else None


def _common_remarks(item: ItemAcross) -> tuple[tuple[str, str], ...]:
    """The remarks on an item that do not depend on the model, such as people's ratings."""
    shared = set(item.first.remarks).intersection(*(one.remarks for _, one in item.answers))
    return tuple(remark for remark in item.first.remarks if remark in shared)


def _number(value: float | None) -> str:
    return Shown("" if value is None else f"{value:.6g}", value)


def ranks_grid(sides: Sequence[SideBySide]) -> Grid:
    """The estimates of models side by side, with their rank intervals."""
    rows = [(side, one) for side in sides for one in side.results]
    return Grid.of(
        rows,
        {
            "suite": lambda row: row[0].suite,
            "phenomenon": lambda row: row[0].phenomenon,
            "items": lambda row: "of phenomenon" if row[0].page.startswith("phenomena/") else "all",
            "language": lambda row: row[0].language,
            "model": lambda row: row[1].entry.label,
            "statistic": lambda row: row[1].estimate.statistic,
            "value": lambda row: _number(row[1].estimate.value),
            "low": lambda row: lower(_number(row[1].estimate.low)),
            "high": lambda row: upper(_number(row[1].estimate.high)),
            "n": lambda row: row[1].estimate.n,
            "unscored": lambda row: row[1].estimate.unscored,
            "chance": lambda row: _number(row[1].estimate.chance),
            "best rank": lambda row: row[1].rank.best if row[1].rank else None,
            "worst rank": lambda row: row[1].rank.worst if row[1].rank else None,
            "models ranked": lambda row: len(row[0].places.ranks),
            "reason": lambda row: row[1].estimate.reason,
        },
        title="Estimates with the models' rank intervals.",
        labels=6,
        remarks=1,
    )


def pairs_grid(pairs: Sequence[RankedPair]) -> Grid:
    """Every two models on the items that all were scored on, with p."""
    return Grid.of(
        pairs,
        {
            "first": lambda pair: pair.first,
            "second": lambda pair: pair.second,
            "first minus second": lambda pair: _number(pair.difference),
            "p": lambda pair: _number(pair.p),
            "p (holm)": lambda pair: _number(pair.p_holm),
        },
        title="Every pair of models, on the items that all were scored on.",
        labels=2,
    )


def items_grid(part: SuitePart) -> Grid:
    """Every item of a suite by every model."""
    rows = [(item, *answer) for item in part.items for answer in item.answers]
    return Grid.of(
        rows,
        {
            "item": lambda row: row[0].id,
            "phenomenon": lambda row: row[2].phenomenon,
            "model": lambda row: row[1].label,
            "verdict": lambda row: row[2].verdict,
            "value": lambda row: _number(row[2].outcome.value if row[2].outcome else None),
            "unit": lambda row: row[2].outcome.unit if row[2].outcome else "",
            "reason": lambda row: row[2].outcome.reason if row[2].outcome else "",
        },
        title="Every item by every model.",
        labels=3,
        remarks=1,
    )


def curve_grid(name: str, side: SideBySide) -> Grid:
    """A family of checkpoints over training, step by step."""
    steps = dict(side.curves)[name]
    return Grid.of(
        steps,
        {
            "step": lambda one: one.entry.step,
            "value": lambda one: _number(one.estimate.value),
            "low": lambda one: lower(_number(one.estimate.low)),
            "high": lambda one: upper(_number(one.estimate.high)),
            "n": lambda one: one.estimate.n,
            "model": lambda one: one.entry.label,
        },
        title=f"{name} over training.",
        remarks=1,
    )


def runs_grid(entries: Sequence[Entry]) -> Grid:
    """What was run: suites, models, revisions, versions, dates."""

    def part(entry: Entry, *path: str) -> str:
        *above, last = path
        value = manifest_part(entry.run.manifest, *above).get(last)
        return "" if value is None else str(value)

    return Grid.of(
        entries,
        {
            "suite": lambda entry: entry.suite,
            "suite version": lambda entry: part(entry, "suite", "version"),
            "suite sha256": lambda entry: part(entry, "suite", "sha256")[:12],
            "model": lambda entry: part(entry, "model", "name"),
            "revision": lambda entry: part(entry, "model", "revision")[:12],
            "kind": lambda entry: entry.run.model_kind,
            "number format": lambda entry: part(entry, "model", "dtype"),
            "items": lambda entry: entry.run.n_items,
            "made": lambda entry: part(entry, "created"),
            "cimento": lambda entry: part(entry, "cimento"),
            "python": lambda entry: part(entry, "versions", "python"),
            "torch": lambda entry: part(entry, "versions", "torch"),
            "transformers": lambda entry: part(entry, "versions", "transformers"),
        },
        title="All runs.",
        labels=6,
    )


def analysis_of(parts: Sequence[SuitePart]) -> Analysis | None:
    """The analyses of all runs of a site, by level of chance; None where there are too few.

    Runs by prompt are only in it where there are no others.

    Args:
        parts: the suites.
    """
    runs, _ = without_restated([entry.run for part in parts for entry in part.entries])
    if len({run.model for run in runs}) < FEWEST_MODELS:
        return None
    analyses = [
        at_level(analysis, level)
        for level, some in levels_of(runs)
        if (analysis := _analysis_of(some)) is not None
    ]
    return with_others(analyses) if analyses else None


def _analysis_of(runs: Sequence[Run]) -> Analysis | None:
    """The analysis of runs with one level of chance; None where there are too few."""
    try:
        table = answer_table(runs)
    except UsageError:
        return None  # nothing is right or wrong in these suites
    if len(table.keys) < FEWEST_ITEMS or len(table.respondents) < FEWEST_MODELS:
        return None
    # Discriminations of many items take as long as all else on a site; `cimento analyze items`
    # fits them.
    cells = len(table.keys) * len(table.respondents)
    analysis = analyze_table(table, kind="rasch" if cells > _MOST_CELLS else "auto")
    return None if analysis.reason else analysis


def together_files(look: SiteLook, analysis: Analysis) -> Iterator[tuple[str, str]]:
    """The page, and its tables.

    Args:
        look: what all pages share.
        analysis: of all runs.
    """
    section = analysis_section(analysis)
    for table in section.tables:
        yield _csv(table.name), as_csv(table.grid)
    yield (
        TOGETHER,
        look.page(
            "together.html",
            TOGETHER,
            title=section.heading,
            analysis=analysis,
            drawings=drawings_of(section.figures, "figure"),
            tables=section.tables,
            csv_of=_csv,
        ),
    )


def _csv(name: str) -> str:
    return f"tables/analysis/{slug(name)}.csv"

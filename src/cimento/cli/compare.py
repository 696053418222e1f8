"""``cimento compare``: two runs, before and after; or several models of the same suites."""

from __future__ import annotations

import json as json_format
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cimento.cli import options
from cimento.cli.spreadsheets import neutralise
from cimento.standings import TWO, Correction

if TYPE_CHECKING:
    from cimento.comparing import Comparison
    from cimento.report.grid import Grid
    from cimento.results import Run
    from cimento.standings import Duel, Table

WORSE = 4


# size: one argument for each option.
def compare(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...",
            help="Two: before and after. One folder of runs, or three and more: all models.",
        ),
    ],
    *,
    measure: Annotated[
        str,
        options.option("--measure", help="Of scores and verdicts; else as the runs are stored."),
    ] = "",
    items: Annotated[
        bool, options.option("--items", help="Also the change of every item.")
    ] = False,
    predictions: Annotated[
        bool, options.option("--predictions", help="Of several models also single predictions.")
    ] = False,
    correct: Annotated[
        Correction,
        options.option("--correct", help="Of p-values over suites and pairs: holm or bh."),
    ] = "holm",
    fail_if_worse: Annotated[
        float | None,
        options.option(
            "--fail-if-worse",
            metavar="MARGIN",
            min=0.0,
            max=1.0,
            help="End with 4 where the second is surely worse by more than this share; 0 for any.",
        ),
    ] = None,
    equivalent: Annotated[
        float | None,
        options.option(
            "--equivalent",
            metavar="MARGIN",
            min=0.0,
            max=1.0,
            help="Also test whether the two differ by less than this share: 0.05, say.",
        ),
    ] = None,
    figure: Annotated[
        Path | None,
        options.option("--figure", help="Draw checkpoints of one model: .svg, .png, .pdf, .csv."),
    ] = None,
    output: Annotated[
        Path | None,
        options.option(
            "-o",
            "--output",
            help="A folder for the tables, each in every form: .csv, .md, .tex ...",
        ),
    ] = None,
    json: options.Json = False,
    seed: options.Seed = 0,
    spreadsheet_safe: options.SpreadsheetSafe = False,
) -> int:
    """Compare runs item by item: two of them before and after, or all models of each suite.

    Before and after: accuracies with McNemar's test and the items that flipped, the scores of
    every condition, and DD of factorial suites, each paired by item. Several models: places with
    the places they could hold, every pair, agreement, checkpoints in order. Suites with blanks and
    stories are compared by what is right and wrong.
    """
    how = _How(measure, correct, fail_if_worse, equivalent, figure, output, seed, spreadsheet_safe)
    if len(runs) == TWO:
        return _before_and_after(runs, how, with_items=items, as_json=json)
    return _several(runs, how, predictions=predictions, as_json=json)


@dataclass(frozen=True, slots=True)
class _How:
    """The options of the command that both ways of comparing know."""

    measure: str
    correct: Correction
    margin: float | None
    equivalent: float | None
    figure: Path | None
    output: Path | None
    seed: int
    inert: bool


def _before_and_after(runs: Sequence[Path], how: _How, *, with_items: bool, as_json: bool) -> int:
    from cimento.cli.console import note, show
    from cimento.cli.marks import read_marks
    from cimento.errors import UsageError
    from cimento.standings import before_and_after, surely_worse

    if how.figure is not None:
        raise UsageError(
            where="--figure",
            seen="two runs are before and after, and no curve",
            todo="Give three runs of one model or more, or one folder with them.",
        )
    found = _compared(runs, how)
    # Scores can be compared where nothing is right or wrong.
    needed = how.margin is not None or not found
    first, second = (read_marks([path], measure=how.measure, needed=needed) for path in runs)
    duels = before_and_after(first, second, correction=how.correct)
    if not duels and needed:
        raise UsageError(
            where="cimento compare",
            seen="nothing that is right or wrong in the one can be matched with the other",
            todo="Give two runs of one suite, or two folders of runs of the same suites.",
        )
    worse = surely_worse(duels, margin=how.margin) if how.margin is not None else ()
    for number, each in enumerate(found):
        if not as_json:
            show(f"{_head(each)}\n")
        grids = _comparison_grids(each, with_items=with_items)
        _tell(grids, how, part=f"{number + 1}-", quiet=as_json)
    if not found or len(duels) > 1:
        _tell({"suites": _suites_grid(duels, how.correct)}, how, quiet=as_json)
    equivalent = _equivalence(duels, how, quiet=as_json)
    if as_json:
        plain = {
            "comparisons": [asdict(each) for each in found],
            "suites": [_plain(each) for each in duels],
            "worse": None if how.margin is None else [each.suite for each in worse],
            "equivalence": equivalent,
        }
        show(json_format.dumps(plain, ensure_ascii=False, indent=2))
    for duel in worse:
        note(f"cimento: worse: {duel.suite}, {duel.question}: {_fall(duel)}")
    return WORSE if worse else 0


def _compared(runs: Sequence[Path], how: _How) -> list[Comparison]:
    """The runs that formulas judge, compared in full; none where all are of other kinds."""
    from cimento.comparing import compare as compare_runs
    from cimento.comparing import pair_runs

    first, second = (_judged_by_formulas(path) for path in runs)
    pairs = pair_runs(first, second) if first and second else []
    return [compare_runs(*pair, measure=how.measure, seed=how.seed) for pair in pairs]


def _several(runs: Sequence[Path], how: _How, *, predictions: bool, as_json: bool) -> int:
    from cimento.cli.console import note, show
    from cimento.cli.marks import read_marks
    from cimento.errors import UsageError
    from cimento.standings import tables

    if how.margin is not None:
        raise UsageError(
            where="--fail-if-worse",
            seen="it needs a before and an after",
            todo="Give two runs, or two folders of runs.",
        )
    marks = read_marks(runs, measure=how.measure, every_question=predictions)
    found = tables(marks, correction=how.correct, seed=how.seed)
    if how.figure is not None:
        from cimento.report.figures_checkpoints import checkpoints_figure

        drawn = checkpoints_figure(found).write(how.figure)
        neutralise([drawn], asked=how.inert)
        note(f"The figure is in {drawn}")
    equivalent = []
    for number, each in enumerate(found):
        part = f"{number + 1}-"
        _tell(_table_grids(each, how.correct), how, part=part, quiet=as_json)
        tested = _equivalence(each.duels, how, part=part, pairs=True, quiet=as_json)
        equivalent += tested or []
    if as_json:
        tables_ = [
            {**asdict(each), "duels": [_plain(duel) for duel in each.duels]} for each in found
        ]
        plain = {
            "suites": tables_,
            "equivalence": None if how.equivalent is None else equivalent,
        }
        show(json_format.dumps(plain, ensure_ascii=False, indent=2))
    return 0


def _equivalence(
    duels: Sequence[Duel], how: _How, *, part: str = "", pairs: bool = False, quiet: bool
) -> list[dict[str, object]] | None:
    """Whether the two of each duel differ by less than the margin asked for, shown and as JSON."""
    from cimento.report.comparison import equivalence_grid
    from cimento.standings import equivalences

    if how.equivalent is None:
        return None
    found = equivalences(duels, margin=how.equivalent)
    grid = equivalence_grid(duels, found, margin=how.equivalent, pairs=pairs)
    _tell({"equivalence": grid}, how, part=part, quiet=quiet)
    names = ("suite", "question", "first", "second", "n")
    return [
        {**{name: getattr(duel, name) for name in names}, "margin": how.equivalent, **asdict(each)}
        for duel, each in zip(duels, found, strict=True)
    ]


def _judged_by_formulas(path: Path) -> list[Run]:
    from cimento.results import Run, is_judged_by_formulas
    from cimento.runs.store import find_runs

    found = [(folder, folder.manifest()) for folder in find_runs(path)]
    return [Run.open(*each) for each in found if is_judged_by_formulas(each[1])]


def _plain(duel: Duel) -> dict[str, object]:
    """A duel as JSON, without what only the program needs."""
    return {name: value for name, value in asdict(duel).items() if name != "design"}


def _fall(duel: Duel) -> str:
    change = duel.change
    ends = "" if change.low is None else f" [{change.low:+.3f}, {change.high:+.3f}]"
    return f"change {change.estimate:+.3f}{ends} over {duel.n} items"


def _tell(grids: Mapping[str, Grid], how: _How, *, part: str = "", quiet: bool) -> None:
    """Print tables, unless that is not wanted, and write each in every form to their folder."""
    from cimento.cli.console import show
    from cimento.files import write_text
    from cimento.report.grid import FORMS, as_text

    for name, grid in grids.items():
        if not quiet:
            show(as_text(grid) + "\n")
        if how.output is not None:
            files = {how.output / f"{part}{name}{ending}": form for ending, form in FORMS.items()}
            neutralise(
                [write_text(form(grid), path) for path, form in files.items()], asked=how.inert
            )


def _suites_grid(duels: Sequence[Duel], correct: Correction) -> Grid:
    from cimento.report.comparison import duels_grid

    return duels_grid(duels, title="Right and wrong, suite by suite.", correction=correct)


def _table_grids(table: Table, correct: Correction) -> dict[str, Grid]:
    from cimento.report.comparison import checkpoints_grid, duels_grid, standings_grid
    from cimento.report.robustness import reliability_grid

    title = f"{table.suite}: every pair."
    grids = {
        "models": standings_grid(table),
        "pairs": duels_grid(table.duels, title=title, correction=correct, pairs=True),
        "reliability": reliability_grid(table),
    }
    if table.checkpoints:
        title = f"{table.standings[0].family} over training, {table.suite}."
        grids["checkpoints"] = checkpoints_grid(table.checkpoints, title=title)
    return grids


def _head(found: Comparison) -> str:
    lines = [f"first:  {found.first}", f"second: {found.second}", f"{found.shared} shared items"]
    for name, alone in (("first", found.only_first), ("second", found.only_second)):
        if alone:
            lines.append(f"{len(alone)} items only in the {name}")
    return "\n".join(lines)


def _comparison_grids(found: Comparison, *, with_items: bool) -> dict[str, Grid]:
    from cimento.report.comparison import changes_grid, flips_grid, paired_grid, sizes_grid

    unit = f" in {found.unit}" if found.unit else ""
    grids = {}
    if found.flips:
        grids = {
            "accuracy": flips_grid(found.flips, note=found.note),
            "sizes": sizes_grid(found.flips),
        }
    if found.dds:
        title = f"DD of {found.measure}{unit}, before and after."
        grids["dd"] = paired_grid(found.dds, title=title)
    if any(score.n for score in found.scores):
        title = f"{found.measure}{unit} of every condition; more is better."
        grids["scores"] = paired_grid(found.scores, title=title)
    if with_items:
        grids["items"] = changes_grid((*found.dds, *found.scores))
    return grids

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
from cimento.compare.pairwise import Correction

if TYPE_CHECKING:
    from cimento.compare.before_after import RunPair
    from cimento.compare.pairwise import PairwiseComparison
    from cimento.compare.ranking import Ranking
    from cimento.report.grid import Grid

WORSE = 4
_TWO = 2


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
    every_question: Annotated[
        bool,
        options.option(
            "--every-question",
            help="Also what does not sum up its suite: single predictions, hits at k, all tiers.",
        ),
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

    Before and after: what is right with McNemar's test and the items that flipped, the scores of
    every condition, DD of factorial suites, and correlations with ratings, each paired by item.
    Several models: places with the places they could hold, every pair, agreement, checkpoints in
    order. Suites are compared by the question that sums them up.
    """
    from cimento.runs.run import folders_among

    chosen = _Options(
        measure=measure,
        correct=correct,
        margin=fail_if_worse,
        equivalent=equivalent,
        figure=figure,
        output=output,
        seed=seed,
        inert=spreadsheet_safe,
        every_question=every_question,
        as_json=json,
    )
    runs = folders_among(runs)
    if len(runs) == _TWO:
        return _before_and_after(runs, chosen, with_items=items)
    return _several(runs, chosen)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options:
    """The options of the command that both ways of comparing know."""

    measure: str
    correct: Correction
    margin: float | None
    equivalent: float | None
    figure: Path | None
    output: Path | None
    seed: int
    inert: bool
    every_question: bool
    as_json: bool


def _before_and_after(runs: Sequence[Path], chosen: _Options, *, with_items: bool) -> int:
    from cimento.cli.console import note, show
    from cimento.compare import compare as compare_runs
    from cimento.compare.pairwise import surely_worse
    from cimento.errors import UsageError
    from cimento.report.comparison import comparison_grids
    from cimento.runs.run import open_runs

    if chosen.figure is not None:
        raise UsageError(
            where="--figure",
            seen="two runs are before and after, and no curve",
            todo="Give three runs of one model or more, or one folder with them.",
        )
    comparison = compare_runs(
        open_runs(runs[0]),
        open_runs(runs[1]),
        measure=chosen.measure,
        correction=chosen.correct,
        seed=chosen.seed,
    )
    rates = comparison.rates if chosen.every_question else comparison.summed_up
    if chosen.margin is not None and not rates:
        raise UsageError(
            where="--fail-if-worse",
            seen="nothing was judged in these runs, so nothing can be right or wrong",
            todo="Give runs of suites with predictions, targets or tiers.",
        )
    worse = surely_worse(rates, margin=chosen.margin) if chosen.margin is not None else ()
    if not chosen.as_json:
        for pair in comparison.runs:
            show(_head(pair) + "\n")
    _show(comparison_grids(comparison, correction=chosen.correct, with_items=with_items), chosen)
    equivalent = _equivalence(rates, chosen)
    if chosen.as_json:
        plain = {
            "runs": [asdict(pair) for pair in comparison.runs],
            "rates": [_plain(rate) for rate in comparison.rates],
            "values": [asdict(value) for value in comparison.values],
            "correlations": [asdict(one) for one in comparison.correlations],
            "worse": None if chosen.margin is None else [rate.suite for rate in worse],
            "equivalence": equivalent,
        }
        show(json_format.dumps(plain, ensure_ascii=False, indent=2))
    for rate in worse:
        note(f"cimento: worse: {rate.suite}, {rate.question}: {_fall(rate)}")
    return WORSE if worse else 0


def _several(runs: Sequence[Path], chosen: _Options) -> int:
    from cimento.cli.console import show
    from cimento.compare import item_outcomes, rank_models
    from cimento.errors import UsageError
    from cimento.report.comparison import correlations_grid, ranking_grids
    from cimento.runs.run import open_runs

    if chosen.margin is not None:
        raise UsageError(
            where="--fail-if-worse",
            seen="it needs a before and an after",
            todo="Give two runs, or two folders of runs.",
        )
    outcomes = item_outcomes(
        open_runs(runs), measure=chosen.measure, every_question=chosen.every_question
    )
    ranked = rank_models(outcomes, correction=chosen.correct, seed=chosen.seed)
    if chosen.figure is not None:
        _draw(ranked.rankings, chosen.figure, chosen)
    equivalent = []
    for number, ranking in enumerate(ranked.rankings):
        part = f"{number + 1}-"
        _show(ranking_grids(ranking, correction=chosen.correct), chosen, part=part)
        equivalent += _equivalence(ranking.pairs, chosen, part=part, models=True) or []
    if ranked.correlations:
        grid = correlations_grid(ranked.correlations, correction=chosen.correct)
        _show({"correlations": grid}, chosen)
    if chosen.as_json:
        plain = {
            "rankings": [
                {**asdict(ranking), "pairs": [_plain(pair) for pair in ranking.pairs]}
                for ranking in ranked.rankings
            ],
            "correlations": [asdict(one) for one in ranked.correlations],
            "equivalence": None if chosen.equivalent is None else equivalent,
        }
        show(json_format.dumps(plain, ensure_ascii=False, indent=2))
    return 0


def _draw(rankings: Sequence[Ranking], path: Path, chosen: _Options) -> None:
    """Draw accuracy over training into a file."""
    from cimento.cli.console import note
    from cimento.report.figures_checkpoints import checkpoints_figure

    drawn = checkpoints_figure(rankings).write(path)
    neutralise([drawn], asked=chosen.inert)
    note(f"The figure is in {drawn}")


def _equivalence(
    pairs: Sequence[PairwiseComparison], chosen: _Options, *, part: str = "", models: bool = False
) -> list[dict[str, object]] | None:
    """Whether the two of each pair differ by less than the margin asked for, shown and as JSON."""
    from cimento.compare.pairwise import equivalences
    from cimento.report.comparison import equivalence_grid

    if chosen.equivalent is None:
        return None
    tests = equivalences(pairs, margin=chosen.equivalent)
    grid = equivalence_grid(pairs, tests, margin=chosen.equivalent, models=models)
    _show({"equivalence": grid}, chosen, part=part)
    names = ("suite", "question", "first", "second", "n")
    return [
        {
            **{name: getattr(pair, name) for name in names},
            "margin": chosen.equivalent,
            **asdict(test),
        }
        for pair, test in zip(pairs, tests, strict=True)
    ]


def _plain(pair: PairwiseComparison) -> dict[str, object]:
    """A comparison as JSON, without what only the program needs."""
    return {name: value for name, value in asdict(pair).items() if name != "design"}


def _fall(rate: PairwiseComparison) -> str:
    change = rate.change
    ends = "" if change.low is None else f" [{change.low:+.3f}, {change.high:+.3f}]"
    return f"change {change.estimate:+.3f}{ends} over {rate.n} items"


def _show(grids: Mapping[str, Grid], chosen: _Options, *, part: str = "") -> None:
    """Print tables, unless JSON is wanted, and write each in every form to their folder."""
    from cimento.cli.console import show
    from cimento.files import write_text
    from cimento.report.grid import FORMS, as_text

    for name, grid in grids.items():
        if not chosen.as_json:
            show(as_text(grid) + "\n")
        if chosen.output is not None:
            paths = {
                chosen.output / f"{part}{name}{ending}": form for ending, form in FORMS.items()
            }
            neutralise(
                [write_text(form(grid), path) for path, form in paths.items()], asked=chosen.inert
            )


def _head(pair: RunPair) -> str:
    lines = [f"first:  {pair.first}", f"second: {pair.second}", f"{pair.shared} shared items"]
    for name, alone in (("first", pair.only_first), ("second", pair.only_second)):
        if alone:
            lines.append(f"{len(alone)} items only in the {name}")
    return "\n".join(lines)

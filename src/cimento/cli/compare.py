"""``cimento compare``: what changes from one stored run to another."""

from __future__ import annotations

import json as json_format
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cimento.cli import options

if TYPE_CHECKING:
    from cimento.comparing import Comparison


def compare(
    first: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder: before.")],
    second: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder: after.")],
    *,
    measure: Annotated[
        str,
        options.option("--measure", help="Of scores and verdicts; else as the runs are stored."),
    ] = "",
    items: Annotated[
        bool, options.option("--items", help="Also the change of every item.")
    ] = False,
    json: options.Json = False,
    seed: options.Seed = 0,
) -> None:
    """Compare two runs item by item: another model, or a variant of the suite.

    Accuracies with McNemar's test and the items that flipped, the scores of every condition, and
    DD of factorial suites, each paired by item. Folders of runs are matched by model.
    """
    from cimento.cli.console import show
    from cimento.comparing import compare as compare_runs
    from cimento.comparing import pair_runs
    from cimento.results import open_runs

    pairs = pair_runs(open_runs([first]), open_runs([second]))
    found = [compare_runs(*pair, measure=measure, seed=seed) for pair in pairs]
    if json:
        plain = {"comparisons": [asdict(each) for each in found]}
        show(json_format.dumps(plain, ensure_ascii=False, indent=2))
        return
    for each in found:
        show(_as_text(each, with_items=items))


def _as_text(found: Comparison, *, with_items: bool) -> str:
    from cimento.report.comparison import changes_grid, flips_grid, paired_grid
    from cimento.report.grid import as_text

    unit = f" in {found.unit}" if found.unit else ""
    head = [f"first:  {found.first}", f"second: {found.second}", f"{found.shared} shared items"]
    for name, alone in (("first", found.only_first), ("second", found.only_second)):
        if alone:
            head.append(f"{len(alone)} items only in the {name}")
    grids = [flips_grid(found.flips)] if found.flips else []
    if found.dds:
        title = f"DD of {found.measure}{unit}, before and after."
        grids.append(paired_grid(found.dds, title=title))
    title = f"{found.measure}{unit} of every condition; more is better."
    grids.append(paired_grid(found.scores, title=title))
    if with_items:
        grids.append(changes_grid((*found.dds, *found.scores)))
    return "\n".join(["\n".join(head), "", *map(as_text, grids)])

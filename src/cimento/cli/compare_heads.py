"""What ``cimento compare`` prints before its tables: what they show, and which run is which."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

from cimento.cli.console import show
from cimento.report.sides import UNNAMED
from cimento.report.terminal import WIDEST

if TYPE_CHECKING:
    from cimento.compare.before_after import BeforeAfter, RunPair


def show_verdicts(lines: Iterable[str]) -> None:
    """Print what tables show, a paragraph for each kind of number.

    Args:
        lines: the paragraphs.
    """
    for line in lines:
        show(fill(line, WIDEST, break_on_hyphens=False) + "\n\n")


def show_heads(comparison: BeforeAfter, folders: Sequence[Path], *, brief: bool) -> None:
    """Print which run is which; in brief, only what one of a pair lacks.

    Args:
        comparison: of the runs.
        folders: where they are, or the folders of several runs.
        brief: whether only items are named that one of a pair lacks.
    """
    for pair in comparison.runs:
        if head := _head(pair, folders, models=comparison.models is not None, brief=brief):
            show(head + "\n")


def _head(pair: RunPair, folders: Sequence[Path], *, models: bool, brief: bool = False) -> str:
    """Which run is which, with the folders where their suites and models are the same.

    Args:
        pair: the two runs.
        folders: where they are, or the folders of several runs.
        models: whether they are two models; otherwise one before and after.
        brief: whether only items are named that one of them lacks; empty if there are none.
    """
    sides = ("first", "second") if models else UNNAMED
    width = max(map(len, sides)) + 1
    alike = pair.first == pair.second
    lines = [
        f"{f'{side}:':<{width}} {name}" + f" in {folder}" * alike
        for side, name, folder in zip(sides, (pair.first, pair.second), folders, strict=True)
    ]
    lines.append(f"{pair.shared} shared items")
    alone = [
        f"{len(items)} items only{f' in the {side}' if models else f' {side}'}"
        for side, items in zip(sides, (pair.only_first, pair.only_second), strict=True)
        if items
    ]
    if brief:
        return f"{pair.first}: {', '.join(alone)}" if alone else ""
    return "\n".join([*lines, *alone])

"""Tables of a suite that was asked in two ways: by probability, and in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from cimento.report.comparison import CHANGES_SHOWN
from cimento.report.grid import BLANK, EstimateCell, Grid, GridCell
from cimento.statistics.correlation import Correlation

if TYPE_CHECKING:
    from cimento.compare.ways import WaysCompared
    from cimento.statistics.agreement import Agreement
    from cimento.statistics.detection import DetectionValue

_ABOUT_WAYS = (
    "same result: items that are right both ways, or neither; kappa: the same beyond chance. rho:"
    " Spearman's, of the margins. d': by probability sqrt(2) z(p); in words apart from bias."
)
_CELL_NAMES = ("right both ways", "by probability only", "in words only", "wrong both ways")


def ways_grids(compared: Sequence[WaysCompared], *, with_items: bool) -> dict[str, Grid]:
    """The tables of a suite that was asked by probability and in words.

    Args:
        compared: each question in words, beside one by probability.
        with_items: whether cells list all of their items.
    """
    grids = {"ways": _ways_grid(compared)}
    cells = [(one, *cell) for one in compared for cell in zip(_CELL_NAMES, one.cells, strict=False)]
    if cells:
        grids["ways_items"] = Grid.of(
            cells,
            {
                "in words": lambda row: _short(row[0].words),
                "by probability": lambda row: row[0].probability,
                "outcome": lambda row: row[1],
                "n": lambda row: len(row[2]),
                "items": lambda row: _named_items(row[2], all_of_them=with_items),
            },
            title="The items of each outcome.",
            labels=3,
            remarks=1,
            grouped=2,
        )
    return grids


def _ways_grid(compared: Sequence[WaysCompared]) -> Grid:
    models = dict.fromkeys((one.model_by_probability, one.model_by_words) for one in compared)
    notes = [f"By probability {one}, in words {other}." for one, other in models if one != other]
    if any(one.n for one in compared):
        notes.insert(0, _ABOUT_WAYS)
    undecided = sum(one.undecided for one in compared)
    if undecided:
        notes.append(f"Left out as right or wrong in one way only: {undecided}.")
    notes += dict.fromkeys(f"No agreement: {one.reason}." for one in compared if one.reason)
    return Grid(
        title=f"{compared[0].suite} asked in two ways: by probability, and in words.",
        header=tuple(name for _, name, _ in _COLUMNS),
        groups=tuple(group for group, _, _ in _COLUMNS),
        rows=tuple(tuple(make(one) for _, _, make in _COLUMNS) for one in compared),
        labels=2,
        notes=tuple(notes),
    )


def _short(question: str) -> str:
    """A question without what the table says already."""
    return question.replace(" by prompt", "")


def _equal(one: WaysCompared) -> EstimateCell:
    share = one.equal / one.n if one.n else None
    ends = (share, one.agreement.low, one.agreement.high)
    return EstimateCell.percent(ends, one.n, one.agreement.reason if one.n else "")


def _percent_right(one: WaysCompared, cells: tuple[int, int]) -> str:
    right = sum(len(one.cells[cell]) for cell in cells) if one.cells else 0
    return f"{100 * right / one.n:.1f}" if one.n else BLANK


def _estimated(value: float | None, ends: Agreement | Correlation) -> EstimateCell:
    """A coefficient with its interval; without an agreement its reason stands elsewhere."""
    n = ends.n if isinstance(ends, Correlation) else ends.items
    return EstimateCell(
        value=value, low=ends.low, high=ends.high, n=n, reason=(ends.reason or "") if n else "",
        digits=2,
    )  # fmt: skip


def _detected(number: DetectionValue, n: int) -> EstimateCell:
    return EstimateCell(value=number.value, low=number.low, high=number.high, n=n, digits=2)


def _named_items(names: Sequence[str], *, all_of_them: bool) -> str:
    shown = names if all_of_them else names[:CHANGES_SHOWN]
    left = len(names) - len(shown)
    return ", ".join(shown) + (f" and {left} more (--items)" if left else BLANK)


_COLUMNS: Sequence[tuple[str, str, Callable[[WaysCompared], GridCell]]] = (
    ("", "in words", lambda one: _short(one.words)),
    ("", "by probability", lambda one: one.probability),
    ("", "items", lambda one: str(one.n or one.correlations["spearman"].n)),
    ("right, %", "probability", lambda one: _percent_right(one, (0, 1))),
    ("right, %", "words", lambda one: _percent_right(one, (0, 2))),
    ("same result", "%", _equal),
    ("same result", "kappa", lambda one: _estimated(one.kappa.value, one.kappa)),
    (
        "margins",
        "rho",
        lambda one: _estimated(one.correlations["spearman"].r, one.correlations["spearman"]),
    ),
    ("d'", "probability", lambda one: _detected(one.sensitivity_by_probability, one.n)),
    ("d'", "words", lambda one: _detected(one.sensitivity_by_words, one.n)),
)

"""One suite asked in two ways: by probability, and again in words. Do both say the same?

Rates of two ways of asking are not before and after: what matters is whether the same items come
out right, and whether the margins go together (Hu and Levy 2023, doi:10.48550/arXiv.2305.13264).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from cimento.compare.comparison_tables import CHANGES_SHOWN
from cimento.errors import UsageError
from cimento.paired.item_outcomes import ItemOutcomes
from cimento.records.outcomes import Estimate
from cimento.report.cells import count
from cimento.report.formatting import percent
from cimento.report.grid import BLANK, EstimateCell, Grid, GridCell
from cimento.statistics.agreement import Agreement, cohen_kappa
from cimento.statistics.correlation import Correlation, correlate
from cimento.statistics.design import Design
from cimento.statistics.detection import DetectionValue, forced_choice_sensitivity
from cimento.statistics.intervals import Interval, share_interval
from cimento.suites import Suite
from cimento.suites.stimuli import stimulus_text

if TYPE_CHECKING:
    from cimento.kinds.base import Restatement
    from cimento.kinds.run import Run

D_PRIME = "d'"
CELLS: tuple[tuple[bool, bool], ...] = ((True, True), (True, False), (False, True), (False, False))
"""Whether an item is right by probability, and in words."""
_ABOUT_WAYS = (
    "same result: items that are right both ways, or neither; kappa: the same beyond chance. rho:"
    " Spearman's, of the margins. d': by probability sqrt(2) z(p); in words apart from bias."
)
_CELL_NAMES = ("right both ways", "by probability only", "in words only", "wrong both ways")


@dataclass(frozen=True, slots=True, kw_only=True)
class WayComparison:
    """One question asked in words, beside the one of probability that it asks again.

    Attributes:
        suite: name of the suite that both are about.
        words: the question in words.
        probability: the question by probability.
        model_by_words: label of the model that was asked in words.
        model_by_probability: label of the other; mostly the same model.
        n: items right or wrong both ways.
        undecided: items that are right or wrong in one way alone.
        cells: the items of each cell of the table: both right, by probability alone, in words
            alone, neither; empty where nothing is right or wrong in both.
        equal: number of items with one result.
        agreement: interval of the proportion of such items.
        kappa: Cohen's kappa.
        correlations: of the margins or values of both, by coefficient.
        sensitivity_by_words: d' of the answers in words, over all items of the run.
        sensitivity_by_probability: d' of the choices by probability, over the items above.
        reason: why there is no agreement.
    """

    suite: str
    words: str
    probability: str
    model_by_words: str
    model_by_probability: str
    n: int
    undecided: int
    cells: tuple[tuple[str, ...], ...]
    equal: int
    agreement: Interval
    kappa: Agreement
    correlations: Mapping[str, Correlation]
    sensitivity_by_words: DetectionValue
    sensitivity_by_probability: DetectionValue
    reason: str | None = None


def is_restated(first: Run, second: Run) -> bool:
    """Whether one of two runs asks in words what the other asks by probability."""
    both = [run.paradigm.judge.restated(run) is not None for run in (first, second)]
    return both[0] != both[1]


def compare_ways(
    first: Run,
    second: Run,
    outcomes: tuple[Mapping[str, ItemOutcomes], Mapping[str, ItemOutcomes]],
    *,
    seed: int = 0,
) -> list[WayComparison]:
    """Every question in words beside the question by probability that it asks again.

    Args:
        first: one of the two runs, of which one restates the other's questions.
        second: the other.
        outcomes: of both, by question.
        seed: of the interval of d'.

    Raises:
        UsageError: no item has the same sentences in both.
    """
    runs = (first, second) if first.paradigm.judge.restated(first) is not None else (second, first)
    by_words, by_probability = outcomes if runs[0] is first else outcomes[::-1]
    restated = cast("Restatement", runs[0].paradigm.judge.restated(runs[0]))
    same = same_sentences(*runs)
    sensitivity = {
        estimate.question: estimate
        for estimate in runs[0].estimates()
        if estimate.statistic == D_PRIME and not estimate.group
    }
    return [
        _compared(
            words,
            by_probability[source],
            same,
            models=(runs[0].model, runs[1].model),
            sensitivity=sensitivity.get(question),
            seed=seed,
        )
        for question, words in by_words.items()
        if (source := _source(restated.questions.get(question), by_probability)) is not None
    ]


def same_sentences(first: Run, second: Run) -> frozenset[str]:
    """The items that have the same sentences in both runs.

    Raises:
        UsageError: none has.
    """
    suites = (first.sentences, second.sentences)
    texts = [_texts(suite) for suite in suites if suite is not None]
    same = (
        {item for item in texts[0] if texts[0][item] == texts[1].get(item)}
        if len(texts) == 2  # noqa: PLR2004  # both are suites of sentences
        else set()
    )
    if not same:
        raise UsageError(
            where=f"{first.suite.name} and {second.suite.name}",
            seen="no item has the same sentences in both",
            todo="Give a run of a prompted suite, and one of the suite that it was made from.",
        )
    return frozenset(same)


def _texts(suite: Suite) -> dict[str, dict[str, str]]:
    return {
        item.id: {
            condition.name: stimulus_text(condition, rule=suite.join)
            for condition in item.conditions
        }
        for item in suite.items
    }


def _source(named: str | None, by_question: Mapping[str, ItemOutcomes]) -> str | None:
    """The question that is asked again: the one that is named, or the one that sums the run up."""
    if named is None:
        return None
    if named in by_question:
        return named
    headlines = [name for name, outcomes in by_question.items() if outcomes.headline]
    return next(iter(headlines or by_question), None)


def _compared(
    words: ItemOutcomes,
    probability: ItemOutcomes,
    same: frozenset[str],
    *,
    models: tuple[str, str],
    sensitivity: Estimate | None,
    seed: int,
) -> WayComparison:
    shared = [item for item in words.right if item in probability.right and item in same]
    alone = (words.right.keys() ^ probability.right.keys()) & same
    pairs = [(probability.right[item], words.right[item]) for item in shared]
    design = words.design(shared)
    equal = [one == other for one, other in pairs]
    judged = words.right and probability.right
    return WayComparison(
        suite=probability.suite,
        words=words.question,
        probability=probability.question,
        model_by_words=models[0],
        model_by_probability=models[1],
        n=len(shared),
        undecided=len(alone) if judged else 0,
        cells=tuple(
            tuple(item for item, pair in zip(shared, pairs, strict=True) if pair == cell)
            for cell in (CELLS if shared else ())
        ),
        equal=sum(equal),
        agreement=share_interval(equal, design),
        kappa=cohen_kappa([one for one, _ in pairs], [other for _, other in pairs], design=design),
        correlations=_correlations(words, probability, same),
        sensitivity_by_words=(
            DetectionValue(sensitivity.value, sensitivity.low, sensitivity.high)
            if sensitivity
            else DetectionValue()
        ),
        sensitivity_by_probability=forced_choice_sensitivity(
            [float(one) for one, _ in pairs], design, seed=seed
        ),
        reason=None if shared else "nothing is right or wrong in both: only values are compared",
    )


def _correlations(
    words: ItemOutcomes, probability: ItemOutcomes, same: frozenset[str]
) -> dict[str, Correlation]:
    """The correlations of what is behind right and wrong, or of the values of sentences."""
    items = [item for item in words.values if item in probability.values and item in same]
    design: Design = words.design(items)
    x, y = ([side.values[item] for item in items] for side in (probability, words))
    return {kind: correlate(x, y, kind=kind, design=design) for kind in ("spearman", "pearson")}


def ways_grids(compared: Sequence[WayComparison], *, with_items: bool) -> dict[str, Grid]:
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


def _ways_grid(compared: Sequence[WayComparison]) -> Grid:
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


def _equal(one: WayComparison) -> EstimateCell:
    share = one.equal / one.n if one.n else None
    reason = None if one.n else ""
    return EstimateCell.of(share, one.agreement, one.n, percent=True, reason=reason)


def _percent_right(one: WayComparison, cells: tuple[int, int]) -> str:
    right = sum(len(one.cells[cell]) for cell in cells) if one.cells else 0
    return percent(right / one.n if one.n else None, absent=BLANK)


def _estimated(value: float | None, ends: Agreement | Correlation) -> EstimateCell:
    """A coefficient with its interval; without an agreement its reason stands elsewhere."""
    n = ends.n if isinstance(ends, Correlation) else ends.items
    return EstimateCell.of(value, ends, n, digits=2, reason=None if n else "")


def _detected(number: DetectionValue, n: int) -> EstimateCell:
    return EstimateCell(value=number.value, low=number.low, high=number.high, n=n, digits=2)


def _named_items(names: Sequence[str], *, all_of_them: bool) -> str:
    shown = names if all_of_them else names[:CHANGES_SHOWN]
    left = len(names) - len(shown)
    return ", ".join(shown) + (f" and {left} more (--items)" if left else BLANK)


_COLUMNS: Sequence[tuple[str, str, Callable[[WayComparison], GridCell]]] = (
    ("", "in words", lambda one: _short(one.words)),
    ("", "by probability", lambda one: one.probability),
    ("", "items", lambda one: count(one.n or one.correlations["spearman"].n)),
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

"""How numbers and findings are put into words, the same in every form of report."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from cimento.verdicts.judge import NEAR_TIE_BITS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cimento.report.summary import Result, RunSummary, Summary

SMALLEST_SHOWN_BITS = 0.005
SMALLEST_SHOWN_P = 0.001


def rate(value: float | None, *, absent: str = "-") -> str:
    """A rate with three decimals, or the mark for an undefined one."""
    return absent if value is None else f"{value:.3f}"


def interval(low: float | None, high: float | None, *, digits: int = 3, absent: str = "-") -> str:
    """Both ends of an interval, or the mark for one that does not exist."""
    if low is None or high is None:
        return absent
    return f"[{low:.{digits}f}, {high:.{digits}f}]"


def number(value: float | None, *, digits: int = 3, absent: str = "-") -> str:
    """A number with so many decimals, or the mark for an undefined one; zero has no sign."""
    return absent if value is None else f"{value:z.{digits}f}"


def signed(value: float | None, *, digits: int = 4, absent: str = "-") -> str:
    """A number with its sign."""
    return absent if value is None else f"{value:+.{digits}f}"


def percent(share: float | None, *, digits: int = 1, absent: str = "-") -> str:
    """A share as a percentage without its sign."""
    return absent if share is None else f"{100 * share:.{digits}f}"


def p_number(p: float | None, *, absent: str = "-") -> str:
    """A p-value in a column of a table: two significant digits."""
    return absent if p is None else f"{p:.2g}"


def p_short(p: float | None, *, absent: str = "-") -> str:
    """A p-value with three decimals: ``0.012``, ``<0.001``."""
    return "<0.001" if p is not None and p < SMALLEST_SHOWN_P else number(p, absent=absent)


def bits(value: float | None, *, absent: str = "-") -> str:
    """A margin in bits with its sign; one that would round to zero keeps its size."""
    if value is None:
        return absent
    if value == 0 or abs(value) >= SMALLEST_SHOWN_BITS:
        return f"{value:+.2f}" if value else "0.00"
    return f"{value:+.1g}"


def p_value(p: float) -> str:
    """A p-value as papers write it: ``p .012``, ``p < .001``."""
    return "p < .001" if p < SMALLEST_SHOWN_P else f"p {p:.3f}".replace("0.", ".", 1)


def items(count: int) -> str:
    """A number of items: ``1 item``, ``2 items``."""
    return f"{count} item" if count == 1 else f"{count} items"


def remarks(run: RunSummary) -> tuple[str, ...]:
    """What a reader must know before trusting the rates of a run, then the run's own warnings."""
    if not run.n_items:
        return ("The suite has no items.", *run.warnings)
    if not run.predictions:
        return ("The suite has no predictions: nothing was judged.", *run.warnings)
    found = {result.label: _remark(result) for result in run.results}
    said = [text for text in dict.fromkeys(found.values()) if text]
    if len(said) == 1 and all(found.values()):
        return (said[0], *run.warnings)
    named = [f"Prediction {label}: {text}" for label, text in found.items() if text]
    return (*(said if len(run.predictions) == 1 else named), *run.warnings)


def notes(summary: Summary) -> list[tuple[str, str]]:
    """What is remarked on the runs, each with whom it is about, once for each suite.

    A remark on all of several runs of a suite is about the suite.
    """
    found: dict[tuple[str, str], list[str]] = {}
    sizes: Counter[str] = Counter(run.suite for run in summary.runs)
    for run in summary.runs:
        for remark in remarks(run):
            found.setdefault((run.suite, remark), []).append(run.label)
    said = []
    for (suite, remark), labels in found.items():
        if 1 < sizes[suite] == len(labels):
            said.append((suite, remark))
        else:
            said += [(f"{suite}, {label}", remark) for label in labels]
    return said


def _remark(result: Result) -> str:
    if not result.n_judged:
        return f"Nothing was scored ({items(result.unscored)} unscored): there is no rate."
    if result.n_judged == 1:
        return "Only one item was judged: its outcome says nothing about others."
    if result.tied == result.n_judged:
        return (
            f"All {items(result.tied)} judged are ties: "
            "the model gives both sides exactly the same value."
        )
    if result.near_tied:
        return f"{items(result.near_tied)} decided by less than {NEAR_TIE_BITS:.5f} bits."
    if result.chance is None:
        return f"There is no chance level: {result.null_reasons.get('chance', 'undefined')}."
    return ""


def explanation(*, ties_pass: bool = False) -> str:
    """What the columns of a table mean, in a few sentences.

    Args:
        ties_pass: whether there is a run in which ties count as passes.
    """
    passes = "passes where a note says so" if ties_pass else "never passes"
    return (
        f"n: items judged. Ties (both sides exactly equal) are part of n and {passes}. "
        "Unscored items are in no rate."
    )


def methods(results: Iterable[Result]) -> str:
    """One sentence naming the interval methods used, the most frequent first."""
    counts = Counter(each.interval_method for each in results if each.interval_method)
    names = [name for name, _ in counts.most_common()]
    return f"Intervals (95 %): {'; '.join(names)}." if names else "No interval could be made."


def told_about(summary: Summary) -> str:
    """What stands under a table of runs: what its columns mean, and how intervals were made."""
    results = (result for run in summary.runs for result in _all_results(run))
    ties_pass = any(run.ties_pass for run in summary.runs)
    return f"{explanation(ties_pass=ties_pass)} {methods(results)}"


def _all_results(run: RunSummary) -> Iterable[Result]:
    yield from run.results
    for phenomenon in run.phenomena:
        yield from phenomenon.predictions

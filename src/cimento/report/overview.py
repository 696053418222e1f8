"""The overview of a page: suites in rows, by the kind of their number, with exceptions only.

What all runs of a suite share, such as its level of chance, is said once beside its name; ties,
unscored items and other sizes are said where there are any.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cimento.errors import counted
from cimento.io.values import grouped
from cimento.records.outcomes import STATISTICS
from cimento.records.wrong_side import DD
from cimento.report.findings import ACCURACY_KIND, NOTHING_JUDGED, heading_of, kind_of
from cimento.report.formatting import (
    ALL_MUST_HOLD,
    chances,
    estimate_label,
    interval,
    length_rate,
    number,
    ties_pass,
    with_minus,
)

if TYPE_CHECKING:
    from cimento.records.outcomes import ConstantAnswer, Estimate
    from cimento.report import RunReport, SuiteReport


@dataclass(frozen=True, slots=True)
class OverviewRow:
    """A suite.

    Attributes:
        anchor: id of its section.
        suite: its runs.
        baseline: level of chance and best constant answer in words; empty if its runs differ.
    """

    anchor: str
    suite: SuiteReport
    baseline: str

    def exceptions(self, run: RunReport, kind: str) -> tuple[str, ...]:
        """What is special about the number of a run: another kind, ties, what was not judged.

        Args:
            run: a run of the suite.
            kind: the kind of number that the heading names.
        """
        headline = run.headline
        if run.effects:
            return ()
        if headline is None:
            return (NOTHING_JUDGED,)
        told = kind_of(headline) == kind and not headline.method
        size = "" if headline.is_share or headline.n == run.n_items else f"n {headline.n}"
        by_length = f"by length alone {length_rate(headline)}" if headline.off_by_length else ""
        parts = (
            "" if told else estimate_label(headline),
            size,
            beside_text(run.beside) if run.beside else "",
            counted(headline.tied, "tie") if headline.tied else "",
            f"{headline.unscored} unscored" if headline.unscored else "",
            "" if self.baseline else baseline_text(headline, run.constant),
            by_length,
        )
        return tuple(filter(None, parts))


@dataclass(frozen=True, slots=True)
class OverviewGroup:
    """The suites with one kind of number.

    Attributes:
        kind: the kind.
        heading: its name, as the beginning of a line.
        note: what the number means, and how its level of chance was found.
        scale: ends and middle of the scale on which it is drawn; empty if it is not drawn.
        rows: the suites.
    """

    kind: str
    heading: str
    note: str
    scale: tuple[str, ...]
    rows: tuple[OverviewRow, ...]


_OF_MEASURE = re.compile(r" \[([^\]]*)\]$")
"""The end of the label of a run that says by which measure sentences are compared."""


def model_of(label: str) -> str:
    """The model of a run, without the measure that its label may name."""
    return _OF_MEASURE.sub("", label)


def model_columns(suites: Iterable[SuiteReport]) -> dict[str, str]:
    """The columns of models, by the labels of their runs.

    A model has one column, whatever the measures of its suites, unless a suite has several of its
    runs.

    Args:
        suites: those of the page.
    """
    labels = [tuple(dict.fromkeys(run.model for run in suite.runs)) for suite in suites]
    several = {
        model
        for of_suite in labels
        for model, n in Counter(map(model_of, of_suite)).items()
        if n > 1
    }
    every = (label for of_suite in labels for label in of_suite)
    return {label: label if model_of(label) in several else model_of(label) for label in every}


def overview(sections: Iterable[tuple[str, SuiteReport]]) -> tuple[OverviewGroup, ...]:
    """The suites by the kind of their number, in the order given.

    Args:
        sections: id of each section, and its suite.
    """
    kinds = grouped((_kind_of_suite(suite), (anchor, suite)) for anchor, suite in sections)
    return tuple(_group(kind, members) for kind, members in kinds.items())


def _kind_of_suite(suite: SuiteReport) -> str:
    if any(run.effects for run in suite.runs):
        return DD
    return next((kind_of(run.headline) for run in suite.runs if run.headline), NOTHING_JUDGED)


def _group(kind: str, members: Sequence[tuple[str, SuiteReport]]) -> OverviewGroup:
    if kind == DD:
        rows = tuple(OverviewRow(anchor, suite, "") for anchor, suite in members)
        return OverviewGroup(DD, heading_of(DD), _DD, (), rows)
    headlines = [run.headline for _, suite in members for run in suite.runs if run.headline]
    first = next((one for one in headlines if scaled(one)), None)
    scale = () if first is None else ("0", ".5", "1") if first.is_share else ("−1", "0", "1")
    meaning = _ACCURACY if kind == ACCURACY_KIND else meanings(headlines)
    if meaning.startswith(f"{kind}: "):  # the heading has the name already
        meaning = meaning.removeprefix(f"{kind}: ")
        meaning = f"{meaning[:1].upper()}{meaning[1:]}"
    return OverviewGroup(
        kind=kind,
        heading=heading_of(kind),
        note=" ".join(filter(None, (meaning, chances(headlines)))),
        scale=scale,
        rows=tuple(
            OverviewRow(anchor, suite, _shared_baseline(suite)) for anchor, suite in members
        ),
    )


_DD = (
    "The difference of differences by phenomenon, taken within items: above 0, both changes"
    " together cost more than the sum of what each costs alone."
)
_ACCURACY = "The proportion of items on which the model does as the suite predicts."


def _shared_baseline(suite: SuiteReport) -> str:
    """The level of chance in words if all runs have the same."""
    texts = {baseline_text(run.headline, run.constant) for run in suite.runs if run.headline}
    return texts.pop() if len(texts) == 1 else ""


def baseline_text(estimate: Estimate, constant: ConstantAnswer | None) -> str:
    """What no knowledge reaches: ``chance 0.500``, ``always false 0.667 (chance 0.500)``.

    Empty where that is not known.
    """
    chance = "" if estimate.chance is None else f"chance {number(estimate.chance)}"
    if constant is None:
        return chance
    return f"{constant.name} {number(constant.value)}{f' ({chance})' if chance else ''}"


def beside_text(correlation: Estimate) -> str:
    """A correlation with ratings in a few words: ``Spearman's rho of lp with ratings 0.118 ...``.

    Without an interval, the reason is in its place.
    """
    ends = interval(correlation.low, correlation.high, absent=correlation.reason or "")
    value = number(correlation.value, digits=3)
    return with_minus(f"{estimate_label(correlation)} with ratings {value} {ends}".rstrip())


def scaled(estimate: Estimate) -> Estimate | None:
    """An estimate as a drawing from 0 to 1 has it; None if its scale has no ends.

    Correlations are drawn from -1 to 1.
    """
    if estimate.is_share:
        return estimate
    if estimate.statistic not in STATISTICS:
        return None

    def half(value: float | None) -> float | None:
        return None if value is None else (value + 1) / 2

    return replace(
        estimate,
        value=half(estimate.value),
        low=half(estimate.low),
        high=half(estimate.high),
        chance=half(estimate.chance),
    )


def counting(rates: Sequence[Estimate], *, several: bool) -> str:
    """How ties, unscored items and several predictions count, as far as there are any.

    Args:
        rates: all proportions of a page.
        several: whether there is a suite with several predictions.
    """
    tied = any(rate.tied for rate in rates)
    passing = ", and as passes where a note says so" if any(map(ties_pass, rates)) else ""
    said = (
        ALL_MUST_HOLD if several else "",
        f"Ties (both sides exactly equal) count as judged{passing or ' but never as passes'}."
        if tied
        else "",
        "Unscored items are left out of all rates." if any(rate.unscored for rate in rates) else "",
    )
    return " ".join(filter(None, said))


_MEANINGS = {
    r"hit@1\b": "hit@1: the word that the model finds likeliest in the blank is one that fits",
    r"hit@(?!1\b)": "hit@k: a word that fits is among the k likeliest in the blank",
    r"\bchoice \(": "choice: the expected word is the likeliest of those given",
    r"\(mask\)": "mask: the model reads what comes before and after the blank",
    r"\(left\)": "left: the model reads only what comes before the blank",
    r"\bstory_class\b": "story_class: the proportion of stories correctly called possible or not",
    r"\b(?:mean|pen)?lp\b": "lp: the log-probability of the sentence (meanlp: of a token;"
    " penlp: with a penalty for length)",
}
"""Sentences on the names of values, by expressions for them."""


def meanings(headlines: Iterable[Estimate]) -> str:
    """What the names of values in an overview mean, as far as it has them; may be empty."""
    labels = " ".join(estimate_label(estimate) for estimate in headlines)
    known = [said for name, said in _MEANINGS.items() if re.search(name, labels)]
    return f"{'; '.join(known)}." if known else ""

"""What is printed of a run of rated sentences: its estimates as text, for a fixed-width font."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from textwrap import shorten

from cimento.acceptability.correlation import KINDS, Miss, farthest_apart
from cimento.acceptability.estimates import (
    BY_ERRORS,
    BY_HALVES,
    LABEL,
    RATING,
    TOKENS,
    RatedValues,
)
from cimento.acceptability.records import RatedSentence
from cimento.io.inline_markup import columns
from cimento.measures import Missing, find_measure
from cimento.report.formatting import interval, number, p_short
from cimento.runs.estimates import Estimate

_WHOSE = {"people": "people", "author": "the author's expectation"}
_WIDTH = 60
_LEAST = 3


@dataclass(frozen=True)
class RatedRun:
    """What the text of a run is made from.

    Attributes:
        suite: its name.
        model: its label.
        by: whose the ratings are: ``people`` or ``author``.
        as_z: whether measures stand beside mean z-scores.
        measures: names of what stands beside the ratings.
        perplexity: name of the perplexity that is described by label.
        first_token: what became of first tokens without left context.
        values: of its sentences.
        estimates: of the run.
    """

    suite: str
    model: str
    by: str
    as_z: bool
    measures: Sequence[str]
    perplexity: str
    first_token: str
    values: RatedValues
    estimates: Sequence[Estimate]

    @cached_property
    def _known(self) -> Mapping[tuple[str, str, str], Estimate]:
        over_all = (each for each in self.estimates if not each.group)
        return {(each.question, each.statistic, each.method): each for each in over_all}

    def find(self, question: str, statistic: str, method: str = "") -> Estimate | None:
        """An estimate over all sentences; None where it is not made."""
        return self._known.get((question, statistic, method))

    def measured(self, statistic: str) -> list[Estimate]:
        """A statistic of each measure for which it is made."""
        found = (self.find(measure, statistic) for measure in self.measures)
        return [each for each in found if each is not None]

    def shown(self, question: str, statistic: str) -> str:
        """A value as text; a dash where there is none."""
        found = self.find(question, statistic)
        return "-" if found is None else number(found.value)

    @property
    def sentences(self) -> Sequence[RatedSentence]:
        """The sentences, in the order of the suite."""
        return self.values.sentences

    @property
    def n_rated(self) -> int:
        """How many sentences have a rating."""
        return sum(each.mean is not None for each in self.sentences)

    def misses(self) -> Sequence[Miss]:
        """The sentences that the first measure and the people place farthest apart."""
        first = find_measure(self.measures[0])
        rows = self.values.rows(first.name)
        return farthest_apart(rows, higher_is_better=first.higher_is_better)

    def without_value(self) -> dict[str, int]:
        """Why sentences have no value of some measure, to how many."""
        lost: dict[str, int] = {}
        for measure in self.measures:
            counts: dict[str, int] = {}
            for value in self.values.columns[measure].values():
                if isinstance(value, Missing):
                    counts[value.reason] = counts.get(value.reason, 0) + 1
            lost |= counts
        return lost


def rated_text(run: RatedRun) -> str:
    """What a run says, heading by heading; a dash stands for what is undefined."""
    return "\n".join(_lines(run))


def _lines(run: RatedRun) -> Iterator[str]:
    yield f"{run.suite}: {run.model} beside {_WHOSE[run.by]}"
    z = ", z-scores by participant" if run.as_z else ""
    yield f"  {len(run.sentences)} sentences, {run.n_rated} rated{z}"
    if run.n_rated:
        yield from _beside(run)
        yield from _ceiling(run)
        yield from _misses(run)
        yield from _described(run, RATING, "Ratings by label")
    if any(each.group == LABEL and each.question == run.perplexity for each in run.estimates):
        yield from _described(run, run.perplexity, f"Perplexity ({run.perplexity}) by label")
        yield f"  {sum(_tokens(run).values())} tokens scored; {run.first_token}"
        yield from _least_perplexing(run)
    yield from _binary(run)
    yield from _accuracies(run)


def _beside(run: RatedRun) -> Iterator[str]:
    spearmans = run.measured("spearman")
    family = any(each.p_corrected is not None for each in spearmans)
    rows: list[tuple[str, ...]] = [
        (
            "measure", "n", "expected", "Spearman", "95 %", "p", *(["Holm"] if family else []),
            "Pearson", "Kendall", "partial",
        )
    ]  # fmt: skip
    for each in spearmans:
        measure = each.question
        rows.append(
            (
                measure,
                str(each.n),
                "positive" if find_measure(measure).higher_is_better else "negative",
                number(each.value),
                interval(each.low, each.high, digits=2),
                p_short(each.p),
                *([p_short(each.p_corrected)] if family else []),
                *(run.shown(measure, name) for name in ("pearson", "kendall", "partial spearman")),
            )
        )
    yield columns(rows, indent=2)
    partials = run.measured("partial spearman")
    yield f"  partial: {partials[0].description}"
    how = methods(each.interval_method for each in spearmans)
    tests = methods(each.p_method for each in spearmans if each.p is not None)
    yield f"  95 %: {how}; p of Spearman: {tests}"
    reasons = {each.reason for kind in KINDS for each in run.measured(kind) if each.reason}
    reasons |= {each.p_method for each in spearmans if each.p is None and each.p_method}
    yield from (f"  undefined: {reason}" for reason in sorted(reasons))
    lost = run.without_value()
    for reason, n in lost.items():
        yield f"  {n} sentence{'' if n == 1 else 's'} without a value: {reason}"


def methods(names: Iterable[str | None]) -> str:
    """The names of the methods of some estimates, each once."""
    return " or ".join(dict.fromkeys(name for name in names if name)) or "-"


def _ceiling(run: RatedRun) -> Iterator[str]:
    halves = run.find(RATING, "noise ceiling", BY_HALVES)
    errors = run.find(RATING, "noise ceiling", BY_ERRORS)
    known = next((each for each in (halves, errors) if each and each.value is not None), None)
    if known is not None:
        yield f"  noise ceiling: {number(known.value)}, from {known.method}"
    elif halves is not None:
        yield f"  noise ceiling: - ({halves.reason})"
    alphas = ", ".join(
        f"{each.method} {number(each.value)} {interval(each.low, each.high, absent=_none(each))}"
        for each in run.estimates
        if each.statistic == "Krippendorff's alpha" and each.value is not None
    )
    if alphas:
        yield f"  agreement of the people, Krippendorff's alpha: {alphas}"


def _none(estimate: Estimate) -> str:
    """Why an estimate has no interval."""
    return f"(no interval: {estimate.reason})"


def _misses(run: RatedRun) -> Iterator[str]:
    misses = run.misses()
    if misses:
        yield f"  Farthest apart ({run.measures[0]}; + the model likes it better):"
    for miss in misses:
        text = shorten(miss.text, _WIDTH, placeholder=" ...")
        yield f"    {miss.gap:+.2f}  {miss.id}  rated {miss.rating:.2f}  {text}"


def _described(run: RatedRun, question: str, title: str) -> Iterator[str]:
    groups: dict[str, dict[str, Estimate]] = {}
    for each in run.estimates:
        if each.group == LABEL and each.question == question:
            groups.setdefault(each.level, {})[each.statistic] = each
    if not groups:
        return
    names = ("mean", "sd", "min", "max")
    rows: list[tuple[str, ...]] = [(title, "n", *names)]
    rows += [
        (level, str(found["mean"].n), *(number(found[name].value) for name in names))
        for level, found in groups.items()
    ]
    yield columns(rows, indent=2)
    yield "  sd: of sentences; these means describe the sentences asked and have no interval."


def _tokens(run: RatedRun) -> dict[str, int]:
    """Sentence to the number of tokens that its perplexity is taken over."""
    tokens = run.values.columns[TOKENS]
    return {name: 0 if isinstance(n, Missing) else int(n) for name, n in tokens.items()}


def _least_perplexing(run: RatedRun) -> Iterator[str]:
    """The unacceptable sentences of the lowest perplexity, the lowest first."""
    known = [
        (value, sentence)
        for sentence in run.sentences
        if sentence.label == "unacceptable"
        and not isinstance(value := run.values.of_sentence(run.perplexity, sentence), Missing)
    ]
    tokens = _tokens(run)
    if known:
        yield "  Unacceptable sentences of the lowest perplexity:"
    for value, sentence in sorted(known, key=lambda pair: pair[0])[:_LEAST]:
        text = shorten(sentence.text, _WIDTH, placeholder=" ...")
        yield f"    {number(value)}  {tokens[sentence.id]} tokens  {sentence.id}  {text}"


def _binary(run: RatedRun) -> Iterator[str]:
    areas = [each for each in run.measured("AUC") if each.n]
    if not areas:
        return
    rows: list[tuple[str, ...]] = [
        ("yes or no by a threshold", "n", "AUC", "95 %", "MCC", "MCC in sample")
    ]
    rows += [
        (
            each.question,
            str(each.n),
            number(each.value),
            interval(each.low, each.high, digits=2),
            *(run.shown(each.question, name) for name in ("MCC", "MCC in sample")),
        )
        for each in areas
    ]
    yield columns(rows, indent=2)
    reasons = {each.reason for each in areas if each.reason}
    yield from (f"  no interval of AUC: {reason}" for reason in sorted(reasons))
    yield f"  95 % of AUC: {methods(each.interval_method for each in areas)}"
    yield "  MCC has no interval: its threshold was chosen on other sentences"


def _accuracies(run: RatedRun) -> Iterator[str]:
    by_column: dict[str, list[Estimate]] = {}
    for each in run.estimates:
        if each.statistic == "accuracy" and each.group:
            by_column.setdefault(each.group, []).append(each)
    for column, levels in by_column.items():
        rows = [(f"accuracy by {column}", "n", "accuracy", "95 %")]
        for each in levels:
            shown = interval(each.low, each.high, absent=each.reason or "-")
            rows.append((each.level or "-", str(each.n), number(each.value), shown))
        yield columns(rows, indent=2)

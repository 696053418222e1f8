"""Numbers and findings in words, the same in all forms of a report."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from cimento.errors import counted, few_of_each_code
from cimento.faults import SEVERAL_LANGUAGES
from cimento.io.inline_markup import apart
from cimento.io.values import grouped
from cimento.records.outcomes import STATISTICS
from cimento.records.wrong_side import DD
from cimento.report.cells import (
    PERCENT,
    SMALLEST_SHOWN_P,
    PValue,
    Shown,
    count,
    ends,
    no_ends,
    shown,
)
from cimento.statistics.design import SEQUENCE
from cimento.statistics.intervals import WILSON
from cimento.suites.naming import ALL_PREDICTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from cimento.records.outcomes import Estimate, Outcome
    from cimento.records.summary import RunSummary, Summary
    from cimento.report.protocols import HasInterval
    from cimento.statistics.agreement import Agreement

_CODED = re.compile(r"CIM-\w+ ")
MOST_NAMED = 4  # suites in one sentence
SMALLEST_SHOWN_BITS = 0.005


def rate_as_text(value: float | None, *, absent: str = "-") -> str:
    """A rate with three decimals, or the given mark if it is undefined."""
    return shown(value, f"{value or 0.0:.3f}", absent=absent)


def interval(low: float | None, high: float | None, *, digits: int = 3, absent: str = "-") -> str:
    """Both ends of an interval, or the given mark if there is no interval.

    Ends that would look equal get more decimals, since no interval has zero width.
    """
    if low is None or high is None:
        return no_ends(absent)
    digits = apart(low, high, digits)
    return ends(low, high, f"[{low:z.{digits}f}, {high:z.{digits}f}]")


def ends_of(record: HasInterval) -> str:
    """The interval of a record in a cell of a table; blank if there is none."""
    return interval(record.low, record.high, absent="")


def places(best: int, worst: int) -> str:
    """The places from the best to the worst that a model could hold: ``2``, ``1-3``."""
    text = str(best) if best == worst else f"{best}-{worst}"
    return Shown(text, {"_best": best, "_worst": worst})


def agreement_text(agreement: Agreement) -> str:
    """A coefficient of agreement with its interval, or the reason why one of them is missing."""
    if agreement.value is None:
        return f"- ({agreement.reason})"
    none = f"(no interval: {agreement.reason})" if agreement.reason else ""
    return f"{agreement.value:.3f} {interval(agreement.low, agreement.high, absent=none)}".rstrip()


def number(value: float | None, *, digits: int = 3, absent: str = "-") -> str:
    """A number with a fixed count of decimals, or the given mark if undefined; zero has no sign."""
    return shown(value, f"{value or 0.0:z.{digits}f}", absent=absent)


def share_text(value: float | None, *, percent: bool) -> str:
    """A number, or a share in percent, in a sentence."""
    return number(value) if not percent or value is None else f"{100 * value:.1f}%"


def signed(value: float | None, *, digits: int = 4, absent: str = "-") -> str:
    """A number with its sign, or the given mark if it is undefined."""
    return shown(value, f"{value or 0.0:+.{digits}f}", absent=absent)


def percent(share: float | None, *, digits: int = 1, absent: str = "-") -> str:
    """A share as a percentage, without the percent sign."""
    value = None if share is None else 100 * share
    return shown(value, f"{value or 0.0:.{digits}f}", absent=absent, unit=PERCENT)


def p_number(p: float | None, *, absent: str = "-") -> str:
    """A p-value in a column of a table, with two significant digits; in papers ``< .001``."""
    return shown(None, "", absent=absent) if p is None else PValue(p)


def with_minus(text: str) -> str:
    """A cell as printed in papers, with a minus sign instead of a hyphen before numbers."""
    return re.sub(r"(?<![\w.])-(?=[\d.])", "−", text)


def p_short(p: float | None, *, absent: str = "-") -> str:
    """A p-value with three decimals: ``0.012``, ``<0.001``."""
    small = p is not None and p < SMALLEST_SHOWN_P
    return shown(p, "<0.001" if small else f"{p or 0.0:z.3f}", absent=absent)


def bits(value: float | None, *, absent: str = "-") -> str:
    """A margin in bits with its sign; a small one that would round to zero gets one digit."""
    text = "0.00"
    if value:
        text = f"{value:+.2f}" if abs(value) >= SMALLEST_SHOWN_BITS else f"{value:+.1g}"
    return shown(value, text, absent=absent)


def p_value(p: float) -> str:
    """A p-value as written in papers: ``p .012``, ``p < .001``."""
    return "p < .001" if p < SMALLEST_SHOWN_P else f"p {p:.3f}".replace("0.", ".", 1)


def p_printed(p: float | None) -> str:
    """A p-value in a cell as written in papers, without the letter; blank if it is undefined."""
    return Shown("" if p is None else p_value(p).removeprefix("p "), p)


def predictions_together(estimates: Iterable[Estimate]) -> int:
    """The number of predictions of an item that the headline takes together; 1 if it does not.

    Args:
        estimates: estimates of one run.
    """
    listed = [*estimates]
    if not any(one.role == "headline" and one.question == ALL_PREDICTIONS for one in listed):
        return 1
    return len({one.question for one in listed if one.is_of_predictions} - {ALL_PREDICTIONS})


def cells(result: Estimate) -> dict[str, str]:
    """The cells in the row of a rate, by column name, in the order of the columns."""
    return {
        "pred.": result.question,
        "accuracy": rate_as_text(result.value),
        "95% interval": interval(result.low, result.high),
        "chance": rate_as_text(result.chance),
        "length": length_rate(result),
        "n": count(result.n),
        "ties": count(result.tied),
        "unscored": count(result.unscored),
    }


def without_length(names: Iterable[str], runs: Iterable[RunSummary]) -> list[str]:
    """The columns that some runs need: ``length`` only if length alone leads away from chance."""
    off = any(result.off_by_length for run in runs for result in shown_rates(run))
    return [name for name in names if off or name != "length"]


def items(count: int) -> str:
    """A count of items in words: ``1 item``, ``2 items``."""
    return counted(count, "item")


def remarks(run: RunSummary) -> tuple[str, ...]:
    """Cautions that a reader needs before trusting a run's rates, then the run's own warnings."""
    if not run.n_items:
        return ("The suite has no items.", *few_of_each_code(run.warnings))
    if not run.estimates:
        nothing = "The suite has no predictions: nothing was judged."
        return (nothing, *few_of_each_code(run.warnings))
    asked = Counter(result.question for result in run.results)
    texts = {
        f"{result.question} ({result.method})" if asked[result.question] > 1 else result.question:
            _remark(result, of_chance=True)
        for result in run.results
    }  # fmt: skip
    if any(one.statistic == DD for one in run.estimates):  # a prediction is called DD too
        texts = {f"proportion of {q}{' > 0' * (q == DD)}": text for q, text in texts.items()}
    said = [text for text in dict.fromkeys(texts.values()) if text]
    if len(run.results) > 1 and not (len(said) == 1 and all(texts.values())):
        said = [f"{question}: {text}" for question, text in texts.items() if text]
    return foremost(filter(None, (*said, _lengths(run), *few_of_each_code(run.warnings))))


def foremost(said: Iterable[str]) -> tuple[str, ...]:
    """Remarks, first the one on several languages in a suite, which is about every number."""
    return tuple(sorted(said, key=lambda remark: not remark.startswith(SEVERAL_LANGUAGES)))


def _near_tied(run: RunSummary) -> tuple[tuple[int, int], float, str]:
    """The counts of near ties and of all verdicts on single predictions, the threshold, and why."""
    single = run.results if len(run.results) == 1 else run.results[:-1]
    known = [estimate for estimate in single if estimate.near_tied is not None]
    counts = (
        sum(estimate.near_tied or 0 for estimate in known),
        sum(estimate.n for estimate in known),
    )
    first = known[0] if known else None
    bits = first.near_tie_bits if first else None
    return counts, bits or 0.0, (first.near_tie_method if first else None) or ""


def _lengths(run: RunSummary) -> str:
    """A note on how far length alone leads away from chance; empty if it does not."""
    off = [result for result in run.results if result.off_by_length]
    if not off:
        return ""
    many = len(run.results) > 1
    levels = [
        f"{length_rate(estimate)}{f' ({estimate.question})' if many else ''}" for estimate in off
    ]
    return (
        "Chance assumes conditions of equal length, but these differ in their number of tokens:"
        f" if every token cost the same, the accuracy would be {_named(levels)}."
    )


def _named(names: Sequence[str]) -> str:
    """Names in a sentence."""
    if not names:
        return ""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def length_rate(estimate: Estimate) -> str:
    """The rate expected from length alone, or the mark for none if it equals chance."""
    return rate_as_text(estimate.by_length if estimate.off_by_length else None)


def estimate_label(estimate: Estimate) -> str:
    """The subject of an estimate: the statistic, the question, and the method of asking."""
    method = f"({estimate.method})" if estimate.method else ""
    named = STATISTICS.get(estimate.statistic)
    if named is not None:
        of = f"of {estimate.question}" if estimate.question else ""
        return " ".join(filter(None, (named, of, method)))
    statistic = "" if estimate.statistic == "accuracy" else estimate.statistic
    return " ".join(filter(None, (statistic, estimate.question, method)))


def margin_text(outcome: Outcome | None) -> str:
    """The value of an outcome with its sign and unit, or the mark for none."""
    if outcome is None or outcome.value is None:
        return "–"
    return f"{bits(outcome.value)} {outcome.unit}".rstrip()


def ties_pass(estimate: Estimate) -> bool:
    """Whether ties are counted as right in a share."""
    return bool(estimate.tied) and (estimate.right or 0) > (estimate.passed or 0)


def shared_remarks(
    runs: Sequence[RunSummary], said_of: Callable[[RunSummary], Iterable[str]]
) -> list[tuple[str, str]]:
    """Remarks with their subjects: one shared by all runs of a suite, or of several, appears once.

    Args:
        runs: runs of any suites.
        said_of: function that returns what is said of a run, such as `remarks`.
    """
    by_remark: dict[str, list[RunSummary]] = {}
    for run in runs:
        for remark in said_of(run):
            # A fault begins with its code and place, so the name of the suite would make each one
            # distinct.
            shared = remark.replace(f" {run.suite}: ", ": ", 1) if _CODED.match(remark) else remark
            by_remark.setdefault(shared, []).append(run)
    return [
        (subject, remark)
        for remark, remarked in by_remark.items()
        for subject in _subjects(remarked, runs)
    ]


def _subjects(remarked: Sequence[RunSummary], runs: Sequence[RunSummary]) -> Iterator[str]:
    """What a remark on some of the runs is about: whole suites, suites on a measure, or models."""
    for by_measure in (False, True):
        sizes = Counter(_asked(run, by_measure=by_measure) for run in runs)
        said = Counter(_asked(run, by_measure=by_measure) for run in remarked)
        for key in dict.fromkeys(key for _, key in said):
            whole = {suite for suite, k in said if k == key and said[suite, k] == sizes[suite, k]}
            shared = [
                run
                for run in remarked
                if run.suite in whole and _asked(run, by_measure=by_measure)[1] == key
            ]
            if len(shared) > 1:
                yield some(list(dict.fromkeys(run.suite for run in shared))) + key
                remarked = [run for run in remarked if not any(run is known for known in shared)]
    by_model = grouped((run.label, run.suite) for run in remarked)
    yield from (f"{some(suites)}, {label}" for label, suites in by_model.items())


def _asked(run: RunSummary, *, by_measure: bool) -> tuple[str, str]:
    """The suite of a run, and the ending that tells its measure if that counts."""
    return run.suite, f" [{run.measure}]" if by_measure and run.measure else ""


def some(suites: Sequence[str]) -> str:
    """The names of some suites; if there are many, the first ones and how many more there are."""
    if len(suites) <= MOST_NAMED:
        return ", ".join(suites)
    return f"{', '.join(suites[: MOST_NAMED - 1])} and {len(suites) - MOST_NAMED + 1} more suites"


ALL_MUST_HOLD = "An item with several predictions passes only if all of them hold."


def explanation(*, ties_pass: bool = False, several: bool = False) -> str:
    """The meaning of a table's columns, in a few sentences.

    Args:
        ties_pass: whether there is a run in which ties count as passes.
        several: whether there is a suite with several predictions.
    """
    tied = ", and as passes where a note says so" if ties_pass else " but never as passes"
    said = (
        ALL_MUST_HOLD if several else "",
        f"n: items judged. Ties (both sides exactly equal) count in n{tied}.",
        "Unscored items are left out of all rates.",
    )
    return " ".join(filter(None, said))


def rate_remarks(estimates: Sequence[Estimate]) -> tuple[str, ...]:
    """Cautions that a reader needs before trusting some rates, each once.

    Args:
        estimates: the proportions of items.
    """
    named = len(estimates) > 1
    said = grouped((remark, estimate_label(one)) for one in estimates if (remark := _remark(one)))
    return tuple(
        f"{', '.join(labels)}: {remark}" if named and len(labels) < len(estimates) else remark
        for remark, labels in said.items()
    )


_SURE_FROM = 25


def _remark(estimate: Estimate, *, of_chance: bool = False) -> str:
    """A caution about a rate; empty if there is none.

    Args:
        estimate: the rate.
        of_chance: whether the rate should have a chance level.
    """
    if not estimate.n:
        return f"Nothing was scored ({items(estimate.unscored)} unscored): there is no rate."
    if estimate.n == 1:
        return "Only one item was judged: its outcome says nothing about others."
    if estimate.tied == estimate.n:
        return (
            f"All {items(estimate.n)} judged are ties: "
            "the model gives both sides exactly the same value."
        )
    return _doubt(estimate, of_chance=of_chance)


def _doubt(estimate: Estimate, *, of_chance: bool) -> str:
    """A caution about an interval or a chance level; empty if there is none."""
    if estimate.low is None:
        return f"There is no interval ({estimate.reason or 'undefined'})."
    if of_chance and estimate.chance is None:
        return f"There is no chance level: {estimate.chance_method or 'undefined'}."
    if estimate.interval_method == WILSON and estimate.n < _SURE_FROM and _is_extreme(estimate):
        return (
            f"All or nearly all of {items(estimate.n)} agree, so the interval may be a little too"
            ' narrow (see the documentation page "Statistics").'
        )
    return ""


_FEWEST_FOR_ONE = 10
"""Fewest items among which one exception still counts as near-agreement."""


def _is_extreme(estimate: Estimate) -> bool:
    """Whether all items agree, or at least ten items do with at most one exception."""
    right = estimate.right or 0
    return min(right, estimate.n - right) <= (estimate.n >= _FEWEST_FOR_ONE)


def methods(estimates: Iterable[Estimate]) -> str:
    """One sentence naming the interval methods that were used, the most frequent first."""
    counts = Counter(estimate.interval_method for estimate in estimates if estimate.interval_method)
    names = [name for name, _ in counts.most_common() if name != SEQUENCE]
    if SEQUENCE in counts:
        names.append(
            f"of proportions of all items in adaptive runs, {SEQUENCE}" if names else SEQUENCE
        )
    return f"Intervals (95%): {'; '.join(names)}." if names else "No interval could be made."


_CHANCE_IN_WORDS = {"counted over all orders": "all orders of the values equally likely"}
"""What a reader is told of a method by which chance was determined, where its name is short."""


def chances(estimates: Iterable[Estimate]) -> str:
    """One sentence on how chance levels were determined, and which have none and why; or empty.

    The most frequent method comes first; others come after their suites, and after their questions
    if the suite has several methods.
    """
    by_method: dict[tuple[bool, str], dict[str, dict[str, None]]] = {}
    of_suite: dict[str, set[str]] = {}
    for estimate in estimates:
        known = estimate.chance is not None
        if (method := estimate.chance_method) and (known or not estimate.reason):
            suites = by_method.setdefault((known, method), {})
            suites.setdefault(estimate.suite, {})[estimate.question] = None
            of_suite.setdefault(estimate.suite, set()).add(method)
    methods = sorted(by_method, key=lambda one: (not one[0], -len(by_method[one])))
    parts = []
    for number, (known, method) in enumerate(methods):
        words = _CHANCE_IN_WORDS.get(method, method) if known else f"none ({method})"
        if not number:
            parts.append(words)
            continue
        places = [
            _place(suite * (len(of_suite) > 1), [*questions] * (len(of_suite[suite]) > 1))
            for suite, questions in by_method[known, method].items()
        ]
        parts.append(f"{some(places)}: {words}")
    return f"Chance: {'; '.join(parts)}." if parts else ""


def _place(suite: str, questions: Sequence[str]) -> str:
    """The questions of a suite, as far as either must be named."""
    return " of ".join(filter(None, (_named(questions), suite)))


def near_ties(runs: Iterable[RunSummary]) -> str:
    """One sentence on how many verdicts are near ties in all runs; empty if nothing was judged."""
    margins: dict[tuple[float, str], list[int]] = {}
    for run in runs:
        (near, judged), bits, reason = _near_tied(run)
        if judged:
            counts = margins.setdefault((bits, reason), [0, 0])
            counts[0] += near
            counts[1] += judged
    parts = [
        f"{near:,} of {counted(judged, 'verdict')} within {bits:g} bits ({reason})"
        for (bits, reason), (near, judged) in margins.items()
    ]
    if not parts:
        return ""
    turned = any(near for near, _ in margins.values())
    may = ", which another machine or batch size may turn" if turned else ""
    return f"Near ties: {'; '.join(parts)}{may}."


def table_notes(summary: Summary) -> str:
    """The text below a table of runs: the meaning of its columns, and the interval methods."""
    results = [estimate for run in summary.runs for estimate in shown_rates(run)]
    passing = any(run.options.get("ties") == "pass" for run in summary.runs)
    several = any(predictions_together(run.estimates) > 1 for run in summary.runs)
    said = (
        explanation(ties_pass=passing, several=several),
        methods(results),
        chances(results),
        near_ties(summary.runs),
    )
    return " ".join(filter(None, said))


def shown_rates(run: RunSummary) -> Iterable[Estimate]:
    """The rates over all items, and the rates of single questions by phenomenon."""
    yield from run.results
    single = run.results if len(run.results) == 1 else run.results[:-1]
    asked = {(estimate.question, estimate.method) for estimate in single}
    for estimate in run.estimates:
        if (
            estimate.group == "phenomenon"
            and estimate.is_share
            and (estimate.question, estimate.method) in asked
        ):
            yield estimate


MOST_COLUMNS = 4
"""Most suites or models in columns; if there are more of both, each number has its own row."""


def short_model_names(models: Iterable[str]) -> dict[str, str]:
    """Short names of models: without the revision, unless models differ only in it."""
    labels = [*models]
    # Labels of runs of the same model differ in brackets after the revision.
    plain = [re.sub(r"@[^ ]*", "", label) for label in labels]
    return {
        label: name if plain.count(name) == 1 else label
        for label, name in zip(labels, plain, strict=True)
    }

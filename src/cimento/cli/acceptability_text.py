"""The report of a suite of acceptability as text for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from textwrap import shorten
from typing import TYPE_CHECKING

from cimento.markup import columns
from cimento.report.wording import agreement, interval, number, p_short

if TYPE_CHECKING:
    from cimento.acceptability.beside import Beside
    from cimento.acceptability.items import Described
    from cimento.acceptability.report import AcceptabilityReport

_WHOSE = {"people": "people", "author": "the author's expectation"}
_WIDTH = 60


def report_text(report: AcceptabilityReport) -> str:
    """What the report says, heading by heading; a dash stands for what is undefined."""
    return "\n".join(_lines(report))


def _lines(report: AcceptabilityReport) -> Iterator[str]:
    whose = _WHOSE[report.by]
    yield f"{report.suite}: {report.model} beside {whose}"
    z = ", z-scores by participant" if report.ratings_as == "z" else ""
    yield f"  {report.n_sentences} sentences, {report.n_rated} rated{z}"
    if report.n_rated:
        yield from _beside(report.beside)
        yield from _ceiling(report)
        yield from _misses(report.beside[0])
        yield from _described("Ratings by label", report.ratings)
    if report.perplexities:
        yield from _described(f"Perplexity ({report.perplexity}) by label", report.perplexities)
        yield f"  {report.n_tokens} tokens scored; {report.first_token}"
        yield from _least_perplexing(report)
    yield from _binary(report)
    yield from _accuracies(report)


def _beside(measures: Sequence[Beside]) -> Iterator[str]:
    family = any(each.p_holm is not None for each in measures)
    rows: list[tuple[str, ...]] = [
        (
            "measure", "n", "expected", "Spearman", "95 %", "p", *(["Holm"] if family else []),
            "Pearson", "Kendall", "partial",
        )
    ]  # fmt: skip
    for each in measures:
        spearman, pearson, kendall = each.correlations
        rows.append(
            (
                each.measure,
                str(each.n),
                each.expected,
                number(spearman.r),
                interval(spearman.low, spearman.high, digits=2),
                p_short(each.test.p),
                *([p_short(each.p_holm)] if family else []),
                number(pearson.r),
                number(kendall.r),
                number(each.partial.r),
            )
        )
    yield columns(rows, indent=2)
    if measures:
        yield f"  partial: Spearman with {' and '.join(measures[0].covariates)} held constant"
        how = _methods(each.correlations[0].method for each in measures)
        tests = _methods(each.test.method for each in measures)
        held = f"; Holm over {len(measures)} measures" if family else ""
        yield f"  95 %: {how}; p of Spearman: {tests}{held}"
    reasons = {
        reason
        for each in measures
        for reason in (*(r.reason for r in each.correlations), each.test.reason)
        if reason
    }
    yield from (f"  undefined: {reason}" for reason in sorted(reasons))
    lost = {reason: n for each in measures for reason, n in each.without.items()}
    yield from (f"  {n} sentences without a value: {reason}" for reason, n in lost.items())


def _methods(names: Iterable[str | None]) -> str:
    return " or ".join(dict.fromkeys(name for name in names if name)) or "-"


def _ceiling(report: AcceptabilityReport) -> Iterator[str]:
    halves, errors = report.ceiling, report.ceiling_from_errors
    if halves.ceiling is not None:
        yield f"  noise ceiling: {halves.ceiling:.3f}, from split halves of the ratings"
    elif errors.value is not None:
        yield f"  noise ceiling: {errors.value:.3f}, from the standard errors of the mean ratings"
    else:
        yield f"  noise ceiling: - ({halves.reason})"
    alphas = ", ".join(
        f"{each.coefficient.split(', ')[1]} {agreement(each)}"
        for each in report.agreement.alphas
        if each.value is not None
    )
    if alphas:
        yield f"  agreement of the people, Krippendorff's alpha: {alphas}"


def _misses(first: Beside) -> Iterator[str]:
    if first.misses:
        yield f"  Farthest apart ({first.measure}; + the model likes it better):"
    for miss in first.misses:
        text = shorten(miss.text, _WIDTH, placeholder=" ...")
        yield f"    {miss.gap:+.2f}  {miss.id}  rated {miss.rating:.2f}  {text}"


def _described(title: str, groups: Sequence[Described]) -> Iterator[str]:
    if not groups:
        return
    rows: list[tuple[str, ...]] = [(title, "n", "mean", "sd", "min", "max")]
    rows += [
        (each.name, str(each.n), *map(number, (each.mean, each.sd, each.low, each.high)))
        for each in groups
    ]
    yield columns(rows, indent=2)
    yield "  sd: of sentences; these means describe the sentences asked and have no interval."


def _least_perplexing(report: AcceptabilityReport) -> Iterator[str]:
    found = report.least_perplexing()
    if found:
        yield "  Unacceptable sentences of the lowest perplexity:"
    for each in found:
        text = shorten(each.text, _WIDTH, placeholder=" ...")
        yield f"    {number(each.perplexity)}  {each.n_tokens} tokens  {each.id}  {text}"


def _binary(report: AcceptabilityReport) -> Iterator[str]:
    if not any(each.n for each in report.binary):
        return
    rows: list[tuple[str, ...]] = [
        ("yes or no by a threshold", "n", "AUC", "95 %", "MCC", "MCC in sample")
    ]
    rows += [
        (
            each.measure,
            str(each.n),
            number(each.auc),
            interval(each.auc_interval.low, each.auc_interval.high, digits=2),
            number(each.mcc),
            number(each.mcc_in_sample),
        )
        for each in report.binary
    ]
    yield columns(rows, indent=2)
    reasons = {each.auc_interval.reason for each in report.binary} - {None}
    yield from (f"  no interval of AUC: {reason}" for reason in sorted(map(str, reasons)))
    yield f"  95 % of AUC: {_methods(each.auc_interval.method for each in report.binary)}"
    yield "  MCC has no interval: its threshold was chosen on other sentences"


def _accuracies(report: AcceptabilityReport) -> Iterator[str]:
    for column, groups in report.accuracies.items():
        rows = [(f"accuracy by {column}", "n", "accuracy", "95 %")]
        for name, group in groups.items():
            if group.conjunction is None:
                continue
            one = group.conjunction
            n = one.passed + one.failed + one.tied
            ends = one.reason or "-"
            if one.low is not None and one.high is not None:
                ends = f"{one.low:.3f} {one.high:.3f}"
            rows.append((name or "-", str(n), number(one.accuracy), ends))
        yield columns(rows, indent=2)
